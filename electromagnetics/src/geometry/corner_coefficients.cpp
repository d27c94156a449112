// SPDX-License-Identifier: Apache-2.0
#include "geometry/grid_boxes.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/corner_tensors.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

using Node = std::array<int, 3>;

/// The edge of a node along an axis; its index lies in the grid where a corner has it.
Edge edge_of(const YeeGrid& grid, const Node& node, int axis, bool behind) {
  Node index = node;
  const int n = grid.cells(axis);
  index[axis] = n == 1 ? 0 : (index[axis] + (behind ? 0 : n - 1)) % n;
  return {static_cast<std::uint8_t>(axis), index[0], index[1], index[2]};
}

NodeCoupling coupling_of(const Node& node, const NodeCorners& corners) {
  NodeCoupling out{node[0], node[1], node[2], {}};
  constexpr int axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  double volume = 0;
  for (double v : corners.volume) volume += v;
  for (int c = 0; c < 8; ++c)
    for (int p = 0; p < 3; ++p) {
      const int pair = (c >> axes[p][0] & 1) + 2 * (c >> axes[p][1] & 1);
      out.pairs[p][pair] += 4 * corners.volume[c] / volume * corners.inverse_eps[c][3 + p];
    }
  return out;
}

struct Sum {
  double volume = 0, value = 0;
  bool coupled = false;
};

}  // namespace

CornerCoefficients corner_coefficients(const SceneOrder& scene, const std::vector<Medium>& media,
                                       const YeeGrid& grid, const UniformMedia& uniform,
                                       const NodeRange& range, const Periodic& periodic,
                                       double largest) {
  const auto cell_of = [&](Node node) {
    for (int k = 0; k < 3; ++k) node[k] = std::min(node[k], grid.cells(k) - 1);
    return node;
  };
  const auto is_there = [&](const Node& node) { return uniform.holds(cell_of(node)); };
  const auto uniform_at = [&](const Node& node) {
    const Node cell = cell_of(node);
    return uniform.at(cell[0], cell[1], cell[2]);
  };
  std::vector<Node> nodes;
  Node last = range.last;
  for (int a = 0; a < 3; ++a)
    if (periodic[a] || !grid.resolved(a)) last[a] = std::min(last[a], grid.cells(a) - 1);
  for (int k = range.first[2]; k <= last[2]; ++k)
    for (int j = range.first[1]; j <= last[1]; ++j)
      for (int i = range.first[0]; i <= last[0]; ++i)
        if (is_there({i, j, k}) && uniform_at({i, j, k}) < 0) nodes.push_back({i, j, k});

  std::vector<NodeCorners> corners(nodes.size());
  parallel_chunks(static_cast<std::int64_t>(nodes.size() + 63) / 64, [&](std::int64_t chunk) {
    const std::size_t begin = static_cast<std::size_t>(chunk) * 64,
                      end = std::min(begin + 64, nodes.size());
    for (std::size_t n = begin; n < end; ++n)
      corners[n] = node_corners(scene, media, grid, nodes[n], periodic, largest);
  });

  CornerCoefficients out;
  std::map<std::tuple<int, int, int, int>, Sum> sums;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (corners[n].coupled) out.nodes.push_back(coupling_of(nodes[n], corners[n]));
    for (int c = 0; c < 8; ++c)
      for (int a = 0; a < 3 && corners[n].volume[c] > 0; ++a) {
        const Edge e = edge_of(grid, nodes[n], a, c >> a & 1);
        Sum& sum = sums[{a, e.k, e.j, e.i}];
        sum.volume += corners[n].volume[c];
        sum.value += corners[n].volume[c] * corners[n].inverse_eps[c][a];
        sum.coupled = sum.coupled || corners[n].coupled;
      }
  }
  for (const auto& [key, sum] : sums) {
    if (!sum.coupled) continue;
    const auto& [axis, k, j, i] = key;
    const Edge e{static_cast<std::uint8_t>(axis), i, j, k};
    const Node at{i, j, k};
    Node next = at;
    next[axis] = at[axis] + 1 == grid.cells(axis) && periodic[axis] ? 0 : at[axis] + 1;
    if (!is_there(at) || !is_there(next)) continue;
    double volume = grid.length(axis, at[axis]);
    for (int b = 0; b < 3; ++b)
      if (b != axis) volume *= grid.dual_length(b, at[b], periodic[b] || !grid.resolved(b));
    double value = sum.value;
    const double missing = volume - sum.volume;  // of a node that was left out
    if (missing > 1e-9 * volume) {
      const std::int32_t medium = uniform_at(uniform_at(at) < 0 ? next : at);
      value +=
          missing *
          (medium >= 0 && plain(media[medium])
               ? 1 / media[medium].eps[axis]
               : edge_material(scene, media, grid, e, Averaging::kottke, periodic).inverse_eps);
    }
    out.edges.push_back({e, value / volume});
  }
  return out;
}

}  // namespace tessera::electromagnetics
