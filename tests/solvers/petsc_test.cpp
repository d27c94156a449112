// SPDX-License-Identifier: Apache-2.0
//
// Manufactured problems (symmetric positive definite, indefinite, complex symmetric, nonsymmetric)
// by every family of solvers (own, dense, PETSc's KSP, MUMPS): error of the solution, adjoint
// identity, first and second derivative.
#include "tessera/solvers/petsc.h"

#include "measured.h"
#include "norm_error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/ldlt.h"
#include "tests/autodiff/noise.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <fstream>

namespace tessera::solvers {
namespace {

using testing::noise;

/// -Laplace(u) + c du/dx + k u by differences on a grid of m x m points.
struct Problem {
  const char* name;
  double convection;
  c128 k;
  bool complex;
};
constexpr Index kM = 9;
const Problem kProblems[] = {{"symmetric positive definite", 0, 0.1, false},
                             {"symmetric indefinite", 0, -1.03, false},
                             {"complex symmetric", 0, c128(-0.5, 0.8), true},
                             {"nonsymmetric", 0.7, 0.2, false}};

struct System {
  CsrPatternPtr pattern;
  Tensor values, known, b;
};
System make(const Problem& p) {
  std::vector<Index> row, column;
  std::vector<c128> value;
  const auto add = [&](Index i, Index j, Index i2, Index j2, c128 v) {
    if (i2 < 0 || j2 < 0 || i2 >= kM || j2 >= kM) return;
    row.push_back(i * kM + j), column.push_back(i2 * kM + j2), value.push_back(v);
  };
  for (Index i = 0; i < kM; ++i)
    for (Index j = 0; j < kM; ++j) {
      add(i, j, i, j, 4.0 + p.k);
      add(i, j, i - 1, j, -1.0), add(i, j, i + 1, j, -1.0);
      add(i, j, i, j - 1, -1.0 - p.convection), add(i, j, i, j + 1, -1.0 + p.convection);
    }
  const CooPattern coo = csr_from_coo(kM * kM, kM * kM, row, column);
  System s;
  s.pattern = coo.pattern;
  s.values = csr_values(coo, tensor(value));
  if (!p.complex) s.values = real(s.values);
  s.known = noise({kM * kM}, 3, p.complex);
  s.b = csr_matmul(s.values, s.pattern, s.known);
  return s;
}

struct Family {
  const char* name;
  LinearSolverPtr (*make)();
  bool petsc, symmetric_only;
};
const Family kFamilies[] = {
    {"dense LU", [] { return dense_lu(); }, false, false},
    {"own L D L^T", [] { return ldlt(); }, false, true},
    {"own gmres", [] { return gmres({.tolerance = 1e-14, .iterations = 4000, .restart = 100}); },
     false, false},
    {"PETSc gmres with ILU",
     [] {
       return petsc({.tolerance = 1e-14, .options = "-pc_factor_levels 1 -ksp_gmres_restart 100"});
     },
     true, false},
    {"PETSc bcgs with Jacobi",
     [] { return petsc({.ksp = "bcgs", .pc = "jacobi", .tolerance = 1e-13}); }, true, false},
    {"MUMPS LU", [] { return mumps_lu(); }, true, false},
    {"MUMPS symmetric", [] { return mumps_symmetric(); }, true, true}};

TEST(Petsc, ManufacturedProblemsByEveryFamilyOfSolvers) {
  for (const Problem& p : kProblems)
    for (const Family& f : kFamilies) {
      if (f.petsc && !petsc_available()) continue;
      if (f.symmetric_only && p.convection != 0) continue;
      SCOPED_TRACE(std::string(p.name) + ", " + f.name);
      const System s = make(p);
      const auto solver = f.make();
      const auto y =
          linear_solve(LinearOperator::csr(s.values, s.pattern), s.b, {.solver = solver});
      EXPECT_GT(y.reason.item<std::int32_t>(), 0)
          << to_string(static_cast<SolveReason>(y.reason.item<std::int32_t>())) << " at "
          << y.residual.item();
      const double error = norm_error(y.x, s.known);
      EXPECT_LE(error, 1e-11);
      const Tensor c = noise({kM * kM}, 4, p.complex);
      const auto [x, pull] = vjp(
          [&](Tensor r) {
            return linear_solve(LinearOperator::csr(s.values, s.pattern), r, {.solver = solver}).x;
          },
          s.b);
      const double left = sum(real(conj(c) * x)).item(),
                   right = sum(real(conj(pull(c)) * s.b)).item();
      EXPECT_NEAR(left, right, 1e-10 * std::max(1.0, std::abs(left)));
      // Derivatives in the values, kept symmetric for the solver that reads one triangle.
      const auto kept = [&](Tensor u) {
        if (!f.symmetric_only) return u;
        const Tensor full = csr_to_dense(u, s.pattern);
        return csr_from_dense(0.5 * (full + transpose(full)), s.pattern);
      };
      const auto mine = [&](Tensor u) {
        const Tensor z =
            linear_solve(LinearOperator::csr(kept(u), s.pattern), s.b, {.solver = solver}).x;
        return sum(real(conj(c) * z * z));
      };
      const auto plain = [&](Tensor u) {
        const Tensor z = solve(csr_to_dense(kept(u), s.pattern), s.b);
        return sum(real(conj(c) * z * z));
      };
      const Tensor t = noise(s.values.shape(), 5, p.complex);
      const double first = norm_error(grad(mine)(s.values), grad(plain)(s.values));
      const double second = norm_error(hvp(mine, s.values, t), hvp(plain, s.values, t));
      EXPECT_LE(first, 1e-10);
      EXPECT_LE(second, 1e-10);
      std::printf("  %-28s %-24s error %.0e, adjoint %.0e, first %.0e, second %.0e\n", p.name,
                  f.name, error, std::abs(left - right) / std::max(1.0, std::abs(left)), first,
                  second);
    }
}

#define NEEDS_PETSC \
  std::string why;  \
  if (!petsc_available(&why)) GTEST_SKIP() << why

TEST(Petsc, ThirdDerivativeOfAMumpsSolveAgainstDifferencesOfTheSecond) {
  NEEDS_PETSC;
  const System s = make(kProblems[2]);
  const Tensor t = noise(s.values.shape(), 5, true), c = noise({kM * kM}, 4, true);
  const auto solver = mumps_lu();
  const auto f = [&](Tensor u) {
    return sum(
        real(conj(c) * linear_solve(LinearOperator::csr(u, s.pattern), s.b, {.solver = solver}).x));
  };
  const auto second = [&](Tensor u) { return hvp(f, u, t); };
  const Tensor third = jvp(second, s.values, t).second;
  // Central differences of sixth order: error h^6, rounding 1e-16 / h; 1e-8 asks for h near 1e-2 of
  // the scale of t.
  const double h = 2e-3;
  Tensor d = 0.0 * third;
  const double weights[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  for (int k = 1; k <= 3; ++k)
    d = d +
        (weights[k - 1] / h) * (second(s.values + (k * h) * t) - second(s.values - (k * h) * t));
  const double error = norm_error(third, d);
  test::measured("third_derivative_of_mumps_solve", error);
  EXPECT_LE(error, 1e-8);
  const Tensor back = grad([&](Tensor u) { return sum(real(conj(t) * second(u))); })(
      s.values);  // reverse over forward over reverse
  EXPECT_NEAR(sum(real(conj(back) * t)).item(), sum(real(conj(t) * third)).item(),
              1e-10 * std::abs(sum(real(conj(t) * third)).item()));
}

TEST(Petsc, FunctionsAndAllElementTypes) {
  NEEDS_PETSC;
  const System s = make(kProblems[3]);
  const auto a = [&](Tensor u) {
    return LinearOperator::function(
        [=, &s](const Tensor& x) { return csr_matmul(u, s.pattern, x); });
  };
  const auto ksp = petsc({.pc = "none", .tolerance = 1e-13});
  EXPECT_LE(norm_error(linear_solve(a(s.values), s.b, {.solver = ksp}).x, s.known), 1e-11);
  const auto loss = [&](auto x_of) { return [&, x_of](Tensor u) { return sum(square(x_of(u))); }; };
  EXPECT_LE(
      norm_error(
          grad(loss([&](Tensor u) { return linear_solve(a(u), s.b, {.solver = ksp}).x; }))(
              s.values),
          grad(loss([&](Tensor u) { return solve(csr_to_dense(u, s.pattern), s.b); }))(s.values)),
      1e-10);
  for (Dtype t : {Dtype::f32, Dtype::c64, Dtype::c128}) {
    const Tensor x = linear_solve(LinearOperator::csr(cast(s.values, t), s.pattern), cast(s.b, t),
                                  {.solver = mumps_lu()})
                         .x;
    EXPECT_EQ(x.dtype(), t);
    EXPECT_LE((norm(cast(x, Dtype::c128) - cast(s.known, Dtype::c128)) / norm(s.known)).item(),
              size_of(real_of(t)) == 4 ? 1e-4 : 1e-12);
  }
}

// A solver whose matrix is gone serves the next one of its pattern: whatever came between, the
// solution is that of a first solver.
TEST(Petsc, APatternIsAnalysedOnce) {
  NEEDS_PETSC;
  for (const auto& make_solver : {+[] { return mumps_lu(); }, +[] { return mumps_symmetric(); },
                                  +[] { return petsc({.ksp = "preonly", .pc = "lu"}); },
                                  +[] { return petsc({.tolerance = 1e-13}); }}) {
    const System s = make(kProblems[2]), other = make(kProblems[0]);
    const auto solved = [&](const System& of, const Tensor& values, const Tensor& b) {
      return linear_solve(LinearOperator::csr(values, of.pattern), b, {.solver = make_solver()});
    };
    SCOPED_TRACE(make_solver()->name());
    const Tensor first = solved(s, s.values, s.b).x;
    EXPECT_LE(norm_error(first, s.known), 1e-11);
    // Another matrix, another pattern, one that cannot be factored, two that live at once.
    EXPECT_LE(norm_error(solved(s, 2.0 * s.values, s.b).x, 0.5 * s.known), 1e-11);
    EXPECT_LE(norm_error(solved(other, other.values, other.b).x, other.known), 1e-11);
    const auto row = s.pattern->row_of_entries();
    std::vector<double> alive(row.size());
    for (std::size_t e = 0; e < row.size(); ++e)
      alive[e] = row[e] != 40 && s.pattern->column()[e] != 40;
    EXPECT_LT(solved(s, tensor(alive) * s.values, s.b).reason.item<std::int32_t>(), 0);
    const LinearOperator a = LinearOperator::csr(s.values, s.pattern),
                         b = LinearOperator::csr(3.0 * s.values, s.pattern);
    for (int k = 0; k < 2; ++k) {
      EXPECT_LE(norm_error(linear_solve(a, s.b, {.solver = make_solver()}).x, s.known), 1e-11);
      EXPECT_LE(norm_error(linear_solve(b, s.b, {.solver = make_solver()}).x, s.known / 3.0),
                1e-11);
    }
    const auto fresh = csr_pattern(s.pattern->rows(), s.pattern->cols(),
                                   {s.pattern->row_begin().begin(), s.pattern->row_begin().end()},
                                   {s.pattern->column().begin(), s.pattern->column().end()});
    EXPECT_EQ(linear_solve(LinearOperator::csr(s.values, fresh), s.b, {.solver = make_solver()})
                  .x.to_vector<c128>(),
              first.to_vector<c128>());
  }
}

TEST(Petsc, FactorsTakeBlocksOfColumns) {
  NEEDS_PETSC;
  for (const Problem& p : kProblems)
    for (const bool symmetric : {false, true}) {
      if (symmetric && p.convection != 0) continue;
      SCOPED_TRACE(std::string(p.name) + (symmetric ? ", symmetric" : ", LU"));
      const System s = make(p);
      const auto solver = symmetric ? mumps_symmetric() : mumps_lu();
      // More columns than a block has; one is 0, others large and small.
      std::vector<double> sizes(70, 1);
      sizes[1] = 0, sizes[2] = std::ldexp(1.0, 900), sizes[3] = std::ldexp(1.0, -900);
      const Tensor b = noise({kM * kM, 70}, 6, p.complex) * tensor(sizes);
      const LinearOperator a = LinearOperator::csr(s.values, s.pattern);
      const auto of = [&](const Tensor& r) { return linear_solve(a, r, {.solver = solver}); };
      const LinearSolution y = of(b);
      EXPECT_GT(y.reason.item<std::int32_t>(), 0);
      EXPECT_LE(y.residual.item(), 1e-13);
      const auto [x, pull] = vjp([&](Tensor r) { return of(r).x; }, b);
      const Tensor back = pull(b);
      for (const Index c : {0, 1, 2, 3, 63, 64, 69}) {
        const Tensor one = select(b, 1, c), expected = of(one).x;
        const double size = std::max(max(abs(expected)).item(), 1e-300);
        EXPECT_LE(max(abs(select(y.x, 1, c) - expected)).item(), 1e-12 * size) << c;
        const Tensor alone = vjp([&](Tensor r) { return of(r).x; }, one).second(one);
        EXPECT_LE(max(abs(select(back, 1, c) - alone)).item(),
                  1e-12 * std::max(max(abs(alone)).item(), 1e-300))
            << c;
      }
      // Batches join into blocks.
      const Tensor joined = vmap([&](Tensor r) { return of(r).x; })(stack({b, 2.0 * b}));
      EXPECT_LE(norm_error(select(select(joined, 0, 1), 1, 0), 2.0 * select(y.x, 1, 0)), 1e-13);
    }
}

TEST(Petsc, BatchesAndFailuresAndMisspeltOptions) {
  NEEDS_PETSC;
  const System s = make(kProblems[0]);
  const Tensor many = stack({s.values, 2.0 * s.values, 3.0 * s.values});
  const Tensor x = vmap([&](Tensor u) {
    return linear_solve(LinearOperator::csr(u, s.pattern), s.b, {.solver = mumps_lu()}).x;
  })(many);
  for (Index k = 0; k < 3; ++k)
    EXPECT_LE(norm_error(select(x, 0, k), (1.0 / static_cast<double>(k + 1)) * s.known), 1e-12);
  const auto few = linear_solve(LinearOperator::csr(s.values, s.pattern), s.b,
                                {.solver = petsc({.pc = "none", .iterations = 3})});
  EXPECT_EQ(few.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  const auto singular = linear_solve(LinearOperator::dense(tensor({1.0, 1.0, 1.0, 1.0}, {2, 2})),
                                     ones({2}), {.solver = mumps_lu()});
  EXPECT_LT(singular.reason.item<std::int32_t>(), 0);
  EXPECT_TRUE(std::isnan(singular.x.to_vector()[0]));
  const auto message = [&](PetscOptions o) -> std::string {
    try {
      linear_solve(LinearOperator::csr(s.values, s.pattern), s.b, {.solver = petsc(std::move(o))});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({.options = "-pc_factor_lvels 2"}).find("-pc_factor_lvels was not used"),
            std::string::npos);
  EXPECT_NE(message({.ksp = "gmrs"}).find("gmrs"), std::string::npos);
}

// b 2^e has the solution x 2^e, also where squares of b vanish or overflow, or b is below what
// PETSc takes for nothing, 1e-50.
TEST(Petsc, TheScaleOfTheRightHandSideDoesNotMatter) {
  NEEDS_PETSC;
  const System s = make(kProblems[2]);
  for (const LinearSolverPtr& solver : {mumps_lu(), petsc({.tolerance = 1e-13})}) {
    const auto at = [&](const Tensor& b) {
      return linear_solve(LinearOperator::csr(s.values, s.pattern), b, {.solver = solver});
    };
    const Tensor one = at(s.b).x;
    for (const int e : {-900, -600, -300, -140, 600, 900}) {
      SCOPED_TRACE(solver->name() + ", 2^" + std::to_string(e));
      const double scale = std::ldexp(1.0, e);
      const LinearSolution y = at(s.b * scale);
      EXPECT_GT(y.reason.item<std::int32_t>(), 0);
      EXPECT_LE(norm_error(y.x / scale, one), 1e-12);
    }
  }
}

// An incomplete factorisation is none: alone it is repeated until the residual meets the tolerance.
TEST(Petsc, APreconditionerAloneIsNotTakenForAFactorisation) {
  NEEDS_PETSC;
  const System s = make(kProblems[0]);
  const LinearOperator a = LinearOperator::csr(s.values, s.pattern);
  const auto y = linear_solve(
      a, s.b, {.solver = petsc({.ksp = "preonly", .tolerance = 1e-12, .iterations = 5000})});
  EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
  EXPECT_LE(y.residual.item(), 1e-12);
  EXPECT_LE(norm_error(y.x, s.known), 1e-9);
  const auto once = linear_solve(a, s.b, {.solver = petsc({.ksp = "preonly", .iterations = 1})});
  EXPECT_EQ(once.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  EXPECT_GT(once.residual.item(), 1e-10);
}

TEST(Petsc, PlansGiveTheSameBits) {
  NEEDS_PETSC;
  const System s = make(kProblems[3]);
  const auto solver = mumps_lu();
  const auto f = [&](Tensor u) {
    return sum(square(linear_solve(LinearOperator::csr(u, s.pattern), s.b, {.solver = solver}).x));
  };
  const auto planned = jit(grad(f));
  for (const Tensor& v : {s.values, 1.5 * s.values, s.values})
    EXPECT_EQ(planned(v).to_vector(), grad(f)(v).to_vector());
}

TEST(Petsc, SnesFindsRootsWithDerivatives) {
  NEEDS_PETSC;
  const Tensor a = 0.3 * noise({4, 4}, 1) + 2.0 * eye(4), b = noise({4}, 2);
  const auto f = [&](const NonlinearSolver& solver) {
    return [&, solver](Tensor m) {
      return sum(sin(root([&](const Tensor& x) { return matmul(m, x) + 0.3 * x * x * x - b; },
                          zeros({4}), {.solver = solver})
                         .x));
    };
  };
  EXPECT_LE(norm_error(f(petsc_snes())(a), f(newton())(a)), 1e-11);
  EXPECT_LE(norm_error(grad(f(petsc_snes()))(a), grad(f(newton()))(a)), 1e-11);
  EXPECT_LT(
      root([](const Tensor& x) { return square(x) + 1.0; }, ones({1}), {.solver = petsc_snes()})
          .reason.item<std::int32_t>(),
      0);
}

TEST(Petsc, SnesStaysAtARootWhereItBegins) {
  NEEDS_PETSC;
  for (const bool sparse : {false, true}) {
    const auto y = [&](Tensor p) {
      return root([p](const Tensor& x) { return square(x) - p; }, full({2}, 2.0),
                  {.solver = petsc_snes(), .sparse = sparse});
    };
    const Tensor p = full({2}, 4.0);
    EXPECT_GT(y(p).reason.item<std::int32_t>(), 0);
    EXPECT_EQ(y(p).residual.item(), 0);
    EXPECT_EQ(y(p).x.to_vector(), (std::vector<double>{2, 2}));
    const Tensor slope = grad([&](Tensor q) { return sum(y(q).x); })(p);
    EXPECT_LE(norm_error(slope, full({2}, 0.25)), 1e-9);
  }
}

// The double next to the root of 2 leaves |F| = 4e-16, and so does the one below it: |F| has
// nowhere to fall, and the start is the solution.
TEST(Petsc, SnesEndsWhereStepsAreBelowRounding) {
  NEEDS_PETSC;
  for (const bool sparse : {false, true}) {
    const auto y = [&](Tensor p) {
      return root([p](const Tensor& x) { return square(x) - p; }, full({2}, std::sqrt(2.0)),
                  {.solver = petsc_snes(), .sparse = sparse});
    };
    const Tensor p = full({2}, 2.0);
    EXPECT_GT(y(p).reason.item<std::int32_t>(), 0);
    EXPECT_LE(norm_error(y(p).x, full({2}, std::sqrt(2.0))), 1e-15);
    const Tensor slope = grad([&](Tensor q) { return sum(y(q).x); })(p);
    EXPECT_LE(norm_error(slope, full({2}, std::sqrt(0.125))), 1e-9);
  }
}

TEST(Petsc, SparseNewtonOnManyUnknowns) {
  NEEDS_PETSC;
  // Bratu's equation -u'' = q exp(u) on (0, 1), u = 0 at the ends, q a field: its Jacobian is
  // tridiagonal. For constant q, u = 2 log(cosh(a) / cosh(a (1 - 2 t))) with q = 8 a^2 / cosh(a)^2.
  constexpr Index n = 4000;
  // Rounding leaves 1e-9 of the residual at 0, hence the tolerance of SNES, which stops where
  // Newton falls no further.
  const double h = 1.0 / (n + 1), a = 0.4, q0 = 8 * a * a / (std::cosh(a) * std::cosh(a));
  const auto u_of = [&](const NonlinearSolver& solver) {
    return [&, solver](Tensor q) {
      const auto f = [&, q](const Tensor& u) {
        const Tensor v = pad(u, {1}, {1});
        return (2.0 * u - slice(v, 0, 0, n) - slice(v, 0, 2, n + 2)) - h * h * q * exp(u);
      };
      return root(f, zeros({n}), {.solver = solver, .linear = mumps_lu(), .sparse = true});
    };
  };
  const Tensor q = full({n}, q0), t = h * (1.0 + arange(n, Dtype::f64)),
               exact = 2.0 * log(std::cosh(a) / cosh(a * (1.0 - 2.0 * t)));
  for (const NonlinearSolver& solver : {NonlinearSolver(), petsc_snes({.tolerance = 1e-8})}) {
    const auto y = u_of(solver)(q);
    EXPECT_GT(y.reason.item<std::int32_t>(), 0);
    EXPECT_LE(max(abs(y.x - exact)).item(), h * h);  // differences of second order
    const auto x_of = [&](Tensor p) { return u_of(solver)(p).x; };
    const Tensor w = noise({n}, 1), c = noise({n}, 2) / std::sqrt(static_cast<double>(n));
    const Tensor dx = jvp(x_of, q, w).second, g = vjp(x_of, q).second(c);
    EXPECT_NEAR(sum(c * dx).item(), sum(g * w).item(), 1e-9 * (norm(g) * norm(w)).item());
    // Along a constant: du/dq = (du/da) / (dq/da) with du/da = 2 tanh a - 2 (1 - 2 t) tanh(a (1 - 2
    // t)).
    const double dq = 16 * a / std::pow(std::cosh(a), 2) * (1 - a * std::tanh(a));
    const Tensor s = 1.0 - 2.0 * t, slope = (2.0 * std::tanh(a) - 2.0 * s * tanh(a * s)) / dq;
    EXPECT_LE(max(abs(jvp(x_of, q, ones({n})).second - slope)).item(), 10 * h * h);
    // Second order, forward over reverse against differences of the gradient.
    const auto gradient = [&](Tensor p) {
      return grad([&](Tensor r) { return sum(c * square(x_of(r))); })(p);
    };
    const Tensor twice = jvp(gradient, q, w).second,
                 step = (gradient(q + 1e-3 * w) - gradient(q - 1e-3 * w)) / 2e-3;
    EXPECT_LE(norm_error(twice, step), 1e-5);
  }
}

TEST(Petsc, ThreadsChangeNoBit) {
  NEEDS_PETSC;
  // A dense matrix, so that BLAS has work for several threads.
  const Index n = 300;
  const Tensor a = noise({n, n}, 1) + 20.0 * eye(n), b = noise({n}, 2);
  const int before = omp_get_max_threads();
  std::vector<std::vector<double>> x;
  for (int threads : {1, 4}) {
    omp_set_num_threads(threads);  // what OpenBLAS and MUMPS ask
    x.push_back(linear_solve(LinearOperator::dense(a), b, {.solver = mumps_lu()}).x.to_vector());
    EXPECT_EQ(omp_get_max_threads(), threads);
  }
  omp_set_num_threads(before);
  EXPECT_EQ(x[0], x[1]);
}

TEST(Petsc, IsLoadedLate) {
  // Other tests of this program may have used it before: a program that has not shows no PETSc
  // among its libraries.
  if (::testing::UnitTest::GetInstance()->test_to_run_count() > 1) GTEST_SKIP() << "runs alone";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    EXPECT_EQ(line.find("petsc"), std::string::npos) << line;
}

}  // namespace
}  // namespace tessera::solvers
