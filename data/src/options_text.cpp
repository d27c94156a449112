// SPDX-License-Identifier: Apache-2.0
#include "options_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::data {
namespace detail {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

std::string limit_text(const OptionSpec& spec, double limit) {
  if (spec.type == OptionType::integer) return std::to_string(static_cast<std::int64_t>(limit));
  return print_quantity(limit, "") + (spec.field.unit.empty() ? "" : " " + spec.field.unit);
}

/// The limit in SI, through the same decimal arithmetic as a value in a file, so that `max` itself
/// is allowed.
double limit_si(const OptionSpec& spec, double limit) {
  if (spec.field.unit.empty() || limit == 0) return limit;
  return parse_quantity(print_quantity(limit, "") + " " + spec.field.unit).value;
}

std::string scalar_text(const OptionSpec& spec, const OptionScalar& s) {
  switch (spec.type) {
    case OptionType::boolean:
      return std::get<bool>(s) ? "true" : "false";
    case OptionType::integer:
      return std::to_string(std::get<std::int64_t>(s));
    case OptionType::real:
      return print_quantity(std::get<double>(s), "");
    case OptionType::quantity:
      return toml_string(print_quantity(std::get<double>(s), spec.field.unit));
    case OptionType::choice:
      return toml_string(
          spec.field.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(s))));
    case OptionType::string:
    case OptionType::path:
      return toml_string(std::get<std::string>(s));
  }
  return {};
}

}  // namespace

std::string item_text(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "an integer";
    case OptionType::real:
      return "a number";
    case OptionType::quantity:
      return dimension_name(spec.dimension) + " in " + spec.field.unit + " or alike";
    case OptionType::string:
      return spec.field.choices.empty() ? "a string" : choices_text(spec);
    case OptionType::path:
      return "a path (a string)";
    case OptionType::choice:
      return choices_text(spec);
  }
  return {};
}

std::string type_text(const OptionSpec& spec) {
  return spec.list ? "a list, each item " + item_text(spec) : item_text(spec);
}

std::string count_text(const OptionSpec& spec) {
  const auto n = spec.field.min_items, m = spec.field.max_items;
  return n == m ? std::to_string(n) + (n == 1 ? " item" : " items")
                : std::to_string(n) + " to " + std::to_string(m) + " items";
}

std::string range_text(const OptionSpec& spec) {
  const Field& f = spec.field;
  std::string low, high;
  if (f.above) low = "above " + limit_text(spec, *f.above);
  if (f.min) low = "at least " + limit_text(spec, *f.min);
  if (f.max) high = "at most " + limit_text(spec, *f.max);
  if (spec.type == OptionType::integer && low.empty() &&
      spec.integer_min > std::numeric_limits<std::int64_t>::min())
    low = "at least " + std::to_string(spec.integer_min);
  if (spec.type == OptionType::integer && high.empty() &&
      spec.integer_max < std::numeric_limits<std::int64_t>::max())
    high = "at most " + std::to_string(spec.integer_max);
  return low + (!low.empty() && !high.empty() ? " and " : "") + high;
}

std::string choices_text(const OptionSpec& spec) {
  std::string out = "one of ";
  for (const std::string& c : spec.field.choices)
    out += (&c == spec.field.choices.data() ? "\"" : ", \"") + c + "\"";
  return out;
}

std::string example_quantity(const OptionSpec& spec) {
  for (const OptionScalar& s : spec.default_value.items)
    if (const double* d = std::get_if<double>(&s)) return print_quantity(*d, spec.field.unit);
  return "1 " + spec.field.unit;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  const char* hex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (u < 0x20 || u == 0x7f)
      out += std::string("\\u00") + hex[u >> 4] + hex[u & 15];
    else
      out += c;
  }
  return out + "\"";
}

std::string toml_text(const OptionSpec& spec, const OptionValue& value) {
  if (!spec.list) return scalar_text(spec, value.items.at(0));
  std::string out = "[";
  for (const OptionScalar& s : value.items)
    out += (&s == value.items.data() ? "" : ", ") + scalar_text(spec, s);
  return out + "]";
}

std::string nearest_hint(std::string_view text, const std::vector<std::string>& known) {
  const auto near = nearest_names(text, known);
  return near.empty() ? "" : "did you mean '" + near.front() + "'?";
}

std::pair<std::int64_t, std::int64_t> integer_range(const OptionSpec& spec) {
  auto [low, high] = std::pair(spec.integer_min, spec.integer_max);
  const Field& f = spec.field;
  if (f.min) low = std::max(low, static_cast<std::int64_t>(std::ceil(*f.min)));
  if (f.above) low = std::max(low, static_cast<std::int64_t>(std::floor(*f.above)) + 1);
  if (f.max) high = std::min(high, static_cast<std::int64_t>(std::floor(*f.max)));
  return {low, high};
}

