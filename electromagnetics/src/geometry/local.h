// SPDX-License-Identifier: Apache-2.0
//
// A shape as seen from within a small box: planes instead of faces.
#pragma once
#include "geometry/plane_cut.h"
#include "geometry/shape_node.h"

#include <cmath>

namespace tessera::electromagnetics::detail {

/// Faces are seen from the centre of the box; of a box that crosses a mirror or a seam what counts
/// is the part that the scene is drawn for.
struct Box {
  Point centre, size;
  Point from{-INFINITY, -INFINITY, -INFINITY}, to{INFINITY, INFINITY, INFINITY};
  std::array<bool, 3> mirrored{};  ///< the rest of it has the image of the part that counts
  double radius() const;           // half of the diagonal
  bool is_part() const;
  /// The part from `from` to `to` as a box, with its mirrors; itself where that is all.
  Box counted() const;
};

/// A plane that bounds what the shape fills of the box; x counts from the centre of the box.
struct Piece {
  Point normal;  // outward
  double offset;
  double area;  // d fraction / d offset
};

struct Local {
  enum class Kind { outside, inside, layer, mixed };
  Kind kind = Kind::inside;
  double fraction = 1;  // of the box
  bool exact = false;   // mixed: fraction and pieces are those of the shape itself
  // layer: low < normal . x < high, one of them maybe infinite
  Point normal{};
  double low = 0, high = 0;
  // mixed: everything else; the fraction then takes the pieces as independent of each other
  std::vector<Piece> pieces;
};

Local local(const ShapeNode& node, const Box& box);

/// The planes of a layer or of a mixture.
std::vector<Piece> pieces_of(const Local& local, const Box& box);

/// What of the box counts, cut by normal . x = offset, x from the centre of the box.
PlaneCut cut(const Point& normal, double offset, const Box& box);

/// How wide the box is along the normal.
double width_along(const Point& normal, const Box& box);
/// Parallel or opposite, to the accuracy of a computed normal.
bool are_parallel(const Point& n, const Point& m);

}  // namespace tessera::electromagnetics::detail
