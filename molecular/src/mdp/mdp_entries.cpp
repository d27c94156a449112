// SPDX-License-Identifier: Apache-2.0
#include "mdp/mdp_entries.h"

#include "mdp/mdp_keys.h"
#include "tessera/data/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera::molecular {
namespace {

using data::shown;

/// As GROMACS compares names: hyphens, underscores and case make no difference (cutoff is cut-off).
std::string letters(std::string_view s) {
  std::string out = mdp_name(s);
  std::erase(out, '-');
  return out;
}
bool is_same(std::string_view a, std::string_view b) { return letters(a) == letters(b); }
/// The key as it is usually written.
std::string usual(std::string_view key) {
  const std::string k = mdp_name(key), bare = letters(key);
  const auto among = [&](const auto& list, auto name) {
    const auto at =
        std::ranges::find_if(list, [&](const auto& x) { return letters(name(x)) == bare; });
    return at == std::end(list) ? std::string() : std::string(name(*at));
  };
  const auto self = [](std::string_view x) { return x; };
  const auto key_of = [](const auto& x) { return x.key; };
  for (std::string found :
       {among(mdp_read, self), among(mdp_switches, key_of), among(mdp_obsolete, key_of),
        among(mdp_of_lists, self), among(mdp_of_constraints, self), among(mdp_not_asked, self),
        among(mdp_of_switches, self)})
    if (!found.empty()) return found;
  return k;
}

}  // namespace

std::string mdp_name(std::string_view s) {
  std::string out;
  for (const char c : s)
    out += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

MdpEntries::MdpEntries(const data::TextFile& text) : findings(text), text_(text) { read_lines(); }

void MdpEntries::read_lines() {
  for (std::size_t n = 1; n <= text_.n_lines(); ++n) {
    const std::size_t begin = text_.line_starts[n - 1];
    std::string_view all = text_.line(n);
    all = all.substr(0, all.find(';'));
    const std::string_view body = data::trim(all);
    if (body.empty()) continue;
    const std::size_t at = begin + static_cast<std::size_t>(body.data() - text_.line(n).data()),
                      equals = body.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      findings.error(725, at, "expected KEY = VALUE, got " + shown(body));
      continue;
    }
    const std::string_view value = data::trim(body.substr(equals + 1));
    const Entry e{
        std::string(value), at,
        value.empty() ? at : begin + static_cast<std::size_t>(value.data() - text_.line(n).data())};
    add(usual(data::trim(body.substr(0, equals))), e);
  }
}

void MdpEntries::add(std::string key, const Entry& e) {
  for (const MdpObsolete& o : mdp_obsolete)
    if (key == o.key) {
      findings.note(727, e.key_at,
                    fmt::format("{} is obsolete: {}", key,
                                o.now.empty() ? std::string(o.why)
                                              : "it is called " + std::string(o.now) + " by now"));
      if (o.now.empty()) return;
      key = o.now;
    }
  for (const MdpSwitch& s : mdp_switches)
    if (key == s.key) {
      std::string v = mdp_name(e.value);
      if (const std::size_t point = v.find('.');
          point != std::string::npos && v.find_first_not_of('0', point + 1) == std::string::npos)
        v.resize(point);  // 1.0 is 1
      const bool nothing = v.find_first_not_of("0. ") == std::string::npos,
                 no = s.off == "no" && (v == "false" || v.empty());
      if (!is_same(v, s.off) && !nothing && !no)
        findings.error(
            726, e.at,
            fmt::format("{} = {}: there is no support for {}", key, shown(e.value), s.what),
            s.off.empty() ? "leave the key out" : fmt::format("write {} = {}", key, s.off));
      return;
    }
  for (const auto& [list, to] :
       {std::pair{std::span<const std::string_view>(mdp_of_lists), &of_lists_},
        {std::span<const std::string_view>(mdp_of_constraints), &of_constraints_}})
    if (std::ranges::find(list, key) != list.end()) return to->push_back(key);
  const auto family = [&](std::string_view f) { return key.starts_with(f); };
  if (std::ranges::find(mdp_not_asked, key) != std::end(mdp_not_asked))
    return not_asked_.push_back(key);
  if (std::ranges::find(mdp_of_switches, key) != std::end(mdp_of_switches) ||
      std::ranges::any_of(mdp_families, family))
    return of_switches_.push_back(key);
  if (std::ranges::find(mdp_read, key) == std::end(mdp_read)) {
    std::vector<std::string> names(std::begin(mdp_read), std::end(mdp_read));
    for (const auto list : {std::span<const std::string_view>(mdp_not_asked),
                            std::span<const std::string_view>(mdp_of_switches),
                            std::span<const std::string_view>(mdp_of_lists),
                            std::span<const std::string_view>(mdp_of_constraints)})
      for (const std::string_view k : list) names.emplace_back(k);
    for (const MdpSwitch& s : mdp_switches) names.emplace_back(s.key);
    const auto near = data::nearest_names(key, names);
    const std::string what = "mdp has no key " + shown(key),
                      hint = near.empty() ? "" : "did you mean '" + near.front() + "'?";
    if (e.value.empty())
      findings.note(727, e.key_at, what + ", and no value is given", hint);
    else
      findings.error(725, e.key_at, what, hint);
    return;
  }
  if (!entries_.try_emplace(key, e).second)
    findings.error(725, e.key_at, key + " is given twice", "keep one of them");
}

