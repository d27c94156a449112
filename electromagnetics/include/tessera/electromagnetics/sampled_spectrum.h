// SPDX-License-Identifier: Apache-2.0
//
// How often a transform has to look. Sums over each M-th step of dt count at f what a signal holds
// at f and at all
//
//   f + m / (M dt),   m = +-1, +-2, ...
//
// A linear model answers a source W(f) with H(f) W(f), so that the source tells which M folds
// nothing onto f: its samples, as the run takes them, hold all of it, also what a pulse that begins
// or ends abruptly has at any frequency.
#pragma once
#include "tessera/electromagnetics/waveform.h"

#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// |W(f)| of the samples w(n dt), 0 <= n dt <= end, over its peak. The end of a waveform that has
/// none must be given.
class SampledSpectrum {
 public:
  SampledSpectrum(const Waveform& w, double dt_s, double end_s);
  /// Of the points of the transform beside |f|, at most half of 1 / (end of the samples) apart, the
  /// larger; 0 beyond half the rate.
  double at(double f_hz) const;
  /// What sums over each `every`-th step count at f beside W(f), at most:
  /// sum over m of |W(f + m/(every dt))|.
  double folded(double f_hz, int every) const;

 private:
  double dt_, step_hz_;        ///< between the points
  std::vector<double> share_;  ///< from 0 to half the rate
};

struct Sampling {
  int every = 1;
  double folded = 0;  ///< the largest at any frequency, of any source
};
/// The coarsest sampling at which of each source at most 1e-8 of what the strongest holds at a
/// frequency (of 1e-3 of the peak, where all hold less) folds onto it; 1e-9 of the peak where the
/// spectrum falls so steeply that a little more costs nothing. Fields answer to high frequencies
/// more than sources show. Two steps a period at the least; every step folds nothing.
Sampling coarsest_sampling(std::span<const double> frequencies_hz,
                           std::span<const SampledSpectrum* const> sources, double dt_s);

}  // namespace tessera::electromagnetics
