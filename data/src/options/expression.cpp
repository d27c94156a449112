// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/expression.h"

#include "options/config_readers.h"
#include "options/quantity_scan.h"
#include "tessera/data/nearest_names.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::data {
namespace {

using Op = Expression::Op;

constexpr std::size_t kMostText = 4096;
constexpr int kMostDepth = 64;

struct Constant {
  const char* name;
  double value;
  Dimension dimension;
};
constexpr double kLightSpeed = 299792458.0, kMu0 = 1.25663706212e-6;
// CODATA 2018 (E. Tiesinga et al., Rev. Mod. Phys. 93 (2021) 025010), SI.
constexpr Constant kConstants[] = {
    {"pi", std::numbers::pi, dimension::number},
    {"c0", kLightSpeed, dimension::velocity},
    {"mu0", kMu0, {{1, 1, -2, -2, 0, 0, 0, 0}}},
    {"eps0", 1 / (kMu0 * kLightSpeed * kLightSpeed), {{-3, -1, 4, 2, 0, 0, 0, 0}}},
    {"eta0", kMu0* kLightSpeed, dimension::resistance},
    {"q_e", 1.602176634e-19, dimension::charge},
    {"k_B", 1.380649e-23, {{2, 1, -2, 0, -1, 0, 0, 0}}},
    {"hbar", 6.62607015e-34 / (2 * std::numbers::pi), {{2, 1, -1, 0, 0, 0, 0, 0}}},
    {"N_A", 6.02214076e23, {{0, 0, 0, 0, 0, -1, 0, 0}}},
};

/// What the arguments of a function may be, and what it gives.
enum class Units { root, plain, angle_in, angle_out, any, alike, alike_to_angle };
struct Function {
  const char* name;
  Op op;
  Units units;
  std::size_t least, most;  ///< arguments
};
constexpr Function kFunctions[] = {
    {"sqrt", Op::sqrt, Units::root, 1, 1},      {"exp", Op::exp, Units::plain, 1, 1},
    {"log", Op::log, Units::plain, 1, 1},       {"sin", Op::sin, Units::angle_in, 1, 1},
    {"cos", Op::cos, Units::angle_in, 1, 1},    {"tan", Op::tan, Units::angle_in, 1, 1},
    {"asin", Op::asin, Units::angle_out, 1, 1}, {"acos", Op::acos, Units::angle_out, 1, 1},
    {"atan", Op::atan, Units::angle_out, 1, 1}, {"atan2", Op::atan2, Units::alike_to_angle, 2, 2},
    {"abs", Op::abs, Units::any, 1, 1},         {"min", Op::min, Units::alike, 2, 16},
    {"max", Op::max, Units::alike, 2, 16},
};

template <class List>
auto entry_called(const List& list, std::string_view name) -> decltype(&list[0]) {
  for (const auto& x : list)
    if (name == x.name) return &x;
  return nullptr;
}
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> out;
  for (const auto& x : list) out.emplace_back(x.name);
  return out;
}

bool name_begins(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool name_byte(char c) { return name_begins(c) || (c >= '0' && c <= '9'); }
bool decimal_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t name_end(std::string_view text, std::size_t at) {
  while (at < text.size() && name_byte(text[at])) ++at;
  return at;
}

/// d * n, where that is whole and small; `n` may be a half.
std::optional<Dimension> times(const Dimension& d, double n) {
  Dimension out;
  for (std::size_t i = 0; i < d.power.size(); ++i) {
    const double p = d.power[i] * n;
    if (p != std::round(p) || std::abs(p) > 100) return {};
    out.power[i] = static_cast<std::int8_t>(p);
  }
  return out;
}
std::optional<Dimension> sum(const Dimension& a, const Dimension& b, int sign) {
  Dimension out;
  for (std::size_t i = 0; i < a.power.size(); ++i) {
    const int p = a.power[i] + sign * b.power[i];
    if (std::abs(p) > 100) return {};
    out.power[i] = static_cast<std::int8_t>(p);
  }
  return out;
}

}  // namespace

