// SPDX-License-Identifier: Apache-2.0
//
// Training against loops written out by hand, against an exact solution, stopped and taken up
// again; what the samples' order and keys depend on; what is refused.
#include "tessera/solvers/fit.h"

#include "error_text.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tests/autodiff/same_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::message_of;

namespace {

struct Pairs {
  Tensor x, y;
  TESSERA_TREE(x, y)
};

/// y = x_0 - 2 x_1 + 1/2, without noise.
Pairs plane(Index n, std::uint64_t seed = 1) {
  const Tensor x = normal(random_key(seed), {n, 2});
  return {x, matmul(x, tensor({1.0, -2.0}, {2, 1})) + 0.5};
}
nn::Linear layer() { return nn::linear(random_key(9), 2, 1); }

Tensor squares(const nn::Linear& l, const Batch<Pairs>& b) {
  return nn::mean_square(l(b.data.x), b.data.y);
}

std::vector<double> numbers(const nn::Linear& l) {
  std::vector<double> v;
  for (const Tensor& t : flatten_tree(l))
    for (const double x : t.to_vector()) v.push_back(x);
  return v;
}

const Samples<Pairs> nothing{};

}  // namespace

TEST(Fit, KeepsWhatTheValidationGivesBeside) {
  // Means over all samples, however they fall into batches: 8 and 5 of 13.
  const Pairs data = plane(20), held_out = plane(13, 2);
  const FitOptions o{.epochs = 2, .batch = 8};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  const auto judge = [](const nn::Linear& l, const Batch<Pairs>& b) {
    const Tensor off = l(b.data.x) - b.data.y;
    return std::pair(mean(square(off)), std::pair(mean(abs(off)), mean(off)));
  };
  fit(squares, judge, s, in_memory(data), in_memory(held_out), o);
  const Tensor off = s.params(held_out.x) - held_out.y;
  const FitEpoch& last = s.curves.back();
  ASSERT_EQ(last.metrics.size(), 2U);
  EXPECT_NEAR(last.validation, mean(square(off)).item(), 1e-14);
  EXPECT_NEAR(last.metrics[0], mean(abs(off)).item(), 1e-14);
  EXPECT_NEAR(last.metrics[1], mean(off).item(), 1e-14);
}

TEST(Fit, IsTheLoopThatOneWouldWrite) {
  const Pairs data = plane(20);
  const FitOptions o{.epochs = 3, .batch = 8, .shuffle = false, .rate = cosine_rate(0.1, 9)};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  const FitEnd end = fit(squares, s, in_memory(data), nothing, o);
  EXPECT_EQ(end.reason, FitEnd::Reason::all_epochs);
  EXPECT_EQ(to_string(end), "all epochs are done");

  nn::Linear l = layer();
  const Optimizer adam_of = adam(cosine_rate(0.1, 9));
  OptimizerState state = adam_of.init(l);
  std::vector<double> curve;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (Index begin = 0; begin < 20; begin += 8) {
      const Index end = std::min<Index>(begin + 8, 20);
      const Batch<Pairs> b{{slice(data.x, 0, begin, end), slice(data.y, 0, begin, end)}, {}};
      const auto [value, g] = value_and_grad([&](const nn::Linear& l) { return squares(l, b); })(l);
      std::tie(l, state) = adam_of.update(l, g, state);
      sum += static_cast<double>(end - begin) * value.item();
    }
    curve.push_back(sum / 20);
  }
  EXPECT_EQ(numbers(s.params), numbers(l));
  ASSERT_EQ(s.curves.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_DOUBLE_EQ(s.curves[k].loss, curve[k]);
    EXPECT_TRUE(std::isnan(s.curves[k].validation));
  }
  EXPECT_EQ(s.best_epoch, 2);
}

