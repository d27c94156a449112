// SPDX-License-Identifier: Apache-2.0
// What a training leaves: curves, errors on each part of the samples, predictions of the test.
#pragma once
#include "solvers/training/errors.h"
#include "solvers/training/run.h"
#include "tessera/solvers/fit.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::training {

/// Predictions of one part of the samples.
struct Judged {
  std::string part;  ///< "test"
  std::vector<std::int64_t> samples;
  Tensor predicted, target;  ///< own units; of labels logits and integers
  RealErrors real;
  LabelErrors labels;
};
/// Nothing of a part without samples.
std::vector<Judged> judge(const Problem& p);

struct Results {
  std::vector<solvers::FitEpoch> curves;
  std::int64_t best_epoch = -1;
  std::vector<Judged> parts;  ///< train, validation, test
};

/// results.h5, errors.csv, test.csv, and confusion.csv of labels.
void write_results(const std::filesystem::path& folder, const Results& r, const Problem& p);

/// The same as `draw` has them drawn; read back for `tessera plot`.
struct Drawn {
  std::vector<double> loss, validation, rate_factor;
  std::int64_t best_epoch = -1;
  std::string part;            ///< the last part that has samples
  Tensor predicted, target;    ///< of it, [n, features]; of labels the confusion [known, predicted]
  std::vector<double> errors;  ///< of its samples
  std::vector<std::string> names;  ///< of features or classes; may be empty
  bool classifies = false;
};
Drawn drawn_of(const Results& r, const Problem& p);
Drawn read_drawn(const std::filesystem::path& folder);
std::vector<std::filesystem::path> draw(const std::filesystem::path& folder, const Drawn& d,
                                        const std::string& title);

}  // namespace tessera::apps::training
