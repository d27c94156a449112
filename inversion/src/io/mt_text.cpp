// SPDX-License-Identifier: Apache-2.0
#include "mt_text.h"

#include <charconv>
#include <string>
#include <system_error>

namespace tessera::inversion {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<double> parse_angle(Token token, double limit, const char* what, Findings& findings) {
  std::string_view s = trim(token.text);
  if (s.empty()) return std::nullopt;
  const auto fail = [&](const std::string& why) -> std::optional<double> {
    findings.error(310, token.offset, std::string(what) + " " + shown(token.text) + " " + why,
                   "write it as decimal degrees or degrees:minutes:seconds, e.g. -30:55:49.03");
    return std::nullopt;
  };
  double sign = 1;
  if (std::string_view("NSEWnsew").find(s.front()) != std::string_view::npos) {
    if (std::string_view("SWsw").find(s.front()) != std::string_view::npos) sign = -1;
    s = trim(s.substr(1));
    if (s.empty()) return fail("is not an angle");
  }
  if (const char c = s.back(); c == 'S' || c == 's' || c == 'W' || c == 'w') sign = -sign;
  if (std::string_view("NSEWnsew").find(s.back()) != std::string_view::npos)
    s = trim(s.substr(0, s.size() - 1));
  if (!s.empty() && (s.front() == '+' || s.front() == '-')) {
    if (s.front() == '-') sign = -sign;
    s.remove_prefix(1);
  }
  double degrees = 0, unit = 1;
  for (int part = 0; part < 3; ++part, unit /= 60) {
    const std::size_t colon = s.find(':');
    const std::string_view piece = trim(s.substr(0, colon));
    double value = 0;
    const auto [end, ec] =
        std::from_chars(piece.data(), piece.data() + piece.size(), value, std::chars_format::fixed);
    if (piece.empty() || !(is_digit(piece.front()) || piece.front() == '.') || ec != std::errc{} ||
        end != piece.data() + piece.size())
      return fail("is not an angle");
    if (part > 0 && value >= 60)
      return fail(part == 1 ? "has 60 or more minutes" : "has 60 or more seconds");
    degrees += value * unit;
    if (colon == std::string_view::npos) {
      if (degrees > limit)
        return fail("exceeds " + std::to_string(static_cast<int>(limit)) + " degrees");
      return sign * degrees;
    }
    s.remove_prefix(colon + 1);
  }
  return fail("has more than three parts");
}

std::optional<double> number_if_any(std::string_view word) {
  double v = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), v);
  return problem == std::errc{} && end == word.data() + word.size() ? std::optional(v)
                                                                    : std::nullopt;
}

}  // namespace tessera::inversion
