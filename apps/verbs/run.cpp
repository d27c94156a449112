// SPDX-License-Identifier: Apache-2.0
// run, rerun and resume: the same call of the app, in a new folder or in the one of an interrupted
// run. And what else is done with run folders: stop, plot.
#include "tessera/data/run.h"

#include "support/ranks.h"
#include "support/report.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/vectors.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/progress.h"
#include "tessera/data/sha256.h"
#include "tessera/data/stop.h"
#include "verbs/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <new>

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;
using data::ExitCode;

/// What the manifest and the last line say.
std::string reason_of(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "finished";
    case ExitCode::not_converged:
      return "not converged; the results are kept and marked";
    case ExitCode::blow_up:
      return "numerical blow-up";
    case ExitCode::rank_lost:
      return "a rank is lost";
    case ExitCode::stopped_resumable:
      return "stopped";
    default:
      return "failed";
  }
}

}  // namespace

ExitCode code_of(const std::exception& e) {
  if (const auto* input = dynamic_cast<const data::InputError*>(&e)) return input->code();
  if (const auto* other = dynamic_cast<const parallel::OtherRankFailed*>(&e))
    return static_cast<ExitCode>(other->code);
  if (dynamic_cast<const parallel::WaitedInVain*>(&e)) return ExitCode::rank_lost;
  return dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const OutOfMemory*>(&e)
             ? ExitCode::would_not_fit
             : ExitCode::internal_fault;
}

namespace {

/// The other ranks learn whether they help. What one of them cannot read or see is told here,
/// before a new run has written anything.
void agree(const CommandLine& line, const Ready& ready, const fs::path& folder) {
  line.ranks->tell(ready.made.help != nullptr, folder);
}

void log_ranks(int n, const App& app, const PreparedCase& made, data::Log& log) {
  if (n == 1) return;
  if (made.help)
    log.info(std::to_string(n) + " ranks");
  else
    log.warning(app.name + " is not cut over ranks: rank 0 of " + std::to_string(n) +
                " runs it alone");
}

/// Runs the case in `folder` and keeps the manifest true whatever happens. A case that is not
/// `ready` is made here.
ExitCode run_in(data::RunFolder& folder, const Case& c, std::optional<Ready> ready,
                const CommandLine& line, data::Manifest manifest) {
  const RunOptions& options = line.run;
  data::Log log({.file = folder.log_txt(),
                 .terminal = options.verbosity < 0   ? data::LogLevel::warning
                             : options.verbosity > 0 ? data::LogLevel::debug
                                                     : data::LogLevel::info});
  std::vector<fs::path> stop_files{folder.stop_file()};
  if (!line.sweep.empty()) stop_files.push_back(line.sweep / "STOP");
  data::StopGuard stop({.stop_files = std::move(stop_files), .max_time_s = options.max_time_s});
  folder.write_manifest(manifest);
  log.info(c.app.name + ", precision " + manifest.precision + ", " +
           std::to_string(manifest.threads) + (manifest.threads == 1 ? " thread, " : " threads, ") +
           "vectors of " + std::to_string(vector_bits()) + " bits");
  const bool silent = options.verbosity < 0 && options.progress == "auto";
  RunContext context{{c.config, options},
                     folder,
                     log,
                     stop,
                     manifest,
                     data::progress_style(silent ? "none" : options.progress),
                     line.ranks->all()};
  const auto waiting = line.ranks->waits_told([&](const std::string& w) { log.warning(w); });
  // In the file alone: the terminal has it from whoever catches what is thrown.
  const auto record = [&](const char* text) {
    data::Log({.file = folder.log_txt(), .terminal = data::LogLevel::off}).error(text);
  };
  const auto end = [&](ExitCode code, std::string reason) {
    data::finish_manifest(manifest, code, std::move(reason));
    folder.write_manifest(manifest);
  };
  try {
    if (!ready) {
      ready = prepare(c, options);
      if (line.look_at_inputs) line.look_at_inputs(ready->made.inputs);
      agree(line, *ready, folder.path());
    }
    manifest.inputs = ready->made.inputs;
    log_ranks(line.ranks->all().size(), c.app, ready->made, log);
    const ExitCode code = ready->made.run(context);
    if (const Ranks::Sent sent = line.ranks->helped(); sent.messages > 0) {
      log.info(fmt::format("each rank has sent at most {} in {} messages",
                           bytes_text(static_cast<double>(sent.bytes)), sent.messages));
      manifest.metrics.emplace_back("sent_bytes_of_a_rank", static_cast<double>(sent.bytes));
      manifest.metrics.emplace_back("messages_of_a_rank", static_cast<double>(sent.messages));
    }
    log.flush();
    const std::string why =
        code == ExitCode::stopped_resumable ? data::to_string(stop.poll()) : std::string();
    end(code, why.empty() ? reason_of(code) : why);
    if (code == ExitCode::stopped_resumable && line.sweep.empty())
      std::cerr << "go on with: tessera resume " << for_shell(folder.path().string()) << "\n";
    return code;
  } catch (const data::InputError& e) {
    // The first cause is what the user must see, also where its record cannot be written (disk
    // full).
    try {
      record(e.what());
      end(e.code(), e.findings().empty() ? e.what() : e.findings().front().message);
    } catch (const data::InputError&) {
    }
    throw;
  } catch (const std::exception& e) {
    try {
      record(e.what());
      end(code_of(e), e.what());
    } catch (const data::InputError&) {
    }
    throw;
  }
}

}  // namespace

