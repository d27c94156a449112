// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/statistics.h"

#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {
namespace {

Shape all_axes(const Tensor& t) {
  Shape s;
  for (int d = 0; d < t.ndim(); ++d) s.push_back(d);
  return s;
}
/// The largest element along the axes, 0 where it is not finite: only the scale of what is exponentiated.
Tensor shift_of(const Tensor& t, const Shape& axes) {
  const Tensor m = stop_gradient(max(t, axes, true));
  return where(is_finite(m), m, 0.0);
}

}  // namespace

Tensor logsumexp(Arg x, const Shape& axes, bool keep_dims) {
  const Tensor t = detail::to_tensor("logsumexp", x);
  const Tensor m = shift_of(t, axes);
  const Tensor s = log(sum(exp(t - m), axes, true)) + m;
  return keep_dims ? s : sum(s, axes);
}
Tensor logsumexp(Arg x) { return logsumexp(x, all_axes(detail::to_tensor("logsumexp", x))); }
Tensor softmax(Arg x, int axis) {
  const Tensor t = detail::to_tensor("softmax", x);
  const Tensor e = exp(t - shift_of(t, {axis}));
  return e / sum(e, {axis}, true);
}
Tensor log_softmax(Arg x, int axis) {
  const Tensor t = detail::to_tensor("log_softmax", x);
  return t - logsumexp(t, {axis}, true);
}

Tensor variance(Arg x, const Shape& axes, int ddof, bool keep_dims) {
  const Tensor t = detail::to_tensor("variance", x);
  const Tensor mid = mean(t, axes, true);
  const double n = static_cast<double>(t.size()) / static_cast<double>(std::max<Index>(1, mid.size()));
  if (n <= ddof) fail("variance", "needs more than " + std::to_string(ddof) + " elements, got " + to_string(t.type()), x.where);
  const Tensor d = t - mid;
  const Tensor square_of = is_complex(t.dtype()) ? square(real(d)) + square(imag(d)) : square(d);
  return sum(square_of, axes, keep_dims) / (n - ddof);
}
Tensor variance(Arg x) { return variance(x, all_axes(detail::to_tensor("variance", x))); }
Tensor standard_deviation(Arg x, const Shape& axes, int ddof, bool keep_dims) { return sqrt(variance(x, axes, ddof, keep_dims)); }
Tensor standard_deviation(Arg x) { return sqrt(variance(x)); }
Tensor clip(Arg x, Arg low, Arg high) { return minimum(maximum(x, low), high); }

}  // namespace tessera
