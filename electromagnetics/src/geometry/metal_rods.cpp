// SPDX-License-Identifier: Apache-2.0
#include "geometry/metal_rods.h"

#include "geometry/node_claims.h"
#include "geometry/rod_ports.h"
#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace tessera::electromagnetics::detail {
namespace {

constexpr int few = 200;  // nodes of metal of the grid that may be a part of a rod

class Rods : RodPorts {
 public:
  Rods(const SceneOrder& scene, const std::vector<Medium>& media, const YeeGrid& grid,
       const Periodic& periodic, const NearerLine& nearer, std::span<const MetalIslands> islands,
       std::span<const Edge> metal, const std::function<bool(const Edge&)>& closed)
      : RodPorts(scene, media, {grid, periodic, nearer}, islands, closed) {
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
    for (std::size_t p = 0; p < ports.size(); ++p) {
      parent_.push_back(p);
      ends_.push_back(ends_at(ports[p]));
    }
    known_.resize(ports.size());
    for (const RodGroup& g : groups) count_links(g);
    choose();
    for (const RodGroup& g : groups) join(g);
    extend();
    for (const RodPort& p : ports)
      if (p.own && !p.is_node) {
        // In two dimensions E leaves the face; H of it, which another E makes, sees its open area.
        if (!flat()) out_.left.push_back(p.place);
        out_.moved.push_back({p.body, p.shifts[*p.own]});
      }
    return std::move(out_);
  }

 private:
  bool is_closed(const Edge& e) const { return edges_.contains(key(e)) || closed_before(e); }
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
  std::size_t root(std::size_t p) {
    while (parent_[p] != p) p = parent_[p] = parent_[parent_[p]];
    return p;
  }

