// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ode.h"

#include <cmath>
#include <limits>

#include "../tensor_internal.h"
#include "../transform_internal.h"
#include "subgraph.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {
namespace {

using Leaves = std::vector<Tensor>;

// Dormand and Prince's pair (doi:10.1016/0771-050X(80)90013-3): nodes, stages, the difference of the two results; the
// weights of Shampine's dense output as in Hairer, Norsett and Wanner's DOPRI5.
constexpr double kC[] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double kA[7][6] = {{},
                             {1.0 / 5},
                             {3.0 / 40, 9.0 / 40},
                             {44.0 / 45, -56.0 / 15, 32.0 / 9},
                             {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                             {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                             {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double kError[] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
constexpr double kDense[] = {-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072, 701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423};

/// f(t, y), a list like y.
using Field = std::function<Leaves(const Tensor& t, const Leaves& y)>;

/// h in the precision of y.
Tensor like(const Tensor& h, const Tensor& y) { return cast(h, real_of(y.dtype())); }
/// y + h sum_j w[j] k[j].
Leaves combined(const Leaves& y, const Tensor& h, const double* w, const std::vector<Leaves>& k) {
  Leaves out;
  for (std::size_t i = 0; i < y.size(); ++i) {
    Tensor s;
    for (std::size_t j = 0; j < k.size(); ++j)
      if (w[j] != 0) s = add_tangents(s, w[j] * k[j][i]);
    out.push_back(s.defined() ? y[i] + like(h, y[i]) * s : y[i]);
  }
  return out;
}

/// One step from y with slope k1: all seven slopes; the last stage is the result.
struct Step {
  std::vector<Leaves> k;
  Leaves y;
};
Step dormand_prince(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y, const Leaves& k1) {
  Step s{{k1}, {}};
  for (int stage = 1; stage < 7; ++stage) {
    s.y = combined(y, h, kA[stage], s.k);
    s.k.push_back(f(t + kC[stage] * h, s.y));
  }
  return s;
}
Leaves rk4(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y) {
  constexpr double half[] = {0.5}, second[] = {0, 0.5}, third[] = {0, 0, 1}, last[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  std::vector<Leaves> k{f(t, y)};
  k.push_back(f(t + 0.5 * h, combined(y, h, half, k)));
  k.push_back(f(t + 0.5 * h, combined(y, h, second, k)));
  k.push_back(f(t + h, combined(y, h, third, k)));
  return combined(y, h, last, k);
}

// ---- which steps to take ------------------------------------------------------------------------------------------

struct Choice {
  std::vector<double> offset, h;   ///< from times[0]
  std::vector<Index> step_of;      ///< of each time but the first
  SolveReason reason = SolveReason::converged;
};

/// rms of e / (atol + rtol max(|a|, |b|)) over all elements.
double weighted(const Leaves& e, const Leaves& a, const Leaves& b, const OdeOptions& o) {
  double s = 0;
  Index n = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const Tensor size = maximum(abs(a[i]), abs(b[i]));
    s += cast(sum(square(abs(e[i]) / (o.atol + o.rtol * size))), Dtype::f64).item();
    n += e[i].size();
  }
  return std::sqrt(s / static_cast<double>(std::max<Index>(1, n)));
}

Choice choose(const Field& f, const Leaves& y0, const std::vector<double>& times, Dtype t_type, const OdeOptions& o) {
  Choice c;
  const double span = times.back() - times.front(), direction = span < 0 ? -1 : 1;
  const auto at = [&](double x) { return cast(Tensor(times.front() + x), t_type); };
  Leaves y = y0, k1 = f(at(0), y);
  double h = std::abs(o.first_step);
  if (h == 0) {  // so that an Euler step changes y by a hundredth of itself
    const double d0 = weighted(y, y, y, o), d1 = weighted(k1, y, y, o);
    h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * std::max(1.0, std::abs(span)) : 0.01 * d0 / d1;
  }
  double t = 0, before = 1e-4;
  std::size_t next = 1;
  bool rejected = false;
  for (Index taken = 0; next < times.size(); ++taken) {
    if (taken == o.max_steps) return c.reason = SolveReason::iterations, c;
    const double left = std::abs(span - t);
    const bool last = h >= left * (1 - 1e-12);
    const double size = direction * (last ? left : std::min(h, left));
    if (!(std::abs(size) > 1e-15 * std::max(std::abs(times.front() + t), std::abs(span)))) return c.reason = SolveReason::stagnated, c;
    const Step s = dormand_prince(f, at(t), cast(Tensor(size), t_type), y, k1);
    Leaves e;
    for (const Tensor& v : y) e.push_back(zeros(v.shape(), v.dtype()));
    const double error = weighted(combined(e, Tensor(size), kError, s.k), y, s.y, o);
    if (!std::isfinite(error)) {
      h = std::abs(size) / 10;
      rejected = true;
      if (h < 1e-14 * std::abs(span)) return c.reason = SolveReason::not_finite, c;
      continue;
    }
    // Proportional-integral control; Hairer and Wanner 1996, IV.2.
    const double factor = std::clamp(0.9 * std::pow(std::max(error, 1e-10), -0.7 / 5) * std::pow(before, 0.4 / 5), 0.2, rejected ? 1.0 : 5.0);
    if (error > 1) {
      h = std::abs(size) * std::clamp(0.9 * std::pow(error, -0.2), 0.2, 0.9);
      rejected = true;
      continue;
    }
    c.offset.push_back(t), c.h.push_back(size);
    t = last ? span : t + size;
    while (next < times.size() && (last || direction * (times[next] - times.front() - t) <= 0)) {
      c.step_of.push_back(static_cast<Index>(c.h.size()) - 1);
      ++next;
    }
    before = std::max(error, 1e-4), rejected = false;
    y = s.y, k1 = s.k[6], h = std::abs(size) * factor;
  }
  return c;
}

/// The values behind traced tensors; throws with what to do instead where there are none.
Tensor value_of(const Tensor& t) {
  try {
    return concrete("odeint", t, context_where());
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + "\n  step sizes depend on values: give OdeOptions::steps, the number of equal steps between two times");
  }
}

Tensor reason_tensor(SolveReason r) { return scalar(static_cast<double>(r), Dtype::i32); }

}  // namespace

OdeSolution<std::vector<Tensor>> odeint_flat(const FlatFunction& f, const std::vector<Tensor>& y0, const Tensor& times, const OdeOptions& o) {
  const char* op = "odeint";
  if (!times.defined() || times.ndim() != 1 || times.dim(0) < 1 || !is_float(times.dtype())) fail(op, "times must be a real vector of at least one, got " + (times.defined() ? to_string(times.type()) : "nothing"));
  for (const Tensor& y : y0)
    if (!is_inexact(y.dtype())) fail(op, "the state holds a " + to_string(y.type()) + "; cast it to a floating type");
  if (o.method == OdeMethod::rk4 && o.steps < 1) fail(op, "rk4 has no error estimate: give OdeOptions::steps, the number of equal steps between two times");
  const std::size_t n = y0.size();
  const Field field = [&](const Tensor& t, const Leaves& y) {
    Leaves v{t};
    v.insert(v.end(), y.begin(), y.end());
    Leaves k = f(v);
    if (types_of(k) != types_of(y)) fail(op, "f must give what y is, " + to_string(y[0].type()) + (n > 1 ? ", ..." : "") + "; it gave " + (k.empty() ? "nothing" : to_string(k[0].type())));
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
  if (o.steps > 0) {
    const auto interval = [&](const Leaves& v) {  // y..., from, to -> y..., y...
      const Tensor from = v[n], h = (v[n + 1] - from) / static_cast<double>(o.steps);
      const Tensor number = arange(o.steps, Dtype::i64);
      const auto step = [&](const Leaves& u) {
        const Leaves y(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(n));
        const Tensor t = from + cast(u[n], from.dtype()) * h;
        return o.method == OdeMethod::rk4 ? rk4(field, t, h, y) : dormand_prince(field, t, h, y, field(t, y)).y;
      };
      Leaves y = scan_flat(step, {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)}, {number}, -1, {.checkpoint = o.checkpoint}, context_where());
      const Leaves end = y;
      y.insert(y.end(), end.begin(), end.end());
      return y;
    };
    Leaves out = scan_flat(interval, y0, {slice(times, 0, 0, m - 1), slice(times, 0, 1, m)}, -1, {.checkpoint = o.checkpoint}, context_where());
    return {with_first({out.begin() + static_cast<std::ptrdiff_t>(n), out.end()}), reason_tensor(SolveReason::exact), scalar(static_cast<double>(o.steps * (m - 1)), Dtype::i32)};
  }

  // Step sizes, on values.
  std::vector<Type> types{{times.dtype(), {}}};
  Leaves values;
  for (const Tensor& y : y0) types.push_back(y.type()), values.push_back(value_of(y));
  const Closed c = close(record_abstract(op, [&](const Leaves& v) { return field(v[0], {v.begin() + 1, v.end()}); }, types).graph);
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
    if (!((at[i] - at[i - 1]) * (at[m - 1] - at[0]) > 0)) fail(op, "times must rise or fall strictly; times[" + std::to_string(i) + "] does not");
  const Choice choice = choose(plain, values, at, times.dtype(), o);
  const Tensor accepted = scalar(static_cast<double>(choice.h.size()), Dtype::i32);
  const Index reached = static_cast<Index>(choice.step_of.size());
  Leaves later;  // y at the times that were reached, but the first
  if (reached > 0) {
    // The last step ends at the last time reached by its own choice; with one such time nothing is interpolated.
    const bool dense = reached > 1 || choice.reason != SolveReason::converged;
    const Tensor offset = cast(tensor(choice.offset), times.dtype()), size = cast(tensor(choice.h), times.dtype());
    // The last step ends where the last time says: its size is differentiated with it.
    const Tensor last = expand_dims(select(times, 0, m - 1) - t0, 0) - slice(offset, 0, static_cast<Index>(choice.h.size()) - 1, static_cast<Index>(choice.h.size()));
    const Tensor h = choice.reason == SolveReason::converged ? concatenate({slice(size, 0, 0, static_cast<Index>(choice.h.size()) - 1), last}) : size;
    const auto step = [&](const Leaves& v) {  // y..., k1..., offset, h -> y..., k7..., coefficients of the dense output
      const Leaves y(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)), k1(v.begin() + static_cast<std::ptrdiff_t>(n), v.begin() + static_cast<std::ptrdiff_t>(2 * n));
      const Step s = dormand_prince(field, t0 + v[2 * n], v[2 * n + 1], y, k1);
      Leaves out = s.y;
      out.insert(out.end(), s.k[6].begin(), s.k[6].end());
      if (!dense) return out;
      for (std::size_t i = 0; i < n; ++i) {
        const Tensor step_h = like(v[2 * n + 1], y[i]), change = s.y[i] - y[i], bend = step_h * k1[i] - change;
        Tensor d;
        for (int j = 0; j < 7; ++j)
          if (kDense[j] != 0) d = add_tangents(d, kDense[j] * s.k[j][i]);
        for (const Tensor& r : {y[i], change, bend, change - step_h * s.k[6][i] - bend, step_h * d}) out.push_back(r);
      }
      return out;
    };
    Leaves start = y0, k1 = field(t0, y0);
    start.insert(start.end(), k1.begin(), k1.end());
    const Leaves out = scan_flat(step, start, {offset, h}, -1, {.checkpoint = o.checkpoint}, context_where());
    if (!dense) {
      for (std::size_t i = 0; i < n; ++i) later.push_back(expand_dims(out[i], 0));
    } else {
      // theta = (t - t_step) / h;  y = r1 + theta (r2 + (1 - theta) (r3 + theta (r4 + (1 - theta) r5))).
      const Tensor step_of = from_span<Index>(choice.step_of, {reached});
      const Tensor theta_t = (slice(times, 0, 1, reached + 1) - t0 - gather(offset, step_of)) / gather(h, step_of);
      for (std::size_t i = 0; i < n; ++i) {
        Shape s{reached};
        for (int d = 0; d < y0[i].ndim(); ++d) s.push_back(1);
        const Tensor theta = reshape(like(theta_t, y0[i]), s), rest = 1.0 - theta;
        Tensor r[5];
        for (int j = 0; j < 5; ++j) r[j] = gather(out[2 * n + 5 * i + static_cast<std::size_t>(j)], step_of);
        later.push_back(r[0] + theta * (r[1] + rest * (r[2] + theta * (r[3] + rest * r[4]))));
      }
    }
  }
  if (reached < m - 1)
    for (std::size_t i = 0; i < n; ++i) {
      Shape s = y0[i].shape();
      s.insert(0, m - 1 - reached);
      const Tensor gone = full(s, std::numeric_limits<double>::quiet_NaN(), y0[i].dtype());
      if (reached > 0) later[i] = concatenate({later[i], gone});
      else later.push_back(gone);
    }
  return {with_first(later), reason_tensor(choice.reason), accepted};
}

}  // namespace tessera::detail
