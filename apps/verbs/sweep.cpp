// SPDX-License-Identifier: Apache-2.0
// sweep: a run for each point, one after the other, each a run folder like any other; then what
// they have found, side by side.
#include "tessera/data/sweep.h"

#include "support/ranks.h"
#include "support/report.h"
#include "support/sweep_results.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/sha256.h"
#include "tessera/data/stop.h"
#include "verbs/verbs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <set>

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;
using data::ExitCode;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void refuse_ranks(const CommandLine& line) {
  if (line.ranks && line.ranks->all().size() > 1)
    throw usage_error("a sweep is not cut over ranks",
                      "start it without mpirun, or run its points one by one");
}

Case case_at(const Case& c, const data::Sweep& sweep, std::size_t point) {
  return {data::at_point(c.config, sweep, point), c.app};
}

struct PointFindings {
  std::vector<data::Diagnostic> all;
  ExitCode code = ExitCode::input_invalid;  ///< where one is an error: what `check` of it says
};

/// What is wrong with a point, each finding with its label; `told` are warnings told before.
PointFindings findings_at(const Case& c, const data::Sweep& sweep, std::size_t point,
                          const CommandLine& line, std::set<std::string>& told) {
  const Case at = case_at(c, sweep, point);
  PointFindings out;
  std::vector<data::Diagnostic>& findings = out.all;
  try {
    findings = c.app.options.get().check(at.config);
    if (has_errors(findings)) {
      out.code = ExitCode::config_invalid;
    } else {
      const CheckReport inputs = prepare(at, line.run).made.check();
      findings.insert(findings.end(), inputs.findings.begin(), inputs.findings.end());
    }
  } catch (const data::InputError& e) {
    findings = e.findings();
    out.code = e.code();
  }
  std::erase_if(findings, [&](const data::Diagnostic& d) {
    return d.severity != data::Severity::error && !told.insert(d.message).second;
  });
  for (data::Diagnostic& d : findings)
    if (d.severity == data::Severity::error)
      d.message += " (at " + label_of_point(sweep, point) + ")";
  return out;
}

/// Values of the command line that no point has.
void add_unused(const Case& c, const data::Sweep& sweep, std::vector<data::Diagnostic>& findings) {
  for (const data::SweptParameter& p : sweep.over) {
    const std::string key = "parameters." + p.name;
    if (c.config.origin(key).line != 0) continue;  // of the file
    findings.push_back(c.config.error(
        225, key, "parameter '" + p.name + "' has the values of [sweep.over], this one is not used",
        "--set sweep.over." + p.name + "=..., or `tessera run`"));
    findings.back().severity = data::Severity::warning;
  }
}

/// All that is wrong with any point is told before the first one runs.
void check_points(const Case& c, const data::Sweep& sweep, const CommandLine& line) {
  std::vector<data::Diagnostic> findings = c.warnings;
  add_unused(c, sweep, findings);
  std::set<std::string> told;
  for (const data::Diagnostic& d : findings) told.insert(d.message);
  std::size_t wrong = 0;
  ExitCode code = ExitCode::input_invalid;  // of the first that is wrong
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    PointFindings own = findings_at(c, sweep, i, line, told);
    if (has_errors(own.all) && wrong++ == 0) code = own.code;
    std::move(own.all.begin(), own.all.end(), std::back_inserter(findings));
  }
  if (wrong > 0 && (!line.run.keep_going || wrong == sweep.points.size())) {
    findings.push_back(
        {.severity = data::Severity::note,
         .place = {c.config.path()},
         .message = fmt::format("{} of {} points cannot be run", wrong, sweep.points.size()),
         .hint = wrong < sweep.points.size() ? "--keep-going leaves them out" : ""});
    throw data::InputError(code, std::move(findings));
  }
  if (line.run.verbosity < 0)
    std::erase_if(findings, [](const auto& d) { return d.severity == data::Severity::note; });
  if (!line.json) report(findings, false);
}

