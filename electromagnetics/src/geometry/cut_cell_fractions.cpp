// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/cut_cell_fractions.h"

#include "geometry/cut_cell_limit.h"
#include "geometry/metal.h"
#include "geometry/metal_paths.h"
#include "geometry/metal_rods.h"
#include "geometry/rims.h"
#include "geometry/thin_metal.h"
#include "geometry/thin_wires.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/scene.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

using detail::Box, detail::Metal, detail::NearerLine, detail::ThinCourse, detail::ThinMetalInFace,
    detail::edges_of;

auto order(const Edge& e) { return std::tuple(e.component, e.k, e.j, e.i); }

struct FoundFraction {
  Edge edge;
  double fraction;
  bool inside = false;  // of metal, a cell away from its surface: edges beside it may not be listed
  ThinMetalInFace thin{};
  std::optional<std::size_t> body{};  // of faces: whose metal the thin one or an island is
  std::vector<std::size_t> bodies{};  // of edges: whose metal begins, ends or has its middle there
  std::vector<Point> islands{};       // of faces: metal in them, off their rim
  bool low = false, high = false;     // of edges: which ends are the nearest to metal on them
};

/// An edge, of which `metal` leaves the share `fraction` open; metal in it with its middle up to
/// `low_up_to` is nearer to its low end.
FoundFraction look_along(const Metal& metal, const Edge& edge, const Point& from, const Point& to,
                         double low_up_to) {
  FoundFraction out{edge, detail::open_length(metal, from, to)};
  for (const detail::Stretch& s : metal.along(from, to)) {
    const double middle = (s.from + s.to) / 2, hair = 1e-3 * (s.to - s.from);
    for (const double t : {s.from + hair, middle, s.to - hair})
      if (const auto body =
              metal.body_at({from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]),
                             from[2] + t * (to[2] - from[2])}))
        out.bodies.push_back(*body);
    const bool within = s.from > 0 && s.to < 1, touches = !within && out.fraction < 1;
    out.low = out.low || (touches && s.from <= 0) || (within && middle < low_up_to);
    out.high = out.high || (touches && s.to >= 1) || (within && middle >= low_up_to);
  }
  return out;
}

/// What is open of one edge or face.
FoundFraction look(const SceneOrder& scene, const std::vector<Medium>& media, const YeeGrid& grid,
                   const Periodic& periodic, const NearerLine& nearer, const Edge& edge) {
  const int at[3] = {edge.i, edge.j, edge.k}, axis = axis_of(edge.component);
  Point low, side[3] = {};
  Box box{};
  double shortest = INFINITY;
  for (int d = 0; d < 3; ++d) {
    const bool extends = at_middle(edge.component, d) && grid.resolved(d);
    low[d] = grid.resolved(d) ? grid.lines[d][static_cast<std::size_t>(at[d])] : grid.middle(d, 0);
    side[d][d] = box.size[d] = extends ? grid.length(d, at[d]) : 0;
    box.centre[d] = low[d] + box.size[d] / 2;
    if (at_middle(edge.component, d)) shortest = std::min(shortest, grid.length(d, at[d]));
  }
  const Metal metal(scene, media, box, 1e-6 * shortest, detail::twins_of(grid, edge, periodic));
  if (metal.settled()) return {edge, metal.closed() ? 0.0 : 1.0};
  const auto low_up_to = [&](int d) {
    return nearer.low_up_to(d, std::min(at[d], grid.cells(d) - 1));
  };
  const auto along = [&](int d) {
    return look_along(metal, edge, low,
                      {low[0] + side[d][0], low[1] + side[d][1], low[2] + side[d][2]},
                      low_up_to(d));
  };
  if (is_electric(edge.component)) return along(axis);
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  FoundFraction out{edge, 1};
  if (grid.resolved(b) && grid.resolved(c)) {
    out.fraction = detail::open_area(metal, low, side[b], side[c]);
    out.thin = detail::thin_metal_in(metal, low, side[b], side[c], {low_up_to(b), low_up_to(c)});
    out.islands = detail::islands_of_metal(metal, low, side[b], side[c]);
  } else {
    const int d = grid.resolved(c) ? c : b;
    out.fraction = along(d).fraction;
    if (grid.resolved(d)) out.thin = detail::thin_metal_in(metal, low, side[d], low_up_to(d));
  }
  if (out.thin.course != ThinCourse::none)
    out.body = metal.body_at(out.thin.middle);
  else if (!out.islands.empty())
    out.body = metal.body_at(out.islands[0]);
  return out;
}

