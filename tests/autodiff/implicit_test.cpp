// SPDX-License-Identifier: Apache-2.0
//
// Roots, fixed points and minima against closed forms, and their derivatives against those of the
// unrolled iteration.
#include "tessera/autodiff/implicit.h"

#include "error_text.h"
#include "measured.h"
#include "noise.h"
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/interpolate.h"
#include "tessera/autodiff/sparse.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::message_of;
using testing::noise;
using testing::relative_difference;

/// x^3 + x = p. With s = 1 / (3 x^2 + 1): x' = s, x'' = -6 x s^3, x''' = s^4 (108 x^2 s - 6).
Tensor cubic(const Tensor& p, LinearSolverPtr linear = nullptr) {
  return root([p](const Tensor& x) { return x * x * x + x - p; }, zeros(p.shape()),
              {.linear = std::move(linear)})
      .x;
}

TEST(Implicit, ScalarRootToThirdOrderInEveryMode) {
  const Tensor p = tensor(1.7);
  const double x = cubic(p).item(), s = 1 / (3 * x * x + 1);
  EXPECT_NEAR(x * x * x + x, 1.7, 1e-15);
  const double want[] = {s, -6 * x * s * s * s, s * s * s * s * (108 * x * x * s - 6)};
  for (const LinearSolverPtr& linear : {LinearSolverPtr(), gmres({.tolerance = 1e-15})}) {
    const auto f = [&](Tensor q) { return cubic(q, linear); };
    const auto forward = [](auto g) {
      return [g](Tensor q) { return jvp(g, q, tensor(1.0)).second; };
    };
    EXPECT_NEAR(grad(f)(p).item(), want[0], 1e-14);
    EXPECT_NEAR(grad(grad(f))(p).item(), want[1], 1e-14);
    EXPECT_NEAR(grad(grad(grad(f)))(p).item(), want[2], 1e-13);
    EXPECT_NEAR(forward(f)(p).item(), want[0], 1e-14);
    EXPECT_NEAR(forward(forward(f))(p).item(), want[1], 1e-14);
    EXPECT_NEAR(forward(forward(forward(f)))(p).item(), want[2], 1e-13);
    EXPECT_NEAR(grad(forward(grad(f)))(p).item(), want[2], 1e-13);
  }
}

TEST(Implicit, PlansAndBatchesEqualSingleCalls) {
  const auto f = [](Tensor p) { return sum(square(cubic(p))); };
  const Tensor p = noise({4, 3}, 1);
  EXPECT_EQ(relative_difference(jit(grad(f))(select(p, 0, 0)), grad(f)(select(p, 0, 0))), 0);
  const Tensor g = vmap(grad(f))(p), h = vmap([&](Tensor q) { return hvp(f, q, ones({3})); })(p);
  const Tensor outer = grad([&](Tensor q) { return sum(vmap(f)(q)); })(p);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_LE(relative_difference(select(g, 0, i), grad(f)(select(p, 0, i))), 1e-14);
    EXPECT_LE(relative_difference(select(outer, 0, i), grad(f)(select(p, 0, i))), 1e-14);
    EXPECT_LE(relative_difference(select(h, 0, i), hvp(f, select(p, 0, i), ones({3}))), 1e-13);
  }
}

