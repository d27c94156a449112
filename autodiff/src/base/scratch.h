// SPDX-License-Identifier: Apache-2.0
//
// Memory that a kernel needs while it runs: from the engine's, which keeps what was freed, so that
// the steps of a plan ask nothing of the system once they have run.
#pragma once
#include "memory_internal.h"

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::detail {

template <class T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(detail::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { detail::deallocate(p, n * sizeof(T)); }
  /// Elements that are not said to have a value have none.
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... A>
  void construct(U* p, A&&... a) {
    ::new (static_cast<void*>(p)) U(std::forward<A>(a)...);
  }
  bool operator==(const ScratchAllocator&) const = default;
};

/// A vector of it, aligned to 64 bytes; `Scratch<T>(n)` is not filled.
template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

/// n elements of it, not filled; of bool, too.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit ScratchArray(std::size_t n) : memory_(n * sizeof(T)) {}
  bool empty() const { return memory_.empty(); }
  T* data() { return reinterpret_cast<T*>(memory_.data()); }
  T& operator[](std::size_t k) { return data()[k]; }

 private:
  Scratch<std::byte> memory_;
};

}  // namespace tessera::detail
