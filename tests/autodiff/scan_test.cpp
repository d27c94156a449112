// SPDX-License-Identifier: Apache-2.0
//
// Scans, against plain C++ loops, unrolled functions and each other.
#include "loop_cases.h"
#include "same_bits.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

TEST(Scan, ValuesAreThoseOfAPlainLoop) {
  const auto [total, partial] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c * x); },
                                     Tensor(1.0), tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(total.item(), 7.0);
  EXPECT_EQ(partial.to_vector(), (std::vector<double>{1, 4, 12}));
  const auto [last, back] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c); },
                                 Tensor(0.0), tensor({1.0, 2.0, 3.0}), {.reverse = true});
  EXPECT_EQ(last.item(), 6.0);
  EXPECT_EQ(back.to_vector(), (std::vector<double>{5, 3, 0}));
  const auto [power, powers] = scan([](Tensor c) { return std::pair(c * 2.0, c); }, Tensor(1.0), 5);
  EXPECT_EQ(power.item(), 32.0);
  EXPECT_EQ(powers.to_vector(), (std::vector<double>{1, 2, 4, 8, 16}));
  const auto [none, empty_ys] =
      scan([](Tensor c, Tensor x) { return std::pair(c + sum(x), x); }, Tensor(4.0), zeros({0, 3}));
  EXPECT_EQ(none.item(), 4.0);
  EXPECT_EQ(empty_ys.shape(), (Shape{0, 3}));
}

TEST(Scan, TakesAndGivesTrees) {
  struct State {
    Tensor position;
    std::vector<Tensor> momenta;
    TESSERA_TREE(position, momenta)
  };
  const State s{tensor({1.0, 2.0}), {Tensor(0.5), Tensor(0.25)}};
  const auto [end, seen] = scan(
      [](State s, std::pair<Tensor, Tensor> u) {
        s.position = s.position + s.momenta[0] * u.first;
        s.momenta[1] = s.momenta[1] * u.second;
        return std::pair(s, std::tuple(s.position, s.momenta[1]));
      },
      s, std::pair(ones({4}), full({4}, 2.0)));
  EXPECT_EQ(end.position.to_vector(), (std::vector<double>{3, 4}));
  EXPECT_EQ(end.momenta[1].item(), 4.0);
  EXPECT_EQ(std::get<0>(seen).shape(), (Shape{4, 2}));
  EXPECT_EQ(std::get<1>(seen).to_vector(), (std::vector<double>{0.5, 1, 2, 4}));
}

TEST(Scan, WithoutCarryIsAMap) {
  const Tensor x = reshape(linspace(-1, 1, 6), {3, 2});
  const auto f = [](const Tensor& x) {
    return scan([](std::tuple<>,
                   Tensor u) { return std::pair(std::tuple<>(), std::pair(sin(u), sum(u * u))); },
                std::tuple<>(), x)
        .second;
  };
  EXPECT_TRUE(same_bits(f(x).first, sin(x)));
  EXPECT_LE(distance(grad([&](Tensor x) { return sum(f(x).second * f(x).second); })(x),
                     4.0 * x * sum(x * x, {1}, true)),
            1e-15);
}

