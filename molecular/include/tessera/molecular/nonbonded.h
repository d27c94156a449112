// SPDX-License-Identifier: Apache-2.0
//
// Non-bonded interactions between all pairs that are not excluded. With s = r^2, a pair has
//
//   u = c12 A(s) - c6 B(s) + k_e q_i q_j C(s)      r < cut-off, else 0
//
// A and B are r^-12 and r^-6 as the modifier changes them; C is
//   cutoff           1/r
//   reaction_field   1/r + k r^2 - c,  k = (e_rf - e_r)/((2 e_rf + e_r) rc^3), c = 1/rc + k rc^2
//   ewald, pme       erfc(beta r)/r; the rest is a sum in reciprocal space (ewald.h, pme.h)
// each divided by e_r. Modifiers (GROMACS reference manual, "Modified non-bonded interactions"):
//   potential_shift      u(r) - u(rc)
//   force_switch         the force goes to zero between the switch radius and rc (cubic added to
//                        the force)
//   potential_switch     u times 1 - 10 x^3 + 15 x^4 - 6 x^5, x = (r - r_switch)/(rc - r_switch)
//   linear_force_shift   u(r) - u(rc) - (r - rc) u'(rc)
// At a cut-off without modifier the energy jumps and derivatives know nothing of it; second
// derivatives are continuous at rc with force_switch and potential_switch alone.
#pragma once
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cstdint>

namespace tessera::molecular {

struct Nonbonded {
  /// none: charges do not act, in 1-4 pairs neither.
  enum class Coulomb : std::uint8_t { none, cutoff, reaction_field, ewald, pme };
  enum class Modifier : std::uint8_t {
    none,
    potential_shift,
    force_switch,
    potential_switch,
    linear_force_shift
  };
  /// Dispersion beyond the cut-off, for a uniform density: c6 alone (AMBER, GROMACS), or c12 as
  /// well (NIST, LAMMPS, OpenMM). What a modifier takes away within the cut-off is given back too.
  enum class Tail : std::uint8_t { none, c6, c6_c12 };
  /// The tail is N^2 times a mean c6 (and c12). Programs take the mean of different pairs:
  enum class TailPairs : std::uint8_t {
    all,           ///< all N^2 ordered ones, an atom with itself included (AMBER, LAMMPS, NIST)
    not_excluded,  ///< of different atoms that are not excluded; an atom gets no shift from itself
                   ///< (GROMACS)
    unordered      ///< N (N + 1)/2 with i <= j (OpenMM)
  };

  Coulomb coulomb = Coulomb::pme;
  Modifier coulomb_modifier =
      Modifier::potential_shift;  ///< none or potential_shift; of cutoff also linear_force_shift
  Modifier lj_modifier = Modifier::potential_shift;
  Tail tail = Tail::none;
  TailPairs tail_pairs = TailPairs::all;
  double cutoff_coulomb_nm = 1;
  double cutoff_lj_nm = 1;
  double lj_switch_nm = 0;  ///< where force_switch and potential_switch begin
  double epsilon_r = 1;
  double epsilon_rf = 0;  ///< 0: a conductor (infinite)
  /// Whether excluded pairs and the charges themselves feel the reaction field (GROMACS: yes,
  /// OpenMM: no).
  bool reaction_field_of_excluded = true;
  double ewald_rtol = 1e-5;  ///< erfc(beta rc): determines beta where it is not given
  double ewald_beta = 0;     ///< 1/nm
  double ewald_kmax = 0;     ///< 1/nm; wave vectors shorter than that; 0: by ewald_rtol
  int pme_order = 5;         ///< 4 to 8
  double fourier_spacing_nm = 0.12;
  std::array<int, 3> fourier_grid{};  ///< 0: by the spacing
};

/// Whether terms of a kind act: charges of 1-4 pairs do where charges do.
constexpr bool acts(Term bonded, const Nonbonded& options) {
  return bonded != Term::pairs_coulomb || options.coulomb != Nonbonded::Coulomb::none;
}
/// A cut-off is above half of the smallest width of the box.
struct BoxTooSmall : Error {
  using Error::Error;
};
/// Throws Error where options contradict each other, BoxTooSmall of a box that is narrower than two
/// cut-offs (equal is fine).
void check(const Nonbonded& options, const Box& box);
/// beta with erfc(beta rc) = rtol, or as given.
double ewald_beta(const Nonbonded& options);

/// Numbers of the non-bonded sums. mixed: pairs and grids in float, positions as whole numbers,
/// sums of many in fixed point or double: an error of about 1e-6 of the largest force or, of
/// derivatives, of the largest entry of each array (at most 1e-5).
enum class Precision : std::uint8_t { mixed, f64 };

/// Which entries of the tables have derivatives: all, or those of types that interact at the
/// operands (some entry of theirs is not zero), which takes half the time where most atoms have
/// none, as hydrogens of water.
enum class Wells : std::uint8_t { all, existing };

/// The sum over pairs within the cut-offs. Operands x [n, 3], h [3, 3], charges [n], c6 [types,
/// types], c12 [types, types]; a pair takes the mean of the entries (type of i, type of j) and
/// (type of j, type of i).
EnergyPtr nonbonded_energy(const System& system, const Nonbonded& options,
                           Wells derivatives = Wells::all, Precision precision = Precision::f64);

/// The tail correction [kJ/mol] of h [3, 3], c6, c12 [types, types]; zero for Tail::none.
Tensor tail_energy(const System& system, const Nonbonded& options, const Tensor& h,
                   const Tensor& c6, const Tensor& c12);

/// c6 or c12 of the system's types as a tensor [types, types].
Tensor c6_of(const System& system);
Tensor c12_of(const System& system);

}  // namespace tessera::molecular
