// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera {

/// The user's source line of a call, taken by a defaulted argument: `Tensor f(Arg x, Where w = Where::here())`.
struct Where {
  const char* file = "";
  unsigned line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(),
                              unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace tessera
