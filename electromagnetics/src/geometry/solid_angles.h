// SPDX-License-Identifier: Apache-2.0
//
// The solid angle of many triangles: generalised winding numbers (A. Jacobson et al., ACM Trans.
// Graph. 32(4), 2013) with far triangles as dipoles (G. Barill et al., ACM Trans. Graph. 37(4),
// 2018).
#pragma once
#include "geometry/triangle_tree.h"

namespace tessera::electromagnetics::detail {

/// Of one triangle as seen from q, in steradian; positive from behind it. Zero in its plane.
double solid_angle(const Triangle& t, const Point& q);

class SolidAngles {
 public:
  SolidAngles() = default;
  explicit SolidAngles(std::vector<Triangle> triangles);
  bool empty() const { return triangles_.empty(); }
  const std::vector<Triangle>& triangles() const { return triangles_; }

  /// The sum over all triangles divided by 4 pi. Groups further away than three times their radius
  /// count as the dipole of their area: to about a hundredth of what they add.
  double winding(const Point& q) const;

 private:
  struct Node {
    Point middle, area;  ///< mean of the triangles by their areas; sum of their area vectors
    double radius;
    std::uint32_t first, count, second;  ///< triangles; the second child, or 0 of a leaf
  };
  std::uint32_t build(std::size_t first, std::size_t last);

  std::vector<Triangle> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace tessera::electromagnetics::detail
