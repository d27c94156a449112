// SPDX-License-Identifier: Apache-2.0
//
// Arguments of a plan that are moved in: their memory holds results where nobody else has it, and
// is left alone where somebody has. Names of leaves.
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

constexpr Index kCount = 5000;

Tensor values(double shift = 0) { return sin(arange(kCount, Dtype::f64) + shift); }

struct Layer {
  Tensor w, b;
  TESSERA_TREE(w, b)
};
struct Model {
  std::vector<Layer> layers;
  std::pair<Tensor, std::array<Tensor, 2>> head;
  double rate = 0;
  TESSERA_TREE(layers, head)
  TESSERA_STATIC(rate)
};
class Private {
 public:
  explicit Private(Tensor t) : centre_(std::move(t)) {}
  TESSERA_TREE(centre_)

 private:
  Tensor centre_;
};

}  // namespace

TEST(GivenAway, MemoryHoldsTheResultOfTheSameType) {
  const auto f = jit([](Tensor x) { return 3.0 * x + 1.0; });
  const std::vector<double> want = (3.0 * values() + 1.0).to_vector();
  Tensor x = values();
  const void* const place = x.view().data;
  x = f(std::move(x));
  EXPECT_EQ(x.view().data, place);
  EXPECT_EQ(x.to_vector(), want);
}

TEST(GivenAway, NothingThatSomebodyElseHasIsWrittenOver) {
  const auto f = jit([](Tensor x) { return 3.0 * x + 1.0; });
  const std::vector<double> old = values().to_vector(), want = (3.0 * values() + 1.0).to_vector();

  Tensor x = values();
  const Tensor handle = x;
  EXPECT_EQ(f(std::move(x)).to_vector(), want);
  EXPECT_EQ(handle.to_vector(), old);

  x = values();
  const Tensor view = slice(x, 0, 7, 20);
  EXPECT_EQ(f(std::move(x)).to_vector(), want);
  EXPECT_EQ(view.to_vector(), std::vector<double>(old.begin() + 7, old.begin() + 20));

  const std::vector<double> foreign = old;
  x = from_pointer(foreign.data(), {kCount});
  EXPECT_EQ(f(std::move(x)).to_vector(), want);
  EXPECT_EQ(foreign, old);

  x = values();
  EXPECT_EQ(f(x).to_vector(), want);  // not moved
  EXPECT_EQ(x.to_vector(), old);

  const Tensor constant = values();
  EXPECT_EQ(f(std::move(constant)).to_vector(), want);
  EXPECT_EQ(constant.to_vector(), old);

  const auto both = jit([](Tensor a, Tensor b) { return a + 2.0 * b; });
  Tensor a = values(), b = a;
  EXPECT_EQ(both(std::move(a), std::move(b)).to_vector(), (values() + 2.0 * values()).to_vector());
}

TEST(GivenAway, APartOfALargeBlockKeepsItNotAlive) {
  const auto f = jit([](Tensor x) { return 3.0 * x + 1.0; });
  const std::size_t before = memory_stats().in_use;
  Tensor y = f(slice(zeros({1 << 20}), 0, 0, kCount));
  EXPECT_LT(memory_stats().in_use - before, std::size_t{1} << 20);
  EXPECT_EQ(y.to_vector(), std::vector<double>(kCount, 1.0));
}

TEST(GivenAway, AnArgumentThatIsReadLaterKeepsItsMemoryUntilThen) {
  // The first result may not take the place of x: the second is made of x, too.
  const auto f = jit([](Tensor x, Tensor m) {
    const Tensor shifted = x + 1.0;
    return std::pair(shifted, cumsum(reverse(x, {0}) * m, 0) + sum(shifted));
  });
  const Tensor x = values(), m = values(2);
  const auto [first, second] = f(x, m);
  Tensor gx = values(), gm = values(2);
  const auto [y, z] = f(std::move(gx), std::move(gm));
  EXPECT_EQ(y.to_vector(), first.to_vector());
  EXPECT_EQ(z.to_vector(), second.to_vector());
}

TEST(GivenAway, AResultThatIsAnArgumentIsThatArgument) {
  const auto f = jit([](Tensor x, Tensor y) { return std::tuple(x, x + y, reshape(y, {2, -1})); });
  Tensor x = values(), y = values(1);
  const std::vector<double> old = x.to_vector(), oy = y.to_vector();
  const auto [a, b, c] = f(std::move(x), std::move(y));
  EXPECT_EQ(a.to_vector(), old);
  EXPECT_EQ(b.to_vector(), (values() + values(1)).to_vector());
  EXPECT_EQ(c.to_vector(), oy);
}

TEST(GivenAway, ASwapOfTwoArgumentsIsRight) {
  const auto f = jit([](Tensor x, Tensor y) { return std::pair(2.0 * y, 3.0 * x); });
  Tensor x = values(), y = values(1);
  std::tie(x, y) = f(std::move(x), std::move(y));
  EXPECT_EQ(x.to_vector(), (2.0 * values(1)).to_vector());
  EXPECT_EQ(y.to_vector(), (3.0 * values()).to_vector());
}

TEST(GivenAway, TreesAreLeftWithoutTheirTensors) {
  const auto f = jit([](Model m) { return m; });
  Model m{{{values(), values(1)}}, {values(2), {values(3), values(4)}}, 0.5};
  const Model n = f(std::move(m));
  EXPECT_FALSE(m.layers[0].w.defined());
  EXPECT_EQ(n.head.second[1].to_vector(), values(4).to_vector());
}