const MdpEntries::Entry* MdpEntries::find(std::string_view key) const {
  const auto at = entries_.find(std::string(key));
  return at == entries_.end() || at->second.value.empty() ? nullptr : &at->second;
}
std::vector<data::Token> MdpEntries::words(std::string_view key) const {
  const Entry* e = find(key);
  return e ? data::split_tokens(text_.text, e->at, e->at + e->value.size())
           : std::vector<data::Token>{};
}
double MdpEntries::number(std::string_view key, double otherwise) {
  const Entry* e = find(key);
  return e ? data::parse_number({e->value, e->at}, data::Exponent::e_only, findings)
                 .value_or(otherwise)
           : otherwise;
}
double MdpEntries::positive(std::string_view key, double otherwise) {
  const double v = number(key, otherwise);
  if (!(v > 0)) refuse(*find(key), key, "a number above 0");
  return v;
}
std::int64_t MdpEntries::whole(std::string_view key, std::int64_t otherwise) {
  const Entry* e = find(key);
  if (!e) return otherwise;
  std::int64_t v = 0;
  const char* end = e->value.data() + e->value.size();
  if (const auto r = std::from_chars(e->value.data(), end, v); r.ec == std::errc{} && r.ptr == end)
    return v;
  findings.error(303, e->at, fmt::format("{} is a whole number, got {}", key, shown(e->value)));
  return otherwise;
}
std::int64_t MdpEntries::interval(std::string_view key, std::int64_t otherwise) {
  const std::int64_t v = whole(key, otherwise);
  if (v < 0) refuse(*find(key), key, "a number of steps, or 0 for never");
  return v;
}
bool MdpEntries::yes(std::string_view key, bool otherwise) {
  const Entry* e = find(key);
  if (!e) return otherwise;
  const std::string v = mdp_name(e->value);
  if (v != "yes" && v != "no") refuse(*e, key, "it is yes or no");
  return v == "yes";
}
void MdpEntries::refuse(const Entry& e, std::string_view key, std::string way) {
  findings.error(726, e.at, fmt::format("{} = {} is not supported", key, shown(e.value)),
                 std::move(way));
}

std::vector<double> MdpEntries::numbers(std::string_view key) {
  std::vector<double> out;
  for (const data::Token& t : words(key))
    out.push_back(data::parse_number(t, data::Exponent::e_only, findings).value_or(0));
  return out;
}
std::optional<std::size_t> MdpEntries::chosen_row(std::string_view key, std::string_view otherwise,
                                                  std::span<const MdpName> names) {
  const Entry* e = find(key);
  const std::string_view v = e ? std::string_view(e->value) : otherwise;
  std::string known;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto& [name, way] = names[k];
    if (is_same(name, v) && way.empty()) return k;
    if (is_same(name, v)) {
      if (e) refuse(*e, key, std::string(way));
      return {};
    }
    if (way.empty()) known += (known.empty() ? "" : ", ") + std::string(name);
  }
  if (e) refuse(*e, key, "one of " + known);
  return {};
}

/// Keys that are given and have no effect, in one line.
void MdpEntries::told(const std::vector<std::string>& given, const char* why, const char* hint) {
  std::string keys;
  for (const std::string& k : given) keys += (keys.empty() ? "" : ", ") + k;
  if (!keys.empty()) findings.note(727, std::string(why) + ": " + keys.substr(0, 400), hint);
}

void MdpEntries::tell_idle() {
  told(of_lists_,
       "pair lists are exact here, made anew when two atoms together have crossed the buffer",
       "no pair within the cut-off is ever missed: docs/decisions/0102-pair-kernels.md");
  told(of_constraints_, "constraints are solved until they hold to 1e-10 here",
       "there is no order and no tolerance to choose: "
       "docs/decisions/0101-constraints-by-newton.md");
  told(not_asked_, "not asked for here", "the program decides these by itself");
  told(of_switches_, "of what is switched off, and have no effect", "");
}

}  // namespace tessera::molecular
