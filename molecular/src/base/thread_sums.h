// SPDX-License-Identifier: Apache-2.0
//
// Sums of whole numbers to which every thread adds in an array of its own. What is taken out is
// zero again, and only where somebody had added: between uses nothing needs to be cleared, and a
// thread's lines of the cache stay with it.
#pragma once
#include "aligned_array.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::molecular {

template <class T>
class ThreadSums {
 public:
  /// For `threads` threads that add to [0, n); they then `open` theirs. What was added before and
  /// not taken is lost.
  void begin(std::size_t threads, std::size_t n) {
    own_.resize(threads);
    n_ = n;
    all_zero_ = std::exchange(taken_, false);
  }
  T* open(std::size_t thread) {
    Array<T>& own = own_[thread];
    if (!all_zero_ || own.size() != n_) own.assign(n_, 0);
    return own.data();
  }
  bool empty() const { return own_.empty(); }
  /// sum[k] = what all threads added at begin + k, modulo the range of T.
  void take(std::size_t begin, std::size_t end, T* sum) {
    std::fill_n(sum, end - begin, 0);
    for (auto& own : own_) {
      std::size_t k = begin;
      for (; k + strip <= end; k += strip) move(own.data() + k, sum + (k - begin), strip);
      move(own.data() + k, sum + (k - begin), end - k);
    }
  }
  /// All of [0, n) has been taken.
  void all_taken() { taken_ = true; }

 private:
  static constexpr std::size_t strip = 64;
  /// Writes to `own` only if there is something to take.
  [[gnu::always_inline]] static void move(T* own, T* sum, std::size_t many) {
    using Wrapping = std::make_unsigned_t<T>;
    T any = 0;
    for (std::size_t k = 0; k < many; ++k) {
      sum[k] = static_cast<T>(static_cast<Wrapping>(sum[k]) + static_cast<Wrapping>(own[k]));
      any |= own[k];
    }
    if (any == 0) return;
    for (std::size_t k = 0; k < many; ++k) own[k] = 0;
  }

  std::vector<Array<T>> own_;
  std::size_t n_ = 0;
  bool all_zero_ = false, taken_ = false;
};

}  // namespace tessera::molecular
