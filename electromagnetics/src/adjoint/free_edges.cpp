// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/free_edges.h"

#include "adjoint/pieces.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

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
  const Slab& slab;
  YeeScheme scheme{model, slab};
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

namespace {

/// Adds what of some planes is free.
void add_free(const YeeModel& model, const Medium& around, const Slab& slab, FreeEdges& bodies,
              FreeEdges& background) {
  EdgeSorter sorted{model, around, slab};
  sorted.bodies = std::move(bodies), sorted.background = std::move(background);
  const YeeGrid& grid = model.grid;
  const auto n = static_cast<std::size_t>(grid.cells(0)) + 1;
  for (std::uint8_t q = 0; q < 3; ++q) {
    if (!model.active[q]) continue;
    // Along its own axis a component has an edge a cell, across it one a line.
    const auto edges = [&](int d) { return grid.cells(d) + (at_middle(q, d) ? 0 : 1); };
    for (int k = 0; k < edges(2); ++k)
      for (int j = 0; j < edges(1); ++j) {
        if (!adjoint::holds(grid, slab, j, k)) continue;
        MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
        if (model.material) model.material(q, j, k, row);
        for (int i = 0; i < edges(0); ++i) sorted.add({q, i, j, k}, row);
      }
  }
  bodies = std::move(sorted.bodies), background = std::move(sorted.background);
}

/// By component, then k, j, i.
void sort_edges(FreeEdges& f) {
  std::vector<std::pair<Edge, double>> all;
  for (std::size_t q = 0; q < f.edges.size(); ++q) all.emplace_back(f.edges[q], f.eps[q]);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto place = [](const Edge& e) { return std::tuple(e.component, e.k, e.j, e.i); };
    return place(a.first) < place(b.first);
  });
  for (std::size_t q = 0; q < all.size(); ++q) f.edges[q] = all[q].first, f.eps[q] = all[q].second;
}

FreeEdges of_bodies_or_background(FreeEdges bodies, FreeEdges background) {
  sort_edges(bodies), sort_edges(background);
  if (!bodies.edges.empty()) return bodies;
  background.of_background = true;
  background.lossy = bodies.lossy, background.dispersive = bodies.dispersive;
  background.conducting = bodies.conducting;
  return background;
}

}  // namespace

FreeEdges free_edges(const YeeModel& model, const Medium& around) {
  FreeEdges bodies, background;
  add_free(model, around, {}, bodies, background);
  return of_bodies_or_background(std::move(bodies), std::move(background));
}

FreeEdges free_edges(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                     const std::function<YeeModel(const Slab&)>& model_of, const Medium& around,
                     std::int64_t most_cells) {
  parallel::Communicator alone = parallel::alone();
  FreeEdges bodies, background;
  for (const Slab& piece : adjoint::pieces_of(grid, faces, most_cells, alone)) {
    add_free(model_of(piece), around, piece, bodies, background);
    if (!bodies.edges.empty()) background = {};  // is not asked for
  }
  return of_bodies_or_background(std::move(bodies), std::move(background));
}

}  // namespace tessera::electromagnetics
