// SPDX-License-Identifier: Apache-2.0
#include "time_domain/box_surface.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics::time_domain {
namespace {

/// Walks over the surface in the order of memory.
class Walk {
 public:
  Walk(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Box& box)
      : grid_(grid), faces_(faces), box_(box), unit_(reference_length(grid)) {
    for (int c = 0; c < 6; ++c)
      for (int k = first(2); k <= last(2); ++k)
        for (int j = first(1); j <= last(1); ++j) {
          const bool all = near(1, j) || near(2, k);
          for (int i = first(0); i <= last(0); ++i) {
            if (!all && !near(0, i)) i = std::max(i, box_.high[0] - 2);
            visit({static_cast<std::uint8_t>(c), i, j, k});
          }
        }
  }
  Surface found;

 private:
  int first(int d) const { return std::max(box_.low[d] - 1, 0); }
  int last(int d) const { return std::min(box_.high[d] + 1, grid_.cells(d)); }
  bool near(int d, int i) const {
    return !box_.open[d] && (std::abs(i - box_.low[d]) <= 1 || std::abs(i - box_.high[d]) <= 1);
  }

  /// Whether the scheme computes the edge, and on which side it lies.
  bool computed(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d) {
      const int n = grid_.cells(d);
      int low = 0, high = n - 1;
      if (!at_middle(e.component, d) && grid_.resolved(d) && faces_[d].low != Boundary::periodic) {
        low = faces_[d].low == Boundary::pmc ? 0 : 1;
        high = faces_[d].high == Boundary::pmc ? n : n - 1;
      }
      if (at[d] < low || at[d] > high) return false;
    }
    return true;
  }
  bool inside(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      if (!box_.open[d] &&
          (at[d] < box_.low[d] || at[d] > box_.high[d] - (at_middle(e.component, d) ? 1 : 0)))
        return false;
    return true;
  }
  double scale(const Edge& e) const {
    const int axis = axis_of(e.component), at[3] = {e.i, e.j, e.k};
    const bool wraps = !grid_.resolved(axis) || faces_[axis].low == Boundary::periodic;
    return (is_electric(e.component) ? grid_.length(axis, at[axis])
                                     : grid_.dual_length(axis, at[axis], wraps)) /
           unit_;
  }

  /// The four terms of (curl f)_a = (f_d - f_d[b-1]) - (f_b - f_b[d-1]) (E; for H one further), b =
  /// a + 1, d = a + 2.
  void visit(const Edge& e) {
    if (!computed(e)) return;
    const bool electric = is_electric(e.component), within = inside(e);
    if (electric != within) return;  // the unknowns inside are corrected on E, those outside on H
    const int a = axis_of(e.component);
    bool any = false;
    for (const int order : {1, 2}) {
      const int axis = (a + order) % 3, source = (a + 3 - order) % 3 + (electric ? 3 : 0);
      if (box_.open[axis]) continue;
      for (const int shift : electric ? std::array{-1, 0} : std::array{0, 1}) {
        Edge other{static_cast<std::uint8_t>(source), e.i, e.j, e.k};
        (axis == 0 ? other.i : axis == 1 ? other.j : other.k) += shift;
        if (!exists(other) || inside(other) == within) continue;
        const bool upper = shift == (electric ? 0 : 1);
        const double curl = (order == 1 ? 1.0 : -1.0) * (upper ? 1.0 : -1.0);
        if (!any) found.edges.push_back(e);
        any = true;
        // Seen from inside, what the scattered field lacks is added to curl h; from outside, what
        // the total field has too much is taken from curl e, which drives -h.
        found.terms.push_back(
            {static_cast<std::int64_t>(found.edges.size()) - 1, other, curl * scale(other)});
      }
    }
  }
  bool exists(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] > grid_.cells(d) - (at_middle(e.component, d) ? 1 : 0)) return false;
    return true;
  }

  const YeeGrid& grid_;
  const std::array<Faces, 3>& faces_;
  const Box& box_;
  double unit_;
};

}  // namespace

Surface surface_of(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Box& box) {
  return Walk(grid, faces, box).found;
}

int nearest_line(const std::vector<double>& lines, double at) {
  const auto above = std::lower_bound(lines.begin(), lines.end(), at);
  if (above == lines.begin()) return 0;
  if (above == lines.end() || at - above[-1] < *above - at)
    return static_cast<int>(above - lines.begin()) - 1;
  return static_cast<int>(above - lines.begin());
}

std::array<double, 6> lagrange(double x) {
  std::array<double, 6> w;
  for (int i = 0; i < 6; ++i) {
    w[i] = 1;
    for (int j = 0; j < 6; ++j)
      if (j != i) w[i] *= (x - (j - 2)) / (i - j);
  }
  return w;
}

}  // namespace tessera::electromagnetics::time_domain
