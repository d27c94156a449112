// SPDX-License-Identifier: Apache-2.0
//
// Rules for leaves of a training: which leaves a pattern names, and steps against a loop with an
// optimizer for each leaf.
#include "tessera/solvers/leaf_rules.h"

#include "error_text.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::message_of;

namespace {

using Which = std::vector<std::size_t>;

struct Line {
  Tensor x, y;
  TESSERA_TREE(x, y)
};
Line line_samples() {
  const Tensor x = normal(random_key(1), {20, 2});
  return {x, matmul(x, tensor({1.0, -2.0}, {2, 1})) + 0.5};
}
nn::Linear line_start() { return nn::linear(random_key(9), 2, 1); }
Tensor line_loss(const nn::Linear& l, const Batch<Line>& b) {
  return nn::mean_square(l(b.data.x), b.data.y);
}
std::vector<double> line_numbers(const nn::Linear& l) {
  std::vector<double> v;
  for (const Tensor& t : flatten_tree(l))
    for (const double x : t.to_vector()) v.push_back(x);
  return v;
}
nn::Linear trained(const FitOptions& o) {
  FitState<nn::Linear> s = begin_fit(line_start(), o);
  fit(line_loss, s, in_memory(line_samples()), Samples<Line>{}, o);
  return s.params;
}

const LeafNames layer_names{"layers.0.w", "layers.0.b", "layers.10.w", "out"};

}  // namespace

TEST(LeafRules, AStarIsAnyText) {
  EXPECT_EQ(leaves_named("layers.0.*", layer_names), (Which{0, 1}));
  EXPECT_EQ(leaves_named("*.w", layer_names), (Which{0, 2}));
  EXPECT_EQ(leaves_named("*0*w", layer_names), (Which{0, 2}));
  EXPECT_EQ(leaves_named("l*.1*", layer_names), (Which{2}));
  EXPECT_EQ(leaves_named("out", layer_names), (Which{3}));
  EXPECT_EQ(leaves_named("out**", layer_names), (Which{3}));
  EXPECT_EQ(leaves_named("*", layer_names), (Which{0, 1, 2, 3}));
  EXPECT_EQ(leaves_named("", {""}), (Which{0}));  // a parameter that is one tensor
  for (const char* none : {"", "ou", "outer", "layers.?.w", "*.", "layers.0"})
    EXPECT_NE(message_of([&] { leaves_named(none, layer_names); })
                  .find(std::string("no leaf is called '") + none +
                        "'; they are 'layers.0.w', 'layers.0.b', 'layers.10.w', 'out'"),
              std::string::npos)
        << none;
}

TEST(LeafRules, TheLastRuleCounts) {
  const auto groups =
      leaf_groups(layer_names, {{.names = "*", .rate = 0.5},
                                {.names = "layers.*", .rate = 0},
                                {.names = "*.b", .rate = 0.5},
                                {.names = "layers.10.w", .rate = 0.5, .decay = 0.0}});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].leaves, (Which{1, 3}));
  EXPECT_EQ(groups[1].leaves, (Which{2}));
  EXPECT_EQ(groups[1].decay, 0.0);
  ASSERT_EQ(leaf_groups(layer_names, {}).size(), 1U);
  EXPECT_TRUE(leaf_groups({}, {}).empty());
}

TEST(LeafRules, StepsAreThoseOfAnOptimizerForEachLeaf) {
  const Line data = line_samples();
  const std::pair<Optimizer, Optimizer> optimizers[] = {
      {adamw(constant_rate(0.05 * 0.5), {.weight_decay = 0.3}), adamw(constant_rate(0.05))},
      {sgd(constant_rate(0.05 * 0.5), {.momentum = 0.9, .weight_decay = 0.3}),
       sgd(constant_rate(0.05), {.momentum = 0.9})},
      {lamb(constant_rate(0.05 * 0.5), {.epsilon = 1e-6, .weight_decay = 0.3}),
       lamb(constant_rate(0.05))},
      {lion(constant_rate(0.05 * 0.5), {.weight_decay = 0.3}), lion(constant_rate(0.05))}};
  const std::function<Optimizer(Schedule)> makers[] = {
      [](Schedule r) { return adamw(r); }, [](Schedule r) { return sgd(r, {.momentum = 0.9}); },
      [](Schedule r) { return lamb(r); }, [](Schedule r) { return lion(r); }};
  for (std::size_t k = 0; k < 4; ++k) {
    nn::Linear l = line_start();
    OptimizerState of_w = optimizers[k].first.init(l.w), of_b = optimizers[k].second.init(*l.b);
    for (int step = 0; step < 5; ++step) {
      const nn::Linear g = grad([&](const nn::Linear& m) {
        return line_loss(m, {data, Tensor()});
      })(l);
      std::tie(l.w, of_w) = optimizers[k].first.update(l.w, g.w, of_w);
      std::tie(*l.b, of_b) = optimizers[k].second.update(*l.b, *g.b, of_b);
    }
    const nn::Linear got = trained({.epochs = 5,
                                    .shuffle = false,
                                    .optimizer = makers[k],
                                    .rate = constant_rate(0.05),
                                    .rules = {{.names = "w", .rate = 0.5, .decay = 0.3}}});
    EXPECT_EQ(line_numbers(got), line_numbers(l)) << optimizers[k].second.name;
  }
}

