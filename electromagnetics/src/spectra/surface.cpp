// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/surface.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::electromagnetics {
namespace {

void fill(double low, double high, double spacing, std::vector<double>& at,
          std::vector<double>& weight) {
  if (low == high) {
    at = {low};
    weight = {1};
    return;
  }
  const int n = static_cast<int>(std::ceil((high - low) / spacing * (1 - 1e-9)));
  const double step = (high - low) / n;
  for (int i = 0; i < n; ++i) at.push_back(low + (i + 0.5) * step);
  weight.assign(n, step);
}

}  // namespace

Patch patch_of(int axis, int outward, double position, const std::array<double, 2>& low,
               const std::array<double, 2>& high, double spacing) {
  if (axis < 0 || axis > 2 || (outward != 1 && outward != -1))
    throw Error(
        fmt::format("[patch_of] needs an axis 0 ... 2 and an outward sign +1 or -1, got {} and {}",
                    axis, outward));
  if (!(spacing > 0) || !(low[0] <= high[0]) || !(low[1] <= high[1]))
    throw Error("[patch_of] needs a positive spacing and low <= high");
  Patch p{.axis = axis, .outward = outward, .position = position};
  fill(low[0], high[0], spacing, p.lo, p.weight_lo);
  fill(low[1], high[1], spacing, p.hi, p.weight_hi);
  return p;
}

std::vector<Patch> box_patches(const std::array<double, 3>& low, const std::array<double, 3>& high,
                               double spacing) {
  std::vector<Patch> faces;
  for (int axis = 0; axis < 3; ++axis) {
    if (low[axis] == high[axis]) continue;
    const int lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
    for (int side : {-1, 1})
      faces.push_back(patch_of(axis, side, side < 0 ? low[axis] : high[axis], {low[lo], low[hi]},
                               {high[lo], high[hi]}, spacing));
  }
  return faces;
}

std::vector<std::array<double, 3>> points_of(const Patch& p) {
  std::vector<std::array<double, 3>> points;
  for (double hi : p.hi)
    for (double lo : p.lo) {
      std::array<double, 3> r{};
      r[p.axis] = p.position;
      r[p.lo_axis()] = lo;
      r[p.hi_axis()] = hi;
      points.push_back(r);
    }
  return points;
}

void require_fields(const char* operation, const std::vector<Patch>& patches,
                    const std::vector<SurfaceFields>& fields, Index n_frequencies) {
  if (patches.empty() || patches.size() != fields.size())
    throw Error(fmt::format("[{}] needs one or more patches and fields for each, got {} and {}",
                            operation, patches.size(), fields.size()));
  for (std::size_t k = 0; k < patches.size(); ++k) {
    const Patch& p = patches[k];
    if (p.weight_lo.size() != p.lo.size() || p.weight_hi.size() != p.hi.size())
      throw Error(fmt::format("[{}] patch {} has {} x {} points but {} x {} weights", operation, k,
                              p.lo.size(), p.hi.size(), p.weight_lo.size(), p.weight_hi.size()));
    const tessera::Shape want{n_frequencies, 2, p.n_hi(), p.n_lo()};
    for (const Tensor& f : {fields[k].e, fields[k].h})
      if (!f.defined() || f.shape() != want || !is_complex(f.dtype()))
        throw Error(fmt::format("[{}] the fields of patch {} must be complex {}, got {}", operation,
                                k, to_string(want), f.defined() ? to_string(f.type()) : "nothing"));
  }
}

}  // namespace tessera::electromagnetics
