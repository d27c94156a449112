// SPDX-License-Identifier: Apache-2.0
// The app inversion.prior: drawn sections go in, a prior that makes such sections of a few codes
// comes out.
#include "support/app.h"

#include "inversion/prior/flow.h"
#include "inversion/prior/options.h"
#include "inversion/prior/results.h"
#include "inversion/section_file/section_file.h"
#include "inversion/survey/input.h"
#include "solvers/fitting/fit_state.h"
#include "tessera/autodiff/dryrun.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/data/windows.h"
#include "tessera/inversion/geology.h"
#include "tessera/inversion/section_prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace tessera::apps::prior {
namespace {

namespace fs = std::filesystem;
using State = solvers::FitState<inversion::SectionPrior>;

struct PriorCase {
  PriorOptions options;
  BoxSource sections;
  double aspect = 0;  ///< of the region of the sections; 0: their file does not say
  std::vector<data::InputFile> inputs;
  Index train = 0, validation = 0, test = 0;  ///< sections, one part behind the other

  Index cells() const { return sections.type.shape[1] * sections.type.shape[2]; }
  Index steps() const { return (train + options.batch - 1) / options.batch; }
};

PriorCase read_case(const data::Config& config) {
  PriorCase c{.options = prior_options().read(config)};
  const PriorOptions& o = c.options;
  const auto refuse = [&](const char* key, const std::string& what, const std::string& hint) {
    throw data::InputError(data::ExitCode::config_invalid, {config.error(693, key, what, hint)});
  };
  if (o.couplings > 0 && o.codes < 2)
    refuse("network.couplings", "a coupling is between codes, and there is one",
           "network.couplings = 0, or more codes");
  c.sections = data::open_boxes(o.sections, section_file::kDataset);
  c.aspect = section_file::aspect_of(o.sections);
  const Shape& s = c.sections.type.shape;
  if (s.size() != 3 || s.count() == 0 ||
      (c.sections.type.dtype != Dtype::f32 && c.sections.type.dtype != Dtype::f64))
    refuse("data.sections",
           fmt::format("{}: log10_resistivity is {}, not [section, row, column] of real numbers",
                       o.sections.string(), to_string(c.sections.type)),
           "sections.h5 of inversion.sections");
  if (s[1] < 4 || s[2] < 4)
    refuse("data.sections",
           fmt::format("sections of {} x {} cells: from 4 x 4 on one sees how far errors reach",
                       s[1], s[2]),
           "sections of more rows and columns");
  const auto part = [&](double share) {
    return std::max<Index>(1, static_cast<Index>(std::lround(share * static_cast<double>(s[0]))));
  };
  c.validation = part(o.validation), c.test = part(o.test), c.train = s[0] - c.validation - c.test;
  if (c.train < o.batch)
    refuse("training.batch",
           fmt::format("a batch of {} sections, and {} to learn from", o.batch,
                       std::max<Index>(0, c.train)),
           "more sections, or a smaller batch");
  for (int d = 1; d < 3; ++d)
    if (s[d] % (Index{1} << o.widths.size()) != 0)
      refuse(
          "network.widths",
          fmt::format("{} levels halve {} {} times, which leaves no whole number", o.widths.size(),
                      d == 1 ? fmt::format("{} rows", s[1]) : fmt::format("{} columns", s[2]),
                      o.widths.size()),
          "fewer levels, or sections of another size");
  c.inputs = data::inputs_read();
  return c;
}

/// Sections by number, each read where it lies in the file.
solvers::Samples<Tensor> samples_of(const PriorCase& c, Index first, Index count) {
  return {
      count, [&c, first](std::span<const Index> which) {
        const Shape& s = c.sections.type.shape;
        const auto cells = static_cast<std::size_t>(c.cells());
        std::vector<float> all(which.size() * cells);
        for (std::size_t k = 0; k < which.size(); ++k) {
          const Index n = first + which[k];
          const Tensor one = cast(c.sections.read({{n, 0, 0}, {n + 1, s[1], s[2]}}), Dtype::f32);
          std::memcpy(all.data() + k * cells, one.view().data, cells * sizeof(float));
        }
        return from_span<float>(std::span<const float>(all), {std::ssize(which), s[1], s[2]});
      }};
}

struct Spread {
  double mean = 0, deviation = 0;   ///< of all cells to learn from
  std::optional<Index> not_finite;  ///< the first section of the file, of any part, that is not
};

/// A number counts as finite where it is so in single precision, in which priors are learnt.
Spread spread_of(const PriorCase& c) {
  const Shape& s = c.sections.type.shape;
  const Index at_once = std::max<Index>(1, (Index{1} << 22) / c.cells());
  double sum = 0, squares = 0;
  for (Index k = 0, end = 0; k < s[0]; k = end) {
    end = std::min(k + at_once, k < c.train ? c.train : s[0]);
    const Tensor x = cast(c.sections.read({{k, 0, 0}, {end, s[1], s[2]}}), Dtype::f64);
    const std::vector<double> all = x.to_vector<double>();
    const auto bad = std::find_if_not(all.begin(), all.end(), [](double v) {
      return std::abs(v) <= std::numeric_limits<float>::max();
    });
    if (bad != all.end()) return {.not_finite = k + (bad - all.begin()) / c.cells()};
    if (k < c.train) sum += tessera::sum(x).item(), squares += tessera::sum(square(x)).item();
  }
  const double n = static_cast<double>(c.train) * static_cast<double>(c.cells()), mean = sum / n;
  return {.mean = mean, .deviation = std::sqrt(std::max(squares / n - mean * mean, 0.0))};
}

inversion::SectionPrior begun(const PriorCase& c, double centre, double scale) {
  const PriorOptions& o = c.options;
  const Shape& s = c.sections.type.shape;
  return inversion::section_prior(random_key(o.seed),
                                  {.section = {s[1], s[2]},
                                   .widths = {o.widths.begin(), o.widths.end()},
                                   .codes = o.codes,
                                   .noise = o.noise},
                                  centre, scale);
}
solvers::FitOptions fit_options(const PriorCase& c) {
  const PriorOptions& o = c.options;
  return {.epochs = o.epochs,
          .batch = o.batch,
          .seed = o.seed,
          .loaders = 1,
          .rate = cosine_rate(o.rate, o.epochs * c.steps()),
          .rules = inversion::frozen_leaves()};
}
std::size_t weights_of(const inversion::SectionPrior& p) {
  std::size_t n = 0;
  for (const Tensor& leaf : flatten_tree(p.net)) n += static_cast<std::size_t>(leaf.size());
  return n;
}

/// Standard deviations of cells are known to a tenth from 50 sections.
constexpr Index enough_to_test = 50;

CheckReport check(const PriorCase& c, const data::Config& config) {
  const Shape& s = c.sections.type.shape;
  std::vector<data::Diagnostic> findings;
  if (c.test < enough_to_test) {
    findings.push_back(config.error(
        695, "data.test",
        fmt::format("{} sections are held out: bands and doubts of sections with this prior come "
                    "from what they show, and want {} at least",
                    c.test, enough_to_test),
        fmt::format(
            "more sections, or data.test = {:.2g}",
            std::min(0.5, static_cast<double>(enough_to_test) / static_cast<double>(s[0])))));
    findings.back().severity = data::Severity::warning;
  }
  const survey::IsChosen chosen = survey::chosen_in(config, prior_options());
  for (const char* key : {"network.flow_width", "training.flow_epochs"})
    if (c.options.couplings == 0 && chosen(key))
      survey::doubt_in_vain(config, 693, key, "without network.couplings", findings);
  return {
      .findings = std::move(findings),
      .lines = {
          fmt::format(
              "{} sections of {} x {} cells: {} to learn from, {} for validation, {} for the test",
              s[0], s[1], s[2], c.train, c.validation, c.test),
          fmt::format("{} weights, {} codes", weights_of(begun(c, 0, 1)), c.options.codes)}};
}

Estimate estimate(const PriorCase& c, const RunOptions& run) {
  set_num_threads(thread_count(run));
  const inversion::SectionPrior p = begun(c, 0, 1);
  const Shape& s = c.sections.type.shape;
  const auto step = [](const inversion::SectionPrior& q, const solvers::Batch<Tensor>& b) {
    return value_and_grad([&](const nn::ConvVae& net) {
      inversion::SectionPrior now = q;
      now.net = net;
      return inversion::training_loss(now, b).first;
    })(q.net);
  };
  const solvers::Batch<Tensor> batch{stand_in({Dtype::f32, {c.options.batch, s[1], s[2]}}),
                                     stand_in({Dtype::u32, {c.options.batch, 2}})};
  const DryRun d = dryrun(step, p, batch);
  const auto weights = static_cast<std::uint64_t>(weights_of(p)) * 4;
  return {
      .memory_bytes = {{"program", 80u << 20},
                       {"a step", static_cast<std::uint64_t>(d.peak)},
                       {"weights and moments", 4 * weights}},
      .disk_bytes =
          weights * static_cast<std::uint64_t>(1 + 4 * (1 + run.keep_checkpoints)) + (1u << 20),
      .seconds = 2.5 * d.seconds *
                 static_cast<double>(c.steps() * c.options.epochs),  // the roofline is not reached
      .notes = {fmt::format("{} steps", c.steps() * c.options.epochs)}};
}

data::ExitCode finish(RunContext& to, const PriorCase& c, const State& s) {
  const fs::path& folder = to.folder.path();
  inversion::SectionPrior p = s.best;
  p.aspect = c.aspect;
  double gained = 0;
  if (c.options.couplings > 0) {
    const auto read = [&](Index first, Index end) {
      const Shape& shape = c.sections.type.shape;
      return cast(c.sections.read({{first, 0, 0}, {end, shape[1], shape[2]}}), Dtype::f32);
    };
    auto learnt = learnt_flow(p, c.options, read, c.train, c.validation,
                              [&] { return to.stop.poll() == data::StopReason::none; });
    if (!learnt) return data::ExitCode::stopped_resumable;
    p.flow = std::move(learnt->first);
    const FlowGain& gain = learnt->second;
    to.log.info(
        fmt::format("held-out codes have a log density of {:.3f} each, under N(0, 1) of {:.3f}",
                    -gain.after, -gain.before));
    gained = gain.before - gain.after;
  }
  Results r = judge(p, c.sections, c.train + c.validation, c.train + c.validation + c.test,
                    random_key(c.options.seed + 1));
  if (!std::isfinite(r.rms())) {
    to.log.error("the prior's error on the test is not finite: lower training.rate");
    return data::ExitCode::blow_up;
  }
  const inversion::PriorCalibration calibration{
      tensor(r.cell_error, r.section), r.held_out(),
      inversion::error_length_of(std::pow(r.mean_of_16 / r.rms(), 2))};
  inversion::write_section_prior(folder / "prior.safetensors", p, calibration);
  for (const solvers::FitEpoch& e : s.curves)
    r.loss.push_back(e.loss), r.validation.push_back(e.validation);
  write_results(folder, r);
  if (c.options.pictures) draw(folder, r);
  double norm = 0;
  for (const double n : r.norm) norm += n / static_cast<double>(r.norm.size());
  to.manifest.metrics = {{"epochs", static_cast<double>(s.epoch)},
                         {"best_epoch", static_cast<double>(s.best_epoch + 1)},
                         {"test_error", r.rms()},
                         {"test_norm", norm},
                         {"codes_gain", gained}};
  to.log.info(fmt::format("test: error {:.3f} decades in a cell, mean square of codes {:.3f}",
                          r.rms(), norm));
  if (c.options.expect_error_max && !(r.rms() <= *c.options.expect_error_max)) {
    to.log.error(fmt::format("the case expects an error of at most {:g} decades, it is {:.6g}",
                             *c.options.expect_error_max, r.rms()));
    return data::ExitCode::not_converged;
  }
  return data::ExitCode::ok;
}

data::ExitCode run(RunContext& to, const PriorCase& c) {
  set_num_threads(to.manifest.threads);
  const PriorOptions& o = c.options;
  to.manifest.seeds = {o.seed};
  const std::vector<std::string> columns{"epoch", "loss", "validation", "validation_error",
                                         "validation_norm"};
  std::optional<data::MetricsFile> metrics;
  std::optional<State> state;
  const solvers::FitOptions fit = fit_options(c);
  if (auto loaded = data::load_newest_checkpoint(to.folder.checkpoints())) {
    for (const auto& w : loaded->warnings) to.log.warning(data::to_string(w));
    const data::Checkpoint& from = loaded->checkpoint;
    data::check_resumable(from, to.manifest, c.inputs);
    state = solvers::begin_fit(
        begun(c, from.scalar<double>("centre"), from.scalar<double>("scale")), fit);
    fitting::load_state(from, *state);
    metrics.emplace(to.folder.metrics_csv(), columns, from.scalar<std::uint64_t>("metrics_bytes"));
    to.log.info(fmt::format("going on from {} in epoch {}", loaded->path.filename().string(),
                            state->epoch + 1));
  } else {
    const Spread spread = spread_of(c);
    const double centre = spread.mean, scale = spread.deviation;
    if (spread.not_finite)
      to.log.error(
          fmt::format("{}: section {} of {}, counted from 0, holds a number that is not "
                      "finite",
                      o.sections.string(), *spread.not_finite, c.sections.type.shape[0]));
    else if (!(scale > 0))
      to.log.error("all cells of all sections are alike: there is nothing to learn");
    if (spread.not_finite || !(scale > 0)) return data::ExitCode::input_invalid;
    inversion::SectionPrior p = begun(c, centre, scale);
    state = solvers::begin_fit(p, fit);
    metrics.emplace(to.folder.metrics_csv(), columns);
    to.log.info(
        fmt::format("{} weights, {} codes; {} sections to learn from, log10 of the resistivity "
                    "{:.3f} +- {:.3f}",
                    weights_of(p), o.codes, c.train, centre, scale));
  }
  State& s = *state;
  const auto done = [&](const State& now) {
    return static_cast<std::uint64_t>(now.epoch * c.steps() + now.step);
  };
  data::Progress progress({.style = to.progress_style,
                           .phase = "training",
                           .unit = "steps",
                           .total = static_cast<std::uint64_t>(o.epochs * c.steps()),
                           .already_done = done(s),
                           .heartbeat = to.folder.heartbeat_json()});
  std::size_t rows = s.curves.size();
  const auto note = [&](const State& now) {
    for (; rows < now.curves.size(); ++rows) {
      const solvers::FitEpoch& e = now.curves[rows];
      metrics->row(std::vector<double>{static_cast<double>(rows + 1), e.loss, e.validation,
                                       std::sqrt(e.metrics.at(0)), e.metrics.at(1)});
    }
    if (now.curves.empty()) return progress.update(done(now));
    progress.update(done(now), {{"epoch", static_cast<double>(now.epoch)},
                                {"error", std::sqrt(now.curves.back().metrics.at(0))}});
  };
  const auto save = [&](const State& now) {
    data::Checkpoint k{.app = "inversion.prior",
                       .step = done(now),
                       .config_sha256 = to.manifest.config_sha256,
                       .inputs = c.inputs};
    k.put("metrics_bytes", metrics->sync());
    k.put("centre", now.params.centre), k.put("scale", now.params.scale);
    fitting::save_state(now, k);
    data::write_checkpoint(to.folder.checkpoints(), k, to.options.keep_checkpoints);
  };
  data::Periodic periodic(to.options.checkpoint_every_s);
  const solvers::FitEnd end =
      solvers::fit(inversion::training_loss, inversion::validation_loss, s,
                   samples_of(c, 0, c.train), samples_of(c, c.train, c.validation), fit,
                   solvers::GoOn<inversion::SectionPrior>([&](const State& now) {
                     note(now);
                     if (periodic.due()) save(now);
                     return to.stop.poll() == data::StopReason::none;
                   }));
  note(s);
  const bool stopped = end.reason == solvers::FitEnd::Reason::stopped && s.epoch < o.epochs;
  const bool blown_up = end.reason == solvers::FitEnd::Reason::not_finite;
  if (blown_up || (!stopped && s.best_epoch < 0)) {
    progress.finish("failed");
    to.log.error((blown_up ? to_string(end) : "the validation is not finite in any epoch") +
                 ": lower training.rate");
    return data::ExitCode::blow_up;
  }
  save(s);
  if (stopped) {
    progress.finish("stopped");
    return data::ExitCode::stopped_resumable;
  }
  progress.finish();
  return finish(to, c, s);
}

PreparedCase prepare(const AppContext& context) {
  const auto c = std::make_shared<const PriorCase>(read_case(context.config));
  return {.precision = "float32",
          .inputs = c->inputs,
          .check = [c, config = context.config] { return check(*c, config); },
          .estimate = [c, run = context.options] { return estimate(*c, run); },
          .run = [c](RunContext& to) { return run(to, *c); }};
}

/// Layers and faults on few cells, drawn at once: a prior of a minute.
fs::path make_example(const fs::path& dir, std::uint64_t seed) {
  const inversion::Geology g{.rows = 16,
                             .columns = 32,
                             .aspect = 4,
                             .events = {{.kind = inversion::Event::Kind::layers, .count = {2, 4}},
                                        {.kind = inversion::Event::Kind::fault, .probability = 0.5},
                                        {.kind = inversion::Event::Kind::basin,
                                         .probability = 0.5,
                                         .resistivity_ohm_m = {1, 50}}}};
  constexpr Index n = 2000;
  section_file::create(dir / section_file::kFile, {Dtype::f32, {n, g.rows, g.columns}}, g.aspect);
  data::BoxFile file(dir / section_file::kFile, section_file::kDataset);
  for (Index k = 0; k < n; ++k)
    file.write({{k, 0, 0}, {k + 1, g.rows, g.columns}},
               from_span<float>(std::span<const float>(inversion::draw_section(
                                    g, {seed, static_cast<std::uint64_t>(k)})),
                                {1, g.rows, g.columns}));
  file.sync();
  data::commit_boxes(dir / section_file::kFile);
  data::write_file_atomically(
      dir / "prior.toml",
      fmt::format(
          R"(# A prior of sections of the earth: what makes them of a few codes. sections.h5 holds {} small ones;
# `tessera new inversion.sections` has a recipe for more.
app = "inversion.prior"
seed = {}

[data]
sections = "sections.h5"

[network]
widths = [8, 16, 32]
codes = 32
noise = 0.3

[training]
epochs = 12

[expect]
error_max = 0.6
)",
          n, seed));
  return dir / "prior.toml";
}

}  // namespace

App app() {
  return {.summary =
              "A prior of sections of the earth, learnt from drawn ones: a variational autoencoder "
              "whose codes an inversion can work on",
          .options = prior_options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = [](const fs::path& run) { return draw(run, read_results(run)); },
          .may_change = {"output", "expect"}};
}

}  // namespace tessera::apps::prior
