// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/record.h"

#include <vector>

namespace tessera::apps::mt1d {

/// [n + 1] edges half way between neighbouring stations, also where two stand on one spot.
std::vector<double> column_edges(const std::vector<Record>& records);
/// Down to which the lowest layers of results and VTK files reach: a little below the deepest
/// Bostick depth of the longest period, in m.
double greatest_depth(const std::vector<Record>& records);

/// All soundings on one list of periods, eight to a decade; [station * n_periods + period], NaN
/// where a sounding has none. A datum stands for the periods half-way to its neighbours and for the
/// one on the list that is nearest, but in a gap for no more than three times the median of that.
struct PeriodTable {
  std::vector<double> period, rho_a, phase, predicted_rho_a, predicted_phase, rho_a_error,
      phase_error;
};
PeriodTable period_table(const std::vector<Record>& records);

}  // namespace tessera::apps::mt1d
