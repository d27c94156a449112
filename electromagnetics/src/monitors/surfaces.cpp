// SPDX-License-Identifier: Apache-2.0
#include "monitors/on_line.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/monitors.h"

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

constexpr std::size_t most_points = 2500;  ///< that are looked at on a face

}  // namespace

SampledSurface sampled_surface(SampleList& samples, std::vector<Patch> patches) {
  SampledSurface out{std::move(patches), {}};
  for (const Patch& p : out.patches) out.first.push_back(add_patch(samples, p));
  return out;
}

std::vector<SurfaceFields> SampledSurface::fields(const Tensor& values) const {
  std::vector<SurfaceFields> out;
  for (std::size_t p = 0; p < patches.size(); ++p)
    out.push_back(patch_fields(values, patches[p], first[p]));
  return out;
}

SampledSurface sampled_plane(SampleList& samples, int axis, int outward, double position,
                             const std::array<double, 2>& low, const std::array<double, 2>& high) {
  return sampled_surface(samples, {grid_patch(samples.grid(), axis, outward, position, low, high)});
}

SampledSurface sampled_box(SampleList& samples, const Point& low, const Point& high, int outward) {
  return sampled_surface(samples, box_sides(samples.grid(), samples.faces(), low, high, outward));
}

std::vector<Patch> box_sides(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                             const Point& low, const Point& high, int outward) {
  std::vector<Patch> patches = grid_box(grid, low, high);
  std::erase_if(patches, [&](const Patch& p) {
    return !has_side(grid, faces, {low, high}, p.axis, p.outward > 0);
  });
  if (patches.empty())
    throw Error("the box is as large as the domain: none of its sides has fields on both sides");
  for (Patch& p : patches) p.outward *= outward;
  return patches;
}

bool has_side(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Bounds& box, int axis,
              bool upper) {
  const auto d = static_cast<std::size_t>(axis);
  const std::vector<double>& lines = grid.lines[d];
  const double near = detail::on_line * (lines.back() - lines.front());
  const double low = lines.front() + near, high = lines.back() - near,
               at = upper ? box.high[d] : box.low[d];
  if (faces[d].low == Boundary::periodic) return box.low[d] > low || box.high[d] < high;
  return at > low && at < high;
}

std::optional<BodyOnBox> body_on_box(const SceneOrder& scene, const YeeGrid& grid,
                                     const std::array<Faces, 3>& faces, const Bounds& box) {
  const auto first = [&](std::size_t d) { return grid.lines[d].front(); };
  const auto last = [&](std::size_t d) { return grid.lines[d].back(); };
  const auto resolved = [&](std::size_t d) { return grid.resolved(static_cast<int>(d)); };
  Bounds inside = box;
  std::array<bool, 3> flat{};
  for (std::size_t d = 0; d < 3; ++d) {
    inside.low[d] = std::max(box.low[d], first(d));
    inside.high[d] = std::min(box.high[d], last(d));
    flat[d] = resolved(d) && !(inside.high[d] > inside.low[d]);
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (!resolved(d) || ((flat[0] || flat[1] || flat[2]) && !flat[d])) continue;
    const std::size_t lo = d == 0 ? 1 : 0, hi = d == 2 ? 1 : 2;
    const double near = detail::on_line * (last(d) - first(d));
    std::vector<double> planes;
    for (const bool upper : {false, true}) {
      if (!has_side(grid, faces, box, static_cast<int>(d), upper)) continue;
      const double at = upper ? inside.high[d] : inside.low[d];
      planes.push_back(at);
      if (at <= first(d) + near) planes.push_back(last(d));  // joined faces are one plane
      if (at >= last(d) - near) planes.push_back(first(d));
    }
    for (const double at : planes) {
      const std::vector<Point> points =
          points_of(grid_patch(grid, static_cast<int>(d), 1, at, {inside.low[lo], inside.low[hi]},
                               {inside.high[lo], inside.high[hi]}));
      const std::size_t stride = 1 + points.size() / most_points;
      for (std::size_t p = 0; p < points.size(); p += stride)
        if (const int m = medium_at(scene, points[p]); m != scene.scene().background)
          return BodyOnBox{m, static_cast<int>(d)};
    }
  }
  return {};
}

}  // namespace tessera::electromagnetics
