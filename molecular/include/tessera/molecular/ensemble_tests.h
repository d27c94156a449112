// SPDX-License-Identifier: Apache-2.0
//
// Whether samples of a run belong to the ensemble that they should (Shirts, J. Chem. Theory Comput.
// 9 (2013) 909; Merz & Shirts, PLoS ONE 13 (2018) e0202764).
//
//   kinetic energies   K/kT has the gamma distribution of shape N/2 for N degrees of freedom
//                      (velocities: Energies::sampled)
//   pairs of runs      ln P_b(x)/P_a(x) = c + slope x, whatever the density of states is:
//                      two temperatures: x = U (NVT) or U + P V (NPT), slope 1/kT_a - 1/kT_b
//                      two pressures:    x = V, slope (P_a - P_b)/kT
//
// Tests take samples that are independent of each other: `independent` thins a series.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tessera::molecular {

/// g = 1 + 2 sum_t (1 - t/n) C(t), C the autocorrelation up to its first value below zero (Chodera
/// et al., J. Chem. Theory Comput. 3 (2007) 26); at least 1.
double statistical_inefficiency(std::span<const double> series);
/// Every ceil(stride)-th of a series.
std::vector<double> thinned(std::span<const double> series, double stride);

struct DistributionTest {
  double statistic = 0;  ///< largest distance of the distribution functions
  double p = 0;          ///< how often independent samples are as far off or farther
  std::size_t samples = 0;
};
/// Kolmogorov and Smirnov's test. Throws Error for fewer than 20 samples.
DistributionTest kinetic_distribution(std::span<const double> kinetic, double degrees_of_freedom,
                                      double temperature_k);

struct PairTest {
  double slope = 0,
         error =
             0;  ///< of ln P_b/P_a, by maximum likelihood; standard error by Fisher's information
  double expected = 0;
  double deviations() const { return (slope - expected) / error; }
};
/// Throws Error where the samples do not overlap (a separation by which the slope is infinite).
PairTest log_ratio_test(std::span<const double> a, std::span<const double> b,
                        double expected_slope);

/// P(a, x) = gamma(a, x)/Gamma(a), the distribution function of the gamma distribution.
double gamma_distribution(double a, double x);

}  // namespace tessera::molecular
