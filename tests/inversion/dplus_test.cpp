// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/dplus.h"

#include "synthetic_sounding.h"
#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera::inversion {
namespace {

struct Earth {
  std::vector<double> rho, h;
};

Earth random_earth(std::mt19937_64& random) {
  std::uniform_real_distribution<double> u(0, 1);
  Earth e;
  const int layers = 1 + static_cast<int>(6 * u(random));
  for (int j = 0; j < layers; ++j) e.rho.push_back(std::pow(10.0, -1 + 5 * u(random)));
  for (int j = 0; j + 1 < layers; ++j) e.h.push_back(std::pow(10.0, 1 + 3.5 * u(random)));
  return e;
}

Response sounding_of(const Earth& e, const std::vector<double>& f, double noise,
                     std::mt19937_64& random) {
  return oracle::synthetic(f, e.rho, e.h, 0.05, noise, random);
}

double chi2(const Response& r, const std::vector<std::complex<double>>& z) {
  double sum = 0;
  for (std::size_t i = 0; i < r.size(); ++i)
    sum += std::norm((r.impedance_ohm[i] - z[i]) / r.sigma_ohm[i]);
  return sum;
}

TEST(Dplus, OneFrequencyByHand) {
  // Re Z and Im Z can be any two numbers >= 0 at one frequency; a negative real part cannot be met.
  const Response good{{1.0}, {{3.0, 2.0}}, {1.0}}, bad{{1.0}, {{-3.0, 2.0}}, {1.0}};
  EXPECT_NEAR(dplus(good).chi2, 0.0, 1e-9);
  const DplusResult r = dplus(bad);
  EXPECT_NEAR(r.chi2, 9.0, 1e-9);
  EXPECT_NEAR(r.chi2_lower, 9.0, 1e-6);
  EXPECT_NEAR(r.rms, std::sqrt(4.5), 1e-9);
}

TEST(Dplus, SheetsAreFittedExactly) {
  const std::vector<double> lambda{0.01, 0.3, 20.0}, weight{40.0, 300.0, 4000.0};
  Response r;
  r.frequency_hz = oracle::log_frequencies(1e-3, 1e3, 31);
  r.impedance_ohm = dplus_impedance(r.frequency_hz, 120.0, lambda, weight);
  for (const auto& z : r.impedance_ohm) r.sigma_ohm.push_back(0.05 * std::abs(z));
  const DplusResult d = dplus(r);
  EXPECT_TRUE(d.converged);
  EXPECT_LT(d.chi2, 1e-8);
  EXPECT_LT(chi2(r, d.impedance_ohm), 1e-8);
}

TEST(Dplus, NoLayeredEarthIsBelowTheBound) {
  std::mt19937_64 random(7);
  const auto f = oracle::log_frequencies(1e-3, 500, 37);
  for (int trial = 0; trial < 25; ++trial) {
    const Earth truth = random_earth(random);
    const Response clean = sounding_of(truth, f, 0.0, random);
    EXPECT_LT(dplus(clean).chi2, 1e-7) << "an earth's own response";
    const Response noisy = sounding_of(truth, f, 1.0, random);
    const DplusResult d = dplus(noisy);
    ASSERT_TRUE(d.converged);
    EXPECT_LE(d.chi2 - d.chi2_lower, 1e-6 * d.chi2);
    EXPECT_NEAR(chi2(noisy, d.impedance_ohm), d.chi2, 1e-8 * d.chi2);
    for (int other = 0; other < 50; ++other) {
      const Earth e = other ? random_earth(random) : truth;
      std::vector<std::complex<double>> z;
      for (double x : f) z.push_back(oracle::layered_impedance(x, e.rho, e.h).z);
      EXPECT_LE(d.chi2_lower, chi2(noisy, z));
    }
  }
}

// The optimality conditions on a grid far finer than the solver's: no relaxation rate improves the
// fit. Written with complex numbers and without the solver's scaling.
TEST(Dplus, ResidualHasNoDescentDirection) {
  std::mt19937_64 random(11);
  const auto f = oracle::log_frequencies(3e-4, 700, 42);
  const Response r = sounding_of(random_earth(random), f, 3.0, random);
  const DplusResult d = dplus(r);
  ASSERT_GT(d.chi2, 1.0);
  for (double log_lambda = -10; log_lambda < 10; log_lambda += 0.001) {
    double slope = 0, length = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const std::complex<double> iw(0, 2 * std::numbers::pi * f[i]);
      const auto phi = iw / (std::pow(10.0, log_lambda) + iw) / r.sigma_ohm[i];
      const auto res = (r.impedance_ohm[i] - d.impedance_ohm[i]) / r.sigma_ohm[i];
      slope += (std::conj(phi) * res).real();
      length += std::norm(phi);
    }
    EXPECT_LE(slope / std::sqrt(length), 1e-6 * std::sqrt(d.chi2)) << log_lambda;
  }
}

// Coordinate descent on a fixed grid of rates: a different algorithm for a slightly larger minimum.
TEST(Dplus, AgreesWithCoordinateDescent) {
  std::mt19937_64 random(5);
  const auto f = oracle::log_frequencies(1e-2, 100, 12);
  const Response r = sounding_of({{100, 10, 1000}, {500, 3000}}, f, 4.0, random);
  std::vector<std::vector<std::complex<double>>> columns;
  std::vector<std::complex<double>> residual;
  for (std::size_t i = 0; i < r.size(); ++i)
    residual.push_back(r.impedance_ohm[i] / r.sigma_ohm[i]);
  for (double log_lambda = -6; log_lambda <= 8; log_lambda += 0.05) {
    std::vector<std::complex<double>> c;
    double length = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const std::complex<double> iw(0, 2 * std::numbers::pi * f[i]);
      c.push_back(iw / (std::pow(10.0, log_lambda) + iw) / r.sigma_ohm[i]);
      length += std::norm(c.back());
    }
    for (auto& v : c) v /= std::sqrt(length);
    columns.push_back(c);
  }
  std::vector<double> x(columns.size(), 0.0);
  for (int sweep = 0; sweep < 20000; ++sweep)
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double g = 0;
      for (std::size_t i = 0; i < r.size(); ++i)
        g += (std::conj(columns[j][i]) * residual[i]).real();
      const double step = std::max(g, -x[j]);
      x[j] += step;
      for (std::size_t i = 0; i < r.size(); ++i) residual[i] -= step * columns[j][i];
    }
  double value = 0;
  for (const auto& v : residual) value += std::norm(v);
  const DplusResult d = dplus(r);
  EXPECT_LE(d.chi2_lower, value);
  EXPECT_NEAR(d.chi2, value, 0.01 * value);  // the grid's spacing and the descent's slow end
}

TEST(Dplus, RefusesWhatIsNotASounding) {
  EXPECT_THROW(dplus({}), Error);
  EXPECT_THROW(dplus({{1.0}, {{1.0, 1.0}}, {0.0}}), Error);
  EXPECT_THROW(dplus({{-1.0}, {{1.0, 1.0}}, {1.0}}), Error);
  EXPECT_THROW(dplus({{1.0, 2.0}, {{1.0, 1.0}}, {1.0}}), Error);
}

}  // namespace
}  // namespace tessera::inversion
