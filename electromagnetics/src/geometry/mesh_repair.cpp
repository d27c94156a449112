// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_repair.h"

#include "geometry/vector.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace tessera::electromagnetics::detail {
namespace {

using PointNumber = std::uint32_t;
using EdgeKey = std::uint64_t;

EdgeKey key_of(PointNumber a, PointNumber b) { return (EdgeKey{a} << 32) | b; }
EdgeKey either_way(PointNumber a, PointNumber b) { return key_of(std::min(a, b), std::max(a, b)); }
Point between(const Point& a, const Point& b) { return times(0.5, plus(a, b)); }

/// Equal points as one, and triangles with three corners, each once.
void weld(const SurfaceTriangles& given, RepairedSurface& out, SurfaceFindings& found) {
  std::vector<PointNumber> order(given.points.size()), number(given.points.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = static_cast<PointNumber>(n);
  std::sort(order.begin(), order.end(),
            [&](PointNumber a, PointNumber b) { return given.points[a] < given.points[b]; });
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Point& p = given.points[order[n]];
    if (n == 0 || p != given.points[order[n - 1]]) out.points.push_back(p);
    number[order[n]] = static_cast<PointNumber>(out.points.size() - 1);
  }
  std::vector<std::pair<Corner3, std::size_t>> sorted;  // the least corner first
  for (const Corner3& t : given.triangles) {
    Corner3 c{number[t[0]], number[t[1]], number[t[2]]};
    if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) {
      ++found.degenerate;
      continue;
    }
    std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());
    sorted.emplace_back(c, sorted.size());
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::pair<std::size_t, Corner3>> kept;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    if (n > 0 && sorted[n].first == sorted[n - 1].first)
      ++found.repeated;
    else
      kept.emplace_back(sorted[n].second, sorted[n].first);
  }
  std::sort(kept.begin(), kept.end());
  for (const auto& [place, t] : kept) {
    out.triangles.push_back(t);
    if (norm(area_vector(out.at(t))) == 0) ++found.degenerate;
  }
}

/// A side of a triangle, and whether it runs from the lower to the higher point.
struct Side {
  EdgeKey edge;
  std::uint32_t triangle;
  bool rising;
};

std::vector<Side> sides_of(const RepairedSurface& s) {
  std::vector<Side> sides;
  sides.reserve(3 * s.triangles.size());
  for (std::size_t n = 0; n < s.triangles.size(); ++n)
    for (int k = 0; k < 3; ++k) {
      const PointNumber a = s.triangles[n][k], b = s.triangles[n][(k + 1) % 3];
      sides.push_back({either_way(a, b), static_cast<std::uint32_t>(n), a < b});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return a.edge < b.edge || (a.edge == b.edge && a.triangle < b.triangle);
  });
  return sides;
}

/// Numbers shells, and turns triangles of each to face alike.
void orient(RepairedSurface& s, SurfaceFindings& found) {
  const std::vector<Side> sides = sides_of(s);
  struct Neighbour {
    std::uint32_t triangle;
    bool turned;
  };
  std::vector<std::array<Neighbour, 3>> next(s.triangles.size());
  std::vector<int> n_next(s.triangles.size(), 0);
  for (std::size_t first = 0, last = 0; first < sides.size(); first = last) {
    while (last < sides.size() && sides[last].edge == sides[first].edge) ++last;
    if (last - first > 2 && found.non_manifold++ == 0)
      found.first_non_manifold =
          between(s.points[sides[first].edge >> 32], s.points[sides[first].edge & 0xffffffff]);
    if (last - first != 2) continue;
    const Side &a = sides[first], &b = sides[first + 1];
    const bool turned = a.rising == b.rising;
    next[a.triangle][n_next[a.triangle]++] = {b.triangle, turned};
    next[b.triangle][n_next[b.triangle]++] = {a.triangle, turned};
  }
  s.shell.assign(s.triangles.size(), -1);
  std::vector<bool> turn(s.triangles.size(), false);
  for (std::size_t start = 0; start < s.triangles.size(); ++start) {
    if (s.shell[start] >= 0) continue;
    std::vector<std::uint32_t> all{static_cast<std::uint32_t>(start)};
    s.shell[start] = s.shells;
    std::size_t turned = 0;
    for (std::size_t n = 0; n < all.size(); ++n)
      for (int k = 0; k < n_next[all[n]]; ++k) {
        const Neighbour& other = next[all[n]][k];
        if (s.shell[other.triangle] >= 0) continue;
        s.shell[other.triangle] = s.shells;
        turn[other.triangle] = turn[all[n]] != other.turned;
        turned += turn[other.triangle];
        all.push_back(other.triangle);
      }
    const bool most = 2 * turned > all.size();
    for (const std::uint32_t t : all) {
      if (turn[t] == most) continue;
      std::swap(s.triangles[t][1], s.triangles[t][2]);
      if (found.flipped++ == 0) {
        const Triangle at = s.at(s.triangles[t]);
        found.first_flipped = times(1.0 / 3, plus(at[0], plus(at[1], at[2])));
      }
    }
    ++s.shells;
  }
}

