// SPDX-License-Identifier: Apache-2.0
//
// Ryckaert-Bellemans dihedrals: U = sum_{n=0..5} C_n cos^n(psi), psi = phi - pi, rows {C_0 ... C_5
// [kJ/mol]}.
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/openmm_force.h"

namespace tessera::molecular {
namespace {

struct PowersOfCosine {
  static constexpr int parameters = 6;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 6>& p) {
    using std::cos;
    const T c = -cos(q);  // cos(phi - pi)
    return p[0] + c * (p[1] + c * (p[2] + c * (p[3] + c * (p[4] + c * p[5]))));
  }
};

const RegisterBondedTerms<Dihedral, PowersOfCosine, &System::ryckaert_bellemans> ryckaert_bellemans(
    Term::ryckaert_bellemans);

/// C_0 ... C_5 [kJ/mol].
std::string read_powers(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  terms.push_back(
      {Term::ryckaert_bellemans, l.atoms, {l.p[0], l.p[1], l.p[2], l.p[3], l.p[4], l.p[5]}});
  return {};
}
/// F_1 ... F_4 [kJ/mol] of F1 (1 + cos phi)/2 + F2 (1 - cos 2 phi)/2 + F3 (1 + cos 3 phi)/2 + F4 (1
/// - cos 4 phi)/2, in powers of -cos phi.
std::string read_fourier(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  const double* p = l.p;
  for (std::size_t k = 0; k < 4; ++k)
    if (!(std::abs(p[k]) < 1e300))  // of the sums
      return "the parameters of this term are beyond the range of double precision";
  terms.push_back({Term::ryckaert_bellemans,
                   l.atoms,
                   {p[1] + 0.5 * (p[0] + p[2]), 0.5 * (3 * p[2] - p[0]), 4 * p[3] - p[1], -2 * p[2],
                    -4 * p[3], 0}});
  return {};
}
const RegisterGromacs powers(
    {.section = "dihedrals", .function = 3, .atoms = 4, .parameters = 6, .read = read_powers});
const RegisterGromacs fourier(
    {.section = "dihedrals",
     .function = 5,
     .atoms = 4,
     .parameters = 4,
     .read = read_fourier,
     .ends_in_0 = "a Fourier dihedral with a fifth coefficient is not read"});

// OpenMM: c0 ... c5 [kJ/mol].
OpenmmRow powers_row(const double* p) { return {p[0], p[1], p[2], p[3], p[4], p[5]}; }
const RegisterOpenmm openmm_ryckaert_bellemans(
    {.element = "RBTorsionForce",
     .rules = {{"Proper", OpenmmRule::On::chain, Term::ryckaert_bellemans},
               {"Improper", OpenmmRule::On::centre, Term::ryckaert_bellemans}},
     .parameters = {"c0", "c1", "c2", "c3", "c4", "c5"},
     .row = powers_row});

}  // namespace
}  // namespace tessera::molecular
