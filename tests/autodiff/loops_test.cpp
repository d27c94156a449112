// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches as single operations, against plain C++ loops, unrolled functions and each other.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "same_bits.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

using namespace tessera;

namespace {

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
/// Largest difference relative to the largest element of b, at least 1.
double distance(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return INFINITY;
  return a.size() ? (max(abs(a - b)) / maximum(max(abs(b)), 1.0)).item() : 0;
}
/// Driven rotation of a vector [2] by a matrix [2,2]: every kind of operand has a derivative.
struct Driven {
  Tensor a, x0, u;
  TESSERA_TREE(a, x0, u)
};
Driven driven(Index n = 7) {
  return {tensor({0.8, 0.3, -0.4, 0.9}, {2, 2}), tensor({0.5, -1.0}), reshape(sin(arange(2 * n, Dtype::f64)), {n, 2})};
}
Tensor by_scan(const Driven& d, const ScanOptions& o = {}) {
  const auto [x, y] = scan([&](Tensor x, Tensor u) {
    const Tensor next = tanh(matmul(d.a, x)) + 0.5 * u * x;
    return std::pair(next, sum(next * u));
  }, d.x0, d.u, o);
  return sum(square(x)) + sum(y * sin(y));
}
Tensor unrolled(const Driven& d, bool reverse = false) {
  Tensor x = d.x0, total = zeros({});
  const Index n = d.u.dim(0);
  for (Index t = 0; t < n; ++t) {
    const Tensor u = select(d.u, 0, reverse ? n - 1 - t : t);
    x = tanh(matmul(d.a, x)) + 0.5 * u * x;
    const Tensor y = sum(x * u);
    total = total + y * sin(y);
  }
  return sum(square(x)) + total;
}
void expect_near(const Driven& a, const Driven& b, double tolerance) {
  const auto x = flatten_tree(a), y = flatten_tree(b);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_LE(distance(x[k], y[k]), tolerance) << "leaf " << k;
}
Driven direction(const Driven& like) {
  Driven t = like;
  double phase = 0.3;
  Tree<Driven>::visit(t, [&](Tensor& x) { x = reshape(cos(arange(x.size(), Dtype::f64) * 1.7 + (phase += 0.9)), x.shape()); });
  return t;
}

/// Lorenz' system by explicit Euler steps of separate scalars.
using Point = std::array<Tensor, 3>;
Point lorenz_step(const Point& p, const Tensor& rho) {
  const auto& [x, y, z] = p;
  const double dt = 1e-3;
  return {x + dt * (10.0 * (y - x)), y + dt * (x * (rho - z) - y), z + dt * (x * y - (8.0 / 3) * z)};
}

}  // namespace

TEST(Scan, ValuesAreThoseOfAPlainLoop) {
  const auto [total, partial] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c * x); }, Tensor(1.0), tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(total.item(), 7.0);
  EXPECT_EQ(partial.to_vector(), (std::vector<double>{1, 4, 12}));
  const auto [last, back] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, Tensor(0.0), tensor({1.0, 2.0, 3.0}), {.reverse = true});
  EXPECT_EQ(last.item(), 6.0);
  EXPECT_EQ(back.to_vector(), (std::vector<double>{5, 3, 0}));
  const auto [power, powers] = scan([](Tensor c) { return std::pair(c * 2.0, c); }, Tensor(1.0), 5);
  EXPECT_EQ(power.item(), 32.0);
  EXPECT_EQ(powers.to_vector(), (std::vector<double>{1, 2, 4, 8, 16}));
  const auto [none, empty_ys] = scan([](Tensor c, Tensor x) { return std::pair(c + sum(x), x); }, Tensor(4.0), zeros({0, 3}));
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
  const auto [end, seen] = scan([](State s, std::pair<Tensor, Tensor> u) {
    s.position = s.position + s.momenta[0] * u.first;
    s.momenta[1] = s.momenta[1] * u.second;
    return std::pair(s, std::tuple(s.position, s.momenta[1]));
  }, s, std::pair(ones({4}), full({4}, 2.0)));
  EXPECT_EQ(end.position.to_vector(), (std::vector<double>{3, 4}));
  EXPECT_EQ(end.momenta[1].item(), 4.0);
  EXPECT_EQ(std::get<0>(seen).shape(), (Shape{4, 2}));
  EXPECT_EQ(std::get<1>(seen).to_vector(), (std::vector<double>{0.5, 1, 2, 4}));
}

TEST(Scan, WithoutCarryIsAMap) {
  const Tensor x = reshape(linspace(-1, 1, 6), {3, 2});
  const auto f = [](const Tensor& x) {
    return scan([](std::tuple<>, Tensor u) { return std::pair(std::tuple<>(), std::pair(sin(u), sum(u * u))); }, std::tuple<>(), x).second;
  };
  EXPECT_TRUE(same_bits(f(x).first, sin(x)));
  EXPECT_LE(distance(grad([&](Tensor x) { return sum(f(x).second * f(x).second); })(x), 4.0 * x * sum(x * x, {1}, true)), 1e-15);
}

