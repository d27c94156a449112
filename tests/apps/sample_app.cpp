// SPDX-License-Identifier: Apache-2.0
// A small app for the tests of the command: sums 1/k^2 term by term, reads one text file, and can
// be told to end in every way an app can end. Linked with the command into the program
// tessera_sample.
#include "support/app.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/data/text_file.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <new>
#include <thread>

namespace {

using namespace tessera;
using namespace tessera::apps;
using data::ExitCode;

enum class Ending {
  finish,
  not_converged,
  blow_up,
  fault,
  bad_input,
  no_memory,
  too_large,
  no_tensor,
  signal
};
enum class PartKind { rod, disc };
struct Part {
  PartKind kind = PartKind::rod;
  double length_m = 1, radius_m = 1;
};
struct Sample {
  std::vector<Part> parts;
  std::int64_t terms = 100;
  double pause_s = 0;
  double scale = 1;
  std::optional<std::filesystem::path> input;
  Ending ending = Ending::finish;
  double memory_bytes = 1e6;
  double slope_error = 0, transpose_error = 0;
};

const data::Options<Sample>& options() {
  static const auto table = [] {
    data::Options<Part> part("part", "A part, which does nothing");
    part.add_kind("kind", &Part::kind, {.doc = "What it is", .choices = {"rod", "disc"}})
        .add("length", &Part::length_m,
             {.doc = "Its length", .unit = "m", .above = 0, .required = true, .only_for = {"rod"}})
        .add("radius", &Part::radius_m,
             {.doc = "Its radius", .unit = "m", .above = 0, .only_for = {"disc"}});
    data::Options<Sample> o("demo.sample", "A sum, for the tests of the command");
    o.add("sum.terms", &Sample::terms, {.doc = "How many terms are summed", .min = 1, .max = 1e9})
        .add("sum.pause", &Sample::pause_s, {.doc = "Rest after each term", .unit = "ms", .min = 0})
        .add("sum.scale", &Sample::scale,
             {.doc = "Length that each term is multiplied with", .unit = "m", .above = 0})
        .add("data.input", &Sample::input, {.doc = "A text file that is read"})
        .add("ending", &Sample::ending,
             {.doc = "How the run ends",
              .choices = {"finish", "not_converged", "blow_up", "fault", "bad_input", "no_memory",
                          "too_large", "no_tensor", "signal"}})
        .add("memory", &Sample::memory_bytes, {.doc = "Bytes that the estimate claims", .min = 0})
        .add("slope_error", &Sample::slope_error,
             {.doc = "Relative error that the derivatives claim to have"})
        .add("transpose_error", &Sample::transpose_error, {.doc = "The same of reverse mode alone"})
        .add_tables("part", &Sample::parts, part, {.doc = "Parts", .max_items = 3});
    return o;
  }();
  return table;
}

/// The options, and what is wrong with the file.
struct SampleCase {
  Sample options;
  std::vector<data::Diagnostic> findings;
};

CheckReport check(const SampleCase& c) {
  return {.findings = c.findings,
          .lines = {std::to_string(c.options.terms) + " terms"},
          .can_go_on = true};
}

Estimate estimate(const Sample& s) {
  return {.memory_bytes = {{"terms", static_cast<std::uint64_t>(s.memory_bytes)}},
          .disk_bytes = 1000,
          .seconds = 0.5,
          .notes = {"a note"}};
}

ExitCode run(RunContext& c, const Sample& s) {
  if (s.ending == Ending::fault) throw std::runtime_error("a bug");
  if (s.ending == Ending::no_memory) throw std::bad_alloc();
  if (s.ending == Ending::too_large)
    throw data::InputError({.number = 655, .place = {"c.toml"}, .message = "too many cells"},
                           ExitCode::would_not_fit);
  if (s.ending == Ending::no_tensor) {
    set_memory_limit(1);
    (void)zeros({1 << 20});
  }
  if (s.ending == Ending::bad_input)
    throw data::InputError({.number = 101, .place = {"late.txt"}, .message = "gone"});
  std::int64_t k = 0;
  double sum = 0;
  if (const auto loaded = data::load_newest_checkpoint(c.folder.checkpoints())) {
    data::check_resumable(loaded->checkpoint, c.manifest, {});
    k = loaded->checkpoint.scalar<std::int64_t>("k");
    sum = loaded->checkpoint.scalar<double>("sum");
    c.log.info("goes on at term " + std::to_string(k));
  }
  const auto save = [&] {
    data::Checkpoint ckpt{.app = "demo.sample",
                          .step = static_cast<std::uint64_t>(k),
                          .config_sha256 = c.manifest.config_sha256};
    ckpt.put("k", k);
    ckpt.put("sum", sum);
    data::write_checkpoint(c.folder.checkpoints(), ckpt, c.options.keep_checkpoints);
  };
  data::Periodic periodic(c.options.checkpoint_every_s);
  while (k < s.terms) {
    ++k;
    sum += s.scale / (static_cast<double>(k) * static_cast<double>(k));
    if (s.pause_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(s.pause_s));
    const bool asked = c.stop.poll() != data::StopReason::none;
    if (asked || periodic.due()) save();
    if (asked) return ExitCode::stopped_resumable;
  }
  c.folder.write_text("sum.txt", data::number_text(sum) + "\n");
  c.manifest.metrics.emplace_back("sum", sum);
  if (s.ending == Ending::signal) std::raise(SIGTERM);  // as results are written
  if (s.ending == Ending::not_converged) return ExitCode::not_converged;
  if (s.ending == Ending::blow_up) return ExitCode::blow_up;
  return ExitCode::ok;
}

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed) {
  std::ofstream(dir / "input.txt") << "seed " << seed << "\n";
  std::ofstream(dir / "case.toml") << "app = \"demo.sample\"\ndata.input = \"input.txt\"\n";
  return dir / "case.toml";
}

