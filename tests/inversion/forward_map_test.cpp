// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_map.h"

#include "forward_checks.h"
#include "oracle_forward.h"
#include "synthetic_sounding.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/inversion/forward_1d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::inversion {
namespace {

/// Jacobian and Hessian against central differences of the level below.
void check_derivatives(const ForwardMap& f, const std::vector<double>& x) {
  const double step = 1e-5;
  const Matrix jacobian = f.jacobian(x);
  std::vector<double> y(f.n_data);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<double>(i));
  const Matrix hessian = f.hessian(x, y);
  double scale = 0, scale2 = 0;
  for (double v : jacobian.values) scale = std::max(scale, std::abs(v));
  for (double v : hessian.values) scale2 = std::max(scale2, std::abs(v));
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto up = x, down = x;
    up[k] += step;
    down[k] -= step;
    const auto a = f.predict(up), b = f.predict(down);
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(jacobian(i, k), (a[i] - b[i]) / (2 * step), 1e-8 * scale) << i << ' ' << k;
    const Matrix ja = f.jacobian(up), jb = f.jacobian(down);
    for (std::size_t j = 0; j < x.size(); ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * (ja(i, j) - jb(i, j)) / (2 * step);
      EXPECT_NEAR(hessian(j, k), sum, 1e-7 * scale2) << j << ' ' << k;
    }
  }
}

const std::vector<double> model = logs({100, 8, 700}), thickness{300, 900};
const std::vector<double> seven_frequencies = oracle::log_frequencies(1e-2, 100, 7);
const Bounds bounds{std::log(1.0), std::log(1000.0)};
ForwardMap physics() { return oracle::layered_forward(seven_frequencies, thickness); }

TEST(ForwardMap, OracleDerivatives) { check_derivatives(physics(), model); }

TEST(ForwardMap, StaticShiftIsARealFactor) {
  const ForwardMap plain = layered_forward(seven_frequencies, thickness),
                   shifted = layered_forward(seven_frequencies, thickness, {.static_shift = true});
  auto m = model;
  m.push_back(0.3);
  check_derivatives(shifted, m);
  const auto a = plain.predict(model), b = shifted.predict(m);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(b[i], std::exp(0.3) * a[i], 1e-14 * std::abs(b[i]));
  m.back() = 0;
  EXPECT_EQ(shifted.predict(m), a);
  check_derivatives(shifted, m);
}

TEST(ForwardMap, BoundsMapStaysInsideAndDifferentiates) {
  const auto x = model_to_bounded(model, bounds, 3);
  const auto back = bounded_to_model(x, bounds, 3);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(back[j], model[j], 1e-12);
  for (double v : bounded_to_model({-700, 0, 700}, bounds, 3)) {
    EXPECT_GE(v, bounds.lower);
    EXPECT_LE(v, bounds.upper);
  }
  EXPECT_EQ(bounded_to_model({0.5, -7.25}, bounds, 1)[1], -7.25);
  check_derivatives(layered_forward(seven_frequencies, thickness, {.ln_rho_bounds = bounds}), x);
}

// The prediction of x is that of the model that x stands for, and that is what is reported.
TEST(ForwardMap, WhatIsPredictedIsThatOfTheModelInsideTheBounds) {
  const std::vector<double> x{-3, 0.2, 5};
  EXPECT_EQ(layered_forward(seven_frequencies, thickness, {.ln_rho_bounds = bounds}).predict(x),
            layered_forward(seven_frequencies, thickness).predict(bounded_to_model(x, bounds, 3)));
}

TEST(ForwardMap, TheBandPassMapHasAThirdDerivative) {
  const auto f = [](Tensor x) {
    return bounded(x, full({}, bounds.lower), full({}, bounds.upper));
  };
  const double x = 0.7, p = 1 / (1 + std::exp(-x)), q = 1 - p, width = bounds.upper - bounds.lower;
  EXPECT_NEAR(grad(grad(grad(f)))(full({}, x)).item(), width * p * q * (1 - 6 * p * q), 1e-14);
}

TEST(ForwardMap, BoundsThatAreNoneAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const Bounds& wrong :
       {Bounds{1, 1}, Bounds{2, 1}, Bounds{nan, 1}, Bounds{0, infinity}, Bounds{-infinity, 0}}) {
    EXPECT_THROW(layered_forward(seven_frequencies, thickness, {.ln_rho_bounds = wrong}), Error);
    EXPECT_THROW(layered_forward_free(seven_frequencies, 3, {.ln_rho_bounds = wrong}), Error);
  }
}

