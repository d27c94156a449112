// SPDX-License-Identifier: Apache-2.0
//
// Counted loops, loops that end by a condition, and branches as single operations.
#include "tessera/autodiff/loops.h"

#include "loop_cases.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;
using namespace tessera::testing;

TEST(Fori, CountsFromLowToHigh) {
  const Tensor s = fori_loop(
      3, 6, [](Tensor i, Tensor c) { return c * 10.0 + cast(i, Dtype::f64); }, Tensor(0.0));
  EXPECT_EQ(s.item(), 345.0);
  EXPECT_EQ(fori_loop(
                5, 2, [](Tensor, Tensor c) { return c + 1.0; }, Tensor(2.0))
                .item(),
            2.0);
  const auto power = [](Tensor x) {
    return fori_loop(
        4, [&](Tensor i, Tensor c) { return c * x + cast(i, Dtype::f64); }, Tensor(1.0));
  };  // x^4 + x^2 + 2x + 3
  EXPECT_EQ(grad(power)(Tensor(2.0)).item(), 38.0);
  EXPECT_EQ(grad(grad(power))(Tensor(2.0)).item(), 50.0);
}

// Kepler's equation E - e sin E = M by Newton's method until the step is small; dE/dM = 1 / (1 - e
// cos E) and dE/de = sin E / (1 - e cos E).
Tensor kepler(const Tensor& mean, const Tensor& e, const WhileOptions& o = {}) {
  const auto newton = [&](const Tensor& x) { return (x - e * sin(x) - mean) / (1.0 - e * cos(x)); };
  return while_loop([&](const Tensor& x) { return abs(newton(x)) > 1e-13; },
                    [&](const Tensor& x) { return x - newton(x); }, mean + e, o);
}

TEST(While, DifferentiatesNewtonsMethod) {
  const double m = 1.2, e = 0.6;
  const double x = kepler(Tensor(m), Tensor(e)).item();
  EXPECT_NEAR(x - e * std::sin(x), m, 1e-14);
  const double slope = 1 / (1 - e * std::cos(x)), curve = -e * std::sin(x) * slope * slope * slope;
  for (const Checkpoint& policy : {Checkpoint::online(2), Checkpoint::online(32), Checkpoint::all(),
                                   Checkpoint::none(), Checkpoint::revolve(3)}) {
    const auto of_mean = [&](Tensor m) { return kepler(m, Tensor(e), {policy}); };
    const auto of_e = [&](Tensor e) { return kepler(Tensor(m), e, {policy}); };
    EXPECT_NEAR(jvp(of_mean, Tensor(m), Tensor(1.0)).second.item(), slope, 1e-8);
    EXPECT_NEAR(grad(of_mean)(Tensor(m)).item(), slope, 1e-8);
    EXPECT_NEAR(grad(of_e)(Tensor(e)).item(), std::sin(x) * slope, 1e-8);
    EXPECT_NEAR(jvp(of_e, Tensor(e), Tensor(1.0)).second.item(), std::sin(x) * slope, 1e-8);
    EXPECT_NEAR(grad(grad(of_mean))(Tensor(m)).item(), curve, 1e-8);
    EXPECT_NEAR(jvp(grad(of_mean), Tensor(m), Tensor(1.0)).second.item(), curve, 1e-8);
    EXPECT_NEAR(
        grad([&](Tensor m) { return jvp(of_mean, m, Tensor(1.0)).second; })(Tensor(m)).item(),
        curve, 1e-8);
    EXPECT_NEAR(jit(grad(grad(of_mean)))(Tensor(m)).item(), curve, 1e-8);
  }
}

TEST(While, UnderVmapHoldsWhatIsDone) {
  // Iterations differ between the elements: with e = 0 one is enough.
  const Tensor m = tensor({0.1, 1.2, 3.0, 6.0}), e = tensor({0.0, 0.6, 0.9, 0.2});
  const auto f = [](Tensor m, Tensor e) { return kepler(m, e); };
  const auto g = [&](Tensor m, Tensor e) {
    return grad([&](const std::pair<Tensor, Tensor>& x) { return f(x.first, x.second); })(
        std::pair(m, e));
  };
  const auto h = [&](Tensor m, Tensor e) {
    return grad([&](Tensor m) { return grad([&](Tensor m) { return f(m, e); })(m); })(m);
  };
  const Tensor x = vmap(f)(m, e), hx = vmap(h)(m, e);
  const auto dx = vmap(g)(m, e);
  for (Index k = 0; k < 4; ++k) {
    const Tensor mk = select(m, 0, k), ek = select(e, 0, k);
    EXPECT_EQ(select(x, 0, k).item(), f(mk, ek).item());
    EXPECT_NEAR(select(dx.first, 0, k).item(), g(mk, ek).first.item(), 1e-14);
    EXPECT_NEAR(select(dx.second, 0, k).item(), g(mk, ek).second.item(), 1e-14);
    EXPECT_NEAR(select(hx, 0, k).item(), h(mk, ek).item(), 1e-11);
  }
  // The condition differs, the carry does not start batched; and a batch of batches.
  const auto count = [](Tensor limit) {
    return while_loop([&](Tensor c) { return c < limit; }, [](Tensor c) { return c + 1.0; },
                      Tensor(0.0));
  };
  EXPECT_EQ(vmap(vmap(count))(tensor({1.5, 0.0, 3.0, -1.0}, {2, 2})).to_vector(),
            (std::vector<double>{2, 0, 3, 0}));
}

