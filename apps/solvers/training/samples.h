// SPDX-License-Identifier: Apache-2.0
// The samples of a case: read, put one after another, divided.
#pragma once
#include "solvers/training/options.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/data/split.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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

/// Files that samples come from, one after another, and how many each has; and what messages say
/// of them.
struct SampleFiles {
  std::vector<std::filesystem::path> files;
  std::vector<std::int64_t> counts;
  std::vector<std::vector<std::size_t>> lines = {};  ///< of tables: where each sample begins
  std::vector<std::string> features = {};  ///< of tables: names along the samples' last axis
  std::string cure = {};  ///< of a sample that a given model does not take; empty: by the case
  /// The file of sample k, and its number in there.
  std::pair<std::filesystem::path, std::int64_t> place(std::int64_t k) const;
  /// E0672 there: what is wrong with sample k.
  [[noreturn]] void refuse(std::int64_t k, std::string message, std::string hint) const;
};

/// First axes are the samples, in the order of the files.
struct Samples {
  Tensor inputs;   ///< f64 [n, sample...]
  Tensor targets;  ///< f64 [n, target...], or labels i64 [n, ...]
  SampleFiles input_files, target_files;
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
struct Inputs {
  Tensor samples;
  SampleFiles from;
};
Inputs read_inputs(const Options& o, const Columns& columns, const std::filesystem::path& file);

/// The first of [n, ...] that has another number than expected.
struct BadSample {
  std::int64_t sample = 0, at = 0;  ///< the number of this in the sample
  double value = 0;
};
std::optional<BadSample> first_bad(const Tensor& t, const std::function<bool(double)>& is_good);
std::optional<BadSample> not_finite(const Tensor& t);
/// E0672 of it in its file: "input 7 has nan at 0: expected finite numbers"; of a table at its
/// line, "column 'length_mm' has -5, nan once it is transformed".
[[noreturn]] void refuse_sample(const SampleFiles& from, const BadSample& bad, const char* what,
                                const std::string& expected, std::string hint);

/// Rows of t.
Tensor rows_of(const Tensor& t, const std::vector<std::int64_t>& samples);

}  // namespace tessera::apps::training
