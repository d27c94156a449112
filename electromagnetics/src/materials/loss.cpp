// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/loss.h"

#include "base/numbers.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera::electromagnetics {
namespace {

double from_loss_tangent(const char* operation, double unit, double relative, double tan_delta,
                         double f_hz) {
  if (!(relative > 0 && tan_delta >= 0 && f_hz > 0) || !std::isfinite(relative * tan_delta * f_hz))
    throw Error(
        fmt::format("[{}] expected a relative constant > 0, a loss tangent >= 0 and a frequency "
                    "> 0 Hz, got {}, {} and {}",
                    operation, relative, tan_delta, f_hz));
  return two_pi * f_hz * unit * relative * tan_delta;
}

}  // namespace

double loss_tangent(const Medium& medium, int axis, double f_hz) {
  const std::complex<double> eps = permittivity(medium, axis, f_hz);
  return -eps.imag() / eps.real();
}

double conductivity_from_loss_tangent(double eps_r, double tan_delta, double f_hz) {
  return from_loss_tangent("conductivity_from_loss_tangent", vacuum_permittivity, eps_r, tan_delta,
                           f_hz);
}

double magnetic_conductivity_from_loss_tangent(double mu_r, double tan_delta, double f_hz) {
  return from_loss_tangent("magnetic_conductivity_from_loss_tangent", vacuum_permeability, mu_r,
                           tan_delta, f_hz);
}

double skin_depth(const Medium& medium, int axis, double f_hz) {
  const double k = -refractive_index(medium, axis, f_hz).imag();
  if (k == 0) return std::numeric_limits<double>::infinity();
  return speed_of_light / (two_pi * std::abs(f_hz) * k);
}

std::complex<double> wave_impedance(const Medium& medium, int axis, double f_hz) {
  return vacuum_impedance * permeability(medium, axis, f_hz) / refractive_index(medium, axis, f_hz);
}

// eps(f) = background + step * sum 1/(1 + i f/f_k), f_k in the middles of equal parts of a decade.
Medium wideband_debye(double eps_r, double tan_delta, double f_hz, double f_low_hz,
                      double f_high_hz, int per_decade) {
  if (!(eps_r >= 1 && tan_delta >= 0 && f_low_hz > 0 && f_low_hz < f_hz && f_hz < f_high_hz &&
        per_decade >= 1) ||
      !std::isfinite(eps_r * tan_delta * f_high_hz))
    throw Error(
        fmt::format("[wideband_debye] expected eps_r >= 1, tan delta >= 0, f_low < f < f_high and "
                    "per_decade >= 1, got {}, {}, {} < {} < {} Hz and {}",
                    eps_r, tan_delta, f_low_hz, f_hz, f_high_hz, per_decade));
  const double decades = std::log10(f_high_hz / f_low_hz);
  const int n = static_cast<int>(std::ceil(per_decade * decades - 1e-9));
  const auto relaxation = [&](int k) {
    return f_low_hz * std::pow(f_high_hz / f_low_hz, (k + 0.5) / n);
  };
  double in_phase = 0, loss = 0;
  for (int k = 0; k < n; ++k) {
    const double x = f_hz / relaxation(k);
    in_phase += 1 / (1 + x * x);
    loss += x / (1 + x * x);
  }
  const double step = eps_r * tan_delta / loss, background = eps_r - step * in_phase;
  if (background < 1)
    throw Error(
        fmt::format("[wideband_debye] a loss tangent of {} from {} to {} Hz needs a background of "
                    "{}, below 1; narrow the band",
                    tan_delta, f_low_hz, f_high_hz, background));
  Medium medium{.eps = {background, background, background}};
  for (int k = 0; step > 0 && k < n; ++k) medium.poles.push_back(debye(relaxation(k), step)[0]);
  return medium;
}

}  // namespace tessera::electromagnetics
