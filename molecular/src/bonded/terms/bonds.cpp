// SPDX-License-Identifier: Apache-2.0
//
// Harmonic springs along distances r: U = k/2 (r - r0)^2, rows {r0 [nm], k [kJ/mol/nm^2]}. Those of
// `urey_bradley` lie between the ends of angles; GROMACS writes them on the line of the angle
// (terms/angles.cpp).
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/harmonic.h"

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
const RegisterGromacs bond({"bonds", 1, 2, 2, read_bond, 0, true});
const RegisterGromacs bond_apart({"bonds", 6, 2, 2, read_bond});  // excludes no pairs

}  // namespace
}  // namespace tessera::molecular
