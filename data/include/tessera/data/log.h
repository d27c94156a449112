// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string_view>

namespace tessera::data {

enum class LogLevel { debug, info, warning, error, off };

struct LogOptions {
  std::filesystem::path file;  ///< RUN/log.txt, appended to; empty: none
  LogLevel terminal =
      LogLevel::info;  ///< what standard error shows (-q: warning, -v: debug); the file gets all
};

/// The run's log: `2026-01-31T23:59:59.123Z info  text` in the file, plain text on standard error
/// (a progress bar there is moved out of the way). Safe from several threads.
class Log {
 public:
  /// Throws InputError E0501..E0503 when the file cannot be opened.
  explicit Log(LogOptions options = {});
  ~Log();
  void debug(std::string_view text) { write(LogLevel::debug, text); }
  void info(std::string_view text) { write(LogLevel::info, text); }
  void warning(std::string_view text) { write(LogLevel::warning, text); }
  void error(std::string_view text) { write(LogLevel::error, text); }
  void write(LogLevel level, std::string_view text);
  /// Throws InputError E0501/E0503 when anything since the last call could not be written (disk
  /// full).
  void flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::data
