// SPDX-License-Identifier: Apache-2.0
//
// Linear systems as users call them: every solver on every kind of matrix, against a solution known
// beforehand and against the derivatives of the dense `solve`; what is prepared and how often; what
// a failure looks like.
#include "tessera/autodiff/solve.h"

#include "measured.h"
#include "noise.h"
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace tessera {
namespace {

using testing::noise;
using testing::relative_difference;

double inner(const Tensor& a, const Tensor& b) { return real(sum(conj(a) * b)).item(); }

struct Problem {
  const char* name;
  bool complex, hermitian, positive;
};
constexpr Problem kProblems[] = {{"symmetric positive definite", false, true, true},
                                 {"Hermitian positive definite", true, true, true},
                                 {"symmetric indefinite", false, true, false},
                                 {"Hermitian indefinite", true, true, false},
                                 {"complex symmetric", true, false, false},
                                 {"nonsymmetric", false, false, false},
                                 {"complex nonsymmetric", true, false, false}};
constexpr Index kN = 24;

/// The matrix of the 1-D problem -u'' + c u' + k u on kN points, as values on its band.
CsrPatternPtr band() {
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < kN; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j <= std::min(kN - 1, i + 1); ++j)
      column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(kN, kN, begin, column);
}
Tensor values_of(const Problem& p) {
  const auto pattern = band();
  const auto row = pattern->row_of_entries();
  std::vector<c128> v;
  for (std::size_t e = 0; e < row.size(); ++e) {
    const double i = static_cast<double>(std::min(row[e], pattern->column()[e]));
    const Index off = pattern->column()[e] - row[e];
    const std::string name = p.name;
    if (off == 0)
      v.push_back(p.positive    ? c128(2.5 + 0.1 * std::sin(i))
                  : p.hermitian ? c128(i < 10 ? -2.2 : 2.4)
                                : c128(2.1, p.complex ? 0.5 : 0.0));
    else if (p.hermitian)
      v.push_back(p.complex ? c128(-0.8, 0.3 * static_cast<double>(off)) : c128(-1.0));
    else if (name == "complex symmetric")
      v.push_back(c128(-1.0, 0.1 * std::cos(i)));
    else
      v.push_back(c128(off > 0 ? -1.3 : -0.6, p.complex ? 0.2 : 0.0));
  }
  const Tensor z = tensor(v);
  return p.complex ? z : real(z);
}

struct SolverCase {
  const char* name;
  LinearSolverPtr (*make)();
  bool hermitian_only, positive_only;
};
const KrylovOptions kTightKrylov{.tolerance = 2e-14, .iterations = 2000};
const SolverCase kSolvers[] = {{"dense LU", [] { return dense_lu(); }, false, false},
                               {"dense Cholesky", [] { return dense_cholesky(); }, true, true},
                               {"cg", [] { return cg(kTightKrylov); }, true, true},
                               {"minres", [] { return minres(kTightKrylov); }, true, false},
                               {"bicgstab", [] { return bicgstab(kTightKrylov); }, false, false},
                               {"gmres", [] { return gmres(kTightKrylov); }, false, false}};

TEST(LinearSolve, EverySolverOnEveryKindOfMatrix) {
  int cases = 0;
  for (const Problem& p : kProblems)
    for (const SolverCase& s : kSolvers)
      for (auto kind : {SolverOperator::Kind::dense, SolverOperator::Kind::csr,
                        SolverOperator::Kind::function}) {
        if ((s.positive_only && !p.positive) || (s.hermitian_only && !p.hermitian)) continue;
        if (std::string(s.name) == "bicgstab" && p.hermitian && !p.positive)
          continue;  // breaks down on indefinite matrices
        SCOPED_TRACE(std::string(p.name) + ", " + s.name + ", kind " +
                     std::to_string(static_cast<int>(kind)));
        const auto pattern = band();
        const Tensor v = values_of(p), known = noise({kN}, 3, p.complex),
                     c = noise({kN}, 4, p.complex);
        const Tensor b = csr_matmul(v, pattern, known);
        const auto solver = s.make();
        const auto x_of = [&](const Tensor& values, const Tensor& right) {
          const LinearOperator a = kind == SolverOperator::Kind::dense
                                       ? LinearOperator::dense(csr_to_dense(values, pattern))
                                   : kind == SolverOperator::Kind::csr
                                       ? LinearOperator::csr(values, pattern)
                                       : LinearOperator::function([=](const Tensor& u) {
                                           return csr_matmul(values, pattern, u);
                                         });
          return linear_solve(a, right, {.solver = solver});
        };
        const LinearSolution y = x_of(v, b);
        EXPECT_GT(y.reason.item<std::int32_t>(), 0)
            << to_string(static_cast<SolveReason>(y.reason.item<std::int32_t>())) << " at "
            << y.residual.item();
        EXPECT_LE(relative_difference(y.x, known), 1e-12);
        // The adjoint identity of b -> x.
        const auto [x, pull] = vjp([&](Tensor r) { return x_of(v, r).x; }, b);
        EXPECT_NEAR(inner(c, x), inner(pull(c), b), 1e-11 * std::abs(inner(c, x)) + 1e-11);
        // First and second derivatives in the matrix and in b against those of the dense LU as
        // recorded operations. Perturbations of a Hermitian matrix must keep it so for the solvers
        // that rely on it.
        const auto loss = [&](auto solve_with, Tensor u, Tensor r) {
          const Tensor full = csr_to_dense(u, pattern);
          const Tensor values =
              s.hermitian_only ? csr_from_dense(0.5 * (full + adjoint(full)), pattern) : u;
          const Tensor z = solve_with(values, r);
          return sum(real(conj(c) * z * z));
        };
        const auto mine = [&](std::pair<Tensor, Tensor> q) {
          return loss([&](Tensor u, Tensor r) { return x_of(u, r).x; }, q.first, q.second);
        };
        const auto plain = [&](std::pair<Tensor, Tensor> q) {
          return loss([&](Tensor u, Tensor r) { return solve(csr_to_dense(u, pattern), r); },
                      q.first, q.second);
        };
        const std::pair at(v, b), t(noise(v.shape(), 5, p.complex), noise({kN}, 6, p.complex));
        const auto g1 = grad(mine)(at), g2 = grad(plain)(at);
        EXPECT_LE(relative_difference(g1.first, g2.first), 1e-11);
        EXPECT_LE(relative_difference(g1.second, g2.second), 1e-11);
        const auto h1 = hvp(mine, at, t), h2 = hvp(plain, at, t);
        EXPECT_LE(relative_difference(h1.first, h2.first), 1e-11);
        EXPECT_LE(relative_difference(h1.second, h2.second), 1e-11);
        ++cases;
      }
  std::printf("  %d cases\n", cases);
}

TEST(LinearSolve, NotToConvergeIsAResultAndItsDerivativeIsNaN) {
  const auto pattern = band();
  const Tensor v = values_of(kProblems[5]), b = noise({kN}, 1);
  const auto a = LinearOperator::csr(v, pattern);
  const LinearSolution y =
      linear_solve(a, b, {.solver = gmres({.tolerance = 1e-12, .iterations = 4})});
  EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  EXPECT_EQ(y.iterations.item<std::int32_t>(), 4);
  EXPECT_GT(y.residual.item(), 1e-12);
  EXPECT_LT(y.residual.item(), 1);  // the last iterate, not garbage
  const Tensor true_residual = b - csr_matmul(v, pattern, y.x);
  EXPECT_NEAR(y.residual.item(), (norm(true_residual) / norm(b)).item(), 1e-13);
  int seen = 0, failed = 0;
  const Tensor g = grad([&](Tensor r) {
    return sum(linear_solve(a, r,
                            {.solver = gmres({.tolerance = 1e-12, .iterations = 4}),
                             .monitor =
                                 [&](const SolveReport& s, bool) {
                                   ++seen;
                                   failed += !s.ok();
                                   EXPECT_EQ(s.residuals.size(),
                                             5u);  // four estimates and the true one
                                 }})
                   .x);
  })(b);
  EXPECT_TRUE(std::isnan(g.to_vector()[0]));
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(failed, 2);
  // A tolerance below rounding is not met, and that is said.
  EXPECT_EQ(
      linear_solve(a, b, {.solver = cg({.tolerance = 1e-30})}).reason.item<std::int32_t>() > 0,
      false);
  EXPECT_EQ(linear_solve(a, b, {.solver = gmres({.tolerance = 1e-30})}).reason.item<std::int32_t>(),
            static_cast<std::int32_t>(SolveReason::stagnated));
}

// Residuals of conjugate gradients may rise on the way: of A = diag(1, 100), b = (10, 1) the first
// step takes |b| = 10 to 50 and the second to 0. To stop between them is the limit's doing.
TEST(LinearSolve, TheLimitIsTheReasonWhereTheResidualRoseBeforeIt) {
  const auto a = LinearOperator::dense(tensor({1.0, 0.0, 0.0, 100.0}, {2, 2}));
  const Tensor b = tensor({10.0, 1.0});
  const auto reason = [&](LinearSolverPtr solver) {
    return linear_solve(a, b, {.solver = std::move(solver)}).reason.item<std::int32_t>();
  };
  const auto limit = static_cast<std::int32_t>(SolveReason::iterations);
  EXPECT_EQ(reason(cg({.iterations = 1, .jacobi = false})), limit);
  EXPECT_EQ(reason(bicgstab({.iterations = 1, .jacobi = false})), limit);
  EXPECT_EQ(reason(cg({.iterations = 2, .jacobi = false})),
            static_cast<std::int32_t>(SolveReason::converged));
}

TEST(LinearSolve, SingularAndIndefiniteMatricesAreReported) {
  const LinearSolution y = linear_solve(LinearOperator::dense(ones({2, 2})), ones({2}));
  EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::singular));
  EXPECT_TRUE(std::isnan(y.x.to_vector()[0]));
  EXPECT_EQ(
      linear_solve(LinearOperator::dense(neg(eye(3))), ones({3}), {.solver = dense_cholesky()})
          .reason.item<std::int32_t>(),
      static_cast<std::int32_t>(SolveReason::singular));
  EXPECT_EQ(linear_solve(LinearOperator::dense(full({2, 2}, std::nan(""))), ones({2}))
                .reason.item<std::int32_t>(),
            static_cast<std::int32_t>(SolveReason::not_finite));
  // NaN and infinity are no pivots; Cholesky does not read the upper triangle.
  const auto reason = [](std::vector<double> a, const LinearSolverPtr& solver) {
    return linear_solve(LinearOperator::dense(tensor(a, {2, 2})), ones({2}), {.solver = solver})
        .reason.item<std::int32_t>();
  };
  const double nan = std::nan("");
  EXPECT_EQ(reason({nan, 0, 0, 1}, dense_cholesky()),
            static_cast<std::int32_t>(SolveReason::not_finite));
  EXPECT_EQ(reason({1, HUGE_VAL, 0, 1}, dense_lu()),
            static_cast<std::int32_t>(SolveReason::not_finite));
  EXPECT_EQ(reason({-1, nan, 0, 1}, dense_cholesky()),
            static_cast<std::int32_t>(SolveReason::singular));
  EXPECT_EQ(
      linear_solve(LinearOperator::dense(eye(3)), zeros({3}), {.solver = gmres()}).residual.item(),
      0);
}

