// SPDX-License-Identifier: Apache-2.0
//
// Casts that are put in: gradients are those of the whole, and those of casts written by hand.
#include "tessera/parallel/on_ranks.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::parallel {
namespace {

constexpr Index kWeights = 3;

/// Rows of rank r, of which there are r + 1; whole numbers, so that sums are exact.
Tensor rows_at(int r) {
  std::vector<double> x;
  for (Index k = 0; k < (r + 1) * kWeights; ++k)
    x.push_back(static_cast<double>((7 * k + 3 * r) % 5 - 2));
  return tensor(x, {r + 1, kWeights});
}
Tensor rows_of_everyone(int ranks) {
  std::vector<Tensor> all;
  for (int r = 0; r < ranks; ++r) all.push_back(rows_at(r));
  return concatenate(all, 0);
}
Tensor three_weights() { return tensor({1.0, -2.0, 3.0}); }

/// sum over rows of (x w)^4, and of w^2 once: of all rows on one process.
Tensor loss_of_all(const Tensor& w, const Tensor& x) {
  return sum(square(square(matmul(x, w)))) + sum(square(w));
}
auto loss_on_ranks(Communicator& c) {
  return on_ranks(c,
                  [&c](const Tensor& w, const Tensor& x) {
                    return sum_over_ranks(c, sum(square(square(matmul(x, w))))) + sum(square(w));
                  },
                  {OnRanks::same, OnRanks::varies});
}

void expect_equal(const Tensor& got, const Tensor& want, const char* what) {
  if (got.shape() != want.shape() || got.to_vector<double>() != want.to_vector<double>())
    throw Error(std::string(what) + " is another one");
}

TEST(OnRanksCasts, GradientsAreThoseOfTheWholeToThirdOrder) {
  for (const int ranks : {1, 2, 3, 5}) {
    const Tensor all = rows_of_everyone(ranks), w = three_weights(), v = tensor({1.0, 1.0, -1.0});
    const auto of_whole = [&](const Tensor& u) { return loss_of_all(u, all); };
    const auto directional = [&](const auto& f) {
      return [&](const Tensor& u) { return sum(grad(f)(u) * v); };
    };
    const Tensor first = grad(of_whole)(w), second = grad(directional(of_whole))(w),
                 third = grad(directional(directional(of_whole)))(w);
    run_ranks(ranks, [&](Communicator& c) {
      const Tensor x = rows_at(c.rank());
      const auto f = [&](const Tensor& u) { return loss_on_ranks(c)(u, x); };
      expect_equal(f(w), of_whole(w), "the value");
      expect_equal(grad(f)(w), first, "the gradient");
      expect_equal(grad(directional(f))(w), second, "the second derivative");
      expect_equal(grad(directional(directional(f)))(w), third, "the third derivative");
      expect_equal(jit(grad(f))(w), first, "the compiled gradient");
      // Of what varies each rank has its own.
      const Tensor dx = grad([&](const Tensor& t) { return loss_on_ranks(c)(w, t); })(x);
      expect_equal(dx, grad([&](const Tensor& t) { return loss_of_all(w, t); })(x),
                   "that of own rows");
    });
  }
}

TEST(OnRanksCasts, StacksGoThroughVmap) {
  run_ranks(3, [&](Communicator& c) {
    const Tensor x = rows_at(c.rank()), w = three_weights();
    const Tensor many = stack(std::vector<Tensor>{w, 2.0 * w, -1.0 * w}, 0);
    const auto g = grad([&](const Tensor& u) { return loss_on_ranks(c)(u, x); });
    const Tensor at_once = vmap(g)(many);
    for (Index k = 0; k < 3; ++k)
      expect_equal(take(at_once, k, 0), g(take(many, k, 0)), "one of a stack");
  });
}

/// What a function closes over: the same where its bits are.
TEST(OnRanksCasts, ConstantsAreLookedAt) {
  const int ranks = 4;
  const Tensor w = three_weights(), all = rows_of_everyone(ranks);
  const Tensor want =
      grad([&](const Tensor& u) { return sum(square(matmul(all, u))) + 3.0 * sum(square(u)); })(w);
  run_ranks(ranks, [&](Communicator& c) {
    const Tensor x = rows_at(c.rank()), three = tensor(3.0);
    const auto f =
        on_ranks(c,
                 [&](const Tensor& u) {
                   return sum_over_ranks(c, sum(square(matmul(x, u)))) + three * sum(square(u));
                 },
                 {OnRanks::same});
    expect_equal(grad(f)(w), want, "the gradient");
  });
}

/// Rows of all ranks, of which each takes its share.
TEST(OnRanksCasts, GatheredRowsVary) {
  const int ranks = 3;
  const Tensor w = three_weights();
  const Tensor all = rows_of_everyone(ranks);
  const auto of_whole = [&](const Tensor& u) {
    const Tensor y = matmul(all, u);
    return sum(square(y)) * sum(y);
  };
  const Tensor want = grad(of_whole)(w);
  run_ranks(ranks, [&](Communicator& c) {
    const Tensor x = rows_at(c.rank());
    const PartsOfRanks rows = rows_of_ranks(c, c.rank() + 1);
    const auto f = on_ranks(c,
                            [&](const Tensor& u, const Tensor& mine) {
                              const Tensor y = matmul(mine, u), gathered = all_gather(c, rows, y);
                              return sum_over_ranks(c, sum(square(y)) * sum(gathered));
                            },
                            {OnRanks::same, OnRanks::varies});
    expect_equal(grad([&](const Tensor& u) { return f(u, x); })(w), want, "the gradient");
  });
}

/// What is the same is spread over as many rows as a rank has, of which there may be none.
TEST(OnRanksCasts, ShapesMayBeThoseOfARank) {
  const int ranks = 4;
  const Tensor w(3.0);
  run_ranks(ranks, [&](Communicator& c) {
    const Tensor x = ones({2 * c.rank()});
    const auto f = on_ranks(
        c,
        [&](const Tensor& u, const Tensor& mine) { return sum_over_ranks(c, sum(mine * u * u)); },
        {OnRanks::same, OnRanks::varies});
    expect_equal(grad([&](const Tensor& u) { return f(u, x); })(w), Tensor(12 * 2 * 3.0), "it");
    const auto spread = on_ranks(c, [&](const Tensor& u) { return sum_over_ranks(c, sum(u * x)); },
                                 {OnRanks::same});
    expect_equal(grad(spread)(w), Tensor(12.0), "that of a constant's shape");
  });
}

/// Trees, a result that is one, and a derivative inside of the function.
TEST(OnRanksCasts, TreesAndInnerDerivatives) {
  const int ranks = 2;
  const Tensor w = three_weights(), all = rows_of_everyone(ranks);
  const auto inner = [&](const Tensor& u) {
    return grad([&](const Tensor& t) { return sum(square(square(matmul(all, t)))); })(u);
  };
  const Tensor want = grad([&](const Tensor& u) { return sum(square(inner(u))); })(w);
  run_ranks(ranks, [&](Communicator& c) {
    const std::vector<Tensor> x = {rows_at(c.rank())};
    const auto f = on_ranks(
        c,
        [&](const std::pair<Tensor, Tensor>& u, const std::vector<Tensor>& rows) {
          const Tensor g = grad([&](const Tensor& t) {
            return sum_over_ranks(c, sum(square(square(matmul(rows[0], cast_to_varying(c, t))))));
          })(u.first);
          return std::pair(sum(square(g)), u.second);
        },
        {OnRanks::same, OnRanks::varies});
    const auto loss = [&](const Tensor& u) { return f(std::pair(u, u), x).first; };
    expect_equal(grad(loss)(w), want, "the gradient");
    expect_equal(f(std::pair(w, 2.0 * w), x).second, 2.0 * w, "what only passes through");
  });
}

std::string refusal_of(const std::function<void(Communicator&)>& f) {
  std::string said;
  run_ranks(2, [&](Communicator& c) {
    try {
      f(c);
    } catch (const Error& e) {
      if (c.rank() == 0) said = e.what();
    }
  });
  return said;
}

TEST(OnRanksCasts, WhatCannotBeFollowedIsRefused) {
  const Tensor w = three_weights();
  EXPECT_NE(refusal_of([&](Communicator& c) {
              grad([&](const Tensor& u) {
                return on_ranks(c, [&](const Tensor& x) { return sum_over_ranks(c, sum(x * u)); },
                                {OnRanks::varies})(w);
              })(w);
            }).find("give it as an argument"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](Communicator& c) {
              on_ranks(c,
                       [&](const Tensor& x) {
                         return to_parts(c, PartsOfRanks{0, 1, 2}, x);
                       },
                       {OnRanks::varies})(w);
            }).find("and this varies"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](Communicator& c) {
              on_ranks(c,
                       [&](const Tensor& x) {
                         return sum(broadcast_to(x, {c.rank() + 1, 3}));
                       },
                       {OnRanks::same})(w);
            }).find("of another shape"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](Communicator& c) {
              on_ranks(c, [&](const Tensor& x) { return x; }, {OnRanks::same, OnRanks::varies})(w);
            }).find("says of 2 arguments"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](Communicator& c) {
              on_ranks(c,
                       [&](const Tensor& x) {
                         return fori_loop(
                             0, 2, [&](Arg, const Tensor& s) { return sum_over_ranks(c, s); }, x);
                       },
                       {OnRanks::varies})(w);
            }).find("sends messages"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::parallel
