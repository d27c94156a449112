// SPDX-License-Identifier: Apache-2.0
//
// Memory of plans: those of one function share an arena and only so many are kept; cheap values are
// made again for late readers, to the same bits.
#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

using namespace tessera;
using tessera::testing::message_of;

namespace {

Tensor batch_of(Index rows) { return reshape(sin(arange(rows * 64, Dtype::f64)), {rows, 64}); }

/// A gradient whose plan needs some 1.3 kB for each element.
Tensor slope(const Tensor& x) {
  return grad([](Tensor v) {
    for (int k = 0; k < 4; ++k) v = cumsum(tanh(cumsum(v, 1)), 0);
    return sum(v * v);
  })(x);
}

std::vector<Type> types_of(const std::vector<Tensor>& x) {
  std::vector<Type> types;
  for (const Tensor& t : x) types.push_back(t.type());
  return types;
}
std::size_t arena_of(const FlatFunction& f, const std::vector<Tensor>& x, Index join_from = 1024) {
  return Plan(simplify(trace(f, types_of(x))), join_from).arena_bytes();
}
FlatFunction flat_slope() {
  return [](const std::vector<Tensor>& x) { return std::vector<Tensor>{slope(x[0])}; };
}

}  // namespace

TEST(PlanMemory, AHundredBatchSizesHoldOneArena) {
  const auto f = jit([](const Tensor& x) { return slope(x); });
  const std::size_t before = memory_stats().in_use;
  for (Index k = 0; k < 100; ++k) f(batch_of(1 + 37 * k % 100));  // of every size one, in no order
  const std::size_t largest = arena_of(flat_slope(), {batch_of(100)});
  ASSERT_GT(largest, std::size_t{100} << 10);
  EXPECT_LE(memory_stats().in_use - before, largest + largest / 8);  // sizes are rounded
  // Those that are not kept are planned anew, to the same bits.
  for (const Index rows : {1, 50, 100, 3})
    EXPECT_TRUE(same_bits(f(batch_of(rows)), slope(batch_of(rows))));
}

TEST(PlanMemory, WhatWasUsedLastIsKept) {
  int recorded = 0;
  const auto f = jit(
      [&](const Tensor& x) {
        ++recorded;
        return slope(x);
      },
      {.keep = 2});
  const auto recordings_of = [&](Index rows) {
    recorded = 0;
    EXPECT_TRUE(same_bits(f(batch_of(rows)), slope(batch_of(rows))));
    return recorded;
  };
  EXPECT_EQ(recordings_of(5), 1);
  EXPECT_EQ(recordings_of(200), 1);
  EXPECT_EQ(recordings_of(5), 0);
  const std::size_t with_large = memory_stats().in_use;
  EXPECT_EQ(recordings_of(7), 1);  // in place of that of 200 rows, whose arena goes
  EXPECT_LT(memory_stats().in_use + 2 * batch_of(200).size(), with_large);
  EXPECT_EQ(recordings_of(5), 0);
  EXPECT_EQ(recordings_of(7), 0);
  EXPECT_EQ(recordings_of(200), 1);
  EXPECT_NE(message_of([] {
              jit([](const Tensor& x) { return x; }, {.keep = 0});
            }).find("keeps at least one plan"),
            std::string::npos);
}

TEST(PlanMemory, CallsOfSeveralSizesMayOverlap) {
  const auto f = jit([](const Tensor& x) { return slope(x); }, {.keep = 3});
  std::vector<Tensor> x, want;
  for (Index rows : {3, 40, 17, 80, 9}) {
    x.push_back(batch_of(rows));
    want.push_back(slope(x.back()));
  }
  std::latch begin(4);
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        begin.arrive_and_wait();
        for (std::size_t k = 0; k < 50; ++k) {
          const std::size_t n = (k * (t + 1) + t) % x.size();
          right += same_bits(f(x[n]), want[n]) ? 1 : 0;
        }
      });
  }
  EXPECT_EQ(right, 200);
}

TEST(PlanMemory, AStepThatThrowsGivesTheArenaBack) {
  const auto f = jit([](const Tensor& x) {
    const Tensor y = cumsum(exp(x), 0);
    return cumsum(check(y, y < 1e6, "too large"), 0);
  });
  const Tensor x = batch_of(100);
  const Tensor y = f(x);
  const std::size_t before = memory_stats().in_use;
  for (int k = 0; k < 3; ++k)
    EXPECT_NE(message_of([&] { f(x + 100.0); }).find("too large"), std::string::npos);
  EXPECT_TRUE(same_bits(f(x), y));
  EXPECT_LE(memory_stats().in_use, before + 64);
}

