// SPDX-License-Identifier: Apache-2.0
//
// Rods of metal between the edges of the grid. One that is thinner than a cell runs through faces
// and crosses none of their edges, or one here and there; E along it would not see it. It is put on
// the nearest nodes: where it runs through a face, or crosses an edge, on the node that is nearest
// to its middle there; these nodes are joined by edges through the cells that it leads through, and
// an end that reaches more than half a cell further goes on to the next node. So what hangs
// together does in the grid. Two bodies with a gap are not joined: of two that would meet at a node
// the nearer one has it, and neither if both are as near, and an end that would touch another body
// stays back. A wall of the domain, or a mirror, is such a body where the metal does not reach it.
//
// Metal that bulges into a face from a thicker body, and ends there, is left as it is.
#pragma once
#include "geometry/cut_cell_limit.h"
#include "grid/nearer_line.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tessera::electromagnetics::detail {

/// Where metal runs through a face, off its rim.
struct MetalIslands {
  Edge face;
  std::vector<Point> middles;
};

/// An edge that metal enters and does not close: which of its ends are the nearest to it.
struct CrossedEdge {
  Edge edge;
  bool low, high;
};

struct PlacedRods {
  std::vector<Edge> edges;  ///< that become metal
  std::vector<Edge> left;   ///< edges and faces that metal leaves: they are whole
  struct Moved {
    std::optional<std::size_t> structure;
    double shift_m;
  };
  std::vector<Moved> moved;  ///< one for each face or edge that E leaves
};

/// `metal`: the edges at surfaces that are metal before; `closed` tells of all edges.
PlacedRods place_rods(const SceneOrder& scene, const std::vector<Medium>& media,
                      const YeeGrid& grid, const Periodic& periodic, const NearerLine& nearer,
                      std::span<const MetalIslands> islands, std::span<const CrossedEdge> crossed,
                      std::span<const Edge> metal, const std::function<bool(const Edge&)>& closed);

}  // namespace tessera::electromagnetics::detail
