// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/derivatives.h"

#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/layering.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::mt1d {

Derivatives derivatives(const Mt1dOptions& o, const Input& input) {
  const inversion::Station& station = input.survey.stations[input.survey.stations.size() / 2];
  const inversion::Response1d& r = station.response;
  const inversion::Layering layering = inversion::layering_from_data(r, o.layers);
  std::vector<double> ln_thickness;
  for (const double h : layering.thickness_m) ln_thickness.push_back(std::log(h));
  const auto n = static_cast<Index>(layering.size());
  const Tensor ln_rho = full({n}, std::log(inversion::typical_resistivity(r))),
               frequency = tensor(r.frequency_hz), data = tensor(r.impedance_ohm),
               sigma = tensor(r.sigma_ohm);

  Derivatives d;
  d.parameters = {{"ln rho", ln_rho, full({n}, 0.3)},
                  {"ln thickness", tensor(ln_thickness), full({n - 1}, 0.1)}};
  d.results = {"impedance", "misfit"};
  d.values = [=](const std::vector<Tensor>& p) -> std::vector<Tensor> {
    std::vector<Tensor> rho, thickness;
    for (Index j = 0; j < n; ++j) rho.push_back(select(p[0], 0, j));
    for (Index j = 0; j + 1 < n; ++j) thickness.push_back(select(p[1], 0, j));
    const Tensor z = inversion::layered_impedance(rho, thickness, frequency),
                 miss = (z - data) / sigma;
    return {stack({real(z), imag(z)}), sum(real(miss * conj(miss)))};
  };
  d.lines = {fmt::format(
      "sounding {} ({} of {}): {} layers, {} periods, at the half-space where its inversion starts",
      station.id, input.survey.stations.size() / 2 + 1, input.survey.stations.size(), n, r.size())};
  d.left_out = {
      "roughness, bounds, static shift and other losses than l2: what is differentiated is the "
      "response and its misfit",
      "the other soundings, which the same function computes"};
  return d;
}

}  // namespace tessera::apps::mt1d
