// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_derivatives.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

constexpr double kRounding = 1e-12;

using Place = std::tuple<int, int, int, int>;  ///< component, k, j, i

MaterialRow row_of(const YeeModel& m, int c, int j, int k) {
  const auto n = static_cast<std::size_t>(m.grid.cells(0)) + 1;
  MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
  if (m.material) m.material(c, j, k, row);
  return row;
}

[[noreturn]] void refuse_move(std::size_t parameter, const std::string& what) {
  throw Error(fmt::format("[medium_derivatives] parameter {} moves {}", parameter, what));
}

bool same_poles(const MaterialRow& a, const MaterialRow& b) {
  return a.nonlinear.empty() && b.nonlinear.empty() &&
         std::equal(a.dispersive.begin(), a.dispersive.end(), b.dispersive.begin(),
                    b.dispersive.end(), [](const DispersiveRun& x, const DispersiveRun& y) {
                      return x.first == y.first && x.weight == y.weight && x.alpha == y.alpha &&
                             x.beta == y.beta && x.shear == y.shear;
                    });
}

struct Move {
  double eps = 0, loss = 0;
};

int places_along(const YeeGrid& grid, int c, int axis) {
  return grid.cells(axis) + (grid.resolved(axis) && !at_middle(c, axis) ? 1 : 0);
}

/// Nodes whose tensors a step changes.
bool moves_tensors(const YeeModel& plus, const YeeModel& minus) {
  const auto all = [](const YeeModel& m) {
    std::map<std::tuple<int, int, int>, std::array<double, 3>> out;
    for (const NodeTensor& t : m.tensors) out[{t.i, t.j, t.k}] = {t.xy, t.xz, t.yz};
    return out;
  };
  const auto a = all(plus), b = all(minus);
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    for (std::size_t q = 0; q < 3; ++q)
      if (std::abs(x.second[q] - y.second[q]) > 1e-9) return false;
    return x.first == y.first;
  });
}

}  // namespace

Tensor MediumDerivatives::at(const Tensor& change) const {
  const auto n = static_cast<Index>(theta.size());
  std::vector<double> table;
  for (const std::vector<double>& m : moves) table.insert(table.end(), m.begin(), m.end());
  return tensor(theta) + matmul(change, tensor(table, {static_cast<Index>(moves.size()), n}));
}

MediumDerivatives medium_derivatives(
    const std::function<YeeModel(const std::vector<double>&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps) {
  if (steps.size() != at.size())
    throw Error(
        fmt::format("[medium_derivatives] needs a step for each of the {} parameters, got {}",
                    at.size(), steps.size()));
  const YeeModel base = model_of(at);
  const YeeScheme scheme(base);
  const std::vector<std::uint8_t> unknown = scheme.unknowns();
  std::map<Place, std::vector<Move>> moved;
  std::map<Place, std::array<double, 2>> own;
  for (std::size_t p = 0; p < at.size(); ++p) {
    if (!(steps[p] > 0)) throw Error("[medium_derivatives] steps should be positive");
    const auto moved_by = [&](double by) {
      std::vector<double> values = at;
      values[p] += by;
      return model_of(values);
    };
    const YeeModel plus = moved_by(steps[p]), minus = moved_by(-steps[p]);
    for (const YeeModel* m : {&plus, &minus})
      if (m->grid.lines != base.grid.lines || m->dt_s != base.dt_s)
        refuse_move(p, "the grid or the time step");
    if (!std::equal(plus.open.fractions.begin(), plus.open.fractions.end(),
                    minus.open.fractions.begin(), minus.open.fractions.end(),
                    [](const CutCellFraction& x, const CutCellFraction& y) {
                      return x.edge == y.edge && x.fraction == y.fraction;
                    }))
      refuse_move(p, "a conductor");
    if (moves_tensors(plus, minus))
      refuse_move(p, "the tensors of a face that runs across the grid");
    bool any = false;
    for (int c = 0; c < 6; ++c) {
      if (!base.active[static_cast<std::size_t>(c)]) continue;
      for (int k = 0; k < places_along(base.grid, c, 2); ++k)
        for (int j = 0; j < places_along(base.grid, c, 1); ++j) {
          const MaterialRow a = row_of(plus, c, j, k), b = row_of(minus, c, j, k),
                            here = row_of(base, c, j, k);
          if (!same_poles(a, b)) refuse_move(p, "a dispersive or nonlinear medium");
          for (int i = 0; i < places_along(base.grid, c, 0); ++i) {
            const auto q = static_cast<std::size_t>(i);
            const double x = a.inverse[q], y = b.inverse[q], lost = a.loss[q] - b.loss[q];
            if (std::abs(x - y) <= kRounding * std::max(x, y) &&
                std::abs(lost) <= kRounding * std::max(a.loss[q], b.loss[q]))
              continue;
            if (x == 0 || y == 0 || here.inverse[q] == 0) refuse_move(p, "a conductor");
            if (!is_electric(c)) refuse_move(p, "a magnetic medium");
            if (!unknown[static_cast<std::size_t>(
                    scheme.offset({static_cast<std::uint8_t>(c), i, j, k}))])
              continue;  // on an outer conductor
            const Place place{c, k, j, i};
            std::vector<Move>& list = moved[place];
            list.resize(at.size());
            list[p] = {(1 / x - 1 / y) / (2 * steps[p]), lost / (2 * steps[p])};
            own[place] = {1 / here.inverse[q], here.loss[q]};
            any = true;
          }
        }
    }
    if (!any) refuse_move(p, "nothing that the grid sees");
  }
  MediumDerivatives out;
  out.moves.assign(at.size(), {});
  for (const auto& [place, list] : moved) {
    const auto& [c, k, j, i] = place;
    out.edges.edges.push_back({static_cast<std::uint8_t>(c), i, j, k});
    for (const double x : own[place]) out.theta.push_back(x);
    for (std::size_t p = 0; p < at.size(); ++p)
      out.moves[p].insert(out.moves[p].end(), {list[p].eps, list[p].loss});
  }
  return out;
}

}  // namespace tessera::electromagnetics
