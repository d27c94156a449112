// SPDX-License-Identifier: Apache-2.0
// Maps of electromagnetics.inverse_scattering, the cells that they take, how they are compared, and
// what no map can be.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

class ScatteringMaps : public AppTest {
 protected:
  /// The last row of a run: iteration, misfit, gradient, PSNR, SSIM.
  std::vector<double> ends_as(const std::string& name, const std::string& text,
                              const std::vector<std::string>& settings = {}) {
    write(name + ".toml", text);
    std::vector<std::string> words{"run", name + ".toml", "--output", name};
    for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
    const Outcome o = tessera(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return csv_rows(read(name + "/metrics.csv")).back();
  }
  std::vector<double> map_of(const std::string& run, const std::string& name) {
    for (const auto& [path, array] : tessera::data::read_h5(here() / run / "results.h5"))
      if (path.ends_with(name)) return std::get<std::vector<double>>(array.data);
    ADD_FAILURE() << "no " << name;
    return {};
  }
};

/// A disc of permittivity 2 in vacuum, seen by one source at one receiver.
const char* const kSeenDisc = R"(app = "electromagnetics.inverse_scattering"
grid = {size = ["1 m", "1 m", "0 m"], centre = ["0.5 m", "0.5 m", "0 m"], cell = "2.5 cm", polarization = "Ez"}
run = {precision = "f64", stop.steps = 120}
boundary = {pml.cells = 8}
region = {low = ["0.3 m", "0.3 m", "0 m"], high = ["0.7 m", "0.7 m", "0 m"]}
receivers = {component = "Ez", positions = [["0.25 m", "0.5 m", "0 m"]]}
optimize = {iterations = 1}
output = {pictures = false, vtk = false}
[[source]]
kind = "point"
component = "Ez"
position = ["0.25 m", "0.25 m", "0 m"]
amplitude = 1e-4
waveform = {kind = "baseband", width = "0.5 ns"}
[[material]]
name = "disc"
eps = 2
[[truth]]
shape = "cylinder"
centre = ["0.45 m", "0.45 m", "0 m"]
radius = "8 cm"
height = "inf"
material = "disc"
)";

/// A conductor has no permittivity: the range of the truth, by which PSNR counts, stays 1.
TEST_F(ScatteringMaps, AKnownConductorIsNoPermittivityOfZero) {
  const std::string corner = R"([[structure]]
shape = "box"
low = ["0.9 m", "0.9 m", "-inf"]
high = ["0.95 m", "0.95 m", "inf"]
material = "pec"
)";
  const std::vector<double> bare = ends_as("bare", kSeenDisc),
                            beside = ends_as("pec", kSeenDisc + corner);
  EXPECT_NEAR(beside[1], bare[1], 1e-3 * bare[1]);
  EXPECT_NEAR(beside[3], bare[3], 0.01);
  EXPECT_NEAR(beside[4], bare[4], 1e-3);
  for (const char* map : {"model/permittivity", "model/truth"})
    EXPECT_GT(std::ranges::min(map_of("pec", map)), 0.98) << map;
}

/// Ez sees the permittivity along z alone, and the maps are of it.
TEST_F(ScatteringMaps, MapsAreOfTheAxisThatIsSeen) {
  const std::vector<double> plain = ends_as("plain", kSeenDisc),
                            along = ends_as("along", kSeenDisc, {"material[0].eps=[1, 1, 2]"});
  EXPECT_EQ(map_of("along", "model/truth"), map_of("plain", "model/truth"));
  // Their time steps may differ: that of the faster axes is the same here, vacuum's.
  EXPECT_NEAR(along[1], plain[1], 1e-6 * plain[1]);
  EXPECT_NEAR(along[3], plain[3], 1e-4);
  EXPECT_NEAR(along[4], plain[4], 1e-6);
  write("across.toml", kSeenDisc);
  const Outcome across = tessera({"check", "across.toml", "--set", "material[0].eps=[2, 2, 1]"});
  EXPECT_TRUE(holds(across.err, "E0650: the truth is of one permittivity everywhere"));
}

