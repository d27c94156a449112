// SPDX-License-Identifier: Apache-2.0
//
// What Ewald's sum takes off 1/r as polynomials in t = 2 s/rc^2 - 1, s = r^2. With z = beta^2 s
// both are entire functions of z:
//
//   erf(beta r)/r                   = beta g(z),    g(z) = 2/sqrt(pi) sum_k (-z)^k/(k! (2k + 1))
//   1/r^3 - F/r of erfc(beta r)/r   = beta^3 f(z),  f = -2 g'(z)
//
// by Chebyshev interpolation. The coefficients of t^n alternate in sign, so that at t = -1, where
// the sum is largest, nothing cancels.
#pragma once
#include "kernels/pair_kernels.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace tessera::molecular::pairs {

/// {g, f} at z.
inline std::array<long double, 2> ewald_shapes(long double z) {
  constexpr long double front = 2 * std::numbers::inv_sqrtpi_v<long double>;
  if (z < 1) {
    long double g = 0, f = 0, power = 1;  // power = (-z)^k/k!
    for (int k = 0; k < 30; ++k) {
      g += power / (2 * k + 1);
      f += 2 * power / (2 * k + 3);  // -2 d/dz of the term k + 1
      power *= -z / (k + 1);
    }
    return {front * g, front * f};
  }
  const long double root = std::sqrt(z), g = std::erf(root) / root;
  return {g, (g - front * std::exp(-z)) / z};
}

/// Coefficients of t^n of the polynomials for g (which = 0) or f (1) on z in [0, most]; as many as
/// a relative error of `tolerance` takes, but an even number, at least `least`.
inline std::vector<long double> ewald_series(int which, long double most, long double tolerance,
                                             int least) {
  using std::numbers::pi_v;
  constexpr int nodes = 96;
  std::array<long double, nodes> value, c{};
  for (int k = 0; k < nodes; ++k)
    value[static_cast<std::size_t>(k)] = ewald_shapes(
        most / 2 *
        (1 + std::cos(pi_v<long double> * (k + 0.5L) / nodes)))[static_cast<std::size_t>(which)];
  for (int n = 0; n < nodes; ++n) {
    long double sum = 0;
    for (int k = 0; k < nodes; ++k)
      sum +=
          value[static_cast<std::size_t>(k)] * std::cos(pi_v<long double> * n * (k + 0.5L) / nodes);
    c[static_cast<std::size_t>(n)] = (n == 0 ? 1 : 2) * sum / nodes;
  }
  int terms = least;
  const long double bound = tolerance * ewald_shapes(0)[static_cast<std::size_t>(which)];
  while (terms < nodes - 2 && std::abs(c[static_cast<std::size_t>(terms)]) +
                                      std::abs(c[static_cast<std::size_t>(terms) + 1]) >
                                  bound)
    terms += 2;
  // T_n in powers of t by T_{n+1} = 2 t T_n - T_{n-1}.
  const auto m = static_cast<std::size_t>(terms);
  std::vector<long double> sum(m, 0), before(m, 0), now(m, 0), next(m, 0);
  before[0] = 1;
  now[1] = 1;
  sum[0] = c[0];
  sum[1] = c[1];
  for (std::size_t n = 2; n < m; ++n) {
    next[0] = -before[0];
    for (std::size_t k = 1; k < m; ++k) next[k] = 2 * now[k - 1] - before[k];
    for (std::size_t k = 0; k < m; ++k) sum[k] += c[n] * next[k];
    before.swap(now);
    now.swap(next);
  }
  return sum;
}

/// Coefficients of t^n for beta g (which = 0) or beta^3 f (1) up to a radius, as kernels in T take
/// them, runs and derivatives alike; `by_t`: also those of the derivative by t.
template <class T>
std::vector<T> ewald_coefficients(int which, double beta, double radius,
                                  std::vector<T>* by_t = nullptr) {
  const long double most = beta * beta * radius * radius;
  const double factor = which == 0 ? beta : beta * beta * beta;
  const std::vector<long double> c =
      ewald_series(which, most, sizeof(T) == 4 ? 2e-8 : 1e-17, short_terms);
  std::vector<T> out;
  for (const long double v : c) out.push_back(static_cast<T>(v * factor));
  for (std::size_t k = 1; by_t && k < c.size(); ++k)
    by_t->push_back(static_cast<T>(static_cast<long double>(k) * c[k] * factor));
  return out;
}

}  // namespace tessera::molecular::pairs
