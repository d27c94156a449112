// SPDX-License-Identifier: Apache-2.0
#include "arrays/elements.h"
#include "onnx/model.h"
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/shape.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/diagnostic.h"

#include <algorithm>
#include <charconv>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOnnxTypes[] = {
    "",     "FLOAT",   "UINT8",  "INT8",   "UINT16", "INT16",     "INT32",      "INT64",   "STRING",
    "BOOL", "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};

/// Of a file that is being read.
struct OnnxReading {
  fs::path folder;
  OnnxValues values = OnnxValues::read;
};

/// What parts take in memory: their structs, and what else hangs on them.
constexpr std::uint64_t kBytesOfNode = 512, kBytesOfPart = 128;

void add_text(const WireReader& m, std::vector<std::string>& to) {
  m.budget().spend(kBytesOfPart, m.byte());
  to.push_back(m.text());
}

std::pair<std::string, std::string> read_entry(WireReader m) {
  std::pair<std::string, std::string> e;
  m.budget().spend(kBytesOfPart, m.byte());
  while (m.next()) {
    if (m.field() == 1) e.first = m.text();
    if (m.field() == 2) e.second = m.text();
  }
  return e;
}

/// A number that is not negative, as external data have it.
std::uint64_t number_of(const std::string& key, const std::string& text, const WireReader& m) {
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size())
    m.refuse("expected '" + key + "' of data in a second file to be a number, found '" + text +
             "'");
  return v;
}

/// The file beside the model, which must not lie elsewhere.
fs::path second_file(const fs::path& folder, const std::string& location, const WireReader& m) {
  const fs::path inside(location);
  const auto refuse = [&](const char* why) {
    m.refuse("the data are in '" + location + "', which " + why);
  };
  if (location.empty()) m.refuse("data in a second file without 'location'");
  if (inside.is_absolute() || std::ranges::find(inside, fs::path("..")) != inside.end() ||
      location.find('\0') != std::string::npos)
    refuse("leads out of the model's folder");
  std::error_code failed;
  const fs::path home = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, failed);
  const fs::path file = fs::weakly_canonical(home / inside, failed);
  if (failed) refuse("cannot be found");
  if (std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first != home.end())
    refuse("leads out of the model's folder");
  return file;
}

void read_second_file(const OnnxReading& reading, OnnxTensor& t, std::uint64_t bytes,
                      const std::map<std::string, std::string>& where, const WireReader& m,
                      Stored type, std::span<const std::uint64_t> shape) {
  const auto entry = [&](const char* key) {
    const auto found = where.find(key);
    return found == where.end() ? std::string() : found->second;
  };
  const fs::path path = second_file(reading.folder, entry("location"), m);
  std::uint64_t at = entry("offset").empty() ? 0 : number_of("offset", entry("offset"), m);
  if (const std::string length = entry("length");
      !length.empty() && number_of("length", length, m) != bytes)
    m.refuse("'" + t.name + "' takes " + std::to_string(bytes) + " bytes, its 'length' is " +
             length);
  const BinaryInput file(path);
  if (at > file.size() || bytes > file.size() - at)
    m.refuse("'" + t.name + "' takes " + std::to_string(bytes) + " bytes from " +
             std::to_string(at) + " on in " + path.filename().string() + ", which has " +
             std::to_string(file.size()));
  check_memory(bytes, file.name());
  const auto refuse = [&](const std::string& what) { m.refuse("'" + t.name + "' " + what); };
  t.values = read_elements(type, shape,
                           {[&](void* to, std::size_t n) {
                              if (!file.read(at, to, n)) refuse("became shorter");
                              at += n;
                            },
                            refuse});
}

/// Elements that stand in a field of their type: 4 floats, 5 small integers, 7 integers of 64 bits,
/// 10 doubles, 11 unsigned ones. Each takes a byte at least.
Tensor listed_elements(const WireReader& whole, const std::string& called,
                       const std::vector<std::int64_t>& dims, Dtype dtype, std::uint64_t count) {
  Shape s;
  for (const std::int64_t d : dims) s.push_back(d);
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  const auto add = [&](auto& to, auto v) {
    if (to.size() == count) whole.refuse(called + " has more elements than its axes say");
    whole.budget().spend(2 * sizeof v, whole.byte());
    to.push_back(v);
  };
  WireReader again = whole;
  while (again.next()) switch (again.field()) {
      case 4:
        if (dtype == Dtype::f32) again.each_real([&](double v) { add(reals, v); });
        break;
      case 5:
      case 7:
      case 11:
        if (dtype != Dtype::f32 && dtype != Dtype::f64)
          again.each_integer([&](std::int64_t v) { add(integers, v); });
        break;
      case 10:
        if (dtype == Dtype::f64) {
          const std::string_view all = again.bytes();
          if (all.size() % 8 != 0)
            again.refuse("doubles of " + std::to_string(all.size()) + " bytes");
          for (std::size_t k = 0; k < all.size(); k += 8) {
            double v = 0;
            std::memcpy(&v, all.data() + k, 8);
            add(reals, v);
          }
        }
        break;
      default:
        break;
    }
  if (reals.size() + integers.size() != count)
    whole.refuse(called + " has " + std::to_string(count) + " elements by its axes, found " +
                 std::to_string(reals.size() + integers.size()));
  return is_inexact(dtype) ? cast(tensor(reals, s), dtype) : cast(tensor(integers, s), dtype);
}

