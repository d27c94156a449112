// SPDX-License-Identifier: Apache-2.0
//
// Two values are one only where they are one value of the graph: not because they begin at the same
// point, hold the same numbers, or have as many parts.
#include "error_text.h"
#include "op_table.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops/flow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera {
namespace {

using testing::message_of;

/// Taylor coefficients of f along x + t u + t^2 v by nested first derivatives in t alone.
std::vector<Tensor> by_nesting(const std::function<Tensor(Tensor)>& along, int order) {
  std::function<Tensor(Tensor)> f = along;
  std::vector<Tensor> c;
  double factorial = 1;
  for (int k = 0; k <= order; ++k) {
    if (k > 0) {
      factorial *= k;
      f = [f](Tensor t) { return jvp(f, t, Tensor(1.0)).second; };
    }
    c.push_back(f(Tensor(0.0)) / factorial);
  }
  return c;
}

double relative_distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  return a.size() ? max(abs(a - b)).item() / std::max(1.0, max(abs(b)).item()) : 0;
}

TEST(SamePoint, OperandsThatBeginTogetherMoveApart) {
  // |p - x|^2 about p = x: 0, 0, |u|^2; p . x: the slope is x . u, once.
  const Tensor x = tensor({1.0, -2.0, 3.0}), u = tensor({4.0, 3.0, 0.0});
  const auto square_of = jet([&](Tensor p) { return sum(square(p - x)); }, 3)(x, u);
  EXPECT_EQ(square_of[1].item(), 0);
  EXPECT_EQ(square_of[2].item(), 25);
  const auto product = jet([&](Tensor p) { return sum(p * x); }, 2)(x, u);
  EXPECT_EQ(product[1].item(), 4 - 6);
  EXPECT_EQ(product[2].item(), 0);
  EXPECT_EQ(laplacian([&](Tensor p) { return sum(square(p - x)); })(x).item(), 6);
  EXPECT_NEAR(biharmonic([&](Tensor p) { return square(sum(square(p - x))); })(x).item(), 8 * 3 * 5,
              1e-12);  // weights are thirds
  const PointLaplacian both = value_and_laplacian([&](Tensor p) { return sum(p * x * p); }, x);
  EXPECT_NEAR(both.d(0).item(), 2 * 1.0, 1e-15);
  EXPECT_NEAR(both.laplacian.item(), 2 * 2.0, 1e-14);
  EXPECT_EQ(vmap([&](Tensor p) {
              return laplacian([&](Tensor q) { return sum(square(q - p)); })(p);
            })(stack({x, u}))
                .to_vector(),
            (std::vector<double>{6, 6}));
  EXPECT_LE(relative_distance(grad([&](Tensor p) {
                                return laplacian([&](Tensor q) {
                                  return sum(square(q) * q * stop_gradient(p));
                                })(p);
                              })(x),
                              6.0 * x),
            1e-14);
}