TEST(Scan, CarriesMayChangePlacesOrStay) {
  // Carries that swap, one that stays, one that becomes a constant; results that are operands or constants.
  const auto f = [](const std::array<Tensor, 4>& x) {
    return scan([](const std::array<Tensor, 4>& c, Tensor u) {
      return std::pair(std::array{c[1], c[0], c[2], Tensor(3.0)}, std::array{c[3], u, Tensor(0.25), c[2]});
    }, x, tensor({1.0, 2.0, 4.0}));
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
  const Graph g = trace([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{scan([&](Tensor c, Tensor u) { return std::pair(matmul(x[0], c), u); }, x[1], x[2]).first}; }, types);
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
    return std::array{grad(slope)(d),                                                     // reverse over reverse
                      grad(forward)(d),                                                   // reverse over forward
                      jvp(grad(slope), d, u).second,                                      // forward over reverse over reverse
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
  const auto g = [&](Tensor a, Tensor x0, Tensor u) { return grad([&](const Driven& d) { return by_scan(d); })(Driven{a, x0, u}).u; };
  const auto many = [](const Tensor& x) { return stack({x, 0.7 * x, -0.4 * x}); };
  for (int mask = 1; mask < 8; ++mask) {
    SCOPED_TRACE(mask);
    std::vector<std::optional<int>> axes;
    std::array<Tensor, 3> in = {d.a, d.x0, d.u};
    for (int k = 0; k < 3; ++k) {
      axes.push_back(mask >> k & 1 ? std::optional<int>(0) : whole);
      if (mask >> k & 1) in[static_cast<std::size_t>(k)] = many(in[static_cast<std::size_t>(k)]);
    }
    const auto row = [&](int k, Index b) { return mask >> k & 1 ? select(in[static_cast<std::size_t>(k)], 0, b) : in[static_cast<std::size_t>(k)]; };
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
    return while_loop([](Tensor x) { return x < 50.0; }, [&](Tensor x) {
      return scan([&](Tensor s, Tensor w) {
        return std::pair(s + fori_loop(2, [&](Tensor, Tensor p) { return p * a; }, w), w);
      }, x, tensor({1.0, 2.0, 3.0})).first;
    }, Tensor(0.0));
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
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(select(g, 0, k).item(), grad(f)(select(many, 0, k)).item(), 1e-11);
}

TEST(Scan, CarriesTangentsOfThoseCarriesAlone) {
  // Of three carries one has a tangent, through a chain of two that it takes two rounds to find.
  const auto f = [](Tensor a) {
    const auto s = scan([&](std::array<Tensor, 4> c) {
      return std::pair(std::array{c[0] + c[1], c[1] + a, c[2] * 2.0, c[3] + cast(1.0, Dtype::i64)}, std::tuple());
    }, std::array{Tensor(0.0), Tensor(0.0), Tensor(1.0), scalar(0.0, Dtype::i64)}, 4).first;
    return s[0] + s[2];
  };
  const auto l = linearize(f, Tensor(2.0));
  EXPECT_EQ(l.first.item(), 12.0 + 16.0);
  const Graph g = *detail::linearize_flat("linearize", [&](const std::vector<Tensor>& x) { return std::vector<Tensor>{f(x[0])}; }, {Tensor(2.0)}).map;
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
    const auto end = scan([](std::vector<Tensor> c) {
      std::vector<Tensor> next;
      for (std::size_t k = 0; k < c.size(); ++k) next.push_back(c[k] + 0.1 * sin(c[(k + 1) % c.size()]));
      return std::pair(next, std::tuple());
    }, x, 5).first;
    return sum(square(stack(end)));
  };
  const auto plain = [](const std::vector<Tensor>& x) {
    std::vector<Tensor> c = x;
    for (int t = 0; t < 5; ++t) {
      std::vector<Tensor> next;
      for (std::size_t k = 0; k < c.size(); ++k) next.push_back(c[k] + 0.1 * sin(c[(k + 1) % c.size()]));
      c = next;
    }
    return sum(square(stack(c)));
  };
  const auto a = value_and_grad(f)(x), b = value_and_grad(plain)(x);
  EXPECT_LE(distance(a.first, b.first), 1e-14);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_LE(distance(a.second[k], b.second[k]), 1e-14);
}

TEST(Scan, KeepsRulesThatUsersWrote) {
  const auto clipped = custom_vjp([](const std::vector<Tensor>& x) { return std::vector<Tensor>{sin(x[0]), cos(x[0])}; }, 1,
                                  [](const std::vector<Tensor>& kept, const std::vector<Tensor>& ct) { return std::vector<Tensor>{2.0 * kept[0] * ct[0]}; });
  const auto f = [&](Tensor x) { return fori_loop(3, [&](Tensor, Tensor c) { return clipped({c})[0]; }, x); };
  double x = 0.7, slope = 1;
  for (int k = 0; k < 3; ++k) slope *= 2 * std::cos(x), x = std::sin(x);
  EXPECT_NEAR(grad(f)(Tensor(0.7)).item(), slope, 1e-14);
  EXPECT_NEAR(jvp(f, Tensor(0.7), Tensor(1.0)).second.item(), slope, 1e-14);
}

TEST(Scan, GivesTheSameBitsPlannedAndOnThreads) {
  const Driven d = driven(40);
  const auto step = [](const Driven& d) { return value_and_grad([](const Driven& d) { return by_scan(d); })(d); };
  const auto want = step(d);
  const auto check = [&](const std::pair<Tensor, Driven>& got) {
    EXPECT_TRUE(same_bits(got.first, want.first));
    const auto x = flatten_tree(got.second), y = flatten_tree(want.second);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_TRUE(same_bits(x[k], y[k]));
  };
  const auto planned = jit(step);
  for (int repeat = 0; repeat < 2; ++repeat) check(planned(d));
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) threads.emplace_back([&] { for (int r = 0; r < 5; ++r) check(planned(d)); });
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
    for (const Tensor& v : {a + b, a - b, a * b, a / c, neg(a), sqrt(c), rsqrt(c), exp(a), expm1(a), log(c), log1p(c), sin(a), cos(a), tan(a), sin(a * 1e7), asin(tanh(a)), atan(a), sinh(a),
                            cosh(a), tanh(a), sech2(a), asinh(a), logistic(a), softplus(a), erf(a), lgamma(c), pow(c, b), pow(a, 3), atan2(a, c), hypot(a, b), rem(a, c), maximum(a, b), minimum(a, b),
                            abs(a), sign(a), floor(a), round(a), where(a < b, a, c), where(equal(a, a), b, a), where(logical_or(a <= b, is_finite(c)), c, b), cast(cast(a, Dtype::i64), t),
                            cast(cast(a, t == Dtype::f64 ? Dtype::f32 : Dtype::f64), t), sum(reshape(a, {1})), reshape(max(stack({reshape(a, {1, 1})})), {})})
      y.push_back(v);
  }
  return y;
}

