// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/beam_amplitudes.h"

#include "spectra/by_frequency.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

/// e and h of the beam of unit power at the points of the patch, times the points' weights:
/// [2, n_hi * n_lo], along lo, then along hi.
struct BeamOnPatch {
  std::vector<Complex> e, h;
};
BeamOnPatch beam_on(const Patch& patch, const GaussianBeam& beam, double k, double eta) {
  const auto points = points_of(patch);
  const double size = 1 / std::sqrt(beam.power(eta));
  const Point &u = beam.direction, &p = beam.polarization;
  const Point s{u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
  BeamOnPatch out;
  for (const int axis : {patch.lo_axis(), patch.hi_axis()}) {
    const auto d = static_cast<std::size_t>(axis);
    for (std::size_t n = 0; n < points.size(); ++n) {
      const GaussianBeam::Value v = beam.at(points[n], k);
      const double weight =
          patch.weight_lo[n % patch.lo.size()] * patch.weight_hi[n / patch.lo.size()];
      const Complex field = weight * size * v.amplitude * std::polar(1.0, -v.phase);
      out.e.push_back(p[d] * field), out.h.push_back(s[d] / eta * field);
    }
  }
  return out;
}

}  // namespace

Tensor beam_amplitudes(const Patch& patch, const SurfaceFields& fields, const GaussianBeam& beam,
                       std::span<const double> frequencies_hz, std::span<const double> eps,
                       double mu) {
  const std::size_t n_f = frequencies_hz.size();
  require_fields("beam_amplitudes", {patch}, {fields}, static_cast<Index>(n_f));
  detail::require_one_or_each("beam_amplitudes", eps.size(), n_f);
  const double along = beam.direction[static_cast<std::size_t>(patch.axis)];
  if (std::abs(along) < 1e-6) throw Error("[beam_amplitudes] the beam runs along the plane");
  const double sign = 0.25 * patch.handedness() * patch.outward * (along > 0 ? 1 : -1);
  const Index n = patch.n_lo() * patch.n_hi();
  // Weights of E_lo, E_hi, H_lo, H_hi in both amplitudes.
  std::vector<Complex> of_e, of_h;
  for (const bool forward : {true, false})
    for (std::size_t f = 0; f < n_f; ++f) {
      const double er = eps[eps.size() == 1 ? 0 : f];
      const double k =
          2 * std::numbers::pi * frequencies_hz[f] * std::sqrt(er * mu) / speed_of_light;
      const BeamOnPatch b = beam_on(patch, beam, k, vacuum_impedance * std::sqrt(mu / er));
      const auto at = [&](const std::vector<Complex>& field, bool hi, Index q) {
        const Complex x = field[static_cast<std::size_t>((hi ? n : 0) + q)];
        return sign * (forward ? std::conj(x) : x);
      };
      // (E x h).n = E_lo h_hi - E_hi h_lo, and (e x H).n alike.
      for (const bool hi : {false, true})
        for (Index q = 0; q < n; ++q) {
          of_e.push_back((hi ? -1.0 : 1.0) * at(b.h, !hi, q));
          of_h.push_back((hi == forward ? 1.0 : -1.0) * at(b.e, !hi, q));
        }
    }
  const auto frequencies = static_cast<Index>(n_f);
  const auto sum_of = [&](const std::vector<Complex>& weight, const Tensor& field) {
    return sum(tensor(weight, {2, frequencies, 2 * n}) * reshape(field, {frequencies, 2 * n}), {2});
  };
  return sum_of(of_e, fields.e) + sum_of(of_h, fields.h);
}

}  // namespace tessera::electromagnetics
