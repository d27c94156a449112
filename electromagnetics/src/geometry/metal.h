// SPDX-License-Identifier: Apache-2.0
//
// Where the perfect conductors of a scene are, within a small box, and what of a segment or rectangle they leave open.
#pragma once
#include "geometry/local.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <vector>

namespace tessera::electromagnetics::detail {

/// A function that is positive in the open, not positive in metal or on its surface to within `tolerance`, and continuous: signed
/// distances, joined from the lowest structure to the topmost by min (a conductor) and max (what covers it).
class Metal {
 public:
  Metal(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box, double tolerance);
  /// No surface comes near: the box is all open or all metal.
  bool settled() const { return near_.empty(); }
  bool closed() const { return base_; }  ///< which of them
  double operator()(const Point& p) const;

 private:
  struct Near {
    const ShapeNode* shape;
    bool metal;
  };
  std::vector<Near> near_;  // from the top down
  bool base_;               // metal below all of them
  double tolerance_;
};

/// The share of a segment that is open; `split`: metal lies between two open parts. Features below a quarter of it may be missed.
struct OpenLength {
  double share;
  bool split;
};
OpenLength open_length(const Metal& metal, const Point& from, const Point& to);

/// The share of the parallelogram corner, corner + u, corner + u + v, corner + v that is open.
double open_area(const Metal& metal, const Point& corner, const Point& u, const Point& v);

}  // namespace tessera::electromagnetics::detail
