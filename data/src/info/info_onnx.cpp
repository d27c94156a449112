// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of a network in ONNX. Its weights are not read.
#include "info/info_formats.h"
#include "onnx/model.h"

#include <algorithm>
#include <map>

namespace tessera::data {
namespace {

/// "FLOAT, batch x 3".
std::string value_text(const OnnxValueInfo& v) {
  if (v.type == 0) return "no tensor";
  std::string text = onnx_type_name(v.type);
  if (!v.shape) return text;
  text += v.shape->empty() ? ", one value" : ", ";
  for (std::size_t d = 0; d < v.shape->size(); ++d) {
    const OnnxAxis& a = (*v.shape)[d];
    text += (d ? " x " : "") + (!a.name.empty() ? a.name
                                : a.length < 0  ? "?"
                                                : std::to_string(a.length));
  }
  return text;
}

}  // namespace

InfoNode onnx_info(const std::filesystem::path& path) {
  const OnnxModel m = read_onnx_model(path, OnnxValues::skip);
  InfoNode node = file_node(path);
  node.add("producer", m.producer + (m.producer_version.empty() ? "" : " " + m.producer_version));
  InfoNode& sets = node.add("operators");
  for (const auto& [domain, version] : m.opsets)
    sets.add(domain.empty() ? "standard" : domain, version);
  const auto list = [&](const char* what, const std::vector<OnnxValueInfo>& values) {
    InfoNode& all = node.add(what, static_cast<std::int64_t>(values.size()));
    for (std::size_t k = 0; k < std::min(values.size(), kMaxListed); ++k)
      all.add(values[k].name, value_text(values[k]));
  };
  list("inputs", m.graph.inputs), list("results", m.graph.outputs);
  std::map<std::string, std::int64_t> counts;
  for (const OnnxNode& n : m.graph.nodes) ++counts[n.op];
  InfoNode& nodes = node.add("nodes", static_cast<std::int64_t>(m.graph.nodes.size()));
  for (const auto& [op, n] : counts) {
    if (nodes.children.size() == kMaxListed) break;
    nodes.add(op, n);
  }
  const auto& tensors = m.graph.initializers;
  InfoNode& weights = node.add("tensors", static_cast<std::int64_t>(tensors.size()));
  for (std::size_t k = 0; k < std::min(tensors.size(), kMaxListed); ++k) {
    const std::vector<std::uint64_t> shape(tensors[k].dims.begin(), tensors[k].dims.end());
    weights.add(tensors[k].name, onnx_type_name(tensors[k].type) + ", " + shape_text(shape));
  }
  InfoNode& metadata = node.add("metadata", static_cast<std::int64_t>(m.metadata.size()));
  for (const auto& [key, value] : m.metadata) {
    if (metadata.children.size() == kMaxListed) break;
    metadata.add(key, value);
  }
  return node;
}

/// Messages have no mark: the version comes first in what programs write.
bool is_onnx(std::string_view head, const std::filesystem::path& path) {
  return path.extension() == ".onnx" && head.size() > 1 && head[0] == '\x08' && head[1] < 64;
}

}  // namespace tessera::data
