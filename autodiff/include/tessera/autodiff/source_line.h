// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// The user's source line of a call, taken by a defaulted argument: `Tensor f(Arg x, SourceLine
/// line = SourceLine::here())`.
struct SourceLine {
  const char* file = "";
  unsigned number = 0;
  bool reverse = false;  ///< of what is run backwards of it: its part of a gradient
  static constexpr SourceLine here(const char* file = __builtin_FILE(),
                                   unsigned number = __builtin_LINE()) noexcept {
    return {file, number, false};
  }
};

/// A line may be a name alone, of a layer, say.
inline bool is_known(SourceLine line) { return *line.file != 0; }
std::string to_string(SourceLine line);  ///< "net.cpp:31", "layers.0"

/// While it lives, what is called belongs to the part of that name, in errors and in reports of
/// time and memory, in place of its lines: `const Within part("loss");`. Inner names count.
class Within {
 public:
  explicit Within(std::string_view name);
  ~Within();
  Within(const Within&) = delete;

 private:
  SourceLine before_;
};

/// Throws Error with the operation, its message, the user's line and the transforms in force.
[[noreturn]] void fail(const char* op, const std::string& message, SourceLine line = {});

}  // namespace tessera
