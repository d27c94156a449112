// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_derivatives.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

constexpr double kRounding = 1e-12;
constexpr double kWide =
    100;  ///< of a step: what one from a line of the grid is, on one side of it
constexpr double kStepsOfCell = 1e5;
constexpr int kReach = 5;  ///< in cells: edges that what ends at a line has a part in

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
  bool metal = false, nonlinear = false;
};

bool is_nonlinear(const MaterialRow& row, int i) {
  return std::any_of(row.nonlinear.begin(), row.nonlinear.end(), [&](const NonlinearRun& run) {
    return i >= run.first && i < run.first + static_cast<int>(run.chi2.size());
  });
}

/// Sets of poles, each once.
class PoleSets {
 public:
  EdgeMedium at(const MaterialRow& row, int i) {
    const auto q = static_cast<std::size_t>(i);
    EdgeMedium out{row.inverse[q] == 0 ? 0 : 1 / row.inverse[q],
                   row.loss[q],
                   {},
                   row.inverse[q] == 0,
                   is_nonlinear(row, i)};
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

int places_along(const YeeGrid& grid, int c, int axis) {
  return grid.cells(axis) + (grid.resolved(axis) && !at_middle(c, axis) ? 1 : 0);
}

/// Nodes whose tensors a step changes, in what couples components that are computed.
bool moves_tensors(const YeeModel& plus, const YeeModel& minus) {
  const auto all = [](const YeeModel& m) {
    std::map<std::tuple<int, int, int>, std::array<double, 3>> out;
    const auto couples = [&](std::size_t a, std::size_t b) { return m.active[a] && m.active[b]; };
    for (const NodeTensor& t : m.tensors) {
      const std::array<double, 3> own{couples(0, 1) ? t.xy : 0, couples(0, 2) ? t.xz : 0,
                                      couples(1, 2) ? t.yz : 0};
      if (own != std::array<double, 3>{}) out[{t.i, t.j, t.k}] = own;
    }
    return out;
  };
  const auto a = all(plus), b = all(minus);
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    for (std::size_t q = 0; q < 3; ++q)
      if (std::abs(x.second[q] - y.second[q]) > 1e-9) return false;
    return x.first == y.first;
  });
}

/// Of sums of coefficients times media: differences.
using Stencil = std::vector<std::pair<const EdgeMedium*, double>>;
EdgeMedium sum(const Stencil& terms) {
  EdgeMedium out;
  for (const auto& [medium, factor] : terms) {
    out.eps += factor * medium->eps, out.loss += factor * medium->loss;
    for (const auto& [set, weight] : medium->weights) out.weights[set] += factor * weight;
  }
  return out;
}

/// Where conductors open or close an edge with a step, by the block of cells it lies in.
class Ends {
 public:
  void add(const Place& p) { blocks_[block_of(p)].push_back(p); }
  bool empty() const { return blocks_.empty(); }
  bool near(const Place& p) const {
    if (blocks_.empty()) return false;
    const auto [bk, bj, bi] = block_of(p);
    for (int k = bk - 1; k <= bk + 1; ++k)
      for (int j = bj - 1; j <= bj + 1; ++j)
        for (int i = bi - 1; i <= bi + 1; ++i)
          if (const auto b = blocks_.find({k, j, i}); b != blocks_.end())
            for (const auto& [oc, ok, oj, oi] : b->second)
              if (std::abs(ok - std::get<1>(p)) <= kReach &&
                  std::abs(oj - std::get<2>(p)) <= kReach &&
                  std::abs(oi - std::get<3>(p)) <= kReach)
                return true;
    return false;
  }

 private:
  using Block = std::tuple<int, int, int>;
  static Block block_of(const Place& p) {
    return {std::get<1>(p) / 8, std::get<2>(p) / 8, std::get<3>(p) / 8};
  }
  std::map<Block, std::vector<Place>> blocks_;
};

/// The media of all edges and faces of a grid, in the shares that conductors leave of them.
class Media {
 public:
  Media(const YeeModel& base, PoleSets& sets) : base_(base), sets_(sets) {}

