// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include "tessera/autodiff/error.h"

#include <cstring>
#include <mutex>
#include <set>
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

std::string to_string(SourceLine line) {
  const char* base = std::strrchr(line.file, '/');
  const std::string name = base ? base + 1 : line.file;
  return line.number ? name + ":" + std::to_string(line.number) : name;
}

Within::Within(std::string_view name) : before_(detail::context().rule) {
  // Lines outlive all: names are kept for good.
  static std::mutex mutex;
  static auto* const names = new std::set<std::string, std::less<>>;
  std::lock_guard lock(mutex);
  auto it = names->find(name);
  if (it == names->end()) it = names->emplace(name).first;
  detail::context().rule = {it->c_str(), 0, false};
}
Within::~Within() { detail::context().rule = before_; }

void fail(const char* op, const std::string& message, SourceLine line) {
  const detail::Context& c = detail::context();
  if (is_known(c.rule)) line = c.rule;
  if (!is_known(line)) line = c.line;
  std::string text = std::string("[") + op + "] " + message;
  if (line.number) text += std::string("\n  at ") + line.file + ":" + std::to_string(line.number);
  if (!line.number && is_known(line)) text += std::string("\n  in ") + line.file;
  if (!c.transforms.empty()) {
    text += "\n  inside ";
    for (std::size_t i = 0; i < c.transforms.size(); ++i)
      text += std::string(i ? " > " : "") + c.transforms[i];
  }
  throw Error(text);
}

}  // namespace tessera
