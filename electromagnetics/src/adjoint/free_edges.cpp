// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/free_edges.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

bool has_poles(const MaterialRow& row, int i) {
  return std::any_of(row.dispersive.begin(), row.dispersive.end(), [i](const DispersiveRun& r) {
    return i >= r.first && i < r.first + static_cast<int>(r.weight.size()) &&
           r.weight[static_cast<std::size_t>(i - r.first)] != 0;
  });
}

bool in_middle_half(const YeeGrid& grid, int axis, int i) {
  const int n = grid.cells(axis);
  return !grid.resolved(axis) || (i >= n / 4 && i < n - n / 4);
}

/// Sorts the edges of a model into those of bodies and those of the background.
struct EdgeSorter {
  const YeeModel& model;
  const Medium& around;
  YeeScheme scheme{model};
  std::vector<std::uint8_t> unknown = scheme.unknowns();
  FreeEdges bodies{}, background{};

  void add(const Edge& edge, const MaterialRow& row) {
    const auto u = static_cast<std::size_t>(edge.i);
    if (row.inverse[u] == 0) {
      ++bodies.conducting;
      return;
    }
    if (!unknown[static_cast<std::size_t>(scheme.offset(edge))]) return;
    const bool dispersive = has_poles(row, edge.i), free = !dispersive && row.loss[u] == 0;
    const bool body =
        around.pec || !free || std::abs(row.inverse[u] * around.eps[edge.component] - 1) > 1e-12;
    if (!free) {
      ++(dispersive ? bodies.dispersive : bodies.lossy);
      return;
    }
    const YeeGrid& g = model.grid;
    if (!body && !(in_middle_half(g, 0, edge.i) && in_middle_half(g, 1, edge.j) &&
                   in_middle_half(g, 2, edge.k)))
      return;
    FreeEdges& into = body ? bodies : background;
    into.edges.push_back(edge);
    into.eps.push_back(1 / row.inverse[u]);
  }
};

}  // namespace

FreeEdges free_edges(const YeeModel& model, const Medium& around) {
  EdgeSorter sorted{model, around};
  const YeeGrid& grid = model.grid;
  const auto n = static_cast<std::size_t>(grid.cells(0)) + 1;
  for (std::uint8_t q = 0; q < 3; ++q) {
    if (!model.active[q]) continue;
    // Along its own axis a component has an edge a cell, across it one a line.
    const auto edges = [&](int d) { return grid.cells(d) + (at_middle(q, d) ? 0 : 1); };
    for (int k = 0; k < edges(2); ++k)
      for (int j = 0; j < edges(1); ++j) {
        MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
        if (model.material) model.material(q, j, k, row);
        for (int i = 0; i < edges(0); ++i) sorted.add({q, i, j, k}, row);
      }
  }
  if (!sorted.bodies.edges.empty()) return sorted.bodies;
  FreeEdges out = std::move(sorted.background);
  out.of_background = true;
  out.lossy = sorted.bodies.lossy, out.dispersive = sorted.bodies.dispersive;
  out.conducting = sorted.bodies.conducting;
  return out;
}

}  // namespace tessera::electromagnetics
