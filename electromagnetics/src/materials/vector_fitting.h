// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rational_basis.h"

#include <complex>
#include <vector>

namespace tessera::electromagnetics {

/// What is to be fitted: values at points s on the imaginary axis, scaled so that |s| <= 1.
struct FitSamples {
  std::vector<std::complex<double>> s, value;
  std::vector<double> weight;  ///< of the residual
};

/// `order` poles spread over the band of the samples: pairs with a hundredth of damping, and a real
/// one where the order is odd.
Poles starting_poles(const FitSamples& samples, int order);

/// What stands beside the poles.
struct Background {
  bool constant = true;       ///< d; without it the values are to tend to 0
  bool pole_at_zero = false;  ///< e/s
};

/// One step of vector fitting: the zeros of sigma in
///   sigma(s) f(s) = sum c_p/(s - a_p) [+ d] [+ e/s],  sigma = sum c~_p/(s - a_p) + d~,
/// mirrored into the left half plane.
Poles relocate(const FitSamples& samples, const Poles& poles, Background background);

}  // namespace tessera::electromagnetics
