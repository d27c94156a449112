// SPDX-License-Identifier: Apache-2.0
//
// A(s), B(s), C(s) of nonbonded.h as functions of s = r^2 on any number type.
#pragma once
#include "base/dual.h"
#include "nonbonded/kernels/pair_kernels.h"
#include "tessera/molecular/nonbonded.h"

#include <cmath>

namespace tessera::molecular {

/// r^-n for even n.
template <class T>
T even_power(const T& s, int n) {
  const T inverse = T(1.0) / s;
  T p = inverse;
  for (int k = 2; k < n; k += 2) p = p * inverse;
  return p;
}

/// r^-n with a modifier that begins at `from` and ends at `rc`.
struct PowerShape {
  using Modifier = Nonbonded::Modifier;
  int n = 6;
  Modifier modifier = Modifier::none;
  double rc = 1, from = 0;
  double shift = 0, slope = 0, a = 0, b = 0;

  PowerShape(int power, Modifier m, double cutoff, double begin)
      : n(power), modifier(m), rc(cutoff), from(begin) {
    const double at = std::pow(rc, -n), width = rc - from;
    if (m == Modifier::potential_shift) shift = at;
    if (m == Modifier::linear_force_shift) {
      shift = at;
      slope = -n * at / rc;
    }
    if (m == Modifier::force_switch) {
      // F = n/r^(n+1) + a (r - from)^2 + b (r - from)^3 with F(rc) = F'(rc) = 0
      a = -n * ((n + 4) * rc - (n + 1) * from) / (std::pow(rc, n + 2) * width * width);
      b = n * ((n + 3) * rc - (n + 1) * from) / (std::pow(rc, n + 2) * width * width * width);
      shift = at - a / 3 * std::pow(width, 3) - b / 4 * std::pow(width, 4);
    }
  }
  template <class T>
  T operator()(const T& s) const {
    using std::sqrt;
    T u = even_power(s, n);
    if (modifier == Modifier::none) return u;
    if (modifier == Modifier::potential_shift) return u - T(shift);
    if (modifier == Modifier::linear_force_shift)
      return u - T(shift) - T(slope) * (sqrt(s) - T(rc));
    if (modifier == Modifier::force_switch) u = u - T(shift);
    if (plain(s) <= from * from) return u;
    const T x = sqrt(s) - T(from);
    if (modifier == Modifier::force_switch) return u - x * x * x * (T(a / 3) + T(b / 4) * x);
    const T y = x * T(1 / (rc - from));
    return u * (T(1.0) + y * y * y * (T(-10.0) + y * (T(15.0) + T(-6.0) * y)));
  }
};

/// As the kernels take it.
inline pairs::ForceModifier modifier_of(Nonbonded::Modifier m) {
  using enum Nonbonded::Modifier;
  return m == linear_force_shift             ? pairs::ForceModifier::linear_force_shift
         : m == force_switch                 ? pairs::ForceModifier::force_switch
         : m == none || m == potential_shift ? pairs::ForceModifier::none
                                             : pairs::ForceModifier::potential_switch;
}
template <class T>
pairs::ModifiedPower<T> modified_power(const PowerShape& p) {
  const auto by_n = [&](double v) { return static_cast<T>(v / p.n); };
  return {by_n(p.a),     by_n(p.b),    by_n(p.slope), by_n(p.shift - p.slope * p.rc),
          by_n(p.a / 3), by_n(p.b / 4)};
}

struct CoulombShape {
  using Coulomb = Nonbonded::Coulomb;
  Coulomb kind = Coulomb::cutoff;
  double k_rf = 0, shift = 0, slope = 0, beta = 0, rc = 1;

  explicit CoulombShape(const Nonbonded& o) : kind(o.coulomb), rc(o.cutoff_coulomb_nm) {
    const bool shifted = o.coulomb_modifier != Nonbonded::Modifier::none;
    if (kind == Coulomb::reaction_field) {
      k_rf = o.epsilon_rf == 0
                 ? 0.5 / (rc * rc * rc)
                 : (o.epsilon_rf - o.epsilon_r) / ((2 * o.epsilon_rf + o.epsilon_r) * rc * rc * rc);
      shift = 1 / rc + k_rf * rc * rc;
    } else if (kind == Coulomb::cutoff) {
      if (shifted) shift = 1 / rc;
      if (o.coulomb_modifier == Nonbonded::Modifier::linear_force_shift) slope = -1 / (rc * rc);
    } else if (kind != Coulomb::none) {
      beta = ewald_beta(o);
      if (shifted) shift = std::erfc(beta * rc) / rc;
    }
  }
  template <class T>
  T operator()(const T& s) const {
    using std::erfc, std::sqrt;
    const T r = sqrt(s);
    if (kind == Coulomb::reaction_field) return T(1.0) / r + T(k_rf) * s - T(shift);
    if (kind == Coulomb::cutoff)
      return slope == 0 ? T(1.0) / r - T(shift) : T(1.0) / r - T(shift) - T(slope) * (r - T(rc));
    return erfc(T(beta) * r) / r - T(shift);
  }
};

}  // namespace tessera::molecular
