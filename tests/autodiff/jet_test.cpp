// SPDX-License-Identifier: Apache-2.0
//
// Taylor mode and the operators made of it against closed forms and against nested first
// derivatives.
#include "tessera/autodiff/jet.h"

#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera {
namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return max(abs(a - b)).item();
}
Tensor random_points(std::uint64_t seed, const Shape& shape) {
  return normal(random_key(seed), shape);
}

/// A small tanh network of points: [p, n] -> [p, m].
struct Net {
  std::vector<Tensor> w, b;
  TESSERA_TREE(w, b)
  explicit Net(std::vector<Index> widths, std::uint64_t seed = 3) {
    for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
      w.push_back(random_points(seed + 2 * k, {widths[k], widths[k + 1]}) /
                  std::sqrt(double(widths[k])));
      b.push_back(random_points(seed + 2 * k + 1, {widths[k + 1]}) * 0.3);
    }
  }
  Tensor operator()(Tensor u) const {
    for (std::size_t k = 0; k < w.size(); ++k) {
      u = matmul(u, w[k]) + b[k];
      if (k + 1 < w.size()) u = tanh(u);
    }
    return u;
  }
};

TEST(Jet, CoefficientsOfElementaryFunctions) {
  // exp(x + t) = e^x sum t^k / k!; log(1 + t) = sum (-1)^(k+1) t^k / k; 1 / (1 - t) = sum t^k.
  const auto e = jet([](Tensor x) { return exp(x); }, 12)(Tensor(0.5), Tensor(1.0));
  const auto l = jet([](Tensor x) { return log(x); }, 12)(Tensor(1.0), Tensor(1.0));
  const auto g = jet([](Tensor x) { return 1.0 / (1.0 - x); }, 12)(Tensor(0.0), Tensor(1.0));
  double factorial = 1;
  for (int k = 0; k <= 12; ++k) {
    if (k > 0) factorial *= k;
    EXPECT_NEAR(e[k].item() * factorial, std::exp(0.5), 1e-14);
    EXPECT_NEAR(l[k].item(), k == 0 ? 0.0 : (k % 2 ? 1.0 : -1.0) / k, 1e-15);
    EXPECT_NEAR(g[k].item(), 1.0, 1e-15);
  }
}

TEST(Jet, FarOutNothingOverflows) {
  for (double x : {-800.0, -30.0, 30.0, 800.0}) {
    const auto y = jet([](Tensor v) { return tanh(v); }, 5)(Tensor(x), Tensor(1.0));
    const double s =
        4 *
        std::exp(-2 *
                 std::abs(x));  // tanh' to leading order; each further derivative -2 sign(x) times
    double want = s;
    for (int k = 1; k <= 5; want *= -2 * (x > 0 ? 1 : -1) / double(++k))
      EXPECT_NEAR(y[k].item(), want, 1e-12 * s) << x << " " << k;
  }
}

TEST(Jet, FollowsACurve) {
  // sin(t + t^2) to order 4: t + t^2 - t^3/6 - t^4/2.
  const auto y = jet([](Tensor x) { return sin(x); },
                     4)(std::vector<Tensor>{Tensor(0.0), Tensor(1.0), Tensor(1.0)});
  const double want[] = {0, 1, 1, -1.0 / 6, -0.5};
  for (int k = 0; k <= 4; ++k) EXPECT_NEAR(y[k].item(), want[k], 1e-16);
}

TEST(Jet, TreesInAndOut) {
  const auto f = [](std::pair<Tensor, Tensor> p) {
    return std::vector<Tensor>{p.first * p.second, p.first - p.second};
  };
  const auto y =
      jet(f, 2)(std::pair(Tensor(2.0), Tensor(3.0)), std::pair(Tensor(1.0), Tensor(-1.0)));
  EXPECT_EQ(y[0][0].item(), 6);
  EXPECT_EQ(y[1][0].item(), 1);
  EXPECT_EQ(y[2][0].item(), -1);
  EXPECT_EQ(y[1][1].item(), 2);
}

TEST(Jet, SixthDerivativeIsTheNestedOne) {
  const Net net({1, 8, 8, 1});
  const Tensor x = random_points(1, {5, 1}), one = ones({5, 1});
  std::function<Tensor(Tensor)> f = [&](Tensor v) { return net(v); };
  for (int k = 0; k < 6; ++k) f = [f](Tensor v) { return jvp(f, v, ones({5, 1})).second; };
  const auto y = jet([&](Tensor v) { return net(v); }, 6)(x, one);
  const Tensor nested = f(x);
  EXPECT_LE(largest_difference(y[6] * 720.0, nested) / max(abs(nested)).item(), 1e-11);
}

