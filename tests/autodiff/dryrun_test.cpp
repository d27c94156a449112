// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/dryrun.h"

#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/nn/sequential.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/convolution.h"
#include "tessera/autodiff/optimize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

double bytes_named(const DryRun& d, const std::string& what) {
  for (const DryRun::Item& i : d.memory)
    if (i.what == what) return i.bytes;
  return 0;
}
const DryRun::Line* line_with(const DryRun& d, const std::string& text) {
  for (const DryRun::Line& l : d.lines)
    if (l.line.find(text) != std::string::npos) return &l;
  return nullptr;
}

TEST(DryRun, CountsAProduct) {
  const auto f = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  const DryRun d = dryrun(f, named("a", stand_in({Dtype::f64, {30, 40}})),
                          named("b", stand_in({Dtype::f64, {40, 50}})));
  EXPECT_EQ(d.flops, 2.0 * 30 * 40 * 50);
  EXPECT_EQ(d.products, d.flops);
  EXPECT_EQ(bytes_named(d, "a"), 8.0 * 30 * 40);
  EXPECT_EQ(bytes_named(d, "b"), 8.0 * 40 * 50);
  EXPECT_EQ(bytes_named(d, "results"), 8.0 * 30 * 50);
  EXPECT_EQ(d.bytes, 8.0 * (30 * 40 + 40 * 50 + 30 * 50));
  ASSERT_EQ(d.lines.size(), 1u);
  EXPECT_EQ(d.lines[0].operations, "matmul");
  EXPECT_NE(d.lines[0].line.find("dryrun_test.cpp:"), std::string::npos) << d.lines[0].line;
  // Complex products are four times as dear.
  const DryRun c = dryrun(f, stand_in({Dtype::c128, {30, 40}}), stand_in({Dtype::c128, {40, 50}}));
  EXPECT_EQ(c.flops, 4 * d.flops);
  EXPECT_EQ(bytes_named(c, "argument 1"), 16.0 * 40 * 50);
}

TEST(DryRun, CountsConvolutionsAndTheirGradients) {
  const Type x{Dtype::f32, {2, 16, 16, 8}}, w{Dtype::f32, {3, 3, 8, 4}};
  const auto f = [](const Tensor& x, const Tensor& w) { return sum(convolution(x, w)); };
  const DryRun d = dryrun(f, stand_in(x), stand_in(w));
  const double forward = 2.0 * 2 * 14 * 14 * 9 * 8 * 4;  // within the border
  EXPECT_EQ(d.products, forward);
  // Both gradients meet as many pairs.
  const DryRun g = dryrun(
      [&](const Tensor& x, const Tensor& w) {
        return value_and_grad([&](std::pair<Tensor, Tensor> p) { return f(p.first, p.second); })(
            std::pair(x, w));
      },
      stand_in(x), stand_in(w));
  EXPECT_EQ(g.products, 3 * forward);
}

TEST(DryRun, TakesNoMemoryOfTheSizeOfItsArrays) {
  const nn::UNet net = stand_ins(nn::unet(random_key(1), 1, 1, {.dtype = Dtype::f32}));
  const Type field{Dtype::f32, {4, 30000, 30000}};
  const Optimizer o = adam(constant_rate(1e-3));
  const OptimizerState state = o.init(net);
  const auto step = [&](const nn::UNet& u, const OptimizerState& s, const Tensor& x,
                        const Tensor& y) {
    const auto [loss, g] = value_and_grad([&](const nn::UNet& u) {
      return nn::mean_square(squeeze(u(expand_dims(x, -1)), -1), y);
    })(u);
    const auto [next, now] = o.update(u, g, s);
    return std::tuple(next, now, loss);
  };
  machine_rates();
  reset_peak_memory();
  const std::size_t before = memory_stats().peak;
  const DryRun d = dryrun(step, given("weights", net), given("moments", state),
                          named("inputs", stand_in(field)), named("targets", stand_in(field)));
  EXPECT_LT(memory_stats().peak - before, std::size_t{1} << 20);
  EXPECT_EQ(bytes_named(d, "inputs"), 4.0 * 4 * 30000 * 30000);
  EXPECT_GT(bytes_named(d, "kept values"), 1e12);
}

