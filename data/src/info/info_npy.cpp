// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: magic, version, header length, a Python dictionary literal, the data
// (numpy.lib.format). The literal is read by the small grammar it is written in, never evaluated.
#include "files/regular_file.h"
#include "info/info_formats.h"
#include "tessera/data/diagnostic.h"

#include <charconv>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxHeader = 64 << 10;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

class Literal {
 public:
  Literal(std::string_view text, std::string file, std::size_t offset)
      : text_(text), file_(std::move(file)), offset_(offset) {}

  Header read() {
    Header h;
    int seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        h.descr = quoted(), seen |= 1;
      else if (key == "fortran_order")
        h.fortran_order = boolean(), seen |= 2;
      else if (key == "shape")
        h.shape = tuple(), seen |= 4;
      else
        fail("unknown key '" + key + "'");
      if (!take(',') && peek() != '}') fail("expected ',' or '}'");
    }
    if (seen != 7) fail("expected the keys descr, fortran_order and shape");
    return h;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(Diagnostic{.number = 431,
                                .place = {.file = file_, .byte = offset_ + at_},
                                .message = "malformed npy header: " + message});
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      fail("expected a quoted text (structured and object types are not read)");
    const std::size_t begin = ++at_, end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a text has no end");
    at_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }
  bool boolean() {
    peek();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    fail("expected True or False");
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> out;
    expect('(');
    while (!take(')')) {
      peek();
      std::uint64_t v = 0;
      const auto [end, failed] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
      if (failed != std::errc{}) fail("expected a size");
      at_ = static_cast<std::size_t>(end - text_.data());
      out.push_back(v);
      if (out.size() > 64) fail("more than 64 axes");
      if (!take(',') && peek() != ')') fail("expected ',' or ')'");
    }
    return out;
  }

  std::string_view text_;
  std::string file_;
  std::size_t offset_, at_ = 0;
};

}  // namespace

InfoNode npy_info(const std::filesystem::path& path) {
  const RegularFile file(path);
  std::string head(kMaxHeader, '\0');
  const std::size_t have = file.read(0, head.data(), head.size());
  head.resize(have);
  const auto fail = [&](std::uint64_t byte, std::string message) {
    throw InputError(Diagnostic{.number = 431,
                                .place = {.file = path.string(), .byte = byte},
                                .message = std::move(message)});
  };
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  if (!std::string_view(head).starts_with("\x93NUMPY") || have < 12)
    fail(0, "not a whole npy header");
  const unsigned version = at(6);
  if (version < 1 || version > 3)
    fail(6, "npy version " + std::to_string(version) + ", expected 1, 2 or 3");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = at(8) | std::size_t{at(9)} << 8;
  if (version > 1) length |= std::size_t{at(10)} << 16 | std::size_t{at(11)} << 24;
  if (length > have - start)
    fail(8, "the header claims " + std::to_string(length) + " bytes, at most " +
                std::to_string(have - start) + " are there (or read)");
  Literal literal(std::string_view(head).substr(start, length), path.string(), start);
  const Header h = literal.read();
  if (h.descr.find('O') != std::string::npos)
    literal.fail("object arrays hold pickled code and are refused");
  std::uint64_t item = 0, bytes = 1;
  const std::size_t digits = h.descr.find_first_of("0123456789");
  if (digits == std::string::npos ||
      std::from_chars(h.descr.data() + digits, h.descr.data() + h.descr.size(), item).ec !=
          std::errc{})
    literal.fail("type '" + h.descr + "' has no size");
  if (h.descr.find('U') != std::string::npos && __builtin_mul_overflow(item, 4, &item))
    literal.fail("the type is too large");
  for (std::uint64_t s : h.shape)
    if (__builtin_mul_overflow(bytes, s, &bytes)) literal.fail("the shape overflows");
  if (__builtin_mul_overflow(bytes, item, &bytes)) literal.fail("the shape overflows");
  if (bytes != file.size() - start - length)
    fail(start + length, "the header asks for " + std::to_string(bytes) +
                             " bytes of data, the file holds " +
                             std::to_string(file.size() - start - length));
  InfoNode node{path.filename().string(), {}, {}};
  node.add("bytes", static_cast<std::int64_t>(file.size()));
  node.add("type", h.descr);
  node.add("shape", shape_text(h.shape));
  node.add("order", std::string(h.fortran_order ? "Fortran" : "C"));
  return node;
}

}  // namespace tessera::data
