// SPDX-License-Identifier: Apache-2.0
//
// Triangles, diagonals and products: linear algebra without decompositions.
#include "matrix_forms.h"

#include "operands.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace detail {

Tensor H(const Tensor& x) { return conj(transpose(x)); }
Tensor hermitian_part(const Tensor& x) { return 0.5 * (x + H(x)); }
Tensor on_diagonal(const Tensor& x) {
  const Index n = x.dim(-1);
  const Tensor k = arange(n);
  return where(equal(expand_dims(k, 1), k), expand_dims(x, -1), cast(0.0, x.dtype()));
}
Tensor half_diagonal(Index n, Dtype dtype) { return 1.0 - 0.5 * eye(n, dtype); }
Tensor below(Index m, Index n, Index k) {
  return less_equal(expand_dims(arange(n), 0),
                    expand_dims(arange(m), 1) + std::clamp(k, -m - 1, n));
}
Tensor nan_if_singular(const Tensor& t) {
  if (t.size() == 0) return t;
  return where(expand_dims(any(equal(diagonal(t), 0.0), {-1}, true), -1), std::nan(""), t);
}
namespace {
/// What counts as no more than rounding, [..., 1].
Tensor rounding_of(const Tensor& x) {
  const double eps = size_of(real_of(x.dtype())) == 4 ? 0x1p-23 : 0x1p-52;
  return (8.0 * static_cast<double>(x.dim(-1)) * eps) * max(abs(x), {-1}, true);
}
Tensor on_diagonal(Index n) { return equal(expand_dims(arange(n), 1), arange(n)); }
/// 0 where `here` holds, with the derivative of |g| at g = 0 along x: NaN; elsewhere `other`.
Tensor kinked(const Tensor& here, const Tensor& x, const Arg& other) {
  return where(here, sqrt(square(where(here, x - stop_gradient(x), 1.0))), other);
}
}  // namespace
Tensor differentiable_once(const Tensor& here, const Tensor& x) {
  const Tensor kinks = kinked(here, x, 0.0);
  return 1.0 + expand_dims(sum(is_complex(x.dtype()) ? real(kinks) : kinks, {-2, -1}), -1);
}
Tensor negligible(const Tensor& values) {
  const Tensor x = stop_gradient(values);
  return less_equal(abs(x), rounding_of(x));
}
Tensor equal_pairs(const Tensor& values) {
  const Tensor x = stop_gradient(values);
  const Tensor near =
      less_equal(abs(expand_dims(x, -2) - expand_dims(x, -1)), expand_dims(rounding_of(x), -1));
  return logical_and(near, logical_not(on_diagonal(x.dim(-1))));
}
Tensor inverse_or(const Tensor& none, const Tensor& x, Degenerate degenerate) {
  const Tensor f = 1.0 / where(none, 1.0, x);
  return degenerate == Degenerate::nan ? where(none, std::nan(""), f) : kinked(none, x, f);
}
Tensor inverse_gaps(const Tensor& gap, const Tensor& equal, Degenerate degenerate) {
  const Tensor self = on_diagonal(gap.dim(-1));
  return where(self, 0.0, inverse_or(equal, where(self, 1.0, gap), degenerate));
}
const AttributesPtr& spectrum(Degenerate degenerate) {
  static const AttributesPtr nan = attributes(SpectrumAttr{false}),
                             zero = attributes(SpectrumAttr{true});
  return degenerate == Degenerate::zero ? zero : nan;
}
std::pair<Tensor, Tensor> one_dtype(const char* op, const Arg& a, const Arg& b) {
  const Tensor x = to_tensor(op, a), y = to_tensor(op, b);
  if (!can_promote(x.dtype(), y.dtype()) || !is_inexact(promote(x.dtype(), y.dtype())))
    fail(op, to_string(x.type()) + " and " + to_string(y.type()) + " do not mix silently; use cast",
         a.line);
  const Dtype d = promote(x.dtype(), y.dtype());
  return {cast(x, d), cast(y, d)};
}
Tensor as_type(const Tensor& x, Dtype dtype) { return cast(x, dtype); }

