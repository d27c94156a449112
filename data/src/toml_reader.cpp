// SPDX-License-Identifier: Apache-2.0
// The only file that sees toml++. The library recurses over nested values and, in destructors, over
// dotted keys, so depth is counted by a small lexer of our own before it sees the text. Its parser
// states what it expects of itself by assertions that some malformed texts break (`a = [}`); a
// release build would turn them into assumptions and go on blindly, so here they throw instead.
#undef NDEBUG
#include <stdexcept>

namespace {
struct BrokenAssertion : std::logic_error {
  using std::logic_error::logic_error;
};
}  // namespace
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wterminate"  // some of them stand in functions that may not throw
#endif
#define TOML_ASSERT(expr) ((expr) ? void() : throw BrokenAssertion(#expr))
#include "config_readers.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace tessera::data::detail {
namespace {

/// Walks over comments and the four kinds of strings as TOML 1.0 defines them and matches
/// brackets and counts the parts of dotted keys. Where the text is not TOML the library stops at
/// the same place at the latest.
class DepthGuard {
 public:
  explicit DepthGuard(const TextFile& file) : file_(file), text_(file.text) {}

  void check() {
    std::string open;  // brackets
    std::size_t parts = 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '[' || c == '{') open += c;
      if (c == ']' || c == '}') {
        if (open.empty() || open.back() != (c == ']' ? '[' : '{'))
          throw InputError(file_.error(110, at_, std::string("unexpected '") + c + "'"),
                           ExitCode::config_invalid);
        open.pop_back();
      }
      if (c == '.') ++parts;
      if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') parts = 1;
      if (open.size() > kMaxDepth || parts > kMaxDepth)
        throw InputError(
            file_.error(112, at_, "nested deeper than " + std::to_string(kMaxDepth) + " levels"),
            ExitCode::config_invalid);
      ++at_;
    }
  }

 private:
  bool three(char q) const { return text_.substr(at_, 3) == std::string(3, q); }

  void skip_string(char q) {
    const bool long_form = three(q);
    at_ += long_form ? 3 : 1;
    while (at_ < text_.size()) {
      if (q == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (long_form && three(q)) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == q) ++at_;  // up to two quotes may touch the end
        return;
      } else if (!long_form && (text_[at_] == q || text_[at_] == '\n')) {
        at_ += text_[at_] == q;
        return;
      } else {
        ++at_;
      }
    }
  }

  const TextFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

class Converter {
 public:
  Converter(const TextFile& file, std::uint32_t source, std::vector<Diagnostic>& findings)
      : file_(file), source_(source), findings_(findings) {}

  /// toml++ counts code points, our columns count bytes.
  Origin origin(const toml::source_region& region) const {
    const std::string_view line = file_.line(region.begin.line);
    std::size_t byte = 0;
    for (toml::source_index points = 1; points < region.begin.column && byte < line.size();
         ++points)
      do ++byte;
      while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xc0u) == 0x80u);
    return {source_, region.begin.line, static_cast<std::uint32_t>(byte + 1)};
  }

  Value convert(const toml::node& node) {
    Value out;
    out.origin = origin(node.source());
    if (const auto* table = node.as_table()) {
      out.data = members(*table);
    } else if (const auto* array = node.as_array()) {
      Array items;
      items.reserve(array->size());
      for (const toml::node& item : *array) items.push_back(convert(item));
      out.data = std::move(items);
    } else if (const auto* s = node.as_string()) {
      out.data = s->get();
    } else if (const auto* i = node.as_integer()) {
      out.data = i->get();
    } else if (const auto* f = node.as_floating_point()) {
      out.data = f->get();
      if (!std::isfinite(f->get())) {
        const std::string_view line = file_.line(out.origin.line);
        findings_.push_back(
            {.number = 114,
             .place = {file_.path, out.origin.line, out.origin.column, {}},
             .message = std::isnan(f->get())
                            ? "nan is no number to compute with"
                            : "the number is infinite or out of the range of double precision",
             .source_line = std::string(line.substr(0, 1 << 16))});
      }
    } else if (const auto* b = node.as_boolean()) {
      out.data = b->get();
    } else {
      std::ostringstream text;
      if (const auto* d = node.as_date()) text << d->get();
      if (const auto* t = node.as_time()) text << t->get();
      if (const auto* dt = node.as_date_time()) text << dt->get();
      out.data = Date{text.str()};
    }
    return out;
  }

 private:
  Table members(const toml::table& table) {
    Table out;
    out.reserve(table.size());
    for (const auto& [key, value] : table)
      out.push_back({std::string(key.str()), origin(key.source()), convert(value)});
    sort_members(out);
    return out;
  }

  const TextFile& file_;
  std::uint32_t source_;
  std::vector<Diagnostic>& findings_;
};

/// True where the library turned down a number that is well formed but no double: it names it
/// between quotes.
bool overflows(std::string_view message) {
  const std::size_t begin = message.find('\''), end = message.rfind('\'');
  if (begin == std::string_view::npos || end <= begin) return false;
  std::string number;
  for (const char c : message.substr(begin + 1, end - begin - 1))
    if (c != '_' && !(c == '+' && number.empty())) number += c;
  double value = 0;
  const auto [stop, ec] = std::from_chars(number.data(), number.data() + number.size(), value);
  return ec == std::errc::result_out_of_range && stop == number.data() + number.size();
}

}  // namespace

Value read_toml(const TextFile& text, std::uint32_t source, std::vector<Diagnostic>& findings) {
  DepthGuard(text).check();
  Converter converter(text, source, findings);
  try {
    const toml::table table = toml::parse(std::string_view(text.text), std::string_view(text.path));
    return converter.convert(table);
  } catch (const toml::parse_error& e) {
    const Origin at = converter.origin(e.source());
    std::string message(e.description());
    const bool twice = message.find("redefine") != std::string::npos ||
                       message.find("duplicate") != std::string::npos;
    bool range = message.find("not representable") != std::string::npos ||
                 message.find("out of range") != std::string::npos;
    if (overflows(message)) {
      message = "the number is out of the range of double precision";
      range = true;
    }
    throw InputError(Diagnostic{.number = twice   ? 113
                                          : range ? 114
                                                  : 110,
                                .place = {text.path, at.line, at.column, {}},
                                .message = std::move(message),
                                .source_line = std::string(text.line(at.line).substr(0, 1 << 16))},
                     ExitCode::config_invalid);
  } catch (const BrokenAssertion&) {
    throw InputError(
        Diagnostic{.number = 110, .place = {text.path, 0, 0, {}}, .message = "this is no TOML"},
        ExitCode::config_invalid);
  }
}

}  // namespace tessera::data::detail
