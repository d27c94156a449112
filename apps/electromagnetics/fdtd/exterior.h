// SPDX-License-Identifier: Apache-2.0
// What is outside of a monitor: mirrors at the faces of the domain, and the medium that carries its
// waves on.
#pragma once
#include "electromagnetics/fdtd/case.h"
#include "tessera/electromagnetics/near_to_far.h"

#include <vector>

namespace tessera::apps::fdtd {

/// How many times a quantity of the monitor's region is there in the whole: twice for each symmetry
/// that the region reaches, in which it has an image that continues it.
double images_of(const Case& c, const MonitorOptions& o);
/// The same where everything radiates with its images: twice for each symmetry.
double images_of_all(const Case& c);

/// Outside of a far field or cross-section, for all frequencies where the background is the same at
/// them, else one for each. Mirrors are all symmetries, the walls that the monitor's box stands on,
/// and those that it names.
std::vector<electromagnetics::Exterior> exteriors(const Case& c, const MonitorOptions& o,
                                                  const std::vector<double>& frequencies_hz);

/// Relative permittivity along `axis` as a wave in a transparent medium sees it.
double permittivity_of(const electromagnetics::Medium& m, int axis, double f_hz);
/// Whether that differs from frequency to frequency.
bool disperses(const electromagnetics::Medium& m);

/// Throws InputError for monitors whose surroundings are not what they assume.
void check_exteriors(const Case& c, const data::Config& config);

}  // namespace tessera::apps::fdtd
