// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/cut.h"

#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/graph_passes.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops/shape.h"

#include <algorithm>

namespace tessera {
namespace {

using detail::BoxRule;

/// The smallest box that holds both; empty ones hold nothing.
void include(Box& all, const Box& b) {
  if (b.empty()) return;
  if (all.begin.size() != b.begin.size() || all.empty()) {
    all = b;
    return;
  }
  for (int d = 0; d < b.begin.size(); ++d) {
    all.begin[d] = std::min(all.begin[d], b.begin[d]);
    all.end[d] = std::max(all.end[d], b.end[d]);
  }
}

/// What nobody asked for: no position, of an array with axes.
Box nothing_of(const Type& t) {
  return {Shape::filled(t.shape.size(), 0), Shape::filled(t.shape.size(), 0)};
}

std::string called(const Graph::Equation& e) {
  return std::string(e.primitive->name) + ", " + to_string(e.line);
}

/// Values that depend on cut inputs.
std::vector<bool> moved_by(const Graph& g, const std::vector<bool>& cut_inputs) {
  std::vector<bool> moved(g.types.size());
  for (std::size_t k = 0; k < g.inputs.size(); ++k) moved[g.inputs[k]] = cut_inputs[k];
  for (const Graph::Equation& e : g.equations) {
    bool any = false;
    for (const Graph::Id id : g.in(e)) any = any || moved[id];
    for (Graph::Id k = 0; k < e.out_count; ++k) moved[e.out_begin + k] = any;
  }
  return moved;
}

/// What is in memory of a constant: one position of each axis along which it repeats.
Tensor kept_of(const Tensor& t) {
  const View v = t.view();
  Shape end = v.shape;
  for (int d = 0; d < end.size(); ++d)
    if (v.strides[d] == 0) end[d] = std::min<Index>(end[d], 1);
  return slice(t, Shape::filled(end.size(), 0), end);
}
/// Where box `b` of the whole lies in what is in memory of it.
Box box_of_kept(Box b, const Tensor& kept, const Shape& whole) {
  for (int d = 0; d < b.begin.size(); ++d)
    if (kept.shape()[d] != whole[d] && b.begin[d] < b.end[d]) b.begin[d] = 0, b.end[d] = 1;
  return b;
}

/// Each operand and result as a whole.
BoxRule whole_rule(std::span<const Type> in, const Type& out) {
  BoxRule r{whole_box(out.shape), {}, nullptr};
  for (const Type& t : in) r.operands.push_back(whole_box(t.shape));
  return r;
}

struct Cutter {
  const Graph& g;
  const std::vector<bool> moved;
  const Box wanted_result;
  std::vector<Box> wanted;                  ///< of each value; what is there of it, once known
  std::vector<bool> used;                   ///< whether anything asked for it
  std::vector<std::vector<BoxRule>> rules;  ///< of each equation: none where nothing is wanted
  std::vector<Tensor> known;
  std::vector<std::string> sweeps;

  Cutter(const Graph& graph, const Box& box, const std::vector<bool>& cut_inputs)
      : g(graph), moved(moved_by(graph, cut_inputs)), wanted_result(box), known(g.types.size()) {
    for (const Type& t : g.types) wanted.push_back(nothing_of(t));
    for (const auto& [id, t] : g.captures) known[id] = t;
    include(wanted[g.outputs[0]], box);
    if (box.begin.empty()) wanted[g.outputs[0]] = box;
    used.resize(g.types.size());
    used[g.outputs[0]] = true;
    rules.resize(g.equations.size());
    for (std::size_t k = g.equations.size(); k-- > 0;) ask(k);
    for (std::size_t k = 0; k < g.inputs.size(); ++k)
      if (!cut_inputs[k]) wanted[g.inputs[k]] = whole_box(g.types[g.inputs[k]].shape);
  }
  bool asked(Graph::Id id) const { return used[id] && !wanted[id].empty(); }

  void ask(std::size_t number) {
    const Graph::Equation& e = g.equations[number];
    bool any = false;
    for (Graph::Id k = 0; k < e.out_count; ++k) any = any || asked(e.out_begin + k);
    if (!any) return;
    std::vector<Type> in;
    std::vector<Tensor> constants;
    for (const Graph::Id id : g.in(e)) in.push_back(g.types[id]), constants.push_back(known[id]);
    const BoxRule r = rule_of(e, in, constants);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const Graph::Id id = g.in(e)[k];
      if (k < r.in_place.size() && r.in_place[k].defined()) continue;
      if (in[k].shape.empty())
        wanted[id] = whole_box({});
      else
        include(wanted[id], r.operands[k]);
      if (!r.operands[k].empty()) used[id] = true;
    }
    if (r.sweeps) sweeps.push_back(called(e));
    wanted[e.out_begin] = r.result;
    rules[number] = {r};
  }

