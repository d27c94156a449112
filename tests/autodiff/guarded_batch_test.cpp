// SPDX-License-Identifier: Apache-2.0
//
// Branches and loops whose elements go different ways: under vmap each element has the value and
// the derivatives that it has alone, and nothing fails or never ends that would not alone.
#include "same_bits.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tessera {
namespace {

using Scalar = std::function<Tensor(Tensor)>;

Scalar value_of(const Scalar& f) { return f; }
Scalar slope_forward(const Scalar& f) {
  return [f](Tensor x) { return jvp(f, x, ones(x.shape())).second; };
}
Scalar slope_reverse(const Scalar& f) {
  return
      [f](Tensor x) { return vjp([&](Tensor v) { return f(v); }, x).second(ones(f(x).shape())); };
}
Scalar third_coefficient(const Scalar& f) {
  return [f](Tensor x) { return jet(f, 3)(x, ones(x.shape()))[3]; };
}
Scalar under_jit(const Scalar& f) {
  return [f](Tensor x) { return jit([f](Tensor v) { return f(v); })(x); };
}
Scalar batched(const Scalar& f) {
  return [f](Tensor x) { return vmap([f](Tensor v) { return f(v); })(x); };
}

/// Every element of x [n] alone, put side by side.
Tensor one_by_one(const Scalar& f, const Tensor& x) {
  std::vector<Tensor> y;
  for (Index k = 0; k < x.dim(0); ++k) y.push_back(f(select(x, 0, k)));
  return stack(y);
}

/// Equal to 1e-12 of the largest, with every NaN and infinity in its place.
void expect_equal(const Tensor& got, const Tensor& want, const char* what) {
  const std::vector<double> a = contiguous(got).to_vector(), b = contiguous(want).to_vector();
  ASSERT_EQ(a.size(), b.size()) << what;
  double scale = 1;
  for (double v : b)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isfinite(b[k]))
      EXPECT_NEAR(a[k], b[k], 1e-12 * scale) << what << ", element " << k;
    else
      EXPECT_TRUE(std::isnan(b[k]) ? std::isnan(a[k]) : a[k] == b[k])
          << what << ", element " << k << ": " << a[k] << " for " << b[k];
  }
}

/// f of a scalar over x under every stack of transforms, beside each element alone.
void expect_as_alone(const Scalar& f, const Tensor& x) {
  const std::pair<const char*, std::function<Scalar(const Scalar&)>> derivatives[] = {
      {"value", value_of},
      {"jvp", slope_forward},
      {"vjp", slope_reverse},
      {"jet", third_coefficient},
      {"jvp of vjp", [](const Scalar& g) { return slope_forward(slope_reverse(g)); }},
      {"vjp of jvp", [](const Scalar& g) { return slope_reverse(slope_forward(g)); }},
      {"vjp of vjp", [](const Scalar& g) { return slope_reverse(slope_reverse(g)); }},
      {"jet of vjp", [](const Scalar& g) { return third_coefficient(slope_reverse(g)); }}};
  for (const auto& [name, d] : derivatives) {
    SCOPED_TRACE(name);
    const Tensor alone = one_by_one(d(f), x);
    expect_equal(batched(d(f))(x), alone, "batch of it");
    expect_equal(d(batched(f))(x), alone, "it of the batch");
    expect_equal(under_jit(batched(d(f)))(x), alone, "compiled batch of it");
    const Tensor twice = stack({x, reverse(x, {0})}), both = stack({alone, reverse(alone, {0})});
    expect_equal(batched(batched(d(f)))(twice), both, "batch of the batch of it");
    expect_equal(d(batched(batched(f)))(twice), both, "it of the batch of the batch");
  }
}

const Tensor& both_sides() {
  static const Tensor x = tensor({1.5, -0.7, 0.0, 2.0, -3.0, 0.25});
  return x;
}

TEST(GuardedBatch, BranchesKeepWhatIsSingularToThoseThatTakeThem) {
  const std::pair<const char*, Scalar> guarded[] = {
      {"sqrt",
       [](Tensor x) {
         return cond(
             x > 0.0, [](Tensor v) { return sqrt(v); }, [](Tensor v) { return v * v; }, x);
       }},
      {"log",
       [](Tensor x) {
         return cond(
             x > 0.0, [](Tensor v) { return log(v) * v; }, [](Tensor v) { return sin(v); }, x);
       }},
      {"1 / x",
       [](Tensor x) {
         return cond(
             equal(x, 0.0), [](Tensor v) { return 3.0 * v; }, [](Tensor v) { return 1.0 / v; }, x);
       }},
      {"captured",
       [](Tensor x) {
         return cond(
             x > 0.0, [&](Tensor v) { return v * log(x); },
             [&](Tensor v) { return sqrt(-1.0 * v + 1.0) * x; }, 2.0 * x);
       }},
      {"acos",
       [](Tensor x) {
         return cond(
             abs(x) < 1.0, [](Tensor v) { return acos(v); },
             [](Tensor v) { return pow(abs(v), 0.5); }, x);
       }},
      {"nested", [](Tensor x) {
         return cond(
             x > 0.0,
             [](Tensor v) {
               return cond(
                   v > 1.0, [](Tensor w) { return sqrt(w - 1.0); },
                   [](Tensor w) { return asin(w); }, v);
             },
             [](Tensor v) {
               return cond(
                   equal(v, 0.0), [](Tensor w) { return w; },
                   [](Tensor w) { return log(-1.0 * w) / w; }, v);
             },
             x);
       }}};
  for (const auto& [name, f] : guarded) {
    SCOPED_TRACE(name);
    expect_as_alone(f, both_sides());
    expect_as_alone(f, tensor({2.0, 3.0}));  // nobody takes the other branch
    expect_as_alone(f, tensor({-2.0}));
  }
}

