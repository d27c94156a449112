// SPDX-License-Identifier: Apache-2.0
// The samples of a case: read, put one after another, divided.
#pragma once
#include "solvers/training/options.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/data/split.h"

#include <string>
#include <vector>

namespace tessera::apps::training {

/// The words of a column of words, in the order of the alphabet: what its numbers stand for. Empty
/// of a column of numbers.
using Words = std::vector<std::string>;

/// What the columns of tables mean: part of the model, so that other tables are read alike.
struct Columns {
  std::vector<std::string> inputs, targets;  ///< names of features along the last axis
  std::vector<Words> input_words;            ///< of `data.input_columns`
  Words labels;                              ///< classes of cross_entropy
};

/// First axes are the samples, in the order of the files.
struct Samples {
  Tensor inputs;   ///< f64 [n, sample...]
  Tensor targets;  ///< f64 [n, target...], or labels i64 [n, ...]
  Columns columns;
  std::int64_t classes = 0;          ///< of cross_entropy
  std::vector<std::int64_t> groups;  ///< by which they are split
  std::int64_t count() const { return inputs.dim(0); }
};
/// The shape of one sample: without the first axis.
Shape sample_shape(const Tensor& samples);

/// Throws data::InputError with the file, and what is wrong with which sample.
Samples read_samples(const Options& o);
/// E0672 at `split` where nothing is left to train on, at `training.batch` where that is less than
/// a batch.
data::Split split_of(const Samples& s, const Options& o, const data::Config& config);

/// Inputs of another file, as the model with these columns takes them: f64 [n, sample...].
Tensor read_inputs(const Options& o, const Columns& columns, const std::filesystem::path& file);

/// The first number of [n, ...] that is not finite, as "input 7 has nan at 0"; empty: all are.
std::string not_finite(const Tensor& t, const char* what);

/// Rows of t.
Tensor rows_of(const Tensor& t, const std::vector<std::int64_t>& samples);

}  // namespace tessera::apps::training
