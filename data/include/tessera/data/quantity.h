// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// Powers of the seven SI base units and of the radian. The plane angle is kept apart, although it
/// is a pure number in the SI, so that a bare `30` is never taken for 30 rad where 30 deg was
/// meant.
struct Dimension {
  enum Base { metre, kilogram, second, ampere, kelvin, mole, candela, radian };
  std::array<std::int8_t, 8> power{};
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

namespace dimension {
inline constexpr Dimension number{};
inline constexpr Dimension length{{1, 0, 0, 0, 0, 0, 0, 0}};
inline constexpr Dimension mass{{0, 1, 0, 0, 0, 0, 0, 0}};
inline constexpr Dimension time{{0, 0, 1, 0, 0, 0, 0, 0}};
inline constexpr Dimension current{{0, 0, 0, 1, 0, 0, 0, 0}};
inline constexpr Dimension temperature{{0, 0, 0, 0, 1, 0, 0, 0}};
inline constexpr Dimension angle{{0, 0, 0, 0, 0, 0, 0, 1}};
inline constexpr Dimension frequency{{0, 0, -1, 0, 0, 0, 0, 0}};
inline constexpr Dimension velocity{{1, 0, -1, 0, 0, 0, 0, 0}};
inline constexpr Dimension pressure{{-1, 1, -2, 0, 0, 0, 0, 0}};
inline constexpr Dimension energy{{2, 1, -2, 0, 0, 0, 0, 0}};
inline constexpr Dimension charge{{0, 0, 1, 1, 0, 0, 0, 0}};
inline constexpr Dimension voltage{{2, 1, -3, -1, 0, 0, 0, 0}};
inline constexpr Dimension resistance{{2, 1, -3, -2, 0, 0, 0, 0}};
inline constexpr Dimension resistivity{{3, 1, -3, -2, 0, 0, 0, 0}};
inline constexpr Dimension conductivity{{-3, -1, 3, 2, 0, 0, 0, 0}};
inline constexpr Dimension magnetic_flux_density{{0, 1, -2, -1, 0, 0, 0, 0}};
}  // namespace dimension

/// One unit: 1 of it is `factor * 10^exponent` SI units. Decimal prefixes stay in `exponent`, so
/// that `0.4 nm` is the double nearest to 4e-10 and not a product of two roundings.
struct Unit {
  Dimension dimension;
  double factor = 1;
  int exponent = 0;
};

struct Quantity {
  double value = 0;  ///< in SI units (and radians)
  Dimension dimension;
};

/// What is wrong with a quantity: E0211 its spelling, E0212 its dimension.
class QuantityError : public Error {
 public:
  QuantityError(int number, std::size_t offset, std::string message, std::string hint = {})
      : Error(std::move(message)), number_(number), offset_(offset), hint_(std::move(hint)) {}
  int number() const { return number_; }
  std::size_t offset() const { return offset_; }  ///< byte in the text where it goes wrong
  const std::string& hint() const { return hint_; }

 private:
  int number_;
  std::size_t offset_;
  std::string hint_;
};

/// `ohm*m`, `kg*m^2/s^3`, `mV/km/nT`, `J/(kg*K)`, `1/s`. Products, quotients, whole powers and
/// parentheses; each symbol has one meaning. Spellings that people read differently are rejected
/// (`J/kg*K`, `ohm-m`, `m2`, `G`, `l`, `degC`).
Unit parse_unit(std::string_view text);

/// A decimal number, optional blanks and a unit: `2.4 GHz`, `2fs`, `50 %`. No `+`, no `nan`, no
/// decimal comma.
Quantity parse_quantity(std::string_view text);

/// The same, in SI units; E0212 "expected time, got length" where the dimension is another one.
double parse_quantity(std::string_view text, const Dimension& expected);

/// `value` (SI) in `unit`, in the fewest digits that read back as the very same double. Where no
/// decimal number times the unit gives that double, SI base units are written instead. `value` must
/// be finite.
std::string print_quantity(double value, std::string_view unit);

/// For people: nine digits, in a unit with a prefix where the dimension has one ("2.6 mm", "4.8
/// GHz"), else in SI base units.
std::string print_readably(const Quantity& quantity);

/// The very same double as an expression (expression.h) that means this whatever names there are:
/// "300 ohm", "5 S / 1 m". A symbol behind another, as in "5 S/m", could be a name, too.
std::string print_expression(const Quantity& quantity);

/// `time`, `electrical resistivity`, ... or `kg*m/s^2` for a dimension without a name of its own.
std::string dimension_name(const Dimension& d);

/// SI base units of `d`, readable by `parse_unit`; empty for a number.
std::string si_unit(const Dimension& d);

/// Every symbol that `parse_unit` knows, without prefixes (documentation, completion).
std::vector<std::string> unit_symbols();

}  // namespace tessera::data
