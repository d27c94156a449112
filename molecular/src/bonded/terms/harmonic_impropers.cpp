// SPDX-License-Identifier: Apache-2.0
//
// Harmonic dihedrals: U = k/2 (phi - phi0)^2 with phi - phi0 in (-pi, pi], rows {phi0 [rad], k
// [kJ/mol/rad^2]}.
#include "base/units.h"
#include "bonded/amber_terms.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/openmm_force.h"

#include <numbers>

namespace tessera::molecular {
namespace {

Tensor whole(const Tensor& x) { return round(x); }

struct HarmonicOnCircle {
  static constexpr int parameters = 2;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 2>& p) {
    constexpr double turn = 2 * std::numbers::pi;
    const T away = q - p[0], x = away - turn * whole(away / turn);
    return 0.5 * (p[1] * (x * x));
  }
};

const RegisterBondedTerms<Dihedral, HarmonicOnCircle, &System::harmonic_impropers>
    harmonic_impropers(Term::harmonic_impropers);

/// phi0 [deg], k [kJ/mol/rad^2].
const RegisterGromacs harmonic_improper(
    {.section = "dihedrals",
     .function = 2,
     .atoms = 4,
     .parameters = 2,
     .read = [](const GromacsLine& l, std::vector<GromacsTerm>& terms) {
       terms.push_back({Term::harmonic_impropers, l.atoms, {l.p[0] * degree, l.p[1]}});
       return std::string();
     }});

// CHARMM's in AMBER's files: U = k (phi - phi0)^2, k [kcal/mol/rad^2], phi0 [rad]. Of more than a
// turn they are degrees, as ParmEd once wrote them.
double read_phase(double phi0) {
  return std::abs(phi0) > 2 * std::numbers::pi ? phi0 * degree : phi0;
}
const RegisterAmber amber_harmonic_impropers(
    {.kind = Term::harmonic_impropers,
     .rows = {0, "CHARMM_NUM_IMPR_TYPES", 1},
     .columns = {{"CHARMM_IMPROPER_FORCE_CONSTANT", 1, [](double k) { return 2 * k * kcal; },
                  [](double k) { return k * (0.5 / kcal); }},
                 {"CHARMM_IMPROPER_PHASE", 0, read_phase, as_it_is}},
     .lists = {{"CHARMM_IMPROPERS", {0, "CHARMM_NUM_IMPROPERS", 1}}},
     .from_one = true,
     .of_charmm = true});

// OpenMM's files have the energy as an expression.
OpenmmRow charmm_row(const double* p) { return {p[1], 2 * p[0]}; }
OpenmmRow half_row(const double* p) { return {p[1], p[0]}; }
const OpenmmRule harmonic_rule = {"Improper", OpenmmRule::On::centre, Term::harmonic_impropers};
const RegisterOpenmm openmm_charmm({.element = "CustomTorsionForce",
                                    .rules = {harmonic_rule},
                                    .parameters = {"k", "theta0"},
                                    .row = charmm_row,
                                    .energy = "k*(theta-theta0)^2"});
const RegisterOpenmm openmm_half({.element = "CustomTorsionForce",
                                  .rules = {harmonic_rule},
                                  .parameters = {"k", "theta0"},
                                  .row = half_row,
                                  .energy = "0.5*k*(theta-theta0)^2"});

}  // namespace
}  // namespace tessera::molecular
