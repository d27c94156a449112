// SPDX-License-Identifier: Apache-2.0
//
// Cardinal B-splines: M_2(u) = 1 - |u - 1| on [0, 2],
//   M_p(u) = (u M_{p-1}(u) + (p - u) M_{p-1}(u - 1))/(p - 1),
//   M_p'(u) = M_{p-1}(u) - M_{p-1}(u - 1).
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace tessera::molecular {

inline constexpr int most_pme_order = 8;

/// A particle at u touches the points first, first + 1, ..., first + p - 1 with weight M(u - g);
/// point j of the list is g = first + j.
struct SplineWeights {
  std::int64_t first = 0;
  std::array<double, most_pme_order> m{}, d{}, dd{};  ///< M, M', M''
};

/// All values M_p(w + k), k = 0 ... p - 1, for 0 <= w < 1.
inline void spline_values(int order, double w, double* m) {
  m[0] = w;  // M_2(w) = w, M_2(w + 1) = 1 - w
  m[1] = 1 - w;
  for (int p = 3; p <= order; ++p) {
    const double scale = 1.0 / (p - 1);
    m[p - 1] = (1 - w) * m[p - 2] * scale;  // u = w + p - 1: M_{p-1}(u) = 0
    for (int k = p - 2; k > 0; --k) m[k] = ((w + k) * m[k] + (p - w - k) * m[k - 1]) * scale;
    m[0] = w * m[0] * scale;
  }
}

inline SplineWeights spline_weights(int order, double u) {
  const double floor = std::floor(u), w = u - floor;
  SplineWeights s;
  s.first = static_cast<std::int64_t>(floor) - order + 1;
  double full[most_pme_order], lower[most_pme_order + 1] = {}, least[most_pme_order + 2] = {};
  spline_values(order, w, full);
  spline_values(order - 1, w, lower);
  if (order > 3)
    spline_values(order - 2, w, least);
  else
    least[0] = 1;  // M_1
  for (int k = 0; k < order; ++k) {
    // Point g = first + j has u - g = w + k with k = order - 1 - j.
    const auto j = static_cast<std::size_t>(order - 1 - k);
    const auto at = [&](const double* m, int i, int n) { return i >= 0 && i < n ? m[i] : 0.0; };
    s.m[j] = full[k];
    s.d[j] = at(lower, k, order - 1) - at(lower, k - 1, order - 1);
    s.dd[j] =
        at(least, k, order - 2) - 2 * at(least, k - 1, order - 2) + at(least, k - 2, order - 2);
  }
  return s;
}

/// |sum_j M(j + 1) e^{2 pi i n j/K}|^2 of the waves n = 0 ... K - 1. Splines of odd order see
/// nothing of n = K/2: zero there.
inline std::vector<double> spline_moduli(int order, int points) {
  double m[most_pme_order];
  spline_values(order, 0, m);  // M(k), k = 0 ... p - 1
  std::vector<double> out;
  for (int n = 0; n < points; ++n) {
    std::complex<double> sum = 0;
    for (int j = 0; j <= order - 2; ++j)
      sum += m[j + 1] * std::polar(1.0, 2 * std::numbers::pi * (n * j % points) / points);
    out.push_back(std::norm(sum));
  }
  return out;
}

}  // namespace tessera::molecular
