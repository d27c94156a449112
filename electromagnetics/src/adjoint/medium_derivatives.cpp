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

/// What an edge is made of, its poles as weights of the sets that are known.
struct EdgeMedium {
  double eps = 0, loss = 0;
  std::map<std::size_t, double> weights;
};

/// Sets of poles, each once.
class PoleSets {
 public:
  EdgeMedium at(const MaterialRow& row, int i) {
    const auto q = static_cast<std::size_t>(i);
    EdgeMedium out{row.inverse[q] == 0 ? 0 : 1 / row.inverse[q], row.loss[q], {}};
    for (const DispersiveRun& run : row.dispersive)
      if (i >= run.first && i < run.first + static_cast<int>(run.weight.size()))
        out.weights[number_of(run)] += run.weight[static_cast<std::size_t>(i - run.first)];
    return out;
  }
  const std::vector<DispersiveRun>& sets() const { return sets_; }

 private:
  std::size_t number_of(const DispersiveRun& run) {
    const auto known = std::find_if(sets_.begin(), sets_.end(), [&](const DispersiveRun& s) {
      return s.alpha == run.alpha && s.beta == run.beta && s.shear == run.shear;
    });
    if (known != sets_.end()) return static_cast<std::size_t>(known - sets_.begin());
    sets_.push_back({0, {}, run.alpha, run.beta, run.shear});
    return sets_.size() - 1;
  }
  std::vector<DispersiveRun> sets_;
};

bool is_nonlinear(const MaterialRow& row, int i) {
  return std::any_of(row.nonlinear.begin(), row.nonlinear.end(), [&](const NonlinearRun& run) {
    return i >= run.first && i < run.first + static_cast<int>(run.chi2.size());
  });
}

double weight_of(const EdgeMedium& m, std::size_t set) {
  const auto found = m.weights.find(set);
  return found == m.weights.end() ? 0 : found->second;
}

bool apart(double x, double y) {
  return std::abs(x - y) > kRounding * std::max(std::abs(x), std::abs(y));
}

bool same_sets(const EdgeMedium& a, const EdgeMedium& b) {
  return std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

bool differ(const EdgeMedium& a, const EdgeMedium& b) {
  return apart(a.eps, b.eps) || apart(a.loss, b.loss) || !same_sets(a, b) ||
         std::any_of(a.weights.begin(), a.weights.end(),
                     [&](const auto& w) { return apart(w.second, weight_of(b, w.first)); });
}

/// Of central differences.
EdgeMedium slope(const EdgeMedium& plus, const EdgeMedium& minus, double step) {
  EdgeMedium out{(plus.eps - minus.eps) / (2 * step), (plus.loss - minus.loss) / (2 * step), {}};
  for (const auto& [set, weight] : plus.weights)
    out.weights[set] = (weight - weight_of(minus, set)) / (2 * step);
  return out;
}

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
  std::map<Place, std::vector<EdgeMedium>> moved;
  std::map<Place, EdgeMedium> own;
  PoleSets sets;
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
          for (int i = 0; i < places_along(base.grid, c, 0); ++i) {
            const auto q = static_cast<std::size_t>(i);
            const EdgeMedium x = sets.at(a, i), y = sets.at(b, i);
            if (is_nonlinear(a, i) != is_nonlinear(b, i) || (differ(x, y) && is_nonlinear(a, i)))
              refuse_move(p, "a nonlinear medium");
            if (!differ(x, y)) continue;
            if (a.inverse[q] == 0 || b.inverse[q] == 0 || here.inverse[q] == 0)
              refuse_move(p, "a conductor");
            if (!is_electric(c)) refuse_move(p, "a magnetic medium");
            if (!unknown[static_cast<std::size_t>(
                    scheme.offset({static_cast<std::uint8_t>(c), i, j, k}))])
              continue;  // on an outer conductor
            const EdgeMedium at_rest = sets.at(here, i);
            if (!same_sets(x, y) || !same_sets(x, at_rest))
              refuse_move(p,
                          "the poles of averages: a face of a medium with losses or poles that E "
                          "crosses, or that lies on the side of an edge's box");
            const Place place{c, k, j, i};
            std::vector<EdgeMedium>& list = moved[place];
            list.resize(at.size());
            list[p] = slope(x, y, steps[p]);
            own[place] = at_rest;
            any = true;
          }
        }
    }
    if (!any) refuse_move(p, "nothing that the grid sees");
  }
  MediumDerivatives out;
  out.moves.assign(at.size(), {});
  std::vector<std::size_t> used;  // sets of edges that move
  for (const auto& [place, list] : moved)
    for (const auto& [set, weight] : own[place].weights)
      if (std::find(used.begin(), used.end(), set) == used.end()) used.push_back(set);
  for (const std::size_t set : used) {
    out.edges.poles.push_back(sets.sets()[set]);
    out.edges.poles.back().weight = {1};
  }
  const auto put = [&](std::vector<double>& to, const EdgeMedium& m) {
    to.insert(to.end(), {m.eps, m.loss});
    for (const std::size_t set : used) to.push_back(weight_of(m, set));
  };
  for (const auto& [place, list] : moved) {
    const auto& [c, k, j, i] = place;
    out.edges.edges.push_back({static_cast<std::uint8_t>(c), i, j, k});
    put(out.theta, own[place]);
    for (std::size_t p = 0; p < at.size(); ++p) put(out.moves[p], list[p]);
  }
  return out;
}

}  // namespace tessera::electromagnetics
