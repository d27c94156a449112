// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/samples.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {

std::vector<AxisWeight> axis_weights(const YeeGrid& grid, Faces faces, int component, int axis,
                                     double at) {
  const int n = grid.cells(axis);
  if (!grid.resolved(axis)) return {{0, 1.0}};
  const std::vector<double>& lines = grid.lines[axis];
  const double tolerance = 1e-9 * (lines[n] - lines[0]);
  if (!(at >= lines[0] - tolerance && at <= lines[n] + tolerance))
    throw Error(fmt::format(
        "[interpolate] {:.6g} m on axis {} lies outside of the domain, {:.6g} to {:.6g} m", at,
        "xyz"[axis], lines[0], lines[n]));
  const bool joined = faces.low == Boundary::periodic, middle = at_middle(component, axis);
  const int count = middle ? n : n + 1;
  const auto position = [&](int i) { return middle ? grid.middle(axis, i) : lines[i]; };
  int above = 0;
  while (above < count && position(above) < at) ++above;
  std::vector<AxisWeight> out;
  const auto add = [&](int i, double w) {
    if (std::abs(w) < 1e-12) return;
    if (joined) {
      const int period = i < 0 ? -1 : i / n;
      out.push_back({i - period * n, w, period});
    } else if (middle) {
      out.push_back({std::clamp(i, 0, n - 1), w});
    } else {
      const bool conductor =
          (i == 0 && faces.low != Boundary::pmc) || (i == n && faces.high != Boundary::pmc);
      if (!conductor) out.push_back({i, w});
    }
  };
  if (above > 0 && above < count) {
    const double share = (at - position(above - 1)) / (position(above) - position(above - 1));
    add(above - 1, 1 - share);
    add(above, share);
  } else if (middle && joined) {  // across the seam
    const double gap = (grid.length(axis, 0) + grid.length(axis, n - 1)) / 2;
    const double share = above == 0 ? 1 - (position(0) - at) / gap : (at - position(n - 1)) / gap;
    const int before = above == 0 ? -1 : n - 1;
    add(before, 1 - share);
    add(before + 1, share);
  } else {
    // E along the axis and H across it are even at an electric conductor, odd at a magnetic one.
    const bool low = above == 0, odd = middle && (low ? faces.low : faces.high) == Boundary::pmc;
    const int i = low ? 0 : count - 1;
    const double face = low ? lines[0] : lines[n];
    add(i, odd ? std::max((at - face) / (position(i) - face), 0.0) : 1.0);
  }
  return out;
}

double reference_length(const YeeGrid& grid) {
  double least = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (grid.resolved(d)) least = std::min(least, grid.smallest_length(d));
  return least;
}

std::vector<EdgeWeight> interpolate(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                    int component, const Point& p, const CutCellFractions& open) {
  const int axis = axis_of(component);
  const double unit = reference_length(grid) / (is_electric(component) ? 1.0 : vacuum_impedance);
  std::vector<EdgeWeight> out;
  for (const AxisWeight& z : axis_weights(grid, faces[2], component, 2, p[2]))
    for (const AxisWeight& y : axis_weights(grid, faces[1], component, 1, p[1]))
      for (const AxisWeight& x : axis_weights(grid, faces[0], component, 0, p[0])) {
        const Edge e{static_cast<std::uint8_t>(component), x.index, y.index, z.index};
        const int at[3] = {e.i, e.j, e.k};
        const bool wraps = !grid.resolved(axis) || faces[axis].low == Boundary::periodic;
        const double length = is_electric(component)
                                  ? grid.length(axis, at[axis]) * open.length_fraction(e)
                                  : grid.dual_length(axis, at[axis], wraps);
        out.push_back(
            {e, x.weight * y.weight * z.weight * unit / length, {x.period, y.period, z.period}});
      }
  return out;
}

void SampleList::add_share(const Edge& e, double weight, const std::array<int, 3>& periods) {
  const auto [it, fresh] =
      known_.try_emplace({e.component, e.k, e.j, e.i}, static_cast<std::int64_t>(edges_.size()));
  if (fresh) edges_.push_back(e);
  column_.push_back(it->second);
  weight_.push_back(weight);
  if (bloch_phase_ == std::array<double, 3>{}) return;
  double phase = 0;
  for (std::size_t d = 0; d < 3; ++d) phase -= periods[d] * bloch_phase_[d];
  phase_.push_back(std::polar(1.0, phase));
}

std::int64_t SampleList::add_unknown(const Edge& e, const std::array<int, 3>& periods) {
  add_share(e, 1, periods);
  begin_.push_back(static_cast<std::int64_t>(column_.size()));
  return size() - 1;
}

std::int64_t SampleList::add(int component, const Point& p) {
  static const CutCellFractions all_open;
  const CutCellFractions& open = open_ ? *open_ : all_open;  // no copy of what may be long
  const std::vector<EdgeWeight> shares =
      interpolate(grid_, faces_, component, p, open);  // also sees that p lies in the domain
  if (computes(component))
    for (const EdgeWeight& w : shares) add_share(w.edge, w.weight, w.periods);
  begin_.push_back(static_cast<std::int64_t>(column_.size()));
  return size() - 1;
}

}  // namespace tessera::electromagnetics
