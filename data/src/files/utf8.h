// SPDX-License-Identifier: Apache-2.0
// Private to data/.
#pragma once
#include <cstddef>
#include <string_view>

namespace tessera::data::detail {

/// Length of the well-formed UTF-8 sequence at `i` (Unicode 15, table 3-7), 0 if there is none.
inline std::size_t utf8_length(std::string_view s, std::size_t i) {
  const auto at = [&](std::size_t k) {
    return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u;
  };
  const auto tail = [&](std::size_t k) { return (at(k) & 0xc0u) == 0x80u; };
  const unsigned c = at(i), d = at(i + 1);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c <= 0xdf) return tail(i + 1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef) {
    if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f)) return 0;
    return tail(i + 1) && tail(i + 2) ? 3 : 0;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    if ((c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f)) return 0;
    return tail(i + 1) && tail(i + 2) && tail(i + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace tessera::data::detail