TEST(Scan, OfScalarsGivesTheBitsOfTheKernels) {
  for (Dtype t : {Dtype::f64, Dtype::f32})
    for (std::size_t n : {1, 2, 5, 23}) {
      std::vector<Tensor> x;
      for (std::size_t k = 0; k < n; ++k) x.push_back(cast(Tensor(2.3 * std::sin(1.9 * static_cast<double>(k) + 0.4)), t));
      const std::vector<Tensor> want = of_scalars(x, t);
      const auto got = scan([&](Tensor c) { return std::pair(c, of_scalars(x, t)); }, Tensor(0.0), 2).second;
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < got.size(); ++k)
        for (Index step : {0, 1}) EXPECT_TRUE(same_bits(select(got[k], 0, step), want[k])) << n << " of " << name_of(t) << ", result " << k;
    }
}

TEST(Scan, OfIntegersAndBools) {
  // A linear congruential generator and a parity, against plain C++.
  const auto [end, seen] = scan([](const std::array<Tensor, 3>& s) {
    const Tensor next = s[0] * cast(6364136223846793005.0, Dtype::i64) + cast(1442695040888963407.0, Dtype::i64);
    const Tensor odd = equal(logical_and(next, 1), 1);
    return std::pair(std::array{next, logical_xor(s[1], odd), s[2] + where(odd, cast(3.0, Dtype::i32), cast(-1.0, Dtype::i32))}, next);
  }, std::array{scalar(7.0, Dtype::i64), scalar(0.0, Dtype::boolean), scalar(0.0, Dtype::i32)}, 50);
  std::uint64_t v = 7;
  bool parity = false;
  std::int32_t count = 0;
  const auto have = seen.to_vector<std::int64_t>();
  for (int k = 0; k < 50; ++k) {
    v = v * static_cast<std::uint64_t>(static_cast<std::int64_t>(6364136223846793005.0)) + static_cast<std::uint64_t>(static_cast<std::int64_t>(1442695040888963407.0));
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
  const auto f = [&](Tensor x) { return sum(scan([](Tensor c) { return std::pair(0.5 * c, c); }, x, steps).first); };
  grad(f)(ones({n}));
  EXPECT_LE(memory_stats().peak - before, 8u * n * (steps + 100)) << "the trajectory, and not as much again";
}

TEST(Scan, SaysWhatDoesNotFit) {
  const auto grow = [] { scan([](Tensor c, Tensor x) { return std::pair(concatenate({c, expand_dims(x, 0)}), x); }, zeros({1}), zeros({3})); };
  EXPECT_NE(message_of(grow).find("f64[2]"), std::string::npos) << message_of(grow);
  EXPECT_NE(message_of(grow).find("loops_test.cpp:" + std::to_string(__LINE__ - 2)), std::string::npos) << message_of(grow);
  EXPECT_NE(message_of([] { scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, Tensor(0.0), Tensor(1.0)); }).find("capture"), std::string::npos);
  EXPECT_NE(message_of([] { scan([](Tensor c, std::pair<Tensor, Tensor> x) { return std::pair(c + x.first, x.second); }, Tensor(0.0), std::pair(ones({3}), ones({4}))); }).find("disagree"), std::string::npos);
  EXPECT_NE(message_of([] { fori_loop(3, [](Tensor, Tensor c) { return c.item() > 0 ? c : -c; }, Tensor(1.0)); }).find("where(condition"), std::string::npos);
  EXPECT_NE(message_of([] { while_loop([](Tensor c) { return c < 3.0; }, [](Tensor c) { return c + 1.0; }, zeros({2})); }).find("any or all"), std::string::npos);
}

