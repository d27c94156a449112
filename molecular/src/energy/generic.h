// SPDX-License-Identifier: Apache-2.0
//
// Geometry in engine operations, for the generic forms of energies.
#pragma once
#include "tessera/autodiff/ops.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace tessera::molecular::generic {

/// Component a of a list of vectors [.., 3].
inline Tensor part(const Tensor& v, int a) { return select(v, -1, a); }

/// d - k h with every fraction in [-1/2, 1/2); the image k is constant under differentiation.
/// Without periodicity (h = 0), d.
inline Tensor wrapped(const Tensor& d, const Tensor& h) {
  const auto entry = [&](int a, int b) { return select(select(h, 0, a), 0, b); };
  const auto edge = [&](int a) {
    return where(equal(entry(a, a), 0.0), std::numeric_limits<double>::infinity(), entry(a, a));
  };
  const Tensor s2 = part(d, 2) / edge(2);
  const Tensor s1 = (part(d, 1) - s2 * entry(2, 1)) / edge(1);
  const Tensor s0 = (part(d, 0) - s1 * entry(1, 0) - s2 * entry(2, 0)) / edge(0);
  return d - matmul(floor(stack({s0, s1, s2}, -1) + 0.5), h);
}
/// Displacements x_i - x_j [m, 3] of the nearest images.
inline Tensor displacement(const Tensor& x, const Tensor& h, const Tensor& i, const Tensor& j) {
  return wrapped(take(x, i) - take(x, j), h);
}
inline Tensor indices(const std::vector<std::int32_t>& values) { return tensor(values); }

inline Tensor dot(const Tensor& a, const Tensor& b) { return sum(a * b, {-1}); }
inline Tensor cross(const Tensor& a, const Tensor& b) {
  return stack({part(a, 1) * part(b, 2) - part(a, 2) * part(b, 1),
                part(a, 2) * part(b, 0) - part(a, 0) * part(b, 2),
                part(a, 0) * part(b, 1) - part(a, 1) * part(b, 0)},
               -1);
}
/// The dihedral [m] of displacements F = x0 - x1, G = x1 - x2, H = x3 - x2: with b1 = -F, b2 = -G,
/// b3 = H it is atan2(|b2| b1.(b2 x b3), (b1 x b2).(b2 x b3)).
inline Tensor dihedral(const Tensor& f, const Tensor& g, const Tensor& h) {
  const Tensor b1 = -f, b2 = -g, n = cross(b2, h);
  return atan2(sqrt(dot(b2, b2)) * dot(b1, n), dot(cross(b1, b2), n));
}

}  // namespace tessera::molecular::generic
