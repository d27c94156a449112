// SPDX-License-Identifier: Apache-2.0
#include "geometry/metal_rods.h"

#include "geometry/cell_corners.h"
#include "geometry/metal_paths.h"
#include "geometry/thin_metal.h"
#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double at_surface = 1e-6;  // of a cell, as distances are known
constexpr int few = 200;             // nodes of metal of the grid that may be a part of a rod

/// A place where metal enters or leaves cells: an island in a face, a crossing of an edge, or a
/// node in metal.
struct Port {
  bool loose = true;  ///< no metal of the grid is there yet
  Edge place;         ///< the face or edge; of a node not used
  bool is_node = false;
  std::array<bool, 3> across{};  ///< axes along which cells on both of its sides differ
  std::vector<Cell> choices;     ///< nodes, the nearest first
  std::vector<double> shifts;    ///< of them, in m
  std::optional<std::size_t> body;
  // What it leads to.
  bool leads_on = false;  ///< to other loose ports, or as a pin half a cell further
  bool ends = false;      ///< half a cell further
  std::vector<std::pair<Cell, Cell>> at_known;  ///< cells in which it leads to metal of the grid,
                                                ///< and a node of that
  std::optional<std::size_t> own;               ///< the choice that was taken
};

/// Ports of one cell that metal within it joins.
struct Group {
  Cell cell;
  std::vector<std::size_t> ports;
  std::vector<Point> at;     ///< where they are in this cell
  bool known = false;        ///< metal of the grid is one of them
  std::vector<int> further;  ///< corners of the cell that an end reaches,
  bool even = false;         ///< as thick as where it enters the cell
};

class Rods : CellCorners {
 public:
  Rods(const SceneOrder& scene, const std::vector<Medium>& media, const YeeGrid& grid,
       const Periodic& periodic, std::span<const MetalIslands> islands, std::span<const Edge> metal,
       const std::function<bool(const Edge&)>& closed)
      : CellCorners{grid, periodic}, scene_(scene), media_(media), closed_before_(closed) {
    for (const MetalIslands& m : islands) islands_[key(m.face)] = m.middles;
    for (const Edge& e : metal) unite(e);
  }

  PlacedRods place(std::span<const MetalIslands> islands, std::span<const CrossedEdge> crossed) {
    std::set<Cell> next;
    const auto add_cells = [&](const Edge& e) {
      for (const Cell& c : cells_of(grid, periodic, e)) next.insert(c);
    };
    for (const MetalIslands& m : islands) add_cells(m.face);
    for (const CrossedEdge& e : crossed) {
      Cell high = index_of(e.edge);
      ++high[static_cast<std::size_t>(axis_of(e.edge.component))];
      if ((e.low && !is_known(index_of(e.edge))) || (e.high && !is_known(wrapped(high))))
        add_cells(e.edge);
    }
    std::map<Cell, int> sizes;
    for (const auto& [node, up] : up_) ++sizes[whole(node)];
    for (const auto& [node, up] : up_)
      if (sizes[whole(node)] <= few && !flat())
        for (int bits = 0; bits < 8; ++bits) add_cell_behind(node, bits, next);
    for (const Cell& c : next) look_at(c);
    for (const Group& g : groups_) count_links(g);
    for (const bool nodes : {true, false})  // these have no choice
      for (std::size_t p = 0; p < ports_.size(); ++p)
        if (ports_[p].is_node == nodes && is_needed(ports_[p])) choose(p);
    for (const Group& g : groups_) join(g);
    for (const Group& g : groups_) extend(g);
    for (const Port& p : ports_)
      if (p.own && !p.is_node) {
        // In two dimensions E leaves the face; H of it, which another E makes, sees its open area.
        if (!flat()) out_.left.push_back(p.place);
        out_.moved.push_back({p.body, p.shifts[*p.own]});
      }
    return std::move(out_);
  }

 private:
  using Key = std::tuple<int, int, int, int>;
  static Key key(const Edge& e) { return {e.component, e.k, e.j, e.i}; }

