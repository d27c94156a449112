// SPDX-License-Identifier: Apache-2.0
//
// What segments and nodes of wires are to each other, less what the grid carries of it.
#pragma once
#include "tessera/electromagnetics/thin_wire.h"

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::wires {

/// A plane of the grid behind which there are images: of charges times `sign`.
struct Mirror {
  int axis;
  int line;
  double sign;
};
struct Segment {
  std::int32_t from, to;  ///< nodes
  double radius_m;
  std::size_t wire;
};
/// Wires in an even stretch of a grid. Places are in cells from line 0 on, as if all were even.
struct Layout {
  std::array<double, 3> cell{};  ///< m
  std::vector<std::array<double, 3>> nodes;
  std::vector<Segment> segments;
  std::vector<Mirror> mirrors;  ///< of different axes
  double eps = 1, dt_s = 0;
};
struct Matrices {
  Eigen::MatrixXd inductance, elastance;  ///< M, H; S, 1/F
  /// By how much what a step does to the fields acts back at most, ohm: M/dt has to be above a
  /// quarter of it and of dt D' S D.
  Eigen::MatrixXd reaction;
};
Matrices wire_matrices(const Layout& layout);

/// The double integral of (R^2 + a^2)^(-1/2) over two straight lines.
double mutual_integral(const Point& p0, const Point& p1, const Point& q0, const Point& q1,
                       double a);

}  // namespace tessera::electromagnetics::wires