  BoxRule rule_of(const Graph::Equation& e, std::span<const Type> in,
                  std::span<const Tensor> constants) {
    const Type& out = g.types[e.out_begin];
    const Box& box = wanted[e.out_begin];
    const bool depends = moved[e.out_begin];
    if (e.out_count == 1) {
      if (e.primitive->elementwise) return {box, std::vector<Box>(in.size(), box), nullptr};
      if (const auto rule = detail::boxes_of(*e.primitive))
        return rule({e.attr.get(), in, out, box, constants});
    }
    if (depends && wanted_result != whole_box(g.types[g.outputs[0]].shape))
      throw Error("[cut] " + called(e) + ": there is no rule for a box of its result, " +
                  to_string(box) + " of " + to_string(out) +
                  "; compute what it is of outside, or of the whole array");
    for (Graph::Id k = 1; k < e.out_count; ++k)
      wanted[e.out_begin + k] = whole_box(g.types[e.out_begin + k].shape);
    return whole_rule(in, out);
  }

  /// Runs on boxes of the inputs and captures.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> values(g.types.size());
    for (std::size_t k = 0; k < g.inputs.size(); ++k) values[g.inputs[k]] = inputs[k];
    for (std::size_t k = 0; k < g.captures.size(); ++k) {
      const Graph::Id id = g.captures[k].first;
      values[id] = broadcast_to(inputs[g.inputs.size() + k], wanted[id].extents());
    }
    std::vector<Tensor> in;
    std::vector<const Tensor*> list;
    for (std::size_t number = 0; number < g.equations.size(); ++number) {
      if (rules[number].empty()) continue;
      const Graph::Equation& e = g.equations[number];
      const BoxRule& r = rules[number][0];
      const detail::InRule here(detail::context(), e.line);
      in.clear(), list.clear();
      for (std::size_t k = 0; k < e.in_count; ++k) {
        const Graph::Id id = g.in(e)[k];
        if (static_cast<int>(k) == r.exactly && wanted[id] != r.operands[k])
          throw Error("[cut] " + called(e) + ": its windows are used in two places");
        const bool replaced = k < r.in_place.size() && r.in_place[k].defined();
        in.push_back(replaced ? r.in_place[k] : piece(values[id], id, r.operands[k], e.line));
      }
      for (const Tensor& t : in) list.push_back(&t);
      dispatch(*e.primitive, list, r.attr ? r.attr : e.attr, e.line,
               {values.data() + e.out_begin, e.out_count});
    }
    return {piece(values[g.outputs[0]], g.outputs[0], wanted_result, {})};
  }
  /// Box `b` of what is there of value `id`.
  Tensor piece(const Tensor& there, Graph::Id id, const Box& b, SourceLine line) const {
    if (b.empty()) return zeros(b.extents(), g.types[id].dtype);
    const Box& all = wanted[id];
    if (b == all || b.begin.empty()) return there;
    Shape start = b.begin, stop = b.end;
    for (int d = 0; d < start.size(); ++d) start[d] -= all.begin[d], stop[d] -= all.begin[d];
    return slice(Arg(there, line), start, stop);
  }
};

}  // namespace

std::vector<Tensor> Cut::operands(const std::vector<Tensor>& boxes) const {
  std::vector<Tensor> all = boxes;
  for (std::size_t k = 0; k < captures.size(); ++k)
    all.push_back(captures[k].ndim() == 0
                      ? captures[k]
                      : contiguous(slice(captures[k], constants[k].begin, constants[k].end)));
  return all;
}

Cut cut(const Graph& g, const Box& wanted, const std::vector<bool>& cut_inputs) {
  const auto refuse = [](const std::string& why) { throw Error("[cut] " + why); };
  if (g.outputs.size() != 1 || cut_inputs.size() != g.inputs.size())
    refuse("takes a function with one result and a flag for each input");
  const Type& result = g.types[g.outputs[0]];
  if (!wanted.within(whole_box(result.shape)) || wanted.end.size() != result.shape.size())
    refuse(to_string(wanted) + " is no box of " + to_string(result));
  for (const auto& [id, t] : g.captures)
    if (t.is_traced())
      refuse("the function uses " + to_string(t.type()) +
             " of an outer transform; pass it as an argument");
  const Cutter cutter(g, wanted, cut_inputs);
  Cut c;
  std::vector<Type> types;
  const auto add = [&](Graph::Id id, const Box& b, std::vector<Box>& to) {
    to.push_back(b);
    types.push_back({g.types[id].dtype, b.extents()});
  };
  for (const Graph::Id id : g.inputs) add(id, cutter.wanted[id], c.inputs);
  for (const auto& [id, t] : g.captures) {
    c.captures.push_back(kept_of(t));
    add(id, box_of_kept(cutter.wanted[id], c.captures.back(), t.shape()), c.constants);
  }
  c.sweeps = cutter.sweeps;
  c.graph = record_abstract(
                "cut", [&](const std::vector<Tensor>& x) { return cutter.run(x); }, types)
                .graph;
  return c;
}

}  // namespace tessera