TEST(Implicit, SystemOfEquationsAgainstTheUnrolledIteration) {
  const Tensor a0 = noise({4, 4}, 1) * 0.3 + 2.0 * eye(4), b0 = noise({4}, 2), t = noise({4, 4}, 3);
  const auto residual = [](const Tensor& a, const Tensor& b, const Tensor& x) {
    return matmul(a, x) + 0.3 * x * x * x - b;
  };
  const auto by_root = [&](Tensor a) {
    return sum(sin(root([&](const Tensor& x) { return residual(a, b0, x); }, zeros({4})).x));
  };
  const auto unrolled = [&](Tensor a) {
    Tensor x = zeros({4});
    for (int k = 0; k < 12; ++k) x = x - solve(a + diag(0.9 * square(x)), residual(a, b0, x));
    return sum(sin(x));
  };
  EXPECT_LE(relative_difference(grad(by_root)(a0), grad(unrolled)(a0)), 1e-13);
  EXPECT_LE(relative_difference(hvp(by_root, a0, t), hvp(unrolled, a0, t)), 1e-12);
  const auto y = root([&](const Tensor& x) { return residual(a0, b0, x); }, zeros({4}));
  EXPECT_EQ(y.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
  EXPECT_LE(y.iterations.item<std::int32_t>(), 6);
  EXPECT_LE(y.residual.item(), 1e-14);
  const auto krylov = root([&](const Tensor& x) { return residual(a0, b0, x); }, zeros({4}),
                           {.solver = newton({.linear = gmres()})});
  EXPECT_LE(relative_difference(krylov.x, y.x), 1e-13);
}

TEST(Implicit, FixedPointAgainstTheUnrolledIteration) {
  const Tensor w = noise({5, 5}, 1) * 0.2, b = noise({5}, 2), t = noise({5, 5}, 3);
  const auto step = [&](const Tensor& m, const Tensor& x) { return tanh(matmul(m, x) + b); };
  const auto by_point = [&](Tensor m) {
    return sum(square(fixed_point([&](const Tensor& x) { return step(m, x); }, zeros({5})).x));
  };
  const auto unrolled = [&](Tensor m) {
    Tensor x = zeros({5});
    for (int k = 0; k < 200; ++k) x = step(m, x);
    return sum(square(x));
  };
  EXPECT_LE(relative_difference(grad(by_point)(w), grad(unrolled)(w)), 1e-11);
  EXPECT_LE(relative_difference(hvp(by_point, w, t), hvp(unrolled, w, t)), 1e-10);
  const auto mixed = fixed_point([&](const Tensor& x) { return step(w, x); }, zeros({5}));
  const auto plain = fixed_point([&](const Tensor& x) { return step(w, x); }, zeros({5}),
                                 {.solver = anderson({.memory = 0})});
  EXPECT_LT(mixed.iterations.item<std::int32_t>(), plain.iterations.item<std::int32_t>());
  EXPECT_LE(relative_difference(mixed.x, plain.x), 1e-11);
}

TEST(Implicit, MinimaOfRidgeRegressionFollowItsClosedForm) {
  const Tensor a = noise({8, 3}, 1), y = noise({8}, 2), k = tensor(0.7);
  const auto objective = [&](const Tensor& x, const Tensor& lambda) {
    return sum(square(matmul(a, x) - y)) + exp(lambda) * sum(square(x));
  };
  const auto closed = [&](Tensor lambda) {
    return sum(exp(solve(matmul(transpose(a), a) + exp(lambda) * eye(3), matmul(transpose(a), y))));
  };
  const auto by_newton = [&](Tensor lambda) {
    return sum(exp(argmin([&](const Tensor& x) { return objective(x, lambda); }, zeros({3})).x));
  };
  // A minimiser of the user's: gradient descent on concrete values, not differentiated.
  int calls = 0;
  const auto descent = [&](auto f, const Tensor& start) {
    ++calls;
    Tensor x = start;
    for (int i = 0; i < 3000; ++i) x = x - 0.02 * grad(f)(x);
    return x;
  };
  const auto by_descent = [&](Tensor lambda) {
    return sum(
        exp(argmin([&](const Tensor& x) { return objective(x, lambda); }, zeros({3}), descent).x));
  };
  EXPECT_LE(relative_difference(grad(by_newton)(k), grad(closed)(k)), 1e-13);
  EXPECT_LE(relative_difference(grad(grad(by_newton))(k), grad(grad(closed))(k)), 1e-13);
  EXPECT_LE(relative_difference(grad(by_descent)(k), grad(closed)(k)), 1e-12);
  EXPECT_EQ(calls, 1);
}

TEST(Implicit, ComplexEquationsNeedNotBeHolomorphic) {
  // z + 0.3 conj(z)^2 = p; its derivative along t solves dz + 0.6 conj(z) conj(dz) = t.
  const Tensor p = tessera::complex(tensor({0.4, -0.2}), tensor({0.1, 0.5})),
               t = tessera::complex(tensor({1.0, 0.3}), tensor({-0.5, 0.8}));
  const auto f = [](Tensor q) {
    return root([q](const Tensor& z) { return z + 0.3 * square(conj(z)) - q; },
                zeros({2}, Dtype::c128))
        .x;
  };
  const Tensor z = f(p), dz = jvp(f, p, t).second;
  EXPECT_LE(relative_difference(z + 0.3 * square(conj(z)), p), 1e-15);
  EXPECT_LE(relative_difference(dz + 0.6 * conj(z) * conj(dz), t), 1e-15);
  const auto [y, pull] = vjp(f, p);
  const Tensor c = tessera::complex(tensor({0.7, 0.1}), tensor({0.2, -0.9}));
  EXPECT_NEAR(real(sum(conj(c) * dz)).item(), real(sum(conj(pull(c)) * t)).item(), 1e-15);
}

TEST(Implicit, TreesOfUnknowns) {
  // u + v[0] = p, v * (1 + u^2) = [1, 2].
  const auto f = [](Tensor p) {
    const auto y = root(
        [p](const std::pair<Tensor, Tensor>& q) {
          return std::pair(q.first + select(q.second, 0, 0) - p,
                           q.second * (1.0 + square(q.first)) - tensor({1.0, 2.0}));
        },
        std::pair(tensor(0.0), ones({2})));
    return y.x.first * sum(y.x.second);
  };
  const double h = 1e-4;
  const double slope = (8 * (f(tensor(2 + h)).item() - f(tensor(2 - h)).item()) -
                        (f(tensor(2 + 2 * h)).item() - f(tensor(2 - 2 * h)).item())) /
                       (12 * h);
  EXPECT_NEAR(grad(f)(tensor(2.0)).item(), slope, 1e-10);
}

TEST(Implicit, JetOfARootIsTheSeriesOfLambertsFunction) {
  // x exp(x) = p: x(p) = sum (-k)^(k-1) p^k / k! about 0 (R. M. Corless et al. 1996,
  // doi:10.1007/BF02124750).
  const auto w = jet(
      [](Tensor p) { return root([p](const Tensor& x) { return x * exp(x) - p; }, zeros({})).x; },
      6)(tensor(0.0), tensor(1.0));
  double worst = 0, factorial = 1;
  for (int k = 1; k <= 6; ++k) {
    factorial *= k;
    const double want = std::pow(-k, k - 1) / factorial;
    worst =
        std::max(worst, std::abs(w[static_cast<std::size_t>(k)].item() - want) / std::abs(want));
  }
  EXPECT_LE(worst, 1e-13);
  test::measured("jet_of_root_order_6", worst);
}

TEST(Implicit, NewtonInALoopOfUnknownLengthHasTheTheoremsDerivatives) {
  // F(x, p) = A x + 0.3 x^3 - p = 0 by Newton's steps in a while_loop that stops by the residual;
  // the derivative that comes through the loop, in both modes, against dx = F_x^-1 dp at the
  // solution, formed apart.
  const Tensor a = 0.3 * noise({5, 5}, 1) + 2.0 * eye(5), p = noise({5}, 2), t = noise({5}, 3),
               c = noise({5}, 4);
  const auto f = [&](const Tensor& x, const Tensor& q) {
    return matmul(a, x) + 0.3 * x * x * x - q;
  };
  const auto slope = [&](const Tensor& x) { return a + diag(0.9 * x * x); };
  const auto x_of = [&](Tensor q) {
    const auto newton_step = [&, q](Tensor x) { return x - solve(slope(x), f(x, q)); };
    return newton_step(
        while_loop([&, q](Tensor x) { return norm(f(x, q)) > 1e-10; }, newton_step, zeros({5})));
  };
  const Tensor x = x_of(p), j = slope(x);
  const Tensor forward = jvp(x_of, p, t).second, back = vjp(x_of, p).second(c);
  const double ahead = relative_difference(forward, solve(j, t)),
               behind = relative_difference(back, solve(transpose(j), c));
  EXPECT_LE(relative_difference(f(x, p), zeros({5})), 1e-14);
  EXPECT_LE(ahead, 1e-12);
  EXPECT_LE(behind, 1e-12);
  test::measured("newton_while_forward", ahead);
  test::measured("newton_while_reverse", behind);
  // Second order: d/dp of c . dx/dp t is -(F_x^-T c) . (F_xx dx dx'), here 1.8 x dx dx'.
  const Tensor second = grad([&](Tensor q) { return sum(c * jvp(x_of, q, t).second); })(p);
  const double twice = relative_difference(
      second, neg(solve(transpose(j), 1.8 * x * forward * solve(transpose(j), c))));
  EXPECT_LE(twice, 1e-11);
  test::measured("newton_while_second", twice);
  // root, by the theorem itself.
  const auto by_root = [&](Tensor q) {
    return root([&, q](const Tensor& u) { return f(u, q); }, zeros({5})).x;
  };
  EXPECT_LE(relative_difference(vjp(by_root, p).second(c), back), 1e-12);
}

TEST(Implicit, SparseJacobiansGiveWhatWholeOnesGive) {
  // A sparse matrix of parameters and a diagonal nonlinearity; and the same as the gradient of an
  // energy.
  constexpr Index n = 30;
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max<Index>(0, i - 2); j <= std::min(n - 1, i + 2); j += 2)
      column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  const auto p = csr_pattern(n, n, begin, column);
  const Tensor noise_of = 0.2 * noise({p->entries()}, 1), b = noise({n}, 2),
               t = noise({p->entries()}, 3);
  const auto f = [&](Tensor v) {
    return [&, v](const Tensor& x) { return csr_matmul(v, p, x) + 3.0 * x + 0.2 * x * x * x - b; };
  };
  int entries = 0;
  const NonlinearSolver watched = [&](const NonlinearSystem& s, const Tensor& x0) {
    entries = static_cast<int>(s.sparse_jacobian(x0).pattern()->entries());
    return newton({.linear = dense_lu()})(s, x0);
  };
  const auto whole = [&](Tensor v) { return sum(square(root(f(v), zeros({n})).x)); };
  const auto sparse = [&](Tensor v) {
    return sum(square(
        root(f(v), zeros({n}), {.solver = watched, .linear = dense_lu(), .sparse = true}).x));
  };
  EXPECT_LE(relative_difference(sparse(noise_of), whole(noise_of)), 1e-14);
  EXPECT_LE(relative_difference(grad(sparse)(noise_of), grad(whole)(noise_of)), 1e-13);
  EXPECT_LE(relative_difference(hvp(sparse, noise_of, t), hvp(whole, noise_of, t)), 1e-12);
  EXPECT_EQ(entries, p->entries() + 1);  // row 1 has no diagonal of its own
  // Entries that are zero by chance keep their place: the second derivative sees them.
  const Tensor empty = zeros({p->entries()});
  EXPECT_LE(relative_difference(hvp(sparse, empty, t), hvp(whole, empty, t)), 1e-12);
  const auto energy = [&](Tensor v) {
    return [&, v](const Tensor& x) {
      return 0.5 * sum(square(csr_matmul(v, p, x))) + 0.5 * sum(square(x)) +
             0.05 * sum(square(square(x))) - sum(b * x);
    };
  };
  const auto least = [&](bool s) {
    return [&, s](Tensor v) {
      return sum(square(
          argmin(energy(v), zeros({n}), {.linear = s ? dense_lu() : nullptr, .sparse = s}).x));
    };
  };
  EXPECT_LE(relative_difference(grad(least(true))(noise_of), grad(least(false))(noise_of)), 1e-13);
  EXPECT_LE(relative_difference(vmap(grad(sparse))(stack({noise_of, empty})),
                                vmap(grad(whole))(stack({noise_of, empty}))),
            1e-12);
}

