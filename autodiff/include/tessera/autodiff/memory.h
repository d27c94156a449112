// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"

#include <cstddef>

namespace tessera {

/// Thrown where the system has no block of memory left, or the limit does not allow it.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Bytes held by live tensors and plans (`in_use`), their highest value since the last reset
/// (`peak`), bytes of freed blocks kept for reuse (`cached`: with `in_use` at most 512 MiB, or a
/// quarter more than was ever in use at once; the oldest go first), and the number of large
/// allocations made.
struct MemoryStats {
  std::size_t in_use = 0, peak = 0, cached = 0, allocations = 0;
};
MemoryStats memory_stats();
void reset_peak_memory();

/// Allocations that would take `in_use` beyond `bytes` throw OutOfMemory, naming both figures. 0
/// removes the limit.
void set_memory_limit(std::size_t bytes);
std::size_t memory_limit();

/// Memory for those who compute on it: aligned to 64 bytes, not filled. It counts as in use, and
/// what was freed is used again.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  explicit MemoryBlock(std::size_t bytes);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& o) noexcept;
  MemoryBlock& operator=(MemoryBlock&& o) noexcept;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Returns cached blocks to the operating system, and forgets what was in use at once.
void release_cached_memory();

}  // namespace tessera
