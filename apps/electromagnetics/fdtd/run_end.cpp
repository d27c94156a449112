// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/run_end.h"

#include "electromagnetics/fdtd/run.h"
#include "tessera/electromagnetics/run_length.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// "Ez at (1e-06, 2e-06, 0) m, cell (3, 4, 0), in 'gold', inside the absorbing layer of x" where
/// the field is largest.
std::string where_it_grows(const Case& c, const em::TimeDomain& run) {
  const em::TimeDomain::Peak p = run.peak();
  const auto at = c.grid.position(p.edge);
  const em::Medium& m = c.media[static_cast<std::size_t>(em::medium_at(c.scene, at))];
  std::string layer;
  const int cell[3] = {p.edge.i, p.edge.j, p.edge.k};
  for (int d = 0; d < 3; ++d) {
    const int low = layer_cells(c, d, false), high = layer_cells(c, d, true);
    if ((low > 0 && cell[d] <= low) || (high > 0 && cell[d] >= c.grid.cells(d) - high))
      layer += "xyz"[d];
  }
  return fmt::format("{} at ({:.4g}, {:.4g}, {:.4g}) m, cell ({}, {}, {}), in '{}', {}",
                     em::name_of(p.edge.component), at[0], at[1], at[2], cell[0], cell[1], cell[2],
                     m.name,
                     layer.empty() ? "outside of the absorbing layers"
                                   : "inside the absorbing layer across " + layer);
}

}  // namespace

std::vector<std::string> growth(const Case& c, const em::TimeDomain& run,
                                const em::EnergyWatch& energy) {
  const std::string can_be =
      std::isfinite(energy.energy_j)
          ? fmt::format(", where the least before and the work of sources since make up {:.3g} J",
                        energy.explained_j)
          : "";
  const bool nonlinear = std::any_of(c.media.begin(), c.media.end(), [](const em::Medium& m) {
    return m.chi2 != 0 || m.chi3 != 0;
  });
  const std::string strong =
      nonlinear ? "chi2 or chi3 in a field that is too strong for the time step (`tessera check` "
                  "tells from which on: take a lower run.courant, or weaker sources); "
                : "";
  return {
      fmt::format("the fields grow without limit: at step {} the energy is {:.3g} J{}; the "
                  "largest field is {}",
                  run.step(), std::max(energy.energy_j, energy.stored_j), can_be,
                  where_it_grows(c, run)),
      "what makes fields grow: " + strong +
          "an active medium; a film or surface of negative permittivity "
          "that runs through a pml, which amplifies its backward waves (let that face be "
          "boundary.x = \"absorber\"); or a guide whose evanescent tail reaches a layer (move the "
          "layer away by a wavelength, or raise pml.cells)"};
}

std::int64_t still_span(const Case& c, std::int64_t check_steps) {
  return std::max<std::int64_t>({20 * check_steps, std::llround(200 * shortest_period(c) / c.dt_s),
                                 em::steps_of_decay(c.grid, 0, c.dt_s)});
}

std::string stays(const Case& c, const em::TimeDomain& run, const em::EnergyWatch& energy,
                  std::int64_t span) {
  const double asked = *c.options.run.stop.decay_db, fallen = energy.fallen_db();
  return fmt::format(
      "the energy does not fall any more: at {:.4g} s it is {:.1f} dB below its peak, and less "
      "than 0.1 dB have come in {:.3g} s; run.stop.decay_db = {:.4g} may never be reached. What "
      "stays is a field that nothing takes up (at or below the cut-off of a guide, in a closed "
      "part, of charges that a source has left){}; stop it and let it go on to an end in time "
      "(tessera resume, --set run.stop.time) or to a decay that it has (--set "
      "run.stop.decay_db={:.0f})",
      run.time_s(), fallen, static_cast<double>(span) * c.dt_s, asked,
      c.options.run.precision == Precision::f32 && fallen > 90 ? ", or the rounding of f32" : "",
      std::max(std::floor(fallen), 0.0));
}

}  // namespace tessera::apps::fdtd
