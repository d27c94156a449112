// SPDX-License-Identifier: Apache-2.0
//
// A parser that goes down from `or` to terms and computes as it reads: every rule returns its set,
// a mark for each atom.
#include "tessera/molecular/selection.h"

#include "system/near_points.h"
#include "tessera/data/options.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <span>

namespace tessera::molecular {
namespace {

using Marks = std::vector<bool>;

struct Word {
  std::string text;
  std::size_t offset = 0;
  bool quoted = false;
};

constexpr std::string_view set_words[] = {"all",     "none",  "protein", "backbone", "sidechain",
                                          "nucleic", "water", "ion",     "hydrogen", "heavy"};
constexpr std::string_view text_words[] = {"name",    "type",  "element",
                                           "resname", "chain", "segment"};
constexpr std::string_view number_words[] = {"resid", "index", "serial"};
constexpr std::string_view real_words[] = {"mass", "charge", "x", "y", "z"};
constexpr std::string_view other_words[] = {"and",  "or", "not", "within", "of",
                                            "same", "as", "to",  "(",      ")"};

template <std::size_t N>
bool among(const std::string_view (&list)[N], const Word& w) {
  if (w.quoted) return false;
  for (const std::string_view s : list)
    if (s == w.text) return true;
  return false;
}
bool is_keyword(const Word& w) {
  return among(set_words, w) || among(text_words, w) || among(number_words, w) ||
         among(real_words, w) || among(other_words, w);
}

/// Whether a text fits a pattern with * and ?: the star met last takes as many letters as it must.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*')
      ++p, ++t;
    else if (p < pattern.size() && pattern[p] == '*')
      star = p++, from = t;
    else if (star != std::string_view::npos)
      p = star + 1, t = ++from;
    else
      return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

class Parser {
 public:
  Parser(const std::string& expression, const System& s, const Frame& f)
      : text_(data::make_text_file("selection", expression)), findings_(text_), s_(s), f_(f) {
    split();
  }

  std::vector<std::int32_t> run() {
    const Marks marks = any_of();
    if (at_ < words_.size())
      stop(words_[at_], "expected 'and', 'or' or the end, got " + data::shown(words_[at_].text));
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (marks[i]) out.push_back(static_cast<std::int32_t>(i));
    return out;
  }

 private:
  [[noreturn]] void stop(const Word& w, std::string message, std::string hint = {}) {
    findings_.error(760, w.offset, std::move(message), std::move(hint));
    findings_.throw_if_errors();
    throw Error("[select] unreachable");
  }
  void split() {
    const std::string& t = text_.text;
    for (std::size_t i = 0; i < t.size();) {
      const char c = t[i];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\f') {
        ++i;
        continue;
      }
      std::size_t end = i + 1;
      if (c == '"' || c == '\'') {
        end = t.find(c, i + 1);
        if (end == std::string::npos) stop({"", i}, "a quotation is not closed");
        words_.push_back({t.substr(i + 1, end - i - 1), i, true});
        i = end + 1;
        continue;
      }
      if (std::string_view("<>=!").find(c) != std::string_view::npos) {
        if (end < t.size() && t[end] == '=') ++end;
      } else if (c != '(' && c != ')') {
        while (end < t.size() &&
               std::string_view(" \t\n\f()<>=!\"").find(t[end]) == std::string_view::npos)
          ++end;
      }
      words_.push_back({t.substr(i, end - i), i});
      i = end;
    }
  }
  bool next_is(std::string_view what) const {
    return at_ < words_.size() && !words_[at_].quoted && words_[at_].text == what;
  }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    ++at_;
    return true;
  }
  /// The word at hand, or where the text ends.
  Word here() const {
    return at_ < words_.size() ? words_[at_] : Word{"the end", text_.text.size() - 1, true};
  }
  void expect(std::string_view what) {
    if (!take(what))
      stop(here(), fmt::format("expected '{}', got {}", what, data::shown(here().text)));
  }

