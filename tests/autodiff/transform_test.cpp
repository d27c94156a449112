// SPDX-License-Identifier: Apache-2.0
//
// Transforms against hand derivatives, differences and each other, nested in each other.
#include "error_text.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

using namespace tessera;

namespace {

using tessera::testing::message_of;

Tensor f(const Tensor& x) { return sum(sin(x) * exp(-0.5 * square(x))); }

Tensor rosenbrock(const Tensor& x) {
  const Tensor a = slice(x, 0, 0, -1), b = slice(x, 0, 1, x.dim(0));
  return sum(100.0 * square(b - square(a)) + square(1.0 - a));
}

}  // namespace

TEST(Grad, MatchesTheHandDerivative) {
  const Tensor x = tensor({-1.3, 0.2, 0.9, 2.4});
  const auto g = grad(f)(x).to_vector(), v = x.to_vector();
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(g[i], (std::cos(v[i]) - v[i] * std::sin(v[i])) * std::exp(-v[i] * v[i] / 2), 1e-15);
}

TEST(Grad, KeepsNestedPerturbationsApart) {
  // D_x (x D_y (x + y)) = 1; confusing the two perturbations gives 2.
  const auto outer = [](Tensor x) {
    return x * grad([&](Tensor y) { return x + y; })(Tensor(1.0));
  };
  EXPECT_EQ(grad(outer)(Tensor(1.0)).item(), 1.0);
  const auto forward = [](Tensor x) {
    return x * jvp([&](Tensor y) { return x + y; }, Tensor(1.0), Tensor(1.0)).second;
  };
  EXPECT_EQ(jvp(forward, Tensor(1.0), Tensor(1.0)).second.item(), 1.0);
  EXPECT_EQ(jit(grad(outer))(Tensor(1.0)).item(), 1.0);
  EXPECT_EQ(vmap(grad(outer))(ones({3})).to_vector(), (std::vector<double>{1, 1, 1}));
}

TEST(Grad, ReadsLiveValuesForControlFlow) {
  const auto branch = [](Tensor x) { return x.item() > 0 ? x * x : -3.0 * x; };
  EXPECT_EQ(grad(branch)(Tensor(2.0)).item(), 4.0);
  EXPECT_EQ(grad(branch)(Tensor(-2.0)).item(), -3.0);
  const auto newton = [](Tensor a) {  // sqrt(a) by iteration to convergence
    Tensor y(1.0);
    while (std::abs((y * y - a).item()) > 1e-14) y = 0.5 * (y + a / y);
    return y;
  };
  EXPECT_NEAR(grad(newton)(Tensor(2.0)).item(), 0.5 / std::sqrt(2.0), 1e-12);
}

TEST(Grad, OfComplexModulusSquaredIsTwiceTheNumber) {
  const Tensor z = scalar(c128(1.5, -2.5), Dtype::c128);
  const auto size2 = [](Tensor z) { return square(abs(z)); };
  EXPECT_LT(std::abs(grad(size2)(z).item<c128>() - c128(3, -5)), 1e-14);
  EXPECT_LT(
      std::abs(grad([](Tensor z) { return real(z * conj(z)); })(z).item<c128>() - c128(3, -5)),
      1e-14);
}

TEST(Vjp, IsTheAdjointOfJvpForComplexMaps) {
  const auto map = [](Tensor z) { return exp(z) * conj(z) + complex(abs(z), real(z)); };
  const Tensor z = tensor<c128>({{0.3, 0.7}, {-1.1, 0.4}}), t = tensor<c128>({{1, 2}, {0.5, -1}}),
               c = tensor<c128>({{-2, 0.3}, {1, 1}});
  const auto pairing = [](const Tensor& a, const Tensor& b) {
    return sum(real(conj(a) * b)).item();
  };
  const double forward = pairing(c, jvp(map, z, t).second),
               backward = pairing(vjp(map, z).second(c), t);
  EXPECT_NEAR(forward, backward, 1e-13 * std::abs(forward));
}

