// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/file_io.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace tessera::data {

/// Writes to a file by a thread of its own, past the cache of the system, so that the one who makes
/// the bytes need not wait for the disk and nothing copies them but once. `finish` waits for the
/// last of them and throws what a write has thrown; without it the rest is dropped. It holds a
/// thirtieth of the `bytes` that are to come, 384 kB at least and 96 MB at most.
class WriteBehind {
 public:
  WriteBehind(AtomicFile& file, std::uint64_t bytes)
      : file_(file),
        room_(std::clamp<std::uint64_t>(bytes / 30 / n_pieces / AtomicFile::disk_block, 16, 4096) *
              AtomicFile::disk_block),
        thread_([this] { write_all(); }) {
    file_.write_past_cache(true);
  }
  ~WriteBehind() { end(true); }
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  void write(const void* bytes, std::size_t n) {
    const auto* p = static_cast<const char*>(bytes);
    while (n > 0) {
      Piece& to = piece(filled_);
      if (!to.bytes) to.bytes.reset(new (std::align_val_t{AtomicFile::disk_block}) char[room_]);
      const std::size_t take = std::min(n, room_ - to.size);
      std::memcpy(to.bytes.get() + to.size, p, take);
      to.size += take;
      p += take, n -= take;
      if (to.size == room_) hand_over();
    }
  }
  void finish() {
    if (piece(filled_).size > 0) hand_over();
    end(false);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::size_t n_pieces = 6;
  struct Free {
    void operator()(char* p) const {
      ::operator delete[](p, std::align_val_t{AtomicFile::disk_block});
    }
  };
  struct Piece {
    std::unique_ptr<char[], Free> bytes;
    std::size_t size = 0;
  };
  Piece& piece(std::size_t k) { return pieces_[k % pieces_.size()]; }
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
      Piece& from = piece(written_);
      if (!failure_ && !drops_) {
        hold.unlock();
        std::exception_ptr failed;
        try {
          if (from.size < room_) file_.write_past_cache(false);  // the last one
          file_.write(from.bytes.get(), from.size);
        } catch (...) {
          failed = std::current_exception();
        }
        hold.lock();
        failure_ = failed;
      }
      from.size = 0;
      ++written_;
      changed_.notify_all();
    }
  }

  AtomicFile& file_;
  const std::size_t room_;  ///< of a piece
  std::array<Piece, n_pieces> pieces_;
  std::size_t filled_ = 0, written_ = 0;  ///< pieces
  bool ends_ = false, drops_ = false;
  std::exception_ptr failure_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace tessera::data