std::vector<std::filesystem::path> plot(const std::filesystem::path& run_dir) {
  std::ofstream(run_dir / "plots.txt") << data::read_file(run_dir / "sum.txt", 1 << 10);
  return {run_dir / "plots.txt"};
}

/// sum sin(x_k) and x^3; the slope of the sine is wrong by as much as the case says.
Derivatives derivatives(const Sample& s) {
  const double forward = 1 + s.slope_error, reverse = forward * (1 + s.transpose_error);
  const auto times = [](double factor) {
    return [=](const std::vector<Tensor>& t) { return std::vector<Tensor>{factor * t[0]}; };
  };
  const FlatFunction sine = custom_jvp(
      [](const std::vector<Tensor>& x) { return std::vector<Tensor>{sin(x[0])}; },
      [along = custom_linear(times(forward), times(reverse))](
          const std::vector<Tensor>& x, const std::vector<Tensor>&, const std::vector<Tensor>& t) {
        return std::vector<Tensor>{cos(x[0]) * along(t)[0]};
      });
  return {.parameters = {{"x", tensor({0.3, -1.2, 2.0}), full({3}, 0.1)}},
          .results = {"sine", "cube"},
          .values =
              [=](const std::vector<Tensor>& p) {
                return std::vector<Tensor>{sum(sine({p[0]})[0]), p[0] * p[0] * p[0]};
              },
          .lines = {"three numbers"},
          .left_out = {"everything else"}};
}

PreparedCase prepare(const AppContext& context) {
  SampleCase c{options().read(context.config), {}};
  if (c.options.input) {
    try {
      data::read_text_file(*c.options.input);
    } catch (const data::InputError& e) {
      c.findings = e.findings();
    }
  }
  return {.inputs = data::inputs_read(),
          .check = [c] { return check(c); },
          .estimate = [c] { return estimate(c.options); },
          .run = [c](RunContext& to) { return run(to, c.options); },
          .derivatives = [c] { return derivatives(c.options); }};
}

App sample() {
  return {.summary = "A sum, for the tests",
          .options = options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = plot,
          .derivatives = true,
          .may_change = {"ending"}};
}

}  // namespace

const std::vector<tessera::apps::AppEntry>& tessera::apps::app_table() {
  static const std::vector<AppEntry> table = {{"demo.sample", sample}};
  return table;
}
