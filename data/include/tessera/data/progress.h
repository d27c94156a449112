// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::data {

enum class ProgressStyle {
  automatic,  ///< bar where the output is a terminal, else plain
  bar,        ///< one line, redrawn: [####    ] 42 % 12.3 soundings/s ETA 1 min 20 s
  plain,      ///< a line at each tenth of the work, and at least every 60 s
  json,       ///< one JSON object per line
  none
};
/// "auto", "bar", "plain", "json", "none" (--progress=...). Throws Error on anything else.
ProgressStyle progress_style(std::string_view name);

struct ProgressOptions {
  ProgressStyle style = ProgressStyle::automatic;
  std::string phase = "run";   ///< what is being done, shown first
  std::string unit = "steps";  ///< of what `done` counts
  std::uint64_t total = 0;     ///< 0: unknown (ended by a tolerance), no percentage and no ETA
  std::uint64_t already_done =
      0;  ///< done before a resume: counts for the percentage, not for the rate
  std::filesystem::path heartbeat;  ///< RUN/heartbeat.json, renewed every second; empty: none
  int fd = 2;                       ///< where lines go: standard error
  std::function<double()> clock;    ///< seconds; for tests. Empty: the steady clock
};

/// Tells how far a run is. The ETA follows the rate over the last part of the run (exponential
/// average, 30 s), so that it stays true when the speed changes. May be called from several
/// threads.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress();
  /// `values` are shown behind the rate (for instance {"rms", 1.02}, {"decay_db", -31}).
  void update(std::uint64_t done, const std::vector<std::pair<std::string, double>>& values = {});
  /// Ends the line; `state` goes to the heartbeat: "finished", "stopped", "failed".
  void finish(std::string_view state = "finished");

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "3 h 07 min", "1 min 20 s", "12 s"
std::string duration_text(double seconds);

}  // namespace tessera::data
