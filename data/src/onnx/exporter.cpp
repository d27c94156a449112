// SPDX-License-Identifier: Apache-2.0
#include "onnx/exporter.h"

#include "arrays/elements.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/build_info.h"
#include "tessera/data/onnx.h"

#include <algorithm>
#include <set>

namespace tessera::data {

bool is_made_by_export(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         std::ranges::all_of(name.substr(1), [](char c) { return '0' <= c && c <= '9'; });
}

OnnxAttribute attribute(std::string name, std::int64_t i) {
  OnnxAttribute a;
  a.name = std::move(name), a.kind = OnnxAttribute::integer, a.i = i;
  return a;
}
OnnxAttribute attribute(std::string name, std::vector<std::int64_t> ints) {
  OnnxAttribute a;
  a.name = std::move(name), a.kind = OnnxAttribute::integers, a.ints = std::move(ints);
  return a;
}
OnnxExporter::OnnxExporter(const Recordings& recordings, OnnxGraph& graph)
    : r(recordings), graph_(graph), made_by_(r.first().types.size(), r.first().equations.size()) {
  for (std::size_t e = 0; e < r.first().equations.size(); ++e) {
    const Graph::Equation& made = r.first().equations[e];
    for (Graph::Id v = made.out_begin; v < made.out_begin + made.out_count; ++v) made_by_[v] = e;
  }
}
std::optional<std::size_t> OnnxExporter::made_by(std::size_t k) const {
  const std::size_t e = made_by_[in(k)];
  return e < r.first().equations.size() ? std::optional(e) : std::nullopt;
}

void OnnxExporter::refuse(const std::string& why) const {
  throw Error("[write_onnx] " + place_of(e()) + ": " + why);
}

std::string OnnxExporter::node(const std::string& op, Names in,
                               std::vector<OnnxAttribute> attributes) {
  const std::string out = fresh();
  graph_.nodes.push_back(
      {.op = op,
       .name = equation < r.first().equations.size() ? place_of(e()) + " " + out : out,
       .in = std::move(in),
       .out = {out},
       .attributes = std::move(attributes)});
  return out;
}

std::string OnnxExporter::constant(const Tensor& t) {
  if (contains(kComplex, t.dtype()))
    throw Error("[write_onnx] networks in ONNX have no " + to_string(t.type()));
  OnnxTensor c{.name = fresh(), .type = onnx_type_of(t.dtype()), .values = contiguous(t)};
  c.dims.assign(t.shape().begin(), t.shape().end());
  graph_.initializers.push_back(c);
  return c.name;
}
std::string OnnxExporter::number(double v, Dtype dtype) { return constant(scalar(v, dtype)); }
std::string OnnxExporter::numbers(const std::vector<Index>& v) {
  const auto [at, fresh_one] = numbers_.try_emplace(v);
  if (fresh_one)
    at->second = constant(
        tensor(std::vector<std::int64_t>(v.begin(), v.end()), {static_cast<Index>(v.size())}));
  return at->second;
}

std::string OnnxExporter::lengths(const BatchShape& s) {
  Names parts;
  std::vector<Index> run;
  const auto flush = [&] {
    if (!run.empty()) parts.push_back(numbers(run));
    run.clear();
  };
  for (const BatchSize& n : s) {
    if (n.batches == 0) {
      run.push_back(n.value);
      continue;
    }
    flush();
    std::string& times = batches_[n.batches];
    if (times.empty()) {
      std::string& once = batches_[1];
      if (once.empty())
        once = node("Shape", {batch_of}, {attribute("start", 0), attribute("end", 1)});
      times = n.batches == 1 ? once : node("Mul", {once, numbers({n.batches})});
    }
    parts.push_back(times);
  }
  flush();
  if (parts.empty()) return numbers({});
  return parts.size() == 1 ? parts[0] : node("Concat", parts, {attribute("axis", 0)});
}

std::string OnnxExporter::reshaped(const std::string& x, const BatchShape& s) {
  // One length may be left to the reader, where no other is 0.
  const auto varies = [](const BatchSize& n) { return n.batches != 0; };
  const auto empty = [](const BatchSize& n) { return n.value == 0; };
  if (std::ranges::count_if(s, varies) == 1 && std::ranges::none_of(s, empty)) {
    std::vector<Index> to;
    for (const BatchSize& n : s) to.push_back(varies(n) ? -1 : n.value);
    return node("Reshape", {x, numbers(to)});
  }
  return node("Reshape", {x, lengths(s)}, {attribute("allowzero", 1)});
}

std::string OnnxExporter::whole(Graph::Id id) {
  std::string& name = names_[id];
  if (!name.empty()) return name;
  const auto narrow = narrow_.find(id);
  if (narrow == narrow_.end()) {
    const Graph::Equation& made = r.first().equations[made_by_[id]];
    throw Error("[write_onnx] " + place_of(made) + ": its result number " +
                std::to_string(id - made.out_begin) + " is used, which ONNX does not have");
  }
  return name = node("Expand", {narrow->second.name, lengths(r.shape(id))});
}

OnnxExporter::Names OnnxExporter::repeating_operands(std::size_t own) {
  Names all;
  const auto ends_alike = [&](const BatchShape& a, const BatchShape& b) {
    return a.size() >= own && b.size() >= own &&
           std::equal(a.rbegin(), a.rbegin() + static_cast<std::ptrdiff_t>(own), b.rbegin());
  };
  const std::span<const Graph::Id> ids = r.first().in(e());
  const bool some_whole =
      std::ranges::any_of(ids, [&](Graph::Id id) { return !narrow_.contains(id); });
  for (const Graph::Id id : ids) {
    const auto narrow = narrow_.find(id);
    const bool repeats =
        some_whole && narrow != narrow_.end() && ends_alike(narrow->second.shape, r.shape(id));
    all.push_back(repeats ? narrow->second.name : whole(id));
  }
  return all;
}

namespace {

/// What all files are written from: the graph with its parameters and inputs by name.
OnnxModel exported(const Recordings& r, const std::vector<NamedTensor>& parameters,
                   const OnnxOptions& o) {
  OnnxModel m;
  m.opsets[""] = kWrittenOpset;
  m.producer = "tessera", m.producer_version = build_info().version;
  m.metadata = o.metadata;
  m.graph.name = "network";
  OnnxExporter x(r, m.graph);
  const Graph& g = r.first();
  x.equation = g.equations.size();
  std::set<Graph::Id> used(g.operands.begin(), g.operands.end());
  used.insert(g.outputs.begin(), g.outputs.end());
  const auto value = [&](const std::string& name, Graph::Id id) {
    if (contains(kComplex, g.types[id].dtype))
      throw Error("[write_onnx] '" + name + "' is " + to_string(g.types[id]) +
                  ", and networks in ONNX have no complex numbers");
    OnnxValueInfo v{name, onnx_type_of(g.types[id].dtype), std::vector<OnnxAxis>{}};
    for (const BatchSize& n : r.shape(id))
      v.shape->push_back({n.value, n.batches == 0   ? ""
                                   : n.batches == 1 ? "batch"
                                                    : "batch_" + std::to_string(n.batches)});
    return v;
  };
  for (std::size_t k = 0; k < g.inputs.size(); ++k) {
    const Graph::Id id = g.inputs[k];
    if (k >= parameters.size()) {
      const std::string& name = o.inputs[k - parameters.size()].name;
      m.graph.inputs.push_back(value(name, id));
      if (x.batch_of.empty()) x.batch_of = name;
      x.name(id, name);
      continue;
    }
    x.name(id, parameters[k].name);
    if (!used.contains(id)) continue;
    const Tensor values = values_to_write("write_onnx", parameters[k]);
    OnnxTensor t{
        .name = parameters[k].name, .type = onnx_type_of(values.dtype()), .values = values};
    t.dims.assign(values.shape().begin(), values.shape().end());
    m.graph.initializers.push_back(std::move(t));
  }
  for (std::size_t k = 0; k < g.captures.size(); ++k) {
    const Recordings::Constant c = r.constant(k);
    const bool one = c.repeats && c.values.size() == 1;
    const Tensor values = one ? reshape(c.values, {}) : c.values;
    const std::string name = x.constant(values);
    if (!c.repeats) {
      x.name(g.captures[k].first, name);
      continue;
    }
    BatchShape shape;
    for (const Index n : values.shape()) shape.push_back({n, 0});
    x.name_narrow(g.captures[k].first, name, std::move(shape));
  }
  for (x.equation = 0; x.equation < g.equations.size(); ++x.equation) export_equation(x);
  const auto is_taken = [&](const std::string& name) {
    const auto called = [&](const auto& v) { return v.name == name; };
    return std::ranges::any_of(parameters, called) || std::ranges::any_of(o.inputs, called);
  };
  for (std::size_t k = 0; k < g.outputs.size(); ++k) {
    const std::string name = !o.outputs.empty()      ? o.outputs[k]
                             : g.outputs.size() == 1 ? "y"
                                                     : "y." + std::to_string(k);
    if (o.outputs.empty() && is_taken(name))
      throw Error("[write_onnx] two values are called '" + name +
                  "': give names to the results (OnnxOptions::outputs)");
    m.graph.nodes.push_back(
        {.op = "Identity", .name = "result " + name, .in = {x.whole(g.outputs[k])}, .out = {name}});
    m.graph.outputs.push_back(value(name, g.outputs[k]));
  }
  return m;
}

void must_be_good_names(const std::vector<NamedTensor>& parameters, const OnnxOptions& o) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (name.empty() || is_made_by_export(name))
      throw Error("[write_onnx] '" + name + "' is no name of a value: '_' with a number is taken");
    if (!seen.insert(name).second) throw Error("[write_onnx] two values are called '" + name + "'");
  };
  for (const NamedTensor& p : parameters) add(p.name);
  for (const OnnxInput& i : o.inputs) add(i.name);
  for (const std::string& out : o.outputs) add(out);
}

}  // namespace

