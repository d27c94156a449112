// SPDX-License-Identifier: Apache-2.0
// What a run says of its energy when it has to end, or does not come to its end.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "tessera/electromagnetics/time_domain.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// The errors of a run whose fields grow without limit: when and where, and what makes them.
std::vector<std::string> growth(const Case& c, const electromagnetics::TimeDomain& run,
                                const electromagnetics::EnergyWatch& energy);

/// Steps after which an energy that has not fallen is told: many checks, many periods, and many
/// passages of light along the edges of the domain.
std::int64_t still_span(const Case& c, std::int64_t check_steps);
/// The warning about a run whose energy stays where it is, above what is to end it.
std::string stays(const Case& c, const electromagnetics::TimeDomain& run,
                  const electromagnetics::EnergyWatch& energy, std::int64_t span);

}  // namespace tessera::apps::fdtd
