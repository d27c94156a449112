// SPDX-License-Identifier: Apache-2.0
// inversion.mt2d over relief: depths are those below the ground, or the sea floor, wherever it is.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/mesh_2d.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera::testing;

namespace {

class Mt2dRelief : public Mt2d {
 protected:
  /// 10 ohm m over 1 ohm m from 200 m on, a station at 0; what is at the end of `more` may go on.
  tessera::inversion::Survey forward(const std::string& frequencies, const std::string& more) {
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\ndata.form = \"impedance\"\n"
          "noise.impedance = 0\noutput.pictures = false\nmesh.goal = \"100 %\"\n"
          "stations.at = [\"0 m\"]\nsection.resistivity = \"10 ohm*m\"\n"
          "section.layer = [{top = \"200 m\", resistivity = \"1 ohm*m\"}]\n"
          "frequencies.at = [" +
              frequencies + "]\n" + more);
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return tessera::inversion::read_survey(here() / "F/data.csv");
  }
  /// Impedances of both modes differ by less from those of Wait's recursion at these frequencies.
  void expect_layers(const tessera::inversion::Survey& survey, const std::vector<double>& hz,
                     double by) {
    using namespace tessera::inversion;
    const auto wait = to_complex(layered_forward(hz, {200}).predict({std::log(10), std::log(1)}));
    for (const Element e : {Element::xy, Element::yx}) {
      const Response z = response_of(survey.data, 0, e);
      for (std::size_t i = 0; i < hz.size(); ++i) {
        const auto at = std::find(z.frequency_hz.begin(), z.frequency_hz.end(), hz[i]);
        ASSERT_NE(at, z.frequency_hz.end());
        const auto k = static_cast<std::size_t>(at - z.frequency_hz.begin());
        EXPECT_LT(std::abs(z.impedance_ohm[k] / wait[i] - 1.0), by) << hz[i] << " Hz";
      }
    }
  }
  /// A plateau 6 km wide, 300 m above all around it, its foot at this elevation.
  std::string plateau(double foot, const std::string& more = "") {
    std::string text = "distance_m,elevation_m\n";
    for (const double y : {-9e3, -8e3, -7e3, -6e3, -5.5e3}) text += fmt::format("{},{}\n", y, foot);
    text += fmt::format("-3000,{}\n3000,{}\n", foot + 300, foot + 300);
    for (const double y : {5.5e3, 6e3, 7e3, 8e3, 9e3}) text += fmt::format("{},{}\n", y, foot);
    write("plateau.csv", text);
    return "ground = {shape = \"file\", file = \"plateau.csv\"" + more + "}\n";
  }
};

const std::string high_hz = "\"30 Hz\", \"10 Hz\"", all_hz = "\"30 Hz\", \"10 Hz\", \"0.01 Hz\"";

// A layer as far below the plateau as it is below level ground, and the same impedances whatever
// other frequencies there are and however far the ground's file goes.
TEST_F(Mt2dRelief, LayersLieAsDeepBelowAPlateauAsBelowLevelGround) {
  expect_layers(forward(high_hz, "ground.shape = \"flat\"\n"), {30, 10}, 2e-3);
  const std::string ground = plateau(0);
  expect_layers(forward(high_hz, ground), {30, 10}, 2e-3);
  expect_layers(forward(all_hz, ground), {30, 10}, 1e-2);
}

TEST_F(Mt2dRelief, LayersLieAsDeepBelowARisingSeaFloor) {
  const std::string ground = plateau(-1000, ", sea_resistivity = \"0.3 ohm*m\"");
  expect_layers(forward(high_hz, ground), {30, 10}, 2e-3);
  expect_layers(forward(all_hz, ground), {30, 10}, 1e-2);
}

// Relief of some times the depth that fields reach.
TEST_F(Mt2dRelief, HillsAreHigherThanFieldsGetDeep) {
  expect_layers(forward("\"5 kHz\"", plateau(0)), {5000}, 2e-3);
  write("plateau.csv", "distance_m,elevation_m\n-1e6,-4000\n-9e5,0\n-100,0\n100,60\n1e6,60\n");
  const auto s = forward("\"5 kHz\"", "ground = {shape = \"file\", file = \"plateau.csv\"}\n");
  EXPECT_TRUE(std::isfinite(s.data.value[0]));
}

