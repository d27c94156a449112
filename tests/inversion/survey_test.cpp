// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey.h"

#include "synthetic_sounding.h"
#include "temp_folder.h"
#include "tessera/inversion/section.h"
#include "tessera/inversion/sounding_write.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace tessera::inversion;
using tessera::oracle::log_frequencies;

namespace {

constexpr double kTurn = 30;  // degrees

/// A 2-D earth (TE 100 ohm m, TM 10 ohm m) seen along axes that are turned by kTurn from its
/// strike; the fourth frequency has no values.
Sounding turned_sounding() {
  Sounding s{.station = "turned", .latitude_deg = 40, .longitude_deg = -117};
  s.frequency_hz = log_frequencies(0.01, 100, 9);
  const double c = std::cos(kTurn * std::numbers::pi / 180),
               t = std::sin(kTurn * std::numbers::pi / 180);
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double w = 2 * std::numbers::pi * s.frequency_hz[i];
    const Complex te = std::sqrt(Complex(0, w * mu0 * 100)),
                  tm = std::sqrt(Complex(0, w * mu0 * 10));
    // Z' = R Z R^T of Z = [[0, te], [-tm, 0]], R a turn by -kTurn
    Tensor2<Complex> z = {{{c * t * (tm - te), c * c * te + t * t * tm},
                           {-(t * t * te + c * c * tm), c * t * (te - tm)}}};
    if (i == 3) z = {{{NAN, NAN}, {NAN, NAN}}};
    s.impedance.push_back(z);
    s.impedance_error.push_back({{{NAN, NAN}, {NAN, NAN}}});
    s.azimuth_deg.push_back(-kTurn);
  }
  return s;
}

double rho_at(const Station& s, std::size_t i) {
  return apparent_resistivity(s.response.frequency_hz[i], s.response.impedance_ohm[i]);
}

TEST(Survey, AStationIsReadTurnedMaskedAndReduced) {
  const tessera::testing::TempFolder t;
  write_edi(t / "a.edi", turned_sounding());
  StationOptions options{.strike_deg = 0,
                         .mask_periods_s = {1, 77},  // the one is there, the other is not
                         .longest_period_s = 50,     // 100 s is cut
                         .response = ResponseKind::xy,
                         .error_floor = 0.02};
  const Station te = read_station(t / "a.edi", options);
  EXPECT_EQ(te.id, "a");
  EXPECT_EQ(te.absent_periods_s, std::vector<double>{77});
  EXPECT_EQ(te.without_value, 1u);         // that without values is not in the file at all
  ASSERT_EQ(te.response.size(), 9u - 3u);  // 100 s, 1 s and the one without values
  for (std::size_t i = 0; i < te.response.size(); ++i) {
    EXPECT_NEAR(rho_at(te, i), 100, 1e-6);  // ten digits in the file
    EXPECT_DOUBLE_EQ(te.response.sigma_ohm[i], 0.02 * std::abs(te.response.impedance_ohm[i]));
  }
  options.response = ResponseKind::yx;
  EXPECT_NEAR(rho_at(read_station(t / "a.edi", options), 0), 10, 1e-7);
  // Turned by an angle in place of to a direction: the same axes.
  options.strike_deg.reset();
  options.rotation_deg = kTurn;
  EXPECT_NEAR(rho_at(read_station(t / "a.edi", options), 0), 10, 1e-7);
  options.error_floor = 0;  // no errors in the file, and no floor
  const Station none = read_station(t / "a.edi", options);
  EXPECT_EQ(none.response.size(), 0u);
  EXPECT_EQ(none.without_error, 6u);
}

TEST(Survey, StationsStandInOrderUnderNamesOfTheirOwn) {
  std::vector<Station> stations;
  for (const double longitude : {-117.0, -116.8, -116.9}) {
    Station s{.id = "a"};
    s.sounding = turned_sounding();
    s.sounding.longitude_deg = longitude;
    stations.push_back(s);
  }
  const Survey line = line_up(stations, 90);
  ASSERT_EQ(line.stations.size(), 3u);
  EXPECT_TRUE(line.has_coordinates);
  EXPECT_EQ(line.stations[0].id, "a");
  EXPECT_EQ(line.stations[1].id, "a-3");
  EXPECT_EQ(line.stations[2].id, "a-2");
  EXPECT_EQ(line.stations[0].distance_m, 0);
  EXPECT_NEAR(line.stations[1].distance_m / line.stations[2].distance_m, 0.5, 1e-5);
}

TEST(Survey, ASectionHasAColumnForEachStation) {
  std::vector<StationResult> results;
  for (const double x : {0.0, 1000.0, 1000.0, 4000.0}) {  // two stand on one spot
    StationResult r{.id = "s", .distance_m = x};
    r.result.thickness_m = {100, 400};
    r.result.resistivity_ohm_m = {10, 100, 1};
    r.result.depth.bostick_m = 2000;
    r.result.response = {{1.0, 0.1}, {Complex(1, 1), Complex(2, 2)}, {0.1, 0.1}};
    results.push_back(std::move(r));
  }
  EXPECT_EQ(column_edges(results),
            (std::vector<double>{-4000.0 / 6, 500, 1000, 2500, 4000 + 4000.0 / 6}));
  EXPECT_DOUBLE_EQ(section_depth(results), 2600);
  const auto grid = section_grid(results);
  EXPECT_EQ(grid.shapes.size(), 4u * 3u);
  double lowest = 0;
  for (std::size_t i = 2; i < grid.points.size(); i += 3) lowest = std::min(lowest, grid.points[i]);
  EXPECT_DOUBLE_EQ(lowest, -2600);
  const PeriodTable table = period_table(results);
  EXPECT_DOUBLE_EQ(table.period.front(), 1);
  EXPECT_DOUBLE_EQ(table.period.back(), 10);
  EXPECT_EQ(table.period.size(), 9u);  // eight to a decade
  EXPECT_DOUBLE_EQ(table.rho_a.front(), apparent_resistivity(1, Complex(1, 1)));
  EXPECT_DOUBLE_EQ(table.rho_a.back(), apparent_resistivity(0.1, Complex(2, 2)));
}

}  // namespace