  Marks any_of() {
    Marks m = all_of();
    while (take("or")) {
      const Marks r = all_of();
      for (std::size_t i = 0; i < m.size(); ++i) m[i] = m[i] || r[i];
    }
    return m;
  }
  Marks all_of() {
    Marks m = term();
    while (take("and")) {
      const Marks r = term();
      for (std::size_t i = 0; i < m.size(); ++i) m[i] = m[i] && r[i];
    }
    return m;
  }
  Marks term() {
    const Word w = here();
    if (++depth_ > 200) stop(w, "more than 200 terms within each other");
    Marks m = term_at(w);
    --depth_;
    return m;
  }
  Marks term_at(const Word& w) {
    if (at_ == words_.size()) stop(w, "expected a term, got the end");
    ++at_;
    if (!w.quoted && w.text == "(") {
      Marks m = any_of();
      expect(")");
      return m;
    }
    if (!w.quoted && w.text == "not") {
      Marks m = term();
      m.flip();
      return m;
    }
    if (!w.quoted && w.text == "within") return within();
    if (!w.quoted && w.text == "same") return same();
    if (!w.quoted && (w.text == "ion" || w.text == "charge")) need_charges(w);
    if (among(set_words, w)) return where([&](std::size_t i) { return in_set(w.text, i); });
    if (among(text_words, w)) return by_text(w);
    if (among(number_words, w)) return by_number(w);
    if (among(real_words, w)) return by_real(w);
    std::vector<std::string_view> known;
    for (const auto list : {std::span<const std::string_view>(set_words),
                            std::span<const std::string_view>(text_words),
                            std::span<const std::string_view>(number_words),
                            std::span<const std::string_view>(real_words)})
      known.insert(known.end(), list.begin(), list.end());
    for (const char* k : {"not", "within", "same"}) known.push_back(k);
    std::vector<std::string> names(known.begin(), known.end());
    const std::vector<std::string> near = data::nearest_names(w.text, names);
    stop(w, "expected a term, got " + data::shown(w.text),
         near.empty() ? "" : "did you mean '" + near[0] + "'?");
  }

  Marks where(auto&& is) const {
    Marks m(s_.n_atoms());
    for (std::size_t i = 0; i < m.size(); ++i) m[i] = is(i);
    return m;
  }
  const Residue& residue(std::size_t i) const {
    return s_.residues[static_cast<std::size_t>(s_.atoms.residue[i])];
  }
  bool in_set(const std::string& set, std::size_t i) const {
    const std::string& name = s_.atoms.name[i];
    const bool acid = is_amino_acid(residue(i).name);
    const auto is_backbone = [&] {
      for (const char* b : {"N", "CA", "C", "O", "OXT", "OT", "OT1", "OT2", "O1", "O2", "OC1",
                            "OC2", "OCT1", "OCT2"})
        if (name == b) return true;
      return false;
    };
    const bool hydrogen = s_.atoms.element[i] == 1;
    if (set == "all") return true;
    if (set == "none") return false;
    if (set == "protein") return acid;
    if (set == "backbone") return acid && is_backbone();
    if (set == "sidechain") return acid && !is_backbone() && !hydrogen;
    if (set == "nucleic") return is_nucleotide(residue(i).name);
    if (set == "water") return is_water(residue(i).name);
    if (set == "hydrogen") return hydrogen;
    if (set == "heavy") return s_.atoms.element[i] > 1;
    // An ion: a residue of one atom with a charge.
    const bool alone = (i == 0 || s_.atoms.residue[i - 1] != s_.atoms.residue[i]) &&
                       (i + 1 == s_.n_atoms() || s_.atoms.residue[i + 1] != s_.atoms.residue[i]);
    return alone && std::abs(s_.atoms.charge_e[i]) > 0.5;
  }

