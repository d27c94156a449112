// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/excluded_batch.h"

#include "nonbonded/series.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

constexpr double far = 4;  // z beyond which no series is summed; 1-4 pairs have about 1.5
constexpr std::size_t width = ExcludedBatch::width;

void sum_series(const std::vector<double>& c, const double* t, double* out) {
  std::fill(out, out + width, c.back());
  for (std::size_t p = c.size() - 1; p-- > 0;)
    for (std::size_t k = 0; k < width; ++k) out[k] = std::fma(out[k], t[k], c[p]);
}

}  // namespace

ExcludedShapes::ExcludedShapes(double beta) : beta_(beta) {
  for (const auto& [which, to] : {std::pair{0, &value_}, {1, &derivative_}})
    for (const long double c : pairs::ewald_series(which, far, 1e-17, 2))
      to->push_back(static_cast<double>(c));
  const std::vector<long double> c =
      pairs::ewald_series(1, far, 1e-19L, 2);  // its derivative has a few digits less
  for (std::size_t k = 1; k < c.size(); ++k)
    second_.push_back(static_cast<double>(static_cast<long double>(k) * c[k] *
                                          (2 / static_cast<long double>(far))));
}

void ExcludedShapes::operator()(const double* x, const Box& box,
                                const std::array<std::int32_t, 2>* pairs, std::size_t many,
                                bool values, bool curves, ExcludedBatch& to) const {
  const auto& h = box.edge;
  const double ix = 1 / h[0][0], iy = 1 / h[1][1], iz = 1 / h[2][2], square = beta_ * beta_;
  double *const dx = to.d[0], *const dy = to.d[1], *const dz = to.d[2];
  alignas(64) double z[width], t[width];
  for (std::size_t k = 0; k < width; ++k) {
    const double *const a = x + 3 * pairs[std::min(k, many - 1)][0],
                        *const b = x + 3 * pairs[std::min(k, many - 1)][1];
    dx[k] = a[0] - b[0];
    dy[k] = a[1] - b[1];
    dz[k] = a[2] - b[2];
  }
  for (std::size_t k = 0; k < width; ++k) {
    const double s2 = dz[k] * iz, s1 = (dy[k] - s2 * h[2][1]) * iy,
                 s0 = (dx[k] - s1 * h[1][0] - s2 * h[2][0]) * ix;
    const double n0 = std::floor(s0 + 0.5), n1 = std::floor(s1 + 0.5), n2 = std::floor(s2 + 0.5);
    dx[k] -= n0 * h[0][0] + n1 * h[1][0] + n2 * h[2][0];
    dy[k] -= n1 * h[1][1] + n2 * h[2][1];
    dz[k] -= n2 * h[2][2];
    to.image[0][k] = n0;
    to.image[1][k] = n1;
    to.image[2][k] = n2;
    z[k] = square * (dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k]);
    t[k] = z[k] * (2 / far) - 1;
  }
  sum_series(derivative_, t, to.derivative);
  if (values) sum_series(value_, t, to.value);
  if (curves) sum_series(second_, t, to.second);
  for (std::size_t k = 0; k < many; ++k) {
    if (z[k] <= far) continue;
    const auto shapes = pairs::ewald_shapes(z[k]);
    to.value[k] = static_cast<double>(shapes[0]);
    to.derivative[k] = static_cast<double>(shapes[1]);
    to.second[k] = (2 * std::numbers::inv_sqrtpi * std::exp(-z[k]) - 1.5 * to.derivative[k]) / z[k];
  }
}

}  // namespace tessera::molecular
