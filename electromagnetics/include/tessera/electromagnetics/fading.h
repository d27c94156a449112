// SPDX-License-Identifier: Apache-2.0
//
// Whether what a monitor sees had died away when the run ended. A transform that is cut off while
// fields still ring is off by about what is left times the time in which it would have died away.
#pragma once
#include "tessera/electromagnetics/time_domain.h"

#include <cstdint>
#include <vector>

namespace tessera::electromagnetics {

/// Sums of squares of records over windows of equal length: W_0, W_1, ...; of at most 4096 of
/// their edges, evenly spaced.
class Fading {
 public:
  /// `window` and `every` in steps: each `every`-th is looked at. `half` in windows is half a
  /// period of the slowest wave that counts: in less of it a wave may pass through zero.
  Fading(std::int64_t window, std::int64_t every, std::int64_t half = 0)
      : window_(window), every_(every), half_(half) {}
  void add(const Records& r);

  /// What W says.
  struct Report {
    bool seen = false;  ///< anything at all
    /// Of what came at the end, below the largest: in the last eighth of the time since the
    /// largest, or in half a period where that is longer, but in a quarter of that time at most.
    double fallen_db = 0;
    double db_a_step = 0;  ///< by which it falls, over the second half of the time since the
                           ///< largest; 0 or less: it does not
  };
  Report report() const;

  /// For checkpoints; the last one is not full.
  const std::vector<double>& sums() const { return sums_; }
  void restore(std::vector<double> sums) { sums_ = std::move(sums); }

 private:
  std::int64_t window_, every_, half_;
  std::vector<double> sums_;
};

}  // namespace tessera::electromagnetics
