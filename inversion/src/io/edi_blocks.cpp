// SPDX-License-Identifier: Apache-2.0
#include "edi_blocks.h"

namespace tessera::inversion {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/// `>!...` may stand between the lines of a block.
bool is_comment(std::string_view line) {
  const std::string_view t = trim(line);
  return !t.empty() && t.front() == '>';
}

/// Where the '=' of a key lies whose first letter is at `i`; npos if there is no key.
std::size_t key_end(std::string_view s, std::size_t i) {
  if (i >= s.size() || !is_letter(s[i])) return std::string_view::npos;
  while (i < s.size() && is_word(s[i])) ++i;
  while (i < s.size() && is_blank(s[i])) ++i;
  return i < s.size() && s[i] == '=' ? i : std::string_view::npos;
}

void options_of_line(std::string_view line, std::size_t base, std::vector<EdiOption>& out) {
  std::size_t i = 0;
  while (i < line.size()) {
    const bool at_word = i == 0 || is_blank(line[i - 1]);
    const std::size_t equals = at_word ? key_end(line, i) : std::string_view::npos;
    if (equals == std::string_view::npos) {
      ++i;
      continue;
    }
    EdiOption option{upper(trim(line.substr(i, equals - i))), {}};
    std::size_t begin = equals + 1;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    if (begin < line.size() && line[begin] == '"') {
      const std::size_t close = line.find('"', begin + 1);
      const std::size_t stop = close == std::string_view::npos ? line.size() : close;
      option.value = {trim(line.substr(begin + 1, stop - begin - 1)), base + begin + 1};
      end = stop == line.size() ? stop : stop + 1;
    } else {
      // A key search from each blank is linear: key_end stops at the first character that is no
      // word.
      while (end < line.size() && !(is_blank(line[end - 1]) && end > begin &&
                                    key_end(line, end) != std::string_view::npos)) {
        ++end;
        while (end < line.size() && !is_blank(line[end - 1])) ++end;
      }
      option.value = {trim(line.substr(begin, end - begin)), base + begin};
    }
    out.push_back(std::move(option));
    i = end;
  }
}

}  // namespace

const EdiOption* EdiBlock::find(std::initializer_list<const char*> keys) const {
  for (const char* key : keys)
    for (const EdiOption& o : options)
      if (o.key == key) return &o;
  return nullptr;
}

std::vector<EdiOption> edi_options(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<EdiOption> out;
  while (begin < end) {
    const std::size_t stop = std::min(text.find('\n', begin), end);
    const std::string_view line = text.substr(begin, stop - begin);
    if (!is_comment(line)) options_of_line(line, begin, out);
    if (out.size() > kMostItems) break;
    begin = stop + 1;
  }
  return out;
}

std::vector<Token> edi_tokens(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<Token> out;
  while (begin < end) {
    const std::size_t stop = std::min(text.find('\n', begin), end);
    if (!is_comment(text.substr(begin, stop - begin)))
      for (const Token& t : split_tokens(text, begin, stop)) out.push_back(t);
    if (out.size() > kMostItems) break;
    begin = stop + 1;
  }
  return out;
}

std::vector<EdiBlock> split_edi(Findings& findings) {
  const data::TextFile& file = findings.text();
  const std::string_view text = file.text;
  std::vector<EdiBlock> blocks;
  bool open = false, complained = false;
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    const std::string_view line = file.line(n);
    const std::size_t start = file.line_starts[n - 1];
    const std::size_t first = line.find_first_not_of(" \t\f");
    if (first == std::string_view::npos) continue;
    const char next = first + 1 < line.size() ? line[first + 1] : ' ';
    const bool in_info = open && blocks.back().name == "INFO";
    // Free text of INFO may quote a '>' of its own.
    const bool opens =
        line[first] == '>' && (!in_info || is_letter(next) || next == '=' || next == '!');
    if (!opens) {
      if (open)
        blocks.back().body_end = start + line.size();
      else if (blocks.empty() && !complained) {
        findings.error(302, start + first,
                       "expected a block such as >HEAD, got " + shown(trim(line)));
        complained = true;
      }
      continue;
    }
    if (next == '!') continue;
    EdiBlock block{.offset = start + first,
                   .body_begin = start + line.size(),
                   .body_end = start + line.size()};
    std::size_t i = first + 1;
    while (i < line.size() && is_blank(line[i])) ++i;
    const std::size_t name_begin = i;
    while (i < line.size() && !is_blank(line[i]) && line.substr(i, 2) != "//") ++i;
    block.name = upper(line.substr(name_begin, i - name_begin));
    if (block.name.empty()) findings.error(302, block.offset, "a block without a name");
    const std::size_t slashes = line.find("//", i);
    const std::size_t options_end = std::min(slashes, line.size());
    block.options = edi_options(text, start + i, start + options_end);
    if (slashes != std::string_view::npos) {
      const std::string_view rest = line.substr(slashes + 2);
      const std::string_view count = trim(rest.substr(0, rest.find('!')));
      block.count = Token{
          count, count.empty() ? start + slashes
                               : start + static_cast<std::size_t>(count.data() - line.data())};
    }
    if (blocks.size() >= kMostItems) {
      findings.error(309, block.offset, "more than " + std::to_string(kMostItems) + " blocks");
      break;
    }
    blocks.push_back(std::move(block));
    open = true;
  }
  return blocks;
}

}  // namespace tessera::inversion
