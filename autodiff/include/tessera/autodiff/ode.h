// SPDX-License-Identifier: Apache-2.0
//
// Ordinary differential equations dy/dt = f(t, y), differentiated to any order.
//
//   auto y = odeint([&](Tensor t, Tensor y) { return neg(k * y); }, y0, linspace(0, 2, 5)).y;   // [5, ...]
//
// Step sizes are found first, on values alone; then the steps taken are run as one `scan`, through which derivatives
// with respect to y0, the times and every tensor f captures go (the discrete adjoint: exact for the numbers computed;
// the choice of steps is not differentiated). Reverse mode keeps what the checkpoint policy says. Where values are not
// known (inside jit and vmap) steps cannot be chosen: say their number.
//
// E. Hairer, S. P. Norsett, G. Wanner 1993, Solving Ordinary Differential Equations I, II.4-II.6.
#pragma once
#include "tessera/autodiff/checkpoint.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/solve.h"

namespace tessera {

enum class OdeMethod : std::uint8_t {
  dormand_prince,  ///< order 5, error estimate of order 4, dense output of order 4
  rk4,             ///< the classical method of order 4; needs `steps`
};
struct OdeOptions {
  OdeMethod method = OdeMethod::dormand_prince;
  double rtol = 1e-8, atol = 1e-10;  ///< on the estimated error of each step: rms of e / (atol + rtol |y|)
  Index steps = 0;                   ///< equal steps between two times; 0: as the tolerances ask
  Index max_steps = 100000;          ///< accepted and rejected ones together
  double first_step = 0;             ///< 0: chosen from f
  Checkpoint checkpoint = Checkpoint::all();
};
/// y at all times, every leaf [times, ...]. Where the tolerance was not met within max_steps, or the step vanished,
/// `reason` is negative (iterations, stagnated, not_finite) and y is NaN from the first time that was not reached.
template <class Y>
struct OdeSolution {
  Y y;
  Tensor reason, steps;  ///< SolveReason i32 (`exact` for equal steps), accepted steps i32
  TESSERA_TREE(y, reason, steps)
};

namespace detail {
/// f: t, y leaves -> dy leaves.
OdeSolution<std::vector<Tensor>> odeint_flat(const FlatFunction& f, const std::vector<Tensor>& y0, const Tensor& times, const OdeOptions& o);
}  // namespace detail

/// y(times[0]) = y0; times [m] rise or fall. y0 is a tree of inexact tensors; f(t, y) gives a tree like it, t a scalar of
/// the times' type. f is recorded on types: it reads no values.
template <class F, IsTree Y>
OdeSolution<Y> odeint(const F& f, const Y& y0, const Tensor& times, const OdeOptions& options = {}) {
  const FlatFunction flat_f = [&f, like = y0](const std::vector<Tensor>& v) {
    return flatten_tree(f(v[0], unflatten_tree(like, std::vector<Tensor>(v.begin() + 1, v.end()))));
  };
  auto s = detail::odeint_flat(flat_f, flatten_tree(y0), times, options);
  return {unflatten_tree(y0, s.y), s.reason, s.steps};
}

}  // namespace tessera
