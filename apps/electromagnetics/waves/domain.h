// SPDX-License-Identifier: Apache-2.0
// The domain and the band of a case that leaves them to what is in it.
#pragma once
#include "electromagnetics/waves/options.h"

#include <array>

namespace tessera::apps::waves {

/// Lowest and highest frequency of all sources, ports and monitors, Hz; 0 where there is none.
std::array<double, 2> band_of(const CaseOptions& o);

/// The size of a domain that a case with grid.auto leaves out: what is in it, and room in front of
/// layers. Throws InputError.
void settle_domain(CaseOptions& o, const data::Config& config);

}  // namespace tessera::apps::waves
