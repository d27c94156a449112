// SPDX-License-Identifier: Apache-2.0
//
// Ordinary differential equations dy/dt = f(t, y), differentiated to any order.
//
//   const auto decay = [&](Tensor t, Tensor y) { return neg(k * y); };
//   auto y = odeint(decay, y0, linspace(0, 2, 5)).y;  // [5, ...]
//
// Derivatives go to y0, the times and every tensor f captures, in one of two ways:
//
//   discrete    Step sizes are found first, on values alone; then the steps taken are run as one
//               `scan`. Derivatives are exact for the numbers computed (the choice of steps is not
//               differentiated), and reverse mode keeps what the checkpoint policy says. Where
//               values are not known (inside jit and vmap) steps cannot be chosen: say their
//               number.
//   continuous  Tangents and adjoints are solutions of equations of their own, with steps of
//               their own: right to the tolerance, no step is kept, and steps are chosen also
//               inside jit and vmap (each element by itself).
//               The adjoint runs y back from each time to the one before: strongly damped or
//               chaotic systems cannot be run back far; give such systems more times, or take the
//               discrete one.
//               Cotangents of captured tensors are integrals along the path, for which no step is
//               made shorter: where f changes faster with t than y and its cotangent show (p sin 50
//               t at p = 0), they are no better than those steps; the same cure.
//
// E. Hairer, S. P. Norsett, G. Wanner 1993, Solving Ordinary Differential Equations I, II.4-II.6;
// Y. Cao, S. Li, L. Petzold, R. Serban 2003, doi:10.1137/S1064827501380630 (adjoint).
#pragma once
#include "tessera/autodiff/checkpoint.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/solve.h"

namespace tessera {

enum class OdeMethod : std::uint8_t {
  dormand_prince,  ///< order 5, error estimate of order 4, dense output of order 4
  rk4,             ///< the classical method of order 4; needs `steps`
};
enum class OdeAdjoint : std::uint8_t { discrete, continuous };
struct OdeOptions {
  OdeMethod method = OdeMethod::dormand_prince;
  double rtol = 1e-8,
         atol = 1e-10;       ///< on the estimated error of each step: rms of e / (atol + rtol |y|)
  Index steps = 0;           ///< equal steps between two times; 0: as the tolerances ask
  Index max_steps = 100000;  ///< from 1; accepted and rejected ones together, of the continuous
                             ///< way between two times
  double first_step = 0;     ///< 0: chosen from f
  Checkpoint checkpoint = Checkpoint::all();
  OdeAdjoint adjoint = OdeAdjoint::discrete;
};
/// y at all times, every leaf [times, ...]. Where the tolerance was not met within max_steps, or
/// the step vanished, `reason` is negative (iterations, stagnated, not_finite) and y is NaN from
/// the first time that was not reached.
template <class Y>
struct OdeSolution {
  Y y;
  Tensor reason, steps;  ///< SolveReason i32 (`exact` for equal steps), accepted steps i32
  TESSERA_TREE(y, reason, steps)
};

namespace detail {
/// f: t, y leaves -> dy leaves.
OdeSolution<std::vector<Tensor>> odeint_flat(const FlatFunction& f, const std::vector<Tensor>& y0,
                                             const Tensor& times, const OdeOptions& o);
}  // namespace detail

/// y(times[0]) = y0; times [m] rise or fall. y0 is a tree of inexact tensors; f(t, y) gives a tree
/// like it, t a scalar of the times' type. f is recorded on types: it reads no values. Steps of the
/// discrete adjoint pass over times (dense output of order 4), those of the continuous one end on
/// each.
template <class F, IsTree Y>
OdeSolution<Y> odeint(const F& f, const Y& y0, const Tensor& times,
                      const OdeOptions& options = {}) {
  const FlatFunction flat_f = [&f, like = y0](const std::vector<Tensor>& v) {
    return flatten_tree(f(v[0], unflatten_tree(like, std::vector<Tensor>(v.begin() + 1, v.end()))));
  };
  auto s = detail::odeint_flat(flat_f, flatten_tree(y0), times, options);
  return {unflatten_tree(y0, s.y), s.reason, s.steps};
}

}  // namespace tessera
