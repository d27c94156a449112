// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/quantity.h"

#include "options/quantity_scan.h"
#include "options/unit_hints.h"
#include "options/unit_table.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

namespace tessera::data {
namespace {

using detail::kPrefixes;
using detail::kUnits;
using Named = detail::NamedUnit;
using Prefix = detail::UnitPrefix;

constexpr std::size_t kMaxText = 256;
constexpr int kMaxPower = 9, kMaxNesting = 8, kMaxExponent = 600;

[[noreturn]] void fail(std::size_t at, std::string message, std::string hint = {}) {
  throw QuantityError(211, at, std::move(message), std::move(hint));
}

const Named* find_unit(std::string_view symbol) {
  for (const Named& n : kUnits)
    if (symbol == n.symbol) return &n;
  return nullptr;
}

std::optional<Unit> known_unit(std::string_view symbol) {
  if (const Named* n = find_unit(symbol)) return n->unit;
  for (const Prefix& p : kPrefixes) {
    const std::string_view head = p.symbol;
    if (symbol.size() <= head.size() || symbol.substr(0, head.size()) != head) continue;
    const Named* n = find_unit(symbol.substr(head.size()));
    if (!n || !n->prefixes) continue;
    Unit u = n->unit;
    u.exponent += p.exponent;
    return u;
  }
  return {};
}

Unit named_unit(std::string_view symbol, std::size_t at) {
  if (const std::optional<Unit> unit = known_unit(symbol)) return *unit;
  const detail::UnitHint other = detail::hint_for_unit(symbol);
  const std::string quoted = "'" + std::string(symbol) + "'";
  fail(at,
       other.ambiguous ? "unit " + quoted + " can be read in more than one way"
                       : "unknown unit " + quoted,
       other.hint);
}

bool symbol_byte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '%' || u >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

/// unit = factor { ('*' | '/') factor };  factor = ( symbol | '(' unit ')' ) [ '^' integer ]
class UnitParser {
 public:
  UnitParser(std::string_view text, std::size_t begin) : text_(text), at_(begin) {}

  Unit parse() {
    const Unit u = product(0);
    if (at_ < text_.size()) unexpected();
    return u;
  }

 private:
  [[noreturn]] void unexpected() {
    if (at_ >= text_.size()) fail(at_, "the unit ends too early");
    const char c = text_[at_];
    const std::string shown = c >= 0x20 && c < 0x7f ? std::string("'") + c + "'" : "byte";
    if (digit(c)) fail(at_, "unexpected " + shown + " in the unit", "write powers as m^2");
    if (c == ' ' || c == '-' || c == '.' || c == '\t')
      fail(at_, "unexpected " + shown + " in the unit", "write products as ohm*m");
    fail(at_, "unexpected " + shown + " in the unit");
  }

  Unit product(int depth) {
    if (depth > kMaxNesting) fail(at_, "parentheses in the unit are nested too deep");
    Unit u;
    bool divided = false;
    if (at_ + 1 < text_.size() && text_[at_] == '1' && text_[at_ + 1] == '/') {
      ++at_;
    } else {
      u = factor(depth);
    }
    while (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '/')) {
      const bool divide = text_[at_] == '/';
      if (!divide && divided)
        fail(at_, "a product after a quotient can be read in two ways", "write J/(kg*K) or J*K/kg");
      ++at_;
      const std::size_t where = at_;
      combine(u, factor(depth), divide ? -1 : 1, where);
      divided = divided || divide;
    }
    return u;
  }

