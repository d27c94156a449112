// SPDX-License-Identifier: Apache-2.0
#include "plot/canvas.h"

namespace tessera::data::plot {
namespace {

/// Length of the well-formed UTF-8 sequence at text[i], or 0 (Unicode standard, table 3-7).
std::size_t sequence_length(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  const auto tail = [&](std::size_t k) { return byte(k) >= 0x80 && byte(k) <= 0xbf; };
  const unsigned b = byte(i), next = byte(i + 1);
  if (b < 0x80) return 1;
  if (b >= 0xc2 && b <= 0xdf) return tail(i + 1) ? 2 : 0;
  if (b >= 0xe0 && b <= 0xef) {
    if (b == 0xe0 && next < 0xa0) return 0;
    if (b == 0xed && next > 0x9f) return 0;
    return tail(i + 1) && tail(i + 2) ? 3 : 0;
  }
  if (b >= 0xf0 && b <= 0xf4) {
    if (b == 0xf0 && next < 0x90) return 0;
    if (b == 0xf4 && next > 0x8f) return 0;
    return tail(i + 1) && tail(i + 2) && tail(i + 3) ? 4 : 0;
  }
  return 0;
}

/// U+FFFE and U+FFFF are well formed but not allowed in XML.
bool allowed(const std::string& s) { return s != "\uFFFE" && s != "\uFFFF"; }

}  // namespace

std::vector<Run> parse_markup(const std::string& markup) {
  std::vector<Run> runs(1);
  const auto start = [&](int level) {
    if (runs.back().text.empty())
      runs.back().level = level;
    else
      runs.push_back({"", level});
  };
  for (std::size_t i = 0; i < markup.size();) {
    const char c = markup[i];
    if (runs.back().level == 0 && (c == '^' || c == '_') && i + 1 < markup.size() &&
        markup[i + 1] == '{' && markup.find('}', i + 2) != std::string::npos) {
      start(c == '^' ? 1 : -1);
      i += 2;
    } else if (runs.back().level != 0 && c == '}') {
      start(0);
      ++i;
    } else if (const std::size_t n = sequence_length(markup, i); n == 1) {
      runs.back().text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
      ++i;
    } else {
      const std::string letter = markup.substr(i, n);
      runs.back().text += n && allowed(letter) ? letter : "\uFFFD";
      i += n ? n : 1;
    }
  }
  if (runs.back().text.empty() && runs.size() > 1) runs.pop_back();
  return runs;
}

}  // namespace tessera::data::plot
