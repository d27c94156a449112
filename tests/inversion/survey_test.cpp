// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey.h"

#include "synthetic_sounding.h"
#include "temp_folder.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/section.h"
#include "tessera/inversion/sounding_write.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

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

StationData read_one(const std::filesystem::path& file, const StationOptions& options) {
  std::vector<StationData> all = read_stations(file, options);
  EXPECT_EQ(all.size(), 1u);
  return std::move(all.at(0));
}

double rho_at(const StationData& d, Element element, std::size_t i) {
  const Response r = response_of(d.data, 0, element);
  return apparent_resistivity(r.frequency_hz.at(i), r.impedance_ohm.at(i));
}

TEST(Survey, AStationIsReadTurnedMaskedAndReduced) {
  const tessera::testing::TempFolder t;
  write_edi(t / "a.edi", turned_sounding());
  StationOptions options{.strike_deg = 0,
                         .mask_periods_s = {1, 77},  // the one is there, the other is not
                         .longest_period_s = 50,     // 100 s is cut
                         .kinds = impedance_kinds(Element::xy)};
  options.floors.impedance = 0.02;
  const StationData te = read_one(t / "a.edi", options);
  EXPECT_EQ(te.station.id, "a");
  EXPECT_EQ(te.station.name, "turned");
  EXPECT_EQ(te.station.absent_periods_s, std::vector<double>{77});
  EXPECT_EQ(te.station.without_value, 1u);  // that without values is not in the file at all
  const Response r = response_of(te.data, 0, Element::xy);
  ASSERT_EQ(r.size(), 9u - 3u);  // 100 s, 1 s and the one without values
  require_valid(te.data, 1);
  for (std::size_t i = 0; i < r.size(); ++i) {
    EXPECT_NEAR(rho_at(te, Element::xy, i), 100, 1e-6);  // ten digits in the file
    EXPECT_DOUBLE_EQ(r.sigma_ohm[i], 0.02 * std::abs(r.impedance_ohm[i]));
  }
  options.kinds = impedance_kinds(Element::yx);
  EXPECT_NEAR(rho_at(read_one(t / "a.edi", options), Element::yx, 0), 10, 1e-7);
  options.floors.impedance = 0;  // no errors in the file, and no floor
  const StationData none = read_one(t / "a.edi", options);
  EXPECT_EQ(none.data.size(), 0u);
  EXPECT_EQ(none.station.without_error, (std::map<std::string, std::size_t>{{"zyx", 6}}));
}

// What azimuths are off by changes what the axes are called, and no number of the tensor.
TEST(Survey, ARotationCorrectsTheAzimuthsOfTheFile) {
  const tessera::testing::TempFolder t;
  Sounding s = turned_sounding();
  for (double& a : s.azimuth_deg) a -= 12;  // by a compass 12 degrees east of north
  write_edi(t / "a.edi", s);
  StationOptions options{
      .rotation_deg = 12, .strike_deg = 0, .kinds = impedance_kinds(Element::xy)};
  EXPECT_NEAR(rho_at(read_one(t / "a.edi", options), Element::xy, 0), 100, 1e-6);
  options.rotation_deg = 0;
  EXPECT_GT(std::abs(rho_at(read_one(t / "a.edi", options), Element::xy, 0) - 100), 1);
  options.strike_deg = -12;  // the same seen from magnetic north
  EXPECT_NEAR(rho_at(read_one(t / "a.edi", options), Element::xy, 0), 100, 1e-6);
  options.strike_deg.reset();
  const StationData as_is = read_one(t / "a.edi", options);
  options.rotation_deg = 77;
  EXPECT_EQ(read_one(t / "a.edi", options).data.value, as_is.data.value);
  EXPECT_NEAR(read_one(t / "a.edi", options).station.sounding.azimuth_deg[0], -kTurn - 12 + 77,
              1e-9);
}

