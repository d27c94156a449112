// SPDX-License-Identifier: Apache-2.0
//
// Layers for pictures, fields and series: x [B, n_1, ..., n_d, channels] with one to three axes.
#pragma once
#include "tessera/autodiff/nn/initializers.h"
#include "tessera/autodiff/ops/convolution.h"
#include "tessera/autodiff/tree.h"

#include <optional>

namespace tessera::nn {

/// What lies beyond an axis of n elements.
enum class Border {
  same,  ///< ceil(n / stride) results; of a transposed convolution n stride
  none   ///< results only where the window lies within
};

/// y = x * w + b: w [k_1, ..., k_d, in / groups, out], b [out].
struct Conv {
  Tensor w;
  std::optional<Tensor> b;
  Convolution how;
  TESSERA_TREE(w, b)
  TESSERA_STATIC(how.stride, how.low, how.high, how.dilation, how.input_dilation, how.groups)
  Tensor operator()(Arg x) const;
};
struct ConvOptions {
  Shape stride = {}, dilation = {};  ///< empty: 1
  Border border = Border::same;
  Index groups = 1;  ///< of channels; divides in and out
  bool bias = true;
  Initializer weights = fan_in_uniform(), biases = fan_in_uniform();
  Dtype dtype = Dtype::f64;
};
/// `size` is that of the window. Fans are per output: in / groups times the elements of the window.
Conv conv(const Tensor& key, const Shape& size, Index in, Index out, const ConvOptions& o = {});
/// Each axis becomes `stride` times as long (Border::same), or stride (n - 1) + dilation (k - 1) +
/// 1 long: windows of results overlap where those of `conv` with this stride read. Its w is that of
/// PyTorch's with the window turned around, [k..., in / groups, out].
Conv conv_transpose(const Tensor& key, const Shape& size, Index in, Index out,
                    const ConvOptions& o = {});

/// Windows of `size`, `size` apart, over the axes between samples and channels; a rest at the end
/// is left out.
Tensor max_pool(Arg x, const Shape& size);
Tensor mean_pool(Arg x, const Shape& size);
/// Mean over these axes: [B, channels].
Tensor global_mean_pool(Arg x);
/// Each element `factor` times along each axis.
Tensor upsample_nearest(Arg x, const Shape& factor);

}  // namespace tessera::nn
