// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/response.h"

#include <complex>
#include <limits>
#include <vector>

namespace tessera::inversion {

/// The least misfit that any layered earth, of any number of layers and of any conductivity >= 0,
/// can have to a sounding (Parker 1980, J. Geophys. Res. 85, 4421; Parker and Whaler 1981,
/// J. Geophys. Res. 86, 9574, eq. 9-15). The impedance of every such earth is
///   Z(w) = i w mu0 [ a_inf + sum_n a_n / (lambda_n + i w) ],   a >= 0, lambda >= 0,
/// and every such sum belongs to an earth of thin conducting sheets (D+).
struct DplusResult {
  double chi2 = 0;             ///< sum over the 2n real data of (residual / sigma)^2
  double chi2_lower = 0;       ///< proven: no 1-D earth is below this
  double rms = 0;              ///< sqrt(chi2 / 2n)
  bool converged = false;      ///< chi2 - chi2_lower <= relative_gap * chi2 + absolute_gap
  double a_infinity = 0;       ///< a_inf in m: depth of the first sheet
  std::vector<double> lambda;  ///< 1/s, rising; lambda = 0 is an earth of finite total conductance
  std::vector<double> weight;  ///< a_n in m/s, all > 0
  std::vector<std::complex<double>> impedance_ohm;  ///< of the best earth, [n]
};

struct DplusOptions {
  double relative_gap = 1e-7;
  double absolute_gap = 1e-9;  ///< in chi2, for data that a 1-D earth fits exactly
  int points_per_decade =
      10;  ///< first grid of lambda; the grid is refined until the gap is closed
  int max_passes = 60;
};

/// Solves the non-negative least-squares problem over the continuum of lambda: a grid, then the
/// maxima of the dual function between its points are added until duality proves the bound.
DplusResult dplus(const Response& response, const DplusOptions& options = {});

/// Impedance of a sheet sum at the given frequencies, in ohm.
std::vector<std::complex<double>> dplus_impedance(const std::vector<double>& frequency_hz,
                                                  double a_infinity,
                                                  const std::vector<double>& lambda,
                                                  const std::vector<double>& weight);

}  // namespace tessera::inversion
