// SPDX-License-Identifier: Apache-2.0
//
// Periodic dihedrals, proper and improper: U = k (1 + cos(n phi - phi0)), rows {phi0 [rad], k
// [kJ/mol], n}.
#include "base/units.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"

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
const RegisterGromacs dihedral({"dihedrals", 1, 4, 3, read_periodic<Term::dihedrals>, 9});
const RegisterGromacs improper({"dihedrals", 4, 4, 3, read_periodic<Term::impropers>});

}  // namespace
}  // namespace tessera::molecular