namespace {

/// Residual blocks of width h: x + W2 gelu(W1 x), layer norm before; and what else is read late.
std::vector<Tensor> residual_step(const std::vector<Tensor>& x) {
  const auto loss = [](const std::vector<Tensor>& p) {
    Tensor y = p[0];
    for (std::size_t k = 1; k + 1 < p.size(); k += 2) {
      const Tensor z = y - mean(y, {-1}, true);
      const Tensor n = z * rsqrt(mean(square(z), {-1}, true) + 1e-5);
      y = y + matmul(nn::gelu_tanh(matmul(n, p[k])), p[k + 1]);
      y = where(y > 0.1, y, 0.2 * y);
    }
    return mean(square(y));
  };
  const auto [value, g] = value_and_grad(loss)(x);
  std::vector<Tensor> all = g;
  all.push_back(value);
  return all;
}

std::vector<Tensor> residual_operands(Index rows, Index h, int blocks) {
  std::vector<Tensor> x{normal(random_key(1), {rows, h})};
  for (int k = 0; k < blocks; ++k) {
    x.push_back(0.3 * normal(random_key(2 * k + 2), {h, 4 * h}));
    x.push_back(0.1 * normal(random_key(2 * k + 3), {4 * h, h}));
  }
  return x;
}

/// Plans with and without cheap values made again, beside the operations one by one.
void expect_same_bits_again(const FlatFunction& f, const std::vector<Tensor>& x) {
  const std::vector<Tensor> want = f(x);
  for (const Index join_from : {Index{1}, Index{1024}, Index{1} << 30}) {
    const Plan plan(simplify(trace(f, types_of(x))), join_from);
    for (int k = 0; k < 2; ++k) {
      const std::vector<Tensor> y = plan.run(x);
      for (std::size_t n = 0; n < y.size(); ++n) EXPECT_TRUE(same_bits(y[n], want[n])) << n;
    }
  }
}

}  // namespace

TEST(MadeAgain, AGradientKeepsWhatCannotBeMadeAgain) {
  const std::vector<Tensor> x = residual_operands(256, 16, 6);
  expect_same_bits_again(residual_step, x);
  // Of a block: its sum, the products with W1 and W2, and rows of moments; 6 h of 29 h.
  const std::size_t with = arena_of(residual_step, x, 1),
                    without = arena_of(residual_step, x, Index{1} << 30);
  EXPECT_LT(2 * with, without) << with << " of " << without;
}

TEST(MadeAgain, LargeStepsAtTheDefault) {
  const std::vector<Tensor> x = residual_operands(16384, 32, 8);
  const auto f = [](const std::vector<Tensor>& v) { return residual_step(v); };
  EXPECT_LT(3 * arena_of(f, x), 2 * arena_of(f, x, Index{1} << 30));
}

TEST(MadeAgain, EdgesAndOrders) {
  for (const Index rows : {0, 1, 2})
    expect_same_bits_again(residual_step, residual_operands(rows, 4, 3));
  // Second derivatives; results that are kept and read late; an argument that is a result.
  const auto curved = [](const std::vector<Tensor>& x) {
    const auto f = [&](const Tensor& v) {
      return sum(tanh(cumsum(exp(sin(cumsum(v * x[1], 0))), 1)));
    };
    const Tensor e = exp(x[0]), g = grad(f)(x[0]);
    const Tensor h = grad([&](const Tensor& v) { return sum(square(grad(f)(v))); })(x[0]);
    return std::vector<Tensor>{e, g, h, x[1], cumsum(e * h, 0)};
  };
  expect_same_bits_again(curved, {batch_of(30), batch_of(30) + 0.5});
  // Chains that are wanted in reverse order: nothing is gained by making them again.
  const auto chain = [](const std::vector<Tensor>& x) {
    const auto f = [](const Tensor& v) {
      Tensor y = v, total = sum(v);
      for (int k = 0; k < 40; ++k) y = sin(y) + 0.1 * y, total = total + sum(cumsum(y, 0));
      return total;
    };
    return std::vector<Tensor>{grad(f)(x[0])};
  };
  expect_same_bits_again(chain, {batch_of(20)});
  EXPECT_LE(arena_of(chain, {batch_of(20)}, 1), arena_of(chain, {batch_of(20)}, Index{1} << 30));
}

