// SPDX-License-Identifier: Apache-2.0
//
// Short trajectories as functions: where atoms are after n steps, differentiable with respect to
// where they began, the box and every parameter, forward and reverse, to any order.
//
//   const auto end = [&](const Parameters& p) {
//     return rollout(u, x, v, h, p, {.dt_ps = 0.001, .steps = 100}).x;
//   };
//   auto [value, pull] = vjp(end, p);  // the adjoint runs back through the steps, by checkpoints
//
// Steps are those of dynamics.h without baths: the same arithmetic in float64, so runs and rollouts
// part by the rounding of forces alone. Constraints are met by Newton's method; what is
// differentiated are its last two steps, which have the solution's own derivatives (implicit
// function theorem): where the error falls from e to e^2 a step, two steps from the solution are
// right to the third order, whatever way led there.
//
// Molecular motion is chaotic: derivatives grow as exp(t/tau) with tau of tenths of a picosecond in
// liquids. Over longer times they are exact and useless; averages want other methods.
#pragma once
#include "tessera/autodiff/checkpoint.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/parameters.h"

namespace tessera::molecular {

struct Rollout {
  Dynamics::Scheme scheme = Dynamics::Scheme::velocity_verlet;  ///< or leap_frog
  double dt_ps = 0.001;
  Index steps = 1;
  Checkpoint checkpoint =
      Checkpoint::revolve(16);  ///< how reverse mode gets states back (autodiff/checkpoint.h)
};

/// The end of a rollout, and what it went through.
struct Path {
  Tensor x, v;       ///< [n, 3] nm, nm/ps; leap_frog: velocities half a step behind; virtual sites
                     ///< where their parents put them, without velocities
  Tensor potential;  ///< [steps] kJ/mol after each step
  Tensor kinetic;    ///< [steps]; leap_frog: of the half step
  TESSERA_TREE(x, v, potential, kinetic)
};

/// From x [n, 3] and v [n, 3], which meet the constraints; lengths of constraints are those in `p`.
/// Throws Error for other schemes, and where a coordinate is no number, as after a step in which a
/// constraint has no solution nearby.
Path rollout(const PotentialEnergy& u, const Tensor& x, const Tensor& v, const Tensor& h,
             const Parameters& p, const Rollout& options);

}  // namespace tessera::molecular
