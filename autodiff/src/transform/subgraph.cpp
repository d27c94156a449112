// SPDX-License-Identifier: Apache-2.0
#include "subgraph.h"

#include "../core/rules.h"

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
