// SPDX-License-Identifier: Apache-2.0
// The units that quantities are written in, and their prefixes. Private to data/.
#pragma once
#include "tessera/data/quantity.h"

namespace tessera::data::detail {

struct NamedUnit {
  const char* symbol;
  Unit unit;
  bool prefixes;
};

using namespace dimension;
inline constexpr Dimension kAmount{{0, 0, 0, 0, 0, 1, 0, 0}}, kLight{{0, 0, 0, 0, 0, 0, 1, 0}};
inline constexpr Dimension kForce{{1, 1, -2, 0, 0, 0, 0, 0}}, kPower{{2, 1, -3, 0, 0, 0, 0, 0}};
inline constexpr Dimension kFlux{{2, 1, -2, -1, 0, 0, 0, 0}}, kVolume{{3, 0, 0, 0, 0, 0, 0, 0}};
inline constexpr Dimension kCapacitance{{-2, -1, 4, 2, 0, 0, 0, 0}},
    kInductance{{2, 1, -2, -2, 0, 0, 0, 0}};
inline constexpr Dimension kConductance{{-2, -1, 3, 2, 0, 0, 0, 0}},
    kDipole{{1, 0, 1, 1, 0, 0, 0, 0}};
inline constexpr Dimension kAcceleration{{1, 0, -2, 0, 0, 0, 0, 0}},
    kMolar{{-3, 0, 0, 0, 0, 1, 0, 0}};

// Constants: 2019 SI (e, exact), CODATA 2018 (amu), thermochemical calorie, debye = 1e-21/c C m.
inline constexpr NamedUnit kUnits[] = {
    {"m", {length}, true},
    {"g", {mass, 1, -3}, true},
    {"s", {time}, true},
    {"A", {current}, true},
    {"K", {temperature}, true},
    {"mol", {kAmount}, true},
    {"cd", {kLight}, true},
    {"rad", {angle}, true},
    {"Hz", {frequency}, true},
    {"N", {kForce}, true},
    {"Pa", {pressure}, true},
    {"J", {energy}, true},
    {"W", {kPower}, true},
    {"C", {charge}, true},
    {"V", {voltage}, true},
    {"F", {kCapacitance}, true},
    {"ohm", {resistance}, true},
    {"\xce\xa9", {resistance}, true},
    {"\xe2\x84\xa6", {resistance}, true},
    {"S", {kConductance}, true},
    {"Wb", {kFlux}, true},
    {"T", {magnetic_flux_density}, true},
    {"H", {kInductance}, true},
    {"L", {kVolume, 1, -3}, true},
    {"M", {kMolar, 1, 3}, true},
    {"eV", {energy, 1.602176634e-19}, true},
    {"cal", {energy, 4.184}, true},
    {"bar", {pressure, 1, 5}, true},
    {"Da", {mass, 1.66053906660e-27}, true},
    {"Gal", {kAcceleration, 1, -2}, true},
    {"min", {time, 60}, false},
    {"h", {time, 3600}, false},
    {"d", {time, 86400}, false},
    {"deg", {angle, 0.017453292519943295}, false},
    {"%", {number, 1, -2}, false},
    {"ppm", {number, 1, -6}, false},
    {"e", {charge, 1.602176634e-19}, false},
    {"amu", {mass, 1.66053906660e-27}, false},
    {"angstrom", {length, 1, -10}, false},
    {"atm", {pressure, 101325}, false},
    {"debye", {kDipole, 3.3356409519815204e-30}, false},
    {"gauss", {magnetic_flux_density, 1, -4}, false},
};

struct UnitPrefix {
  const char* symbol;
  int exponent;
};
inline constexpr UnitPrefix kPrefixes[] = {
    {"Y", 24},  {"Z", 21},  {"E", 18},        {"P", 15},        {"T", 12}, {"G", 9},
    {"M", 6},   {"k", 3},   {"h", 2},         {"da", 1},        {"d", -1}, {"c", -2},
    {"m", -3},  {"u", -6},  {"\xc2\xb5", -6}, {"\xce\xbc", -6}, {"n", -9}, {"p", -12},
    {"f", -15}, {"a", -18}, {"z", -21},       {"y", -24},
};

}  // namespace tessera::data::detail
