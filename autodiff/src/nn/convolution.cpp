// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/convolution.h"

#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/window.h"

namespace tessera::nn {
namespace {

Index at_or_one(const Shape& s, int k) { return s.empty() ? 1 : s[k]; }

/// Kernel and bias of `out` channels; its borders are still to be said.
Conv drawn(const char* layer, const Tensor& key, const Shape& size, Index in, Index out,
           const ConvOptions& o) {
  const int d = size.size();
  if (d < 1 || d > 3) fail(layer, "has one to three axes, got a window of " + to_string(size));
  for (const Shape* s : {&o.stride, &o.dilation})
    if (!s->empty() && s->size() != d)
      fail(layer,
           "has a window of " + to_string(size) + " and a stride or dilation of " + to_string(*s));
  if (in < 1 || out < 1 || o.groups < 1 || in % o.groups != 0 || out % o.groups != 0)
    fail(layer, std::to_string(in) + " channels in and " + std::to_string(out) + " out are not " +
                    std::to_string(o.groups) + " groups of one size");
  const Tensor keys = split_key(one_key(layer, key), 2);
  Shape w = size;
  w.push_back(in / o.groups), w.push_back(out);
  const Fans fans{size.count() * (in / o.groups), size.count() * (out / o.groups)};
  Conv c{o.weights(select(keys, 0, 0), w, fans, o.dtype), std::nullopt, {.groups = o.groups}};
  if (o.bias) c.b = o.biases(select(keys, 0, 1), {out}, fans, o.dtype);
  c.how.dilation = o.dilation;
  return c;
}

/// Half of a border before, half (the larger one) after.
void share(Index border, Convolution& how) {
  how.low.push_back(border / 2), how.high.push_back(border - border / 2);
}

Tensor with_axes(const char* layer, const Arg& x, int axes) {
  if (!x.tensor || x.tensor->ndim() != axes + 2)
    fail(layer, "takes [samples, ..., channels] with axes between: " + std::to_string(axes),
         x.line);
  return *x.tensor;
}

/// Axis k in windows of `size` that touch, as an axis of windows and one within; a rest is cut off.
Tensor in_windows(const Tensor& x, int k, Index size) {
  if (size < 1) fail("pool", "a window of " + std::to_string(size));
  const Index n = x.dim(k) / size;
  Shape begin = Shape::filled(x.ndim(), 0), end = x.shape(), cut = x.shape();
  end[k] = n * size;
  cut[k] = n, cut.insert(k + 1, size);
  return reshape(slice(x, begin, end), cut);
}

}  // namespace

Tensor Conv::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const Tensor y = convolution(x, w, how);
  return b ? y + *b : y;
}

Conv conv(const Tensor& key, const Shape& size, Index in, Index out, const ConvOptions& o) {
  Conv c = drawn("conv", key, size, in, out, o);
  c.how.stride = o.stride;
  if (o.border == Border::same)
    for (int k = 0; k < size.size(); ++k) share(at_or_one(o.dilation, k) * (size[k] - 1), c.how);
  return c;
}

Conv conv_transpose(const Tensor& key, const Shape& size, Index in, Index out,
                    const ConvOptions& o) {
  Conv c = drawn("conv_transpose", key, size, in, out, o);
  c.how.input_dilation = o.stride;
  for (int k = 0; k < size.size(); ++k) {
    const Index reach = at_or_one(o.dilation, k) * (size[k] - 1);
    if (o.border == Border::same)
      share(reach + at_or_one(o.stride, k) - 1, c.how);
    else
      share(2 * reach, c.how);
  }
  return c;
}

Tensor max_pool(Arg x, const Shape& size) {
  const detail::CalledAt called(x.line);
  const Tensor t = with_axes("max_pool", x, size.size());
  Shape begin = Shape::filled(t.ndim(), 0), end = t.shape();
  for (int k = 1; k <= size.size(); ++k) {
    if (size[k - 1] < 1) fail("max_pool", "a window of " + to_string(size), x.line);
    end[k] -= end[k] % size[k - 1];  // a rest is cut off
  }
  return window_max(slice(t, begin, end), {.size = size, .stride = size, .trailing = 1});
}
Tensor mean_pool(Arg x, const Shape& size) {
  const detail::CalledAt called(x.line);
  Tensor y = with_axes("mean_pool", x, size.size());
  Shape within;
  for (int k = 1; k <= size.size(); ++k) {
    y = in_windows(y, 2 * k - 1, size[k - 1]);
    within.push_back(2 * k);
  }
  return mean(y, within);
}

Tensor global_mean_pool(Arg x) {
  const detail::CalledAt called(x.line);
  if (!x.tensor || x.tensor->ndim() < 2)
    fail("global_mean_pool", "takes [samples, ..., channels]", x.line);
  Shape axes;
  for (int k = 1; k + 1 < x.tensor->ndim(); ++k) axes.push_back(k);
  return axes.empty() ? *x.tensor : mean(*x.tensor, axes);
}

Tensor upsample_nearest(Arg x, const Shape& factor) {
  const detail::CalledAt called(x.line);
  Tensor y = with_axes("upsample_nearest", x, factor.size());
  for (int k = 0; k < factor.size(); ++k) {
    Shape spread = y.shape(), merged = y.shape();
    spread.insert(k + 2, factor[k]);
    merged[k + 1] *= factor[k];
    y = reshape(broadcast_to(expand_dims(y, k + 2), spread), merged);
  }
  return y;
}

}  // namespace tessera::nn
