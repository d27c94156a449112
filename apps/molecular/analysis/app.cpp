// SPDX-License-Identifier: Apache-2.0
// The app molecular.analysis: trajectories go in, what they tell comes out, with error bars.
#include "support/app.h"

#include "molecular/analysis/frames.h"
#include "molecular/analysis/results.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/random.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/molecular/structure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <type_traits>

namespace tessera::apps::analysis {
namespace {

namespace fs = std::filesystem;

/// Options, topology with groups, and the first frame that counts. It refers to itself.
struct AnalysisCase {
  const data::Config& config;
  AnalysisOptions options;
  Input in;
  mol::JoinedFiles files;
  mol::Snapshot first;
  double frame_ps = 1;  ///< between the first two frames that count
  bool one_frame = false;
  double unknown = 0;  ///< part of the time between frames that single precision leaves open

  /// Throws where no frame counts.
  explicit AnalysisCase(const data::Config& config_)
      : config(config_),
        options(read_analysis_options(config)),
        in(read_input(options, config)),
        files(join_files(options, config, in.system.n_atoms())) {
    in.by_number = files.by_number && !options.frames.spacing;
    mol::JoinedFrames begin(files);
    if (!read(begin, first))
      throw data::InputError(
          data::Diagnostic{.number = 743,
                           .place = {options.trajectory.front().string()},
                           .message = "no frame lies within the times of [frames]"},
          data::ExitCode::config_invalid);
    if (mol::Snapshot second; read(begin, second))
      frame_ps = second.frame.time_ps - first.frame.time_ps;
    else
      one_frame = true;
    for (const mol::FileBeginning& b : files.beginnings)
      if (b.step_ps) unknown = std::max(unknown, b.unknown_ps / *b.step_ps);
  }
  AnalysisCase(const AnalysisCase&) = delete;
  AnalysisCase& operator=(const AnalysisCase&) = delete;
  /// The next of the frames that count.
  bool read(mol::JoinedFrames& frames, mol::Snapshot& to) const {
    return keyed([&] { return frames.read(to); });
  }
  void expect_one_run() const {
    keyed([&] { mol::expect_one_run(files); });
  }

