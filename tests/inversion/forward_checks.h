// SPDX-License-Identifier: Apache-2.0
// Derivatives of a ForwardMap against those of another, and against what steps find.
#pragma once
#include "tessera/inversion/forward_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

namespace tessera::inversion {

inline std::vector<double> logs(std::vector<double> v) {
  for (double& x : v) x = std::log(x);
  return v;
}

/// Weights by which every datum counts about alike, but no two the same.
inline std::vector<double> uneven_weights(const std::vector<double>& d) {
  std::vector<double> y(d.size());
  for (std::size_t i = 0; i < d.size(); ++i)
    y[i] = (1 + 0.3 * std::sin(1.7 * static_cast<double>(i))) / std::abs(d[i]);
  return y;
}

/// Least-squares slope of log y against log x.
inline double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const double n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = std::log(x[k]), b = std::log(y[k]);
    sx += a;
    sy += b;
    sxx += a * a;
    sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// What remains of sum_i y_i (F_i(m + t w) - F_i(m)) after its Taylor series falls as t^2 with the
/// Jacobian (steps from 0.1 over four decades) and as t^3 with the Hessian too (over three).
/// The direction w should change the responses alike, so that the third-order remainder stands
/// well above the rounding of the data's sum.
inline void expect_taylor_slopes(const ForwardMap& forward, const std::vector<double>& m,
                                 const std::vector<double>& w, const std::vector<double>& y) {
  const auto d = forward.predict(m);
  const Matrix jacobian = forward.jacobian(m), hessian = forward.hessian(m, y);
  double first = 0, second = 0;
  for (std::size_t j = 0; j < m.size(); ++j) {
    for (std::size_t i = 0; i < d.size(); ++i) first += y[i] * jacobian(i, j) * w[j];
    for (std::size_t k = 0; k < m.size(); ++k) second += w[j] * hessian(j, k) * w[k];
  }
  const auto slope = [&](int decades, bool with_second) {
    std::vector<double> steps, remainders;
    for (int k = 0; k <= 4 * decades; ++k) {
      const double t = 0.1 * std::pow(10.0, -0.25 * k);
      auto x = m;
      for (std::size_t j = 0; j < m.size(); ++j) x[j] += t * w[j];
      const auto p = forward.predict(x);
      double change = 0;
      for (std::size_t i = 0; i < p.size(); ++i) change += y[i] * (p[i] - d[i]);
      steps.push_back(t);
      remainders.push_back(std::abs(change - t * first - (with_second ? 0.5 * t * t * second : 0)));
    }
    return log_slope(steps, remainders);
  };
  const double by_jacobian = slope(4, false), by_hessian = slope(3, true);
  std::cout << "Taylor slope " << by_jacobian << ", with the Hessian " << by_hessian << "\n";
  EXPECT_NEAR(by_jacobian, 2.0, 0.05);
  EXPECT_NEAR(by_hessian, 3.0, 0.05);
}

inline void expect_taylor_slopes(const ForwardMap& forward, const std::vector<double>& m,
                                 const std::vector<double>& w) {
  expect_taylor_slopes(forward, m, w, uneven_weights(forward.predict(m)));
}

/// Weights by which third derivatives along w of all data add up.
inline std::vector<double> third_order_weights(const ForwardMap& f, const std::vector<double>& m,
                                               const std::vector<double>& w, double step = 0.05) {
  const auto at = [&](double t) {
    auto x = m;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * step * w[k];
    return f.predict(x);
  };
  const auto a = at(-2), b = at(-1), c = at(1), d = at(2);
  std::vector<double> y = uneven_weights(at(0));
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = std::copysign(y[i], d[i] - 2 * c[i] + 2 * b[i] - a[i]);
  return y;
}

}  // namespace tessera::inversion
