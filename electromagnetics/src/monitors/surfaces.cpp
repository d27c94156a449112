// SPDX-License-Identifier: Apache-2.0
#include "monitors/on_line.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/monitors.h"

namespace tessera::electromagnetics {
namespace {

SampledSurface on_patches(SampleList& samples, std::vector<Patch> patches) {
  SampledSurface out{std::move(patches), {}};
  for (const Patch& p : out.patches) out.first.push_back(add_patch(samples, p));
  return out;
}

}  // namespace

std::vector<SurfaceFields> SampledSurface::fields(const Tensor& values) const {
  std::vector<SurfaceFields> out;
  for (std::size_t p = 0; p < patches.size(); ++p)
    out.push_back(patch_fields(values, patches[p], first[p]));
  return out;
}

SampledSurface sampled_plane(SampleList& samples, int axis, int outward, double position,
                             const std::array<double, 2>& low, const std::array<double, 2>& high) {
  return on_patches(samples, {grid_patch(samples.grid(), axis, outward, position, low, high)});
}

SampledSurface sampled_box(SampleList& samples, const Point& low, const Point& high, int outward) {
  const YeeGrid& grid = samples.grid();
  std::vector<Patch> patches = grid_box(grid, low, high);
  std::erase_if(patches, [&](const Patch& p) {
    const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(p.axis)];
    const double near = detail::on_line * (lines.back() - lines.front());
    return p.outward < 0 ? p.position <= lines.front() + near : p.position >= lines.back() - near;
  });
  if (patches.empty())
    throw Error("the box is as large as the domain: none of its sides has fields on both sides");
  for (Patch& p : patches) p.outward *= outward;
  return on_patches(samples, std::move(patches));
}

}  // namespace tessera::electromagnetics
