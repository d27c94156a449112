// SPDX-License-Identifier: Apache-2.0
// What of an outline is water, of one layer or several, and what imported cases and the tables of
// runs say of it.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/outline_2d.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

using namespace tessera::testing;

namespace {

const std::string quick =
    "output = {pictures = false, pictures_of_stations = false}\nmesh = {order = 1, goal = \"100 "
    "%\"}\n";
const std::string where =
    "stations.at = [\"-1 km\", \"1 km\"]\nfrequencies.at = [\"0.01 Hz\"]\nnoise.impedance = 0\n";

class Mt2dWater : public Mt2d {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!tessera::inversion::outlines_available(&why_not)) GTEST_SKIP() << why_not;
  }
  /// M.poly, M.0.resistivity and M.emdata as MARE2DEM has them: air, 0 to 500 m, to 1000 m, below;
  /// two receivers at this depth.
  void model(const std::array<double, 3>& ohm_m, double receivers_m, double error = 0.01) {
    write("M.poly",
          "10 2 0 0\n1 -200000 -200000\n2 200000 -200000\n3 200000 0\n4 200000 1000\n"
          "5 200000 200000\n6 -200000 200000\n7 -200000 1000\n8 -200000 0\n9 200000 500\n"
          "10 -200000 500\n13 0\n1 1 2\n2 2 3\n3 3 9\n4 9 4\n5 4 5\n6 5 6\n7 6 7\n8 7 10\n"
          "9 10 8\n10 8 1\n11 3 8\n12 4 7\n13 9 10\n0\n4\n1 0 -100 1 0\n2 0 250 2 0\n"
          "3 0 750 3 0\n4 0 5000 4 0\n");
    std::string text =
        "Format: mare2dem_1.1\nModel File: M.poly\nData File: M.emdata\nAnisotropy: isotropic\n"
        "Number of regions: 4\n1 1e13 0 0 0 0 0\n";
    for (std::size_t k = 0; k < 3; ++k) text += fmt::format("{} {} 0 0 0 0 0\n", k + 2, ohm_m[k]);
    write("M.0.resistivity", text);
    text = "Format: EMData_2.2\n# MT Frequencies: 2\n0.1\n0.01\n# MT Receivers: 2\n";
    for (const double y : {-1000, 1000})
      text += fmt::format("0 {} {} 0 0 0 0 0 r{}\n", y, receivers_m, y);
    text += "# Data: 8\n";
    for (const int f : {1, 2})
      for (const int r : {1, 2})
        text += fmt::format("123 {0} {1} {1} 1 {2}\n104 {0} {1} {1} 45 {2}\n", f, r, error);
    write("M.emdata", text);
  }
  /// What is said of the model, and the case as it is imported.
  std::string import_model(std::string& said) {
    const Outcome o = tessera({"import", "M.0.resistivity", "--output", "m.toml", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    said = o.err;
    return read("m.toml");
  }
  /// Elevation and log10 of the apparent resistivity of TE at the lowest frequency.
  std::array<double, 2> computed(const std::string& text) {
    write("f.toml", text);
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, 0) << text << o.err;
    if (o.code) return {NAN, NAN};
    said_ = o.err;
    const auto survey = tessera::inversion::read_survey(here() / "F/data.csv");
    std::array<double, 2> out{survey.stations[0].elevation_m.value_or(NAN), NAN};
    for (std::size_t i = 0; i < survey.data.size(); ++i)
      if (tessera::inversion::name_of(survey.data.kind[i]) == "log10_rho_xy" &&
          survey.data.frequency_hz[i] < 0.05)
        out[1] = survey.data.value[i];
    return out;
  }
  std::string said_;
};

