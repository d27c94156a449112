// SPDX-License-Identifier: Apache-2.0
#include "options/unit_hints.h"

#include "options/unit_table.h"
#include "tessera/data/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tessera::data::detail {
namespace {

struct Spelling {
  const char* written;
  const char* hint;
};
constexpr Spelling kAmbiguous[] = {
    {"G", "write 'gauss'; giga is a prefix"},
    {"l", "write 'L' for litre"},
    {"u", "write 'amu' for the atomic mass unit"},
    {"t", "write '1000 kg'"},
    {"a", "write 'd' for days"},
    {"yr", "write 'd' for days"},
    {"y", "write 'd' for days"},
    {"D", "write 'debye' or 'd'"},
};
constexpr Spelling kOthers[] = {
    {"mins", "write 'min'"},
    {"sec", "write 's'"},
    {"hr", "write 'h'"},
    {"micron", "write 'um'"},
    {"ohmm", "write 'ohm*m'"},
    {"dB", "give the plain ratio"},
    {"degC", "temperatures are in K"},
    {"C\xc2\xb0", "temperatures are in K"},
    {"\xc2\xb0"
     "C",
     "temperatures are in K"},
    {"F\xc2\xb0", "temperatures are in K"},
    {"\xc2\xb0", "write 'deg'"},
    {"A\xcc\x8a", "write 'angstrom'"},
    {"\xc3\x85", "write 'angstrom'"},
    {"\xe2\x84\xab", "write 'angstrom'"},
};
/// Whole words, in the singular.
constexpr struct {
  const char *name, *symbol;
} kNames[] = {
    {"meter", "m"},   {"metre", "m"},         {"second", "s"},    {"minute", "min"},
    {"hour", "h"},    {"day", "d"},           {"kelvin", "K"},    {"gram", "g"},
    {"dalton", "Da"}, {"degree", "deg"},      {"radian", "rad"},  {"atmosphere", "atm"},
    {"pascal", "Pa"}, {"joule", "J"},         {"calorie", "cal"}, {"hertz", "Hz"},
    {"newton", "N"},  {"watt", "W"},          {"volt", "V"},      {"ampere", "A"},
    {"coulomb", "C"}, {"tesla", "T"},         {"farad", "F"},     {"henry", "H"},
    {"siemens", "S"}, {"electronvolt", "eV"}, {"mole", "mol"},    {"percent", "%"},
};
constexpr struct {
  const char *name, *symbol;
} kPrefixNames[] = {{"femto", "f"}, {"pico", "p"}, {"nano", "n"}, {"micro", "u"}, {"milli", "m"},
                    {"centi", "c"}, {"kilo", "k"}, {"mega", "M"}, {"giga", "G"},  {"tera", "T"}};

std::string small(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The symbol of a word such as nanometers; empty where it is none.
std::string of_word(std::string word) {
  for (const auto& n : kNames) {
    const std::string_view one = n.name;
    for (const std::string& unit : {std::string(one), std::string(one) + "s"}) {
      if (word == unit) return n.symbol;
      for (const auto& p : kPrefixNames)
        if (word == p.name + unit) return std::string(p.symbol) + n.symbol;
    }
  }
  return {};
}

/// Those that differ from it in capitals alone.
std::vector<std::string> of_other_case(const std::string& word) {
  std::vector<std::string> out;
  const auto take = [&](const std::string& symbol) {
    if (small(symbol) == word && std::find(out.begin(), out.end(), symbol) == out.end())
      out.push_back(symbol);
  };
  for (const NamedUnit& n : kUnits) {
    take(n.symbol);
    if (n.prefixes)
      for (const UnitPrefix& p : kPrefixes) take(std::string(p.symbol) + n.symbol);
  }
  return out;
}

}  // namespace

UnitHint hint_for_unit(std::string_view symbol) {
  for (const Spelling& s : kAmbiguous)
    if (symbol == s.written) return {s.hint, true};
  for (const Spelling& s : kOthers)
    if (symbol == s.written) return {s.hint};
  const std::string word = small(symbol);
  if (std::string name = of_word(word); !name.empty()) return {"write '" + name + "'"};
  if (const auto same = of_other_case(word); !same.empty()) {
    std::string hint;
    for (const std::string& s : same) hint += (hint.empty() ? "write '" : " or '") + s + "'";
    return {hint, same.size() > 1};
  }
  std::vector<std::string> long_ones;
  for (const NamedUnit& n : kUnits)
    if (std::string_view(n.symbol).size() > 3) long_ones.emplace_back(n.symbol);
  return {nearest_hint(word, long_ones)};
}

std::optional<std::string> with_angstroms(std::string_view text, const Dimension& expected) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 ||
                               static_cast<unsigned char>(text[i]) >= 0x80);
  };
  std::string out;
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ampere = text[i] == 'A' && !letter(i + 1) && (i == 0 || !letter(i - 1));
    out += ampere ? std::string("angstrom") : std::string(1, text[i]);
    any = any || ampere;
  }
  if (!any) return std::nullopt;
  try {
    parse_quantity(out, expected);
  } catch (const QuantityError&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace tessera::data::detail