bool in_range(const OptionSpec& spec, double si) {
  const Field& f = spec.field;
  return (!f.min || si >= limit_si(spec, *f.min)) && (!f.above || si > limit_si(spec, *f.above)) &&
         (!f.max || si <= limit_si(spec, *f.max));
}

}  // namespace detail

std::vector<std::string> nearest_names(std::string_view text,
                                       const std::vector<std::string>& known) {
  if (text.size() > 100) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& k : known) {
    const std::size_t d = detail::distance(text, k);
    if (d <= std::max<std::size_t>(1, std::min<std::size_t>(k.size(), text.size()) / 3))
      near.emplace_back(d, k);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [d, k] : near) out.push_back(std::move(k));
  return out;
}

std::vector<std::string> OptionTable::nearest(std::string_view key) const {
  std::vector<std::string> keys;
  for (const OptionSpec& s : specs_) keys.push_back(s.key);
  std::vector<std::string> near = nearest_names(key, keys);
  // A key that is right but stands in another section, or was given without one.
  const std::string_view last =
      key.substr(key.rfind('.') == std::string_view::npos ? 0 : key.rfind('.') + 1);
  std::vector<std::string> tails;
  for (const OptionSpec& s : specs_)
    tails.push_back(s.key.substr(s.key.rfind('.') == std::string::npos ? 0 : s.key.rfind('.') + 1));
  for (const std::string& tail : nearest_names(last, tails))
    for (const OptionSpec& s : specs_)
      if (s.key.size() >= tail.size() &&
          s.key.compare(s.key.size() - tail.size(), tail.size(), tail) == 0 &&
          std::find(near.begin(), near.end(), s.key) == near.end())
        near.push_back(s.key);
  return near;
}

std::string OptionTable::resolved_toml(const void* values) const {
  std::string out = "# Every option of " + app_ + " with its value in this run. " +
                    "`tessera explain KEY` says more.\napp = " + detail::toml_string(app_) + "\n";
  std::vector<std::string> sections;
  const auto section_of = [](const OptionSpec& s) {
    const std::size_t dot = s.key.rfind('.');
    return dot == std::string::npos ? std::string() : s.key.substr(0, dot);
  };
  sections.emplace_back();  // keys without a section come first, as TOML wants it
  for (const OptionSpec& s : specs_)
    if (std::find(sections.begin(), sections.end(), section_of(s)) == sections.end())
      sections.push_back(section_of(s));
  for (const std::string& section : sections) {
    if (!section.empty()) out += "\n[" + section + "]\n";
    for (const OptionSpec& s : specs_) {
      if (section_of(s) != section) continue;
      const OptionValue value = s.fetch(values);
      const std::string name = section.empty() ? s.key : s.key.substr(section.size() + 1);
      out += "# " + s.field.doc;
      const std::string range =
          s.type == OptionType::choice ? detail::choices_text(s) : detail::range_text(s);
      if (!range.empty()) out += " (" + range + ")";
      out += "\n";
      if (value.set)
        out += name + " = " + detail::toml_text(s, value) + "\n";
      else
        out += "# " + name + " is not set\n";
    }
  }
  return out;
}

std::string OptionTable::explain(std::string_view key) const {
  const OptionSpec* s = find(key);
  if (!s) return {};
  std::string out = s->key + "\n  " + s->field.doc + "\n  type: " + detail::type_text(*s) + "\n";
  const std::string range = detail::range_text(*s);
  if (!range.empty()) out += "  range: " + range + "\n";
  if (s->list) out += "  length: " + detail::count_text(*s) + "\n";
  if (s->field.required)
    out += "  required: there is no default\n";
  else if (!s->default_value.set)
    out += "  default: not set\n";
  else
    out += "  default: " + detail::toml_text(*s, s->default_value) + "\n";
  return out + "  app: " + app_ + ", since " + s->field.since + "\n";
}

std::string OptionTable::reference_page() const {
  std::string out =
      "# Options of `" + app_ + "`\n\n" + doc_ +
      "\n\nGenerated from the option table; do not edit.\n\n" +
      "| key | type | default | range | meaning | since |\n|---|---|---|---|---|---|\n";
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const OptionSpec& s : specs_) {
    const std::string fallback = s.field.required ? "required"
                                 : !s.default_value.set
                                     ? "not set"
                                     : "`" + detail::toml_text(s, s.default_value) + "`";
    out += "| `" + s.key + "` | " + cell(detail::type_text(s)) + " | " + cell(fallback) + " | " +
           cell(detail::range_text(s)) + " | " + cell(s.field.doc) + " | " + s.field.since + " |\n";
  }
  return out;
}

}  // namespace tessera::data