/// Every edge and face in a cell that a surface may cross or in a neighbour of one, where it is not
/// all open.
std::vector<FoundFraction> look_everywhere(const SceneOrder& scene,
                                           const std::vector<Medium>& media, const YeeGrid& grid,
                                           const Periodic& periodic, const NearerLine& nearer) {
  const int n[3] = {grid.cells(0), grid.cells(1), grid.cells(2)};
  UniformMedia uniform;  // of a few planes at a time
  const auto medium_at = [&](int i, int j, int k) {
    return uniform.at(std::clamp(i, 0, n[0] - 1), std::clamp(j, 0, n[1] - 1),
                      std::clamp(k, 0, n[2] - 1));
  };
  const auto beside_surface = [&](int i, int j, int k) {
    for (int dk = -1; dk <= 1; ++dk)
      for (int dj = -1; dj <= 1; ++dj)
        for (int di = -1; di <= 1; ++di)
          if (medium_at(i + di, j + dj, k + dk) < 0) return true;
    return false;
  };
  std::vector<std::vector<FoundFraction>> slabs(static_cast<std::size_t>(6 * (n[2] + 1)));
  const auto look_at = [&](int c, int k) {
    int last[3];
    for (int d = 0; d < 3; ++d)
      last[d] = at_middle(c, d) || periodic[static_cast<std::size_t>(d)] || !grid.resolved(d)
                    ? n[d] - 1
                    : n[d];
    if (k > last[2]) return;
    for (int j = 0; j <= last[1]; ++j)
      for (int i = 0; i <= last[0]; ++i) {
        const Edge edge{static_cast<std::uint8_t>(c), i, j, k};
        const std::int32_t medium = medium_at(i, j, k);
        if (medium >= 0 &&
            !(media[static_cast<std::size_t>(medium)].pec && beside_surface(i, j, k)))
          continue;
        const FoundFraction f = medium >= 0 ? FoundFraction{edge, 0, true}
                                            : look(scene, media, grid, periodic, nearer, edge);
        if (f.fraction < 1 || f.thin.course != ThinCourse::none || f.low || f.high ||
            !f.islands.empty())
          slabs[static_cast<std::size_t>(c * (n[2] + 1) + k)].push_back(f);
      }
  };
  constexpr int few = 16;
  for (int first = 0; first <= n[2]; first += few) {
    const int end = std::min(first + few, n[2] + 1),
              low = std::max(std::min(first, n[2] - 1) - 1, 0), high = std::min(end + 1, n[2]);
    uniform = uniform_media(scene, grid, periodic, {2, low, high - low});
    parallel_chunks(6 * (end - first), [&, first = first](std::int64_t at) {
      look_at(static_cast<int>(at % 6), first + static_cast<int>(at / 6));
    });
  }
  std::vector<FoundFraction> out;
  for (const auto& s : slabs) out.insert(out.end(), s.begin(), s.end());
  return out;
}

FoundFraction* find(std::vector<FoundFraction>& list, const Edge& e) {
  const auto at = std::lower_bound(
      list.begin(), list.end(), e,
      [](const FoundFraction& f, const Edge& x) { return order(f.edge) < order(x); });
  return at != list.end() && at->edge == e ? &*at : nullptr;
}

/// Makes edges metal.
void put_metal(std::vector<FoundFraction>& list, const std::vector<Edge>& edges) {
  for (const Edge& e : edges) {
    if (FoundFraction* x = find(list, e))
      x->fraction = 0;
    else
      list.insert(std::lower_bound(list.begin(), list.end(), e,
                                   [](const FoundFraction& f, const Edge& y) {
                                     return order(f.edge) < order(y);
                                   }),
                  {e, 0});
  }
}

struct PlacedMetal {
  std::vector<Edge> edges;             // that became metal
  std::vector<detail::Reach> reaches;  // of what moved beyond the last of them
};
/// Along the edges of a face that run from the one where metal enters it.
void add_reaches(std::vector<detail::Reach>& to, const FoundFraction& f,
                 const std::vector<Edge>& around) {
  for (std::size_t entered = 0; entered < around.size(); ++entered)
    if (f.thin.split[entered])
      for (const std::size_t k : {0, 1})
        to.push_back({around[(entered < 2 ? 2 : 0) + k], entered % 2 == 0, f.thin.reach});
}

