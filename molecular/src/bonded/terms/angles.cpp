// SPDX-License-Identifier: Apache-2.0
//
// Harmonic angles: U = k/2 (theta - theta0)^2 at the middle atom, rows {theta0 [rad], k
// [kJ/mol/rad^2]}.
#include "base/units.h"
#include "bonded/amber_terms.h"
#include "bonded/bonded_energy.h"
#include "bonded/gromacs_function.h"
#include "bonded/openmm_force.h"

#include <numbers>

namespace tessera::molecular {
namespace {

struct HarmonicBend {
  static constexpr int parameters = 2;
  template <class T, class S>
  static T of(const T& q, const std::array<S, 2>& p) {
    const T x = q - (p[0] - std::numbers::pi);
    return 0.5 * (p[1] * (x * x));
  }
};

const RegisterBondedTerms<Bend, HarmonicBend, &System::angles> angles(Term::angles);

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
const RegisterGromacs angle(
    {.section = "angles", .function = 1, .atoms = 3, .parameters = 2, .read = read_angle});
const RegisterGromacs angle_with_spring({.section = "angles",
                                         .function = 5,
                                         .atoms = 3,
                                         .parameters = 4,
                                         .read = read_angle_with_spring});

// AMBER: U = k (theta - theta0)^2, k [kcal/mol/rad^2], theta0 [rad].
const RegisterAmber amber_angles({.kind = Term::angles,
                                  .rows = {16},  // NUMANG
                                  .columns = {{"ANGLE_FORCE_CONSTANT", 1,
                                               [](double k) { return 2 * k * kcal; },
                                               [](double k) { return k * (0.5 / kcal); }},
                                              {"ANGLE_EQUIL_VALUE", 0, as_it_is, as_it_is}},
                                  .lists = {{"ANGLES_INC_HYDROGEN", {4}},
                                            {"ANGLES_WITHOUT_HYDROGEN", {13}}}});  // NTHETH, NTHETA

// OpenMM: U = k/2 (theta - angle)^2.
OpenmmRow angle_row(const double* p) { return {p[0], p[1]}; }
const RegisterOpenmm openmm_angles({.element = "HarmonicAngleForce",
                                    .rules = {{"Angle", OpenmmRule::On::angle, Term::angles}},
                                    .parameters = {"angle", "k"},
                                    .row = angle_row});

}  // namespace
}  // namespace tessera::molecular