TEST(GuardedBatch, LoopsHoldWhatIsDoneAtASingularPoint) {
  // x -> sqrt(x) (x - 1) until x is 0: reached exactly, where the step has no derivative.
  const Scalar down = [](Tensor x) {
    return while_loop([](Tensor c) { return c > 0.0; },
                      [](Tensor c) { return sqrt(c) * maximum(c - 1.0, 0.0); }, x);
  };
  // The step's own function fails below 1/2, where elements end at different times.
  const Scalar fall = [](Tensor x) {
    return while_loop([](const std::pair<Tensor, Tensor>& s) { return s.first > 0.5; },
                      [](const std::pair<Tensor, Tensor>& s) {
                        return std::pair(0.6 * sqrt(s.first - 0.5) + 0.1 * s.first,
                                         s.second + log(2.0 * s.first - 1.0));
                      },
                      std::pair(x, sin(x)))
        .second;
  };
  // Constants that those who never step may not touch.
  const Scalar captured = [](Tensor x) {
    return while_loop(
               [&](const std::pair<Tensor, Tensor>& s) {
                 return logical_and(x > 0.0, s.second < 3.0);
               },
               [&](const std::pair<Tensor, Tensor>& s) {
                 return std::pair(s.first * 0.5 + log(x) * sqrt(x), s.second + 1.0);
               },
               std::pair(x, Tensor(0.0)))
        .first;
  };
  for (const Checkpoint& policy :
       {Checkpoint::all(), Checkpoint::online(2), Checkpoint::every(2)}) {
    const Scalar policed = [policy](Tensor x) {
      return while_loop([](const std::pair<Tensor, Tensor>& s) { return s.first > 0.5; },
                        [](const std::pair<Tensor, Tensor>& s) {
                          return std::pair(0.6 * sqrt(s.first - 0.5) + 0.1 * s.first,
                                           s.second + s.first * s.second);
                        },
                        std::pair(x, cos(x)), {.checkpoint = policy})
          .second;
    };
    expect_as_alone(policed, tensor({4.0, 0.3, 1.0, 9.0, 0.75}));
  }
  expect_as_alone(down, tensor({1.0, 0.0, 0.5, 1.75}));
  expect_as_alone(fall, tensor({4.0, 0.3, 1.0, 9.0, 0.75}));
  expect_as_alone(captured, tensor({1.5, 0.0, 4.0, -2.0}));
  expect_as_alone(captured, tensor({-1.0, 0.0}));  // nobody steps
}

TEST(GuardedBatch, BranchesInLoopsAndLoopsInBranches) {
  const Scalar branch_in_loop = [](Tensor x) {
    return while_loop([](const std::pair<Tensor, Tensor>& s) { return s.second < 3.0; },
                      [](const std::pair<Tensor, Tensor>& s) {
                        const Tensor next = cond(
                            s.first > 1.0, [](Tensor v) { return sqrt(v - 1.0); },
                            [](Tensor v) { return 2.0 - v * v; }, s.first);
                        return std::pair(
                            next,
                            s.second + cond(
                                           s.first > 1.5, [](Tensor v) { return v * 0.0 + 2.0; },
                                           [](Tensor v) { return v * 0.0 + 1.0; }, s.first));
                      },
                      std::pair(x, Tensor(0.0)))
        .first;
  };
  // The loop of the branch ends for those that take it alone: for others it would go on for ever.
  const Scalar loop_in_branch = [](Tensor x) {
    return cond(
        x > 0.0,
        [](Tensor v) {
          return while_loop([](Tensor c) { return c < 10.0; }, [](Tensor c) { return c * c + c; },
                            v);
        },
        [](Tensor v) { return cos(v); }, x);
  };
  expect_as_alone(branch_in_loop, tensor({1.7, 0.2, 2.6, 1.2}));
  expect_as_alone(loop_in_branch, tensor({1.5, -0.7, 0.3, -2.0}));
}

