// SPDX-License-Identifier: Apache-2.0
#include "run/json_text.h"

#include "tessera/data/csv.h"

#include <cmath>

namespace tessera::data {
namespace {

/// Length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) at `s`, or 0.
std::size_t utf8_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char a = at(0);
  const std::size_t n = a < 0x80                ? 1
                        : a >= 0xc2 && a < 0xe0 ? 2
                        : (a & 0xf0) == 0xe0    ? 3
                        : a >= 0xf0 && a < 0xf5 ? 4
                                                : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  if (n == 3 && ((a == 0xe0 && at(1) < 0xa0) || (a == 0xed && at(1) >= 0xa0)))
    return 0;  // overlong, surrogate
  if (n == 4 && ((a == 0xf0 && at(1) < 0x90) || (a == 0xf4 && at(1) >= 0x90)))
    return 0;  // overlong, > U+10FFFF
  return n;
}

}  // namespace

std::string json_quote(std::string_view text) {
  static const char* digits = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      out += {'\\', text[0]};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7f)
      out += std::string("\\u00") + digits[c >> 4] + digits[c & 15];
    else
      out += text.substr(0, n);
    text.remove_prefix(n ? n : 1);
  }
  return out + "\"";
}

std::string json_number(double value) { return std::isfinite(value) ? number_text(value) : "null"; }

}  // namespace tessera::data
