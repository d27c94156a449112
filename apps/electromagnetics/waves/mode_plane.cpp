// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/mode_plane.h"

#include <algorithm>

namespace tessera::apps::waves {

int nearest_line(const std::vector<double>& lines, double at) {
  const auto above = std::lower_bound(lines.begin(), lines.end(), at);
  if (above == lines.end()) return static_cast<int>(lines.size()) - 1;
  if (above == lines.begin()) return 0;
  return static_cast<int>(above - lines.begin()) - (at - above[-1] < *above - at ? 1 : 0);
}

electromagnetics::ModePlane mode_plane(const Case& c, int axis, const Point& position,
                                       const std::optional<Point>& size) {
  electromagnetics::ModePlane out{axis, nearest_line(c.grid.lines[static_cast<std::size_t>(axis)],
                                                     position[static_cast<std::size_t>(axis)])};
  for (int q = 0; q < 2 && size; ++q) {
    const auto d = static_cast<std::size_t>((axis + 1 + q) % 3), s = static_cast<std::size_t>(q);
    if (!c.grid.resolved(static_cast<int>(d))) continue;
    const std::vector<double>& lines = c.grid.lines[d];
    out.low[s] = nearest_line(lines, position[d] - (*size)[d] / 2);
    out.high[s] = nearest_line(lines, position[d] + (*size)[d] / 2);
  }
  return out;
}

int flat_axis(const Case& c, const Point& size) {
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d) && size[static_cast<std::size_t>(d)] == 0) return d;
  return -1;
}

}  // namespace tessera::apps::waves
