// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/dispersion_correction.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

/// 1 - g(x).
double one_less_mean(int dimensions, double x) {
  if (dimensions == 1) return 2 * std::pow(std::sin(x / 2), 2);
  return 1 - (dimensions == 2 ? std::cyl_bessel_j(0.0, x) : std::sin(x) / x);
}

}  // namespace

double dispersion_factor(const Medium& medium, const YeeGrid& grid, double dt_s,
                         double frequency_hz) {
  if (!(dt_s > 0) || !(frequency_hz > 0) || !(2 * frequency_hz * dt_s < 1))
    throw Error(fmt::format(
        "[dispersion_factor] expected a frequency above 0 and below 1/(2 dt), got {} Hz and "
        "{} s: take one that the grid carries",
        frequency_hz, dt_s));
  if (medium.pec) return 1;
  const auto carries = [&](int d) { return grid.cells(d) > 1; };  // fields are even along a period
  const int dimensions = int{carries(0)} + int{carries(1)} + int{carries(2)};
  if (dimensions == 0) return 1;
  const double w = 2 * std::numbers::pi * frequency_hz, sine = 2 / dt_s * std::sin(w * dt_s / 2);
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const std::complex<double> n = refractive_index(medium, axis, frequency_hz);
    if (!(n.real() > std::abs(n.imag()))) return 1;
    const double k = n.real() * w / speed_of_light;
    double curl_curl = 0;
    for (int d = 0; d < 3; ++d) {
      if (!carries(d)) continue;
      const double h = grid.smallest_length(d);
      for (int i = 0; i < grid.cells(d); ++i)
        if (grid.length(d, i) > h * (1 + 1e-6))
          throw Error(fmt::format(
              "[dispersion_factor] cells along {} have {} m and {} m: expected one length, "
              "as their waves' speeds differ; take even cells",
              "xyz"[d], h, grid.length(d, i)));
      if (!(k * h < std::numbers::pi))
        throw Error(fmt::format(
            "[dispersion_factor] cells of {} m have more than half of the wavelength in "
            "'{}', {} m: take smaller cells or a lower frequency",
            h, medium.name, 2 * std::numbers::pi / k));
      curl_curl += 2 / (h * h) * one_less_mean(dimensions, k * h);
    }
    const double eps_mu = (discrete_permittivity(medium, axis, frequency_hz, dt_s) *
                           permeability(medium, axis, frequency_hz))
                              .real();
    sum += curl_curl * speed_of_light * speed_of_light / (sine * sine * eps_mu);
  }
  return sum / 3;
}

Medium dispersion_corrected(Medium medium, const YeeGrid& grid, double dt_s, double frequency_hz) {
  const double factor = dispersion_factor(medium, grid, dt_s, frequency_hz);
  for (double& eps : medium.eps) eps *= factor;
  for (double& sigma : medium.sigma) sigma *= factor;
  for (PoleResidue& pole : medium.poles) pole.c *= factor, pole.second *= factor;
  medium.chi2 *= factor;
  medium.chi3 *= factor;
  return medium;
}

SteppedMedia dispersion_corrected(const std::vector<Medium>& media, const YeeGrid& grid,
                                  std::optional<double> dt_s, double courant, double frequency_hz) {
  const double bound = curl_curl_bound(grid);
  SteppedMedia out{media, 0, max_stable_dt(media, bound)};
  for (int round = 0; round < 8; ++round) {
    out.dt_s = dt_s.value_or(courant * out.stable_dt_s);
    for (std::size_t m = 0; m < media.size(); ++m)
      out.media[m] = dispersion_corrected(media[m], grid, out.dt_s, frequency_hz);
    out.stable_dt_s = max_stable_dt(out.media, bound);
  }
  out.dt_s = dt_s.value_or(courant * out.stable_dt_s);
  return out;
}

}  // namespace tessera::electromagnetics
