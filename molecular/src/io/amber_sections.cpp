// SPDX-License-Identifier: Apache-2.0
#include "io/amber_sections.h"

#include <charconv>
#include <cstdlib>
#include <limits>

namespace tessera::molecular {
namespace {

using data::Token, data::shown, data::trim;

/// Width of a field of "10I8", "5E16.8", "20a4", "I8"; 0 where it is none of them.
std::size_t width_of(std::string_view format) {
  const char* end = format.data() + format.size();
  std::size_t count = 1, width = 0;
  const char* letter = std::from_chars(format.data(), end, count).ptr;
  if (letter == end || std::string_view("iIeEfFaA").find(*letter) == std::string_view::npos)
    return 0;
  const auto [rest, second] = std::from_chars(letter + 1, end, width);
  const bool fits =
      second == std::errc{} && (rest == end || *rest == '.') && width >= 1 && width <= 80;
  return fits ? width : 0;
}

}  // namespace

AmberSections::AmberSections(const data::TextFile& text, data::Findings& findings)
    : text_(text), findings_(findings) {
  Section* open = nullptr;
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view line = text.line(n);
    const std::size_t offset = text.line_starts[n - 1];
    if (line.starts_with("%FLAG")) {
      const std::string flag(trim(line.substr(5)));
      const auto [at, fresh] = sections_.try_emplace(flag);
      if (!fresh)
        findings.error(701, offset, "section " + shown(flag) + " is given twice",
                       "keep one of them");
      at->second = {offset, 0, n + 1, n + 1};
      open = &at->second;
    } else if (line.starts_with("%FORMAT")) {
      const std::size_t from = line.find('('), to = line.find(')');
      if (!open) {
        findings.error(701, offset, "a %FORMAT without the %FLAG before it");
        continue;
      }
      open->width = from < to && to != std::string_view::npos
                        ? width_of(trim(line.substr(from + 1, to - from - 1)))
                        : 0;
      if (open->width == 0)
        findings.error(701, offset, "expected a format such as %FORMAT(10I8), got " + shown(line));
      open->first = open->last = n + 1;
    } else if (line.starts_with("%COMMENT") && open && open->width == 0) {
      continue;
    } else if (open && open->width > 0 && !line.starts_with("%")) {
      open->last = n + 1;
    }
  }
  if (sections_.empty())
    findings.error(701, 0, "expected %FLAG sections of an AMBER topology, found none",
                   "topologies of before AMBER 7 are not read");
}

std::vector<Token> AmberSections::fields(const Section& s, std::size_t most) const {
  std::vector<Token> out;
  for (std::size_t n = s.first; n < s.last; ++n) {
    const std::string_view line = text_.line(n);
    const std::size_t end = line.find_last_not_of(" \t") + 1;
    for (std::size_t c = 0; c < end; c += s.width) {
      if (out.size() == most) return out;
      out.push_back({line.substr(c, s.width), text_.line_starts[n - 1] + c});
    }
  }
  return out;
}

const AmberSections::Section* AmberSections::find(const std::string& flag) {
  const auto at = sections_.find(flag);
  if (at == sections_.end()) {
    findings_.error(701, text_.text.size() - 1, "section " + flag + " is missing",
                    "write the topology again with tleap or ParmEd");
    return nullptr;
  }
  if (at->second.width == 0) {
    findings_.error(701, at->second.flag_offset,
                    "section " + flag + " has no %FORMAT after its %FLAG",
                    "write the topology again with tleap or ParmEd");
    return nullptr;
  }
  return &at->second;
}

template <class T, class Parse>
std::vector<T> AmberSections::exactly(const std::string& flag, std::size_t count, Parse&& parse) {
  if (count == 0 && !has(flag)) return {};
  const Section* s = find(flag);
  if (!s) findings_.throw_if_errors();
  const std::vector<Token> got = fields(*s, count + 1);
  if (got.size() != count) {
    findings_.error(701, got.empty() ? s->flag_offset : got.back().offset,
                    "section " + flag + " has " +
                        (got.size() > count ? "more than " + std::to_string(count)
                                            : std::to_string(got.size())) +
                        " entries; POINTERS says " + std::to_string(count));
    findings_.throw_if_errors();  // memory is taken for what is there, not for what is promised
  }
  std::vector<T> out(count);
  for (std::size_t k = 0; k < count; ++k) parse(got[k], out[k]);
  return out;
}

std::vector<double> AmberSections::reals(const std::string& flag, std::size_t count) {
  return exactly<double>(flag, count, [&](Token t, double& out) {
    const std::string_view word = trim(t.text);
    const auto v =
        data::parse_number({word, t.offset + static_cast<std::size_t>(word.data() - t.text.data())},
                           data::Exponent::fortran, findings_);
    if (v) out = *v;
  });
}

namespace {
void parse_integer(Token t, std::int64_t& out, data::Findings& findings) {
  const std::string_view word = trim(t.text);
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (word.empty() || code == std::errc::invalid_argument || end != word.data() + word.size())
    findings.error(303, t.offset, "expected a whole number, got " + shown(word));
  else if (code != std::errc{} || std::abs(out / 2) > std::numeric_limits<std::int32_t>::max())
    findings.error(702, t.offset,
                   "the number " + shown(word) + " is more than a topology counts to");
  else
    return;
  out = 0;
}
}  // namespace

std::vector<std::int64_t> AmberSections::integers(const std::string& flag, std::size_t count) {
  return exactly<std::int64_t>(
      flag, count, [&](Token t, std::int64_t& out) { parse_integer(t, out, findings_); });
}
std::vector<std::int64_t> AmberSections::integers_up_to(const std::string& flag, std::size_t most) {
  std::vector<std::int64_t> out;
  if (const Section* s = find(flag))
    for (const Token& t : fields(*s, most)) parse_integer(t, out.emplace_back(), findings_);
  return out;
}

std::vector<std::string> AmberSections::words(const std::string& flag, std::size_t count) {
  // Trailing blanks of a line may be entries: names are read at their columns.
  std::vector<std::string> out;
  const Section* s = find(flag);
  if (!s) findings_.throw_if_errors();
  const std::size_t per_line = 80 / s->width;
  for (std::size_t n = s->first; n < s->last && out.size() < count; ++n) {
    const std::string_view line = text_.line(n);
    for (std::size_t k = 0; k < per_line && out.size() < count; ++k)
      out.emplace_back(k * s->width < line.size() ? trim(line.substr(k * s->width, s->width))
                                                  : std::string_view{});
  }
  if (out.size() != count) {
    findings_.error(701, s->flag_offset,
                    "section " + flag + " has " + std::to_string(out.size()) +
                        " entries; POINTERS says " + std::to_string(count));
    findings_.throw_if_errors();
  }
  return out;
}

std::size_t AmberSections::offset(const std::string& flag, std::size_t k) const {
  const auto at = sections_.find(flag);
  if (at == sections_.end()) return 0;
  if (at->second.width == 0) return at->second.flag_offset;
  const std::vector<Token> got = fields(at->second, k + 1);
  return k < got.size() ? got[k].offset : at->second.flag_offset;
}

std::string AmberSections::first_line(const std::string& flag) const {
  const auto at = sections_.find(flag);
  return at == sections_.end() || at->second.first >= at->second.last
             ? std::string{}
             : std::string(trim(text_.line(at->second.first)));
}

}  // namespace tessera::molecular
