// SPDX-License-Identifier: Apache-2.0
//
// Pairs apart from the non-bonded sum (1-4), without a cut-off: U = c12/r^12 - c6/r^6 + k_e (f q_i
// q_j + qq)/r, rows {c6 [kJ/mol nm^6], c12 [kJ/mol nm^12], f, qq [e^2]}. Of their two parts,
// parameters are {c6, c12, f, qq, q_i, q_j} with the Coulomb constant put into f and qq.
#include "bonded/bonded_energy.h"

namespace tessera::molecular {
namespace {

struct ScaledLennardJones {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& r, const std::array<S, 6>& p) {
    const T inverse = 1.0 / (r * r), inverse6 = inverse * inverse * inverse;
    return inverse6 * (p[1] * inverse6 - p[0]);
  }
};
struct ScaledCoulomb {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& r, const std::array<S, 6>& p) {
    return (p[2] * p[4] * p[5] + p[3]) / r;
  }
};

const RegisterBondedTerms<Distance, ScaledLennardJones, &System::pairs> pairs_lj(Term::pairs_lj);
const RegisterBondedTerms<Distance, ScaledCoulomb, &System::pairs> pairs_coulomb(
    Term::pairs_coulomb);

}  // namespace
}  // namespace tessera::molecular
