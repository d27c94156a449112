// SPDX-License-Identifier: Apache-2.0
#include "geometry/pixel_range.h"

#include "geometry/plane_cut.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics {

std::array<int, 3> Pixels::around(const Point& p) const {
  std::array<int, 3> out;
  for (int k = 0; k < 3; ++k) {
    const auto above = std::upper_bound(lines[k].begin(), lines[k].end(), p[k]);
    out[k] = std::clamp(static_cast<int>(above - lines[k].begin()) - 1, 0, count(k) - 1);
  }
  return out;
}

namespace detail {

PixelRange pixels_in(const Pixels& pixels, const Box& box) {
  const std::array<int, 3> nearest = pixels.around(box.centre);
  PixelRange out;
  for (int k = 0; k < 3; ++k) {
    const std::vector<double>& lines = pixels.lines[k];
    const double low = box.centre[k] - box.size[k] / 2, high = box.centre[k] + box.size[k] / 2,
                 slack = touching * (box.size[k] + std::abs(box.centre[k]));
    const auto first = std::upper_bound(lines.begin(), lines.end(), low + slack),
               last = std::lower_bound(lines.begin(), lines.end(), high - slack);
    out.low[k] = std::max(static_cast<int>(first - lines.begin()) - 1, 0);
    out.high[k] = std::min(static_cast<int>(last - lines.begin()), pixels.count(k));
    if (box.size[k] == 0 || out.low[k] >= out.high[k])
      out.low[k] = nearest[k], out.high[k] = nearest[k] + 1;
  }
  return out;
}

std::optional<int> only_medium(const Pixels& pixels, const PixelRange& range) {
  const std::int32_t first = pixels.at(range.low);
  for (int k = range.low[2]; k < range.high[2]; ++k)
    for (int j = range.low[1]; j < range.high[1]; ++j)
      for (int i = range.low[0]; i < range.high[0]; ++i)
        if (pixels.at({i, j, k}) != first) return {};
  return first;
}

std::array<std::vector<double>, 3> lines_within(const Pixels& pixels, const PixelRange& range,
                                                const Box& box) {
  std::array<std::vector<double>, 3> out;
  for (int k = 0; k < 3; ++k)
    for (int i = range.low[k] + 1; i < range.high[k]; ++i)
      out[k].push_back(pixels.lines[k][static_cast<std::size_t>(i)] - box.centre[k]);
  return out;
}

}  // namespace detail
}  // namespace tessera::electromagnetics
