// SPDX-License-Identifier: Apache-2.0
// Boxes of far fields beside walls, bodies and joined faces, and what they are measured against.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace tessera::testing;

namespace {

/// A line current over a face, and a box around it that does not stand on it.
const std::string kLine = R"(app = "electromagnetics.fdtd"
[grid]
centre = ["0 um", "1 um", "0 um"]
size = ["2.4 um", "2 um", "0 um"]
cell = "40 nm"
polarization = "Ez"
[run]
stop.after_sources = "40 fs"
[boundary]
pml.cells = 8
[[source]]
kind = "point"
name = "p"
component = "Ez"
position = ["0 um", "1 um", "0 um"]
waveform = {kind = "gaussian", frequency = "0.65 um", bandwidth = "200 THz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 um", "1 um", "0 um"]
size = ["1 um", "0.6 um", "0 um"]
frequencies = ["0.65 um"]
)";

class FdtdBoxes : public Fdtd {
 protected:
  /// What `check` says, behind its exit status.
  std::string says(const std::string& text, const std::vector<std::string>& settings) {
    write("case.toml", text);
    std::vector<std::string> arguments{"check", "case.toml"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    return std::to_string(o.code) + o.out + o.err;
  }
};

TEST_F(FdtdBoxes, WallsAndBodiesBesideThemAreTold) {
  const std::string wall = "boundary.y_low=\"pec\"";
  EXPECT_FALSE(holds(says(kLine, {}), "warning"));
  const std::string off = says(kLine, {wall});
  EXPECT_TRUE(holds(off, "warning E0662: the wall y_low lies outside of its box")) << off;
  EXPECT_EQ(off[0], '0');
  // On the wall, with its plane named, as a symmetry, and of a plane instead of a box.
  for (const std::vector<std::string>& clear :
       {std::vector<std::string>{wall, "monitor[0].position=[\"0 um\", \"0.7 um\", \"0 um\"]",
                                 "monitor[0].size=[\"1 um\", \"1.4 um\", \"0 um\"]"},
        {wall, "monitor[0].mirrors=[{axis=\"y\", position=\"0 um\"}]"},
        {wall, "boundary.symmetry=[\"y_low\"]"},
        {wall, "monitor[0].position=[\"0 um\", \"1.3 um\", \"0 um\"]",
         "monitor[0].size=[\"1 um\", \"0 um\", \"0 um\"]"}})
    EXPECT_FALSE(holds(says(kLine, clear), "E0662")) << says(kLine, clear);

  const auto ground = [&](const std::string& top, const std::string& mirrors) {
    return says(kLine + mirrors + "[[structure]]\nshape = \"box\"\nlow = [\"-inf\", \"-inf\", " +
                    "\"-inf\"]\nhigh = [\"inf\", \"" + top + "\", \"inf\"]\nmaterial = \"pec\"\n",
                {});
  };
  EXPECT_TRUE(holds(ground("0.6 um", ""), "warning E0662: 'pec' lies outside of its box"));
  EXPECT_FALSE(
      holds(ground("0.6 um", "mirrors = [{axis = \"y\", position = \"0.6 um\"}]\n"), "E0662"));
  EXPECT_FALSE(holds(ground("0.8 um", ""), "E0662"));  // cut, which is another word
  EXPECT_TRUE(holds(ground("0.8 um", ""), "E0661"));
}

/// Wires send waves back, too.
TEST_F(FdtdBoxes, WiresBesideThemAreTold) {
  const auto beside = [&](const std::string& what) {
    return says(R"(app = "electromagnetics.fdtd"
grid = {size = ["0.6 m", "0.6 m", "0.6 m"], cell = "20 mm"}
run.stop.time = "15 ns"
boundary.pml.cells = 8
[[source]]
kind = "point"
component = "Ez"
position = ["0 m", "0 m", "0 m"]
waveform = {kind = "gaussian", frequency_min = "600 MHz", frequency_max = "1.2 GHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0 m"]
size = ["0.12 m", "0.12 m", "0.12 m"]
frequencies = ["0.9 GHz"]
)" + what,
                {});
  };
  const auto wire = [](const std::string& x) {
    return "[[wire]]\nname = \"arm\"\npoints = [[\"" + x + "\", \"0 m\", \"-0.04 m\"], [\"" + x +
           "\", \"0 m\", \"0.04 m\"]]\nradius = \"2 mm\"\n";
  };
  const std::string out = beside(wire("0.1 m"));
  EXPECT_EQ(out[0], '0') << out;
  EXPECT_TRUE(holds(out, "warning E0662: 'arm' lies outside of its box")) << out;
  for (const std::string& clear : {beside(""), beside(wire("0.04 m"))})
    EXPECT_TRUE(clear[0] == '0' && !holds(clear, "E0662")) << clear;
}