TEST(DryRun, MemoryIsThatOfThePlan) {
  const auto step = [](const Tensor& w, const Tensor& x) {
    const auto [loss, g] = value_and_grad([&](const Tensor& w) {
      return sum(square(matmul(tanh(matmul(x, w)), ones({200, 50}))));
    })(w);
    return std::pair(w - 0.1 * g, loss);
  };
  const Type w{Dtype::f64, {300, 200}}, x{Dtype::f64, {1000, 300}};
  const DryRun d = dryrun(step, given("weights", stand_in(w)), named("x", stand_in(x)));
  // The new weights take the place of the old ones, what lies between is the arena.
  const Type types[] = {w, x};
  const Plan plan(simplify(trace(
      [&](const std::vector<Tensor>& a) {
        const auto [next, loss] = step(a[0], a[1]);
        return std::vector<Tensor>{next, loss};
      },
      types)));
  const double ends = 8.0 * (300 * 200 + 1000 * 300 + 1);
  double constants = bytes_named(d, "constants");
  EXPECT_EQ(d.peak, ends + constants + static_cast<double>(plan.arena_bytes()));
  EXPECT_EQ(d.steps, plan.steps());
  // tanh waits for the reverse sweep.
  EXPECT_EQ(bytes_named(d, "kept values"), 8.0 * 1000 * 200);
  // Nobody gives the weights away: both are there.
  const DryRun both = dryrun(step, stand_in(w), stand_in(x));
  EXPECT_EQ(both.peak, d.peak + 8.0 * 300 * 200);
  EXPECT_EQ(bytes_named(both, "results"), 8.0 * (300 * 200 + 1));
  double most = 0;
  for (const DryRun::Moment& m : d.over_time) most = std::max(most, m.bytes);
  EXPECT_LE(most, d.peak);
  EXPECT_GE(most, d.peak - bytes_named(d, "gaps") - constants);
}

TEST(DryRun, PartsAreThoseOfTheCaller) {
  const nn::Sequential net = nn::sequential(random_key(1),
                                            {{.kind = nn::LayerKind::linear, .width = 32},
                                             {.kind = nn::LayerKind::activation},
                                             {.kind = nn::LayerKind::linear, .width = 1}},
                                            {8});
  const auto loss = [](const nn::Sequential& n, const Tensor& x) {
    return grad([&](const nn::Sequential& n) {
      const Tensor y = n(x);
      const Within part("loss");
      return nn::mean_square(y, x.dim(0) * ones({64, 1}));
    })(n);
  };
  const DryRun d = dryrun(loss, named("net", net), named("x", stand_in({Dtype::f64, {64, 8}})));
  const DryRun::Line *first = line_with(d, "layers.0 (linear)"),
                     *last = line_with(d, "layers.2 (linear)");
  ASSERT_TRUE(first && last && line_with(d, "loss") && line_with(d, "layers.1 (activation)"));
  EXPECT_GT(first->backward, 0);
  EXPECT_LT(first->backward, first->seconds);
  // x w, and dw = x^T dy; nobody asks for dx.
  EXPECT_GE(first->flops, 2 * 2.0 * 64 * 8 * 32);
  EXPECT_LT(first->flops, 2 * 2.0 * 64 * 8 * 32 + 5 * 64 * 32);
  for (const DryRun::Line& l : d.lines)
    EXPECT_TRUE(l.line == "loss" || l.line.starts_with("layers.")) << to_string(d);
}

TEST(DryRun, LoopsCountTheirSteps) {
  const auto f = [](const Tensor& x) {
    return scan([](const Tensor& c) { return std::pair(tanh(c), c); }, x, 100).first;
  };
  const DryRun one = dryrun([](const Tensor& x) { return tanh(x); }, stand_in({Dtype::f64, {50}}));
  const DryRun d = dryrun(f, stand_in({Dtype::f64, {50}}));
  EXPECT_GE(d.flops, 100 * one.flops);
  EXPECT_LT(d.flops, 101 * one.flops);
  const auto open = [](const Tensor& x) {
    return while_loop([](const Tensor& c) { return less(sum(c), 1.0); },
                      [](const Tensor& c) { return c + 1.0; }, x);
  };
  const DryRun w = dryrun(open, stand_in({Dtype::f64, {50}}));
  ASSERT_EQ(w.notes.size(), 1u);
  EXPECT_NE(w.notes[0].find("while: its steps are not known"), std::string::npos) << w.notes[0];
}