// A sea of two layers: both are water, and stations stand where the file has its receivers.
TEST_F(Mt2dWater, ASeaOfTwoLayersIsImported) {
  for (const double depth : {999.9, 1000.0, 1000.1}) {
    model({0.3, 0.31, 10}, depth);
    std::string said;
    const std::string text = import_model(said);
    EXPECT_TRUE(holds(text, "water = [2, 3]")) << text;
    EXPECT_TRUE(holds(said, "regions 2, 3 lie above receivers")) << said;
    EXPECT_FALSE(holds(said, "E0684")) << said;
    const auto [elevation, log_rho] = computed(quick + text);
    EXPECT_NEAR(elevation, -1000, 1e-6);
    EXPECT_NEAR(log_rho, 1, 0.02);
    EXPECT_TRUE(holds(said_, "on the floor of the water, at z = 1000 to 1000 m")) << said_;
  }
}

// Water that the model of a run had is water where its model.csv is read, of the mean conductivity.
TEST_F(Mt2dWater, ATableOfARunKeepsItsWater) {
  model({0.3, 0.31, 10}, 1000);
  std::string said;
  const auto [elevation, log_rho] = computed(quick + import_model(said));
  const auto cells = csv_table(read("F/model.csv"));
  for (std::size_t c = 0; c < cells.at("cell").size(); ++c)
    EXPECT_EQ(cells.at("parameter")[c] == -1, cells.at("resistivity_ohm_m")[c] < 1) << c;
  const std::string table = read("F/model.csv");
  write("model.csv", table);
  const auto [again, again_rho] = computed("app = \"inversion.mt2d\"\ntask = \"forward\"\n" +
                                           quick + "section.file = \"model.csv\"\n" + where);
  EXPECT_NEAR(again, elevation, 1e-6);
  EXPECT_NEAR(again_rho, log_rho, 0.02);
  EXPECT_TRUE(holds(said_, "the mean conductivity of theirs of 0.3 to 0.31 ohm m")) << said_;
}

// Receivers on land are buried by some decimetres, also where z begins at the highest ground.
TEST_F(Mt2dWater, BuriedReceiversStandOnLand) {
  for (const double depth : {0.0, 0.1, 2.0}) {
    model({100, 10, 10}, depth);
    std::string said;
    const std::string text = import_model(said);
    EXPECT_FALSE(holds(text, "water")) << text;
    EXPECT_EQ(holds(said, "lies 2 m off the ground"), depth == 2) << said;
    EXPECT_NEAR(computed(quick + text)[0], 0, 1e-6);
  }
  model({100, 10, 1}, 999);
  std::string said;
  EXPECT_FALSE(holds(import_model(said), "water"));
  EXPECT_TRUE(holds(said, "regions 2, 3 lie above receivers and do not conduct like a sea") &&
              holds(said, "lies 999 m off the ground"))
      << said;
}

// Rocks have the resistivity of a sea, too: water is what is joined to the air.
TEST_F(Mt2dWater, ALayerLikeTheSeaIsRock) {
  model({0.3, 10, 0.3}, 500);
  std::string said;
  EXPECT_TRUE(holds(import_model(said), "water = [2]"));
  const std::string text = "app = \"inversion.mt2d\"\ntask = \"forward\"\n" + quick + where +
                           "section.file = \"M.0.resistivity\"\n";
  const auto by_resistivity = computed(text + "ground.sea_resistivity = \"0.3 ohm*m\"\n"),
             by_region = computed(text + "section.water = [2]\n");
  EXPECT_NEAR(by_resistivity[0], -500, 1e-6);
  EXPECT_EQ(by_resistivity, by_region);
}