// The equation is linear: b 2^e has the solution x 2^e, also where squares of b vanish (below
// 1e-154 in double precision; what is left of b^2 is 0, which is no reason to answer 0) or
// overflow.
TEST(LinearSolve, KrylovMethodsDoNotMindTheScaleOfTheRightHandSide) {
  const CsrPatternPtr p = csr_pattern(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  const Tensor real_values = tensor({4.0, 1.0, 1.0, 3.0}), b = tensor({1.0, 2.0});
  const Tensor values[] = {real_values, complex(real_values, tensor({0.0, 0.5, -0.5, 0.0}))};
  for (const LinearSolverPtr& solver : {cg(), minres(), bicgstab(), gmres()})
    for (const Tensor& v : values) {
      const auto at = [&](const Tensor& right) {
        return linear_solve(LinearOperator::csr(v, p), right, {.solver = solver});
      };
      const LinearSolution one = at(cast(b, v.dtype()));
      for (const int e : {-900, -600, -450, -1, 3, 450, 600, 900}) {
        SCOPED_TRACE(solver->name() + ", 2^" + std::to_string(e));
        const double scale = std::ldexp(1.0, e);
        const LinearSolution y = at(cast(b, v.dtype()) * scale);
        EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
        EXPECT_LT(y.residual.item(), 1e-10);
        EXPECT_LT(relative_difference(y.x / scale, one.x), 1e-15);
      }
    }
  // So with cotangents, which may be as small as they like.
  const auto loss = [&](Tensor right) {
    return 1e-200 * sum(linear_solve(LinearOperator::csr(real_values, p), right).x);
  };
  const std::vector<double> slope = grad(loss)(b).to_vector();
  EXPECT_NEAR(slope[0] * 1e200, 2.0 / 11, 1e-10);
  EXPECT_NEAR(slope[1] * 1e200, 3.0 / 11, 1e-10);
}

/// dense_lu that counts.
struct Counting final : LinearSolver {
  mutable std::atomic<int> prepared{0}, solved{0}, columns{0};
  LinearSolverPtr inner = dense_lu();
  struct Prepared final : PreparedSolver {
    const Counting* c;
    std::unique_ptr<PreparedSolver> inner;
    std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                   bool adjoint) const override {
      ++c->solved;
      c->columns += static_cast<int>(columns);
      return inner->solve(b, x, columns, adjoint);
    }
  };
  std::string name() const override { return "counting"; }
  bool joins_columns() const override { return true; }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    ++prepared;
    auto p = std::make_unique<Prepared>();
    p->c = this, p->inner = inner->prepare(a);
    return p;
  }
};

