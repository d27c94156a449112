// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/line_reading.h"

#include "circuits/edge_at.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tessera::electromagnetics {
namespace {

using circuits::edge_at;

using Node = std::array<int, 3>;

struct Plane {
  const YeeGrid& grid;
  const std::array<Faces, 3>& faces;
  int axis;
  const std::function<bool(const Edge&)>& conductor;

  bool periodic(int d) const {
    return faces[static_cast<std::size_t>(d)].low == Boundary::periodic;
  }
  /// Along the line, on the other side where faces are joined.
  int cell(int i) const {
    const int n = grid.cells(axis);
    return periodic(axis) ? (i + n) % n : i;
  }
  /// Of the loops half a cell before and behind the plane, so that what changes evenly along the
  /// line is that of the plane: of unequal cells the nearer one counts more.
  double share(int line, bool of_before) const {
    const int before = cell(line - 1), behind = cell(line);
    if (before < 0 || behind >= grid.cells(axis)) return 0.5;
    const double one = grid.length(axis, before), other = grid.length(axis, behind);
    if (std::abs(one - other) <= 1e-9 * other) return 0.5;
    return (of_before ? other : one) / (one + other);
  }
  /// Whether a node lies in an outer conductor.
  bool outer(const Node& node) const {
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (d == axis || !grid.resolved(d) || periodic(d)) continue;
      if ((node[u] == 0 && faces[u].low != Boundary::pmc) ||
          (node[u] == grid.cells(d) && faces[u].high != Boundary::pmc))
        return true;
    }
    return false;
  }
  /// The nodes of the plane that metal joins to some; nothing where it leads to an outer conductor.
  std::set<Node> joined(std::vector<Node> open) const {
    std::set<Node> found(open.begin(), open.end());
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      if (outer(node)) return {};
      for (int d = 0; d < 3; ++d)
        for (const int way : {-1, 1}) {
          if (d == axis || !grid.resolved(d)) continue;
          const auto u = static_cast<std::size_t>(d);
          const int n = grid.cells(d);
          Node next = node, along = node;
          next[u] += way, along[u] += way < 0 ? -1 : 0;
          if (periodic(d)) next[u] = (next[u] + n) % n, along[u] = (along[u] + n) % n;
          if (next[u] < 0 || next[u] > n || !conductor(edge_at(d, along))) continue;
          if (found.insert(next).second) open.push_back(next);
        }
    }
    return found;
  }
};

}  // namespace

LineReading line_reading(const LumpedElement& path, int axis, const YeeGrid& grid,
                         const std::array<Faces, 3>& faces, const CutCellFractions& open,
                         const std::function<bool(const Edge&)>& conductor,
                         const SymmetryFaces& symmetry) {
  LumpedElement box = path;
  box.circuit = {.resistance_ohm = 1};
  const PlacedElement between = place(box, grid, faces, open, conductor, symmetry);
  if (const auto end = loose_end(between, grid, faces, conductor))
    throw Error(
        fmt::format("[line_reading] the path ends on no conductor at ({:.6g}, {:.6g}, {:.6g}) m",
                    (*end)[0], (*end)[1], (*end)[2]));
  const Plane plane{grid, faces, axis, conductor};
  const auto a = static_cast<std::size_t>(path.axis), n = static_cast<std::size_t>(axis);
  std::set<Node> carrier;
  double sign = 0;
  for (const bool high : {true, false}) {  // where the path ends, or begins
    std::vector<Node> ends;
    for (const Edge& e : between.edges) {
      Node node{e.i, e.j, e.k}, next = node;
      node[a] += high ? 1 : 0, next[a] += high ? 1 : -1;
      if (std::find(between.edges.begin(), between.edges.end(), edge_at(path.axis, next)) ==
          between.edges.end())
        ends.push_back(node);
    }
    carrier = plane.joined(ends);
    sign = high ? -1 : 1;
    if (!carrier.empty()) break;
  }
  if (carrier.empty())
    throw Error(
        "[line_reading] both conductors are joined to outer ones: there is no loop around one "
        "of them");
  // An axis that is not resolved counts as 1 m, as of an element, whatever its cell; unknowns have
  // the length of that.
  double unit = reference_length(grid) / vacuum_impedance;
  for (int across = 0; across < 3; ++across)
    if (across != axis && !grid.resolved(across)) unit /= grid.length(across, 0);
  std::map<std::array<int, 4>, double> around;
  const int b = (axis + 1) % 3, d = (axis + 2) % 3;
  for (const Node& node : carrier)
    for (const int back : {0, 1}) {
      Node middle = node;
      middle[n] = plane.cell(node[n] - back);
      if (middle[n] < 0 || middle[n] >= grid.cells(axis)) continue;
      const double share = plane.share(node[n], back == 1);
      // (h_d - h_d[b-1]) - (h_b - h_b[d-1]); behind a magnetic mirror there is none.
      const auto add = [&](int component, int across, int shift, double weight) {
        Node at = middle;
        const auto u = static_cast<std::size_t>(across);
        at[u] -= shift;
        if (!grid.resolved(across)) return;  // both are the same
        if (at[u] < 0 && plane.periodic(across)) at[u] += grid.cells(across);
        if (at[u] < 0 || at[u] >= grid.cells(across)) return;
        around[{3 + component, at[0], at[1], at[2]}] += weight;
      };
      add(d, b, 0, share), add(d, b, 1, -share), add(b, d, 0, -share), add(b, d, 1, share);
    }
  LineReading out;
  out.edges = between.edges, out.voltage = between.voltage;
  out.current.resize(out.edges.size());
  for (const auto& [at, weight] : around) {
    if (weight == 0) continue;
    out.edges.push_back({static_cast<std::uint8_t>(at[0]), at[1], at[2], at[3]});
    out.voltage.push_back(0);
    out.current.push_back(sign * unit * between.images * weight);
  }
  return out;
}

}  // namespace tessera::electromagnetics
