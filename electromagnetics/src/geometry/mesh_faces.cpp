// SPDX-License-Identifier: Apache-2.0
#include "geometry/mesh_faces.h"

#include "geometry/mesh_body.h"
#include "geometry/shape_node.h"
#include "geometry/vector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double kAlong = 1e-6;   ///< of the body's size: files keep coordinates to 1e-7
constexpr double kSharp = 0.866;  ///< cos 30 degrees
constexpr double kLarge = 1 / 20.0;

struct Facet {
  Triangle corners;
  Point normal;
  double area = 0;
  int side = 0;  ///< +-1, +-2, +-3: across x, y, z, facing up or down; 0: across none
};

Point placed(const Placement& at, const Point& q) {
  Point p = at.origin;
  for (int d = 0; d < 3; ++d) p[d] += dot(at.forward[d], q);
  return p;
}

Facet facet_of(const Triangle& t, const Placement& at, double near) {
  Facet f;
  for (std::size_t k = 0; k < 3; ++k) f.corners[k] = placed(at, t[k]);
  const Point n = area_vector(f.corners);
  const double twice = norm(n);
  f.area = twice / 2, f.normal = times(1 / twice, n);
  for (int d = 0; d < 3; ++d) {
    const auto [low, high] = std::minmax({f.corners[0][d], f.corners[1][d], f.corners[2][d]});
    if (high - low <= near && std::abs(f.normal[d]) > 1 - kAlong)
      f.side = f.normal[d] > 0 ? d + 1 : -(d + 1);
  }
  return f;
}

/// A side of a triangle, the lower corner first.
struct Rib {
  Point from, to;
  std::size_t facet;
  double length;
};

std::vector<Rib> ribs_of(const std::vector<Facet>& facets) {
  std::vector<Rib> ribs;
  ribs.reserve(3 * facets.size());
  for (std::size_t n = 0; n < facets.size(); ++n)
    for (std::size_t k = 0; k < 3; ++k) {
      Point a = facets[n].corners[k], b = facets[n].corners[(k + 1) % 3];
      if (b < a) std::swap(a, b);
      ribs.push_back({a, b, n, norm(minus(b, a))});
    }
  std::sort(ribs.begin(), ribs.end(), [](const Rib& a, const Rib& b) {
    return std::tie(a.from, a.to, a.facet) < std::tie(b.from, b.to, b.facet);
  });
  return ribs;
}

/// Sets of facets that hang together.
class Sets {
 public:
  explicit Sets(std::size_t n) : up_(n) { std::iota(up_.begin(), up_.end(), std::size_t{0}); }
  std::size_t of(std::size_t n) {
    while (up_[n] != n) n = up_[n] = up_[up_[n]];
    return n;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a), b = of(b);
    up_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> up_;
};

struct Patch {
  int side = 0;
  double area = 0, moment = 0;  ///< the moment: area times place
  double rim = 0, sharp = 0;    ///< lengths
  Bounds extent{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

  void add(const Facet& f) {
    side = f.side, area += f.area;
    const int axis = std::abs(side) - 1;
    for (const Point& p : f.corners) {
      moment += f.area * p[axis] / 3;
      for (int d = 0; d < 3; ++d)
        extent.low[d] = std::min(extent.low[d], p[d]),
        extent.high[d] = std::max(extent.high[d], p[d]);
    }
  }
};

}  // namespace

std::vector<MeshFace> flat_faces(const MeshBody& body, const Placement& at) {
  Bounds all{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (const Triangle& t : body.surface.triangles())
    for (const Point& corner : t) {
      const Point p = placed(at, corner);
      for (int d = 0; d < 3; ++d)
        all.low[d] = std::min(all.low[d], p[d]), all.high[d] = std::max(all.high[d], p[d]);
    }
  const double near = kAlong * norm(minus(all.high, all.low));
  std::vector<Facet> facets;
  facets.reserve(body.surface.size());
  for (const Triangle& t : body.surface.triangles()) facets.push_back(facet_of(t, at, near));

  const std::vector<Rib> ribs = ribs_of(facets);
  const auto same_rib = [&](std::size_t m, std::size_t n) {
    return n < ribs.size() && ribs[m].from == ribs[n].from && ribs[m].to == ribs[n].to;
  };
  Sets sets(facets.size());
  const auto each_rib = [&](const auto& visit) {
    for (std::size_t m = 0, end; m < ribs.size(); m = end) {
      for (end = m + 1; same_rib(m, end);) ++end;
      visit(m, end);
    }
  };
  each_rib([&](std::size_t m, std::size_t end) {
    for (std::size_t a = m; a < end; ++a)
      for (std::size_t b = a + 1; b < end; ++b)
        if (const int side = facets[ribs[a].facet].side;
            side != 0 && side == facets[ribs[b].facet].side)
          sets.join(ribs[a].facet, ribs[b].facet);
  });
  std::map<std::size_t, Patch> patches;
  for (std::size_t n = 0; n < facets.size(); ++n)
    if (facets[n].side != 0) patches[sets.of(n)].add(facets[n]);
  each_rib([&](std::size_t m, std::size_t end) {
    for (std::size_t a = m; a < end; ++a) {
      const Facet& own = facets[ribs[a].facet];
      if (own.side == 0) continue;
      bool inner = false, smooth = false;
      for (std::size_t b = m; b < end; ++b) {
        if (b == a) continue;
        const Facet& other = facets[ribs[b].facet];
        inner = inner || other.side == own.side;
        smooth = smooth || dot(own.normal, other.normal) > kSharp;
      }
      if (inner) continue;
      Patch& patch = patches[sets.of(ribs[a].facet)];
      patch.rim += ribs[a].length;
      if (!smooth) patch.sharp += ribs[a].length;
    }
  });

  std::vector<MeshFace> out;
  for (const auto& entry : patches) {
    const Patch& patch = entry.second;
    const int axis = std::abs(patch.side) - 1, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double section = (all.high[u] - all.low[u]) * (all.high[v] - all.low[v]);
    if (patch.sharp < patch.rim / 2 && patch.area < kLarge * section) continue;
    const double low = patch.extent.low[axis], high = patch.extent.high[axis];
    double place = low == high ? low : patch.moment / patch.area;
    for (const double end : {all.low[axis], all.high[axis]})
      if (std::abs(place - end) <= near) place = end;
    MeshFace face{axis, place, patch.extent};
    face.extent.low[axis] = face.extent.high[axis] = place;
    out.push_back(face);
  }
  std::stable_sort(out.begin(), out.end(), [](const MeshFace& a, const MeshFace& b) {
    return std::tie(a.axis, a.at) < std::tie(b.axis, b.at);
  });
  return out;
}

}  // namespace tessera::electromagnetics::detail
