// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tessera {

/// The user's source line of a call, taken by a defaulted argument: `Tensor f(Arg x, SourceLine
/// line = SourceLine::here())`.
struct SourceLine {
  const char* file = "";
  unsigned number = 0;
  static constexpr SourceLine here(const char* file = __builtin_FILE(),
                                   unsigned number = __builtin_LINE()) noexcept {
    return {file, number};
  }
};

/// Throws Error with the operation, its message, the user's line and the transforms in force.
[[noreturn]] void fail(const char* op, const std::string& message, SourceLine line = {});

}  // namespace tessera