TEST(Jet, CustomRulesAreRespected) {
  // The rule says d(sin) = 2 cos: coefficients follow the rule, not the function.
  const auto rule = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{sin(x[0])}; },
      [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        return std::vector<Tensor>{2.0 * cos(x[0]) * t[0]};
      });
  const auto y = jet([&](Tensor x) { return rule({x})[0]; }, 3)(Tensor(0.3), Tensor(1.0));
  EXPECT_NEAR(y[1].item(), 2 * std::cos(0.3), 1e-15);
  EXPECT_NEAR(y[2].item(), -std::sin(0.3), 1e-15);
  EXPECT_NEAR(y[3].item(), -std::cos(0.3) / 3, 1e-15);
}

TEST(Jet, OfRulesWithBranchesAndLoopsThatGiveNothing) {
  // The rule of x -> x^2 asks a branch and a loop for what has no derivative, or no results at all.
  const auto rule = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] * x[0]}; },
      [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        const Tensor two = cond(
            x[0] > 0.0, [](Tensor v) { return cast(v > -1.0, Dtype::f64) * 2.0; },
            [](Tensor) { return Tensor(2.0); }, x[0]);
        (void)cond(
            x[0] > 0.0, [](Tensor) { return std::vector<Tensor>{}; },
            [](Tensor) { return std::vector<Tensor>{}; }, x[0]);
        const Tensor one =
            while_loop([](Tensor c) { return c < 1.0; }, [](Tensor) { return Tensor(1.0); },
                       stop_gradient(x[0]) * 0.0);
        (void)scan(
            [](std::vector<Tensor> c, Tensor) { return std::pair(c, std::vector<Tensor>{}); },
            std::vector<Tensor>{}, expand_dims(x[0], 0));
        return std::vector<Tensor>{two * one * x[0] * t[0]};
      });
  const auto f = [&](Tensor x) { return rule({x})[0] * x; };
  const auto y = jet(f, 3)(Tensor(2.0), Tensor(1.0));
  const double want[] = {8, 12, 6, 1};
  for (int k = 0; k <= 3; ++k) EXPECT_EQ(y[static_cast<std::size_t>(k)].item(), want[k]);
  const auto second = [&](Tensor x) { return jet(f, 2)(x, Tensor(1.0))[2]; };
  EXPECT_EQ(jet(second, 1)(Tensor(2.0), Tensor(1.0))[1].item(), 3);
  EXPECT_EQ(grad(second)(Tensor(2.0)).item(), 3);
}

TEST(Jet, NativeControlFlowOnValues) {
  const auto f = [](Tensor x) {
    Tensor y = x;
    while (y.item() < 10) y = y * x;
    return y;
  };
  const auto y = jet(f, 3)(Tensor(3.0), Tensor(1.0));  // x^3
  EXPECT_EQ(y[3].item(), 1);
  EXPECT_EQ(y[2].item(), 9);
}

TEST(Jet, ThroughFactorizationsAndSolves) {
  // A(t) = A + t B symmetric: x(t) = A(t)^-1 b has x_k = (-A^-1 B)^k A^-1 b, log det A(t) the
  // traces.
  const Tensor m = random_points(5, {4, 4}), n = random_points(6, {4, 4}),
               b = random_points(7, {4});
  const Tensor a = matmul(m, transpose(m)) + 4.0 * eye(4), d = (n + transpose(n)) * 0.1;
  const auto x = jet([&](Tensor t) { return solve(a + t * d, b); }, 4)(Tensor(0.0), Tensor(1.0));
  const auto ld = jet([&](Tensor t) { return 2.0 * sum(log(diagonal(cholesky(a + t * d)))); }, 4)(
      Tensor(0.0), Tensor(1.0));
  const Tensor step = neg(solve(a, d));
  Tensor want = solve(a, b), power = eye(4);
  for (int k = 1; k <= 4; ++k) {
    want = matmul(step, want);
    power = matmul(power, step);
    EXPECT_LE(largest_difference(x[k], want), 1e-13);
    EXPECT_NEAR(ld[k].item(), -trace(power).item() / k, 1e-13);
  }
}

