// SPDX-License-Identifier: Apache-2.0
//
// Potentials of one internal coordinate q, with the rows of system.h as parameters p. Each is one
// formula for every number type: double, dual numbers (their derivatives), tensors (the oracle).
#pragma once
#include "base/dual.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cmath>
#include <numbers>

namespace tessera::molecular {

inline Tensor whole(const Tensor& x) { return round(x); }
inline Tensor positive(const Tensor& x) { return maximum(x, 0.0); }

struct Harmonic {
  static constexpr int parameters = 2;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 2>& p) {
    const T x = q - p[0];
    return 0.5 * (p[1] * (x * x));
  }
};

struct Periodic {
  static constexpr int parameters = 3;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 3>& p) {
    using std::cos;
    return p[1] * (1.0 + cos(p[2] * q - p[0]));
  }
  static constexpr int most_turns = 6;
  /// The same, and its derivative, where p[2] is whole and at most `most`: of z = e^{i q} and the
  /// phase's e^{i p_0}, by powers of z.
  template <class T>
  static std::array<T, 2> of_circle(const std::array<T, 2>& z, const std::array<T, 3>& p,
                                    const std::array<T, 2>& phase, int most) {
    T c = phase[0], s = -phase[1];  // e^{i (n q - p_0)}
    for (int k = 0; k < most; ++k) {
      const auto further = T(k) < p[2];
      const T next = c * z[0] - s * z[1];
      s = where(further, c * z[1] + s * z[0], s);
      c = where(further, next, c);
    }
    return {p[1] * (1.0 + c), -p[1] * p[2] * s};
  }
};

struct HarmonicImproper {
  static constexpr int parameters = 2;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 2>& p) {
    constexpr double turn = 2 * std::numbers::pi;
    const T away = q - p[0], x = away - turn * whole(away / turn);
    return 0.5 * (p[1] * (x * x));
  }
};

struct RyckaertBellemansForm {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 6>& p) {
    using std::cos;
    const T c = -cos(q);  // cos(phi - pi)
    return p[0] + c * (p[1] + c * (p[2] + c * (p[3] + c * (p[4] + c * p[5]))));
  }
};

struct FlatBottom {
  static constexpr int parameters = 3;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 3>& p) {
    const T below = positive(p[0] - q), above = positive(q - p[1]);
    return 0.5 * (p[2] * (below * below + above * above));
  }
};

/// p = {c6, c12, f, qq, q_i, q_j}; the Coulomb constant is put into f and qq.
struct ScaledLennardJones {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& r, const std::array<S, 6>& p) {
    const T inverse = 1.0 / (r * r), inverse6 = inverse * inverse * inverse;
    return inverse6 * (p[1] * inverse6 - p[0]);
  }
};
struct ScaledCoulomb {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& r, const std::array<S, 6>& p) {
    return (p[2] * p[4] * p[5] + p[3]) / r;
  }
};

}  // namespace tessera::molecular
