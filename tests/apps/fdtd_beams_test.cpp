// SPDX-License-Identifier: Apache-2.0
// Amplitudes of Gaussian beams that monitors measure, against what was sent and against power.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A beam in oxide that runs down at 15 degrees and is focused 2 um behind where it starts.
std::string beam_in_oxide() {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false}
[grid]
size = ["16 um", "5 um", "0 um"]
cell = "40 nm"
polarization = "Ez"
background = "oxide"
[run]
precision = "f64"
stop.decay_db = 60
[boundary.pml]
cells = 15
[[material]]
name = "oxide"
eps = 2.0736
[[source]]
kind = "beam"
position = ["0 um", "1.2 um", "0 um"]
size = ["16 um", "0 um", "0 um"]
direction = [0.258819, -0.965926, 0]
polarization = [0, 0, 1]
waist = "2.5 um"
focus = "2 um"
waveform = {kind = "gaussian", frequency = "193.4 THz", bandwidth = "20 THz"}
[[monitor]]
kind = "beam"
name = "taken"
position = ["0.428719 um", "-0.4 um", "0 um"]
size = ["13 um", "0 um", "0 um"]
direction = [0.258819, -0.965926, 0]
polarization = [0, 0, 2]
waist = "2.5 um"
focus = "0.343559 um"
frequencies = ["193.4 THz"]
relative_to = "power"
[[monitor]]
kind = "flux"
name = "power"
position = ["0.428719 um", "-0.4 um", "0 um"]
size = ["13 um", "0 um", "0 um"]
reverse = true
frequencies = ["193.4 THz"]
)";
}

class FdtdBeams : public Fdtd {
 protected:
  void run(const std::string& text) {
    write("case.toml", text);
    const Outcome out = run_case("case.toml", "RUN");
    ASSERT_EQ(out.code, 0) << out.err;
  }
  double ratio(const char* way) { return column("RUN", "taken", std::string(way) + "_ratio")[0]; }
};

// What is missing is what the formula of the beam is off by, (wavelength/(pi waist))^2 / 2 = 0.9 %
// of the field at most, and the grid's own index.
TEST_F(FdtdBeams, TakeTheBeamThatWasSent) {
  run(beam_in_oxide());
  EXPECT_NEAR(ratio("forward"), 1, 0.01);
  EXPECT_LT(ratio("backward"), 1e-3);
  // The same beam, told from the other side.
  run(changed(beam_in_oxide(),
              "direction = [0.258819, -0.965926, 0]\npolarization = [0, 0, 2]\nwaist = \"2.5 "
              "um\"\nfocus = \"0.343559 um\"",
              "direction = [-0.258819, 0.965926, 0]\npolarization = [0, 0, 2]\nwaist = \"2.5 "
              "um\"\nfocus = \"-0.343559 um\""));
  EXPECT_NEAR(ratio("backward"), 1, 0.01);
  EXPECT_LT(ratio("forward"), 1e-3);
  // One of twice the waist takes 2 w1 w2 / (w1^2 + w2^2) of the power where both have their focus.
  run(changed(beam_in_oxide(), "polarization = [0, 0, 2]\nwaist = \"2.5 um\"",
              "polarization = [0, 0, 2]\nwaist = \"5 um\""));
  EXPECT_NEAR(ratio("forward"), 0.8, 0.01);
}

TEST_F(FdtdBeams, InHzAndAtAMirrorAreTheWholes) {
  std::string text = beam_in_oxide();
  for (const char* tilted : {"[0.258819, -0.965926, 0]", "[0.258819, -0.965926, 0]"})
    text = changed(text, tilted, "[0, -1, 0]");
  text = changed(text, "[\"0.428719 um\", \"-0.4 um\"", "[\"0 um\", \"-0.4 um\"");
  text = changed(text, "[\"0.428719 um\", \"-0.4 um\"", "[\"0 um\", \"-0.4 um\"");
  text = changed(text, "polarization = \"Ez\"", "polarization = \"Hz\"");
  text = changed(text, "polarization = [0, 0, 1]", "polarization = [1, 0, 0]");
  text = changed(text, "polarization = [0, 0, 2]", "polarization = [1, 0, 0]");
  run(text);
  const double whole = column("RUN", "taken", "forward_re")[0], part = ratio("forward");
  EXPECT_NEAR(part, 1, 0.01);
  std::string half = changed(text, "size = [\"16 um\", \"5 um\", \"0 um\"]\n",
                             "size = [\"8 um\", \"5 um\", \"0 um\"]\ncentre = [\"4 um\", \"0 um\", "
                             "\"0 um\"]\n");
  half = changed(half, "size = [\"16 um\", \"0 um\", \"0 um\"]\n", "");
  for (int monitor = 0; monitor < 2; ++monitor)
    half = changed(half, "position = [\"0 um\", \"-0.4 um\", \"0 um\"]\nsize = [\"13 um\"",
                   "position = [\"3.25 um\", \"-0.4 um\", \"0 um\"]\nsize = [\"6.5 um\"");
  half = changed(half, "[boundary.pml]",
                 "[boundary]\nx_low = \"pec\"\nsymmetry = [\"x_low\"]\n[boundary.pml]");
  write("bad.toml", half);
  const Outcome off = tessera({"check", "bad.toml"});
  EXPECT_EQ(off.code, 5);
  EXPECT_TRUE(holds(off.err, "its axis does not lie in it")) << off.err;
  half =
      changed(half, "waist = \"2.5 um\"\nfocus = \"0.343559 um\"",
              "waist = \"2.5 um\"\nfocus = \"0.343559 um\"\nthrough = [\"0 um\", \"-0.4 um\", \"0 "
              "um\"]");
  run(half);
  EXPECT_NEAR(ratio("forward"), part, 1e-3);
  EXPECT_NEAR(column("RUN", "taken", "forward_re")[0], whole, 2e-3 * std::abs(whole));
}

TEST_F(FdtdBeams, ThatCannotBeAreRefusedAtTheirKeys) {
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& text) {
    write("bad.toml", changed(beam_in_oxide(), what, by));
    const Outcome out = tessera({"check", "bad.toml"});
    EXPECT_EQ(out.code, 5) << by << out.err;
    EXPECT_TRUE(holds(out.err, text)) << out.err;
  };
  const std::string own = "direction = [0.258819, -0.965926, 0]\npolarization = [0, 0, 2]";
  refused(own, "direction = [1, 0.01, 0]\npolarization = [0, 0, 2]", "across the plane");
  refused(own, "direction = [0, 1, 1]\npolarization = [0, 0, 2]", "does not resolve");
  refused(own, "direction = [0, 0, 0]\npolarization = [0, 0, 2]", "vector of finite length");
  refused(own, "direction = [0, -1, 0]\npolarization = [0, 3, 0]", "has no field");
  refused("size = [\"13 um\", \"0 um\", \"0 um\"]\ndirection",
          "size = [\"13 um\", \"1 um\", \"0 um\"]\ndirection", "beams pass a plane");
  refused("size = [\"13 um\", \"0 um\", \"0 um\"]\ndirection",
          "size = [\"1 um\", \"0 um\", \"0 um\"]\ndirection", "of the beam's power passes");
  refused(
      "[[source]]",
      "[[structure]]\nshape = \"box\"\nlow = [\"0 um\", \"-1 um\", \"-inf\"]\nhigh = [\"1 um\", "
      "\"0 um\", \"inf\"]\nmaterial = \"vacuum\"\n[[source]]",
      "a beam passes one medium");
  refused("eps = 2.0736", "eps = 2.0736\nsigma = \"10 S/m\"", "without loss");
}

}  // namespace
