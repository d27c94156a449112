// SPDX-License-Identifier: Apache-2.0
#include "monitors/on_line.h"
#include "tessera/electromagnetics/monitors.h"

namespace tessera::electromagnetics {

PointSource point_source(const YeeGrid& grid, int component) {
  const int dimensions = grid.dimensions();
  return dimensions == 3           ? PointSource::dipole
         : dimensions == 1         ? PointSource::sheet
         : axis_of(component) == 2 ? PointSource::line
                                   : PointSource::line_dipole;
}

double images_of_current(const YeeGrid& grid, const std::array<Faces, 3>& faces, int component,
                         const Point& position) {
  double n = 1;
  for (int d = 0; d < 3; ++d) {
    if (!grid.resolved(d)) continue;
    const auto u = static_cast<std::size_t>(d);
    const std::vector<double>& lines = grid.lines[u];
    const double at = position[u], near = detail::on_line * (lines.back() - lines.front());
    const bool across = axis_of(component) == d;
    const Boundary mirror = across == is_electric(component) ? Boundary::pec : Boundary::pmc;
    if ((faces[u].low == mirror && at <= lines.front() + near) ||
        (faces[u].high == mirror && at >= lines.back() - near))
      n *= 2;
  }
  return n;
}

}  // namespace tessera::electromagnetics
