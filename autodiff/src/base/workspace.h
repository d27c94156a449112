// SPDX-License-Identifier: Apache-2.0
//
// Memory that was set aside for one kernel: all threads that run it take pieces and give them back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tessera::detail {

/// What so many bytes, or an array of n elements, take of a workspace.
constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
template <class T>
constexpr std::size_t scratch_bytes(std::int64_t n) {
  return whole_lines(static_cast<std::size_t>(n) * sizeof(T));
}

class Workspace {
 public:
  /// `begin` is aligned to 64; so are all pieces.
  Workspace(std::byte* begin, std::size_t bytes);
  Workspace(const Workspace&) = delete;
  /// `bytes` > 0. Null: no piece is free that is as large.
  void* take(std::size_t bytes);
  /// What `take(bytes)` returned; false: it is of elsewhere.
  bool give(void* p, std::size_t bytes);
  std::size_t most() const { return most_; }      ///< bytes that were taken at once
  std::size_t missed() const { return missed_; }  ///< bytes of pieces that it did not have

 private:
  struct Piece {
    Piece* next;
    std::size_t bytes;
    std::byte* end() { return reinterpret_cast<std::byte*>(this) + bytes; }
  };
  std::mutex mutex_;
  std::byte *const begin_, *const end_;
  Piece* free_;  ///< in the order of their places, none beside another
  std::size_t taken_ = 0, most_ = 0, missed_ = 0;
};

}  // namespace tessera::detail
