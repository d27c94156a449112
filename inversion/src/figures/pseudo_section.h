// SPDX-License-Identifier: Apache-2.0
// Observed, predicted and residual of some quantities over stations and periods.
#pragma once
#include "stations.h"

namespace tessera::inversion::figures {

/// One column of a pseudo-section.
struct Sounding2d {
  std::string name;                                    ///< "apparent resistivity"
  data::ColourAxis colour;                             ///< of observed and predicted
  std::vector<Sounded> observed, predicted, residual;  ///< of each station; the latter two or none
  data::Axis of_residual = {.label = "Residual / σ"};
  double least_residual = 3;  ///< where the axis of residuals ends at least
};
/// Colours of apparent resistivities (ohm m), of phases (degrees) and of numbers about zero.
data::ColourAxis resistivity_colours(const std::vector<Sounded>& seen);
data::ColourAxis phase_colours(const std::vector<Sounded>& seen);
data::ColourAxis signed_colours(const std::vector<Sounded>& seen, std::string label, double least);

data::Figure pseudo_section_of(std::string title, std::string subtitle, const Stations& stations,
                               const std::vector<Sounding2d>& quantities);

}  // namespace tessera::inversion::figures
