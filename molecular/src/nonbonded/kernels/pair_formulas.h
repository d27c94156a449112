// SPDX-License-Identifier: Apache-2.0
//
// What a pair feels: one formula for each potential, over any number type. With s = r^2 a potential
// u has f = F/r = -2 du/ds (the force over the distance) and df = df/ds = -(u'' + f)/(2 s), u'' by
// r:
//
//   r^-n/n               u = r^-n/n - shift         f = r^-n/s            u'' = (n + 1) r^-n/s
//   linear_force_shift   u - slope r                f + slope/r           u''
//   force_switch         u - x^3 (a/3 + b x/4)      f + x^2 (a + b x)/r   u'' - x (2 a + 3 b x)
//   potential_switch     r^-n/n (1 - 10 z^3 + 15 z^4 - 6 z^5), z = x/width
//   1/r                  u = 1/r + k s - shift - slope (r - rc)    f = 1/r^3 + slope/r - 2 k
//   Ewald                u = 1/r - sum_k e_k t^k - shift           f = 1/r^3 - sum_k f_k t^k
//
// x = r - from beyond `from`, else 0; the shift of linear_force_shift has its slope rc in it; t =
// scale s - 1. S says what a number is and how to compute with it: a vector of pairs (lanes_*.h),
// or a number of the host, a dual one included (host_number.h). Runs, derivatives and the tail's
// integral take these functions; tests/molecular/pair_formulas_test.cpp holds f and df against dual
// numbers of u and f. The order of operations is that of runs: their bits hang on it.
//
// f and df stand beside u although dual numbers would give them. With df from dual numbers of f the
// kernels of Hessian products take 4 to 17 % more instructions (callgrind, AVX2, 648 atoms of
// water by every option; Ewald's long series in double precision take 2 to 4 % fewer). One product
// for 12,288 atoms of water (force_switch, Ewald; AVX-512, one core) takes 5.1 instead of 4.5 ms in
// mixed, 11.6 instead of 9.7 ms in double precision.
#pragma once
#include "pair_kernels.h"

