// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/initializers.h"

#include "tessera/autodiff/ops.h"

#include <cmath>

namespace tessera::nn {
namespace {

/// A layer without inputs has no scale of its own.
double per(double variance, Index n) {
  return variance / static_cast<double>(std::max<Index>(n, 1));
}

template <class Variance>
Initializer uniform_of(Variance variance) {
  return [variance](const Tensor& key, const Shape& shape, Fans fans, Dtype dtype) {
    const double bound = std::sqrt(3 * variance(fans));
    return (uniform(key, shape, dtype) - 0.5) * (2 * bound);
  };
}
template <class Variance>
Initializer normal_of(Variance variance) {
  return [variance](const Tensor& key, const Shape& shape, Fans fans, Dtype dtype) {
    return normal(key, shape, dtype) * std::sqrt(variance(fans));
  };
}

}  // namespace

Initializer glorot_uniform() {
  return uniform_of([](Fans f) { return per(2, f.in + f.out); });
}
Initializer glorot_normal() {
  return normal_of([](Fans f) { return per(2, f.in + f.out); });
}
Initializer he_uniform() {
  return uniform_of([](Fans f) { return per(2, f.in); });
}
Initializer he_normal() {
  return normal_of([](Fans f) { return per(2, f.in); });
}
Initializer lecun_normal() {
  return normal_of([](Fans f) { return per(1, f.in); });
}
Initializer fan_in_uniform() {
  return uniform_of([](Fans f) { return per(1.0 / 3, f.in); });
}
Initializer constant(double value) {
  return [value](const Tensor&, const Shape& shape, Fans, Dtype dtype) {
    return full(shape, value, dtype);
  };
}

}  // namespace tessera::nn
