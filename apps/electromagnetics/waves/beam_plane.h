// SPDX-License-Identifier: Apache-2.0
// Beams whose amplitudes a monitor measures, and what has to hold for that.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/exterior.h"
#include "tessera/electromagnetics/gaussian_beam.h"

#include <string>
#include <vector>

namespace tessera::apps::waves {

/// Throws Error where it has no sense.
electromagnetics::GaussianBeam beam_of(const Case& c, const MonitorOptions& o);
/// The medium where the beam's axis meets the plane.
const electromagnetics::Medium& medium_of_beam(const Case& c, const MonitorOptions& o);

struct BeamFault {
  int number;
  std::string key;  ///< within the monitor: ".direction"
  std::string text, hint;
};
/// Media in its way that are not one transparent medium, planes that it runs along or misses half
/// of, symmetries that it does not have.
std::vector<BeamFault> faults_of_beam(const Case& c, const MonitorOptions& o,
                                      const std::vector<electromagnetics::DomainMirror>& mirrors);

}  // namespace tessera::apps::waves