ExitCode run_anew(const Case& c, const CommandLine& line, const fs::path& path,
                  const std::string& input, const std::string& format) {
  set_num_threads(thread_count(line.run));
  // Everything that can be wrong with the inputs is told before the first file is written.
  Ready ready = prepare(c, line.run);
  if (line.look_at_inputs) line.look_at_inputs(ready.made.inputs);
  const CheckReport inputs = ready.made.check();
  if (stops(inputs, line.run)) throw data::InputError(ExitCode::input_invalid, inputs.findings);
  std::vector<data::Diagnostic> findings = c.warnings;
  findings.insert(findings.end(), inputs.findings.begin(), inputs.findings.end());
  findings = once(std::move(findings));
  if (!line.json && line.sweep.empty()) {  // of a sweep they were told together
    std::vector<data::Diagnostic> shown = findings;
    if (line.run.verbosity < 0)
      std::erase_if(shown, [](const auto& d) { return d.severity == data::Severity::note; });
    report(shown, false);
  }

  const std::string resolved = resolved_text(c, ready.made.chosen);
  agree(line, ready, path);
  data::RunFolder folder = data::RunFolder::create(path, line.run.force);
  folder.write_text("input" + format, input);
  folder.write_text("resolved.toml", resolved);
  {
    data::Log kept({.file = folder.log_txt(), .terminal = data::LogLevel::off});
    for (const data::Diagnostic& d : findings)
      d.severity == data::Severity::note ? kept.info(to_string(d)) : kept.warning(to_string(d));
  }
  data::Manifest manifest =
      data::begin_manifest(c.app.name, line.arguments, thread_count(line.run));
  manifest.config_sha256 = data::sha256_hex(resolved);
  manifest.precision = ready.made.precision;
  manifest.keep_going = line.run.keep_going;
  manifest.inputs = ready.made.inputs;
  return run_in(folder, c, std::move(ready), line, std::move(manifest));
}

namespace {

ExitCode told(ExitCode code, const fs::path& folder, const CommandLine& line) {
  if (!line.json) std::cout << folder.string() << "\n";
  return code;
}

std::string apps_with_rerun() {
  std::string out;
  for (const App& a : all_apps())
    if (a.rerun) out += (out.empty() ? "apps with frames: " : ", ") + a.name;
  return out;
}

/// The case that looks at frames with the interactions of another.
Case rerun_case(const CommandLine& line) {
  const Case of = read_case(line.path, line.overrides);
  if (!of.app.rerun)
    throw usage_error(of.app.name + " has no frames to look at again", apps_with_rerun());
  return {data::parse_config("rerun of " + line.path.string(),
                             of.app.rerun(of.config, fs::absolute(line.frames), line.stage)),
          of.app};
}

}  // namespace