 private:
  template <class Work>
  std::invoke_result_t<Work> keyed(Work&& work) const {
    try {
      return work();
    } catch (const mol::JoinError& e) {
      throw at_key(e, options, config);
    }
  }
};

/// What an analysis refuses, such as a density without a box, is asked for in its table of the
/// case.
template <class Work>
auto placed(const data::Config& config, std::size_t analysis, const std::string& hint,
            Work&& work) {
  try {
    return work();
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    throw data::InputError(config.error(743, fmt::format("analysis[{}]", analysis), e.what(), hint),
                           data::ExitCode::config_invalid);
  }
}
std::string frame_of(const mol::Snapshot& s) {
  return fmt::format("in the frame at {:.6g} ps", s.frame.time_ps);
}

/// Refuses to divide a time by one between frames that single precision does not tell to 1 %.
void expect_known_times(const AnalysisCase& c, const std::string& key) {
  for (std::size_t k = 0; k < c.files.files.size(); ++k) {
    const mol::FileBeginning& b = c.files.beginnings[k];
    if (!b.step_ps || b.unknown_ps <= 1e-2 * *b.step_ps) continue;
    throw data::InputError(
        c.config.error(
            743, key,
            fmt::format("the times of {} are in single precision, which at {:.6g} ps does not tell "
                        "the time between its frames: {:.2g} ps, give or take {:.2g} ps",
                        c.files.files[k].filename().string(), *b.first_ps, *b.step_ps,
                        b.unknown_ps),
            "a file with times in double precision, such as .h5md, or more frames"),
        data::ExitCode::config_invalid);
  }
}

/// Times of lags and fits, which frames divide: those that no trajectory of this size reaches are
/// refused, those between frames are told; so are ends of g(r) within a bin.
std::vector<data::Diagnostic> doubts_of_ends(const AnalysisCase& c) {
  std::vector<data::Diagnostic> out;
  const auto doubt = [&](std::size_t k, const char* name, std::string what, const char* remedy) {
    out.push_back(
        c.config.error(743, fmt::format("analysis[{}].{}", k, name), std::move(what), remedy));
    out.back().severity = data::Severity::warning;
  };
  for (std::size_t k = 0; k < c.options.tasks.size(); ++k) {
    const TaskOptions& t = c.options.tasks[k];
    if (t.kind == Kind::msd && t.lag && *t.lag < t.fit_to)
      doubt(k, "lag",
            "lag is shorter than fit_to: the line needs times up to that one, and they are taken",
            "a lag of fit_to or more, or none");
    if (t.kind != Kind::rdf || !t.r_max) continue;
    const double bins = *t.r_max / t.bin, whole = std::floor(bins + 1e-9);
    if (whole >= 1 && bins - whole > 1e-6 * bins)
      doubt(k, "r_max",
            fmt::format("r_max = {:.6g} nm is no whole number of bins of {:.6g} nm: {:.6g} nm is "
                        "taken",
                        *t.r_max / 1e-9, t.bin / 1e-9, whole * t.bin / 1e-9),
            "a multiple of bin");
  }
  if (c.in.by_number || !(c.frame_ps > 0)) return out;
  // A frame has more than a byte of each atom in all formats but those whose arrays may be packed.
  double bytes = 0;
  bool packed = false;
  for (const fs::path& p : c.options.trajectory) {
    bytes += static_cast<double>(fs::file_size(p));
    packed = packed || p.extension() == ".gz" || p.extension() == ".h5" || p.extension() == ".h5md";
  }
  const FrameOptions& f = c.options.frames;
  double most_frames = packed ? INFINITY
                              : std::floor(bytes / static_cast<double>(c.in.system.n_atoms()) /
                                           static_cast<double>(f.every)) +
                                    1;
  if (f.to)
    most_frames = std::min(
        most_frames, std::floor((*f.to / 1e-12 - c.first.frame.time_ps) / c.frame_ps + 1e-3) + 1);
  if (c.one_frame) most_frames = 1;
  for (std::size_t k = 0; k < c.options.tasks.size(); ++k) {
    const TaskOptions& t = c.options.tasks[k];
    const auto key = [&](const char* name) { return fmt::format("analysis[{}].{}", k, name); };
    const auto expect_frames = [&](const char* name, double s) {
      const double time_ps = s / 1e-12;
      expect_known_times(c, key(name));
      if (time_ps > 0 && (c.one_frame || std::round(time_ps / c.frame_ps) >= most_frames))
        throw data::InputError(
            c.config.error(
                743, key(name),
                c.one_frame
                    ? fmt::format("{} = {:.6g} ps spans frames, and there is one", name, time_ps)
                    : fmt::format("{} = {:.6g} ps spans more frames, {:.6g} ps apart, than there "
                                  "can be: at most {:.0f}",
                                  name, time_ps, c.frame_ps, most_frames),
                "a time within the trajectory"),
            data::ExitCode::config_invalid);
    };
    const auto tell = [&](const char* name, double s, std::size_t taken) {
      const double time_ps = s / 1e-12, taken_ps = static_cast<double>(taken) * c.frame_ps;
      if (std::abs(time_ps - taken_ps) <=
          mol::rounded_frames * c.frame_ps + (mol::rounded_times + c.unknown) * time_ps)
        return;
      doubt(k, name,
            fmt::format("{} = {:.6g} ps is no whole number of the {:.6g} ps between frames: {:.6g} "
                        "ps is taken",
                        name, time_ps, c.frame_ps, taken_ps),
            "a multiple of it");
    };
    if (t.kind == Kind::msd) {
      expect_frames("fit_from", t.fit_from), expect_frames("fit_to", t.fit_to);
      const auto frames_to = [&](double s) {  // as at the second frame, when the distance is known
        return mol::frames_between(t.fit_from / 1e-12, s / 1e-12, c.frame_ps,
                                   c.first.frame.time_ps + c.frame_ps);
      };
      tell("fit_from", t.fit_from, frames_to(t.fit_to)[0]);
      tell("fit_to", t.fit_to, frames_to(t.fit_to)[1]);
      if (t.lag && *t.lag >= t.fit_to) tell("lag", *t.lag, frames_to(*t.lag)[1]);
    }
    if (t.kind == Kind::vacf) {
      expect_frames("lag", *t.lag);
      tell("lag", *t.lag, lag_frames(*t.lag / 1e-12, c.frame_ps));
    }
  }
  return out;
}

CheckReport check(const AnalysisCase& c) {
  const AnalysisOptions& o = c.options;
  const Input& in = c.in;
  c.expect_one_run();
  CheckReport report;
  report.findings = in.remarks;
  for (const data::Diagnostic& d : doubts_of_ends(c)) report.findings.push_back(d);
  report.lines.push_back(
      in.by_number  ? fmt::format("{} atoms, frames without times", in.system.n_atoms())
      : c.one_frame ? fmt::format("{} atoms, one frame, at {:.6g} ps", in.system.n_atoms(),
                                  c.first.frame.time_ps)
                    : fmt::format("{} atoms, first frame at {:.6g} ps, frames every {:.6g} ps",
                                  in.system.n_atoms(), c.first.frame.time_ps, c.frame_ps));
  for (const auto& [name, atoms] : in.groups)
    report.lines.push_back(fmt::format("group {:<12} {:7} atoms", name, atoms.size()));
  for (std::size_t k = 0; k < o.tasks.size(); ++k) {
    placed(c.config, k, frame_of(c.first),
           [&] { make_task(o.tasks[k], in, c.frame_ps)->add(c.first); });
    report.lines.push_back("analysis " + o.tasks[k].name);
  }
  return report;
}

Estimate estimate(const AnalysisCase& c) {
  const AnalysisOptions& o = c.options;
  const Input& in = c.in;
  std::uintmax_t bytes = 0;
  for (const fs::path& p : o.trajectory) bytes += fs::file_size(p);
  // A frame of the least formats takes about four bytes an atom.
  const auto frames = std::max<std::uint64_t>(
      1, bytes / (4 * in.system.n_atoms() + 100) / static_cast<std::uint64_t>(o.frames.every));
  Estimate e;
  std::vector<std::unique_ptr<Task>> tasks;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < o.tasks.size(); ++k) {
    const TaskOptions& t = o.tasks[k];
    tasks.push_back(placed(c.config, k, "", [&] { return make_task(t, in, c.frame_ps); }));
    placed(c.config, k, frame_of(c.first), [&] { tasks.back()->add(c.first); });
    const double longest = std::max(t.lag.value_or(0), t.kind == Kind::msd ? t.fit_to : 0);
    if (longest > 0)  // only msd and vacf have a lag
      e.memory_bytes.push_back(
          {t.name, 24 * std::min(frames, lag_frames(longest / 1e-12, c.frame_ps)) *
                       in.groups.at(t.group).size()});
  }
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() *
              static_cast<double>(frames);
  e.memory_bytes.push_back({"frames", 200 * in.system.n_atoms()});
  e.disk_bytes = 200000 * o.tasks.size();
  e.notes.push_back(fmt::format("at most about {} frames", frames));
  return e;
}

data::ExitCode run(RunContext& context, const AnalysisCase& c) {
  const AnalysisOptions& o = c.options;
  const Input& in = c.in;
  for (const data::Diagnostic& d : in.remarks) context.log.info(data::to_string(d));
  for (const data::Diagnostic& d : doubts_of_ends(c)) context.log.warning(data::to_string(d));
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::size_t k = 0; k < o.tasks.size(); ++k)
    tasks.push_back(
        placed(context.config, k, "", [&] { return make_task(o.tasks[k], in, c.frame_ps); }));

