// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/boundary.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <cmath>
#include <string>

namespace tessera::electromagnetics {

PmlProfile pml_profile(const std::vector<double>& lines, Faces faces, const Pml& pml, double dt_s,
                       bool at_middles) {
  const int n = static_cast<int>(lines.size()) - 1;
  const bool low = faces.low == Boundary::pml, high = faces.high == Boundary::pml;
  PmlProfile p;
  if (!low && !high) return p;
  if (pml.cells < 1 || (int{low} + int{high}) * pml.cells >= n)
    throw Error("[pml] layers of " + std::to_string(pml.cells) +
                " cells do not fit into an axis of " + std::to_string(n) +
                " cells: make them thinner or the domain larger");
  p.b.assign(n + 1, 0);
  p.c = p.m = p.b;
  const auto fill = [&](double inner, double outer) {
    const double depth = std::abs(outer - inner), cell = depth / pml.cells;
    const double alpha_max =
        pml.alpha_factor * vacuum_permittivity * speed_of_light / (depth * pml.index);
    const double sigma_max =
        pml.sigma_factor * 0.8 * (pml.order + 1) / (vacuum_impedance * cell * pml.index);
    for (int i = 0; i <= (at_middles ? n - 1 : n); ++i) {
      const double at = at_middles ? (lines[i] + lines[i + 1]) / 2 : lines[i];
      const double u = (at - inner) / (outer - inner);
      if (u <= 1e-9 || u > 1 + 1e-9) continue;
      const double rise = std::pow(u, pml.order);
      const double sigma = sigma_max * rise, kappa = 1 + (pml.kappa_max - 1) * rise,
                   alpha = alpha_max * (1 - u);
      p.b[i] = std::exp(-(sigma / kappa + alpha) * dt_s / vacuum_permittivity);
      p.c[i] = sigma * (p.b[i] - 1) / (sigma * kappa + kappa * kappa * alpha);
      p.m[i] = 1 / kappa - 1;
    }
  };
  if (low) fill(lines[pml.cells], lines[0]);
  if (high) fill(lines[n - pml.cells], lines[n]);
  return p;
}

}  // namespace tessera::electromagnetics
