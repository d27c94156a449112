// SPDX-License-Identifier: Apache-2.0
// Forward runs of MARE2DEM's triaxial models: each mode has its own resistivities.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/outline_2d.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// Z of layers in ohm, from the bottom (J. Wait 1954, Geophysics 19, 281).
std::complex<double> impedance_of_column(const std::vector<double>& ohm_m,
                                         const std::vector<double>& thickness_m, double hz) {
  const std::complex<double> iwm(0, 2 * std::numbers::pi * hz * 4e-7 * std::numbers::pi);
  std::complex<double> z = std::sqrt(iwm * ohm_m.back());
  for (std::size_t k = thickness_m.size(); k-- > 0;) {
    const std::complex<double> own = std::sqrt(iwm * ohm_m[k]),
                               t = std::tanh(iwm / own * thickness_m[k]);
    z = own * (z + own * t) / (own + z * t);
  }
  return z;
}

class Mt2dAnisotropy : public Mt2d {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!tessera::inversion::outlines_available(&why_not)) GTEST_SKIP() << why_not;
  }
  using Axes = std::array<double, 3>;
  /// Air, 0 to 2 km, below.
  void model(const Axes& upper, const Axes& lower) {
    write("an.poly",
          "8 2 0 0\n1 -50000 -50000\n2 50000 -50000\n3 50000 0\n4 50000 2000\n5 50000 50000\n"
          "6 -50000 50000\n7 -50000 2000\n8 -50000 0\n10 0\n1 1 2\n2 2 3\n3 3 4\n4 4 5\n5 5 6\n"
          "6 6 7\n7 7 8\n8 8 1\n9 8 3\n10 7 4\n0\n3\n1 0 -100 1\n2 0 100 2\n3 0 4000 3\n");
    std::string text =
        "Format: MARE2DEM_1.1\nModel File: an.poly\nAnisotropy: triaxial\nNumber of regions: 3\n"
        "1 1e12 1e12 1e12 0 0 0\n";
    for (const auto& [k, r] : {std::pair{2, upper}, {3, lower}})
      text += fmt::format("{} {} {} {} 1 1 1\n", k, r[0], r[1], r[2]);
    write("an.0.resistivity", text);
  }
  /// log10 of both apparent resistivities and the phases of the runs' one station, by frequency.
  void expect_columns(const std::string& data_csv, const Axes& upper, const Axes& lower) {
    using namespace tessera::inversion;
    const Survey survey = read_survey(here() / data_csv);
    ASSERT_GT(survey.data.size(), 0u);
    for (std::size_t i = 0; i < survey.data.size(); ++i) {
      const auto [element, part] = survey.data.kind[i];
      if (element == Element::ty) {
        EXPECT_NEAR(survey.data.value[i], 0, 2e-3);
        continue;
      }
      const std::size_t axis = element == Element::xy ? 0 : 1;
      const double hz = survey.data.frequency_hz[i];
      const std::complex<double> z = impedance_of_column({upper[axis], lower[axis]}, {2000}, hz);
      const double rho = std::norm(z) / (8e-7 * std::numbers::pi * std::numbers::pi * hz);
      const std::string what = fmt::format("{} at {} Hz", name_of(survey.data.kind[i]), hz);
      if (part == Part::phase) {
        EXPECT_NEAR(survey.data.value[i], std::arg(z) * 180 / std::numbers::pi, 0.3) << what;
      } else {
        EXPECT_NEAR(survey.data.value[i], std::log10(rho), 0.0043) << what << ", 1 %";
      }
    }
  }
};

const std::string sounded =
    "stations.at = [\"0 m\"]\nfrequencies.at = [\"10 Hz\", \"1 Hz\", \"0.1 Hz\"]\n"
    "noise = {impedance = 0, tipper = 0}\noutput.pictures_of_stations = false\n";
const std::string forward_run = "app = \"inversion.mt2d\"\ntask = \"forward\"\n" + sounded;

