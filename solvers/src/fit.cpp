// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/fit.h"

#include "fit_steps.h"
#include "read_ahead.h"
#include "step_gradient.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::solvers {
namespace {

using detail::Leaves;

/// A seed for each (seed, number): the finaliser of splitmix64 (G. Steele et al., OOPSLA 2014).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The samples of an epoch in its order, and a key for each sample.
struct Order {
  std::vector<Index> samples;
  Tensor keys;  ///< [count, 2], by sample
};
Order order_of(Index epoch, Index count, const FitOptions& o) {
  const std::uint64_t seed = mixed(o.seed, static_cast<std::uint64_t>(epoch));
  Order order{{}, split_key(random_key(mixed(seed, 0)), count)};
  if (o.shuffle) {
    order.samples = argsort(random_bits(random_key(mixed(seed, 1)), {count})).to_vector<Index>();
  } else {
    order.samples.resize(static_cast<std::size_t>(count));
    std::iota(order.samples.begin(), order.samples.end(), 0);
  }
  return order;
}

/// The leaves of a batch, and their keys behind them.
Leaves batch_of(const Samples<Leaves>& from, std::span<const Index> samples, const Tensor& keys) {
  Leaves batch = from.read(samples);
  for (const Tensor& t : batch)
    if (t.ndim() < 1 || t.dim(0) != static_cast<Index>(samples.size()))
      fail("fit", std::to_string(samples.size()) + " samples were asked for, and read as " +
                      to_string(t.type()) + ": the first axis counts the samples");
  batch.push_back(gather(keys, tensor(std::vector<Index>(samples.begin(), samples.end()))));
  return batch;
}

/// Samples in so many parts, as even as can be; not more parts than samples.
using Parts = std::vector<std::span<const Index>>;
Parts parts_of(std::span<const Index> samples, Index parts) {
  const Index n = static_cast<Index>(samples.size());
  parts = std::min(parts, n);
  Parts all;
  for (Index k = 0; k < parts; ++k) {
    const Index begin = n * k / parts, end = n * (k + 1) / parts;
    all.push_back(
        samples.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
  return all;
}

/// The steps of an epoch from one on: samples of each, in parts.
std::vector<Parts> steps_of(std::span<const Index> order, Index first, const FitOptions& o) {
  std::vector<Parts> steps;
  const auto batch = static_cast<std::size_t>(o.batch);
  for (auto at = static_cast<std::size_t>(first) * batch; at < order.size(); at += batch)
    steps.push_back(parts_of(order.subspan(at, std::min(batch, order.size() - at)), o.parts));
  return steps;
}

/// What `judge` gives of the validation's samples, batch by batch: means over the samples.
std::vector<double> validated(const Samples<Leaves>& samples, const FitOptions& o,
                              const std::function<Leaves(const Leaves& batch)>& judge) {
  std::vector<Index> all(static_cast<std::size_t>(samples.count));
  std::iota(all.begin(), all.end(), 0);
  const Tensor keys = split_key(random_key(mixed(o.seed, ~std::uint64_t{0})), samples.count);
  const Parts parts = parts_of(all, (samples.count + o.batch - 1) / o.batch);
  detail::ReadAhead batches(
      parts.size(), [&](std::size_t k) { return batch_of(samples, parts[k], keys); }, o.loaders);
  std::vector<double> means;
  for (const std::span<const Index> part : parts) {
    const Leaves found = judge(batches.next());
    means.resize(found.size());
    const double share = static_cast<double>(part.size()) / static_cast<double>(samples.count);
    for (std::size_t k = 0; k < found.size(); ++k)
      means[k] += share * cast(found[k], Dtype::f64).item();
  }
  return means;
}

/// a + part (p - a), leaf by leaf.
Leaves moved_average(const Leaves& average, const Leaves& params, const Tensor& part) {
  Leaves next;
  for (std::size_t k = 0; k < params.size(); ++k)
    next.push_back(average[k] + cast(part, real_of(params[k].dtype())) * (params[k] - average[k]));
  return next;
}

void check(const FitOptions& o, const Samples<Leaves>& train) {
  const auto need = [](bool good, const std::string& what) {
    if (!good) fail("fit", what);
  };
  need(train.count > 0, "there are no samples to train on");
  need(o.batch > 0, "a batch of " + std::to_string(o.batch) + " samples");
  need(o.parts > 0 && o.parts <= o.batch, "a batch of " + std::to_string(o.batch) + " samples in " +
                                              std::to_string(o.parts) + " parts");
  need(o.workers > 0 && o.workers <= 1024, std::to_string(o.workers) + " workers");
  need(o.loaders >= 0 && o.loaders <= 1024, std::to_string(o.loaders) + " loaders");
  need(o.epochs >= 0, std::to_string(o.epochs) + " epochs");
  need(!o.clip_norm || *o.clip_norm > 0, "clip_norm is not above 0");
  need(!o.average || (o.average->decay >= 0 && o.average->decay < 1),
       "an average's decay is not in [0, 1)");
  need(!o.average || o.average->first_epoch >= 0, "an average's first epoch is negative");
}

}  // namespace

Samples<Leaves> detail::checked_in_memory(Leaves all) {
  if (all.empty()) fail("in_memory", "a tree without tensors has no samples");
  for (const Tensor& t : all)
    if (t.ndim() < 1 || t.dim(0) != all[0].dim(0))
      fail("in_memory", "the first axis counts the samples: got " + to_string(all[0].type()) +
                            " beside " + to_string(t.type()));
  const Index count = all[0].dim(0);
  return {count, [all = std::move(all)](std::span<const Index> samples) {
            const Tensor at = tensor(std::vector<Index>(samples.begin(), samples.end()));
            Leaves rows;
            for (const Tensor& t : all) rows.push_back(gather(t, at));
            return rows;
          }};
}

std::string to_string(const FitEnd& end) {
  const std::string where =
      " (epoch " + std::to_string(end.epoch) + ", step " + std::to_string(end.step) + ")";
  switch (end.reason) {
    case FitEnd::Reason::all_epochs:
      return "all epochs are done";
    case FitEnd::Reason::early:
      return "no progress any more" + where;
    case FitEnd::Reason::stopped:
      return "stopped" + where;
    case FitEnd::Reason::not_finite:
      break;
  }
  std::string text = "the loss is not finite" + where + ", of samples";
  for (std::size_t k = 0; k < std::min<std::size_t>(end.samples.size(), 10); ++k)
    text += (k ? ", " : " ") + std::to_string(end.samples[k]);
  if (end.samples.size() > 10) text += ", ... (" + std::to_string(end.samples.size()) + ")";
  if (!end.cause.empty()) text += ": " + end.cause;
  return text;
}

FitEnd detail::fit_flat(const std::function<Leaves(const Leaves&, const Leaves&)>& loss,
                        const std::function<Leaves(const Leaves&, const Leaves&)>& validate,
                        FitState<Leaves>& s, const LeafNames& names, const Samples<Leaves>& train,
                        const Samples<Leaves>& validation, const FitOptions& o,
                        const GoOn<Leaves>& go_on) {
  check(o, train);
  const TrainedLeaves leaves(names, o, s.params, s.optimizer);
  StepGradient gradient(loss, leaves, o);
  // The factor is an argument, so that a plateau makes no new plan.
  const auto update = jit([&](const Leaves& params, const Leaves& gradient,
                              const OptimizerState& state, const Tensor& factor) {
    return leaves.step(params, o.clip_norm ? clip_by_norm(gradient, *o.clip_norm) : gradient, state,
                       factor, o);
  });
  const auto judge = jit(validate);
  using Kind = AverageOptions::Kind;
  const auto move_average = jit(moved_average);
  const auto take_average = [&](Kind kind) {
    if (!o.average || o.average->kind != kind) return;
    const Tensor part(average_part(*o.average, s.averaged));
    if (s.average) {
      Leaves before = leaves.of(*s.average);
      s.average.reset();
      s.average = leaves.joined(move_average(std::move(before), leaves.of(s.params), part),
                                leaves.others(s.params));
    } else {
      s.average = s.params;
    }
    ++s.averaged;
  };
  if (o.average && o.average->kind == Kind::exponential && !s.average) s.average = s.params;
  const auto asked_to_stop = [&] { return go_on && !go_on(s); };

  const auto over = [&] {
    return o.early_stopping && s.step == 0 && s.stopping.over(*o.early_stopping);
  };
  if (over()) return {FitEnd::Reason::early, s.epoch - 1, 0};
  while (s.epoch < o.epochs) {
    const Order order = order_of(s.epoch, train.count, o);
    const std::vector<Parts> steps = steps_of(order.samples, s.step, o);
    Parts all_parts;
    for (const Parts& parts : steps) all_parts.insert(all_parts.end(), parts.begin(), parts.end());
    ReadAhead batches(
        all_parts.size(), [&](std::size_t k) { return batch_of(train, all_parts[k], order.keys); },
        o.loaders);
    for (const Parts& parts : steps) {
      const std::span<const Index> samples(parts.front().begin(), parts.back().end());
      std::vector<Index> sizes;
      for (const std::span<const Index> part : parts)
        sizes.push_back(static_cast<Index>(part.size()));
      const StepGradient::Of all = gradient(s.params, sizes, [&] { return batches.next(); });
      if (!std::isfinite(all.loss))
        return {FitEnd::Reason::not_finite,
                s.epoch,
                s.step,
                {samples.begin(), samples.end()},
                all.cause};
      auto [params, state] = leaves.take(s.params, s.optimizer);
      leaves.put_back(
          update(std::move(params), all.trained, std::move(state), Tensor(s.plateau.factor)),
          s.params, s.optimizer);
      gradient.carry(all, s.params);
      take_average(Kind::exponential);
      s.loss_sum += static_cast<double>(samples.size()) * all.loss;
      ++s.step;
      if (asked_to_stop()) return {FitEnd::Reason::stopped, s.epoch, s.step};
    }

    if (o.average && s.epoch >= o.average->first_epoch) take_average(Kind::mean);
    const Leaves& judged = s.average ? *s.average : s.params;
    FitEpoch row{s.loss_sum / static_cast<double>(train.count),
                 std::numeric_limits<double>::quiet_NaN(), s.plateau.factor};
    if (validation.count > 0) {
      row.metrics =
          validated(validation, o, [&](const Leaves& batch) { return judge(judged, batch); });
      row.validation = row.metrics.front();
      row.metrics.erase(row.metrics.begin());
    }
    s.curves.push_back(row);
    const double metric = validation.count > 0 ? row.validation : row.loss;
    if (metric < s.best_loss) s.best_loss = metric, s.best_epoch = s.epoch, s.best = judged;
    if (o.plateau) s.plateau.see(metric, *o.plateau);
    if (o.early_stopping) s.stopping.see(metric, *o.early_stopping);
    s.step = 0, s.loss_sum = 0;
    ++s.epoch;
    if (over()) return {FitEnd::Reason::early, s.epoch - 1, 0};
    if (asked_to_stop()) return {FitEnd::Reason::stopped, s.epoch, 0};
  }
  return {FitEnd::Reason::all_epochs, s.epoch, 0};
}

}  // namespace tessera::solvers