  Marks by_text(const Word& key) {
    std::vector<std::string> patterns;
    while (at_ < words_.size() && !is_keyword(words_[at_])) {
      const Word& w = words_[at_++];
      if (!w.quoted && std::string_view("<>=!").find(w.text[0]) != std::string_view::npos)
        stop(w, fmt::format("expected words after '{}', got {}", key.text, data::shown(w.text)),
             fmt::format("words are compared without signs: {0} A B, or not {0} A", key.text));
      patterns.push_back(w.text);
    }
    if (patterns.empty())
      stop(here(),
           fmt::format("expected one or more words after '{}', got {}", key.text,
                       data::shown(here().text)),
           "words that are keywords are put in quotation marks");
    if (key.text == "element")
      for (std::string& p : patterns) p = data::upper(p);
    return where([&](std::size_t i) {
      const std::string value = key.text == "name"   ? s_.atoms.name[i]
                                : key.text == "type" ? s_.atoms.type[i]
                                : key.text == "element"
                                    ? data::upper(symbol_of(s_.atoms.element[i]))
                                : key.text == "resname" ? residue(i).name
                                : key.text == "chain"   ? residue(i).chain
                                                        : residue(i).segment;
      for (const std::string& p : patterns)
        if (fits(p, value)) return true;
      return false;
    });
  }

  std::optional<std::int64_t> whole(const std::string& s) const {
    std::int64_t v = 0;
    const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
    return code == std::errc{} && end == s.data() + s.size() ? std::optional(v) : std::nullopt;
  }
  Marks by_number(const Word& key) {
    std::vector<std::array<std::int64_t, 2>> ranges;
    std::set<std::string> exact;  // residues with insertion codes
    // A number and one letter (52A); in quotation marks whatever holds a digit.
    const auto may_be_code = [](const Word& w) {
      constexpr const char* digits = "0123456789";
      if (w.quoted) return w.text.find_first_of(digits) != std::string::npos;
      const std::size_t sign = w.text[0] == '-', letter = w.text.find_first_not_of(digits, sign);
      return letter > sign && letter + 1 == w.text.size() &&
             std::isalpha(static_cast<unsigned char>(w.text[letter])) != 0;
    };
    const std::int64_t first = key.text == "serial";
    while (at_ < words_.size() && !is_keyword(words_[at_])) {
      const Word w = words_[at_++];
      const std::optional<std::int64_t> from = whole(w.text);
      if (!from && key.text == "resid" && may_be_code(w) && !next_is("to")) {
        exact.insert(w.text);
        continue;
      }
      if (!from)
        stop(
            w,
            fmt::format("expected whole numbers after '{}', got {}", key.text, data::shown(w.text)),
            "a range is written 5 to 10");
      std::int64_t last = *from;
      if (take("to")) {
        const Word end = here();
        const std::optional<std::int64_t> to = whole(end.text);
        if (!to || *to < *from)
          stop(end, fmt::format("expected a whole number of {} or above, got {}", *from,
                                data::shown(end.text)));
        last = *to;
        ++at_;
      }
      if (key.text != "resid" && *from < first)
        stop(w, fmt::format("there is no atom of {} {}: the first is {}", key.text, *from, first),
             "serial counts atoms from 1, index from 0");
      if (const auto n = static_cast<std::int64_t>(s_.n_atoms()), end = n - 1 + first;
          key.text != "resid" && n > 0 && last > end)
        stop(w, fmt::format("there is no atom of {} {}: the last is {}", key.text, last, end),
             "are these numbers of another system?");
      ranges.push_back({*from, last});
    }
    if (ranges.empty() && exact.empty())
      stop(here(),
           fmt::format("expected numbers after '{}', got {}", key.text, data::shown(here().text)));
    return where([&](std::size_t i) {
      std::int64_t v = static_cast<std::int64_t>(i) + first;
      if (key.text == "resid") {
        const std::string& number = residue(i).number;
        if (exact.count(number)) return true;
        const auto n = whole(number.substr(0, number.find_first_not_of("-0123456789")));
        if (!n) return false;
        v = *n;
      }
      for (const auto& [from, to] : ranges)
        if (v >= from && v <= to) return true;
      return false;
    });
  }

