// SPDX-License-Identifier: Apache-2.0
// Thin wires of a case, on lines of the grid and between them.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A dipole of 0.26 m between two points about the origin.
std::string wire_case(const std::string& points, const std::string& more = "") {
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["0.8 m", "0.8 m", "0.825 m"]
cell = "25 mm"
[run]
stop.decay_db = 60
[boundary]
pml.cells = 8
[output]
pictures = false
vtk = false
[[wire]]
name = "arm"
points = )" +
         points + R"(
radius = "2.5 mm"
[[port]]
kind = "lumped"
name = "feed"
position = ["0 m", "0 m", "0 m"]
size = ["0 m", "0 m", "25 mm"]
direction = [0, 0, 1]
resistance = "75 ohm"
[s_parameters]
frequencies = ["450 MHz", "500 MHz"]
)" + more;
}
const std::string kUprightWire = R"([["0 m", "0 m", "-0.13 m"], ["0 m", "0 m", "0.13 m"]])",
                  kTurnedWire =
                      R"([["-0.065 m", "0 m", "-0.11258 m"], ["0.065 m", "0 m", "0.11258 m"]])";

TEST_F(Fdtd, WiresGoOnAndOverRanksWithTheSameBits) {
  for (const std::string& points : {kUprightWire, kTurnedWire}) {
    write("case.toml", wire_case(points));
    ASSERT_EQ(run_case("case.toml", "WHOLE", {"run.stop.steps=400"}).code, 0);
    ASSERT_EQ(run_case("case.toml", "PART", {"run.stop.steps=173"}).code, 0);
    const Outcome on = tessera({"resume", "PART", "--set", "run.stop.steps=400"});
    ASSERT_EQ(on.code, 0) << on.err;
    EXPECT_EQ(table("WHOLE", "feed"), table("PART", "feed"));
    const Outcome cut = tessera({"run", "case.toml", "--output", "CUT", "--force", "--ranks",
                                 "threads:2", "--set", "run.stop.steps=400"});
    ASSERT_EQ(cut.code, 0) << cut.err;
    EXPECT_EQ(table("WHOLE", "feed"), table("CUT", "feed"));
    EXPECT_EQ(holds(cut.out + cut.err, "go by one process"), points == kTurnedWire);
  }
}

TEST_F(Fdtd, ATurnedWireIsTheSameAntenna) {
  std::vector<double> re, im;
  for (const std::string& points : {kUprightWire, kTurnedWire}) {
    write("case.toml", wire_case(points));
    const Outcome run = run_case("case.toml", "RUN");
    ASSERT_EQ(run.code, 0) << run.err;
    re.push_back(column("RUN", "feed", "input_impedance_re")[1]);
    im.push_back(column("RUN", "feed", "input_impedance_im")[1]);
  }
  EXPECT_NEAR(re[1], re[0], 0.03 * re[0]);
  EXPECT_NEAR(im[1], im[0], 0.08 * re[0]);  // the turned one is nearer to nec2c
}

/// Its cells are even, and stay so: a sheet between two of their lines is shared.
TEST_F(Fdtd, ASheetMovesNoLineOfAWireBetweenLines) {
  const std::string sheet = R"([[sheet]]
normal = "z"
position = ["0 m", "0.15 m", "45 mm"]
size = ["60 mm", "60 mm", "0 m"]
resistance = "100 ohm"
)";
  write("case.toml", wire_case(kTurnedWire, sheet));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.err, "between lines of the grid needs even cells: it is shared"))
      << check.err;
}