  /// Whether a row is the same in both models.
  static bool same_row(const YeeModel& a, const YeeModel& b, int c, int j, int k) {
    const auto open_a = a.open.row(c, j, k), open_b = b.open.row(c, j, k);
    if (!std::equal(open_a.begin(), open_a.end(), open_b.begin(), open_b.end(),
                    [](const CutCellFraction& x, const CutCellFraction& y) {
                      return x.edge == y.edge && x.fraction == y.fraction && x.share == y.share;
                    }))
      return false;
    const MaterialRow x = row_of(a, c, j, k), y = row_of(b, c, j, k);
    return x.inverse == y.inverse && x.loss == y.loss &&
           std::equal(x.dispersive.begin(), x.dispersive.end(), y.dispersive.begin(),
                      y.dispersive.end(),
                      [](const DispersiveRun& m, const DispersiveRun& n) {
                        return m.first == n.first && m.weight == n.weight && m.alpha == n.alpha &&
                               m.beta == n.beta && m.shear == n.shear;
                      }) &&
           std::equal(x.nonlinear.begin(), x.nonlinear.end(), y.nonlinear.begin(),
                      y.nonlinear.end(), [](const NonlinearRun& m, const NonlinearRun& n) {
                        return m.first == n.first && m.chi2 == n.chi2 && m.chi3 == n.chi3;
                      });
  }
  /// Whether a row has other lengths than in the base.
  bool same_lengths(const YeeModel& m, int c, int j, int k) const {
    if (m.grid.lines == base_.grid.lines) return true;
    for (int i = 0; i < places_along(base_.grid, c, 0); ++i)
      if (lengths(m, {i, j, k}, c) != lengths(base_, {i, j, k}, c)) return false;
    return true;
  }
  /// One row of a model. Lines of its grid may lie elsewhere than those of the base: with voltages
  /// along edges and flows through faces as unknowns lengths stand beside media alone (finite
  /// integration: T. Weiland, Int. J. Numer. Model. 9 (1996) 295-319), so that to move a line is to
  /// change these.
  std::vector<EdgeMedium> row(const YeeModel& m, int c, int j, int k) const {
    const MaterialRow row = row_of(m, c, j, k);
    std::vector<EdgeMedium> out;
    const bool same = m.grid.lines == base_.grid.lines;
    for (int i = 0; i < places_along(base_.grid, c, 0); ++i) {
      out.push_back(sets_.at(row, i));
      if (!same) scale(out.back(), lengths(m, {i, j, k}, c) / lengths(base_, {i, j, k}, c));
    }
    // theta is counted by the shares of the base: of an edge it goes with 1/share.
    for (const CutCellFraction& p : m.open.row(c, j, k))
      scale(out[static_cast<std::size_t>(p.edge.i)], p, false);
    for (const CutCellFraction& p : base_.open.row(c, j, k))
      scale(out[static_cast<std::size_t>(p.edge.i)], p, true);
    return out;
  }

 private:
  static void scale(EdgeMedium& m, double by) {
    m.eps *= by, m.loss *= by;
    for (auto& [set, weight] : m.weights) weight *= by;
  }
  static void scale(EdgeMedium& m, const CutCellFraction& p, bool base) {
    if (p.fraction == 0)
      m.metal = m.metal || !base;
    else
      scale(m, is_electric(p.edge.component) == base ? p.share : 1 / p.share);
  }
  /// What stands beside the medium of an edge or a face: its dual's area over its length, or its
  /// area over its dual's length.
  static double lengths(const YeeModel& m, const std::array<int, 3>& at, int c) {
    double out = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const int i = at[static_cast<std::size_t>(axis)];
      if (!m.grid.resolved(axis)) continue;
      const double length =
          at_middle(c, axis) ? m.grid.length(axis, i) : m.grid.dual_length(axis, i, false);
      out *= at_middle(c, axis) == is_electric(c) ? 1 / length : length;
    }
    return out;
  }
  const YeeModel& base_;
  PoleSets& sets_;
};

/// How edges and faces move with one parameter.
class Moves {
 public:
  Moves(const YeeModel& base, PoleSets& sets, std::size_t parameter, MediumOrder order)
      : base_(base), media_(base, sets), parameter_(parameter), order_(order) {}

