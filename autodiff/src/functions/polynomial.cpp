// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/polynomial.h"

#include "../ops/matrix_forms.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/matrix_functions.h"

namespace tessera {
namespace {

Tensor coefficients_of(const char* op, const Arg& c) {
  const Tensor t = detail::to_tensor(op, c);
  if (t.ndim() == 0 || t.dim(-1) == 0 || !is_inexact(t.dtype()))
    fail(op,
         "needs coefficients [..., n] of f32, f64, c64 or c128 with n >= 1, got " +
             to_string(t.type()),
         c.line);
  return t;
}
/// 0, 1, ..., n - 1 in the type of the coefficients.
Tensor powers(Index n, Dtype t) { return cast(arange(n), t); }
Tensor with_zeros(const Tensor& c, Index low, Index high) {
  Shape l = Shape::filled(c.ndim(), 0), h = l;
  l[c.ndim() - 1] = low, h[c.ndim() - 1] = high;
  return pad(c, l, h);
}

}  // namespace

Tensor polyval(Arg coefficients, Arg x) {
  const Tensor given = coefficients_of("polyval", coefficients);
  const auto [c, t] =
      detail::one_dtype("polyval", Arg(given, coefficients.line),
                        Arg(detail::to_tensor("polyval", x, given.dtype()), x.line));
  const Index n = c.dim(-1);
  Tensor y = detail::meet("polyval", select(c, -1, n - 1), t).first;
  for (Index k = n - 2; k >= 0; --k) y = y * t + select(c, -1, k);
  return y;
}

Tensor polyder(Arg coefficients) {
  const Tensor c = coefficients_of("polyder", coefficients);
  const Index n = c.dim(-1);
  return n == 1 ? with_zeros(slice(c, -1, 0, 0), 0, 1)
                : slice(c, -1, 1, n) * (powers(n - 1, c.dtype()) + 1.0);
}

Tensor polyint(Arg coefficients) {
  const Tensor c = coefficients_of("polyint", coefficients);
  return with_zeros(c / (powers(c.dim(-1), c.dtype()) + 1.0), 1, 0);
}

Tensor polymul(Arg a, Arg b) {
  const auto [x, y] = detail::one_dtype("polymul", Arg(coefficients_of("polymul", a), a.line),
                                        Arg(coefficients_of("polymul", b), b.line));
  const Index n = x.dim(-1);
  Tensor total;
  for (Index k = 0; k < n; ++k) {
    const Tensor term = with_zeros(slice(x, -1, k, k + 1) * y, k, n - 1 - k);
    total = k ? total + term : term;
  }
  return total;
}

Tensor polyfit(Arg x, Arg y, int degree) {
  const auto [t, v] = detail::one_dtype("polyfit", x, y);
  if (t.ndim() != 1 || v.ndim() == 0 || v.dim(-1) != t.dim(0) || degree < 0 || t.dim(0) <= degree)
    fail("polyfit",
         "needs x [m] and y [..., m] with m > degree >= 0, got " + to_string(t.type()) + ", " +
             to_string(v.type()) + " and degree " + std::to_string(degree),
         x.line);
  const Index m = t.dim(0);
  Tensor scale = stop_gradient(max(abs(t)));
  scale = cast(where(equal(scale, 0.0), 1.0, scale), t.dtype());
  const Tensor u = t / scale;
  std::vector<Tensor> column{ones({m}, t.dtype())}, unit{scalar(1.0, t.dtype())};
  for (int k = 0; k < degree; ++k)
    column.push_back(column.back() * u), unit.push_back(unit.back() * scale);
  const Tensor c =
      transpose(lstsq(stack(column, 1), transpose(reshape(v, {v.size() / m, m})))) / stack(unit);
  Shape s = v.shape();
  s[s.size() - 1] = degree + 1;
  return reshape(c, s);
}

Tensor roots(Arg coefficients) {
  const Tensor given = coefficients_of("roots", coefficients);
  // Rows x^k of the companion matrix: x x^k = x^(k+1), and x x^(n-1) = -sum c_k x^k / c_n.
  const auto values = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor& c = in[0];
    const Index n = c.dim(-1) - 1;
    Shape s = c.shape();
    s[s.size() - 1] = n;
    if (n == 0) return {zeros(s, complex_of(c.dtype()))};
    const Tensor last = expand_dims(neg(slice(c, -1, 0, n) / slice(c, -1, n, n + 1)), -2);
    s[s.size() - 1] = n - 1;
    s.push_back(n);
    const Tensor shift = pad(eye(n - 1, c.dtype()), {0, 1}, {0, 0});
    return {eigvals(concatenate({broadcast_to(shift, s), last}, -2))};
  };
  const auto rule = [](const std::vector<Tensor>& in, const std::vector<Tensor>& out,
                       const std::vector<Tensor>& t) -> std::vector<Tensor> {
    const Tensor& r = out[0];
    const auto at = [&](const Tensor& c) { return polyval(expand_dims(c, -2), r); };
    return {neg(at(t[0])) / at(polyder(in[0]))};
  };
  return custom_jvp(values, rule)({given})[0];
}

}  // namespace tessera