/// Makes edges metal where thin metal goes (thin_metal.h), and whole again what it leaves; tells of
/// which bodies it was.
PlacedMetal place_thin_metal(std::vector<FoundFraction>& list, const YeeGrid& grid,
                             const Periodic& periodic, const std::array<bool, 6>& stepped,
                             CutCellFractions& out) {
  const auto before = [](const Edge& a, const Edge& b) { return order(a) < order(b); };
  std::vector<Edge> metal,
      moved;  // edges that become metal; those that thin metal leaves, across it
  std::map<std::size_t, ThinMetal> bodies;
  ThinMetal unheard;
  const auto tell = [&](const FoundFraction& f) -> ThinMetal& {
    if (!stepped[f.edge.component]) return unheard;
    const std::size_t body = f.body.value_or(ThinMetal::background);
    return bodies.try_emplace(body, ThinMetal{.structure = body}).first->second;
  };
  const auto put = [&](FoundFraction& f) {
    const ThinMetalInFace& t = f.thin;
    const auto around = edges_of(grid, periodic, f.edge);
    ++out.thin;
    if (t.course == ThinCourse::closed) {
      f.fraction = 0;
      ++tell(f).closed;
      metal.insert(metal.end(), around.begin(), around.end());
      return;
    }
    const bool high = t.course == ThinCourse::high, flat = around.size() == 4;
    const int d = axis_of(f.edge.component), first = (d + 1) % 3, second = (d + 2) % 3;
    const int crossed = flat                   ? (t.across == 0 ? first : second)
                        : grid.resolved(first) ? first
                                               : second;
    f.fraction = 1;
    if (flat) {
      const std::size_t along = t.across == 0 ? 2 : 0;
      metal.push_back(around[along + high]);
      for (const std::size_t e : {2 - along, 3 - along})
        if (t.split[e]) moved.push_back(around[e]);
    } else {
      metal.push_back(around[high]);
    }
    ThinMetal& told = tell(f);
    ++told.moved;
    told.shift_m = std::max(
        told.shift_m,
        t.shift * grid.length(crossed, std::array{f.edge.i, f.edge.j,
                                                  f.edge.k}[static_cast<std::size_t>(crossed)]));
  };
  const auto in_order = [&] {
    for (std::vector<Edge>* v : {&metal, &moved}) {
      std::sort(v->begin(), v->end(), before);
      v->erase(std::unique(v->begin(), v->end()), v->end());
    }
  };
  // Whether thin metal is known to cross an edge of the face.
  const auto crossed = [&](const FoundFraction& f, bool only_moved) {
    const auto around = edges_of(grid, periodic, f.edge);
    for (std::size_t e = 0; e < around.size(); ++e)
      if (f.thin.split[e] &&
          (std::binary_search(moved.begin(), moved.end(), around[e], before) ||
           (!only_moved && std::binary_search(metal.begin(), metal.end(), around[e], before))))
        return true;
    return false;
  };
  for (FoundFraction& f : list)
    if (f.thin.course > ThinCourse::rim && !f.thin.stands) put(f);
  in_order();
  std::vector<FoundFraction*> standing;
  for (FoundFraction& f : list)
    if (f.thin.course > ThinCourse::rim && f.thin.stands && crossed(f, false))
      standing.push_back(&f);
  for (FoundFraction* f : standing) put(*f);
  in_order();
  for (const Edge& e : moved)
    if (FoundFraction* x = find(list, e)) x->fraction = 1;
  std::vector<detail::Reach> reaches;
  for (FoundFraction& f : list)
    if (f.thin.course == ThinCourse::rim && crossed(f, true)) {
      f.fraction = 1;
      add_reaches(reaches, f, edges_of(grid, periodic, f.edge));
    }
  put_metal(list, metal);
  for (const auto& [body, told] : bodies) out.thin_metal.push_back(told);
  return {metal, reaches};
}

ThinMetal& told_of(std::vector<ThinMetal>& list, std::size_t structure) {
  const auto at =
      std::lower_bound(list.begin(), list.end(), structure,
                       [](const ThinMetal& t, std::size_t s) { return t.structure < s; });
  if (at != list.end() && at->structure == structure) return *at;
  return *list.insert(at, ThinMetal{.structure = structure});
}

