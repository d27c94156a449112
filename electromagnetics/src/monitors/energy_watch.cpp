// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/energy_watch.h"

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

constexpr double growth = 10;    ///< of the least stored energy: no passive medium does that
constexpr double quiet = 1e-10;  ///< of the peak: below this share the energy swings by itself

}  // namespace

bool EnergyWatch::grows(const TimeDomain& run) {
  energy_j = run.energy_j();
  if (!std::isfinite(energy_j)) return true;
  peak_j = std::max(peak_j, energy_j);
  if (run.time_s() < run.sources_end_s()) return false;
  stored_j = run.stored_energy_j();
  least_stored_j = least_stored_j < 0 ? stored_j : std::min(least_stored_j, stored_j);
  return stored_j > growth * std::max(least_stored_j, peak_j * quiet);
}

}  // namespace tessera::electromagnetics