TEST(Fori, CountsFromLowToHigh) {
  const Tensor s = fori_loop(3, 6, [](Tensor i, Tensor c) { return c * 10.0 + cast(i, Dtype::f64); }, Tensor(0.0));
  EXPECT_EQ(s.item(), 345.0);
  EXPECT_EQ(fori_loop(5, 2, [](Tensor, Tensor c) { return c + 1.0; }, Tensor(2.0)).item(), 2.0);
  const auto power = [](Tensor x) { return fori_loop(4, [&](Tensor i, Tensor c) { return c * x + cast(i, Dtype::f64); }, Tensor(1.0)); };  // x^4 + x^2 + 2x + 3
  EXPECT_EQ(grad(power)(Tensor(2.0)).item(), 38.0);
  EXPECT_EQ(grad(grad(power))(Tensor(2.0)).item(), 50.0);
}

// Kepler's equation E - e sin E = M by Newton's method until the step is small; dE/dM = 1 / (1 - e cos E) and
// dE/de = sin E / (1 - e cos E).
Tensor kepler(const Tensor& mean, const Tensor& e, const WhileOptions& o = {}) {
  const auto newton = [&](const Tensor& x) { return (x - e * sin(x) - mean) / (1.0 - e * cos(x)); };
  return while_loop([&](const Tensor& x) { return abs(newton(x)) > 1e-13; }, [&](const Tensor& x) { return x - newton(x); }, mean + e, o);
}

TEST(While, DifferentiatesNewtonsMethod) {
  const double m = 1.2, e = 0.6;
  const double x = kepler(Tensor(m), Tensor(e)).item();
  EXPECT_NEAR(x - e * std::sin(x), m, 1e-14);
  const double slope = 1 / (1 - e * std::cos(x)), curve = -e * std::sin(x) * slope * slope * slope;
  for (const Checkpoint& policy : {Checkpoint::online(2), Checkpoint::online(32), Checkpoint::all(), Checkpoint::none(), Checkpoint::revolve(3)}) {
    const auto of_mean = [&](Tensor m) { return kepler(m, Tensor(e), {policy}); };
    const auto of_e = [&](Tensor e) { return kepler(Tensor(m), e, {policy}); };
    EXPECT_NEAR(jvp(of_mean, Tensor(m), Tensor(1.0)).second.item(), slope, 1e-8);
    EXPECT_NEAR(grad(of_mean)(Tensor(m)).item(), slope, 1e-8);
    EXPECT_NEAR(grad(of_e)(Tensor(e)).item(), std::sin(x) * slope, 1e-8);
    EXPECT_NEAR(jvp(of_e, Tensor(e), Tensor(1.0)).second.item(), std::sin(x) * slope, 1e-8);
    EXPECT_NEAR(grad(grad(of_mean))(Tensor(m)).item(), curve, 1e-8);
    EXPECT_NEAR(jvp(grad(of_mean), Tensor(m), Tensor(1.0)).second.item(), curve, 1e-8);
    EXPECT_NEAR(grad([&](Tensor m) { return jvp(of_mean, m, Tensor(1.0)).second; })(Tensor(m)).item(), curve, 1e-8);
    EXPECT_NEAR(jit(grad(grad(of_mean)))(Tensor(m)).item(), curve, 1e-8);
  }
}

TEST(While, UnderVmapHoldsWhatIsDone) {
  // Iterations differ between the elements: with e = 0 one is enough.
  const Tensor m = tensor({0.1, 1.2, 3.0, 6.0}), e = tensor({0.0, 0.6, 0.9, 0.2});
  const auto f = [](Tensor m, Tensor e) { return kepler(m, e); };
  const auto g = [&](Tensor m, Tensor e) { return grad([&](const std::pair<Tensor, Tensor>& x) { return f(x.first, x.second); })(std::pair(m, e)); };
  const auto h = [&](Tensor m, Tensor e) { return grad([&](Tensor m) { return grad([&](Tensor m) { return f(m, e); })(m); })(m); };
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
  const auto count = [](Tensor limit) { return while_loop([&](Tensor c) { return c < limit; }, [](Tensor c) { return c + 1.0; }, Tensor(0.0)); };
  EXPECT_EQ(vmap(vmap(count))(tensor({1.5, 0.0, 3.0, -1.0}, {2, 2})).to_vector(), (std::vector<double>{2, 0, 3, 0}));
}

