// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the formulas of pairs (kernels/pair_formulas.h) that follow from the options: cut-offs
// and modifiers of nonbonded.h.
#pragma once
#include "kernels/pair_kernels.h"
#include "tessera/molecular/nonbonded.h"

#include <cmath>

namespace tessera::molecular {

/// Of r^-n with a modifier that begins at `from` and ends at `rc`.
struct PowerConstants {
  using Modifier = Nonbonded::Modifier;
  int n = 6;
  double rc = 1;
  double shift = 0, slope = 0, a = 0, b = 0;

  PowerConstants(int power, Modifier m, double cutoff, double from) : n(power), rc(cutoff) {
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
  /// As the formulas take them, of r^-n/n.
  template <class T>
  pairs::ModifiedPower<T> over_n() const {
    const auto by_n = [&](double v) { return static_cast<T>(v / n); };
    return {by_n(a), by_n(b), by_n(slope), by_n(shift - slope * rc), by_n(a / 3), by_n(b / 4)};
  }
};

inline pairs::ForceModifier modifier_of(Nonbonded::Modifier m) {
  using enum Nonbonded::Modifier;
  return m == linear_force_shift             ? pairs::ForceModifier::linear_force_shift
         : m == force_switch                 ? pairs::ForceModifier::force_switch
         : m == none || m == potential_shift ? pairs::ForceModifier::none
                                             : pairs::ForceModifier::potential_switch;
}

/// Of what two charges of product 1 feel.
struct CoulombConstants {
  using Coulomb = Nonbonded::Coulomb;
  double k_rf = 0, shift = 0, slope = 0;

  explicit CoulombConstants(const Nonbonded& o) {
    const double rc = o.cutoff_coulomb_nm;
    const bool shifted = o.coulomb_modifier != Nonbonded::Modifier::none;
    if (o.coulomb == Coulomb::reaction_field) {
      k_rf = o.epsilon_rf == 0
                 ? 0.5 / (rc * rc * rc)
                 : (o.epsilon_rf - o.epsilon_r) / ((2 * o.epsilon_rf + o.epsilon_r) * rc * rc * rc);
      shift = 1 / rc + k_rf * rc * rc;
    } else if (o.coulomb == Coulomb::cutoff) {
      if (shifted) shift = 1 / rc;
      if (o.coulomb_modifier == Nonbonded::Modifier::linear_force_shift) slope = -1 / (rc * rc);
    } else if (o.coulomb != Coulomb::none) {
      if (shifted) shift = std::erfc(ewald_beta(o) * rc) / rc;
    }
  }
};

/// All of them.
struct PairConstants {
  Nonbonded o;
  CoulombConstants coulomb;
  PowerConstants six, twelve;

  explicit PairConstants(const Nonbonded& options)
      : o(options),
        coulomb(o),
        six(6, o.lj_modifier, o.cutoff_lj_nm, o.lj_switch_nm),
        twelve(12, o.lj_modifier, o.cutoff_lj_nm, o.lj_switch_nm) {}

  /// Gives the formulas their numbers, but for the series of Ewald's sum.
  template <class T>
  void put(pairs::Input<T>& in) const {
    const double rc = o.cutoff_coulomb_nm;
    in.k = static_cast<T>(coulomb.k_rf);
    in.k2 = static_cast<T>(2 * coulomb.k_rf);
    in.slope = static_cast<T>(coulomb.slope);
    in.shift = static_cast<T>(coulomb.shift);
    in.rc = static_cast<T>(rc);
    in.scale = static_cast<T>(2 / (rc * rc));
    in.modifier = modifier_of(o.lj_modifier);
    in.six = six.over_n<T>();
    in.twelve = twelve.over_n<T>();
    in.from = static_cast<T>(o.lj_switch_nm);
    in.inverse_width = static_cast<T>(1 / (o.cutoff_lj_nm - o.lj_switch_nm));
  }
};

}  // namespace tessera::molecular
