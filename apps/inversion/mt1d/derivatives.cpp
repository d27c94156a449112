// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/derivatives.h"

#include "tessera/autodiff/ops.h"
#include "tessera/inversion/bounds.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/layering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt1d {

Derivatives derivatives(const Mt1dOptions& o, const Input& input) {
  const std::size_t middle = input.survey.stations.size() / 2;
  const inversion::SoundingInversionOptions options = inversion_options(o);
  const inversion::Response r =
      inversion::without_reference_shift(response_of(o, input, middle), options);
  const inversion::Layering layering = inversion::choose_layering(r, options);
  std::vector<double> ln_thickness;
  for (const double h : layering.thickness_m) ln_thickness.push_back(std::log(h));
  const auto n = static_cast<Index>(layering.size());
  std::vector<double> start(layering.size(),
                            std::log(inversion::reference_resistivity(r, options)));
  std::vector<Tensor> bounds;  // of ln rho, lower and upper, or none
  double reach = 0.3;          // of ln rho, and no more of x where a range is wide
  if (o.least_resistivity) {
    const inversion::Bounds b{std::log(*o.least_resistivity), std::log(*o.greatest_resistivity)};
    start = inversion::model_to_bounded(start, b, start.size());
    reach = std::min(reach, 4 * reach / (b.upper - b.lower));  // d ln rho/dx is a quarter of it
    bounds = {tensor({b.lower}, {}), tensor({b.upper}, {})};
  }
  const bool shifted = o.static_shift.enabled && o.static_shift.prior_std;
  const Tensor frequency = tensor(r.frequency_hz), data = tensor(r.impedance_ohm),
               sigma = tensor(r.sigma_ohm);

  Derivatives d;
  d.parameters = {{bounds.empty() ? "ln rho" : "x of ln rho between its bounds", tensor(start),
                   full({n}, reach)},
                  {"ln thickness", tensor(ln_thickness), full({n - 1}, 0.1)}};
  if (shifted) d.parameters.push_back({"static shift of ln Z", zeros({1}), full({1}, 0.1)});
  d.results = {"impedance", "misfit"};
  d.values = [=](const std::vector<Tensor>& p) -> std::vector<Tensor> {
    std::vector<Tensor> rho, thickness;
    const Tensor ln_rho = bounds.empty() ? p[0] : inversion::bounded(p[0], bounds[0], bounds[1]);
    for (Index j = 0; j < n; ++j) rho.push_back(select(ln_rho, 0, j));
    for (Index j = 0; j + 1 < n; ++j) thickness.push_back(select(p[1], 0, j));
    const Tensor layers = inversion::layered_impedance(rho, thickness, frequency),
                 z = shifted ? exp(p[2]) * layers : layers, miss = (z - data) / sigma;
    return {stack({real(z), imag(z)}), sum(real(miss * conj(miss)))};
  };
  d.lines = {fmt::format(
      "sounding {} ({} of {}): {} layers, {} periods, at the half-space where its inversion starts",
      input.survey.stations[middle].id, middle + 1, input.survey.stations.size(), n, r.size())};
  d.left_out = {
      "roughness and other losses than l2: what is differentiated is the response and its misfit",
      "the other soundings, which the same function computes"};
  return d;
}

}  // namespace tessera::apps::mt1d
