// SPDX-License-Identifier: Apache-2.0
#include "arenas.h"

#include "../base/memory_internal.h"

#include <algorithm>

namespace tessera::plan {
namespace {

Arenas::Block fresh(std::size_t bytes) {
  return {static_cast<std::byte*>(detail::allocate(bytes)), bytes};
}
void drop(Arenas::Block b) {
  if (b.data) detail::deallocate(b.data, b.bytes);
}

}  // namespace

Arenas::~Arenas() {
  for (const Block& b : idle_) drop(b);
}

Arenas::Block Arenas::take(std::size_t bytes) {
  if (bytes == 0) return {};
  Block too_small;
  {
    std::lock_guard lock(mutex_);
    auto found = idle_.end(), largest = idle_.end();
    for (auto b = idle_.begin(); b != idle_.end(); ++b) {
      if (b->bytes >= bytes && (found == idle_.end() || b->bytes < found->bytes)) found = b;
      if (largest == idle_.end() || b->bytes > largest->bytes) largest = b;
    }
    const bool fits = found != idle_.end();
    if (!fits) found = largest;
    if (found != idle_.end()) {
      const Block b = *found;
      idle_.erase(found);
      if (fits) return b;
      too_small = b;
    }
  }
  drop(too_small);  // before the new one, that both are never there at once
  return fresh(bytes);
}

void Arenas::give(Block b) {
  if (!b.data) return;
  {
    std::lock_guard lock(mutex_);
    if (b.bytes <= largest_) {
      idle_.push_back(b);
      return;
    }
  }
  drop(b);
}

void Arenas::set_largest(std::size_t bytes) {
  std::vector<Block> gone;
  {
    std::lock_guard lock(mutex_);
    largest_ = bytes;
    const auto kept = std::partition(idle_.begin(), idle_.end(),
                                     [&](const Block& b) { return b.bytes <= bytes; });
    gone.assign(kept, idle_.end());
    idle_.erase(kept, idle_.end());
  }
  for (const Block& b : gone) drop(b);
}

Lease::Lease(Arenas* arenas, std::size_t bytes) : arenas_(arenas) {
  if (arenas)
    block_ = arenas->take(bytes);
  else if (bytes)
    block_ = fresh(bytes);
}

Lease::~Lease() {
  if (arenas_)
    arenas_->give(block_);
  else
    drop(block_);
}

}  // namespace tessera::plan
