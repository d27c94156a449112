// SPDX-License-Identifier: Apache-2.0
// Cells of a section as model.csv has them, and which of them holds a place.
#pragma once
#include "inversion/mt2d/options.h"

#include <array>
#include <cmath>
#include <vector>

namespace tessera::apps::mt2d {

struct CellTable {
  std::vector<std::vector<Place>> cell;
  std::vector<Place> low, high;  ///< boxes around them
  double left = HUGE_VAL, right = -HUGE_VAL, top = HUGE_VAL, bottom = -HUGE_VAL;

  void add(std::vector<Place> corners);
  /// Behind the last: before `at` is asked.
  void sort();
  /// The number of the first cell that holds a place; where none does, as between a ground and
  /// another, or beside all, of that whose sides are nearest.
  std::size_t at(double y, double z) const;
  /// Where cells begin and end below a place of the line, ascending.
  std::vector<double> depths_at(double y) const;

 private:
  std::size_t nearest(double y, double z) const;
  /// The bin along an axis that holds a coordinate.
  std::size_t bin(std::size_t axis, double at) const;

  std::array<std::vector<double>, 2> edges_;  ///< between bins, along y and z
  std::vector<std::vector<std::size_t>> in_;  ///< cells whose boxes meet a bin, ascending; y first
};

}  // namespace tessera::apps::mt2d
