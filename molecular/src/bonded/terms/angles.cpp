// SPDX-License-Identifier: Apache-2.0
//
// Harmonic angles: U = k/2 (theta - theta0)^2 at the middle atom, rows {theta0 [rad], k
// [kJ/mol/rad^2]}.
#include "base/units.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/harmonic.h"

namespace tessera::molecular {
namespace {

const RegisterBondedTerms<Angle, Harmonic, &System::angles> angles(Term::angles);

/// theta0 [deg], k [kJ/mol/rad^2].
std::string read_angle(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  terms.push_back({Term::angles, l.atoms, {l.p[0] * degree, l.p[1]}});
  return {};
}
/// Behind them r0 [nm], k [kJ/mol/nm^2] of a spring between the ends.
std::string read_angle_with_spring(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  read_angle(l, terms);
  if (l.p[3] != 0)
    terms.push_back({Term::urey_bradley, {l.atoms[0], l.atoms[2], -1, -1}, {l.p[2], l.p[3]}});
  return {};
}
const RegisterGromacs angle({"angles", 1, 3, 2, read_angle});
const RegisterGromacs angle_with_spring({"angles", 5, 3, 4, read_angle_with_spring});

}  // namespace
}  // namespace tessera::molecular
