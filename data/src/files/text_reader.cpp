// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxErrors = 50;
constexpr std::size_t kMaxRemarks = 200;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Why `s` is not a number, for the hint.
std::string number_hint(std::string_view s) {
  const std::string u = upper(s);
  if (s.find(',') != std::string_view::npos)
    return "write a decimal point, and blanks between numbers";
  if (u.find("NAN") != std::string::npos || u.find("INF") != std::string::npos)
    return "a missing value is written as the format's empty value (EDI: EMPTY=1.0E32)";
  if (u.find("0X") != std::string::npos) return "hexadecimal numbers are not allowed";
  if (u.find('D') != std::string::npos && u.find_first_of("0123456789") != std::string::npos)
    return "write the exponent with E";
  if (s.find('*') != std::string_view::npos)
    return "the program that wrote the file ran out of columns here";
  return {};
}

}  // namespace

void Findings::error(int number, std::size_t offset, std::string message, std::string hint) {
  errors_.push_back(text_->error(number, offset, std::move(message), std::move(hint)));
  if (errors_.size() >= kMaxErrors) throw_if_errors();
}

void Findings::remark(Severity severity, Diagnostic d) {
  d.severity = severity;
  if (remarks_.size() < kMaxRemarks) remarks_.push_back(std::move(d));
}

void Findings::warn(int number, std::size_t offset, std::string message, std::string hint) {
  remark(Severity::warning, text_->error(number, offset, std::move(message), std::move(hint)));
}

void Findings::note(int number, std::size_t offset, std::string message, std::string hint) {
  remark(Severity::note, text_->error(number, offset, std::move(message), std::move(hint)));
}

void Findings::warn(int number, std::string message, std::string hint) {
  remark(Severity::warning, {.number = number,
                             .place = {text_->path},
                             .message = std::move(message),
                             .hint = std::move(hint)});
}

void Findings::note(int number, std::string message, std::string hint) {
  remark(Severity::note, {.number = number,
                          .place = {text_->path},
                          .message = std::move(message),
                          .hint = std::move(hint)});
}

void Findings::throw_if_errors() {
  if (!errors_.empty()) throw InputError(ExitCode::input_invalid, std::move(errors_));
}

std::optional<double> parse_number(Token token, Exponent exponent, Findings& findings) {
  constexpr std::size_t kLongest = 64;  // digits beyond that are no measurement
  std::string_view s = token.text;
  const auto fail = [&](const std::string& what, std::string hint) -> std::optional<double> {
    findings.error(303, token.offset, what, std::move(hint));
    return std::nullopt;
  };
  const auto not_a_number = [&] {
    return fail("expected a number, got " + shown(token.text), number_hint(s));
  };
  if (s.empty() || s.size() > kLongest) return not_a_number();
  char buffer[kLongest];
  std::size_t n = 0, digits = 0;
  std::size_t i = s.front() == '+' ? 1 : 0;
  if (i < s.size() && s[i] == '-' && i == 0) buffer[n++] = s[i++];
  bool point = false;
  for (; i < s.size() && (is_digit(s[i]) || (s[i] == '.' && !point)); ++i) {
    point |= s[i] == '.';
    digits += is_digit(s[i]);
    buffer[n++] = s[i];
  }
  if (digits == 0) return not_a_number();
  if (i < s.size()) {
    const char c = s[i];
    if (!(c == 'e' || c == 'E' || (exponent == Exponent::fortran && (c == 'd' || c == 'D'))))
      return not_a_number();
    buffer[n++] = 'e';
    if (++i < s.size() && (s[i] == '+' || s[i] == '-')) {
      if (s[i] == '-') buffer[n++] = '-';
      ++i;
    }
    if (i == s.size()) return not_a_number();
    for (; i < s.size(); ++i) {
      if (!is_digit(s[i])) return not_a_number();
      buffer[n++] = s[i];
    }
  }
  double value = 0;
  const auto [end, ec] = std::from_chars(buffer, buffer + n, value);
  if (ec == std::errc::result_out_of_range)
    return fail("the number " + shown(token.text) + " is beyond the range of double precision", {});
  if (ec != std::errc{} || end != buffer + n) return not_a_number();
  return value;
}

std::optional<std::size_t> parse_count(Token token, std::size_t most, const std::string& what,
                                       Findings& findings) {
  const std::string_view s = trim(token.text);
  std::size_t value = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), value);
  const bool integer = !s.empty() && end == s.data() + s.size();
  if (integer && ec == std::errc{} && value >= 1 && value <= most) return value;
  std::string got = shown(token.text);
  if (integer && value > most)
    got += ", but the rest of the file can hold at most " + std::to_string(most);
  if (integer && ec == std::errc::result_out_of_range) got += ", far more than the file can hold";
  findings.error(309, token.offset, what + " must be a positive whole number, got " + got);
  return std::nullopt;
}

std::vector<Token> split_tokens(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<Token> out;
  for (std::size_t i = begin; i < end && out.size() <= kMostItems;) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < end && !is_blank(text[i])) ++i;
    out.push_back({text.substr(start, i - start), start});
  }
  return out;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string shown(std::string_view s) {
  std::string out(s.substr(0, 40));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return "'" + out + (s.size() > 40 ? "...'" : "'");
}

}  // namespace tessera::data
