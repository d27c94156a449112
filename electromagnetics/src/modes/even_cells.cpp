// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/grid_modes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <vector>

namespace tessera::electromagnetics {
namespace {

/// The rows of a model and what a place of one consists of.
struct GuideRows {
  const YeeModel& model;

  MaterialRow row(int c, int j, int k) const {
    const auto n = static_cast<std::size_t>(model.grid.cells(0)) + 1;
    MaterialRow out{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
    if (model.material) model.material(c, j, k, out);
    return out;
  }
  /// Numbers that are equal where the step does the same.
  std::vector<double> at(const MaterialRow& row, const Edge& e) const {
    const auto i = static_cast<std::size_t>(e.i);
    std::vector<double> out{row.inverse[i], row.loss[i], model.open.fraction(e)};
    for (const DispersiveRun& d : row.dispersive) {
      if (e.i < d.first || e.i >= d.first + static_cast<int>(d.weight.size())) continue;
      out.push_back(d.weight[static_cast<std::size_t>(e.i - d.first)]);
      for (const auto* list : {&d.alpha, &d.beta})
        for (const std::complex<double>& x : *list) out.insert(out.end(), {x.real(), x.imag()});
      out.insert(out.end(), d.shear.begin(), d.shear.end());
    }
    for (const NonlinearRun& d : row.nonlinear)
      if (e.i >= d.first && e.i < d.first + static_cast<int>(d.chi2.size()))
        for (const auto* list : {&d.chi2, &d.chi3})
          out.push_back((*list)[static_cast<std::size_t>(e.i - d.first)]);
    return out;
  }
};

/// Numbers by node, place along n left out: what tensors couple at a line, within the plane's
/// walls.
std::map<std::array<int, 2>, std::vector<double>> tensors_at(const YeeModel& model,
                                                             const ModePlane& plane, int line) {
  std::map<std::array<int, 2>, std::vector<double>> out;
  for (const NodeTensor& t : model.tensors) {
    const int at[3] = {t.i, t.j, t.k};
    if (at[plane.axis] != line) continue;
    std::array<int, 2> node{};
    bool within = true;
    for (std::size_t q = 0; q < 2; ++q) {
      node[q] = at[(plane.axis + 1 + static_cast<int>(q)) % 3];
      within = within && (plane.low[q] < 0 || node[q] >= plane.low[q]) &&
               (plane.high[q] < 0 || node[q] <= plane.high[q]);
    }
    if (!within) continue;
    std::vector<double>& all = out[node];
    all.insert(all.end(), {t.xy, t.xz, t.yz});
    for (const auto& pair : t.pairs) all.insert(all.end(), pair.begin(), pair.end());
  }
  return out;
}

/// Up to the rounding of shares that are computed at different positions.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  });
}

}  // namespace

int even_cells(const YeeModel& model, const ModePlane& plane, int step, int most) {
  const int n = plane.axis, cells = model.grid.cells(n);
  if (plane.line < 0 || plane.line > cells || (step != 1 && step != -1))
    throw Error("[even_cells] needs a line of the grid, and a step of 1 or -1");
  int even = std::min(most, step > 0 ? cells - plane.line : plane.line);
  if (!model.tensors.empty()) {
    const auto own = tensors_at(model, plane, plane.line);
    const auto equal = [](const auto& a, const auto& b) {
      return a.first == b.first &&
             std::equal(a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
                        [](double x, double y) { return std::abs(x - y) <= 1e-9; });
    };
    for (int s = 1; s <= even; ++s) {
      const auto other = tensors_at(model, plane, plane.line + step * s);
      if (!std::equal(own.begin(), own.end(), other.begin(), other.end(), equal)) even = s - 1;
    }
  }
  const GuideRows rows{model};
  for (int c = 0; c < 6; ++c) {
    if (!model.active[static_cast<std::size_t>(c)]) continue;
    int begin[3], end[3];
    for (int d = 0; d < 3; ++d) {
      const int q = (d - n + 2) % 3;  // 0, 1: which of the plane's axes it is
      const bool middle = at_middle(c, d), whole = d == n || plane.low[q] < 0;
      begin[d] = whole ? 0 : plane.low[q];
      end[d] = (d == n || plane.high[q] < 0 ? model.grid.cells(d) : plane.high[q]) +
               (middle || !model.grid.resolved(d) ? 0 : 1);
    }
    // Places along n: the plane's, and those that belong to its cells in turn.
    const bool middle = at_middle(c, n);
    const int first = std::min(plane.line, cells - (middle ? 1 : 0));
    begin[n] = first, end[n] = first + 1;
    for (int k = begin[2]; k < end[2]; ++k)
      for (int j = begin[1]; j < end[1]; ++j) {
        const MaterialRow own = rows.row(c, j, k);
        for (int s = 0; s < even; ++s) {
          const int place =
              middle ? (step > 0 ? plane.line + s : plane.line - 1 - s) : plane.line + step * s;
          const MaterialRow other = n == 0   ? own
                                    : n == 1 ? rows.row(c, place, k)
                                             : rows.row(c, j, place);
          for (int i = begin[0]; i < end[0] && s < even; ++i) {
            const Edge here{static_cast<std::uint8_t>(c), i, j, k};
            Edge there = here;
            (n == 0 ? there.i : n == 1 ? there.j : there.k) = place;
            if (!same(rows.at(own, here), rows.at(other, there))) even = s;
          }
        }
      }
  }
  return even;
}

}  // namespace tessera::electromagnetics
