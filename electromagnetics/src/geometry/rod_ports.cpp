// SPDX-License-Identifier: Apache-2.0
#include "geometry/rod_ports.h"

#include "geometry/metal_paths.h"
#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double at_surface = 1e-6;  // of a cell, as distances are known
constexpr double as_near = 1e-5;     // of the shortest cell, for distances to be equal

}  // namespace

RodPorts::RodPorts(const SceneOrder& scene, const std::vector<Medium>& media,
                   const CellCorners& corners, std::span<const MetalIslands> islands,
                   const std::function<bool(const Edge&)>& closed)
    : CellCorners(corners), closed_before(closed), scene_(scene), media_(media) {
  double shortest = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (grid.resolved(d)) shortest = std::min(shortest, grid.smallest_length(d));
  hair = as_near * shortest;
  for (const MetalIslands& m : islands) islands_[key(m.face)] = m.middles;
}

bool RodPorts::is_known(const Cell& node) const {
  for (int d = 0; d < 3; ++d)
    for (const int back : {0, 1}) {
      Cell at = node;
      at[static_cast<std::size_t>(d)] -= back;
      if (!grid.resolved(d)) at[static_cast<std::size_t>(d)] = 0;
      at = wrapped(at);
      const int i = at[static_cast<std::size_t>(d)];
      if (i < 0 || i >= grid.cells(d)) continue;
      if (closed_before(edge_at(d, at, grid, periodic))) return true;
    }
  return false;
}
/// The faces of the domain in which a place lies, along axes that it does not extend along.
int RodPorts::ends_at(const RodPort& p) const {
  if (p.is_node) return ends_at(p.choices[0]);
  int bits = ends_at(index_of(p.place));
  for (int d = 0; d < 3; ++d)
    if (at_middle(p.place.component, d)) bits &= ~(3 << 2 * d);
  return bits;
}
int RodPorts::ends_at(const Cell& node) const {
  int bits = 0;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    if (!grid.resolved(d) || periodic[u]) continue;
    bits |= (node[u] == 0 ? 1 : 0) << 2 * d | (node[u] == grid.cells(d) ? 2 : 0) << 2 * d;
  }
  return bits;
}

std::size_t RodPorts::port(const Key& where, RodPort p) {
  const auto [at, is_new] = numbers_.try_emplace(where, ports.size());
  if (is_new) {
    ports.push_back(std::move(p));
  }
  return at->second;
}

/// The corners of the cell in `among`, from the one that is nearest to p.
void RodPorts::set_choices(RodPort& port, const Cell& cell, const Point& p,
                           const std::vector<int>& among) const {
  struct Far {
    long order;
    int other;  // of equal ones first those that differ from the nearest along x
    double distance;
    bool operator<(const Far& f) const {
      return std::tie(order, other) < std::tie(f.order, f.other);
    }
  };
  std::vector<Far> far;
  const int first = nearest_corner(cell, p);
  for (const int bits : among) {
    const Point q = place_of(cell, bits);
    double ordered = 0, sum = 0;
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (port.across[u] || !grid.resolved(d)) continue;
      const double away = ((first ^ bits) >> d & 1) ? hair : 0;
      ordered += std::pow(std::abs(p[u] - q[u]) + away, 2);
      sum += std::pow(p[u] - q[u], 2);
    }
    far.push_back({std::lround(10 / hair * std::sqrt(ordered)), first ^ bits, std::sqrt(sum)});
  }
  std::sort(far.begin(), far.end());
  for (const Far& f : far) {
    port.choices.push_back(corner(cell, first ^ f.other));
    port.shifts.push_back(f.distance);
  }
}

std::vector<RodPorts::Entry> RodPorts::entries_of(const Cell& cell, const Metal& metal) {
  std::vector<Entry> out;
  add_islands(cell, metal, out);
  for (int bits = 0; bits < 8; ++bits) {
    if (unresolved(bits)) continue;
    const Point p = place_of(cell, bits);
    const Cell node = corner(cell, bits);
    if (metal(p) <= 0) {
      RodPort at_node{.loose = !is_known(node), .is_node = true, .across = {true, true, true}};
      at_node.choices = {node}, at_node.shifts = {0};
      out.push_back({port({6, node[2], node[1], node[0]}, std::move(at_node)), p});
    }
    for (int d = 0; d < 3; ++d)
      if (grid.resolved(d) && !(bits >> d & 1)) add_crossings_of(cell, bits, d, metal, out);
  }
  return out;
}

