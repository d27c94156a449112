// SPDX-License-Identifier: Apache-2.0
//
// Arrays of eight numbers and plain loops, for any processor.
#pragma once
#include "pair_kernels.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tessera::molecular::pairs {
namespace {

#define TESSERA_LANE [[gnu::always_inline]] static inline

template <class X>
struct Eight {
  std::array<X, 8> v{};
  X& operator[](int k) { return v[static_cast<std::size_t>(k)]; }
  const X& operator[](int k) const { return v[static_cast<std::size_t>(k)]; }
  friend Eight operator+(Eight a, const Eight& b) {
    for (int k = 0; k < 8; ++k) a[k] += b[k];
    return a;
  }
  friend Eight operator-(Eight a, const Eight& b) {
    for (int k = 0; k < 8; ++k) a[k] -= b[k];
    return a;
  }
  friend Eight operator*(Eight a, const Eight& b) {
    for (int k = 0; k < 8; ++k) a[k] *= b[k];
    return a;
  }
  friend Eight operator/(Eight a, const Eight& b) {
    for (int k = 0; k < 8; ++k) a[k] /= b[k];
    return a;
  }
  Eight operator-() const {
    Eight a;
    for (int k = 0; k < 8; ++k) a[k] = -v[static_cast<std::size_t>(k)];
    return a;
  }
};
template <class X>
Eight<X> eight(const X* p) {
  Eight<X> r;
  for (int k = 0; k < 8; ++k) r[k] = p[k];
  return r;
}
template <class X>
Eight<X> eight_of(X x) {
  Eight<X> r;
  r.v.fill(x);
  return r;
}

/// Number, position and sum of either precision.
template <class Real>
struct Plain {
  static constexpr bool single = sizeof(Real) == 4;
  using N = Real;
  using Position = std::conditional_t<single, std::int32_t, double>;
  using Sum = std::conditional_t<single, std::int32_t, std::int64_t>;
  using Bits = std::conditional_t<single, std::uint32_t, std::uint64_t>;
  using V = Eight<Real>;
  using P = Eight<Position>;
  using I = Eight<Bits>;  // sums wrap
  using T = Eight<std::int32_t>;
  using M = Eight<std::uint8_t>;
  static constexpr int rows = 1, halves = 1;
  static constexpr bool lean = true;