OnnxTensor read_tensor(WireReader m, const OnnxReading& reading) {
  OnnxTensor t;
  t.byte = m.byte();
  m.budget().spend(kBytesOfNode, m.byte());
  std::optional<std::string_view> raw;
  bool external = false, segment = false;
  std::map<std::string, std::string> where;
  const WireReader whole = m;
  while (m.next()) switch (m.field()) {
      case 1:
        m.each_integer([&](std::int64_t d) {
          if (t.dims.size() == static_cast<std::size_t>(kMaxDims))
            m.refuse("a tensor has more than " + std::to_string(kMaxDims) + " axes");
          if (d < 0) m.refuse("an axis of " + std::to_string(d));
          t.dims.push_back(d);
        });
        break;
      case 2:
        t.type = m.integer();
        break;
      case 3:
        segment = true;
        break;
      case 8:
        t.name = m.text();
        break;
      case 9:
        raw = m.bytes();
        break;
      case 13:
        where.insert(read_entry(m.message()));
        break;
      case 14:
        external = m.integer() == 1;
        break;
      default:
        break;
    }
  const std::string called = t.name.empty() ? "a tensor" : "tensor '" + t.name + "'";
  if (segment) whole.refuse(called + " is in segments, which are not read");
  if (t.type < 1) whole.refuse(called + " has type " + std::to_string(t.type));
  const std::optional<Dtype> dtype = dtype_of_onnx(t.type);
  std::uint64_t count = 1;
  for (const std::int64_t d : t.dims)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(d), &count) || count >> 58)
      whole.refuse(called + " has 2^58 elements or more");
  if (!dtype || reading.values == OnnxValues::skip) return t;
  const std::uint64_t bytes = count * size_of(*dtype);
  const std::vector<std::uint64_t> shape(t.dims.begin(), t.dims.end());
  if (external) {
    read_second_file(reading, t, bytes, where, whole, stored_as(*dtype), shape);
    return t;
  }
  if (raw) {
    if (raw->size() != bytes)
      whole.refuse(called + " takes " + std::to_string(bytes) + " bytes, its data has " +
                   std::to_string(raw->size()));
    whole.budget().spend(bytes, whole.byte());
    const char* from = raw->data();
    t.values = read_elements(stored_as(*dtype), shape,
                             {[&](void* to, std::size_t n) { std::memcpy(to, from, n), from += n; },
                              [&](const std::string& what) { whole.refuse(called + " " + what); }});
    return t;
  }
  t.values = listed_elements(whole, called, t.dims, *dtype, count);
  return t;
}

OnnxGraph read_graph(WireReader m, const OnnxReading& reading, int depth);

OnnxAttribute read_attribute(WireReader m, const OnnxReading& reading, int depth) {
  OnnxAttribute a;
  m.budget().spend(kBytesOfNode, m.byte());
  while (m.next()) switch (m.field()) {
      case 1:
        a.name = m.text();
        break;
      case 2:
        a.f = m.real();
        break;
      case 3:
        a.i = m.integer();
        break;
      case 4:
        a.s = m.text();
        break;
      case 5:
        a.t = read_tensor(m.message(), reading);
        break;
      case 6:
        a.g = std::make_shared<OnnxGraph>(read_graph(m.message(), reading, depth + 1));
        break;
      case 7:
        m.each_real([&](double v) { m.budget().spend(16, m.byte()), a.floats.push_back(v); });
        break;
      case 8:
        m.each_integer(
            [&](std::int64_t v) { m.budget().spend(16, m.byte()), a.ints.push_back(v); });
        break;
      case 9:
        add_text(m, a.strings);
        break;
      case 20:
        a.kind = m.integer();
        break;
      default:
        break;
    }
  if (a.kind == OnnxAttribute::graph && !a.g)
    m.refuse("the attribute '" + a.name + "' has no graph");
  if (a.kind == OnnxAttribute::tensor && a.t.type == 0)
    m.refuse("the attribute '" + a.name + "' has no tensor");
  return a;
}

OnnxNode read_node(WireReader m, const OnnxReading& reading, int depth) {
  OnnxNode n;
  n.byte = m.byte();
  m.budget().spend(kBytesOfNode, m.byte());
  while (m.next()) switch (m.field()) {
      case 1:
        add_text(m, n.in);
        break;
      case 2:
        add_text(m, n.out);
        break;
      case 3:
        n.name = m.text();
        break;
      case 4:
        n.op = m.text();
        break;
      case 5:
        n.attributes.push_back(read_attribute(m.message(), reading, depth));
        break;
      case 7:
        n.domain = m.text();
        break;
      default:
        break;
    }
  if (n.op.empty()) m.refuse("a node without an operator");
  if (n.domain == "ai.onnx") n.domain.clear();
  return n;
}

