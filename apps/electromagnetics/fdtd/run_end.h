// SPDX-License-Identifier: Apache-2.0
// What a run says of its energy when it has to end, or does not come to its end.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "tessera/electromagnetics/time_domain.h"

#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// The errors of a run whose fields grow without limit: when and where, and what makes them.
std::vector<std::string> growth(const Case& c, const electromagnetics::TimeDomain& run,
                                const electromagnetics::EnergyWatch& energy);

}  // namespace tessera::apps::fdtd
