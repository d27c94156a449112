// SPDX-License-Identifier: Apache-2.0
// Quantities, units and dimensions as text.
#include "options/unit_table.h"
#include "tessera/data/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace tessera::data {
namespace {

using namespace detail;
using namespace dimension;

std::string shortest(double value) {
  char buffer[64];
  const auto [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return ec == std::errc() ? std::string(buffer, end) : std::string("0");
}

/// `digits` times 10^shift, in plain notation where that stays short.
std::string shifted(double value, int shift) {
  char buffer[64];
  const auto [end, ec] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  if (ec != std::errc()) return "0";
  const std::string text(buffer, end);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1)) + shift;
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(0, e))
    if ((c >= '0' && c <= '9')) digits += c;
  const int n = static_cast<int>(digits.size());
  std::string out;
  if (exponent >= 0 && exponent < 15) {
    if (n <= exponent + 1) {
      out = digits + std::string(static_cast<std::size_t>(exponent + 1 - n), '0');
    } else {
      out = digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
            digits.substr(static_cast<std::size_t>(exponent) + 1);
    }
  } else if (exponent < 0 && exponent >= -4) {
    out = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else {
    out = digits.substr(0, 1) + (n > 1 ? "." + digits.substr(1) : "") + "e" +
          std::to_string(exponent);
  }
  return (negative ? "-" : "") + out;
}

bool reads_as(const std::string& text, double value) {
  try {
    return parse_quantity(text).value == value;
  } catch (const QuantityError&) {
    return false;
  }
}

/// Kilograms lead, as physicists write it.
constexpr std::size_t kBaseOrder[] = {1, 0, 2, 3, 4, 5, 6, 7};
/// "m^3" of its power of a base unit, whatever its sign.
std::string base_factor(const Dimension& d, std::size_t base) {
  static constexpr const char* names[] = {"m", "kg", "s", "A", "K", "mol", "cd", "rad"};
  const int p = std::abs(d.power[base]);
  return names[base] + (p > 1 ? "^" + std::to_string(p) : std::string());
}
std::ptrdiff_t base_count(const Dimension& d) {
  return std::count_if(d.power.begin(), d.power.end(), [](int p) { return p != 0; });
}

}  // namespace

std::string print_quantity(double value, std::string_view unit) {
  const Unit u = parse_unit(unit);
  const auto joined = [&](std::string number) {
    return unit.empty() ? number : number + " " + std::string(unit);
  };
  if (value == 0) return joined("0");
  if (u.factor == 1) return joined(shifted(value, -u.exponent));
  const double power = std::pow(10.0, u.exponent);
  if (std::isfinite(power) && power > 0) {
    // Neighbours of the quotient: rounding may have moved it by an ulp or two. Few digits first.
    const double guess = value / u.factor / power;
    for (int digits = 6; digits <= 17; digits += digits < 15 ? 9 : 1) {
      char buffer[64];
      const auto end =
          std::to_chars(buffer, buffer + sizeof buffer, guess, std::chars_format::general, digits)
              .ptr;
      const std::string text(buffer, end);
      if (reads_as(joined(text), value)) return joined(text);
    }
    for (double x : {guess, std::nextafter(guess, HUGE_VAL), std::nextafter(guess, -HUGE_VAL)}) {
      const std::string text = shortest(x);
      if (reads_as(joined(text), value)) return joined(text);
    }
  }
  const std::string base = si_unit(u.dimension);
  return shifted(value, 0) + (base.empty() ? "" : " " + base);
}

std::string print_readably(const Quantity& quantity) {
  // An SI unit of this dimension without a factor of its own; kilograms and angles stay base units.
  const NamedUnit* named = nullptr;
  for (const NamedUnit& n : kUnits)
    if (!named && n.prefixes && n.unit.dimension == quantity.dimension && n.unit.factor == 1 &&
        n.unit.exponent == 0 && !(quantity.dimension == angle))
      named = &n;
  const int exponent =
      quantity.value != 0 && named
          ? static_cast<int>(std::floor(std::log10(std::abs(quantity.value)) / 3)) * 3
          : 0;
  std::string prefix;
  int power = 0;
  for (const UnitPrefix& p : kPrefixes)
    if (p.exponent == exponent && p.exponent % 3 == 0 && prefix.empty())
      prefix = p.symbol, power = exponent;
  const double scaled = quantity.value / std::pow(10.0, power);
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, scaled, std::chars_format::general, 9).ptr;
  const std::string unit = named ? prefix + named->symbol : si_unit(quantity.dimension);
  return std::string(buffer, end) + (unit.empty() ? "" : " " + unit);
}

