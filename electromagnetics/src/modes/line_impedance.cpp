// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/line_impedance.h"

#include "tessera/data/joined_sets.h"
#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

/// Whether the model's own metal is there, whatever the faces of its grid make of the edge.
bool is_metal_of(const YeeModel& model, const Edge& e) {
  const auto n = static_cast<std::size_t>(model.grid.cells(0)) + 1;
  MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
  if (model.material) model.material(e.component, e.j, e.k, row);
  return row.inverse[static_cast<std::size_t>(e.i)] == 0 || model.open.fraction(e) == 0;
}

/// A mirror of a symmetry at an end of the window.
struct PlaneMirror {
  std::size_t axis = 0;   ///< 0: u, 1: v
  int line = 0;           ///< of the window, from 0
  bool magnetic = false;  ///< else electric: what is beside it on the mirror is no metal of its own
};

/// The nodes of a plane's window, joined where the edge between two is metal.
class Nodes {
 public:
  Nodes(const YeeModel& model, const ModePlane& plane, const GridModes& modes,
        const SymmetryFaces& symmetry, const std::array<AbsorbingFaces, 3>& absorbers)
      : grid_(model.grid), axis_{(plane.axis + 1) % 3, (plane.axis + 2) % 3} {
    for (const std::size_t q : {0, 1}) {
      const int d = axis_[q], cells = model.grid.cells(d);
      const Faces faces = model.faces[static_cast<std::size_t>(d)];
      low_[q] = plane.low[q] < 0 ? 0 : plane.low[q];
      const int high = plane.high[q] < 0 ? cells : plane.high[q];
      wraps_[q] =
          high - low_[q] == cells && (!model.grid.resolved(d) || faces.low == Boundary::periodic);
      count_[q] = high - low_[q] + (wraps_[q] ? 0 : 1);
      for (const bool upper : {false, true}) {
        const bool magnetic = (upper ? faces.high : faces.low) == Boundary::pmc,
                   at_face = upper ? high == cells : low_[q] == 0,
                   mirror = !wraps_[q] && at_face && symmetry[static_cast<std::size_t>(d)][upper];
        if (mirror) mirrors_.push_back({q, upper ? count_[q] - 1 : 0, magnetic});
        walled_[q][upper] = !wraps_[q] && !mirror && !(at_face && magnetic);
        const AbsorbingFaces& layers = absorbers[static_cast<std::size_t>(d)];
        open_[q][upper] =
            walled_[q][upper] && (!at_face || (upper ? faces.high : faces.low) == Boundary::pml ||
                                  (upper ? layers.high : layers.low));
      }
    }
    data::JoinedSets groups(static_cast<std::size_t>(count_[0] * count_[1]));
    for (int k = 0; k < static_cast<int>(size()); ++k) {
      const std::array<int, 2> at = place(k);
      metal_.push_back(!on_electric_mirror(k) || on_wall(k) ||
                       is_metal_of(model, edge_at(plane.axis, plane.axis, plane.line, at)));
    }
    for (const Edge& e : modes.e_n) metal_[static_cast<std::size_t>(low_end(e))] = 0;
    join(model, plane, modes, groups);
    int first = -1;
    for (int k = 0; k < static_cast<int>(size()); ++k) {
      open_wall_.push_back(
          at_end(k, open_) && !at_end(k, walled_, open_) &&
          !is_metal_of(model, edge_at(plane.axis, plane.axis, plane.line, place(k))));
      if (!ends_openly(k)) continue;
      if (first < 0) first = k;
      groups.join(first, k);
    }
    for (int k = 0; k < static_cast<int>(size()); ++k) group_.push_back(groups.set_of(k));
  }

  const std::vector<PlaneMirror>& mirrors() const { return mirrors_; }
  bool on(const PlaneMirror& m, int k) const {
    return (m.axis == 0 ? k % count_[0] : k / count_[0]) == m.line;
  }

