// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

namespace tessera::molecular {

/// u = k/2 (q - q0)^2 of a length q, p = {q0, k}.
struct Harmonic {
  static constexpr int parameters = 2;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 2>& p) {
    const T x = q - p[0];
    return 0.5 * (p[1] * (x * x));
  }
};

}  // namespace tessera::molecular
