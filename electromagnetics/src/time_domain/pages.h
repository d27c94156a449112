// SPDX-License-Identifier: Apache-2.0
//
// Memory of the time steps: a step walks some twenty rows side by side, more than the small pages
// that a core keeps track of in time, so that much memory lies in pages of 2 MiB.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// Numbers that begin at a cache line, much of them in large pages.
template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}
  static constexpr std::size_t page = std::size_t{2} << 20;
  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t(n * sizeof(T) < page ? 64 : page);
  }
  T* allocate(std::size_t n) {
    T* p = static_cast<T*>(::operator new(n * sizeof(T), alignment(n)));
    if (n * sizeof(T) >= page) madvise(p, n * sizeof(T) / page * page, MADV_HUGEPAGE);
    return p;
  }
  void deallocate(T* p, std::size_t n) { ::operator delete(p, alignment(n)); }
  bool operator==(const PageAllocator&) const { return true; }
};
template <class T>
using PagedVector = std::vector<T, PageAllocator<T>>;

/// Rows of coefficients, one copy of each content, in the order of their first use, which is that
/// in which steps read them.
template <class T>
class RowPool {
 public:
  /// Valid as long as the pool. Rows are of whole cache lines.
  const T* keep(const std::vector<T>& row) {
    const std::size_t hash = std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(T)});
    for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
      if (std::memcmp(at->second, row.data(), row.size() * sizeof(T)) == 0) return at->second;
    if (chunks_.empty() || chunks_.back().size() + row.size() > chunks_.back().capacity()) {
      chunks_.emplace_back();
      chunks_.back().reserve(chunks_.size() == 1 ? 64 * row.size()
                                                 : (std::size_t{8} << 20) / sizeof(T) + row.size());
    }
    PagedVector<T>& chunk = chunks_.back();
    chunk.insert(chunk.end(), row.begin(), row.end());
    size_ += row.size();
    return known_.emplace(hash, chunk.data() + chunk.size() - row.size())->second;
  }
  std::size_t size() const { return size_; }  ///< numbers

 private:
  std::vector<PagedVector<T>> chunks_;  // never grown beyond what was reserved
  std::unordered_multimap<std::size_t, const T*> known_;
  std::size_t size_ = 0;
};

}  // namespace tessera::electromagnetics::time_domain