/// Whether `output.pictures` lets pictures be drawn, as every app has it.
bool draws_pictures(const Case& c) {
  const data::Member* output = data::find(c.config.table(), "output");
  const data::Table* keys = output ? output->value.get<data::Table>() : nullptr;
  const data::Member* pictures = keys ? data::find(*keys, "pictures") : nullptr;
  const bool* wanted = pictures ? pictures->value.get<bool>() : nullptr;
  return !wanted || *wanted;
}

PointOutcome outcome_in(const fs::path& folder) {
  std::error_code none;
  if (!fs::is_regular_file(folder / "manifest.json", none)) return {};
  const data::Manifest m = data::manifest_from_json(
      data::read_file(folder / "manifest.json", 64 << 20), (folder / "manifest.json").string());
  return {m.exit_code, m.exit_reason, m.metrics, m.inputs};
}

/// What the command line says of the run of one point.
CommandLine line_of_point(const CommandLine& line, const fs::path& sweep, const fs::path& point,
                          Clock::time_point begin) {
  CommandLine out = line;
  out.sweep = sweep;
  out.path = out.output = point;
  out.overrides.clear();
  out.run.force = true;  // what a kill has left of a folder before its first manifest
  if (line.run.verbosity == 0) {
    out.run.verbosity = -1;
    if (line.run.progress == "auto") out.run.progress = ::isatty(2) ? "bar" : "none";
  }
  if (line.run.max_time_s)
    out.run.max_time_s = std::max(1e-3, *line.run.max_time_s - seconds_since(begin));
  return out;
}

/// The files that points have been run with: what is put side by side has one state of them.
class SweepInputs {
 public:
  /// `whole`: every point reads the same files; else a point may leave out what has errors.
  explicit SweepInputs(bool whole) : whole_(whole) {}
  void add(const PointOutcome& of) {
    for (const data::InputFile& f : of.inputs) files_.try_emplace(f.path, f);
  }
  /// Throws E0418 where a file of a point is not what it was for the points before.
  void look_at(const std::vector<data::InputFile>& inputs) const {
    std::vector<data::Diagnostic> changed;
    for (const data::InputFile& f : inputs)
      if (const auto was = files_.find(f.path);
          was == files_.end() ? whole_ && !files_.empty() : was->second != f)
        changed.push_back({.number = 418,
                           .place = {f.path},
                           .message = was == files_.end()
                                          ? "is new since points of the sweep were run"
                                          : "has changed since points of the sweep were run",
                           .hint = "restore the files, or start a new sweep"});
    if (!changed.empty()) throw data::InputError(ExitCode::input_invalid, std::move(changed));
  }

 private:
  bool whole_;
  std::map<std::string, data::InputFile> files_;
};

/// Whether what a point ends with is its own affair: its values, its checkpoint, more memory than
/// there is. A full disk, a folder that cannot be written to or another state of the inputs ends
/// the sweep.
bool is_of_point(const data::InputError& e) {
  const auto has = [&](std::initializer_list<int> numbers) {
    return std::ranges::any_of(e.findings(), [&](const data::Diagnostic& d) {
      return std::ranges::find(numbers, d.number) != numbers.end();
    });
  };
  if (has({418})) return false;
  const bool disk = has({501, 581});  // throw_io_error, pictures
  return e.code() == ExitCode::input_invalid || e.code() == ExitCode::config_invalid ||
         e.code() == ExitCode::checkpoint_damaged || (e.code() == ExitCode::would_not_fit && !disk);
}

/// Begins the run of a point or goes on with it.
PointOutcome run_point(const Case& c, const data::Sweep& sweep, std::size_t i,
                       const CommandLine& line, const PointOutcome& before) {
  const Case at = case_at(c, sweep, i);
  try {
    const bool begun = !before.reason.empty();
    const ExitCode code =
        begun ? go_on(line) : run_anew(at, line, line.path, resolved_text(at), ".toml");
    PointOutcome out = outcome_in(line.path);
    out.exit_code = static_cast<int>(code);
    return out;
  } catch (const data::InputError& e) {
    if (!is_of_point(e)) throw;
    return {static_cast<int>(e.code()),
            e.findings().empty() ? e.what() : e.findings().front().message,
            {},
            {}};
  } catch (const std::exception& e) {  // it has told the terminal nothing yet
    std::cerr << e.what() << "\n";
    return {static_cast<int>(code_of(e)), e.what(), {}, {}};
  }
}