  Unit factor(int depth) {
    if (at_ >= text_.size()) unexpected();
    const std::size_t begin = at_;
    Unit base;
    if (text_[at_] == '(') {
      ++at_;
      base = product(depth + 1);
      if (at_ >= text_.size() || text_[at_] != ')') fail(begin, "parenthesis is not closed");
      ++at_;
    } else {
      while (at_ < text_.size() && symbol_byte(text_[at_])) ++at_;
      if (at_ == begin) unexpected();
      base = named_unit(text_.substr(begin, at_ - begin), begin);
    }
    if (at_ >= text_.size() || text_[at_] != '^') return base;
    ++at_;
    int power = 0;
    const auto [end, ec] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), power);
    if (ec != std::errc() || power == 0 || power > kMaxPower || power < -kMaxPower)
      fail(at_, "expected a whole power from -9 to 9, not 0");
    at_ = static_cast<std::size_t>(end - text_.data());
    Unit u;
    combine(u, base, power, begin);
    return u;
  }

  static void combine(Unit& u, const Unit& by, int power, std::size_t at) {
    for (std::size_t i = 0; i < u.dimension.power.size(); ++i) {
      const int sum = u.dimension.power[i] + by.dimension.power[i] * power;
      if (sum > 100 || sum < -100) fail(at, "the power of a base unit is out of range");
      u.dimension.power[i] = static_cast<std::int8_t>(sum);
    }
    u.exponent += by.exponent * power;
    u.factor *= std::pow(by.factor, power);
    if (u.exponent > kMaxExponent || u.exponent < -kMaxExponent ||
        !(u.factor > 1e-300 && u.factor < 1e300))
      fail(at, "the unit is out of the range of numbers");
  }

  std::string_view text_;
  std::size_t at_;
};

/// The number at the head of `text`, as sign, digits and decimal exponent, so that a prefix can be
/// added exactly.
struct Decimal {
  std::string_view mantissa;
  long exponent = 0;
  std::size_t length = 0;
};

std::optional<Decimal> scan_decimal(std::string_view t) {
  std::size_t i = !t.empty() && t[0] == '-' ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < t.size() && digit(t[i])) ++i;
    return i > begin;
  };
  if (!digits()) return std::nullopt;
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (!digits()) return std::nullopt;
  }
  Decimal d{t.substr(0, i), 0, i};
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    std::size_t k = i + 1;
    const bool plus = k < t.size() && t[k] == '+';
    if (plus) ++k;
    const auto [end, ec] = std::from_chars(t.data() + k, t.data() + t.size(), d.exponent);
    const auto stop = static_cast<std::size_t>(end - t.data());
    if (stop > k && !(plus && t[k] == '-') &&
        (ec == std::errc() || ec == std::errc::result_out_of_range)) {
      if (ec != std::errc()) d.exponent = std::numeric_limits<int>::max();
      d.length = stop;
    }
  }
  return d;
}

/// mantissa * 10^exponent * factor, E0211 where that is no ordinary double.
double evaluate(const Decimal& d, const Unit& u) {
  double value = 0;
  const std::string text = std::string(d.mantissa) + "e" + std::to_string(d.exponent + u.exponent);
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool zero = d.mantissa.find_first_of("123456789") == std::string_view::npos;
  if (zero) return 0.0;
  value *= u.factor;
  if (ec != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      std::fabs(value) < std::numeric_limits<double>::min())
    fail(0, "the value is out of the range of double precision");
  return value;
}

/// How far a unit goes that begins at `at` of a longer text.
class UnitExtent {
 public:
  UnitExtent(std::string_view text, std::size_t at,
             const std::function<bool(std::string_view)>& is_name)
      : text_(text), at_(at), is_name_(is_name) {}

