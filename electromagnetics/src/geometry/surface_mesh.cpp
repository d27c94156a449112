// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/surface_mesh.h"

#include "geometry/mesh_body.h"
#include "geometry/mesh_repair.h"
#include "geometry/shape_node.h"
#include "geometry/vector.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

constexpr int quarterings = 5;  ///< of triangles that others cross

[[noreturn]] void refuse_surface(const std::string& what) {
  throw Error("[surface_solid] " + what);
}

/// Which side of a triangle is inside, a little away from its middle: 1 behind it, -1 in front of
/// it, 0 where both sides are alike.
int inside_of(const MeshBody& windings, const Triangle& t, double away) {
  const Point n = area_vector(t);
  const Point middle = times(1.0 / 3, plus(t[0], plus(t[1], t[2])));
  const Point by = times(away / norm(n), n);
  return int{windings.contains(minus(middle, by))} - int{windings.contains(plus(middle, by))};
}

std::array<Triangle, 4> quarters(const Triangle& t) {
  const Point a = times(0.5, plus(t[0], t[1])), b = times(0.5, plus(t[1], t[2])),
              c = times(0.5, plus(t[2], t[0]));
  return {Triangle{t[0], a, c}, Triangle{a, t[1], b}, Triangle{c, b, t[2]}, Triangle{a, b, c}};
}

/// What of the triangle bounds the solid; one that others cross in parts.
void add_faces(const MeshBody& windings, const Triangle& t, int cuts, double away,
               std::vector<Triangle>& out) {
  if (cuts > 0) {
    for (const Triangle& part : quarters(t)) add_faces(windings, part, cuts - 1, away, out);
    return;
  }
  const int side = inside_of(windings, t, away);
  if (side > 0) out.push_back(t);
  if (side < 0) out.push_back({t[0], t[2], t[1]});
}

std::string place_of(const Point& p) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g}) m", p[0], p[1], p[2]);
}
std::string several(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

std::string SurfaceFindings::text() const {
  std::vector<std::string> said;
  if (open_edges > 0)
    said.push_back(fmt::format("{} in {}, the largest {:.3g} m wide near {}",
                               several(open_edges, "open edge", "open edges"),
                               several(holes, "hole", "holes"), largest_hole_m,
                               place_of(largest_hole)));
  if (non_manifold > 0)
    said.push_back(fmt::format("{} of more than two triangles, the first near {}",
                               several(non_manifold, "edge", "edges"),
                               place_of(first_non_manifold)));
  if (flipped > 0)
    said.push_back(fmt::format("{} against their neighbours, the first near {}",
                               several(flipped, "triangle faces", "triangles face"),
                               place_of(first_flipped)));
  if (reversed > 0)
    said.push_back(several(reversed, "shell is inside out", "shells are inside out"));
  if (crossings > 0)
    said.push_back(
        fmt::format("{} through each other, the first near {}",
                    several(crossings, "pair of triangles passes", "pairs of triangles pass"),
                    place_of(first_crossing)));
  if (degenerate > 0)
    said.push_back(several(degenerate, "triangle without area", "triangles without area"));
  if (repeated > 0) said.push_back(several(repeated, "triangle repeated", "triangles repeated"));
  return fmt::format("{}", fmt::join(said, "; "));
}

SurfaceSolid surface_solid(const SurfaceTriangles& given) {
  if (given.triangles.empty()) refuse_surface("there are no triangles");
  for (std::size_t n = 0; n < given.points.size(); ++n)
    for (const double x : given.points[n])
      if (!std::isfinite(x)) refuse_surface(fmt::format("point {} is not finite", n));
  for (std::size_t n = 0; n < given.triangles.size(); ++n)
    for (const std::uint32_t p : given.triangles[n])
      if (p >= given.points.size())
        refuse_surface(fmt::format("triangle {} names point {} of {}", n, p, given.points.size()));

  SurfaceSolid out;
  const RepairedSurface s = repair(given, out.found);
  if (s.triangles.empty()) refuse_surface("no triangle has an area");
  std::vector<bool> crossed;
  find_crossings(s, out.found, crossed);

  std::vector<Triangle> triangles, surface, shells;
  std::vector<bool> parted;
  std::vector<double> away;  // where their sides are looked at
  for (std::size_t n = 0; n < s.triangles.size(); ++n) {
    shells.push_back(s.at(s.triangles[n]));
    if (norm(area_vector(shells.back())) == 0) continue;
    triangles.push_back(shells.back());
    parted.push_back(crossed[n]);
    away.push_back(1e-7);
  }
  if (triangles.empty()) refuse_surface("no triangle has an area");
  const Bounds hull = TriangleTree(triangles).bounds();
  double size = 0;
  for (int k = 0; k < 3; ++k) size = std::max(size, hull.high[k] - hull.low[k]);

  const bool one_shell = s.caps.empty() && s.shells == 1 && out.found.crossings == 0;
  if (one_shell) {
    surface = triangles;
    if (surface.size() == shells.size()) shells.clear();
  } else {
    shells.insert(shells.end(), s.caps.begin(), s.caps.end());
    const auto windings = mesh_body(triangles, shells, s.caps, false);
    for (std::size_t n = 0; n < s.caps.size(); ++n)
      if (!s.cap_is_face[n] && norm(area_vector(s.caps[n])) > 0) {
        triangles.push_back(s.caps[n]);
        parted.push_back(false);
        // Other holes move the surface of winding 1/2 a little away from the cap.
        away.push_back(0.1 * std::sqrt(norm(area_vector(s.caps[n]))) / size);
      }
    constexpr std::size_t chunk = 256;
    std::vector<std::vector<Triangle>> parts((triangles.size() + chunk - 1) / chunk);
    parallel_chunks(static_cast<std::int64_t>(parts.size()), [&](std::int64_t c) {
      const std::size_t first = static_cast<std::size_t>(c) * chunk;
      for (std::size_t n = first; n < std::min(first + chunk, triangles.size()); ++n)
        add_faces(*windings, triangles[n], parted[n] ? quarterings : 0, away[n] * size,
                  parts[static_cast<std::size_t>(c)]);
    });
    for (const auto& part : parts) surface.insert(surface.end(), part.begin(), part.end());
  }
  if (surface.empty()) refuse_surface("the triangles enclose nothing");
  for (Triangle t : surface) {
    for (Point& p : t) p = minus(p, hull.low);
    out.found.volume += dot(t[0], area_vector(t)) / 6;
  }
  if (!(out.found.volume > 1e-12 * size * size * size))
    refuse_surface("the triangles enclose nothing");
  const bool closed = one_shell || (s.caps.empty() && out.found.crossings == 0);
  out.shape = primitive(Mesh{mesh_body(surface, shells, s.caps, closed)});
  return out;
}

}  // namespace tessera::electromagnetics
