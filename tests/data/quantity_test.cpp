// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

using namespace tessera::data;

namespace {

int error_of(const std::string& text) {
  try {
    parse_quantity(text);
  } catch (const QuantityError& e) {
    return e.number();
  }
  return 0;
}

}  // namespace

// Values from the definitions (SI brochure 2019, CODATA 2018), written here as literals and not
// computed.
TEST(Quantity, KnowsTheUnitsThatUsersWrite) {
  const struct {
    const char* text;
    double value;
    Dimension dimension;
  } cases[] = {
      {"2.4 GHz", 2.4e9, dimension::frequency},
      {"2fs", 2e-15, dimension::time},
      {"300 K", 300, dimension::temperature},
      {"10 ohm*m", 10, dimension::resistivity},
      {"10 ohm m^1", 0, {}},
      {"0.4 nm", 4e-10, dimension::length},
      {"1 bar", 1e5, dimension::pressure},
      {"12 kcal/mol", 50208, {{2, 1, -2, 0, 0, -1, 0, 0}}},
      {"1 mV/km/nT", 1000, dimension::velocity},
      {"1 mV/(km*nT)", 1000, dimension::velocity},
      {"0.01 S/m", 0.01, dimension::conductivity},
      {"90 deg", 1.5707963267948966, dimension::angle},
      {"5 %", 0.05, dimension::number},
      {"2 h", 7200, dimension::time},
      {"1 d", 86400, dimension::time},
      {"5 min", 300, dimension::time},
      {"1 eV", 1.602176634e-19, dimension::energy},
      {"3", 3, dimension::number},
      {"-1 e", -1.602176634e-19, dimension::charge},
      {"1 mGal", 1e-5, {{1, 0, -2, 0, 0, 0, 0, 0}}},
      {"1 mM", 1, {{-3, 0, 0, 0, 0, 1, 0, 0}}},
      {"1 kg", 1, dimension::mass},
      {"1 1/s", 1, dimension::frequency},
      {"1 m^-2", 1, {{-2, 0, 0, 0, 0, 0, 0, 0}}},
      {"1 angstrom", 1e-10, dimension::length},
      {"10 \xce\xa9*m", 10, dimension::resistivity},
      {"3 \xc2\xb5s", 3e-6, dimension::time},
      {"3 us", 3e-6, dimension::time},
  };
  for (const auto& c : cases) {
    if (c.value == 0) {
      EXPECT_EQ(error_of(c.text), 211) << c.text;
      continue;
    }
    const Quantity q = parse_quantity(c.text);
    EXPECT_EQ(q.value, c.value) << c.text;
    EXPECT_EQ(q.dimension, c.dimension) << c.text;
  }
  EXPECT_DOUBLE_EQ(parse_quantity("1 amu").value, 1.66053906660e-27);
}

TEST(Quantity, RejectsWhatCanBeReadInTwoWays) {
  for (const char* text : {"1 J/kg*K",
                           "1 ohm-m",
                           "1 ohm.m",
                           "1 ohm m",
                           "1 m2",
                           "1 G",
                           "1 l",
                           "1 degC",
                           "1 u",
                           "1 yr",
                           "2e",
                           "1 Mhz",
                           "1 hz",
                           "1 KHz",
                           "1 sec",
                           "+5 m",
                           "--5 m",
                           "nan",
                           "inf",
                           "1,5 m",
                           "0x10 m",
                           "1d5",
                           "1e400 m",
                           "1e-400 m",
                           "1e+-3 m",
                           "1e+-3",
                           "1e308 km",
                           "1e-308 nm",
                           ".5 m",
                           "5. m",
                           "",
                           " 5 m",
                           "5 m ",
                           "5 ",
                           "m",
                           "1 m^0",
                           "1 m^10",
                           "1 (m",
                           "1 m)",
                           "1 m//s",
                           "1 *m",
                           "1 m*",
                           "1 m^",
                           "1 m^1.5",
                           "1 kkm",
                           "1 mmin",
                           "1 \xff",
                           "1 m\n",
                           "1e m",
                           "1 ((((((((((m))))))))))",
                           "1 Ym^9*Ym^9*Ym^9*Ym^9",
                           "1 m^9*m^9*m^9*m^9*m^9*m^9*m^9*m^9*m^9*m^9*m^9*m^9"})
    EXPECT_EQ(error_of(text), 211) << text;
  EXPECT_EQ(error_of("1 " + std::string(1 << 20, 'm')), 211);
}

TEST(Quantity, NamesBothDimensions) {
  try {
    parse_quantity("2 km", dimension::time);
    FAIL();
  } catch (const QuantityError& e) {
    EXPECT_EQ(e.number(), 212);
    EXPECT_STREQ(e.what(), "expected time, got length");
  }
  EXPECT_THROW(parse_quantity("3", dimension::angle),
               QuantityError);  // neither degrees nor radians
  EXPECT_THROW(parse_quantity("3 rad", dimension::number), QuantityError);
}

