// SPDX-License-Identifier: Apache-2.0
// Conductors with a surface impedance, on the grid.
#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// The band that a fit has to hold in; a run that begins at 0 Hz has three decades.
std::array<double, 2> band_of(const Case& c) {
  return {std::max(c.frequency_min, 1e-3 * c.frequency_max), c.frequency_max};
}

std::optional<em::SurfaceImpedance> impedance_of(const Case& c, const MaterialOptions& m) {
  if (!m.surface_impedance) return {};
  const auto [low, high] = band_of(c);
  return em::fit_surface_impedance((*m.sigma)[0], m.mu[0], low, high, 1e-3, m.roughness);
}

const MaterialOptions* named_material(const Case& c, const std::string& name) {
  for (const MaterialOptions& m : c.options.materials)
    if (m.name == name) return &m;
  return nullptr;
}

}  // namespace

void place_surface_losses(Case& c) {
  c.surface_losses = {};
  em::LossyConductors conductors;
  bool any = false;
  const auto impedance = [&](const std::string& name) -> std::optional<em::SurfaceImpedance> {
    const MaterialOptions* m = named_material(c, name);
    if (!m) return {};
    any = any || m->surface_impedance;
    return impedance_of(c, *m);
  };
  for (const em::Medium& m : c.named_media()) conductors.media.push_back(impedance(m.name));
  const BoundaryOptions& b = c.options.boundary;
  for (int d = 0; d < 3 && b.wall_material; ++d)
    for (const bool high : {false, true})
      if (c.grid.resolved(d) && (high ? b.high(d) : b.low(d)) == Face::pec &&
          !b.is_symmetry(d, high))
        conductors.walls[static_cast<std::size_t>(d)][high] = impedance(*b.wall_material);
  if (any) c.surface_losses = em::surface_losses(make_model(c), c.scene, c.media, conductors);
}

void make_surface_losses(Case& c, const data::Config& config) {
  for (std::size_t m = 0; m < c.options.materials.size(); ++m)
    if (c.options.materials[m].surface_impedance && !(c.frequency_max > 0))
      refuse({config.error(624, fmt::format("material[{}].surface_impedance", m),
                           "no source and no monitor tells the band in which it has to hold",
                           "add a monitor with frequencies")});
  place_surface_losses(c);
}

void find_skins(Case& c, const data::Config& config) {
  if (!(c.frequency_max > 0)) return;
  double cell = 0;
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d)) cell = std::max(cell, c.grid.smallest_length(d));
  for (std::size_t q = 0; q < c.options.materials.size(); ++q) {
    const MaterialOptions& o = c.options.materials[q];
    const auto media = c.named_media();
    const auto used = std::find_if(media.begin(), media.end(),
                                   [&](const em::Medium& m) { return m.name == o.name; });
    if (used == media.end() || !o.sigma) continue;
    const std::string key = fmt::format("material[{}]", q);
    const auto skin = [&](double f) {
      return std::sqrt(1 /
                       (std::numbers::pi * f * em::vacuum_permeability * o.mu[0] * (*o.sigma)[0]));
    };
    if (!o.surface_impedance) {
      const double current = (*o.sigma)[0] / (2 * std::numbers::pi * c.frequency_max *
                                              em::vacuum_permittivity * used->eps[0]);
      if (current > 100 && skin(c.frequency_max) < cell / 3)
        c.warnings.push_back(warning(
            config, 633, key,
            fmt::format("fields fall within {:.3g} m in '{}' at {:.4g} Hz, and cells are {:.3g} m: "
                        "what it absorbs is that of the cells",
                        skin(c.frequency_max), o.name, c.frequency_max, cell),
            "write surface_impedance = true"));
      continue;
    }
    const double depth = skin(band_of(c)[0]);
    for (std::size_t s = 0; s < c.scene.structures.size(); ++s) {
      const em::Structure& body = c.scene.structures[s];
      const em::Bounds& b = body.shape.bounds();
      if (c.media[static_cast<std::size_t>(body.medium)].name != o.name) continue;
      double thickness = INFINITY;
      for (std::size_t d = 0; d < 3; ++d)
        if (c.grid.resolved(static_cast<int>(d)) && b.high[d] > b.low[d])
          thickness = std::min(thickness, b.high[d] - b.low[d]);
      if (thickness < 3 * depth)
        c.warnings.push_back(warning(
            config, 633, structure_key(c.options, structures_seen(c.options)[s]),
            fmt::format("the body is {:.3g} m thick, and fields fall within {:.3g} m in '{}' at "
                        "{:.4g} Hz: its two surfaces are not apart",
                        thickness, depth, o.name, band_of(c)[0]),
            "take a [[sheet]] of the resistance 1/(sigma thickness)"));
    }
  }
}

}  // namespace tessera::apps::waves
