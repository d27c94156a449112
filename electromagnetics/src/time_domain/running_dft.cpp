// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {

RunningDft::RunningDft(std::vector<double> frequencies_hz, double dt_s,
                       const std::vector<Edge>& edges, int every)
    : f_(std::move(frequencies_hz)),
      dt_(dt_s),
      every_(every),
      sums_(f_.size() * 2 * edges.size(), 0.0) {
  for (const Edge& e : edges) magnetic_.push_back(!is_electric(e.component));
}

void RunningDft::add(const Records& r) {
  const auto columns = static_cast<std::int64_t>(magnetic_.size());
  if (columns != r.n_columns)
    throw Error("[RunningDft] records of " + std::to_string(r.n_columns) +
                " edges came to a transform of " + std::to_string(columns));
  std::vector<std::int64_t> taken;
  for (std::int64_t n = 0; n < r.n_steps; ++n)
    if ((r.first + n + 1) % every_ == 0) taken.push_back(n);
  if (taken.empty()) return;
  // One chunk: some columns at all frequencies. Sums grow step by step, so that they do not depend
  // on how steps come in blocks.
  constexpr std::int64_t chunk = 512;
  std::vector<std::complex<double>> phase(taken.size() * f_.size());
  for (std::size_t k = 0; k < f_.size(); ++k)
    for (std::size_t n = 0; n < taken.size(); ++n)
      phase[k * taken.size() + n] = std::polar(
          1.0, -2 * std::numbers::pi * f_[k] * static_cast<double>(r.first + taken[n] + 1) * dt_);
  parallel_chunks((columns + chunk - 1) / chunk, [&](std::int64_t c) {
    const std::int64_t begin = c * chunk, end = std::min(columns, begin + chunk);
    for (std::size_t k = 0; k < f_.size(); ++k) {
      double* re = sums_.data() + static_cast<std::int64_t>(2 * k) * columns;
      double* im = re + columns;
      for (std::size_t n = 0; n < taken.size(); ++n) {
        const double cr = phase[k * taken.size() + n].real(),
                     ci = phase[k * taken.size() + n].imag();
        const double* x = r.step(taken[n]).data();
        for (std::int64_t m = begin; m < end; ++m) {
          re[m] += cr * x[m];
          im[m] += ci * x[m];
        }
        if (!r.imaginary) continue;
        const double* y = r.imaginary + taken[n] * r.stride;
        for (std::int64_t m = begin; m < end; ++m) {
          re[m] -= ci * y[m];
          im[m] += cr * y[m];
        }
      }
    }
  });
}

std::vector<std::complex<double>> RunningDft::at(std::size_t frequency) const {
  const std::size_t columns = magnetic_.size();
  const double* re = sums_.data() + 2 * frequency * columns;
  const std::complex<double> electric = dt_ * every_,
                             half_step = std::polar(1.0, std::numbers::pi * f_[frequency] * dt_);
  std::vector<std::complex<double>> out(columns);
  for (std::size_t m = 0; m < columns; ++m)
    out[m] = electric * (magnetic_[m] ? half_step : 1.0) * std::complex(re[m], re[columns + m]);
  return out;
}

Tensor RunningDft::values(const SampleList& samples) const {
  std::vector<c128> out;
  for (std::size_t k = 0; k < f_.size(); ++k) {
    const std::vector<std::complex<double>> edges = at(k);
    for (std::int64_t row = 0; row < samples.size(); ++row)
      out.push_back(samples.value(row, edges.data()));
  }
  return tensor(out, {static_cast<Index>(f_.size()), static_cast<Index>(samples.size())});
}

// ---- rectangles of samples

Patch grid_patch(const YeeGrid& grid, int axis, int outward, double position,
                 const std::array<double, 2>& low, const std::array<double, 2>& high) {
  Patch p{.axis = axis, .outward = outward, .position = position};
  const auto fill = [&](int d, double from, double to, std::vector<double>& at,
                        std::vector<double>& weight) {
    if (!grid.resolved(d)) {
      at = {grid.middle(d, 0)};
      weight = {1.0};
      return;
    }
    for (int i = 0; i < grid.cells(d); ++i) {
      const double a = std::max(from, grid.lines[d][i]), b = std::min(to, grid.lines[d][i + 1]);
      if (b - a <= 1e-9 * grid.length(d, i)) continue;
      at.push_back((a + b) / 2);
      weight.push_back(b - a);
    }
    if (at.empty())
      throw Error("[grid_patch] the rectangle has no cells along axis " + std::string(1, "xyz"[d]));
  };
  fill(p.lo_axis(), low[0], high[0], p.lo, p.weight_lo);
  fill(p.hi_axis(), low[1], high[1], p.hi, p.weight_hi);
  return p;
}

std::vector<Patch> grid_box(const YeeGrid& grid, const Point& low, const Point& high) {
  std::vector<Patch> out;
  for (int axis = 0; axis < 3; ++axis) {
    if (!grid.resolved(axis)) continue;
    const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
    for (const int outward : {-1, 1})
      out.push_back(grid_patch(
          grid, axis, outward,
          outward < 0 ? low[static_cast<std::size_t>(axis)] : high[static_cast<std::size_t>(axis)],
          {low[lo], low[hi]}, {high[lo], high[hi]}));
  }
  return out;
}

std::int64_t add_patch(SampleList& samples, const Patch& patch) {
  const std::int64_t first = samples.size();
  const std::vector<std::array<double, 3>> points = points_of(patch);
  for (const int c : {patch.lo_axis(), patch.hi_axis(), 3 + patch.lo_axis(), 3 + patch.hi_axis()})
    for (const auto& p : points) samples.add(c, p);
  return first;
}

SurfaceFields patch_fields(const Tensor& values, const Patch& patch, std::int64_t first) {
  const Index n = patch.n_hi() * patch.n_lo(), k = values.dim(0);
  const auto part = [&](Index begin) {
    return reshape(slice(values, {0, begin}, {k, begin + 2 * n}),
                   {k, 2, patch.n_hi(), patch.n_lo()});
  };
  return {part(first), part(first + 2 * n)};
}

}  // namespace tessera::electromagnetics
