// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/derivatives.h"

#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt2d {

Derivatives derivatives(const InvertProblem& p) {
  const auto n = static_cast<Index>(p.cells());
  const std::vector<double> all = p.inversion->start(), start(all.begin(), all.begin() + n);
  std::vector<Tensor> bounds;  // of ln rho, lower and upper, or none
  double reach = 0.3;          // of ln rho, and no more of x where a range is wide
  if (p.options.least_resistivity) {
    const double lower = std::log(*p.options.least_resistivity),
                 upper = std::log(*p.options.greatest_resistivity);
    reach = std::min(reach, 4 * reach / (upper - lower));  // d ln rho/dx is a quarter of it
    bounds = {tensor({lower}, {}), tensor({upper}, {})};
  }
  const Tensor data = tensor(p.input.survey.data.value), sigma = tensor(p.input.survey.data.sigma);
  Derivatives d;
  d.parameters = {{bounds.empty() ? "ln rho" : "x of ln rho between its bounds", tensor(start),
                   full({n}, reach)}};
  d.results = {"data", "misfit"};
  d.values = [forward = p.inversion->forward(), bounds, data,
              sigma](const std::vector<Tensor>& m) -> std::vector<Tensor> {
    const Tensor ln_rho = bounds.empty() ? m[0] : inversion::bounded(m[0], bounds[0], bounds[1]);
    const Tensor predicted = forward(ln_rho), miss = (predicted - data) / sigma;
    return {predicted, sum(miss * miss)};
  };
  d.lines = {fmt::format("{} resistivities, {} data of {} stations, at the start of the inversion",
                         n, p.input.survey.data.size(), p.ground.stations.y.size())};
  d.left_out = {
      "roughness and other losses than l2: what is differentiated is the data and their "
      "misfit"};
  if (!p.inversion->shifts().unknown.empty())
    d.left_out.push_back("static shifts, which stand behind the section as factors");
  return d;
}

Derivatives derivatives(const ForwardProblem& p) {
  const auto& asked = p.options.responses;
  const bool tipper = std::find(asked.begin(), asked.end(), ResponseChoice::tipper) != asked.end();
  const inversion::Forward2d forward(p.mesh.solver, p.mesh.sensors, p.frequency_hz,
                                     {.order = p.options.order.value_or(2), .tipper = tipper});
  Derivatives d;
  d.parameters = {{"ln rho", p.ln_rho, full(p.ln_rho.shape(), 0.3)}};
  d.results = {"TE", "TM"};
  if (tipper) d.results.push_back("tipper");
  d.values = [forward, tipper](const std::vector<Tensor>& m) -> std::vector<Tensor> {
    const inversion::Responses2d r = forward(m[0]);
    const auto parts = [](const Tensor& z) { return stack({real(z), imag(z)}); };
    std::vector<Tensor> out{parts(r.te), parts(r.tm)};
    if (tipper) out.push_back(parts(r.tipper));
    return out;
  };
  d.lines = {describe(p)};
  d.left_out = {"places of layers and bodies, which the cells take as they are"};
  return d;
}

}  // namespace tessera::apps::mt2d
