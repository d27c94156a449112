// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/interpolate.h"

#include "../base/context.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"
#include "tessera/autodiff/ops/tridiagonal.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {
namespace {

/// Knots in the real type of the values.
struct Table {
  Tensor knots, values;
};
Table table(const char* op, const Arg& knots, const Arg& values) {
  Tensor k = detail::to_tensor(op, knots), v = detail::to_tensor(op, values);
  const bool types = is_float(k.dtype()) && is_inexact(v.dtype());
  if (!types || k.ndim() != 1 || k.dim(0) < 2 || v.ndim() == 0 || v.dim(0) != k.dim(0))
    fail(op,
         "needs real knots [n] with n >= 2 and real or complex values [n, ...], got " +
             to_string(k.type()) + " and " + to_string(v.type()),
         knots.line);
  const Dtype d = promote(k.dtype(), v.dtype());
  const Index n = k.dim(0);
  const Tensor rise = slice(k, 0, 0, n - 1) < slice(k, 0, 1, n);
  return {cast(check(Arg(k, knots.line), rise, std::string(op) + ": knots must rise"), real_of(d)),
          cast(v, d)};
}

/// The piece [k_i, k_{i+1}] that holds each x.
struct Piece {
  Tensor i, low, width, x;  ///< all in the shape of x
};
Piece piece_of(const char* op, const Tensor& knots, const Arg& at) {
  const Tensor x = detail::to_tensor(op, at, knots.dtype());
  if (!is_float(x.dtype()) || promote(x.dtype(), knots.dtype()) != knots.dtype())
    fail(op,
         "x must be real, of the type of the knots or narrower; got " + to_string(x.type()) +
             " for knots " + to_string(knots.type()),
         at.line);
  const Tensor t = cast(x, knots.dtype());
  const Tensor i = minimum(maximum(searchsorted(knots, t, true) - 1, 0), knots.dim(0) - 2);
  const Tensor low = gather(knots, i);
  return {i, low, gather(knots, i + 1) - low, t};
}
/// x [X...] as [X..., 1...], to meet gathered values [X..., C...] of [n, C...]; `beside` in their
/// type.
Tensor apart(const Tensor& x, const Tensor& values) {
  Shape s = x.shape();
  for (int d = 1; d < values.ndim(); ++d) s.push_back(1);
  return reshape(x, s);
}
Tensor beside(const Tensor& x, const Tensor& values) {
  return cast(apart(x, values), values.dtype());
}

}  // namespace

Tensor interp(Arg x, Arg knots, Arg values, Outside outside) {
  const detail::CalledAt called(x.line);
  const Table f = table("interp", knots, values);
  const Piece p = piece_of("interp", f.knots, x);
  const Tensor first = select(f.knots, 0, 0), last = select(f.knots, 0, f.knots.dim(0) - 1);
  const Tensor before = p.x < first, after = last < p.x, out = logical_or(before, after);
  // What is not taken has no derivative, were x infinite.
  const Tensor inside = where(out, p.low, p.x);
  const Tensor t = beside(where(out, 0.5, (inside - p.low) / p.width), f.values);
  const auto between = [&](const Tensor& left, const Tensor& right) {
    return (1.0 - t) * left + t * right;
  };
  if (outside == Outside::hold)  // its end on both sides, whatever stands at the next knot
    return between(gather(f.values, where(after, p.i + 1, p.i)),
                   gather(f.values, where(before, p.i, p.i + 1)));
  // v_end + u (v_{i+1} - v_i), u = (x - k_end) / (k_{i+1} - k_i): equal values stay what they are,
  // however far x is, where (1 - t) v_i + t v_{i+1} cancels.
  const Tensor left = gather(f.values, p.i), right = gather(f.values, p.i + 1);
  const Tensor u = beside((p.x - where(after, last, first)) / p.width, f.values);
  return where(apart(out, f.values),
               where(apart(after, f.values), right, left) + u * (right - left),
               between(left, right));
}