TEST_F(FdtdBoxes, WhatJoinedFacesRepeatHasNoFarField) {
  const std::string joined = "boundary.x=\"periodic\"";
  const std::string within = says(kLine, {joined}),
                    over =
                        says(kLine, {joined, "monitor[0].size=[\"2.4 um\", \"0.6 um\", \"0 um\"]"});
  EXPECT_FALSE(holds(within, "E0661")) << within;
  EXPECT_TRUE(holds(over, "warning E0661: its surface spans the period along x")) << over;
  const std::string power =
      kLine + "[[monitor]]\nkind = \"ldos\"\nname = \"l\"\nfrequencies = [\"0.65 um\"]\n";
  EXPECT_FALSE(holds(says(power, {}), "E0666"));
  EXPECT_TRUE(holds(says(power, {joined}), "warning E0666: the faces across x are joined"));
}

TEST_F(FdtdBoxes, NothingIsMeasuredAgainstASourceOfNoAmplitude) {
  const std::string power =
      kLine + "[[monitor]]\nkind = \"ldos\"\nname = \"l\"\nfrequencies = [\"0.65 um\"]\n";
  const std::string out = says(power, {"source[0].amplitude=0"});
  EXPECT_EQ(out[0], '5') << out;
  EXPECT_TRUE(holds(out, "E0629") && holds(out, "a point source of amplitude 0")) << out;
}

TEST_F(FdtdBoxes, SourcesAreWeighedByTheirAmplitudes) {
  const std::string weak =
      "[[source]]\nkind = \"point\"\nname = \"weak\"\ncomponent = \"Ez\"\n"
      "position = [\"0 um\", \"1 um\", \"0 um\"]\nwaveform = {kind = "
      "\"gaussian\", frequency = \"230 THz\", bandwidth = \"60 THz\"}\n";
  const auto told = [&](const std::string& amplitude) {
    return holds(says(kLine + weak,
                      {"source[1].amplitude=" + amplitude, "monitor[0].frequencies=[\"230 THz\"]"}),
                 "warning E0665");
  };
  EXPECT_FALSE(told("1"));
  EXPECT_FALSE(told("-1"));
  EXPECT_TRUE(told("1e-6"));
}

TEST_F(FdtdBoxes, ACrossSectionHoldsItsWaveAndHasNoWalls) {
  std::string text = kLine;
  text.replace(
      text.find("kind = \"point\""), text.find("waveform") - text.find("kind = \"point\""),
      "kind = \"plane_wave\"\ndirection = [1, 0, 0]\npolarization = [0, 0, 1]\n"
      "position = [\"0 um\", \"0.6 um\", \"0 um\"]\nsize = [\"1 um\", \"1.2 um\", \"0 um\"]\n");
  text.replace(text.find("far_field"), 9, "rcs");
  const auto at = [&](const std::string& low) {
    return std::vector<std::string>{"boundary.y_low=\"pmc\"",
                                    "monitor[0].position=[\"0 um\", \"" + low + " um\", \"0 um\"]",
                                    "monitor[0].size=[\"1.4 um\", \"1.4 um\", \"0 um\"]"};
  };
  std::vector<std::string> off = at("1.1"), on = at("0.7");
  const std::string wall = says(text, off);
  EXPECT_EQ(wall[0], '5') << wall;
  EXPECT_TRUE(holds(wall, "error E0629: the box, or that of its wave, stands on the wall y_low"))
      << wall;
  for (auto* settings : {&off, &on}) settings->emplace_back("boundary.symmetry=[\"y_low\"]");
  const std::string within = says(text, off), whole = says(text, on);
  EXPECT_EQ(within[0], '0') << within;
  EXPECT_TRUE(holds(within, "warning E0663: its face across y")) << within;
  EXPECT_EQ(whole[0], '0') << whole;
  EXPECT_FALSE(holds(whole, "E0663")) << whole;
}

