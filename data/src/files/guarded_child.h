// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace tessera::data {

struct ChildLimits {
  std::uint64_t memory_bytes = std::uint64_t{1}
                               << 30;  ///< above what the process has mapped already
  unsigned cpu_seconds = 120;
};

/// Runs `work` in a forked child under limits on memory, CPU time and written files, and returns
/// its bytes, so that a library that crashes on `file` costs an error message and not the process.
/// An InputError thrown by `work` is thrown here again; a child that dies is InputError E0429:
/// "reader stopped (signal 11)". SIGINT, SIGTERM and SIGHUP do not end it before the process
/// itself. `work` may use only what survives a fork: no other threads, no output.
std::string run_guarded(const std::filesystem::path& file, const ChildLimits& limits,
                        const std::function<std::string()>& work);

}  // namespace tessera::data
