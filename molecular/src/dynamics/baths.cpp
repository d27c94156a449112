// SPDX-License-Identifier: Apache-2.0
#include "dynamics/baths.h"

#include "dynamics/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

constexpr std::uint64_t numbers_of_a_draw = 1 << 12;

/// Gamma distribution of shape a >= 1/2, scale 1 (Marsaglia & Tsang, ACM Trans. Math. Softw. 26
/// (2000) 363).
double gamma_draw(double a, std::uint64_t seed, std::uint64_t& counter) {
  if (a < 1) {
    const double u = data::uniform({seed, rescaling}, counter++);
    return gamma_draw(a + 1, seed, counter) * std::pow(u, 1 / a);
  }
  const double d = a - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = data::normal({seed, rescaling}, counter++),
                 u = data::uniform({seed, rescaling}, counter++), v = 1 + c * x;
    if (v <= 0) continue;
    const double v3 = v * v * v;
    if (std::log(u) < 0.5 * x * x + d * (1 - v3 + std::log(v3))) return d * v3;
  }
}

double mass_of_link(std::size_t k, double freedom, double kt, double tau_t) {
  const double tau = tau_t / (2 * std::numbers::pi);
  return (k == 0 ? freedom : 1) * kt * tau * tau;
}

}  // namespace

double bussi_factor(double kinetic, double aim, double freedom, double ratio, std::uint64_t seed,
                    std::uint64_t draw) {
  if (!(kinetic > 0)) return 1;
  std::uint64_t counter = draw * numbers_of_a_draw;
  const double c = std::exp(-ratio), r = data::normal({seed, rescaling}, counter++);
  const double squares = freedom > 1 ? 2 * gamma_draw(0.5 * (freedom - 1), seed, counter) : 0;
  const double share = (1 - c) * aim / (freedom * kinetic);
  const double square = c + share * (r * r + squares) + 2 * r * std::sqrt(c * share);
  return std::sqrt(std::max(square, 0.0));
}

double nose_hoover_factor(double* bath, double kinetic, double freedom, double kt, double tau_t,
                          double t) {
  if (!(kt > 0)) return 1;  // a ramp from 0 K: chains have no mass yet
  constexpr std::size_t n = nose_hoover_length;
  double* eta = bath;
  double* v = eta + n;
  // Weights 1/(2 - 2^(1/3)), 1 - 2 w, w.
  const double w = 1 / (2 - std::cbrt(2.0));
  const int turns = std::max(
      1, static_cast<int>(std::ceil(150 * t / tau_t)));  // links turn over in tau_t, or faster
  double factor = 1, twice = 2 * kinetic;
  const auto push = [&](std::size_t k) {
    const double q = mass_of_link(k, freedom, kt, tau_t);
    return k == 0 ? (twice - freedom * kt) / q
                  : (mass_of_link(k - 1, freedom, kt, tau_t) * v[k - 1] * v[k - 1] - kt) / q;
  };
  for (int part = 0; part < 3 * turns; ++part) {
    const double h = (part % 3 == 1 ? 1 - 2 * w : w) * t / turns;
    const auto turn = [&](std::size_t k) {
      const double drag = k + 1 < n ? std::exp(-0.25 * h * v[k + 1]) : 1;
      v[k] = (v[k] * drag + 0.5 * h * push(k)) * drag;
    };
    for (std::size_t k = n; k-- > 0;) turn(k);
    const double s = std::exp(-h * v[0]);
    factor *= s;
    twice *= s * s;
    for (std::size_t k = 0; k < n; ++k) eta[k] += h * v[k];
    for (std::size_t k = 0; k < n; ++k) turn(k);
  }
  return factor;
}

double nose_hoover_energy(const double* bath, double freedom, double kt, double tau_t) {
  double sum = 0;
  for (std::size_t k = 0; k < nose_hoover_length; ++k) {
    const double v = bath[nose_hoover_length + k];
    sum +=
        0.5 * mass_of_link(k, freedom, kt, tau_t) * v * v + (k == 0 ? freedom : 1) * kt * bath[k];
  }
  return sum;
}

}  // namespace tessera::molecular
