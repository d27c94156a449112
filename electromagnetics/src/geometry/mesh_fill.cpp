// SPDX-License-Identifier: Apache-2.0
//
// The part of the box [l, h] inside of a closed surface is, by the divergence of (0, 0, z - h_z),
//   V = sum over triangles in the box of (z - h_z) n_z dA + (h_z - l_z) A(l_z),
// with A(z) the area inside of the lower face, by the divergence of (0, y - h_y)
//   A = sum over lines of triangles in that face of (y - h_y) n_y ds + (h_y - l_y) L(l_y, l_z),
// with L the length inside of its lower edge,
//   L = sum over points of triangles on that edge of (x - h_x) n_x + (h_x - l_x) [l is inside].
// The box is (l, h], moved by an infinitesimal (e, e^2, e^3): a vertex counts as above a plane
// where it is above it and not on it, so that triangles in the planes of the grid are no special
// case.
//
// The same from the other corner, with z - l_z and the upper face, agrees where the surface is
// closed in the box, and tells where it is not.
#include "geometry/mesh_fill.h"

#include "geometry/plane_cut.h"
#include "geometry/vector.h"

#include <algorithm>
#include <optional>

namespace tessera::electromagnetics::detail {
namespace {

constexpr double even = 0.97;       ///< |sum A n| / sum A of what counts as one plane
constexpr double closed_to = 1e-6;  ///< of the box's volume
constexpr double thin = 1e-7;       ///< of the longest side: what stands for a side of zero
constexpr int samples = 3;          ///< along each side of a box where the surface is open

using Corners = std::vector<Point>;

/// The part of a convex polygon where sign * (p[k] - at) > 0, or >= 0 with sign -1.
void clip(Corners& polygon, Corners& room, int k, double at, int sign) {
  room.clear();
  const auto within = [&](const Point& p) { return sign > 0 ? p[k] > at : p[k] <= at; };
  for (std::size_t n = 0; n < polygon.size(); ++n) {
    const Point &a = polygon[n], &b = polygon[(n + 1) % polygon.size()];
    if (within(a)) room.push_back(a);
    if (within(a) == within(b)) continue;
    const Point &out = within(a) ? b : a, &in = within(a) ? a : b;
    const double t = (at - out[k]) / (in[k] - out[k]);
    Point cut = plus(out, times(t, minus(in, out)));
    cut[k] = at;
    room.push_back(cut);
  }
  polygon.swap(room);
}

struct Patch {
  Point area;    ///< sum of n dA
  Point moment;  ///< of each component of the place with the same component of n dA
  Point middle;
};

Patch patch_of(const Corners& polygon) {
  Patch out{};
  double weight = 0;
  for (std::size_t n = 1; n + 1 < polygon.size(); ++n) {
    const Triangle t{polygon[0], polygon[n], polygon[n + 1]};
    const Point a = times(0.5, area_vector(t));
    const Point middle = times(1.0 / 3, plus(t[0], plus(t[1], t[2])));
    out.area = plus(out.area, a);
    for (int k = 0; k < 3; ++k) out.moment[k] += middle[k] * a[k];
    out.middle = plus(out.middle, times(norm(a), middle));
    weight += norm(a);
  }
  out.middle = weight > 0 ? times(1 / weight, out.middle) : polygon[0];
  return out;
}

/// A line of the surface in the plane z, the inside on its left.
struct Line {
  Point from, to;
};

/// The surface in a box.
class Cut {
 public:
  Cut(const MeshBody& mesh, const Point& low, const Point& high)
      : mesh_(mesh), low_(low), high_(high) {
    Corners polygon, room;
    mesh.surface.in_box(low, high, [&](std::size_t at) {
      const Triangle& t = mesh.surface.triangles()[at];
      near_.push_back(at);
      polygon.assign(t.begin(), t.end());
      for (int k = 0; k < 3 && polygon.size() > 2; ++k) {
        clip(polygon, room, k, low[k], 1);
        clip(polygon, room, k, high[k], -1);
      }
      if (polygon.size() < 3) return;
      patches_.push_back(patch_of(polygon));
      of_.push_back(at);
    });
  }