std::string print_expression(const Quantity& quantity) {
  // The unit behind the number is that which leaves the fewest base units for factors of their own.
  const Dimension d = quantity.dimension;
  std::string unit;
  Dimension rest = d;
  const auto try_unit = [&](const std::string& symbol, const Dimension& of) {
    Dimension left;
    for (std::size_t i = 0; i < d.power.size(); ++i)
      left.power[i] = static_cast<std::int8_t>(d.power[i] - of.power[i]);
    if (base_count(left) < base_count(rest)) unit = symbol, rest = left;
  };
  for (const std::size_t i : kBaseOrder)
    if (d.power[i] > 0) {
      Dimension of;
      of.power[i] = d.power[i];
      try_unit(base_factor(d, i), of);
    }
  for (const NamedUnit& n : kUnits)
    if (n.unit.factor == 1 && n.unit.exponent == 0) try_unit(n.symbol, n.unit.dimension);
  std::string out = shifted(quantity.value, 0) + (unit.empty() ? "" : " " + unit);
  for (const bool above : {true, false})
    for (const std::size_t i : kBaseOrder)
      if (rest.power[i] && (rest.power[i] > 0) == above)
        out += (above ? " * 1 " : " / 1 ") + base_factor(rest, i);
  return out;
}

std::string si_unit(const Dimension& d) {
  std::string above, below;
  int n_below = 0;
  for (const std::size_t i : kBaseOrder) {
    const int p = d.power[i];
    if (!p) continue;
    std::string& side = p > 0 ? above : below;
    n_below += p < 0;
    side += (side.empty() ? "" : "*") + base_factor(d, i);
  }
  if (below.empty()) return above;
  return (above.empty() ? "1" : above) + "/" + (n_below > 1 ? "(" + below + ")" : below);
}

std::string dimension_name(const Dimension& d) {
  static const struct {
    Dimension d;
    const char* name;
  } names[] = {
      {number, "a plain number"},
      {length, "length"},
      {mass, "mass"},
      {time, "time"},
      {current, "electric current"},
      {temperature, "temperature"},
      {kAmount, "amount of substance"},
      {kLight, "luminous intensity"},
      {angle, "angle"},
      {frequency, "frequency"},
      {velocity, "velocity"},
      {kAcceleration, "acceleration"},
      {kForce, "force"},
      {pressure, "pressure"},
      {energy, "energy"},
      {kPower, "power"},
      {charge, "electric charge"},
      {voltage, "voltage"},
      {resistance, "electrical resistance"},
      {resistivity, "electrical resistivity"},
      {conductivity, "electrical conductivity"},
      {kConductance, "electrical conductance"},
      {magnetic_flux_density, "magnetic flux density"},
      {kFlux, "magnetic flux"},
      {kCapacitance, "capacitance"},
      {kInductance, "inductance"},
      {kVolume, "volume"},
      {kMolar, "concentration"},
      {kDipole, "electric dipole moment"},
      {{{2, 0, 0, 0, 0, 0, 0, 0}}, "area"},
      {{{-3, 1, 0, 0, 0, 0, 0, 0}}, "density"},
      {{{2, 1, -2, 0, 0, -1, 0, 0}}, "energy per amount of substance"},
      {{{1, 1, -3, -1, 0, 0, 0, 0}}, "electric field"},
      {{{-1, 0, 0, 1, 0, 0, 0, 0}}, "magnetic field strength"},
  };
  for (const auto& n : names)
    if (n.d == d) return n.name;
  return si_unit(d);
}

std::vector<std::string> unit_symbols() {
  std::vector<std::string> out;
  for (const NamedUnit& n : kUnits) out.emplace_back(n.symbol);
  return out;
}

}  // namespace tessera::data
