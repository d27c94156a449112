// SPDX-License-Identifier: Apache-2.0
#include "vector_fitting.h"

#include "base/eigenvalues.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Least squares with columns brought to unit length first.
VectorXd solve_scaled(MatrixXd a, const VectorXd& b) {
  const VectorXd length = a.colwise().norm().transpose().cwiseMax(1e-300);
  a = a * length.cwiseInverse().asDiagonal();
  return a.colPivHouseholderQr().solve(b).cwiseQuotient(length);
}

/// Eigenvalues of A - b c^T/d in real arithmetic, one of each pair: the zeros of sigma.
Poles zeros_of_sigma(const Poles& poles, const VectorXd& c, double d) {
  const Index n = c.size();
  MatrixXd h = MatrixXd::Zero(n, n);
  VectorXd b = VectorXd::Zero(n);
  Index at = 0;
  for (const Complex& a : poles) {
    h(at, at) = a.real();
    b[at] = 1;
    if (is_pair(a)) {
      h(at, at + 1) = a.imag();
      h(at + 1, at) = -a.imag();
      h(at + 1, at + 1) = a.real();
      b[at] = 2;
      ++at;
    }
    ++at;
  }
  h -= b * c.transpose() / d;
  if (!h.allFinite()) return poles;
  Poles zeros;
  const Eigen::VectorXcd values = eigenvalues_of(h);
  for (Index k = 0; k < n; ++k) {
    const Complex z = values[k];
    if (z.imag() < 0) continue;  // its partner is there
    zeros.emplace_back(-std::abs(z.real()), z.imag());
  }
  return zeros;
}

}  // namespace

Poles starting_poles(const FitSamples& samples, int order) {
  double low = 1e300, high = 0;
  for (const Complex& s : samples.s) {
    low = std::min(low, std::abs(s));
    high = std::max(high, std::abs(s));
  }
  const int pairs = order / 2;
  const bool decades = high > 10 * low;
  Poles poles;
  for (int k = 0; k < pairs; ++k) {
    const double t = pairs > 1 ? k / (pairs - 1.0) : 0.5;
    const double w = decades ? low * std::pow(high / low, t) : low + (high - low) * t;
    poles.emplace_back(-0.01 * w, w);
  }
  if (order % 2) poles.emplace_back(-std::sqrt(low * high), 0.0);
  return poles;
}

Poles relocate(const FitSamples& samples, const Poles& poles, Background background) {
  const auto k = static_cast<Index>(samples.s.size());
  const Index n = basis_size(poles, true),
              middle = n + background.constant + background.pole_at_zero;
  MatrixXd a = MatrixXd::Zero(2 * k + 1, middle + n + 1);
  VectorXd right = VectorXd::Zero(2 * k + 1);
  double strength = 0;  // of the weighted data: the last row is to weigh as much
  for (Index row = 0; row < k; ++row) {
    const auto i = static_cast<std::size_t>(row);
    const Complex s = samples.s[i], f = samples.value[i];
    const double w = samples.weight[i];
    const auto put = [&](Index column, Complex value) {
      a(row, column) = w * value.real();
      a(k + row, column) = w * value.imag();
    };
    Index column = 0;
    for_each_basis(poles, s, true, [&](Complex phi) {
      put(column, phi);
      put(middle + column, -f * phi);
      a(2 * k, middle + column) += phi.real();
      ++column;
    });
    if (background.constant) put(n, 1.0);
    if (background.pole_at_zero) put(middle - 1, 1.0 / s);
    put(middle + n, -f);
    strength += std::norm(w * f);
  }
  a(2 * k, middle + n) = static_cast<double>(k);
  const double scale = std::sqrt(strength) / static_cast<double>(k);
  a.row(2 * k) *= scale;
  right[2 * k] = scale * static_cast<double>(k);

  const VectorXd x = solve_scaled(a, right);
  double d = x[middle + n];
  VectorXd c = x.segment(middle, n);
  if (!(std::abs(d) > 1e-8 && std::abs(d) < 1e8)) {  // fix it, as the unrelaxed method does
    d = d < 0 ? -1e-8 : 1e-8;
    if (std::abs(x[middle + n]) >= 1e8) d = d < 0 ? -1e8 : 1e8;
    right = -d * a.col(middle + n);
    right[2 * k] = 0;
    a.row(2 * k).setZero();
    c = solve_scaled(a.leftCols(middle + n), right).segment(middle, n);
  }
  return zeros_of_sigma(poles, c, d);
}

}  // namespace tessera::electromagnetics