namespace {
Tensor matrix(const char* op, const Arg& x) {
  const Tensor t = to_tensor(op, x);
  if (t.ndim() < 2) fail(op, "needs a matrix [..., m, n], got " + to_string(t.type()), x.line);
  return t;
}
}  // namespace
}  // namespace detail

using detail::matrix;

Tensor tril(Arg x, Index k) {
  const Tensor t = matrix("tril", x);
  return where(detail::below(t.dim(-2), t.dim(-1), k), t,
               broadcast_to(scalar(0.0, t.dtype()), t.shape()));
}
Tensor triu(Arg x, Index k) {
  const Tensor t = matrix("triu", x);
  return where(detail::below(t.dim(-2), t.dim(-1), std::max(k, -t.dim(-2)) - 1),
               broadcast_to(scalar(0.0, t.dtype()), t.shape()), t);
}
Tensor diagonal(Arg x) {
  const Tensor t = matrix("diagonal", x);
  const Index m = t.dim(-2), n = t.dim(-1), k = std::min(m, n);
  Shape flat = t.shape();
  flat.erase(flat.size() - 1);
  flat[flat.size() - 1] = m * n;
  return slice(reshape(Arg(t, x.line), flat), -1, 0, k ? (k - 1) * (n + 1) + 1 : 0, n + 1);
}
Tensor diag(Arg x) {
  const Tensor t = detail::to_tensor("diag", x);
  if (t.ndim() == 0) fail("diag", "needs a vector [..., n], got " + to_string(t.type()), x.line);
  return detail::on_diagonal(t);
}
Tensor trace(Arg x) { return sum(diagonal(x), {-1}); }
Tensor adjoint(Arg x) { return detail::H(matrix("adjoint", x)); }
Tensor outer(Arg a, Arg b) {
  const Tensor x = detail::to_tensor("outer", a), y = detail::to_tensor("outer", b);
  if (x.ndim() != 1 || y.ndim() != 1)
    fail("outer", "needs two vectors, got " + to_string(x.type()) + " and " + to_string(y.type()),
         a.line);
  return mul(expand_dims(x, 1), expand_dims(y, 0));
}
Tensor kron(Arg a, Arg b) {
  const Tensor x = matrix("kron", a), y = matrix("kron", b);
  if (x.ndim() != 2 || y.ndim() != 2)
    fail("kron", "needs two matrices, got " + to_string(x.type()) + " and " + to_string(y.type()),
         a.line);
  const Tensor p = reshape(x, {x.dim(0), 1, x.dim(1), 1}) * reshape(y, {1, y.dim(0), 1, y.dim(1)});
  return reshape(p, {x.dim(0) * y.dim(0), x.dim(1) * y.dim(1)});
}
Tensor norm(Arg x, const Shape& axes, bool keep_dims) {
  const Tensor t = detail::to_inexact("norm", x);
  // Scaled by the largest modulus, so that squares neither overflow nor vanish.
  const Tensor size = is_complex(t.dtype()) ? maximum(abs(real(t)), abs(imag(t))) : abs(t);
  if (t.size() == 0) return sum(size, axes, keep_dims);
  Tensor scale = stop_gradient(max(size, axes, true));
  scale = where(logical_and(is_finite(scale), not_equal(scale, 0.0)), scale, 1.0);
  const Tensor u = t / detail::as_type(scale, t.dtype());
  const Tensor s = is_complex(t.dtype()) ? sum(square(real(u)) + square(imag(u)), axes, true)
                                         : sum(square(u), axes, true);
  const Tensor r = scale * detail::root_of_squares(s, x.line);
  return keep_dims ? r : sum(r, axes);
}
Tensor norm(Arg x) {
  Shape axes;
  for (int d = 0; d < detail::to_tensor("norm", x).ndim(); ++d) axes.push_back(d);
  return norm(x, axes);
}

}  // namespace tessera
