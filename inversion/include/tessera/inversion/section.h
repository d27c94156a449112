// SPDX-License-Identifier: Apache-2.0
//
// Inverted soundings side by side: the numbers behind sections and pseudo-sections. Results come in
// the order of the line, with distances that do not fall.
#pragma once
#include "tessera/data/grid.h"
#include "tessera/inversion/station_result.h"

#include <span>
#include <vector>

namespace tessera::inversion {

/// [n + 1] edges half way between neighbouring stations, also where two stand on one spot.
std::vector<double> column_edges(std::span<const StationResult> results);
/// Down to which the lowest layers of a section are drawn: a little below the deepest Bostick depth
/// of the longest period, in m.
double section_depth(std::span<const StationResult> results);

/// All soundings on one list of periods, eight to a decade; [station * n_periods + period], NaN
/// where a sounding has none. A datum stands for the periods half-way to its neighbours and for the
/// one on the list that is nearest, but in a gap for no more than three times the median of that.
struct PeriodTable {
  std::vector<double> period, rho_a, phase, predicted_rho_a, predicted_phase, rho_a_error,
      phase_error;
};
PeriodTable period_table(std::span<const StationResult> results);

/// The stitched section: for every station a column of cells that reaches half the way to its
/// neighbours; x is the distance along the line, z points up, so that ParaView shows depth
/// downwards. Fields: resistivity and its 5 and 95 % quantiles, station, seen.
data::UnstructuredGrid section_grid(std::span<const StationResult> results);
/// Apparent resistivity and phase over distance and log10 period.
data::RectilinearGrid pseudo_section_grid(std::span<const StationResult> results);

}  // namespace tessera::inversion