// Every operation of two and more operands: its operands are one tensor that moves in different
// directions, or one moves and the others are captured.
TEST(SamePoint, EveryOperationOfSeveralOperandsAgainstNestedDerivatives) {
  constexpr int kOrder = 4;
  int cases = 0;
  for (const table::Row& row : table::all_rows()) {
    if (!row.differentiable || !contains(row.dtypes, Dtype::f64)) continue;
    table::Rng rng(71);
    const std::vector<Tensor> inputs = row.inputs(Dtype::f64, 3, rng);
    std::vector<std::size_t> live;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].dtype() == Dtype::f64 &&
          (live.empty() || inputs[k].type() == inputs[live[0]].type()))
        live.push_back(k);
    if (live.size() < 2) continue;
    const FlatFunction& f = row.invariant ? row.invariant : row.f;
    const auto at = [&](const std::vector<Tensor>& moving) {
      std::vector<Tensor> in = inputs;
      for (std::size_t k = 0; k < live.size(); ++k) in[live[k]] = moving[k];
      Tensor total(0.0);
      for (const Tensor& y : f(in))
        if (y.dtype() == Dtype::f64) total = total + sum(sin(y));
      return total;
    };
    const Tensor x = inputs[live[0]];
    std::vector<Tensor> same(live.size(), x), first, second;
    try {
      if (!std::isfinite(at(same).item())) continue;
    } catch (const Error&) {
      continue;  // these operands may not be equal
    }
    for (std::size_t k = 0; k < live.size(); ++k) {
      first.push_back(table::uniform_tensor(Dtype::f64, x.shape(), rng, -0.2, 0.2));
      second.push_back(table::uniform_tensor(Dtype::f64, x.shape(), rng, -0.2, 0.2));
    }
    SCOPED_TRACE(row.primitive + " " + row.variant);
    for (std::size_t still = 0; still <= live.size();
         ++still) {  // one of them does not move; or all do
      const auto along = [&](Tensor t) {
        std::vector<Tensor> moving = same;
        for (std::size_t k = 0; k < live.size(); ++k)
          if (k != still) moving[k] = x + t * (first[k] + t * second[k]);
        return at(moving);
      };
      const std::vector<Tensor> want = by_nesting(along, kOrder);
      bool smooth = true;
      for (const Tensor& c : want) smooth = smooth && std::isfinite(c.item());
      if (!smooth) continue;
      std::vector<std::vector<Tensor>> curve{{}, {}, {}};
      for (std::size_t k = 0; k < live.size(); ++k)
        if (k != still)
          curve[0].push_back(x), curve[1].push_back(first[k]), curve[2].push_back(second[k]);
      const FlatFunction of_moving = [&](const std::vector<Tensor>& v) {
        std::vector<Tensor> moving = same;
        for (std::size_t k = 0, n = 0; k < live.size(); ++k)
          if (k != still) moving[k] = v[n++];
        return std::vector<Tensor>{at(moving)};
      };
      const auto got = detail::jet_flat(of_moving, curve, kOrder);
      const double scale =
          row.derivative_tolerance / 1e-7;  // 1 but for rows that are harder to differentiate
      for (std::size_t k = 0; k <= kOrder; ++k)
        EXPECT_LE(relative_distance(got[k][0], want[k]), 1e-11 * scale)
            << "still " << still << ", order " << k;
      // Collapsed: the sum over two directions of second and fourth coefficients.
      std::vector<Tensor> directions;
      for (std::size_t k = 0; k < curve[1].size(); ++k)
        directions.push_back(stack({curve[1][k], curve[2][k]}));
      for (int order : {2, 4}) {
        Tensor sum_of(0.0);
        for (int r : {1, 2})
          sum_of = sum_of + detail::jet_flat(of_moving,
                                             {curve[0], curve[static_cast<std::size_t>(r)]}, order)
                                .back()[0];
        EXPECT_LE(
            relative_distance(
                detail::collapsed_flat(of_moving, curve[0], directions, order, {}).sums[0], sum_of),
            1e-11 * scale)
            << "collapsed, order " << order;
      }
      ++cases;
    }
  }
  EXPECT_GE(cases, 40);
  std::printf("  %d cases\n", cases);
}

TEST(SamePoint, ALinearMapIsLinearInItsArgumentsAlone) {
  // x -> w x with w captured: coefficients w x_k, whatever w is in.
  const auto scaled = [](Tensor w, Tensor x) {
    return custom_linear(
        [=](const std::vector<Tensor>& v) { return std::vector<Tensor>{w * v[0]}; },
        [=](const std::vector<Tensor>& c) { return std::vector<Tensor>{w * c[0]}; })({x})[0];
  };
  const auto second = [&](Tensor w) {
    return jet([&](Tensor x) { return scaled(w, x * x); }, 2)(Tensor(3.0), Tensor(1.0))[2] +
           jet([&](Tensor x) { return scaled(w, x); }, 1)(Tensor(3.0), Tensor(2.0))[1];
  };
  EXPECT_EQ(second(Tensor(5.0)).item(), 15);
  EXPECT_EQ(jit(second)(Tensor(5.0)).item(), 15);
  EXPECT_EQ(vmap(second)(tensor({5.0, -1.0})).to_vector(), (std::vector<double>{15, -3}));
  EXPECT_EQ(vmap([&](Tensor w) {
              return laplacian([&](Tensor x) { return sum(scaled(w, x * x)); })(tensor({1.0, 2.0}));
            })(tensor({5.0, -1.0}))
                .to_vector(),
            (std::vector<double>{20, -4}));
  // The point is captured by the map that is expanded: its coefficients would be those of w(t)
  // x(t), which nobody gave.
  EXPECT_NE(message_of([&] {
              (void)jet([&](Tensor x) { return scaled(x, x); }, 2)(Tensor(3.0), Tensor(1.0));
            }).find("custom_linear"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] {
        (void)grad([&](Tensor w) { return scaled(w, Tensor(2.0)) + scaled(w, w); })(Tensor(3.0));
      }).find("custom_linear"),
      std::string::npos);
}

