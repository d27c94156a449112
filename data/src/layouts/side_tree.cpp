// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/outlines.h"

#include <algorithm>

namespace tessera::data {
namespace {

constexpr std::size_t kFewSides = 4;  ///< of a leaf

}  // namespace

SideTree::SideTree(std::vector<Side> sides) : sides_(std::move(sides)) {
  nodes_.reserve(sides_.size());
  if (!sides_.empty()) build(0, sides_.size());
}

std::uint32_t SideTree::build(std::size_t first, std::size_t last) {
  const auto here = static_cast<std::uint32_t>(nodes_.size());
  Place2 low = sides_[first].from, high = low;
  for (std::size_t n = first; n < last; ++n)
    for (const Place2& p : {sides_[n].from, sides_[n].to})
      for (std::size_t k = 0; k < 2; ++k) {
        low[k] = std::min(low[k], p[k]);
        high[k] = std::max(high[k], p[k]);
      }
  const bool leaf = last - first <= kFewSides;
  nodes_.push_back({low, high, static_cast<std::uint32_t>(first),
                    leaf ? static_cast<std::uint32_t>(last - first) : 0});
  if (leaf) return here;
  const std::size_t axis = high[0] - low[0] >= high[1] - low[1] ? 0 : 1, half = (first + last) / 2;
  std::nth_element(sides_.begin() + static_cast<std::ptrdiff_t>(first),
                   sides_.begin() + static_cast<std::ptrdiff_t>(half),
                   sides_.begin() + static_cast<std::ptrdiff_t>(last),
                   [axis](const Side& a, const Side& b) {
                     return a.from[axis] + a.to[axis] < b.from[axis] + b.to[axis];
                   });
  build(first, half);
  const std::uint32_t second = build(half, last);
  nodes_[here].first = second;
  return here;
}

double area_of(const std::vector<Side>& rim) {
  if (rim.empty()) return 0;
  const Place2 o = rim.front().from;  // near the sides: products of large coordinates lose digits
  double sum = 0, lost = 0;
  for (const Side& s : rim) {
    const double term =
        (s.from[0] - o[0]) * (s.to[1] - o[1]) - (s.to[0] - o[0]) * (s.from[1] - o[1]);
    const double y = term - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum / 2;
}

}  // namespace tessera::data