void RodPorts::add_islands(const Cell& cell, const Metal& metal, std::vector<Entry>& out) {
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < (grid.resolved(d) ? 2 : 1); ++side) {
      Cell at = cell;
      at[static_cast<std::size_t>(d)] += side;
      const Edge face = edge_at(3 + d, at, grid, periodic);
      const auto known = islands_.find(key(face));
      if (known == islands_.end()) continue;
      for (std::size_t n = 0; n < known->second.size(); ++n) {
        Point p = known->second[n];
        if (grid.resolved(d))  // a face in a seam lies at both of its ends
          p[static_cast<std::size_t>(d)] =
              grid.lines[static_cast<std::size_t>(d)]
                        [static_cast<std::size_t>(at[static_cast<std::size_t>(d)])];
        RodPort island{.place = face};
        island.across[static_cast<std::size_t>(d)] = true;
        island.body = metal.body_at(p);
        std::vector<int> among;
        for (int bits = 0; bits < 8; ++bits)
          if (!unresolved(bits) && (!grid.resolved(d) || (bits >> d & 1) == side))
            among.push_back(bits);
        set_choices(island, cell, p, among);
        const int number = static_cast<int>(10 * n) + face.component + 10;
        out.push_back({port({number, face.k, face.j, face.i}, std::move(island)), p});
      }
    }
}

void RodPorts::add_crossings_of(const Cell& cell, int bits, int d, const Metal& metal,
                                std::vector<Entry>& out) {
  Cell at = cell;
  for (std::size_t u = 0; u < 3; ++u) at[u] += bits >> u & 1;
  const Edge edge = edge_at(d, at, grid, periodic);
  const Point from = place_of(cell, bits), to = place_of(cell, bits | 1 << d);
  int n = 0;
  for (const Stretch& s : metal.along(from, to)) {
    if (s.from <= 0 || s.to >= 1) continue;
    const double middle = (s.from + s.to) / 2;
    const Point p = plus(times(1 - middle, from), times(middle, to));
    RodPort crossing{.place = edge};
    for (int u = 0; u < 3; ++u)
      crossing.across[static_cast<std::size_t>(u)] = u != d && grid.resolved(u);
    crossing.body = metal.body_at(p);
    set_choices(crossing, cell, p, {bits, bits | 1 << d});
    crossing.loose = !closed_before(edge) && !is_known(crossing.choices[0]);
    out.push_back({port({10 * n++ + d + 10, edge.k, edge.j, edge.i}, std::move(crossing)), p});
  }
}

void RodPorts::look_at(const Cell& cell) {
  Box box{};
  Point low = place_of(cell, 0), high = low;
  double shortest = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (const auto u = static_cast<std::size_t>(d); grid.resolved(d)) {
      box.size[u] = grid.length(d, cell[u]);
      high[u] = low[u] + box.size[u];
      shortest = std::min(shortest, box.size[u]);
    }
  box.centre = times(0.5, plus(low, high));
  const Metal metal(scene_, media_, box, at_surface * shortest);
  if (metal.settled()) return;
  const std::vector<Entry> entries = entries_of(cell, metal);
  std::vector<std::size_t> group(entries.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t a = 0; a < entries.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (group[a] != group[b] && metal_leads(metal, entries[a].at, entries[b].at, low, high))
        std::replace(group.begin(), group.end(), std::max(group[a], group[b]),
                     std::min(group[a], group[b]));
  for (std::size_t first = 0; first < entries.size(); ++first) {
    if (group[first] != first) continue;
    RodGroup g{cell, {}, {}};
    for (std::size_t n = first; n < entries.size(); ++n)
      if (group[n] == first) {
        g.ports.push_back(entries[n].port), g.at.push_back(entries[n].at);
        g.known = g.known || !ports[entries[n].port].loose;
      }
    if (g.ports.size() == 1 && !g.known && !flat()) find_ends(g, metal, low, high);
    groups.push_back(std::move(g));
  }
}

/// Of metal that enters the cell once: corners beyond the middle that its inner half reaches.
void RodPorts::find_ends(RodGroup& g, const Metal& metal, const Point& low,
                         const Point& high) const {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t b = (d + 1) % 3, c = (d + 2) % 3;
    const double middle = (low[d] + high[d]) / 2;
    if (std::abs(g.at[0][d] - middle) < hair) continue;  // it enters there
    Point from = low, u{}, v{};
    from[d] = middle, u[b] = high[b] - low[b], v[c] = high[c] - low[c];
    for (const Point& p : pieces_of_metal(metal, from, u, v)) {
      const double depth = metal(p), there = metal(g.at[0]);
      if (depth > there / 2 || !metal_leads(metal, g.at[0], p, low, high)) continue;
      const int bit = 1 << d;
      const bool down = g.at[0][d] > middle;
      Point end = p;
      end[d] = (down ? low : high)[d];
      const std::vector<Stretch> on = metal.along(p, end);
      g.further.push_back({(nearest_corner(g.cell, p) & ~bit) | (down ? 0 : bit),
                           (on.empty() ? 1 : 1 - on[0].to) * std::abs(end[d] - middle)});
      g.even = g.even || depth < 0.9 * there;
    }
  }
}

}  // namespace tessera::electromagnetics::detail