TEST(Scan, CarriesMayChangePlacesOrStay) {
  // Carries that swap, one that stays, one that becomes a constant; results that are operands or
  // constants.
  const auto f = [](const std::array<Tensor, 4>& x) {
    return scan(
        [](const std::array<Tensor, 4>& c, Tensor u) {
          return std::pair(std::array{c[1], c[0], c[2], Tensor(3.0)},
                           std::array{c[3], u, Tensor(0.25), c[2]});
        },
        x, tensor({1.0, 2.0, 4.0}));
  };
  const std::array<Tensor, 4> x = {Tensor(5.0), Tensor(6.0), Tensor(7.0), Tensor(8.0)};
  const auto [end, seen] = f(x);
  const double want[] = {6, 5, 7, 3};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(end[k].item(), want[k]);
  EXPECT_EQ(seen[0].to_vector(), (std::vector<double>{8, 3, 3}));
  EXPECT_EQ(seen[1].to_vector(), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(seen[2].to_vector(), (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_EQ(seen[3].to_vector(), (std::vector<double>{7, 7, 7}));
  const auto g = grad([&](const std::array<Tensor, 4>& x) {
    const auto [end, seen] = f(x);
    return end[0] * 2.0 + end[1] * 3.0 + end[3] + sum(seen[0]) + sum(seen[3] * seen[1]);
  })(x);
  const double slope[] = {3, 2, 7, 1};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(g[k].item(), slope[k]);
}

TEST(Scan, IsOneEquation) {
  const Driven d = driven();
  std::vector<Type> types;
  for (const Tensor& t : flatten_tree(d)) types.push_back(t.type());
  const Graph g = trace(
      [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{
            scan([&](Tensor c, Tensor u) { return std::pair(matmul(x[0], c), u); }, x[1], x[2])
                .first};
      },
      types);
  verify(g);
  EXPECT_EQ(g.equations.size(), 1u);
  EXPECT_STREQ(g.equations[0].primitive->name, "scan");
}

TEST(Scan, DerivativesAreThoseOfTheUnrolledLoop) {
  const Driven d = driven(), t = direction(d);
  for (bool reverse : {false, true}) {
    const auto f = [&](const Driven& d) { return by_scan(d, {.reverse = reverse}); };
    const auto g = [&](const Driven& d) { return unrolled(d, reverse); };
    EXPECT_LE(distance(f(d), g(d)), 1e-15);
    EXPECT_LE(distance(jvp(f, d, t).second, jvp(g, d, t).second), 1e-14);
    expect_near(grad(f)(d), grad(g)(d), 1e-14);
    expect_near(hvp(f, d, t), hvp(g, d, t), 1e-13);
  }
}

TEST(Scan, NestsToAnyOrder) {
  const Driven d = driven(5), t = direction(d), u = direction(t);
  const auto f = [](const Driven& d) { return by_scan(d); };
  const auto g = [](const Driven& d) { return unrolled(d); };
  const auto along = [](const Driven& a, const Driven& b) {
    Tensor s = zeros({});
    const auto x = flatten_tree(a), y = flatten_tree(b);
    for (std::size_t k = 0; k < x.size(); ++k) s = s + sum(x[k] * y[k]);
    return s;
  };
  const auto orders = [&](const auto& f) {
    const auto slope = [&](const Driven& d) { return along(grad(f)(d), t); };  // reverse
    const auto forward = [&](const Driven& d) { return jvp(f, d, t).second; };
    return std::array{
        grad(slope)(d),                 // reverse over reverse
        grad(forward)(d),               // reverse over forward
        jvp(grad(slope), d, u).second,  // forward over reverse over reverse
        grad([&](const Driven& d) { return along(grad(slope)(d), u); })(d)};  // three times reverse
  };
  const auto have = orders(f), want = orders(g);
  for (std::size_t k = 0; k < have.size(); ++k) {
    SCOPED_TRACE(k);
    expect_near(have[k], want[k], 1e-12);
  }
}

TEST(Scan, IsBatchedOverAnyOfItsOperands) {
  const Driven d = driven();
  const auto f = [&](Tensor a, Tensor x0, Tensor u) { return by_scan({a, x0, u}); };
  const auto g = [&](Tensor a, Tensor x0, Tensor u) {
    return grad([&](const Driven& d) { return by_scan(d); })(Driven{a, x0, u}).u;
  };
  const auto many = [](const Tensor& x) { return stack({x, 0.7 * x, -0.4 * x}); };
  for (int mask = 1; mask < 8; ++mask) {
    SCOPED_TRACE(mask);
    std::vector<std::optional<int>> axes;
    std::array<Tensor, 3> in = {d.a, d.x0, d.u};
    for (int k = 0; k < 3; ++k) {
      axes.push_back(mask >> k & 1 ? std::optional<int>(0) : not_mapped);
      if (mask >> k & 1) in[static_cast<std::size_t>(k)] = many(in[static_cast<std::size_t>(k)]);
    }
    const auto row = [&](int k, Index b) {
      return mask >> k & 1 ? select(in[static_cast<std::size_t>(k)], 0, b)
                           : in[static_cast<std::size_t>(k)];
    };
    const Tensor y = vmap(f, axes)(in[0], in[1], in[2]), dy = vmap(g, axes)(in[0], in[1], in[2]);
    for (Index b = 0; b < 3; ++b) {
      EXPECT_LE(distance(select(y, 0, b), f(row(0, b), row(1, b), row(2, b))), 1e-14);
      EXPECT_LE(distance(select(dy, 0, b), g(row(0, b), row(1, b), row(2, b))), 1e-14);
    }
  }
}

TEST(Scan, InScanInWhile) {
  // x -> sum over i < 3 of the inner loop's value, until it is above 50; all in powers of a.
  const auto f = [](Tensor a) {
    return while_loop([](Tensor x) { return x < 50.0; },
                      [&](Tensor x) {
                        return scan(
                                   [&](Tensor s, Tensor w) {
                                     return std::pair(
                                         s + fori_loop(
                                                 2, [&](Tensor, Tensor p) { return p * a; }, w),
                                         w);
                                   },
                                   x, tensor({1.0, 2.0, 3.0}))
                            .first;
                      },
                      Tensor(0.0));
  };
  const auto plain = [](double a) {
    double x = 0;
    while (x < 50) x += 6 * a * a;
    return x;
  };
  EXPECT_NEAR(f(Tensor(1.3)).item(), plain(1.3), 1e-13);
  const double steps = plain(1.3) / (6 * 1.3 * 1.3);
  EXPECT_NEAR(grad(f)(Tensor(1.3)).item(), steps * 12 * 1.3, 1e-11);
  EXPECT_NEAR(jvp(grad(f), Tensor(1.3), Tensor(1.0)).second.item(), steps * 12, 1e-11);
  EXPECT_NEAR(grad(grad(f))(Tensor(1.3)).item(), steps * 12, 1e-11);
  const Tensor many = tensor({0.5, 1.3, 2.0}), g = vmap(grad(f))(many);
  for (Index k = 0; k < 3; ++k)
    EXPECT_NEAR(select(g, 0, k).item(), grad(f)(select(many, 0, k)).item(), 1e-11);
}

TEST(Scan, CarriesTangentsOfThoseCarriesAlone) {
  // Of three carries one has a tangent, through a chain of two that it takes two rounds to find.
  const auto f = [](Tensor a) {
    const auto s =
        scan(
            [&](std::array<Tensor, 4> c) {
              return std::pair(
                  std::array{c[0] + c[1], c[1] + a, c[2] * 2.0, c[3] + cast(1.0, Dtype::i64)},
                  std::tuple());
            },
            std::array{Tensor(0.0), Tensor(0.0), Tensor(1.0), scalar(0.0, Dtype::i64)}, 4)
            .first;
    return s[0] + s[2];
  };
  const auto l = linearize(f, Tensor(2.0));
  EXPECT_EQ(l.first.item(), 12.0 + 16.0);
  const Graph g =
      *detail::linearize_flat(
           "linearize", [&](const std::vector<Tensor>& x) { return std::vector<Tensor>{f(x[0])}; },
           {Tensor(2.0)})
           .map;
  for (const Graph::Equation& e : g.equations)
    if (std::string(e.primitive->name) == "scan") {
      EXPECT_EQ(e.out_count, 4u + 2u);
    }
  EXPECT_EQ(grad(f)(Tensor(2.0)).item(), 6.0);
}

TEST(Scan, WithMoreOperandsThanFitOnTheStack) {
  std::vector<Tensor> x;
  for (int k = 0; k < 100; ++k) x.push_back(Tensor(0.01 * k));
  const auto f = [](const std::vector<Tensor>& x) {
    const auto end = scan(
                         [](std::vector<Tensor> c) {
                           std::vector<Tensor> next;
                           for (std::size_t k = 0; k < c.size(); ++k)
                             next.push_back(c[k] + 0.1 * sin(c[(k + 1) % c.size()]));
                           return std::pair(next, std::tuple());
                         },
                         x, 5)
                         .first;
    return sum(square(stack(end)));
  };
  const auto plain = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> c = x;
    for (int t = 0; t < 5; ++t) {
      std::vector<Tensor> next;
      for (std::size_t k = 0; k < c.size(); ++k)
        next.push_back(c[k] + 0.1 * sin(c[(k + 1) % c.size()]));
      c = next;
    }
    return sum(square(stack(c)));
  };
  const auto a = value_and_grad(f)(x), b = value_and_grad(plain)(x);
  EXPECT_LE(distance(a.first, b.first), 1e-14);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_LE(distance(a.second[k], b.second[k]), 1e-14);
}

TEST(Scan, KeepsRulesThatUsersWrote) {
  const auto clipped = custom_vjp(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{sin(x[0]), cos(x[0])};
      },
      1,
      [](const std::vector<Tensor>& kept, const std::vector<Tensor>& ct) {
        return std::vector<Tensor>{2.0 * kept[0] * ct[0]};
      });
  const auto f = [&](Tensor x) {
    return fori_loop(
        3, [&](Tensor, Tensor c) { return clipped({c})[0]; }, x);
  };
  double x = 0.7, slope = 1;
  for (int k = 0; k < 3; ++k) slope *= 2 * std::cos(x), x = std::sin(x);
  EXPECT_NEAR(grad(f)(Tensor(0.7)).item(), slope, 1e-14);
  EXPECT_NEAR(jvp(f, Tensor(0.7), Tensor(1.0)).second.item(), slope, 1e-14);
}

TEST(Scan, GivesTheSameBitsPlannedAndOnThreads) {
  const Driven d = driven(40);
  const auto step = [](const Driven& d) {
    return value_and_grad([](const Driven& d) { return by_scan(d); })(d);
  };
  const auto want = step(d);
  const auto check = [&](const std::pair<Tensor, Driven>& got) {
    EXPECT_TRUE(same_bits(got.first, want.first));
    const auto x = flatten_tree(got.second), y = flatten_tree(want.second);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_TRUE(same_bits(x[k], y[k]));
  };
  const auto planned = jit(step);
  for (int repeat = 0; repeat < 2; ++repeat) check(planned(d));
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&] {
      for (int r = 0; r < 5; ++r) check(planned(d));
    });
  for (std::thread& t : threads) t.join();
  const int before = num_threads();
  for (int n : {1, 2, 4}) {
    set_num_threads(n);
    check(step(d));
  }
  set_num_threads(before);
}

