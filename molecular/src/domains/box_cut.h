// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/region.h"
#include "tessera/molecular/box.h"

#include <vector>

namespace tessera::molecular {

/// A region of a box for each weight, with shares of the points about as their weights: halves of
/// the weights are cut apart along the longest edge of what is to be cut, again and again (Berger &
/// Bokhari, IEEE Trans. Comput. 36 (1987) 570). Among edges of about one length first y, along
/// whose lines a grid of PME is cut, too, then z, x.
std::vector<Region> cut_box(const Box& box, const std::vector<Vec3>& points_nm,
                            const std::vector<double>& weights);

}  // namespace tessera::molecular