TEST(MadeAgain, LoopsCheckpointsBarriersAndCallsOfTheHost) {
  const auto layer = [](const Tensor& v) { return cumsum(tanh(exp(-square(v))), 0); };
  const auto f = [&](const std::vector<Tensor>& x) {
    const auto loss = [&](const Tensor& v) {
      Tensor y = checkpointed(layer)(layer(v));
      y = scan(
              [&](const Tensor& c, const Tensor& row) { return std::pair(layer(c * row), sum(c)); },
              y, x[1])
              .first;
      y = barrier(layer(y), {v});
      return sum(layer(y));
    };
    const auto [value, g] = value_and_grad(loss)(x[0]);
    return std::vector<Tensor>{value, g};
  };
  expect_same_bits_again(f, {batch_of(20), batch_of(5) + 1.5});
}

TEST(MadeAgain, TapesOfLoopsKeepWhatCannotBeMadeAgain) {
  constexpr Index n = 512, h = 128;  // 512 KiB a value
  const Tensor x = normal(random_key(1), {n, h}), w = 0.2 * normal(random_key(2), {3, h, h}),
               shift = normal(random_key(3), {h});
  // Of the seven values of a step that its derivative reads the product is kept, and the carry.
  const auto layer = [&](const Tensor& c, const Tensor& u) {
    const Tensor p = matmul(c, u) + shift;
    return tanh(p) * logistic(square(p)) + 0.1 * sin(exp(-square(p)));
  };
  const auto unrolled = [&](const Tensor& c, const Tensor& u) {
    Tensor y = c;
    for (Index k = 0; k < 3; ++k) y = layer(y, select(u, 0, k));
    return mean(square(y));
  };
  const auto want = grad([&](const std::vector<Tensor>& v) { return unrolled(v[0], v[1]); })(
      std::vector<Tensor>{x, w});
  for (const Checkpoint& policy : {Checkpoint::all(), Checkpoint::none(), Checkpoint::every(2)}) {
    const auto f = [&](const std::vector<Tensor>& v) {
      return mean(square(scan([&](const Tensor& c,
                                  const Tensor& u) { return std::pair(layer(c, u), Tensor(0.0)); },
                              v[0], v[1], {.checkpoint = policy})
                             .first));
    };
    const std::vector<Tensor> g = grad(f)(std::vector<Tensor>{x, w});
    const ReverseSweep done = last_reverse_sweep();
    const Index steps = policy.kind == Checkpoint::Kind::all     ? 3
                        : policy.kind == Checkpoint::Kind::every ? 2
                                                                 : 1;
    EXPECT_LE(done.tape_bytes, static_cast<std::size_t>(steps * 2 * n * h * 8 + 4096));
    const std::vector<Tensor> planned = jit(grad(f))(std::vector<Tensor>{x, w});
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LE(max(abs(g[k] - want[k])).item(), 1e-13 * max(abs(want[k])).item()) << k;
      EXPECT_TRUE(same_bits(planned[k], g[k])) << k;
    }
    // Once more: along a direction, and the gradient of that.
    const auto along = [&](const std::vector<Tensor>& v) {
      const std::vector<Tensor> gv = grad(f)(v);
      return sum(gv[0] * x) + sum(gv[1] * w);
    };
    const auto flat = [&](const std::vector<Tensor>& v) {
      const std::vector<Tensor> gv =
          grad([&](const std::vector<Tensor>& u) { return unrolled(u[0], u[1]); })(v);
      return sum(gv[0] * x) + sum(gv[1] * w);
    };
    const std::vector<Tensor> second = grad(along)(std::vector<Tensor>{x, w}),
                              second_flat = grad(flat)(std::vector<Tensor>{x, w});
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_LE(max(abs(second[k] - second_flat[k])).item(),
                1e-12 * max(abs(second_flat[k])).item());
  }
}

TEST(MadeAgain, GivenAwayArgumentsAreReadBeforeTheyAreWrittenOver) {
  const std::vector<Tensor> x = residual_operands(64, 8, 4);
  const auto step = [](const std::vector<Tensor>& p) {
    std::vector<Tensor> g = residual_step(p), next;
    for (std::size_t k = 0; k < p.size(); ++k) next.push_back(p[k] - 0.01 * g[k]);
    return next;
  };
  const Plan plan(simplify(trace(step, types_of(x))), 1);
  std::vector<Tensor> kept = x, given;
  for (const Tensor& t : x) given.push_back(t + 0.0);
  for (int k = 0; k < 3; ++k) {
    kept = step(kept);
    given = plan.run(std::move(given));
  }
  for (std::size_t n = 0; n < x.size(); ++n) EXPECT_TRUE(same_bits(given[n], kept[n]));
}

