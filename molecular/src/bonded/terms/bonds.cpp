// SPDX-License-Identifier: Apache-2.0
//
// Harmonic springs along distances r: U = k/2 (r - r0)^2, rows {r0 [nm], k [kJ/mol/nm^2]}. Those of
// `urey_bradley` lie between the ends of angles; GROMACS writes them on the line of the angle
// (terms/angles.cpp).
#include "base/units.h"
#include "bonded/amber_terms.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/harmonic.h"
#include "bonded/openmm_force.h"

namespace tessera::molecular {
namespace {

const RegisterBondedTerms<Distance, Harmonic, &System::bonds> bonds(Term::bonds);
const RegisterBondedTerms<Distance, Harmonic, &System::urey_bradley> urey_bradley(
    Term::urey_bradley);

/// r0 [nm], k [kJ/mol/nm^2].
std::string read_bond(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  terms.push_back({Term::bonds, l.atoms, {l.p[0], l.p[1]}});
  return {};
}
const RegisterGromacs bond({.section = "bonds",
                            .function = 1,
                            .atoms = 2,
                            .parameters = 2,
                            .read = read_bond,
                            .is_bond = true});

// AMBER: U = k (r - r0)^2, k [kcal/mol/Angstrom^2], r0 [Angstrom].
double read_spring(double k) { return 2 * k * kcal / (angstrom * angstrom); }
double written_spring(double k) { return k * (0.5 * angstrom * angstrom / kcal); }
double read_length(double r0) { return r0 * angstrom; }
double written_length(double r0) { return r0 * (1 / angstrom); }
const RegisterAmber amber_bonds(
    {.kind = Term::bonds,
     .rows = {15},  // NUMBND
     .columns = {{"BOND_FORCE_CONSTANT", 1, read_spring, written_spring},
                 {"BOND_EQUIL_VALUE", 0, read_length, written_length}},
     .lists = {{"BONDS_INC_HYDROGEN", {2}}, {"BONDS_WITHOUT_HYDROGEN", {12}}},  // NBONH, NBONA
     .is_bond = true});
const RegisterAmber amber_urey_bradley(
    {.kind = Term::urey_bradley,
     .rows = {1, "CHARMM_UREY_BRADLEY_COUNT", 2},
     .columns = {{"CHARMM_UREY_BRADLEY_FORCE_CONSTANT", 1, read_spring, written_spring},
                 {"CHARMM_UREY_BRADLEY_EQUIL_VALUE", 0, read_length, written_length}},
     .lists = {{"CHARMM_UREY_BRADLEY", {0, "CHARMM_UREY_BRADLEY_COUNT", 2}}},
     .from_one = true,
     .of_charmm = true});

// OpenMM: U = k/2 (r - length)^2, and U = k (r - d)^2 of an element of AMOEBA's, which files of
// CHARMM take.
OpenmmRow bond_row(const double* p) { return {p[0], p[1]}; }
OpenmmRow urey_bradley_row(const double* p) { return {p[0], 2 * p[1]}; }
const RegisterOpenmm openmm_bonds({.element = "HarmonicBondForce",
                                   .rules = {{"Bond", OpenmmRule::On::bond, Term::bonds}},
                                   .parameters = {"length", "k"},
                                   .row = bond_row});
const RegisterOpenmm openmm_urey_bradley({.element = "AmoebaUreyBradleyForce",
                                          .rules = {{"UreyBradley", OpenmmRule::On::angle,
                                                     Term::urey_bradley}},
                                          .parameters = {"d", "k"},
                                          .row = urey_bradley_row,
                                          .beside = true});

}  // namespace
}  // namespace tessera::molecular
