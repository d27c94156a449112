// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace tessera::molecular {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};
/// Begins where vectors of any width may be loaded.
template <class T>
using Array = std::vector<T, AlignedAllocator<T>>;

}  // namespace tessera::molecular