  /// Lines of u (`q` 0) and of v in the window, and whether it is a whole period of them.
  int count(std::size_t q) const { return count_[q]; }
  bool wraps(std::size_t q) const { return wraps_[q]; }
  /// Between line `i` of the window and the next one, m.
  double length(std::size_t q, int i) const { return grid_.length(axis_[q], low_[q] + i); }

  std::size_t size() const { return static_cast<std::size_t>(count_[0] * count_[1]); }
  bool is_metal(int node) const { return metal_[static_cast<std::size_t>(node)] != 0; }
  int root(int k) const { return group_[static_cast<std::size_t>(k)]; }
  /// Whether fields at both sides of the edge along u or v from a node know nothing of each other.
  bool parts(std::size_t q, int k) const {
    return resolved_[q] ? metal_edge_[q][static_cast<std::size_t>(k)] != 0 : is_metal(k);
  }
  int low_end(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k};
    return node(at[axis_[0]] - low_[0], at[axis_[1]] - low_[1]);
  }
  int high_end(const Edge& e) const {
    const int at[3] = {e.i, e.j, e.k}, d = axis_of(e.component);
    return node(at[axis_[0]] - low_[0] + (d == axis_[0]), at[axis_[1]] - low_[1] + (d == axis_[1]));
  }
  /// Lines of u and v.
  std::array<int, 2> place(int k) const {
    return {k % count_[0] + low_[0], k / count_[0] + low_[1]};
  }
  bool on_wall(int k) const { return at_end(k, walled_); }
  /// On a wall that the guide does not have: of a window within the domain, or behind a layer that
  /// absorbs. All of these are one.
  bool ends_openly(int k) const { return open_wall_[static_cast<std::size_t>(k)] != 0; }

 private:
  using Ends = std::array<bool, 2>;
  /// Whether a node is at one of `ends` that is none of `others`.
  bool at_end(int k, const Ends (&ends)[2], const Ends (&others)[2] = {}) const {
    const int at[2] = {k % count_[0], k / count_[0]};
    for (const std::size_t q : {0, 1})
      for (const bool upper : {false, true})
        if (ends[q][upper] && !others[q][upper] && at[q] == (upper ? count_[q] - 1 : 0))
          return true;
    return false;
  }
  int node(int a, int b) const { return (b % count_[1]) * count_[0] + a % count_[0]; }
  bool on_electric_mirror(int k) const {
    return std::any_of(mirrors_.begin(), mirrors_.end(),
                       [&](const PlaneMirror& m) { return !m.magnetic && on(m, k); });
  }
  /// Along axis `d`, from the node on lines `at` of u and v.
  Edge edge_at(int d, int normal, int line, const std::array<int, 2>& at) const {
    int ijk[3];
    ijk[normal] = line, ijk[axis_[0]] = at[0], ijk[axis_[1]] = at[1];
    return {static_cast<std::uint8_t>(d), ijk[0], ijk[1], ijk[2]};
  }
  void join(const YeeModel& model, const ModePlane& plane, const GridModes& modes,
            data::JoinedSets& groups) {
    // Edges that are not metal, by their low end.
    std::vector<std::uint8_t> open[2];
    for (const std::size_t q : {0, 1}) {
      open[q].assign(size(), 0), metal_edge_[q].assign(size(), 0);
      resolved_[q] = model.active[axis_[q]];
    }
    for (std::size_t k = 0; k < modes.open; ++k)
      open[axis_of(modes.e[k].component) == axis_[0] ? 0 : 1]
          [static_cast<std::size_t>(low_end(modes.e[k]))] = 1;
    for (int b = 0; b < count_[1]; ++b)
      for (int a = 0; a < count_[0]; ++a)
        for (const std::size_t q : {0, 1}) {
          const bool last = (q == 0 ? a : b) + 1 == count_[q];
          const int k = node(a, b);
          if (!resolved_[q] || (last && !wraps_[q]) || open[q][static_cast<std::size_t>(k)] != 0)
            continue;
          const int next = q == 0 ? node(a + 1, b) : node(a, b + 1);
          // E along an electric mirror is zero without metal.
          if (on_electric_mirror(k) && on_electric_mirror(next) &&
              !is_metal_of(model, edge_at(axis_[q], plane.axis, plane.line, place(k))))
            continue;
          metal_[static_cast<std::size_t>(k)] = metal_[static_cast<std::size_t>(next)] = 1;
          metal_edge_[q][static_cast<std::size_t>(k)] = 1;
          groups.join(k, next);
        }
  }

  const YeeGrid& grid_;
  int axis_[2];
  int low_[2] = {}, count_[2] = {};
  bool wraps_[2] = {}, resolved_[2] = {};
  Ends walled_[2] = {}, open_[2] = {};
  std::vector<PlaneMirror> mirrors_;
  std::vector<int> group_;
  std::vector<std::uint8_t> metal_, open_wall_, metal_edge_[2];
};

