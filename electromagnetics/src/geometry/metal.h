// SPDX-License-Identifier: Apache-2.0
//
// Where the perfect conductors of a scene are, within a small box, and what of a segment or
// rectangle they leave open.
#pragma once
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
/// `tolerance`, and continuous: signed distances, joined from the lowest structure to the topmost
/// by min (a conductor) and max (what covers it).
class Metal {
 public:
  Metal(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box,
        double tolerance);
  /// No surface comes near: the box is all open or all metal.
  bool settled() const { return near_.empty(); }
  bool closed() const { return base_; }  ///< which of them
  double operator()(const Point& p) const;
  /// Where from + t (to - from) runs in metal: all stretches, however short, rising.
  std::vector<Stretch> along(const Point& from, const Point& to) const;
  /// The number in the scene of the structure that makes the metal at p; nothing in the open and in
  /// a background of metal.
  std::optional<std::size_t> body_at(const Point& p) const;

 private:
  struct Near {
    const ShapeNode* shape;
    bool metal;
    std::size_t structure;
  };
  std::vector<Near> near_;  // from the top down
  bool base_;               // metal below all of them
  double tolerance_;
};

/// The share of a segment that is open.
double open_length(const Metal& metal, const Point& from, const Point& to);

/// The share of the parallelogram corner, corner + u, corner + u + v, corner + v that is open.
double open_area(const Metal& metal, const Point& corner, const Point& u, const Point& v);

}  // namespace tessera::electromagnetics::detail