  void count_links(const RodGroup& g) {
    Cell known{};
    for (const std::size_t p : g.ports)
      if (!ports[p].loose) known = ports[p].choices[0];
    for (std::size_t n = 0; n < g.ports.size(); ++n) {
      RodPort& p = ports[g.ports[n]];
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
    ends_[b] |= ends_[a];
    parent_[a] = b;
  }

  /// Not of a bulge: it leads from one side of its place to the other.
  bool is_needed(const RodPort& p) {
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

  /// Whether a node is another body's: metal that ends in front of a face of the domain is not
  /// joined to its image there, or to the wall.
  bool is_foreign(const Cell& node, std::size_t p) {
    if (known_[root(p)].contains(node)) return false;
    const auto at = owner_.find(node);
    if (at != owner_.end()) return root(at->second) != root(p);
    return is_known(node) || (ends_at(node) & ~ends_[root(p)]) != 0;
  }

  void choose() {
    std::vector<std::size_t> needed;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!is_needed(ports[p])) continue;
      if (ports[p].is_node)
        take(p, 0);
      else
        needed.push_back(p);
    }
    std::vector<NodeClaim> claims;
    std::vector<std::vector<std::size_t>> numbers;  // of the nodes among the port's
    for (const std::size_t p : needed) {
      claims.push_back({root(p), {}, {}});
      numbers.emplace_back();
      for (std::size_t n = 0; n < ports[p].choices.size(); ++n)
        if (!is_foreign(ports[p].choices[n], p)) {
          claims.back().nodes.push_back(ports[p].choices[n]);
          claims.back().far.push_back(ports[p].shifts[n]);
          numbers.back().push_back(n);
        }
    }
    const std::vector<std::optional<std::size_t>> settled = settle(claims, hair);
    for (std::size_t n = 0; n < needed.size(); ++n)
      if (settled[n]) take(needed[n], numbers[n][*settled[n]]);
    for (std::size_t n = 0; n < needed.size(); ++n)
      if (!settled[n]) {  // there is no room for it
        const std::vector<Cell>& nodes = ports[needed[n]].choices;
        const auto free = std::find_if(nodes.begin(), nodes.end(), [&](const Cell& node) {
          return !is_foreign(node, needed[n]);
        });
        take(needed[n], free == nodes.end() ? 0 : static_cast<std::size_t>(free - nodes.begin()));
      }
  }
  void take(std::size_t number, std::size_t choice) {
    RodPort& p = ports[number];
    p.own = choice;
    owner_.try_emplace(p.choices[choice], number);
    for (int d = 0; d < 3; ++d)
      if (p.across[static_cast<std::size_t>(d)] && !grid.resolved(d))
        close(edge_at(d, p.choices[choice], grid, periodic));
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
      for (int order = 0; order < 8; ++order)
        for (int d = 0; d < 3; ++d) {
          const int n = order ^ corner_of_ties(cell);
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
  void join(const RodGroup& g) {
    if (flat()) return;
    struct Target {
      std::size_t port;
      Cell node;
      int bits;
    };
    std::vector<Target> left;
    for (std::size_t n = 0; n < g.ports.size(); ++n)
      if (const RodPort& p = ports[g.ports[n]]; !p.loose || p.own) {
        const Cell node = p.choices[p.own.value_or(0)];
        left.push_back({g.ports[n], node, bits_of(g.cell, node, g.at[n])});
      }
    if (left.size() < 2) return;
    Point about{};
    for (const Point& p : g.at) about = plus(about, times(1.0 / double(g.at.size()), p));
    int starts = 1 << left[0].bits;
    std::set<Cell> reached;  // metal of the grid
    for (bool strict = true; !left.empty();) {
      for (const Target& t : left)
        if ((starts >> t.bits & 1) && !ports[t.port].loose) reached.insert(whole(t.node));
      std::erase_if(left, [&](const Target& t) {
        if (!ports[t.port].loose && reached.contains(whole(t.node))) starts |= 1 << t.bits;
        return starts >> t.bits & 1;
      });
      if (left.empty()) return;
      double least = INFINITY;
      std::size_t best = 0;
      Paths way{};
      for (std::size_t m = 0; m < left.size(); ++m) {
        const Paths w = paths(g.cell, starts, left[m].port, about, strict);
        if (const double cost = w.cost[static_cast<std::size_t>(left[m].bits)]; cost < least)
          least = cost, best = m, way = w;
      }
      if (std::isfinite(least))
        go(g.cell, way, left[best].bits, left[best].port, starts);
      else
        strict = false;  // what hangs together stays so
    }
  }

  void extend() {
    std::vector<NodeClaim> claims;
    std::vector<const RodGroup*> of;
    for (const RodGroup& g : groups) {
      if (!ports[g.ports[0]].own) continue;
      for (const RodGroup::Further& f : g.further)
        if (const Cell node = corner(g.cell, f.corner); !is_foreign(node, g.ports[0])) {
          claims.push_back({root(g.ports[0]), {node}, {f.far}});
          of.push_back(&g);
        }
    }
    const std::vector<std::optional<std::size_t>> settled = settle(claims, hair);
    for (std::size_t n = 0; n < claims.size(); ++n)
      if (settled[n]) extend(*of[n], claims[n].nodes[0]);
  }
  void extend(const RodGroup& g, const Cell& node) {
    const std::size_t number = g.ports[0];
    const RodPort& p = ports[number];
    int starts = 1 << bits_of(g.cell, p.choices[*p.own], g.at[0]);
    const int to = bits_of(g.cell, node, g.at[0]);
    if (starts >> to & 1 || is_foreign(node, number)) return;
    const Paths way = paths(g.cell, starts, number, g.at[0], true);
    if (std::isfinite(way.cost[static_cast<std::size_t>(to)])) go(g.cell, way, to, number, starts);
  }

  std::vector<std::size_t> parent_;
  std::vector<std::set<Cell>> known_;  // metal of the grid that belongs to the ports of one root
  std::vector<int> ends_;              // faces of the domain that they reach
  std::map<Cell, std::size_t> owner_;  // of nodes
  std::set<Key> edges_;
  std::map<Cell, Cell> up_;  // of metal of the grid, towards the node that stands for it
  PlacedRods out_;
};

}  // namespace

PlacedRods place_rods(const SceneOrder& scene, const std::vector<Medium>& media,
                      const YeeGrid& grid, const Periodic& periodic, const NearerLine& nearer,
                      std::span<const MetalIslands> islands, std::span<const CrossedEdge> crossed,
                      std::span<const Edge> metal, const std::function<bool(const Edge&)>& closed) {
  if (islands.empty() && crossed.empty()) return {};
  return Rods(scene, media, grid, periodic, nearer, islands, metal, closed).place(islands, crossed);
}

}  // namespace tessera::electromagnetics::detail
