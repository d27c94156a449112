// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/run.h"

#include "solvers/fitting/fit_state.h"
#include "solvers/training/results.h"
#include "solvers/training/steps.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::training {
namespace {

std::vector<std::string> columns_of(const Options& o) {
  std::vector<std::string> c{"epoch", "loss", "validation", "rate_factor"};
  for (const std::string& m : metric_names(o)) c.push_back("validation_" + m);
  return c;
}
std::vector<double> row_of(const Options& o, std::size_t epoch, const solvers::FitEpoch& e) {
  std::vector<double> row{static_cast<double>(epoch + 1), e.loss, e.validation, e.rate_factor};
  for (const double m : written(o, e.metrics)) row.push_back(m);
  return row;
}

/// What the case expects of the last part; false where it is not so.
bool meets(const ExpectOptions& e, const Judged& j, data::Log& log) {
  bool met = true;
  const auto expect = [&](const char* what, double found, std::optional<double> bound, bool most) {
    if (!bound || (most ? found <= *bound : found >= *bound)) return;
    met = false;
    log.error(fmt::format("{} of the {} set is {:.6g}, expected {} {:.6g}: NOT MET", what, j.part,
                          found, most ? "at most" : "at least", *bound));
  };
  expect("the relative L2 error", j.real.relative_l2, e.relative_l2_max, true);
  expect("the root mean square error", j.real.rmse, e.rmse_max, true);
  expect("R^2", j.real.r2, e.r2_min, false);
  expect("the accuracy", j.labels.accuracy, e.accuracy_min, false);
  return met;
}

std::string told(const Judged& j, bool labels) {
  if (labels)
    return fmt::format("{}: accuracy {:.2f} % of {} samples", j.part, 100 * j.labels.accuracy,
                       j.samples.size());
  return fmt::format(
      "{}: relative L2 {:.3g} %, RMSE {:.4g}, R^2 {:.5f}, largest error {:.4g}; {} samples", j.part,
      100 * j.real.relative_l2, j.real.rmse, j.real.r2, j.real.largest, j.samples.size());
}

data::ExitCode finish(RunContext& context, Problem& p, const State& s) {
  const auto& folder = context.folder.path();
  save_model(p.model, folder / "last.safetensors");
  p.model.network = s.best;
  save_model(p.model, folder / "weights.safetensors");
  context.log.info(save_onnx(p.model, sample_shape(p.samples.inputs), folder / "weights.onnx"));
  const Results r{.curves = s.curves, .best_epoch = s.best_epoch, .parts = judge(p)};
  write_results(folder, r, p);
  if (p.options.output.pictures) draw(folder, drawn_of(r, p), p.options.title);
  for (const Judged& j : r.parts) context.log.info(told(j, p.options.classifies()));
  const Judged& last = r.parts.back();
  context.manifest.metrics = {{"epochs", static_cast<double>(s.epoch)},
                              {"best_epoch", static_cast<double>(s.best_epoch + 1)}};
  auto& m = context.manifest.metrics;
  if (p.options.classifies())
    m.emplace_back(last.part + "_accuracy", last.labels.accuracy);
  else
    m.insert(m.end(), {{last.part + "_relative_l2", last.real.relative_l2},
                       {last.part + "_rmse", last.real.rmse},
                       {last.part + "_r2", last.real.r2}});
  return meets(p.options.expect, last, context.log) ? data::ExitCode::ok
                                                    : data::ExitCode::not_converged;
}

}  // namespace

data::ExitCode run_training(RunContext& context, Problem& p) {
  const Options& o = p.options;
  context.manifest.seeds = {o.training.seed, o.split.seed};
  context.log.info(fmt::format(
      "{} weights; {} samples to train on, {} for validation, {} for the test", p.model.weights(),
      p.split.train.size(), p.split.validation.size(), p.split.test.size()));

  State s = solvers::begin_fit(p.model.network, fit_options(p));
  std::optional<data::MetricsFile> metrics;
  if (auto loaded = data::load_newest_checkpoint(context.folder.checkpoints())) {
    for (const auto& w : loaded->warnings) context.log.warning(data::to_string(w));
    const data::Checkpoint& c = loaded->checkpoint;
    data::check_resumable(c, context.manifest, p.inputs);
    fitting::load_state(c, s);
    s.stopping = stopping_after(p, s.curves);  // early_stopping may be another one now
    metrics.emplace(context.folder.metrics_csv(), columns_of(o),
                    c.scalar<std::uint64_t>("metrics_bytes"));
    context.log.info(fmt::format("going on from {} in epoch {}, step {}",
                                 loaded->path.filename().string(), s.epoch + 1, s.step));
  } else {
    for (const std::string& line : p.start) context.log.info(line);
    metrics.emplace(context.folder.metrics_csv(), columns_of(o));
  }
  const auto done = [&](const State& now) {
    return static_cast<std::uint64_t>(now.epoch * p.steps() + now.step);
  };
  data::Progress progress({.style = context.progress_style,
                           .phase = "training",
                           .unit = "steps",
                           .total = static_cast<std::uint64_t>(o.training.epochs * p.steps()),
                           .already_done = done(s),
                           .heartbeat = context.folder.heartbeat_json()});
  std::size_t rows = s.curves.size();
  const auto note = [&](const State& now) {
    for (; rows < now.curves.size(); ++rows) metrics->row(row_of(o, rows, now.curves[rows]));
    if (now.curves.empty()) return progress.update(done(now));
    const solvers::FitEpoch& e = now.curves.back();
    progress.update(done(now), {{"epoch", static_cast<double>(now.epoch)},
                                {"loss", e.loss},
                                {"validation", e.validation}});
  };
  const auto save = [&](const State& now) {
    data::Checkpoint c;
    c.app = "solvers.training";
    c.step = done(now);
    c.config_sha256 = context.manifest.config_sha256;
    c.inputs = p.inputs;
    c.put("metrics_bytes", metrics->sync());
    c.put("epochs", o.training.epochs);
    fitting::save_state(now, c);
    data::write_checkpoint(context.folder.checkpoints(), c, context.options.keep_checkpoints);
  };
  data::Periodic periodic(context.options.checkpoint_every_s);
  solvers::FitEnd end = train(p, s, [&](const State& now) {
    note(now);
    if (periodic.due()) save(now);
    return context.stop.poll() == data::StopReason::none;
  });
  for (Index& k : end.samples) k = p.split.train[static_cast<std::size_t>(k)];
  note(s);
  const auto blown_up = [&](const std::string& what) {
    progress.finish("failed");
    context.log.error(what + ": lower training.rate, or give training.clip_norm");
    return data::ExitCode::blow_up;
  };
  if (end.reason == solvers::FitEnd::Reason::not_finite) return blown_up(to_string(end));
  if (end.reason != solvers::FitEnd::Reason::stopped && s.epoch > 0 && s.best_epoch < 0)
    return blown_up("the validation is not finite in any epoch");
  save(s);
  if (end.reason == solvers::FitEnd::Reason::stopped && s.epoch < o.training.epochs) {
    progress.finish("stopped");
    return data::ExitCode::stopped_resumable;
  }
  progress.finish();
  context.log.info(
      fmt::format("{}; best epoch {} of {}", to_string(end), s.best_epoch + 1, s.epoch));
  p.model.network = s.params;
  return finish(context, p, s);
}

}  // namespace tessera::apps::training
