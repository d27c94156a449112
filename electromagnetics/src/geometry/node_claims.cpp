// SPDX-License-Identifier: Apache-2.0
#include "geometry/node_claims.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::electromagnetics::detail {

std::vector<std::optional<std::size_t>> settle(std::span<const NodeClaim> claims, double hair) {
  std::vector<std::size_t> at(claims.size(), 0);  // of those that have none, beyond their last
  const auto has = [&](std::size_t n) { return at[n] < claims[n].nodes.size(); };
  for (bool again = true; again;) {
    again = false;
    std::map<Cell, std::vector<std::size_t>> at_node;
    for (std::size_t n = 0; n < claims.size(); ++n)
      if (has(n)) at_node[claims[n].nodes[at[n]]].push_back(n);
    for (const auto& [node, those] : at_node) {
      double least = INFINITY;
      std::size_t winner = 0;
      for (const std::size_t n : those)
        if (claims[n].far[at[n]] < least) least = claims[n].far[at[n]], winner = claims[n].body;
      const auto as_near = [&](std::size_t n) { return claims[n].far[at[n]] <= least + hair; };
      const bool tie = std::any_of(those.begin(), those.end(), [&](std::size_t n) {
        return claims[n].body != winner && as_near(n);
      });
      for (const std::size_t n : those)
        if (tie ? as_near(n) : claims[n].body != winner) ++at[n], again = true;
    }
  }
  std::vector<std::optional<std::size_t>> out(claims.size());
  for (std::size_t n = 0; n < claims.size(); ++n)
    if (has(n)) out[n] = at[n];
  return out;
}

}  // namespace tessera::electromagnetics::detail
