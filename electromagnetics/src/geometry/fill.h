// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "geometry/local.h"
#include "tessera/electromagnetics/scene.h"

namespace tessera::electromagnetics {

using Structures = std::vector<const Structure*>;  // from the top down

/// What fills a box that was halved `depth` times before.
Fill fill_box(const Structures& from_top, int background, const Box& box, int depth);

}  // namespace tessera::electromagnetics