  struct Found {
    EdgeMedium own, slope, curve;
  };
  /// `moved` gives the model with a share of the step more.
  std::map<Place, Found> found(const std::function<YeeModel(double)>& moved, double step,
                               const std::function<bool(const Place&)>& computed) {
    const YeeModel plus = moved(1), minus = moved(-1);
    check(plus), check(minus);
    if (moves_tensors(plus, minus))
      refuse_move(parameter_, "the tensors of a face that runs across the grid");
    const bool metal = !base_.open.fractions.empty();
    std::optional<YeeModel> far_plus, far_minus;
    if (metal) far_plus = moved(kWide), far_minus = moved(-kWide);
    const Ends above = metal ? ends_of(*far_plus) : Ends(),
               below = metal ? ends_of(*far_minus) : Ends();
    std::map<Place, Found> out;
    find_rows(plus, minus);
    const auto away = [&](const Place& p) {
      return !above.near(p) && !below.near(p) && computed(p);
    };
    collect(plus, minus, {1 / (2 * step), -1 / (2 * step), 0}, nullptr, away, out);
    if (order_ == MediumOrder::second) {
      const double by = 1 / (step * step);
      std::map<Place, Found> second;
      collect(plus, minus, {by, by, -2 * by}, &base_, away, second);
      for (const auto& [place, found] : second) out[place].curve = found.slope;
    }
    mend_jumps(out, moved, step);
    if (metal) check_jumps(out, *far_plus, *far_minus, step);
    // A conductor ends at a line of the grid: the slope on the side where nothing opens or closes,
    // from three steps that are wide beside the 1e-6 of a cell to which surfaces are known.
    for (const int way : {1, -1}) {
      const Ends &own = way > 0 ? below : above, &other = way > 0 ? above : below;
      if (own.empty()) continue;
      const YeeModel &one = way > 0 ? *far_plus : *far_minus, two = moved(2 * way * kWide),
                     three = moved(3 * way * kWide);
      find_rows(one, two);
      const double by = way / (2 * kWide * step);
      collect(
          one, two, {-5 * by, 8 * by, -3 * by}, &three,
          [&](const Place& p) {
            if (!own.near(p) || !computed(p)) return false;
            if (other.near(p))
              refuse_move(parameter_,
                          "conductors away from lines of the grid on which they end, on both "
                          "sides and less than ten cells apart");
            return true;
          },
          out);
    }
    if (out.empty()) refuse_move(parameter_, "nothing that the grid sees");
    return out;
  }