/// What metal leaves of a window: its cells, joined where the edge between two is none.
class Spaces {
 public:
  explicit Spaces(const Nodes& nodes)
      : nodes_(nodes),
        cells_{nodes.count(0) - (nodes.wraps(0) ? 0 : 1),
               nodes.count(1) - (nodes.wraps(1) ? 0 : 1)} {
    data::JoinedSets spaces(static_cast<std::size_t>(cells_[0] * cells_[1]));
    std::vector<std::pair<int, std::size_t>> at_mirrors;
    for (int k = 0; k < static_cast<int>(nodes.size()); ++k)
      for (const std::size_t q : {0, 1}) {
        if ((q == 0 ? k % nodes.count(0) : k / nodes.count(0)) >= cells_[q] || nodes.parts(q, k))
          continue;
        const auto [behind, before] = beside(q, k);
        if (behind >= 0 && before >= 0) {
          spaces.join(behind, before);
          continue;
        }
        for (std::size_t m = 0; m < nodes.mirrors().size(); ++m)
          if (nodes.mirrors()[m].axis != q && nodes.on(nodes.mirrors()[m], k))
            at_mirrors.emplace_back(std::max(behind, before), m);
      }
    for (int c = 0; c < cells_[0] * cells_[1]; ++c) space_.push_back(spaces.set_of(c));
    for (const auto& [cell, m] : at_mirrors)
      reached_.emplace(space_[static_cast<std::size_t>(cell)], m);
  }
  /// That at both sides of the edge along u or v from a node.
  int of(std::size_t q, int k) const {
    const auto [behind, before] = beside(q, k);
    return space_[static_cast<std::size_t>(std::max(behind, before))];
  }
  /// Whether it goes on behind a mirror.
  bool reaches(int space, std::size_t mirror) const { return reached_.count({space, mirror}) > 0; }

 private:
  /// The cells at its two sides; -1: none.
  std::pair<int, int> beside(std::size_t q, int k) const {
    const std::size_t p = 1 - q;
    int at[2] = {k % nodes_.count(0), k / nodes_.count(0)};
    const auto cell = [&] { return at[1] * cells_[0] + at[0]; };
    const int behind = at[p] < cells_[p] ? cell() : -1;
    at[p] += at[p] == 0 && nodes_.wraps(p) ? cells_[p] - 1 : -1;
    return {behind, at[p] >= 0 ? cell() : -1};
  }

  const Nodes& nodes_;
  int cells_[2];
  std::vector<int> space_;  ///< of each cell
  std::set<std::pair<int, std::size_t>> reached_;
};

/// Nodes that metal joins.
struct Group {
  bool wall = false, metal = false;        // metal: not only walls that the guide does not have
  std::vector<bool> cut;                   // [mirrors] it goes on behind that one
  std::array<std::vector<bool>, 2> lines;  // [u or v, line of the window] has nodes of it
  double extent = 0;                       // along u and along v of the whole, m
  std::array<int, 2> low{}, high{};        // lines between which it lies
};

