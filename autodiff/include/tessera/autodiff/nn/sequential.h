// SPDX-License-Identifier: Apache-2.0
//
// A network as a list of layers, each of which takes what the one before it gives; and that list as
// data, as a configuration says it:
//
//   const std::vector<LayerSpec> specs = {{.kind = LayerKind::linear, .width = 64},
//                                         {.kind = LayerKind::activation},
//                                         {.kind = LayerKind::linear, .width = 1}};
//   const Sequential net = sequential(random_key(1), specs, {3});
//   net(x)                                   // x [samples, 3]
//   net.train(x, batch.keys)                 // with dropout
#pragma once
#include "tessera/autodiff/nn/convolution.h"
#include "tessera/autodiff/nn/layers.h"
#include "tessera/autodiff/tree_variant.h"

#include <variant>
#include <vector>

namespace tessera::nn {

/// An activation by itself.
struct Activate {
  Activation function = Activation::relu;
  TESSERA_TREE()
  TESSERA_STATIC(function)
};
/// Dropout: in training alone.
struct Dropout {
  double rate = 0.5;
  TESSERA_TREE()
  TESSERA_STATIC(rate)
};
/// Each sample as one axis.
struct Flatten {
  TESSERA_TREE()
  TESSERA_STATIC()
};
/// Each sample in that shape.
struct Reshape {
  Shape shape;
  TESSERA_TREE()
  TESSERA_STATIC(shape)
};
/// What comes in, and what the layer number `with` gave (-1: what the network was given): their
/// sum, or side by side along the last axis.
struct Join {
  bool sum = true;
  Index with = -1;
  TESSERA_TREE()
  TESSERA_STATIC(sum, with)
};

/// Pools, and elements repeated, over windows of `size`; of global_mean_pool without a size.
struct Resample {
  enum class Kind { max_pool, mean_pool, global_mean_pool, upsample } kind = Kind::max_pool;
  Shape size;
  TESSERA_TREE()
  TESSERA_STATIC(kind, size)
};

/// Batch norm with what it has seen: in training it norms by the batch.
struct RunningNorm {
  BatchNorm norm;
  BatchStatistics seen;
  TESSERA_TREE(norm, seen)
};

using Layer = std::variant<Linear, Conv, Activate, Dropout, LayerNorm, GroupNorm, RunningNorm,
                           Embedding, Flatten, Reshape, Resample, Join>;

/// x [samples, sample...].
struct Sequential {
  std::vector<Layer> layers;
  TESSERA_TREE(layers)
  Tensor operator()(Arg x) const;
  /// `keys` u32 [samples, 2]: what dropout does to a sample follows from its key alone.
  Tensor train(Arg x, const Tensor& keys) const;
  /// The same, and the network whose batch norms have seen x: their `layers.3.seen.mean` and
  /// `.variance`, which no step of an optimizer changes, have moved.
  std::pair<Tensor, Sequential> seeing(Arg x, const Tensor& keys) const;
  bool has_running_norms() const;
};

/// What reports and errors call the layers: "layers.0 (linear)".
std::vector<std::string> part_names(const Sequential& net);

enum class LayerKind {
  linear,
  conv,
  conv_transpose,
  activation,
  dropout,
  layer_norm,
  group_norm,
  batch_norm,
  embedding,
  flatten,
  reshape,
  max_pool,
  mean_pool,
  global_mean_pool,
  upsample,
  add,
  concat
};
/// A layer before it has parameters. What a kind does not name, it does not look at.
struct LayerSpec {
  LayerKind kind = LayerKind::linear;
  Index width = 1;                           ///< linear, conv, embedding: features out
  bool bias = true;                          ///< linear, conv
  Activation activation = Activation::relu;  ///< activation
  double rate = 0.5;                         ///< dropout: in [0, 1)
  Index groups = 1;                          ///< group_norm, conv
  Index rows = 1;                            ///< embedding: how many
  Shape shape = {};                          ///< reshape: that of a sample
  Shape size = {};  ///< conv, pools, upsample: of the window, an entry for each axis
  Shape stride = {}, dilation = {};  ///< conv; empty: 1
  Border border = Border::same;      ///< conv
  Index with = -1;  ///< add, concat: number of an earlier layer; -1: the network's input
};

/// What does not fit: `layer 2 (linear): ...`.
struct LayerError : Error {
  LayerError(std::size_t number, const std::string& what) : Error(what), layer(number) {}
  std::size_t layer;
};
/// Shapes of a sample behind each of the layers, that of the input first. Throws LayerError.
std::vector<Shape> shapes_of(const std::vector<LayerSpec>& layers, const Shape& sample);

/// With first values drawn from the key, those of linear and convolutional layers as `linear` says.
Sequential sequential(const Tensor& key, const std::vector<LayerSpec>& layers, const Shape& sample,
                      const LinearOptions& linear = {});

}  // namespace tessera::nn
