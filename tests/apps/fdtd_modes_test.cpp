// SPDX-License-Identifier: Apache-2.0
// Modes that are launched and measured, against the power that passes and transmission lines.
#include "fdtd_case.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A silicon strip in oxide in two dimensions, and beside it another one that is out of the planes.
std::string strip() {
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["4 um", "5 um", "0 um"]
cell = "40 nm"
polarization = "Hz"
background = "oxide"
[run]
precision = "f64"
stop.decay_db = 60
[boundary.pml]
cells = 15
[[material]]
name = "oxide"
eps = 2.0736
[[material]]
name = "silicon"
eps = 12.1104
[[structure]]
shape = "box"
low = ["-inf", "-0.2 um", "-inf"]
high = ["inf", "0.2 um", "inf"]
material = "silicon"
[[structure]]
shape = "box"
low = ["-inf", "1.6 um", "-inf"]
high = ["inf", "1.84 um", "inf"]
material = "silicon"
[[source]]
kind = "mode"
position = ["-0.8 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "0 um"]
direction = [1, 0, 0]
amplitude = 2.0
waveform = {kind = "gaussian", frequency = "193.4 THz", bandwidth = "40 THz"}
[[monitor]]
kind = "mode"
name = "ahead"
position = ["0.8 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "0 um"]
frequencies = ["185 THz", "193.4 THz", "200 THz"]
relative_to = "power"
[[monitor]]
kind = "flux"
name = "power"
position = ["0.8 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "0 um"]
frequencies = ["185 THz", "193.4 THz", "200 THz"]
[[monitor]]
kind = "mode"
name = "behind"
position = ["-1.2 um", "0 um", "0 um"]
size = ["0 um", "2.4 um", "0 um"]
frequencies = ["185 THz", "193.4 THz", "200 THz"]
relative_to = "ahead"
)";
}

TEST_F(Fdtd, ALaunchedModeIsThePowerThatPasses) {
  write("case.toml", strip());
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  // The wall of the planes cuts the mode where it has fallen to 1e-4.
  for (const double x : column("RUN", "ahead", "forward_ratio")) EXPECT_NEAR(x, 1, 2e-3);
  for (const double x : column("RUN", "ahead", "backward_ratio")) EXPECT_LE(x, 1e-5);
  for (const double x : column("RUN", "behind", "backward_ratio")) EXPECT_LE(x, 1e-5);
  for (const double n : column("RUN", "ahead", "index_re")) {
    EXPECT_GT(n, 1.44);
    EXPECT_LT(n, 3.48);
  }

  // To the other side it is the same.
  const Outcome turned = run_case(
      "case.toml", "TURNED",
      {"source[0].direction=[-1, 0, 0]", "source[0].position=[\"0.8 um\", \"0 um\", \"0 um\"]",
       "monitor[0].position=[\"-0.8 um\", \"0 um\", \"0 um\"]", "monitor[0].reverse=true",
       "monitor[1].position=[\"-0.8 um\", \"0 um\", \"0 um\"]", "monitor[1].reverse=true",
       "monitor[2].position=[\"1.2 um\", \"0 um\", \"0 um\"]", "monitor[2].reverse=true"});
  ASSERT_EQ(turned.code, 0) << turned.err;
  for (const double x : column("TURNED", "ahead", "forward_ratio")) EXPECT_NEAR(x, 1, 2e-3);
  for (const double x : column("TURNED", "behind", "backward_ratio")) EXPECT_LE(x, 1e-5);
  const std::vector<double> a = column("RUN", "ahead", "forward_re"),
                            b = column("TURNED", "ahead", "forward_re"),
                            c = column("RUN", "ahead", "forward_im"),
                            d = column("TURNED", "ahead", "forward_im");
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_NEAR(std::hypot(a[k], c[k]), std::hypot(b[k], d[k]), 1e-3 * std::hypot(a[k], c[k]));
}

TEST_F(Fdtd, ModesThatCannotBeAreRefusedAtTheirKeys) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& text) {
    write("bad.toml", changed(strip(), what, by));
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << by;
    EXPECT_TRUE(holds(out.err, text)) << out.err;
  };
  refused("direction = [1, 0, 0]", "direction = [1, 1, 0]",
          "bad.toml:32:1: error E0628: a mode travels along an axis");
  refused("direction = [1, 0, 0]", "direction = [0, 0, 1]", "leads out of the axes");
  refused("direction = [1, 0, 0]", "direction = [0, 1, 0]",
          "a mode starts from a plane across its direction");
  refused("direction = [1, 0, 0]", "direction = [1, 0, 0]\nmode = 9", "does not travel at ");
  refused("position = [\"-0.8 um\", \"0 um\", \"0 um\"]",
          "position = [\"-1.8 um\", \"0 um\", \"0 um\"]", "lies in an absorbing layer");
  refused("waveform = {kind = \"gaussian\", frequency = \"193.4 THz\", bandwidth = \"40 THz\"}",
          "waveform = {kind = \"continuous\", frequency = \"193.4 THz\"}",
          "a mode needs a pulse with a band");
  refused("size = [\"0 um\", \"2.4 um\", \"0 um\"]\nfrequencies",
          "size = [\"1 um\", \"2.4 um\", \"0 um\"]\nfrequencies", "modes pass a plane");
  refused("relative_to = \"power\"", "relative_to = \"nothing\"", "flux, mode or beam monitor");
}

