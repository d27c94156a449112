// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/diagnostic.h"

#include <algorithm>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxShown = 120;  // characters of a source line shown around the column

/// The part of `line` around `column`, with control characters replaced, and the caret's offset in it.
std::pair<std::string, std::size_t> excerpt(const std::string& line, std::size_t column) {
  const std::size_t at = std::min(column ? column - 1 : 0, line.size());
  const std::size_t begin = at > kMaxShown - 20 ? at - (kMaxShown - 20) : 0;
  std::string shown = line.substr(begin, kMaxShown);
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = c == '\t' ? ' ' : '?';
  return {shown, at - begin};
}

const char* word(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

std::string number(int n) {
  std::string digits = std::to_string(n);
  return "E" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string out = d.place.file;
  if (d.place.line) out += ":" + std::to_string(d.place.line);
  if (d.place.line && d.place.column) out += ":" + std::to_string(d.place.column);
  if (d.place.byte) out += ": byte " + std::to_string(*d.place.byte);
  if (!out.empty()) out += ": ";
  out += word(d.severity);
  if (d.number) out += " " + number(d.number);
  out += ": " + d.message;
  if (!d.source_line.empty()) {
    const auto [shown, caret] = excerpt(d.source_line, d.place.column);
    out += "\n    " + shown;
    if (d.place.column) out += "\n    " + std::string(caret, ' ') + "^";
  }
  if (!d.hint.empty()) out += "\n  hint: " + d.hint;
  return out;
}

InputError::InputError(ExitCode code, std::vector<Diagnostic> findings)
    : Error([&] {
        std::string all;
        for (const Diagnostic& d : findings) all += (all.empty() ? "" : "\n") + to_string(d);
        return all;
      }()),
      code_(code), findings_(std::move(findings)) {}

}  // namespace tessera::data