namespace tessera::molecular::pairs {

/// Of one pair: r^2, 1/r, 1/r^2.
template <class S>
struct Separation {
  typename S::V s, over, y;
};
template <class S>
struct Shape {
  typename S::V u, f, df;
};

/// sum_k c_k t^k, `terms` of them, an even number.
template <class S>
[[gnu::always_inline]] inline void even_odd(const typename S::N* c, int terms, typename S::V t,
                                            typename S::V& sum) {
  using V = typename S::V;
  const V t2 = t * t;
  V even = S::set(c[terms - 2]), odd = S::set(c[terms - 1]);
  for (int n = terms - 4; n >= 0; n -= 2) {
    even = S::fma(even, t2, S::set(c[n]));
    odd = S::fma(odd, t2, S::set(c[n + 1]));
  }
  sum = S::fma(odd, t, even);
}
/// The same of `short_terms` that stand in vectors.
template <class S>
[[gnu::always_inline]] inline typename S::V even_odd_short(const typename S::V* c,
                                                           typename S::V t) {
  using V = typename S::V;
  const V t2 = t * t;
  V even = c[short_terms - 2], odd = c[short_terms - 1];
  for (int n = short_terms - 4; n >= 0; n -= 2) {
    even = S::fma(even, t2, c[n]);
    odd = S::fma(odd, t2, c[n + 1]);
  }
  return S::fma(odd, t, even);
}

/// r^-n/n with its modifier. `energies`: u is wanted; `second`: df. A lean S has one body for all
/// modifiers.
template <class S, int n, bool modified, bool second>
[[gnu::always_inline]] inline Shape<S> power_shape(const Input<typename S::N>& in,
                                                   const ModifiedPower<typename S::N>& p,
                                                   const Separation<S>& at, bool energies) {
  using V = typename S::V;
  using N = typename S::N;
  const V y = at.y, y3 = y * y * y, power = n == 6 ? y3 : y3 * y3, inverse_n = S::set(N(1) / n);
  Shape<S> out;
  if (!modified || (S::lean && in.modifier == ForceModifier::none)) {
    if (energies) out.u = S::fma(power, inverse_n, S::set(-p.shift));
    out.f = power * y;
    if constexpr (second) out.df = out.f * y * S::set(N(-0.5 * n - 1));
    return out;
  }
  const V over = at.over, r = at.s * over;
  V by_r2;
  if (in.modifier == ForceModifier::linear_force_shift) {
    if (energies) out.u = S::fma(S::set(-p.slope), r, S::fma(power, inverse_n, S::set(-p.shift)));
    out.f = S::fma(power, y, S::set(p.slope) * over);
    if constexpr (second) by_r2 = S::set(N(n + 1)) * power * y;
  } else if (const V x = S::larger(r - S::set(in.from), S::set(N(0)));
             in.modifier == ForceModifier::force_switch) {
    const V x2 = x * x;
    if (energies)
      out.u = S::fma(x2 * x, S::fma(S::set(-p.quarter_b), x, S::set(-p.third_a)),
                     S::fma(power, inverse_n, S::set(-p.shift)));
    out.f = S::fma(power, y, x2 * S::fma(S::set(p.b), x, S::set(p.a)) * over);
    if constexpr (second)
      by_r2 = S::set(N(n + 1)) * power * y - x * S::fma(S::set(3 * p.b), x, S::set(2 * p.a));
  } else {
    const V i = S::set(in.inverse_width), w = x * i, w2 = w * w, rest = S::set(N(1)) - w;
    const V fade = S::fma(
        w2 * w, S::fma(w, S::fma(S::set(N(-6)), w, S::set(N(15))), S::set(N(-10))), S::set(N(1)));
    if (energies) out.u = power * inverse_n * fade;
    out.f = power * S::fma(y, fade, S::set(N(30) / n * in.inverse_width) * w2 * rest * rest * over);
    if constexpr (second) {
      const V fade1 = S::set(N(-30)) * w2 * rest * rest * i,
              fade2 = S::set(N(-60)) * w * rest * (rest - w) * i * i;
      by_r2 =
          power * (S::set(N(n + 1)) * y * fade - S::set(N(2)) * over * fade1 + inverse_n * fade2);
    }
  }
  if constexpr (second) out.df = S::set(N(-0.5)) * y * (by_r2 + out.f);
  return out;
}

/// Of charges whose product is 1. `t` is Ewald's; `far(t)` and `far_slope(t)` are sum_k f_k t^k and
/// its derivative by t, of Ewald's fields alone.
template <class S, Field field, bool second, class Far, class FarSlope>
[[gnu::always_inline]] inline Shape<S> coulomb_shape(const Input<typename S::N>& in,
                                                     const Separation<S>& at, typename S::V t,
                                                     bool energies, Far&& far,
                                                     FarSlope&& far_slope) {
  using V = typename S::V;
  using N = typename S::N;
  const V s = at.s, over = at.over, y = at.y;
  Shape<S> out;
  if constexpr (field == Field::power) {
    out.f = S::fma(y, over, S::fma(S::set(in.slope), over, S::set(-in.k2)));
    if (energies)
      out.u = S::fma(S::set(in.k), s, over) - S::set(in.shift) -
              S::set(in.slope) * (s * over - S::set(in.rc));
    if constexpr (second)
      out.df = S::fma(S::set(N(-1.5)), y, S::set(N(-0.5) * in.slope)) * over * y;
  } else {
    out.f = S::fma(y, over, -far(t));
    if (energies) {
      V long_range;
      even_odd<S>(in.energy_series, field == Field::ewald ? short_terms : in.terms, t, long_range);
      out.u = over - long_range - S::set(in.shift);
    }
    if constexpr (second) out.df = S::set(N(-1.5)) * y * over * y - S::set(in.scale) * far_slope(t);
  }
  return out;
}

/// F/r of wells without a modifier, c12 and c6 times 12 and 6, as runs take it: (c12 r^-6 - c6)
/// r^-6/s. A second form of what power_shape has: c12 f12 - c6 f6 takes the force kernels 2 %
/// (water with Ewald's sum) to 8 % (without charges) more instructions in mixed precision, and up
/// to 5 % in double (callgrind, AVX2, 648 atoms). 12,288 atoms take 1.63 instead of 1.58 ms without
/// charges, 2.37 instead of 2.31 ms with Ewald's sum (AVX-512, one core).
template <class S>
[[gnu::always_inline]] inline typename S::V plain_well(typename S::V c6, typename S::V c12,
                                                       typename S::V y) {
  const typename S::V y3 = y * y * y;
  return S::fma(c12, y3, -c6) * y3 * y;
}
/// The same of sigma and 24 epsilon.
template <class S>
[[gnu::always_inline]] inline typename S::V plain_well_of(typename S::V sigma, typename S::V e,
                                                          typename S::V y) {
  using V = typename S::V;
  const V x2 = sigma * sigma * y, x6 = x2 * x2 * x2;
  return S::fma(x6, S::set(typename S::N(2)), S::set(typename S::N(-1))) * (x6 * e) * y;
}

}  // namespace tessera::molecular::pairs