TEST(Hessian, AgreesInEveryOrderOfTransforms) {
  const Tensor x = linspace(-1.2, 1.1, 6), v = linspace(0.3, -0.7, 6);
  const Tensor h = hessian(rosenbrock)(x);
  const auto close = [](const Tensor& a, const Tensor& b) {
    return max(abs(a - b)).item() <= 1e-11 * max(abs(b)).item();
  };
  EXPECT_TRUE(close(jacrev(grad(rosenbrock))(x), h));
  EXPECT_TRUE(close(jacfwd([](Tensor x) { return jacfwd(rosenbrock)(x); })(x), h));
  EXPECT_TRUE(close(hvp(rosenbrock, x, v), matmul(h, v)));
  EXPECT_TRUE(close(grad([&](Tensor x) { return sum(grad(rosenbrock)(x) * v); })(x), matmul(h, v)));
  EXPECT_TRUE(close(vmap([&](Tensor v) { return hvp(rosenbrock, x, v); })(eye(6)), h));
  EXPECT_TRUE(close(jit(hessian(rosenbrock))(x), h));
  EXPECT_TRUE(close(h, transpose(h)));
}

TEST(Jacobian, OfComplexMapsAsksWhetherTheyAreHolomorphic) {
  const auto map = [](Tensor z) { return z * z * z; };
  const Tensor z = tensor<c128>({{0.5, 1}, {2, -1}});
  EXPECT_NE(message_of([&] { jacfwd(map)(z); }).find("Holomorphic::yes"), std::string::npos);
  const auto j = jacfwd(map, Holomorphic::yes)(z).to_vector<c128>(),
             r = jacrev(map, Holomorphic::yes)(z).to_vector<c128>();
  for (int i = 0; i < 4; ++i) EXPECT_LT(std::abs(j[i] - r[i]), 1e-13);
  EXPECT_LT(std::abs(j[0] - 3.0 * c128(0.5, 1) * c128(0.5, 1)), 1e-14);
}

TEST(Jacobian, OfANonholomorphicMapGoesThroughAsReal) {
  // conj as a real map: diag(1, -1) for every element.
  const auto map = [](Tensor x) { return as_real(conj(as_complex(x))); };
  const Tensor x = as_real(tensor<c128>({{0.5, 1}, {2, -1}}));
  EXPECT_EQ(reshape(jacfwd(map)(x), {4, 4}).to_vector(),
            (std::vector<double>{1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1}));
  EXPECT_EQ(jacrev(map)(x).to_vector(), jacfwd(map)(x).to_vector());
}

TEST(Vmap, EqualsTheLoopOverAnyAxis) {
  const Tensor a = reshape(linspace(-1, 1, 24), {2, 3, 4}), w = reshape(linspace(0, 1, 12), {4, 3});
  const auto g = [](Tensor m, Tensor w) { return tanh(matmul(m, w)); };
  const Tensor batched = vmap(g, {1, not_mapped}, 1)(a, w);
  for (Index k = 0; k < 3; ++k) {
    const auto one = g(select(a, 1, k), w).to_vector(), got = select(batched, 1, k).to_vector();
    ASSERT_EQ(one.size(), got.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], got[i], 1e-15);
  }
  const Tensor nested =
      vmap(vmap([](Tensor x) { return square(x); }))(reshape(arange(6, Dtype::f64), {2, 3}));
  EXPECT_EQ(nested.to_vector(), (std::vector<double>{0, 1, 4, 9, 16, 25}));
}

