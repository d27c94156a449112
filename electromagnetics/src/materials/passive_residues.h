// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "vector_fitting.h"

#include <vector>

namespace tessera::electromagnetics {

struct ResidueOptions {
  double scale = 1;  ///< rad/s for one unit of s
  bool conducting = false;
  double least_eps_inf = 1;
  bool passive = true;
};

struct ResidueFit {
  std::vector<PoleResidue> poles;  ///< rad/s
  double eps_inf = 1;
  double sigma = 0;  ///< S/m
  bool constrained = false;
  bool passive = false;
};

/// Residues, background and conductivity at given poles, by weighted least squares; under
/// Im eps <= 0 everywhere where that is asked for and the free solution breaks it.
ResidueFit fit_residues(const FitSamples& samples, const Poles& poles,
                        const ResidueOptions& options);

}  // namespace tessera::electromagnetics
