// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/geometry.h"

namespace tessera::electromagnetics::detail {

/// Planes nearer to a corner of a box than this share of its width across them do not cut it.
inline constexpr double touching = 1e-10;

struct PlaneCut {
  double fraction;  // of the box that lies behind the plane
  double area;      // of the plane in the box per volume: d fraction / d offset
};

/// The box of `size` about the origin, cut by n . x = offset; behind is n . x < offset.
PlaneCut cut_box(const Point& normal, double offset, const Point& size);

}  // namespace tessera::electromagnetics::detail
