// SPDX-License-Identifier: Apache-2.0
//
// Flat-bottomed distances: U = k/2 (r - lower)^2 below `lower`, k/2 (r - upper)^2 above `upper`,
// else 0; rows {lower, upper [nm], k [kJ/mol/nm^2]}.
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"

namespace tessera::molecular {
namespace {

Tensor positive(const Tensor& x) { return maximum(x, 0.0); }

struct FlatBottom {
  static constexpr int parameters = 3;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 3>& p) {
    const T below = positive(p[0] - q), above = positive(q - p[1]);
    return 0.5 * (p[2] * (below * below + above * above));
  }
};

const RegisterBondedTerms<Distance, FlatBottom, &System::distance_restraints> distance_restraints(
    Term::distance_restraints);

/// GROMACS's function 6 of [ bonds ], a spring without a chemical bond: U = k/2 (r - b)^2 has no
/// flat part. It gives no bond its length, and none that becomes rigid takes it away.
std::string read_spring_apart(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  terms.push_back({Term::distance_restraints, l.atoms, {l.p[0], l.p[0], l.p[1]}});
  return {};
}
const RegisterGromacs spring_apart({.section = "bonds",
                                    .function = 6,
                                    .atoms = 2,
                                    .parameters = 2,
                                    .read = read_spring_apart});  // excludes no pairs

}  // namespace
}  // namespace tessera::molecular
