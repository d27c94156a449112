// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/file_io.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::data {

/// Writes to a file by a thread of its own, so that the one who makes the bytes need not wait for
/// the disk. `finish` waits for the last of them and throws what a write has thrown; without it the
/// rest is dropped.
class WriteBehind {
 public:
  explicit WriteBehind(AtomicFile& file) : file_(file), thread_([this] { write_all(); }) {}
  ~WriteBehind() { end(true); }
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  void write(const void* bytes, std::size_t n) {
    const auto* p = static_cast<const char*>(bytes);
    while (n > 0) {
      std::vector<char>& to = piece(filled_);
      if (to.empty()) to.reserve(room);
      const std::size_t take = std::min(n, room - to.size());
      to.insert(to.end(), p, p + take);
      p += take, n -= take;
      if (to.size() == room) hand_over();
    }
  }
  void finish() {
    if (!piece(filled_).empty()) hand_over();
    end(false);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::size_t room = std::size_t{4} << 20;
  std::vector<char>& piece(std::size_t k) { return pieces_[k % pieces_.size()]; }
  void hand_over() {
    std::unique_lock hold(lock_);
    ++filled_;
    changed_.notify_all();
    changed_.wait(hold, [&] { return filled_ - written_ < pieces_.size(); });
    if (failure_) std::rethrow_exception(failure_);
  }
  void end(bool drop) {
    {
      const std::lock_guard hold(lock_);
      ends_ = true;
      drops_ = drops_ || drop;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  void write_all() {
    std::unique_lock hold(lock_);
    while (true) {
      changed_.wait(hold, [&] { return written_ < filled_ || ends_; });
      if (written_ == filled_) return;
      std::vector<char>& from = piece(written_);
      if (!failure_ && !drops_) {
        hold.unlock();
        std::exception_ptr failed;
        try {
          file_.write(from.data(), from.size());
        } catch (...) {
          failed = std::current_exception();
        }
        hold.lock();
        failure_ = failed;
      }
      from.clear();
      ++written_;
      changed_.notify_all();
    }
  }

  AtomicFile& file_;
  std::array<std::vector<char>, 3> pieces_;
  std::size_t filled_ = 0, written_ = 0;  ///< pieces
  bool ends_ = false, drops_ = false;
  std::exception_ptr failure_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace tessera::data
