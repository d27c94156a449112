// SPDX-License-Identifier: Apache-2.0
// launch: mpirun with the ranks of a run, again from the last checkpoint when one of them has died.
#include "support/report.h"
#include "tessera/data/log.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/parallel/mpi.h"
#include "verbs/verbs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <iostream>

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;
using data::ExitCode;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// SIGINT, SIGTERM and SIGHUP wait to be taken while it lives: mpirun, which passes them on and
/// kills a second later, is in a group of its own and hears of none.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now {};
      ::sigaction(s, nullptr, &now);
      if (now.sa_handler != SIG_IGN) ::sigaddset(&held_, s);  // `nohup` wants none
    }
    ::sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  /// The signal that came meanwhile; 0: none.
  int wait(std::chrono::milliseconds time) const {
    const timespec t{0, static_cast<long>(time.count()) * 1'000'000};
    const int s = ::sigtimedwait(&held_, nullptr, &t);
    return s > 0 ? s : 0;
  }

 private:
  sigset_t held_, before_;
};

/// mpirun, in a group of its own. Open MPI's gives ranks a second or two between SIGTERM and
/// SIGKILL when one of them has died; what they could still write nobody would read.
pid_t start(std::vector<std::string> command, const HeldSignals& signals) {
  ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 0);
  std::vector<char*> words;
  for (std::string& w : command) words.push_back(w.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&how, 0);
  ::posix_spawnattr_setsigmask(&how, &signals.before());
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], &files, &how, words.data(), environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw usage_error(fmt::format("'{}' cannot be started: {}", command[0], std::strerror(error)),
                      "--mpirun PATH names it; Debian has it in openmpi-bin");
  return child;
}

/// Asks the run in the folder to stop; false: there is none yet.
bool ask_to_stop(const fs::path& folder) {
  try {
    data::request_stop(folder);
    return true;
  } catch (const data::InputError&) {
    return false;
  }
}

/// What a process that ended has left, as a shell says it.
int code_of_process(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Whether the run itself has said why it ended. What it says of others' end, and what it could not
/// say, is a rank's death.
bool has_ended_itself(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::ok:
    case ExitCode::internal_fault:
    case ExitCode::usage:
    case ExitCode::would_not_fit:
    case ExitCode::input_invalid:
    case ExitCode::config_invalid:
    case ExitCode::not_converged:
    case ExitCode::blow_up:
    case ExitCode::checkpoint_damaged:
    case ExitCode::stopped_resumable:
    case ExitCode::interrupted:
      return true;
    case ExitCode::rank_lost:
      break;
  }
  return false;
}

