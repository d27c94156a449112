// SPDX-License-Identifier: Apache-2.0
//
// Where the perfect conductors of a scene are, within a small box, and what of a segment or
// rectangle they leave open.
#pragma once
#include "geometry/grid_boxes.h"
#include "geometry/local.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::electromagnetics::detail {

/// Part of a line, 0 <= from < to <= 1.
struct Stretch {
  double from, to;
};

/// A function that is positive in the open, not positive in metal or on its surface to within
/// `tolerance`: signed distances, joined from the lowest structure to the topmost by min (a
/// conductor) and max (what covers it). A plane in which faces of metal and of a hole meet is what
/// lies beside it: metal where the hole has none behind it, open where it goes on on both sides; a
/// conductor without thickness conducts there too. Else it is continuous. A box in the seam of a
/// periodic axis lies at both of its ends, and what is metal at one of them is: there what covers
/// metal does not end with the domain, but at a hair behind it.
class Metal {
 public:
  Metal(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box, double tolerance,
        const std::vector<Twin>& twins = {{}});
  /// No surface comes near: the box is all open or all metal.
  bool settled() const { return stacks_.size() == 1 && stacks_[0].near.empty(); }
  bool closed() const { return stacks_[0].base; }  ///< which of them
  double operator()(const Point& p) const;
  /// The same, and the way along which it rises.
  Distance nearest(const Point& p) const;
  /// Where from + t (to - from) runs in metal: all stretches, however short, rising.
  std::vector<Stretch> along(const Point& from, const Point& to) const;
  /// The number in the scene of the structure that makes the metal at p; nothing in the open and in
  /// a background of metal.
  std::optional<std::size_t> body_at(const Point& p) const;
  /// How many structures of metal come near, twice in a seam.
  std::size_t bodies() const;
  /// The distance from one of them, whether others cover it or not.
  Distance nearest(const Point& p, std::size_t body) const;

 private:
  struct Near {
    const ShapeNode* shape;
    bool metal;
    std::size_t structure;
  };
  struct Stack {
    Point moved, hair;       // of metal, and of what covers it besides
    std::vector<Near> near;  // from the top down
    bool base;               // metal below all of them
  };
  Stack stack(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box,
              const Twin& twin) const;
  Distance value(const Stack& stack, const Point& p) const;
  /// Faces that meet in one plane are all metal here. `p` has been moved.
  Distance by_distances(const Stack& stack, const Point& p) const;
  /// Of such a plane, where no metal lies beside it: how far the open goes.
  std::optional<Distance> open_beside(const Stack& stack, const Point& p) const;

  std::vector<Stack> stacks_;  // one; several: a place in a seam that is not settled
  double tolerance_;
};

/// The share of a segment that is open.
double open_length(const Metal& metal, const Point& from, const Point& to);

/// The share of the parallelogram corner, corner + u, corner + u + v, corner + v that is open.
double open_area(const Metal& metal, const Point& corner, const Point& u, const Point& v);

}  // namespace tessera::electromagnetics::detail
