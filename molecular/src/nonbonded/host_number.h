// SPDX-License-Identifier: Apache-2.0
//
// One number of the host as the formulas of pairs take it (kernels/pair_formulas.h): a double, or a
// dual number of it, which gives the derivatives that the formulas promise.
#pragma once
#include "../base/dual.h"

#include <cmath>
#include <type_traits>

namespace tessera::molecular {

template <class T>
struct HostNumber {
  using N = double;
  using V = T;
  static constexpr bool lean = true;  ///< one body for all modifiers
  static V set(double v) { return V(v); }
  static V fma(const V& a, const V& b, const V& c) {
    if constexpr (std::is_same_v<T, double>)
      return std::fma(a, b, c);
    else
      return a * b + c;
  }
  static V larger(const V& a, const V& b) { return plain(a) > plain(b) ? a : b; }
};

}  // namespace tessera::molecular
