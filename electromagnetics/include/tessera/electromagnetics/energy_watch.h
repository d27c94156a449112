// SPDX-License-Identifier: Apache-2.0
//
// Whether a run has died away, and whether its fields grow as no passive medium lets them. What a
// passive run stores rises by no more than the work of its sources; rounding and slow fields that
// a layer gives back move it by little.
#pragma once
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// What was seen of the energy at some steps; plain values, for checkpoints. J, in two dimensions
/// J/m, in one J/m^2.
struct EnergyWatch {
  double energy_j = 0;         ///< TimeDomain::energy_j at the last look
  double stored_j = 0;         ///< stored_energy_j at the last look of `grows`
  double peak_j = 0;           ///< the largest left_j
  double least_stored_j = -1;  ///< since the sources ended; -1: they have not
  /// What is stored at most, by an earlier look and the work of the sources since.
  double explained_j = 0;
  double given_j = 0;         ///< TimeDomain::given_j at the last look of `grows`
  double span_j = 0;          ///< the largest left_j of this span of steps (`stays`)
  double former_span_j = -1;  ///< and of the one before; -1: there is none
  std::int64_t span_begin = -1;

  /// Takes the energy into the peak: at loud_steps, between the looks of `grows`.
  void look(const TimeDomain& run);
  /// Looks at the run. Whether its fields grow: the energy is not finite, or what is stored is ten
  /// times what can be (of 1e-10 of the peak, where that is more). Where the work of sources is
  /// not known all energies can be until they have ended.
  bool grows(const TimeDomain& run);
  /// To be asked at each check after the sources, with the step of the run: whether the energy does
  /// not fall any more. A span of `span` steps has just ended, and its largest energy is less than
  /// 0.1 dB below that of the span before.
  bool stays(std::int64_t step, std::int64_t span);
  /// What has to die away at the last look: after the sources with what poles store, for between
  /// fields and poles energy goes to and fro, and at some moment hardly any is in the fields.
  double left_j() const { return least_stored_j < 0 ? energy_j : stored_j; }
  static bool is_below(double energy_j, double peak_j, double db) {
    return energy_j <= peak_j * std::pow(10.0, -db / 10);
  }
  /// Whether the energy at the last look is that far below its peak.
  bool has_fallen(double db) const { return is_below(left_j(), peak_j, db); }
  double fallen_db() const {
    return peak_j > 0 ? 10 * std::log10(peak_j / std::max(left_j(), 1e-300)) : 0;
  }
};

/// Steps, rising, at which a run's energy has to be looked at so that its peak is known although a
/// pulse passes in less time than lies between two checks: about where the largest current of a
/// source that ends is within 10 dB of the largest it ever is, every second multiple of `every`
/// there or, in long pulses, a dozen of them for each source. `every` is a quarter of a period or
/// less. Up to `last_step`, where it is not 0. Takes one step's currents of the sources for each
/// `every`.
std::vector<std::int64_t> loud_steps(std::span<const Injection> sources, double dt_s,
                                     std::int64_t every, std::int64_t last_step = 0);

}  // namespace tessera::electromagnetics
