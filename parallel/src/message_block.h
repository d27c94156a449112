// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/dtype.h"

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace tessera::parallel {

/// Memory that is not set before it is written.
struct MessageBlock {
  explicit MessageBlock(std::size_t bytes)
      : data(std::make_unique_for_overwrite<std::byte[]>(bytes)), size(bytes) {}
  std::span<std::byte> all() const { return {data.get(), size}; }
  std::unique_ptr<std::byte[]> data;
  std::size_t size;
};

template <class T>
void add_values(T* y, const T* x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) y[k] = static_cast<T>(y[k] + x[k]);
}
/// y += x, of n bytes.
inline void add_bytes(Dtype dtype, std::byte* y, const std::byte* x, std::size_t n) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>)
      add_values(reinterpret_cast<T*>(y), reinterpret_cast<const T*>(x), n / sizeof(T));
  });
}

}  // namespace tessera::parallel
