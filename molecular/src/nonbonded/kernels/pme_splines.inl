// SPDX-License-Identifier: Apache-2.0
//
// Weights of atoms on the grid, those of a batch of atoms at a time (splines.h).
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t batch = 16;  // atoms whose splines are made at once

/// Weights of a batch of atoms: point j of axis a has value[a][j][atom] (splines.h), and along z
/// also rows[derivative][atom][j].
template <class T, int P>
struct BatchSplines {
  alignas(64) T value[3][P][batch];
  alignas(64) T derivative[3][P][batch];
  alignas(64) T curve[3][P][batch];
  alignas(64) T rows[3][batch][8] = {};

  /// Those of up to `batch` atoms from `begin` on, derivatives up to `order`; how many. Not
  /// inlined: the four steps that take them share its code.
  HWY_NOINLINE std::size_t take(std::span<const PmeAtom<T>> atoms, std::size_t begin, int order) {
    const std::size_t many = std::min(batch, atoms.size() - begin);
    for (std::size_t i = 0; i < many; ++i)
      for (std::size_t a = 0; a < 3; ++a) w_[a][i] = atoms[begin + i].w[a];
    make(w_, order);
    turn(value[2], rows[0]);
    if (order > 0) turn(derivative[2], rows[1]);
    if (order > 1) turn(curve[2], rows[2]);
    return many;
  }

 private:
  alignas(64) T w_[3][batch] = {};

  static HWY_INLINE void turn(const T (*from)[batch], T (*to)[8]) {
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < static_cast<std::size_t>(P); ++j) to[i][j] = from[j][i];
  }

  /// Derivatives up to `order`.
  HWY_INLINE void make(const T (*w)[batch], int order) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t at = 0; at < batch; at += hn::Lanes(d)) {
        const V u = hn::Load(d, w[a] + at), one = hn::Set(d, T(1));
        V m[P];
        m[0] = u;
        m[1] = hn::Sub(one, u);
#pragma GCC unroll 8
        for (int p = 3; p <= P; ++p) {
          if (p == P - 1 && order > 1) {
            // M_p''(u + k) = M_{p-2}(u + k) - 2 M_{p-2}(u + k - 1) + M_{p-2}(u + k - 2)
#pragma GCC unroll 8
            for (int k = 0; k < P; ++k) {
              V sum = k < P - 2 ? m[k] : hn::Zero(d);
              if (k > 0 && k < P - 1) sum = hn::Sub(sum, hn::Add(m[k - 1], m[k - 1]));
              if (k > 1) sum = hn::Add(sum, m[k - 2]);
              hn::Store(sum, d, curve[a][P - 1 - k] + at);
            }
          }
          if (p == P && order > 0) {
            // M_p' (u + k) = M_{p-1}(u + k) - M_{p-1}(u + k - 1)
            hn::Store(m[0], d, derivative[a][P - 1] + at);
#pragma GCC unroll 8
            for (int k = 1; k < P - 1; ++k)
              hn::Store(hn::Sub(m[k], m[k - 1]), d, derivative[a][P - 1 - k] + at);
            hn::Store(hn::Neg(m[P - 2]), d, derivative[a][0] + at);
          }
          const V scale = hn::Set(d, T(1) / static_cast<T>(p - 1));
          m[p - 1] = hn::Mul(hn::Mul(hn::Sub(one, u), m[p - 2]), scale);
#pragma GCC unroll 8
          for (int k = p - 2; k > 0; --k)
            m[k] = hn::Mul(
                hn::MulAdd(hn::Add(u, hn::Set(d, static_cast<T>(k))), m[k],
                           hn::Mul(hn::Sub(hn::Set(d, static_cast<T>(p - k)), u), m[k - 1])),
                scale);
          m[0] = hn::Mul(hn::Mul(u, m[0]), scale);
        }
#pragma GCC unroll 8
        for (int k = 0; k < P; ++k) hn::Store(m[k], d, value[a][P - 1 - k] + at);
      }
  }
};

/// Rows along z are taken W points at a time: weights beyond the order are zero.
template <class T, int P>
struct RowOf {
  static constexpr std::size_t lanes = std::is_same_v<T, float> && P > 4 ? 8 : 4;
  static constexpr std::size_t steps = (P + lanes - 1) / lanes;
  using D = hn::FixedTag<T, lanes>;
};

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
