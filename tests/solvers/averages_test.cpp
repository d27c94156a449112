// SPDX-License-Identifier: Apache-2.0
//
// Averaged parameters against averages of those that a training without them goes through.
#include "tessera/solvers/averages.h"

#include "error_text.h"
#include "tessera/autodiff/ops.h"
#include "tessera/solvers/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::message_of;

namespace {

using Kind = AverageOptions::Kind;
using Numbers = std::vector<double>;

/// The mean of samples is what is learnt; steps of 1/5 of the way, so that numbers move.
Tensor distance(const Tensor& p, const Batch<Tensor>& b) { return mean(square(b.data - p)); }
Tensor numbered_samples(Index n) { return normal(random_key(4), {n, 3}); }
FitOptions averaging(std::optional<AverageOptions> average) {
  return {.epochs = 4,
          .batch = 4,
          .optimizer = [](Schedule r) { return sgd(r); },
          .rate = constant_rate(0.3),
          .average = average};
}

/// The parameters after each step.
std::vector<Numbers> walk() {
  const FitOptions o = averaging({});
  FitState<Tensor> s = begin_fit(zeros({3}), o);
  std::vector<Numbers> all;
  const GoOn<Tensor> see = [&](const FitState<Tensor>& now) {
    if (now.step > 0) all.push_back(now.params.to_vector());
    return true;
  };
  fit(distance, s, in_memory(numbered_samples(10)), Samples<Tensor>{}, o, see);
  return all;
}

void expect_near(const Numbers& got, const Numbers& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-14) << k;
}

}  // namespace

TEST(Averages, ExponentialOnesFollowTheSteps) {
  const std::vector<Numbers> all = walk();  // 4 epochs of 3 steps
  ASSERT_EQ(all.size(), 12U);
  for (const double decay : {0.0, 0.3, 0.999}) {
    Numbers want(3, 0.0);  // what it began with
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto n = static_cast<double>(t);
      const double d = std::min(decay, (1 + n) / (10 + n));
      for (std::size_t k = 0; k < 3; ++k) want[k] = d * want[k] + (1 - d) * all[t][k];
    }
    const FitOptions o = averaging({{.decay = decay}});
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    fit(distance, s, in_memory(numbered_samples(10)), Samples<Tensor>{}, o);
    ASSERT_TRUE(s.average);
    expect_near(s.average->to_vector(), want);
    EXPECT_EQ(s.averaged, 12);
    EXPECT_EQ(s.params.to_vector(), all.back());  // the steps do not see it
  }
}

TEST(Averages, MeansAreOfTheEndsOfEpochs) {
  const std::vector<Numbers> all = walk();
  for (const Index first : {0, 2, 3}) {
    Numbers want(3, 0.0);
    for (Index epoch = first; epoch < 4; ++epoch)
      for (std::size_t k = 0; k < 3; ++k)
        want[k] += all[static_cast<std::size_t>(3 * epoch + 2)][k] / static_cast<double>(4 - first);
    const FitOptions o = averaging({{.kind = Kind::mean, .first_epoch = first}});
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    fit(distance, s, in_memory(numbered_samples(10)), Samples<Tensor>{}, o);
    ASSERT_TRUE(s.average);
    expect_near(s.average->to_vector(), want);
    EXPECT_EQ(s.averaged, 4 - first);
  }
  const FitOptions never = averaging({{.kind = Kind::mean, .first_epoch = 4}});
  FitState<Tensor> s = begin_fit(zeros({3}), never);
  fit(distance, s, in_memory(numbered_samples(10)), Samples<Tensor>{}, never);
  EXPECT_FALSE(s.average);
}

TEST(Averages, ValidationAndTheBestTakeThem) {
  const Tensor held_out = numbered_samples(7);
  for (const AverageOptions average :
       {AverageOptions{.decay = 0.9}, AverageOptions{.kind = Kind::mean, .first_epoch = 1}}) {
    const FitOptions o = averaging(average);
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    fit(distance, s, in_memory(numbered_samples(10)), in_memory(held_out), o);
    EXPECT_NEAR(s.curves.back().validation, mean(square(held_out - *s.average)).item(), 1e-14);
    EXPECT_NEAR(s.best_loss, mean(square(held_out - s.best)).item(), 1e-14);
  }
}

TEST(Averages, StoppedAnywhereTheyGoOnToTheSameBits) {
  const Samples<Tensor> train = in_memory(numbered_samples(10)),
                        held_out = in_memory(numbered_samples(5));
  for (const AverageOptions average :
       {AverageOptions{.decay = 0.9}, AverageOptions{.kind = Kind::mean, .first_epoch = 1}}) {
    const FitOptions o = averaging(average);
    FitState<Tensor> whole = begin_fit(zeros({3}), o), pieces = whole;
    fit(distance, whole, train, held_out, o);
    const GoOn<Tensor> never = [](const FitState<Tensor>&) { return false; };
    while (fit(distance, pieces, train, held_out, o, never).reason == FitEnd::Reason::stopped) {
    }
    EXPECT_EQ(pieces.average->to_vector(), whole.average->to_vector());
    EXPECT_EQ(pieces.best.to_vector(), whole.best.to_vector());
    EXPECT_EQ(pieces.averaged, whole.averaged);
  }
}

TEST(Averages, FrozenLeavesAndComplexOnesAreLeaves) {
  using Two = std::pair<Tensor, Tensor>;
  const auto off = [](const Two& p, const Batch<Tensor>& b) {
    return mean(square(b.data - p.first)) + square(abs(p.second - 1.0));
  };
  FitOptions o = averaging({{.decay = 0.9}});
  o.rules = {{.names = "0", .rate = 0}};
  const Tensor frozen = tensor({0.1, 1e100, -0.0});
  FitState<Two> s = begin_fit(Two{frozen, complex(Tensor(0.5), Tensor(2.0))}, o);
  fit(off, s, in_memory(numbered_samples(10)), Samples<Tensor>{}, o);
  EXPECT_EQ(s.average->first.to_vector(), frozen.to_vector());
  EXPECT_TRUE(std::signbit(s.average->first.to_vector()[2]));
  EXPECT_LT(abs(s.average->second - 1.0).item(), abs(complex(Tensor(-0.5), Tensor(2.0))).item());
}

TEST(Averages, RefusesADecayThatForgetsNothing) {
  const auto refusal = [](AverageOptions average) {
    const FitOptions o = averaging(average);
    FitState<Tensor> s = begin_fit(zeros({3}), o);
    return message_of([&] { fit(distance, s, in_memory(zeros({4, 3})), Samples<Tensor>{}, o); });
  };
  for (const double decay : {1.0, -0.1, std::nan("")})
    EXPECT_NE(refusal({.decay = decay}).find("decay is not in [0, 1)"), std::string::npos);
  EXPECT_NE(refusal({.kind = Kind::mean, .first_epoch = -1}).find("negative"), std::string::npos);
}
