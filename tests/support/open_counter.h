// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/inotify.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::testing {

/// How often files are opened while it lives, by whomever: the kernel tells (inotify). It joins
/// equal events that follow each other, so reading and closing are watched too: no two openings
/// with one of them in between are taken for one.
class OpenCounter {
 public:
  explicit OpenCounter(const std::vector<std::filesystem::path>& files)
      : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    for (const auto& file : files) {
      const int watch =
          fd_ < 0 ? -1 : ::inotify_add_watch(fd_, file.c_str(), IN_OPEN | IN_ACCESS | IN_CLOSE);
      if (watch < 0) throw std::runtime_error("cannot watch " + file.string());
      name_[watch] = file.filename();
    }
  }
  ~OpenCounter() { ::close(fd_); }
  OpenCounter(const OpenCounter&) = delete;
  OpenCounter& operator=(const OpenCounter&) = delete;

  /// So far, by the names of the files.
  std::map<std::string, int> counts() {
    alignas(inotify_event) char buffer[1 << 16];
    for (ssize_t n; (n = ::read(fd_, buffer, sizeof buffer)) > 0;)
      for (const char* at = buffer; at < buffer + n;) {
        const auto& e = *reinterpret_cast<const inotify_event*>(at);
        if (e.mask & IN_Q_OVERFLOW) throw std::runtime_error("too many events");
        if (e.mask & IN_OPEN) ++counts_[name_.at(e.wd)];
        at += sizeof e + e.len;
      }
    return counts_;
  }

 private:
  int fd_;
  std::map<int, std::string> name_;
  std::map<std::string, int> counts_;
};

}  // namespace tessera::testing