TEST(Jit, NumbersAndFlagsAreArgumentsLikeTensors) {
  int recordings = 0;
  const auto f = jit([&](const Tensor& x, const Tensor& rate, const Tensor& n, const Tensor& on) {
    ++recordings;
    return where(on, x * rate + cast(n, Dtype::f64), x);
  });
  const Tensor x = cast(arange(3), Dtype::f64);
  EXPECT_EQ(f(x, 0.5, 2, true).to_vector(), (std::vector<double>{2, 2.5, 3}));
  const double rate = 3;
  EXPECT_EQ(f(x, rate, -1, false).to_vector(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(f(x, 1.0f, std::int64_t{7}, true).to_vector(), (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(recordings, 1);
  // An integer in place of a number is another type, and types do not mix silently.
  EXPECT_THROW(f(x, 2, 0, true), Error);
  // In a derivative along with it.
  EXPECT_EQ(grad([&](const Tensor& r) { return sum(f(x, r, 0, true)); })(Tensor(2.0)).item(), 3);
}

TEST(Jit, GivesTheBitsOfEagerExecution) {
  const Tensor x = linspace(-2, 3, 1000);
  const auto step = [](Tensor x) { return value_and_grad(f)(x); };
  const auto [y, g] = step(x);
  const auto compiled = jit(step);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto [py, pg] = compiled(x);
    EXPECT_EQ(py.to_vector(), y.to_vector());
    EXPECT_EQ(pg.to_vector(), g.to_vector());
  }
}

struct SumOrProduct {
  Tensor operator()(const std::pair<Tensor, Tensor>& p) const { return p.first + p.second; }
  Tensor operator()(const std::array<Tensor, 2>& p) const { return p[0] * p[1]; }
};
TEST(Jit, PlansOfOneTypeOfTreeServeNoOther) {
  const auto f = jit(SumOrProduct{});
  const Tensor a(3.0), b(4.0);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(f(std::pair(a, b)).item(), 7);
    EXPECT_EQ((f(std::array<Tensor, 2>{a, b}).item()), 12);
  }
}

TEST(Jit, ReusesMemoryAndDropsRepeatedWork) {
  const Type t{Dtype::f64, {1000}};
  const Graph g = trace(
      [](const std::vector<Tensor>& in) {
        Tensor x = in[0], unused = exp(x);
        for (int i = 0; i < 50; ++i) x = sin(x) + cos(in[0]);
        return std::vector<Tensor>{x};
      },
      std::span(&t, 1));
  const Graph o = simplify(g);
  verify(o);
  EXPECT_EQ(o.equations.size(), 101u);  // 50 sines, 50 sums, one cosine
  const Plan p(o);
  EXPECT_LE(p.arena_bytes(), 2 * 8000u + 128);
}

TEST(Jit, WorkOnEqualConstantsIsRepeatedWork) {
  // Dense, broadcast and scalar-filled constants, each made twice; others differ in one byte, in
  // sign of zero, or in shape.
  const Type t{Dtype::f64, {3}};
  const auto equations = [&](const std::function<Tensor(Tensor)>& f) {
    const Graph o =
        simplify(trace([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; },
                       std::span(&t, 1)));
    verify(o);
    return o.equations.size();
  };
  EXPECT_EQ(equations([](Tensor x) {
              return x * tensor({1.0, 2.0, 3.0}) + x * tensor({1.0, 2.0, 3.0});
            }),
            2u);
  EXPECT_EQ(equations([](Tensor x) {
              return x * broadcast_to(Tensor(2.0), {3}) + x * broadcast_to(Tensor(2.0), {3});
            }),
            2u);
  EXPECT_EQ(equations([](Tensor x) {
              return x * tensor({1.0, 2.0, 3.0}) + x * tensor({1.0, 2.0, 3.0000000000000004});
            }),
            3u);
  EXPECT_EQ(equations([](Tensor x) {
              return x * tensor({0.0, 0.0, 0.0}) + x * tensor({-0.0, 0.0, 0.0});
            }),
            3u);
  EXPECT_EQ(equations([](Tensor x) {
              return sum(x * tensor({1.0, 2.0, 3.0})) + sum(x * tensor({1.0, 2.0, 3.0}, {1, 3}));
            }),
            5u);
}

TEST(Jit, RunsFromSeveralThreads) {
  const auto step = jit([](Tensor x) { return grad(rosenbrock)(x); });
  const Tensor x = linspace(-1, 1, 64);
  const auto expect = step(x).to_vector();
  std::vector<std::thread> pool;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    pool.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) wrong[t] += step(x).to_vector() != expect;
    });
  for (auto& t : pool) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Jit, IsTransparentInsideOtherTransforms) {
  const auto inner = jit(rosenbrock);
  const Tensor x = linspace(-1, 1, 5);
  EXPECT_EQ(grad([&](Tensor x) { return inner(x); })(x).to_vector(),
            grad(rosenbrock)(x).to_vector());
}