  const std::vector<Patch>& patches() const { return patches_; }
  /// The triangle of each patch.
  std::size_t triangle(std::size_t patch) const { return of_[patch]; }

  double volume_from_below() const {
    double sum = (high_[2] - low_[2]) * area(low_[2], true);
    for (const Patch& p : patches_) sum += p.moment[2] - high_[2] * p.area[2];
    return sum;
  }
  double volume_from_above() const {
    double sum = (high_[2] - low_[2]) * area(high_[2], false);
    for (const Patch& p : patches_) sum += p.moment[2] - low_[2] * p.area[2];
    return sum;
  }

 private:
  /// Inside, of the section at z; from its lower or its upper edge.
  double area(double z, bool below) const {
    const double y = below ? low_[1] : high_[1], other = below ? high_[1] : low_[1];
    double sum = std::abs(other - y) * length(y, z, below);
    for (const std::size_t at : near_) {
      std::optional<Line> line = section(mesh_.surface.triangles()[at], z);
      if (!line || !clip_line(*line, 0) || !clip_line(*line, 1)) continue;
      // n_y ds = -dx
      sum += ((line->from[1] + line->to[1]) / 2 - other) * (line->from[0] - line->to[0]);
    }
    return sum;
  }

  /// Inside, of the line at y and z.
  double length(double y, double z, bool below) const {
    const double x = below ? low_[0] : high_[0], other = below ? high_[0] : low_[0];
    double sum = mesh_.contains({x, y, z}) ? std::abs(other - x) : 0;
    for (const std::size_t at : near_) {
      const std::optional<Line> line = section(mesh_.surface.triangles()[at], z);
      if (!line || (line->from[1] > y) == (line->to[1] > y)) continue;
      const bool up = line->to[1] > y;  // the inside is on the left: at smaller x
      const Point &a = up ? line->from : line->to, &b = up ? line->to : line->from;
      const double place = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
      if (!(place > low_[0] && place <= high_[0])) continue;
      sum += (place - other) * (up ? 1 : -1);
    }
    return sum;
  }

  /// Each side is cut from its lower end, as its neighbour cuts it.
  static std::optional<Line> section(const Triangle& t, double z) {
    Point cut[2];
    bool rises[2] = {};
    int n = 0;
    for (int k = 0; k < 3; ++k) {
      const Point &a = t[k], &b = t[(k + 1) % 3];
      if ((a[2] > z) == (b[2] > z)) continue;
      const Point &low = a[2] > z ? b : a, &high = a[2] > z ? a : b;
      const double s = (z - low[2]) / (high[2] - low[2]);
      rises[n] = b[2] > z;
      cut[n++] = {low[0] + s * (high[0] - low[0]), low[1] + s * (high[1] - low[1]), z};
    }
    if (n < 2) return {};
    // Where the sides of an outward triangle rise through the plane its line ends.
    return rises[0] ? Line{cut[1], cut[0]} : Line{cut[0], cut[1]};
  }

  bool clip_line(Line& l, int k) const {
    const auto cut = [&](double at) {
      const double s = (at - l.from[k]) / (l.to[k] - l.from[k]);
      Point p = plus(l.from, times(s, minus(l.to, l.from)));
      p[k] = at;
      return p;
    };
    if ((l.from[k] > low_[k]) != (l.to[k] > low_[k]))
      (l.from[k] > low_[k] ? l.to : l.from) = cut(low_[k]);
    else if (!(l.from[k] > low_[k]))
      return false;
    if ((l.from[k] > high_[k]) != (l.to[k] > high_[k]))
      (l.from[k] > high_[k] ? l.from : l.to) = cut(high_[k]);
    else if (l.from[k] > high_[k])
      return false;
    return true;
  }