TEST(SamePoint, BarriersAfterWhatMoves) {
  const auto y =
      jet([](Tensor x) { return barrier(x * x, {sin(x)}); }, 3)(Tensor(2.0), Tensor(1.0));
  EXPECT_EQ(y[1].item(), 4);
  EXPECT_EQ(y[2].item(), 1);
  EXPECT_EQ(y[3].item(), 0);
}

// ---- jit: a plan is known by all that it was made for ----

TEST(Jit, TheResultHasTheShapeOfThisCall) {
  const auto f = jit([](Tensor x) {
    std::vector<Tensor> y;
    for (Index k = 0; k < x.dim(0); ++k) y.push_back(select(x, 0, k) * 2.0);
    return y;
  });
  for (Index n : {2, 5, 2, 0, 1, 5}) {
    const std::vector<Tensor> y = f(arange(n, Dtype::f64));
    ASSERT_EQ(static_cast<Index>(y.size()), n);
    for (Index k = 0; k < n; ++k)
      EXPECT_EQ(y[static_cast<std::size_t>(k)].item(), 2.0 * static_cast<double>(k));
  }
}

TEST(Jit, TreesOfOneNumberOfTensorsAreTold) {
  using Lists = std::vector<std::vector<Tensor>>;
  const auto f = jit([](const Lists& lists, const std::vector<Tensor>& more) {
    Tensor total(0.0);
    double weight = 1;
    for (const auto& list : lists) {
      for (const Tensor& t : list) total = total + weight * t;
      weight *= 10;
    }
    for (const Tensor& t : more) total = total + 1000.0 * t;
    return std::pair(total, lists);
  });
  const Tensor a(1.0), b(2.0), c(3.0);
  const std::pair<Lists, std::vector<Tensor>> calls[] = {{{{a, b}, {c}}, {}},
                                                         {{{a}, {b, c}}, {}},
                                                         {{{a}, {b}}, {c}},
                                                         {{{a}, {}, {b, c}}, {}},
                                                         {{}, {a, b, c}}};
  const double want[] = {33, 51, 3021, 501, 6000};
  for (int again = 0; again < 2; ++again)
    for (std::size_t k = 0; k < 5; ++k) {
      const auto y = f(calls[k].first, calls[k].second);
      EXPECT_EQ(y.first.item(), want[k]);
      ASSERT_EQ(y.second.size(), calls[k].first.size());
      for (std::size_t i = 0; i < y.second.size(); ++i)
        EXPECT_EQ(y.second[i].size(), calls[k].first[i].size());
    }
}

struct Powered {
  Tensor x;
  int power;
  std::string name;
  TESSERA_TREE(x)
  TESSERA_STATIC(power, name)
};

TEST(Jit, StaticMembersArePartOfThePlan) {
  const auto f = jit([](const Powered& p) {
    Tensor y(1.0);
    for (int k = 0; k < p.power; ++k) y = y * p.x;
    return p.name == "minus" ? -1.0 * y : y;
  });
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(f(Powered{Tensor(3.0), 2, "plus"}).item(), 9);
    EXPECT_EQ(f(Powered{Tensor(3.0), 3, "plus"}).item(), 27);
    EXPECT_EQ(f(Powered{Tensor(3.0), 3, "minus"}).item(), -27);
  }
}

