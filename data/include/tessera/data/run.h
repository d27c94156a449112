// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/manifest.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::data {

/// A run folder, held by this process alone while the object lives (`RUN/lock`, pid and host
/// inside):
/// RUN/{input.toml,resolved.toml,manifest.json,log.txt,metrics.csv,results.h5,heartbeat.json,ckpt/,plots/}.
/// The same layout for every app; see docs/reference/run-folder.md.
class RunFolder {
 public:
  /// A new run. An existing folder is refused (E0510, exit 2) unless it is empty or `force` is
  /// given; `force` removes the files named above and nothing else, and nothing of a folder that no
  /// run has made (E0510). What an app writes besides stays until it is replaced. Another process
  /// on the folder: E0511, exit 2.
  static RunFolder create(const std::filesystem::path& path, bool force = false);
  /// Takes up an interrupted run. A folder without a manifest.json is refused (E0512, exit 2).
  /// Clears a STOP file.
  static RunFolder reopen(const std::filesystem::path& path);

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();  ///< gives the lock back

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path input_toml() const { return path_ / "input.toml"; }
  std::filesystem::path resolved_toml() const { return path_ / "resolved.toml"; }
  std::filesystem::path manifest_json() const { return path_ / "manifest.json"; }
  std::filesystem::path log_txt() const { return path_ / "log.txt"; }
  std::filesystem::path metrics_csv() const { return path_ / "metrics.csv"; }
  std::filesystem::path results_h5() const { return path_ / "results.h5"; }
  std::filesystem::path heartbeat_json() const { return path_ / "heartbeat.json"; }
  std::filesystem::path stop_file() const { return path_ / "STOP"; }
  std::filesystem::path checkpoints() const { return path_ / "ckpt"; }
  std::filesystem::path plots() const { return path_ / "plots"; }

  /// Replaces `RUN/name` in one step (a killed process leaves the old or the new text, never a
  /// part).
  void write_text(const std::string& name, std::string_view content) const;
  void write_manifest(const Manifest& m) const { write_text("manifest.json", to_json(m)); }
  Manifest read_manifest() const;

 private:
  struct Lock;
  explicit RunFolder(std::filesystem::path path);
  std::filesystem::path path_;
  std::unique_ptr<Lock> lock_;
};

/// Asks a running process to stop with a checkpoint: makes `RUN/STOP` (the verb `stop`).
void request_stop(const std::filesystem::path& run);

}  // namespace tessera::data