TEST(LinearSolve, OneFactorisationServesValueTangentsAndAdjoints) {
  const Tensor m = noise({6, 6}, 1) + 5.0 * eye(6), b = noise({6}, 2), t = noise({6, 6}, 3);
  const auto counting = std::make_shared<const Counting>();
  const auto f = [&](Tensor a) {
    return sum(square(linear_solve(LinearOperator::dense(a), b, {.solver = counting}).x));
  };
  grad(f)(m);
  EXPECT_EQ(counting->prepared, 1);
  EXPECT_EQ(counting->solved, 2);  // value, adjoint
  hvp(f, m, t);
  EXPECT_EQ(counting->prepared, 2);
  // A third derivative, and the whole Hessian: one more each.
  grad([&](Tensor a) { return sum(hvp(f, a, t) * t); })(m);
  EXPECT_EQ(counting->prepared, 3);
  // The Jacobian of b -> x: all tangents in one solve with six columns.
  counting->columns = 0, counting->solved = 0;
  const Tensor j = jacfwd([&](Tensor r) {
    return linear_solve(LinearOperator::dense(m), r, {.solver = counting}).x;
  })(b);
  EXPECT_LE(relative_difference(j, inv(m)), 1e-13);
  EXPECT_EQ(counting->prepared, 4);
  EXPECT_EQ(counting->solved, 2);
  EXPECT_EQ(counting->columns, 7);
  // One operator object, many right-hand sides.
  const auto a = LinearOperator::dense(m);
  for (int k = 0; k < 3; ++k) linear_solve(a, noise({6}, 10 + k), {.solver = counting});
  EXPECT_EQ(counting->prepared, 5);
  // A plan keeps the factors of the matrix it last met.
  const auto step = jit([&](Tensor q) { return value_and_grad(f)(q); });
  const auto eager = value_and_grad(f)(m);
  counting->prepared = 0;
  for (int k = 0; k < 3; ++k) EXPECT_EQ(relative_difference(step(m).second, eager.second), 0);
  EXPECT_EQ(counting->prepared, 1);
  EXPECT_EQ(relative_difference(step(2.0 * m).second, grad(f)(2.0 * m)), 0);
}