TEST(Jit, TangentsAndCotangentsHaveAsManyTensors) {
  const auto f = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{x[0] * x[1], x[1]};
  };
  const std::vector<Tensor> x{Tensor(2.0), Tensor(3.0)};
  EXPECT_NE(message_of([&] { (void)jvp(f, x, {Tensor(1.0)}); }).find("want 2"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)linearize(f, x).second({Tensor(1.0)}); }).find("want 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] { (void)vjp(f, x).second({Tensor(1.0)}); }).find("want 2"),
            std::string::npos);
}

// ---- a while that is itself transposed ----

TEST(While, TransposedInWhatItsConditionDoesNotRead) {
  // v -> A^n v in the backward of a rule; the counter before or behind the vector.
  const Tensor a = tensor({0.5, 0.25, -0.5, 1.0}, {2, 2});
  const auto power = [&](Tensor v, Tensor n, bool counter_first) {
    const auto step = [&](Tensor w) { return matmul(a, w); };
    if (counter_first)
      return while_loop([&](const std::pair<Tensor, Tensor>& s) { return s.first < n; },
                        [&](const std::pair<Tensor, Tensor>& s) {
                          return std::pair(s.first + 1.0, step(s.second));
                        },
                        std::pair(Tensor(0.0), v))
          .second;
    return while_loop([&](const std::pair<Tensor, Tensor>& s) { return s.second < n; },
                      [&](const std::pair<Tensor, Tensor>& s) {
                        return std::pair(step(s.first), s.second + 1.0);
                      },
                      std::pair(v, Tensor(0.0)))
        .first;
  };
  const Tensor x = tensor({1.0, 2.0}), u = tensor({-1.0, 0.5});
  for (bool counter_first : {true, false})
    for (double n : {0.0, 1.0, 5.0}) {
      Tensor an = eye(2);
      for (int k = 0; k < n; ++k) an = matmul(an, a);
      const auto f = custom_vjp(
          [&](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{power(v[0], Tensor(n), counter_first)};
          },
          1,
          [&](const std::vector<Tensor>&, const std::vector<Tensor>& ct) {
            const Tensor back = matmul(transpose(an), ct[0]);
            return std::vector<Tensor>{
                while_loop([](const std::pair<Tensor, Tensor>& s) { return s.second < 1.0; },
                           [](const std::pair<Tensor, Tensor>& s) {
                             return std::pair(1.0 * s.first, s.second + 1.0);
                           },
                           std::pair(back, Tensor(0.0)))
                    .first};
          });
      // Forward mode through the rule transposes the loop of its backward.
      EXPECT_LE(relative_distance(detail::jvp_flat(f, {x}, {u}).second[0], matmul(an, u)), 1e-15);
      // The loop as a linear map, transposed by hand: <c, A^n u> = <(A^n)^T c, u>.
      const Graph g = trace(
          [&](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{power(v[0], Tensor(n), counter_first)};
          },
          std::vector<Type>{x.type()});
      EXPECT_LE(relative_distance(detail::transpose_graph(g, std::vector<Tensor>{u})[0],
                                  matmul(transpose(an), u)),
                1e-15);
      const std::vector<Tensor> batch = detail::vmap_flat(
          [&](const std::vector<Tensor>& c) { return detail::transpose_graph(g, c); },
          {stack({u, x})}, {0}, 0);
      EXPECT_LE(relative_distance(batch[0], matmul(stack({u, x}), an)), 1e-15);
    }
  // The number of steps read off the vector itself is no linear map.
  const Graph g = trace(
      [&](const std::vector<Tensor>& v) {
        return std::vector<Tensor>{while_loop([](Tensor w) { return sum(w) < 1.0; },
                                              [](Tensor w) { return 2.0 * w; }, v[0])};
      },
      std::vector<Type>{x.type()});
  EXPECT_NE(message_of([&] {
              (void)detail::transpose_graph(g, std::vector<Tensor>{u});
            }).find("which its condition reads"),
            std::string::npos);
}

