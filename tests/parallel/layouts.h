// SPDX-License-Identifier: Apache-2.0
//
// Meshes of ranks, and layouts by chance.
#pragma once
#include "tessera/parallel/layout.h"

#include <algorithm>
#include <random>

namespace tessera::parallel::checks {

using Axes = std::vector<RankMesh::Axis>;
inline std::vector<Axes> meshes_of(int ranks) {
  std::vector<Axes> all{{{"a", ranks}}};
  for (const int n : {2, 3, 4})
    if (ranks % n == 0) all.push_back({{"a", n}, {"b", ranks / n}});
  if (ranks == 8) all.push_back({{"a", 2}, {"b", 2}, {"c", 2}});
  return all;
}

/// Each axis of the mesh cuts some axis of the tensor, or none; parts of a sum where `sums`.
inline Layout layout_by_chance(const Axes& mesh, const Shape& shape, bool sums,
                               std::mt19937_64& random) {
  Layout l{std::vector<AxisLayout>(static_cast<std::size_t>(shape.size())), {}};
  std::vector<int> parts(l.axes.size(), 1);
  for (const RankMesh::Axis& axis : mesh) {
    const auto way = random() % (l.axes.size() + 2);
    if (way < l.axes.size()) {
      l.axes[way].over.push_back(axis.name);
      parts[way] *= axis.size;
    } else if (sums && way == l.axes.size()) {
      l.partial.push_back(axis.name);
    }
  }
  for (std::size_t d = 0; d < l.axes.size(); ++d) {
    AxisLayout& axis = l.axes[d];
    const Index n = shape[static_cast<int>(d)];
    if (random() % 2) {  // unevenly, some parts empty
      for (int k = 1; k < parts[d]; ++k)
        axis.begin.push_back(static_cast<Index>(random() % static_cast<std::uint64_t>(n + 1)));
      axis.begin.insert(axis.begin.end(), {0, n});
      std::sort(axis.begin.begin(), axis.begin.end());
    }
    if (random() % 3 == 0) axis.low = static_cast<Index>(random() % 5);
    if (random() % 3 == 0) axis.high = static_cast<Index>(random() % 9);
  }
  return l;
}

}  // namespace tessera::parallel::checks
