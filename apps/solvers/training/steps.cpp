// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/steps.h"

#include "solvers/training/augment.h"
#include "tessera/autodiff/nn/losses.h"
#include "tessera/autodiff/ops.h"

#include <cmath>

namespace tessera::apps::training {
namespace {

Tensor loss_of(const Options& o, const Tensor& y, const Tensor& t) {
  const TrainingOptions& how = o.training;
  switch (how.loss) {
    case Loss::mean_square:
      return nn::mean_square(y, t);
    case Loss::mean_absolute:
      return nn::mean_absolute(y, t);
    case Loss::huber:
      return nn::huber(y, t, how.huber_delta);
    case Loss::relative_l2:
      return nn::relative_l2(y, t);
    case Loss::cross_entropy:
      return nn::cross_entropy(y, t, how.smoothing);
  }
  throw Error("is no loss");
}

bool in_own_units(const Options& o) {
  return !o.classifies() && o.training.loss_of == LossOf::original;
}

Schedule curve_of(const TrainingOptions& o, double steps_of_epoch) {
  const ScheduleOptions& s = o.schedule;
  const auto steps = [&](double epochs) {
    return std::max<Index>(1, std::llround(epochs * steps_of_epoch));
  };
  const double epochs = std::max(0.0, static_cast<double>(o.epochs) - s.warmup);
  switch (s.kind) {
    case RateCurve::constant:
      return constant_rate(o.rate);
    case RateCurve::cosine:
      return cosine_rate(o.rate, steps(epochs), s.last);
    case RateCurve::step:
      return step_rate(o.rate, steps(s.every), s.factor);
    case RateCurve::exponential:
      return exponential_rate(o.rate, steps(s.every), s.factor);
    case RateCurve::one_cycle:
      return one_cycle(o.rate, steps(epochs), 0.3, 0.04, s.last);
  }
  throw Error("is no schedule");
}

Optimizer optimizer_of(const TrainingOptions& o, const Schedule& rate) {
  const double decay = o.decay.value_or(o.optimizer == Steps::adamw ? 0.01 : 0);
  switch (o.optimizer) {
    case Steps::adam:
    case Steps::adamw:
      return adamw(rate, {.weight_decay = decay});
    case Steps::sgd:
      return sgd(rate, {.momentum = o.momentum, .weight_decay = decay});
    case Steps::lamb:
      return lamb(rate, {.epsilon = 1e-6, .weight_decay = decay});
    case Steps::lion:
      return lion(rate, {.weight_decay = decay});
  }
  throw Error("is no optimizer");
}

}  // namespace

std::int64_t Problem::steps() const {
  const auto n = static_cast<std::int64_t>(split.train.size());
  return (n + options.training.batch - 1) / options.training.batch;
}

Pairs prepared(const Problem& p, const std::vector<std::int64_t>& samples) {
  const Tensor y = rows_of(p.samples.targets, samples);
  Pairs all{p.model.prepared(rows_of(p.samples.inputs, samples)), y};
  if (!p.options.classifies() && !in_own_units(p.options))
    all.y = cast(p.model.target.apply(y), p.model.dtype);
  return all;
}

std::pair<Tensor, Network> training_loss(const Problem& p, const Network& net, const Batch& b) {
  Tensor keys = b.keys;
  Tensor x;
  {
    const Within part("augment");
    x = augmented(p.options.augment, b.data.x, keys);
  }
  const auto [y, seeing] = net.seeing(x, keys);
  const Within part("loss");
  return {loss_of(p.options, in_own_units(p.options) ? p.model.target.undo(y) : y, b.data.y),
          seeing};
}

std::pair<Tensor, std::vector<Tensor>> validation_loss(const Problem& p, const Network& net,
                                                       const Batch& b) {
  const Tensor y = net(b.data.x);
  if (p.options.classifies()) return {loss_of(p.options, y, b.data.y), {nn::accuracy(y, b.data.y)}};
  const bool own = in_own_units(p.options);
  const Tensor guess = p.model.target.undo(y), t = own ? b.data.y : p.model.target.undo(b.data.y);
  return {loss_of(p.options, own ? guess : y, b.data.y),
          {nn::relative_l2(guess, t), nn::mean_square(guess, t)}};
}

std::vector<std::string> metric_names(const Options& o) {
  if (o.classifies()) return {"accuracy"};
  return {"relative_l2", "rmse"};
}
std::vector<double> written(const Options& o, const std::vector<double>& metrics) {
  if (metrics.empty()) return std::vector<double>(metric_names(o).size(), NAN);
  if (o.classifies()) return metrics;
  return {metrics[0], std::sqrt(metrics[1])};
}

solvers::FitOptions fit_options(const Problem& p) {
  const TrainingOptions& o = p.options.training;
  solvers::FitOptions f{.epochs = o.epochs,
                        .batch = o.batch,
                        .parts = o.parts,
                        .workers = static_cast<int>(o.workers),
                        .seed = o.seed,
                        .shuffle = o.shuffle,
                        .loaders = static_cast<int>(o.loaders),
                        .optimizer = [o](const Schedule& rate) { return optimizer_of(o, rate); },
                        .rate = curve_of(o, static_cast<double>(p.steps())),
                        .clip_norm = o.clip_norm};
  if (const auto& c = o.average)
    f.average = {.kind = c->kind, .decay = c->decay, .first_epoch = c->first_epoch};
  for (const LeafChoice& l : o.leaves)
    f.rules.push_back({l.names, l.frozen ? 0 : l.rate.value_or(1), l.decay});
  if (p.model.network.has_running_norms()) f.rules.push_back({"*.seen.*", 0});
  if (o.schedule.warmup > 0)
    f.rate =
        warmup(std::llround(std::ceil(o.schedule.warmup * static_cast<double>(p.steps()))), f.rate);
  if (const auto& c = o.plateau)
    f.plateau = {.factor = c->factor,
                 .patience = c->patience,
                 .threshold = c->threshold,
                 .cooldown = c->cooldown,
                 .least = c->least};
  if (const auto& c = o.early_stopping)
    f.early_stopping = {.patience = c->patience,
                        .least_progress = c->least_progress,
                        .first_epoch = c->first_epoch};
  return f;
}

namespace {
/// The epochs' metrics one after another, until f(stopping) is true.
template <class F>
solvers::EarlyStopping seen_until(const Problem& p, const std::vector<solvers::FitEpoch>& curves,
                                  const F& f) {
  solvers::EarlyStopping s;
  const auto options = fit_options(p).early_stopping;
  if (!options) return s;
  for (const solvers::FitEpoch& e : curves) {
    s.see(p.split.validation.empty() ? e.loss : e.validation, *options);
    if (f(s.over(*options))) break;
  }
  return s;
}
}  // namespace

solvers::EarlyStopping stopping_after(const Problem& p,
                                      const std::vector<solvers::FitEpoch>& curves) {
  return seen_until(p, curves, [](bool) { return false; });
}
std::optional<std::int64_t> ended_early(const Problem& p,
                                        const std::vector<solvers::FitEpoch>& curves) {
  bool ended = false;
  const auto s = seen_until(p, curves, [&](bool over) { return ended = over; });
  return ended ? std::optional(s.epoch) : std::nullopt;
}

solvers::FitEnd train(const Problem& p, State& s, const solvers::GoOn<Network>& go_on) {
  const auto loss = [&p](const Network& net, const Batch& b) { return training_loss(p, net, b); };
  const auto judge = [&p](const Network& net, const Batch& b) {
    return validation_loss(p, net, b);
  };
  const auto samples_of = [&](const std::vector<std::int64_t>& which) {
    return which.empty() ? solvers::Samples<Pairs>() : solvers::in_memory(prepared(p, which));
  };
  return solvers::fit(loss, judge, s, samples_of(p.split.train), samples_of(p.split.validation),
                      fit_options(p), go_on);
}

}  // namespace tessera::apps::training
