// SPDX-License-Identifier: Apache-2.0
//
// Boxes that move. A scaling j multiplies g_j edges together; its coordinate q_j is the product of
// these edges (the volume; the area and the height; three lengths), so that q has no weight of its
// own in the ensemble. With fractions of centres and momenta times edges as variables, which scale
// nothing,
//
//   -dH/dq_j = V (P_j - P0_j)/q_j,   P_j the mean over the scaling's axes of (2 K_kk + W_kk)/V
//
// for the kinetic energy and the virial of rigid groups' centres.
#pragma once
#include "dynamics/bodies.h"

namespace tessera::molecular {

struct Scale {
  std::vector<std::size_t> axes;
  double pressure;         ///< kJ/mol/nm^3
  double compressibility;  ///< nm^3 mol/kJ
};
/// Those that may move. Throws Error where edges that scale together have different pressures or
/// compressibilities.
std::vector<Scale> scales_of(const Dynamics& options);
double coordinate_of(const Scale& s, const Box& box);

/// Sums over rigid groups and loose atoms. An atom that stays where it is while the box moves takes
/// no part along these directions: W = -dU/de for a strain e of the box and of all that moves with
/// it, positions counted from the origin as `scale_centres` scales them.
struct Centres {
  std::array<Vec3, 3>
      twice_kinetic{};  ///< sum M u u, the mean of velocities u + early a and u + late a, a = F/M
  std::array<Vec3, 3> virial{};  ///< sum X F
};
/// `slow_kicks`: how many times the slow forces, which the virial has once, are in those that kick.
Centres centres_of(const Bodies& bodies, const State& m, double early, double late,
                   double slow_kicks = 1);

/// Scales box and centres along the axes by `factor`, with `velocities` also those of centres,
/// inversely; the change of kinetic energy.
double scale_centres(const Bodies& bodies, State& m, const Vec3& factor, bool velocities = true);

/// Stochastic cell rescaling over a time t: with e_j = ln q_j and D_j = g_j/3 beta kT/(V tau_p)
/// (beta: compressibility)
///   e_j += D_j V (P_j - P0_j)/kT t + sqrt(2 D_j t) R
/// and without the noise weak coupling. Returns the factors of the edges.
Vec3 relaxed_edges(const std::vector<Scale>& scales, const Dynamics& options,
                   const Centres& centres, const Box& box, double kt, double t, bool noise,
                   std::uint64_t step);

/// The piston of Parrinello and Rahman: momentum p_j and mass M_j = tau_p^2 V/(4 pi^2 (g_j/3) beta
/// q_j^2) at the start, by turns in State::piston. The volume of a liquid of that compressibility
/// has the period tau_p, however its edges scale; GROMACS has these masses in a cube.
std::vector<double> piston_at_rest(const std::vector<Scale>& scales, const Dynamics& options,
                                   const Box& box);
/// p_j += t sum_k (diagonal_k - V P0)/(g_j q_j), `diagonal` being W or 2 K, with P0 counted once.
void push_piston(const std::vector<Scale>& scales, std::vector<double>& piston, const Box& box,
                 const std::array<Vec3, 3>& tensor, bool with_pressure, double t);
/// q_j += t p_j/M_j, centres with it.
void drift_piston(const std::vector<Scale>& scales, const Bodies& bodies, State& m, double t);
/// sum p^2/2M.
double piston_energy(const std::vector<double>& piston);

}  // namespace tessera::molecular
