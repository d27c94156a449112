// SPDX-License-Identifier: Apache-2.0
#include "geometry/fill.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics {
using namespace detail;

namespace detail {

Fill fill(const SceneOrder& scene, const Box& box) {
  const Point &centre = box.centre, &size = box.size;
  Structures near;
  for (std::size_t rank = 0; rank < scene.from_top().size(); ++rank) {
    const Bounds& b = scene.bounds_from_top()[rank];
    bool apart = false;
    for (int k = 0; k < 3; ++k)
      apart = apart || b.low[k] > centre[k] + size[k] / 2 || b.high[k] < centre[k] - size[k] / 2;
    if (!apart) near.push_back(&scene.scene().structures[scene.from_top()[rank]]);
  }
  Fill out = fill_box(near, scene.scene().background, box, 0);
  const auto rank = [&](const Share& share) {
    return std::find_if(near.begin(), near.end(),
                        [&](const Structure* s) { return s->medium == share.medium; }) -
           near.begin();
  };
  std::stable_sort(out.media.begin(), out.media.end(),
                   [&](const Share& a, const Share& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace detail

Fill fill(const SceneOrder& scene, const Point& centre, const std::array<double, 3>& size) {
  return detail::fill(scene, {centre, size});
}

Mix mix(const SceneOrder& scene, const Point& centre, const std::array<double, 3>& size) {
  const Fill f = fill(scene, centre, size);
  const Share& first = f.media[0];
  if (f.media.size() == 1) return {first.medium, first.medium, 1, {0, 0, 0}, true};
  const Share& other =
      *std::max_element(f.media.begin() + 1, f.media.end(),
                        [](const Share& a, const Share& b) { return a.fraction < b.fraction; });
  Point outward{};
  Rotation orientation{};  // only as a 3x3 matrix
  double area = 0;
  for (const Interface& face : f.interfaces) {
    if (face.inside != first.medium && face.outside != first.medium) continue;
    const auto& o = face.orientation;
    for (int k = 0; k < 3; ++k)
      outward[k] += face.inside == first.medium ? face.area[k] : -face.area[k];
    const Rotation m{{{o[0], o[3], o[4]}, {o[3], o[1], o[5]}, {o[4], o[5], o[2]}}};
    for (int k = 0; k < 3; ++k) orientation[k] = plus(orientation[k], m[k]), area += m[k][k];
  }
  // Two faces of a thin layer cancel; its orientation is n n^T, of which any column is along n.
  if (norm(outward) <= 1e-6 * area)
    outward = *std::max_element(orientation.begin(), orientation.end(),
                                [](const Point& a, const Point& b) { return norm(a) < norm(b); });
  const double length = norm(outward);
  return {first.medium, other.medium, first.fraction,
          length > 0 ? times(1 / length, outward) : outward, f.simple};
}

Mix mix(const Scene& scene, const Point& centre, const std::array<double, 3>& size) {
  return mix(SceneOrder(scene), centre, size);
}

}  // namespace tessera::electromagnetics
