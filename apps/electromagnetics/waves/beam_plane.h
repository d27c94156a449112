// SPDX-License-Identifier: Apache-2.0
// Planes that Gaussian beams start from, or where a monitor measures their amplitudes, and what has
// to hold there.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/exterior.h"
#include "tessera/electromagnetics/gaussian_beam.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::waves {

/// Of a monitor, or of a source. Throws Error where it has no sense.
electromagnetics::GaussianBeam beam_of(const Case& c, const MonitorOptions& o);
electromagnetics::GaussianBeam beam_of(const Case& c, const SourceOptions& o);
/// The medium where the beam's axis meets the plane.
const electromagnetics::Medium& medium_of_beam(const Case& c, const MonitorOptions& o);

struct BeamFault {
  int number;
  std::string key;  ///< within the monitor or source: ".direction"
  std::string text, hint;
};
/// Media in its way that are not one transparent medium, planes that it runs along or misses half
/// of, symmetries that it does not have.
std::vector<BeamFault> faults_of_beam(const Case& c, const MonitorOptions& o,
                                      const std::vector<electromagnetics::DomainMirror>& mirrors);

/// Where a source's beam starts: across the resolved axis along which its size is zero, or, without
/// a size, the one that it follows most.
struct BeamStart {
  int axis = 0;
  Point middle{};           ///< its position on the nearest line
  std::size_t medium = 0;   ///< there, of the case's media
  double frequency_hz = 0;  ///< in the middle of its waveform's spectrum
};
BeamStart start_of_beam(const Case& c, const SourceOptions& o);
/// Mirrors that its plane meets where the beam's amplitude is at least `least` of that in its
/// middle, and of which it is not its own image: faults from the one on, doubts from the other.
constexpr double kRefusedAtMirror = 0.1, kDoubtedAtMirror = 0.01;
std::vector<BeamFault> mirrors_in_beam(const Case& c, const SourceOptions& o,
                                       const std::vector<electromagnetics::DomainMirror>& mirrors,
                                       double least);
/// Axes whose faces are joined, where its plane meets them in the beam.
std::vector<int> seams_in_beam(const Case& c, const SourceOptions& o);
/// A medium other than that of its middle, where the plane meets the beam.
std::optional<std::string> other_medium_of_beam(const Case& c, const SourceOptions& o);

}  // namespace tessera::apps::waves
