// SPDX-License-Identifier: Apache-2.0
//
// Shapes of what a pair feels as functions of s = r^2, over a vector S of numbers (lanes_*.h): u
// the energy, f = -2 du/ds (the force over r), df = f'(s). With over = 1/r and y = 1/s:
//
//   r^-n    u = y^{n/2}/n - shift,  f = y^{n/2+1},  df = -(n/2+1) y^{n/2+2}      (all over n)
//   1/r     u = over + k s - shift - slope (r - rc),  f = over y + slope over - 2 k,
//           df = -3/2 over y^2 - slope over y/2
//   Ewald   u = over - sum e_n t^n - shift,  f = over y - sum f_n t^n,  t = scale s - 1
//
// What a modifier makes of r^-n between `from` and the cut-off, with x = r - from:
//
//   linear_force_shift   a straight line is added to the energy
//   force_switch         x^2 (a + b x) is added to the force
//   potential_switch     the energy times 1 - 10 w^3 + 15 w^4 - 6 w^5, w = x/width
#pragma once
#include "nonbonded/kernels/pair_body.h"
#include "nonbonded/kernels/pair_derivative_kernels.h"

namespace tessera::molecular::pairs {

template <class S>
struct Shape {
  typename S::V u, f, df;
};

/// `energies`: u is computed.
template <class S, int n, bool modified, bool second>
[[gnu::always_inline]] inline Shape<S> power_shape(const Input<typename S::N>& in,
                                                   const ModifiedPower<typename S::N>& p,
                                                   typename S::V s, typename S::V over,
                                                   typename S::V y, bool energies) {
  using V = typename S::V;
  using N = typename S::N;
  const V y3 = y * y * y, power = n == 6 ? y3 : y3 * y3;
  Shape<S> out;
  if (energies) out.u = S::fma(power, S::set(N(1) / n), S::set(-p.shift));
  out.f = power * y;
  if constexpr (second) out.df = out.f * y * S::set(N(-0.5 * n - 1));
  if (!modified || (S::lean && in.modifier == ForceModifier::none)) return out;
  const V r = s * over, half = S::set(N(0.5));
  if (in.modifier == ForceModifier::linear_force_shift) {
    const V slope = S::set(p.slope);
    if (energies) out.u = out.u - slope * r;
    out.f = S::fma(slope, over, out.f);
    if constexpr (second) out.df = out.df - half * slope * over * y;
    return out;
  }
  const V x = S::larger(r - S::set(in.from), S::set(N(0)));
  if (in.modifier == ForceModifier::force_switch) {
    const V a = S::set(p.a), b = S::set(p.b), x2 = x * x, switched = x2 * S::fma(b, x, a);
    if (energies) out.u = out.u - x2 * x * S::fma(S::set(p.quarter_b), x, S::set(p.third_a));
    out.f = S::fma(switched, over, out.f);
    if constexpr (second)
      out.df = out.df + half * over *
                            (x * S::fma(S::set(3 * p.b), x, S::set(2 * p.a)) * over - switched * y);
    return out;
  }
  const V i = S::set(in.inverse_width), w = x * i, w2 = w * w, rest = S::set(N(1)) - w,
          plain = power * S::set(N(1) / n);
  const V fade = S::fma(w2 * w, S::fma(w, S::fma(S::set(N(-6)), w, S::set(N(15))), S::set(N(-10))),
                        S::set(N(1)));
  const V fade1 = S::set(N(-30)) * w2 * rest * rest * i,
          by_r = plain * fade1 - power * over * fade;  // du/dr
  if (energies) out.u = plain * fade;
  out.f = -by_r * over;
  if constexpr (second) {
    const V fade2 = S::set(N(-60)) * w * rest * (rest - w) * i * i;
    const V by_r2 =
        S::set(N(n + 1)) * power * y * fade - S::set(N(2)) * power * over * fade1 + plain * fade2;
    out.df = half * over * (by_r * y - by_r2 * over);
  }
  return out;
}

template <class S, Field field, bool second>
[[gnu::always_inline]] inline Shape<S> coulomb_shape(const DerivativeInput<typename S::N>& k,
                                                     typename S::V s, typename S::V over,
                                                     typename S::V y, bool energies) {
  using V = typename S::V;
  using N = typename S::N;
  const Input<N>& in = k.in;
  Shape<S> out;
  out.f = over * y;
  if constexpr (second) out.df = S::set(N(-1.5)) * out.f * y;
  if constexpr (field == Field::power) {
    const V slope = S::set(in.slope);
    if (energies)
      out.u = S::fma(S::set(in.k), s, over) - S::set(in.shift) - slope * (s * over - S::set(in.rc));
    if constexpr (second) out.df = out.df - S::set(N(0.5)) * slope * out.f;
    out.f = out.f + slope * over - S::set(in.k2);
  } else {
    const V t = S::fma(s, S::set(in.scale), S::set(N(-1)));
    const int terms = field == Field::ewald ? short_terms : in.terms;
    V far;
    if (energies) {
      even_odd<S>(in.energy_series, terms, t, far);
      out.u = over - far - S::set(in.shift);
    }
    even_odd<S>(in.force_series, terms, t, far);
    out.f = out.f - far;
    if constexpr (second) {
      even_odd<S>(k.second_series, terms, t, far);
      out.df = out.df - S::set(in.scale) * far;
    }
  }
  return out;
}

}  // namespace tessera::molecular::pairs
