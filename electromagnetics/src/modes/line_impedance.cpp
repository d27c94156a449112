// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/line_impedance.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

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
      : axis_{(plane.axis + 1) % 3, (plane.axis + 2) % 3} {
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
    group_.resize(static_cast<std::size_t>(count_[0] * count_[1]));
    std::iota(group_.begin(), group_.end(), 0);
    for (int k = 0; k < static_cast<int>(size()); ++k) {
      const std::array<int, 2> at = place(k);
      metal_.push_back(!on_electric_mirror(k) || on_wall(k) ||
                       is_metal_of(model, edge_at(plane.axis, plane.axis, plane.line, at)));
    }
    for (const Edge& e : modes.e_n) metal_[static_cast<std::size_t>(low_end(e))] = 0;
    join(model, plane, modes);
    int first = -1;
    for (int k = 0; k < static_cast<int>(size()); ++k) {
      open_wall_.push_back(
          at_end(k, open_) && !at_end(k, walled_, open_) &&
          !is_metal_of(model, edge_at(plane.axis, plane.axis, plane.line, place(k))));
      if (!ends_openly(k)) continue;
      if (first < 0) first = k;
      unite(first, k);
    }
  }

  const std::vector<PlaneMirror>& mirrors() const { return mirrors_; }
  bool on(const PlaneMirror& m, int k) const {
    return (m.axis == 0 ? k % count_[0] : k / count_[0]) == m.line;
  }

  std::size_t size() const { return group_.size(); }
  bool is_metal(int node) const { return metal_[static_cast<std::size_t>(node)] != 0; }
  int root(int k) const {
    while (group_[static_cast<std::size_t>(k)] != k) k = group_[static_cast<std::size_t>(k)];
    return k;
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
  void unite(int a, int b) {
    const int one = root(a), other = root(b);
    group_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
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
  void join(const YeeModel& model, const ModePlane& plane, const GridModes& modes) {
    // Edges that are not metal, by their low end.
    std::vector<std::uint8_t> open[2];
    for (auto& of : open) of.assign(size(), 0);
    for (std::size_t k = 0; k < modes.open; ++k)
      open[axis_of(modes.e[k].component) == axis_[0] ? 0 : 1]
          [static_cast<std::size_t>(low_end(modes.e[k]))] = 1;
    for (int b = 0; b < count_[1]; ++b)
      for (int a = 0; a < count_[0]; ++a)
        for (const std::size_t q : {0, 1}) {
          const bool last = (q == 0 ? a : b) + 1 == count_[q];
          const int k = node(a, b);
          if (!model.active[axis_[q]] || (last && !wraps_[q]) ||
              open[q][static_cast<std::size_t>(k)] != 0)
            continue;
          const int next = q == 0 ? node(a + 1, b) : node(a, b + 1);
          // E along an electric mirror is zero without metal.
          if (on_electric_mirror(k) && on_electric_mirror(next) &&
              !is_metal_of(model, edge_at(axis_[q], plane.axis, plane.line, place(k))))
            continue;
          metal_[static_cast<std::size_t>(k)] = metal_[static_cast<std::size_t>(next)] = 1;
          unite(k, next);
        }
  }

  int axis_[2];
  int low_[2] = {}, count_[2] = {};
  bool wraps_[2] = {};
  Ends walled_[2] = {}, open_[2] = {};
  std::vector<PlaneMirror> mirrors_;
  std::vector<int> group_;
  std::vector<std::uint8_t> metal_, open_wall_;
};

}  // namespace