  TESSERA_LANE V set(N v) { return eight_of(v); }
  TESSERA_LANE I nothing() { return {}; }
  TESSERA_LANE V fma(V a, const V& b, const V& c) {
    for (int k = 0; k < 8; ++k) a[k] = std::fma(a[k], b[k], c[k]);
    return a;
  }
  TESSERA_LANE V larger(V a, const V& b) {
    for (int k = 0; k < 8; ++k) a[k] = a[k] > b[k] ? a[k] : b[k];
    return a;
  }
  TESSERA_LANE P position_i(const Position* p, int v) { return eight_of(p[v]); }
  TESSERA_LANE V number_i(const N* p, int v) { return eight_of(p[v]); }
  TESSERA_LANE P position_j(const Position* p) { return eight(p); }
  TESSERA_LANE V number_j(const N* p) { return eight(p); }
  TESSERA_LANE V apart(const P& a, const P& b) {
    V d;
    for (int k = 0; k < 8; ++k) {
      if constexpr (single) {
        d[k] = static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(a[k]) -
                                                            static_cast<std::uint32_t>(b[k])));
      } else {
        const double x = a[k] - b[k];
        d[k] = x - std::nearbyint(x);
      }
    }
    return d;
  }
  TESSERA_LANE void inverses(const V& s, V& over, V& y) {
    y = set(1) / s;
    for (int k = 0; k < 8; ++k) over[k] = y[k] * std::sqrt(s[k]);
  }
  TESSERA_LANE M below(const V& a, const V& b) {
    M m;
    for (int k = 0; k < 8; ++k) m[k] = a[k] < b[k];
    return m;
  }
  TESSERA_LANE M below(const V& a, const V& b, std::uint32_t mask, int v, int) {
    M m;
    for (int k = 0; k < 8; ++k)
      m[k] = static_cast<std::uint8_t>((a[k] < b[k]) & (mask >> (8 * v + k) & 1U));
    return m;
  }
  TESSERA_LANE V only(const M& m, V v) {
    for (int k = 0; k < 8; ++k) v[k] = m[k] ? v[k] : N(0);
    return v;
  }
  TESSERA_LANE I worse(I w, const V& f) {
    for (int k = 0; k < 8; ++k) {
      const Bits b = std::bit_cast<Bits>(f[k]) << 1;
      w[k] = b > w[k] ? b : w[k];
    }
    return w;
  }
  TESSERA_LANE bool any_beyond(const I& w, N limit) {
    bool any = false;
    for (int k = 0; k < 8; ++k) any |= w[k] > std::bit_cast<Bits>(limit) << 1;
    return any;
  }
  TESSERA_LANE I fixed(const V& v) {
    I r;
    for (int k = 0; k < 8; ++k) {
      if constexpr (single)
        r[k] = static_cast<Bits>(
            static_cast<std::int64_t>(std::nearbyint(std::abs(v[k]) < 4e9F ? v[k] : 0.0F)));
      else
        r[k] = std::bit_cast<Bits>(v[k] + 6755399441055744.0) -
               std::bit_cast<Bits>(6755399441055744.0);
    }
    return r;
  }
  TESSERA_LANE I plus(const I& a, const I& b) { return a + b; }
  TESSERA_LANE Sum sum(const I& f) {
    Bits s = 0;
    for (const Bits b : f.v) s += b;
    return static_cast<Sum>(s);
  }
  TESSERA_LANE void take(Sum* p, const I& f) {
    for (int k = 0; k < 8; ++k) p[k] = static_cast<Sum>(static_cast<Bits>(p[k]) - f[k]);
  }
  TESSERA_LANE void give(Sum* p, const I& f) { *p = wrapped(*p, sum(f)); }
  TESSERA_LANE T no_type() { return {}; }
  TESSERA_LANE T row_of(const std::int32_t* type, std::int32_t types, int v) {
    return eight_of(types * type[v]);
  }
  TESSERA_LANE T type_j(const std::int32_t* type) { return eight(type); }
  TESSERA_LANE T entry(const T& row, const T& type) { return row + type; }
  TESSERA_LANE V pick(const N* table, const T& at) {
    V r;
    for (int k = 0; k < 8; ++k) r[k] = table[at[k]];
    return r;
  }
};

/// All 32 pairs of two clusters as 16-bit numbers, in the order of an entry's mask.
struct PlainCoarse {
  using V = std::array<std::int16_t, 32>;
  template <class F>
  TESSERA_LANE V each(F&& f) {
    V r;
    for (std::size_t k = 0; k < r.size(); ++k) r[k] = static_cast<std::int16_t>(f(k));
    return r;
  }
  TESSERA_LANE V set(std::int16_t v) {
    return each([&](std::size_t) { return v; });
  }
  TESSERA_LANE V each_i(const std::int16_t* p) {
    return each([&](std::size_t k) { return p[k / 8]; });
  }
  TESSERA_LANE V each_j(const std::int16_t* p) {
    return each([&](std::size_t k) { return p[k % 8]; });
  }
  TESSERA_LANE V plus(const V& a, const V& b) {
    return each([&](std::size_t k) { return a[k] + b[k]; });
  }
  TESSERA_LANE V minus(const V& a, const V& b) {
    return each([&](std::size_t k) { return a[k] - b[k]; });
  }
  TESSERA_LANE V scaled(const V& a, const V& scale) {
    return each([&](std::size_t k) { return (a[k] * scale[k] + 0x4000) >> 15; });
  }
  TESSERA_LANE V square(const V& a) {
    return each([&](std::size_t k) { return a[k] * a[k] >> 16; });
  }
  TESSERA_LANE std::uint32_t within(const V& sum, std::uint16_t limit) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < sum.size(); ++k)
      bits |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(sum[k]) <= limit) << k;
    return bits;
  }
};

}  // namespace
}  // namespace tessera::molecular::pairs