 private:
  void check(const YeeModel& m) const {
    for (int axis = 0; axis < 3; ++axis)
      if (m.grid.cells(axis) != base_.grid.cells(axis))
        refuse_move(parameter_, "the number of cells");
    if (m.dt_s != base_.dt_s) refuse_move(parameter_, "the time step");
  }
  /// Refuses slopes that are none: a share that jumps, as where a round surface comes to a line,
  /// moves no further with a wide step than with a small one.
  void check_jumps(const std::map<Place, Found>& found, const YeeModel& plus, const YeeModel& minus,
                   double step) const {
    std::array<int, 3> at{-1, -1, -1};
    std::vector<EdgeMedium> a, b;
    for (const auto& [place, f] : found) {
      const auto& [c, k, j, i] = place;
      if (at != std::array{c, j, k}) a = media_.row(plus, c, j, k), b = media_.row(minus, c, j, k);
      at = {c, j, k};
      const auto q = static_cast<std::size_t>(i);
      const double far = (a[q].eps - b[q].eps) / (2 * kWide * step),
                   of_cell = f.own.eps / (kStepsOfCell * step);
      if (std::abs(f.slope.eps) > 10 * std::abs(far) + 3 * of_cell)
        refuse_move(
            parameter_,
            "a conductor whose surface comes to a line of the grid just here, where results "
            "jump: move it by a hundredth of a cell");
    }
  }
  /// Where faces meet in the box of an edge its mean counts them by their areas, however little of
  /// the box lies behind one: it jumps where a face comes to the box's rim, as that of a body which
  /// ends half way between two lines does. The slope is the mean of those on both sides; not of
  /// edges that a conductor has a part of, whose shares may be what jumps.
  void mend_jumps(std::map<Place, Found>& out, const std::function<YeeModel(double)>& moved,
                  double step) const {
    const auto wanted = [&](const Place& place, const Found& f) {
      const auto& [c, k, j, i] = place;
      return (f.slope.eps != 0 || f.slope.loss != 0) &&
             base_.open.share({static_cast<std::uint8_t>(c), i, j, k}) == 1;
    };
    const auto any = [&](const auto& found) { return wanted(found.first, found.second); };
    if (std::none_of(out.begin(), out.end(), any)) return;
    const std::array<YeeModel, 4> models{moved(2), moved(1), moved(-1), moved(-2)};
    const double by = 1 / (2 * step);
    std::array<int, 3> at{-1, -1, -1};
    std::array<std::vector<EdgeMedium>, 4> rows;
    for (auto& [place, f] : out) {
      if (!wanted(place, f)) continue;
      const auto& [c, k, j, i] = place;
      if (at != std::array{c, j, k})
        for (std::size_t m = 0; m < 4; ++m) rows[m] = media_.row(models[m], c, j, k);
      at = {c, j, k};
      const auto q = static_cast<std::size_t>(i);
      // A step across, beside those next to it; where these differ by more the jump is not here.
      const auto jumps = [&](double EdgeMedium::*part) {
        const double above = (rows[0][q].*part - rows[1][q].*part) / step,
                     below = (rows[2][q].*part - rows[3][q].*part) / step,
                     jump = std::abs(f.slope.*part - 0.5 * (above + below));
        return jump > std::abs(above - below) &&
               jump > 0.05 * (std::abs(above) + std::abs(below)) +
                          0.02 * f.own.*part / (kStepsOfCell * step);
      };
      if (jumps(&EdgeMedium::eps) || jumps(&EdgeMedium::loss)) {
        f.slope =
            sum({{&rows[0][q], by}, {&rows[1][q], -by}, {&rows[2][q], by}, {&rows[3][q], -by}});
        f.curve = {};
      }
    }
  }
  /// Edges that a step opens or closes.
  Ends ends_of(const YeeModel& m) {
    check(m);
    Ends out;
    find_rows(base_, m);
    for (const auto& [c, j, k] : rows_) {
      if (!is_electric(c)) continue;
      const auto here = media_.row(base_, c, j, k), there = media_.row(m, c, j, k);
      for (std::size_t i = 0; i < here.size(); ++i)
        if (here[i].metal != there[i].metal) out.add({c, k, j, static_cast<int>(i)});
    }
    return out;
  }
  void find_rows(const YeeModel& plus, const YeeModel& minus) {
    rows_.clear();
    for (int c = 0; c < 6; ++c) {
      if (!base_.active[static_cast<std::size_t>(c)]) continue;
      for (int k = 0; k < places_along(base_.grid, c, 2); ++k)
        for (int j = 0; j < places_along(base_.grid, c, 1); ++j)
          if (!Media::same_row(plus, minus, c, j, k) || !media_.same_lengths(plus, c, j, k))
            rows_.push_back({c, j, k});
    }
  }
  /// Sums of `factors` times the media of the models, where these differ and `wanted` says so.
  void collect(const YeeModel& one, const YeeModel& two, const std::array<double, 3>& factors,
               const YeeModel* three, const std::function<bool(const Place&)>& wanted,
               std::map<Place, Found>& out) const {
    for (const auto& [c, j, k] : rows_) {
      const auto a = media_.row(one, c, j, k), b = media_.row(two, c, j, k),
                 own = media_.row(base_, c, j, k);
      std::optional<std::vector<EdgeMedium>> third;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].metal || a[i].metal || b[i].metal) continue;
        if (a[i].nonlinear != b[i].nonlinear || (differ(a[i], b[i]) && a[i].nonlinear))
          refuse_move(parameter_, "a nonlinear medium");
        if (!differ(a[i], b[i])) continue;
        const Place place{c, k, j, static_cast<int>(i)};
        if (!wanted(place)) continue;
        Stencil terms{{&a[i], factors[0]}, {&b[i], factors[1]}};
        if (three && !third) third = media_.row(*three, c, j, k);
        if (third) terms.emplace_back(&(*third)[i], factors[2]);
        out[place] = {own[i], sum(terms), {}};
      }
    }
  }
  const YeeModel& base_;
  Media media_;
  std::size_t parameter_;
  MediumOrder order_;
  std::vector<std::array<int, 3>> rows_;  ///< component, j, k of those that move
};

}  // namespace

