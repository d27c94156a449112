// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/index_fit.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/medium_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

Medium with(std::vector<std::vector<PoleResidue>> terms, double eps = 1, double sigma = 0) {
  Medium m{.name = "known", .eps = {eps, eps, eps}, .sigma = {sigma, sigma, sigma}};
  for (const auto& t : terms) m.poles.insert(m.poles.end(), t.begin(), t.end());
  return m;
}

IndexTable table_of(const Medium& m, double f_lo, double f_hi, int n) {
  IndexTable t{.name = m.name};
  for (int k = 0; k < n; ++k) {
    t.f_hz.push_back(f_lo * std::pow(f_hi / f_lo, k / (n - 1.0)));
    t.eps.push_back(permittivity(m, 0, t.f_hz.back()));
  }
  return t;
}

/// Largest relative difference beyond the data too.
double difference(const Medium& a, const Medium& b, double f_lo, double f_hi) {
  double worst = 0;
  for (int k = 0; k <= 300; ++k) {
    const double f = f_lo * std::pow(f_hi / f_lo, k / 300.0);
    const auto want = permittivity(b, 0, f);
    worst = std::max(worst, std::abs(permittivity(a, 0, f) - want) / std::abs(want));
  }
  return worst;
}

TEST(IndexFit, KnownMediaComeBack) {
  struct Case {
    const char* what;
    Medium medium;
    int order;
    bool conducting;
  };
  const Case cases[] = {
      {"debye", with({debye(3e14, 2)}, 1.5), 1, false},
      {"lorentz", with({lorentz(4e14, 5e13, 1.5)}, 2), 2, false},
      {"two lines", with({lorentz(3e14, 2e13, 0.8), lorentz(7e14, 9e13, 2)}, 1.2), 4, false},
      {"over-damped", with({lorentz(2e14, 9e14, 1.5)}, 2), 2, false},
      {"conductor", with({}, 3, 2e3), 1, true},
      {"drude", with({drude(2e15, 3e13)}, 4), 1, true},
      {"metal", with({drude(2e15, 3e13), lorentz(6e14, 2e14, 3)}, 1.5), 3, true},
      {"lossless line beyond the band", with({lorentz(3e15, 0, 1.2)}, 1), 2, false},
  };
  for (const Case& c : cases) {
    const FittedMedium fit = fit_medium(table_of(c.medium, 1e14, 1e15, 80),
                                        {.tolerance = 1e-10, .conducting = c.conducting});
    EXPECT_TRUE(fit.report.reached) << c.what << " " << fit.report.rms;
    EXPECT_EQ(fit.report.order, c.order) << c.what;
    EXPECT_TRUE(fit.report.passive) << c.what;
    EXPECT_LT(fit.report.rms, 1e-11) << c.what;
    // The poles themselves are right: the fit holds two octaves outside the data as well.
    EXPECT_LT(difference(fit.medium, c.medium, 3e13, 2.5e15), 1e-7) << c.what;
  }
}

TEST(IndexFit, ASellmeierGlassStaysLossless) {
  // Fused silica, Malitson 1965, from n alone: two lines in the ultraviolet, one in the infrared.
  IndexTable t{.name = "silica"};
  for (double um = 2.2; um > 0.35; um -= 0.02) {
    const double l = um * um;
    t.f_hz.push_back(299792458.0 / (um * 1e-6));
    t.eps.push_back(1 + 0.6961663 * l / (l - std::pow(0.0684043, 2)) +
                    0.4079426 * l / (l - std::pow(0.1162414, 2)) +
                    0.8974794 * l / (l - std::pow(9.896161, 2)));
  }
  const FittedMedium fit = fit_medium(t, {.tolerance = 1e-9});
  EXPECT_TRUE(fit.report.reached);
  EXPECT_LE(fit.report.order, 6);
  for (const MediumFinding& f : check_medium(fit.medium)) ADD_FAILURE() << to_string(f);
  EXPECT_LT(std::abs(permittivity(fit.medium, 0, 3e14).imag()), 1e-9);
}

