// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/shape_derivatives.h"

#include "adjoint/pieces.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/couplings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

/// Relative differences of inverse permittivities below this are rounding.
constexpr double rounding = 1e-14;
/// Steps in which media with losses or poles are looked at, in those of the differences: 0.03 of a
/// cell where these are 1e-5. Their shares are rounded (averaging.h).
constexpr double coarse = 3e3;

bool same(const DispersiveRun& a, const DispersiveRun& b) {
  return a.first == b.first && a.weight == b.weight && a.alpha == b.alpha && a.beta == b.beta;
}
bool same(const NonlinearRun& a, const NonlinearRun& b) {
  return a.first == b.first && a.chi2 == b.chi2 && a.chi3 == b.chi3;
}
template <class Run>
bool same(const std::vector<Run>& a, const std::vector<Run>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Run& x, const Run& y) { return same(x, y); });
}

[[noreturn]] void refuse(std::size_t parameter, const char* moved) {
  throw Error(
      fmt::format("[shape_derivatives] parameter {} moves {}: choose one that moves faces between "
                  "lossless dielectrics",
                  parameter, moved));
}

using Key = std::tuple<int, int, int, int>;  ///< component, k, j, i
Key key(const Edge& e) { return {e.component, e.k, e.j, e.i}; }
Edge edge(const Key& key) {
  return {static_cast<std::uint8_t>(std::get<0>(key)), std::get<3>(key), std::get<2>(key),
          std::get<1>(key)};
}

using ModelOfSlab = std::function<YeeModel(const std::vector<double>&, const Slab&)>;

/// What does not depend on the parameters: the grid, and which edges are computed and coupled. Of
/// some planes of the grid at a time.
struct Base {
  YeeModel model;
  Slab slab;
  YeeScheme scheme;
  std::vector<std::uint8_t> unknown;
  std::array<bool, 3> periodic{};
  double c_dt;

  Base(YeeModel m, const Slab& of)
      : model(std::move(m)),
        slab(of),
        scheme(model, slab),
        unknown(scheme.unknowns()),
        c_dt(speed_of_light * model.dt_s) {
    for (int d = 0; d < 3; ++d)
      periodic[d] = model.grid.resolved(d) && model.faces[d].low == Boundary::periodic;
  }
  bool holds(int j, int k) const { return adjoint::holds(model.grid, slab, j, k); }
  bool computed(const Edge& e) const {
    return unknown[static_cast<std::size_t>(scheme.offset(e))] != 0;
  }
  int positions(int c, int axis) const {
    return model.grid.cells(axis) + (model.grid.resolved(axis) && !at_middle(c, axis) ? 1 : 0);
  }
  /// cb in vacuum: c dt ds / A*, ds the open part.
  double unit(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k};
    double u = c_dt * model.open.gain(e);
    for (int d = 0; d < 3; ++d)
      u *= d == axis_of(e.component)
               ? model.grid.length(d, at[d])
               : 1 / model.grid.dual_length(d, at[d], periodic[d] || !model.grid.resolved(d));
    return u;
  }
  MaterialRow row(const YeeModel& m, int c, int j, int k) const {
    const auto n = static_cast<std::size_t>(model.grid.cells(0)) + 1;
    MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
    if (m.material) m.material(c, j, k, row);
    return row;
  }
};

using Moves = std::map<std::pair<Key, Key>, double>;  ///< of M, by (to, from)

/// Calls f(c, j, k) for each row of the components that are stepped.
template <class F>
void over_rows(const Base& base, F&& f) {
  for (int c = 0; c < 6; ++c) {
    if (!base.model.active[static_cast<std::size_t>(c)]) continue;
    for (int k = 0; k < base.positions(c, 2); ++k)
      for (int j = 0; j < base.positions(c, 1); ++j)
        if (base.holds(j, k)) f(c, j, k);
  }
}

void need_same_losses(const MaterialRow& above, const MaterialRow& below, std::size_t parameter) {
  if (above.loss != below.loss) refuse(parameter, "a lossy medium");
  if (!same(above.dispersive, below.dispersive)) refuse(parameter, "a dispersive medium");
  if (!same(above.nonlinear, below.nonlinear)) refuse(parameter, "a nonlinear medium");
}

bool has_losses(const Base& base) {
  bool any = false;
  over_rows(base, [&](int c, int j, int k) {
    if (any) return;
    const MaterialRow row = base.row(base.model, c, j, k);
    any = !row.dispersive.empty() ||
          std::any_of(row.loss.begin(), row.loss.end(), [](double x) { return x != 0; });
  });
  return any;
}

