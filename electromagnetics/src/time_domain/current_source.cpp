// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

/// Shares of the positions of one axis in a current: what their face (across the current) or edge
/// (along it) holds of the box. Along the current the share is of the mean over the edge, so that
/// sum of share times length is the box's extent, or 1 for a delta.
std::vector<AxisWeight> shares(const YeeGrid& grid, Faces faces, int component, int axis,
                               double low, double high) {
  const bool along = axis == axis_of(component), middle = at_middle(component, axis);
  const bool wraps = !grid.resolved(axis) || faces.low == Boundary::periodic;
  const auto length = [&](int i) {
    return middle ? grid.length(axis, i) : grid.dual_length(axis, i, wraps);
  };
  if (!grid.resolved(axis)) return {{0, along ? 1.0 : length(0)}};
  if (low == high) {
    std::vector<AxisWeight> out = axis_weights(grid, faces, component, axis, low);
    if (along)
      for (AxisWeight& w : out) w.weight /= length(w.index);
    return out;
  }
  std::vector<AxisWeight> out;
  const int n = grid.cells(axis);
  for (int i = 0; i < (middle ? n : n + 1); ++i) {
    const double from = middle   ? grid.lines[axis][i]
                        : i == 0 ? grid.lines[axis][0]
                                 : grid.middle(axis, i - 1);
    const double to = middle   ? grid.lines[axis][i + 1]
                      : i == n ? grid.lines[axis][n]
                               : grid.middle(axis, i);
    const double overlap = std::min(to, high) - std::max(from, low);
    if (overlap <= 1e-12 * (to - from)) continue;
    const bool conductor = !middle && ((i == 0 && faces.low != Boundary::pmc) ||
                                       (i == n && faces.high != Boundary::pmc));
    if (conductor && !wraps) continue;
    out.push_back({wraps && !middle ? i % n : i, along ? overlap / length(i) : overlap});
  }
  return out;
}

}  // namespace

Injection current_source(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                         int component, const Point& low, const Point& high, double amplitude,
                         const Waveform& waveform, const Point& bloch_k,
                         const CutCellFractions& open) {
  Injection out;
  std::vector<double> moment;
  const double unit =
      -(is_electric(component) ? vacuum_impedance : 1.0) * amplitude / reference_length(grid);
  const auto axis = static_cast<std::size_t>(axis_of(component));
  const bool delta =
      is_electric(component) && grid.resolved(axis_of(component)) && low[axis] == high[axis];
  const auto x = shares(grid, faces[0], component, 0, low[0], high[0]);
  const auto y = shares(grid, faces[1], component, 1, low[1], high[1]);
  const auto z = shares(grid, faces[2], component, 2, low[2], high[2]);
  // Of a delta the shares are real, and only what lies behind a seam has the phase of a period: the
  // current at an edge is that of its image there times e^{i k a}.
  const auto phase_along = [&](int d, double at, int period) {
    const auto u = static_cast<std::size_t>(d);
    const std::vector<double>& lines = grid.lines[u];
    return low[u] == high[u] ? period * bloch_k[u] * (lines.back() - lines.front())
                             : -bloch_k[u] * (at - (low[u] + high[u]) / 2);
  };
  for (const AxisWeight& c : z)
    for (const AxisWeight& b : y)
      for (const AxisWeight& a : x) {
        out.edges.push_back({static_cast<std::uint8_t>(component), a.index, b.index, c.index});
        moment.push_back(unit * a.weight * b.weight * c.weight /
                         (delta ? open.length_fraction(out.edges.back()) : 1.0));
        if (bloch_k == Point{}) continue;
        const Point at = grid.position(out.edges.back());
        out.phase.push_back(phase_along(0, at[0], a.period) + phase_along(1, at[1], b.period) +
                            phase_along(2, at[2], c.period));
      }
  if (out.edges.empty())
    throw Error(
        "[current_source] the source lies on an outer conductor, on a magnetic one whose image "
        "takes it away, or outside of the domain: it drives nothing");
  const double offset = is_electric(component) ? 0.5 : 0.0;
  out.end_s = waveform.end_s;
  out.fill = [moment, offset, dt_s, at = waveform.at](std::int64_t first, std::int64_t n_steps,
                                                      double* currents) {
    for (std::int64_t n = 0; n < n_steps; ++n) {
      const double w = at((static_cast<double>(first + n) + offset) * dt_s);
      for (std::size_t m = 0; m < moment.size(); ++m) *currents++ = w * moment[m];
    }
  };
  return out;
}

}  // namespace tessera::electromagnetics