Tensor MediumDerivatives::at(const Tensor& change) const {
  const auto times = [&](const Tensor& by, const std::vector<std::vector<double>>& slopes) {
    std::vector<double> table;
    for (const std::vector<double>& m : slopes) table.insert(table.end(), m.begin(), m.end());
    return matmul(
        by, tensor(table, {static_cast<Index>(slopes.size()), static_cast<Index>(theta.size())}));
  };
  const Tensor first = tensor(theta) + times(change, moves);
  return curves.empty() ? first : first + times(0.5 * square(change), curves);
}

MediumDerivatives medium_derivatives(
    const std::function<YeeModel(const std::vector<double>&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps, MediumOrder order) {
  if (steps.size() != at.size())
    throw Error(
        fmt::format("[medium_derivatives] needs a step for each of the {} parameters, got {}",
                    at.size(), steps.size()));
  const YeeModel base = model_of(at);
  const YeeScheme scheme(base);
  const std::vector<std::uint8_t> unknown = scheme.unknowns();
  const auto computed = [&](const Place& place) {  // not on an outer conductor
    const auto& [c, k, j, i] = place;
    return unknown[static_cast<std::size_t>(
               scheme.offset({static_cast<std::uint8_t>(c), i, j, k}))] != 0;
  };
  PoleSets sets;
  std::vector<std::map<Place, Moves::Found>> moved;
  std::map<Place, EdgeMedium> own;
  for (std::size_t p = 0; p < at.size(); ++p) {
    if (!(steps[p] > 0)) throw Error("[medium_derivatives] steps should be positive");
    const auto moved_by = [&](double share) {
      std::vector<double> values = at;
      values[p] += share * steps[p];
      return model_of(values);
    };
    moved.push_back(Moves(base, sets, p, order).found(moved_by, steps[p], computed));
    for (const auto& [place, found] : moved.back()) own[place] = found.own;
  }
  MediumDerivatives out;
  out.moves.assign(at.size(), {});
  if (order == MediumOrder::second) out.curves.assign(at.size(), {});
  std::vector<std::size_t> used;  // sets of edges that move
  const auto use = [&](const EdgeMedium& m) {
    for (const auto& [set, weight] : m.weights)
      if (std::find(used.begin(), used.end(), set) == used.end()) used.push_back(set);
  };
  for (const auto& [place, medium] : own) use(medium);
  for (const auto& of_parameter : moved)
    for (const auto& [place, found] : of_parameter) use(found.slope), use(found.curve);
  for (const std::size_t set : used) {
    out.edges.poles.push_back(sets.sets()[set]);
    out.edges.poles.back().weight = {1};
  }
  const auto put = [&](std::vector<double>& to, const EdgeMedium& m) {
    to.insert(to.end(), {m.eps, m.loss});
    for (const std::size_t set : used) to.push_back(weight_of(m, set));
  };
  for (const auto& [place, medium] : own) {
    const auto& [c, k, j, i] = place;
    out.edges.edges.push_back({static_cast<std::uint8_t>(c), i, j, k});
    put(out.theta, medium);
    for (std::size_t p = 0; p < at.size(); ++p) {
      const auto found = moved[p].find(place);
      const Moves::Found of = found == moved[p].end() ? Moves::Found{} : found->second;
      put(out.moves[p], of.slope);
      if (order == MediumOrder::second) put(out.curves[p], of.curve);
    }
  }
  return out;
}

}  // namespace tessera::electromagnetics
