// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/mode_amplitudes.h"

#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <cmath>
#include <complex>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Of a sample, in V/m or A/m, in an amplitude times the mode's product with itself.
std::complex<double> weight(const em::GridModes& g, const em::GridMode& m, int field, std::size_t k,
                            bool forward) {
  const double sign =
      em::axis_of(g.h[k].component) == (em::axis_of(g.e[k].component) + 1) % 3 ? 1.0 : -1.0;
  if (field == 0) return sign * m.h[k] * g.e_scale[k] / 2.0;
  return (forward ? 1.0 : -1.0) * sign * m.e[k] * g.h_scale[k] * em::vacuum_impedance /
         std::cos(m.beta * g.cell / 2.0) / 4.0;
}

}  // namespace

void add_mode_samples(em::SampleList& samples, const em::YeeGrid& grid, const em::ModePlane& plane,
                      const em::GridModes& modes) {
  const auto add = [&](const std::vector<em::Edge>& edges, int at) {
    for (em::Edge e : edges) {
      (plane.axis == 0 ? e.i : plane.axis == 1 ? e.j : e.k) = at;
      samples.add(e.component, grid.position(e));
    }
  };
  const int cells = grid.cells(plane.axis);
  add(modes.e, plane.line);
  add(modes.h, (plane.line + cells - 1) % cells), add(modes.h, plane.line);
}

Tensor mode_weights(const std::vector<em::GridModes>& modes, std::size_t count, double images) {
  const std::size_t n = modes.front().e.size();
  std::vector<c128> w(2 * modes.size() * count * 3 * n);
  std::size_t at = 0;
  for (const bool forward : {true, false})
    for (const em::GridModes& g : modes)
      for (std::size_t m = 0; m < count; ++m) {
        const em::GridMode& mode = g.modes[m];
        const std::complex<double> own = em::mode_product(g, mode.e, mode.h) / std::sqrt(images);
        for (const int field : {0, 1, 2})
          for (std::size_t k = 0; k < n; ++k) w[at++] = weight(g, mode, field, k, forward) / own;
      }
  return tensor(w, {2, static_cast<Index>(modes.size()), static_cast<Index>(count),
                    static_cast<Index>(3 * n)});
}

Tensor mode_amplitudes(const Tensor& weights, const Tensor& values) {
  return squeeze(matmul(weights, expand_dims(values, -1)), -1);
}

}  // namespace tessera::apps::fdtd
