// SPDX-License-Identifier: Apache-2.0
#include "arrays/elements.h"
#include "onnx/model.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"

namespace tessera::data {
namespace {

void put_entry(WireWriter& to, std::uint32_t field, const std::string& key,
               const std::string& value) {
  WireWriter m;
  m.bytes(1, key);
  m.bytes(2, value);
  to.bytes(field, m.content());
}

std::string bytes_of_tensor(const OnnxTensor& t) {
  WireWriter m;
  m.integers(1, t.dims);
  m.integer(2, t.type);
  m.bytes(8, t.name);
  const std::span<const std::byte> bytes = bytes_of(t.values);
  m.bytes(9, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return m.content();
}

std::string bytes_of_attribute(const OnnxAttribute& a) {
  WireWriter m;
  m.bytes(1, a.name);
  switch (a.kind) {
    case OnnxAttribute::real:
      m.real(2, static_cast<float>(a.f));
      break;
    case OnnxAttribute::integer:
      m.integer(3, a.i);
      break;
    case OnnxAttribute::text:
      m.bytes(4, a.s);
      break;
    case OnnxAttribute::tensor:
      m.bytes(5, bytes_of_tensor(a.t));
      break;
    default:
      m.integers(8, a.ints);
  }
  m.integer(20, a.kind);
  return m.content();
}

std::string bytes_of_node(const OnnxNode& n) {
  WireWriter m;
  for (const std::string& v : n.in) m.bytes(1, v);
  for (const std::string& v : n.out) m.bytes(2, v);
  m.bytes(3, n.name);
  m.bytes(4, n.op);
  for (const OnnxAttribute& a : n.attributes) m.bytes(5, bytes_of_attribute(a));
  return m.content();
}

std::string bytes_of_value(const OnnxValueInfo& v) {
  WireWriter shape, tensor, type, m;
  for (const OnnxAxis& a : *v.shape) {
    WireWriter axis;
    if (a.name.empty())
      axis.integer(1, a.length);
    else
      axis.bytes(2, a.name);
    shape.bytes(1, axis.content());
  }
  tensor.integer(1, v.type);
  tensor.bytes(2, shape.content());
  type.bytes(1, tensor.content());
  m.bytes(1, v.name);
  m.bytes(2, type.content());
  return m.content();
}

}  // namespace

void write_onnx_model(const std::filesystem::path& path, const OnnxModel& model) {
  WireWriter graph;
  for (const OnnxNode& n : model.graph.nodes) graph.bytes(1, bytes_of_node(n));
  graph.bytes(2, model.graph.name);
  for (const OnnxTensor& t : model.graph.initializers) graph.bytes(5, bytes_of_tensor(t));
  for (const OnnxValueInfo& v : model.graph.inputs) graph.bytes(11, bytes_of_value(v));
  for (const OnnxValueInfo& v : model.graph.outputs) graph.bytes(12, bytes_of_value(v));
  WireWriter m;
  m.integer(1, model.ir_version);
  m.bytes(2, model.producer);
  m.bytes(3, model.producer_version);
  m.bytes(7, graph.content());
  for (const auto& [domain, version] : model.opsets) {
    WireWriter set;
    set.bytes(1, domain);
    set.integer(2, version);
    m.bytes(8, set.content());
  }
  for (const auto& [key, value] : model.metadata) put_entry(m, 14, key, value);
  // Readers made of Protocol Buffers take messages below 2 GiB.
  if (m.content().size() >> 31)
    throw Error("[write_onnx] the file would have " + std::to_string(m.content().size()) +
                " bytes, and ONNX has less than 2 GiB in one file");
  write_file_atomically(path, m.content());
}

}  // namespace tessera::data