/// Refuses what moves media with losses or poles by less than their shares are rounded to. Where a
/// body is too small for the larger step there is nothing to look at.
void look_coarsely(const Base& base, const ModelOfSlab& model_of, const std::vector<double>& at,
                   double step, std::size_t parameter) {
  std::vector<double> above = at, below = at;
  above[parameter] += coarse * step, below[parameter] -= coarse * step;
  YeeModel plus, minus;
  try {
    plus = model_of(above, base.slab), minus = model_of(below, base.slab);
  } catch (const Error&) {
    return;
  }
  over_rows(base, [&](int c, int j, int k) {
    need_same_losses(base.row(plus, c, j, k), base.row(minus, c, j, k), parameter);
  });
}

void add_rows(const Base& base, const YeeModel& plus, const YeeModel& minus, double step,
              std::size_t parameter, Moves& moves) {
  over_rows(base, [&](int c, int j, int k) {
    const MaterialRow above = base.row(plus, c, j, k), below = base.row(minus, c, j, k);
    need_same_losses(above, below, parameter);
    for (int i = 0; i < base.positions(c, 0); ++i) {
      const double a = above.inverse[static_cast<std::size_t>(i)],
                   b = below.inverse[static_cast<std::size_t>(i)];
      if (std::abs(a - b) <= rounding * std::max(a, b)) continue;
      if (a == 0 || b == 0) refuse(parameter, "a conductor");
      if (!is_electric(c)) refuse(parameter, "a magnetic medium");
      const Edge e{static_cast<std::uint8_t>(c), i, j, k};
      if (base.computed(e)) moves[{key(e), key(e)}] = base.unit(e) * (a - b) / (2 * step);
    }
  });
}

void add_tensors(const Base& base, const YeeModel& plus, const YeeModel& minus, double step,
                 Moves& moves) {
  std::map<std::tuple<int, int, int>, NodeTensor> nodes;
  const auto add = [&](const NodeTensor& t, double weight) {
    NodeTensor& sum =
        nodes.try_emplace({t.i, t.j, t.k}, NodeTensor{.i = t.i, .j = t.j, .k = t.k}).first->second;
    sum.xy += weight * t.xy, sum.xz += weight * t.xz, sum.yz += weight * t.yz;
    for (int pair = 0; pair < 3; ++pair)
      for (int q = 0; q < 4; ++q) sum.pairs[pair][q] += weight * t.pairs[pair][q];
  };
  for (const NodeTensor& t : plus.tensors) add(t, 1 / (2 * step));
  for (const NodeTensor& t : minus.tensors) add(t, -1 / (2 * step));
  for (const auto& [at_node, node] : nodes)
    time_domain::couplings_of(
        base.model.grid, base.periodic, {}, base.c_dt, node,
        [&](const time_domain::Neighbour& x, const time_domain::Neighbour& y, double w) {
          // An inverse permittivity is of order one: what is left of two equal ones is rounding of
          // one over the step.
          if (std::abs(w) * 2 * std::abs(step) <=
                  rounding * base.c_dt / base.scheme.reference_length() ||
              !base.scheme.couples(x.edge) || !base.scheme.couples(y.edge))
            return;
          if (base.holds(x.edge.j, x.edge.k)) moves[{key(x.edge), key(y.edge)}] += w;
          if (base.holds(y.edge.j, y.edge.k)) moves[{key(y.edge), key(x.edge)}] += w;
        });
}

}  // namespace

bool ShapeDerivatives::diagonal() const {
  return std::all_of(parameters.begin(), parameters.end(), [](const auto& list) {
    return std::all_of(list.begin(), list.end(), [](const Entry& e) { return e.to == e.from; });
  });
}