TEST(LinearSolve, BatchesShareWhatTheyShare) {
  const Tensor m = noise({5, 4, 4}, 1) + 4.0 * eye(4), b = noise({5, 4}, 2);
  const auto counting = std::make_shared<const Counting>();
  const auto x_of = [&](Tensor a, Tensor r) {
    return linear_solve(LinearOperator::dense(a), r, {.solver = counting}).x;
  };
  const Tensor x = vmap(x_of, {0, std::nullopt})(m, select(b, 0, 0));
  EXPECT_EQ(counting->prepared, 5);
  EXPECT_LE(relative_difference(x, solve(m, broadcast_to(select(b, 0, 0), {5, 4}))), 1e-13);
  counting->prepared = 0, counting->solved = 0;
  EXPECT_LE(relative_difference(vmap(x_of, {std::nullopt, 0})(select(m, 0, 2), b),
                                transpose(solve(select(m, 0, 2), transpose(b)))),
            1e-13);
  EXPECT_EQ(counting->prepared, 1);
  EXPECT_EQ(counting->solved, 1);
  // Every matrix with every right-hand side, and its gradient.
  counting->prepared = 0;
  const auto all = [&](Tensor a, Tensor r) {
    return vmap([&](Tensor one) {
      return vmap([&](Tensor q) { return sum(square(x_of(one, q))); })(r);
    })(a);
  };
  EXPECT_EQ(all(m, b).shape(), (Shape{5, 5}));
  EXPECT_EQ(counting->prepared, 5);
  const auto plain = [&](Tensor a, Tensor r) {
    return sum(square(solve(a, broadcast_to(transpose(r), {5, 4, 5}))));
  };
  EXPECT_LE(relative_difference(grad([&](Tensor a) { return sum(all(a, b)); })(m),
                                grad([&](Tensor a) { return plain(a, b); })(m)),
            1e-12);
  // Reports come for each system.
  const LinearSolution y = linear_solve(LinearOperator::dense(m), b, {.solver = gmres()});
  EXPECT_EQ(y.iterations.shape(), (Shape{5}));
  EXPECT_TRUE(tessera::all(greater(y.reason, 0)).item<bool>());
}