TEST(While, TransposedOverABatchWhoseElementsGoDifferentWays) {
  // v_k -> a^(n_k) v_k by a loop, b_k v_k or 2 v_k by a branch: diagonal maps, their own
  // transposes, also twice and in a batch of batches.
  const Tensor n = tensor({0.0, 3.0, 1.0}), v = tensor({1.0, -2.0, 3.0});
  const auto loop = [](Tensor x, Tensor m) {
    return while_loop([&](const std::pair<Tensor, Tensor>& s) { return s.first < m; },
                      [](const std::pair<Tensor, Tensor>& s) {
                        return std::pair(s.first + 1.0, 0.5 * s.second);
                      },
                      std::pair(Tensor(0.0), x))
        .second;
  };
  const auto branch = [](Tensor x, Tensor m) {
    return cond(
        m > 0.5, [&](Tensor u) { return u / m; }, [](Tensor u) { return 2.0 * u; }, x);
  };
  const Tensor diagonals[] = {tensor({1.0, 0.125, 0.5}), tensor({2.0, 1.0 / 3, 1.0})};
  int which = 0;
  for (const auto& f : {std::function<Tensor(Tensor, Tensor)>(loop),
                        std::function<Tensor(Tensor, Tensor)>(branch)}) {
    const Tensor d = diagonals[which++];
    const auto map = [&](const std::vector<Tensor>& x) {
      return std::vector<Tensor>{vmap(f)(x[0], n)};
    };
    const auto turned = [&](const std::vector<Tensor>& c) {
      return detail::transpose_graph(trace(map, std::vector<Type>{v.type()}), c);
    };
    const auto again = [&](const std::vector<Tensor>& c) {
      return detail::transpose_graph(trace(turned, std::vector<Type>{v.type()}), c);
    };
    EXPECT_LE(relative_distance(turned({v})[0], d * v), 1e-15);
    EXPECT_LE(relative_distance(again({v})[0], d * v), 1e-15);
    EXPECT_LE(relative_distance(detail::vmap_flat(again, {stack({v, 2.0 * v})}, {0}, 0)[0],
                                stack({d * v, 2.0 * d * v})),
              1e-15);
    // A rule whose backward is such a loop, under vmap, grad and jvp.
    const auto rule = [&](Tensor x, Tensor m) {
      return custom_vjp(
          [f](const std::vector<Tensor>& u) {
            return std::vector<Tensor>{f(u[0], u[1]) * u[0], u[0], u[1]};
          },
          1,
          [f](const std::vector<Tensor>& kept, const std::vector<Tensor>& ct) {
            return std::vector<Tensor>{f(ct[0], kept[1]) * 2.0 * kept[0], zeros({})};
          })({x, m})[0];
    };
    const auto loss = [&](Tensor x) { return sum(vmap(rule)(x, n)); };
    EXPECT_LE(relative_distance(grad(loss)(v), 2.0 * d * v), 1e-15);
    EXPECT_LE(relative_distance(hvp(loss, v, ones({3})), 2.0 * d), 1e-15);
    EXPECT_LE(relative_distance(grad([&](Tensor x) { return sum(grad(loss)(x)); })(v), 2.0 * d),
              1e-15);
  }
}

