// SPDX-License-Identifier: Apache-2.0
// What is known of a learnt prior, measured on sections that nothing was chosen by.
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/inversion/section_prior.h"

#include <filesystem>
#include <vector>

namespace tessera::apps::prior {

struct Results {
  std::vector<double> loss, validation;  ///< by epoch
  std::vector<double> error;             ///< [test] root mean square of x - D(z) of each, decades
  std::vector<double> norm;              ///< [test] mean of z^2 over the codes of each
  std::vector<double> cell_error;        ///< [rows, columns] root mean square over the test
  /// Some of the test: codes, [count, codes], and x - D(z), decades, [count, rows, columns].
  std::vector<double> codes_of_some, errors_of_some;
  double mean_of_16 = 0;  ///< root mean square of errors' means over 4 x 4 cells
  Shape section;
  /// Some sections of the test, what is decoded of them, and draws of the prior: [shown, rows,
  /// columns].
  std::vector<double> truth, decoded, drawn;
  double rms() const;  ///< of all cells of the test
  inversion::HeldOut held_out() const;
};

/// Sections first, ..., end - 1 of the file.
Results judge(const inversion::SectionPrior& p, const BoxSource& sections, Index first, Index end,
              const Tensor& key);

void write_results(const std::filesystem::path& run, const Results& r);
Results read_results(const std::filesystem::path& run);
std::vector<std::filesystem::path> draw(const std::filesystem::path& run, const Results& r);

}  // namespace tessera::apps::prior