TEST(While, RunsNoStepWhereTheConditionFailsAtOnce) {
  const auto f = [](Tensor x) {
    return while_loop([](Tensor c) { return c < 0.0; }, [](Tensor c) { return c * 2.0; },
                      square(x));
  };
  EXPECT_EQ(f(Tensor(3.0)).item(), 9.0);
  EXPECT_EQ(grad(f)(Tensor(3.0)).item(), 6.0);
  EXPECT_EQ(jvp(grad(f), Tensor(3.0), Tensor(1.0)).second.item(), 2.0);
}

TEST(Cond, TakesOneBranch) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0.0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return 3.0 * x * x; }, x);
  };
  EXPECT_EQ(f(Tensor(4.0)).item(), 2.0);
  EXPECT_EQ(f(Tensor(-2.0)).item(), 12.0);
  EXPECT_EQ(grad(f)(Tensor(4.0)).item(), 0.25);
  EXPECT_EQ(grad(f)(Tensor(-2.0)).item(), -12.0);
  EXPECT_EQ(grad(grad(f))(Tensor(-2.0)).item(), 6.0);
  EXPECT_EQ(jit(grad(grad(f)))(Tensor(4.0)).item(), -0.03125);
  EXPECT_EQ(vmap(grad(f))(tensor({4.0, -2.0})).to_vector(), (std::vector<double>{0.25, -12}));
  // Captures have derivatives; the branch not taken gives none.
  const auto g = [](Tensor a) {
    return cond(
        Tensor(1.0) > 0.0, [&](Tensor x) { return a * x; }, [&](Tensor x) { return square(a) + x; },
        Tensor(5.0));
  };
  EXPECT_EQ(grad(g)(Tensor(2.0)).item(), 5.0);
  // A predicate that is one for all stays a branch under vmap.
  const Type types[] = {{Dtype::boolean, {}}, {Dtype::f64, {3}}};
  const Graph graph = trace(
      [](const std::vector<Tensor>& in) {
        return detail::vmap_flat(
            [&](const std::vector<Tensor>& x) {
              return std::vector<Tensor>{cond(
                  in[0], [](Tensor x) { return sin(x); }, [](Tensor x) { return cos(x); }, x[0])};
            },
            {in[1]}, {0}, 0);
      },
      types);
  ASSERT_EQ(graph.equations.size(), 1u);
  EXPECT_STREQ(graph.equations[0].primitive->name, "cond");
}

TEST(Cond, InsideOfLoops) {
  // Collatz steps from 27: 111, with the derivative of a value carried along.
  const auto f = [](Tensor a) {
    return while_loop(
        [](const std::array<Tensor, 3>& s) { return s[0] > cast(1.0, Dtype::i64); },
        [&](const std::array<Tensor, 3>& s) {
          const Tensor even = equal(rem(s[0], 2), 0);
          const Tensor next = cond(
              even, [](Tensor n) { return n / 2; }, [](Tensor n) { return 3 * n + 1; }, s[0]);
          const Tensor w = cond(
              even, [](Tensor w) { return w; }, [&](Tensor w) { return w + a * a; }, s[2]);
          return std::array{next, s[1] + 1.0, w};
        },
        std::array{scalar(27.0, Dtype::i64), Tensor(0.0), Tensor(0.0)});
  };
  EXPECT_EQ(f(Tensor(1.0))[1].item(), 111.0);
  EXPECT_EQ(grad([&](Tensor a) { return f(a)[2]; })(Tensor(1.0)).item(), 2 * 41.0);
}

TEST(Loops, WhatHasNoDerivativeInsideHasNoneOutside) {
  // The weight of a map with its own transpose must not move. It does not: its derivative is
  // stopped. A loop that keeps it for the way back, in which another one found it before the first
  // step, must see so through both.
  using Flat = std::vector<Tensor>;
  const auto scaled = [](const Tensor& w, const Tensor& x) {
    const auto map = [w](const Flat& v) { return Flat{0.8 * w * v[0]}; };
    return custom_linear(map, map)({x})[0];
  };
  const auto weight = [](const Tensor& x) { return tanh(stop_gradient(sum(x))); };
  const auto end = [&](const Tensor& x, const auto& w) {
    return sum(sin(while_loop([](Tensor c) { return c > 0.1; },
                              [&](Tensor c) { return 0.5 * c - 0.2 * square(scaled(w(), c)); },
                              sum(square(x)), {Checkpoint::all()})));
  };
  const auto f = checkpointed([&](Tensor x) { return end(x, [&] { return weight(x); }); });
  const Tensor x = tensor({0.5, -1.0, 2.0}), fixed = weight(x);
  const auto g = [&](Tensor x) { return end(x, [&] { return fixed; }); };
  const auto twice = [](const auto& h) {
    return grad([&](Tensor x) { return sum(grad(h)(x) * tensor({1.0, 2.0, 3.0})); });
  };
  EXPECT_EQ(grad(f)(x).to_vector(), grad(g)(x).to_vector());
  const Tensor a = twice(f)(x), b = twice(g)(x);
  EXPECT_LE(max(abs(a - b)).item(), 1e-14 * max(abs(b)).item());
  EXPECT_LE(max(abs(jit(twice(f))(x) - b)).item(), 1e-14 * max(abs(b)).item());
}

TEST(Loops, MayStandAmongNativeControlFlow) {
  const auto f = [](Tensor x) {
    Tensor y = fori_loop(
        3, [](Tensor, Tensor c) { return c * c; }, x);
    while (y.item() > 1) y = y / 2.0;  // reads the live value of a loop's result
    return y;
  };
  EXPECT_EQ(f(Tensor(2.0)).item(), 1.0);
  EXPECT_EQ(grad(f)(Tensor(2.0)).item(), 8.0 * 128 / 256);
}

// ---- checkpointing ----