TEST(LinearSolve, ClosuresNeedNoAdjointAndMayGiveOne) {
  // A x = (1 + k^2) x - x_shifted, k captured; with a wrong adjoint the gradient would show it.
  const Tensor k = noise({7}, 1), b = noise({7}, 2), w = noise({7}, 3);
  const auto a = [](const Tensor& q) {
    return [q](const Tensor& x) {
      return (2.0 + square(q)) * x - concatenate({slice(x, 0, 1, 7), 0.0 * slice(x, 0, 0, 1)});
    };
  };
  const auto back = [](const Tensor& q) {
    return [q](const Tensor& x) {
      return (2.0 + square(q)) * x - concatenate({0.0 * slice(x, 0, 0, 1), slice(x, 0, 0, 6)});
    };
  };
  const auto derived = [&](Tensor q) {
    return dot(w,
               linear_solve(LinearOperator::function(a(q)), b, {.solver = gmres(kTightKrylov)}).x);
  };
  const auto given = [&](Tensor q) {
    return dot(
        w, linear_solve(LinearOperator::function(a(q), back(q)), b, {.solver = gmres(kTightKrylov)})
               .x);
  };
  const auto full = [&](Tensor q) {
    return dot(w, solve(diag(2.0 + square(q)) - triu(tril(ones({7, 7}), 1), 1), b));
  };
  EXPECT_LE(relative_difference(hessian(derived)(k), hessian(full)(k)), 1e-12);
  EXPECT_LE(relative_difference(hessian(given)(k), hessian(full)(k)), 1e-12);
}

TEST(LinearSolve, PreconditionersChangeTheWayAlone) {
  const auto pattern = band();
  const Tensor v = csr_scale_rows(values_of(kProblems[0]), pattern, exp(linspace(0, 12, kN))),
               b = noise({kN}, 1);
  const auto a = LinearOperator::csr(v, pattern);
  const LinearSolution plain =
      linear_solve(a, b, {.solver = gmres({.tolerance = 1e-12, .restart = 5, .jacobi = false})});
  const LinearSolution scaled =
      linear_solve(a, b, {.solver = gmres({.tolerance = 1e-12, .restart = 5})});
  const Tensor inverse = inv(csr_to_dense(v, pattern));
  const LinearSolution exact = linear_solve(
      a, b, {.solver = gmres({.tolerance = 1e-12, .preconditioner = [&](const Tensor& r, bool adj) {
                                return matmul(adj ? adjoint(inverse) : inverse, r);
                              }})});
  EXPECT_GT(scaled.reason.item<std::int32_t>(), 0);
  EXPECT_LE(exact.iterations.item<std::int32_t>(), 3);
  EXPECT_LT(scaled.iterations.item<std::int32_t>(), plain.iterations.item<std::int32_t>());
}