/// By root, which is its first node.
std::map<int, Group> groups_of(const Nodes& nodes) {
  const std::vector<PlaneMirror>& mirrors = nodes.mirrors();
  std::map<int, Group> groups;
  for (int k = 0; k < static_cast<int>(nodes.size()); ++k) {
    if (!nodes.is_metal(k)) continue;
    const std::array<int, 2> at = nodes.place(k), in{k % nodes.count(0), k / nodes.count(0)};
    const auto [entry, first] = groups.try_emplace(nodes.root(k));
    Group& g = entry->second;
    if (first) g.low = g.high = at, g.cut.resize(mirrors.size());
    for (std::size_t m = 0; m < mirrors.size(); ++m)
      if (nodes.on(mirrors[m], k) || nodes.ends_openly(k)) g.cut[m] = true;
    for (const std::size_t q : {0, 1}) {
      g.lines[q].resize(static_cast<std::size_t>(nodes.count(q)));
      g.lines[q][static_cast<std::size_t>(in[q])] = true;
      g.low[q] = std::min(g.low[q], at[q]), g.high[q] = std::max(g.high[q], at[q]);
    }
    g.wall = g.wall || nodes.on_wall(k);
    g.metal = g.metal || !nodes.ends_openly(k);
  }
  for (auto& [root, g] : groups)
    for (const std::size_t q : {0, 1}) {
      const std::size_t n = g.lines[q].size();
      double extent = 0;
      for (std::size_t i = 0; n > 1 && i < n; ++i)
        if (g.lines[q][i] && (i + 1 < n || nodes.wraps(q)) && g.lines[q][(i + 1) % n])
          extent += nodes.length(q, static_cast<int>(i));
      for (std::size_t m = 0; m < mirrors.size(); ++m)
        if (mirrors[m].axis == q && g.cut[m]) extent *= 2;
      g.extent += extent;
    }
  return groups;
}

/// What bounds a space.
struct SpaceBounds {
  bool walls = false;  // of metal
  bool open = false;   // walls that the guide does not have
  double largest = 0;  // extent of bodies
  double returns = 0;  // how many in the whole are what others return through
};
/// Bodies whose extent is that part of the largest one's are of its size: one cell more or less of
/// five.
constexpr double kAlike = 0.8;

}  // namespace

std::vector<GuideConductor> guide_conductors(const YeeModel& model, const ModePlane& plane,
                                             const GridModes& modes, const SymmetryFaces& symmetry,
                                             const std::array<AbsorbingFaces, 3>& absorbers) {
  if (!model.active[plane.axis]) return {};
  const Nodes nodes(model, plane, modes, symmetry, absorbers);
  const Spaces spaces(nodes);
  const std::vector<PlaneMirror>& mirrors = nodes.mirrors();
  const std::map<int, Group> groups = groups_of(nodes);
  std::map<std::pair<int, int>, GuideConductor> sides;  // of a group, by its root, in a space
  std::map<int, SpaceBounds> bounds;
  for (std::size_t k = 0; k < modes.open; ++k) {
    const Edge& e = modes.e[k];
    const int low = nodes.low_end(e), high = nodes.high_end(e);
    if (nodes.root(low) == nodes.root(high)) continue;
    const bool of_u = axis_of(e.component) == (plane.axis + 1) % 3;
    const int space = spaces.of(of_u ? 0 : 1, low);
    const double along = of_u ? 1.0 : -1.0;
    for (const auto& [end, sign] : {std::pair(low, along), std::pair(high, -along)}) {
      if (!nodes.is_metal(end)) continue;
      const Group& g = groups.at(nodes.root(end));
      SpaceBounds& b = bounds[space];
      if (g.wall) (g.metal ? b.walls : b.open) = true;
      if (!g.metal) continue;
      if (!g.wall) b.largest = std::max(b.largest, g.extent);
      GuideConductor& c = sides[{nodes.root(end), space}];
      c.edges.push_back(k), c.sign.push_back(sign);
    }
  }
  // Behind a magnetic mirror currents go on as they are, behind an electric one they turn round:
  // what is cut there carries nothing in all, what is not has an image with as much. A space that
  // a mirror does not cut is there twice, with all that bounds it.
  std::vector<GuideConductor> all;
  for (auto& [place, c] : sides) {
    const Group& g = groups.at(place.first);
    SpaceBounds& b = bounds.at(place.second);
    double parts = 1, of_part = 1;
    for (std::size_t m = 0; m < mirrors.size(); ++m) {
      if (!spaces.reaches(place.second, m)) continue;
      parts *= 2;
      (g.cut[m] ? of_part : c.net) *= mirrors[m].magnetic ? 2 : 0;
      if (!g.cut[m]) c.copies *= 2;
    }
    c.low = g.low, c.high = g.high;
    c.space = place.second;
    c.weight = c.copies / parts;
    c.open = b.open && !b.walls;
    c.returns = b.walls ? g.wall : g.extent >= kAlike * b.largest;
    if (c.returns) b.returns += c.copies;
    if (of_part == 0) continue;
    for (double& sign : c.sign) sign *= of_part;
    all.push_back(std::move(c));
  }
  std::vector<GuideConductor> out;
  for (GuideConductor& c : all)
    if (c.open || !c.returns || bounds.at(c.space).returns > 1) out.push_back(std::move(c));
  return out;
}