// What model.csv tells of the layer's top is 200 m below the ground everywhere.
TEST_F(Mt2dRelief, TopsOfLayersFollowTheGround) {
  forward(all_hz, plateau(0));
  const auto model = csv_table(read("F/model.csv"));
  const auto ground =
      tessera::inversion::depth_through({-5500, -3000, 3000, 5500}, {0, -300, -300, 0});
  std::size_t near = 0;
  for (std::size_t c = 0; c < model.at("cell").size(); ++c) {
    double depth = 0;
    for (const char* k : {"0", "1", "2", "3"})
      depth +=
          (model.at(fmt::format("z{}_m", k))[c] - ground(model.at(fmt::format("y{}_m", k))[c])) / 4;
    EXPECT_NEAR(model.at("resistivity_ohm_m")[c], depth < 200 ? 10 : 1, 1e-9)
        << c << " at " << depth;
    near += std::abs(depth - 200) < 50;
  }
  EXPECT_GT(near, 20u);
}

// model.csv of a marine run has its water: the ground is the floor, the water is taken from there.
TEST_F(Mt2dRelief, ASectionOfAMarineRunHasItsWater) {
  std::string table = "cell,y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,parameter,resistivity_ohm_m\n";
  int cell = 0;
  for (const auto& [left, right] : {std::pair{-20e3, -5e3}, {-5e3, 0.0}, {0.0, 5e3}, {5e3, 20e3}})
    for (const auto& [top, bottom, parameter, ohm_m] :
         {std::tuple{0.0, 1e3, -1, 0.3}, {1e3, 3e3, 0, 10.0}, {3e3, 20e3, 0, 10.0}})
      table += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", ++cell, left, top, right, top,
                           right, bottom, left, bottom, parameter, ohm_m);
  write("marine.csv", table);
  const std::string again =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
      "output.pictures = false\nmesh.goal = \"100 %\"\nstations.at = [\"-1500 m\"]\n"
      "section.file = \"marine.csv\"\nfrequencies.at = [\"0.01 Hz\"]\n";
  for (const std::string given : {"", "ground.sea_resistivity = \"0.3 ohm*m\"\n"}) {
    write("again.toml", again + given);
    const Outcome o = tessera({"run", "again.toml", "--output", "M", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(holds(o.err, "taken as water of 0.3 ohm m"), given.empty()) << o.err;
    const auto survey = tessera::inversion::read_survey(here() / "M/data.csv");
    EXPECT_NEAR(survey.stations[0].elevation_m.value_or(0), -1000, 1e-6);
    for (std::size_t i = 0; i < survey.data.size(); ++i)
      if (survey.data.kind[i].part == tessera::inversion::Part::log10_rho) {
        EXPECT_NEAR(survey.data.value[i], 1, 1e-3);
      }
  }
  write("marine.csv", table.substr(0, table.find("\n2,") + 1));
  EXPECT_TRUE(holds(refusal(again, 4), "all of the section is water"));
}

// Elevations count from any datum: a lake in the mountains, and a sea that begins below elevation
// 0, have the responses of the same water at 0.
TEST_F(Mt2dRelief, WaterOfATableEndsWhereItsCellsEnd) {
  // 10 ohm m beside 100 below a floor 1000 m deep; all of it this much lower, the water's top too.
  const auto marine = [&](double lower, double top, double right_top) {
    std::string table =
        "cell,y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,parameter,resistivity_ohm_m\n";
    int cell = 0;
    for (const auto& [left, right] : {std::pair{-20e3, -5e3}, {-5e3, 0.0}, {0.0, 5e3}, {5e3, 20e3}})
      for (const auto& [from, to, parameter] : {std::tuple{left < 0 ? top : right_top, 1e3, -1},
                                                {1e3, 3e3, left < 0 ? 0 : 1},
                                                {3e3, 20e3, left < 0 ? 0 : 1}})
        table += fmt::format("{0},{1},{3},{2},{3},{2},{4},{1},{4},{5},{6}\n", ++cell, left, right,
                             from + lower, to + lower, parameter,
                             parameter < 0    ? 0.3
                             : parameter == 0 ? 10.0
                                              : 100.0);
    write("marine.csv", table);
  };
  const std::string again =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
      "output.pictures = false\nmesh.goal = \"100 %\"\nstations.at = [\"-1500 m\"]\n"
      "section.file = \"marine.csv\"\nfrequencies.at = [\"0.01 Hz\"]\n";
  const auto values = [&](double lower, double top) {
    marine(lower, top, top);
    write("again.toml", again);
    const Outcome o = tessera({"run", "again.toml", "--output", "M", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.err, fmt::format("up to elevation {:.6g} m", 0.0 - lower - top))) << o.err;
    const auto survey = tessera::inversion::read_survey(here() / "M/data.csv");
    EXPECT_NEAR(survey.stations[0].elevation_m.value_or(NAN), -1000 - lower, 1e-6);
    return survey.data.value;
  };
  const std::vector<double> at_datum = values(0, 0);
  ASSERT_EQ(at_datum.size(), 4u);
  for (const double lower : {-1400.0, -400.0, 300.0}) {
    const std::vector<double> moved = values(lower, 0);
    ASSERT_EQ(moved.size(), 4u);
    // Decades and degrees: the mesh is the same but for rounding of z.
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(moved[i], at_datum[i], 1e-6) << lower;
  }
  // 400 m less of the water conduct less of what the contact draws.
  const std::vector<double> thinner = values(0, 400);
  double change = 0;
  for (std::size_t i = 0; i < 4; ++i) change = std::max(change, std::abs(thinner[i] - at_datum[i]));
  EXPECT_GT(change, 1e-3);
  marine(0, 0, 400);
  const std::string refused = refusal(again, 4);
  EXPECT_TRUE(holds(refused, "E0690") && holds(refused, "water has one level surface")) << refused;
}

// Beside a table of cells and below it the outermost cells go on, the same on either side,
// whichever boxes around slanting cells overlap there.
TEST_F(Mt2dRelief, OutermostCellsGoOnBesideATable) {
  // Region 0 above an interface that falls to the left, with 1 at its thin end; 2 and 3 below.
  const std::vector<std::vector<std::array<double, 2>>> triangles{
      {{-10e3, 0}, {10e3, 0}, {-10e3, 8e3}},
      {{10e3, 0}, {10e3, 1e3}, {-10e3, 8e3}},
      {{-10e3, 8e3}, {10e3, 1e3}, {10e3, 30e3}},
      {{-10e3, 8e3}, {10e3, 30e3}, {-10e3, 30e3}}};
  const std::array<double, 4> ohm_m{10, 20, 1000, 500};
  for (const double side : {1.0, -1.0}) {
    std::string table = "cell,y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,resistivity_ohm_m\n";
    for (std::size_t k = 0; k < 4; ++k) {
      table += fmt::format("{}", k);
      for (const auto& [y, z] : triangles[k]) table += fmt::format(",{},{}", side * y, z);
      table += fmt::format(",{}\n", ohm_m[k]);
    }
    write("slanting.csv", table);
    write("slanting.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
          "output.pictures = false\nmesh = {goal = \"100 %\", order = 1}\n"
          "stations.at = [\"-8 km\", \"8 km\"]\nsection.file = \"slanting.csv\"\n"
          "frequencies.at = [\"1 Hz\"]\n");
    const Outcome o = tessera({"run", "slanting.toml", "--output", "S", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto cells = csv_table(read("S/model.csv"));
    std::array<std::size_t, 4> seen{};
    for (std::size_t c = 0; c < cells.at("cell").size(); ++c) {
      double y = 0, z = 0;
      for (const char* k : {"0", "1", "2", "3"}) {
        y += side * cells.at(fmt::format("y{}_m", k))[c] / 4;
        z += cells.at(fmt::format("z{}_m", k))[c] / 4;
      }
      std::optional<std::size_t> due;
      if (y > 10e3 && z < 29.9e3) due = z < 999 ? 1u : 2u;
      if (y < -10e3 && z < 29.9e3) due = z < 7999 ? 0u : 3u;
      if (std::abs(y) < 9.9e3 && z > 30e3) due = 3u;
      if (!due || (y > 10e3 && std::abs(z - 1e3) < 1) || (y < -10e3 && std::abs(z - 8e3) < 1))
        continue;
      ++seen[*due];
      EXPECT_NEAR(cells.at("resistivity_ohm_m")[c], ohm_m[*due], 1e-6)
          << side << ": y = " << y << " m, z = " << z << " m";
    }
    for (const std::size_t n : seen) EXPECT_GT(n, 0u);
  }
}

// A level tear is as deep below a crest, and below a valley that is deeper than it, as anywhere:
// with all of the weight on smoothness the section has one resistivity above it and one below.
TEST_F(Mt2dRelief, TearsFollowTheGroundBetweenTheirPoints) {
  for (const double crest : {350.0, -150.0}) {
    write("ground.csv", fmt::format("distance_m,elevation_m\n-2000,100\n-500,100\n0,{}\n500,100\n"
                                    "2000,100\n",
                                    crest));
    const std::string ground = "[ground]\nshape = \"file\"\nfile = \"ground.csv\"\n";
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
          "output.pictures = false\nmesh.goal = \"100 %\"\nsection.resistivity = \"100 ohm*m\"\n"
          "section.layer = [{top = \"60 m\", resistivity = \"10 ohm*m\"}]\n"
          "stations = {first = \"-1800 m\", last = \"1800 m\", count = 5}\n"
          "frequencies.at = [\"1000 Hz\", \"100 Hz\", \"10 Hz\"]\n" +
              ground);
    ASSERT_EQ(tessera({"run", "f.toml", "--output", "F", "--force"}).code, 0);
    for (const bool reversed : {false, true}) {
      const std::string left = "[\"-200 km\", \"60 m\"]", right = "[\"200 km\", \"60 m\"]";
      write("t.toml",
            "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\noutput.pictures = false\n"
            "posterior.method = \"none\"\nmesh.error = 100\ninversion = {method = "
            "\"gauss_newton\", roughness_weight = 1e6, max_iterations = 6}\n" +
                ground + "[[model.tear]]\npoints = [" + (reversed ? right : left) + ", " +
                (reversed ? left : right) + "]\n");
      const Outcome o = tessera({"run", "t.toml", "--output", "T", "--force"});
      ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
      auto cells = csv_table(read("T/model.csv"));
      const auto mean = [&](char axis, std::size_t c, std::initializer_list<int> corners) {
        double sum = 0;
        for (const int k : corners) sum += cells[fmt::format("{}{}_m", axis, k)][c];
        return sum / static_cast<double>(corners.size());
      };
      std::map<double, double> ground;  // of the mesh: the top of each column
      for (std::size_t c = 0; c < cells["cell"].size(); ++c) {
        const auto at = ground.try_emplace(std::round(mean('y', c, {0, 1, 2, 3})), HUGE_VAL).first;
        at->second = std::min(at->second, mean('z', c, {0, 1}));
      }
      double above[2] = {HUGE_VAL, -HUGE_VAL}, below[2] = {HUGE_VAL, -HUGE_VAL};
      for (std::size_t c = 0; c < cells["cell"].size(); ++c) {
        const double depth =
            mean('z', c, {0, 1, 2, 3}) - ground.at(std::round(mean('y', c, {0, 1, 2, 3})));
        double* range = depth < 60 ? above : below;
        const double lg = std::log10(cells["resistivity_ohm_m"][c]);
        range[0] = std::min(range[0], lg), range[1] = std::max(range[1], lg);
      }
      EXPECT_GT(above[0], below[1] + 0.3) << crest << ": above " << above[0] << " to " << above[1]
                                          << ", below " << below[0] << " to " << below[1];
    }
  }
}

// Cells of one medium ask for no more of the mesh than one cell does.
TEST_F(Mt2dRelief, TablesOfOneMediumAreAsOneCell) {
  const auto meshed = [&](int n, const std::string& ohm_m_below) {
    std::string table = "y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,resistivity_ohm_m\n";
    const double width = 20e3 / n, height = 10e3 / n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double y = -10e3 + i * width, z = j * height;
        table += fmt::format("{0},{1},{2},{1},{2},{3},{0},{3},{4}\n", y, z, y + width, z + height,
                             2 * j < n ? "100" : ohm_m_below);
      }
    write("cells.csv", table);
    write("c.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\nsection.file = \"cells.csv\"\n"
          "stations.at = [\"0 m\"]\nfrequencies.at = [\"10 Hz\"]\n");
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    const auto at = o.out.find("regions on ");
    return at == std::string::npos ? 0 : std::stoi(o.out.substr(at + 11));
  };
  const int one = meshed(1, "100");
  EXPECT_GT(one, 100);
  EXPECT_EQ(meshed(16, "100"), one);
  EXPECT_GT(meshed(16, "1"), one);
}

}  // namespace
