// SPDX-License-Identifier: Apache-2.0
//
// The layout of strip_bend.toml: a strip 445 nm wide that turns by 90 degrees, with 1 um from the
// middle of the turn to the middle of the strip, as one polygon of layer 1 in a GDSII file.
//   build/release/bin/example_electromagnetics_strip_bend_layout my_bend.gds
//
// A file that is there already is only compared with the layout.
#include "tessera/data/gds.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr double kWidth = 0.445, kRadius = 1, kArms = 20;  // um
constexpr int kSides = 64;                                 // of each arc
constexpr double kUnit = 5e-4;                             // database unit, um

/// Numbers of GDSII have their highest byte first.
std::string bytes_of(std::uint64_t value, int count) {
  std::string out;
  for (int k = count - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k) & 0xff);
  return out;
}

/// sign, exponent of 16 over 64, and a fraction from 1/16 to 1 in 56 bits.
std::string real_of(double value) {
  int power = 0;
  while (value >= 1) value /= 16, ++power;
  while (value < 1.0 / 16) value *= 16, --power;
  return bytes_of(static_cast<std::uint64_t>(power + 64) << 56 |
                      static_cast<std::uint64_t>(std::llround(std::ldexp(value, 56))),
                  8);
}

std::string record(int kind, int form, const std::string& data = {}) {
  return bytes_of(data.size() + 4, 2) + bytes_of(static_cast<std::uint64_t>(kind), 1) +
         bytes_of(static_cast<std::uint64_t>(form), 1) + data;
}

std::string place(double x, double y) {
  const auto whole = [](double v) {
    return bytes_of(static_cast<std::uint32_t>(std::lround(v / kUnit)), 4);
  };
  return whole(x) + whole(y);
}

/// From the end of the arm along x to that of the arm along y on the outer side, and back.
std::string outline() {
  const double outer = kRadius + kWidth / 2, inner = kRadius - kWidth / 2;
  std::string out = place(-kArms, kRadius - outer);
  for (int k = 0; k <= kSides; ++k) {
    const double angle = std::numbers::pi / 2 * k / kSides;
    out += place(outer * std::sin(angle), kRadius - outer * std::cos(angle));
  }
  out += place(outer, kRadius + kArms) + place(inner, kRadius + kArms);
  for (int k = kSides; k >= 0; --k) {
    const double angle = std::numbers::pi / 2 * k / kSides;
    out += place(inner * std::sin(angle), kRadius - inner * std::cos(angle));
  }
  return out + place(-kArms, kRadius - inner) + place(-kArms, kRadius - outer);
}

std::string layout() {
  std::string date;
  for (const std::uint64_t number : {2026, 1, 1, 0, 0, 0}) date += bytes_of(number, 2);
  return record(0, 2, bytes_of(600, 2)) + record(1, 2, date + date) +  // HEADER, BGNLIB
         record(2, 6, "STRIP.DB") + record(3, 5, real_of(kUnit) + real_of(kUnit * 1e-6)) +
         record(5, 2, date + date) + record(6, 6, "BEND") +             // BGNSTR, STRNAME
         record(8, 0) + record(0xd, 2, bytes_of(1, 2)) +                // BOUNDARY, LAYER
         record(0xe, 2, bytes_of(0, 2)) + record(0x10, 3, outline()) +  // DATATYPE, XY
         record(0x11, 0) + record(7, 0) + record(4, 0);                 // ENDEL, ENDSTR, ENDLIB
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tessera::data;
  const std::string made = layout();
  const GdsLibrary library = parse_gds("the layout", made);
  const double area =
      area_of(united(gds_polygons(library, "BEND", 1, 0))) * std::pow(library.unit_m * 1e6, 2);
  // Strips of 445 nm, and a quarter of a ring of them; chords take (pi/2/64)^2/6 of that away.
  const double wanted = kWidth * (2 * kArms + std::numbers::pi / 2 * kRadius);
  std::cout << "area " << area << " um^2, by the formula " << wanted << " um^2\n";
  if (std::abs(area / wanted - 1) > 1e-4) return 1;
  if (argc < 2) return 0;
  if (std::filesystem::exists(argv[1])) {
    std::ostringstream there;
    there << std::ifstream(argv[1], std::ios::binary).rdbuf();
    std::cout << argv[1] << (there.str() == made ? " is this layout\n" : " is another layout\n");
    return there.str() == made ? 0 : 1;
  }
  std::ofstream(argv[1], std::ios::binary) << made;
  std::cout << argv[1] << " written, " << made.size() << " bytes\n";
}
