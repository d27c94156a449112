// SPDX-License-Identifier: Apache-2.0
#include "options/options_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::data::detail {
namespace {

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
      if (const double d = std::get<double>(s); std::isinf(d))
        return d > 0 ? "\"inf\"" : "\"-inf\"";
      return toml_string(print_quantity(std::get<double>(s), spec.field.unit));
    case OptionType::choice:
      return toml_string(
          spec.field.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(s))));
    case OptionType::string:
    case OptionType::path:
      return toml_string(std::get<std::string>(s));
    case OptionType::table:
      break;  // written key by key
  }
  return {};
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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
      return dimension_name(spec.dimension) + " in " + spec.field.unit + " or the like" +
             alternatives_text(spec);
    case OptionType::string:
      return spec.field.choices.empty() ? "a string" : choices_text(spec);
    case OptionType::path:
      return "a path (a string)";
    case OptionType::choice:
      return choices_text(spec);
    case OptionType::table:
      return "a table";
  }
  return {};
}

std::string type_text(const OptionSpec& spec) {
  if (!spec.list) return item_text(spec);
  if (spec.table) return "a list of tables";
  const Field& f = spec.field;
  const std::string fixed =
      f.min_items == f.max_items ? " of " + std::to_string(f.min_items) : std::string();
  if (f.one_for_all) return item_text(spec) + ", or a list" + fixed + " of them";
  return "a list" + fixed +
         (spec.row ? ", each item a list of " + std::to_string(spec.row) : std::string()) +
         ", each item " + item_text(spec);
}

std::string alternatives_text(const OptionSpec& spec) {
  std::string out;
  for (const Alternative& other : spec.field.alternatives)
    out += ", or " + dimension_name(parse_unit(other.unit).dimension) + " in " + other.unit;
  if (spec.field.infinite) out += ", or \"inf\"";
  return out;
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

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& c : names) out += (out.empty() ? "\"" : ", \"") + c + "\"";
  return out;
}

std::string choices_text(const OptionSpec& spec) {
  return "one of " + quoted_list(spec.field.choices);
}

std::string choice_name(const OptionSpec& spec, const OptionValue& value) {
  const OptionScalar& s = value.items.at(0);
  if (const auto* name = std::get_if<std::string>(&s)) return *name;
  return spec.field.choices.at(static_cast<std::size_t>(std::get<std::int64_t>(s)));
}

std::string example_quantity(const OptionSpec& spec) {
  for (const OptionScalar& s : spec.default_value.items)
    if (const double* d = std::get_if<double>(&s); d && std::isfinite(*d))
      return print_quantity(*d, spec.field.unit);
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

std::string toml_text(const OptionSpec& spec, const OptionValue& value, const ItemTexts& instead) {
  const auto text_of = [&](std::size_t i) {
    const auto at = instead.find(i);
    return at == instead.end() ? scalar_text(spec, value.items.at(i)) : toml_string(at->second);
  };
  if (!spec.list) return text_of(0);
  std::string out = "[";
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const bool row_begins = spec.row && i % spec.row == 0;
    const bool row_ends = spec.row && (i + 1) % spec.row == 0;
    out +=
        (i ? ", " : "") + std::string(row_begins ? "[" : "") + text_of(i) + (row_ends ? "]" : "");
  }
  return out + "]";
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

bool common_key(std::string_view key) {
  return key.find('.') == std::string_view::npos &&
         std::ranges::any_of(common_keys(), [&](const CommonKey& c) { return c.key == key; });
}

bool belongs(const OptionSpec& spec, std::string_view kind) {
  return kind.empty() || spec.field.only_for.empty() || contains(spec.field.only_for, kind);
}

bool required(const OptionSpec& spec, std::string_view kind) {
  const Field& f = spec.field;
  const bool always = f.required || (spec.table && spec.list && f.min_items > 0);
  if (!f.required_for.empty()) return contains(f.required_for, kind);
  return always && (f.only_for.empty() || contains(f.only_for, kind));
}

std::size_t item_number_length(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  const std::size_t close = text.find_first_not_of("0123456789", 1);
  return close > 1 && close < text.size() && text[close] == ']' ? close + 1 : 0;
}

}  // namespace tessera::data::detail

namespace tessera::data {

const std::vector<CommonKey>& common_keys() {
  static const std::vector<CommonKey> keys = {
      {"app", "which app this configuration is for"},
      {"include", "files to read first; tables are merged, and this file wins"},
      {"units", "\"SI\": bare numbers are in SI units; angles have their unit all the same"},
      {"parameters", "numbers with names, of which expressions such as \"w/2 + 1 mm\" are made"},
      {"sweep", "values of parameters, at which `tessera sweep` runs the case"},
      {"sweep.kind",
       "grid: every value with every other; together: the first of all, the second of all, ...; "
       "latin_hypercube: count points, one in each of as many parts of each range"},
      {"sweep.over",
       "the values of each parameter: a list, or {from = ..., to = ..., count = ...} with step "
       "in place of count, and spacing = \"log\""},
      {"sweep.count", "how many points a latin_hypercube has"},
      {"sweep.seed", "which points of a latin_hypercube are drawn (1 if not given)"}};
  return keys;
}

}  // namespace tessera::data
