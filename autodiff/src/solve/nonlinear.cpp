// SPDX-License-Identifier: Apache-2.0
//
// Newton's and Anderson's methods on concrete values.
#include "tessera/autodiff/implicit.h"
#include "tessera/autodiff/ops.h"

#include <cmath>

namespace tessera {
namespace {

double length(const Tensor& x) { return cast(norm(x), Dtype::f64).item(); }
double threshold(double tolerance, Dtype t, double start) {
  return (tolerance > 0 ? tolerance : t == Dtype::f32 ? 1e-5 : 1e-12) * std::max(start, 1.0);
}

}  // namespace

namespace detail {
NonlinearResult believed(const NonlinearSystem& s, const Tensor& x) {
  return {x, {SolveReason::converged, 0, {length(s.residual(x))}}};
}
}  // namespace detail

NonlinearSolver newton(NewtonOptions o) {
  return [o](const NonlinearSystem& s, const Tensor& x0) -> NonlinearResult {
    NonlinearResult y{x0, {SolveReason::converged, 0, {}}};
    Tensor r = s.residual(x0);
    double size = length(r);
    const double enough = threshold(o.tolerance, x0.dtype(), size);
    y.report.residuals.push_back(size);
    const auto step = [&] {
      const LinearOperator j =
          s.sparse_jacobian ? s.sparse_jacobian(y.x)
          : o.linear
              ? LinearOperator::function([&s, x = y.x](const Tensor& v) { return s.product(x, v); })
              : LinearOperator::dense(s.jacobian(y.x));
      return linear_solve(j, r, {.solver = o.linear}).x;
    };
    while (true) {
      if (!std::isfinite(size)) return y.report.reason = SolveReason::not_finite, y;
      if (size <= enough) break;
      if (y.report.iterations == o.iterations) return y.report.reason = SolveReason::iterations, y;
      ++y.report.iterations;
      const Tensor d = step();
      double t = 1;
      Tensor x, next;
      double reached = 0;
      for (int halved = 0; halved < 40; ++halved, t /= 2) {
        x = y.x - t * d;
        next = s.residual(x);
        reached = length(next);
        if (reached <= (1 - 1e-4 * t) * size) break;
      }
      if (!(reached < size))
        return y.report.reason =
                   std::isfinite(length(d)) ? SolveReason::stagnated : SolveReason::singular,
               y;
      y.x = x, r = next, size = reached;
      y.report.residuals.push_back(size);
    }
    if (size == 0) return y;
    const Tensor x = y.x - step(), next = s.residual(x);
    if (const double reached = length(next); reached < size) {
      y.x = x;
      y.report.residuals.push_back(reached);
    }
    return y;
  };
}

/// With f the residuals, dX and dF the last differences of x and f: x <- x + f - (dX + dF) g, g =
/// argmin |f - dF g|.
NonlinearSolver anderson(AndersonOptions o) {
  return [o](const NonlinearSystem& s, const Tensor& x0) -> NonlinearResult {
    NonlinearResult y{x0, {SolveReason::converged, 0, {}}};
    Tensor f = s.residual(x0);
    double size = length(f);
    const double enough = threshold(o.tolerance, x0.dtype(), size);
    y.report.residuals.push_back(size);
    std::vector<Tensor> dx, df;
    while (true) {
      if (!std::isfinite(size)) return y.report.reason = SolveReason::not_finite, y;
      if (size <= enough) return y;
      if (y.report.iterations == o.iterations) return y.report.reason = SolveReason::iterations, y;
      ++y.report.iterations;
      Tensor move = f;
      if (!df.empty()) {
        const Tensor a = stack(df, 1), gram = matmul(transpose(a), a);
        const Index k = gram.dim(0);
        const double ridge = 1e-14 * cast(trace(gram), Dtype::f64).item();
        const Tensor g = linear_solve(LinearOperator::dense(gram + ridge * eye(k, gram.dtype())),
                                      matmul(transpose(a), f))
                             .x;
        if (all(is_finite(g)).item<bool>()) move = f - matmul(stack(dx, 1) + a, g);
      }
      const Tensor next_f = s.residual(y.x + move);
      if (o.memory > 0) {
        dx.push_back(move), df.push_back(next_f - f);
        if (static_cast<int>(dx.size()) > o.memory) dx.erase(dx.begin()), df.erase(df.begin());
      }
      y.x = y.x + move, f = next_f, size = length(f);
      y.report.residuals.push_back(size);
    }
  };
}

}  // namespace tessera
