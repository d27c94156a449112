// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace tessera::detail {

/// `n` uninitialised elements on the stack, on the heap where there are more than 64: loops carry
/// many operands.
template <class T>
class SmallArray {
  static_assert(std::is_trivial_v<T>);

 public:
  explicit SmallArray(std::size_t n) : size_(n) {
    if (n > kInline) {
      heap_.reset(new T[n]);
      data_ = heap_.get();
    }
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;
  T& operator[](std::size_t k) { return data_[k]; }
  T* data() { return data_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<T> first(std::size_t n) { return {data_, n}; }

 private:
  static constexpr std::size_t kInline = 64;
  std::size_t size_;
  T inline_[kInline];
  T* data_ = inline_;
  std::unique_ptr<T[]> heap_;
};

}  // namespace tessera::detail
