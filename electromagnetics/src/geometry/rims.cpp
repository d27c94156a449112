// SPDX-License-Identifier: Apache-2.0
#include "geometry/rims.h"

#include "geometry/faces_about.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <tuple>

namespace tessera::electromagnetics::detail {
namespace {

using Node = std::array<int, 3>;

constexpr double whole_within = 1, fades_until = 2;  // cells from the rim

/// The grid's lines as nodes and the middles between, across joined and mirrored ends.
class Lines {
 public:
  Lines(const YeeGrid& grid, const std::array<Faces, 3>& faces, const SymmetryFaces& symmetry)
      : grid_(grid) {
    for (int d = 0; d < 3; ++d) {
      const auto a = static_cast<std::size_t>(d);
      joined_[a] = grid.resolved(d) && faces[a].low == Boundary::periodic;
      for (const bool high : {false, true}) {
        const Boundary face = high ? faces[a].high : faces[a].low;
        const bool images = grid.resolved(d) && !joined_[a];
        magnetic_[a][high] = images && face == Boundary::pmc;
        mirror_[a][high] =
            magnetic_[a][high] || (images && face == Boundary::pec && symmetry[a][high]);
      }
    }
  }
  bool resolved(int d) const { return grid_.resolved(d); }
  bool joined(int d) const { return joined_[static_cast<std::size_t>(d)]; }
  int cells(int d) const { return grid_.cells(d); }
  double length(int d, int i) const { return grid_.length(d, inside(d, i)); }
  /// Of a line, also of those that repeat or mirror the domain's.
  double at(int d, int i) const {
    const auto& lines = grid_.lines[static_cast<std::size_t>(d)];
    const int n = cells(d);
    if (i >= 0 && i <= n) return lines[static_cast<std::size_t>(i)];
    if (joined(d)) {
      const int within = ((i % n) + n) % n, rounds = (i - within) / n;
      return lines[static_cast<std::size_t>(within)] + rounds * (lines.back() - lines.front());
    }
    return i < 0 ? 2 * lines.front() - lines[static_cast<std::size_t>(-i)]
                 : 2 * lines.back() - lines[static_cast<std::size_t>(2 * n - i)];
  }
  double middle(int d, int i) const { return (at(d, i) + at(d, i + 1)) / 2; }
  /// The number of a line or of a cell in the domain, or of that whose image it is; nothing where
  /// there is none.
  std::optional<int> own(int d, int i, bool cell) const {
    const int n = cells(d), last = cell ? n - 1 : n;
    if (joined(d)) return ((i % n) + n) % n;
    const auto& mirror = mirror_[static_cast<std::size_t>(d)];
    if (i < 0 && mirror[0]) i = cell ? -1 - i : -i;
    if (i > last && mirror[1]) i = cell ? 2 * n - 1 - i : 2 * n - i;
    if (i < 0 || i > last) return std::nullopt;
    return i;
  }
  /// Whether what lies behind a face is the image of what is before it.
  bool is_mirror(int d, int line) const { return is_at(mirror_, d, line); }
  /// Such a face that is a conductor.
  bool is_wall(int d, int line) const {
    return is_at(mirror_, d, line) && !is_at(magnetic_, d, line);
  }