std::vector<Complex> line_currents(const GridModes& modes, const GridMode& mode,
                                   const std::vector<GuideConductor>& conductors) {
  std::vector<Complex> out;
  for (const GuideConductor& c : conductors) {
    Complex sum = 0;
    for (std::size_t k = 0; k < c.edges.size(); ++k) sum += c.sign[k] * mode.h.at(c.edges[k]);
    out.push_back(sum * modes.reference / (vacuum_impedance * modes.depth));
  }
  return out;
}

namespace {

/// sum I^2 in one space.
Complex squared_currents(const std::vector<std::pair<const GuideConductor*, Complex>>& of) {
  Complex all = 0, others = 0, net = 0, first = 0, one_way = 0;
  double largest = 0, weight = 0;
  for (const auto& [c, current] : of) {
    const Complex square = c->weight * current * current;
    all += square, net += c->net * current;
    largest = std::max(largest, std::abs(current));
    if (!c->returns)
      others += square;
    else if (std::abs(current) > std::abs(first))
      first = current;
  }
  if (of.front().first->open && std::abs(net) > largest / 2) return all;
  for (const auto& [c, current] : of) {
    if (!c->returns) continue;
    const bool back = (current * std::conj(first)).real() < 0;
    one_way += c->copies / 2 * (back ? -current : current);
    weight = c->weight / c->copies;
  }
  const Complex returns = weight * one_way * one_way;
  return std::abs(others) < 0.01 * std::abs(returns) ? others + returns : others;
}

}  // namespace

Complex line_impedance(const GridModes& modes, const GridMode& mode,
                       const std::vector<GuideConductor>& conductors) {
  const std::vector<Complex> currents = line_currents(modes, mode, conductors);
  std::map<int, std::vector<std::pair<const GuideConductor*, Complex>>> spaces;
  for (std::size_t k = 0; k < currents.size(); ++k)
    spaces[conductors[k].space].emplace_back(&conductors[k], currents[k]);
  Complex squares = 0;
  for (const auto& [space, of] : spaces) squares += squared_currents(of);
  const double unit = modes.reference / (vacuum_impedance * modes.depth);
  double round = 0;
  for (const GuideConductor& c : conductors)
    for (const std::size_t k : c.edges) round += std::abs(mode.h[k]) * unit;
  if (!(std::abs(squares) > 1e-12 * round * round)) return std::numeric_limits<double>::quiet_NaN();
  return mode_product(modes, mode.e, mode.h) * unit * modes.reference / squares;
}

}  // namespace tessera::electromagnetics