/// One way to state a layered earth, for the engine and with chain rules by hand.
struct Stated {
  const char* name;
  std::vector<double> frequency, thickness;
  bool free_thickness;
  LayeredParameters how;
  std::vector<double> m;

  ForwardMap engine() const {
    return free_thickness ? layered_forward_free(frequency, layers(), how)
                          : layered_forward(frequency, thickness, how);
  }
  ForwardMap by_hand() const {
    ForwardMap f = oracle::layered_forward(frequency, thickness, free_thickness);
    if (const auto& b = how.ln_rho_bounds)
      f = oracle::with_bounds(f, b->lower, b->upper, thickness.size() + 1);
    return how.static_shift ? oracle::with_static_shift(f) : f;
  }
  int layers() const { return static_cast<int>(thickness.size()) + 1; }
};

std::vector<Stated> statements() {
  const LayeredParameters between{.ln_rho_bounds = bounds}, shifted{.static_shift = true},
      both{.ln_rho_bounds = bounds, .static_shift = true};
  const std::vector<double> one{3.0};
  return {
      {"bounds", seven_frequencies, thickness, false, between, {0.9, -0.4, 2}},
      {"shift", seven_frequencies, thickness, false, shifted, {4.6, 2.1, 6.6, -0.3}},
      {"both", seven_frequencies, thickness, false, both, {0.9, -0.4, 2, 0.25}},
      {"at the bounds", seven_frequencies, thickness, false, both, {-600, 0.3, 40, 0}},
      {"beside the bounds", seven_frequencies, thickness, false, both, {-13.8, 13.8, 1, -2}},
      {"free thicknesses",
       seven_frequencies,
       thickness,
       true,
       both,
       {0.9, -0.4, 2, 5.7, 6.8, 0.25}},
      {"one layer, one frequency", one, {}, false, both, {0.4, 0.1}},
      {"one free layer", one, {}, true, both, {-1.4, 0.1}},
      {"one layer at a bound", one, {}, false, between, {40}},
  };
}

TEST(ForwardMap, BoundsAndStaticShiftAgreeWithChainRulesByHandUpToSecondDerivatives) {
  for (const Stated& s : statements()) {
    SCOPED_TRACE(s.name);
    const ForwardMap a = s.engine(), b = s.by_hand();
    ASSERT_EQ(a.n_parameters, b.n_parameters);
    ASSERT_EQ(a.n_data, b.n_data);
    const std::size_t n = a.n_parameters;
    ASSERT_EQ(s.m.size(), n);
    const auto d = a.predict(s.m), expected = b.predict(s.m), y = uneven_weights(expected);
    const Matrix ja = a.jacobian(s.m), jb = b.jacobian(s.m);
    std::vector<double> scale(n, 0.0);  // of d ln Z / dm_j, as small as it is at a bound
    for (std::size_t i = 0; i < d.size(); ++i) {
      EXPECT_NEAR(d[i], expected[i], 1e-13 * std::abs(expected[i]));
      for (std::size_t j = 0; j < n; ++j) scale[j] = std::max(scale[j], std::abs(y[i] * jb(i, j)));
    }
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < d.size(); ++i)
        EXPECT_NEAR(y[i] * ja(i, j), y[i] * jb(i, j), 1e-12 * scale[j]) << i << ' ' << j;
    // by_hand takes differences of Jacobians for the layers' own second derivatives.
    const Matrix ha = a.hessian(s.m, y), hb = b.hessian(s.m, y);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_NEAR(ha(j, k), hb(j, k), 1e-6 * scale[j] * (j == k ? 1 : scale[k])) << j << ' ' << k;
  }
}

TEST(ForwardMap, TaylorRemaindersWithBoundsAndStaticShift) {
  for (const Stated& s : statements()) {
    const bool at_a_bound =
        std::any_of(s.m.begin(), s.m.end(), [](double x) { return std::abs(x) > 10; });
    if (at_a_bound) continue;  // no step is seen there
    SCOPED_TRACE(s.name);
    std::vector<double> w(s.m.size(), 1.0);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += 0.2 * std::cos(3.0 * static_cast<double>(j));
    expect_taylor_slopes(s.engine(), s.m, w);
  }
}

}  // namespace
}  // namespace tessera::inversion
