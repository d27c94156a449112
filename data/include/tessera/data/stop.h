// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::data {

enum class StopReason { none, signal, stop_file, time_limit };
/// "stopped by signal 15 (SIGTERM)", "stopped by RUN/STOP", "stopped by --max-time"; empty for
/// none.
std::string to_string(StopReason reason);

struct StopOptions {
  std::vector<std::filesystem::path> stop_files;  ///< RUN/STOP, and of what it is a part of
  std::optional<double> max_time_s;  ///< --max-time, counted from the making of the guard
};

/// While it lives: SIGTERM, SIGHUP, SIGXCPU and the first SIGINT ask for a stop, the second SIGINT
/// leaves the process at once with 130, and SIGPIPE and SIGXFSZ turn into write errors. A SIGHUP
/// that was ignored before (`nohup`) stays ignored. Guards nest: a signal that came once asks all
/// of them, to the end of the outermost.
///
///     StopGuard stop({.stop_files = {run.stop_file()}, .max_time_s = limit});
///     for (...) {
///       step();
///       if (stop.poll() == StopReason::none) continue;
///       checkpoint();
///       return ExitCode::stopped_resumable;
///     }
class StopGuard {
 public:
  explicit StopGuard(StopOptions options = {});
  ~StopGuard();
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;
  /// Cheap enough for every step: the STOP file is looked for at most five times a second. Once
  /// set, a reason stays. Not safe to call from several threads at once.
  StopReason poll();

 private:
  StopOptions options_;
  std::chrono::steady_clock::time_point start_, next_look_;
  StopReason reason_ = StopReason::none;
};

/// True every `seconds` (--checkpoint-every); the first time after one period. 0 or less: never.
class Periodic {
 public:
  explicit Periodic(double seconds);
  bool due();

 private:
  std::chrono::steady_clock::duration period_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace tessera::data
