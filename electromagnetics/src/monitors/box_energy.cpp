// SPDX-License-Identifier: Apache-2.0
#include "monitors/on_line.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_energy.h"
#include "tessera/electromagnetics/monitors.h"

#include <algorithm>
#include <string>

namespace tessera::electromagnetics {
namespace {

/// The cells of an axis that a box holds at least a part of: fields are those in their middles, and
/// the part is their weight.
struct CellParts {
  std::vector<double> at, weight;
  CellParts(const YeeGrid& grid, int d, double low, double high) {
    if (!grid.resolved(d)) {
      at = {grid.middle(d, 0)}, weight = {1};
      return;
    }
    const std::vector<double>& x = grid.lines[static_cast<std::size_t>(d)];
    for (int i = 0; i < grid.cells(d); ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double part = std::min(high, x[n + 1]) - std::max(low, x[n]);
      if (!(part > detail::on_line * (x[n + 1] - x[n]))) continue;
      at.push_back(grid.middle(d, i));
      weight.push_back(part);
    }
    if (at.empty()) throw Error(std::string("the box has no extent along ") + "xyz"[d]);
  }
};

}  // namespace

BoxEnergy::BoxEnergy(SampleList& samples, const Scene& scene, std::vector<Medium> media,
                     const Point& low, const Point& high, std::vector<int> components,
                     double images)
    : media_(std::move(media)), components_(std::move(components)) {
  const YeeGrid& grid = samples.grid();
  const CellParts x(grid, 0, low[0], high[0]), y(grid, 1, low[1], high[1]),
      z(grid, 2, low[2], high[2]);
  add_region(samples, {x.at, y.at, z.at}, components_);
  const SceneOrder order(scene);
  for (std::size_t k = 0; k < z.at.size(); ++k)
    for (std::size_t j = 0; j < y.at.size(); ++j)
      for (std::size_t i = 0; i < x.at.size(); ++i) {
        volume_.push_back(images * x.weight[i] * y.weight[j] * z.weight[k]);
        medium_.push_back(static_cast<std::size_t>(medium_at(order, {x.at[i], y.at[j], z.at[k]})));
      }
}

Tensor BoxEnergy::electric(const Tensor& values, std::span<const double> frequencies_hz) const {
  return part(values, frequencies_hz, true);
}
Tensor BoxEnergy::magnetic(const Tensor& values, std::span<const double> frequencies_hz) const {
  return part(values, frequencies_hz, false);
}

Tensor BoxEnergy::part(const Tensor& values, std::span<const double> frequencies_hz,
                       bool electric) const {
  std::vector<double> weight;  // [frequency, component, point]
  for (const double f : frequencies_hz)
    for (const int q : components_) {
      const int axis = axis_of(q);
      std::vector<double> of_medium;
      for (const Medium& m : media_)
        of_medium.push_back(m.pec || is_electric(q) != electric ? 0.0
                            : electric
                                ? vacuum_permittivity / 4 * stored_permittivity(m, axis, f)
                                : vacuum_permeability / 4 * m.mu[static_cast<std::size_t>(axis)]);
      for (std::size_t p = 0; p < volume_.size(); ++p)
        weight.push_back(volume_[p] * of_medium[medium_[p]]);
    }
  return sum(real(values * conj(values)) * tensor(weight, values.shape()), {1});
}

}  // namespace tessera::electromagnetics