/// Loops of the edges that more triangles run along one way than the other, each turned round:
/// fans over these close the surface. Walks until a point comes again, and takes that loop out.
void close_holes(RepairedSurface& s, SurfaceFindings& found) {
  std::map<PointNumber, std::vector<std::pair<PointNumber, int>>> onward;  // and the shell
  const std::vector<Side> sides = sides_of(s);
  for (std::size_t first = 0, last = 0; first < sides.size(); first = last) {
    int more = 0;
    for (last = first; last < sides.size() && sides[last].edge == sides[first].edge; ++last)
      more += sides[last].rising ? 1 : -1;
    if (more == 0) continue;
    ++found.open_edges;
    const auto low = static_cast<PointNumber>(sides[first].edge >> 32),
               high = static_cast<PointNumber>(sides[first].edge & 0xffffffff);
    for (int n = 0; n < std::abs(more); ++n)
      onward[more > 0 ? high : low].emplace_back(more > 0 ? low : high,
                                                 s.shell[sides[first].triangle]);
  }
  std::set<Corner3> faces;  // of lone triangles, turned round, the least corner first
  if (!onward.empty())
    for (Corner3 t : s.triangles) {
      std::swap(t[1], t[2]);
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      faces.insert(t);
    }
  const auto add_loop = [&](const std::vector<std::pair<PointNumber, int>>& loop) {
    ++found.holes;
    Point middle{};
    for (const auto& [p, shell] : loop)
      middle = plus(middle, times(1.0 / static_cast<double>(loop.size()), s.points[p]));
    double wide = 0;
    for (const auto& [p, shell] : loop) wide = std::max(wide, 2 * norm(minus(s.points[p], middle)));
    if (wide > found.largest_hole_m) found.largest_hole_m = wide, found.largest_hole = middle;
    if (loop.size() == 3) {
      Corner3 t{loop[0].first, loop[1].first, loop[2].first};
      s.caps.push_back(s.at(t));
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      s.cap_is_face.push_back(faces.count(t) > 0);
      s.cap_shell.push_back(loop[0].second);
      return;
    }
    for (std::size_t n = 0; n < loop.size(); ++n) {
      s.caps.push_back(
          {middle, s.points[loop[n].first], s.points[loop[(n + 1) % loop.size()].first]});
      s.cap_is_face.push_back(false);
      s.cap_shell.push_back(loop[0].second);
    }
  };
  std::unordered_map<PointNumber, std::size_t> on_path;
  for (auto start = onward.begin(); start != onward.end();) {
    if (start->second.empty()) {
      ++start;
      continue;
    }
    std::vector<std::pair<PointNumber, int>> path{{start->first, 0}};
    on_path.clear();
    on_path[start->first] = 0;
    while (!path.empty()) {
      auto& ways = onward[path.back().first];
      if (ways.empty()) break;
      const auto [to, shell] = ways.back();
      ways.pop_back();
      path.back().second = shell;
      const auto seen = on_path.find(to);
      if (seen == on_path.end()) {
        on_path[to] = path.size();
        path.emplace_back(to, 0);
        continue;
      }
      const std::size_t from = seen->second;
      const std::vector<std::pair<PointNumber, int>> loop(
          path.begin() + static_cast<std::ptrdiff_t>(from), path.end());
      for (std::size_t n = from + 1; n < path.size(); ++n) on_path.erase(path[n].first);
      path.resize(from + 1);
      if (loop.size() > 2) add_loop(loop);
    }
  }
}

double volume_of(const Triangle& t) { return dot(t[0], area_vector(t)) / 6; }

