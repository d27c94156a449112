// SPDX-License-Identifier: Apache-2.0
#include "graph_passes.h"

#include <algorithm>

namespace tessera::detail {

std::vector<bool> flagged(const Graph& g, std::span<const Graph::Id> ids) {
  std::vector<bool> f(g.types.size(), false);
  for (Graph::Id id : ids) f[id] = true;
  return f;
}

bool asked_for(const Graph::Equation& e, const std::vector<bool>& used,
               const std::vector<bool>& given) {
  for (Graph::Id k = e.out_begin; k < e.out_begin + e.out_count; ++k)
    if (used[k] && !given[k]) return true;
  return false;
}

std::vector<bool> needed(const Graph& g, std::span<const Graph::Id> given,
                         std::span<const Graph::Id> outputs) {
  std::vector<bool> used = flagged(g, outputs);
  const std::vector<bool> known = flagged(g, given);
  for (std::size_t n = g.equations.size(); n-- > 0;)
    if (asked_for(g.equations[n], used, known))
      for (Graph::Id id : g.in(g.equations[n])) used[id] = true;
  return used;
}

Ordering order_of(const Graph& g) {
  Ordering strictest = Ordering::free;
  for (const Graph::Equation& e : g.equations) strictest = std::max(strictest, order_of(e));
  return strictest;
}

}  // namespace tessera::detail