 private:
  int inside(int d, int i) const {
    const int n = cells(d);
    if (i >= 0 && i < n) return i;
    return joined(d) ? ((i % n) + n) % n : std::clamp(i < 0 ? -1 - i : 2 * n - 1 - i, 0, n - 1);
  }
  const YeeGrid& grid_;
  using OfFaces = std::array<std::array<bool, 2>, 3>;
  bool is_at(const OfFaces& faces, int d, int line) const {
    const auto& f = faces[static_cast<std::size_t>(d)];
    return (line == 0 && f[0]) || (line == cells(d) && f[1]);
  }
  std::array<bool, 3> joined_{};
  OfFaces magnetic_{}, mirror_{};
};

/// The end of a sheet along axis `s`, seen in the plane across `along`.
struct Rim {
  int along, s, n;
  Node node;        ///< the last one of metal
  int towards;      ///< +1, -1: where along s the rim lies behind it
  double reach;     ///< of the sheet behind the node, a share of the cell there
  double at;        ///< the rim's coordinate
  double lean = 1;  ///< the part of the rim's normal that lies along s
};

class Rims {
 public:
  Rims(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
       const SymmetryFaces& symmetry, std::span<const Reach> reaches,
       const std::function<bool(const Edge&)>& within_metal)
      : open_(open),
        grid_(grid),
        faces_(faces),
        lines_(grid, faces, symmetry),
        within_metal_(within_metal) {
    for (const Reach& r : reaches) {
      double& known = reaches_[{r.edge.component, r.edge.k, r.edge.j, r.edge.i, r.from_low}];
      known = std::max(known, r.share);
    }
  }

  void correct() {
    find();
    for (Rim& r : rims_) r.lean = lean_of(r);
    for (const Rim& r : rims_) add(r);
    write();
  }

 private:
  using Key = std::tuple<std::uint8_t, int, int, int>;
  static Key key(const Edge& e) { return {e.component, e.k, e.j, e.i}; }
  using Place = std::tuple<int, int, int, int, int, int>;  // of a rim: axes, way, node

  /// An edge or face of the domain, or that whose image it is.
  std::optional<Edge> edge_at(int component, Node at) const {
    for (int d = 0; d < 3; ++d) {
      const auto a = static_cast<std::size_t>(d);
      if (!lines_.resolved(d)) {
        at[a] = 0;
        continue;
      }
      const auto own = lines_.own(d, at[a], at_middle(component, d));
      if (!own) return std::nullopt;
      at[a] = *own;
    }
    return Edge{static_cast<std::uint8_t>(component), at[0], at[1], at[2]};
  }
  static Node moved(Node at, int axis, int by) {
    at[static_cast<std::size_t>(axis)] += by;
    return at;
  }
  double fraction(const std::optional<Edge>& e) const {
    if (!e) return 1;
    if (const CutCellFraction* known = open_.listed(*e)) return known->fraction;
    return within_metal_(*e) ? 0 : 1;
  }
  /// The edge from a node towards one side.
  std::optional<Edge> from(const Node& node, int axis, int way) const {
    return edge_at(axis, way > 0 ? node : moved(node, axis, -1));
  }

