// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/line_impedance.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

/// The nodes of a plane's window, joined where the edge between two is metal.
class Nodes {
 public:
  Nodes(const YeeModel& model, const ModePlane& plane, const GridModes& modes)
      : axis_{(plane.axis + 1) % 3, (plane.axis + 2) % 3} {
    for (const std::size_t q : {0, 1}) {
      const int d = axis_[q], cells = model.grid.cells(d);
      low_[q] = plane.low[q] < 0 ? 0 : plane.low[q];
      const int high = plane.high[q] < 0 ? cells : plane.high[q];
      const bool whole = high - low_[q] == cells;
      wraps_[q] = whole && (!model.grid.resolved(d) || model.faces[d].low == Boundary::periodic);
      walled_[q] = {!wraps_[q] && !(whole && model.faces[d].low == Boundary::pmc),
                    !wraps_[q] && !(whole && model.faces[d].high == Boundary::pmc)};
      count_[q] = high - low_[q] + (wraps_[q] ? 0 : 1);
    }
    group_.resize(static_cast<std::size_t>(count_[0] * count_[1]));
    std::iota(group_.begin(), group_.end(), 0);
    metal_.assign(group_.size(), 1);
    for (const Edge& e : modes.e_n) metal_[static_cast<std::size_t>(low_end(e))] = 0;
    join(model, modes);
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
  bool on_wall(int k) const {
    const int at[2] = {k % count_[0], k / count_[0]};
    for (const std::size_t q : {0, 1})
      if ((at[q] == 0 && walled_[q][0]) || (at[q] == count_[q] - 1 && walled_[q][1])) return true;
    return false;
  }

 private:
  int node(int a, int b) const { return (b % count_[1]) * count_[0] + a % count_[0]; }
  void join(const YeeModel& model, const GridModes& modes) {
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
          metal_[static_cast<std::size_t>(k)] = metal_[static_cast<std::size_t>(next)] = 1;
          const int one = root(k), other = root(next);
          group_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
        }
  }

  int axis_[2];
  int low_[2] = {}, count_[2] = {};
  bool wraps_[2] = {};
  std::array<bool, 2> walled_[2] = {};
  std::vector<int> group_;
  std::vector<std::uint8_t> metal_;
};

}  // namespace

std::vector<GuideConductor> guide_conductors(const YeeModel& model, const ModePlane& plane,
                                             const GridModes& modes) {
  if (!model.active[plane.axis]) return {};
  const Nodes nodes(model, plane, modes);
  struct Group {
    int nodes = 0;
    bool wall = false;
    GuideConductor conductor;
  };
  std::map<int, Group> groups;  // by root, which is its first node
  for (int k = 0; k < static_cast<int>(nodes.size()); ++k) {
    if (!nodes.is_metal(k)) continue;
    const std::array<int, 2> at = nodes.place(k);
    Group& g = groups[nodes.root(k)];
    if (g.nodes++ == 0) g.conductor.low = g.conductor.high = at;
    for (const std::size_t q : {0, 1}) {
      g.conductor.low[q] = std::min(g.conductor.low[q], at[q]);
      g.conductor.high[q] = std::max(g.conductor.high[q], at[q]);
    }
    g.wall = g.wall || nodes.on_wall(k);
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
    return std::pair(a.second.wall, a.second.nodes) < std::pair(b.second.wall, b.second.nodes);
  });
  std::vector<GuideConductor> out;
  for (auto g = groups.begin(); g != groups.end(); ++g)
    if (g != reference) out.push_back(std::move(g->second.conductor));
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
  Complex squares = 0;
  double round = 0;
  for (const Complex& i : line_currents(modes, mode, conductors)) squares += i * i;
  const double unit = modes.reference / (vacuum_impedance * modes.depth);
  for (const GuideConductor& c : conductors)
    for (const std::size_t k : c.edges) round += std::abs(mode.h[k]) * unit;
  if (!(std::abs(squares) > 1e-12 * round * round)) return std::numeric_limits<double>::quiet_NaN();
  return mode_product(modes, mode.e, mode.h) * unit * modes.reference / squares;
}

}  // namespace tessera::electromagnetics
