// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/npy_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace tessera {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<std::string_view, 14> kKinds = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                     "u4", "u8", "f2", "f4", "f8", "c8", "c16"};

bool known(std::string_view dtype) {
  if (dtype.size() < 3 || std::find(kKinds.begin(), kKinds.end(), dtype.substr(1)) == kKinds.end())
    return false;
  const bool single = dtype[2] == '1' && dtype.size() == 3;  // one byte has no order
  return single ? dtype[0] == '|' || dtype[0] == '<' || dtype[0] == '>'
                : dtype[0] == '<' || dtype[0] == '>';
}

/// Texts, raw bytes and times: `<U5`, `|S3`, `|V8`, `<M8[ns]`.
bool known_other(std::string_view dtype) {
  if (dtype.size() < 3 || std::string_view("<>|").find(dtype[0]) == std::string_view::npos ||
      std::string_view("SUVMm").find(dtype[1]) == std::string_view::npos)
    return false;
  const std::string_view size = dtype.substr(2);
  const std::size_t digits = std::min(size.find_first_not_of("0123456789"), size.size());
  if (digits == 0 || digits > 9) return false;
  const std::string_view unit = size.substr(digits);
  const bool time = dtype[1] == 'M' || dtype[1] == 'm';
  return unit.empty() || (time && unit.front() == '[' && unit.back() == ']');
}

/// Why a dtype cannot be read, in words.
std::string refusal(std::string_view dtype) {
  const char kind = dtype.size() > 1 ? dtype[1] : '?';
  if (kind == 'O') return "Python objects are not read: they could run code";
  if (kind == 'S' || kind == 'U' || kind == 'a') return "texts are not read";
  if (kind == 'V') return "records and raw bytes are not read";
  if (kind == 'M' || kind == 'm') return "dates and time spans are not read";
  return "expected one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 after '<', '>' or '|'";
}

/// A cursor over the header's text. Places in messages are bytes of the file.
class Parser {
 public:
  Parser(std::string_view text, std::size_t offset, std::string_view name, NpyTypes types)
      : text_(text), offset_(offset), name_(name), types_(types) {}

  NpyHeader header() {
    NpyHeader h;
    bool descr = false, order = false, shape = false;
    const auto once = [&](bool& seen, const std::string& key) {
      if (seen) fail("the key '" + key + "' stands twice");
      seen = true;
    };
    expect('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        once(descr, key), h.dtype = dtype();
      else if (key == "fortran_order")
        once(order, key), h.fortran_order = boolean();
      else if (key == "shape")
        once(shape, key), h.shape = tuple();
      else
        fail("unknown key '" + key + "', expected descr, fortran_order and shape");
      if (!next_is('}')) expect(',');
    }
    expect('}');
    skip_blanks();
    if (at_ != text_.size()) fail("expected only blanks after the closing brace, got " + came());
    if (!descr || !order || !shape)
      fail(std::string("the key '") +
           (!descr   ? "descr"
            : !order ? "fortran_order"
                     : "shape") +
           "' is missing");
    return h;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw NpyError(name_, offset_ + at_, what);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::string came() const {
    if (at_ >= text_.size()) return "the end of the header";
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c > 0x20 && c < 0x7f) return std::string("'") + text_[at_] + "'";
    return "the byte " + std::to_string(c);
  }
  void expect(char c) {
    if (!next_is(c)) fail(std::string("expected '") + c + "', got " + came());
    ++at_;
  }
  /// A text in single or double quotes, printable ASCII without escapes, at most 64 characters.
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("expected a quoted text, got " + came());
    ++at_;
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20 || c > 0x7e || c == '\\')
        fail("expected printable characters between quotes, got " + came());
      if (out.size() == 64) fail("a text of more than 64 characters");
      out += text_[at_];
    }
    if (at_ == text_.size()) fail("expected a closing quote, got " + came());
    ++at_;
    return out;
  }
  std::string dtype() {
    if (next_is('[')) fail("records are not read: expected one dtype, got a list of fields");
    std::string code = quoted();
    if (!code.empty() && code[0] == '=')
      code[0] = std::endian::native == std::endian::little ? '<' : '>';
    if (!known(code) && !(types_ == NpyTypes::plain && known_other(code)))
      fail("the dtype '" + code + "' cannot be used: " + refusal(code));
    return code;
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail("expected True or False, got " + came());
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> shape;
    bool comma = true;  // one number needs a comma behind it to be a tuple
    expect('(');
    while (!next_is(')')) {
      if (!comma) fail("expected ',', got " + came());
      if (shape.size() == kNpyMaxRank)
        fail("more than " + std::to_string(kNpyMaxRank) + " dimensions");
      shape.push_back(number());
      comma = next_is(',');
      if (comma) ++at_;
    }
    if (shape.size() == 1 && !comma) fail("expected ',' after a single dimension, got " + came());
    expect(')');
    return shape;
  }
  std::size_t number() {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9')
      fail("expected a dimension of zero or more, got " + came());
    constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::size_t>(text_[at_] - '0');
      if (value > (kMost - digit) / 10) fail("a dimension is too large for 63 bits");
      value = value * 10 + digit;
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long integer of Python 2
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0, offset_;
  std::string_view name_;
  NpyTypes types_;
};