// A shore: what is said of stations goes by where each of them stands.
TEST_F(Mt2dWater, StationsOnBothSidesOfAShore) {
  write("shore.poly",
        "10 2 0 0\n1 -200000 -200000\n2 200000 -200000\n3 200000 0\n4 200000 500\n"
        "5 200000 200000\n6 -200000 200000\n7 -200000 -200\n8 -2000 -200\n9 0 0\n"
        "10 3000 500\n12 0\n1 1 2\n2 2 3\n3 3 4\n4 4 5\n5 5 6\n6 6 7\n7 7 1\n8 7 8\n9 8 9\n"
        "10 9 10\n11 10 4\n12 9 3\n0\n3\n1 0 -5000 1 0\n2 5000 250 2 0\n3 0 50000 3 0\n");
  const std::string section =
      quick +
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"0.01 Hz\"]\n"
      "section = {file = \"shore.poly\", resistivities = [\"inf\", \"0.3 ohm*m\", \"100 "
      "ohm*m\"], water = [2]}\nstations.at = ";
  computed(section + "[\"-5 km\", \"-1 km\", \"1.5 km\", \"6 km\"]\n");
  EXPECT_TRUE(holds(said_,
                    "2 stations stand on the floor of the water, at z = 250 to 500 m, and 2 "
                    "on land, at z = -200 to -100 m"))
      << said_;
  computed(section + "[\"1.5 km\", \"6 km\"]\n");
  EXPECT_TRUE(holds(said_, "stations stand on the floor of the water, at z = 250 to 500 m"))
      << said_;
  computed(section + "[\"-5 km\", \"-3 km\"]\n");
  EXPECT_TRUE(holds(said_, "stations stand on land beside the water, at z = -200 to -200 m"))
      << said_;
}

TEST_F(Mt2dWater, WaterThatIsNoneIsRefused) {
  model({0.3, 10, 0.3}, 500);
  const std::string text = "app = \"inversion.mt2d\"\ntask = \"forward\"\n" + where +
                           "section.file = \"M.0.resistivity\"\n";
  const auto refused = [&](const std::string& more, int code, const std::string& words) {
    const std::string said = refusal(text + more, code);
    EXPECT_TRUE(holds(said, words)) << said;
  };
  refused("section.water = [5]\n", 4, "there is no region 5: the section has 4");
  refused("section.water = [2, 4]\n", 4, "region 4 is not joined to the air through water");
  refused("section.water = [1]\n", 4, "region 1 is not joined");
  refused("ground.sea_resistivity = \"10 ohm*m\"\n", 4,
          "no region of the section that has 10 ohm m is joined to the air");
  refused("section.water = [2]\nground.sea_resistivity = \"0.3 ohm*m\"\n", 5,
          "the water is given by section.water and by ground.sea_resistivity");
  write("l.toml", "app = \"inversion.mt2d\"\ntask = \"forward\"\n" + where +
                      "section.resistivity = \"10 ohm*m\"\nsection.water = [1]\n");
  EXPECT_TRUE(holds(tessera({"check", "l.toml"}).err, "section.water has no effect"));
}

// Of data alone nobody knows what lies above: shallow receivers stand on land unless told.
TEST_F(Mt2dWater, DataAloneLieInASeaWhereTheyAreDeep) {
  for (const auto& [depth, sea] : {std::pair{0.1, false}, {19.0, false}, {1000.0, true}}) {
    model({0.3, 10, 10}, depth);
    const Outcome o = tessera({"import", "M.emdata", "--output", "d.toml", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(read("d.toml"), sea ? "\n[ground]" : "\n# [ground]")) << read("d.toml");
    EXPECT_EQ(tessera({"check", "d.toml"}).code, 0);
  }
}

// Responses of a forward run have no errors: the floor stays.
TEST_F(Mt2dWater, DataWithoutErrorsKeepTheFloor) {
  model({100, 10, 10}, 0, 0);
  const Outcome o = tessera({"import", "M.emdata", "--output", "d.toml", "--force"});
  EXPECT_TRUE(holds(o.err, "data have no errors")) << o.err;
  EXPECT_FALSE(holds(read("d.toml"), "error_floor")) << read("d.toml");
  const Outcome checked = tessera({"check", "d.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
}

TEST_F(Mt2dWater, EndingsInCapitalsAreTheSame) {
  model({0.3, 0.3, 10}, 1000);
  write("UP.EMDATA", read("M.emdata"));
  const Outcome o = tessera({"import", "UP.EMDATA", "--output", "u.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(read("u.toml"), "files = \"UP.EMDATA\""));
  write("UP.0.RESISTIVITY", read("M.0.resistivity"));
  EXPECT_EQ(tessera({"import", "UP.0.RESISTIVITY", "--output", "r.toml"}).code, 0);
}

}  // namespace
