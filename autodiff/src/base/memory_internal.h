// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>

namespace tessera::detail {
/// A block of at least `bytes`, aligned to 64; counted against the limit. Uninitialised.
void* allocate(std::size_t bytes);
/// Gives back what `allocate(bytes)` returned; `bytes` as asked for.
void deallocate(void* p, std::size_t bytes);
}  // namespace tessera::detail