/// A shell of negative volume is a cavity where others are wound about it, and else inside out.
void turn_shells(RepairedSurface& s, SurfaceFindings& found) {
  std::vector<double> volume(static_cast<std::size_t>(s.shells), 0);
  const Point from = s.points.front();  // volumes of open shells depend on the origin
  const auto add = [&](Triangle t, int shell) {
    for (Point& p : t) p = minus(p, from);
    volume[static_cast<std::size_t>(shell)] += volume_of(t);
  };
  std::vector<Triangle> all;
  std::vector<int> shell = s.shell;
  for (std::size_t n = 0; n < s.triangles.size(); ++n) {
    all.push_back(s.at(s.triangles[n]));
    add(all.back(), s.shell[n]);
  }
  for (std::size_t n = 0; n < s.caps.size(); ++n) {
    all.push_back(s.caps[n]);
    shell.push_back(s.cap_shell[n]);
    add(all.back(), s.cap_shell[n]);
  }
  std::vector<bool> turn(volume.size(), false);
  constexpr int most_looked_at = 1000;
  int looked = 0;
  const TriangleTree tree(all);
  std::vector<bool> seen(volume.size(), false);
  for (std::size_t n = 0; n < s.triangles.size(); ++n) {
    const auto own = static_cast<std::size_t>(s.shell[n]);
    if (seen[own] || !(volume[own] < 0) || looked == most_looked_at) continue;
    seen[own] = true;
    ++looked;
    if (std::abs(tree.winding(all[n][0], &shell, s.shell[n])) > 0) continue;
    turn[own] = true;
    ++found.reversed;
  }
  for (std::size_t n = 0; n < s.triangles.size(); ++n)
    if (turn[static_cast<std::size_t>(s.shell[n])]) std::swap(s.triangles[n][1], s.triangles[n][2]);
  for (std::size_t n = 0; n < s.caps.size(); ++n)
    if (turn[static_cast<std::size_t>(s.cap_shell[n])]) std::swap(s.caps[n][1], s.caps[n][2]);
}

/// Whether the segment passes through the inside of the triangle.
bool pierces(const Point& a, const Point& b, const Triangle& t) {
  const Point n = area_vector(t);
  const double da = dot(n, minus(a, t[0])), db = dot(n, minus(b, t[0]));
  if (!((da > 0 && db < 0) || (da < 0 && db > 0))) return false;
  const Point x = plus(a, times(da / (da - db), minus(b, a)));
  const double whole = dot(n, n);
  for (int k = 0; k < 3; ++k) {
    const Point part = area_vector({t[k], t[(k + 1) % 3], x});
    if (!(dot(part, n) > 1e-9 * whole)) return false;
  }
  return true;
}

}  // namespace

RepairedSurface repair(const SurfaceTriangles& given, SurfaceFindings& found) {
  RepairedSurface out;
  found.triangles = given.triangles.size();
  weld(given, out, found);
  if (out.triangles.empty()) return out;
  orient(out, found);
  close_holes(out, found);
  turn_shells(out, found);
  return out;
}

void find_crossings(const RepairedSurface& s, SurfaceFindings& found, std::vector<bool>& crossed) {
  std::vector<Triangle> all;
  for (const Corner3& t : s.triangles) all.push_back(s.at(t));
  crossed.assign(all.size(), false);
  const TriangleTree tree(all);
  std::size_t pairs = 0;
  constexpr std::size_t most_pairs = 20'000'000;
  for (std::size_t n = 0; n < all.size() && pairs < most_pairs; ++n) {
    Point low = all[n][0], high = low;
    for (const Point& p : all[n])
      for (int k = 0; k < 3; ++k)
        low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
    tree.in_box(low, high, [&](std::size_t at) {
      const std::size_t m = tree.number(at);
      ++pairs;
      if (m <= n) return;
      int shared = 0;
      for (const auto a : s.triangles[n])
        for (const auto b : s.triangles[m]) shared += a == b;
      if (shared > 1) return;
      bool through = false;
      for (int k = 0; k < 3; ++k)
        through = through || pierces(all[n][k], all[n][(k + 1) % 3], all[m]) ||
                  pierces(all[m][k], all[m][(k + 1) % 3], all[n]);
      if (!through) return;
      if (found.crossings++ == 0)
        found.first_crossing = times(1.0 / 3, plus(all[n][0], plus(all[n][1], all[n][2])));
      crossed[n] = crossed[m] = true;
    });
  }
}

}  // namespace tessera::electromagnetics::detail