OnnxWritten write_onnx_function(const std::filesystem::path& path, const OnnxFunction& f,
                                const std::vector<NamedTensor>& parameters, const OnnxOptions& o) {
  must_be_good_names(parameters, o);
  const std::size_t n = parameters.size();
  const auto recorded = [&](Index batch) {
    std::vector<Type> types;
    for (const NamedTensor& p : parameters) types.push_back(p.values.type());
    for (const OnnxInput& i : o.inputs) {
      types.push_back(i.type);
      if (batch == 0) continue;
      if (i.type.shape.empty())
        throw Error("[write_onnx] the input '" + i.name + "' has no axis for the batch");
      types.back().shape[0] = batch;
    }
    const Graph g = simplify(trace(
        [&](const std::vector<Tensor>& all) {
          const auto cut = all.begin() + static_cast<std::ptrdiff_t>(n);
          return f({all.begin(), cut}, {cut, all.end()});
        },
        types));
    if (!o.outputs.empty() && g.outputs.size() != o.outputs.size())
      throw Error("[write_onnx] " + std::to_string(g.outputs.size()) + " results have " +
                  std::to_string(o.outputs.size()) + " names");
    return g;
  };
  OnnxWritten w;
  if (o.any_batch && !o.inputs.empty()) try {
      // Lengths that networks seldom have themselves, so that nothing is equal by accident.
      constexpr Index batches[] = {37, 41, 43};
      std::vector<Graph> graphs;
      for (const Index b : batches) graphs.push_back(recorded(b));
      const OnnxModel m = exported(Recordings(std::move(graphs), {37, 41, 43}), parameters, o);
      write_onnx_model(path, m);
      w.any_batch = true;
      return w;
    } catch (const DependsOnBatch& why) {
      w.why_not = why.why;
    }
  std::vector<Graph> one;
  one.push_back(recorded(0));
  write_onnx_model(path, exported(Recordings(std::move(one), {1}), parameters, o));
  return w;
}

}  // namespace tessera::data
