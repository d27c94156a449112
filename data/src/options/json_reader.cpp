// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) into the value tree, with places. Stricter than the RFC in three points: keys are
// unique, null has no meaning in a configuration, numbers fit their type.
#include "options/config_readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::data::detail {
namespace {

class JsonReader {
 public:
  JsonReader(const TextFile& file, std::uint32_t source)
      : file_(file), text_(file.text), source_(source) {}

  Value document() {
    blanks();
    if (at_ >= text_.size() || text_[at_] != '{')
      fail(111, "expected '{', the beginning of an object");
    Value v = value(0);
    blanks();
    if (at_ < text_.size()) fail(111, "unexpected text after the object");
    return v;
  }

 private:
  [[noreturn]] void fail(int number, std::string message, std::string hint = {}) {
    fail_at(at_, number, std::move(message), std::move(hint));
  }
  [[noreturn]] void fail_at(std::size_t at, int number, std::string message,
                            std::string hint = {}) {
    throw InputError(file_.error(number, at, std::move(message), std::move(hint)),
                     ExitCode::config_invalid);
  }

  Origin origin(std::size_t at) const {
    const Place p = file_.place(at);
    return {source_, static_cast<std::uint32_t>(p.line), static_cast<std::uint32_t>(p.column)};
  }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Value value(std::size_t depth) {
    blanks();
    if (at_ >= text_.size()) fail(111, "the text ends where a value is due");
    if (depth > kMaxDepth) fail(112, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    Value v;
    v.origin = origin(at_);
    const char c = text_[at_];
    if (c == '{')
      v.data = object(depth);
    else if (c == '[')
      v.data = array(depth);
    else if (c == '"')
      v.data = string();
    else if (c == '-' || (c >= '0' && c <= '9'))
      number(v);
    else if (word("true"))
      v.data = true;
    else if (word("false"))
      v.data = false;
    else if (word("null"))
      fail_at(at_ - 4, 111, "null has no meaning in a configuration", "leave the key out");
    else
      fail(111, "expected a value");
    return v;
  }

  Table object(std::size_t depth) {
    ++at_;
    Table out;
    if (take('}')) return out;
    do {
      blanks();
      if (at_ >= text_.size() || text_[at_] != '"') fail(111, "expected a key in double quotes");
      Member m;
      m.origin = origin(at_);
      m.key = string();
      if (!take(':')) fail(111, "expected ':' after the key");
      m.value = value(depth + 1);
      out.push_back(std::move(m));
    } while (take(','));
    if (!take('}')) fail(111, "expected ',' or '}'");
    if (const Member* twice = sort_members(out)) {
      const Diagnostic d{
          .number = 113,
          .place = {file_.path, twice->origin.line, twice->origin.column, {}},
          .message = "key " + in_quotes(twice->key) + " is given twice",
          .source_line = std::string(file_.line(twice->origin.line).substr(0, 1 << 16))};
      throw InputError(d, ExitCode::config_invalid);
    }
    return out;
  }

  Array array(std::size_t depth) {
    ++at_;
    Array out;
    if (take(']')) return out;
    do out.push_back(value(depth + 1));
    while (take(','));
    if (!take(']')) fail(111, "expected ',' or ']'");
    return out;
  }

  void number(Value& v) {
    const std::size_t begin = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      if (at_ == first) fail(111, "expected a digit");
    };
    bool whole = true;
    if (text_[at_] == '-') ++at_;
    if (at_ < text_.size() && text_[at_] == '0') {
      ++at_;
      if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
        fail(111, "a number must not begin with 0");
    } else {
      digits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      whole = false;
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    if (whole) {
      std::int64_t i = 0;
      if (std::from_chars(first, last, i).ec != std::errc())
        fail_at(begin, 114, "the integer does not fit 64 bits");
      v.data = i;
    } else {
      double d = 0;
      if (std::from_chars(first, last, d).ec != std::errc() || !std::isfinite(d))
        fail_at(begin, 114, "the number is out of the range of double precision");
      v.data = d;
    }
  }

  unsigned four_hex() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || ec != std::errc() || end != digits.data() + 4)
      fail(111, "expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  unsigned code_point() {
    const std::size_t begin = at_;
    const unsigned high = four_hex();
    if (high == 0) fail_at(begin, 111, "\\u0000 is not allowed");
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high < 0xdc00 && word("\\u")) {
      const unsigned low = four_hex();
      if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    fail_at(begin, 111, "half of a surrogate pair");
  }

  static void append_utf8(std::string& out, unsigned c) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0 | (c >> 6)), put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      put(0xe0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3f)), put(0x80 | (c & 0x3f));
    } else {
      put(0xf0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3f)), put(0x80 | ((c >> 6) & 0x3f)),
          put(0x80 | (c & 0x3f));
    }
  }

  std::string string() {
    const std::size_t begin = at_++;
    std::string out;
    for (;;) {
      if (at_ >= text_.size() || text_[at_] == '\n')
        fail_at(begin, 111, "the string is not closed");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20)
        fail_at(at_ - 1, 111, "control character in a string", "write \\t for a tab");
      if (c != '\\') {
        out += c;
        continue;
      }
      const char e = at_ < text_.size() ? text_[at_++] : '\0';
      switch (e) {
        case '"':
        case '\\':
        case '/':
          out += e;
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u':
          append_utf8(out, code_point());
          break;
        default:
          fail_at(at_ - 1, 111, "unknown escape in a string");
      }
    }
  }

  const TextFile& file_;
  std::string_view text_;
  std::uint32_t source_;
  std::size_t at_ = 0;
};

}  // namespace

Value read_json(const TextFile& text, std::uint32_t source, std::vector<Diagnostic>&) {
  return JsonReader(text, source).document();
}

}  // namespace tessera::data::detail