  const MeshBody& mesh_;
  Point low_, high_;
  std::vector<std::size_t> near_, of_;
  std::vector<Patch> patches_;
};

/// The share that is inside of some points; all corners first.
double sampled(const MeshBody& mesh, const Point& low, const Point& high) {
  int inside = 0, n = 0;
  const auto look = [&](double x, double y, double z) {
    const double at[3] = {x, y, z};
    Point p;
    for (int k = 0; k < 3; ++k) p[k] = low[k] + at[k] * (high[k] - low[k]);
    inside += mesh.contains(p);
    ++n;
  };
  constexpr double in = 1e-3;
  for (const double x : {in, 1 - in})
    for (const double y : {in, 1 - in})
      for (const double z : {in, 1 - in}) look(x, y, z);
  look(0.5, 0.5, 0.5);
  if (inside == 0 || inside == n) return inside > 0;
  inside = n = 0;
  for (int i = 0; i < samples; ++i)
    for (int j = 0; j < samples; ++j)
      for (int k = 0; k < samples; ++k)
        look((i + 0.5) / samples, (j + 0.5) / samples, (k + 0.5) / samples);
  return static_cast<double>(inside) / n;
}

/// The offset at which a plane cuts off the share.
double offset_of(const Point& n, double share, const Point& size) {
  const double half =
      (std::abs(n[0]) * size[0] + std::abs(n[1]) * size[1] + std::abs(n[2]) * size[2]) / 2;
  double low = -half, high = half, at = 0;
  for (int round = 0; round < 60 && high - low > 1e-15 * half; ++round) {
    const PlaneCut cut = cut_box(n, at, size);
    (cut.fraction < share ? low : high) = at;
    const double next = cut.area > 0 ? at + (share - cut.fraction) / cut.area : at;
    if (std::abs(cut.fraction - share) < 1e-15) break;
    at = next > low && next < high ? next : (low + high) / 2;
  }
  return at;
}

}  // namespace

Local local_mesh(const MeshBody& mesh, const Box& box) {
  Point low, high;
  const double longest = *std::max_element(box.size.begin(), box.size.end());
  const Local outside{.kind = Local::Kind::outside, .fraction = 0};
  if (longest == 0) return mesh.contains(box.centre) ? Local{} : outside;
  double volume = 1;
  for (int k = 0; k < 3; ++k) {
    low[k] = box.centre[k] - box.size[k] / 2;
    high[k] = box.size[k] > 0 ? box.centre[k] + box.size[k] / 2 : low[k] + thin * longest;
    volume *= high[k] - low[k];
  }
  const Cut cut(mesh, low, high);
  if (cut.patches().empty() && mesh.closed) return mesh.contains(box.centre) ? Local{} : outside;
  double share = cut.volume_from_below() / volume;
  const bool whole =
      mesh.closed || (std::abs(cut.volume_from_above() / volume - share) < closed_to &&
                      share > -closed_to && share < 1 + closed_to);
  if (!whole) share = sampled(mesh, low, high);
  if (share <= touching) return outside;
  if (share >= 1 - touching) return {};

  Point sum{};
  double total = 0;
  Local out{.kind = Local::Kind::mixed, .fraction = share, .exact = whole};
  for (std::size_t n = 0; n < cut.patches().size(); ++n) {
    const Patch& p = cut.patches()[n];
    Point normal = mesh.normals[cut.triangle(n)];
    double in_plane = 0;
    for (int k = 0; k < 3; ++k) {
      if (box.size[k] == 0) normal[k] = 0;
      in_plane += normal[k] * normal[k];
    }
    const double area = norm(p.area) * std::sqrt(in_plane) / volume;
    if (!(area > 0)) continue;
    normal = times(1 / std::sqrt(in_plane), normal);
    sum = plus(sum, times(area, normal));
    total += area;
    out.pieces.push_back({normal, dot(normal, minus(p.middle, box.centre)), area});
  }
  Point with_image = sum;  // of all of the box
  for (std::size_t k = 0; k < 3; ++k)
    if (box.mirrored[k]) with_image[k] = 0;
  if (norm(with_image) > even * total) sum = with_image;
  if (whole && norm(sum) > even * total) {
    const Point n = times(1 / norm(sum), sum);
    return {.kind = Local::Kind::layer,
            .fraction = share,
            .normal = n,
            .low = -INFINITY,
            .high = offset_of(n, share, box.size)};
  }
  return out;
}

}  // namespace tessera::electromagnetics::detail
