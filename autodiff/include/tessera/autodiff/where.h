// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tessera {

/// The user's source line of a call, taken by a defaulted argument: `Tensor f(Arg x, Where w =
/// Where::here())`.
struct Where {
  const char* file = "";
  unsigned line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(),
                              unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

/// Throws Error with the operation, its message, the user's line and the transforms in force.
[[noreturn]] void fail(const char* op, const std::string& message, Where where = {});

}  // namespace tessera
