// SPDX-License-Identifier: Apache-2.0
//
// The loops over a row of edges, without branches: the plain update, and the absorbing layers along
// a row, across it and at its ends.
#pragma once
#include "tessera/autodiff/vectors.h"
#include "time_domain/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tessera::electromagnetics::time_domain {

/// The layer along y or z that a row lies in: with D = +-(difference), psi' = b psi + c D, and psi'
/// + m D goes to the bracket.
template <class T>
struct RowLayer {
  T* psi;
  T b, c, m;
};

/// What an update adds to the bracket: nothing, the layers of its first and second difference, or
/// numbers made before.
enum class Adds { nothing, first, second, both, extra };

/// What one row of one component needs: offsets as in ComponentTable.
template <class T>
struct RowUpdate {
  T* field;
  const T *factor, *keep, *extra;
  const T *p, *q, *r, *t;
  const T *next_field, *next_factor;  ///< of the rows that come next, fetched meanwhile; null: none
  T scale;
  RowLayer<T> first, second;
  int n;  ///< a multiple of kLine / sizeof(T); beyond the edges of the component the factor is zero
};

/// f <- keep f + scale factor ((p - q) - (r - t) + added), one pass.
template <class T, bool with_keep, Adds adds>
[[gnu::always_inline]] inline void update_body(const RowUpdate<T>& u) {
  T* f = u.field;
  T *psi = u.first.psi, *psi2 = u.second.psi;
  const T *factor = u.factor, *keep = u.keep, *extra = u.extra;
  const T *p = u.p, *q = u.q, *r = u.r, *t = u.t;
  const T scale = u.scale, b = u.first.b, c = u.first.c, m = u.first.m, b2 = u.second.b,
          c2 = u.second.c, m2 = u.second.m;
  const int n = u.n & ~(kLine / static_cast<int>(sizeof(T)) - 1);
  for (const T* next : {u.next_field, u.next_factor})
    if (next)
      for (int i = 0; i < n; i += kLine / static_cast<int>(sizeof(T))) __builtin_prefetch(next + i);
#pragma GCC ivdep  // the rows are distinct, or read only
  for (int i = 0; i < n; ++i) {
    const T first = p[i] - q[i], second = r[i] - t[i];
    T bracket = first - second;
    if constexpr (adds == Adds::first || adds == Adds::both) {
      psi[i] = b * psi[i] + c * first;
      bracket += psi[i] + m * first;
    }
    if constexpr (adds == Adds::second || adds == Adds::both) {
      psi2[i] = b2 * psi2[i] - c2 * second;
      bracket += psi2[i] - m2 * second;
    }
    if constexpr (adds == Adds::extra) bracket += extra[i];
    const T old = with_keep ? keep[i] * f[i] : f[i];
    f[i] = old + (scale * factor[i]) * bracket;
  }
}

/// Forward, along x: the ends of a row, where b, c and m vary along it. To `out` goes psi' + m D,
/// weighted like a bracket or not.
template <class T>
struct EndsUpdate {
  T *out, *psi;
  const T *factor, *hi, *lo, *b, *c, *m;
  T scale, sign;
  int low_begin, low_end, high_begin, high_end;
};
template <class T, bool weighted>
[[gnu::always_inline]] inline void ends_body(const EndsUpdate<T>& u) {
  T *out = u.out, *psi = u.psi - u.low_begin;
  const T *factor = u.factor, *hi = u.hi, *lo = u.lo, *b = u.b, *c = u.c, *m = u.m;
  const T scale = u.scale, sign = u.sign;
  for (const auto& [begin, end] :
       {std::pair{u.low_begin, u.low_end}, std::pair{u.high_begin, u.high_end}}) {
#pragma GCC ivdep
    for (int i = begin; i < end; ++i) {
      const T d = sign * (hi[i] - lo[i]);
      psi[i] = b[i] * psi[i] + c[i] * d;
      const T added = psi[i] + m[i] * d;
      out[i] += weighted ? (scale * factor[i]) * added : added;
    }
    psi -= u.high_begin - u.low_end;
  }
}

