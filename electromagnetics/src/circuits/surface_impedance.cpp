// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/surface_impedance.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/solvers/nnls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

/// What is taken off 2 sqrt(s) by a rough surface: its real part, in units of sqrt(s), where
/// roughness and skin depth are equal at w = 1.
double spared(double w) { return (1 - 2 / pi * std::atan(1.4 * w)) * std::sqrt(w / 2); }

/// sqrt(s) at s = i w with a real part that is greater by 1 + 2/pi atan(1.4 w/equal), and the
/// imaginary part that goes with it by causality (Kramers and Kronig):
/// X(w) = 2 w/pi P integral of R(x)/(x^2 - w^2) dx over x > 0.
std::complex<double> rough_root(double w, double equal) {
  const double here = w / equal, own = spared(here);
  constexpr double step = 0.02, furthest = 25;  // of log x
  double sum = 0;
  for (int k = -int(furthest / step); k <= int(furthest / step); ++k) {
    const double x = here * std::exp((k + 0.5) * step);
    sum += (spared(x) - own) / (x * x - here * here) * x * step;
  }
  const std::complex<double> less(own, 2 * here / pi * sum);
  return 2.0 * std::sqrt(std::complex<double>(0, w)) - std::sqrt(equal) * less;
}

/// sqrt(s), of a rough surface that of `equal`, from s = i low to i high by `n` branches, in units
/// of sqrt(s).
SurfaceImpedance fitted_root(double low, double high, int n, double equal) {
  constexpr std::size_t samples = 61;
  std::vector<double> rates;  // a decade beyond the band at both ends
  for (int k = 0; k < n; ++k)
    rates.push_back(0.15 * low *
                    std::pow(high / low / (0.15 * 0.15), n > 1 ? double(k) / (n - 1) : 0.5));
  const double scale = std::sqrt(low * high);
  const auto columns = rates.size() + 2;
  std::vector<double> a(columns * 2 * samples), b(2 * samples, 0.0);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::complex<double> s(0, low * std::pow(high / low, double(i) / (samples - 1))),
        root = equal > 0 ? rough_root(s.imag(), equal) : std::sqrt(s);
    const auto put = [&](std::size_t column, std::complex<double> value) {
      value /= root * std::sqrt(double(samples));
      a[(column * samples + i) * 2] = value.real(),
                                 a[(column * samples + i) * 2 + 1] = value.imag();
    };
    put(0, std::sqrt(scale)), put(1, s / std::sqrt(scale));
    for (std::size_t k = 0; k < rates.size(); ++k)
      put(2 + k, std::sqrt(rates[k]) * s / (s + rates[k]));
    b[2 * i] = 1 / std::sqrt(double(samples));
  }
  const solvers::NnlsResult fit = solvers::nnls(a, b, 1e-12);
  SurfaceImpedance out{.resistance_ohm = fit.x[0] * std::sqrt(scale),
                       .inductance_h = fit.x[1] / std::sqrt(scale)};
  for (std::size_t k = 0; k < rates.size(); ++k)
    if (fit.x[2 + k] > 0) out.branches.push_back({rates[k], fit.x[2 + k] * std::sqrt(rates[k])});
  for (std::size_t i = 0; i < samples; ++i)
    out.error = std::max(out.error, std::sqrt(double(samples)) *
                                        std::hypot(fit.residual[2 * i], fit.residual[2 * i + 1]));
  return out;
}

}  // namespace

std::complex<double> impedance(const SurfaceImpedance& z, std::complex<double> s) {
  std::complex<double> sum = z.resistance_ohm + s * z.inductance_h;
  for (const SurfaceImpedance::Branch& b : z.branches) sum += b.resistance_ohm * s / (s + b.rate);
  return sum;
}

std::complex<double> conductor_impedance(double sigma, double mu, double f_hz) {
  return std::sqrt(std::complex<double>(0, 2 * pi * f_hz * vacuum_permeability * mu / sigma));
}

double roughness_factor(double sigma, double mu, double roughness_m, double f_hz) {
  const double ratio = roughness_m * roughness_m * pi * f_hz * vacuum_permeability * mu * sigma;
  return 1 + 2 / pi * std::atan(1.4 * ratio);
}

SurfaceImpedance fit_surface_impedance(double sigma, double mu, double f_min_hz, double f_max_hz,
                                       double tolerance, double roughness_m) {
  if (!(sigma > 0 && std::isfinite(sigma) && mu > 0 && std::isfinite(mu)))
    throw Error(fmt::format(
        "[fit_surface_impedance] expected a positive conductivity and permeability, got {} S/m and "
        "{}",
        sigma, mu));
  if (!(f_min_hz > 0 && f_min_hz <= f_max_hz && std::isfinite(f_max_hz)))
    throw Error(fmt::format("[fit_surface_impedance] expected 0 < f_min <= f_max, got {} and {} Hz",
                            f_min_hz, f_max_hz));
  if (!(roughness_m >= 0 && std::isfinite(roughness_m)))
    throw Error(fmt::format("[fit_surface_impedance] expected a roughness of 0 m or more, got {}",
                            roughness_m));
  // (roughness/skin depth)^2 = w/equal
  const double equal =
      roughness_m > 0 ? 2 / (roughness_m * roughness_m * vacuum_permeability * mu * sigma) : 0;
  SurfaceImpedance best;
  for (int n = 1; n <= 24; ++n) {
    best = fitted_root(2 * pi * f_min_hz, 2 * pi * f_max_hz, n, equal);
    if (best.error <= tolerance) break;
  }
  const double unit = std::sqrt(vacuum_permeability * mu / sigma);
  best.resistance_ohm *= unit, best.inductance_h *= unit;
  for (SurfaceImpedance::Branch& b : best.branches) b.resistance_ohm *= unit;
  return best;
}

}  // namespace tessera::electromagnetics