  bool flat() const { return grid.dimensions() < 3; }
  bool is_closed(const Edge& e) const { return edges_.contains(key(e)) || closed_before_(e); }
  /// The metal of the grid that hangs together, by one of its nodes.
  Cell whole(Cell node) {
    for (auto at = up_.find(node); at != up_.end() && at->second != node; at = up_.find(node))
      node = at->second;
    return node;
  }
  void unite(const Edge& e) {
    const Cell low = index_of(e);
    Cell high = low;
    ++high[static_cast<std::size_t>(axis_of(e.component))];
    high = wrapped(high);
    const Cell a = whole(low), b = whole(high);
    up_.try_emplace(a, a);
    up_[b] = a;
  }
  /// Whether an edge at the node was metal before.
  bool is_known(const Cell& node) const {
    for (int d = 0; d < 3; ++d)
      for (const int back : {0, 1}) {
        Cell at = node;
        at[static_cast<std::size_t>(d)] -= back;
        if (!grid.resolved(d)) at[static_cast<std::size_t>(d)] = 0;
        at = wrapped(at);
        const int i = at[static_cast<std::size_t>(d)];
        if (i < 0 || i >= grid.cells(d)) continue;
        if (closed_before_(edge_at(d, at, grid, periodic))) return true;
      }
    return false;
  }
  std::size_t root(std::size_t p) {
    while (parent_[p] != p) p = parent_[p] = parent_[parent_[p]];
    return p;
  }

  std::size_t port(const Key& where, Port p) {
    const auto [at, is_new] = numbers_.try_emplace(where, ports_.size());
    if (is_new) {
      parent_.push_back(ports_.size());
      known_.emplace_back();
      ports_.push_back(std::move(p));
    }
    return at->second;
  }

  /// The corners of the cell in `among`, from the one that is nearest to p.
  void set_choices(Port& port, const Cell& cell, const Point& p,
                   const std::vector<int>& among) const {
    std::vector<std::pair<double, int>> far;
    for (const int bits : among) {
      const Point q = place_of(cell, bits);
      double sum = 0;
      for (int d = 0; d < 3; ++d) {
        const auto u = static_cast<std::size_t>(d);
        const double hair = 1e-6 * grid.length(d, cell[u]);
        if (port.across[u] || !grid.resolved(d)) continue;
        sum += std::pow(p[u] - hair - q[u], 2);
      }
      far.emplace_back(std::sqrt(sum), bits);
    }
    std::sort(far.begin(), far.end());
    for (const auto& [distance, bits] : far) {
      port.choices.push_back(corner(cell, bits));
      port.shifts.push_back(distance);
    }
  }

  /// Everything in one cell that metal may enter it by.
  struct Entry {
    std::size_t port;
    Point at;
  };
  std::vector<Entry> entries_of(const Cell& cell, const Metal& metal) {
    std::vector<Entry> out;
    add_islands(cell, metal, out);
    for (int bits = 0; bits < 8; ++bits) {
      if (unresolved(bits)) continue;
      const Point p = place_of(cell, bits);
      const Cell node = corner(cell, bits);
      if (metal(p) <= 0) {
        Port at_node{.loose = !is_known(node), .is_node = true, .across = {true, true, true}};
        at_node.choices = {node}, at_node.shifts = {0};
        out.push_back({port({6, node[2], node[1], node[0]}, std::move(at_node)), p});
      }
      for (int d = 0; d < 3; ++d)
        if (grid.resolved(d) && !(bits >> d & 1)) add_crossings_of(cell, bits, d, metal, out);
    }
    return out;
  }
  void add_islands(const Cell& cell, const Metal& metal, std::vector<Entry>& out) {
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
          Port island{.place = face};
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

  void add_crossings_of(const Cell& cell, int bits, int d, const Metal& metal,
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
      Port crossing{.place = edge};
      for (int u = 0; u < 3; ++u)
        crossing.across[static_cast<std::size_t>(u)] = u != d && grid.resolved(u);
      crossing.body = metal.body_at(p);
      set_choices(crossing, cell, p, {bits, bits | 1 << d});
      crossing.loose = !closed_before_(edge) && !is_known(crossing.choices[0]);
      out.push_back({port({10 * n++ + d + 10, edge.k, edge.j, edge.i}, std::move(crossing)), p});
    }
  }