TEST(Fit, FrozenLeavesTakeWhatTheLossGivesForThem) {
  // The running statistics of a batch norm, which a loop would hand on; frozen weights that the
  // loss gives back as they are keep their bits.
  const Pairs data = plane(20);
  const auto net = nn::sequential(random_key(4),
                                  {{.kind = nn::LayerKind::linear, .width = 3},
                                   {.kind = nn::LayerKind::batch_norm},
                                   {.kind = nn::LayerKind::linear, .width = 1}},
                                  {2});
  using Net = nn::Sequential;
  const auto loss = [](const Net& n, const Batch<Pairs>& b) {
    auto [y, seeing] = n.seeing(b.data.x, b.keys);
    return std::pair(nn::mean_square(y, b.data.y), std::move(seeing));
  };
  const auto seen_of = [](const Net& n) { return std::get<nn::RunningNorm>(n.layers[1]).seen; };
  for (const Index parts : {1, 2}) {
    const FitOptions o{.epochs = 2,
                       .batch = 8,
                       .parts = parts,
                       .workers = static_cast<int>(parts),
                       .shuffle = false,
                       .rate = constant_rate(0.01),
                       .rules = {{"*.seen.*", 0}, {"layers.0.*", 0}}};
    FitState<Net> s = begin_fit(net, o);
    fit(loss, s, in_memory(data), nothing, o);
    EXPECT_TRUE(same_bits(flatten_tree(s.params)[0], flatten_tree(net)[0]));
    EXPECT_FALSE(same_bits(flatten_tree(s.params).back(), flatten_tree(net).back()));

    // The first layer is frozen: what the norm meets does not depend on the steps.
    const Tensor z = std::get<nn::Linear>(net.layers[0])(data.x);
    nn::BatchStatistics want = seen_of(net);
    for (int epoch = 0; epoch < 2; ++epoch)
      for (Index begin = 0; begin < 20; begin += 8) {
        const Index n = std::min<Index>(begin + 8, 20) - begin;
        Tensor mean_now = zeros({3}), variance_now = zeros({3});
        for (Index k = 0; k < parts; ++k) {
          const Tensor part = slice(z, 0, begin + n * k / parts, begin + n * (k + 1) / parts);
          const double m = static_cast<double>(part.dim(0)), share = m / static_cast<double>(n);
          mean_now = mean_now + share * mean(part, {0});
          variance_now =
              variance_now + share * m / (m - 1) * mean(square(part - mean(part, {0})), {0});
        }
        want.mean = 0.9 * want.mean + 0.1 * mean_now;
        want.variance = 0.9 * want.variance + 0.1 * variance_now;
      }
    EXPECT_LT(max(abs(seen_of(s.params).mean - want.mean)).item(), 1e-14);
    EXPECT_LT(max(abs(seen_of(s.params).variance - want.variance)).item(), 1e-14);
  }
}

TEST(Fit, FindsAPlaneAndKeepsTheBestEpoch) {
  const FitOptions o{.epochs = 60, .batch = 16, .rate = cosine_rate(0.1, 60 * 7)};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  fit(squares, s, in_memory(plane(100)), in_memory(plane(50, 2)), o);
  const std::vector<double> want = {1, -2, 0.5}, got = numbers(s.best);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(got[k], want[k], 1e-4);
  double least = std::numeric_limits<double>::infinity();
  for (const FitEpoch& e : s.curves) least = std::min(least, e.validation);
  EXPECT_EQ(s.best_loss, least);
  EXPECT_EQ(s.curves[static_cast<std::size_t>(s.best_epoch)].validation, least);
}

TEST(Fit, StoppedAnywhereGoesOnToTheSameBits) {
  const Samples<Pairs> train = in_memory(plane(23)), held_out = in_memory(plane(9, 2));
  const FitOptions o{.epochs = 4,
                     .batch = 5,
                     .parts = 2,
                     .rate = constant_rate(0.05),
                     .clip_norm = 1.0,
                     .plateau = {{.patience = 0, .threshold = 0.5}},
                     .early_stopping = {{.patience = 3}}};
  FitState<nn::Linear> whole = begin_fit(layer(), o);
  const FitEnd last = fit(squares, whole, train, held_out, o);
  for (int every = 1; every <= 6; ++every) {
    FitState<nn::Linear> s = begin_fit(layer(), o);
    FitEnd end;
    int pieces = 0;
    do {
      int asked = 0;
      end = fit(squares, s, train, held_out, o,
                GoOn<nn::Linear>([&](const FitState<nn::Linear>& now) {
                  EXPECT_TRUE(now.params.w.defined());
                  return ++asked < every;
                }));
      ++pieces;
    } while (end.reason == FitEnd::Reason::stopped && pieces < 100);
    EXPECT_EQ(end.reason, last.reason);
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(numbers(s.params), numbers(whole.params)) << every;
    EXPECT_EQ(numbers(s.best), numbers(whole.best)) << every;
    ASSERT_EQ(s.curves.size(), whole.curves.size());
    for (std::size_t k = 0; k < s.curves.size(); ++k) {
      EXPECT_EQ(s.curves[k].loss, whole.curves[k].loss);
      EXPECT_EQ(s.curves[k].validation, whole.curves[k].validation);
      EXPECT_EQ(s.curves[k].rate_factor, whole.curves[k].rate_factor);
    }
  }
}