/// Every element-wise function of scalars, and some that are not, each once or in groups.
std::vector<Tensor> of_scalars(const std::vector<Tensor>& x, Dtype t) {
  std::vector<Tensor> y;
  const Tensor half = scalar(0.5, t);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Tensor &a = x[k], &b = x[(k + 3) % x.size()], c = a * a + half;
    for (const Tensor& v : {a + b,
                            a - b,
                            a * b,
                            a / c,
                            neg(a),
                            sqrt(c),
                            rsqrt(c),
                            exp(a),
                            expm1(a),
                            log(c),
                            log1p(c),
                            sin(a),
                            cos(a),
                            tan(a),
                            sin(a * 1e7),
                            asin(tanh(a)),
                            atan(a),
                            sinh(a),
                            cosh(a),
                            tanh(a),
                            sech2(a),
                            asinh(a),
                            logistic(a),
                            softplus(a),
                            erf(a),
                            lgamma(c),
                            pow(c, b),
                            pow(a, 3),
                            atan2(a, c),
                            hypot(a, b),
                            rem(a, c),
                            maximum(a, b),
                            minimum(a, b),
                            abs(a),
                            sign(a),
                            floor(a),
                            round(a),
                            where(a < b, a, c),
                            where(equal(a, a), b, a),
                            where(logical_or(a <= b, is_finite(c)), c, b),
                            cast(cast(a, Dtype::i64), t),
                            cast(cast(a, t == Dtype::f64 ? Dtype::f32 : Dtype::f64), t),
                            sum(reshape(a, {1})),
                            reshape(max(stack({reshape(a, {1, 1})})), {})})
      y.push_back(v);
  }
  return y;
}