// What a difference of two parameters, or an index made of one, has at any of their values.
TEST(Implicit, SparseEntriesAreThoseOfAnyParameters) {
  using List = std::vector<Tensor>;
  const Tensor swap = tensor(std::vector<double>{0, 1, 1, 0}, {2, 2}),
               c = tensor(std::vector<double>{4, 0});
  const auto of_difference = [&](bool sparse) {
    return [&, sparse](const List& p) {
      return select(root([&](const Tensor& x) { return 3.0 * x + matmul(p[0] - p[1], x) - c; },
                         zeros({2}), {.linear = dense_lu(), .sparse = sparse})
                        .x,
                    0, 0);
    };
  };
  const List at{swap, zeros({2, 2})};
  const Tensor g = grad(of_difference(true))(at)[0];
  EXPECT_LE(
      relative_difference(g, tensor(std::vector<double>{-0.5625, 0.1875, 0.1875, -0.0625}, {2, 2})),
      1e-14);
  EXPECT_LE(relative_difference(g, grad(of_difference(false))(at)[0]), 1e-14);

  constexpr Index n = 12;
  const Tensor knots = cast(arange(n), Dtype::f64);
  const auto of_places = [&](bool sparse) {
    return [&, sparse](const List& p) {
      return select(root([&](const Tensor& x) { return x - 0.5 * interp(p[0], knots, x) - p[1]; },
                         zeros({n}), {.linear = dense_lu(), .sparse = sparse})
                        .x,
                    0, 5);
    };
  };
  const List places{knots + 0.5, ones({n})};
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_LE(
        relative_difference(grad(of_places(true))(places)[k], grad(of_places(false))(places)[k]),
        1e-13);
  EXPECT_NEAR(grad(of_places(true))(places)[1].to_vector()[6], 0.25 / (0.75 * 0.75), 1e-13);

  // A function that only some parameters have is asked at these alone.
  const Tensor b = ones({3});
  const auto of_factor = [&](bool sparse) {
    return [&, sparse](const Tensor& m) {
      return sum(root([&](const Tensor& x) { return x - 0.1 * matmul(cholesky(m), sin(x)) - b; },
                      zeros({3}), {.linear = dense_lu(), .sparse = sparse})
                     .x);
    };
  };
  EXPECT_LE(relative_difference(grad(of_factor(true))(2.0 * eye(3)),
                                grad(of_factor(false))(2.0 * eye(3))),
            1e-13);
  // The matrix of a sparse derivative may be what is differentiated: zeros of it count, too.
  const auto entries = [&](const Tensor& m) {
    const auto f = [&](const Tensor& x) { return matmul(m, x); };
    return sum(square(sparse_jacobian(f, ones({2}))(ones({2}))));
  };
  EXPECT_EQ(grad(entries)(tensor({1.0, 0.0, 0.0, 2.0}, {2, 2})).to_vector(),
            (std::vector<double>{2, 0, 0, 4}));
  EXPECT_EQ(hessian(entries)(zeros({2, 2})).to_vector(), (2.0 * eye(4)).to_vector());
}