TEST_F(FdtdBoxes, ABeamThatIsCutOffInASeamIsTold) {
  std::string text = kLine.substr(0, kLine.find("[[monitor]]"));
  text.replace(text.find("kind = \"point\""), text.find("waveform") - text.find("kind = \"point\""),
               "kind = \"beam\"\nposition = [\"-0.7 um\", \"1 um\", \"0 um\"]\n"
               "direction = [1, 0, 0]\npolarization = [0, 0, 1]\nwaist = \"0.8 um\"\n");
  const std::string joined = "boundary.y=\"periodic\"";
  EXPECT_FALSE(holds(says(text, {}), "joined"));
  const std::string cut = says(text, {joined});
  EXPECT_EQ(cut[0], '0') << cut;
  EXPECT_TRUE(holds(cut, "warning E0661: the faces across y are joined, and the beam")) << cut;
  EXPECT_FALSE(holds(says(text, {joined, "source[0].waist=\"0.4 um\""}), "joined"));
}

TEST_F(FdtdBoxes, BeamsAndLudwigsPartsAreOfThreeDimensions) {
  for (const auto& [key, value] : {std::pair("beam", "true"), {"co_polar", "\"0 deg\""}}) {
    write("case.toml", std::string(R"(app = "electromagnetics.fdtd"
grid = {size = ["0.4 m", "0.4 m", "0 m"], cell = "4 mm", polarization = "Ez"}
run.stop.steps = 10
[[source]]
kind = "point"
position = ["0 m", "0 m", "0 m"]
component = "Ez"
waveform = {kind = "gaussian", frequency = "3 GHz", bandwidth = "2 GHz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 m", "0 m", "0 m"]
size = ["0.1 m", "0.1 m", "0 m"]
frequencies = ["3 GHz"]
)") + key + " = " + value + "\n");
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << key;
    EXPECT_TRUE(holds(o.err, "E0629") && holds(o.err, "three dimensions")) << o.err;
  }
}

/// A line current in vacuum at 10 cells a wavelength, in a box off it: 1 in all directions. Cells
/// whose waves run at their exact speed have their own permittivity.
TEST_F(Fdtd, WavesAtTheirExactSpeedGoAsFarAsTheyAreStepped) {
  for (const std::string field : {"Ez", "Hz"}) {
    write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["5 um", "5 um", "0 um"], cell = "0.1 um", exact_speed_at = "300 THz", polarization = ")" +
                           field + R"("}
[run]
precision = "f64"
stop.after_sources = "60 fs"
[boundary]
pml.cells = 12
[[source]]
kind = "point"
component = ")" + field +
                           R"("
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "120 THz"}
[[monitor]]
kind = "far_field"
name = "far"
position = ["0.13 um", "0 um", "0 um"]
size = ["1.7 um", "1.2 um", "0 um"]
frequencies = ["300 THz"]
angle_points = [1, 36]
[output]
pictures = false
scene = false
)");
    const Outcome o = run_case("line.toml", field);
    ASSERT_EQ(o.code, 0) << o.err;
    double sum = 0;
    for (int k = 0; k < 36; ++k) {
      const double d = column(field, "far", "directivity_" + std::to_string(k)).at(0);
      // As without exact_speed_at, which leaves 8e-4 and in the mean 1.2e-4.
      EXPECT_NEAR(d, 1, 1.5e-3) << field << " " << k;
      sum += d;
    }
    EXPECT_NEAR(sum / 36, 1, 2e-4) << field;
  }
}

}  // namespace
