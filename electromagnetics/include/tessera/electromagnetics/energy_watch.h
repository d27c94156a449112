// SPDX-License-Identifier: Apache-2.0
//
// Whether a run has died away, and whether its fields grow as no passive medium lets them. After
// the sources have ended the stored energy of a passive run falls; rounding and slow fields that a
// layer gives back move it by little.
#pragma once
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {

/// What was seen of the energy at some steps; plain values, for checkpoints. J, in two dimensions
/// J/m, in one J/m^2.
struct EnergyWatch {
  double energy_j = 0;         ///< TimeDomain::energy_j at the last look
  double stored_j = 0;         ///< stored_energy_j, at the last look after the sources
  double peak_j = 0;           ///< the largest energy_j
  double least_stored_j = -1;  ///< since the sources ended; -1: they have not

  /// Looks at the run. Whether its fields grow: the energy is not finite, or what is stored after
  /// the sources is ten times its least so far (of 1e-10 of the peak, where that is more).
  bool grows(const TimeDomain& run);
  /// Whether the energy at the last look is that far below its peak.
  bool has_fallen(double db) const { return energy_j <= peak_j * std::pow(10.0, -db / 10); }
  double fallen_db() const {
    return peak_j > 0 ? 10 * std::log10(peak_j / std::max(energy_j, 1e-300)) : 0;
  }
};

}  // namespace tessera::electromagnetics