TEST(Jet, UnderOtherTransforms) {
  const auto third = [](Tensor x) {
    return jet([](Tensor v) { return sin(v) * v; }, 3)(x, Tensor(1.0))[3] * 6.0;
  };
  // (x sin x)''' = -x cos x - 3 sin x.
  const auto fourth = [](double x) { return x * std::sin(x) - 4 * std::cos(x); };
  const Tensor x(0.7);
  EXPECT_NEAR(third(x).item(), -0.7 * std::cos(0.7) - 3 * std::sin(0.7), 1e-14);
  EXPECT_NEAR(grad(third)(x).item(), fourth(0.7), 1e-14);
  EXPECT_NEAR(jvp(third, x, Tensor(1.0)).second.item(), fourth(0.7), 1e-14);
  const Tensor xs = linspace(-1, 1, 5);
  const Tensor batched = vmap(third)(xs),
               compiled = jit([&](Tensor v) { return vmap(third)(v); })(xs);
  for (Index k = 0; k < 5; ++k)
    EXPECT_NEAR(batched.to_vector()[k], third(select(xs, 0, k)).item(), 1e-15);
  EXPECT_EQ(batched.to_vector(), compiled.to_vector());
}

TEST(Laplacian, IsTheTraceOfTheHessian) {
  const Net net({4, 9, 7, 2});
  const Tensor x = random_points(11, {6, 4});
  const Tensor got = laplacian(net)(x);
  ASSERT_EQ(got.shape(), (Shape{6, 2}));
  for (Index p = 0; p < 6; ++p)
    for (Index c = 0; c < 2; ++c) {
      const Tensor h = hessian([&](Tensor v) {
        return select(select(net(reshape(v, {1, 4})), 0, 0), 0, c);
      })(select(x, 0, p));
      EXPECT_NEAR(select(select(got, 0, p), 0, c).item(), trace(h).item(), 1e-13);
    }
}

TEST(Laplacian, OfAPointAndOfAPowerOfTheRadius) {
  // In n dimensions the Laplacian of r^a is a (a + n - 2) r^(a - 2).
  const Tensor x = tensor({0.3, -0.4, 1.2});
  const auto f = [](Tensor v) { return pow(sum(square(v)), Tensor(2.5)); };  // r^5
  const double r = 1.3;
  EXPECT_NEAR(laplacian(f)(x).item(), 5 * 6 * std::pow(r, 3), 1e-12);
  EXPECT_NEAR(biharmonic(f)(x).item(), 5 * 6 * 3 * 4 * r, 1e-11);
}

TEST(Biharmonic, OfPolynomialsInOneToFiveDimensions) {
  // u = (sum_i a_i x_i^2)^2 + x_0^5: laplacian^2 = 8 (sum_i a_i)^2 + 16 sum_i a_i^2 + 120 x_0; each
  // number of dimensions has its own directions or goes by two Laplacians.
  for (Index n = 1; n <= 5; ++n) {
    const Tensor x = random_points(40 + static_cast<unsigned>(n), {7, n}),
                 a = linspace(0.5, 1.5, n);
    const auto u = [&](Tensor p) {
      return square(sum(a * square(p), {1})) + pow(select(p, 1, 0), 5);
    };
    const Tensor want = 8.0 * square(sum(a)) + 16.0 * sum(square(a)) + 120.0 * select(x, 1, 0);
    EXPECT_LE(max(abs(biharmonic(u)(x) - want)).item(), 1e-11) << n;
    EXPECT_LE(max(abs(laplacian(laplacian(u))(x) - want)).item(), 1e-11) << n;
    const auto wave = [](Tensor p) { return sin(sum(p, {1})) * exp(select(p, 1, 0)); };
    EXPECT_LE(max(abs(biharmonic(wave)(x) - laplacian(laplacian(wave))(x))).item(), 1e-11) << n;
  }
}

