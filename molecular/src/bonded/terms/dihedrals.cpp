// SPDX-License-Identifier: Apache-2.0
//
// Periodic dihedrals, proper and improper: U = k (1 + cos(n phi - phi0)), rows {phi0 [rad], k
// [kJ/mol], n}.
#include "base/units.h"
#include "bonded/amber_terms.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/openmm_force.h"

#include <fmt/format.h>

namespace tessera::molecular {
namespace {

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

const RegisterBondedTerms<Dihedral, Periodic, &System::dihedrals> dihedrals(Term::dihedrals);
const RegisterBondedTerms<Dihedral, Periodic, &System::impropers> impropers(Term::impropers);

/// phi0 [deg], k [kJ/mol], n.
template <Term kind>
std::string read_periodic(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  if (l.p[2] != std::round(l.p[2]) || std::abs(l.p[2]) > 100)
    return fmt::format("the multiplicity of a dihedral is a whole number, got {}", l.p[2]);
  terms.push_back({kind, l.atoms, {l.p[0] * degree, l.p[1], l.p[2]}});
  return {};
}
const RegisterGromacs dihedral({.section = "dihedrals",
                                .function = 1,
                                .atoms = 4,
                                .parameters = 3,
                                .read = read_periodic<Term::dihedrals>,
                                .also = 9});
const RegisterGromacs improper({.section = "dihedrals",
                                .function = 4,
                                .atoms = 4,
                                .parameters = 3,
                                .read = read_periodic<Term::impropers>});

// AMBER: k [kcal/mol], a periodicity whose sign tells that further terms follow, phi0 [rad].
std::string periodicity_fault(double n) {
  if (n == std::round(n) && std::abs(n) <= 100) return {};
  return fmt::format("the periodicity of a dihedral is a whole number up to 100, got {}", n);
}
const RegisterAmber amber_dihedrals(
    {.kind = Term::dihedrals,
     .rows = {17},  // NPTRA
     .columns = {{"DIHEDRAL_FORCE_CONSTANT", 1, [](double k) { return k * kcal; },
                  [](double k) { return k * (1 / kcal); }},
                 {"DIHEDRAL_PERIODICITY", 2, [](double n) { return std::abs(n); }, as_it_is,
                  periodicity_fault},
                 {"DIHEDRAL_PHASE", 0, as_it_is, as_it_is}},
     .lists = {{"DIHEDRALS_INC_HYDROGEN", {6}}, {"DIHEDRALS_WITHOUT_HYDROGEN", {14}}},
     .impropers = Term::impropers});  // lists: NPHIH, NPHIA

// OpenMM: phase1 [rad], k1 [kJ/mol], periodicity1, and as many more.
OpenmmRow periodic_row(const double* p) { return {p[0], p[2], p[1]}; }
std::string openmm_periodicity_fault(const double* p) {
  if (p[1] == std::floor(p[1]) && p[1] >= 0 && p[1] <= 100) return {};
  return fmt::format("the periodicity {} is no whole number", p[1]);
}
const RegisterOpenmm openmm_dihedrals({.element = "PeriodicTorsionForce",
                                       .rules = {{"Proper", OpenmmRule::On::chain, Term::dihedrals},
                                                 {"Improper", OpenmmRule::On::centre,
                                                  Term::impropers}},
                                       .parameters = {"phase", "periodicity", "k"},
                                       .row = periodic_row,
                                       .numbered = true,
                                       .fault = openmm_periodicity_fault,
                                       .at_fault = "periodicity",
                                       .is_none = [](const OpenmmRow& row) { return row[1] == 0; },
                                       .openmm_order = true,
                                       .thrice = true});

}  // namespace
}  // namespace tessera::molecular