  void look_at(const Cell& cell) {
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
      Group g{cell, {}, {}};
      for (std::size_t n = first; n < entries.size(); ++n)
        if (group[n] == first) {
          g.ports.push_back(entries[n].port), g.at.push_back(entries[n].at);
          g.known = g.known || !ports_[entries[n].port].loose;
        }
      if (g.ports.size() == 1 && !g.known && !flat()) find_ends(g, metal, low, high);
      groups_.push_back(std::move(g));
    }
  }

  /// Of metal that enters the cell once: corners beyond the middle that its inner half reaches.
  void find_ends(Group& g, const Metal& metal, const Point& low, const Point& high) const {
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t b = (d + 1) % 3, c = (d + 2) % 3;
      const double middle = (low[d] + high[d]) / 2;
      Point from = low, u{}, v{};
      from[d] = middle, u[b] = high[b] - low[b], v[c] = high[c] - low[c];
      for (const Point& p : pieces_of_metal(metal, from, u, v)) {
        const double depth = metal(p), there = metal(g.at[0]);
        if (depth > there / 2 || !metal_leads(metal, g.at[0], p, low, high)) continue;
        const int bit = 1 << d;
        g.further.push_back((nearest_corner(g.cell, p) & ~bit) | (g.at[0][d] > middle ? 0 : bit));
        g.even = g.even || depth < 0.9 * there;
      }
    }
  }

  void count_links(const Group& g) {
    Cell known{};
    for (const std::size_t p : g.ports)
      if (!ports_[p].loose) known = ports_[p].choices[0];
    for (std::size_t n = 0; n < g.ports.size(); ++n) {
      Port& p = ports_[g.ports[n]];
      if (root(g.ports[n]) != root(g.ports[0])) merge(root(g.ports[n]), root(g.ports[0]));
      if (g.known) p.at_known.emplace_back(g.cell, known);
      p.ends = p.ends || !g.further.empty();
      // Not where a surface touches a node.
      const bool to_others = std::any_of(g.at.begin(), g.at.end(), [&](const Point& q) {
        return norm(minus(q, g.at[n])) > 0.01 * grid.length(0, g.cell[0]);
      });
      p.leads_on = p.leads_on || (!g.known && (to_others || g.even));
      if (!p.loose) known_[root(g.ports[n])].insert(p.choices[0]);
    }
  }
  void merge(std::size_t a, std::size_t b) {
    known_[b].insert(known_[a].begin(), known_[a].end());
    parent_[a] = b;
  }

  /// Not of a bulge: it leads from one side of its place to the other.
  bool is_needed(const Port& p) {
    if (!p.loose) return false;
    for (int d = 0; d < 3; ++d)
      if (p.across[static_cast<std::size_t>(d)] && !grid.resolved(d)) return true;
    if (flat()) return false;
    if (p.leads_on || (p.ends && p.at_known.empty())) return true;
    for (const auto& [a, metal_a] : p.at_known)
      for (const auto& [b, metal_b] : p.at_known) {
        if (whole(metal_a) != whole(metal_b)) return true;
        // A bulge over an edge leads to its body in three cells about that.
        bool apart = p.place.component >= Hx;
        for (std::size_t d = 0; d < 3; ++d) apart = apart && (!p.across[d] || a[d] != b[d]);
        if (apart) return true;
      }
    return false;
  }

  /// Whether a node is another body's.
  bool is_foreign(const Cell& node, std::size_t p) {
    if (known_[root(p)].contains(node)) return false;
    const auto at = owner_.find(node);
    return at != owner_.end() ? root(at->second) != root(p) : is_known(node);
  }

  void choose(std::size_t number) {
    Port& p = ports_[number];
    p.own = 0;
    for (std::size_t n = 0; n < p.choices.size(); ++n)
      if (!is_foreign(p.choices[n], number)) {
        p.own = n;
        break;
      }
    owner_.try_emplace(p.choices[*p.own], number);
    for (int d = 0; d < 3; ++d)
      if (p.across[static_cast<std::size_t>(d)] && !grid.resolved(d))
        close(edge_at(d, p.choices[*p.own], grid, periodic));
  }

  void close(const Edge& e) {
    if (is_closed(e)) return;
    out_.edges.push_back(e);
    edges_.insert(key(e));
  }

  /// From corners of a cell to each of the others: how many edges have to become metal, and from
  /// where the last of them comes. Of equal ones the path that is nearest to `about`.
  struct Paths {
    std::array<double, 8> cost;
    std::array<int, 8> from;
  };
  Paths paths(const Cell& cell, int starts, std::size_t port, const Point& about, bool strict) {
    Paths out;
    for (int n = 0; n < 8; ++n)
      out.cost[static_cast<std::size_t>(n)] = starts >> n & 1 ? 0 : INFINITY,
      out.from[static_cast<std::size_t>(n)] = -1;
    for (bool better = true; better;) {
      better = false;
      for (int n = 0; n < 8; ++n)
        for (int d = 0; d < 3; ++d) {
          const int to = n ^ 1 << d;
          if (strict && !(starts >> to & 1) && is_foreign(corner(cell, to), port)) continue;
          const Point middle = times(0.5, plus(place_of(cell, n), place_of(cell, to)));
          const double size = norm(minus(place_of(cell, 7), place_of(cell, 0)));
          const double cost =
              is_closed(edge_between(cell, n, d)) ? 0 : 1 + 0.1 * norm(minus(middle, about)) / size;
          const double sum = out.cost[static_cast<std::size_t>(n)] + cost;
          if (!(sum < out.cost[static_cast<std::size_t>(to)] - 1e-9)) continue;
          out.cost[static_cast<std::size_t>(to)] = sum, out.from[static_cast<std::size_t>(to)] = n;
          better = true;
        }
    }
    return out;
  }
  /// Closes the edges of the path; adds its corners to `starts`.
  void go(const Cell& cell, const Paths& way, int to, std::size_t port, int& starts) {
    for (int n = to; n >= 0 && !(starts >> n & 1);) {
      const int from = way.from[static_cast<std::size_t>(n)];
      owner_.try_emplace(corner(cell, n), port);
      starts |= 1 << n;
      if (from >= 0) {
        int d = 0;
        while ((n ^ from) != 1 << d) ++d;
        close(edge_between(cell, std::min(n, from), d));
      }
      n = from;
    }
  }
  /// Metal of the grid that hangs together elsewhere needs no path here.
  void join(const Group& g) {
    if (flat()) return;
    struct Target {
      std::size_t port;
      Cell node;
      int bits;
      Point at;
    };
    std::vector<Target> left;
    for (std::size_t n = 0; n < g.ports.size(); ++n)
      if (const Port& p = ports_[g.ports[n]]; !p.loose || p.own) {
        const Cell node = p.choices[p.own.value_or(0)];
        left.push_back({g.ports[n], node, bits_of(g.cell, node, g.at[n]), g.at[n]});
      }
    if (left.size() < 2) return;
    int starts = 1 << left[0].bits;
    std::set<Cell> reached;  // metal of the grid
    for (bool strict = true; !left.empty();) {
      for (const Target& t : left)
        if ((starts >> t.bits & 1) && !ports_[t.port].loose) reached.insert(whole(t.node));
      std::erase_if(left, [&](const Target& t) {
        if (!ports_[t.port].loose && reached.contains(whole(t.node))) starts |= 1 << t.bits;
        return starts >> t.bits & 1;
      });
      if (left.empty()) return;
      double least = INFINITY;
      std::size_t best = 0;
      Paths way{};
      for (std::size_t m = 0; m < left.size(); ++m) {
        const Paths w = paths(g.cell, starts, left[m].port, left[m].at, strict);
        if (const double cost = w.cost[static_cast<std::size_t>(left[m].bits)]; cost < least)
          least = cost, best = m, way = w;
      }
      if (std::isfinite(least))
        go(g.cell, way, left[best].bits, left[best].port, starts);
      else
        strict = false;  // what hangs together stays so
    }
  }

  void extend(const Group& g) {
    if (g.further.empty() || !ports_[g.ports[0]].own) return;
    const std::size_t number = g.ports[0];
    const Port& p = ports_[number];
    int starts = 1 << bits_of(g.cell, p.choices[*p.own], g.at[0]);
    for (const int to : g.further) {
      if (starts >> to & 1 || is_foreign(corner(g.cell, to), number)) continue;
      const Paths way = paths(g.cell, starts, number, g.at[0], true);
      if (std::isfinite(way.cost[static_cast<std::size_t>(to)]))
        go(g.cell, way, to, number, starts);
    }
  }

  const SceneOrder& scene_;
  const std::vector<Medium>& media_;
  const std::function<bool(const Edge&)>& closed_before_;
  std::map<Key, std::vector<Point>> islands_;
  std::map<Key, std::size_t> numbers_;
  std::vector<Port> ports_;
  std::vector<std::size_t> parent_;
  std::vector<std::set<Cell>> known_;  // metal of the grid that belongs to the ports of one root
  std::vector<Group> groups_;
  std::map<Cell, std::size_t> owner_;  // of nodes
  std::set<Key> edges_;
  std::map<Cell, Cell> up_;  // of metal of the grid, towards the node that stands for it
  PlacedRods out_;
};

}  // namespace

PlacedRods place_rods(const SceneOrder& scene, const std::vector<Medium>& media,
                      const YeeGrid& grid, const Periodic& periodic,
                      std::span<const MetalIslands> islands, std::span<const CrossedEdge> crossed,
                      std::span<const Edge> metal, const std::function<bool(const Edge&)>& closed) {
  if (islands.empty() && crossed.empty()) return {};
  return Rods(scene, media, grid, periodic, islands, metal, closed).place(islands, crossed);
}

}  // namespace tessera::electromagnetics::detail