/// In series with a port at its place.
TEST_F(Fdtd, LoadsLieOnWiresBetweenLines) {
  write("plain.toml", wire_case(kTurnedWire));
  write("loaded.toml", wire_case(kTurnedWire, R"([[load]]
position = ["0 m", "0 m", "0 m"]
size = ["0 m", "0 m", "25 mm"]
axis = "z"
resistance = "30 ohm"
inductance = "10 nH"
capacitance = "4 pF"
)"));
  for (const char* name : {"plain", "loaded"})
    ASSERT_EQ(run_case(std::string(name) + ".toml", name,
                       {"run.stop.decay_db=80", "run.precision=\"f64\""})
                  .code,
              0);
  const double w = 2 * std::acos(-1.0) * 500e6, x = w * 10e-9 - 1 / (w * 4e-12);
  EXPECT_NEAR(column("loaded", "feed", "input_impedance_re")[1] -
                  column("plain", "feed", "input_impedance_re")[1],
              30, 0.05);
  EXPECT_NEAR(column("loaded", "feed", "input_impedance_im")[1] -
                  column("plain", "feed", "input_impedance_im")[1],
              x, 0.003 * std::abs(x));
}

TEST_F(Fdtd, WiresStandBesideSheets) {
  const std::string film = R"([[sheet]]
name = "film"
normal = "x"
position = ["0.125 m", "0 m", "0 m"]
size = ["0 m", "0.2 m", "0.2 m"]
resistance = )";
  for (const std::string& points : {kUprightWire, kTurnedWire}) {
    write("alone.toml", wire_case(points));
    write("beside.toml", wire_case(points, film + "\"1e9 ohm\"\n"));
    ASSERT_EQ(run_case("alone.toml", "ALONE", {"run.stop.steps=300"}).code, 0);
    const Outcome beside = run_case("beside.toml", "BESIDE", {"run.stop.steps=300"});
    ASSERT_EQ(beside.code, 0) << beside.err;
    EXPECT_NEAR(column("ALONE", "feed", "input_impedance_re")[0],
                column("BESIDE", "feed", "input_impedance_re")[0], 1e-3);
    const Outcome check = tessera({"check", "beside.toml"});
    EXPECT_TRUE(holds(check.out + check.err, "1 wire, 1 sheet, 1 port, 0 monitors"))
        << check.out << check.err;
  }
}

TEST_F(Fdtd, AutomaticLinesPassThroughWires) {
  const std::string automatic =
      changed(changed(wire_case(R"([["3 mm", "7 mm", "-0.13 m"], ["3 mm", "7 mm", "0.13 m"]])"),
                      "cell = \"25 mm\"", "auto = {cells_per_wavelength = 20}"),
              "position = [\"0 m\", \"0 m\", \"0 m\"]", "position = [\"3 mm\", \"7 mm\", \"0 m\"]");
  write("case.toml", automatic);
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_FALSE(holds(check.out + check.err, "between lines")) << check.out;
  write("sized.toml", changed(automatic, "size = [\"0.8 m\", \"0.8 m\", \"0.825 m\"]\n", ""));
  EXPECT_EQ(tessera({"check", "sized.toml"}).code, 0);
  const Outcome thick = tessera({"check", "case.toml", "--set", "wire[0].radius=\"12 mm\""});
  EXPECT_EQ(thick.code, 5);
  EXPECT_TRUE(holds(thick.err, "is the most")) << thick.err;
}

TEST_F(Fdtd, WiresBetweenLinesAreRefusedAtTheirKeys) {
  const auto refused = [&](const std::string& text, const std::string& key,
                           const std::string& words) {
    write("bad.toml", text);
    const Outcome check = tessera({"check", "bad.toml"});
    EXPECT_EQ(check.code, 5) << words;
    EXPECT_TRUE(holds(check.out + check.err, words)) << check.out << check.err;
    EXPECT_TRUE(holds(check.out + check.err, key)) << check.out << check.err;
  };
  refused(changed(wire_case(kTurnedWire), "radius = \"2.5 mm\"", "radius = \"9 mm\""),
          "radius = ", "0.36 of a cell");
  refused(wire_case(kTurnedWire,
                    "[[structure]]\nshape = \"box\"\nmaterial = \"pec\"\nlow = [\"0.05 m\", "
                    "\"-0.05 m\", \"-0.05 m\"]\nhigh = [\"0.1 m\", \"0.05 m\", \"0.2 m\"]\n"),
          "points = ", "there is a conductor");
  refused(changed(changed(wire_case(kTurnedWire), "direction = [0, 0, 1]", "direction = [0, 1, 0]"),
                  "size = [\"0 m\", \"0 m\", \"25 mm\"]", "size = [\"0 m\", \"25 mm\", \"0 m\"]"),
          "direction = ", "runs across y");
  refused(wire_case(kTurnedWire,
                    "[[load]]\nposition = [\"0 m\", \"0 m\", \"0 m\"]\nsize = [\"0 m\", \"0 "
                    "m\", \"25 mm\"]\naxis = \"z\"\nresistance = \"5 ohm\"\ninductance = \"1 "
                    "nH\"\ncircuit = \"parallel\"\n"),
          "circuit = ", "elements are in series");
  refused(changed(changed(wire_case(kTurnedWire), "resistance = \"75 ohm\"", "resistance = \"r\""),
                  "[s_parameters]\n", "[s_parameters]\nderivatives = [\"r\"]\n") +
              "[parameters]\nr = \"75 ohm\"\n",
          "derivatives = ", "has no derivatives");
  refused(wire_case(R"([["-0.15 m", "0 m", "-0.26 m"], ["0.15 m", "0 m", "0.26 m"]])"),
          "points = ", "absorbing layer");
}