bool ended(const PointOutcome& o) {
  return o.has_results() || o.exit_code == static_cast<int>(ExitCode::blow_up);
}

/// All points that have not ended. Returns what the process says.
ExitCode run_points(const data::RunFolder& folder, const Case& c, const data::Sweep& sweep,
                    const CommandLine& line, std::vector<PointOutcome>& outcomes) {
  const Clock::time_point begin = Clock::now();
  // Over all points: of a signal that comes while one of them writes its results it knows nothing.
  data::StopGuard stop({.stop_files = {folder.stop_file()}, .max_time_s = line.run.max_time_s});
  const std::size_t n = sweep.points.size();
  const auto say = [&](const std::string& text) {
    data::Log({.file = folder.log_txt(),
               .terminal = line.run.verbosity < 0 ? data::LogLevel::warning : data::LogLevel::info})
        .info(text);
  };
  std::size_t left = 0, done = 0, first = n;
  SweepInputs inputs(!line.run.keep_going);
  for (std::size_t i = 0; i < n; ++i) {
    outcomes[i] = outcome_in(folder_of_point(folder.path(), i, n));
    if (ended(outcomes[i])) {
      inputs.add(outcomes[i]);
      continue;
    }
    if (left++ == 0) first = i;
  }
  if (left == 0) say("all points have been run; nothing is left to do");
  if (left > 0 && (left < n || !outcomes.front().reason.empty()))
    say(fmt::format("going on from point {} of {}", first + 1, n));
  for (std::size_t i = 0; i < n; ++i) {
    if (ended(outcomes[i])) continue;
    const fs::path path = folder_of_point(folder.path(), i, n);
    const Clock::time_point own = Clock::now();
    CommandLine of_point = line_of_point(line, folder.path(), path, begin);
    of_point.look_at_inputs = [&](const auto& files) { inputs.look_at(files); };
    outcomes[i] = run_point(c, sweep, i, of_point, outcomes[i]);
    if (ended(outcomes[i])) inputs.add(outcomes[i]);
    if (outcomes[i].exit_code == static_cast<int>(ExitCode::stopped_resumable))
      return ExitCode::stopped_resumable;
    ++done, --left;
    std::string text =
        fmt::format("point {} of {}, {}: {} in {}", i + 1, n, label_of_point(sweep, i),
                    outcomes[i].reason, data::duration_text(seconds_since(own)));
    if (left > 0)
      text += fmt::format("; about {} left",
                          data::duration_text(seconds_since(begin) / static_cast<double>(done) *
                                              static_cast<double>(left)));
    say(text);
    if (left > 0 && stop.poll() != data::StopReason::none) return ExitCode::stopped_resumable;
  }
  for (const PointOutcome& o : outcomes)
    if (o.exit_code != 0) return static_cast<ExitCode>(o.exit_code);
  return ExitCode::ok;
}

ExitCode run_sweep(data::RunFolder& folder, const Case& c, const data::Sweep& sweep,
                   const CommandLine& line, data::Manifest manifest) {
  folder.write_manifest(manifest);
  std::vector<PointOutcome> outcomes(sweep.points.size());
  const auto end = [&](ExitCode code, std::string reason) {
    data::finish_manifest(manifest, code, std::move(reason));
    folder.write_manifest(manifest);
  };
  try {
    const ExitCode code = run_points(folder, c, sweep, line, outcomes);
    write_sweep_results(folder.path(), c.app, sweep, outcomes, draws_pictures(c));
    const auto with = std::ranges::count_if(outcomes, &PointOutcome::has_results);
    manifest.metrics = {{"points", static_cast<double>(outcomes.size())},
                        {"points_with_results", static_cast<double>(with)}};
    end(code, code == ExitCode::ok                  ? "finished"
              : code == ExitCode::stopped_resumable ? "stopped"
                                                    : "not all points are what was asked for");
    if (code == ExitCode::stopped_resumable)
      std::cerr << "go on with: tessera resume " << for_shell(folder.path().string()) << "\n";
    else if (code != ExitCode::ok)
      std::cerr << fmt::format(
          "{} of {} points have results; points.csv says of each how it ended\n", with,
          outcomes.size());
    return code;
  } catch (const data::InputError& e) {
    try {
      end(e.code(), e.what());
    } catch (const data::InputError&) {
    }
    throw;
  } catch (const std::exception& e) {
    try {
      end(code_of(e), e.what());
    } catch (const data::InputError&) {
    }
    throw;
  }
}

}  // namespace

