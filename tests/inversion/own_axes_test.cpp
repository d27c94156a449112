// SPDX-License-Identifier: Apache-2.0
// Stations with places of their own, along the axes of their data: both turn together.
#include "findings.h"
#include "temp_folder.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/sounding_read.h"
#include "tessera/inversion/sounding_write.h"
#include "tessera/inversion/survey.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

namespace tessera::inversion {
namespace {

std::string modem_block(const std::string& type, double azimuth, const std::string& rows,
                        const std::string& units = "[mV/km]/[nT]") {
  return fmt::format("> {}\n> exp(+i\\omega t)\n> {}\n> {}\n> 0 0\n> 1 3\n{}", type, units, azimuth,
                     rows);
}
/// Three stations 2 km apart along a line that runs `line` degrees from x, each with 3 + 4i.
std::string modem_rows(double line, const char* component, double latitude = 0) {
  std::string out;
  for (int k = 0; k < 3; ++k) {
    const double a = line * std::numbers::pi / 180, d = 2000.0 * k;
    out += fmt::format("1 S{} {} 0 {} {} 0 {} 3 4 0.1\n", k, latitude == 0 ? 0 : latitude + k,
                       d * std::cos(a), d * std::sin(a), component);
  }
  return out;
}
int refusal_of(const std::string& text) {
  try {
    parse_stations(text, "list.dat", {});
  } catch (const data::InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

TEST(OwnAxes, PlacesAndTiltsTurnWithTheData) {
  Sounding s;
  s.frequency_hz = {1};
  s.azimuth_deg = {10};
  s.place_m = {{100, 0, 7}};
  s.tilt_deg = 20;
  rotate_to(s, 100);  // x points where y pointed
  EXPECT_EQ(s.place_m, (std::array<double, 3>{0, -100, 7}));
  EXPECT_NEAR(s.tilt_deg, 0, 1e-12);
  s.tilt_deg = 20;
  rotate_by(s, 180);
  EXPECT_EQ((*s.place_m)[1], 100);
  EXPECT_NEAR(s.tilt_deg, -20, 1e-12);
  rotate_by(s, 30);
  EXPECT_NEAR((*s.place_m)[0], 50, 1e-12);
  EXPECT_NEAR((*s.place_m)[1], 100 * std::sqrt(0.75), 1e-12);
}

// The line runs 120 degrees from north whatever the axes of the file are, and stations of a
// section stand 2 km apart across a strike of 30 degrees.
TEST(OwnAxes, ALineIsThatOfTheEarth) {
  const tessera::testing::TempFolder t;
  for (const double azimuth : {0.0, 30.0, -75.0}) {
    std::ofstream(t / "l.dat") << modem_block(
        "Full_Impedance", azimuth,
        modem_rows(120 - azimuth, "ZXX") + modem_rows(120 - azimuth, "ZXY") +
            modem_rows(120 - azimuth, "ZYX") + modem_rows(120 - azimuth, "ZYY"));
    StationOptions options;
    EXPECT_NEAR(line_up(read_stations(t / "l.dat", options)).azimuth_deg, 120, 1e-9);
    options.strike_deg = 30;
    EXPECT_NEAR(line_up(read_stations(t / "l.dat", options)).azimuth_deg, 120, 1e-9);
    const Survey across = line_up_across(read_stations(t / "l.dat", options), 30);
    EXPECT_TRUE(across.remarks.empty());
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(across.stations[k].distance_m, 2000.0 * static_cast<double>(k), 1e-9) << azimuth;
      EXPECT_NEAR(across.stations[k].offset_m, 0, 1e-9);
      EXPECT_NEAR((*across.stations[k].place_m)[1], 2000.0 * static_cast<double>(k), 1e-9);
    }
  }
}

// The axes of each block of a list count.
TEST(OwnAxes, ATipperOfOtherAxesIsTurnedOrRefused) {
  const auto text = [](double tipper, double latitude) {
    return modem_block("Off_Diagonal_Impedance", 10, modem_rows(0, "ZXY", latitude)) +
           modem_block("Full_Vertical_Components", tipper,
                       modem_rows(0, "TX", latitude) + modem_rows(0, "TY", latitude), "[]");
  };
  const std::vector<Sounding> same = parse_stations(text(10, 45), "list.dat", {}),
                              turned = parse_stations(text(100, 45), "list.dat", {});
  EXPECT_FALSE(says(same[0], 345));
  EXPECT_TRUE(says(turned[0], 345));
  EXPECT_EQ(turned[0].azimuth_deg[0], 10);
  // Along 100 degrees is y; x lies along minus the tipper's y.
  EXPECT_NEAR(std::abs(turned[0].tipper[0][1] - same[0].tipper[0][0]), 0, 1e-12);
  EXPECT_NEAR(std::abs(turned[0].tipper[0][0] + same[0].tipper[0][1]), 0, 1e-12);
  EXPECT_EQ(refusal_of(text(100, 0)), 362) << "whose axes are x and y?";
  EXPECT_EQ(refusal_of(modem_block("TE_Impedance", 0, modem_rows(0, "TE", 45)) +
                       modem_block("TM_Impedance", 90, modem_rows(0, "TM", 45))),
            362);
}

TEST(OwnAxes, ReceiversThatAreTurnedAreRefused) {
  const auto text = [](const char* angles) {
    return fmt::format(
        "Format: EMData_2.2\n# MT Frequencies: 1\n1\n# MT Receivers: 1\n0 0 0 {} 5 0 0 a\n"
        "# Data: 2\n123 1 1 1 2 0.1\n104 1 1 1 45 1\n",
        angles);
  };
  EXPECT_EQ(parse_stations(text("0 0"), "a.emdata", {}).at(0).tilt_deg, 5);
  EXPECT_EQ(refusal_of(text("15 0")), 363);
  EXPECT_EQ(refusal_of(text("0 -3")), 363);
}

TEST(OwnAxes, ADeclinationIsToldOfAllFormats) {
  const tessera::testing::TempFolder t;
  Sounding s{.station = "a", .latitude_deg = 45, .longitude_deg = 7};
  s.frequency_hz = {1};
  s.azimuth_deg = {0};
  s.impedance = {{{{0, Complex(1e-3, 1e-3)}, {Complex(-1e-3, -1e-3), 0}}}};
  s.impedance_error = {{{{1e-5, 1e-5}, {1e-5, 1e-5}}}};
  write_edi(t / "a.edi", s);
  EXPECT_FALSE(says(read_sounding(t / "a.edi"), 353));
  s.declination_deg = 12.5;
  write_edi(t / "a.edi", s);
  EXPECT_TRUE(says(read_sounding(t / "a.edi"), 353));
}

}  // namespace
}  // namespace tessera::inversion