TEST(Scan, OfScalarsGivesTheBitsOfTheKernels) {
  for (Dtype t : {Dtype::f64, Dtype::f32})
    for (std::size_t n : {1, 2, 5, 23}) {
      std::vector<Tensor> x;
      for (std::size_t k = 0; k < n; ++k)
        x.push_back(cast(Tensor(2.3 * std::sin(1.9 * static_cast<double>(k) + 0.4)), t));
      const std::vector<Tensor> want = of_scalars(x, t);
      const auto got =
          scan([&](Tensor c) { return std::pair(c, of_scalars(x, t)); }, Tensor(0.0), 2).second;
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < got.size(); ++k)
        for (Index step : {0, 1})
          EXPECT_TRUE(same_bits(select(got[k], 0, step), want[k]))
              << n << " of " << name_of(t) << ", result " << k;
    }
}

TEST(Scan, OfIntegersAndBools) {
  // A linear congruential generator and a parity, against plain C++.
  const auto [end, seen] = scan(
      [](const std::array<Tensor, 3>& s) {
        const Tensor next = s[0] * cast(6364136223846793005.0, Dtype::i64) +
                            cast(1442695040888963407.0, Dtype::i64);
        const Tensor odd = equal(logical_and(next, 1), 1);
        return std::pair(
            std::array{next, logical_xor(s[1], odd),
                       s[2] + where(odd, cast(3.0, Dtype::i32), cast(-1.0, Dtype::i32))},
            next);
      },
      std::array{scalar(7.0, Dtype::i64), scalar(0.0, Dtype::boolean), scalar(0.0, Dtype::i32)},
      50);
  std::uint64_t v = 7;
  bool parity = false;
  std::int32_t count = 0;
  const auto have = seen.to_vector<std::int64_t>();
  for (int k = 0; k < 50; ++k) {
    v = v * static_cast<std::uint64_t>(static_cast<std::int64_t>(6364136223846793005.0)) +
        static_cast<std::uint64_t>(static_cast<std::int64_t>(1442695040888963407.0));
    const bool odd = v & 1;
    parity ^= odd;
    count += odd ? 3 : -1;
    EXPECT_EQ(have[static_cast<std::size_t>(k)], static_cast<std::int64_t>(v));
  }
  EXPECT_EQ(end[1].item<bool>(), parity);
  EXPECT_EQ(end[2].item<std::int32_t>(), count);
}

