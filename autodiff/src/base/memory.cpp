// SPDX-License-Identifier: Apache-2.0
//
// Blocks are reused: small ones from a list per thread and size class, large ones from one shared
// list, so that a chain of operations on large arrays does not pay page faults for every result.
// The list keeps what was freed last: together with what is in use at most kKept, or a quarter more
// than was ever in use at once.
#include "tessera/autodiff/memory.h"

#include "fast_thread_local.h"
#include "memory_internal.h"
#include "tessera/autodiff/error.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace tessera {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kSmall = 1 << 16;    // largest block kept per thread
constexpr std::size_t kKept = 512u << 20;  // bytes that are kept in any case

std::atomic<std::size_t> in_use{0}, peak{0}, cached{0}, allocations{0}, limit{0};

/// Sizes are rounded so that blocks fit again: powers of two in eighths.
std::size_t rounded(std::size_t bytes) {
  if (bytes <= kAlign) return kAlign;
  const std::size_t step = std::max<std::size_t>(kAlign, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

class LargeCache {
 public:
  /// A block of exactly `bytes`, the one freed last; null: there is none.
  void* take(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    const auto [begin, end] = by_size_.equal_range(bytes);
    if (begin == end) return nullptr;
    const auto last = std::prev(end)->second;
    void* const p = last->p;
    unlist(std::prev(end), last);
    cached.fetch_sub(bytes, std::memory_order_relaxed);
    return p;
  }
  void keep(std::size_t bytes, void* p) {
    std::lock_guard lock(mutex_);
    most_ = std::max(most_, in_use.load(std::memory_order_relaxed) + bytes);
    list(bytes, p);
    cached.fetch_add(bytes, std::memory_order_relaxed);
    shrink();
  }
  /// Blocks freed long ago make room for one more in use.
  void make_room() {
    std::lock_guard lock(mutex_);
    shrink();
  }
  void clear() {
    std::lock_guard lock(mutex_);
    most_ = 0;
    while (!by_age_.empty()) drop_oldest();
  }

 private:
  struct Block {
    std::size_t bytes;
    void* p;
  };
  using Blocks = std::list<Block>;
  using Sizes = std::multimap<std::size_t, Blocks::iterator>;

  // Places in the lists are used again: a block that goes to and fro takes none of the system.
  void list(std::size_t bytes, void* p) {
    if (spare_.empty()) {
      by_age_.push_back({bytes, p});
      by_size_.emplace(bytes, std::prev(by_age_.end()));
      return;
    }
    Sizes::node_type place = std::move(spare_.back());
    spare_.pop_back();
    by_age_.splice(by_age_.end(), spare_ages_, spare_ages_.begin());
    by_age_.back() = {bytes, p};
    place.key() = bytes;
    place.mapped() = std::prev(by_age_.end());
    by_size_.insert(std::move(place));
  }
  void unlist(Sizes::iterator size, Blocks::iterator age) {
    spare_.push_back(by_size_.extract(size));
    spare_ages_.splice(spare_ages_.end(), by_age_, age);
  }

  void shrink() {
    const std::size_t now = in_use.load(std::memory_order_relaxed);
    while (!by_age_.empty() &&
           now + cached.load(std::memory_order_relaxed) > std::max(most_ + most_ / 4, kKept))
      drop_oldest();
  }
  void drop_oldest() {
    const Block oldest = by_age_.front();
    unlist(by_size_.lower_bound(oldest.bytes), by_age_.begin());
    cached.fetch_sub(oldest.bytes, std::memory_order_relaxed);
    std::free(oldest.p);
  }

  std::mutex mutex_;
  Blocks by_age_;  ///< the one freed last at the end
  Sizes by_size_;  ///< those of a size in the order of age
  std::vector<Sizes::node_type> spare_;
  Blocks spare_ages_;
  std::size_t most_ = 0;  ///< in use at once, as blocks were freed, since the cache was cleared
};
LargeCache& large() {
  static LargeCache* cache = new LargeCache;  // outlives every static tensor
  return *cache;
}

struct SmallCache {
  struct Node {
    Node* next;
  };
  static constexpr int kClasses = 96;
  std::array<Node*, kClasses> head{};
  std::array<int, kClasses> count{};
  static int class_of(std::size_t r) {  // r is a rounded size: (power of two) x (8..15)/8
    const int log = std::bit_width(r) - 1;
    return (log - 6) * 8 + static_cast<int>((r >> (log - 3)) & 7);
  }
  ~SmallCache() {
    for (Node* n : head)
      while (n) {
        Node* next = n->next;
        std::free(n);
        n = next;
      }
  }
};
// Tensors may die after this thread's cache did (static destructors); then they are freed plainly.
TESSERA_FAST_THREAD_LOCAL SmallCache* known_small_cache = nullptr;
struct SmallCacheOwner {
  SmallCache cache;
  SmallCacheOwner() { known_small_cache = &cache; }
  ~SmallCacheOwner() { known_small_cache = nullptr; }
};
SmallCache* first_small_cache() {
  static thread_local SmallCacheOwner owner;
  (void)owner;
  return known_small_cache;
}
SmallCache* small_cache() { return known_small_cache ? known_small_cache : first_small_cache(); }

void* fresh(std::size_t r) {
  const std::size_t unit = r >= (2u << 20) ? std::size_t{2} << 20 : kAlign;
  void* p = std::aligned_alloc(unit, (r + unit - 1) / unit * unit);
  if (!p) {
    large().clear();
    p = std::aligned_alloc(unit, (r + unit - 1) / unit * unit);
  }
  if (!p) throw OutOfMemory("[memory] the system has no block of " + std::to_string(r) + " bytes");
  if (r >= (2u << 20)) madvise(p, r, MADV_HUGEPAGE);
  return p;
}

/// A block of r bytes, reused or new.
void* block(std::size_t r) {
  if (r <= kSmall) {
    if (SmallCache* c = small_cache()) {
      const int k = SmallCache::class_of(r);
      if (SmallCache::Node* n = c->head[k]) {
        c->head[k] = n->next;
        --c->count[k];
        return n;
      }
    }
    return fresh(r);
  }
  if (void* const p = large().take(r)) return p;
  large().make_room();
  void* p = fresh(r);
  allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}

}  // namespace

namespace detail {

void* allocate(std::size_t bytes) {
  const std::size_t r = rounded(bytes);
  const std::size_t now = in_use.fetch_add(r, std::memory_order_relaxed) + r;
  const std::size_t cap = limit.load(std::memory_order_relaxed);
  if (cap && now > cap) {
    in_use.fetch_sub(r, std::memory_order_relaxed);
    throw OutOfMemory("[memory] " + std::to_string(r) + " bytes more would exceed the limit of " +
                      std::to_string(cap) + " bytes (" + std::to_string(now - r) +
                      " in use); raise it with set_memory_limit");
  }
  void* p;
  try {
    p = block(r);
  } catch (...) {
    in_use.fetch_sub(r, std::memory_order_relaxed);
    throw;
  }
  for (std::size_t seen = peak.load(std::memory_order_relaxed);
       now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return p;
}

void deallocate(void* p, std::size_t bytes) {
  const std::size_t r = rounded(bytes);
  in_use.fetch_sub(r, std::memory_order_relaxed);
  if (r <= kSmall) {
    SmallCache* c = small_cache();
    const int k = SmallCache::class_of(r);
    if (!c || c->count[k] > 256) return std::free(p);
    auto* n = static_cast<SmallCache::Node*>(p);
    n->next = c->head[k];
    c->head[k] = n;
    ++c->count[k];
    return;
  }
  large().keep(r, p);
}

}  // namespace detail

MemoryBlock::MemoryBlock(std::size_t bytes) : data_(detail::allocate(bytes)), bytes_(bytes) {}
MemoryBlock::~MemoryBlock() {
  if (data_) detail::deallocate(data_, bytes_);
}
MemoryBlock::MemoryBlock(MemoryBlock&& o) noexcept
    : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
MemoryBlock& MemoryBlock::operator=(MemoryBlock&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(bytes_, o.bytes_);
  return *this;
}

MemoryStats memory_stats() {
  return {in_use.load(), peak.load(), cached.load(), allocations.load()};
}
void reset_peak_memory() { peak.store(in_use.load()); }
void set_memory_limit(std::size_t bytes) { limit.store(bytes); }
std::size_t memory_limit() { return limit.load(); }
void release_cached_memory() { large().clear(); }

}  // namespace tessera
