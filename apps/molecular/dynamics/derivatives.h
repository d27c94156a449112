// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "molecular/dynamics/case.h"
#include "support/app.h"

namespace tessera::apps::dynamics {

/// Energy and forces of the first stage's beginning as functions of positions, box and all tables
/// of the force field.
Derivatives derivatives(const Case& c);

}  // namespace tessera::apps::dynamics
