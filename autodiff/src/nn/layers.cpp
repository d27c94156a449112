// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/layers.h"

#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

namespace tessera::nn {
namespace {

Tensor operand(const char* layer, const Arg& x) {
  if (!x.tensor) fail(layer, "takes a tensor, not a number", x.line);
  return *x.tensor;
}

Tensor with_features(const char* layer, const Arg& x, Index features) {
  const Tensor t = operand(layer, x);
  if (t.ndim() < 1 || t.dim(-1) != features)
    fail(layer, "takes [..., " + std::to_string(features) + "], got " + to_string(t.type()),
         x.line);
  return t;
}

Shape all_but_last(const Tensor& x) {
  Shape axes;
  for (int k = 0; k + 1 < x.ndim(); ++k) axes.push_back(k);
  return axes;
}

/// (x - mean) / sqrt(variance + epsilon), mean and variance over `axes`.
Tensor standardised(const Tensor& x, const Shape& axes, double epsilon) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + epsilon);
}

}  // namespace

Tensor Linear::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const Tensor in = with_features("linear", x, w.dim(0));
  const Tensor y = matmul(in, w);
  return b ? y + *b : y;
}

Linear linear(const Tensor& key, Index in, Index out, const LinearOptions& o) {
  if (in < 0 || out < 0)
    fail("linear", std::to_string(in) + " features in, " + std::to_string(out) + " out");
  const Tensor keys = split_key(one_key("linear", key), 2);
  const Fans fans{in, out};
  Linear l{o.weights(select(keys, 0, 0), {in, out}, fans, o.dtype), std::nullopt};
  if (o.bias) l.b = o.biases(select(keys, 0, 1), {out}, fans, o.dtype);
  return l;
}

Tensor Mlp::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  Tensor y = operand("mlp", x);
  for (std::size_t k = 0; k < layers.size(); ++k)
    y = activate(k + 1 < layers.size() ? activation : last, layers[k](Arg(y, x.line)));
  return y;
}

Mlp mlp(const Tensor& key, const std::vector<Index>& widths, const MlpOptions& o) {
  if (widths.size() < 2)
    fail("mlp", "takes the features in, of each hidden layer, and out; got " +
                    std::to_string(widths.size()) + " numbers");
  const Tensor keys = split_key(one_key("mlp", key), static_cast<Index>(widths.size()) - 1);
  Mlp m{{}, o.activation, o.last};
  for (std::size_t k = 0; k + 1 < widths.size(); ++k)
    m.layers.push_back(
        linear(select(keys, 0, static_cast<Index>(k)), widths[k], widths[k + 1], o.linear));
  return m;
}

Tensor Embedding::operator()(Arg i) const {
  const detail::CalledAt called(i.line);
  return take(table, i, 0);
}

Embedding embedding(const Tensor& key, Index n, Index width, Dtype dtype) {
  return {normal(one_key("embedding", key), {n, width}, dtype)};
}

Tensor LayerNorm::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const Tensor t = with_features("layer_norm", x, gain.size());
  return standardised(t, {-1}, epsilon) * gain + bias;
}

LayerNorm layer_norm(Index features, Dtype dtype, double epsilon) {
  return {ones({features}, dtype), zeros({features}, dtype), epsilon};
}

Tensor GroupNorm::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const Index channels = gain.size();
  const Tensor t = with_features("group_norm", x, channels);
  if (t.ndim() < 2)
    fail("group_norm", "takes [batch, ..., channels], got " + to_string(t.type()), x.line);
  const Index batch = t.dim(0), between = t.size() ? t.size() / (batch * channels) : 0;
  const Tensor rows = reshape(t, {batch, between, channels});
  // The mean of a group is that of its channels' means: long rows of channels, not short ones.
  const Shape grouped{batch, groups, channels / groups};
  const auto mean_of_groups = [&](const Tensor& x) {
    return mean(reshape(mean(x, {1}), grouped), {2}, true);
  };
  const auto by_channel = [&](const Tensor& x) {
    return reshape(broadcast_to(x, grouped), {batch, 1, channels});
  };
  const Tensor centred = rows - by_channel(mean_of_groups(rows));
  const Tensor scale = rsqrt(mean_of_groups(square(centred)) + epsilon);
  return reshape(centred * (by_channel(scale) * gain) + bias, t.shape());
}

GroupNorm group_norm(Index groups, Index channels, Dtype dtype, double epsilon) {
  if (groups < 1 || channels % groups != 0)
    fail("group_norm", std::to_string(channels) + " channels are not " + std::to_string(groups) +
                           " groups of one size");
  return {ones({channels}, dtype), zeros({channels}, dtype), groups, epsilon};
}

std::pair<Tensor, BatchStatistics> BatchNorm::train(Arg x, const BatchStatistics& running) const {
  const detail::CalledAt called(x.line);
  const Tensor t = with_features("batch_norm", x, gain.size());
  const Shape axes = all_but_last(t);
  const Index n = gain.size() ? t.size() / gain.size() : 0;
  if (n < 2) fail("batch_norm", "a batch of " + to_string(t.type()) + " has no variance", x.line);
  const Tensor m = mean(t, axes), centred = t - m, v = mean(square(centred), axes);
  const auto moved = [&](const Tensor& old, const Tensor& now) {
    return old * (1 - momentum) + stop_gradient(now) * momentum;
  };
  const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
  return {centred * rsqrt(v + epsilon) * gain + bias,
          {moved(running.mean, m), moved(running.variance, v * unbiased)}};
}

Tensor BatchNorm::operator()(Arg x, const BatchStatistics& running) const {
  const detail::CalledAt called(x.line);
  const Tensor t = with_features("batch_norm", x, gain.size());
  return (t - running.mean) * (rsqrt(running.variance + epsilon) * gain) + bias;
}

std::pair<BatchNorm, BatchStatistics> batch_norm(Index channels, Dtype dtype, double epsilon,
                                                 double momentum) {
  return {{ones({channels}, dtype), zeros({channels}, dtype), epsilon, momentum},
          {zeros({channels}, dtype), ones({channels}, dtype)}};
}

Tensor dropout(Arg x, double rate, const Tensor& key) {
  const detail::CalledAt called(x.line);
  const Tensor t = operand("dropout", x);
  if (!(rate >= 0 && rate < 1))
    fail("dropout", "a rate of " + std::to_string(rate) + " is not in [0, 1)", x.line);
  one_key("dropout", key);
  if (rate == 0) return t;
  const Dtype real = size_of(t.dtype()) == 4 ? Dtype::f32 : Dtype::f64;
  return where(uniform(key, t.shape(), real) < rate, 0, t / (1 - rate));
}

}  // namespace tessera::nn
