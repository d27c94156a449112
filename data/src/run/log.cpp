// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/log.h"

#include "run/terminal.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace tessera::data {
namespace {

spdlog::level::level_enum level_of(LogLevel l) {
  switch (l) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

/// Control characters from foreign files must not steer the terminal or fake lines in the file.
std::string made_safe(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  return out;
}

/// Appends whole lines with one write each and remembers the first failure.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::filesystem::path& path) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd_ < 0) throw_io_error(path, "open log", errno);
  }
  ~FileSink() override { ::close(fd_); }
  int take_failure() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failed_, 0);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const char* p = line.data();
    for (std::size_t left = line.size(); left > 0;) {
      const ssize_t n = ::write(fd_, p, left);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        if (!failed_) failed_ = n < 0 ? errno : ENOSPC;
        return;
      }
      p += n, left -= static_cast<std::size_t>(n);
    }
  }
  void flush_() override {}

 private:
  int fd_ = -1, failed_ = 0;
};

class TerminalSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line;
    if (message.level == spdlog::level::warn) line = "warning: ";
    if (message.level == spdlog::level::err) line = "error: ";
    line.append(message.payload.data(), message.payload.size());
    terminal::write_line(STDERR_FILENO, line);
  }
  void flush_() override {}
};

}  // namespace

struct Log::Impl {
  spdlog::logger logger{"run"};
  std::shared_ptr<FileSink> file;
  std::filesystem::path path;
};

Log::Log(LogOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->path = options.file;
  impl_->logger.set_level(spdlog::level::debug);
  if (!options.file.empty()) {
    impl_->file = std::make_shared<FileSink>(options.file);
    impl_->file->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc));
    impl_->logger.sinks().push_back(impl_->file);
  }
  if (options.terminal != LogLevel::off) {
    impl_->logger.sinks().push_back(std::make_shared<TerminalSink>());
    impl_->logger.sinks().back()->set_level(level_of(options.terminal));
  }
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view text) {
  impl_->logger.log(level_of(level), made_safe(text));
}

void Log::flush() {
  if (!impl_->file) return;
  if (const int failed = impl_->file->take_failure())
    throw_io_error(impl_->path, "write log", failed);
}

}  // namespace tessera::data
