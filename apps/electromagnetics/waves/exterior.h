// SPDX-License-Identifier: Apache-2.0
// What the faces and the background of a case are to its monitors (electromagnetics/exterior.h).
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/exterior.h"

#include <cstddef>
#include <vector>

namespace tessera::apps::waves {

/// Symmetries and walls, in the order x_low, x_high, ...
std::vector<electromagnetics::DomainMirror> mirrors_of(const Case& c);

/// How many times a quantity of the monitor's region is there in the whole.
double images_of(const Case& c, const MonitorOptions& o);
/// The same where everything radiates with its images.
double images_of_all(const Case& c);
/// The same of a mode's plane, whose power in the grid is one of so many parts.
double images_of(const Case& c, const electromagnetics::ModePlane& plane);
/// How many ports like this one there are in the whole, which the mirrors that do not cut it make:
/// all are driven alike, and S counts them together as one (docs/decisions/0237).
double copies_of(const Case& c, std::size_t port);

/// Outside of a far field or cross-section, for all frequencies where the background is the same at
/// them, else one for each. Mirrors are all symmetries, the walls that the monitor's box stands on,
/// and those that it names.
std::vector<electromagnetics::Exterior> exteriors(const Case& c, const MonitorOptions& o,
                                                  const std::vector<double>& frequencies_hz);

/// Of these, the walls that hide what lies behind them: those that are no symmetries.
std::vector<electromagnetics::Mirror> walls_of_box(const Case& c, const MonitorOptions& o);

/// Throws InputError for monitors whose surroundings are not what they assume.
void check_exteriors(const Case& c, const data::Config& config);

}  // namespace tessera::apps::waves
