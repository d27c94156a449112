// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tree.h"

// Interpolation between knots [n], n >= 2, real and rising, of values [n, C...], real or complex: a
// result has the shape of x followed by C. Differentiable to any order in x, knots and values; at a
// knot, derivatives in x are those of the piece on its right (of the last piece at the last knot).
// Knots that do not rise throw when values are computed.

namespace tessera {

enum class Outside : std::uint8_t {
  hold,    ///< the value at the nearest end, with derivative zero in x
  extend,  ///< the line of the nearest piece, from its end: v_end + (x - k_end) (v_{i+1} - v_i) /
           ///< (k_{i+1} - k_i)
};
/// Linear between neighbours: (1 - t) v_i + t v_{i+1}, t = (x - k_i) / (k_{i+1} - k_i).
Tensor interp(Arg x, Arg knots, Arg values, Outside outside = Outside::hold);

enum class SplineEnd : std::uint8_t {
  not_a_knot,  ///< the third derivative is continuous at the second and the last but one knot; 3
               ///< knots: a parabola
  natural,     ///< second derivatives at the ends are zero
  clamped,     ///< slopes at the ends are given
};
/// A cubic with continuous second derivatives, by its values and slopes [n, C...] at the knots.
struct CubicSpline {
  Tensor knots, values, slopes;
  TESSERA_TREE(knots, values, slopes)
};
/// Slopes from one tridiagonal system (C. de Boor, A Practical Guide to Splines, ch. IV); `first`
/// and `last` [C...] are the slopes of clamped ends.
CubicSpline cubic_spline(Arg knots, Arg values, SplineEnd ends = SplineEnd::not_a_knot,
                         Arg first = 0.0, Arg last = 0.0);
/// The spline at x, or one of its derivatives 1 ... 3 in x, or (-1) its integral from the first
/// knot to x. Outside of the knots the first and last cubic go on.
Tensor interp(const CubicSpline& spline, Arg x, int derivative = 0);

}  // namespace tessera
