// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {
namespace {

Tensor exponential_unit(const Tensor& x, double alpha, double scale, double input_scale) {
  return where(greater(x, 0.0), x * scale, alpha * scale * expm1(minimum(x, 0.0) * input_scale));
}
/// Straight from 0 to 1 on -3 ... 3.
Tensor hard_sigmoid(const Tensor& x) { return clip(x / 6.0 + 0.5, 0.0, 1.0); }

Tensor softmax_of(const Call& c, Tensor (*f)(Arg, int), double factor) {
  Tensor x = c[0];
  if (c.has(-1, "dtype")) x = cast(x, c.dtype(-1, "dtype", Dtype::f64));
  x = floating(x);
  if (factor != 1) x = x * factor;
  if (x.ndim() == 0) return reshape(f(reshape(x, {1}), 0), {});
  return f(x, axis_of(c.integer(1, "dim", -1), x.ndim()));
}

}  // namespace

void activation_rows(Table& t) {
  t["nn.functional.relu"] = [](const Call& c) { return relu(c[0]); };
  t["nn.functional.relu6"] = [](const Call& c) {
    return where(greater_equal(c[0], like(6, c[0])), like(6, c[0]), relu(c[0]));
  };
  t["nn.functional.hardtanh"] = [](const Call& c) {
    return clip(c[0], like(c.number(1, "min_val", -1), c[0]),
                like(c.number(2, "max_val", 1), c[0]));
  };
  t["nn.functional.hardsigmoid"] = [](const Call& c) { return hard_sigmoid(c[0]); };
  t["nn.functional.hardswish"] = [](const Call& c) { return c[0] * hard_sigmoid(c[0]); };
  t["nn.functional.leaky_relu"] = [](const Call& c) {
    return where(greater(c[0], 0.0), c[0], c[0] * c.real(1, "negative_slope", 0.01));
  };
  t["nn.functional.elu"] = [](const Call& c) {
    return exponential_unit(c[0], c.real(1, "alpha", 1), 1, 1);
  };
  t["nn.functional.celu"] = [](const Call& c) {
    return exponential_unit(c[0], c.real(1, "alpha", 1), 1, 1 / c.real(1, "alpha", 1));
  };
  t["nn.functional.selu"] = [](const Call& c) {
    return exponential_unit(c[0], 1.6732632423543772, 1.0507009873554805, 1);
  };
  t["nn.functional.silu"] = [](const Call& c) { return c[0] * logistic(c[0]); };
  t["nn.functional.mish"] = [](const Call& c) { return c[0] * tanh(softplus(c[0])); };
  t["nn.functional.gelu"] = [](const Call& c) {
    const Tensor x = c[0];
    if (c.text(-1, "approximate", "none") == "none") return x * erfc(x * -std::sqrt(0.5)) * 0.5;
    return 0.5 * x * (1.0 + tanh(std::sqrt(2 / kPi) * (x + 0.044715 * pow(x, 3))));
  };
  t["nn.functional.logsigmoid"] = [](const Call& c) { return log_sigmoid(c[0]); };
  t["nn.functional.softsign"] = [](const Call& c) {
    return floating(c[0]) / (1.0 + abs(floating(c[0])));
  };
  t["nn.functional.tanhshrink"] = [](const Call& c) {
    return floating(c[0]) - tanh(floating(c[0]));
  };
  t["nn.functional.threshold"] = [](const Call& c) {
    return where(less_equal(c[0], like(c.number(1, "threshold", 0), c[0])),
                 like(c.number(2, "value", 0), c[0]), c[0]);
  };
  t["nn.functional.softplus"] = [](const Call& c) {
    const double beta = c.real(1, "beta", 1), threshold = c.real(2, "threshold", 20);
    const Tensor z = c[0] * beta;
    return where(greater(z, threshold), c[0], softplus(z) / beta);
  };
  t["nn.functional.softshrink"] = [](const Call& c) {
    const double l = c.real(1, "lambd", 0.5);
    return where(greater(c[0], l), c[0] - l, where(less(c[0], -l), c[0] + l, c[0] * 0.0));
  };
  t["nn.functional.hardshrink"] = [](const Call& c) {
    const double l = c.real(1, "lambd", 0.5);
    return where(logical_and(greater_equal(c[0], -l), less_equal(c[0], l)), 0.0, c[0]);
  };
  t["nn.functional.prelu"] = [](const Call& c) {
    const Tensor x = c[0];
    Tensor w = c.tensor(1, "weight");
    if (w.ndim() == 1 && x.ndim() > 1) {  // one slope for each channel, axis 1
      Shape s = Shape::filled(x.ndim(), 1);
      s[1] = w.dim(0);
      w = reshape(w, s);
    } else if (w.ndim() == 1 && x.ndim() == 0)
      w = reshape(w, {});
    return where(greater(x, 0.0), x, w * x);
  };
  t["nn.functional.glu"] = [](const Call& c) {
    const auto halves = split(c[0], 2, axis_of(c.integer(1, "dim", -1), c[0].ndim()));
    return halves[0] * logistic(halves[1]);
  };
  for (const char* name : {"softmax", "softmax.with_dtype"})
    t[name] = [](const Call& c) { return softmax_of(c, softmax, 1); };
  for (const char* name : {"log_softmax", "log_softmax.with_dtype"})
    t[name] = [](const Call& c) { return softmax_of(c, log_softmax, 1); };
  for (const char* name : {"nn.functional.softmin", "nn.functional.softmin.with_dtype"})
    t[name] = [](const Call& c) { return softmax_of(c, softmax, -1); };
}

}  // namespace tessera::oracle