  mol::JoinedFrames frames(c.files);
  c.expect_one_run();
  data::Progress progress({.style = context.progress_style,
                           .phase = "analysis",
                           .unit = "frames",
                           .heartbeat = context.folder.heartbeat_json()});
  std::uint64_t n = 0;
  // What one analysis cannot tell is an error when all that the others have found is written; of
  // the first frame, before the others are read.
  std::vector<data::Diagnostic> untold;
  const auto attempt = [&](std::size_t k, const std::string& hint, auto&& work) {
    try {
      if (tasks[k]) placed(context.config, k, hint, work);
    } catch (const data::InputError& e) {
      untold.insert(untold.end(), e.findings().begin(), e.findings().end());
      tasks[k] = nullptr;
    }
  };
  const auto any_left = [&] {
    return std::ranges::any_of(tasks, [](const auto& task) { return task != nullptr; });
  };
  for (mol::Snapshot s; any_left() && c.read(frames, s);) {
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const auto add = [&] { tasks[k]->add(s); };
      if (n == 0)
        placed(context.config, k, frame_of(s), add);
      else
        attempt(k, frame_of(s), add);
    }
    progress.update(++n);
    if (context.stop.poll() !=
        data::StopReason::none) {  // nothing is kept: a resumed analysis starts again
      progress.finish("stopped");
      return data::ExitCode::stopped_resumable;
    }
  }
  progress.finish();
  for (const data::Diagnostic& d : frames.remarks()) context.log.warning(data::to_string(d));
  if (frames.left_out() > 0)
    context.log.warning(fmt::format(
        "{} frames are left out: {}", frames.left_out(),
        o.frames.times == Times::append
            ? "they repeat the frame before them, or their times overlap with earlier frames"
            : "their times overlap with earlier frames"));

  Findings found;
  for (std::size_t k = 0; k < tasks.size(); ++k) attempt(k, "", [&] { tasks[k]->tell(found); });
  write_findings(context.folder.path(), found, o.title);
  if (o.output.pictures) draw(context.folder.path(), found, o.title);
  context.log.info(fmt::format("{} frames{}", n, in.by_number ? ", which have no times" : ""));
  context.manifest.metrics = {{"frames", static_cast<double>(n)}};
  for (const Average& a : found.averages) {
    context.log.info(told(a));
    context.manifest.metrics.push_back({a.name, a.mean.mean});
    if (!std::isnan(a.mean.error))
      context.manifest.metrics.push_back({a.name + ".error", a.mean.error});
  }
  if (!untold.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(untold));
  bool kept = true;
  for (std::size_t k = 0; k < o.expect.size(); ++k) {
    const ExpectOptions& e = o.expect[k];
    const auto average = std::ranges::find(found.averages, e.quantity, &Average::name);
    if (average == found.averages.end()) throw Error("[analysis] no average " + e.quantity);
    const double value = average->mean.mean;
    if (std::abs(value - e.value) <= e.tolerance * (e.relative ? std::abs(e.value) : 1)) continue;
    kept = false;
    context.log.error(
        fmt::format("{} is {:.6g}, expected {:.6g}: NOT MET", e.quantity, value, e.value));
  }
  return kept ? data::ExitCode::ok : data::ExitCode::not_converged;
}

