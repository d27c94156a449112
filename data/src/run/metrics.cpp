// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/metrics.h"

#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tessera::data {
namespace {

std::string header_line(const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& c : columns) line += (line.empty() ? "" : ",") + csv_field(c);
  return line + "\n";
}

[[noreturn]] void refuse_resume(const std::filesystem::path& path, std::string message) {
  throw InputError(
      {.number = 419,
       .place = {path.string()},
       .message = std::move(message),
       .hint = "the file was changed since the checkpoint; restore it or start a new run"},
      ExitCode::checkpoint_damaged);
}

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path path, std::size_t n_columns, int open_flags)
    : path_(std::move(path)),
      n_columns_(n_columns),
      fd_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | open_flags, 0666)) {
  if (fd_ < 0) throw_io_error(path_, "open for writing", errno);
}

MetricsFile::MetricsFile(std::filesystem::path path, std::vector<std::string> columns)
    : MetricsFile(std::move(path), columns.size(), O_CREAT | O_TRUNC) {
  put(header_line(columns));
}

MetricsFile::MetricsFile(std::filesystem::path path, std::vector<std::string> columns,
                         std::uint64_t bytes)
    : MetricsFile(std::move(path), columns.size(), 0) {
  const std::string header = header_line(columns), have = read_file(path_);
  if (!have.starts_with(header))
    refuse_resume(path_, "expected the columns " + header.substr(0, header.size() - 1));
  if (bytes < header.size() || have.size() < bytes)
    refuse_resume(path_, "the checkpoint was written after " + std::to_string(bytes) +
                             " bytes of this file, it has " + std::to_string(have.size()));
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0 || ::lseek(fd_, 0, SEEK_END) < 0)
    throw_io_error(path_, "cut back to the checkpoint", errno);
  bytes_ = bytes;
}

MetricsFile::~MetricsFile() {
  if (fd_ >= 0) ::close(fd_);
}

void MetricsFile::put(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error(path_, "write", n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  bytes_ += line.size();
}

void MetricsFile::row(std::span<const double> values) {
  std::vector<std::string> texts;
  for (double v : values) texts.push_back(number_text(v));
  row(texts);
}

void MetricsFile::row(std::span<const std::string> values) {
  if (values.size() != n_columns_)
    throw Error("[metrics] " + path_.string() + ": a row of " + std::to_string(values.size()) +
                " values for " + std::to_string(n_columns_) + " columns");
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) line += (i ? "," : "") + csv_field(values[i]);
  put(line + "\n");
}

std::uint64_t MetricsFile::sync() {
  if (::fsync(fd_) != 0) throw_io_error(path_, "sync", errno);
  return bytes_;
}

}  // namespace tessera::data
