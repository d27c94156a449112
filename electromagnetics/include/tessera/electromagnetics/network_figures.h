// SPDX-License-Identifier: Apache-2.0
//
// Pictures of S over frequency: magnitude in decibels and phase, and reflections on a Smith chart.
#pragma once
#include "tessera/data/plot.h"

#include <complex>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

struct NetworkFigure {
  struct Curve {
    std::string name;
    std::vector<double> frequency_hz;  ///< rising
    std::vector<std::complex<double>> values;
    bool compared = false;  ///< what is compared with: drawn dashed
  };
  std::string title;
  std::vector<Curve> curves;
};

/// 20 log10 |S| over frequency, down to 100 dB below 1, and below it the phase in degrees.
data::Figure magnitude_and_phase_figure(const NetworkFigure& n);

/// Reflections in the unit disc with circles of constant resistance and reactance, 0.2, 0.5, 1, 2
/// and 5 of the reference (P. H. Smith, Electronics 12 (1939) 29); ends of low and high frequency
/// are marked.
data::Figure smith_figure(const NetworkFigure& n);

}  // namespace tessera::electromagnetics