// TE has the resistivity along the strike, TM that along the section; a column that is the same
// everywhere has no current down.
TEST_F(Mt2dAnisotropy, EachModeOfALayeredColumnHasItsOwnResistivities) {
  const Axes upper{10, 100, 3}, lower{300, 20, 1000};
  model(upper, lower);
  const Outcome imported = tessera({"import", "an.0.resistivity", "--output", "i.toml"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(holds(imported.err, "TE has the resistivities along x, TM those along y and z"));
  write("f.toml", forward_run + "section.file = \"an.0.resistivity\"\n");
  const Outcome o = tessera({"run", "f.toml", "--output", "F"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "TE has the resistivities along x, TM those along y and z")) << o.err;
  expect_columns("F/data.csv", upper, lower);

  auto cells = csv_table(read("F/model.csv"));
  ASSERT_FALSE(cells["resistivity_ohm_m"].empty());
  for (std::size_t c = 0; c < cells["resistivity_ohm_m"].size(); ++c) {
    const Axes& r = cells["parameter"][c] == 1 ? upper : lower;
    EXPECT_NEAR(cells["resistivity_ohm_m"][c] / r[0], 1, 1e-9);
    EXPECT_NEAR(cells["resistivity_y_ohm_m"][c] / r[1], 1, 1e-9);
    EXPECT_NEAR(cells["resistivity_z_ohm_m"][c] / r[2], 1, 1e-9);
  }
  for (const char* name : {"section", "section_y", "section_z"})
    EXPECT_TRUE(std::filesystem::exists(here() / "F/plots" / (std::string(name) + ".png"))) << name;
  EXPECT_EQ(tessera({"plot", "F"}).code, 0);
}

// A table of cells with three resistivities each is a section again, and has all three or one.
TEST_F(Mt2dAnisotropy, TablesOfCellsHaveThreeResistivities) {
  const Axes upper{10, 100, 3}, lower{300, 20, 1000};
  const auto table = [&](const std::string& last) {
    write("cells.csv",
          "cell,y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,parameter,resistivity_ohm_m,"
          "resistivity_y_ohm_m," +
              last +
              "\n0,-50000,0,50000,0,50000,2000,-50000,2000,0,10,100,3\n"
              "1,-50000,2000,50000,2000,50000,90000,-50000,90000,1,300,20,1000\n");
  };
  table("resistivity_z_ohm_m");
  const std::string text =
      forward_run +
      "output.pictures = false\nmesh.goal = \"100 %\"\nsection.file = \"cells.csv\"\n";
  write("g.toml", text);
  const Outcome o = tessera({"run", "g.toml", "--output", "G"});
  ASSERT_EQ(o.code, 0) << o.err;
  expect_columns("G/data.csv", upper, lower);
  table("other");
  EXPECT_TRUE(holds(refusal(text, 4),
                    "of resistivity_y_ohm_m and resistivity_z_ohm_m there are "
                    "both or none"));
}

TEST_F(Mt2dAnisotropy, WaterIsIsotropicAndAirIsAirAlongAllAxes) {
  model({0.3, 0.3, 1}, {10, 10, 10});
  const std::string file = "section.file = \"an.0.resistivity\"\n";
  EXPECT_TRUE(holds(refusal(forward_run + file + "section.water = [2]\n", 4),
                    "region 2 has other resistivities along x, y and z"));
  EXPECT_TRUE(holds(refusal(forward_run + file + "ground.sea_resistivity = \"0.3 ohm*m\"\n", 4),
                    "no region of the section that has 0.3 ohm m is joined to the air"));
  model({1e12, 100, 100}, {10, 10, 10});  // a layer that conducts along y and z is earth
  write("f.toml", forward_run + file + "output.pictures = false\n");
  const Outcome o = tessera({"run", "f.toml", "--output", "F"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto cells = csv_table(read("F/model.csv"));
  EXPECT_EQ(*std::min_element(cells["parameter"].begin(), cells["parameter"].end()), 1);
}

}  // namespace