TEST(PointDerivatives, AreThoseOfJacobianAndHessian) {
  const Net net({3, 5, 4, 2});
  const Tensor x = random_points(61, {6, 3});
  const PointDerivatives e = derivatives(net, x);
  EXPECT_LE(max(abs(e.value - net(x))).item(), 0.0);
  for (Index p = 0; p < 6; ++p) {
    const auto one = [&](Tensor v) { return reshape(net(reshape(v, {1, 3})), {2}); };
    const Tensor at = select(x, 0, p), j = jacfwd(one)(at), h = jacfwd(jacfwd(one))(at);
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(select(select(e.d(i), 0, p), 0, c).item(), select(select(j, 0, c), 0, i).item(),
                    1e-14);
        for (int k = 0; k < 3; ++k)
          EXPECT_NEAR(select(select(e.d(i, k), 0, p), 0, c).item(),
                      select(select(select(h, 0, c), 0, i), 0, k).item(), 1e-13);
      }
  }
  // curl curl = grad div - laplacian; a gradient to weights, in a plan; one point.
  const auto field = Net({3, 6, 3});
  const auto residual = [](const Net& n, const Tensor& p) {
    const PointDerivatives e = derivatives(n, p);
    const auto h = [&](int c, int i, int j) { return select(e.d(i, j), 1, c); };
    std::vector<Tensor> r;
    for (int c = 0; c < 3; ++c) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      r.push_back(h(a, a, c) + h(b, b, c) - h(c, a, a) - h(c, b, b));
    }
    return stack(r, 1);
  };
  EXPECT_LE(max(abs(residual(field, x) - curl(curl(field))(x))).item(), 1e-13);
  const auto loss = [&](const Net& n, const Tensor& p) { return mean(square(residual(n, p))); };
  const auto other = [&](const Net& n, const Tensor& p) { return mean(square(curl(curl(n))(p))); };
  const Net g = jit([&](const Net&n, Tensor p) { return grad(loss)(n, p); })(field, x),
            w = grad(other)(field, x);
  const auto a = flatten_tree(g), b = flatten_tree(w);
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_LE(max(abs(a[k] - b[k])).item(), 1e-12);
}

TEST(Laplacian, WithValueAndGradientInOnePass) {
  const Net net({3, 5, 4, 2});
  const Tensor x = random_points(61, {6, 3});
  const PointLaplacian p = value_and_laplacian(net, x);
  const PointDerivatives e = derivatives(net, x);
  EXPECT_LE(max(abs(p.value - e.value)).item(), 0.0);
  EXPECT_LE(max(abs(p.first - e.first)).item(), 1e-14);
  EXPECT_LE(max(abs(p.laplacian - laplacian(net)(x))).item(), 0.0);
  EXPECT_LE(max(abs(p.laplacian - e.d(0, 0) - e.d(1, 1) - e.d(2, 2))).item(), 1e-13);
  const PointLaplacian line = value_and_laplacian([](Tensor v) { return v + 1.0; }, x);
  EXPECT_EQ(line.first.shape(), (Shape{3, 6, 3}));
  EXPECT_EQ(max(abs(line.laplacian)).item(), 0.0);
  EXPECT_EQ(value_and_laplacian([](Tensor) { return ones({2}); }, x).first.shape(), (Shape{3, 2}));
}

TEST(PointDerivatives, HoldForEveryKindOfStep) {
  // Products of moving factors, quotients, constants among the operands, steps that are linear,
  // fixed, not element-wise, of several results, or custom; a function that does not bend, and one
  // that does not move.
  const Tensor m = random_points(71, {3, 3});
  const FlatFunction cube = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] * x[0] * x[0]}; },
      [](const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        return std::vector<Tensor>{3.0 * square(x[0]) * t[0]};
      });
  const std::vector<std::function<Tensor(Tensor)>> functions{
      [](Tensor v) { return prod(v); },
      [](Tensor v) { return v / (1.0 + sum(square(v))); },
      [&](Tensor v) { return solve(m + 3.0 * eye(3) + outer(v, v), sin(v)); },
      [&](Tensor v) {
        return eigh(m + transpose(m) + 5.0 * diag(tensor({1.0, 2.0, 3.0})) + diag(v)).values;
      },
      [&](Tensor v) { return cube({matmul(m, v)})[0]; },
      [](Tensor v) { return where(v > 0.1, square(v), stop_gradient(v) * reverse(v, {0})); },
      [](Tensor v) {
        return scan([](Tensor c, Tensor u) { return std::pair(sin(c + u) * u, c); }, Tensor(0.3), v)
            .first;
      },
      [&](Tensor v) { return matmul(m, v); },
      [](Tensor) { return ones({2}); },
  };
  const Tensor x = tensor({0.4, -0.3, 0.7});
  for (std::size_t k = 0; k < functions.size(); ++k) {
    SCOPED_TRACE(k);
    const auto& f = functions[k];
    const PointDerivatives e = derivatives(f, x);
    const Tensor j = jacfwd(f)(x), h = jacfwd(jacfwd(f))(x);
    for (int i = 0; i < 3; ++i) {
      EXPECT_LE(max(abs(e.d(i) - select(j, -1, i))).item(), 1e-13);
      for (int l = 0; l < 3; ++l)
        EXPECT_LE(max(abs(e.d(i, l) - select(select(h, -1, i), -1, l))).item(), 1e-12);
    }
  }
}