  std::size_t end() {
    if (text_.substr(at_, 2) == "1/")
      ++at_;
    else
      factor(true, 0);
    while (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '/')) {
      const std::size_t before = at_++;
      if (factor(false, 0)) continue;
      at_ = before;
      break;
    }
    return at_;
  }

 private:
  /// Moves on behind a factor; false (and nothing moved) where none begins here. The first symbol
  /// behind a number is always a unit.
  bool factor(bool first, int depth) {
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      if (depth > kMaxNesting || !inside(depth + 1)) return at_ = begin, false;
    } else {
      while (at_ < text_.size() && symbol_byte(text_[at_])) ++at_;
      const std::string_view symbol = text_.substr(begin, at_ - begin);
      const bool goes_on =
          at_ < text_.size() && (digit(text_[at_]) || text_[at_] == '_' || text_[at_] == '(');
      if (symbol.empty() || (!first && (goes_on || !known_unit(symbol)))) return at_ = begin, false;
      if (!first && is_name_ && is_name_(symbol))
        throw QuantityError(
            220, begin, "'" + std::string(symbol) + "' is both a unit and a name here",
            "write the product with blanks where the name is meant: ' * " + std::string(symbol) +
                "'; ' * 1 " + std::string(symbol) + "' where the unit is");
    }
    if (at_ + 1 < text_.size() && text_[at_] == '^') {
      std::size_t k = at_ + 1;
      if (text_[k] == '-') ++k;
      const std::size_t digits = k;
      while (k < text_.size() && digit(text_[k])) ++k;
      if (k > digits) at_ = k;
    }
    return true;
  }

  bool inside(int depth) {
    for (;;) {
      if (!factor(false, depth)) return false;
      if (at_ >= text_.size()) return false;
      const char c = text_[at_++];
      if (c == ')') return true;
      if (c != '*' && c != '/') return false;
    }
  }

  std::string_view text_;
  std::size_t at_;
  const std::function<bool(std::string_view)>& is_name_;
};

}  // namespace

namespace detail {

bool is_unit(std::string_view symbol) { return known_unit(symbol).has_value(); }

ScannedQuantity scan_quantity(std::string_view text, std::size_t begin,
                              const std::function<bool(std::string_view)>& is_name) {
  const std::optional<Decimal> number = scan_decimal(text.substr(begin));
  if (!number) fail(begin, "expected a decimal number");
  const std::size_t behind = begin + number->length;
  std::size_t at = behind;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  const bool unit =
      at < text.size() && (symbol_byte(text[at]) || (at > behind && text.substr(at, 2) == "1/"));
  const std::size_t end = unit ? UnitExtent(text, at, is_name).end() : behind;
  try {
    return {parse_quantity(text.substr(begin, end - begin)), end};
  } catch (const QuantityError& e) {
    throw QuantityError(e.number(), begin + e.offset(), e.what(), e.hint());
  }
}

}  // namespace detail

Unit parse_unit(std::string_view text) {
  if (text.size() > kMaxText) fail(0, "the unit is too long");
  if (text.empty()) return {};
  return UnitParser(text, 0).parse();
}

Quantity parse_quantity(std::string_view text) {
  if (text.size() > kMaxText) fail(0, "the quantity is too long");
  if (text.empty()) fail(0, "expected a number and a unit, got nothing");
  const std::optional<Decimal> number = scan_decimal(text);
  if (!number)
    fail(0, "expected a decimal number, then its unit",
         "e.g. \"2.4 GHz\"; no sign +, no nan, no inf");
  std::size_t at = number->length;
  if (at < text.size() && text[at] == ',')
    fail(at, "unexpected ',' in a number", "the decimal sign is a point");
  const std::size_t end = at;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  if (at == text.size()) {
    if (at != end) fail(end, "blanks after the number but no unit");
    return {evaluate(*number, {}), dimension::number};
  }
  if (text.substr(at) == "e" && at == end)
    fail(at, "'e' right after a number can be read in two ways", "write \"2 e\" for a charge");
  const Unit unit = UnitParser(text, at).parse();
  return {evaluate(*number, unit), unit.dimension};
}

double parse_quantity(std::string_view text, const Dimension& expected) {
  const Quantity q = parse_quantity(text);
  if (!(q.dimension == expected)) {
    const std::string unit = si_unit(expected);
    throw QuantityError(
        212, 0, "expected " + dimension_name(expected) + ", got " + dimension_name(q.dimension),
        unit.empty() ? "give a plain number" : "give a unit such as " + unit);
  }
  return q.value;
}

}  // namespace tessera::data
