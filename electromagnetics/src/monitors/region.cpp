// SPDX-License-Identifier: Apache-2.0
#include "monitors/on_line.h"
#include "tessera/electromagnetics/monitors.h"

namespace tessera::electromagnetics {

Region region_of(const YeeGrid& grid, const Point& position, const Point& size) {
  Region out;
  std::vector<double>* axes[3] = {&out.x, &out.y, &out.z};
  for (int d = 0; d < 3; ++d) {
    const double middle = position[d], extent = size[d];
    if (!grid.resolved(d) || extent == 0) {
      *axes[d] = {grid.resolved(d) ? middle : grid.middle(d, 0)};
      continue;
    }
    for (int i = 0; i < grid.cells(d); ++i) {
      const double at = grid.middle(d, i), near = detail::on_line * grid.length(d, i);
      if (at >= middle - extent / 2 - near && at <= middle + extent / 2 + near)
        axes[d]->push_back(at);
    }
    if (axes[d]->empty()) *axes[d] = {middle};
  }
  return out;
}

void add_region(SampleList& samples, const Region& r, const std::vector<int>& components) {
  for (const int c : components)
    for (const double z : r.z)
      for (const double y : r.y)
        for (const double x : r.x) samples.add(c, {x, y, z});
}

}  // namespace tessera::electromagnetics
