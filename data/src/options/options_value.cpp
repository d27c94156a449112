// SPDX-License-Identifier: Apache-2.0
#include "options/options_value.h"

#include "options/config_readers.h"
#include "options/options_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::data::detail {
namespace {

/// In SI units of the key, also from an alternative that says the same. Throws QuantityError.
double quantity(const OptionSpec& spec, std::string_view text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (spec.field.infinite && (text == "inf" || text == "-inf"))
    return text == "inf" ? infinity : -infinity;
  for (const Alternative& other : spec.field.alternatives) {
    const Quantity q = parse_quantity(text);
    if (q.dimension == parse_unit(other.unit).dimension) {
      const double si = other.to_si(q.value);
      if (!std::isfinite(si))
        throw QuantityError(211, 0, "there is no " + dimension_name(spec.dimension) + " to it");
      return si;
    }
  }
  return parse_quantity(text, spec.dimension);
}

/// The text of a value, null where it is none. `--set title=12`: the shell has no quotes to give,
/// and the word stands in `raw`. Within brackets there are quotes.
const std::string* text_of(const Config& config, const OptionSpec& spec, const Value& v,
                           std::string& raw) {
  if (const auto* s = v.get<std::string>()) return s;
  if (v.origin.line != 0 || spec.list) return nullptr;
  const std::string& line = config.sources.at(v.origin.source).text;
  raw = line.substr(line.find('=') + 1);
  return raw.find_first_of("[{") == 0 ? nullptr : &raw;
}

}  // namespace

std::optional<OptionValue> ValueReader::read(const OptionSpec& spec, const std::string& name,
                                             const Value& v) {
  const std::size_t before = findings_.count();
  name_ = name;
  subject_ = (spec.list && v.get<Array>() ? "items of '" : "'") + name + "'";
  OptionValue out;
  if (!spec.list)
    out.items.push_back(scalar(spec, v));
  else if (!items(spec, v, out))
    return std::nullopt;
  if (findings_.count() != before) return std::nullopt;
  return out;
}

bool ValueReader::items(const OptionSpec& spec, const Value& v, OptionValue& out) {
  const Array* list = v.get<Array>();
  if (!list && spec.field.one_for_all) {
    out.items.assign(spec.field.min_items, scalar(spec, v));
    return true;
  }
  if (!list) {
    findings_.error(210, v.origin,
                    "'" + name_ + "' must be " + type_text(spec) + ", got " + v.kind());
    return false;
  }
  if (list->size() < spec.field.min_items || list->size() > spec.field.max_items) {
    findings_.error(
        218, v.origin,
        "'" + name_ + "' must have " + count_text(spec) + ", got " + std::to_string(list->size()));
    return false;
  }
  out.items.reserve(list->size() * std::max<std::size_t>(spec.row, 1));
  for (const Value& item : *list) {
    if (!spec.row) {
      out.items.push_back(scalar(spec, item));
      continue;
    }
    const Array* row = item.get<Array>();
    if (!row || row->size() != spec.row)
      findings_.error(row ? 218 : 210, item.origin,
                      "rows of '" + name_ + "' must have " + std::to_string(spec.row) +
                          " items, got " +
                          (row ? std::to_string(row->size()) : std::string(item.kind())));
    else
      for (const Value& x : *row) out.items.push_back(scalar(spec, x));
  }
  return true;
}

OptionScalar ValueReader::scalar(const OptionSpec& spec, const Value& v) {
  switch (spec.type) {
    case OptionType::boolean:
      if (const bool* b = v.get<bool>()) return *b;
      wrong_type(spec, v, "write true or false");
      return false;
    case OptionType::integer:
      return integer(spec, v);
    case OptionType::real:
    case OptionType::quantity:
      return real(spec, v);
    case OptionType::string:
    case OptionType::choice:
      return text(spec, v);
    case OptionType::path:
      return path(spec, v);
    case OptionType::table:
      break;  // read by its keys
  }
  return false;
}

void ValueReader::wrong_type(const OptionSpec& spec, const Value& v, std::string hint) {
  std::string got = v.kind();
  if (const auto* s = v.get<std::string>()) got += " " + in_quotes(*s);
  findings_.error(210, v.origin, subject_ + " must be " + item_text(spec) + ", got " + got,
                  std::move(hint));
}

