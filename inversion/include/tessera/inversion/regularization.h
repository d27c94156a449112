// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sparse_matrix.h"

#include <vector>

namespace tessera::inversion {

/// exp(-1/2 (m - mean)^T precision (m - mean)). Regularization and prior are one thing here, so the
/// model that minimises misfit plus penalty is the most probable one, and its bands mean something.
struct GaussianPrior {
  std::vector<double> mean;
  SparseMatrix precision;

  std::size_t size() const { return mean.size(); }
  double penalty(const std::vector<double>& m) const;  ///< (m - mean)^T precision (m - mean)
};

/// Smoothness in the logarithm of depth. x is log10 of depth in decades, m the deviation of ln rho
/// from `mean`.
///
/// order 1: m(x) is the stationary Gauss-Markov (Ornstein-Uhlenbeck) process of standard
///   deviation s and correlation length l,
///     -2 ln p = l/(2 s^2) int (dm/dx)^2 + 1/(2 s^2 l) int m^2
///               + (m(top)^2 + m(bottom)^2) / (2 s^2),
///   that is Occam's first-difference roughness with weight mu = l / (2 s^2) and a proper anchor.
///   s is kept at `std_ln_rho` while l = 2 mu s^2 stays above `shortest_decades`; for smaller mu
///   the length stays there and s grows, so that mu -> 0 removes the penalty.
/// order 2: mu int (d2m/dx2)^2 with the anchor int m^2 / (s^2 L), L the length of the range.
struct SmoothPrior {
  std::vector<double> mean;               ///< ln rho, one per layer
  std::vector<double> log10_depth;        ///< of each layer, rising
  double std_ln_rho = 2.302585092994046;  ///< one decade
  double shortest_decades = 0.2;
  int order = 1;

  GaussianPrior at(double mu) const;
  double correlation_decades(double mu) const;  ///< l of order 1
  double standard_deviation(double mu) const;   ///< s of order 1
  static double mu_of(double std_ln_rho, double correlation_decades) {
    return correlation_decades / (2 * std_ln_rho * std_ln_rho);
  }
  /// int (dm/dx)^2 or int (d2m/dx2)^2 of m - mean: the number that Occam makes small.
  double roughness(const std::vector<double>& m) const;
};

/// The least penalty that the values which `m` has for what is `fixed` leave to all others: what is
/// known costs it, whatever the data say. Penalties of these are told from it.
double least_penalty(const GaussianPrior& prior, const std::vector<bool>& fixed,
                     const std::vector<double>& m);

/// -2 ln p of the parameters that are not `fixed`, given the values that `m` has for those that
/// are, is penalty(m) minus this, up to a constant: ln det of their block of the precision, and the
/// least penalty that the fixed ones leave. `fixed` may be empty: ln det precision.
double log_normalization(const GaussianPrior& prior, const std::vector<bool>& fixed,
                         const std::vector<double>& m);

/// One draw mean + L^-T xi with precision = L L^T, for standard normal xi [n]; L is triangular up
/// to the order of the parameters.
std::vector<double> draw(const GaussianPrior& prior, const std::vector<double>& xi);

/// The prior of m with further independent parameters appended (static shift).
GaussianPrior append(GaussianPrior prior, double mean, double standard_deviation);

}  // namespace tessera::inversion