TEST(Scan, DropsResultsThatNobodyUses) {
  // The trajectory is returned and not used: its cotangent is not laid out.
  const Index n = 1000, steps = 1000;
  reset_peak_memory();
  const std::size_t before = memory_stats().in_use;
  const auto f = [&](Tensor x) {
    return sum(scan([](Tensor c) { return std::pair(0.5 * c, c); }, x, steps).first);
  };
  grad(f)(ones({n}));
  EXPECT_LE(memory_stats().peak - before, 8u * n * (steps + 100))
      << "the trajectory, and not as much again";
}

TEST(Scan, SaysWhatDoesNotFit) {
  const int line = __LINE__ + 2;  // of the call
  const auto grow = [] {
    scan(
        [](Tensor c, Tensor x) {
          return std::pair(concatenate({c, expand_dims(x, 0)}), x);
        },
        zeros({1}), zeros({3}));
  };
  EXPECT_NE(message_of(grow).find("f64[2]"), std::string::npos) << message_of(grow);
  EXPECT_NE(message_of(grow).find("scan_test.cpp:" + std::to_string(line)), std::string::npos)
      << message_of(grow);
  EXPECT_NE(message_of([] {
              scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, Tensor(0.0),
                   Tensor(1.0));
            }).find("capture"),
            std::string::npos);
  EXPECT_NE(
      message_of([] {
        scan([](Tensor c, std::pair<Tensor, Tensor> x) { return std::pair(c + x.first, x.second); },
             Tensor(0.0), std::pair(ones({3}), ones({4})));
      }).find("disagree"),
      std::string::npos);
  EXPECT_NE(message_of([] {
              fori_loop(
                  3, [](Tensor, Tensor c) { return c.item() > 0 ? c : -c; }, Tensor(1.0));
            }).find("where(condition"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              while_loop([](Tensor c) { return c < 3.0; }, [](Tensor c) { return c + 1.0; },
                         zeros({2}));
            }).find("any or all"),
            std::string::npos);
  // A list that grows is no carry: what it gained is not taken for a result of the step.
  const std::vector<Tensor> list{Tensor(0.0)};
  const std::string grown = "carry of 2 tensors, it took one of 1";
  EXPECT_NE(message_of([&] {
              scan(
                  [](std::vector<Tensor> c, Tensor x) {
                    c.push_back(x);
                    return std::pair(c, x);
                  },
                  list, ones({3}));
            }).find(grown),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              fori_loop(
                  3,
                  [](Tensor, std::vector<Tensor> c) {
                    c.push_back(c[0]);
                    return c;
                  },
                  list);
            }).find(grown),
            std::string::npos);
}
