// SPDX-License-Identifier: Apache-2.0
// Forward runs of inversion.mt2d that are stopped, wherever that is.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace tessera::testing {
namespace {

/// Air, 100 ohm m and a block of 5 in it, as quadrilaterals of Gmsh.
std::string block_as_msh() {
  std::vector<double> y{0}, up;
  for (double a = 500; a < 70000; a *= 2) y.push_back(a), y.insert(y.begin(), -a);
  for (double z = 64000; z > 200; z /= 2) up.push_back(-z);
  up.push_back(0);
  for (double z = 250; z < 70000; z *= 2) up.push_back(z);
  return quadrilaterals_as_msh(y, up, [&](std::size_t i, std::size_t j) {
    const bool in_block = std::abs(y[i] + y[i + 1]) < 2000 && up[j] >= -1000 && up[j + 1] <= -250;
    return up[j + 1] > 0 ? 1 : in_block ? 3 : 2;
  });
}

// A run that is stopped in its search for a mesh, and between frequencies, goes on from there: each
// of the short runs solves something, and the last one leaves the bytes of one that was not
// stopped.
TEST_F(Mt2d, ForwardRunsAreStoppedAndGoOnAnywhere) {
  write("block.msh", block_as_msh());
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"0 m\", \"800 m\"]\n"
      "frequencies.at = [\"10 Hz\", \"8 Hz\", \"5 Hz\", \"2 Hz\", \"1 Hz\"]\n";
  for (const auto& [name, more] :
       {std::pair{"bodies",
                  "mesh.goal = \"5 %\"\n[[section.body]]\nresistivity = \"5 ohm*m\"\n"
                  "points = [[\"-1 km\", \"300 m\"], [\"1 km\", \"300 m\"], [\"1 km\", \"1 "
                  "km\"], [\"-1 km\", \"1 km\"]]\n"},
        {"outline",
         "mesh.goal = \"3 %\"\n[section]\nfile = \"block.msh\"\n"
         "resistivities = [\"inf\", \"100 ohm*m\", \"5 ohm*m\"]\n"}}) {
    write("f.toml", forward + more);
    const Outcome whole = tessera({"run", "f.toml", "--output", "WHOLE", "--force"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    Outcome o = tessera({"run", "f.toml", "--output", "PARTS", "--force", "--max-time", "1ms"});
    EXPECT_TRUE(holds(o.err, "mesh  1 meshes")) << o.err;
    if (std::string(name) == "outline") {
      EXPECT_TRUE(holds(read("WHOLE/manifest.json"), "block.msh")) << "an input";
    }
    int stops = 0;
    for (; o.code == 75 && stops < 40; ++stops) {
      EXPECT_TRUE(holds(read("PARTS/heartbeat.json"), "\"stopped\"")) << name;
      o = tessera({"resume", "PARTS", "--max-time", "1ms"});
    }
    EXPECT_EQ(o.code, 0) << name << o.err;
    EXPECT_GE(stops, 4) << name << ": three meshes at least, and four of the frequencies";
    for (const char* file : {"data.csv", "model.csv", "stations.csv", "predicted/s02.edi"})
      EXPECT_EQ(read(std::string("PARTS/") + file), read(std::string("WHOLE/") + file))
          << name << file;
    EXPECT_EQ(tessera({"resume", "PARTS", "--set", "output.pictures=true"}).code, 0) << name;
  }
}

// A goal that the mesh does not reach is a warning, of bodies as of outlines, and estimate knows
// it.
TEST_F(Mt2d, AGoalThatIsNotReachedIsAWarning) {
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
        "stations.at = [\"0 m\"]\nfrequencies.at = [\"1 Hz\"]\n"
        "mesh = {goal = \"0.1 %\", most_nodes = 3000}\n[[section.body]]\n"
        "resistivity = \"5 ohm*m\"\npoints = [[\"-1 km\", \"300 m\"], [\"1 km\", \"300 m\"], "
        "[\"0 km\", \"1 km\"]]\n");
  const std::string doubt = "mesh.goal = 0.1 % is not reached by the mesh of ";
  const Outcome o = tessera({"run", "f.toml", "--output", "F"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "warning: " + doubt) && holds(o.err, " nodes")) << o.err;
  const Outcome estimated = tessera({"estimate", "f.toml"});
  EXPECT_TRUE(holds(estimated.out, doubt)) << estimated.out << estimated.err;
}

// The tip of a wedge of ten degrees that dips by thirty is met by the mesh, and cells there are
// those of its resistivity.
TEST_F(Mt2d, TipsOfSharpBodiesAreMet) {
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
        "stations.at = [\"-1.5 km\", \"1.7 km\"]\nfrequencies.at = [\"10 Hz\"]\n"
        "mesh.goal = \"100 %\"\n[[section.body]]\nresistivity = \"1 ohm*m\"\n"
        "points = [[\"0 m\", \"500 m\"], [\"2 km\", \"1432.6 m\"], [\"2 km\", \"1900.4 m\"]]\n");
  const Outcome o = tessera({"run", "f.toml", "--output", "F"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto cells = csv_table(read("F/model.csv"));
  double off = HUGE_VAL, widest = 0;
  for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
    const double y = cells.at("y0_m")[k], z = cells.at("z0_m")[k];
    off = std::min(off, std::hypot(y, z - 500));
    if (std::hypot(y, z - 500) < 1) widest = std::max(widest, std::abs(cells.at("y2_m")[k] - y));
  }
  EXPECT_LT(off, 1e-6);
  EXPECT_LT(widest, 60) << "a quarter of the skin depth of 1 ohm m, 159 m";
}

// Layers, bodies that reach beyond the mesh on both sides, and a table of three cells are one
// section. Meshes of the first two are the same; corners of the table, which lie at the reach,
// change none of its rows.
TEST_F(Mt2d, TopsOfBodiesWiderThanTheMeshAreMet) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"0 m\"]\nfrequencies.at = [\"3 Hz\"]\nmesh.goal = \"100 %\"\n";
  const auto body = [](const std::string& top, const std::string& base, const std::string& rho) {
    return "[[section.body]]\nresistivity = \"" + rho + " ohm*m\"\npoints = [[\"-9000 km\", \"" +
           top + "\"], [\"9000 km\", \"" + top + "\"], [\"9000 km\", \"" + base +
           "\"], [\"-9000 km\", \"" + base + "\"]]\n";
  };
  write("layers.toml", forward +
                           "section.resistivity = \"100 ohm*m\"\n"
                           "[[section.layer]]\ntop = \"400 m\"\nresistivity = \"10 ohm*m\"\n"
                           "[[section.layer]]\ntop = \"1900 m\"\nresistivity = \"1000 ohm*m\"\n");
  write("bodies.toml", forward + "section.resistivity = \"100 ohm*m\"\n" +
                           body("1900 m", "9000 km", "1000") + body("400 m", "1900 m", "10"));
  const auto cell = [](const std::string& top, const std::string& base, const std::string& rho) {
    return "-9e6," + top + ",9e6," + top + ",9e6," + base + ",-9e6," + base + "," + rho + "\n";
  };
  write("cells.csv", "y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,resistivity_ohm_m\n" +
                         cell("0", "400", "100") + cell("400", "1900", "10") +
                         cell("1900", "9e6", "1000"));
  write("cells.toml", forward + "section.file = \"cells.csv\"\n");
  std::map<std::string, std::vector<double>> found;
  for (const std::string name : {"layers", "bodies", "cells"}) {
    const Outcome o = tessera({"run", name + ".toml", "--output", name});
    ASSERT_EQ(o.code, 0) << o.err;
    found[name] = tessera::inversion::read_survey(here() / name / "data.csv").data.value;
  }
  ASSERT_EQ(found["layers"].size(), 4u);
  for (std::size_t k = 0; k < 4; ++k)
    for (const char* name : {"bodies", "cells"})
      EXPECT_NEAR(found[name][k], found["layers"][k], 1e-9) << name;
}

// Fields of a resistive side reach further than those below the stations: a station that stands
// there, and makes the mesh as wide as it has to be, changes nothing at the others. Without that
// side in the mesh TE is 19 % off.
TEST_F(Mt2d, ResistiveSidesAreInTheMeshAsFarAsTheirFieldsReach) {
  const auto beside = [&](const std::string& last) {
    write("c.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
          "mesh.goal = \"100 %\"\nfrequencies.at = [\"0.01 Hz\"]\n"
          "stations.at = [\"-10 km\", \"-3 km\", \"-1 km\"" +
              last +
              "]\n[section]\nresistivity = \"10 ohm*m\"\n[[section.body]]\n"
              "resistivity = \"10000 ohm*m\"\npoints = [[\"0 km\", \"0 km\"], [\"1e5 km\", \"0 "
              "km\"], "
              "[\"1e5 km\", \"1e4 km\"], [\"0 km\", \"1e4 km\"]]\n");
    const Outcome o = tessera({"run", "c.toml", "--output", "C", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return tessera::inversion::read_survey(here() / "C/data.csv").data;
  };
  const auto alone = beside(""), wide = beside(", \"1500 km\"");
  ASSERT_EQ(alone.size(), 12u);
  for (std::size_t k = 0; k < alone.size(); ++k)  // station by station; 0.005 decades are 1.2 %
    EXPECT_NEAR(alone.value[k], wide.value[k],
                alone.kind[k].part == tessera::inversion::Part::phase ? 0.3 : 0.005)
        << k;
}

// A section read again has rows of its own along a body's upright sides: its mesh goes by the body
// alone, as that of the first one.
TEST_F(Mt2d, SectionsReadAgainHaveTheMeshOfTheirBodies) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"-200 m\", \"1500 m\"]\nfrequencies.at = [\"1 Hz\"]\nmesh.goal = \"100 "
      "%\"\n";
  write("first.toml",
        forward +
            "section.resistivity = \"100 ohm*m\"\n[[section.body]]\n"
            "resistivity = \"5 ohm*m\"\npoints = [[\"-1 km\", \"300 m\"], [\"1 km\", \"300 m\"], "
            "[\"1 km\", \"1 km\"], [\"-1 km\", \"1 km\"]]\n");
  ASSERT_EQ(tessera({"run", "first.toml", "--output", "FIRST"}).code, 0);
  ASSERT_EQ(tessera({"run", "first.toml", "--output", "FINE", "--set", "mesh.first_cell=5 m"}).code,
            0);
  write("again.toml", forward + "section.file = \"FINE/model.csv\"\n");
  ASSERT_EQ(tessera({"run", "again.toml", "--output", "AGAIN"}).code, 0);
  const auto first = csv_table(read("FIRST/model.csv")), again = csv_table(read("AGAIN/model.csv"));
  for (const char* z : {"z0_m", "z2_m"}) {
    ASSERT_EQ(again.at(z).size(), first.at(z).size());
    for (std::size_t k = 0; k < first.at(z).size(); ++k)
      EXPECT_NEAR(again.at(z)[k], first.at(z)[k], 1e-3) << z << k;
  }
  write("beside.toml", forward + "section.file = \"FINE/model.csv\"\n");
  const Outcome o = tessera({"check", "beside.toml", "--set", "stations.at=[\"50000 km\"]"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "E0684") && holds(o.err, "cells of model.csv reach from")) << o.err;
}

// What a mesh would have to resolve is told as it is: the section's resistivity, no skin depth.
TEST_F(Mt2d, AMeshThatCannotBeMadeTellsTheLeastResistivity) {
  const std::string said = refusal(
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nsection.resistivity = \"100 ohm*m\"\n"
      "mesh.most_nodes = 100\nstations.at = [\"0 m\"]\n"
      "frequencies.at = [\"1 Hz\", \"1000 Hz\"]\n",
      3);
  EXPECT_TRUE(holds(said, "E0687") && holds(said, "for 1 to 1e+03 Hz at 100 ohm m:")) << said;
}

}  // namespace
}  // namespace tessera::testing