TEST(IndexFit, NoiseDoesNotMakeItAmplify) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  const Medium truth = with({drude(2.1e15, 2e13), lorentz(7e14, 2e14, 2)}, 2);
  for (int trial = 0; trial < 3; ++trial) {
    IndexTable noisy = table_of(truth, 2e14, 1e15, 120);
    for (auto& e : noisy.eps) {
      const double re = normal(random), im = normal(random);
      e *= 1.0 + 0.02 * std::complex<double>(re, im);
    }
    // 2 % in each part are sqrt(2) * 2 % = 2.8 % in the modulus: a tolerance of 3 % stops at the
    // model, whose 7 numbers 240 fix to 2.8 % sqrt(7/240) = 0.5 %, four times that at its worst.
    const FittedMedium fit = fit_medium(noisy, {.tolerance = 0.03, .conducting = true});
    EXPECT_TRUE(fit.report.reached);
    EXPECT_EQ(fit.report.order, 3);
    EXPECT_LT(difference(fit.medium, truth, 2e14, 1e15), 0.02);
    // More poles fit noise, with narrow lines of either sign if nothing holds them.
    const FittedMedium greedy =
        fit_medium(noisy, {.tolerance = 0, .most_order = 9, .conducting = true});
    EXPECT_LT(greedy.report.rms, fit.report.rms);
    for (const FittedMedium* f : {&fit, &greedy}) {
      EXPECT_TRUE(f->report.passive);
      EXPECT_GE(f->medium.eps[0], 1);
      for (const MediumFinding& finding : check_medium(f->medium))
        EXPECT_NE(finding.severity, data::Severity::error) << to_string(finding);
    }
  }
}

// Data that no passive medium has: the free fit amplifies, the constrained one is the best that
// does not. Scaling all residues down would be far worse.
TEST(IndexFit, GainInTheDataIsHeldAtZero) {
  const Medium active = with({lorentz(5e14, 5e13, 1), lorentz(8e14, 4e13, -0.15)}, 2.25);
  const IndexTable t = table_of(active, 2e14, 1.2e15, 150);
  const FittedMedium free = fit_medium(t, {.least_order = 4, .most_order = 4, .passive = false});
  EXPECT_FALSE(free.report.passive);
  EXPECT_LT(free.report.rms, 1e-9);
  const FittedMedium held = fit_medium(t, {.least_order = 4, .most_order = 4});
  EXPECT_TRUE(held.report.passive);
  EXPECT_TRUE(held.report.constrained);
  EXPECT_TRUE(check_medium(held.medium).empty());
  // The least squares of the data with Im eps cut at zero are met about as well.
  double im_part = 0;
  for (const auto& e : t.eps) im_part += std::norm(std::max(e.imag(), 0.0) / std::abs(e));
  const double floor = std::sqrt(im_part / static_cast<double>(t.eps.size()));
  EXPECT_GT(held.report.rms, floor);
  EXPECT_LT(held.report.rms, 4 * floor);
}

TEST(IndexFit, BackgroundIsHeldAtItsLeastValue) {
  const Medium low = with({lorentz(5e14, 5e13, 1)}, 0.6);
  const IndexTable t = table_of(low, 2e14, 1.2e15, 60);
  EXPECT_NEAR(fit_medium(t, {.tolerance = 1e-9, .least_eps_inf = 0.1}).medium.eps[0], 0.6, 1e-8);
  const FittedMedium held = fit_medium(t, {.tolerance = 1e-9, .most_order = 4});
  EXPECT_GE(held.medium.eps[0], 1.0);
  EXPECT_TRUE(held.report.passive);
}

TEST(IndexFit, MorePolesUntilTheToleranceIsMet) {
  const Medium m = with({lorentz(3e14, 2e13, 0.8), lorentz(5e14, 9e13, 1), lorentz(8e14, 9e13, 2)});
  const FittedMedium fit = fit_medium(table_of(m, 1e14, 1.2e15, 100), {.tolerance = 1e-8});
  EXPECT_EQ(fit.report.order, 6);
  ASSERT_EQ(fit.report.rms_by_order.size(), 6u);
  EXPECT_GT(fit.report.rms_by_order[3], 1e-3);
  const FittedMedium few =
      fit_medium(table_of(m, 1e14, 1.2e15, 100), {.tolerance = 1e-8, .most_order = 3});
  EXPECT_FALSE(few.report.reached);
  EXPECT_GE(few.report.max_error, few.report.rms);
}

TEST(IndexFit, RefusesWhatCannotBeFitted) {
  EXPECT_THROW(fit_medium({}), Error);
  EXPECT_THROW(fit_medium({"x", {1e14}, {2.0}}), Error);
  EXPECT_THROW(fit_medium({"x", {1e14, 2e14}, {2.0}}), Error);
  EXPECT_THROW(fit_medium({"x", {1e14, -1, 3e14}, {2.0, 2.0, 2.0}}), Error);
  EXPECT_THROW(fit_medium({"x", {1e14, 2e14, 3e14}, {2.0, NAN, 2.0}}), Error);
  EXPECT_THROW(fit_medium({"x", {1e14, 2e14, 3e14}, {2.0, 2.0, 2.0}}, {.least_order = 0}), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