/// What a wire between lines carries goes by the medium around it: that of the reference.
TEST_F(Fdtd, TheReferenceOfACaseHasItsOwnWires) {
  const std::string head = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["0.6 m", "0.6 m", "0.6 m"], cell = "20 mm"}
run.stop.time = "15 ns"
boundary.pml.cells = 8
[[wire]]
name = "arm"
points = [["-0.04 m", "0 m", "-0.07 m"], ["0.04 m", "0 m", "0.07 m"]]
radius = "2 mm"
[[source]]
kind = "point"
component = "Ez"
position = ["0.04 m", "0 m", "0 m"]
waveform = {kind = "gaussian", frequency_min = "600 MHz", frequency_max = "1.2 GHz"}
)",
                    flux = R"([[monitor]]
kind = "flux"
name = "power"
position = ["0 m", "0 m", "0 m"]
size = ["0.26 m", "0.26 m", "0.26 m"]
frequencies = ["700 MHz", "900 MHz"]
)",
                    block = R"([[material]]
name = "foam"
eps = 3
[[structure]]
name = "block"
shape = "box"
material = "foam"
low = ["-0.1 m", "-0.1 m", "-0.12 m"]
high = ["0.1 m", "0.1 m", "0.12 m"]
)";
  write("case.toml", head + flux + "relative_to = \"power.reference\"\n" + block +
                         "[reference]\nwithout = [\"block\"]\n");
  write("open.toml", head + flux);
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  ASSERT_EQ(run_case("open.toml", "OPEN").code, 0);
  const std::vector<double> own = column("OPEN", "power", "flux"),
                            reference = column("RUN", "power.reference", "flux");
  ASSERT_EQ(own.size(), 2U);
  for (std::size_t f = 0; f < 2; ++f) EXPECT_NEAR(reference[f], own[f], 1e-5 * own[f]);
}

/// A second wire beside the dipole.
std::string director(const std::string& points) {
  return "[[wire]]\nname = \"director\"\npoints = " + points + "\nradius = \"2.5 mm\"\n";
}

/// 0.1 mm*3*1000/3 is 100 mm up to rounding.
TEST_F(Fdtd, RoundingLeavesWiresOnTheirLines) {
  const std::string text =
      wire_case(kUprightWire,
                director(R"([["0 m", "0.1 mm*3*1000/3", "-0.1 m"], ["0 m", "100 mm", "0.1 m"]])"));
  for (const char* cells : {"cell = \"25 mm\"", "auto = {cells_per_wavelength = 20}"}) {
    write("case.toml", changed(text, "cell = \"25 mm\"", cells));
    const Outcome check = tessera({"check", "case.toml"});
    EXPECT_EQ(check.code, 0) << check.err;
    EXPECT_FALSE(holds(check.out + check.err, "between lines")) << cells << check.out << check.err;
  }
}

/// However little it moves, of what moves beside it.
TEST_F(Fdtd, AWireThatMovesAcrossItselfHasNoDerivatives) {
  const auto checked = [&](const std::string& x) {
    write("case.toml",
          changed(wire_case(R"([["0 m", "0 m", "-0.13 m*scale"], ["0 m", "0 m", "0.13 m*scale"]])",
                            director("[[\"" + x + "\", \"0 m\", \"-0.1 m\"], [\"" + x +
                                     "\", \"0 m\", \"0.1 m\"]]") +
                                "[parameters]\nscale = 1.0\n"),
                  "[s_parameters]\n", "[s_parameters]\nderivatives = [\"scale\"]\n"));
    return tessera({"check", "case.toml"});
  };
  for (const char* x : {"0.1 m*scale", "0.099 m + 1 mm*scale"}) {
    const Outcome moved = checked(x);
    EXPECT_EQ(moved.code, 5) << moved.out;
    EXPECT_TRUE(holds(moved.err, "E0642") &&
                holds(moved.err, "moves wire[1] across its lines of the grid"))
        << moved.err;
  }
  const Outcome held = checked("0.1 m");
  EXPECT_EQ(held.code, 0) << held.err;
}

TEST_F(Fdtd, GradcheckRefusesWiresBetweenLines) {
  write("case.toml", wire_case(kTurnedWire));
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.out << o.err;
  EXPECT_TRUE(holds(o.err, "E0675") && holds(o.err, "points = ") &&
              holds(o.err, "has no derivatives"))
      << o.err;
}

}  // namespace