TEST(Survey, RowsOfEveryKindFollowFromTheTensor) {
  Sounding s = turned_sounding();
  rotate_to(s, 0);
  for (auto& e : s.impedance_error) e = {{{1e-9, 1e-6}, {1e-6, 1e-9}}};
  s.tipper.assign(s.size(), {Complex(0.1, -0.2), Complex(0.3, 0.05)});
  s.tipper_error.assign(s.size(), {0.01, NAN});
  std::vector<DatumKind> kinds;
  for (const Element e : {Element::determinant, Element::average, Element::xy, Element::yx,
                          Element::xx, Element::yy, Element::tx, Element::ty})
    for (const Part part :
         {Part::real, Part::imag, Part::log10_rho, Part::phase, Part::phase_tensor})
      if (exists({e, part})) kinds.push_back({e, part});
  EXPECT_EQ(kinds.size(), 6u * 4 + 2 * 2 + 4);
  for (const DatumKind kind : kinds) EXPECT_EQ(kind_of(name_of(kind)), kind);
  EXPECT_FALSE(kind_of("phase_tx").has_value());
  ErrorFloors floors{.impedance = 0.03, .tipper = 0.02, .phase_tensor = 0.04};
  floors.kinds = {{{Element::yx, Part::phase}, 5.0}};
  Station station;
  const DataTable t = rows_of(s, kinds, floors, station);
  require_valid(t, 1);
  const auto find = [&](std::size_t i, Element e, Part part) {
    for (std::size_t k = 0; k < t.size(); ++k)
      if (t.frequency_hz[k] == s.frequency_hz[i] && t.kind[k] == DatumKind{e, part}) return k;
    return t.size();
  };
  const auto datum = [&](Element e, Part part, double value, double sigma) {
    const std::size_t k = find(0, e, part);
    ASSERT_LT(k, t.size()) << name_of({e, part});
    EXPECT_NEAR(t.value[k], value, 1e-12 * std::max(1.0, std::abs(value))) << name_of({e, part});
    EXPECT_NEAR(t.sigma[k], sigma, 1e-6 * sigma) << name_of({e, part});
  };
  const double w = 2 * std::numbers::pi * s.frequency_hz[0], size = std::sqrt(w * mu0 * 100);
  datum(Element::xy, Part::real, size / std::sqrt(2.0), 0.03 * size);
  datum(Element::xy, Part::log10_rho, 2, 2 / std::numbers::ln10 * 0.03);
  datum(Element::xy, Part::phase, 45, 0.03 * 180 / std::numbers::pi);
  datum(Element::yx, Part::phase, 45, 5);
  datum(Element::yx, Part::log10_rho, 1, 2 / std::numbers::ln10 * 0.03);
  datum(Element::tx, Part::imag, -0.2, 0.02);
  datum(Element::xx, Part::phase_tensor, 1, 0.04);  // X = Y: the phase tensor is the identity
  datum(Element::xy, Part::phase_tensor, 0, 0.04);
  EXPECT_EQ(find(3, Element::xy, Part::real), t.size());  // it has no values
  EXPECT_NEAR(t.value[find(3, Element::tx, Part::real)], 0.1, 0);
}

// The errors of the phase tensor's elements against random draws of the impedance.
TEST(Survey, ErrorsOfThePhaseTensorAreThoseOfDraws) {
  Sounding s = turned_sounding();
  const double size = std::abs(s.impedance[0][0][1]);
  s.impedance_error[0] = {{{0.003 * size, 0.004 * size}, {0.002 * size, 0.001 * size}}};
  const PhaseTensor p = phase_tensors(s)[0];
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  Tensor2<double> sum{}, square{};
  constexpr int draws = 20000;
  for (int k = 0; k < draws; ++k) {
    Sounding t = s;
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c)
        t.impedance[0][r][c] +=
            s.impedance_error[0][r][c] * Complex(normal(random), normal(random));
    const PhaseTensor q = phase_tensors(t)[0];
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const double d = q.phi[r][c] - p.phi[r][c];
        sum[r][c] += d / draws, square[r][c] += d * d / draws;
      }
  }
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c)  // four standard errors 1/sqrt(2 n), and the second order
      EXPECT_NEAR(p.phi_error[r][c] / std::sqrt(square[r][c] - sum[r][c] * sum[r][c]), 1, 0.025);
}