std::vector<GuideConductor> guide_conductors(const YeeModel& model, const ModePlane& plane,
                                             const GridModes& modes, const SymmetryFaces& symmetry,
                                             const std::array<AbsorbingFaces, 3>& absorbers) {
  if (!model.active[plane.axis]) return {};
  const Nodes nodes(model, plane, modes, symmetry, absorbers);
  const std::vector<PlaneMirror>& mirrors = nodes.mirrors();
  struct Group {
    int nodes = 0;                     // with those of images that are joined to it
    bool wall = false, metal = false;  // metal: not only walls that the guide does not have
    std::vector<bool> cut;             // [mirrors] it goes on behind that one
    GuideConductor conductor;
  };
  std::map<int, Group> groups;  // by root, which is its first node
  for (int k = 0; k < static_cast<int>(nodes.size()); ++k) {
    if (!nodes.is_metal(k)) continue;
    Group& g = groups[nodes.root(k)];
    g.cut.resize(mirrors.size());
    for (std::size_t m = 0; m < mirrors.size(); ++m)
      if (nodes.on(mirrors[m], k) || nodes.ends_openly(k)) g.cut[m] = true;
  }
  for (int k = 0; k < static_cast<int>(nodes.size()); ++k) {
    if (!nodes.is_metal(k)) continue;
    const std::array<int, 2> at = nodes.place(k);
    Group& g = groups[nodes.root(k)];
    if (g.nodes == 0) g.conductor.low = g.conductor.high = at;
    int there = 1;
    for (std::size_t m = 0; m < mirrors.size(); ++m)
      if (g.cut[m] && !nodes.on(mirrors[m], k)) there *= 2;
    g.nodes += there;
    for (const std::size_t q : {0, 1}) {
      g.conductor.low[q] = std::min(g.conductor.low[q], at[q]);
      g.conductor.high[q] = std::max(g.conductor.high[q], at[q]);
    }
    g.wall = g.wall || nodes.on_wall(k);
    g.metal = g.metal || !nodes.ends_openly(k);
  }
  for (std::size_t k = 0; k < modes.open; ++k) {
    const Edge& e = modes.e[k];
    const int low = nodes.low_end(e), high = nodes.high_end(e);
    if (nodes.root(low) == nodes.root(high)) continue;
    const double along = axis_of(e.component) == (plane.axis + 1) % 3 ? 1.0 : -1.0;
    for (const auto& [end, sign] : {std::pair(low, along), std::pair(high, -along)})
      if (nodes.is_metal(end)) {
        GuideConductor& c = groups[nodes.root(end)].conductor;
        c.edges.push_back(k), c.sign.push_back(sign);
      }
  }
  const auto reference = std::max_element(groups.begin(), groups.end(), [](auto& a, auto& b) {
    const auto rank = [](const Group& g) { return std::tuple(g.wall, g.metal, g.nodes); };
    return rank(a.second) < rank(b.second);
  });
  // Behind a magnetic mirror currents go on as they are, behind an electric one they turn round:
  // what is cut there carries nothing in all, what is not has an image with as much.
  std::vector<GuideConductor> out;
  for (auto g = groups.begin(); g != groups.end(); ++g) {
    double copies = 1, images = 1, of_part = 1;
    for (std::size_t m = 0; m < mirrors.size(); ++m) {
      images *= 2;
      if (!g->second.cut[m]) copies *= 2;
      if (g->second.cut[m]) of_part *= mirrors[m].magnetic ? 2 : 0;
    }
    if (g == reference) copies -= 1;
    if (copies == 0 || of_part == 0 || !g->second.metal) continue;
    GuideConductor& c = out.emplace_back(std::move(g->second.conductor));
    for (double& sign : c.sign) sign *= of_part;
    c.weight = copies / images;
    c.wall = g->second.wall;
  }
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

Complex line_impedance(const GridModes& modes, const GridMode& mode,
                       const std::vector<GuideConductor>& conductors) {
  Complex squares = 0, of_walls = 0;
  double round = 0;
  const std::vector<Complex> currents = line_currents(modes, mode, conductors);
  for (std::size_t k = 0; k < currents.size(); ++k)
    (conductors[k].wall ? of_walls : squares) += conductors[k].weight * currents[k] * currents[k];
  if (std::abs(squares) < 0.01 * std::abs(of_walls)) squares += of_walls;
  const double unit = modes.reference / (vacuum_impedance * modes.depth);
  for (const GuideConductor& c : conductors)
    for (const std::size_t k : c.edges) round += std::abs(mode.h[k]) * unit;
  if (!(std::abs(squares) > 1e-12 * round * round)) return std::numeric_limits<double>::quiet_NaN();
  return mode_product(modes, mode.e, mode.h) * unit * modes.reference / squares;
}

}  // namespace tessera::electromagnetics