namespace {

struct Taken {
  Shape start, stop, step;
};
/// sum_k w_k x[slice k], w of every element its own, as a function of x.
Tensor weighted_slices(const Tensor& x, const std::vector<Taken>& slices) {
  Tensor total(0.0);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const Tensor part = slice(x, slices[k].start, slices[k].stop, slices[k].step);
    const Tensor w = reshape(sin(arange(part.size(), Dtype::f64) + double(k)), part.shape());
    total = total + sum(part * w);
  }
  return total;
}
/// Its gradient, element by element.
std::vector<double> weights_of_slices(const Shape& s, const std::vector<Taken>& slices) {
  std::vector<double> g(static_cast<std::size_t>(s.count()), 0);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const auto& [start, stop, step] = slices[k];
    double n = 0;
    for (Index i = start[0]; i < stop[0]; i += step[0])
      for (Index j = start[1]; j < stop[1]; j += step[1])
        g[static_cast<std::size_t>(i * s[1] + j)] += sin(Tensor(n++ + double(k))).item();
  }
  return g;
}

}  // namespace

TEST(SlicesOfOne, GradientsLieSideBySide) {
  const Tensor x = reshape(sin(arange(54, Dtype::f64)), {6, 9});
  const std::vector<std::vector<Taken>> cases = {
      {{{0, 0}, {6, 3}, {1, 1}}, {{0, 3}, {6, 6}, {1, 1}}, {{0, 6}, {6, 9}, {1, 1}}},  // all
      {{{0, 5}, {6, 9}, {1, 1}}, {{0, 1}, {6, 2}, {1, 1}}},                            // gaps
      {{{0, 0}, {6, 7}, {1, 1}}, {{0, 1}, {6, 8}, {1, 1}}, {{0, 2}, {6, 9}, {1, 1}}},  // overlaps
      {{{1, 0}, {3, 9}, {1, 1}}, {{4, 0}, {6, 9}, {1, 1}}, {{0, 2}, {6, 4}, {1, 1}}},  // two axes
      {{{1, 2}, {5, 4}, {1, 1}},
       {{0, 0}, {6, 9}, {2, 3}},
       {{0, 0}, {1, 9}, {1, 1}}},  // tiles, steps
      {{{0, 0}, {6, 9}, {1, 1}}, {{3, 0}, {3, 9}, {1, 1}}, {{2, 0}, {2, 9}, {1, 1}}},  // all, none
      {{{2, 0}, {2, 9}, {1, 1}}, {{0, 4}, {6, 4}, {1, 1}}},                            // none
      {{{2, 0}, {4, 9}, {1, 1}}},
  };
  for (const std::vector<Taken>& c : cases) {
    const auto f = [&](const Tensor& v) { return weighted_slices(v, c); };
    const Tensor g = grad(f)(x);
    EXPECT_EQ(g.shape(), x.shape());
    const std::vector<double> got = g.to_vector(), want = weights_of_slices(x.shape(), c);
    for (std::size_t n = 0; n < want.size(); ++n) EXPECT_NEAR(got[n], want[n], 1e-14) << n;
    EXPECT_TRUE(same_bits(jit(grad(f))(x), g));
    EXPECT_TRUE(same_bits(vmap(grad(f))(stack({x, 2.0 * x}, 0)), stack({g, g}, 0)));
    // The second derivative of the sum of their squares: 2 for each slice that has the element.
    const auto h = [&](const Tensor& v) {
      Tensor t(0.0);
      for (const Taken& s : c) t = t + sum(square(slice(v, s.start, s.stop, s.step)));
      return t;
    };
    const Tensor hx = grad([&](const Tensor& v) { return sum(grad(h)(v) * x); })(x);
    EXPECT_TRUE(same_bits(hx, grad(h)(x)));
  }
}

TEST(SlicesOfOne, GradientsOfPartsAreOneArray) {
  const std::vector<Type> types{{Dtype::f64, {8, 12}}};
  const auto g = trace(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{grad([](const Tensor& v) {
          return sum(exp(slice(v, 1, 0, 4)) * sin(slice(v, 1, 4, 8)) + tanh(slice(v, 1, 8, 12)));
        })(x[0])};
      },
      types);
  int pads = 0, concatenations = 0;
  for (const Graph::Equation& e : g.equations) {
    pads += std::string_view(e.primitive->name) == "pad";
    concatenations += std::string_view(e.primitive->name) == "concatenate";
  }
  EXPECT_EQ(pads, 0);
  EXPECT_EQ(concatenations, 1);
}