StationData station_at(double latitude, double longitude) {
  StationData d;
  d.station.id = "a";
  d.station.latitude_deg = latitude;
  d.station.longitude_deg = longitude;
  d.data.add(0, 1, {Element::xy, Part::real}, longitude, 1);
  return d;
}

TEST(Survey, StationsStandInOrderUnderNamesOfTheirOwn) {
  std::vector<StationData> stations;
  for (const double longitude : {-117.0, -116.8, -116.9})
    stations.push_back(station_at(40, longitude));
  const Survey line = line_up(stations, 90);
  ASSERT_EQ(line.stations.size(), 3u);
  EXPECT_TRUE(line.has_coordinates);
  EXPECT_EQ(line.stations[0].id, "a");
  EXPECT_EQ(line.stations[1].id, "a-3");
  EXPECT_EQ(line.stations[2].id, "a-2");
  EXPECT_EQ(line.stations[0].distance_m, 0);
  EXPECT_NEAR(line.stations[1].distance_m / line.stations[2].distance_m, 0.5, 1e-5);
  EXPECT_EQ(line.data.station, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(line.data.value, (std::vector<double>{-117, -116.9, -116.8}));
}

// Along a strike of 30 degrees stations lie on one spot of the section.
TEST(Survey, StationsAreProjectedAcrossTheStrike) {
  const double a = 30 * std::numbers::pi / 180, metre = 1 / 111194.9;
  const auto at = [&](double x, double y) {  // along strike, across
    const double north = std::cos(a) * x - std::sin(a) * y,
                 east = std::sin(a) * x + std::cos(a) * y;
    return station_at(north * metre, east * metre);
  };
  const Survey s = line_up_across({at(500, 9000), at(-200, -3000), at(0, 0)}, 30);
  EXPECT_NEAR(s.azimuth_deg, 120, 1e-12);
  ASSERT_EQ(s.stations.size(), 3u);
  EXPECT_NEAR(s.stations[1].distance_m - s.stations[0].distance_m, 3000, 20);  // the ellipsoid
  EXPECT_NEAR(s.stations[2].distance_m - s.stations[1].distance_m, 9000, 60);
  EXPECT_NEAR(s.stations[2].offset_m - s.stations[1].offset_m, 500, 60);
  EXPECT_NEAR(s.stations[0].distance_m + s.stations[1].distance_m + s.stations[2].distance_m, 0, 1);
  EXPECT_TRUE(s.remarks.empty());
  const Survey same = line_up_across({at(0, 0), at(0, 0), at(9000, 100)}, 30);
  EXPECT_EQ(same.remarks.size(), 2u);  // spread along the strike; two on one spot
}

TEST(Survey, ASectionNeedsThePlacesOfItsStations) {
  StationData none;
  none.station.id = none.station.name = "lost";
  try {
    line_up_across({station_at(1, 2), none}, 0);
    FAIL();
  } catch (const tessera::data::InputError& e) {
    ASSERT_EQ(e.findings().size(), 1u);
    EXPECT_EQ(e.findings()[0].number, 680);
    EXPECT_NE(e.findings()[0].message.find("lost"), std::string::npos);
  }
  // Places of a file's own are those of the section, as they stand.
  StationData a, b;
  a.station.place_m = {0, 7000, 100};
  b.station.place_m = {10, -2000, 0};
  const Survey s = line_up_across({a, b}, 55);
  EXPECT_EQ(s.stations[0].distance_m, -2000);
  EXPECT_EQ(s.stations[1].distance_m, 7000);
  EXPECT_EQ(s.stations[0].offset_m, 10);
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