TEST(LinearOperator, TakesOneDirectionForEachLine) {
  // d^4/dx_0^4 + d^4/dx_1^4: polarization names k e_i for several k; they are one direction each,
  // and exact.
  const auto f = [](Tensor p) { return sum(pow(p, 6), {-1}); };
  const Tensor x = tensor({0.5, -0.25, 2.0}), want = sum(360.0 * square(slice(x, 0, 0, 2)));
  const auto op = [&](Tensor p) { return differential_operator(f, {{1, {4}}, {1, {0, 4}}})(p); };
  EXPECT_NEAR(op(x).item(), want.item(), 1e-12);
  const std::vector<Type> types{x.type()};
  const Graph g =
      trace([&](const std::vector<Tensor>& v) { return std::vector<Tensor>{op(v[0])}; }, types);
  for (const Type& t : g.types)
    EXPECT_LE(t.shape.count(), 2 * 3);  // two directions of three coordinates
}

TEST(Laplacian, GradientToWeights) {
  const Net net({3, 6, 6, 1});
  const Tensor x = random_points(13, {5, 3});
  const auto loss = [&](const Net& n) { return mean(square(laplacian(n)(x) + n(x))); };
  const Net g = grad(loss)(net);
  Net up = net, down = net;
  const double h = 1e-5;
  const Tensor d = random_points(17, net.w[1].shape());
  up.w[1] = net.w[1] + h * d, down.w[1] = net.w[1] - h * d;
  const double slope = (loss(up).item() - loss(down).item()) / (2 * h);
  EXPECT_NEAR(sum(g.w[1] * d).item(), slope,
              1e-7 * std::max(1.0, std::abs(slope)));  // differences: O(h^2) and rounding / h
  const Net compiled = jit(grad(loss))(net);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_EQ(contiguous(g.w[k]).to_vector(), contiguous(compiled.w[k]).to_vector());
}

TEST(Laplacian, SquaresOfDirectionsAreSummedBeforeTheyAreScaled) {
  // sum_r f''(z) z_r z_r = f''(z) sum_r z_r z_r: no array over all directions beside z_r itself.
  const Index n = 64, wide = 4096;
  const Tensor a = normal(random_key(5), {n, n}) / 8.0, b = normal(random_key(6), {n, wide}),
               x = normal(random_key(7), {n});
  const auto f = [a, b](Tensor p) { return sum(tanh(matmul(tanh(matmul(p, a)), b))); };
  const auto lap = jit(laplacian(f));
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  const double found = lap(x).item();
  EXPECT_LT(memory_stats().peak - before, n * wide * sizeof(double) * 3 / 2);
  const double expect = trace(hessian(f)(x)).item();
  EXPECT_NEAR(found, expect, 1e-11 * std::abs(expect));
}

TEST(Laplacian, OfComplexValues) {
  // Plane wave e^{i k x}: -|k|^2 times itself.
  const Tensor k = tensor({1.0, -2.0, 0.5}), x = random_points(19, {4, 3});
  const auto wave = [&](Tensor v) { return exp(complex(0.0, matmul(v, k))); };
  EXPECT_LE(max(abs(laplacian(wave)(x) + 5.25 * wave(x))).item(), 1e-14);
}

TEST(LinearOperator, MixedDerivativesOfPolynomials) {
  // d^6 / dx^3 dy dz^2 of x^4 y^2 z^3 = 24 x 2 y 6 z.
  const auto f = [](Tensor v) {
    const auto at = [&](Index i) { return select(v, -1, i); };
    return pow(at(0), 4) * pow(at(1), 2) * pow(at(2), 3);
  };
  const Tensor x = tensor({0.5, 1.5, -0.75}, Shape{1, 3});
  EXPECT_NEAR(partial(f, {3, 1, 2})(x).to_vector()[0], 24 * 0.5 * 2 * 1.5 * 6 * -0.75, 1e-11);
  EXPECT_NEAR(partial(f, {0, 0, 4})(x).to_vector()[0], 0, 1e-12);
  // A sum of orders, with the function itself: u_xx - 3 u_xy + 2 u_z + 5 u.
  const Tensor got = differential_operator(f, {{1, {2}}, {-3, {1, 1}}, {2, {0, 0, 1}}, {5, {}}})(x);
  const double a = 0.5, b = 1.5, c = -0.75;
  const double want = 12 * a * a * b * b * c * c * c - 3 * 8 * a * a * a * b * c * c * c +
                      2 * 3 * std::pow(a, 4) * b * b * c * c +
                      5 * std::pow(a, 4) * b * b * c * c * c;
  EXPECT_NEAR(got.to_vector()[0], want, 1e-12);
}