/// Bytes of the data; false if a partial product overflows. Zeros do not excuse the other
/// dimensions: strides are products of those.
bool checked_size(const NpyHeader& h, std::size_t& bytes) {
  std::size_t product = h.item_size();
  bool none = false;
  for (const std::size_t n : h.shape) {
    if (n == 0)
      none = true;
    else if (__builtin_mul_overflow(product, n, &product))
      return false;
  }
  if (product > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) return false;
  bytes = none ? 0 : product;
  return true;
}

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

}  // namespace

NpyError::NpyError(std::string_view name, std::size_t at, std::string reason)
    : Error(std::string(name) + ": byte " + std::to_string(at) + ": [npy] " + reason),
      byte(at),
      why(std::move(reason)) {}

std::size_t NpyHeader::item_size() const {
  std::size_t size = 0;
  for (std::size_t i = 2; i < dtype.size() && dtype[i] >= '0' && dtype[i] <= '9'; ++i)
    size = size * 10 + static_cast<std::size_t>(dtype[i] - '0');
  return dtype.size() > 1 && dtype[1] == 'U' ? 4 * size : size;  // UTF-32
}

std::size_t NpyHeader::element_count() const {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  return count;
}

NpyHeader parse_npy_header(std::span<const std::byte> first, std::uint64_t file_size,
                           std::string_view name, NpyTypes types) {
  const auto fail = [&](std::size_t byte, const std::string& what) {
    throw NpyError(name, byte, what);
  };
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text.substr(0, kMagic.size()) != kMagic)
    fail(0, "not an npy file: expected the six bytes \\x93NUMPY");
  if (first.size() < 8) fail(first.size(), "the file ends before its version");
  const int major = std::to_integer<int>(first[6]), minor = std::to_integer<int>(first[7]);
  if (major < 1 || major > 3 || minor != 0)
    fail(6, "version " + std::to_string(major) + "." + std::to_string(minor) +
                " is not known, expected 1.0, 2.0 or 3.0");
  const std::size_t field = major == 1 ? 2 : 4, begin = 8 + field;
  if (first.size() < begin) fail(first.size(), "the file ends before the length of its header");
  const std::size_t length = little_endian(first.subspan(8, field));
  if (length > kNpyMaxHeader)
    fail(8, "a header of " + std::to_string(length) + " bytes, expected at most " +
                std::to_string(kNpyMaxHeader));
  if (begin + length > file_size || begin + length > first.size())
    fail(8, "a header of " + std::to_string(length) + " bytes does not fit into a file of " +
                std::to_string(file_size) + " bytes");
  NpyHeader h = Parser(text.substr(begin, length), begin, name, types).header();
  h.data_offset = begin + length;
  std::size_t expected = 0;
  if (!checked_size(h, expected))
    fail(begin, "the product of the dimensions is too large for 63 bits");
  const std::uint64_t present = file_size - h.data_offset;
  if (present < expected)
    fail(static_cast<std::size_t>(file_size), "the file ends after " + std::to_string(present) +
                                                  " bytes of data, expected " +
                                                  std::to_string(expected));
  if (present > expected)
    fail(h.data_offset + expected,
         std::to_string(present - expected) + " bytes stand after the data");
  return h;
}

std::string npy_header_bytes(const NpyHeader& h, int version) {
  if (version < 1 || version > 3)
    throw Error("[npy] version " + std::to_string(version) + ", expected 1, 2 or 3");
  if (!known(h.dtype))
    throw Error("[npy] the dtype '" + h.dtype + "' cannot be used: " + refusal(h.dtype));
  if (h.shape.size() > kNpyMaxRank)
    throw Error("[npy] more than " + std::to_string(kNpyMaxRank) + " dimensions");
  if (std::size_t bytes = 0; !checked_size(h, bytes))
    throw Error("[npy] the product of the dimensions is too large for 63 bits");
  std::string text = "{'descr': '" + h.dtype +
                     "', 'fortran_order': " + (h.fortran_order ? "True" : "False") + ", 'shape': (";
  for (std::size_t i = 0; i < h.shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(h.shape[i]);
  text += h.shape.size() == 1 ? ",), }" : "), }";
  if (!h.shape.empty()) {  // room for 21 digits in the dimension that an appending writer lets grow
    const std::size_t grows = h.fortran_order ? h.shape.back() : h.shape.front();
    text.append(21 - std::to_string(grows).size(), ' ');
  }
  const std::size_t before = 8 + (version == 1 ? 2 : 4);
  text.append(64 - (before + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string out(kMagic);
  out += static_cast<char>(version);
  out += '\0';
  for (std::size_t i = 0; i < before - 8; ++i)
    out += static_cast<char>(text.size() >> (8 * i) & 255);
  return out + text;
}

void swap_to_native(const NpyHeader& h, std::span<std::byte> data) {
  if (h.big_endian() == (std::endian::native == std::endian::big)) return;
  const std::size_t part = h.dtype[1] == 'c' ? h.item_size() / 2 : h.item_size();
  if (data.size() % h.item_size() != 0)
    throw Error("[npy] " + std::to_string(data.size()) + " bytes are no whole elements of " +
                std::to_string(h.item_size()));
  for (std::size_t i = 0; i < data.size(); i += part)
    std::reverse(data.data() + i, data.data() + i + part);
}

}  // namespace tessera
