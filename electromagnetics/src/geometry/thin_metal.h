// SPDX-License-Identifier: Apache-2.0
//
// Metal that is too thin for the grid: it splits what is open of a face into parts that do not hang
// together, which one H cannot serve.
//
// Where it crosses the face along the grid, from one edge to the opposite one and on the same side
// of both middles, it is put on the nearest line: the edge there becomes metal, and the face is
// whole. Where it is wider than half the cell, or runs across the grid, the face is closed with all
// of its edges. Either way a face that stays open has all of its open edges on one side of the
// metal, so that none of it leaks: faces that share a crossed edge put that crossing to the same
// end of it.
#pragma once
#include "geometry/metal.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <optional>

namespace tessera::electromagnetics::detail {

/// How thin metal runs through a face.
enum class ThinCourse : std::uint8_t {
  none,  ///< what is open hangs together
  rim,   ///< what is open hangs together, and metal enters it across one edge, and ends
  low,   ///< along the grid, nearer to the low line
  high,
  closed
};
struct ThinMetalInFace {
  ThinCourse course = ThinCourse::none;
  /// Thicker metal holds a whole edge of the face: what crosses another edge may be thin metal that
  /// stands on it, or the end of a bulge. Thin metal goes on behind that edge.
  bool stands = false;
  int across = 0;  ///< low, high: the axis whose edges it crosses, 0: the first side, 1: the second
  /// Which edges have metal between open parts, by their numbers in edges_of.
  std::array<bool, 4> split{};
  Point middle{};    ///< of the metal where it crosses the first edge
  double reach = 0;  ///< rim: how far it goes from that edge to the opposite one, as a share
  double shift = 0;  ///< low, high: how far its middle moves, as a share of the edge
};

/// Of the parallelogram corner, corner + u, corner + u + v, corner + v, corners counterclockwise.
/// Metal with its middle up to `low_up_to` along u and v goes to the low line (nearer_line.h).
ThinMetalInFace thin_metal_in(const Metal& metal, const Point& corner, const Point& u,
                              const Point& v, const std::array<double, 2>& low_up_to);
/// Of the segment from `corner` to corner + u, which stands for a face that extends along an axis
/// without cells: crossed edges are those along u, the first side.
ThinMetalInFace thin_metal_in(const Metal& metal, const Point& corner, const Point& u,
                              double low_up_to);

}  // namespace tessera::electromagnetics::detail
