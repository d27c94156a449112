// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/regularization.h"

#include <vector>

namespace tessera::inversion {

/// Some sections that a prior has not learnt from: the codes z that its encoder has for each, and
/// what D(z) is wrong by.
struct HeldOut {
  Tensor codes;   ///< [count, codes]
  Tensor errors;  ///< x - D(z), decades, [count, shape of sections]
};

/// What sections that a prior has not learnt from show of it: how large their codes are, and what
/// codes do not say of them.
struct PriorCalibration {
  Tensor cell_error;  ///< root mean square of x - D(z) of each cell, decades, [shape of sections]
  HeldOut held_out;
  /// How far x - D(z) of neighbours is alike, in cells: the length l of a correlation
  /// (d / l) K1(d / l), which section_correlation has.
  double error_length = 1.3;
};
/// The length of errors whose means over 4 x 4 cells have such a part of the variance of one cell,
/// between 0.1 and 10: data see means, and errors of a decoder are fine lines along edges.
double error_length_of(double part);

/// The same correlations with other standard deviations: what a prior of smoothness says of the
/// shapes of an error whose size is measured.
GaussianPrior with_standard_deviations(GaussianPrior prior, const std::vector<double>& wanted);

}  // namespace tessera::inversion