/// A guide of two conductors 1 um apart, and a monitor of its modes at `position` um.
std::string guide(const std::string& grid, const std::string& boundary, const std::string& position,
                  int modes = 1) {
  return R"(app = "electromagnetics.fdtd"
run.stop.steps = 20
grid = {cell = "50 nm", polarization = "Ez", )" +
         grid + "}\nboundary = {y = \"pec\", " + boundary + R"(}
[[source]]
kind = "plane"
component = "Ez"
position = ["0.2 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "mode"
name = "through"
position = [")" +
         position + R"( um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["200 THz"]
modes = )" +
         std::to_string(modes) + "\n";
}

TEST_F(Fdtd, ModesOfPlanesThatDoNotFitAreRefused) {
  const std::string domain = "size = [\"4 um\", \"1 um\", \"0 um\"]",
                    layers = "x = \"pml\", pml.cells = 10",
                    phase = "x = \"bloch\", bloch_phase = [\"150 deg\", \"0 deg\", \"0 deg\"]";
  const auto check = [&](const std::string& text) {
    write("case.toml", text);
    return tessera({"check", "case.toml"});
  };
  const auto refused = [&](const std::string& text, const std::string& says) {
    const Outcome o = check(text);
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_TRUE(holds(o.err, says)) << o.err;
  };
  EXPECT_EQ(check(guide(domain, layers, "0.5", 3)).code, 0);
  refused(guide(domain, layers, "0.5", 100), "error E0629: the plane has ");
  // Lengths are told in digits, however short they are.
  std::string lines;
  for (int i = -40; i <= 40; ++i) {
    lines += (lines.empty() ? "\"" : ", \"") + std::to_string(50 * i) + " nm\"";
    if (i == 10) lines += ", \"525 nm\"";
  }
  refused(guide("size = [\"0 um\", \"1 um\", \"0 um\"], x.lines = [" + lines + "]", layers, "0.5"),
          "are 5e-08 and 2.5e-08 m long");
  // On the seam of joined faces h of the other side would lack their phase.
  refused(guide(domain, phase, "-2"), "is the seam of faces that are joined with a phase");
  EXPECT_EQ(check(guide(domain, phase, "-1")).code, 0);
  EXPECT_EQ(check(guide(domain, "x = \"periodic\"", "-2")).code, 0);
}

/// |a|^2 is W s^2/m^2 there, as a flux is.
TEST_F(Fdtd, AmplitudesInOneDimensionAreOfAnArea) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "0 um", "0 um"], cell = "50 nm"}
run.stop.steps = 40
boundary = {x = "pml", pml.cells = 8}
[[source]]
kind = "point"
component = "Ey"
position = ["-0.4 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "mode"
name = "through"
position = ["0.2 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
)");
  const Outcome o = run_case("line.toml", "RUN");
  ASSERT_EQ(o.code, 0) << o.err;
  int found = 0;
  for (const auto& [name, array] : tessera::data::read_h5(here() / "RUN/results.h5"))
    if (name.ends_with("through/values/forward") || name.ends_with("through/values/backward")) {
      EXPECT_EQ(array.attributes.units, "sqrt(W)*s/m");
      ++found;
    }
  EXPECT_EQ(found, 2);
}

/// Plates with a medium of losses before one without: 6e-7 of the wave is lost, and |S| is 1 both
/// ways, up to what steps of 60 dB leave.
TEST_F(Fdtd, PortsOfGuidesWithAndWithoutLossesAreReciprocal) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["6 um", "1.2 um", "0 um"], cell = "0.1 um", polarization = "Ez"}
run = {precision = "f64", stop.decay_db = 60}
output = {pictures = false, vtk = false, scene = false}
boundary = {x = "pml", y = "pec"}
[[material]]
name = "lossy"
eps = 1
sigma = "1e-3 S/m"
[[structure]]
shape = "box"
low = ["-20 um", "-2 um", "-inf"]
high = ["0 um", "2 um", "inf"]
material = "lossy"
[[port]]
kind = "mode"
name = "A"
position = ["-1.5 um", "0 um", "0 um"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "B"
position = ["1.5 um", "0 um", "0 um"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["300 THz"]
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto part = [&](const char* name) { return column("RUN", "s_parameters", name).at(0); };
  const double on = std::hypot(part("S_B_A_re"), part("S_B_A_im")),
               back = std::hypot(part("S_A_B_re"), part("S_A_B_im"));
  EXPECT_NEAR(on, 1, 1e-4);
  EXPECT_NEAR(back, 1, 1e-4);
  EXPECT_NEAR(on, back, 1e-6);
}

}  // namespace
