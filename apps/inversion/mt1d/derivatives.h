// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/input.h"
#include "support/app.h"

namespace tessera::apps::mt1d {

/// Response and misfit of the middle sounding as functions of ln rho and ln thickness of its
/// layers; with bounds of x of the band-pass map in place of ln rho, with a free static shift of
/// ln Z, too.
Derivatives derivatives(const Mt1dOptions& o, const Input& input);

}  // namespace tessera::apps::mt1d
