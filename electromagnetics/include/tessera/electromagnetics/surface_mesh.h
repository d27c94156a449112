// SPDX-License-Identifier: Apache-2.0
//
// Solids from triangles, as drawings give them: with gaps, overlaps, and triangles that face the
// wrong way.
//
// A point is inside where the generalised winding number of the triangles is above 1/2 (A. Jacobson
// et al., ACM Trans. Graph. 32(4), 2013). Of a closed surface it is the number of shells about the
// point, an integer that is counted by crossings. Holes are closed by fans about their middles, and
// what those add is taken away again by their solid angles.
#pragma once
#include "tessera/electromagnetics/geometry.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// Points in m; triangles name three of them, counterclockwise as seen from outside. Triangles that
/// share a side need not name the same points: equal ones are one.
struct SurfaceTriangles {
  std::vector<Point> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

/// What was found of a surface that is not one closed shell. Places in m.
struct SurfaceFindings {
  std::size_t triangles = 0;
  std::size_t degenerate = 0;    ///< two corners in one place, or no area
  std::size_t repeated = 0;      ///< triangles that were there before
  std::size_t open_edges = 0;    ///< sides of triangles without a neighbour
  std::size_t holes = 0;         ///< loops of them
  double largest_hole_m = 0;     ///< its diameter
  Point largest_hole{};          ///< its middle
  std::size_t non_manifold = 0;  ///< edges of more than two triangles
  Point first_non_manifold{};
  std::size_t flipped = 0;  ///< triangles turned to face as their neighbours do
  Point first_flipped{};
  std::size_t reversed = 0;   ///< shells that were inside out
  std::size_t crossings = 0;  ///< pairs of triangles that pass through each other, at least
  Point first_crossing{};
  double volume = 0;  ///< m^3, by flux

  bool clean() const {
    return degenerate + repeated + open_edges + non_manifold + flipped + reversed + crossings == 0;
  }
  /// "2 open edges in 1 hole, 0.1 m wide, near (1, 2, 3) m; ..."; empty if clean.
  std::string text() const;
};

struct SurfaceSolid {
  Shape shape;
  SurfaceFindings found;
};

/// The solid within a surface. Its true triangles bound it: what fills a box is their exact flux,
/// and where they are open or cross each other it is sampled. Throws Error where a point is not
/// finite, an index leads nowhere, or nothing is enclosed.
SurfaceSolid surface_solid(const SurfaceTriangles& given);

}  // namespace tessera::electromagnetics