TEST(While, RunsNoStepWhereTheConditionFailsAtOnce) {
  const auto f = [](Tensor x) { return while_loop([](Tensor c) { return c < 0.0; }, [](Tensor c) { return c * 2.0; }, square(x)); };
  EXPECT_EQ(f(Tensor(3.0)).item(), 9.0);
  EXPECT_EQ(grad(f)(Tensor(3.0)).item(), 6.0);
  EXPECT_EQ(jvp(grad(f), Tensor(3.0), Tensor(1.0)).second.item(), 2.0);
}

TEST(Cond, TakesOneBranch) {
  const auto f = [](Tensor x) { return cond(x > 0.0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return 3.0 * x * x; }, x); };
  EXPECT_EQ(f(Tensor(4.0)).item(), 2.0);
  EXPECT_EQ(f(Tensor(-2.0)).item(), 12.0);
  EXPECT_EQ(grad(f)(Tensor(4.0)).item(), 0.25);
  EXPECT_EQ(grad(f)(Tensor(-2.0)).item(), -12.0);
  EXPECT_EQ(grad(grad(f))(Tensor(-2.0)).item(), 6.0);
  EXPECT_EQ(jit(grad(grad(f)))(Tensor(4.0)).item(), -0.03125);
  EXPECT_EQ(vmap(grad(f))(tensor({4.0, -2.0})).to_vector(), (std::vector<double>{0.25, -12}));
  // Captures have derivatives; the branch not taken gives none.
  const auto g = [](Tensor a) { return cond(Tensor(1.0) > 0.0, [&](Tensor x) { return a * x; }, [&](Tensor x) { return square(a) + x; }, Tensor(5.0)); };
  EXPECT_EQ(grad(g)(Tensor(2.0)).item(), 5.0);
  // A predicate that is one for all stays a branch under vmap.
  const Type types[] = {{Dtype::boolean, {}}, {Dtype::f64, {3}}};
  const Graph graph = trace([](const std::vector<Tensor>& in) {
    return detail::vmap_flat([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{cond(in[0], [](Tensor x) { return sin(x); }, [](Tensor x) { return cos(x); }, x[0])}; }, {in[1]}, {0}, 0);
  }, types);
  ASSERT_EQ(graph.equations.size(), 1u);
  EXPECT_STREQ(graph.equations[0].primitive->name, "cond");
}

TEST(Cond, InsideOfLoops) {
  // Collatz steps from 27: 111, with the derivative of a value carried along.
  const auto f = [](Tensor a) {
    return while_loop([](const std::array<Tensor, 3>& s) { return s[0] > cast(1.0, Dtype::i64); }, [&](const std::array<Tensor, 3>& s) {
      const Tensor even = equal(rem(s[0], 2), 0);
      const Tensor next = cond(even, [](Tensor n) { return n / 2; }, [](Tensor n) { return 3 * n + 1; }, s[0]);
      const Tensor w = cond(even, [](Tensor w) { return w; }, [&](Tensor w) { return w + a * a; }, s[2]);
      return std::array{next, s[1] + 1.0, w};
    }, std::array{scalar(27.0, Dtype::i64), Tensor(0.0), Tensor(0.0)});
  };
  EXPECT_EQ(f(Tensor(1.0))[1].item(), 111.0);
  EXPECT_EQ(grad([&](Tensor a) { return f(a)[2]; })(Tensor(1.0)).item(), 2 * 41.0);
}

TEST(Loops, MayStandAmongNativeControlFlow) {
  const auto f = [](Tensor x) {
    Tensor y = fori_loop(3, [](Tensor, Tensor c) { return c * c; }, x);
    while (y.item() > 1) y = y / 2.0;  // reads the live value of a loop's result
    return y;
  };
  EXPECT_EQ(f(Tensor(2.0)).item(), 1.0);
  EXPECT_EQ(grad(f)(Tensor(2.0)).item(), 8.0 * 128 / 256);
}

// ---- checkpointing ------------------------------------------------------------------------------------------------

TEST(Checkpoint, RevolveRunsTheFewestSteps) {
  // The least number of steps by trying every place of the next snapshot.
  constexpr Index kSteps = 60, kSnapshots = 6;
  std::vector<std::vector<Index>> least(kSnapshots + 1, std::vector<Index>(kSteps + 1, 0));
  for (Index s = 1; s <= kSnapshots; ++s)
    for (Index n = 2; n <= kSteps; ++n) {
      least[s][n] = n * (n - 1) / 2;
      for (Index k = 1; s > 1 && k < n; ++k) least[s][n] = std::min(least[s][n], k + least[s - 1][n - k] + least[s][k]);
    }
  for (Index s = 1; s <= kSnapshots; ++s)
    for (Index n = 1; n <= kSteps; ++n) EXPECT_EQ(recomputed_steps(Checkpoint::revolve(s), n), least[s][n]) << n << " steps, " << s << " snapshots";
  EXPECT_EQ(recomputed_steps(Checkpoint::revolve(16), 10000), 44015);
}

