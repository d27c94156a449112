// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/exit_code.h"
#include "tessera/data/input_files.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::data {

/// A configuration that was changed when its run was taken up again.
struct ConfigChange {
  std::string at;                ///< UTC, ISO 8601
  std::vector<std::string> set;  ///< the changes, as `KEY=VALUE`
  std::string config_sha256;     ///< of the configuration before
  bool operator==(const ConfigChange&) const = default;
};

/// What `manifest.json` says of a run: enough to repeat it and to know what it ran on. JSON keys
/// are the member names.
struct Manifest {
  int schema = 1;
  std::string app;
  // the program
  std::string tessera_version, git_hash;
  bool git_dirty = false;
  std::string compiler, compiler_flags;
  std::vector<std::pair<std::string, std::string>> libraries;  ///< name, version
  // the machine
  std::string host, cpu;
  int threads = 1, ranks = 1;
  // the run
  std::string precision = "float64", determinism = "bitwise";
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> command_line;
  std::vector<std::pair<std::string, std::string>> environment;  ///< TESSERA_* variables
  std::string config_sha256;                                     ///< of resolved.toml as it is run
  std::vector<ConfigChange> changes;  ///< of it by `resume --set`, oldest first
  bool keep_going = false;            ///< input files with errors were left out
  std::vector<InputFile> inputs;
  int resumed = 0;  ///< how many times the run was taken up again
  // the end
  std::string started, ended;    ///< UTC, ISO 8601
  double wall_s = 0, cpu_s = 0;  ///< summed over all parts of a resumed run
  std::uint64_t peak_rss_bytes = 0;
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<std::pair<std::string, double>> speeds;  ///< by the clock, as STAGE.ns_per_day
  int exit_code = -1;                                  ///< -1 while running
  std::string exit_reason = "running";
  // not in the file
  double wall_before_s = 0, cpu_before_s = 0;  ///< of the process, by runs before this one
};

/// Fills in program, machine, command line, environment and the start time.
Manifest begin_manifest(std::string app, std::vector<std::string> command_line, int threads);

/// Takes the manifest of an interrupted run up again: its first start and its times are kept,
/// `resumed` grows.
Manifest resume_manifest(const Manifest& previous, std::vector<std::string> command_line,
                         int threads);

/// Adds this process's times and peak memory, the end time and the reason.
void finish_manifest(Manifest& m, ExitCode code, std::string reason);

std::string to_json(const Manifest& m);
/// Throws InputError E0404 (exit 4) where the text is no manifest or of a newer schema. `file` is
/// for messages.
Manifest manifest_from_json(std::string_view text, const std::string& file);

/// `2026-01-31T23:59:59Z`
std::string utc_now();

}  // namespace tessera::data