TEST(LinearSolve, JetsOfEveryKindOfOperatorToOrderSix) {
  // A rotation by t: A(t)^-1 (1, 0) = (cos t, -sin t). Its entries are the operands, so that each
  // moves to every order.
  constexpr int kOrder = 6;
  const auto pattern =
      csr_pattern(2, 2, std::vector<Index>{0, 2, 4}, std::vector<Index>{0, 1, 0, 1});
  const Tensor b = tensor({1.0, 0.0});
  const auto rotation = [](const Tensor& t) {
    return stack({cos(t), neg(sin(t)), sin(t), cos(t)});
  };
  const LinearSolverPtr krylov = gmres({.tolerance = 1e-15});
  const std::function<Tensor(Tensor)> kinds[] = {
      [&](Tensor t) {
        return linear_solve(LinearOperator::dense(reshape(rotation(t), {2, 2})), b).x;
      },
      [&](Tensor t) {
        return linear_solve(LinearOperator::csr(rotation(t), pattern), b, {.solver = krylov}).x;
      },
      [&](Tensor t) {
        return linear_solve(LinearOperator::function([t](const Tensor& x) {
                              return stack({cos(t) * select(x, 0, 0) - sin(t) * select(x, 0, 1),
                                            sin(t) * select(x, 0, 0) + cos(t) * select(x, 0, 1)});
                            }),
                            b, {.solver = krylov})
            .x;
      }};
  const double t = 0.4;
  double worst = 0, factorial = 1;
  for (int k = 0; k <= kOrder; ++k) {
    factorial *= std::max(1, k);
    const double quarter = std::acos(-1.0) / 2 * k;  // each derivative of a sine is a quarter turn
    const Tensor want =
        tensor({std::cos(t + quarter) / factorial, -std::sin(t + quarter) / factorial});
    for (const auto& f : kinds)
      worst = std::max(
          worst, relative_difference(
                     jet(f, kOrder)(tensor(t), tensor(1.0))[static_cast<std::size_t>(k)], want));
  }
  EXPECT_LE(worst, 1e-13);
  test::measured("jet_of_linear_solve_order_6", worst);
  // The sum over directions r of x_4, (-A^-1 D_r)^4 A^-1 b for A + t D_r.
  const Tensor a = noise({5, 5}, 1) + 4.0 * eye(5), c = noise({5}, 2), d = noise({3, 5, 5}, 3);
  const auto f = [&](Tensor m) { return linear_solve(LinearOperator::dense(m), c).x; };
  Tensor sum = zeros({5});
  for (Index r = 0; r < 3; ++r) {
    Tensor x = solve(a, c);
    for (int k = 0; k < 4; ++k) x = neg(solve(a, matmul(select(d, 0, r), x)));
    sum = sum + x;
  }
  EXPECT_LE(relative_difference(directional_sum(f, a, d, 4), 24.0 * sum), 1e-13);
  // A coefficient whose own solve fails is NaN, as a tangent is.
  const LinearSolverPtr hopeless = cg({.tolerance = 1e-12, .iterations = 1, .jacobi = false});
  const Tensor m = diag(tensor({1.0, 2.0, 3.0}));
  EXPECT_TRUE(std::isnan(jet(
                             [&](Tensor s) {
                               return linear_solve(LinearOperator::dense((1.0 + s) * m), ones({3}),
                                                   {.solver = hopeless})
                                   .x;
                             },
                             2)(tensor(0.0), tensor(1.0))[1]
                             .to_vector()[0]));
}

TEST(LinearSolve, MistakesAreNamed) {
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message([] {
              linear_solve(LinearOperator::dense(ones({3, 3})), ones({4}));
            }).find("f64[4"),
            std::string::npos);
  EXPECT_NE(message([] { LinearOperator::dense(ones({3, 2})); }).find("square"), std::string::npos);
  EXPECT_NE(message([] {
              linear_solve(LinearOperator::function([](const Tensor& x) { return sum(x); }),
                           ones({4}));
            }).find("f64[] for a f64[4]"),
            std::string::npos);
  EXPECT_NE(message([] {
              linear_solve(LinearOperator::function([](const Tensor& x) { return x * x; }),
                           ones({4}));
            }).find("not linear"),
            std::string::npos);
  EXPECT_NE(message([] { linear_solve(LinearOperator::dense(eye(3)), arange(3)); }).find("cast it"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera
