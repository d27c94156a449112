// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/csv.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

/// metrics.csv: one header line, then one row per call. Rows reach the system at once (a killed
/// process loses none).
///
///     MetricsFile m(run.metrics_csv(), {"iteration", "rms"});
///     m.row({{3, 1.25}});
///     c.put("metrics_bytes", m.sync());  // in the checkpoint; and when the run is resumed:
///
///     MetricsFile m(run.metrics_csv(), {...}, c.scalar<std::uint64_t>("metrics_bytes"));
class MetricsFile {
 public:
  /// A new file. Errors as AtomicFile.
  MetricsFile(std::filesystem::path path, std::vector<std::string> columns);
  /// Goes on after a resume: cuts off the rows written since that checkpoint. Throws InputError
  /// E0419 (exit 8) when the file is shorter than `bytes` or begins with other columns.
  MetricsFile(std::filesystem::path path, std::vector<std::string> columns, std::uint64_t bytes);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  void row(std::span<const double> values);
  /// A row of ready texts (names, counts), quoted as needed.
  void row(std::span<const std::string> values);
  /// Makes what was written durable; returns the file's length in bytes.
  std::uint64_t sync();

 private:
  MetricsFile(std::filesystem::path path, std::size_t n_columns, int open_flags);
  void put(const std::string& line);
  std::filesystem::path path_;
  std::size_t n_columns_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace tessera::data
