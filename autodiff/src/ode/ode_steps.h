// SPDX-License-Identifier: Apache-2.0
//
// Steps of Runge-Kutta methods, and the choice of their sizes on values.
#pragma once
#include "tessera/autodiff/ode.h"

#include <functional>

namespace tessera::detail {

using Leaves = std::vector<Tensor>;
/// f(t, y), a list like y.
using Field = std::function<Leaves(const Tensor& t, const Leaves& y)>;

/// h in the precision of y.
Tensor like(const Tensor& h, const Tensor& y);

/// One step from y with k1 = f(t, y): the derivatives k at all seven stages; the last stage is the
/// result.
struct Step {
  std::vector<Leaves> k;
  Leaves y;
};
Step dormand_prince(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y,
                    const Leaves& k1);
/// The five coefficients r of the dense output of leaf i within a step from y:
/// y(t + theta h) = r1 + theta (r2 + (1 - theta) (r3 + theta (r4 + (1 - theta) r5))).
Leaves dense_output(const Step& s, const Tensor& y, const Tensor& h, std::size_t i);
Leaves rk4(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y);

/// Size of the error e of a step from a to b, 1 where it is what is allowed.
using ErrorSize = std::function<double(const Leaves& e, const Leaves& a, const Leaves& b)>;
/// rms of e / (atol + rtol max(|a|, |b|)) over all elements of the first `n` leaves.
double weighted(const Leaves& e, const Leaves& a, const Leaves& b, std::size_t n,
                const OdeOptions& o);

struct Choice {
  std::vector<double> offset, h;  ///< from times[0]
  std::vector<Index> step_of;     ///< of each time but the first
  SolveReason reason = SolveReason::converged;
  Leaves y;  ///< at the end of the last step
};
/// Steps from y0 at times[0] to times.back(), by proportional-integral control of their errors; t
/// has type `t_type`.
Choice choose_steps(const Field& f, const Leaves& y0, const std::vector<double>& times,
                    Dtype t_type, const OdeOptions& o, const ErrorSize& size);

/// y at t1 by the system's adaptive or equal steps; differentiated by the equations of its tangent
/// and its adjoint.
struct Flow {
  Leaves y;
  Tensor reason, steps;  ///< i32
};
/// `f` takes t, y..., p... and gives dy...; captures nothing that is traced.
Flow ode_flow(const Graph& f, const Leaves& y0, const Tensor& t0, const Tensor& t1, const Leaves& p,
              const OdeOptions& o);

}  // namespace tessera::detail