  void find() {
    for (const CutCellFraction& p : open_.fractions) {
      if (!is_electric(p.edge.component) || p.fraction > 0) continue;
      const int c = p.edge.component;
      const Node low{p.edge.i, p.edge.j, p.edge.k};
      for (const int way : {1, -1}) {
        Node node = way > 0 ? moved(low, c, 1) : low;
        if (lines_.joined(c)) node[static_cast<std::size_t>(c)] %= lines_.cells(c);
        for (const int other : {(c + 1) % 3, (c + 2) % 3}) {
          const int third = 3 - c - other;
          if (lines_.resolved(c)) look_at(other, c, third, node, way);
          // A strip along c with no line but this in it.
          if (lines_.resolved(other) && (reaches(node, other, 1) || reaches(node, other, -1)) &&
              !is_metal(node, other, 1) && !is_metal(node, other, -1))
            for (const int side : {1, -1}) look_at(c, other, third, node, side);
        }
      }
    }
  }
  /// How far metal that was moved reaches from a node into an edge.
  std::optional<double> reach_into(const Edge& e, const Node& node, int s, int way) const {
    const int line = node[static_cast<std::size_t>(s)];
    const bool image = !lines_.joined(s) && line == (way > 0 ? lines_.cells(s) : 0);
    const auto found = reaches_.find({e.component, e.k, e.j, e.i, (way > 0) != image});
    return found == reaches_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Whether thin metal goes on from a node into an edge that stays open.
  bool reaches(const Node& node, int s, int way) const {
    const auto e = from(node, s, way);
    return e && (fraction(e) < 1 || reach_into(*e, node, s, way));
  }

  /// Whether both edges across the sheet at a node are open.
  bool open_across(const Node& node, int n) const {
    if (lines_.is_wall(n, node[static_cast<std::size_t>(n)])) return false;
    for (const int way : {1, -1}) {
      const auto e = from(node, n, way);
      if (!e || fraction(e) != 1) return false;
    }
    return true;
  }

  void look_at(int along, int s, int n, const Node& node, int way) {
    if (!lines_.resolved(n)) return;
    const auto next = from(node, s, way);
    if (!next || fraction(next) == 0 || !open_across(node, n)) return;
    if (lines_.resolved(along) && fraction(from(node, along, 1)) > 0 &&
        fraction(from(node, along, -1)) > 0)
      return;  // a wire's end
    const Node far = moved(node, s, way);
    double reach = 1 - fraction(next);
    if (const auto moved_to = reach_into(*next, node, s, way))
      reach = *moved_to;
    else if (reach > 0 && is_metal(far, s, way))
      reach /= 2;  // a slot: which side has which part of the edge is not known
    const double from_here = lines_.at(s, node[static_cast<std::size_t>(s)]),
                 to = lines_.at(s, far[static_cast<std::size_t>(s)]);
    reach = std::min(reach, 1 - 1e-6);
    const Place place{along, s, way, node[0], node[1], node[2]};
    if (places_.emplace(place, rims_.size()).second)
      rims_.push_back({along, s, n, node, way, reach, from_here + reach * (to - from_here)});
  }
  bool is_metal(const Node& node, int s, int way) const {
    const auto e = from(node, s, way);
    return e && fraction(e) == 0;
  }

  /// The rim that goes on at the next node along it, in the same cell or some cells on.
  const Rim* neighbour(const Rim& r, int by) const {
    if (!lines_.resolved(r.along)) return nullptr;
    for (const int off : {0, 1, -1, 2, -2, 3, -3}) {
      Node node = moved(moved(r.node, r.along, by), r.s, off);
      for (const int d : {r.along, r.s})
        if (lines_.joined(d) || d == r.along) {
          auto& at = node[static_cast<std::size_t>(d)];
          at = lines_.own(d, at, false).value_or(at);
        }
      const auto found = places_.find({r.along, r.s, r.towards, node[0], node[1], node[2]});
      if (found != places_.end()) return &rims_[found->second];
    }
    return nullptr;
  }
  double lean_of(const Rim& r) const {
    double slope = 0;
    int sides = 0;
    for (const int by : {1, -1})
      if (const Rim* next = neighbour(r, by)) {
        const int here = r.node[static_cast<std::size_t>(r.along)];
        const double run = lines_.at(r.along, here + by) - lines_.at(r.along, here);
        slope += (next->at - r.at) / run;
        ++sides;
      }
    if (sides > 0) slope /= sides;
    return 1 / std::sqrt(1 + slope * slope);
  }

  /// Outwards from a rim, and across its sheet.
  struct FromRim {
    double s, n;
  };
  FromRim from_rim(const Rim& r, double s, double n) const {
    return {(s - r.at) * r.towards * r.lean,
            n - lines_.at(r.n, r.node[static_cast<std::size_t>(r.n)])};
  }
  /// phi + i psi of the half plane.
  static std::complex<double> potential(const FromRim& p) {
    return std::sqrt(std::complex(p.s, p.n));
  }
  /// The integral of phi over s, and over n from the sheet to |n|.
  static double integral(double s0, double s1, double n) {
    const auto g = [](double a, double b) {
      const std::complex<double> z(a, b);
      return (4.0 / 15 * std::sqrt(z) * z * z).imag();
    };
    return g(s1, std::abs(n)) - g(s0, std::abs(n)) - g(s1, 0) + g(s0, 0);
  }

  /// How much a place in the plane across a rim counts, in cells from it.
  double counts(const Rim& r, double s, double n) const {
    const int cell = r.node[static_cast<std::size_t>(r.s)] - (r.towards < 0 ? 1 : 0),
              plane = r.node[static_cast<std::size_t>(r.n)];
    const double away = std::hypot(
        (s - r.at) / lines_.length(r.s, cell),
        (n - lines_.at(r.n, plane)) / (lines_.middle(r.n, plane) - lines_.middle(r.n, plane - 1)));
    return std::clamp((fades_until - away) / (fades_until - whole_within), 0.0, 1.0) * r.lean *
           r.lean;
  }
  /// kappa of an edge along s or n, to the power of how much it counts.
  double kappa_across(const Rim& r, bool in_sheet, int i_s, int i_n) const {
    const double s0 = lines_.at(r.s, i_s), n0 = lines_.at(r.n, i_n),
                 s_middle = lines_.middle(r.s, i_s), n_middle = lines_.middle(r.n, i_n),
                 s1 = in_sheet ? lines_.at(r.s, i_s + 1) : s0,
                 n1 = in_sheet ? n0 : lines_.at(r.n, i_n + 1),
                 s_behind = in_sheet ? s_middle : lines_.middle(r.s, i_s - 1),
                 n_behind = in_sheet ? lines_.middle(r.n, i_n - 1) : n_middle;
    const double part = counts(r, in_sheet ? s_middle : s0, in_sheet ? n0 : n_middle);
    if (part == 0) return 1;
    const double drop = std::abs(
                     (potential(from_rim(r, s1, n1)) - potential(from_rim(r, s0, n0))).real()),
                 flux = std::abs((potential(from_rim(r, s_middle, n_middle)) -
                                  potential(from_rim(r, s_behind, n_behind)))
                                     .imag()),
                 l = s1 - s0 + n1 - n0, dual = s_middle - s_behind + n_middle - n_behind;
    if (!(drop > 1e-9 * std::sqrt(l))) return 1;
    return std::pow(flux / drop * l / dual * (in_sheet ? r.lean : 1 / r.lean), part);
  }
  /// Of an edge along the rim: what phi is on the average over its dual face, over what it is at
  /// the edge.
  double kappa_along(const Rim& r, int i_s, int i_n) const {
    const double part = counts(r, lines_.at(r.s, i_s), lines_.at(r.n, i_n));
    if (part == 0) return 1;
    const FromRim here = from_rim(r, lines_.at(r.s, i_s), lines_.at(r.n, i_n)),
                  low = from_rim(r, lines_.middle(r.s, i_s - 1), lines_.middle(r.n, i_n - 1)),
                  high = from_rim(r, lines_.middle(r.s, i_s), lines_.middle(r.n, i_n));
    const double sum = low.n < 0 && high.n > 0
                           ? integral(low.s, high.s, low.n) + integral(low.s, high.s, high.n)
                           : integral(low.s, high.s, high.n) - integral(low.s, high.s, low.n),
                 phi = potential(here).real();
    const double mean = std::abs(sum / ((high.s - low.s) * (high.n - low.n)));
    return phi > 1e-9 * mean ? std::pow(mean / phi, part) : 1;
  }

  struct Target {
    Edge edge;
    int times = 1;
  };
  /// What has a rim's factor at a place: behind a mirror the image of an edge, which has it from
  /// the rim's image; in a mirror it has those of both. A rim in a mirror is its own image.
  std::optional<Target> target(const Rim& r, int component, const Node& at) const {
    int times = 1;
    for (int d = 0; d < 3; ++d) {
      if (!lines_.resolved(d)) continue;
      const auto u = static_cast<std::size_t>(d);
      const int i = at[u], n = lines_.cells(d), face = 2 * i < n ? 0 : n;
      const bool cell = at_middle(component, d);
      if (!lines_.is_mirror(d, face)) continue;
      if (r.node[u] != face)
        times *= !cell && i == face ? 2 : 1;
      else if (i < 0 || i > n - int{cell})
        return std::nullopt;
    }
    const auto e = edge_at(component, at);
    return e ? std::optional(Target{*e, times}) : std::nullopt;
  }

  void add(const Rim& r) {
    const int node_s = r.node[static_cast<std::size_t>(r.s)],
              node_n = r.node[static_cast<std::size_t>(r.n)];
    // How much what lies half a cell before and behind the node, along the rim, has of it.
    const auto part_at = [&](int by) {
      if (!lines_.resolved(r.along)) return by < 0 ? 1.0 : 0.0;
      return neighbour(r, by) ? 0.5 : 1 - fraction(from(r.node, r.along, by));
    };
    const std::array<double, 2> parts{part_at(-1), part_at(1)};
    const auto beside = [&](int component, const Node& at, double kappa, double replaces) {
      for (const int side : {0, 1}) {
        const double part = parts[static_cast<std::size_t>(side)];
        const auto to = target(r, component, side == 0 ? moved(at, r.along, -1) : at);
        if (part > 0 && to && open_.fraction(to->edge) > 0)
          multiply(to->edge, std::pow(kappa, part * to->times), part * replaces);
      }
    };
    for (int ds = -4; ds <= 4; ++ds)
      for (int dn = -3; dn <= 3; ++dn) {
        const Node at = moved(moved(r.node, r.s, ds), r.n, dn);
        for (const int axis : {r.s, r.n}) {
          const auto to = target(r, axis, at);
          if (!to || open_.fraction(to->edge) == 0) continue;
          const double k = kappa_across(r, axis == r.s, node_s + ds, node_n + dn);
          if (k == 1) continue;
          const bool own = axis == r.s && dn == 0 && ds == (r.towards > 0 ? 0 : -1);
          const double replaces = own ? r.lean * r.lean : 0;
          multiply(to->edge, std::pow(k, to->times), replaces);
          beside(3 + (axis == r.s ? r.n : r.s), at, k, replaces);
        }
        beside(r.along, at, kappa_along(r, node_s + ds, node_n + dn), 0);
      }
  }
  /// `replaces`: how much of the edge's own open fraction the factor stands for.
  void multiply(const Edge& e, double kappa, double replaces) {
    Change& c = changes_.try_emplace(key(e), Change{e}).first->second;
    c.share /= kappa;
    c.replaced += replaces;
  }

  void write() {
    std::map<Key, CutCellFraction> listed;
    for (const CutCellFraction& p : open_.fractions) listed.emplace(key(p.edge), p);
    const auto take = [&](const Edge& e) -> CutCellFraction& {
      return listed.try_emplace(key(e), CutCellFraction{e, 1, 1}).first->second;
    };
    for (const auto& [k, change] : changes_) {
      CutCellFraction& p = take(change.edge);
      p.share = std::pow(p.fraction, std::max(0.0, 1 - change.replaced)) * change.share;
    }
    std::vector<Edge> wide;
    for (const auto& [k, p] : listed)
      if (is_electric(p.edge.component) && p.share > 1) wide.push_back(p.edge);
    for (const Edge& e : wide) take_faces_about(grid_, faces_, e, take);
    open_.fractions.clear();
    for (const auto& [k, p] : listed) open_.fractions.push_back(p);
  }
  struct Change {
    Edge edge;
    double share = 1, replaced = 0;
  };
  CutCellFractions& open_;
  const YeeGrid& grid_;
  const std::array<Faces, 3>& faces_;
  Lines lines_;
  const std::function<bool(const Edge&)>& within_metal_;
  std::map<std::tuple<std::uint8_t, int, int, int, bool>, double> reaches_;
  std::vector<Rim> rims_;
  std::map<Place, std::size_t> places_;
  std::map<Key, Change> changes_;
};

}  // namespace

void correct_rims(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
                  const SymmetryFaces& symmetry, std::span<const Reach> reaches,
                  const std::function<bool(const Edge&)>& within_metal) {
  Rims(open, grid, faces, symmetry, reaches, within_metal).correct();
}

}  // namespace tessera::electromagnetics::detail