fs::path run_folder_of(const CommandLine& line) {
  return line.output.empty() ? line.path.stem().concat(".run") : line.output;
}

ExitCode verb_run(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  const fs::path folder = run_folder_of(line);
  return told(run_anew(c, line, folder, c.config.sources.front().text,
                       line.path.extension() == ".json" ? ".json" : ".toml"),
              folder, line);
}

ExitCode verb_rerun(const CommandLine& line) {
  const Case c = rerun_case(line);
  const fs::path path = line.output.empty() ? line.frames.stem().concat(".rerun") : line.output;
  return told(run_anew(c, line, path, c.config.sources.front().text, ".toml"), path, line);
}

namespace {

/// A finished run that was to go further and has found the same numbers: another of its ends came
/// first.
void tell_same_end(const data::RunFolder& folder, const data::Manifest& before,
                   const CommandLine& line) {
  const auto is_of_output = [](const std::string& set) {
    return set.starts_with("output") || set.starts_with("title") || set.starts_with("expect");
  };
  const data::Manifest now = folder.read_manifest();
  if (before.metrics.empty() || now.metrics != before.metrics ||
      std::ranges::all_of(line.overrides, is_of_output))
    return;
  data::Log log(
      {.file = folder.log_txt(),
       .terminal = line.run.verbosity < 0 ? data::LogLevel::warning : data::LogLevel::info});
  log.warning(
      fmt::format("the run ends where it did, with the same numbers: {} moves no end, or "
                  "another of its ends comes first",
                  fmt::join(line.overrides, ", ")));
}

}  // namespace

ExitCode go_on(const CommandLine& given) {
  CommandLine line = given;
  data::RunFolder folder = data::RunFolder::reopen(line.path);
  const data::Manifest before = folder.read_manifest();
  line.run.keep_going = before.keep_going;  // what the run has left out stays out
  data::Manifest now = data::resume_manifest(before, line.arguments, thread_count(line.run));
  set_num_threads(now.threads);
  const bool finished = before.exit_code == static_cast<int>(ExitCode::ok);
  std::optional<TakenUp> with = take_up(folder, now, finished, line);
  if (!with) {
    std::cerr << "this run has finished; nothing is left to do\n";
    return ExitCode::ok;
  }
  if (with->ready) agree(line, *with->ready, folder.path());
  const ExitCode code = run_in(folder, *with->c, std::move(with->ready), line, std::move(now));
  if (finished && code == ExitCode::ok) tell_same_end(folder, before, line);
  return code;
}

/// Whatever the path is called: through links, from within.
bool is_point_of_sweep(const fs::path& folder) {
  std::error_code none;
  const fs::path points = fs::canonical(folder / ".", none).parent_path(),
                 resolved = points.parent_path() / "resolved.toml";
  if (points.filename() != "points" || !fs::is_regular_file(resolved, none)) return false;
  try {
    return data::find(data::read_config(resolved).table(), "sweep") != nullptr;
  } catch (const data::InputError&) {
    return false;
  }
}

ExitCode verb_resume(const CommandLine& line) {
  if (!line.overrides.empty() && is_point_of_sweep(line.path))
    throw usage_error(
        "'" + line.path.string() + "' is a point of a sweep, beside which it would be another case",
        "start a new run or a new sweep");
  return told(is_sweep(line.path) ? go_on_with_sweep(line) : go_on(line), line.path, line);
}

