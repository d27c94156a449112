// SPDX-License-Identifier: Apache-2.0
// What a training makes: a network with the transforms around it.
#pragma once
#include "solvers/training/network.h"
#include "solvers/training/samples.h"
#include "tessera/data/transforms.h"

#include <filesystem>

namespace tessera::apps::training {

/// Layers for samples and targets of these shapes (targets of cross_entropy: with the classes
/// behind). Throws data::InputError E0671 at the layer that does not fit.
std::vector<nn::LayerSpec> layers_of(const NetworkOptions& o, const Shape& sample,
                                     const Shape& target, const data::Config& config);

struct Model {
  data::Transforms input, target;
  Network network;
  Columns columns;
  std::vector<Shape> shapes;  ///< of a sample: of what goes in, and behind each of our layers
  Shape sample, output;  ///< of what goes into the network and comes out, without the samples' axis
  Dtype dtype = Dtype::f32;
  Index at_once = 1024;  ///< samples that `raw` takes together, for memory

  Index weights() const;  ///< how many
  /// Transformed inputs as the network takes them.
  Tensor prepared(const Tensor& inputs) const;
  /// What the network makes of prepared inputs, some at a time: [n, target...].
  Tensor raw(const Tensor& prepared) const;
  /// Targets in their own units, f64; of cross_entropy the logits of the classes.
  Tensor predict(const Tensor& inputs) const;
};

/// Samples [n, ...], "input" or "target", as the network takes them. Throws data::InputError E0672
/// of the file and its sample where they are not finite once they are transformed (beyond the
/// network's precision, or logarithms of what is not above 0), or no class of a one_hot.
Tensor transformed(const data::Transforms& t, const Tensor& samples, Dtype dtype, const char* what,
                   const SampleFiles& from);

/// The same error where prepared samples are not whole numbers that an embedding, the network's
/// first layer, has rows for, or that a file's network of integers takes.
void check_numbers(const Network& net, const Tensor& samples, const SampleFiles& from);

/// Transforms fitted to the training set, layers with first weights of the seed. Throws
/// data::InputError at the key at fault.
Model make_model(const Options& o, const Samples& s, const std::vector<std::int64_t>& train,
                 const data::Config& config);

/// weights.safetensors: leaves of the network by their names, transforms as `input.0.shift`,
/// words of columns as metadata.
void save_model(const Model& m, const std::filesystem::path& file);
/// weights.onnx: from samples of this shape in their own units to targets in theirs (of
/// cross_entropy: logits), in f32, for any number of samples where the network allows it. Gives
/// a line about what was written, or why nothing was: an operation that ONNX does not have.
std::string save_onnx(const Model& m, const Shape& sample, const std::filesystem::path& file);
/// Into a model of the same options. Throws data::InputError E0673 where the file belongs to
/// another network.
Model load_model(const Options& o, const data::Config& config, const std::filesystem::path& file);

}  // namespace tessera::apps::training
