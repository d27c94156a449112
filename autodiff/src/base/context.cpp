// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include "tessera/autodiff/error.h"

#include <string>

namespace tessera {
namespace detail {

TESSERA_FAST_THREAD_LOCAL Context* known_context = nullptr;
Context& first_context() {
  static thread_local Context c;
  known_context = &c;
  return c;
}
SourceLine context_line() { return context().line; }

}  // namespace detail

void fail(const char* op, const std::string& message, SourceLine line) {
  const detail::Context& c = detail::context();
  if (!line.number) line = c.line;
  std::string text = std::string("[") + op + "] " + message;
  if (line.number) text += std::string("\n  at ") + line.file + ":" + std::to_string(line.number);
  if (!c.transforms.empty()) {
    text += "\n  inside ";
    for (std::size_t i = 0; i < c.transforms.size(); ++i)
      text += std::string(i ? " > " : "") + c.transforms[i];
  }
  throw Error(text);
}

}  // namespace tessera