TEST(Errors, NameTheOperationTheTypesTheLineAndTheTransforms) {
  const std::string m = message_of([] {
    vmap([](Tensor x) {
      return grad([](Tensor y) { return sum(matmul(y, zeros({5, 2}))); })(x);
    })(zeros({2, 3, 4}));
  });
  EXPECT_NE(m.find("[matmul]"), std::string::npos) << m;
  EXPECT_NE(m.find("f64[3,4] x f64[5,2]"), std::string::npos) << m;
  EXPECT_NE(m.find("transform_test.cpp:"), std::string::npos) << m;
  EXPECT_NE(m.find("vmap > grad"), std::string::npos) << m;
  EXPECT_NE(message_of([] {
              vmap([](Tensor x) { return x.item() > 0 ? x : -x; })(zeros({2}));
            }).find("where(condition"),
            std::string::npos);
  EXPECT_NE(message_of([] { add(cast(1.0, Dtype::i64), cast(1.0, Dtype::f32)); }).find("cast"),
            std::string::npos);
  Tensor escaped;
  grad([&](Tensor x) { return escaped = x * x; })(Tensor(1.0));
  EXPECT_NE(message_of([&] { escaped + 1.0; }).find("escaped"), std::string::npos);
  EXPECT_NE(message_of([] { grad([](Tensor x) { return x; })(zeros({2})); }).find("scalar"),
            std::string::npos);
}

TEST(Literals, TakeTheTensorsType) {
  const Tensor x = zeros({2}, Dtype::f32);
  EXPECT_EQ((2.0 * x).dtype(), Dtype::f32);
  EXPECT_EQ((x * c128(0, 1)).dtype(), Dtype::c64);
  EXPECT_EQ((x + zeros({2})).dtype(), Dtype::f64);
  EXPECT_EQ((1 + cast(x, Dtype::i64)).dtype(), Dtype::i64);
  EXPECT_THROW(cast(x, Dtype::i64) * 2.5, Error);
  EXPECT_EQ(pow(Tensor(4.0), 0.5).item(), 2.0);  // not pow(x, int): the exponent would be cut to 0
  EXPECT_EQ(pow(ones({2}, Dtype::f32), 0.5).dtype(), Dtype::f32);
}

TEST(StopGradient, PassesTheValueAndNoDerivative) {
  const auto g = [](Tensor x) { return x * stop_gradient(x); };
  EXPECT_EQ(grad(g)(Tensor(3.0)).item(), 3.0);
}

// ---- custom rules: each is compared with the same function without one, through a stack of
// transforms ----

namespace {

using Flat = std::vector<Tensor>;

/// The engine's own derivative of log(1 + e^x) as a plain function.
Tensor plain(const Tensor& x) { return sum(log(1.0 + exp(x)) * x); }

void expect_same_derivatives(const std::function<Tensor(Tensor)>& custom) {
  const Tensor x = tensor({-1.0, 0.3, 2.0}), v = tensor({0.5, -1.0, 0.25});
  const auto near = [](const Tensor& a, const Tensor& b) {
    EXPECT_LT(max(abs(a - b)).item(), 1e-13);
  };
  near(custom(x), plain(x));
  near(jvp(custom, x, v).second, jvp(plain, x, v).second);
  near(grad(custom)(x), grad(plain)(x));
  near(hvp(custom, x, v), hvp(plain, x, v));
  near(hessian(custom)(x), hessian(plain)(x));
  near(jacrev(grad(custom))(x), hessian(plain)(x));
  const Tensor many = stack({x, 2.0 * x});
  near(vmap(custom)(many), vmap(plain)(many));
  near(vmap(grad(custom))(many), vmap(grad(plain))(many));
  near(grad([&](Tensor m) { return sum(vmap(custom)(m)); })(many), vmap(grad(plain))(many));
  near(jit(grad(custom))(x), grad(plain)(x));
}

}  // namespace

TEST(CustomJvp, FollowsItsRuleEverywhere) {
  const FlatFunction softplus_x = custom_jvp(
      [](const Flat& x) { return Flat{log(1.0 + exp(x[0]))}; },
      [](const Flat& x, const Flat&, const Flat& t) { return Flat{t[0] * logistic(x[0])}; });
  expect_same_derivatives([&](Tensor x) { return sum(softplus_x({x})[0] * x); });
}

