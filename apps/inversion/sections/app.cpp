// SPDX-License-Identifier: Apache-2.0
// The app inversion.sections: a recipe goes in, sections of the earth drawn by chance come out.
#include "support/app.h"

#include "inversion/section_file/section_file.h"
#include "inversion/sections/draw.h"
#include "inversion/sections/options.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/data/windows.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace tessera::apps::sections {
namespace {

namespace fs = std::filesystem;

Type type_of(const SectionsOptions& o) {
  return {Dtype::f32, {o.count, o.geology.rows, o.geology.columns}};
}
std::size_t cells_of(const SectionsOptions& o) {
  return static_cast<std::size_t>(o.geology.rows * o.geology.columns);
}
/// So many are drawn and written at once: 4 MB, or one.
Index at_once(const SectionsOptions& o) {
  return std::max<Index>(1, (Index{1} << 20) / static_cast<Index>(cells_of(o)));
}

/// Sections first, ..., end - 1, a thread each.
Tensor drawn(const SectionsOptions& o, Index first, Index end) {
  std::vector<float> all(static_cast<std::size_t>(end - first) * cells_of(o));
  parallel_chunks(end - first, [&](std::int64_t k) {
    const std::vector<float> one =
        inversion::draw_section(o.geology, {o.seed, static_cast<std::uint64_t>(first + k)});
    std::copy(one.begin(), one.end(), all.begin() + k * std::ssize(one));
  });
  return from_span<float>(all, {end - first, o.geology.rows, o.geology.columns});
}

/// A row for each section: how often each event happened, and the number of its layers.
std::string events_table(const SectionsOptions& o) {
  std::vector<std::string> columns{"section"};
  for (std::size_t k = 0; k < o.geology.events.size(); ++k)
    columns.push_back(fmt::format("{}_{}", k, inversion::name_of(o.geology.events[k].kind)));
  data::CsvTable t(columns);
  for (std::int64_t k = 0; k < o.count; ++k) {
    t.add(static_cast<double>(k));
    for (const int n : inversion::times_of(o.geology, {o.seed, static_cast<std::uint64_t>(k)}))
      t.add(static_cast<double>(n));
    t.end_row();
  }
  return t.text();
}

CheckReport check(const SectionsOptions& o) {
  CheckReport report;
  report.lines.push_back(fmt::format("{} sections of {} x {} cells, {:.3g} MB", o.count,
                                     o.geology.rows, o.geology.columns,
                                     4e-6 * static_cast<double>(type_of(o).shape.count())));
  for (const inversion::Event& e : o.geology.events)
    report.lines.push_back(fmt::format(
        "{:<13} {}{}{}", inversion::name_of(e.kind), e.count[0],
        e.count[1] > e.count[0] ? fmt::format(" to {}", e.count[1]) : "",
        e.probability < 1 ? fmt::format(" in {:.3g} % of the sections", 100 * e.probability) : ""));
  return report;
}

Estimate estimate(const SectionsOptions& o, const RunOptions& run) {
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  std::uint64_t tried = 0;
  while (seconds < 0.2 && tried < static_cast<std::uint64_t>(o.count)) {
    (void)inversion::draw_section(o.geology, {o.seed, tried++});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto bytes = static_cast<std::uint64_t>(type_of(o).shape.count()) * 4;
  const auto batch = static_cast<std::uint64_t>(at_once(o)) * cells_of(o) * 4;
  const std::uint64_t table =
      static_cast<std::uint64_t>(o.count) * (12 + 4 * o.geology.events.size());
  return {.memory_bytes = {{"program", 80u << 20},
                           {"sections at once", 3 * batch + (64u << 20)},
                           {"table of events", table}},
          .disk_bytes = bytes + table + (1u << 20),
          .seconds = seconds / static_cast<double>(tried) * static_cast<double>(o.count) /
                         thread_count(run) +
                     2e-9 * static_cast<double>(bytes),
          .notes = {fmt::format("{} sections were drawn for it", tried)}};
}

/// Draws from section `next` on into RUN/sections.h5.partial; true: all are there.
bool draw_all(RunContext& to, const SectionsOptions& o) {
  const fs::path file = to.folder.path() / section_file::kFile;
  const Type type = type_of(o);
  Index next = 0;
  std::error_code none;
  if (auto loaded = data::load_newest_checkpoint(to.folder.checkpoints())) {
    for (const auto& w : loaded->warnings) to.log.warning(data::to_string(w));
    data::check_resumable(loaded->checkpoint, to.manifest, {});
    next = static_cast<Index>(loaded->checkpoint.step);
    if (fs::exists(file, none)) return true;
    if (!fs::exists(fs::path(file) += ".partial", none)) next = 0;
    to.log.info(fmt::format("going on at section {} of {}", next, o.count));
  }
  if (next == 0) {
    fs::remove(file, none);  // of a run that this one replaces
    section_file::create(file, type, o.geology.aspect);
  }
  data::BoxFile out(file, section_file::kDataset);
  data::Progress progress({.style = to.progress_style,
                           .phase = "draw",
                           .unit = "sections",
                           .total = static_cast<std::uint64_t>(o.count),
                           .already_done = static_cast<std::uint64_t>(next),
                           .heartbeat = to.folder.heartbeat_json()});
  const auto save = [&] {
    out.sync();
    data::write_checkpoint(to.folder.checkpoints(),
                           {.app = "inversion.sections",
                            .step = static_cast<std::uint64_t>(next),
                            .config_sha256 = to.manifest.config_sha256},
                           to.options.keep_checkpoints);
  };
  data::Periodic periodic(to.options.checkpoint_every_s);
  while (next < o.count) {
    if (to.stop.poll() != data::StopReason::none) {
      save();
      progress.finish("stopped");
      return false;
    }
    if (periodic.due()) save();
    const Index end = std::min(o.count, next + at_once(o));
    out.write({{next, 0, 0}, {end, o.geology.rows, o.geology.columns}}, drawn(o, next, end));
    next = end;
    progress.update(static_cast<std::uint64_t>(next));
  }
  save();
  data::commit_boxes(file);
  progress.finish();
  return true;
}

data::ExitCode run(RunContext& to, const SectionsOptions& o) {
  set_num_threads(to.manifest.threads);
  to.manifest.seeds = {o.seed};
  if (!draw_all(to, o)) return data::ExitCode::stopped_resumable;
  data::write_file_atomically(to.folder.path() / "events.csv", events_table(o));
  const Summary s = summary_of(to.folder.path());
  draw(to.folder.path(), s);
  data::MetricsFile metrics(to.folder.metrics_csv(), {"sections", "mean", "deviation"});
  metrics.row(std::vector<double>{static_cast<double>(s.count), s.mean, s.deviation});
  metrics.sync();
  to.manifest.metrics = {
      {"sections", static_cast<double>(s.count)}, {"mean", s.mean}, {"deviation", s.deviation}};
  to.log.info(fmt::format("{} sections, log10 of the resistivity {:.3f} +- {:.3f} over all cells",
                          s.count, s.mean, s.deviation));
  bool met = true;
  const auto expect = [&](bool holds, const char* what, double bound) {
    if (holds) return;
    met = false;
    to.log.error(
        fmt::format("the case expects a mean of at {} {:g}, it is {:.6g}", what, bound, s.mean));
  };
  if (o.expect_mean_min) expect(s.mean >= *o.expect_mean_min, "least", *o.expect_mean_min);
  if (o.expect_mean_max) expect(s.mean <= *o.expect_mean_max, "most", *o.expect_mean_max);
  return met ? data::ExitCode::ok : data::ExitCode::not_converged;
}

PreparedCase prepare(const AppContext& context) {
  const auto o = std::make_shared<const SectionsOptions>(read_options(context.config));
  return {.precision = "float32",
          .check = [o] { return check(*o); },
          .estimate = [o, run = context.options] { return estimate(*o, run); },
          .run = [o](RunContext& to) { return run(to, *o); }};
}

std::filesystem::path make_example(const fs::path& dir, std::uint64_t seed) {
  data::write_file_atomically(
      dir / "sections.toml",
      fmt::format(
          R"(# Sections of the earth drawn by chance, for a prior to learn from. Events come in the order of
# time; lengths are parts of the region. `tessera explain event.throw` and the like say more.
app = "inversion.sections"
seed = {}

[region]
rows = 32
columns = 64
aspect = 4                          # width over depth
resistivity = ["0.3 ohm*m", "30000 ohm*m"]

[sections]
count = 200

[[event]]
kind = "layers"
count = [3, 8]

[[event]]
kind = "fold"
probability = 0.4

[[event]]
kind = "fault"
probability = 0.5
count = [1, 3]
dip = ["50 deg", "90 deg"]
throw = [-0.1, 0.25]                # thrusts, and more often normal faults

[[event]]
kind = "intrusion"
probability = 0.4
resistivity = ["300 ohm*m", "10000 ohm*m"]
z = [0.4, 1.1]

[[event]]
kind = "basin"
probability = 0.4
resistivity = ["1 ohm*m", "50 ohm*m"]
width = [0.2, 0.6]
height = [0.05, 0.3]

[[event]]
kind = "block"
probability = 0.2

[[event]]
kind = "random_field"
probability = 0.6
amplitude = [0.02, 0.15]
)",
          seed));
  return dir / "sections.toml";
}

}  // namespace

App app() {
  return {.summary =
              "Sections of the earth drawn by chance: layers, folds, faults, intrusions, "
              "basins, blocks and random fields, for priors to learn from",
          .options = sections_options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = [](const fs::path& run) { return draw(run, summary_of(run)); },
          .may_change = {"expect"}};
}

}  // namespace tessera::apps::sections