TEST(GivenAway, AStepOfAdamNeedsNoSecondCopyOfWeightsAndMoments) {
  constexpr Index n = 1 << 20;
  const Optimizer adam_of = adam(constant_rate(1e-2));
  const auto loss = [](Tensor w) { return sum(square(w - 1.0)); };
  const auto step =
      jit([&](Tensor w, OptimizerState s) { return adam_of.update(w, grad(loss)(w), s); });
  Tensor w = cast(sin(arange(n, Dtype::f64)), Dtype::f32), kept = w;
  OptimizerState s = adam_of.init(w), kept_state = s;
  for (int k = 0; k < 3; ++k) std::tie(kept, kept_state) = step(kept, kept_state);
  const std::vector<float> want = kept.to_vector<float>();
  kept = Tensor(), kept_state = {};

  w = reshape(cast(sin(arange(n, Dtype::f64)), Dtype::f32), {n});
  s = adam_of.init(w);
  std::tie(w, s) = step(std::move(w), std::move(s));
  const void* const place = w.view().data;
  reset_peak_memory();
  const std::size_t before = memory_stats().in_use;
  for (int k = 0; k < 2; ++k) std::tie(w, s) = step(std::move(w), std::move(s));
  EXPECT_LT(memory_stats().peak - before, 4 * static_cast<std::size_t>(n) / 100);
  EXPECT_EQ(w.view().data, place);
  EXPECT_EQ(w.to_vector<float>(), want);
}

TEST(Auxiliary, WhatIsFoundBesideAValueComesWithItsGradient) {
  const auto f = [](Tensor x, Tensor shift) {
    const Tensor y = x * x + shift;
    return std::pair(sum(y * y), Layer{y, sum(x) * 2.0});
  };
  const Tensor x = tensor({1.0, -2.0, 0.5}), shift = tensor({0.0, 1.0, 2.0});
  const auto [result, g] = value_and_grad(f)(x, shift);
  const auto plain = [&](Tensor x) { return f(x, shift).first; };
  EXPECT_EQ(result.first.item(), plain(x).item());
  EXPECT_EQ(result.second.w.to_vector(), (x * x + shift).to_vector());
  EXPECT_EQ(result.second.b.item(), -1.0);
  EXPECT_EQ(g.to_vector(), grad(plain)(x).to_vector());
  EXPECT_EQ(grad(f)(x, shift).to_vector(), g.to_vector());

  // Integers, several parts, and the same inside jit and vmap.
  const auto parts = [](Tensor x) {
    return std::tuple(sum(exp(x)), sum(cast(x > 0.0, Dtype::i64)), x);
  };
  const auto [all, gp] = jit(value_and_grad(parts))(x);
  EXPECT_EQ(std::get<1>(all).item<std::int64_t>(), 2);
  EXPECT_EQ(std::get<2>(all).to_vector(), x.to_vector());
  EXPECT_EQ(gp.to_vector(), exp(x).to_vector());
  const auto [rows, gv] = vmap(value_and_grad(parts))(stack({x, 2.0 * x}, 0));
  EXPECT_EQ(std::get<1>(rows).to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(slice(gv, 0, 1, 2).to_vector(), exp(2.0 * x).to_vector());
}

TEST(Auxiliary, HasItsOwnDerivativeForWhoeverIsOutside) {
  // d/dx of the pair (x^3)' + aux, aux = x^2: 6 x + 2 x.
  const auto inner = [](Tensor x) { return std::pair(x * x * x, x * x); };
  const auto outer = [&](Tensor x) {
    const auto [result, g] = value_and_grad(inner)(x);
    return g + result.second;
  };
  EXPECT_DOUBLE_EQ(grad(outer)(Tensor(1.5)).item(), 8 * 1.5);
  EXPECT_DOUBLE_EQ(jvp(outer, Tensor(1.5), Tensor(1.0)).second.item(), 8 * 1.5);
}

TEST(Auxiliary, IsNoLicenceForAnythingElseFirst) {
  const auto refused = [](auto f) {
    try {
      value_and_grad(f)(zeros({2}));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refused([](Tensor x) { return std::pair(x, sum(x)); }).find("f64[2] first"),
            std::string::npos);
  EXPECT_NE(refused([](Tensor x) {
              return std::array<Tensor, 2>{sum(x), x};
            }).find("std::pair(value, rest)"),
            std::string::npos);
}

TEST(LeafNames, AreTheMembersAndNumbersOnTheWayToALeaf) {
  const Model m{{{zeros({1}), zeros({1})}, {zeros({1}), zeros({1})}},
                {zeros({1}), {zeros({1}), zeros({1})}},
                0.5};
  EXPECT_EQ(leaf_names(m), (LeafNames{"layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b",
                                      "head.0", "head.1.0", "head.1.1"}));
  EXPECT_EQ(leaf_names(std::tuple(zeros({1}), m.layers[0]), "p"),
            (LeafNames{"p.0", "p.1.w", "p.1.b"}));
  EXPECT_EQ(leaf_names(zeros({1}), "x"), LeafNames{"x"});
  EXPECT_EQ(leaf_names(Private(zeros({1}))), LeafNames{"centre"});
  EXPECT_EQ(leaf_names(std::vector<Tensor>{}), LeafNames{});
  EXPECT_EQ(leaf_names(adam(constant_rate(1)).init(m.layers[0])).front(), "step");
}
