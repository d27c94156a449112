// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/forward.h"
#include "inversion/mt2d/invert.h"
#include "support/app.h"

namespace tessera::apps::mt2d {

/// Data and misfit of a section by its resistivities, at the start of the inversion.
Derivatives derivatives(const InvertProblem& p);
/// Impedances and tippers of a section that is given, by the resistivities of its regions.
Derivatives derivatives(const ForwardProblem& p);

}  // namespace tessera::apps::mt2d