OptionScalar ValueReader::integer(const OptionSpec& spec, const Value& v) {
  const auto* i = v.get<std::int64_t>();
  if (!i) {
    wrong_type(spec, v);
    return std::int64_t{0};
  }
  const auto [lowest, highest] = integer_range(spec);
  if (*i < lowest || *i > highest)
    findings_.error(214, v.origin,
                    subject_ + " must be " + range_text(spec) + ", got " + std::to_string(*i));
  return *i;
}

OptionScalar ValueReader::real(const OptionSpec& spec, const Value& v) {
  double value = 0;
  std::string got;
  if (const auto* s = v.get<std::string>(); s && spec.type == OptionType::quantity) {
    try {
      value = quantity(spec, *s);
    } catch (const QuantityError& e) {
      Origin at = v.origin;
      // A plain one-line string: point into it. Escapes are rare in quantities and would only
      // shift the caret.
      if (at.line && e.number() == 211) at.column += static_cast<std::uint32_t>(1 + e.offset());
      findings_.error(e.number(), at, subject_ + " = " + in_quotes(*s) + ": " + e.what(),
                      e.hint().empty() || e.number() == 212
                          ? "e.g. \"" + example_quantity(spec) + "\"" + alternatives_text(spec)
                          : e.hint());
      return 0.0;
    }
    got = *s;
  } else if (const auto* i = v.get<std::int64_t>()) {
    value = static_cast<double>(*i);
    got = std::to_string(*i);
  } else if (const auto* d = v.get<double>()) {
    value = *d;
    got = print_quantity(std::isfinite(*d) ? *d : 0, "");
    if (!std::isfinite(*d)) return 0.0;  // told when the file was read
  } else {
    wrong_type(spec, v);
    return 0.0;
  }
  const bool bare = !v.get<std::string>();
  if (bare && !(spec.dimension == dimension::number) && !bare_si_) {
    findings_.error(212, v.origin,
                    subject_ + ": expected " + dimension_name(spec.dimension) +
                        " with its unit, got the bare number " + got,
                    "write \"" + got + " " + spec.field.unit + "\"");
    return 0.0;
  }
  if (!in_range(spec, value))
    findings_.error(214, v.origin,
                    subject_ + " must be " + range_text(spec) + ", got " + in_quotes(got),
                    bare && !spec.field.unit.empty() && spec.dimension == dimension::number
                        ? "write \"" + got + " " + spec.field.unit + "\" if that is meant"
                        : "");
  return value;
}

OptionScalar ValueReader::text(const OptionSpec& spec, const Value& v) {
  std::string raw;
  const std::string* s = text_of(config_, spec, v, raw);
  if (!s) {
    wrong_type(spec, v);
    return spec.type == OptionType::choice ? OptionScalar(std::int64_t{0})
                                           : OptionScalar(std::string());
  }
  const auto& choices = spec.field.choices;
  const auto at = std::find(choices.begin(), choices.end(), *s);
  if (!choices.empty() && at == choices.end())
    findings_.error(215, v.origin,
                    subject_ + " must be " + choices_text(spec) + ", got " + in_quotes(*s),
                    nearest_hint(*s, choices));
  if (spec.type == OptionType::choice) return static_cast<std::int64_t>(at - choices.begin());
  if (s->find('\0') != std::string::npos)
    findings_.error(210, v.origin, subject_ + " holds a NUL character");
  return *s;
}

OptionScalar ValueReader::path(const OptionSpec& spec, const Value& v) {
  std::string raw;
  const std::string* s = text_of(config_, spec, v, raw);
  if (!s) {
    wrong_type(spec, v);
    return std::string();
  }
  if (s->empty() || s->find('\0') != std::string::npos) {
    findings_.error(210, v.origin, subject_ + " must be a path, got " + in_quotes(*s));
    return std::string();
  }
  // Paths on the command line start where the user stands, those in a file where the file lies.
  std::filesystem::path base = std::filesystem::current_path();
  if (v.origin.line)
    base /= std::filesystem::path(config_.sources.at(v.origin.source).path).parent_path();
  return (base / *s).lexically_normal().string();
}

}  // namespace tessera::data::detail
