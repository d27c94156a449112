// SPDX-License-Identifier: Apache-2.0
#include "subgraph.h"

#include "../core/rules.h"

#include <algorithm>

namespace tessera::detail {

Closed close(Graph g) {
  Closed c;
  std::vector<std::pair<Graph::Id, Tensor>> constants;
  for (auto& [id, t] : g.captures) {
    if (!t.is_traced()) {
      constants.emplace_back(id, t);
      continue;
    }
    g.inputs.push_back(id);
    c.captured.push_back(t);
  }
  g.captures = std::move(constants);
  c.graph = std::move(g);
  return c;
}

namespace {
/// Adds the operations of g to `out`; `number[id]` is the value of `out` that id of g is, which is
/// known of the inputs.
void append(Graph& out, const Graph& g, std::vector<Graph::Id>& number) {
  for (const auto& [id, t] : g.captures) {
    number[id] = out.add_value(g.types[id]);
    out.captures.emplace_back(number[id], t);
  }
  for (const Graph::Equation& e : g.equations) {
    const std::span<const Graph::Id> in = g.in(e);
    if (const Graph* f = called_by(e)) {
      std::vector<Graph::Id> inside(f->types.size());
      for (std::size_t k = 0; k < f->inputs.size(); ++k) inside[f->inputs[k]] = number[in[k]];
      append(out, *f, inside);
      for (Graph::Id k = 0; k < e.out_count; ++k) number[e.out_begin + k] = inside[f->outputs[k]];
      continue;
    }
    Graph::Equation copy = e;
    copy.in_begin = static_cast<Graph::Id>(out.operands.size());
    for (Graph::Id id : in) out.operands.push_back(number[id]);
    copy.out_begin = static_cast<Graph::Id>(out.types.size());
    for (Graph::Id k = 0; k < e.out_count; ++k)
      number[e.out_begin + k] = out.add_value(g.types[e.out_begin + k]);
    out.equations.push_back(std::move(copy));
  }
}
}  // namespace

Graph with_calls_opened(const Graph& g) {
  if (std::none_of(g.equations.begin(), g.equations.end(), called_by)) return g;
  Graph out;
  std::vector<Graph::Id> number(g.types.size());
  for (Graph::Id id : g.inputs) out.inputs.push_back(number[id] = out.add_value(g.types[id]));
  append(out, g, number);
  for (Graph::Id id : g.outputs) out.outputs.push_back(number[id]);
  return out;
}

Types types_of(std::span<const Tensor> x) {
  Types t;
  for (const Tensor& v : x) t.push_back(v.type());
  return t;
}

Graph batched_graph(const Graph& g, const Types& in, const std::vector<bool>& flags, Index size) {
  return record_branch(
             "vmap",
             [&](const std::vector<Tensor>& x) {
               std::vector<bool> out_flags;
               std::vector<Tensor> y = batch_graph(g, x, flags, size, out_flags);
               for (std::size_t k = 0; k < y.size(); ++k)
                 y[k] = with_batch(y[k], out_flags[k], size);
               return y;
             },
             in)
      .graph;
}

Types output_types(const Graph& g) {
  Types t;
  for (Graph::Id id : g.outputs) t.push_back(g.types[id]);
  return t;
}

}  // namespace tessera::detail