std::string text_of(int code) {
  if (code == static_cast<int>(ExitCode::rank_lost)) return "a rank did not come";
  if (code > 128 && code < 160)
    return fmt::format("a rank was ended by signal {} ({})", code - 128, ::strsignal(code - 128));
  return fmt::format("exit code {}", code);
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

class Launch {
 public:
  explicit Launch(const CommandLine& line) : line_(line) {
    std::error_code none;
    going_on_ = fs::exists(line.path / "manifest.json", none);
    if (going_on_ && (line.run.force || line.run.keep_going || !line.output.empty()))
      throw usage_error("--output, --force and --keep-going are of a new run; this one is in " +
                        line.path.string());
    takes_up_ = going_on_;
    folder_ = going_on_ ? line.path : run_folder_of(line);
    before_ = manifest_time();
  }

  ExitCode run() {
    for (int restarts = 0;; ++restarts) {
      const int code = once();
      if (has_ended_itself(code)) return static_cast<ExitCode>(code);
      const bool again = !asked_ && restarts < line_.max_restarts && time_is_left();
      const std::string next =
          again    ? fmt::format("restart {} of {}", restarts + 1, line_.max_restarts)
          : asked_ ? "it was asked to stop: no restart"
                   : fmt::format("no restart is left of {}", line_.max_restarts);
      tell(fmt::format("{}; {}", text_of(code), next));
      if (!again) return static_cast<ExitCode>(code);
      // What has died before it began is begun again.
      if (has_begun()) going_on_ = true;
    }
  }

 private:
  std::optional<fs::file_time_type> manifest_time() const {
    std::error_code error;
    const auto time = fs::last_write_time(folder_ / "manifest.json", error);
    return error ? std::nullopt : std::optional(time);
  }
  bool has_begun() const {
    const auto now = manifest_time();
    return now && now != before_;
  }
  bool time_is_left() const {
    return !line_.run.max_time_s || seconds_since(begin_) < *line_.run.max_time_s;
  }

  /// Into the log of the run, where there is one.
  void tell(const std::string& text) const {
    const bool has_log = has_begun() || going_on_;
    data::Log log(
        {.file = has_log ? folder_ / "log.txt" : fs::path(), .terminal = data::LogLevel::warning});
    log.warning("launch: " + text);
  }

  std::vector<std::string> command() const {
    const RunOptions& run = line_.run;
    std::vector<std::string> c{line_.mpirun, "-n", std::to_string(line_.processes)};
    c.insert(c.end(), line_.mpirun_options.begin(), line_.mpirun_options.end());
    c.push_back(own_program().string());
    c.push_back(going_on_ ? "resume" : "run");
    c.push_back((going_on_ ? folder_ : line_.path).string());
    const auto add = [&](const std::string& flag, const std::string& value) {
      c.push_back(flag);
      c.push_back(value);
    };
    if (!going_on_) {
      add("--output", folder_.string());
      if (run.force) c.push_back("--force");
      if (run.keep_going) c.push_back("--keep-going");
    }
    // Those of a new run are in its folder once it has begun; those of a run that was there may be
    // given again, as a rank may die before they are written down.
    if (!going_on_ || takes_up_)
      for (const std::string& change : line_.overrides) add("--set", change);
    if (run.threads > 0) add("--threads", std::to_string(run.threads));
    if (!run.weights.empty()) add("--weights", fmt::format("{}", fmt::join(run.weights, ",")));
    if (run.max_wait_s) add("--max-wait", fmt::format("{} s", *run.max_wait_s));
    if (run.max_time_s)
      add("--max-time",
          fmt::format("{} s", std::max(0.1, *run.max_time_s - seconds_since(begin_))));
    add("--checkpoint-every", fmt::format("{} s", run.checkpoint_every_s));
    add("--keep", std::to_string(run.keep_checkpoints));
    add("--progress", run.progress);
    if (run.verbosity < 0) c.push_back("--quiet");
    for (int k = 0; k < run.verbosity; ++k) c.push_back("--verbose");
    if (line_.json) c.push_back("--json");
    return c;
  }

  /// Starts the ranks and waits for their end: the exit code. A first signal asks the run to stop,
  /// by its folder, which ranks on other machines see too; a second one ends it.
  int once() {
    const pid_t child = start(command(), signals_);
    for (int status = 0;;) {
      const pid_t ended = ::waitpid(child, &status, WNOHANG);
      if (ended == child) return code_of_process(status);
      if (signals_.wait(std::chrono::milliseconds(20)) != 0) {
        if (asked_) {
          ::kill(child, SIGTERM);
        } else {
          asked_ = true;
          std::cerr << "\nstopping with a checkpoint (once more: leave at once)\n";
        }
      }
      // A run that is about to begin takes away what it finds.
      std::error_code none;
      if (asked_ && manifest_time() != before_ && !fs::exists(folder_ / "STOP", none))
        ask_to_stop(folder_);
    }
  }

  const CommandLine& line_;
  HeldSignals signals_;
  Clock::time_point begin_ = Clock::now();
  fs::path folder_;
  std::optional<fs::file_time_type> before_;  ///< of what was there before
  bool takes_up_ = false;                     ///< a run that was there before
  bool going_on_ = false, asked_ = false;
};

}  // namespace

ExitCode verb_launch(const CommandLine& line) {
  if (parallel::is_mpi_rank())
    throw usage_error("launch starts mpirun, and has been started by one",
                      "`tessera launch -n 4 CASE`, without mpirun before it");
  return Launch(line).run();
}

}  // namespace tessera::apps