class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const FindName& find,
                   const std::vector<std::string>& known)
      : text_(text), find_(find), known_(known) {}

  Expression read() {
    if (text_.size() > kMostText) fail(0, 220, "the expression is too long");
    const Part whole = read_sum();
    blanks();
    if (at_ < text_.size()) unexpected();
    out_.dimension_ = whole.dimension;
    std::sort(out_.names_.begin(), out_.names_.end());
    out_.names_.erase(std::unique(out_.names_.begin(), out_.names_.end()), out_.names_.end());
    return std::move(out_);
  }

 private:
  /// What has been read: where it stands, its dimension, and its first step.
  struct Part {
    std::size_t begin = 0, end = 0, step = 0;
    Dimension dimension;
  };

  [[noreturn]] static void fail(std::size_t at, int number, std::string message,
                                std::string hint = {}) {
    throw QuantityError(number, at, std::move(message), std::move(hint));
  }
  [[noreturn]] void unexpected() const {
    if (at_ >= text_.size())
      fail(at_, 220, "the expression ends where a number, a name or '(' is due");
    const char c = text_[at_];
    const bool plain = c >= 0x20 && c < 0x7f;
    const std::string shown =
        plain ? "'" + std::string(1, c) + "'" : "a byte that is none of ASCII";
    if (name_begins(c) || decimal_digit(c) || c == '(')
      fail(at_, 220, "unexpected " + shown + ": something is due between both",
           "write products with '*'");
    if (c == ',') fail(at_, 220, "unexpected ','", "the decimal sign is a point");
    fail(at_, 220, "unexpected " + shown);
  }
  std::string quoted(const Part& p) const {
    return detail::in_quotes(text_.substr(p.begin, p.end - p.begin));
  }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void add(Op op, double constant = 0, std::uint32_t name = 0) {
    out_.steps_.push_back({op, constant, name});
  }
  Part ended(Part p, Dimension d) const {
    p.end = at_, p.dimension = d;
    return p;
  }

  Part read_sum() {
    if (++depth_ > kMostDepth) fail(at_, 220, "the expression is nested too deep");
    Part left = read_product();
    for (;;) {
      blanks();
      const std::size_t where = at_;
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const Part right = read_product();
      if (!(left.dimension == right.dimension))
        fail(where, 222,
             quoted(left) + " is " + dimension_name(left.dimension) + " and " + quoted(right) +
                 " is " + dimension_name(right.dimension) + ": they cannot be " +
                 (plus ? "added" : "subtracted"));
      add(plus ? Op::add : Op::subtract);
      left.end = right.end;
    }
    --depth_;
    return left;
  }

  Part read_product() {
    Part left = read_factor();
    for (;;) {
      blanks();
      const std::size_t where = at_;
      const bool times = take('*');
      if (times && at_ < text_.size() && text_[at_] == '*')
        fail(where, 220, "unexpected '**'", "write powers with '^'");
      if (!times && !take('/')) break;
      const Part right = read_factor();
      const auto d = sum(left.dimension, right.dimension, times ? 1 : -1);
      if (!d) fail(where, 222, "the power of a base unit is out of range");
      add(times ? Op::multiply : Op::divide);
      left.dimension = *d, left.end = right.end;
    }
    return left;
  }

  Part read_factor() {
    if (++depth_ > kMostDepth) fail(at_, 220, "the expression is nested too deep");
    blanks();
    Part p{.begin = at_, .end = at_, .step = out_.steps_.size(), .dimension = {}};
    if (take('-')) {
      const Part of = read_factor();
      add(Op::negate);
      p = ended(p, of.dimension);
    } else {
      p = read_base();
      blanks();
      if (const std::size_t where = at_; take('^')) p = raised(p, where);
    }
    --depth_;
    return p;
  }

  Part raised(const Part& base, std::size_t where) {
    const std::size_t first = out_.steps_.size(), names = out_.names_.size();
    const Part exponent = read_factor();
    if (!(exponent.dimension == dimension::number))
      fail(exponent.begin, 222,
           "an exponent is a plain number, and " + quoted(exponent) + " is " +
               dimension_name(exponent.dimension));
    if (out_.names_.size() == names) {
      Expression constant;
      constant.steps_.assign(out_.steps_.begin() + static_cast<std::ptrdiff_t>(first),
                             out_.steps_.end());
      const double n = constant.value(std::vector<double>{});
      const auto d = times(base.dimension, n);
      if (!std::isfinite(n) || !d)
        fail(where, 222,
             quoted(base) + " is " + dimension_name(base.dimension) +
                 ": this power of it has no unit");
      out_.steps_.resize(first);
      add(Op::fixed_power, n);
      return ended(base, *d);
    }
    if (!(base.dimension == dimension::number))
      fail(where, 222,
           quoted(base) + " is " + dimension_name(base.dimension) +
               ": only plain numbers take an exponent that changes");
    add(Op::power);
    return ended(base, dimension::number);
  }

  Part read_base() {
    blanks();
    Part p{.begin = at_, .end = at_, .step = out_.steps_.size(), .dimension = {}};
    if (at_ >= text_.size()) unexpected();
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      const Part inner = read_sum();
      if (!take(')')) {
        if (at_ < text_.size()) unexpected();
        fail(p.begin, 220, "the parenthesis is not closed");
      }
      return ended(p, inner.dimension);
    }
    if (decimal_digit(c)) {
      const detail::ScannedQuantity q =
          detail::scan_quantity(text_, at_, [&](std::string_view name) {
            return entry_called(kConstants, name) ||
                   std::find(known_.begin(), known_.end(), name) != known_.end();
          });
      at_ = q.end;
      add(Op::constant, q.quantity.value);
      return ended(p, q.quantity.dimension);
    }
    if (name_begins(c)) return read_name(p);
    if (c == '+') fail(at_, 220, "unexpected '+'", "a sign '+' is left out");
    unexpected();
  }

  Part read_name(Part p) {
    at_ = name_end(text_, at_);
    const std::string_view name = text_.substr(p.begin, at_ - p.begin);
    const std::size_t behind = at_;
    if (const Function* f = entry_called(kFunctions, name)) {
      if (!take('('))
        fail(behind, 220, "'" + std::string(name) + "' is a function: '(' is due behind it");
      return read_call(p, *f);
    }
    if (const Constant* k = entry_called(kConstants, name)) {
      add(Op::constant, k->value);
      return ended(p, k->dimension);
    }
    if (const auto found = find_ ? find_(name) : std::nullopt) {
      add(Op::name, 0, found->number);
      out_.names_.push_back(found->number);
      return ended(p, found->dimension);
    }
    unknown(name, p.begin);
  }

  [[noreturn]] void unknown(std::string_view name, std::size_t at) const {
    blanks_then_parenthesis_is_a_call(name, at);
    std::vector<std::string> all = known_;
    for (const std::string& k : expression_constants()) all.push_back(k);
    std::string hint = nearest_hint(std::string(name), all);
    if (detail::is_unit(name))
      hint = "a unit stands behind its number: '1 " + std::string(name) + "'";
    else if (hint.empty())
      hint = known_.empty() ? "names are given in [parameters]" : "";
    fail(at, 221, "there is no name " + detail::in_quotes(name), hint);
  }
  void blanks_then_parenthesis_is_a_call(std::string_view name, std::size_t at) const {
    std::size_t k = at + name.size();
    while (k < text_.size() && (text_[k] == ' ' || text_[k] == '\t')) ++k;
    if (k < text_.size() && text_[k] == '(')
      fail(at, 221, "there is no function " + detail::in_quotes(name),
           nearest_hint(std::string(name), expression_functions()));
  }

  Part read_call(const Part& p, const Function& f) {
    std::vector<Part> arguments;
    do {
      arguments.push_back(read_sum());
      // Of several, two and two at a time.
      if (f.most > 2 && arguments.size() > 1) add(f.op);
    } while (take(','));
    if (!take(')')) {
      if (at_ < text_.size()) unexpected();
      fail(p.begin, 220, "the parenthesis is not closed");
    }
    if (arguments.size() < f.least || arguments.size() > f.most)
      fail(p.begin, 220,
           "'" + std::string(f.name) + "' takes " +
               (f.least == f.most ? std::to_string(f.least)
                                  : std::to_string(f.least) + " to " + std::to_string(f.most)) +
               (f.most == 1 ? " argument" : " arguments") + ", got " +
               std::to_string(arguments.size()));
    if (f.most <= 2) add(f.op);
    return ended(p, dimension_of(f, arguments));
  }

  Dimension dimension_of(const Function& f, const std::vector<Part>& arguments) const {
    const Part& x = arguments.front();
    const auto wants = [&](const char* what) {
      fail(x.begin, 222,
           std::string(f.name) + " takes " + what + ", and " + quoted(x) + " is " +
               dimension_name(x.dimension));
    };
    const bool number = x.dimension == dimension::number;
    switch (f.units) {
      case Units::root:
        if (const auto d = times(x.dimension, 0.5)) return *d;
        wants("what has a square root in its units");
        break;
      case Units::plain:
        if (!number) wants("a plain number");
        return dimension::number;
      case Units::angle_in:
        if (!number && !(x.dimension == dimension::angle)) wants("an angle or a plain number");
        return dimension::number;
      case Units::angle_out:
        if (!number) wants("a plain number");
        return dimension::angle;
      case Units::any:
        return x.dimension;
      case Units::alike:
      case Units::alike_to_angle:
        break;
    }
    for (const Part& y : arguments)
      if (!(y.dimension == x.dimension))
        fail(y.begin, 222,
             quoted(x) + " is " + dimension_name(x.dimension) + " and " + quoted(y) + " is " +
                 dimension_name(y.dimension) + ": " + f.name + " takes values of one dimension");
    return f.units == Units::alike ? x.dimension : dimension::angle;
  }

  std::string_view text_;
  const FindName& find_;
  const std::vector<std::string>& known_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Expression out_;
};

Expression parse_expression(std::string_view text, const FindName& find,
                            const std::vector<std::string>& known) {
  return ExpressionReader(text, find, known).read();
}

Expression parse_expression_of_x(std::string_view text, const Dimension& x) {
  return parse_expression(text, [&](std::string_view name) {
    return name == "x" ? std::optional(NameMeaning{0, x}) : std::nullopt;
  });
}

const std::vector<std::string>& expression_constants() {
  static const std::vector<std::string> names = names_of(kConstants);
  return names;
}
const std::vector<std::string>& expression_functions() {
  static const std::vector<std::string> names = names_of(kFunctions);
  return names;
}

}  // namespace tessera::data
