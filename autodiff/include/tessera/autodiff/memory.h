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

/// Returns cached blocks to the operating system, and forgets what was in use at once.
void release_cached_memory();

}  // namespace tessera