/// A permittivity of each cell is all that is sought: other media of the truth are doubted, along
/// the axes that the fields see.
TEST_F(ScatteringMaps, MediaThatNoPermittivityIsAreDoubted) {
  write("case.toml", kSeenDisc);
  const auto said = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> words{"check", "case.toml"};
    for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
    const Outcome o = tessera(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_FALSE(holds(said({}), "E0650"));
  for (const auto& [setting, why] : {
           std::pair{"material[0].sigma=\"0.05 S/m\"", "conducts"},
           {"material[0].sigma=[\"0 S/m\", \"0 S/m\", \"0.05 S/m\"]", "conducts"},
           {"material[0].mu=2", "has another permeability than grid.background"},
           {"material[0].sigma_m=\"1 ohm/m\"", "has magnetic losses"},
           {"material[0].chi3=\"1e-18 m^2/V^2\"", "is not linear"},
           {"material[0].poles=[{kind=\"debye\", frequency=\"1 GHz\", delta_eps=1}]", "disperses"},
       })
    EXPECT_TRUE(
        holds(said({setting}), std::string("case.toml:18:1: warning E0650: the medium 'disc' ") +
                                   why + ": nothing in the region can be that"))
        << said({setting});
  EXPECT_TRUE(holds(said({"region.start=3", "region.least=3"}),
                    "the medium 'disc' has a permittivity below region.least"));
  EXPECT_TRUE(holds(said({"truth[0].material=\"pec\""}), "the medium 'pec' is a conductor"));
  // What Ez and the H beside it do not see.
  for (const char* unseen : {"material[0].sigma=[\"0.05 S/m\", \"1 S/m\", \"0 S/m\"]",
                             "material[0].mu=[1, 1, 2]", "material[0].eps=[3, 1, 2]"})
    EXPECT_FALSE(holds(said({unseen}), "E0650")) << unseen;
  // Hz has both Ex and Ey.
  const std::vector<std::string> hz{"grid.polarization=\"Hz\"", "receivers.component=\"Hz\"",
                                    "source[0].component=\"Hz\""};
  const auto with = [&](const std::string& one) {
    std::vector<std::string> all = hz;
    all.push_back(one);
    return said(all);
  };
  EXPECT_FALSE(holds(with("material[0].eps=[2, 2, 1]"), "E0650"));
  EXPECT_TRUE(holds(with("material[0].eps=[2, 3, 1]"),
                    "the medium 'disc' has other permittivities along other axes"));
  EXPECT_TRUE(holds(said({hz[0], hz[1], hz[2],
                          "material=[{name=\"disc\", eps=2}, {name=\"soil\", eps=[1.5, 2, 1]}]",
                          "grid.background=\"soil\""}),
                    "E0650: the background has other permittivities along other axes"));
}

/// A region that nothing is said of begins as what lies around it.
TEST_F(ScatteringMaps, TheRegionBeginsAsTheBackground) {
  const std::string soil = "[[material]]\nname = \"soil\"\neps = [1, 1, 2.5]\n";
  const std::vector<std::string> none{"optimize.iterations=0", "grid.background=\"soil\""};
  ends_as("soil", kSeenDisc + soil, none);
  const std::vector<double> truth = map_of("soil", "model/truth");
  for (const double eps : map_of("soil", "model/permittivity")) EXPECT_EQ(eps, 2.5);
  EXPECT_EQ(std::ranges::max(truth), 2.5);
  ends_as("vacuum", kSeenDisc, {none[0]});
  for (const double eps : map_of("vacuum", "model/permittivity")) EXPECT_EQ(eps, 1);
  ends_as("least", kSeenDisc, {none[0], "region.least=1.5"});
  EXPECT_EQ(std::ranges::max(map_of("least", "model/permittivity")), 1.5);
  ends_as("given", kSeenDisc + soil, {none[0], none[1], "region.start=2"});
  EXPECT_EQ(std::ranges::min(map_of("given", "model/permittivity")), 2);
}

/// Cells count in what the region begins as: where the truth is taken out and its data are read
/// from a file, the grid stays.
TEST_F(ScatteringMaps, CellsCountInWhatTheRegionBeginsAs) {
  const std::string disc = kSeenDisc, cell = "cell = \"2.5 cm\"", none = "optimize.iterations=0";
  const auto without_truth = [](const std::string& text) {
    return text.substr(0, text.find("[[truth]]"));
  };
  const auto check = [&](const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> words{"check", name};
    for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
    const Outcome o = tessera(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return o;
  };
  const auto grid = [](const Outcome& o) {
    const std::size_t from = o.out.find("grid ");
    return from == std::string::npos ? o.out : o.out.substr(from, o.out.find('\n', from) - from);
  };
  std::string counted = disc;
  counted.replace(counted.find(cell), cell.size(),
                  "cells_per_wavelength = 20, frequency_max = \"1 GHz\"");
  const std::string start = "region.start=2";
  ends_as("counted", counted, {none, start});
  write("measured.toml", without_truth(counted));
  const Outcome with = check("counted.toml", {start}),
                without =
                    check("measured.toml", {start, "data.file=\"counted/tables/measured.csv\""});
  EXPECT_EQ(grid(without), grid(with));
  EXPECT_TRUE(holds(without.out, "cells in the wavelength of region.start at 1e+09 Hz"))
      << without.out;

  ends_as("coarse", disc, {none});
  write("bare.toml", without_truth(disc));
  const std::string file = "data.file=\"coarse/tables/measured.csv\"";
  EXPECT_FALSE(holds(check("bare.toml", {file}).err, "E0648"));
  EXPECT_TRUE(holds(check("bare.toml", {file, start}).err, "warning E0648"));
}

}  // namespace
