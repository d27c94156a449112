// SPDX-License-Identifier: Apache-2.0
//
// The part of a box behind a plane is the distribution function of a sum of uniform variables,
//   fraction = P(s_1 + s_2 + s_3 < c),  s_k uniform in [0, a_k],  a_k = |n_k| size_k,  c = offset +
//   sum a_k / 2,
// and the area is its derivative. The usual closed form divides differences by a_1 a_2 a_3 and
// loses all digits where a face lies nearly along an axis. Here one variable after the other is
// averaged, the widest first:
//   F_1(c) = clamp(c/a_3),   F_2(c) = mean of F_1(c - s) over [0, a_2],   F_3 likewise over [0,
//   a_1],
// by Gauss' rule between the breakpoints, which is exact for these piecewise polynomials and has no
// differences. A side of zero drops out.
#include "geometry/plane_cut.h"

#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

double one(double c, double a) {
  if (a == 0) return c > 0;
  return std::clamp(c / a, 0.0, 1.0);
}

/// P(s + t < c), s <= a, t <= b, a <= b: the midpoint rule is exact between the breakpoints.
double two(double c, double a, double b) {
  if (a == 0) return one(c, b);
  const double at[4] = {0, std::clamp(c - b, 0.0, a), std::clamp(c, 0.0, a), a};
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += (at[i + 1] - at[i]) * one(c - (at[i] + at[i + 1]) / 2, b);
  return sum / a;
}

double three(double c, double a1, double a2, double a3) {
  if (a1 == 0) return two(c, a2, a3);
  std::array<double, 6> at{0, c - a2 - a3, c - a3, c - a2, c, a1};
  for (double& s : at) s = std::clamp(s, 0.0, a1);
  constexpr double gauss = 0.28867513459481288225;  // 1/(2 sqrt 3)
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    const double length = at[i + 1] - at[i], middle = (at[i] + at[i + 1]) / 2;
    if (length > 0)
      sum += length / 2 *
             (two(c - middle + gauss * length, a2, a3) + two(c - middle - gauss * length, a2, a3));
  }
  return sum / a1;
}

}  // namespace

PlaneCut cut_box(const Point& normal, double offset, const Point& size) {
  Point a{std::abs(normal[0]) * size[0], std::abs(normal[1]) * size[1],
          std::abs(normal[2]) * size[2]};
  std::sort(a.begin(), a.end());
  const double width = a[0] + a[1] + a[2], c = offset + width / 2;
  if (width == 0) return {offset > 0 || (offset == 0 && holds_surface(normal)) ? 1.0 : 0.0, 0};
  if (c <= touching * width) return {0, 0};
  if (c >= (1 - touching) * width) return {1, 0};
  return {three(c, a[0], a[1], a[2]), (two(c, a[0], a[1]) - two(c - a[2], a[0], a[1])) / a[2]};
}

}  // namespace tessera::electromagnetics
