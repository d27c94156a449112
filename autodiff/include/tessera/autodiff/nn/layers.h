// SPDX-License-Identifier: Apache-2.0
//
// Layers: a struct of parameters, its function, and a maker that draws the first values from one
// key, u32 [2].
// J. Ba et al., arXiv:1607.06450: layer norm; Y. Wu & K. He, arXiv:1803.08494: group norm;
// S. Ioffe & C. Szegedy, arXiv:1502.03167: batch norm; N. Srivastava et al., JMLR 15 (2014) 1929:
// dropout.
#pragma once
#include "tessera/autodiff/nn/activations.h"
#include "tessera/autodiff/nn/initializers.h"
#include "tessera/autodiff/tree.h"

#include <optional>
#include <utility>
#include <vector>

namespace tessera::nn {

// ---- linear ----

/// y = x w + b: x [B..., in], w [in, out], b [out], y [B..., out].
struct Linear {
  Tensor w;
  std::optional<Tensor> b;
  TESSERA_TREE(w, b)
  Tensor operator()(Arg x) const;
};
struct LinearOptions {
  bool bias = true;
  Initializer weights = fan_in_uniform(), biases = fan_in_uniform();
  Dtype dtype = Dtype::f64;
};
Linear linear(const Tensor& key, Index in, Index out, const LinearOptions& o = {});

/// Linear layers with an activation between them, and another one behind the last.
struct Mlp {
  std::vector<Linear> layers;
  Activation activation = Activation::relu, last = Activation::identity;
  TESSERA_TREE(layers)
  TESSERA_STATIC(activation, last)
  Tensor operator()(Arg x) const;
};
struct MlpOptions {
  Activation activation = Activation::relu, last = Activation::identity;
  LinearOptions linear = {};
};
/// `widths`: features in, of each hidden layer, out; at least two.
Mlp mlp(const Tensor& key, const std::vector<Index>& widths, const MlpOptions& o = {});

/// The rows of the table [n, width] at i [B...]: [B..., width]. An index outside throws.
struct Embedding {
  Tensor table;
  TESSERA_TREE(table)
  Tensor operator()(Arg i) const;
};
/// Rows drawn with mean 0 and variance 1.
Embedding embedding(const Tensor& key, Index n, Index width, Dtype dtype = Dtype::f64);

// ---- norms: (x - mean) / sqrt(variance + epsilon) * gain + bias; variances by n ----

/// Over the last axis.
struct LayerNorm {
  Tensor gain, bias;
  double epsilon = 1e-5;
  TESSERA_TREE(gain, bias)
  TESSERA_STATIC(epsilon)
  Tensor operator()(Arg x) const;
};
LayerNorm layer_norm(Index features, Dtype dtype = Dtype::f64, double epsilon = 1e-5);

/// x [B, ..., channels]: over all axes between and the channels of a group, which are neighbours.
struct GroupNorm {
  Tensor gain, bias;
  Index groups = 1;
  double epsilon = 1e-5;
  TESSERA_TREE(gain, bias)
  TESSERA_STATIC(groups, epsilon)
  Tensor operator()(Arg x) const;
};
/// `groups` divides `channels`.
GroupNorm group_norm(Index groups, Index channels, Dtype dtype = Dtype::f64, double epsilon = 1e-5);

/// What batch norm has seen so far: of the variance the unbiased estimate.
struct BatchStatistics {
  Tensor mean, variance;
  TESSERA_TREE(mean, variance)
};
/// x [B..., channels]: over all axes but the last.
struct BatchNorm {
  Tensor gain, bias;
  double epsilon = 1e-5, momentum = 0.1;
  TESSERA_TREE(gain, bias)
  TESSERA_STATIC(epsilon, momentum)
  /// With the batch's own statistics; and the running ones moved towards them by the share
  /// `momentum`, which have no derivative. A batch of one element has no unbiased variance: throws.
  std::pair<Tensor, BatchStatistics> train(Arg x, const BatchStatistics& running) const;
  /// With the running statistics.
  Tensor operator()(Arg x, const BatchStatistics& running) const;
};
std::pair<BatchNorm, BatchStatistics> batch_norm(Index channels, Dtype dtype = Dtype::f64,
                                                 double epsilon = 1e-5, double momentum = 0.1);

// ---- dropout ----

/// Each element 0 with probability `rate` in [0, 1), else over 1 - rate. One key, u32 [2].
Tensor dropout(Arg x, double rate, const Tensor& key);

}  // namespace tessera::nn
