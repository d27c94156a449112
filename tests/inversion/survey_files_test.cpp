// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_files.h"

#include "findings.h"
#include "temp_folder.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/response.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

namespace tessera::inversion {
namespace {

Survey small_survey() {
  Survey s{.has_coordinates = true};
  for (const char* id : {"a", "b, \"the second\"", "empty"}) {
    Station t;
    t.id = id;
    t.name = std::string("name of ") + id;
    t.latitude_deg = 1.0 / 3 + static_cast<double>(s.stations.size());
    t.longitude_deg = -117.1;
    t.tilt_deg = -0.7;
    t.distance_m = 1e3 / 7 * static_cast<double>(s.stations.size());
    s.stations.push_back(t);
  }
  s.stations[1].elevation_m = 12.5;
  s.stations[1].place_m = {1, 2, 1.0 / 9};
  s.data.add(0, 10, {Element::xy, Part::log10_rho}, 1.0 / 3, 0.1);
  s.data.add(0, 10, {Element::xy, Part::phase}, 45.1, 2.0 / 3);
  s.data.add(1, 1e-3, {Element::yx, Part::log10_rho}, -2e-7, 1e-300);
  s.data.add(1, 1e-3, {Element::xy, Part::log10_rho}, 2.5, 0.2);
  s.data.predicted[1] = 44.0 / 7;
  return s;
}

void expect_same(const Survey& a, const Survey& b) {
  ASSERT_EQ(a.stations.size(), b.stations.size());
  for (std::size_t k = 0; k < a.stations.size(); ++k) {
    const Station &s = a.stations[k], &t = b.stations[k];
    EXPECT_EQ(s.id, t.id);
    EXPECT_EQ(s.name, t.name);
    EXPECT_EQ(s.latitude_deg, t.latitude_deg);
    EXPECT_EQ(s.longitude_deg, t.longitude_deg);
    EXPECT_EQ(s.elevation_m, t.elevation_m);
    EXPECT_EQ(s.place_m, t.place_m);
    EXPECT_EQ(s.tilt_deg, t.tilt_deg);
    EXPECT_EQ(s.distance_m, t.distance_m);
    EXPECT_EQ(s.offset_m, t.offset_m);
  }
  EXPECT_EQ(a.has_coordinates, b.has_coordinates);
  EXPECT_EQ(a.data.station, b.data.station);
  EXPECT_EQ(a.data.frequency_hz, b.data.frequency_hz);
  EXPECT_EQ(a.data.kind, b.data.kind);
  EXPECT_EQ(a.data.value, b.data.value);
  EXPECT_EQ(a.data.sigma, b.data.sigma);
  ASSERT_EQ(a.data.predicted.size(), b.data.predicted.size());
  for (std::size_t i = 0; i < a.data.size(); ++i)
    EXPECT_TRUE(a.data.predicted[i] == b.data.predicted[i] ||
                (std::isnan(a.data.predicted[i]) && std::isnan(b.data.predicted[i])));
}

TEST(SurveyFiles, CsvThereAndBack) {
  const testing::TempFolder t;
  write_survey_csv(t / "s.csv", small_survey());
  expect_same(read_survey(t / "s.csv"), small_survey());
}

TEST(SurveyFiles, Hdf5ThereAndBack) {
  const testing::TempFolder t;
  {
    data::H5Writer file(t / "s.h5");
    write_survey(file, "tessera/survey", small_survey());
    file.commit();
  }
  expect_same(read_survey(t / "s.h5"), small_survey());
}

int number_of(const std::filesystem::path& file, const StationOptions& options = {}) {
  try {
    read_stations(file, options);
  } catch (const data::InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

TEST(SurveyFiles, WhatIsNoTableIsRefusedWithItsPlace) {
  const testing::TempFolder t;
  const std::string good = survey_csv(small_survey());
  const auto spoilt = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    t.write("s.csv", text);
    return number_of(t / "s.csv");
  };
  EXPECT_EQ(spoilt("log10_rho_xy", "rho_xy"), 681);
  EXPECT_EQ(spoilt(",0.1,\n", ",-0.1,\n"), 681);
  EXPECT_EQ(spoilt(",0.1,\n", ",,\n"), 681);
  EXPECT_EQ(spoilt(",45.1,", ",fortyfive,"), 681);
  EXPECT_EQ(spoilt("frequency_hz", "frequency"), 681);
  EXPECT_EQ(spoilt("sigma", "value"), 681);
  t.write("s.csv", good.substr(0, good.find('\n') + 1));
  EXPECT_EQ(number_of(t / "s.csv"), 681);
  t.write("s.csv", good);
  EXPECT_EQ(number_of(t / "s.csv"), 0);
  EXPECT_EQ(number_of(t / "s.csv", {.strike_deg = 10}), 682);
  StationOptions minus;
  minus.read.sign = TimeSign::minus;
  EXPECT_EQ(number_of(t / "s.csv", minus), 682);
  std::string apart = good;
  apart += good.substr(good.find('\n') + 1);
  t.write("s.csv", apart);
  EXPECT_EQ(number_of(t / "s.csv"), 681) << "the rows of a station stand together";
}

/// Two kinds of one station; what a table of it is refused with, or what it says.
std::string table_with(const std::string& rows) {
  return "station,name,latitude_deg,longitude_deg,elevation_m,x_m,y_m,z_m,tilt_deg,distance_m,"
         "offset_m,frequency_hz,period_s,kind,unit,value,sigma,predicted\n" +
         rows;
}
std::string said_of(const std::filesystem::path& file) {
  try {
    read_survey(file);
  } catch (const data::InputError& e) {
    const auto& d = e.findings().front();
    return std::to_string(d.number) + " line " + std::to_string(d.place.line) + ": " + d.message;
  }
  return "read";
}

TEST(SurveyFiles, UnitsOfATableAreThoseItSays) {
  const testing::TempFolder t;
  const std::string at = "s,s,,,,0,0,0,0,0,0,";
  t.write("u.csv", table_with(at + "1,1,phase_xy,rad,0.7853981633974483,0.1,0.5\n" + at +
                              "1,1,zxy_re,mV/km/nT,2,0.5,\n" + at +
                              "1,1,zxy_im,[mV/km]/[nT],4,0.5,\n" + at + "1,1,ty_re,,0.1,0.02,\n"));
  const DataTable d = read_survey(t / "u.csv").data;
  ASSERT_EQ(d.size(), 4u);
  EXPECT_NEAR(d.value[0], 45, 1e-12);
  EXPECT_NEAR(d.sigma[0], 18 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(d.predicted[0], 90 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(d.value[1], 8e-4 * std::numbers::pi, 1e-15);  // 1 mV/km/nT: 4 pi 1e-4 ohm
  EXPECT_NEAR(d.sigma[2], 2e-4 * std::numbers::pi, 1e-15);
  EXPECT_EQ(d.value[3], 0.1);
  for (const char* wrong :
       {"phase_xy,ohm", "zxy_re,deg", "log10_rho_xy,ohm*m", "ty_re,deg", "phase_xy,rad"}) {
    t.write("u.csv", table_with(at + "1,1," + wrong + ",45,1,\n"));
    EXPECT_EQ(said_of(t / "u.csv").substr(0, 11), "681 line 2:") << wrong << said_of(t / "u.csv");
  }
}

TEST(SurveyFiles, ATableThatContradictsItselfIsRefusedWithItsLine) {
  const testing::TempFolder t;
  const std::string at = "s,s,1,2,,0,0,0,0,0,0,", row = "10,0.1,phase_xy,deg,45,3,\n";
  const auto said = [&](const std::string& rows) {
    t.write("c.csv", table_with(rows));
    return said_of(t / "c.csv");
  };
  EXPECT_EQ(said(at + row), "read");
  EXPECT_EQ(said(at + "3,0.333,phase_xy,deg,45,3,\n"), "read") << "a period may be rounded";
  EXPECT_EQ(said(at + "3,,phase_xy,deg,45,3,\n"), "read");
  EXPECT_EQ(said(at + "3,3,phase_xy,deg,45,3,\n").substr(0, 11), "681 line 2:");
  EXPECT_EQ(said(at + row + at + row),
            "681 line 3: phase_xy of station \"s\" at 10 Hz stands in line 2, too");
  EXPECT_EQ(said(at + row + "s,s,,,,,,,,,,1,1,phase_xy,deg,45,3,\n"), "read") << "said once";
  EXPECT_EQ(said(at + row + "s,s,1.5,2,,0,0,0,0,0,0,1,1,phase_xy,deg,45,3,\n"),
            "681 line 3: latitude_deg of station \"s\" is '1.5' here and '1' in line 2");
  EXPECT_EQ(said(at + row + "s,t,1,2,,0,0,0,0,0,0,1,1,phase_xy,deg,45,3,\n").substr(0, 11),
            "681 line 3:");
  {
    Survey twice = small_survey();
    twice.data.add(1, 1e-3, {Element::yx, Part::log10_rho}, 1, 1);
    data::H5Writer file(t / "s.h5");
    write_survey(file, "tessera/survey", twice);
    file.commit();
  }
  EXPECT_TRUE(said_of(t / "s.h5").ends_with("is there twice")) << said_of(t / "s.h5");
}

TEST(SurveyFiles, AFloorRaisesErrorsOfATableWhereItIsGiven) {
  const testing::TempFolder t;
  const std::string at = "s,s,,,,0,0,0,0,0,0,1,1,";
  t.write("f.csv", table_with(at + "phase_xy,deg,45,1,\n" + at + "log10_rho_xy,1,2,0.5,\n" + at +
                              "zyx_re,ohm,3,0.1,\n" + at + "zyx_im,ohm,4,0.1,\n" + at +
                              "ty_re,1,0.1,0.001,\n"));
  StationOptions options;
  options.kinds = {{Element::xy, Part::phase},
                   {Element::xy, Part::log10_rho},
                   {Element::yx, Part::real},
                   {Element::ty, Part::real}};
  EXPECT_EQ(read_stations(t / "f.csv", options)[0].data.sigma,
            (std::vector<double>{1, 0.5, 0.1, 0.001}));
  options.floors_of_tables = ErrorFloors{.impedance = 0.1, .tipper = 0.02};
  const std::vector<double> sigma = read_stations(t / "f.csv", options)[0].data.sigma;
  EXPECT_NEAR(sigma[0], 18 / std::numbers::pi, 1e-12);
  EXPECT_EQ(sigma[1], 0.5) << "above its floor";
  EXPECT_NEAR(sigma[2], 0.5, 1e-15) << "a tenth of |3 + 4i|";
  EXPECT_EQ(sigma[3], 0.02);
  options.rotation_deg = 5;
  EXPECT_EQ(number_of(t / "f.csv", options), 682) << "a table cannot be turned";
}

TEST(SurveyFiles, RowsOfATableAreChosenMaskedAndCut) {
  const testing::TempFolder t;
  write_survey_csv(t / "s.csv", small_survey());
  StationOptions options{.mask_periods_s = {1000, 5}};
  options.kinds = {{Element::xy, Part::log10_rho}, {Element::xy, Part::phase}};
  const auto stations = read_stations(t / "s.csv", options);
  ASSERT_EQ(stations.size(), 3u);
  EXPECT_EQ(stations[0].data.size(), 2u);
  EXPECT_EQ(stations[1].data.size(), 0u);
  EXPECT_EQ(stations[1].station.absent_periods_s, std::vector<double>{5});
  options.longest_period_s = 0.05;
  EXPECT_EQ(read_stations(t / "s.csv", options)[0].data.size(), 0u);
  EXPECT_FALSE(stations[0].station.file.sha256.empty());
}

// A complex response of apparent resistivity and phase, and predictions of it back in their rows.
TEST(DataTable, ResponsesOfRhoAndPhase) {
  DataTable t;
  const double f = 0.3, rho = 40, phase = 62;
  t.add(0, f, {Element::yx, Part::phase}, phase, 1.0);
  t.add(0, f, {Element::yx, Part::log10_rho}, std::log10(rho), 0.01);
  t.add(0, 0.1, {Element::yx, Part::phase}, 10, 1.0);  // without its partner
  const Response r = response_of(t, 0, Element::yx);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_NEAR(apparent_resistivity(f, r.impedance_ohm[0]), rho, 1e-12 * rho);
  EXPECT_NEAR(phase_degrees(r.impedance_ohm[0]), phase, 1e-12);
  EXPECT_NEAR(r.sigma_ohm[0] / std::abs(r.impedance_ohm[0]), std::numbers::pi / 180, 1e-12);
  Response predicted = r;
  predicted.impedance_ohm[0] *= std::polar(std::sqrt(10.0), 0.1);
  set_predicted(t, 0, Element::yx, predicted);
  EXPECT_NEAR(t.predicted[1], std::log10(rho) + 1, 1e-12);
  EXPECT_NEAR(t.predicted[0], phase + 0.1 * 180 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(rms_of_kind(t, {Element::yx, Part::log10_rho}), 100, 1e-9);
  EXPECT_TRUE(std::isnan(rms_of(t)));  // one row has no prediction
  predicted.frequency_hz[0] = 2;
  EXPECT_THROW(set_predicted(t, 0, Element::yx, predicted), Error);
  EXPECT_EQ(response_of(t, 3, Element::yx).size(), 0u);
}

TEST(DataTable, WhatIsNoTableIsRefused) {
  const auto table = [] {
    DataTable t;
    t.add(0, 1, {Element::xy, Part::real}, 1, 1);
    t.add(1, 1, {Element::xy, Part::real}, 1, 1);
    return t;
  };
  EXPECT_NO_THROW(require_valid(table(), 2));
  EXPECT_NO_THROW(require_valid(DataTable{}, 0));
  EXPECT_THROW(require_valid(table(), 1), Error);
  DataTable t = table();
  t.station = {1, 0};
  EXPECT_THROW(require_valid(t, 2), Error);
  t = table();
  t.sigma[1] = 0;
  EXPECT_THROW(require_valid(t, 2), Error);
  t = table();
  t.value[0] = NAN;
  EXPECT_THROW(require_valid(t, 2), Error);
  t = table();
  t.kind[0] = {Element::tx, Part::phase};
  EXPECT_THROW(require_valid(t, 2), Error);
  t = table();
  t.predicted.pop_back();
  EXPECT_THROW(require_valid(t, 2), Error);
}

class Mare2dem : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  }
  const std::filesystem::path folder = testing::test_data() / "mt/mare2dem_demo";
  StationOptions modes() const {
    StationOptions o;
    o.kinds = {{Element::xy, Part::log10_rho},
               {Element::xy, Part::phase},
               {Element::yx, Part::log10_rho},
               {Element::yx, Part::phase}};
    o.floors.impedance = 0;
    return o;
  }
};

/// The rows of the file, read with nothing but blanks between numbers.
std::vector<std::array<double, 6>> plain_rows(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::array<double, 6>> out;
  bool data = false;
  for (std::string line; std::getline(in, line);) {
    data = data || line.rfind("# Data", 0) == 0;
    std::istringstream words(line);
    std::array<double, 6> row{};
    bool whole = data && !line.empty() && line[0] != '#' && line[0] != '!';
    for (double& v : row) whole = whole && (words >> v);
    if (whole) out.push_back(row);
  }
  return out;
}

TEST_F(Mare2dem, EveryDatumOfTheDemoIsReadWithItsErrorAndPlace) {
  const auto stations = read_stations(folder / "DemoSynthMT.emdata", modes());
  ASSERT_EQ(stations.size(), 25u);
  const Survey s = line_up_across(stations, 0);
  ASSERT_EQ(s.data.size(), 1600u);
  for (std::size_t k = 0; k < 25; ++k) EXPECT_EQ(s.stations[k].distance_m, 1000.0 * (k + 1));
  EXPECT_EQ((*s.stations[0].place_m)[2], 2172.1);
  EXPECT_EQ(s.stations[8].tilt_deg, -9.2);
  const auto rows = plain_rows(folder / "DemoSynthMT.emdata");
  ASSERT_EQ(rows.size(), 1600u);
  const std::vector<double> f = [&] {
    std::ifstream in(folder / "DemoSynthMT.emdata");
    std::string line;
    std::getline(in, line);
    std::getline(in, line);
    std::vector<double> v(16);
    for (double& x : v) in >> x;
    return v;
  }();
  std::size_t matched = 0;
  for (const auto& row : rows) {
    const DatumKind kind{row[0] == 123 || row[0] == 104 ? Element::xy : Element::yx,
                         row[0] > 110 ? Part::log10_rho : Part::phase};
    for (std::size_t i = 0; i < s.data.size(); ++i) {
      if (s.data.kind[i] != kind ||
          s.data.frequency_hz[i] != f[static_cast<std::size_t>(row[1]) - 1] ||
          s.data.station[i] != static_cast<std::int64_t>(row[3]) - 1)
        continue;
      ++matched;
      EXPECT_NEAR(s.data.value[i], row[4], 1e-13 * std::max(1.0, std::abs(row[4])));  // by 10^x
      EXPECT_NEAR(s.data.sigma[i], row[5], 1e-12 * row[5]);
    }
  }
  EXPECT_EQ(matched, 1600u);
}

TEST_F(Mare2dem, WhatIsWrittenReadsBackAndResponsesFitTheData) {
  const testing::TempFolder t;
  const Survey s = line_up_across(read_stations(folder / "DemoSynthMT.emdata", modes()), 0);
  write_emdata(t / "again.emdata", s);
  const Survey again = line_up_across(read_stations(t / "again.emdata", modes()), 0);
  ASSERT_EQ(again.data.size(), s.data.size());
  EXPECT_EQ(again.data.frequency_hz, s.data.frequency_hz);
  EXPECT_EQ(again.data.kind, s.data.kind);
  for (std::size_t i = 0; i < s.data.size(); ++i) {
    EXPECT_NEAR(again.data.value[i], s.data.value[i],
                1e-13 * std::max(1.0, std::abs(s.data.value[i])));
    EXPECT_NEAR(again.data.sigma[i], s.data.sigma[i], 1e-13 * s.data.sigma[i]);
  }
  EXPECT_EQ(again.stations[8].tilt_deg, -9.2);
  // The data of the demo are the response of its model with 4 % of noise: an RMS of one.
  StationOptions any = modes();
  any.floors.impedance = 0.01;
  const Survey response = line_up_across(read_stations(folder / "Demo.0.resp", any), 0);
  ASSERT_EQ(response.data.size(), s.data.size());
  Survey fit = s;
  fit.data.predicted = response.data.value;
  EXPECT_NEAR(rms_of(fit.data), 1, 0.1);
  for (std::size_t k = 0; k < 25; ++k) EXPECT_NEAR(rms_of_station(fit.data, k), 1, 0.45);
}

TEST_F(Mare2dem, OtherKindsOfDataAreNoneOfItsFile) {
  Survey s = small_survey();
  EXPECT_NO_THROW(emdata_text(s));
  s.data.kind[0] = {Element::xy, Part::real};
  EXPECT_THROW(emdata_text(s), Error);
}

/// Two stations; impedances with their pairs, tipper.
Survey survey_of_pairs(bool diagonal) {
  Survey s;
  for (const char* id : {"a 1", "b"}) {
    Station t;
    t.id = t.name = id;
    t.place_m = {10, s.stations.empty() ? 100.25 : 300.5, -12.5};
    t.offset_m = (*t.place_m)[0];
    t.distance_m = (*t.place_m)[1];
    s.stations.push_back(t);
  }
  double v = 0.1;
  for (std::int64_t k = 0; k < 2; ++k)
    for (const double f : {10.0, 0.3})
      for (const Element e : {Element::xx, Element::xy, Element::yx, Element::ty}) {
        if (e == Element::xx && !diagonal) continue;
        for (const Part p : {Part::real, Part::imag}) {
          v += 0.37;
          s.data.add(k, f, {e, p}, v, 0.01 * v);  // errors of a pair differ
        }
      }
  return s;
}

TEST(ModemList, WhatIsWrittenReadsBack) {
  const testing::TempFolder t;
  for (const bool diagonal : {false, true}) {
    const Survey s = survey_of_pairs(diagonal);
    write_modem(t / "list.dat", s, 30);
    StationOptions o;
    o.kinds.clear();
    for (const Element e : {Element::xx, Element::xy, Element::yx, Element::ty})
      if (e != Element::xx || diagonal)
        for (const Part p : {Part::real, Part::imag}) o.kinds.push_back({e, p});
    o.floors.impedance = o.floors.tipper = 0;
    const auto stations = read_stations(t / "list.dat", o);
    ASSERT_EQ(stations.size(), 2u);
    EXPECT_EQ(stations[0].station.id, "a_1");
    EXPECT_EQ(stations[0].station.place_m, s.stations[0].place_m);
    EXPECT_EQ(stations[0].station.sounding.azimuth_deg[0], 30);
    DataTable all;
    for (std::size_t k = 0; k < 2; ++k) all.append(stations[k].data, static_cast<std::int64_t>(k));
    ASSERT_EQ(all.size(), s.data.size());
    EXPECT_EQ(all.kind, s.data.kind);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_NEAR(all.frequency_hz[i], s.data.frequency_hz[i], 1e-15 * s.data.frequency_hz[i]);
      EXPECT_NEAR(all.value[i], s.data.value[i], 1e-15 * s.data.value[i]);
      const std::size_t imag = i - i % 2 + 1;  // the larger error of each pair
      EXPECT_NEAR(all.sigma[i], s.data.sigma[imag], 1e-15);
    }
  }
}

TEST(ModemList, ApparentResistivitiesReadBackAndHalvesOfPairsAreLeftOut) {
  const testing::TempFolder t;
  Survey s = survey_of_pairs(false);
  s.data = {};
  const std::vector<DatumKind> kinds{{Element::xy, Part::log10_rho},
                                     {Element::xy, Part::phase},
                                     {Element::yx, Part::log10_rho},
                                     {Element::yx, Part::phase}};
  for (std::size_t k = 0; k < 4; ++k)
    s.data.add(0, 2, kinds[k], 1.25 + 20 * static_cast<double>(k % 2), 0.01);
  s.data.add(0, 1, {Element::ty, Part::real}, 1, 0.1);
  write_modem(t / "list.dat", s);
  StationOptions o;
  o.kinds = kinds;
  o.floors.impedance = 0;
  const auto stations = read_stations(t / "list.dat", o);
  ASSERT_EQ(stations.size(), 1u);
  ASSERT_EQ(stations[0].data.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(stations[0].data.kind[k], kinds[k]);
    EXPECT_NEAR(stations[0].data.value[k], s.data.value[k], 1e-13);
    EXPECT_NEAR(stations[0].data.sigma[k], 0.01, 1e-13);
  }
  s.data.add(0, 0.5, {Element::determinant, Part::real}, 1, 0.1);
  EXPECT_THROW(modem_text(s), Error);
  s.data = {};
  EXPECT_THROW(modem_text(s), Error);
}

}  // namespace
}  // namespace tessera::inversion