TEST(DryRun, AWhileCountsAsOneStepWhateverItsCheckpoints) {
  // Three squarings of 1.2: x^8.
  const auto slope = [](const Checkpoint& p) {
    return grad([p](const Tensor& x) {
      return while_loop([](const Tensor& c) { return c < 3.0; },
                        [](const Tensor& c) { return c * c; }, x, {.checkpoint = p});
    });
  };
  const Checkpoint two = Checkpoint::revolve(2),
                   listed = Checkpoint::schedule(checkpoint_schedule(two, 3));
  EXPECT_NEAR(slope(listed)(Tensor(1.2)).item(), 8 * std::pow(1.2, 7), 1e-13);
  const Tensor x = stand_in({Dtype::f64, {}});
  const DryRun d = dryrun(slope(listed), x), one = dryrun(slope(two), x);
  EXPECT_EQ(d.flops, one.flops);
  EXPECT_EQ(d.notes, one.notes);
  EXPECT_FALSE(d.notes.empty());
}

TEST(DryRun, Edges) {
  const DryRun empty =
      dryrun([](const Tensor& x) { return sum(exp(x)); }, stand_in({Dtype::f64, {0, 7}}));
  EXPECT_EQ(bytes_named(empty, "argument 0"), 0);
  const DryRun nothing =
      dryrun([](const Tensor& x) { return x; }, named("x", stand_in({Dtype::f32, {3}})));
  EXPECT_EQ(nothing.peak, 12);
  EXPECT_EQ(nothing.steps, 0u);
  EXPECT_FALSE(to_string(nothing).empty());
  // Values may not be read.
  EXPECT_THROW(
      dryrun([](const Tensor& x) { return x.item() > 0 ? x : -x; }, stand_in({Dtype::f64, {}})),
      Error);
  // A function that captures what a transform around it has is not for it.
  EXPECT_THROW(grad([](const Tensor& y) {
                 dryrun([&](const Tensor& x) { return x * y; }, stand_in({Dtype::f64, {}}));
                 return y;
               })(Tensor(1.0)),
               Error);
  // In a jitted function it sees through.
  const auto j = jit([](const Tensor& x) { return exp(x); });
  EXPECT_EQ(dryrun([&](const Tensor& x) { return j(x); }, stand_in({Dtype::f64, {10}})).steps, 1u);
}

TEST(Attributes, AreReadByName) {
  const Type t[] = {{Dtype::f64, {4, 5}}};
  const Graph g = trace(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{sum(slice(x[0], 1, 1, 4), {1})};
      },
      t);
  const Attributes* slices = nullptr;
  const Attributes* sums = nullptr;
  for (const Graph::Equation& e : g.equations) {
    if (std::string_view(e.primitive->name) == "slice") slices = e.attr.get();
    if (std::string_view(e.primitive->name) == "reduce_sum") sums = e.attr.get();
  }
  ASSERT_TRUE(slices && sums);
  EXPECT_EQ(value_of<Shape>(sums, "axes"), Shape({1}));
  EXPECT_EQ(value_of<Shape>(slices, "start"), Shape({0, 1}));
  EXPECT_EQ(sums->text(), "axes=[1]");
  try {
    value_of<Index>(slices, "axes");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(
        std::string(e.what()).find("no parameter axes of the type asked for: there is start=[0,1]"),
        std::string::npos)
        << e.what();
  }
  EXPECT_THROW(value_of<Index>(nullptr, "n"), Error);
}

TEST(Primitives, TellWhatTheyCost) {
  // Of all that are registered and take it, on one f64 matrix or two.
  const Type m{Dtype::f64, {6, 6}};
  for (const Primitive* p : registered_primitives()) {
    if (!p->elementwise) continue;
    const Types in(3, m);
    const Cost c = p->cost(in, {&m, 1}, nullptr);
    EXPECT_GE(c.flops, 0) << p->name;
    EXPECT_EQ(c.bytes, 4 * 6 * 6 * 8.0) << p->name;
  }
}

}  // namespace
}  // namespace tessera