TEST(Quantity, UnitsWrittenOtherwiseAreSaidAsTheyAreHere) {
  const auto told = [](const std::string& text) {
    try {
      parse_quantity(text);
    } catch (const QuantityError& e) {
      EXPECT_EQ(e.number(), 211) << text;
      return std::string(e.what()) + "; " + e.hint();
    }
    return "is a unit: " + text;
  };
  const auto unknown = [&](const std::string& unit, const std::string& hint) {
    EXPECT_EQ(told("9 " + unit), "unknown unit '" + unit + "'; " + hint);
  };
  unknown("Angstrom", "write 'angstrom'");
  unknown("angstroms", "did you mean 'angstrom'?");
  for (const char* sign : {"\xc3\x85", "\xe2\x84\xab", "A\xcc\x8a"})
    unknown(sign, "write 'angstrom'");
  unknown("atmosphere", "write 'atm'");
  unknown("Atmospheres", "write 'atm'");
  unknown("nanometers", "write 'nm'");
  unknown("picosecond", "write 'ps'");
  unknown("kilocalories", "write 'kcal'");
  unknown("KJ", "write 'kJ'");
  unknown("Ohm", "write 'ohm'");
  unknown("hz", "write 'Hz'");
  unknown("degrees", "write 'deg'");
  unknown("wavelengths", "");
  EXPECT_EQ(told("9 mhz"), "unit 'mhz' can be read in more than one way; write 'MHz' or 'mHz'");
  EXPECT_EQ(told("9 G"),
            "unit 'G' can be read in more than one way; write 'gauss'; giga is a prefix");
}

TEST(Quantity, EverySymbolWithAPrefixHasOneMeaning) {
  // A symbol that is a unit itself must not also be a prefix and a unit of another size.
  const std::set<std::string> prefixes = {"Y", "Z", "E", "P", "T", "G", "M", "k", "h", "da",
                                          "d", "c", "m", "u", "n", "p", "f", "a", "z", "y"};
  std::set<std::string> seen;
  for (const std::string& unit : unit_symbols()) {
    EXPECT_TRUE(seen.insert(unit).second) << unit;
    for (const std::string& p : prefixes) {
      if (unit.size() <= p.size() || unit.compare(0, p.size(), p) != 0) continue;
      const std::string rest = unit.substr(p.size());
      const auto all = unit_symbols();
      const bool other = std::find(all.begin(), all.end(), rest) != all.end();
      // cd (candela, not centi-day), Pa (not peta-year), min, mol, h... : the longer symbol is
      // listed, the rest is no prefixable unit or no unit.
      if (other) {
        EXPECT_THROW(parse_unit("k" + rest + "*k" + rest + "x"), QuantityError);
        bool prefixable = true;
        try {
          parse_unit("k" + rest);
        } catch (const QuantityError&) {
          prefixable = false;
        }
        EXPECT_FALSE(prefixable) << unit << " is also " << p << " + " << rest;
      }
    }
  }
}

TEST(Quantity, ParsesTheSameUnderAnyLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  EXPECT_EQ(parse_quantity("1.5 m").value, 1.5);
  EXPECT_EQ(print_quantity(1.5, "m"), "1.5 m");
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Quantity, WritesItselfShort) {
  EXPECT_EQ(print_quantity(4e-10, "nm"), "0.4 nm");
  EXPECT_EQ(print_quantity(0.05, "%"), "5 %");
  EXPECT_EQ(print_quantity(100, "ohm*m"), "100 ohm*m");
  EXPECT_EQ(print_quantity(2.4e9, "GHz"), "2.4 GHz");
  EXPECT_EQ(print_quantity(0, "km"), "0 km");
  EXPECT_EQ(print_quantity(parse_quantity("30 deg").value, "deg"), "30 deg");
  EXPECT_EQ(print_quantity(300, "min"), "5 min");
  EXPECT_EQ(print_quantity(0.25, ""), "0.25");
  EXPECT_EQ(print_quantity(-1e300, "m"), "-1e300 m");
}

TEST(Quantity, WrittenValuesReadBackToTheSameBits) {
  std::mt19937_64 random(20261121);
  const char* units[] = {"",   "m",   "nm",    "GHz",      "%",   "deg",   "kcal/mol", "h",  "d",
                         "eV", "amu", "ohm*m", "mV/km/nT", "bar", "debye", "J/(kg*K)", "1/s"};
  int in_unit = 0, total = 0;
  for (int i = 0; i < 20000; ++i) {
    double value;
    if (i % 2) {
      const std::uint64_t bits = random();
      std::memcpy(&value, &bits, sizeof value);
      if (!std::isfinite(value) || std::fabs(value) < 1e-250 || std::fabs(value) > 1e250) continue;
    } else {
      value = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 80);
    }
    const char* unit = units[random() % std::size(units)];
    const std::string text = print_quantity(value, unit);
    const double back = parse_quantity(text, parse_unit(unit).dimension);
    ASSERT_EQ(back, value) << text;
    ++total;
    in_unit += text.size() >= std::strlen(unit) &&
               text.compare(text.size() - std::strlen(unit), std::string::npos, unit) == 0;
  }
  EXPECT_GT(in_unit, total * 7 / 10);  // SI base units are the exception, not the rule
}
