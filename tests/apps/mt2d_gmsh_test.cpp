// SPDX-License-Identifier: Apache-2.0
// inversion.mt2d with sections that are meshes of Gmsh: coarse ones are refined, those that nothing
// can be computed of are refused before a run.
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

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

}  // namespace