/// Transposed, along x: at the ends of a row, of which F is the source of the difference, tau <- b
/// tau + F; then v = +-(m F + c tau) goes to the brackets of the edges that it is the upper side
/// of, and from those it is the lower side of: edges i - above and i - above + 1. `v` has room for
/// the row and one more at both of its ends.
template <class T>
struct EndsBack {
  T *out, *v, *tau;
  const T *factor, *source, *b, *c, *m;
  T scale, sign;
  int low_begin, low_end, high_begin, high_end;
  int above, first, last;
};
template <class T, bool weighted>
[[gnu::always_inline]] inline void back_body(const EndsBack<T>& u) {
  T *out = u.out, *v = u.v, *tau = u.tau - u.low_begin;
  const T *source = u.source, *b = u.b, *c = u.c, *m = u.m, *factor = u.factor;
  const T scale = u.scale, sign = u.sign;
  for (const auto& [begin, end] :
       {std::pair{u.low_begin, u.low_end}, std::pair{u.high_begin, u.high_end}}) {
    v[begin - 1] = v[end] = 0;
#pragma GCC ivdep
    for (int i = begin; i < end; ++i) {
      tau[i] = b[i] * tau[i] + source[i];
      v[i] = sign * (m[i] * source[i] + c[i] * tau[i]);
    }
    const T* upper = v + u.above;
    const int from = std::max(u.first, begin - u.above), to = std::min(u.last, end - u.above + 1);
#pragma GCC ivdep
    for (int i = from; i < to; ++i)
      out[i] +=
          weighted ? (scale * factor[i]) * (upper[i] - upper[i - 1]) : upper[i] - upper[i - 1];
    tau -= u.high_begin - u.low_end;
  }
}

/// The same instructions in the registers of the build and in those of 512 bits: the bits do not
/// depend on the width.
template <class T, bool with_keep, Adds adds>
void update(const RowUpdate<T>& u) {
  update_body<T, with_keep, adds>(u);
}
template <class T, bool with_keep, Adds adds>
[[gnu::target("arch=x86-64-v4")]] void update_wide(const RowUpdate<T>& u) {
  update_body<T, with_keep, adds>(u);
}
template <class T, bool weighted>
void ends(const EndsUpdate<T>& u) {
  ends_body<T, weighted>(u);
}
template <class T, bool weighted>
[[gnu::target("arch=x86-64-v4")]] void ends_wide(const EndsUpdate<T>& u) {
  ends_body<T, weighted>(u);
}

template <class T, bool weighted>
void ends_back(const EndsBack<T>& u) {
  back_body<T, weighted>(u);
}
template <class T, bool weighted>
[[gnu::target("arch=x86-64-v4")]] void ends_back_wide(const EndsBack<T>& u) {
  back_body<T, weighted>(u);
}

template <class T>
struct Kernels {
  std::array<std::array<void (*)(const RowUpdate<T>&), 5>, 2> update;  ///< [with_keep][Adds]
  std::array<void (*)(const EndsUpdate<T>&), 2> ends;                  ///< [weighted]
  std::array<void (*)(const EndsBack<T>&), 2> back;                    ///< [weighted]
};
template <class T>
const Kernels<T>& kernels() {
  static const bool wide = vector_bits() == 512;
  const auto updates = []<bool keep>() {
    const auto one = []<Adds adds>() {
      return wide ? &update_wide<T, keep, adds> : &update<T, keep, adds>;
    };
    return std::array{
        one.template operator()<Adds::nothing>(), one.template operator()<Adds::first>(),
        one.template operator()<Adds::second>(), one.template operator()<Adds::both>(),
        one.template operator()<Adds::extra>()};
  };
  static const Kernels<T> chosen{
      {updates.template operator()<false>(), updates.template operator()<true>()},
      {wide ? &ends_wide<T, false> : &ends<T, false>, wide ? &ends_wide<T, true> : &ends<T, true>},
      {wide ? &ends_back_wide<T, false> : &ends_back<T, false>,
       wide ? &ends_back_wide<T, true> : &ends_back<T, true>}};
  return chosen;
}

/// Forward, along y or z, where numbers are made before the update.
template <class T>
inline void layer_row(T* __restrict extra, const RowLayer<T>& l, const T* __restrict hi,
                      const T* __restrict lo, T sign, int n) {
  T* __restrict psi = l.psi;
  for (int i = 0; i < n; ++i) {
    const T d = sign * (hi[i] - lo[i]);
    psi[i] = l.b * psi[i] + l.c * d;
    extra[i] += psi[i] + l.m * d;
  }
}

/// Transposed, along y or z: tau <- b tau + F, and m F + c tau to the brackets on one side of the
/// difference.
template <class T>
inline void convolve_row(T* __restrict tau, const T* __restrict source, T b, int n) {
  for (int i = 0; i < n; ++i) tau[i] = b * tau[i] + source[i];
}
template <class T>
inline void back_row(T* __restrict extra, const T* __restrict source, const T* __restrict tau, T m,
                     T c, int n) {
  for (int i = 0; i < n; ++i) extra[i] += m * source[i] + c * tau[i];
}

}  // namespace tessera::electromagnetics::time_domain
