// SPDX-License-Identifier: Apache-2.0
//
// Harmonic dihedrals: U = k/2 (phi - phi0)^2 with phi - phi0 in (-pi, pi], rows {phi0 [rad], k
// [kJ/mol/rad^2]}.
#include "base/units.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"

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
    {"dihedrals", 2, 4, 2, [](const GromacsLine& l, std::vector<GromacsTerm>& terms) {
       terms.push_back({Term::harmonic_impropers, l.atoms, {l.p[0] * degree, l.p[1]}});
       return std::string();
     }});

}  // namespace
}  // namespace tessera::molecular