TEST(Checkpoint, SchedulesReverseEveryStep) {
  const auto policies = [](Index s) {
    return std::vector{Checkpoint::all(), Checkpoint::none(), Checkpoint::every(s), Checkpoint::revolve(s), Checkpoint::online(s), Checkpoint::disk()};
  };
  for (Index s = 1; s <= 7; ++s)
    for (Index n = 0; n <= 50; ++n)
      for (const Checkpoint& p : policies(s)) {
        const auto actions = checkpoint_schedule(p, n);
        EXPECT_EQ(checkpoint_schedule(Checkpoint::schedule(actions), n), actions);  // which checks it
        if (p.kind == Checkpoint::Kind::disk || p.kind == Checkpoint::Kind::every) continue;
        for (const CheckpointAction& a : actions) EXPECT_LT(a.slot, s);
      }
  EXPECT_EQ(recomputed_steps(Checkpoint::all(), 100), 0);
  EXPECT_EQ(recomputed_steps(Checkpoint::none(), 100), 4950);
  EXPECT_EQ(recomputed_steps(Checkpoint::every(10), 100), 90);
  EXPECT_EQ(recomputed_steps(Checkpoint::disk(), 100), 99);
  EXPECT_EQ(recomputed_steps(Checkpoint::reversible({}), 100), 99);
  // Not knowing the end costs at most one sweep more than revolve here.
  for (Index n : {50, 500, 5000}) EXPECT_LE(recomputed_steps(Checkpoint::online(10), n), recomputed_steps(Checkpoint::revolve(10), n) + n);
}

TEST(Checkpoint, WrongSchedulesAreRefused) {
  using Kind = CheckpointAction::Kind;
  const auto refuses = [](std::vector<CheckpointAction> actions, const char* why) {
    EXPECT_NE(message_of([&] { checkpoint_schedule(Checkpoint::schedule(std::move(actions)), 2); }).find(why), std::string::npos) << why;
  };
  refuses({}, "without their reverse steps");
  refuses({{Kind::adjoint, 0}}, "where step 1 is due");
  refuses({{Kind::adjoint, 1}}, "which is not taped");
  refuses({{Kind::restore, 0, 0, 3}}, "where nothing is stored");
  refuses({{Kind::advance, 1, 2}}, "on state 0");
  EXPECT_NE(message_of([] { fori_loop(3, [](Tensor, Tensor c) { return c; }, Tensor(1.0), {.checkpoint = Checkpoint::revolve(0)}); }).find("positive"), std::string::npos);
}

TEST(Checkpoint, LorenzOverTenThousandSteps) {
  constexpr Index n = 10000;
  const auto loss = [](const Checkpoint& policy) {
    return [policy](const std::pair<Point, Tensor>& in) {
      const Point end = scan([&](const Point& p) { return std::pair(lorenz_step(p, in.second), std::tuple()); }, in.first, n, {.checkpoint = policy}).first;
      return end[0] * end[0] + end[1] * end[2];
    };
  };
  const std::pair<Point, Tensor> at{{Tensor(1.0), Tensor(1.5), Tensor(20.0)}, Tensor(28.0)};
  const auto want = flatten_tree(grad(loss(Checkpoint::all()))(at));
  EXPECT_EQ(last_reverse_sweep().advanced, 0);
  EXPECT_EQ(last_reverse_sweep().taped, n);
  const std::size_t tape = last_reverse_sweep().tape_bytes;
  // The gradient by plain C++: tangents in the four directions.
  const double dt = 1e-3;
  for (int d = 0; d < 4; ++d) {
    double x = 1, y = 1.5, z = 20, tx = d == 0, ty = d == 1, tz = d == 2;
    for (Index k = 0; k < n; ++k) {
      const double nx = x + dt * 10 * (y - x), ny = y + dt * (x * (28 - z) - y), nz = z + dt * (x * y - 8.0 / 3 * z);
      const double ax = tx + dt * 10 * (ty - tx), ay = ty + dt * (tx * (28 - z) + x * ((d == 3) - tz) - ty), az = tz + dt * (tx * y + x * ty - 8.0 / 3 * tz);
      x = nx, y = ny, z = nz, tx = ax, ty = ay, tz = az;
    }
    const double slope = 2 * x * tx + y * tz + z * ty;
    EXPECT_NEAR(want[static_cast<std::size_t>(d)].item() / slope, 1, 1e-7) << "direction " << d;  // the error grows like the orbit's distance
  }
  const std::vector<Checkpoint> policies = {Checkpoint::revolve(16), Checkpoint::online(16), Checkpoint::every(100), Checkpoint::disk(),
                                            Checkpoint::schedule(checkpoint_schedule(Checkpoint::revolve(40), n))};
  for (const Checkpoint& p : policies) {
    SCOPED_TRACE(static_cast<int>(p.kind));
    const auto got = flatten_tree(grad(loss(p))(at));
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bits(got[k], want[k])) << "leaf " << k;
    const ReverseSweep run = last_reverse_sweep();
    EXPECT_EQ(run.advanced, recomputed_steps(p, n));
    EXPECT_EQ(run.taped, n);
    EXPECT_LE(run.tape_bytes * 10, tape);
    if (p.kind == Checkpoint::Kind::revolve) {
      EXPECT_EQ(run.advanced, 44015);
      EXPECT_EQ(run.snapshots, 16);
      EXPECT_LE(run.snapshot_bytes, 16u * 3 * 16);
    }
    if (p.kind == Checkpoint::Kind::online) {
      EXPECT_EQ(run.snapshots, 16);
    }
  }
  const auto few = [&](const Checkpoint& p) {
    return flatten_tree(grad([&](const Point& x) { return scan([&](const Point& p) { return std::pair(lorenz_step(p, at.second), std::tuple()); }, x, 300, {.checkpoint = p}).first[0]; })(at.first));
  };
  const auto all = few(Checkpoint::all()), none = few(Checkpoint::none());
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_TRUE(same_bits(all[k], none[k]));
  EXPECT_EQ(last_reverse_sweep().advanced, 300 * 299 / 2);
}