/// Argon atoms in Brownian motion, of which D and g(r) are known: 0.0025 nm^2/ps and 1.
fs::path example(const fs::path& dir, std::uint64_t seed) {
  constexpr std::size_t n = 200, steps = 400;
  constexpr double d = 0.0025, edge = 3;
  mol::System system;
  mol::Atoms& a = system.atoms;
  for (std::size_t i = 0; i < n; ++i)
    system.residues.push_back({"AR", std::to_string(i + 1), "A", ""}),
        a.residue.push_back(static_cast<std::int32_t>(i));
  a.name.assign(n, "AR"), a.type = a.name;
  a.element.assign(n, 18), a.mass_amu.assign(n, 39.95), a.charge_e.assign(n, 0),
      a.lj_type.assign(n, 0);
  mol::Snapshot s;
  s.frame.box = mol::rectangular_box({edge, edge, edge});
  for (std::uint64_t i = 0; i < n; ++i)
    s.frame.x_nm.push_back({edge * data::uniform({seed, 0}, 3 * i),
                            edge * data::uniform({seed, 0}, 3 * i + 1),
                            edge * data::uniform({seed, 0}, 3 * i + 2)});
  data::write_file_atomically(dir / "argon.pdb", mol::pdb_text(mol::structure_of(system, s.frame)));
  const auto writer = mol::create_trajectory(dir / "argon.xtc", system);
  for (std::uint64_t t = 0; t < steps; ++t) {
    s.frame.step = static_cast<std::int64_t>(500 * t), s.frame.time_ps = static_cast<double>(t);
    writer->write(s);
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        s.frame.x_nm[i][k] += std::sqrt(2 * d) * data::normal({seed, 1}, 3 * (t * n + i) + k);
  }
  const fs::path file = dir / "brownian.toml";
  data::write_file_atomically(file, R"(# Atoms in Brownian motion: D = 2.5e-5 cm^2/s and g(r) = 1.
app = "molecular.analysis"
title = "Brownian motion"
topology = "argon.pdb"
trajectory = ["argon.xtc"]

[[analysis]]
type = "rdf"
r_max = "1.4 nm"
bin = "0.05 nm"

[[analysis]]
type = "msd"
fit_from = "2 ps"
fit_to = "10 ps"
lag = "20 ps"

[[analysis]]
type = "density"
axis = "c"
slices = 10

[[expect]]
quantity = "msd_all.diffusion"
value = 2.5e-5
tolerance = 0.05
relative = true
)");
  return file;
}

PreparedCase prepare(const AppContext& context) {
  const auto c = std::make_shared<const AnalysisCase>(context.config);
  return {.inputs = data::inputs_read(),
          .check = [c] { return check(*c); },
          .estimate = [c] { return estimate(*c); },
          .run = [c](RunContext& to) { return run(to, *c); }};
}

std::vector<fs::path> plot(const fs::path& run_dir) {
  std::string title;
  const Findings f = read_charts(run_dir, title);
  return draw(run_dir, f, title);
}

}  // namespace

App app() {
  return {.summary =
              "what trajectories of molecules tell: structure, diffusion, density, "
              "fluctuations, with error bars",
          .options = analysis_options(),
          .prepare = prepare,
          .make_example = example,
          .plot = plot,
          .may_change = {"output", "title", "expect"}};
}

}  // namespace tessera::apps::analysis
