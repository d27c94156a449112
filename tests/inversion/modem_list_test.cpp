// SPDX-License-Identifier: Apache-2.0
// Lists of ModEM, by the structure of its manual and of the files that its own tests have.
#include "findings.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding_read.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tessera::inversion {
namespace {

std::string header(const std::string& type, const std::string& sign = "exp(+i\\omega t)",
                   const std::string& units = "[mV/km]/[nT]", const std::string& azimuth = "0.00") {
  return "# made by hand\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component Real Imag Error\n"
         "> " +
         type + "\n> " + sign + "\n> " + units + "\n> " + azimuth + "\n> 45.0 -90.0\n> 2 1\n";
}
std::vector<Sounding> read(const std::string& text, const ReadOptions& options = {}) {
  return parse_stations(text, "list.dat", options);
}
int number_of(const std::string& text) {
  try {
    read(text);
  } catch (const data::InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

const std::string rows =
    "1.0E+01 S001 45.1 -90.2 100.0 200.0 -3.0 ZXY 3.0E+00 4.0E+00 1.0E-01\n"
    "1.0E+01 S001 45.1 -90.2 100.0 200.0 -3.0 ZYX -2.0E+00 -1.0E+00 1.0E+13\n"
    "1.0E+00 S001 45.1 -90.2 100.0 200.0 -3.0 ZXY 6.0E+00 7.0E+00 2.0E+15\n"
    "1.0E+01 S002 45.2 -90.1 300.0 400.0 0.0 ZXY 5.0E+00 5.0E+00 1.0E-01\n";

TEST(ModemList, StationsPeriodsUnitsAndErrors) {
  const auto s = read(header("Off_Diagonal_Impedance") + rows);
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].format, "ModEM");
  EXPECT_EQ(s[0].station, "S001");
  EXPECT_EQ(s[0].latitude_deg, 45.1);
  EXPECT_EQ((*s[0].place_m)[2], -3);
  EXPECT_EQ(s[0].frequency_hz, (std::vector<double>{1, 0.1}));
  EXPECT_NEAR(std::abs(s[0].impedance[1][0][1] - Complex(3, 4) * ohm_per_field_unit), 0, 1e-18);
  EXPECT_NEAR(s[0].impedance_error[1][0][1], 0.1 * ohm_per_field_unit, 1e-18);
  EXPECT_TRUE(std::isnan(s[0].impedance_error[1][1][0]));  // 1e13 is none
  EXPECT_TRUE(std::isnan(s[0].impedance_error[0][0][1]));  // nor is 2e15
  EXPECT_TRUE(std::isnan(s[0].impedance[0][1][0].real()));
  EXPECT_EQ(s[1].size(), 1u);
}

TEST(ModemList, SignUnitsAndAzimuthAreThoseOfTheHeader) {
  const Complex z = Complex(3, 4);
  const auto minus = read(header("Full_Impedance", "exp(-i\\omega t)") + rows);
  EXPECT_NEAR(std::abs(minus[0].impedance[1][0][1] - std::conj(z) * ohm_per_field_unit), 0, 1e-18);
  const auto ohm = read(header("Full_Impedance", "exp(+i\\omega t)", "Ohm", "-12.5") + rows);
  EXPECT_EQ(ohm[0].impedance[1][0][1], z);
  EXPECT_EQ(ohm[0].azimuth_deg[0], -12.5);
  const auto si = read(header("Full_Impedance", "exp(+i\\omega t)", "[V/m]/[T]") + rows);
  EXPECT_NEAR(std::abs(si[0].impedance[1][0][1] - 1e-3 * z * ohm_per_field_unit), 0, 1e-18);
  ReadOptions other;
  other.units = ImpedanceUnits::ohm;
  EXPECT_EQ(read(header("Full_Impedance") + rows, other)[0].impedance[1][0][1], z);
}

TEST(ModemList, ModesOfATwoDimensionalEarthHaveAPositiveRealPart) {
  const std::string te = "1.0 001 0.0 0.0 0.0 3000.0 0.0 TE -3.0 1.0 0.1\n",
                    tm = "1.0 001 0.0 0.0 0.0 3000.0 0.0 TM -2.0 1.0 0.1\n";
  const auto s = read(header("TE_Impedance", "exp(-i\\omega t)", "[V/m]/[T]") + te +
                      header("TM_Impedance", "exp(-i\\omega t)", "[V/m]/[T]") + tm);
  ASSERT_EQ(s.size(), 1u);
  EXPECT_FALSE(says(s[0], 336) || says(s[0], 337));  // no diagonal is no gap
  EXPECT_GT(s[0].impedance[0][0][1].real(), 0);
  EXPECT_LT(s[0].impedance[0][1][0].real(), 0);
  EXPECT_NEAR(phase_degrees(s[0].impedance[0][0][1]), std::atan2(1, 3) * 180 / M_PI, 1e-12);
  EXPECT_TRUE(says(s[0], 364));
  EXPECT_FALSE(says(s[0], 333));  // it has a place of its own
  EXPECT_EQ((*s[0].place_m)[1], 3000);
}

TEST(ModemList, RhoPhaseAndTipperBlocks) {
  const auto s =
      read(header("Off_Diagonal_Rho_Phase") +
           "2.0 A 1.0 2.0 0 0 0 RHOXY 50.0 5.0\n2.0 A 1.0 2.0 0 0 0 PHSXY 40.0 3.0\n"
           "2.0 A 1.0 2.0 0 0 0 RHOYX 20.0 1.0\n2.0 A 1.0 2.0 0 0 0 PHSYX -130.0 2.0\n" +
           header("Full_Vertical_Components", "exp(+i\\omega t)", "[]") +
           "2.0 A 1.0 2.0 0 0 0 TX 0.1 0.2 0.01\n2.0 A 1.0 2.0 0 0 0 TY -0.3 0.4 0.02\n" +
           header("Phase_Tensor", "exp(+i\\omega t)", "[]") + "2.0 A 1.0 2.0 0 0 0 PTXX 1.0 0.1\n");
  ASSERT_EQ(s.size(), 1u);
  EXPECT_NEAR(apparent_resistivity(0.5, s[0].impedance[0][0][1]), 50, 1e-12);
  EXPECT_NEAR(phase_degrees(-s[0].impedance[0][1][0]), 50, 1e-12);
  EXPECT_EQ(s[0].resistivity.rho_error[0][0][1], 5);
  EXPECT_EQ(s[0].tipper[0][1], Complex(-0.3, 0.4));
  EXPECT_EQ(s[0].tipper_error[0][1], 0.02);
  EXPECT_TRUE(says(s[0], 363));
}

// A list comes from one program: where most phases are those of -Zyx, all are, and it is said.
TEST(ModemList, PhasesOfAllStationsDecideWhoseTheyAre) {
  std::string text = header("Off_Diagonal_Rho_Phase");
  for (const auto& [code, phase] : {std::pair{"A", "100"}, {"B", "40"}, {"C", "50"}})
    for (const std::string& datum : {std::string("RHOYX 20.0"), "PHSYX " + std::string(phase)})
      text += "2.0 " + std::string(code) + " 1.0 2.0 0 0 0 " + datum + " 1.0\n";
  const auto s = read(text);
  ASSERT_EQ(s.size(), 3u);
  EXPECT_NEAR(phase_degrees(-s[0].impedance[0][1][0]), 100, 1e-12);
  EXPECT_NEAR(phase_degrees(-s[2].impedance[0][1][0]), 50, 1e-12);
  EXPECT_TRUE(says(s[0], 348));
}

TEST(ModemList, OnePositionForAllIsNone) {
  const auto s = read(header("Full_Impedance") +
                      "1.0 a 0.0 0.0 0.0 100.0 0.0 ZXY 1 1 0.1\n"
                      "1.0 b 0.0 0.0 0.0 900.0 0.0 ZXY 1 1 0.1\n");
  EXPECT_FALSE(s[0].latitude_deg.has_value());
  const Profile p = make_profile(s);
  EXPECT_TRUE(p.has_coordinates);
  EXPECT_NEAR(p.distance_m[1], 800, 1e-9);
  EXPECT_NEAR(p.azimuth_deg, 90, 1e-9);
}

// ModEM itself reads as many as the header says, and has no place for more.
TEST(ModemList, NumbersThatTheRowsDoNotHaveAreTold) {
  const auto said = [](const std::string& numbers) {
    std::string text = header("Full_Impedance");
    text.replace(text.find("> 2 1\n"), 6, "> " + numbers + "\n");
    std::vector<std::string> out;
    const std::vector<Sounding> stations = read(text + rows);
    for (const data::Diagnostic& d : stations[0].findings)
      if (d.number == 362) {
        EXPECT_EQ(d.severity, data::Severity::warning);
        EXPECT_EQ(d.place.line, 8u);
        out.push_back(std::to_string(d.place.column) + " " + d.message);
      }
    return out;
  };
  EXPECT_TRUE(said("2 2").empty());
  EXPECT_EQ(said("2 1"),
            std::vector<std::string>{"5 the header says 1 stations, the rows of the block have 2"});
  EXPECT_EQ(said("12 40").size(), 2u);
  EXPECT_EQ(said("2"),
            std::vector<std::string>{"3 the header does not say how many stations there are"});
}

TEST(ModemList, ANameStandsForOnePlace) {
  const std::string moved = "1.0E+00 S001 45.1 -90.2 100.0 900.0 -3.0 ZYX 1 1 0.1\n";
  EXPECT_EQ(number_of(header("Full_Impedance") + rows + moved), 362);
  EXPECT_EQ(number_of(header("Full_Impedance") + rows +
                      "1.0E+00 S001 45.1 -90.2 100.4 200.0 -3.0 ZYX 1 1 0.1\n"),
            0)
      << "rounded otherwise";
  // A blank in a name makes a column more.
  EXPECT_EQ(number_of(header("Full_Impedance") + "1.0 S 1 45 -90 0 0 0 ZXY 1 1 0.1\n"), 362);
}

// The last of the two would count, and nobody would know.
TEST(ModemList, ADatumTwiceIsRefused) {
  const std::string z = "1.0E+01 S001 45.1 -90.2 100.0 200.0 -3.0 ZXY 9.0E+00 4.0E+00 1.0E-01\n";
  EXPECT_EQ(number_of(header("Full_Impedance") + rows + z), 362);
  EXPECT_EQ(number_of(header("Full_Impedance") + rows + header("Off_Diagonal_Impedance") + z), 362);
  const std::string te = "1.0 a 0 0 0 0 0 TE 1 1 0.1\n", xy = "1.0 a 0 0 0 0 0 ZXY 1 1 0.1\n",
                    tx = "1.0 a 0 0 0 0 0 TX 1 1 0.1\n", rho = "1.0 a 0 0 0 0 0 RHOXY 10 1\n";
  EXPECT_EQ(number_of(header("TE_Impedance") + te + te), 362);
  EXPECT_EQ(number_of(header("TE_Impedance") + te + header("Full_Impedance") + xy), 362);
  EXPECT_EQ(number_of(header("Full_Vertical_Components") + tx + tx), 362);
  EXPECT_EQ(number_of(header("Off_Diagonal_Rho_Phase") + rho + rho), 362);
  EXPECT_EQ(number_of(header("Off_Diagonal_Rho_Phase") + rho + header("Full_Impedance") + xy +
                      header("Full_Vertical_Components") + tx),
            0);
}

TEST(ModemList, WhatIsMalformedIsRefusedByItsNumber) {
  EXPECT_EQ(number_of("> Full_Impedance\n> exp(+i\\omega t)\n" + rows), 362);
  EXPECT_EQ(number_of(header("Full_Impedance") + "1.0 a 0 0 0 0 0 ZXY 1 1\n"), 362);
  EXPECT_EQ(number_of(header("Full_Impedance") + "1.0 a 0 0 0 0 0 ZXQ 1 1 0.1\n"), 362);
  EXPECT_EQ(number_of(header("Full_Impedance") + "1.0 a 0 0 0 0 0 ZXY 1 one 0.1\n"), 303);
  EXPECT_EQ(number_of(header("Full_Impedance") + "-1.0 a 0 0 0 0 0 ZXY 1 1 0.1\n"), 305);
  EXPECT_EQ(number_of(header("Full_Impedance")), 307);
  EXPECT_EQ(number_of(header("Full_Impedance", "cos(wt)") + rows), 317);
  EXPECT_EQ(number_of(header("Full_Impedance", "exp(+i\\omega t)", "furlong") + rows), 316);
  EXPECT_EQ(number_of(header("Full_Impedance") + rows + header("TE_Impedance", "exp(-i\\omega t)") +
                      rows),
            317);
  EXPECT_EQ(number_of(header("Full_Impedance") + rows), 0);
}

}  // namespace
}  // namespace tessera::inversion
