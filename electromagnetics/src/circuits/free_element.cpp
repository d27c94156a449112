// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/lumped_element.h"

namespace tessera::electromagnetics {

FreeElement free_element(const YeeModel& model, const PlacedElement& element) {
  FreeElement out;
  out.edges.edges = element.edges;
  // A plasma without loss: chi = 1/s^2 for a weight of 1.
  const PoleUpdate u = pole_update({.a = 0.0, .c = 0.0, .second = 1}, model.dt_s);
  DispersiveRun plasma;
  plasma.alpha = {u.alpha}, plasma.beta = {u.beta}, plasma.shear = {u.shear};
  out.edges.poles = {plasma};
  const auto n = static_cast<std::size_t>(model.grid.cells(0)) + 1;
  const double scale = element.length_m / (element.section_m2 * vacuum_permittivity);
  std::vector<double> base, of_g, of_c, of_l;
  for (const Edge& e : element.edges) {
    MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
    if (model.material) model.material(e.component, e.j, e.k, row);
    const auto covers = [&](int first, std::size_t length) {
      return e.i >= first && e.i < first + static_cast<int>(length);
    };
    for (const DispersiveRun& run : row.dispersive)
      if (covers(run.first, run.weight.size()))
        throw Error("[free_element] the element lies in a medium with poles");
    for (const NonlinearRun& run : row.nonlinear)
      if (covers(run.first, run.chi2.size()))
        throw Error("[free_element] the element lies in a nonlinear medium");
    const auto i = static_cast<std::size_t>(e.i);
    base.insert(base.end(), {1 / row.inverse[i], row.loss[i], 0});
    of_g.insert(of_g.end(), {0, scale * model.dt_s / 2, 0});
    of_c.insert(of_c.end(), {scale, 0, 0});
    of_l.insert(of_l.end(), {0, 0, scale});
  }
  out.base = tensor(base), out.conductance = tensor(of_g), out.capacitance = tensor(of_c);
  out.reciprocal_inductance = tensor(of_l);
  return out;
}

Tensor parameters(const FreeElement& e, const Tensor& resistance, const Tensor& inductance,
                  const Tensor& capacitance) {
  Tensor theta = e.base;
  if (resistance.defined()) theta = theta + e.conductance / resistance;
  if (inductance.defined()) theta = theta + e.reciprocal_inductance / inductance;
  if (capacitance.defined()) theta = theta + e.capacitance * capacitance;
  return theta;
}

}  // namespace tessera::electromagnetics