CubicSpline cubic_spline(Arg knots, Arg values, SplineEnd ends, Arg first, Arg last) {
  const detail::CalledAt called(knots.line);
  const Table f = table("cubic_spline", knots, values);
  const Index n = f.knots.dim(0), curves = f.values.size() / n;
  const Dtype type = f.values.dtype();
  if (ends == SplineEnd::not_a_knot && n == 2) ends = SplineEnd::natural;  // a line, both
  Shape rest = f.values.shape();
  rest.erase(0);
  const auto end_slope = [&](const Arg& a) {
    return reshape(
        broadcast_to(Arg(cast(detail::to_tensor("cubic_spline", a, type), type), a.line), rest),
        {1, curves});
  };
  const Tensor v = reshape(f.values, {n, curves}), k = cast(f.knots, type);
  const Tensor h = slice(k, 0, 1, n) - slice(k, 0, 0, n - 1);  // [n - 1]
  const Tensor s =
      (slice(v, 0, 1, n) - slice(v, 0, 0, n - 1)) / expand_dims(h, 1);  // [n - 1, curves]
  const auto width = [&](Index i) { return slice(h, 0, i, i + 1); };
  const auto rise = [&](Index i) { return slice(s, 0, i, i + 1); };
  const Tensor zero = zeros({1}, type), one = ones({1}, type);
  // Rows below, on and above the diagonal, and right-hand sides, of the first and the last
  // equation.
  Tensor first_row[3], last_row[3];
  if (ends == SplineEnd::natural) {
    first_row[0] = 2.0 * one, first_row[1] = one, first_row[2] = 3.0 * rise(0);
    last_row[0] = one, last_row[1] = 2.0 * one, last_row[2] = 3.0 * rise(n - 2);
  } else if (ends == SplineEnd::clamped) {
    first_row[0] = one, first_row[1] = zero, first_row[2] = end_slope(first);
    last_row[0] = zero, last_row[1] = one, last_row[2] = end_slope(last);
  } else if (n == 3) {
    first_row[0] = one, first_row[1] = one, first_row[2] = 2.0 * rise(0);
    last_row[0] = one, last_row[1] = one, last_row[2] = 2.0 * rise(1);
  } else {
    // h1 m0 + (h0 + h1) m1 = ((3 h0 + 2 h1) h1 s0 + h0^2 s1) / (h0 + h1), and its mirror image.
    const auto corner = [&](Index outer, Index inner) {
      const Tensor a = width(outer), b = width(inner), both = a + b;
      return std::tuple(b, both,
                        ((3.0 * a + 2.0 * b) * b * rise(outer) + a * a * rise(inner)) / both);
    };
    std::tie(first_row[0], first_row[1], first_row[2]) = corner(0, 1);
    std::tie(last_row[1], last_row[0], last_row[2]) = corner(n - 2, n - 3);
  }
  // h_i m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_{i-1} m_{i+1} = 3 (h_i s_{i-1} + h_{i-1} s_i) between.
  const Tensor before = slice(h, 0, 0, n - 2), after = slice(h, 0, 1, n - 1);
  const Tensor bands = stack({concatenate({zero, after, last_row[0]}),
                              concatenate({first_row[0], 2.0 * (before + after), last_row[1]}),
                              concatenate({first_row[1], before, zero})});
  const Tensor inner = 3.0 * (expand_dims(after, 1) * slice(s, 0, 0, n - 2) +
                              expand_dims(before, 1) * slice(s, 0, 1, n - 1));
  const Tensor m = tridiagonal_solve(bands, concatenate({first_row[2], inner, last_row[2]}));
  return {f.knots, f.values, reshape(m, f.values.shape())};
}

namespace {

/// y = v + t (m + t (c + t d)), t = x - k_i, between (k, v, m) and (k', v', m') at the distance h =
/// k' - k: c = (3 s - 2 m - m') / h, d = (m + m' - 2 s) / h^2, s = (v' - v) / h.
struct Cubic {
  Tensor v, m, c, d;
};
Cubic cubic(const Tensor& h, const Tensor& v, const Tensor& v_next, const Tensor& m,
            const Tensor& m_next) {
  const Tensor s = (v_next - v) / h;
  return {v, m, (3.0 * s - 2.0 * m - m_next) / h, (m + m_next - 2.0 * s) / (h * h)};
}
/// The cubic of each x: of pieces that are gathered, or, if there are more x than pieces, gathered
/// from those of all.
Cubic cubics_at(const CubicSpline& f, const Piece& p) {
  const Index n = f.knots.dim(0);
  if (p.x.size() < n)
    return cubic(beside(p.width, f.values), gather(f.values, p.i), gather(f.values, p.i + 1),
                 gather(f.slopes, p.i), gather(f.slopes, p.i + 1));
  const auto left = [&](const Tensor& a) { return slice(a, 0, 0, n - 1); };
  const auto right = [&](const Tensor& a) { return slice(a, 0, 1, n); };
  const Cubic all = cubic(beside(right(f.knots) - left(f.knots), f.values), left(f.values),
                          right(f.values), left(f.slopes), right(f.slopes));
  const Tensor here = gather(stack({all.v, all.m, all.c, all.d}, 1), p.i);
  const auto part = [&](Index k) { return select(here, p.x.ndim(), k); };
  return {part(0), part(1), part(2), part(3)};
}

}  // namespace

Tensor interp(const CubicSpline& f, Arg x, int derivative) {
  if (derivative < -1 || derivative > 3)
    fail("interp",
         "derivatives of a cubic are -1 (its integral) ... 3, got " + std::to_string(derivative),
         x.line);
  const Piece p = piece_of("interp", f.knots, x);
  const Tensor t = beside(p.x - p.low, f.values);
  const auto [v, m, c, d] = cubics_at(f, p);
  switch (derivative) {
    case 0:
      return v + t * (m + t * (c + t * d));
    case 1:
      return m + t * (2.0 * c + 3.0 * t * d);
    case 2:
      return 2.0 * c + 6.0 * t * d;
    case 3:
      return 6.0 * d;
    default:
      break;
  }
  // The integral of a whole piece is h (v + v') / 2 + h^2 (m - m') / 12. Before piece i come those
  // of the pieces 0 ... i - 1 alone: a wider one behind them takes none of their digits.
  const Index n = f.knots.dim(0);
  const auto left = [&](const Tensor& a) { return slice(a, 0, 0, n - 2); };
  const auto right = [&](const Tensor& a) { return slice(a, 0, 1, n - 1); };
  const Tensor w = beside(right(f.knots) - left(f.knots), f.values);
  const Tensor whole = w * (0.5 * (left(f.values) + right(f.values)) +
                            w * (left(f.slopes) - right(f.slopes)) / 12.0);
  Shape one = whole.shape();
  one[0] = 1;
  const Tensor before = concatenate({zeros(one, whole.dtype()), cumsum(whole, 0)});
  return gather(before, p.i) + t * (v + t * (m / 2.0 + t * (c / 3.0 + t * d / 4.0)));
}

}  // namespace tessera