TEST(Cond, WhatABranchDoesWithCapturedValuesIsTheBranchs) {
  // Nothing of x but the branch: at the point that is guarded against, the other branch has the
  // derivative.
  const auto f = [](Tensor x) {
    return cond(
        x > 0.0, [&](Tensor v) { return v * log(x); }, [&](Tensor v) { return 2.0 * v + x; },
        3.0 * x);
  };
  EXPECT_EQ(grad(f)(Tensor(0.0)).item(), 7);
  EXPECT_NEAR(grad(f)(Tensor(2.0)).item(), 3 * std::log(2.0) + 3, 1e-15);
  EXPECT_EQ(grad(grad(f))(Tensor(0.0)).item(), 0);
  EXPECT_EQ(jit(grad(f))(Tensor(0.0)).item(), 7);
  EXPECT_EQ(vmap(grad(f))(tensor({0.0, -1.0})).to_vector(), (std::vector<double>{7, 7}));
  EXPECT_EQ(jet(f, 2)(Tensor(0.0), Tensor(1.0))[1].item(), 7);
  // Known values too: what fails does so in the branch that is taken, and a loop without end is not
  // begun.
  const Tensor indefinite = tensor({1.0, 2.0, 2.0, 1.0}, {2, 2}), one(1.0);
  const auto g = [&](Tensor x) {
    return cond(
        x > 0.0, [&](Tensor v) { return v + sum(cholesky(indefinite)); },
        [](Tensor v) { return v; }, x);
  };
  EXPECT_EQ(g(Tensor(-2.0)).item(), -2);
  EXPECT_EQ(grad(g)(Tensor(-2.0)).item(), 1);
  EXPECT_EQ(vmap(g)(tensor({-2.0, -3.0})).to_vector(), (std::vector<double>{-2, -3}));
  EXPECT_NE(message_of([&] { (void)g(Tensor(2.0)); }).find("not positive definite"),
            std::string::npos);
  const auto endless = [&](Tensor x) {
    return cond(
        x > 0.0,
        [&](Tensor v) {
          return v + while_loop([](Tensor c) { return c > 0.0; }, [](Tensor c) { return c * 1.0; },
                                one);
        },
        [](Tensor v) { return v; }, x);
  };
  EXPECT_EQ(endless(Tensor(-2.0)).item(), -2);
  EXPECT_EQ(vmap(grad(endless))(tensor({-2.0, -1.0})).to_vector(), (std::vector<double>{1, 1}));
  // Shapes that do not fit are told at once.
  EXPECT_NE(message_of([&] {
              (void)cond(
                  one < 0.0,
                  [&](Tensor v) {
                    return v + sum(matmul(indefinite, ones({3, 2})));
                  },
                  [](Tensor v) { return v; }, one);
            }).find("matmul"),
            std::string::npos);
}

TEST(While, WhatNoStepChangesIsComputedOnceAndOnlyForASteppingLoop) {
  const Tensor a = tensor({4.0, 1.0, 1.0, 3.0}, {2, 2}), b = tensor({1.0, 2.0});
  const auto f = [&](Tensor m, Tensor n) {
    return while_loop([&](const std::pair<Tensor, Tensor>& s) { return s.second < n; },
                      [&](const std::pair<Tensor, Tensor>& s) {
                        return std::pair(matmul(cholesky(m), s.first) * 0.25, s.second + 1.0);
                      },
                      std::pair(b, Tensor(0.0)))
        .first;
  };
  const auto plain = [&](Tensor m, int n) {
    Tensor x = b;
    for (int k = 0; k < n; ++k) x = matmul(cholesky(m), x) * 0.25;
    return x;
  };
  for (int n : {0, 1, 4}) {
    const Tensor steps(static_cast<double>(n));
    EXPECT_LE(relative_distance(f(a, steps), plain(a, n)), 1e-15);
    const auto loss = [&](Tensor m) { return sum(sin(f(m, steps))); };
    const auto plain_loss = [&](Tensor m) { return sum(sin(plain(m, n))); };
    EXPECT_LE(relative_distance(grad(loss)(a), grad(plain_loss)(a)), 1e-14);
    EXPECT_LE(relative_distance(hvp(loss, a, eye(2)), hvp(plain_loss, a, eye(2))), 1e-14);
    EXPECT_LE(relative_distance(jet(loss, 3)(a, eye(2))[3], jet(plain_loss, 3)(a, eye(2))[3]),
              1e-14);
    EXPECT_LE(relative_distance(vmap(grad(loss))(stack({a, 2.0 * a})),
                                stack({grad(plain_loss)(a), grad(plain_loss)(2.0 * a)})),
              1e-14);
  }
  const Tensor indefinite = tensor({1.0, 2.0, 2.0, 1.0}, {2, 2});
  EXPECT_EQ(f(indefinite, Tensor(0.0)).to_vector(), b.to_vector());
  EXPECT_EQ(grad([&](Tensor m) { return sum(f(m, Tensor(0.0))); })(indefinite).to_vector(),
            std::vector<double>(4, 0.0));
}

}  // namespace
}  // namespace tessera