TEST(Fit, SameBitsOnAnyNumberOfThreads) {
  const Samples<Pairs> train = in_memory(plane(3000));
  const FitOptions o{.epochs = 2, .batch = 1500, .parts = 4, .rate = constant_rate(0.05)};
  const int before = num_threads();
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    FitState<nn::Linear> s = begin_fit(layer(), o);
    fit(squares, s, train, nothing, o);
    results.push_back(numbers(s.params));
  }
  set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Fit, PartsAreTheWholeToRounding) {
  const Samples<Pairs> train = in_memory(plane(22));
  std::vector<double> whole;
  for (const Index parts :
       {1, 2, 3, 7}) {  // 7 samples in 3 parts are 2, 2, 3; the rest of 1 is one
    const FitOptions o{.epochs = 3, .batch = 7, .parts = parts, .rate = constant_rate(0.05)};
    FitState<nn::Linear> s = begin_fit(layer(), o);
    fit(squares, s, train, nothing, o);
    const std::vector<double> got = numbers(s.params);
    if (parts == 1) whole = got;
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(got[k], whole[k], 1e-13) << parts;
  }
}

TEST(Fit, MeetsEverySampleOnceAnEpochInAnOrderOfTheEpochAndTheSeed) {
  const Pairs data = plane(17);
  const Samples<Pairs> all = in_memory(data);
  const auto order = [&](std::uint64_t seed) {
    std::vector<Index> met;
    const Samples<Pairs> watched{17, [&](std::span<const Index> which) {
                                   met.insert(met.end(), which.begin(), which.end());
                                   return all.read(which);
                                 }};
    const FitOptions o{.epochs = 2, .batch = 5, .seed = seed};
    FitState<nn::Linear> s = begin_fit(layer(), o);
    fit(squares, s, watched, nothing, o);
    met.erase(met.begin());  // the first read tells what a batch is
    return met;
  };
  const std::vector<Index> one = order(1);
  ASSERT_EQ(one.size(), 34u);
  const std::vector<Index> first(one.begin(), one.begin() + 17),
      second(one.begin() + 17, one.end());
  EXPECT_EQ(std::set<Index>(first.begin(), first.end()).size(), 17u);
  EXPECT_EQ(std::set<Index>(second.begin(), second.end()).size(), 17u);
  EXPECT_NE(first, second);
  EXPECT_EQ(order(1), one);
  EXPECT_NE(order(2), one);
}

TEST(Fit, KeysBelongToTheSampleAndTheEpoch) {
  // The loss is a mean over samples of a number drawn by each one's key, whatever the batches are.
  const auto drawn = [](const nn::Linear& l, const Batch<Pairs>& b) {
    return mean(vmap([](const Tensor& key, const Tensor& x) {
             return select(x, 0, 0) * sum(normal(key, {3}));
           })(b.keys, b.data.x)) +
           0.0 * sum(l.w);
  };
  std::vector<double> first, second;
  for (const Index batch : {1, 4, 19}) {
    const FitOptions o{.epochs = 2, .batch = batch};
    FitState<nn::Linear> s = begin_fit(layer(), o);
    fit(drawn, s, in_memory(plane(19)), nothing, o);
    first.push_back(s.curves[0].loss);
    second.push_back(s.curves[1].loss);
  }
  for (std::size_t k = 1; k < 3; ++k) {
    EXPECT_NEAR(first[k], first[0], 1e-14);
    EXPECT_NEAR(second[k], second[0], 1e-14);
  }
  EXPECT_GT(std::abs(first[0] - second[0]), 1e-3);
}

TEST(Fit, ALossThatIsNotFiniteStopsWithItsStepAndItsSamples) {
  Pairs data = plane(12);
  data.y =
      where(equal(arange(12), 7), std::numeric_limits<double>::quiet_NaN(), squeeze(data.y, 1));
  data.y = expand_dims(data.y, 1);
  const FitOptions o{.epochs = 2, .batch = 5, .shuffle = false};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  const FitEnd end = fit(squares, s, in_memory(data), nothing, o);
  EXPECT_EQ(end.reason, FitEnd::Reason::not_finite);
  EXPECT_FALSE(end);
  EXPECT_EQ(end.epoch, 0);
  EXPECT_EQ(end.step, 1);
  EXPECT_EQ(end.samples, (std::vector<Index>{5, 6, 7, 8, 9}));
  EXPECT_EQ(to_string(end),
            "the loss is not finite (epoch 0, step 1), of samples 5, 6, 7, 8, 9: a number "
            "of the samples is not finite");
  for (const double v : numbers(s.params)) EXPECT_TRUE(std::isfinite(v));
}