OnnxAxis read_axis(WireReader m) {
  OnnxAxis a;
  m.budget().spend(kBytesOfPart, m.byte());
  while (m.next()) {
    if (m.field() == 1) a.length = m.integer();
    if (m.field() == 2) a.name = m.text();
  }
  return a;
}

OnnxValueInfo read_value(WireReader m) {
  OnnxValueInfo v;
  m.budget().spend(kBytesOfNode, m.byte());
  while (m.next()) {
    if (m.field() == 1) v.name = m.text();
    if (m.field() != 2) continue;
    for (WireReader type = m.message(); type.next();) {
      if (type.field() != 1) continue;
      for (WireReader tensor = type.message(); tensor.next();) {
        if (tensor.field() == 1) v.type = tensor.integer();
        if (tensor.field() != 2) continue;
        v.shape.emplace();
        for (WireReader shape = tensor.message(); shape.next();)
          if (shape.field() == 1) v.shape->push_back(read_axis(shape.message()));
      }
    }
  }
  return v;
}

OnnxGraph read_graph(WireReader m, const OnnxReading& reading, int depth) {
  if (depth > kMaxOnnxDepth)
    m.refuse("graphs are nested deeper than " + std::to_string(kMaxOnnxDepth));
  OnnxGraph g;
  while (m.next()) switch (m.field()) {
      case 1:
        g.nodes.push_back(read_node(m.message(), reading, depth));
        break;
      case 2:
        g.name = m.text();
        break;
      case 5:
        g.initializers.push_back(read_tensor(m.message(), reading));
        break;
      case 11:
        g.inputs.push_back(read_value(m.message()));
        break;
      case 12:
        g.outputs.push_back(read_value(m.message()));
        break;
      case 15:
        m.refuse("sparse initializers are not read");
      default:
        break;
    }
  return g;
}

std::string whole_file(const fs::path& path) {
  const BinaryInput file(path);
  check_memory(4 * file.size(), file.name());
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read(0, bytes.data(), bytes.size()))
    refuse_onnx(file.name(), 0, "became shorter while it was read");
  return bytes;
}

WireBudget budget_for(const fs::path& path, const std::string& bytes) {
  return {path.string(), 3 * bytes.size() + (std::uint64_t{64} << 20)};
}

}  // namespace

std::string onnx_type_name(std::int64_t type) {
  if (type < 0 || type >= static_cast<std::int64_t>(std::size(kOnnxTypes))) return "";
  return kOnnxTypes[type];
}

namespace {
constexpr std::pair<std::int64_t, Dtype> kOnnxDtypes[] = {
    {1, Dtype::f32},     {2, Dtype::u8},   {6, Dtype::i32}, {7, Dtype::i64},
    {9, Dtype::boolean}, {11, Dtype::f64}, {12, Dtype::u32}};
}
std::int64_t onnx_type_of(Dtype dtype) {
  for (const auto& [type, d] : kOnnxDtypes)
    if (d == dtype) return type;
  return dtype == Dtype::c64 ? 14 : 15;
}
std::optional<Dtype> dtype_of_onnx(std::int64_t type) {
  for (const auto& [t, dtype] : kOnnxDtypes)
    if (t == type) return dtype;
  return std::nullopt;
}

OnnxTensor read_onnx_tensor_file(const fs::path& path) {
  const std::string bytes = whole_file(path);
  WireBudget budget = budget_for(path, bytes);
  return read_tensor({bytes, 0, budget}, {path.parent_path()});
}

OnnxModel read_onnx_model(const fs::path& path, OnnxValues values) {
  const std::string bytes = whole_file(path);
  WireBudget budget = budget_for(path, bytes);
  const OnnxReading reading{path.parent_path(), values};
  OnnxModel model;
  bool graph = false;
  WireReader m(bytes, 0, budget);
  while (m.next()) switch (m.field()) {
      case 1:
        model.ir_version = m.integer();
        break;
      case 2:
        model.producer = m.text();
        break;
      case 3:
        model.producer_version = m.text();
        break;
      case 7:
        if (graph) m.refuse("expected one graph, found a second");
        graph = true;
        model.graph = read_graph(m.message(), reading, 0);
        break;
      case 8: {
        std::string domain;
        std::int64_t version = 0;
        for (WireReader set = m.message(); set.next();) {
          if (set.field() == 1) domain = set.text();
          if (set.field() == 2) version = set.integer();
        }
        m.budget().spend(kBytesOfPart, m.byte());
        model.opsets[domain == "ai.onnx" ? "" : domain] = version;
        break;
      }
      case 14:
        model.metadata.insert(read_entry(m.message()));
        break;
      case 25:
        ++model.functions;
        break;
      default:
        break;
    }
  if (!graph) refuse_onnx(path.string(), bytes.size(), "expected a graph, found none");
  return model;
}

}  // namespace tessera::data
