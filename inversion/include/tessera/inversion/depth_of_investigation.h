// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/matrix.h"
#include "tessera/inversion/response.h"

#include <vector>

namespace tessera::inversion {

/// Two answers to "how deep does this sounding see", in m.
struct DepthOfInvestigation {
  double bostick_m = 0;      ///< Bostick depth at the longest period
  double sensitivity_m = 0;  ///< below it lies less than the given share of the whole sensitivity
};

/// Sensitivity of a layer: sqrt(sum_i (dF_i / d ln rho_j / sigma_i)^2), from the first
/// `thickness_m.size() + 1` columns of the Jacobian [2n, >= layers]. Summed from the bottom until
/// it exceeds `share` of the total; the depth is interpolated inside the layer, linearly in ln z.
DepthOfInvestigation depth_of_investigation(const Response& response,
                                            const std::vector<double>& thickness_m,
                                            const Matrix& jacobian, double share = 0.01);

}  // namespace tessera::inversion
