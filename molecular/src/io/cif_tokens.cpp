// SPDX-License-Identifier: Apache-2.0
#include "io/cif_tokens.h"

#include <fmt/format.h>

#include <cctype>

namespace tessera::molecular {
namespace {

struct CifToken {
  enum class Kind { value, tag, loop, data, save, end } kind = Kind::end;
  CifValue value;
};

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f'; }

class CifTokens {
 public:
  explicit CifTokens(data::Findings& findings) : findings_(findings), s_(findings.text().text) {}

  CifToken next() {
    for (; at_ < s_.size(); ++at_) {
      if (s_[at_] == '#') at_ = std::min(s_.find('\n', at_), s_.size());
      if (at_ == s_.size() || !is_blank(s_[at_])) break;
    }
    if (at_ >= s_.size()) return {};
    const std::size_t begin = at_;
    const char c = s_[at_];
    if (c == ';' && (begin == 0 || s_[begin - 1] == '\n')) {
      const std::size_t end = s_.find("\n;", begin);
      if (end == std::string_view::npos)
        stop(begin, "a text that begins with ';' is not ended by a line with ';'");
      at_ = end + 2;
      return {CifToken::Kind::value, {s_.substr(begin + 1, end - begin - 1), begin, true}};
    }
    if (c == '\'' || c == '"') {
      std::size_t end = begin + 1;
      while (end < s_.size() && s_[end] != '\n' &&
             !(s_[end] == c && (end + 1 == s_.size() || is_blank(s_[end + 1]))))
        ++end;
      if (end >= s_.size() || s_[end] == '\n')
        stop(begin, "a quotation is not closed within its line");
      at_ = end + 1;
      return {CifToken::Kind::value, {s_.substr(begin + 1, end - begin - 1), begin, true}};
    }
    while (at_ < s_.size() && !is_blank(s_[at_])) ++at_;
    const std::string_view word = s_.substr(begin, at_ - begin);
    CifToken t{CifToken::Kind::value, {word, begin, false}};
    if (c == '_')
      t.kind = CifToken::Kind::tag;
    else if (word.size() >= 5) {
      const std::string head = lower(word.substr(0, 7));
      if (head == "loop_")
        t.kind = CifToken::Kind::loop;
      else if (head.starts_with("data_"))
        t.kind = CifToken::Kind::data;
      else if (head.starts_with("save_"))
        t.kind = CifToken::Kind::save;
    }
    return t;
  }
  [[noreturn]] void stop(std::size_t offset, std::string message, std::string hint = {}) {
    findings_.error(701, offset, std::move(message), std::move(hint));
    findings_.throw_if_errors();
    throw Error("[read_cif] unreachable");
  }

 private:
  data::Findings& findings_;
  std::string_view s_;
  std::size_t at_ = 0;
};

/// "_atom_site.id" as category and tag.
std::pair<std::string, std::string> parts(std::string_view tag) {
  const std::string t = lower(tag);
  const std::size_t point = t.find('.');
  return point == std::string::npos ? std::pair{std::string(), t}
                                    : std::pair{t.substr(0, point), t.substr(point + 1)};
}

}  // namespace

int read_cif(data::Findings& findings, const CifCategory& category) {
  CifTokens tokens(findings);
  using Kind = CifToken::Kind;
  constexpr std::size_t most_tags = 1000;
  CifToken t = tokens.next();
  if (t.kind != Kind::data)
    tokens.stop(t.kind == Kind::end ? 0 : t.value.offset,
                "expected data_NAME at the beginning of a CIF file");
  int more = 0;
  // Pairs of the category at hand.
  std::string name;
  std::vector<std::string> tags;
  std::vector<CifValue> values;
  std::size_t begin = 0;
  const auto give_pairs = [&] {
    if (!tags.empty())
      if (const CifRow row = category(name, tags, begin)) row(values);
    tags.clear();
    values.clear();
  };
  for (t = tokens.next(); t.kind != Kind::end;) {
    if (t.kind == Kind::data) {
      give_pairs();
      for (; t.kind != Kind::end; t = tokens.next()) more += t.kind == Kind::data;
      return more;
    }
    if (t.kind == Kind::tag) {
      const auto [of, tag] = parts(t.value.text);
      if (of != name || tags.size() == most_tags) give_pairs();
      const std::size_t offset = t.value.offset;
      const std::string_view shown_tag = t.value.text;
      t = tokens.next();
      if (t.kind != Kind::value)
        tokens.stop(offset, "the tag " + data::shown(shown_tag) + " has no value");
      if (tags.empty()) begin = offset;
      name = of;
      tags.push_back(tag);
      values.push_back(t.value);
      t = tokens.next();
    } else if (t.kind == Kind::loop) {
      give_pairs();
      begin = t.value.offset;
      std::vector<std::string> columns;
      std::string of;
      for (t = tokens.next(); t.kind == Kind::tag; t = tokens.next()) {
        const auto [c, tag] = parts(t.value.text);
        if (!columns.empty() && c != of)
          tokens.stop(t.value.offset,
                      "a loop has tags of several categories: " + data::shown(t.value.text));
        of = c;
        columns.push_back(tag);
        if (columns.size() > most_tags)
          tokens.stop(t.value.offset, fmt::format("a loop has more than {} tags", most_tags));
      }
      if (columns.empty()) tokens.stop(begin, "a loop without tags");
      const CifRow row = category(of, columns, begin);
      std::vector<CifValue> fields;
      std::size_t last = begin;
      for (; t.kind == Kind::value; t = tokens.next()) {
        last = t.value.offset;
        fields.push_back(t.value);
        if (fields.size() < columns.size()) continue;
        if (row) row(fields);
        fields.clear();
      }
      if (!fields.empty())
        tokens.stop(last,
                    fmt::format("the last row of the loop {} has {} values for {} tags", of,
                                fields.size(), columns.size()),
                    "a value is missing somewhere in the loop, or one with blanks is not quoted");
    } else if (t.kind == Kind::save) {
      t = tokens.next();
    } else {
      tokens.stop(t.value.offset, "a value without a tag: " + data::shown(t.value.text));
    }
  }
  give_pairs();
  return more;
}

}  // namespace tessera::molecular
