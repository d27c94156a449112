// SPDX-License-Identifier: Apache-2.0
//
// Bodies of derived loops: the body with its tangents, and the body's linear part run backwards.
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../exec/minimum_cut.h"
#include "../exec/recompute.h"
#include "../ops/forms.h"
#include "loops_internal.h"
#include "tessera/autodiff/jit.h"

#include <algorithm>

namespace tessera::detail {

Flags reached(const Graph& g, const Flags& inputs, Follow what) {
  Flags v(g.types.size(), false);
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    if (inputs[k]) v[g.inputs[k]] = true;
  for (const Graph::Equation& e : g.equations) {
    const std::span<const Graph::Id> in = g.in(e);
    const bool by_itself = what == Follow::changes && order_of(e) == Ordering::every;
    if (!by_itself && std::none_of(in.begin(), in.end(), [&](Graph::Id id) { return v[id]; }))
      continue;
    const bool values = what == Follow::values || what == Follow::changes;
    const bool goes_on = values || e.primitive->rule != RuleClass::zero ||
                         (what == Follow::unknown && e.primitive == &stop_gradient_primitive());
    if (!goes_on) continue;
    for (Graph::Id k = 0; k < e.out_count; ++k)
      v[e.out_begin + k] = values || is_inexact(g.types[e.out_begin + k].dtype);
    if (what == Follow::tangents && e.primitive->moved) {
      Flags from;
      for (Graph::Id id : in) from.push_back(v[id]);
      const Flags moved = e.primitive->moved(from, e.attr.get());
      for (Graph::Id k = 0; k < e.out_count; ++k)
        v[e.out_begin + k] = v[e.out_begin + k] && moved[k];
    }
  }
  return v;
}

Flags settle(const Sweep& s, Flags& inputs, Follow what) {
  const Graph& g = s.body->graph();
  for (;;) {
    Flags v = reached(g, inputs, what);
    bool grown = false;
    for (std::size_t k = 0; k < s.n_carry; ++k)
      if (v[g.outputs[k]] && !inputs[s.n_consts + k]) inputs[s.n_consts + k] = grown = true;
    if (!grown) return v;
  }
}

Graph extract(const Graph& g, std::span<const Graph::Id> inputs,
              std::span<const Graph::Id> outputs) {
  const Flags used = needed(g, inputs, outputs), given = flagged(g, inputs);
  Graph out;
  constexpr Graph::Id kNowhere = ~Graph::Id(0);
  std::vector<Graph::Id> renamed(g.types.size(), kNowhere);
  const auto found = [&](Graph::Id id) {
    if (renamed[id] == kNowhere)
      fail("transpose",
           "what is to be transposed depends on its unknown by an operation that is not linear in "
           "it");
    return renamed[id];
  };
  for (Graph::Id id : inputs) out.inputs.push_back(renamed[id] = out.add_value(g.types[id]));
  for (const auto& [id, t] : g.captures)
    if (used[id] && !given[id])
      out.captures.emplace_back(renamed[id] = out.add_value(g.types[id]), t);
  for (Graph::Equation e : g.equations) {
    if (!asked_for(e, used, given)) continue;
    const auto in_begin = static_cast<Graph::Id>(out.operands.size());
    for (Graph::Id id : g.in(e)) out.operands.push_back(found(id));
    const auto out_begin = static_cast<Graph::Id>(out.types.size());
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      const Graph::Id id = out.add_value(g.types[e.out_begin + k]);
      if (!given[e.out_begin + k]) renamed[e.out_begin + k] = id;
    }
    e.in_begin = in_begin;
    e.out_begin = out_begin;
    out.equations.push_back(std::move(e));
  }
  for (Graph::Id id : outputs) out.outputs.push_back(found(id));
  return out;
}

std::vector<Tensor> evaluate_all(const Graph& g, std::span<const Tensor> inputs) {
  std::vector<Tensor> values(g.types.size());
  for (std::size_t k = 0; k < g.inputs.size(); ++k) values[g.inputs[k]] = inputs[k];
  for (const auto& [id, t] : g.captures) values[id] = t;
  std::vector<const Tensor*> in;
  for (const Graph::Equation& e : g.equations) {
    in.clear();
    for (Graph::Id id : g.in(e)) in.push_back(&values[id]);
    dispatch(*e.primitive, in, e.attr, e.line, {values.data() + e.out_begin, e.out_count});
  }
  return values;
}

