// SPDX-License-Identifier: Apache-2.0
// inversion.mt2d with sections that are meshes of Gmsh: coarse ones are refined, those that nothing
// can be computed of are refused before a run.
#include "mt2d_case.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/gmsh_2d.h"
#include "tessera/inversion/goal_mesh_2d.h"
#include "tessera/inversion/outline_2d.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// Quadrilaterals between these y and z (down); `earth` says which of them are no air.
std::string gmsh_of(const std::vector<double>& y, const std::vector<double>& z,
                    const std::function<bool(double y, double z)>& earth) {
  const std::size_t n = y.size();
  std::string out = fmt::format("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", n * z.size());
  for (std::size_t j = 0; j < z.size(); ++j)
    for (std::size_t i = 0; i < n; ++i)
      out += fmt::format("{} {} {} 0\n", 1 + j * n + i, y[i], 0.0 - z[j]);
  out += fmt::format("$EndNodes\n$Elements\n{}\n", (n - 1) * (z.size() - 1));
  std::size_t number = 0;
  for (std::size_t j = 0; j + 1 < z.size(); ++j)
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const int group = earth((y[i] + y[i + 1]) / 2, (z[j] + z[j + 1]) / 2) ? 2 : 1;
      const std::size_t a = 1 + j * n + i;
      out += fmt::format("{} 3 2 {} {} {} {} {} {}\n", ++number, group, group, a, a + 1, a + 1 + n,
                         a + n);
    }
  return out + "$EndElements\n";
}

const std::vector<double> lines_y{-20e3, -10e3, -5e3, -2e3, -1e3, 0, 1e3, 2e3, 5e3, 10e3, 20e3},
    lines_z{-20e3, -5e3, -1e3, -200, 0, 200, 500, 1e3, 3e3, 8e3, 20e3};

const std::string case_of_gmsh =
    "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
    "stations.at = [\"-1500 m\", \"1500 m\"]\nfrequencies.at = [\"1 Hz\"]\n"
    "output.pictures = false\nsection = {file = \"m.msh\", resistivities = [\"inf\", \"100 "
    "ohm*m\"]}\n";

// A hundred quadrilaterals over three skin depths: mesh.goal is met by the triangles of them.
TEST_F(Mt2d, QuadrilateralsOfGmshAreRefinedToTheGoal) {
  write("m.msh", gmsh_of(lines_y, lines_z, [](double, double at) { return at > 0; }));
  write("m.toml", case_of_gmsh);
  const Outcome o = tessera({"run", "m.toml", "--output", "M"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto survey = tessera::inversion::read_survey(here() / "M/data.csv");
  for (std::size_t i = 0; i < survey.data.size(); ++i)
    if (survey.data.kind[i].part == tessera::inversion::Part::log10_rho) {
      EXPECT_NEAR(survey.data.value[i], 2, 0.0043) << "1 %";
    }
}

// With a goal of 100 % triangles are those that skin depths ask for, and no more.
TEST_F(Mt2d, AGoalOfAllTakesTrianglesAsTheyCome) {
  using namespace tessera::inversion;
  const std::string msh = gmsh_of(lines_y, lines_z, [](double, double at) { return at > 0; });
  write("m.msh", msh);
  write("m.toml", case_of_gmsh + "mesh.goal = \"100 %\"\n");
  const Outcome o = tessera({"run", "m.toml", "--output", "M"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Mesh2d given = read_msh(
      msh,
      {.medium = [](tessera::Index group) { return group == 1 ? air() : Medium2d{.parameter = 1}; },
       .upwards = true});
  const Mesh2d start = start_mesh(triangles_of(given), Sensors2d{.y = {-1500, 1500}, .z = {0, 0}},
                                  1, tessera::tensor(std::vector<double>{0, std::log(100.0)}));
  EXPECT_TRUE(holds(o.err, fmt::format(" regions on {} cells", start.cells()))) << o.err;
}

TEST_F(Mt2d, AGroundWithAnUprightStepAndAirThatIsShutInAreRefused) {
  const auto said_of = [&](const std::function<bool(double, double)>& earth) {
    write("m.msh", gmsh_of(lines_y, lines_z, earth));
    const std::string said = refusal(case_of_gmsh, 4);
    EXPECT_TRUE(holds(said, "E0690")) << said;
    return said;
  };
  std::string said = said_of([](double at, double d) { return d > (at > 0 ? 200 : 0); });
  EXPECT_TRUE(holds(said, "the ground goes back or straight down at 0 m along the section"))
      << said;
  said = said_of(
      [](double at, double d) { return d > 0 && !(at > -1000 && at < 0 && d > 500 && d < 1000); });
  EXPECT_TRUE(holds(said, "is shut in")) << said;
}

// A body whose tip touches the ground below a station: the field there has no end, and a goal that
// steps of refinement do not meet is a warning that says where.
TEST_F(Mt2d, AGoalThatIsNotMetIsAWarningWithItsPlace) {
  std::string why_not;
  if (!tessera::inversion::outlines_available(&why_not)) GTEST_SKIP() << why_not;
  write("t.poly",
        "12 2 0 0\n1 -50000 -50000\n2 50000 -50000\n3 -50000 0\n4 50000 70\n5 -50000 50000\n"
        "6 50000 50000\n7 0 35\n8 3000 1500\n9 1000 1500\n10 -8000 4000\n11 -6000 9000\n"
        "12 -50000 0\n11 0\n1 1 2\n2 12 4\n3 5 6\n4 1 3\n5 3 5\n6 2 4\n7 4 6\n8 7 8\n9 8 9\n"
        "10 9 7\n11 10 11\n0\n3\n1 0 -1000 1\n2 0 9000 2\n3 1333.33 1011.67 3\n");
  const std::string text =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"0 m\", \"2 km\"]\nfrequencies.at = [\"1 Hz\"]\nsection = {file = "
      "\"t.poly\", resistivities = [\"inf\", \"100 ohm*m\", \"5 ohm*m\"]}\n";
  write("t.toml", text + "mesh.goal = \"5 %\"\n");
  const Outcome o = tessera({"run", "t.toml", "--output", "T"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "mesh.goal = 5 % was not reached within 25 steps of refinement"))
      << o.err;
  EXPECT_TRUE(holds(o.err, "the apparent resistivity of TM at y = 0 m and 1 Hz changed by"))
      << o.err;
  write("f.toml", text + "mesh = {goal = \"5 %\", most_nodes = 1000}\n");
  const Outcome few = tessera({"run", "f.toml", "--output", "FEW"});
  ASSERT_EQ(few.code, 0) << few.err;
  EXPECT_TRUE(holds(few.err, "was not reached within 1000 cells (mesh.most_nodes)")) << few.err;
}

}  // namespace