bool is_sweep(const fs::path& folder) {
  std::error_code none;
  return fs::is_directory(folder / "points", none);
}

ExitCode verb_sweep(const CommandLine& line) {
  refuse_ranks(line);
  const Case c = read_case(line.path, line.overrides);
  const auto sweep = data::read_sweep(c.config);
  if (!sweep)
    throw usage_error("'" + line.path.string() + "' has no [sweep]",
                      "say which parameters take which values: [sweep.over] length = [\"38 mm\", "
                      "\"40 mm\"]");
  check_points(c, *sweep, line);
  const std::string resolved = resolved_text(c) + to_toml(*sweep);
  check_length(c, resolved, "the values of all points", "fewer points, or fewer parameters");
  const fs::path path = line.output.empty() ? line.path.stem().concat(".sweep") : line.output;
  data::RunFolder folder = data::RunFolder::create(path, line.run.force);
  data::make_folder(folder.path() / "points");
  folder.write_text(line.path.extension() == ".json" ? "input.json" : "input.toml",
                    c.config.sources.front().text);
  folder.write_text("resolved.toml", resolved);
  data::Manifest manifest =
      data::begin_manifest(c.app.name, line.arguments, thread_count(line.run));
  manifest.config_sha256 = data::sha256_hex(resolved);
  manifest.keep_going = line.run.keep_going;
  const ExitCode code = run_sweep(folder, c, *sweep, line, std::move(manifest));
  if (!line.json) std::cout << folder.path().string() << "\n";
  return code;
}

ExitCode go_on_with_sweep(const CommandLine& given) {
  refuse_ranks(given);
  if (!given.overrides.empty())
    throw usage_error("the points of a sweep take no changes", "start a new sweep");
  CommandLine line = given;
  data::RunFolder folder = data::RunFolder::reopen(line.path);
  const data::Manifest before = folder.read_manifest();
  line.run.keep_going = before.keep_going;
  if (data::sha256_hex(data::read_file(folder.resolved_toml(), data::kMostConfigBytes)) !=
      before.config_sha256)
    throw data::InputError({.number = 417,
                            .place = {folder.resolved_toml().string()},
                            .message = "has been edited since the sweep began: what it has done so "
                                       "far is not of this case",
                            .hint = "restore it, or start a new sweep"},
                           ExitCode::config_invalid);
  const Case c = read_case(folder.resolved_toml(), {});
  const auto sweep = data::read_sweep(c.config);
  return run_sweep(folder, c, *sweep, line,
                   data::resume_manifest(before, line.arguments, thread_count(line.run)));
}

namespace {

/// How points have ended that could not be begun, by the table of the sweep: they have no folder.
void take_told_ends(const fs::path& table, std::vector<PointOutcome>& outcomes) {
  try {
    const data::CsvColumns told = data::read_csv_columns(table, {"exit_code"});
    if (told.rows() != outcomes.size()) return;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i].reason.empty())
        outcomes[i].exit_code = static_cast<int>(told.numbers("exit_code")[i]),
        outcomes[i].reason = told.texts("reason")[i];
  } catch (const data::InputError&) {  // there is none, or one of another kind: nothing is known
  }
}

}  // namespace

std::vector<fs::path> plot_sweep(const fs::path& path) {
  const Case c = read_case(path / "resolved.toml", {});
  const auto sweep = data::read_sweep(c.config);
  std::vector<PointOutcome> outcomes;
  for (std::size_t i = 0; i < sweep->points.size(); ++i)
    outcomes.push_back(outcome_in(folder_of_point(path, i, sweep->points.size())));
  take_told_ends(path / "points.csv", outcomes);
  return write_sweep_results(path, c.app, *sweep, outcomes, true);
}

}  // namespace tessera::apps
