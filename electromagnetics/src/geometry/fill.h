// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "geometry/local.h"
#include "tessera/electromagnetics/scene.h"

#include <optional>

namespace tessera::electromagnetics::detail {

using Structures = std::vector<const Structure*>;  // from the top down

/// The medium of a box that no face crosses, as far as one look tells.
std::optional<int> only_medium(const Structures& from_top, int background, const Box& box);

/// What fills what counts of a box.
Fill fill(const SceneOrder& scene, const Box& box);

/// What fills a box that was halved `depth` times before.
Fill fill_box(const Structures& from_top, int background, const Box& box, int depth);

/// Two boxes that lie one behind the other along `axis`, as one.
Fill joined(const Fill& below, double length_below, const Fill& above, double length_above,
            int axis);

}  // namespace tessera::electromagnetics::detail