TEST(GuardedBatch, FactorisationsTablesAndChecksFailForNobodyElse) {
  // What throws: an indefinite matrix, a singular one, an index outside of its table, a check.
  const auto matrix = [](Tensor v) { return reshape(stack({v, 0.5 * v, 0.5 * v, v}), {2, 2}); };
  const Tensor table = tensor({2.0, 3.0, 5.0, 7.0});
  const std::pair<const char*, Scalar> failing[] = {
      {"cholesky",
       [&](Tensor x) {
         return cond(
             x > 0.0, [&](Tensor v) { return sum(log(diagonal(cholesky(matrix(v))))); },
             [](Tensor v) { return v * v; }, x);
       }},
      {"solve",
       [&](Tensor x) {
         return cond(
             equal(x, 0.0), [](Tensor v) { return v; },
             [&](Tensor v) { return sum(solve(matrix(v), ones({2}))); }, x);
       }},
      {"gather",
       [&](Tensor x) {
         return cond(
             logical_and(x >= 0.0, x < 4.0),
             [&](Tensor v) { return v * gather(table, cast(stop_gradient(v), Dtype::i64)); },
             [](Tensor v) { return -1.0 * v * v; }, x);
       }},
      {"check",
       [&](Tensor x) {
         return cond(
             x > 0.0, [](Tensor v) { return log(check(v, v > 0.0, "positive")); },
             [](Tensor v) { return v; }, x);
       }},
      {"host",
       [&](Tensor x) {
         const FlatFunction host = host_call(
             {.name = "root",
              .run =
                  [](const std::vector<Tensor>& in) {
                    if (!(in[0].item() > 0)) throw Error("the root of what is not positive");
                    return std::vector<Tensor>{sqrt(in[0])};
                  },
              .jvp = [](const auto&, const auto& y,
                        const auto& t) { return std::vector<Tensor>{t[0] / (2.0 * y[0])}; }});
         return cond(
             x > 0.0, [&](Tensor v) { return host({v})[0]; }, [](Tensor v) { return 2.0 * v; }, x);
       }},
      {"end of a table", [&](Tensor x) {
         return while_loop(
                    [](const std::pair<Tensor, Tensor>& s) {
                      return s.second < cast(4.0, Dtype::i64);
                    },
                    [&](const std::pair<Tensor, Tensor>& s) {
                      return std::pair(s.first * 0.5 + gather(table, s.second) * sin(s.first),
                                       s.second + 1);
                    },
                    std::pair(x, cast(floor(stop_gradient(abs(x))), Dtype::i64)))
             .first;
       }}};
  for (const auto& [name, f] : failing) {
    SCOPED_TRACE(name);
    expect_as_alone(f, tensor({1.5, -0.7, 0.0, 3.2, -3.0}));
  }
}

TEST(GuardedBatch, ABranchThatNobodyTakesIsNotRun) {
  int calls = 0;
  const FlatFunction host =
      host_call({.name = "count",
                 .run =
                     [&](const std::vector<Tensor>& in) {
                       ++calls;
                       return in;
                     },
                 .jvp = [](const auto&, const auto&, const auto& t) { return t; }});
  const auto f = [&](Tensor x) {
    return cond(
        x > 0.0, [&](Tensor v) { return host({v})[0]; }, [](Tensor v) { return 2.0 * v; }, x);
  };
  EXPECT_EQ(vmap(f)(tensor({-1.0, -2.0})).to_vector(), (std::vector<double>{-2, -4}));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(vmap(f)(tensor({1.0, -2.0})).to_vector(), (std::vector<double>{1, -4}));
  EXPECT_GT(calls, 0);
}

// A compiled function of known values is a part of its branch as its operations are: whether it was
// planned before or not, it fails, and may go on for ever, only where the branch is taken.
TEST(GuardedBatch, CompiledFunctionsBelongToTheirBranch) {
  const Tensor bad = tensor({1.0, 2.0, 2.0, 1.0}, {2, 2});
  const auto factor = jit([](Tensor a) { return sum(cholesky(a)); });
  EXPECT_EQ(factor(eye(2)).item(), 2);  // planned
  const auto endless = jit([](Tensor a) {
    return while_loop([](Tensor v) { return v < 1.0; }, [](Tensor v) { return v * 1.0; }, a);
  });
  EXPECT_EQ(endless(Tensor(2.0)).item(), 2);
  const auto f = [&](Tensor x) {
    return cond(
        x > 0.0, [&](Tensor v) { return v * factor(bad) + endless(Tensor(0.0)); },
        [](Tensor v) { return v * v; }, x);
  };
  EXPECT_EQ(f(Tensor(-3.0)).item(), 9);
  EXPECT_EQ(grad(f)(Tensor(-3.0)).item(), -6);
  EXPECT_EQ(vmap(f)(tensor({-3.0, -2.0})).to_vector(), (std::vector<double>{9, 4}));
  EXPECT_EQ(jit(f)(Tensor(-3.0)).item(), 9);
  const auto g = [&](Tensor x) {
    return cond(
        x > 0.0, [&](Tensor v) { return v * factor(4.0 * eye(2)); }, [](Tensor v) { return v; }, x);
  };
  EXPECT_EQ(g(Tensor(3.0)).item(), 12);
  EXPECT_EQ(grad(g)(Tensor(3.0)).item(), 4);
}