TEST(LeafRules, FrozenLeavesKeepTheirBitsAndHaveNoPartInTheNorm) {
  const Line data = line_samples();
  const Tensor b = tensor({std::nextafter(7.0, 8.0)});
  const FitOptions o{.epochs = 6,
                     .shuffle = false,
                     .rate = constant_rate(0.05),
                     .rules = {{.names = "b", .rate = 0}},
                     .clip_norm = 0.1};
  nn::Linear start = line_start();
  start.b = b;
  FitState<nn::Linear> s = begin_fit(start, o);
  fit(line_loss, s, in_memory(data), Samples<Line>{}, o);

  const Optimizer steps = adam(constant_rate(0.05));
  Tensor w = start.w;
  OptimizerState state = steps.init(w);
  for (int step = 0; step < 6; ++step) {
    const Tensor g =
        grad([&](const Tensor& w) { return nn::mean_square(matmul(data.x, w) + b, data.y); })(w);
    std::tie(w, state) = steps.update(w, clip_by_norm(g, 0.1), state);
  }
  EXPECT_EQ(s.params.b->to_vector(), b.to_vector());
  EXPECT_EQ(s.params.w.to_vector(), w.to_vector());
  EXPECT_EQ(s.optimizer.slots[0].leaves[1].to_vector(), std::vector<double>{0.0});
  EXPECT_EQ(s.optimizer.step.item(), 6.0);
}

TEST(LeafRules, ARuleThatChangesNothingLeavesTheBits) {
  const auto bits = [](std::vector<LeafRule> rules) {
    return line_numbers(trained({.epochs = 3,
                                 .batch = 7,
                                 .optimizer = [](Schedule r) { return adamw(r); },
                                 .rate = cosine_rate(0.05, 9),
                                 .rules = std::move(rules),
                                 .clip_norm = 0.5}));
  };
  const auto without = bits({});
  EXPECT_EQ(bits({{.names = "*"}}), without);
  EXPECT_EQ(bits({{.names = "w", .decay = 0.01}}), without);  // a group of its own
  EXPECT_NE(bits({{.names = "w", .decay = 0.0}}), without);
}

TEST(LeafRules, StoppedAnywhereItGoesOnToTheSameBits) {
  const FitOptions o{.epochs = 3,
                     .batch = 6,
                     .rate = constant_rate(0.05),
                     .rules = {{.names = "w", .rate = 0.3, .decay = 0.1}}};
  FitState<nn::Linear> s = begin_fit(line_start(), o);
  const Samples<Line> all = in_memory(line_samples());
  FitEnd end;
  do {
    end = fit(line_loss, s, all, Samples<Line>{}, o,
              GoOn<nn::Linear>([](const FitState<nn::Linear>&) { return false; }));
  } while (end.reason == FitEnd::Reason::stopped);
  EXPECT_EQ(line_numbers(s.params), line_numbers(trained(o)));
}

TEST(LeafRules, ParametersAreGivenAwayToTheirStepsAsWithoutRules) {
  using Two = std::pair<Tensor, Tensor>;
  constexpr Index n = 1 << 20;
  const auto loss = [](const Two& p, const Batch<Tensor>& b) {
    return mean(square(p.first - 1.0)) + mean(square(p.second)) + 0.0 * sum(b.data);
  };
  const auto peak = [&](std::vector<LeafRule> rules) {
    const FitOptions o{.epochs = 3, .rules = std::move(rules)};
    FitState<Two> s = begin_fit(Two{zeros({n}), ones({n})}, o);
    release_cached_memory();
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    fit(loss, s, in_memory(zeros({2, 1})), Samples<Tensor>{}, o);
    return static_cast<double>(memory_stats().peak - before) / (8.0 * n);  // in leaves
  };
  const double without = peak({});
  EXPECT_LE(peak({{.names = "0", .rate = 0.5}}), without + 0.1);
  EXPECT_LE(peak({{.names = "0", .rate = 0}}), without - 1);  // one gradient less, at least
}

TEST(LeafRules, RefusesRulesThatCannotBe) {
  const auto refusal = [](FitOptions o) {
    FitState<nn::Linear> s = begin_fit(line_start(), o);
    const std::string text =
        message_of([&] { fit(line_loss, s, in_memory(line_samples()), Samples<Line>{}, o); });
    EXPECT_EQ(line_numbers(s.params), line_numbers(line_start()));  // given back as they were
    return text;
  };
  const auto says = [&](FitOptions o, const std::string& text) {
    const std::string said = refusal(std::move(o));
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  says({.rules = {{.names = "weight"}}}, "no leaf is called 'weight'; they are 'w', 'b'");
  says({.rules = {{.names = "*", .rate = 0}}}, "all leaves are frozen");
  says({.rules = {{.names = "w", .rate = -1}}}, "the rate of 'w' is -1");
  says({.rules = {{.names = "w", .rate = std::numeric_limits<double>::quiet_NaN()}}}, "is nan");
  says({.rules = {{.names = "w", .decay = -0.5}}}, "the decay of 'w' is -0.5");
  const auto lbfgs = [](Schedule r) { return lbfgs_steps(r, 3); };
  says({.optimizer = lbfgs, .rules = {{.names = "w", .rate = 0}}}, "remembers a tensor for each");
  says({.optimizer = lbfgs, .rules = {{.names = "*", .decay = 0.1}}}, "lbfgs_steps knows none");
}