TEST(Checkpoint, HoldsTheSnapshotsAlone) {
  // 1,000 steps of a state of 80 kB: all of them are 80 MB.
  const Index n = 10000, steps = 1000;
  const Tensor x = linspace(0, 1, n);
  const auto f = [&](const Checkpoint& p) {
    return [p, steps](Tensor x) { return sum(fori_loop(steps, [](Tensor, Tensor c) { return c + 1e-3 * sin(c); }, x, {.checkpoint = p})); };
  };
  const auto peak_of = [&](const Checkpoint& p) {
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    const Tensor g = grad(f(p))(x);
    return std::pair(memory_stats().peak - before, g);
  };
  const auto [all_peak, want] = peak_of(Checkpoint::all());
  EXPECT_GT(all_peak, 80u << 20);
  for (const Checkpoint& p : {Checkpoint::revolve(8), Checkpoint::online(8), Checkpoint::disk()}) {
    const auto [peak, got] = peak_of(p);
    EXPECT_LE(peak, (8 + 16) * 8u * n) << "8 snapshots, and the few arrays that one step and its derivative take";
    EXPECT_TRUE(same_bits(got, want));
  }
}

TEST(Checkpoint, OfAFunctionKeepsItsArgumentsAlone) {
  const Tensor w = reshape(sin(arange(9, Dtype::f64)), {3, 3}), x = reshape(cos(arange(12, Dtype::f64)), {4, 3});
  const auto plain = [&](Tensor x) { return std::pair(tanh(matmul(x, w)) * x, sum(exp(x))); };
  const auto kept = checkpointed(plain);
  const auto loss = [](const auto& f) {
    return [f](Tensor x) {
      const auto [y, s] = f(f(x).first);
      return sum(y * y) + s;
    };
  };
  EXPECT_TRUE(same_bits(loss(kept)(x), loss(plain)(x)));
  EXPECT_TRUE(same_bits(grad(loss(kept))(x), grad(loss(plain))(x)));
  EXPECT_TRUE(same_bits(jit(grad(loss(kept)))(x), grad(loss(plain))(x)));
  EXPECT_LE(distance(hvp(loss(kept), x, x), hvp(loss(plain), x, x)), 1e-14);
  EXPECT_LE(distance(jvp(loss(kept), x, x).second, jvp(loss(plain), x, x).second), 1e-14);
  EXPECT_LE(distance(grad([&](Tensor w) { return sum(checkpointed([&](Tensor x) { return tanh(matmul(x, w)); })(x)); })(w),
                     grad([&](Tensor w) { return sum(tanh(matmul(x, w))); })(w)), 1e-15);  // what it captures
  const auto rows = [&](const auto& f) { return vmap([&](Tensor row) { return grad(loss([&](Tensor r) { return f(r); }))(expand_dims(row, 0)); })(x); };
  EXPECT_LE(distance(rows(kept), rows(plain)), 1e-14);

  // Twenty functions of fifty steps on 80 kB each.
  const Tensor big = linspace(0, 1, 10'000);
  const auto fifty = [](Tensor u) {
    for (int k = 0; k < 50; ++k) u = u + 0.01 * sin(u);
    return u;
  };
  const auto chain = [&](const auto& f) {
    return [f](Tensor u) {
      for (int k = 0; k < 20; ++k) u = f(u);
      return sum(u);
    };
  };
  const auto peak_of = [&](const auto& f) {
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    const Tensor g = grad(chain(f))(big);
    return std::pair(memory_stats().peak - before, g);
  };
  const auto [with, got] = peak_of(checkpointed(fifty));
  const auto [without, want] = peak_of(fifty);
  EXPECT_TRUE(same_bits(got, want));
  EXPECT_LE(with * 4, without);
}

TEST(Checkpoint, OfWhileLoopsOfUnknownLength) {
  // exp(a) by Euler steps until time 1.
  const auto f = [](const Checkpoint& p) {
    return [p](Tensor a) {
      return while_loop([](const std::pair<Tensor, Tensor>& s) { return s.second < 1.0; },
                        [&](const std::pair<Tensor, Tensor>& s) { return std::pair(s.first + (1.0 / 512) * a * sin(s.first), s.second + 1.0 / 512); },
                        std::pair(Tensor(1.0), Tensor(0.0)), {p}).first;
    };
  };
  const Tensor a(0.7), want = grad(f(Checkpoint::all()))(a);
  for (Index s : {2, 5, 20}) {
    EXPECT_TRUE(same_bits(grad(f(Checkpoint::online(s)))(a), want));
    const ReverseSweep run = last_reverse_sweep();
    EXPECT_EQ(run.snapshots, s);
    EXPECT_EQ(run.taped, 512);
    EXPECT_EQ(run.advanced, recomputed_steps(Checkpoint::online(s), 512) + 1);  // the step to where the condition fails
  }
  for (const Checkpoint& p : {Checkpoint::none(), Checkpoint::revolve(4), Checkpoint::every(20), Checkpoint::disk()}) EXPECT_TRUE(same_bits(grad(f(p))(a), want));
}

TEST(Checkpoint, ReversibleRunsTheLoopBack) {
  // Leapfrog of a pendulum: kick, drift, kick is undone by the same with -dt.
  using Phase = std::pair<Tensor, Tensor>;
  const auto leap = [](Phase s, const Tensor& g, double dt) {
    s.second = s.second - 0.5 * dt * g * sin(s.first);
    s.first = s.first + dt * s.second;
    s.second = s.second - 0.5 * dt * g * sin(s.first);
    return s;
  };
  const auto f = [&](bool reversible) {
    return [&leap, reversible](const std::array<Tensor, 3>& in) {
      const Phase init{in[0], in[1]};
      const Checkpoint p = reversible ? Checkpoint::reversible([&](Phase s) { return leap(s, in[2], -0.01); }, init) : Checkpoint::all();
      const Phase end = scan([&](Phase s) { return std::pair(leap(s, in[2], 0.01), std::tuple()); }, init, 1000, {.checkpoint = p}).first;
      return end.first * end.second;
    };
  };
  const std::array<Tensor, 3> at = {Tensor(1.0), Tensor(0.3), Tensor(9.81)};
  const auto want = grad(f(false))(at), got = grad(f(true))(at);
  const ReverseSweep run = last_reverse_sweep();
  EXPECT_EQ(run.inverted, 999);
  EXPECT_EQ(run.snapshots, 0);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(distance(got[k], want[k]), 1e-10);  // rounding of 1,000 steps back
  const auto h = [&](bool r) { return hvp(f(r), at, at); };
  const auto second = h(true), second_want = h(false);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(distance(second[k], second_want[k]), 1e-9);
}

TEST(Checkpoint, HoldsForHigherOrdersBatchesAndPlans) {
  const Driven d = driven(23), t = direction(d);
  const auto f = [](const Checkpoint& p) { return [p](const Driven& d) { return by_scan(d, {.checkpoint = p}); }; };
  const auto wide = [&](const Checkpoint& p) {
    return vmap([&](Tensor s) { return grad(f(p))(Driven{d.a, d.x0 * s, d.u}).a; })(tensor({0.5, 1.0, 1.5}));
  };
  const auto all = f(Checkpoint::all());
  const Driven g = grad(all)(d), h = hvp(all, d, t), rr = grad([&](const Driven& d) { return sum(grad(all)(d).u); })(d);
  const Tensor w = wide(Checkpoint::all());
  const auto expect_same = [](const Driven& a, const Driven& b) {
    const auto x = flatten_tree(a), y = flatten_tree(b);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_TRUE(same_bits(x[k], y[k])) << "leaf " << k;
  };
  for (const Checkpoint& p : {Checkpoint::none(), Checkpoint::every(4), Checkpoint::revolve(3), Checkpoint::online(3), Checkpoint::disk()}) {
    SCOPED_TRACE(static_cast<int>(p.kind));
    expect_same(grad(f(p))(d), g);
    expect_same(hvp(f(p), d, t), h);
    EXPECT_LE(last_reverse_sweep().snapshots, 23);
    EXPECT_GT(last_reverse_sweep().advanced, 0);
    expect_same(grad([&](const Driven& d) { return sum(grad(f(p))(d).u); })(d), rr);
    EXPECT_TRUE(same_bits(wide(p), w));
    expect_same(jit([&](const Driven& d) { return grad(f(p))(d); })(d), g);
  }
}

TEST(Checkpoint, DiskSaysWhereItCannotWrite) {
  const auto f = [](Tensor x) { return fori_loop(3, [](Tensor, Tensor c) { return c * c; }, x, {.checkpoint = Checkpoint::disk("/nowhere/at/all")}); };
  EXPECT_NE(message_of([&] { grad(f)(Tensor(2.0)); }).find("/nowhere/at/all"), std::string::npos);
}