TEST(CustomJvp, TakesTheRuleAndNotTheBody) {
  const FlatFunction wrong =
      custom_jvp([](const Flat& x) { return Flat{x[0] * x[0]}; },
                 [](const Flat&, const Flat&, const Flat& t) { return Flat{7.0 * t[0]}; });
  EXPECT_EQ(grad([&](Tensor x) { return wrong({x})[0]; })(Tensor(5.0)).item(), 7.0);
}

TEST(CustomVjp, WorksInForwardModeAndHigherOrder) {
  const FlatFunction softplus_x = custom_vjp(
      [](const Flat& x) {
        return Flat{log(1.0 + exp(x[0])), logistic(x[0])};
      },
      1, [](const Flat& residual, const Flat& ct) { return Flat{ct[0] * residual[0]}; });
  expect_same_derivatives([&](Tensor x) { return sum(softplus_x({x})[0] * x); });
}

TEST(CustomLinear, UsesItsTransposeInReverseMode) {
  const Tensor a = reshape(linspace(-1, 1, 12), {4, 3});
  int forward_runs = 0, transpose_runs = 0;
  const auto map = [&](Tensor scale) {
    return custom_linear(
        [&, scale](const Flat& x) { return ++forward_runs, Flat{matmul(a, x[0]) * scale}; },
        [&, scale](const Flat& y) {
          return ++transpose_runs, Flat{matmul(transpose(a), y[0]) * scale};
        });
  };
  const auto loss = [&](Tensor x) { return sum(square(map(Tensor(2.0))({x})[0])); };
  const auto reference = [&](Tensor x) { return sum(square(2.0 * matmul(a, x))); };
  const Tensor x = tensor({0.3, -0.2, 1.5}), v = tensor({1.0, 0.5, -1.0});
  EXPECT_LT(max(abs(grad(loss)(x) - grad(reference)(x))).item(), 1e-14);
  EXPECT_GT(transpose_runs, 0);
  EXPECT_LT(max(abs(hvp(loss, x, v) - hvp(reference, x, v))).item(), 1e-13);
  const Tensor many = stack({x, v});
  EXPECT_LT(max(abs(vmap(grad(loss))(many) - vmap(grad(reference))(many))).item(), 1e-13);
}

TEST(Trees, ArgumentsMayBeStructsAndTuples) {
  struct Layer {
    Tensor w, b;
    TESSERA_TREE(w, b)
  };
  const Layer p{reshape(linspace(-1, 1, 6), {2, 3}), tensor({0.1, 0.2})};
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const auto loss = [](const Layer& p, const Tensor& x) {
    return sum(square(matmul(p.w, x) + p.b));
  };
  const auto [y, g] = value_and_grad(loss)(p, x);
  const Tensor r = 2.0 * (matmul(p.w, x) + p.b);
  EXPECT_LT(max(abs(g.b - r)).item(), 1e-14);
  EXPECT_LT(max(abs(g.w - matmul(expand_dims(r, 1), expand_dims(x, 0)))).item(), 1e-14);
  EXPECT_GT(y.item(), 0);
}

TEST(Custom, TakesMoreTensorsThanFitOnTheStack) {
  const FlatFunction add_all = [](const std::vector<Tensor>& x) {
    Tensor s = x[0];
    for (std::size_t k = 1; k < x.size(); ++k) s = s + x[k];
    return std::vector<Tensor>{s};
  };
  const FlatFunction custom = custom_linear(
      add_all, [](const std::vector<Tensor>& ct) { return std::vector<Tensor>(70, ct[0]); });
  const auto f = [&](const std::vector<Tensor>& x) { return custom(x)[0]; };
  for (const Tensor& g : grad(f)(std::vector<Tensor>(70, Tensor(1.0)))) EXPECT_EQ(g.item(), 1.0);
  for (const Tensor& g : vmap(grad(f))(std::vector<Tensor>(70, ones({2}))))
    EXPECT_EQ(g.to_vector(), (std::vector<double>{1, 1}));
}

TEST(Transform, VmapTakesAnAxisForEachArgument) {
  const auto f = [](const Tensor& x) { return sum(x); };
  EXPECT_THROW(vmap(f, {0, 1})(ones({2, 3})), Error);
  EXPECT_EQ(vmap(f, {1})(ones({2, 3})).to_vector(), (std::vector<double>{2, 2, 2}));
}