void help_first_rank(const CommandLine& line) {
  std::optional<data::StopGuard> stop;
  if (line.ranks->processes()) stop.emplace();
  if (!line.ranks->hear()) return;
  const int threads = thread_count(line.run);
  set_num_threads(threads);
  HelpContext context{line.ranks->all(), threads, line.run.weights, stop ? &*stop : nullptr};
  std::optional<Case> c;
  std::optional<Ready> ready;
  try {
    c.emplace(line.verb == "resume"  ? read_case(line.path / "resolved.toml", {})
              : line.verb == "rerun" ? rerun_case(line)
                                     : read_case(line.path, line.overrides));
    ready = prepare(*c, line.run, line.verb == "gradcheck");
  } catch (const data::InputError& e) {  // rank 0 could read them
    std::vector<data::Diagnostic> findings = e.findings();
    if (findings.empty()) throw;
    std::string& hint = findings.back().hint;
    hint += (hint.empty() ? "" : "; ") +
            std::string(
                "every rank reads the case and its inputs: put them where all see them, by "
                "one path");
    throw data::InputError(e.code(), std::move(findings));
  }
  if (line.verb == "gradcheck") return help_with_gradcheck(line, ready->made, context);
  line.ranks->ready();
  ready->made.help(context);
  line.ranks->tell_sent();
}

namespace {
/// What the run says of itself; nothing before it says anything.
std::optional<data::Manifest> manifest_of(const fs::path& run) {
  const fs::path file = run / "manifest.json";
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return {};
  return data::manifest_from_json(data::read_file(file, 64 << 20), file.string());
}
}  // namespace

ExitCode verb_stop(const CommandLine& line) {
  if (const auto m = manifest_of(line.path); m && m->exit_code >= 0) {
    std::cerr << "this run has ended (" << m->exit_reason << "): there is nothing to stop\n";
    return ExitCode::ok;
  }
  data::request_stop(line.path);
  return ExitCode::ok;
}

namespace {
/// The case of a run folder.
Case case_of(const fs::path& run) {
  const fs::path resolved = run / "resolved.toml";
  std::error_code none;  // a link that points at itself is no folder either
  if (!fs::is_directory(run, none) || !fs::exists(resolved, none))
    throw usage_error("'" + run.string() + "' is no run folder",
                      "name the folder that `tessera run` has made");
  return read_case(resolved, {});
}

/// The pictures anew. Where they lack what a run leaves at its end, the way there is the hint.
std::vector<fs::path> drawn_again(const Case& c, const fs::path& run) {
  try {
    return c.app.plot(run);
  } catch (const data::InputError& e) {
    std::vector<data::Diagnostic> findings = e.findings();
    const std::optional<data::Manifest> m = manifest_of(run);
    if (findings.empty() || !m || m->exit_code == static_cast<int>(ExitCode::ok) ||
        m->exit_code == static_cast<int>(ExitCode::not_converged))
      throw;
    const bool goes_on =
        m->exit_code < 0 || m->exit_code == static_cast<int>(ExitCode::stopped_resumable);
    findings.back().hint =
        goes_on ? fmt::format("the run has not finished ({}): tessera resume {}", m->exit_reason,
                              for_shell(run.string()))
                : fmt::format("the run has ended without results ({})", m->exit_reason);
    throw data::InputError(e.code(), std::move(findings));
  }
}
}  // namespace

ExitCode verb_plot(const CommandLine& line) {
  const Case c = case_of(line.path);
  if (!is_sweep(line.path) && !c.app.plot) throw usage_error(c.app.name + " draws no pictures");
  const auto files = is_sweep(line.path) ? plot_sweep(line.path) : drawn_again(c, line.path);
  for (const fs::path& file : files) std::cout << file.string() << "\n";
  return ExitCode::ok;
}

ExitCode verb_predict(const CommandLine& line) {
  const Case c = case_of(line.path);
  if (!c.app.predict)
    throw usage_error(c.app.name + " learns nothing that could predict",
                      "a run of solvers.training does");
  fs::path output = line.output;
  if (output.empty()) {
    output = line.frames.filename();
    output.replace_extension(line.frames.extension() == ".csv" ? ".predicted.csv"
                                                               : ".predicted.npy");
  }
  std::error_code none;
  if (fs::exists(fs::symlink_status(output, none)) && !line.run.force)
    throw usage_error("'" + output.string() + "' exists", "name another file, or give --force");
  c.app.predict(line.path, line.frames, output);
  std::cout << output.string() << "\n";
  return ExitCode::ok;
}

}  // namespace tessera::apps
