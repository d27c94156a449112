// SPDX-License-Identifier: Apache-2.0
#include "options/options_value.h"

#include "options/config_readers.h"
#include "options/options_text.h"
#include "options/unit_hints.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace tessera::data::detail {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool one_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a string in a key of numbers is meant to be computed: it has an operation behind its
/// first byte, or a name where there are parameters.
bool is_arithmetic(std::string_view text, bool parameters) {
  return text.find_first_of("+-*/^(", 1) != std::string_view::npos ||
         (parameters && std::any_of(text.begin(), text.end(), letter));
}

/// Whether the text is one quantity that is misspelt rather than an expression that is: what is
/// wrong with the quantity helps more then.
bool quantity_is_meant(std::string_view text, bool parameters) {
  std::size_t k = text.empty() || text[0] != '-' ? 0 : 1;
  if (k == text.size() || text[0] == '+') return true;
  const std::size_t begin = k;
  if (letter(text[k])) {
    while (k < text.size() && (letter(text[k]) || one_digit(text[k]))) ++k;
    const std::string_view word = text.substr(begin, k - begin);
    return word == "nan" || word == "NaN" || word == "inf" || word == "Inf" ||
           (!parameters && k == text.size());
  }
  if (!one_digit(text[k])) return text.find_first_of("+-*/^(") == std::string_view::npos;
  while (k < text.size() && (one_digit(text[k]) || text[k] == '.')) ++k;
  while (k < text.size() && (text[k] == ' ' || text[k] == '\t')) ++k;
  return k == text.size() || text[k] == ',' || (!parameters && letter(text[k]));
}

/// A quantity, or an expression over the parameters. Throws QuantityError.
Expression expression_of(const std::string& text, const Parameters& parameters) {
  try {
    return parameters.parse(text);
  } catch (const QuantityError&) {
    if (!quantity_is_meant(text, !parameters.empty())) throw;
    parse_quantity(text);  // says what is wrong, if it is no quantity
    throw;
  }
}

/// What makes a frequency of a wavelength, where the expression is one; nothing if there is no such
/// way.
std::optional<Expression> made_of(const OptionSpec& spec, const Dimension& d) {
  for (const Alternative& other : spec.field.alternatives)
    if (const Dimension of = parse_unit(other.unit).dimension; of == d)
      return parse_expression_of_x(other.made, of);
  return {};
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

/// The nearest choice; else what the key's documentation says of that word.
std::string choice_hint(const Field& field, const std::string& given) {
  if (std::string near = nearest_hint(given, field.choices); !near.empty()) return near;
  const auto small = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return s;
  };
  const std::string doc = small(field.doc), word = small(given);
  const auto letter = [&](std::size_t k) {
    return k < doc.size() && std::isalnum(static_cast<unsigned char>(doc[k])) != 0;
  };
  const std::size_t at = word.size() < 2 ? std::string::npos : doc.find(word);
  if (at == std::string::npos || (at > 0 && letter(at - 1)) || letter(at + word.size())) return {};
  const std::size_t before = doc.rfind(". ", at), behind = doc.find(". ", at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 2;
  return field.doc.substr(begin, behind == std::string::npos ? behind : behind - begin);
}

}  // namespace