TEST(Fit, ALossThatIsNotFiniteNamesTheOperation) {
  const FitOptions o{.epochs = 2, .batch = 5};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  const auto rooted = [](const nn::Linear& l, const Batch<Pairs>& b) {
    return mean(sqrt(l(b.data.x) - 100));
  };
  const FitEnd end = fit(rooted, s, in_memory(plane(12)), nothing, o);
  EXPECT_EQ(end.reason, FitEnd::Reason::not_finite);
  EXPECT_NE(end.cause.find("[sqrt] gives nan at [0,0], of operands without: f64[5,1] = -"),
            std::string::npos)
      << end.cause;
  EXPECT_NE(end.cause.find("fit_test.cpp:"), std::string::npos) << end.cause;
}

TEST(Fit, APlateauLowersTheRateWithoutANewPlan) {
  int made = 0;
  FitOptions o{.epochs = 30, .batch = 100, .rate = constant_rate(0.5)};
  o.optimizer = [&made](Schedule rate) {
    ++made;
    return sgd(std::move(rate));
  };
  o.plateau = PlateauOptions{.factor = 0.5, .patience = 1, .threshold = 0.2};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  fit(squares, s, in_memory(plane(100)), nothing, o);
  EXPECT_LT(s.plateau.factor, 1);
  EXPECT_EQ(s.curves.front().rate_factor, 1);
  EXPECT_EQ(made, 2);  // once for the first state, once while the step was recorded
}

TEST(Fit, EndsEarlyWhereNothingImproves) {
  const FitOptions o{
      .epochs = 100, .rate = constant_rate(0.0), .early_stopping = {{.patience = 4}}};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  const FitEnd end = fit(squares, s, in_memory(plane(40)), in_memory(plane(10, 2)), o);
  EXPECT_EQ(end.reason, FitEnd::Reason::early);
  EXPECT_EQ(end.epoch, 4);
  EXPECT_EQ(s.curves.size(), 5u);
  EXPECT_EQ(s.best_epoch, 0);
  // What has ended has ended, also for who takes the state up again; a longer patience goes on.
  EXPECT_EQ(fit(squares, s, in_memory(plane(40)), in_memory(plane(10, 2)), o).epoch, 4);
  EXPECT_EQ(s.curves.size(), 5u);
  FitOptions longer = o;
  longer.early_stopping->patience = 6;
  EXPECT_EQ(fit(squares, s, in_memory(plane(40)), in_memory(plane(10, 2)), longer).epoch, 6);
}

TEST(Fit, WhatIsFoundBesideALossAndAValidationOfItsOwn) {
  const auto with_parts = [](const nn::Linear& l, const Batch<Pairs>& b) {
    const Tensor guess = l(nn::dropout(b.data.x, 0.5, select(b.keys, 0, 0)));
    return std::pair(nn::mean_square(guess, b.data.y), guess);
  };
  const FitOptions o{.epochs = 1};
  FitState<nn::Linear> s = begin_fit(layer(), o);
  fit(with_parts, squares, s, in_memory(plane(40)), in_memory(plane(10, 2)), o);
  const Pairs held_out = plane(10, 2);
  EXPECT_NEAR(s.curves[0].validation, nn::mean_square(s.params(held_out.x), held_out.y).item(),
              1e-14);
}

TEST(Fit, RefusesWhatCannotBeTrained) {
  const auto refusal = [](FitOptions o, const Samples<Pairs>& train) {
    FitState<nn::Linear> s = begin_fit(layer(), o);
    const std::string text = message_of([&] { fit(squares, s, train, nothing, o); });
    EXPECT_EQ(numbers(s.params), numbers(layer()));  // given back as they were
    return text;
  };
  EXPECT_NE(refusal({}, nothing).find("no samples"), std::string::npos);
  EXPECT_NE(refusal({}, in_memory(plane(0))).find("no samples"), std::string::npos);
  EXPECT_NE(refusal({.batch = 0}, in_memory(plane(3))).find("batch of 0"), std::string::npos);
  EXPECT_NE(refusal({.batch = 4, .parts = 5}, in_memory(plane(3))).find("5 parts"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              in_memory(Pairs{zeros({3, 2}), zeros({4})});
            }).find("f64[4]"),
            std::string::npos);
  EXPECT_NE(message_of([] { in_memory(zeros({})); }).find("first axis"), std::string::npos);
}
