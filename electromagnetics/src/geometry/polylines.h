// SPDX-License-Identifier: Apache-2.0
//
// Segments between numbered points, joined to lines; lines with fewer points.
#pragma once
#include <array>
#include <vector>

namespace tessera::electromagnetics::detail {

/// Lines as the numbers of their points. Each point ends two segments at most; a closed line ends
/// where it begins.
std::vector<std::vector<int>> chains(std::size_t n_points,
                                     const std::vector<std::array<int, 2>>& segments);

/// The points to keep so that no other is further than `tolerance` from the line: Douglas and
/// Peucker, Cartographica 10 (1973) 112.
std::vector<std::array<double, 2>> simplified(const std::vector<std::array<double, 2>>& line,
                                              double tolerance);

}  // namespace tessera::electromagnetics::detail