/// Rods between the edges of the grid (metal_rods.h): adds to `placed` what becomes metal.
void place_metal_rods(std::vector<FoundFraction>& list, const SceneOrder& scene,
                      const std::vector<Medium>& media, const YeeGrid& grid,
                      const Periodic& periodic, const NearerLine& nearer,
                      const std::array<bool, 6>& stepped,
                      const std::function<bool(const Edge&)>& within_metal, PlacedMetal& placed,
                      CutCellFractions& out) {
  std::vector<detail::MetalIslands> islands;
  std::vector<detail::CrossedEdge> crossed;
  std::vector<Edge> metal;
  const auto closed = [&](const FoundFraction& f) {
    return f.fraction == 0 || (!out.conformal && within_metal(f.edge));
  };
  for (const FoundFraction& f : list) {
    if (!f.islands.empty()) islands.push_back({f.edge, f.islands});
    if (!is_electric(f.edge.component)) continue;
    if (closed(f))
      metal.push_back(f.edge);
    else if (f.low || f.high)
      crossed.push_back({f.edge, f.low, f.high});
  }
  const detail::PlacedRods rods = detail::place_rods(scene, media, grid, periodic, nearer, islands,
                                                     crossed, metal, [&](const Edge& e) {
                                                       const FoundFraction* f = find(list, e);
                                                       return f && closed(*f);
                                                     });
  for (const Edge& e : rods.left)
    if (FoundFraction* f = find(list, e); f && f->fraction > 0) f->fraction = 1;
  put_metal(list, rods.edges);
  placed.edges.insert(placed.edges.end(), rods.edges.begin(), rods.edges.end());
  std::sort(placed.edges.begin(), placed.edges.end(),
            [](const Edge& a, const Edge& b) { return order(a) < order(b); });
  // In two dimensions E along the axis without cells sees them.
  bool is_seen = true;
  for (int d = 0; d < 3; ++d)
    is_seen = is_seen && (grid.resolved(d) || stepped[static_cast<std::size_t>(d)]);
  if (!is_seen) return;
  for (const auto& moved : rods.moved) {
    ThinMetal& told = told_of(out.thin_metal, moved.structure.value_or(ThinMetal::background));
    ++out.thin;
    ++told.moved;
    told.shift_m = std::max(told.shift_m, moved.shift_m);
  }
}

/// Small bodies that no edge of the grid runs through and that are too short to be put on one.
void tell_unseen(const std::vector<FoundFraction>& list, const SceneOrder& scene,
                 const std::vector<Medium>& media, const YeeGrid& grid,
                 const std::array<bool, 6>& stepped, CutCellFractions& out) {
  std::vector<bool> seen(scene.scene().structures.size(), false), by_area = seen;
  for (const FoundFraction& f : list) {
    if (!stepped[f.edge.component]) continue;
    for (const std::size_t body : f.bodies) seen[body] = true;
    if (f.body && out.conformal && f.fraction < 1) by_area[*f.body] = true;
  }
  for (const ThinMetal& t : out.thin_metal)
    if (t.structure != ThinMetal::background) seen[t.structure] = true;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    const Structure& structure = scene.scene().structures[s];
    if (seen[s] || !media[static_cast<std::size_t>(structure.medium)].pec) continue;
    // The cell about its middle; it may be hollow, or covered by others there.
    Box cell{};
    double shortest = INFINITY;
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      const Bounds& b = structure.shape.bounds();
      const double middle = grid.resolved(d) ? (b.low[u] + b.high[u]) / 2 : grid.middle(d, 0);
      const auto& lines = grid.lines[u];
      inside = inside && middle >= lines.front() && middle <= lines.back();
      if (!inside) break;
      const int above =
          static_cast<int>(std::upper_bound(lines.begin(), lines.end(), middle) - lines.begin());
      const int i = std::clamp(above - 1, 0, grid.cells(d) - 1);
      cell.centre[u] = middle;
      cell.size[u] = grid.resolved(d) ? grid.length(d, i) : 0;
      if (grid.resolved(d)) shortest = std::min(shortest, cell.size[u]);
    }
    if (!inside) continue;
    const Metal metal(scene, media, cell, 1e-6 * shortest);
    if (metal.settled()) continue;
    Point p = cell.centre;
    for (int n = 0; n < 8; ++n) {
      const double far = structure.shape.signed_distance(p);
      if (!std::isfinite(far) || far <= 0) break;
      const Point rise = structure.shape.normal(p);
      for (std::size_t d = 0; d < 3; ++d)
        if (cell.size[d] > 0) p[d] -= far * rise[d];
    }
    if (metal.body_at(p) != s) continue;
    ThinMetal& told = told_of(out.thin_metal, s);
    told.unseen = true, told.by_area = by_area[s];
  }
}