  double real(const char* what) {
    const Word w = here();
    double v = 0;
    const auto [end, code] = std::from_chars(w.text.data(), w.text.data() + w.text.size(), v);
    if (at_ == words_.size() || code != std::errc{} || end != w.text.data() + w.text.size() ||
        !std::isfinite(v))
      stop(w, fmt::format("expected {}, got {}", what, data::shown(w.text)));
    ++at_;
    return v;
  }
  void need_charges(const Word& w) {
    if (std::ranges::any_of(s_.atoms.charge_e, [](double q) { return std::isnan(q); }))
      stop(w, fmt::format("'{}' goes by charges, which the topology does not tell", w.text),
           "name the atoms by resname or element");
  }
  void need_positions(const Word& w) {
    if (f_.x_nm.size() != s_.n_atoms())
      throw Error(fmt::format("[select] '{}' needs the positions of {} atoms; the frame has {}",
                              w.text, s_.n_atoms(), f_.x_nm.size()));
  }
  Marks by_real(const Word& key) {
    const Word op = here();
    if (key.text.size() == 1) need_positions(key);
    if (op.text != "<" && op.text != "<=" && op.text != ">" && op.text != ">=" && op.text != "=" &&
        op.text != "==" && op.text != "!=")
      stop(op,
           fmt::format("expected a comparison after '{}', got {}", key.text, data::shown(op.text)),
           "<, <=, >, >=, = or !=");
    ++at_;
    const double limit = real("a number");
    return where([&](std::size_t i) {
      const double v = key.text == "mass" ? s_.atoms.mass_amu[i]
                       : key.text == "charge"
                           ? s_.atoms.charge_e[i]
                           : f_.x_nm[i][static_cast<std::size_t>(key.text[0] - 'x')];
      return op.text == "<"    ? v < limit
             : op.text == "<=" ? v <= limit
             : op.text == ">"  ? v > limit
             : op.text == ">=" ? v >= limit
             : op.text == "!=" ? v != limit
                               : v == limit;
    });
  }

  Marks within() {
    const Word w = here();
    const double radius = real("a distance in nm");
    if (!(radius > 0)) stop(w, "the distance must be positive, got " + data::shown(w.text));
    expect("of");
    const Marks centre = term();
    need_positions({"within", w.offset});
    NearPoints near(f_.box, radius);
    for (std::size_t i = 0; i < centre.size(); ++i)
      if (centre[i]) near.add(static_cast<std::int32_t>(i), f_.x_nm[i]);
    return where([&](std::size_t i) { return centre[i] || near.any(f_.x_nm[i]); });
  }

  Marks same() {
    const Word w = here();
    const bool by_residue = take("residue"), by_chain = !by_residue && take("chain"),
               by_molecule = !by_residue && !by_chain && take("molecule");
    if (!by_residue && !by_chain && !by_molecule)
      stop(w, "expected residue, chain or molecule after 'same', got " + data::shown(w.text));
    if (by_chain && std::ranges::all_of(s_.residues, [](const auto& r) { return r.chain.empty(); }))
      stop(w, "the topology does not tell chains", "same molecule as");
    expect("as");
    const Marks of = term();
    const std::vector<std::int32_t> molecule =
        by_molecule ? molecules(s_) : std::vector<std::int32_t>{};
    const auto group = [&](std::size_t i) {
      return by_chain ? residue(i).chain
                      : std::to_string(by_molecule ? molecule[i] : s_.atoms.residue[i]);
    };
    std::set<std::string> wanted;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i]) wanted.insert(group(i));
    return where([&](std::size_t i) { return wanted.count(group(i)) > 0; });
  }

  data::TextFile text_;
  data::Findings findings_;
  const System& s_;
  const Frame& f_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<std::int32_t> select(const std::string& expression, const System& system,
                                 const Frame& frame) {
  if (data::trim(expression).empty()) {
    data::Diagnostic d;
    d.number = 760;
    d.place = {"selection", 1, 1, {}};
    d.message = "expected a term, got the end";
    throw data::InputError(std::move(d));
  }
  return Parser(expression, system, frame).run();
}

}  // namespace tessera::molecular