Closed joint_graph(const Graph& g, const Tangents& tangents, const std::vector<Group>& in,
                   const Flags& in_flags, const std::vector<Group>& out, const Flags& out_flags) {
  Types types;
  std::size_t at = 0;
  for (const Group& group : in) {
    for (std::size_t k = 0; k < group.size; ++k) types.push_back(g.types[g.inputs[at + k]]);
    for (std::size_t k = 0; k < group.size; ++k)
      for (std::size_t r = 0; in_flags[at + k] && r < tangents.count; ++r)
        types.push_back(tangents.type(tangents.curves, g.types[g.inputs[at + k]], r));
    at += group.size;
  }
  return close(record_branch(
                   "jvp",
                   [&](const std::vector<Tensor>& x) {
                     std::vector<Tensor> primal(g.inputs.size()), y;
                     std::vector<std::vector<Tensor>> beside(g.inputs.size());
                     std::size_t next = 0, at = 0;
                     for (const Group& group : in) {
                       for (std::size_t k = 0; k < group.size; ++k) primal[at + k] = x[next++];
                       for (std::size_t k = 0; k < group.size; ++k)
                         for (std::size_t r = 0; in_flags[at + k] && r < tangents.count; ++r)
                           beside[at + k].push_back(x[next++]);
                       at += group.size;
                     }
                     const std::vector<Tensor> values = evaluate_all(g, primal);
                     const std::vector<std::vector<Tensor>> pushed =
                         tangents.push(tangents.curves, g, values, beside);
                     at = 0;
                     for (const Group& group : out) {
                       for (std::size_t k = 0; group.primal && k < group.size; ++k)
                         y.push_back(values[g.outputs[at + k]]);
                       for (std::size_t k = 0; k < group.size; ++k)
                         for (std::size_t r = 0; out_flags[at + k] && r < tangents.count; ++r) {
                           const Type want =
                               tangents.type(tangents.curves, g.types[g.outputs[at + k]], r);
                           y.push_back(pushed[at + k].empty() || !pushed[at + k][r].defined()
                                           ? zeros_of(want)
                                           : pushed[at + k][r]);
                         }
                       at += group.size;
                     }
                     return y;
                   },
                   types)
                   .graph);
}

std::vector<Graph::Id> residuals(const Graph& g, const Flags& linear) {
  Flags constant(g.types.size(), false), seen(g.types.size(), false);
  for (const auto& [id, t] : g.captures) constant[id] = true;
  std::vector<Graph::Id> out;
  for (const Graph::Equation& e : g.equations) {
    bool any = false;
    for (Graph::Id k = 0; k < e.out_count; ++k) any = any || linear[e.out_begin + k];
    if (!any) continue;
    for (Graph::Id id : g.in(e))
      if (!linear[id] && !constant[id] && !seen[id]) {
        seen[id] = true;
        out.push_back(id);
      }
  }
  return out;
}

std::vector<Graph::Id> cheapest_to_keep(const Graph& g, std::span<const Graph::Id> wanted,
                                        const Flags& free) {
  constexpr std::uint32_t kNowhere = ~0u;
  std::vector<std::uint32_t> maker(g.types.size(), kNowhere), node(g.types.size(), kNowhere);
  for (std::uint32_t n = 0; n < g.equations.size(); ++n)
    for (Graph::Id k = 0; k < g.equations[n].out_count; ++k)
      maker[g.equations[n].out_begin + k] = n;
  plan::MinimumCut cut;
  std::vector<Graph::Id> found;
  const auto node_of = [&](Graph::Id id) {
    if (node[id] == kNowhere) {
      node[id] = cut.add_node();
      cut.add_node();
      found.push_back(id);
    }
    return node[id];
  };
  for (Graph::Id id : wanted)
    cut.add_edge(node_of(id) + 1, plan::MinimumCut::sink, plan::MinimumCut::kInfinite);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Graph::Id id = found[k];
    const auto bytes = static_cast<double>(plan::bytes_of(g.types[id]));
    cut.add_edge(node[id], node[id] + 1, free[id] ? 0 : static_cast<std::int64_t>(bytes));
    double price = 0;
    if (maker[id] != kNowhere && !free[id]) {
      const Primitive& p = *g.equations[maker[id]].primitive;
      const bool is_view = p.view && g.equations[maker[id]].in_count == 1;
      price = is_view ? 1.0 / 1024 : plan::price_per_byte(p);
    }
    cut.add_edge(
        plan::MinimumCut::source, node[id],
        price == 0 ? plan::MinimumCut::kInfinite : 1 + static_cast<std::int64_t>(price * bytes));
    if (price == 0) continue;
    for (Graph::Id in : g.in(g.equations[maker[id]]))
      cut.add_edge(node_of(in) + 1, node[id], plan::MinimumCut::kInfinite);
  }
  const std::vector<bool> late = cut.on_side_of_sink();
  std::vector<Graph::Id> kept;
  for (Graph::Id id : found)
    if (!late[node[id]] && late[node[id] + 1]) kept.push_back(id);
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<Tensor> pull_back(const Graph& g, std::span<const Graph::Id> in,
                              std::span<const Graph::Id> out, std::span<const Graph::Id> residual,
                              std::span<const Tensor> residual_values,
                              std::span<const Tensor> cotangents) {
  std::vector<Graph::Id> given(in.begin(), in.end());
  given.insert(given.end(), residual.begin(), residual.end());
  Graph l = extract(g, given, out);
  for (std::size_t k = 0; k < residual.size(); ++k)
    l.captures.emplace_back(l.inputs[in.size() + k], residual_values[k]);
  l.inputs.resize(in.size());
  return transpose_graph(l, cotangents);
}

}  // namespace tessera::detail
