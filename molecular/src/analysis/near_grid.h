// SPDX-License-Identifier: Apache-2.0
//
// Points of a group in cells of the box, so that those near to a position are found among 27 cells.
// Fractions are kept cell by cell in three arrays; where the box has room for fewer than three
// cells along an edge, there is one.
#pragma once
#include "tessera/molecular/box.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::molecular {

inline double inside(double s) {
  s -= std::floor(s);
  return s < 1 ? s : 0;
}

struct NearGrid {
  std::array<std::size_t, 3> cells{1, 1, 1};
  std::vector<std::size_t> begin;        ///< of each cell in the arrays, [cells + 1]
  std::array<std::vector<double>, 3> s;  ///< fractions in [0, 1)
  std::vector<std::int32_t> atom;

  NearGrid(const std::vector<Vec3>& x, std::span<const std::int32_t> group, const Box& box,
           double r_max) {
    const Vec3 width = widths_nm(box);
    const auto most = static_cast<double>(std::max<std::size_t>(1, group.size()));
    for (std::size_t d = 0; d < 3; ++d) {
      const double n = std::floor(std::min(width[d] / r_max, std::cbrt(most) + 3));
      cells[d] = n >= 3 ? static_cast<std::size_t>(n) : 1;
    }
    std::vector<Vec3> at(group.size());
    std::vector<std::size_t> cell(group.size());
    begin.assign(cells[0] * cells[1] * cells[2] + 1, 0);
    for (std::size_t k = 0; k < group.size(); ++k) {
      at[k] = fractions(box, x[static_cast<std::size_t>(group[k])]);
      for (double& f : at[k]) f = inside(f);
      cell[k] = index(cell_of(at[k]));
      ++begin[cell[k] + 1];
    }
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (auto& list : s) list.resize(group.size());
    atom.resize(group.size());
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::size_t to = next[cell[k]]++;
      for (std::size_t d = 0; d < 3; ++d) s[d][to] = at[k][d];
      atom[to] = group[k];
    }
  }

  std::array<std::size_t, 3> cell_of(const Vec3& f) const {
    std::array<std::size_t, 3> c;
    for (std::size_t d = 0; d < 3; ++d)
      c[d] = std::min(cells[d] - 1, static_cast<std::size_t>(f[d] * static_cast<double>(cells[d])));
    return c;
  }
  std::size_t index(const std::array<std::size_t, 3>& c) const {
    return (c[0] * cells[1] + c[1]) * cells[2] + c[2];
  }

  /// `f(begin, end)` for runs of the arrays that hold all points within r_max of a position with
  /// these fractions.
  template <class F>
  void around(const Vec3& at, F&& f) const {
    const auto c = cell_of(at);
    std::array<std::array<std::size_t, 3>, 3> near;
    std::array<std::size_t, 3> n;
    for (std::size_t d = 0; d < 3; ++d) {
      n[d] = cells[d] == 1 ? 1 : 3;
      for (std::size_t k = 0; k < n[d]; ++k)
        near[d][k] = n[d] == 1 ? 0 : (c[d] + cells[d] + k - 1) % cells[d];
    }
    for (std::size_t i = 0; i < n[0]; ++i)
      for (std::size_t j = 0; j < n[1]; ++j)
        for (std::size_t k = 0; k < n[2]; ++k) {
          const std::size_t at_cell = index({near[0][i], near[1][j], near[2][k]});
          f(begin[at_cell], begin[at_cell + 1]);
        }
  }
};

}  // namespace tessera::molecular