namespace {

/// Where faces meet in the box of an edge its mean jumps as one of them comes to the rim of the
/// box: there the slope is the mean of those on both sides, without the jump that a step across
/// divides.
void mend_jumps(Moves& across, const Moves& above, const Moves& below) {
  const auto slope = [](const Moves& moves, const std::pair<Key, Key>& pair) {
    const auto found = moves.find(pair);
    return found == moves.end() ? 0.0 : found->second;
  };
  for (auto& [pair, value] : across) {
    const double a = slope(above, pair), b = slope(below, pair),
                 jump = std::abs(value - 0.5 * (a + b));
    if (jump > std::abs(a - b) && jump > 0.05 * (std::abs(a) + std::abs(b))) value = 0.5 * (a + b);
  }
}

/// Adds what the parameters move in some planes.
void add_moves(const ModelOfSlab& model_of, const Slab& slab, const std::vector<double>& at,
               const std::vector<double>& steps, std::vector<Moves>& moves) {
  const Base base(model_of(at, slab), slab);
  const bool losses = has_losses(base);
  for (std::size_t p = 0; p < at.size(); ++p) {
    if (!(steps[p] > 0))
      throw Error(fmt::format(
          "[shape_derivatives] the step of parameter {} should be positive, got {}", p, steps[p]));
    std::array<double, 4> places{};  // as rounded
    std::array<YeeModel, 4> models;
    for (std::size_t m = 0; m < 4; ++m) {
      std::vector<double> moved = at;
      places[m] = moved[p] += std::array{-2, -1, 1, 2}[m] * steps[p];
      models[m] = model_of(moved, slab);
      if (models[m].grid.lines != base.model.grid.lines || models[m].dt_s != base.model.dt_s)
        refuse(p, "the grid or the time step");
    }
    const auto equal = [](const CutCellFraction& x, const CutCellFraction& y) {
      return x.edge == y.edge && x.fraction == y.fraction && x.share == y.share;
    };
    const auto &above = models[2].open.fractions, &below = models[1].open.fractions;
    if (!std::equal(above.begin(), above.end(), below.begin(), below.end(), equal))
      refuse(p, "a conductor");
    const auto slopes = [&](std::size_t to, std::size_t from) {
      Moves out;
      const double step = (places[to] - places[from]) / 2;
      add_rows(base, models[to], models[from], step, p, out);
      add_tensors(base, models[to], models[from], step, out);
      return out;
    };
    Moves across = slopes(2, 1);
    mend_jumps(across, slopes(3, 2), slopes(1, 0));
    moves[p].merge(across);  // each plane has its own
    if (losses) look_coarsely(base, model_of, at, steps[p], p);
  }
}

ShapeDerivatives numbered(const std::vector<Moves>& moves) {
  std::map<Key, std::int32_t> number;
  for (const Moves& m : moves)
    for (const auto& [pair, value] : m) number[pair.first], number[pair.second];
  ShapeDerivatives out;
  for (auto& [k, n] : number) {
    n = static_cast<std::int32_t>(out.edges.size());
    out.edges.push_back(edge(k));
  }
  for (const Moves& m : moves) {
    auto& list = out.parameters.emplace_back();
    for (const auto& [pair, value] : m)
      list.push_back({number[pair.first], number[pair.second], value});
  }
  return out;
}

ShapeDerivatives in_pieces(const ModelOfSlab& model_of, const std::vector<Slab>& pieces,
                           const std::vector<double>& at, const std::vector<double>& steps) {
  if (steps.size() != at.size())
    throw Error(
        fmt::format("[shape_derivatives] needs a step for each of the {} parameters, got {}",
                    at.size(), steps.size()));
  std::vector<Moves> moves(at.size());
  for (const Slab& piece : pieces) add_moves(model_of, piece, at, steps, moves);
  for (std::size_t p = 0; p < at.size(); ++p)
    if (moves[p].empty())
      throw Error(fmt::format(
          "[shape_derivatives] parameter {} moves nothing that the grid sees: the faces of "
          "conductors follow its edges, and some are hidden or outside",
          p));
  return numbered(moves);
}

}  // namespace

ShapeDerivatives shape_derivatives(
    const std::function<YeeModel(const std::vector<double>&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps) {
  return in_pieces([&](const std::vector<double>& p, const Slab&) { return model_of(p); }, {{}}, at,
                   steps);
}

ShapeDerivatives shape_derivatives(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                   const ModelOfSlab& model_of, const std::vector<double>& at,
                                   const std::vector<double>& steps, std::int64_t most_cells) {
  parallel::Communicator alone = parallel::alone();
  return in_pieces(model_of, adjoint::pieces_of(grid, faces, most_cells, alone), at, steps);
}

Tensor coefficients(const YeeOpPtr& op, const ShapeDerivatives& derivatives, const Tensor& p) {
  if (op->design != derivatives.edges)
    throw Error("[coefficients] the design edges of the op should be those of the derivatives");
  if (!derivatives.diagonal())
    throw Error(
        "[coefficients] the parameters move tensors, which are no arguments of a YeeOp: use "
        "sample_derivatives");
  const auto n_edges = static_cast<Index>(derivatives.edges.size()),
             n = static_cast<Index>(derivatives.parameters.size());
  if (p.type() != Type{Dtype::f64, {n}})
    throw Error(fmt::format("[coefficients] the parameters should be f64[{}], got {}", n,
                            to_string(p.type())));
  std::vector<double> dense(static_cast<std::size_t>(n_edges * n), 0.0);
  for (Index q = 0; q < n; ++q)
    for (const ShapeDerivatives::Entry& e : derivatives.parameters[static_cast<std::size_t>(q)])
      dense[static_cast<std::size_t>(e.to * n + q)] = e.value;
  return coefficients(op) + matmul(tensor(dense, {n_edges, n}), p);
}

}  // namespace tessera::electromagnetics