std::optional<OptionValue> ValueReader::read(const OptionSpec& spec, const std::string& name,
                                             const Value& v) {
  const std::size_t before = findings_.count();
  name_ = name;
  item_ = 0;
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
    const std::size_t n =
        std::max<std::size_t>(spec.field.min_items, 1);  // a list of any length: one
    for (item_ = 0; item_ < n; ++item_) {
      const std::size_t before = findings_.count();
      out.items.push_back(scalar(spec, v));
      if (findings_.count() != before) return false;  // it is the same for all
    }
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
    item_ = out.items.size();
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
      for (const Value& x : *row) {
        item_ = out.items.size();
        out.items.push_back(scalar(spec, x));
      }
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

/// What a quantity or an expression comes to, in SI units of the key; nothing where it is wrong,
/// which has been told.
std::optional<double> ValueReader::computed(const OptionSpec& spec, const std::string& text,
                                            const Origin& at) {
  try {
    DependentValue v{.key = name_, .item = item_, .text = text};
    v.whole = spec.type == OptionType::integer;
    v.expression = expression_of(text, use_.parameters);
    if (!(v.expression.dimension() == spec.dimension)) {
      v.then = made_of(spec, v.expression.dimension());
      if (!v.then)
        throw QuantityError(212, 0,
                            "expected " + dimension_name(spec.dimension) + ", got " +
                                dimension_name(v.expression.dimension()));
    }
    Slopes s = use_.parameters.slopes(v.expression);
    if (v.then) s = v.then->value(std::vector<Slopes>{s});
    if (!std::isfinite(s.value))
      throw QuantityError(v.expression.names().empty() && v.then ? 211 : 223, 0,
                          v.then ? "there is no " + dimension_name(spec.dimension) + " to it"
                                 : "has no finite value");
    v.value = s.value, v.slopes = std::move(s.by);
    if (!v.expression.names().empty()) use_.values.push_back(std::move(v));
    return s.value;
  } catch (const QuantityError& e) {
    wrong_quantity(spec, text, at, e);
    return {};
  }
}

void ValueReader::wrong_quantity(const OptionSpec& spec, const std::string& text, const Origin& at,
                                 const QuantityError& e) {
  const bool place = e.number() != 212 && e.number() != 223;
  const bool example = spec.type == OptionType::quantity &&
                       (e.number() == 212 || (e.number() == 211 && e.hint().empty()));
  const auto angstroms =
      e.number() == 212 ? with_angstroms(text, spec.dimension) : std::optional<std::string>();
  findings_.error(e.number(), place ? place_in_string(config_, at, text, e.offset()) : at,
                  subject_ + " = " + in_quotes(text) + ": " + e.what(),
                  angstroms ? "A is ampere: write \"" + *angstroms + "\""
                  : example ? "e.g. \"" + example_quantity(spec) + "\"" + alternatives_text(spec)
                            : e.hint());
}

OptionScalar ValueReader::integer(const OptionSpec& spec, const Value& v) {
  const auto* i = v.get<std::int64_t>();
  std::int64_t whole = 0;
  if (const auto* s = v.get<std::string>(); s && is_arithmetic(*s, !use_.parameters.empty())) {
    const std::optional<double> x = computed(spec, *s, v.origin);
    if (!x) return std::int64_t{0};
    if (*x != std::round(*x) || std::abs(*x) > 9007199254740992.0) {
      findings_.error(
          210, v.origin,
          subject_ + " must be an integer, and " + in_quotes(*s) + " is " + print_quantity(*x, ""));
      return std::int64_t{0};
    }
    whole = static_cast<std::int64_t>(*x);
    i = &whole;
  }
  if (!i) {
    const auto* d = v.get<double>();
    const bool is_whole = d && *d == std::round(*d) && std::abs(*d) <= 9007199254740992.0;
    wrong_type(spec, v, is_whole ? "write " + std::to_string(static_cast<std::int64_t>(*d)) : "");
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
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (const auto* s = v.get<std::string>();
      s && (spec.type == OptionType::quantity || is_arithmetic(*s, !use_.parameters.empty()))) {
    if (spec.field.infinite && (*s == "inf" || *s == "-inf")) {
      value = *s == "inf" ? infinity : -infinity;
    } else {
      const std::optional<double> x = computed(spec, *s, v.origin);
      if (!x) return 0.0;
      value = *x;
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
  const bool unit_left_out = bare_si_ && !(spec.dimension == dimension::angle);
  if (bare && !(spec.dimension == dimension::number) && !unit_left_out) {
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
                    choice_hint(spec.field, *s));
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
