// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/invert.h"
#include "support/app.h"

namespace tessera::apps::mt2d {

/// Data and misfit of a section by its resistivities, at the start of the inversion.
Derivatives derivatives(const InvertProblem& p);

}  // namespace tessera::apps::mt2d
