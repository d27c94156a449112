// SPDX-License-Identifier: Apache-2.0
//
// From triangles as they come to a surface whose windings can be counted. Steps in the order in
// which they are taken.
#pragma once
#include "geometry/triangle_tree.h"
#include "tessera/electromagnetics/surface_mesh.h"

#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::detail {

using Corner3 = std::array<std::uint32_t, 3>;

struct RepairedSurface {
  std::vector<Point> points;       ///< each place once
  std::vector<Corner3> triangles;  ///< of three different points, no two the same
  std::vector<int> shell;          ///< of each triangle: those that hang together by edges
  int shells = 0;
  std::vector<Triangle> caps;  ///< fans that close the holes
  std::vector<int> cap_shell;
  std::vector<bool> cap_is_face;  ///< the cap is a lone triangle's other side

  Triangle at(const Corner3& t) const { return {points[t[0]], points[t[1]], points[t[2]]}; }
};

/// Points at one place become one; what has no three corners, or was there before, is left out;
/// triangles are turned to face as their neighbours do, by the majority of their shell; holes get
/// their caps; shells that are inside out are turned.
RepairedSurface repair(const SurfaceTriangles& given, SurfaceFindings& found);

/// Pairs of triangles that pass through each other, apart from neighbours. `crossed`: which are of
/// such a pair. Stops after some ten million pairs that come near each other.
void find_crossings(const RepairedSurface& surface, SurfaceFindings& found,
                    std::vector<bool>& crossed);

}  // namespace tessera::electromagnetics::detail
