// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/grid_modes.h"

#include <optional>
#include <vector>

namespace tessera::apps::waves {

/// The number of the line that is nearest to `at`.
int nearest_line(const std::vector<double>& lines, double at);
/// The plane across `axis` at the line nearest to `position`, between the lines nearest to the ends
/// of `size`; without a size, and where it reaches beyond the domain, to the ends of this.
electromagnetics::ModePlane mode_plane(const Case& c, int axis, const Point& position,
                                       const std::optional<Point>& size);
/// The resolved axis along which the size is zero.
int flat_axis(const Case& c, const Point& size);

}  // namespace tessera::apps::waves
