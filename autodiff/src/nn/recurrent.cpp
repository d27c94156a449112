// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/recurrent.h"

#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

namespace tessera::nn {
namespace {

Tensor series(const Arg& x, Index features) {
  const detail::CalledAt called(x.line);
  if (!x.tensor || x.tensor->ndim() < 2 || x.tensor->dim(-1) != features)
    fail("gru", "takes [..., steps, " + std::to_string(features) + "]", x.line);
  return *x.tensor;
}

}  // namespace

std::pair<Tensor, Tensor> Gru::operator()(Arg x, Arg h) const {
  const detail::CalledAt called(x.line);
  // What comes of x is one product for all steps.
  const Tensor driven = moveaxis(input(series(x, input.w.dim(0))), -2, 0);
  const auto step = [this](const Tensor& old, const Tensor& in) {
    const std::vector<Tensor> a = split(in, 3, -1), b = split(state(old), 3, -1);
    const Tensor r = logistic(a[0] + b[0]), z = logistic(a[1] + b[1]);
    const Tensor next = tanh(a[2] + r * b[2]);
    const Tensor now = next + z * (old - next);
    return std::pair(now, now);
  };
  const Tensor first = detail::to_tensor("gru", h, driven.dtype());
  const auto [end, all] = scan(step, first, driven);
  return {moveaxis(all, 0, -2), end};
}

std::pair<Tensor, Tensor> Gru::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  Shape s = series(x, input.w.dim(0)).shape();
  s.erase(s.size() - 2);
  s[s.size() - 1] = state.w.dim(0);
  return (*this)(x, zeros(s, x.tensor->dtype()));
}

Gru gru(const Tensor& key, Index features, Index width, Dtype dtype) {
  const Initializer one = [width](const Tensor& k, const Shape& shape, Fans, Dtype t) {
    return fan_in_uniform()(k, shape, {width, width}, t);
  };
  const LinearOptions o{.weights = one, .biases = one, .dtype = dtype};
  const Tensor keys = split_key(one_key("gru", key), 2);
  return {linear(select(keys, 0, 0), features, 3 * width, o),
          linear(select(keys, 0, 1), width, 3 * width, o)};
}

}  // namespace tessera::nn
