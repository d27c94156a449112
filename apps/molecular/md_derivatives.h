// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/app.h"

namespace tessera::apps::md {

/// Energy and forces of the first stage's beginning as functions of positions, box and all tables of the force field.
Derivatives derivatives(const AppContext& context);

}  // namespace tessera::apps::md