TEST(LinearSolve, AnAdjointCountsItsTensorsOnce) {
  const auto sum_of_solution = [](const std::vector<Tensor>& p) {
    const auto a = [&p](const Tensor& x) {
      Tensor s = 2.0 * x;
      for (const Tensor& q : p) s = s + q * x;
      return s;
    };
    return sum(linear_solve(LinearOperator::function(a, a), ones({2})).x);
  };
  // 1 / (2 + 60 q) each: the derivative in an element of one of them is -1 / (2 + 60 q)^2.
  const auto g = grad(sum_of_solution)(std::vector<Tensor>(60, full({2}, 0.01)));
  for (const Tensor& one : g)
    for (const double slope : one.to_vector()) EXPECT_NEAR(slope, -1 / (2.6 * 2.6), 1e-9);
}

TEST(Implicit, FailuresAreSeen) {
  const auto none = [](const Tensor& x) { return square(x) + 1.0; };
  const auto y = root(none, tensor(1.0));
  EXPECT_LT(y.reason.item<std::int32_t>(), 0);
  EXPECT_GE(y.residual.item(), 1);
  EXPECT_TRUE(
      std::isnan(grad([](Tensor p) {
                   return root([p](const Tensor& x) { return square(x) + p; }, tensor(1.0)).x;
                 })(tensor(1.0))
                     .item()));
  const auto short_of = [](const Tensor& p) {
    return root([p](const Tensor& x) { return exp(x) - p; }, zeros(p.shape()),
                {.solver = newton({.iterations = 2})});
  };
  EXPECT_EQ(short_of(tensor(100.0)).reason.item<std::int32_t>(),
            static_cast<std::int32_t>(SolveReason::iterations));
  // F_x is regular at the last iterate: neither mode takes this for the derivative of a solution.
  const auto where_it_stopped = [&](Tensor p) { return short_of(p).x; };
  EXPECT_TRUE(std::isnan(jvp(where_it_stopped, tensor(100.0), tensor(1.0)).second.item()));
  EXPECT_TRUE(std::isnan(grad(where_it_stopped)(tensor(100.0)).item()));
  const Tensor each = vmap(grad(where_it_stopped))(tensor({1.0, 100.0}));
  EXPECT_NEAR(each.to_vector()[0], 1, 1e-14);  // x = 0 solves e^x = 1
  EXPECT_TRUE(std::isnan(each.to_vector()[1]));
  // The solution is found, but the system of its derivative is not solved.
  const Tensor a = noise({4, 4}, 5) + 3.0 * eye(4);
  const auto poorly = [a](Tensor p) {
    return sum(root([&](const Tensor& x) { return matmul(a, x) - p; }, zeros({4}),
                    {.solver = newton(), .linear = gmres({.iterations = 1})})
                   .x);
  };
  EXPECT_TRUE(std::isfinite(poorly(ones({4})).item()));
  EXPECT_TRUE(std::isnan(jvp(poorly, ones({4}), ones({4})).second.item()));
  EXPECT_TRUE(std::isnan(sum(grad(poorly)(ones({4}))).item()));
  EXPECT_NE(message_of([] {
              root([](const Tensor& x) { return sum(x); }, ones({2}));
            }).find("f64[2]; it gave f64[]"),
            std::string::npos);
  EXPECT_NE(
      message_of([] { argmin([](const Tensor& x) { return x; }, ones({2})); }).find("real scalar"),
      std::string::npos);
  EXPECT_NE(message_of([] { root([](const Tensor& x) { return x; }, arange(2)); }).find("i64[2]"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera
