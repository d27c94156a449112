// SPDX-License-Identifier: Apache-2.0
// The app solvers.training: a table of designs and responses goes in, a network with its error
// comes out.
#include "support/app.h"

#include "solvers/fitting/fit_state.h"
#include "solvers/training/augment.h"
#include "solvers/training/estimate.h"
#include "solvers/training/example.h"
#include "solvers/training/predict.h"
#include "solvers/training/results.h"
#include "solvers/training/run.h"
#include "solvers/training/start.h"
#include "solvers/training/steps.h"
#include "tessera/autodiff/nn/sequential.h"
#include "tessera/data/checkpoint.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::apps::training {
namespace {

CheckReport check_training(const Problem& p) {
  const Options& o = p.options;
  CheckReport r;
  r.lines = {fmt::format("{} samples: {} to train on, {} for validation, {} for the test",
                         p.samples.count(), p.split.train.size(), p.split.validation.size(),
                         p.split.test.size()),
             fmt::format("a sample is {}, the network gives {}: {} weights",
                         to_string(sample_shape(p.samples.inputs)), to_string(p.model.output),
                         p.model.weights()),
             fmt::format("{} epochs of {} steps of {} samples", o.training.epochs, p.steps(),
                         o.training.batch)};
  r.lines.insert(r.lines.end(), p.start.begin(), p.start.end());
  return r;
}

std::vector<data::Diagnostic> against(const data::Config& config, const Problem& p,
                                      const data::Checkpoint& from) {
  const TrainingOptions& o = p.options.training;
  const auto epoch = from.scalar<std::int64_t>("epoch"), step = from.scalar<std::int64_t>("step");
  if (o.epochs < epoch || (o.epochs == epoch && step > 0))
    return {config.error(
        436, "training.epochs",
        fmt::format("the training is at epoch {} already, past {}", epoch + 1, o.epochs),
        "an end further off")};
  const bool by_end =
      o.schedule.kind == RateCurve::cosine || o.schedule.kind == RateCurve::one_cycle;
  const auto total = from.scalar<std::int64_t>("epochs");
  if (by_end && total != o.epochs)
    return {config.error(436, "training.epochs",
                         fmt::format("the rate of the steps so far was made for {} epochs", total),
                         "a new run, or a schedule that does not know its end, such as constant")};
  if (const auto ended = ended_early(p, fitting::curves_in(from));
      ended && (*ended < epoch || step > 0))
    return {config.error(436, "training.early_stopping",
                         fmt::format("a run with it ends with epoch {}, and the training is at "
                                     "epoch {} already",
                                     *ended, epoch + (step > 0)),
                         "a new run, or more patience")};
  return {};
}

/// Each [[training.leaf]] names leaves, and some are left to learn.
void check_leaves(const data::Config& config, const Problem& p) {
  const LeafNames names = leaf_names(p.model.network);
  const auto& leaves = p.options.training.leaves;
  const auto at = [&](const std::string& key, const std::string& hint, const auto& ask) {
    try {
      ask();
    } catch (const Error& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(674, key, e.what(), hint)});
    }
  };
  for (std::size_t k = 0; k < leaves.size(); ++k)
    at("training.leaf[" + std::to_string(k) + "].names", data::nearest_hint(leaves[k].names, names),
       [&] { solvers::leaves_named(leaves[k].names, names); });
  at("training.leaf", "", [&] { solvers::leaf_groups(names, fit_options(p).rules); });
}

/// Batch norm of samples of one place takes two of them at least in each part of a batch.
void check_batch_norms(const data::Config& config, const Problem& p) {
  if (!p.model.network.has_running_norms()) return;
  const TrainingOptions& o = p.options.training;
  const auto n = static_cast<std::int64_t>(p.split.train.size());
  std::int64_t least = n;
  for (const std::int64_t batch : {std::min(o.batch, n), n % o.batch})
    if (batch > 0) least = std::min(least, batch / std::min(o.parts, batch));
  if (least > 1) return;
  const auto layers = layers_of(p.options.network, p.model.sample, p.model.output, config);
  const std::vector<Shape> shapes = nn::shapes_of(layers, p.model.sample);
  for (std::size_t k = 0; k < layers.size(); ++k)
    if (layers[k].kind == nn::LayerKind::batch_norm && shapes[k].count() == shapes[k].back())
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(671, "training.batch",
                        fmt::format("of {} samples some batch or part has one alone, and layer {} "
                                    "(batch_norm) takes two at least",
                                    n, k),
                        "another batch, or fewer parts")});
}

PreparedCase prepare(const AppContext& context) {
  const data::Config& config = context.config;
  const auto p = std::make_shared<Problem>();
  p->options = read_options(config);
  p->samples = read_samples(p->options);
  p->split = split_of(p->samples, p->options, config);
  p->model = make_model(p->options, p->samples, p->split.train, config);
  check_augment(p->options.augment, p->model.sample, config);
  if (const auto& from = p->options.training.start_from)
    p->start = start_from(p->model.network, *from);
  if (2 * p->samples.classes > p->samples.count())
    p->start.push_back(
        fmt::format("{} labels are of {} classes: numbers are learnt by another training.loss",
                    p->samples.count(), p->samples.classes));
  check_leaves(config, *p);
  check_batch_norms(config, *p);
  p->inputs = data::inputs_read();
  return {
      .precision = p->options.training.precision == Precision::f32 ? "f32" : "f64",
      .inputs = p->inputs,
      .check = [p] { return check_training(*p); },
      .estimate = [p] { return estimate_training(*p); },
      .run = [p](RunContext& to) { return run_training(to, *p); },
      .against = [&config, p](const data::Checkpoint& from) { return against(config, *p, from); }};
}

}  // namespace

App app() {
  return {.summary = "networks that learn from tables and arrays: surrogates and classifiers",
          .options = options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot =
              [](const std::filesystem::path& run) {
                const data::Config config = data::read_config(run / "resolved.toml");
                return draw(run, read_drawn(run), read_options(config).title);
              },
          .predict = predict,
          .may_change = {"training.epochs", "training.early_stopping", "training.loaders",
                         "training.workers", "output", "title", "expect"}};
}

}  // namespace tessera::apps::training