TEST(GuardedBatch, VectorsMatricesAndIntegersInTheCarry) {
  // Newton's iteration for a square root of each element's matrix, with as many steps as each
  // needs.
  const auto root = [](Tensor a) {
    return while_loop(
        [&](const std::pair<Tensor, Tensor>& s) {
          return logical_and(max(abs(matmul(s.first, s.first) - a)) > 1e-10, s.second < 40);
        },
        [&](const std::pair<Tensor, Tensor>& s) {
          return std::pair(0.5 * (s.first + solve(s.first, a)), s.second + 1);
        },
        std::pair(a, scalar(0, Dtype::i32)), {.checkpoint = Checkpoint::all()});
  };
  const Tensor a =
      stack({tensor({4.0, 1.0, 1.0, 3.0}, {2, 2}), eye(2), tensor({2.0, 0.5, 0.25, 9.0}, {2, 2})});
  const auto y = vmap(root)(a);
  const Tensor gradient = grad([&](Tensor v) { return sum(square(vmap(root)(v).first)); })(a),
               each = vmap(grad([&](Tensor v) { return sum(square(root(v).first)); }))(a);
  for (Index k = 0; k < 3; ++k) {
    const Tensor ak = select(a, 0, k);
    EXPECT_EQ(select(y.second, 0, k).item<std::int32_t>(), root(ak).second.item<std::int32_t>());
    expect_equal(select(y.first, 0, k), root(ak).first, "root");
    const Tensor want = grad([&](Tensor v) { return sum(square(root(v).first)); })(ak);
    expect_equal(select(gradient, 0, k), want, "gradient of the batch");
    expect_equal(select(each, 0, k), want, "batch of gradients");
  }
}

TEST(GuardedBatch, OfNoElementIsEmpty) {
  const Tensor none = zeros({0}), table = tensor({1.0, 2.0});
  const Scalar all[] = {
      [](Tensor x) {
        return cond(
            x > 0.0, [](Tensor v) { return sqrt(v); }, [](Tensor v) { return v * v; }, x);
      },
      [](Tensor x) {
        return while_loop([](Tensor c) { return c < 3.0; }, [](Tensor c) { return c + 1.0; }, x);
      },
      [&](Tensor x) {
        return cond(
            x > 0.0, [&](Tensor v) { return v * gather(table, cast(v, Dtype::i64)); },
            [](Tensor v) { return v; }, x);
      }};
  for (const Scalar& f : all)
    for (const Scalar& g : {f, slope_forward(f), slope_reverse(f), third_coefficient(f)}) {
      EXPECT_EQ(batched(g)(none).type(), none.type());
      EXPECT_EQ(under_jit(batched(g))(none).type(), none.type());
      EXPECT_EQ(batched(batched(g))(zeros({2, 0})).type(), zeros({2, 0}).type());
      EXPECT_EQ(batched(batched(g))(zeros({0, 2})).type(), zeros({0, 2}).type());
    }
  EXPECT_EQ(grad([&](Tensor x) { return sum(vmap(all[0])(x)); })(none).type(), none.type());
}

TEST(GuardedBatch, ResidualsOfALoopThatDoesNotStepAreNotComputed) {
  // What no step changes is computed before the steps: where there is none, not at all.
  const auto f = [](Tensor a, Tensor n) {
    return while_loop([&](const std::pair<Tensor, Tensor>& s) { return s.second < n; },
                      [&](const std::pair<Tensor, Tensor>& s) {
                        return std::pair(s.first + sum(cholesky(a)), s.second + 1.0);
                      },
                      std::pair(sum(a), Tensor(0.0)))
        .first;
  };
  const Tensor indefinite = tensor({1.0, 2.0, 2.0, 1.0}, {2, 2});
  EXPECT_EQ(grad([&](Tensor a) { return f(a, Tensor(0.0)); })(indefinite).to_vector(),
            (std::vector<double>(4, 1.0)));
  const auto none = [](Tensor a) {
    return scan([&](Tensor c) { return std::pair(c + sum(cholesky(a)), c); }, sum(a), 0).first;
  };
  EXPECT_EQ(grad(none)(indefinite).to_vector(), (std::vector<double>(4, 1.0)));
}

}  // namespace
}  // namespace tessera
