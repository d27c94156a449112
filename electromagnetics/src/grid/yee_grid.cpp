// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/yee_grid.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::electromagnetics {

const char* name_of(int component) {
  static constexpr const char* names[] = {"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"};
  return names[component];
}

double YeeGrid::dual_length(int axis, int i, bool periodic) const {
  const int n = cells(axis);
  double sum = 0;
  if (i > 0)
    sum += length(axis, i - 1);
  else if (periodic)
    sum += length(axis, n - 1);
  if (i < n)
    sum += length(axis, i);
  else if (periodic)
    sum += length(axis, 0);
  return sum / 2;
}

std::array<double, 3> YeeGrid::position(const Edge& e) const {
  const int at[3] = {e.i, e.j, e.k};
  std::array<double, 3> p{};
  for (int d = 0; d < 3; ++d) p[d] = at_middle(e.component, d) ? middle(d, at[d]) : lines[d][at[d]];
  return p;
}

double YeeGrid::smallest_length(int axis) const {
  double least = length(axis, 0);
  for (int i = 1; i < cells(axis); ++i) least = std::min(least, length(axis, i));
  return least;
}

YeeGrid uniform_grid(const std::array<double, 3>& size, double cell,
                     const std::array<double, 3>& centre) {
  if (!(cell > 0)) throw Error("[uniform_grid] the cell must have a positive length");
  YeeGrid grid;
  for (int d = 0; d < 3; ++d) {
    const double count = size[d] > 0 ? size[d] / cell : 1;
    const double whole = std::round(count);
    if (!(whole >= 1) || std::abs(count - whole) > 1e-6 * whole)
      throw Error("[uniform_grid] axis " + std::string(1, "xyz"[d]) + " is " +
                  std::to_string(count) +
                  " cells long: choose a size that is a whole multiple of the cell");
    const int n = static_cast<int>(whole);
    grid.lines[d].resize(n + 1);
    for (int i = 0; i <= n; ++i) grid.lines[d][i] = centre[d] + (i - n / 2.0) * cell;
  }
  return grid;
}

double curl_curl_bound(const YeeGrid& grid) {
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    if (grid.resolved(d)) sum += 4 / std::pow(grid.smallest_length(d), 2);
  return sum;
}

double stable_time_step(const YeeGrid& grid, double eps_mu_min) {
  return 2 * std::sqrt(eps_mu_min / curl_curl_bound(grid)) / speed_of_light;
}

}  // namespace tessera::electromagnetics
