// SPDX-License-Identifier: Apache-2.0
//
// line_fft.h with Highway: read once for every set of instructions that foreach_target.h goes
// through, hence without #pragma once.
#include "nonbonded/kernels/line_fft.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Z {
  V re, im;
};
template <class V>
HWY_INLINE Z<V> operator+(const Z<V>& a, const Z<V>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Z<V> operator-(const Z<V>& a, const Z<V>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
/// -i a
template <class V>
HWY_INLINE Z<V> turned(const Z<V>& a) {
  return {a.im, hn::Neg(a.re)};
}

/// Where elements of lines are: element k of all lanes at re + k stride, im + k stride.
template <class T>
struct Lines {
  T *re, *im;
  std::size_t stride;
};

template <class V>
HWY_INLINE void transform2(Z<V>* a) {
  const Z<V> b = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = b;
}
template <class V>
HWY_INLINE void transform4(Z<V>& a0, Z<V>& a1, Z<V>& a2, Z<V>& a3) {
  const Z<V> s = a0 + a2, d = a0 - a2, t = a1 + a3, e = turned(a1 - a3);
  a0 = s + t;
  a1 = d + e;
  a2 = s - t;
  a3 = d - e;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transform8(D d, Z<V>* a) {
  // Even and odd elements by fours, then twos with e^{-2 pi i k/8}.
  transform4(a[0], a[2], a[4], a[6]);
  transform4(a[1], a[3], a[5], a[7]);
  const V c = hn::Set(d, static_cast<hn::TFromD<D>>(0.70710678118654752440));
  const Z<V> o1 = {hn::Mul(c, hn::Add(a[3].re, a[3].im)), hn::Mul(c, hn::Sub(a[3].im, a[3].re))};
  const Z<V> o2 = turned(a[5]);
  const Z<V> o3 = {hn::Mul(c, hn::Sub(a[7].im, a[7].re)),
                   hn::Neg(hn::Mul(c, hn::Add(a[7].re, a[7].im)))};
  const Z<V> e0 = a[0], e1 = a[2], e2 = a[4], e3 = a[6], o0 = a[1];
  a[0] = e0 + o0;
  a[1] = e1 + o1;
  a[2] = e2 + o2;
  a[3] = e3 + o3;
  a[4] = e0 - o0;
  a[5] = e1 - o1;
  a[6] = e2 - o2;
  a[7] = e3 - o3;
}
/// Any odd length: with s_j = a_j + a_{r-j}, d_j = a_j - a_{r-j}, b_k and b_{r-k} are
/// a_0 + sum_j cos(2 pi jk/r) s_j -+ i sum_j sin(2 pi jk/r) d_j.
template <int R, class D, class T, class V = hn::Vec<D>>
HWY_INLINE void transform_odd(D d, Z<V>* a, const T* roots) {
  constexpr int h = (R - 1) / 2;
  Z<V> s[h], t[h];
  const Z<V> a0 = a[0];
#pragma GCC unroll 8
  for (int j = 1; j <= h; ++j) {
    s[j - 1] = a[j] + a[R - j];
    t[j - 1] = a[j] - a[R - j];
    a[0] = a[0] + s[j - 1];
  }
#pragma GCC unroll 8
  for (int k = 1; k <= h; ++k) {
    Z<V> u = a0, v = {hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 8
    for (int j = 1; j <= h; ++j) {
      const V c = hn::Set(d, roots[2 * (j * k % R)]), n = hn::Set(d, roots[2 * (j * k % R) + 1]);
      u = {hn::MulAdd(c, s[j - 1].re, u.re), hn::MulAdd(c, s[j - 1].im, u.im)};
      v = {hn::MulAdd(n, t[j - 1].re, v.re), hn::MulAdd(n, t[j - 1].im, v.im)};
    }
    const Z<V> w = turned(v);
    a[k] = u + w;
    a[R - k] = u - w;
  }
}

template <int R, class D, class T = hn::TFromD<D>>
HWY_INLINE void factor_step(D d, const typename LineFft<T>::Factor& f, const T* table,
                            const Lines<const T>& x, const Lines<T>& y) {
  using V = hn::Vec<D>;
  for (std::size_t p = 0; p < f.m; ++p) {
    const T* const w = table + f.twiddles + 2 * (R - 1) * p;
    for (std::size_t q = 0; q < f.s; ++q) {
      Z<V> a[R];
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) {
        const std::size_t at = (q + f.s * (p + f.m * static_cast<std::size_t>(j))) * x.stride;
        a[j] = {hn::LoadU(d, x.re + at), hn::LoadU(d, x.im + at)};
      }
      if constexpr (R == 2)
        transform2(a);
      else if constexpr (R == 4)
        transform4(a[0], a[1], a[2], a[3]);
      else if constexpr (R == 8)
        transform8(d, a);
      else
        transform_odd<R>(d, a, table + f.roots);
      const std::size_t to = (q + f.s * R * p) * y.stride, step = f.s * y.stride;
      hn::StoreU(a[0].re, d, y.re + to);
      hn::StoreU(a[0].im, d, y.im + to);
#pragma GCC unroll 16
      for (int k = 1; k < R; ++k) {
        const std::size_t at = to + static_cast<std::size_t>(k) * step;
        Z<V> b = a[k];
        if (p > 0) {
          const V c = hn::Set(d, w[2 * (k - 1)]), n = hn::Set(d, w[2 * (k - 1) + 1]);
          b = {hn::NegMulAdd(n, b.im, hn::Mul(c, b.re)), hn::MulAdd(n, b.re, hn::Mul(c, b.im))};
        }
        hn::StoreU(b.re, d, y.re + at);
        hn::StoreU(b.im, d, y.im + at);
      }
    }
  }
}
/// A factor of any size, in r^2 products.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void factor_step(D d, const typename LineFft<T>::Factor& f, const T* table,
                            const Lines<const T>& x, const Lines<T>& y) {
  using V = hn::Vec<D>;
  for (std::size_t p = 0; p < f.m; ++p)
    for (std::size_t q = 0; q < f.s; ++q)
      for (std::size_t k = 0; k < f.r; ++k) {
        V re = hn::Zero(d), im = hn::Zero(d);
        const auto add = [&](V xr, V xi, T cosine, T sine) HWY_ATTR {  // times cosine + i sine
          const V c = hn::Set(d, cosine), n = hn::Set(d, sine);
          re = hn::NegMulAdd(n, xi, hn::MulAdd(c, xr, re));
          im = hn::MulAdd(n, xr, hn::MulAdd(c, xi, im));
        };
        for (std::size_t j = 0; j < f.r; ++j) {
          const std::size_t at = (q + f.s * (p + f.m * j)) * x.stride;
          const T* const root = table + f.roots + 2 * (j * k % f.r);
          add(hn::LoadU(d, x.re + at), hn::LoadU(d, x.im + at), root[0], -root[1]);
        }
        if (k > 0) {
          const T* const w = table + f.twiddles + 2 * ((f.r - 1) * p + k - 1);
          const V xr = re, xi = im;
          re = im = hn::Zero(d);
          add(xr, xi, w[0], w[1]);
        }
        const std::size_t at = (q + f.s * (f.r * p + k)) * y.stride;
        hn::StoreU(re, d, y.re + at);
        hn::StoreU(im, d, y.im + at);
      }
}

/// From x to y, which may be the same lines; `scratch` holds 4 n vectors.
template <class D, class T = hn::TFromD<D>>
HWY_NOINLINE void transform_lines(D d, const LineFft<T>& plan, Lines<const T> x, const Lines<T>& y,
                                  T* scratch) {
  const std::size_t lanes = hn::Lanes(d), block = plan.n * lanes;
  const std::array<Lines<T>, 2> held = {
      {{scratch, scratch + block, lanes}, {scratch + 2 * block, scratch + 3 * block, lanes}}};
  if (plan.factors.empty()) {
    hn::StoreU(hn::LoadU(d, x.re), d, y.re);
    hn::StoreU(hn::LoadU(d, x.im), d, y.im);
    return;
  }
  const bool whole =
      plan.factors.size() == 1 && plan.factors[0].r > 13;  // reads what it has written
  for (std::size_t k = 0; k < plan.factors.size(); ++k) {
    const auto& f = plan.factors[k];
    const bool last = k + 1 == plan.factors.size() && !whole;
    const Lines<T> to = last ? y : held[k % 2];
    const T* const table = plan.table.data();
    switch (f.r) {
      case 2:
        factor_step<2>(d, f, table, x, to);
        break;
      case 3:
        factor_step<3>(d, f, table, x, to);
        break;
      case 4:
        factor_step<4>(d, f, table, x, to);
        break;
      case 5:
        factor_step<5>(d, f, table, x, to);
        break;
      case 7:
        factor_step<7>(d, f, table, x, to);
        break;
      case 8:
        factor_step<8>(d, f, table, x, to);
        break;
      case 11:
        factor_step<11>(d, f, table, x, to);
        break;
      case 13:
        factor_step<13>(d, f, table, x, to);
        break;
      default:
        factor_step(d, f, table, x, to);
    }
    x = {to.re, to.im, to.stride};
  }
  if (!whole) return;
  for (std::size_t k = 0; k < plan.n; ++k) {
    hn::StoreU(hn::LoadU(d, x.re + k * x.stride), d, y.re + k * y.stride);
    hn::StoreU(hn::LoadU(d, x.im + k * x.stride), d, y.im + k * y.stride);
  }
}

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
