// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ode.h"

#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../transform/subgraph.h"
#include "ode_steps.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <limits>

namespace tessera::detail {
namespace {

/// The values behind traced tensors; throws with what to do instead where there are none.
Tensor value_of(const Tensor& t) {
  try {
    return concrete("odeint", t, context_line());
  } catch (const Error& e) {
    throw Error(std::string(e.what()) +
                "\n  step sizes depend on values: give OdeOptions::steps, the number of equal "
                "steps between two times, or take the continuous adjoint");
  }
}

Tensor reason_tensor(SolveReason r) { return scalar(static_cast<double>(r), Dtype::i32); }

}  // namespace

OdeSolution<std::vector<Tensor>> odeint_flat(const FlatFunction& f, const std::vector<Tensor>& y0,
                                             const Tensor& times, const OdeOptions& o) {
  const char* op = "odeint";
  if (!times.defined() || times.ndim() != 1 || times.dim(0) < 1 || !is_float(times.dtype()))
    fail(op, "times must be a real vector of at least one, got " +
                 (times.defined() ? to_string(times.type()) : "nothing"));
  for (const Tensor& y : y0)
    if (!is_inexact(y.dtype()))
      fail(op, "the state holds a " + to_string(y.type()) + "; cast it to a floating type");
  if (o.steps < 0)
    fail(op,
         "OdeOptions::steps is the number of equal steps between two times, 0 where tolerances "
         "ask for them; got " +
             std::to_string(o.steps));
  if (o.max_steps < 1)
    fail(op, "OdeOptions::max_steps is 1 or more, got " + std::to_string(o.max_steps));
  if (o.method == OdeMethod::rk4 && o.steps == 0)
    fail(op,
         "rk4 has no error estimate: give OdeOptions::steps, the number of equal steps between two "
         "times");
  const std::size_t n = y0.size();
  const Field field = [&](const Tensor& t, const Leaves& y) {
    Leaves v{t};
    v.insert(v.end(), y.begin(), y.end());
    Leaves k = f(v);
    if (types_of(k) != types_of(y))
      fail(op, "f must give what y is, " + to_string(y[0].type()) + (n > 1 ? ", ..." : "") +
                   "; it gave " + (k.empty() ? "nothing" : to_string(k[0].type())));
    return k;
  };
  const Index m = times.dim(0);
  const Tensor t0 = select(times, 0, 0);
  const auto with_first = [&](Leaves rest) {
    for (std::size_t i = 0; i < n; ++i) rest[i] = concatenate({expand_dims(y0[i], 0), rest[i]});
    return rest;
  };
  if (m == 1) {
    Leaves y;
    for (const Tensor& v : y0) y.push_back(expand_dims(v, 0));
    return {y, reason_tensor(SolveReason::exact), scalar(0.0, Dtype::i32)};
  }
  if (o.adjoint == OdeAdjoint::continuous) {
    Types types{{times.dtype(), {}}};
    for (const Tensor& y : y0) types.push_back(y.type());
    const Closed c = close(record_abstract(
                               op,
                               [&](const Leaves& v) {
                                 return field(v[0], {v.begin() + 1, v.end()});
                               },
                               types)
                               .graph);
    const auto interval =
        [&](const Leaves& v) {  // y..., reason, steps, from, to -> y..., reason, steps, y...
          const Flow r = ode_flow(c.graph, {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)},
                                  v[n + 2], v[n + 3], c.captured, o);
          Leaves out = r.y;
          out.push_back(where(less(v[n], 0), v[n], r.reason)), out.push_back(v[n + 1] + r.steps);
          out.insert(out.end(), r.y.begin(), r.y.end());
          return out;
        };
    Leaves start = y0;
    start.push_back(reason_tensor(SolveReason::exact)), start.push_back(scalar(0.0, Dtype::i32));
    if (m == 2) {
      const Flow r = ode_flow(c.graph, y0, t0, select(times, 0, 1), c.captured, o);
      Leaves end;
      for (const Tensor& y : r.y) end.push_back(expand_dims(y, 0));
      return {with_first(end), r.reason, r.steps};
    }
    const Leaves out =
        scan_flat(interval, start, {slice(times, 0, 0, m - 1), slice(times, 0, 1, m)}, -1,
                  {.checkpoint = o.checkpoint}, context_line());
    return {with_first({out.begin() + static_cast<std::ptrdiff_t>(n + 2), out.end()}), out[n],
            out[n + 1]};
  }
  if (o.steps > 0) {
    const auto interval = [&](const Leaves& v) {  // y..., from, to -> y..., y...
      const Tensor from = v[n], h = (v[n + 1] - from) / static_cast<double>(o.steps);
      const Tensor number = arange(o.steps, Dtype::i64);
      const auto step = [&](const Leaves& u) {
        const Leaves y(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(n));
        const Tensor t = from + cast(u[n], from.dtype()) * h;
        return o.method == OdeMethod::rk4 ? rk4(field, t, h, y)
                                          : dormand_prince(field, t, h, y, field(t, y)).y;
      };
      Leaves y = scan_flat(step, {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)}, {number},
                           -1, {.checkpoint = o.checkpoint}, context_line());
      const Leaves end = y;
      y.insert(y.end(), end.begin(), end.end());
      return y;
    };
    Leaves out = scan_flat(interval, y0, {slice(times, 0, 0, m - 1), slice(times, 0, 1, m)}, -1,
                           {.checkpoint = o.checkpoint}, context_line());
    return {with_first({out.begin() + static_cast<std::ptrdiff_t>(n), out.end()}),
            reason_tensor(SolveReason::exact),
            scalar(static_cast<double>(o.steps * (m - 1)), Dtype::i32)};
  }

  // Step sizes, on values.
  std::vector<Type> types{{times.dtype(), {}}};
  Leaves values;
  for (const Tensor& y : y0) types.push_back(y.type()), values.push_back(value_of(y));
  const Closed c = close(record_abstract(
                             op,
                             [&](const Leaves& v) {
                               return field(v[0], {v.begin() + 1, v.end()});
                             },
                             types)
                             .graph);
  Leaves captured;
  for (const Tensor& t : c.captured) captured.push_back(value_of(t));
  const Field plain = [&](const Tensor& t, const Leaves& y) {
    Leaves v{t};
    v.insert(v.end(), y.begin(), y.end());
    v.insert(v.end(), captured.begin(), captured.end());
    return evaluate(c.graph, v);
  };
  const std::vector<double> at = cast(value_of(times), Dtype::f64).to_vector();
  for (Index i = 1; i < m; ++i)
    if (!((at[i] - at[i - 1]) * (at[m - 1] - at[0]) > 0))
      fail(op, "times must rise or fall strictly; times[" + std::to_string(i) + "] does not");
  const Choice choice = choose_steps(
      plain, values, at, times.dtype(), o,
      [&](const Leaves& e, const Leaves& a, const Leaves& b) { return weighted(e, a, b, n, o); });
  const Tensor accepted = scalar(static_cast<double>(choice.h.size()), Dtype::i32);
  const Index reached = static_cast<Index>(choice.step_of.size());
  Leaves later;  // y at the times that were reached, but the first
  if (reached > 0) {
    // The last step ends at the last time reached by its own choice; with one such time nothing is
    // interpolated.
    const bool dense = reached > 1 || choice.reason != SolveReason::converged;
    const Tensor offset = cast(tensor(choice.offset), times.dtype()),
                 size = cast(tensor(choice.h), times.dtype());
    // The last step ends where the last time says: its size is differentiated with it.
    const Tensor last = expand_dims(select(times, 0, m - 1) - t0, 0) -
                        slice(offset, 0, static_cast<Index>(choice.h.size()) - 1,
                              static_cast<Index>(choice.h.size()));
    const Tensor h =
        choice.reason == SolveReason::converged
            ? concatenate({slice(size, 0, 0, static_cast<Index>(choice.h.size()) - 1), last})
            : size;
    const auto step = [&](const Leaves& v) {  // y..., k1..., offset, h -> y..., k7..., coefficients
                                              // of the dense output
      const Leaves y(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)),
          k1(v.begin() + static_cast<std::ptrdiff_t>(n),
             v.begin() + static_cast<std::ptrdiff_t>(2 * n));
      const Step s = dormand_prince(field, t0 + v[2 * n], v[2 * n + 1], y, k1);
      Leaves out = s.y;
      out.insert(out.end(), s.k[6].begin(), s.k[6].end());
      if (!dense) return out;
      for (std::size_t i = 0; i < n; ++i)
        for (const Tensor& r : dense_output(s, y[i], v[2 * n + 1], i)) out.push_back(r);
      return out;
    };
    Leaves start = y0, k1 = field(t0, y0);
    start.insert(start.end(), k1.begin(), k1.end());
    const Leaves out =
        scan_flat(step, start, {offset, h}, -1, {.checkpoint = o.checkpoint}, context_line());
    if (!dense) {
      for (std::size_t i = 0; i < n; ++i) later.push_back(expand_dims(out[i], 0));
    } else {
      // theta = (t - t_step) / h;  y = r1 + theta (r2 + (1 - theta) (r3 + theta (r4 + (1 - theta)
      // r5))).
      const Tensor step_of = from_span<Index>(choice.step_of, {reached});
      const Tensor theta_t =
          (slice(times, 0, 1, reached + 1) - t0 - gather(offset, step_of)) / gather(h, step_of);
      for (std::size_t i = 0; i < n; ++i) {
        Shape s{reached};
        for (int d = 0; d < y0[i].ndim(); ++d) s.push_back(1);
        const Tensor theta = reshape(like(theta_t, y0[i]), s), rest = 1.0 - theta;
        Tensor r[5];
        for (int j = 0; j < 5; ++j)
          r[j] = gather(out[2 * n + 5 * i + static_cast<std::size_t>(j)], step_of);
        later.push_back(r[0] + theta * (r[1] + rest * (r[2] + theta * (r[3] + rest * r[4]))));
      }
    }
  }
  if (reached < m - 1)
    for (std::size_t i = 0; i < n; ++i) {
      Shape s = y0[i].shape();
      s.insert(0, m - 1 - reached);
      const Tensor gone = full(s, std::numeric_limits<double>::quiet_NaN(), y0[i].dtype());
      if (reached > 0)
        later[i] = concatenate({later[i], gone});
      else
        later.push_back(gone);
    }
  return {with_first(later), reason_tensor(choice.reason), accepted};
}

}  // namespace tessera::detail
