// SPDX-License-Identifier: Apache-2.0
#include "ode_steps.h"

#include "../core/rules.h"
#include "tessera/autodiff/ops.h"

#include <cmath>

namespace tessera::detail {
namespace {

// Dormand and Prince's pair (doi:10.1016/0771-050X(80)90013-3): nodes, stages, the difference of
// the two results; the weights of Shampine's dense output as in Hairer, Norsett and Wanner's
// DOPRI5.
constexpr double kC[] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double kA[7][6] = {
    {},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double kError[] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                             -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
constexpr double kDense[] = {-12715105075.0 / 11282082432,  0,
                             87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                             701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                             69997945.0 / 29380423};

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

}  // namespace

Tensor like(const Tensor& h, const Tensor& y) { return cast(h, real_of(y.dtype())); }

Step dormand_prince(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y,
                    const Leaves& k1) {
  Step s{{k1}, {}};
  for (int stage = 1; stage < 7; ++stage) {
    s.y = combined(y, h, kA[stage], s.k);
    s.k.push_back(f(t + kC[stage] * h, s.y));
  }
  return s;
}
Leaves dense_output(const Step& s, const Tensor& y, const Tensor& h, std::size_t i) {
  const Tensor step = like(h, y), r2 = s.y[i] - y, r3 = step * s.k[0][i] - r2;
  Tensor d;
  for (int j = 0; j < 7; ++j)
    if (kDense[j] != 0) d = add_tangents(d, kDense[j] * s.k[j][i]);
  return {y, r2, r3, r2 - step * s.k[6][i] - r3, step * d};
}
Leaves rk4(const Field& f, const Tensor& t, const Tensor& h, const Leaves& y) {
  constexpr double half[] = {0.5}, second[] = {0, 0.5}, third[] = {0, 0, 1},
                   last[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  std::vector<Leaves> k{f(t, y)};
  k.push_back(f(t + 0.5 * h, combined(y, h, half, k)));
  k.push_back(f(t + 0.5 * h, combined(y, h, second, k)));
  k.push_back(f(t + h, combined(y, h, third, k)));
  return combined(y, h, last, k);
}

double weighted(const Leaves& e, const Leaves& a, const Leaves& b, std::size_t leaves,
                const OdeOptions& o) {
  double s = 0;
  Index n = 0;
  for (std::size_t i = 0; i < leaves; ++i) {
    const Tensor size = maximum(abs(a[i]), abs(b[i])), error = abs(e[i]);
    // Without atol nothing is allowed where y stays 0, and no error is none.
    const Tensor share = where(equal(error, 0.0), 0.0, error / (o.atol + o.rtol * size));
    s += cast(sum(square(share)), Dtype::f64).item();
    n += e[i].size();
  }
  return std::sqrt(s / static_cast<double>(std::max<Index>(1, n)));
}

Choice choose_steps(const Field& f, const Leaves& y0, const std::vector<double>& times,
                    Dtype t_type, const OdeOptions& o, const ErrorSize& measure) {
  Choice c;
  c.y = y0;
  const double span = times.back() - times.front(), direction = span < 0 ? -1 : 1;
  const auto at = [&](double x) { return cast(Tensor(times.front() + x), t_type); };
  Leaves k1 = f(at(0), y0);
  double h = std::abs(o.first_step);
  if (h == 0) {  // so that an Euler step changes y by a hundredth of itself
    const double d0 = measure(y0, y0, y0), d1 = measure(k1, y0, y0);
    const bool known = d0 >= 1e-5 && d1 >= 1e-5 && std::isfinite(d1);  // not where y leaves 0
    h = known ? 0.01 * d0 / d1 : 1e-6 * std::max(1.0, std::abs(span));
    h = std::max(h, 1e-14 * std::max(std::abs(times.front()), std::abs(span)));  // moves t
  }
  double t = 0, before = 1e-4;
  std::size_t next = 1;
  bool rejected = false;
  for (Index taken = 0; next < times.size(); ++taken) {
    if (taken == o.max_steps) return c.reason = SolveReason::iterations, c;
    const double left = std::abs(span - t);
    const bool last = h >= left * (1 - 1e-12);
    const double size = direction * (last ? left : std::min(h, left));
    if (!last && !(std::abs(size) > 1e-15 * std::max(std::abs(times.front() + t), std::abs(span))))
      return c.reason = SolveReason::stagnated, c;
    const Step s = dormand_prince(f, at(t), cast(Tensor(size), t_type), c.y, k1);
    Leaves e;
    for (const Tensor& v : c.y) e.push_back(zeros(v.shape(), v.dtype()));
    const double error = measure(combined(e, Tensor(size), kError, s.k), c.y, s.y);
    if (!std::isfinite(error)) {
      h = std::abs(size) / 10;
      rejected = true;
      if (h < 1e-14 * std::abs(span)) return c.reason = SolveReason::not_finite, c;
      continue;
    }
    // Proportional-integral control; Hairer and Wanner 1996, IV.2.
    const double factor =
        std::clamp(0.9 * std::pow(std::max(error, 1e-10), -0.7 / 5) * std::pow(before, 0.4 / 5),
                   0.2, rejected ? 1.0 : 5.0);
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
    c.y = s.y, k1 = s.k[6], h = std::abs(size) * factor;
  }
  return c;
}

}  // namespace tessera::detail
