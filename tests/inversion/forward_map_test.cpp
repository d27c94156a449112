// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_map.h"

#include "oracle_forward.h"
#include "synthetic_sounding.h"
#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>

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

const std::vector<double> model{std::log(100.0), std::log(8.0), std::log(700.0)};
ForwardMap physics() {
  return oracle::layered_forward(oracle::log_frequencies(1e-2, 100, 7), {300.0, 900.0});
}

TEST(ForwardMap, OracleDerivatives) { check_derivatives(physics(), model); }

TEST(ForwardMap, StaticShiftIsARealFactor) {
  auto m = model;
  m.push_back(0.3);
  const ForwardMap shifted = with_static_shift(physics());
  check_derivatives(shifted, m);
  const auto a = physics().predict(model), b = shifted.predict(m);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(b[i], std::exp(0.3) * a[i], 1e-14 * std::abs(b[i]));
}

TEST(ForwardMap, BoundsMapStaysInsideAndDifferentiates) {
  const double lo = std::log(1.0), hi = std::log(1000.0);
  const auto x = model_to_bounded(model, lo, hi, 3);
  const auto back = bounded_to_model(x, lo, hi, 3);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(back[j], model[j], 1e-12);
  for (double v : bounded_to_model({-700, 0, 700}, lo, hi, 3)) {
    EXPECT_GE(v, lo);
    EXPECT_LE(v, hi);
  }
  check_derivatives(with_bounds(physics(), lo, hi, 3), x);
  EXPECT_THROW(with_bounds(physics(), hi, lo, 3), Error);
}

}  // namespace
}  // namespace tessera::inversion
