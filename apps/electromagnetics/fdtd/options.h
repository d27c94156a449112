// SPDX-License-Identifier: Apache-2.0
// A case of electromagnetics.fdtd as a configuration says it: all sections of waves/options.h.
#pragma once
#include "electromagnetics/waves/options.h"

namespace tessera::apps::fdtd {

using namespace waves;

const data::Options<CaseOptions>& fdtd_options();

/// The options, also free of contradictions. Throws data::InputError (exit 5) with every finding at
/// the place of its key.
CaseOptions read_options(const data::Config& config);

}  // namespace tessera::apps::fdtd
