// SPDX-License-Identifier: Apache-2.0
// Where a section that is given asks for lines of a mesh, and for how small cells: fields turn
// within a skin depth of what they enter, at the highest frequency that gets there.
#pragma once
#include "inversion/mt2d/input.h"
#include "inversion/mt2d/section_model.h"

#include <vector>

namespace tessera::apps::mt2d {

/// Cells at a place are no larger than `size` and a share of the distance to it.
struct SizeAt {
  double at = 0, size = 0;
};
/// The least of size + rate |x - at|.
double size_by(const std::vector<SizeAt>& wanted, double x, double rate);

struct SectionSizes {
  /// Places of corners and depths at which media change, as far as fields get, rising.
  std::vector<double> y, depth;
  std::vector<SizeAt> along, down;
  double reach = 0;  ///< m: what is further than this, down or aside, does not count
};
/// `part` of a skin depth. Frequencies fall.
SectionSizes section_sizes(const SectionModel& model, const Ground& ground,
                           const std::vector<double>& frequency_hz, double part);

}  // namespace tessera::apps::mt2d
