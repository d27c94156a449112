// SPDX-License-Identifier: Apache-2.0
//
// The staggered grid of K. S. Yee, IEEE Trans. Antennas Propag. 14 (1966) 302-307, on rectilinear
// lines.
//
//   E_x at (i+1/2, j, k)     H_x at (i, j+1/2, k+1/2)     and cyclic
//
// Cell i of an axis lies between its lines i and i+1. An axis that is not resolved (2-D, 1-D) has
// one cell. So may one that is, where its faces are joined.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics {

/// Field components in the order in which all of this module counts them.
enum Component : std::uint8_t { Ex, Ey, Ez, Hx, Hy, Hz };
constexpr bool is_electric(int component) { return component < 3; }
/// The axis that a component points along.
constexpr int axis_of(int component) { return component % 3; }
/// Whether the component lies at the middles (true) or at the lines (false) of `axis`.
constexpr bool at_middle(int component, int axis) {
  return is_electric(component) == (axis_of(component) == axis);
}
/// "Ex" ... "Hz".
const char* name_of(int component);

/// One position where a component is known: E along an edge of the grid, H across a face of it.
struct Edge {
  std::uint8_t component = Ex;
  int i = 0, j = 0, k = 0;
  bool operator==(const Edge&) const = default;
};

/// Rising coordinates of the lines, in m; n + 1 of them bound n cells.
struct YeeGrid {
  std::array<std::vector<double>, 3> lines;
  /// Of an axis of one cell: that it is resolved, a period whose faces are joined. A phase between
  /// them is a wave along it.
  std::array<bool, 3> one_cell_period{};

  int cells(int axis) const { return static_cast<int>(lines[axis].size()) - 1; }
  std::int64_t cell_count() const { return std::int64_t{1} * cells(0) * cells(1) * cells(2); }
  bool resolved(int axis) const { return cells(axis) > 1 || one_cell_period[axis]; }
  int dimensions() const { return int{resolved(0)} + int{resolved(1)} + int{resolved(2)}; }
  double middle(int axis, int i) const { return (lines[axis][i] + lines[axis][i + 1]) / 2; }
  /// Length of cell i.
  double length(int axis, int i) const { return lines[axis][i + 1] - lines[axis][i]; }
  /// Length that line i stands for: half of the cells at both sides. At an outer line it is half of
  /// the one cell there, or, where the axis is `periodic`, half of the first and of the last cell.
  double dual_length(int axis, int i, bool periodic) const;
  /// Where a component is known.
  std::array<double, 3> position(const Edge& e) const;
  double smallest_length(int axis) const;
};

/// Planes of cells across an axis: `count` of them from `first` on, behind the last one of the grid
/// its first again. Without an axis all cells.
struct Planes {
  int axis = -1, first = 0, count = 0;
  /// The number among these of plane `i` of a grid of so many; -1: it is none of them.
  int number(int i, int cells) const {
    const int n = i < first ? i - first + cells : i - first;
    return n < count ? n : -1;
  }
};

/// Evenly spaced lines about `centre`; an axis with `size` 0 is not resolved and gets one cell of
/// length `cell`. The number of cells is size / cell rounded; throws Error where it is not whole to
/// 1e-6 relative or not positive.
YeeGrid uniform_grid(const std::array<double, 3>& size, double cell,
                     const std::array<double, 3>& centre = {});

/// The largest eigenvalue of the curl-curl operator of the grid without material, in 1/m^2 (an
/// upper bound, exact for even spacing): sum over resolved axes of 4 / (smallest length)^2.
/// Leapfrog is stable for (c dt)^2 lambda < 4 eps mu.
double curl_curl_bound(const YeeGrid& grid);

/// The longest stable time step in a medium of relative eps * mu >= `eps_mu_min`, in s.
double stable_time_step(const YeeGrid& grid, double eps_mu_min = 1);

}  // namespace tessera::electromagnetics