/// A face that rounds to nothing but has an open edge is open: its edge must not end at a magnetic
/// wall.
void open_rounded(std::vector<FoundFraction>& list, const YeeGrid& grid, const Periodic& periodic) {
  for (FoundFraction& f : list) {
    if (is_electric(f.edge.component) || f.fraction > 0 || f.inside) continue;
    for (const Edge& e : edges_of(grid, periodic, f.edge)) {
      const FoundFraction* x = find(list, e);
      if (!x || x->fraction > 0) f.fraction = detail::rounded;
    }
  }
}

}  // namespace

const CutCellFraction* CutCellFractions::listed(const Edge& e) const {
  const auto at = std::lower_bound(
      fractions.begin(), fractions.end(), e,
      [](const CutCellFraction& p, const Edge& x) { return order(p.edge) < order(x); });
  return at != fractions.end() && at->edge == e ? &*at : nullptr;
}

double CutCellFractions::fraction(const Edge& e) const {
  const CutCellFraction* known = listed(e);
  return known ? known->fraction : 1;
}

double CutCellFractions::share(const Edge& e) const {
  const CutCellFraction* known = listed(e);
  return known ? known->share : 1;
}

std::span<const CutCellFraction> CutCellFractions::row(int c, int j, int k) const {
  const auto key = [](const Edge& e) { return std::tuple(int{e.component}, e.k, e.j); };
  const std::tuple wanted(c, k, j);
  const auto first =
      std::lower_bound(fractions.begin(), fractions.end(), wanted,
                       [&](const CutCellFraction& p, const auto& x) { return key(p.edge) < x; });
  auto last = first;
  while (last != fractions.end() && key(last->edge) == wanted) ++last;
  return {first, last};
}

double largest_curl_curl(const std::vector<Medium>& media, const YeeGrid& grid, double dt_s) {
  const double bound = curl_curl_bound(grid);
  if (std::all_of(media.begin(), media.end(), [](const Medium& m) { return m.pec; })) return bound;
  const auto stable = [&](double eigenvalue) {
    return std::all_of(media.begin(), media.end(), [&](const Medium& m) {
      return m.pec || max_stable_dt(m, eigenvalue) >= dt_s;
    });
  };
  double low = bound, high = 4 / std::pow(speed_of_light * dt_s, 2);  // of vacuum
  while (stable(high)) low = high, high *= 4;  // media without vacuum allow more
  if (!stable(low)) return bound;
  while (high - low > 1e-6 * low) {
    const double middle = (low + high) / 2;
    (stable(middle) ? low : high) = middle;
  }
  return std::max(bound, (1 - 1e-3) * low);
}

CutCellFractions cut_cell_fractions(const SceneOrder& scene, const std::vector<Medium>& media,
                                    const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                    double dt_s, const CutCellChoices& choices) {
  const std::span<const ThinWire> wires = choices.wires;
  CutCellFractions out{.conformal = choices.conformal};
  const bool metal = std::any_of(media.begin(), media.end(), [](const Medium& m) { return m.pec; });
  if (!metal && wires.empty()) return out;
  Periodic periodic;
  for (int d = 0; d < 3; ++d)
    periodic[static_cast<std::size_t>(d)] =
        grid.resolved(d) && faces[static_cast<std::size_t>(d)].low == Boundary::periodic;
  const NearerLine nearer(grid, faces, choices.symmetry);
  const auto within_metal = [&](const Edge& e) {
    return metal && media[static_cast<std::size_t>(medium_at(scene, grid.position(e)))].pec;
  };
  const auto add_wires = [&] {
    if (!wires.empty())
      detail::add_thin_wires(out, grid, faces, wires, choices.taken, within_metal);
  };
  std::vector<FoundFraction> found;
  if (metal) found = look_everywhere(scene, media, grid, periodic, nearer);
  PlacedMetal placed = place_thin_metal(found, grid, periodic, choices.stepped, out);
  place_metal_rods(found, scene, media, grid, periodic, nearer, choices.stepped, within_metal,
                   placed, out);
  tell_unseen(found, scene, media, grid, choices.stepped, out);
  if (!choices.conformal) {
    for (const Edge& e : placed.edges) out.fractions.push_back({e, 0});
    add_wires();
    if (!wires.empty())
      detail::limit_areas(out, grid, periodic, largest_curl_curl(media, grid, dt_s));
    return out;
  }
  open_rounded(found, grid, periodic);
  for (const FoundFraction& f : found)
    if (f.fraction < 1) out.fractions.push_back({f.edge, f.fraction});
  detail::correct_rims(out, grid, faces, choices.symmetry, placed.reaches, within_metal);
  add_wires();
  detail::limit_areas(out, grid, periodic, largest_curl_curl(media, grid, dt_s));
  return out;
}

}  // namespace tessera::electromagnetics
