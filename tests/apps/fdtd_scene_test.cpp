// SPDX-License-Identifier: Apache-2.0
//
// The picture of a scene of many cells: pieces that have all of it, the same on ranks.
#include "fdtd_case.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/media_library.h"
#include "tessera/electromagnetics/medium.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

using namespace tessera::testing;

namespace {

TEST_F(Fdtd, ScenesOfManyCellsAreWrittenInPieces) {
  if (!tessera::data::vtk_xml_available()) GTEST_SKIP() << "needs VTK";
  write("wide.toml", R"(app = "electromagnetics.fdtd"
output.pictures = false
grid = {size = ["15 um", "15 um", "0 um"], cell = "10 nm", polarization = "Ez"}
run.stop.steps = 1
boundary.pml.cells = 4
[[material]]
name = "glass"
index = 1.5
[[structure]]
shape = "cylinder"
radius = "5 um"
height = "inf"
material = "glass"
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["1 um", "0 um", "0 um"]
)");
  for (const std::string run : {"whole", "of3"}) {
    std::vector<std::string> arguments{"run", "wide.toml", "--output", run};
    if (run == "of3") arguments.insert(arguments.end(), {"--ranks", "threads:3"});
    const Outcome o = tessera(arguments);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  const std::string all = read("whole/vtk/scene.pvd");
  for (const std::string name : {"scene_0000.vtr", "scene_0001.vtr"}) {
    EXPECT_NE(all.find("file=\"" + name + "\""), std::string::npos) << all;
    EXPECT_NE(read("whole/vtk/" + name).find("WholeExtent=\"0 1500 0 750 0 0\""),
              std::string::npos);
    EXPECT_EQ(read("of3/vtk/" + name), read("whole/vtk/" + name));
  }
  EXPECT_EQ(read("of3/vtk/scene.pvd"), all);
  EXPECT_EQ(all.find("scene_0002"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(here() / "whole/vtk/scene.vtr"));
}

TEST_F(Fdtd, ScenesOfThreeDimensionsHaveThreeCuts) {
  write("solid.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, scene_at = ["0.52 um", "-0.31 um", "0.22 um"]}
grid = {size = ["3 um", "2 um", "1.6 um"], cell = "100 nm"}
run.stop.steps = 1
boundary.pml.cells = 3
[[material]]
name = "glass"
index = 1.5
[[structure]]
shape = "sphere"
radius = "0.5 um"
material = "glass"
[[source]]
kind = "point"
component = "Ez"
position = ["-0.8 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["0.8 um", "0 um", "0 um"]
)");
  const auto titles = [&](const std::vector<std::string>& settings) {
    EXPECT_EQ(run_case("solid.toml", "RUN", settings).code, 0);
    const std::string svg = read("RUN/plots/scene.svg");
    std::string out;
    for (const char* axis : {"z = ", "y = ", "x = "})
      if (const auto at = svg.find(axis); at != std::string::npos)
        out += svg.substr(at, svg.find('<', at) - at) + "; ";
    return out;
  };
  EXPECT_EQ(titles({}), "z = 0.25 µm; y = -0.35 µm; x = 0.55 µm; ");  // middles of cells
  EXPECT_EQ(titles({"grid.size=[\"3 um\", \"2 um\", \"0 um\"]", "structure=[]"}), "");
}

/// What is looked at before a run are media as waves in the band see them: here about 200 THz.
TEST_F(Fdtd, ScenesShowMediaInTheBand) {
  write("media.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "1 um", "0 um"], cell = "100 nm", polarization = "Ez"}
run.stop.steps = 1
boundary = {x = "pec", y = "pec"}
[[material]]
name = "even"
eps = 3
[[structure]]
shape = "box"
centre = ["-0.75 um", "0 um", "0 um"]
size = ["0.5 um", "inf", "inf"]
material = "SiO2"
[[structure]]
shape = "box"
centre = ["0.25 um", "0 um", "0 um"]
size = ["0.5 um", "inf", "inf"]
material = "Au"
[[structure]]
shape = "box"
centre = ["0.75 um", "0 um", "0 um"]
size = ["0.5 um", "inf", "inf"]
material = "even"
[[source]]
kind = "point"
component = "Ez"
position = ["-0.3 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "50 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["-0.2 um", "0 um", "0 um"]
)");
  namespace em = tessera::electromagnetics;
  const em::Medium glass = em::find_medium("SiO2"), gold = em::find_medium("Au");
  const std::complex<double> eps = em::permittivity(gold, 0, 200e12), n = std::sqrt(eps);
  const double of_glass = em::permittivity(glass, 0, 200e12).real();
  EXPECT_NEAR(of_glass, 1.4446 * 1.4446, 1e-3);  // Malitson: n at 1.5 um
  EXPECT_LT(eps.real(), -50);

  const Outcome told = tessera({"check", "media.toml"});
  ASSERT_EQ(told.code, 0) << told.err;
  for (const std::string& line :
       {fmt::format(
            "medium SiO2: eps {:.4g} (n {:.4g}) at 200 THz, 1 at infinite frequency, 3 poles",
            of_glass, std::sqrt(of_glass)),
        fmt::format("medium Au: eps {:.4g} (n {:.4g}, k {:.4g}) at 200 THz, {:.4g} at infinite "
                    "frequency",
                    eps.real(), n.real(), std::abs(n.imag()), gold.eps[0]),
        std::string("medium even: eps 3, 0 poles")})
    EXPECT_NE(told.out.find(line), std::string::npos) << line << "\n" << told.out;

  ASSERT_EQ(run_case("media.toml", "RUN").code, 0);
  const std::string svg = read("RUN/plots/scene.svg");
  EXPECT_NE(svg.find(fmt::format("relative permittivity at 200 THz (to {:.3g})", eps.real())),
            std::string::npos);
}

TEST_F(Fdtd, InOneDimensionAPointIsThePlane) {
  const auto said = [&](const std::string& kind) {
    write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "20 nm"}
run.stop.steps = 1
[[source]]
component = "Ez"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "200 THz"}
)" + kind);
    return tessera({"check", "line.toml"});
  };
  for (const std::string kind : {"plane", "line"}) {
    const Outcome o = said("kind = \"" + kind + "\"\nsize = [\"0 um\", \"0 um\", \"0 um\"]\n");
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_TRUE(holds(o.err, "error E0628: a " + kind)) << o.err;
    EXPECT_TRUE(holds(o.err, "take kind = \"point\"")) << o.err;
  }
  EXPECT_EQ(said("kind = \"point\"\n").code, 0);
}

/// A row of 1000 rods and one more, a thousand times: 1001 each, and the row itself.
TEST_F(Fdtd, RepeatsOfRepeatsCountInTheirLimit) {
  write("rows.toml", fdtd_case() + R"([[structure]]
name = "rod"
shape = "cylinder"
radius = "1 nm"
height = "inf"
repeat = {count = [1000, 1, 1], step = ["2.5 nm", "0 nm", "0 nm"]}
[[structure]]
name = "lone"
shape = "cylinder"
centre = ["0 nm", "-1 um", "0 nm"]
radius = "1 nm"
height = "inf"
[[structure]]
shape = "union"
parts = ["rod", "lone"]
repeat = {count = [1, 1000, 1], step = ["0 nm", "2.5 nm", "0 nm"]}
material = "SiO2"
)");
  const Outcome rows = tessera({"check", "rows.toml"});
  EXPECT_EQ(rows.code, 5) << rows.err;
  EXPECT_TRUE(holds(rows.err, "E0626: repeats make 1002000 bodies together")) << rows.err;
}

}  // namespace
