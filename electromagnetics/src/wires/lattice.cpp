// SPDX-License-Identifier: Apache-2.0
#include "wires/lattice.h"

#include <numbers>

namespace tessera::electromagnetics::wires {
namespace {

constexpr double asymptotic_from = 2000;

/// Hankel's series, for x far above n^2.
double scaled_bessel_far(int n, double x) {
  const double mu = 4.0 * n * n;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    const double next = -term * (mu - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
    if (k > n && std::abs(next) > std::abs(term)) break;
    term = next, sum += term;
    if (std::abs(term) < 1e-17) break;
  }
  return sum / std::sqrt(2 * std::numbers::pi * x);
}

}  // namespace

/// J. C. P. Miller's recurrence from far above, with I_0 + 2 (I_1 + I_2 + ..) = e^x.
std::vector<double> scaled_bessel(int most, double x) {
  std::vector<double> out(static_cast<std::size_t>(most) + 1, 0.0);
  if (x > asymptotic_from) {
    for (int n = 0; n <= most; ++n) out[static_cast<std::size_t>(n)] = scaled_bessel_far(n, x);
    return out;
  }
  if (x < 1e-12) {
    out[0] = 1;
    return out;
  }
  const int start = most + 20 + static_cast<int>(2 * std::sqrt(40 * x + 40));
  std::vector<double> all(static_cast<std::size_t>(start) + 2, 0.0);
  all[static_cast<std::size_t>(start)] = 1e-280;
  for (auto k = static_cast<std::size_t>(start); k > 0; --k) {
    all[k - 1] = all[k + 1] + 2 * static_cast<double>(k) / x * all[k];
    if (all[k - 1] > 1e250)
      for (std::size_t q = k - 1; q < all.size(); ++q) all[q] *= 1e-250;
  }
  double sum = all[0];
  for (std::size_t k = 1; k < all.size(); ++k) sum += 2 * all[k];
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = all[n] / sum;
  return out;
}

/// The trapezoidal rule over ln t: the integrand is analytic and falls off at both ends, as
/// t e^{..} and as t^{-1/2}.
void LatticePotential::integrate(const std::array<double, 3>& rate, double decay) {
  constexpr double step = 0.1, first = -40, last = 70;
  const std::size_t n = static_cast<std::size_t>(reach_) + 1;
  values_.assign(n * n * n, 0.0);
  const double unit = 2 / (rate[0] + rate[1] + rate[2]);
  for (double u = first; u < last; u += step) {
    const double t = unit * std::exp(u), weight = t * step * std::exp(-decay * t);
    if (weight == 0) break;
    std::array<std::vector<double>, 3> bessel;
    for (std::size_t d = 0; d < 3; ++d) bessel[d] = scaled_bessel(reach_, rate[d] * t);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) {
        const double f = weight * bessel[2][k] * bessel[1][j];
        for (std::size_t i = 0; i < n; ++i) values_[(k * n + j) * n + i] += f * bessel[0][i];
      }
  }
}

LatticePotential::LatticePotential(const std::array<double, 3>& a, int reach) : reach_(reach) {
  integrate({2 * a[0], 2 * a[1], 2 * a[2]}, 0);
}

/// With sin^2(k/2) = (1 - cos k)/2 the symbol is 1 - sum b + sum of b (1 + cos k)/2: that of the
/// other operator turned by k -> k + pi, which alternates the signs, and damped.
LatticePotential LatticePotential::of_steps(const std::array<double, 3>& b, int reach) {
  LatticePotential out;
  out.reach_ = reach;
  out.integrate({b[0] / 2, b[1] / 2, b[2] / 2}, 1 - (b[0] + b[1] + b[2]));
  const std::size_t n = static_cast<std::size_t>(reach) + 1;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i)
        if ((i + j + k) % 2 == 1) out.values_[(k * n + j) * n + i] *= -1;
  return out;
}

}  // namespace tessera::electromagnetics::wires
