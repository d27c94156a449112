// SPDX-License-Identifier: Apache-2.0
#include "compose.h"
#include "tessera/autodiff/ops/window.h"

namespace tessera::oracle {
namespace {

/// [n] as [1, n, 1, ...] beside x.
Tensor per_channel(const Tensor& v, const Tensor& x, int axis = 1) {
  Shape s = Shape::filled(x.ndim(), 1);
  s[axis < x.ndim() ? axis : 0] = v.size();
  return reshape(v, s);
}
Tensor standardised(const Tensor& x, const Shape& axes, double eps) {
  const Tensor d = x - mean(x, axes, true);
  return d * rsqrt(mean(square(d), axes, true) + eps);
}
Tensor scaled(Tensor y, const Call& c, int weight, int bias, const Tensor& like_x) {
  if (c.has(weight, "weight")) y = y * per_channel(c.tensor(weight, "weight"), like_x);
  if (c.has(bias, "bias")) y = y + per_channel(c.tensor(bias, "bias"), like_x);
  return y;
}
Shape from_axis(int first, int ndim) {
  Shape s;
  for (int k = first; k < ndim; ++k) s.push_back(k);
  return s;
}
Tensor group_norm(const Call& c) {
  const Tensor x = c[0];
  const Index groups = c.integer(1, "num_groups", 1);
  Shape s{x.dim(0), groups, x.size() && groups ? x.dim(1) / groups : 0};
  for (int k = 2; k < x.ndim(); ++k) s.push_back(x.dim(k));
  const Tensor y = reshape(x, s);
  return scaled(reshape(standardised(y, from_axis(2, y.ndim()), c.real(4, "eps", 1e-5)), x.shape()),
                c, 2, 3, x);
}
Tensor batch_norm(const Call& c) {
  const Tensor x = c[0];
  const double eps = c.real(7, "eps", 1e-5);
  Shape axes{0};
  for (int k = 2; k < x.ndim(); ++k) axes.push_back(k);
  const Tensor y = c.flag(5, "training", false)
                       ? standardised(x, axes, eps)
                       : (x - per_channel(c.tensor(1, "running_mean"), x)) *
                             rsqrt(per_channel(c.tensor(2, "running_var"), x) + eps);
  return scaled(y, c, 3, 4, x);
}
Tensor instance_norm(const Call& c) {
  const Tensor x = c[0];
  const double eps = c.real(-1, "eps", 1e-5);
  const Tensor y = c.flag(-1, "use_input_stats", true)
                       ? standardised(x, from_axis(2, x.ndim()), eps)
                       : (x - per_channel(c.tensor(-1, "running_mean"), x)) *
                             rsqrt(per_channel(c.tensor(-1, "running_var"), x) + eps);
  return scaled(y, c, -1, -1, x);
}
Tensor unit_length(const Tensor& x, double p, int axis, double eps) {
  return x.ndim() == 0 ? x / maximum(abs(x), eps)
                       : x / maximum(p_norm(x, p, {axis_of(axis, x.ndim())}, true), eps);
}

}  // namespace

void normalisation_rows(Table& t) {
  t["nn.functional.layer_norm"] = [](const Call& c) {
    const Tensor x = c[0];
    Tensor y =
        standardised(x, from_axis(x.ndim() - c.sizes(1, "normalized_shape").size(), x.ndim()),
                     c.real(4, "eps", 1e-5));
    if (c.has(2, "weight")) y = y * c.tensor(2, "weight");
    return c.has(3, "bias") ? y + c.tensor(3, "bias") : y;
  };
  t["nn.functional.rms_norm"] = [](const Call& c) {
    const Tensor x = c[0];
    const Shape axes = from_axis(x.ndim() - c.sizes(1, "normalized_shape").size(), x.ndim());
    const double eps = c.real(3, "eps",
                              x.dtype() == Dtype::f32 ? std::numeric_limits<float>::epsilon()
                                                      : std::numeric_limits<double>::epsilon());
    const Tensor y = x * rsqrt(mean(square(x), axes, true) + eps);
    return c.has(2, "weight") ? y * c.tensor(2, "weight") : y;
  };
  t["nn.functional.group_norm"] = group_norm;
  t["nn.functional.batch_norm"] = batch_norm;
  t["nn.functional.instance_norm"] = instance_norm;
  t["nn.functional.local_response_norm"] = [](const Call& c) {
    const Tensor x = floating(c[0]);
    const Index size = c.integer(1, "size", 1), n = x.ndim() - 1;
    Shape low = Shape::filled(n, 0), high = low;
    low[0] = size / 2;
    high[0] = (size - 1) / 2;
    Shape window = Shape::filled(n, 1);
    window[0] = size;
    const Tensor s = window_sum(square(x), {.size = window, .low = low, .high = high}) /
                     static_cast<double>(size);
    return x / pow(s * c.real(-1, "alpha", 1e-4) + c.real(-1, "k", 1), c.real(-1, "beta", 0.75));
  };
  t["nn.functional.normalize"] = [](const Call& c) {
    return unit_length(c[0], c.real(1, "p", 2), static_cast<int>(c.integer(2, "dim", 1)),
                       c.real(3, "eps", 1e-12));
  };
}

}  // namespace tessera::oracle
