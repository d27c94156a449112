// SPDX-License-Identifier: Apache-2.0
//
// The part of a box behind a plane is the distribution function of a sum of uniform variables,
//   fraction = P(s_1 + s_2 + s_3 < c),  s_k uniform in [0, a_k],  a_k = |n_k| size_k,
//   c = offset + sum a_k / 2,
// and the area is its derivative. The usual closed form divides differences by a_1 a_2 a_3 and
// loses all digits where a face lies nearly along an axis. For two variables, a <= b, the branches
// have none:
//   c^2/(2 a b) up to a,   (c - a/2)/b up to b,   then the first again from the other end.
// The third, the narrowest, is averaged over by Gauss' rule between the breakpoints, which is exact
// for these piecewise polynomials. A side of zero drops out.
#include "geometry/plane_cut.h"

#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

/// P(s + t < c), s in [0, a], t in [0, b], a <= b.
double two(double c, double a, double b) {
  if (c <= 0) return 0;
  if (c >= a + b) return 1;
  if (c < a) return c * c / (2 * a * b);
  if (c <= b) return (c - a / 2) / b;
  const double left = a + b - c;
  return 1 - left * left / (2 * a * b);
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

}  // namespace tessera::electromagnetics::detail
