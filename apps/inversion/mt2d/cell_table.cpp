// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/cell_table.h"

#include "inversion/mt2d/section_model.h"

#include <algorithm>

namespace tessera::apps::mt2d {
namespace {

/// From a place to the nearest of a polygon's sides.
double away_from_sides(const std::vector<Place>& polygon, double y, double z) {
  double out = HUGE_VAL;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Place &a = polygon[j], &b = polygon[i];
    const double dy = b[0] - a[0], dz = b[1] - a[1], squared = dy * dy + dz * dz,
                 share = squared > 0
                             ? std::clamp(((y - a[0]) * dy + (z - a[1]) * dz) / squared, 0.0, 1.0)
                             : 0;
    out = std::min(out, std::hypot(y - a[0] - share * dy, z - a[1] - share * dz));
  }
  return out;
}

}  // namespace

void CellTable::add(std::vector<Place> corners) {
  Place from{HUGE_VAL, HUGE_VAL}, to{-HUGE_VAL, -HUGE_VAL};
  for (const Place& at : corners)
    for (std::size_t a = 0; a < 2; ++a)
      from[a] = std::min(from[a], at[a]), to[a] = std::max(to[a], at[a]);
  cell.push_back(std::move(corners));
  low.push_back(from), high.push_back(to);
  left = std::min(left, from[0]), right = std::max(right, to[0]);
  top = std::min(top, from[1]), bottom = std::max(bottom, to[1]);
}

void CellTable::sort() {
  // As many bins as cells, with edges where cells have theirs: small cells, small bins.
  const auto most = static_cast<std::size_t>(std::ceil(std::sqrt(double(cell.size()))));
  for (std::size_t a = 0; a < 2; ++a) {
    std::vector<double> all;
    for (const Place& p : low) all.push_back(p[a]);
    for (const Place& p : high) all.push_back(p[a]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::size_t step = (all.size() + most - 1) / most;
    for (std::size_t i = step; i + 1 < all.size(); i += step) edges_[a].push_back(all[i]);
  }
  const std::size_t rows = edges_[1].size() + 1;
  in_.resize((edges_[0].size() + 1) * rows);
  for (std::size_t k = 0; k < cell.size(); ++k)
    for (std::size_t i = bin(0, low[k][0]); i <= bin(0, high[k][0]); ++i)
      for (std::size_t j = bin(1, low[k][1]); j <= bin(1, high[k][1]); ++j)
        in_[i * rows + j].push_back(k);
}

std::size_t CellTable::bin(std::size_t axis, double at) const {
  const std::vector<double>& e = edges_[axis];
  return static_cast<std::size_t>(std::upper_bound(e.begin(), e.end(), at) - e.begin());
}

std::size_t CellTable::at(double y, double z) const {
  const double u = std::clamp(y, left, right), v = std::clamp(z, top, bottom);
  for (const std::size_t k : in_[bin(0, u) * (edges_[1].size() + 1) + bin(1, v)])
    if (low[k][0] <= u && u <= high[k][0] && low[k][1] <= v && v <= high[k][1] &&
        lies_in(cell[k], u, v))
      return k;
  return nearest(u, v);
}

std::size_t CellTable::nearest(double u, double v) const {
  std::size_t out = 0;
  double least = HUGE_VAL;
  for (std::size_t k = 0; k < cell.size(); ++k)
    if (std::hypot(std::max({low[k][0] - u, u - high[k][0], 0.0}),
                   std::max({low[k][1] - v, v - high[k][1], 0.0})) < least)
      if (const double away = away_from_sides(cell[k], u, v); away < least) least = away, out = k;
  return out;
}

std::vector<double> CellTable::depths_at(double y) const {
  const double u = std::clamp(y, left, right);
  std::vector<double> out;
  for (std::size_t k = 0; k < cell.size(); ++k)
    if (low[k][0] <= u && u <= high[k][0]) out.push_back(low[k][1]), out.push_back(high[k][1]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace tessera::apps::mt2d
