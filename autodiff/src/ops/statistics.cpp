// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/statistics.h"

#include "../base/context.h"
#include "operands.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

Shape all_axes(const Tensor& t) {
  Shape s;
  for (int d = 0; d < t.ndim(); ++d) s.push_back(d);
  return s;
}
/// The number of elements along the axes.
Index count_along(const Tensor& t, const Shape& axes) {
  Index n = 1;
  for (Index d : axes) n *= t.dim(static_cast<int>(d));
  return n;
}
/// The largest element along the axes, 0 where it is not finite: only the scale of what is
/// exponentiated.
Tensor shift_of(const Tensor& t, const Shape& axes) {
  if (count_along(t, axes) == 0) return sum(t, axes, true);
  const Tensor m = stop_gradient(max(t, axes, true));
  return where(is_finite(m), m, 0.0);
}
/// Whether these are numbers of which the first is less in all floating types.
bool are_apart(const Arg& low, const Arg& high) {
  const auto real = [](const Arg& a) {
    const Literal& v = a.literal;
    return static_cast<float>(v.kind == Literal::Kind::integer ? static_cast<double>(v.integer)
                                                               : v.number.real());
  };
  return !low.tensor && !high.tensor && real(low) < real(high);
}

}  // namespace

Tensor logsumexp(Arg x, const Shape& axes, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("logsumexp", x);
  if (count_along(t, axes) == 0)
    return sum(t, axes, keep_dims) -
           std::numeric_limits<double>::infinity();  // log 0, without a derivative
  const Tensor m = shift_of(t, axes);
  const Tensor s = log(sum(exp(t - m), axes, true)) + m;
  return keep_dims ? s : sum(s, axes);
}
Tensor logsumexp(Arg x) { return logsumexp(x, all_axes(detail::to_tensor("logsumexp", x))); }
Tensor softmax(Arg x, int axis) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("softmax", x);
  const Tensor e = exp(t - shift_of(t, {axis}));
  return e / sum(e, {axis}, true);
}
Tensor log_softmax(Arg x, int axis) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("log_softmax", x);
  return t - logsumexp(t, {axis}, true);
}

Tensor variance(Arg x, const Shape& axes, int ddof, bool keep_dims) {
  const detail::CalledAt called(x.line);
  const Tensor t = detail::to_inexact("variance", x);
  const Tensor mid = mean(t, axes, true);
  const double n = static_cast<double>(count_along(t, axes));
  const Tensor d = t - mid;
  const Tensor square_of = is_complex(t.dtype()) ? square(real(d)) + square(imag(d)) : square(d);
  return sum(square_of, axes, keep_dims) / std::max(n - ddof, 0.0);
}
Tensor variance(Arg x) { return variance(x, all_axes(detail::to_tensor("variance", x))); }
/// A length, as norm: its derivative where all elements are equal is 0.
Tensor standard_deviation(Arg x, const Shape& axes, int ddof, bool keep_dims) {
  return detail::root_of_squares(variance(x, axes, ddof, keep_dims), x.line);
}
Tensor standard_deviation(Arg x) { return detail::root_of_squares(variance(x), x.line); }
Tensor clip(Arg x, Arg low, Arg high) {
  const detail::CalledAt called(x.line);
  const auto [a, l] = detail::meet("clip", x, low);
  const auto [t, h] = detail::meet("clip", Arg(a, x.line), high);
  if (!is_float(t.dtype()) || are_apart(low, high)) return minimum(maximum(t, l), h);
  // Where nothing lies between the bounds they alone say what comes out, and move it.
  const Tensor closed = logical_and(h <= l, equal(t, t));
  return minimum(maximum(where(closed, l, t), l), h);
}

}  // namespace tessera
