// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/flux.h"

#include "spectra/by_frequency.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

Tensor magnitude_squared(const Tensor& z) { return square(real(z)) + square(imag(z)); }
Tensor real_product(const Tensor& a, const Tensor& b) {
  return real(a) * real(b) + imag(a) * imag(b);
}  // Re(a b*)

}  // namespace

Tensor flux(const Patch& patch, const SurfaceFields& fields) {
  require_fields("flux", {patch}, {fields},
                 fields.e.defined() && fields.e.ndim() > 0 ? fields.e.dim(0) : 0);
  const auto part = [](const Tensor& f, Index k) { return select(f, 1, k); };
  const Tensor s = real_product(part(fields.e, 0), part(fields.h, 1)) -
                   real_product(part(fields.e, 1), part(fields.h, 0));
  const Tensor weight = outer(tensor(patch.weight_hi), tensor(patch.weight_lo));
  return sum_product(s, weight, {1, 2}) * (0.5 * patch.handedness());
}

Tensor flux(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields) {
  if (patches.empty() || patches.size() != fields.size())
    throw Error(fmt::format("[flux] needs one or more patches and fields for each, got {} and {}",
                            patches.size(), fields.size()));
  Tensor sum = flux(patches[0], fields[0]);
  for (std::size_t k = 1; k < patches.size(); ++k) sum = sum + flux(patches[k], fields[k]);
  return sum;
}

Tensor energy_density(const Tensor& e, const Tensor& h, Arg eps, Arg mu) {
  return mul(eps, sum(magnitude_squared(e), {-1})) * (0.25 * vacuum_permittivity) +
         mul(mu, sum(magnitude_squared(h), {-1})) * (0.25 * vacuum_permeability);
}

Tensor emitted_power(const Tensor& e, const Tensor& moment) {
  return real_product(e, moment) * -0.5;
}

Tensor homogeneous_power(PointSource source, const Tensor& moment,
                         std::span<const double> frequencies_hz, double eps, double mu) {
  if (!(eps > 0) || !(mu > 0))
    throw Error(fmt::format("[homogeneous_power] needs a transparent medium, got eps {} and mu {}",
                            eps, mu));
  std::vector<double> factor;
  for (double f : frequencies_hz) {
    const double w = 2 * pi * f, w_mu = w * mu * vacuum_permeability;
    switch (source) {
      case PointSource::dipole:
        factor.push_back(w_mu * w * std::sqrt(eps * mu) / speed_of_light / (12 * pi));
        break;
      case PointSource::line:
        factor.push_back(w_mu / 8);
        break;
      case PointSource::line_dipole:
        factor.push_back(w_mu / 16);
        break;
      case PointSource::sheet:
        factor.push_back(vacuum_impedance * std::sqrt(mu / eps) / 4);
        break;
    }
  }
  return magnitude_squared(moment) * tensor(factor);
}

Tensor purcell_factor(PointSource source, const Tensor& e, const Tensor& moment,
                      std::span<const double> frequencies_hz, double eps, double mu) {
  return emitted_power(e, moment) / homogeneous_power(source, moment, frequencies_hz, eps, mu);
}

Tensor purcell_factor(PointSource source, const Tensor& e, const Tensor& moment,
                      std::span<const double> frequencies_hz, std::span<const double> eps,
                      double mu) {
  detail::require_one_or_each("purcell_factor", eps.size(), frequencies_hz.size());
  if (eps.size() == 1) return purcell_factor(source, e, moment, frequencies_hz, eps[0], mu);
  return detail::by_frequency(eps.size(), [&](std::size_t k) {
    return purcell_factor(source, detail::at_frequency(e, k), detail::at_frequency(moment, k),
                          frequencies_hz.subspan(k, 1), eps[k], mu);
  });
}

Tensor local_density_of_states(PointSource source, const Tensor& e, const Tensor& moment,
                               std::span<const double> frequencies_hz) {
  std::vector<double> vacuum;
  constexpr double c = speed_of_light;
  for (double f : frequencies_hz) {
    const double w = 2 * pi * f;
    vacuum.push_back(source == PointSource::dipole  ? w * w / (pi * pi * c * c * c)
                     : source == PointSource::sheet ? 1 / (pi * c)
                                                    : w / (2 * pi * c * c));
  }
  return purcell_factor(source, e, moment, frequencies_hz) * tensor(vacuum);
}

}  // namespace tessera::electromagnetics