TEST(LinearOperator, FifthMixedDerivativeIsTheNestedOne) {
  const Net net({9, 8, 1});
  const Tensor x = random_points(23, {1, 9});
  std::function<Tensor(Tensor)> f = [&](Tensor v) { return net(v); };
  // A product of five first derivatives, by polarization over 2^5 / 2 directions.
  std::vector<int> five(9, 0);
  for (int k = 0; k < 5; ++k) {
    five[static_cast<std::size_t>(k)] = 1;
    const Tensor e = reshape(select(eye(9), 0, k), {1, 9});
    f = [f, e](Tensor v) { return jvp(f, v, e).second; };
  }
  const double nested = f(x).item(), got = partial(net, five)(x).item();
  EXPECT_NEAR(got, nested, 1e-11 * std::max(1.0, std::abs(nested)));
}

TEST(Divergence, AndCurlOfKnownFields) {
  const auto at = [](const Tensor& v, Index i) { return select(v, -1, i); };
  const auto field = [&](Tensor v) {
    return stack({at(v, 0) * at(v, 1), sin(at(v, 2)), at(v, 0) * square(at(v, 2))}, -1);
  };
  const Tensor x = random_points(29, {7, 3});
  const Tensor a = at(x, 0), b = at(x, 1), c = at(x, 2);
  EXPECT_LE(largest_difference(divergence(field)(x), b + 2.0 * a * c), 1e-15);
  EXPECT_LE(largest_difference(curl(field)(x), stack({neg(cos(c)), neg(square(c)), neg(a)}, -1)),
            1e-15);
  const auto turn = [&](Tensor v) { return stack({neg(at(v, 1)), at(v, 0)}, -1); };
  EXPECT_LE(largest_difference(curl(turn)(random_points(31, {4, 2})), full({4}, 2.0)), 1e-15);
  // curl grad = 0, div curl = 0.
  const auto potential = [&](Tensor v) { return exp(at(v, 0)) * at(v, 1) * cos(at(v, 2)); };
  const auto gradient = [&](Tensor v) {
    return grad([&](Tensor u) { return sum(potential(u)); })(v);
  };
  EXPECT_LE(max(abs(curl(gradient)(x))).item(), 1e-14);
  EXPECT_LE(max(abs(divergence(curl(field))(x))).item(), 1e-14);
}

TEST(StochasticLaplacian, IsUnbiased) {
  // f = x^T A x / 2 + x^T x: trace A + 2n, by an average whose deviation is known: sqrt(2 sum_{i !=
  // j} A_ij^2 / samples).
  const Tensor m = random_points(37, {6, 6}), a = m + transpose(m), x = random_points(41, {6});
  const auto f = [&](Tensor v) { return 0.5 * dot(v, matmul(a, v)) + dot(v, v); };
  const Index samples = 4000;
  const double exact = trace(a).item() + 12;
  const double off = sum(square(a)).item() - sum(square(diagonal(a))).item();
  EXPECT_NEAR(stochastic_laplacian(f, random_key(1), samples)(x).item(), exact,
              4 * std::sqrt(2 * off / samples));
}

TEST(Jet, ErrorsNameWhatWasMet) {
  const auto f = [](Tensor x) { return sin(x); };
  EXPECT_THROW(jet(f, 2)(zeros({3}), zeros({4})), Error);
  EXPECT_THROW(laplacian(f)(Tensor(1.0)), Error);
  EXPECT_THROW(partial(f, {1, -1})(zeros({2, 2})), Error);
  EXPECT_THROW(partial(f, {1, 0, 1})(zeros({2, 2})), Error);
  EXPECT_THROW(divergence([](Tensor x) { return sum(x); })(zeros({3})), Error);
  try {
    jet(f, 2)(zeros({3}), zeros({4}));
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("f64[3] is a f64[4]"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tessera
