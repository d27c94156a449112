// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/diagnostic.h"

#include "files/utf8.h"

#include <algorithm>
#include <string_view>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxShown = 120;  // characters of a source line shown around the column

/// Text as a terminal may see it: no control characters (ASCII or C1), nothing that is not UTF-8.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = detail::utf8_length(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = n == 2 && c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c == '\t')
      out += ' ';
    else if (n == 0 || c1 || c < 0x20 || c == 0x7f)
      out += '?';
    else
      out += text.substr(i, n);
    i += n ? n : 1;
  }
  return out;
}

/// The same with line breaks kept.
std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += (begin ? "\n" : "") + printable(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool tail_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// The part of `line` around `column` (a byte), made printable, and the blanks up to the caret.
std::pair<std::string, std::size_t> excerpt(const std::string& line, std::size_t column) {
  const std::size_t at = std::min(column ? column - 1 : 0, line.size());
  std::size_t begin = at > kMaxShown - 20 ? at - (kMaxShown - 20) : 0;
  std::size_t end = std::min(line.size(), begin + kMaxShown);
  while (begin > 0 && begin < at && tail_byte(line[begin])) ++begin;
  while (end < line.size() && end > at && tail_byte(line[end])) --end;
  const std::string before = printable(std::string_view(line).substr(begin, at - begin));
  const auto blanks = static_cast<std::size_t>(
      std::count_if(before.begin(), before.end(), [](char c) { return !tail_byte(c); }));
  return {before + printable(std::string_view(line).substr(at, end - at)), blanks};
}

const char* word(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

std::string numbered(int n) {
  std::string digits = std::to_string(n);
  return "E" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string out = printable(d.place.file);
  if (d.place.line) out += ":" + std::to_string(d.place.line);
  if (d.place.line && d.place.column) out += ":" + std::to_string(d.place.column);
  if (d.place.byte) out += ": byte " + std::to_string(*d.place.byte);
  if (!out.empty()) out += ": ";
  out += word(d.severity);
  if (d.number) out += " " + numbered(d.number);
  out += ": " + printable_lines(d.message);
  if (!d.source_line.empty()) {
    const auto [shown, caret] = excerpt(d.source_line, d.place.column);
    out += "\n    " + shown;
    if (d.place.column) out += "\n    " + std::string(caret, ' ') + "^";
  }
  if (!d.hint.empty()) out += "\n  hint: " + printable_lines(d.hint);
  return out;
}

InputError::InputError(ExitCode code, std::vector<Diagnostic> findings)
    : Error([&] {
        std::string all;
        for (const Diagnostic& d : findings) all += (all.empty() ? "" : "\n") + to_string(d);
        return all;
      }()),
      code_(code),
      findings_(std::move(findings)) {}

}  // namespace tessera::data
