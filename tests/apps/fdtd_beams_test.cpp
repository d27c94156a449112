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
  // Those of sources.
  refused("eps = 2.0736", "eps = 2.0736\nchi3 = \"1e-20 m^2/V^2\"", "nonlinearity");
  refused("size = [\"16 um\", \"0 um\", \"0 um\"]\n", "size = [\"16 um\", \"1 um\", \"0 um\"]\n",
          "a beam starts from a plane");
}

/// A beam takes the medium in which it starts, not that of the background.
TEST_F(FdtdBeams, StartInTheMediumAtTheirPlane) {
  const std::string all = R"([[structure]]
shape = "box"
low = ["-inf", "-inf", "-inf"]
high = ["inf", "inf", "inf"]
material = "oxide"
)";
  const std::string body = changed(beam_in_oxide(), "background = \"oxide\"\n", "") + all;
  run(body);
  EXPECT_NEAR(ratio("forward"), 1, 0.01);
  EXPECT_LT(ratio("backward"), 1e-3);
  const auto told = [&](const std::string& text) {
    write("case.toml", text);
    return tessera({"check", "case.toml"});
  };
  EXPECT_FALSE(holds(told(body).err, "E0661"));
  const Outcome cut =
      told(changed(changed(body, "high = [\"inf\", \"inf\"", "high = [\"inf\", \"1.4 um\""),
                   "low = [\"-inf\", \"-inf\"", "low = [\"1 um\", \"1 um\""));
  EXPECT_TRUE(holds(cut.err, "E0661")) << cut.err;
  EXPECT_EQ(told(changed(body, "eps = 2.0736", "eps = [2, 2, 3]")).code, 5);
}

/// A mirror beside a beam has to make it its own image.
TEST_F(FdtdBeams, AtMirrorsHaveTheirSymmetry) {
  const std::string beam = R"(app = "electromagnetics.fdtd"
grid = {size = ["6 um", "4 um", "0 um"], centre = ["0 um", "2 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {stop.time = "150 fs"}
boundary = {y_low = "pmc", symmetry = ["y_low"]}
[[source]]
kind = "beam"
position = ["-2 um", "0 um", "0 um"]
direction = [1, 0, 0]
polarization = [0, 0, 1]
waist = "1 um"
waveform = {frequency = "300 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "flux"
name = "f"
position = ["-1 um", "2 um", "0 um"]
size = ["0 um", "4 um", "0 um"]
frequencies = ["300 THz"]
)";
  const auto says = [&](const std::vector<std::string>& with) {
    write("case.toml", beam);
    std::vector<std::string> arguments{"check", "case.toml"};
    for (const std::string& s : with) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    return std::to_string(o.code) + o.err;
  };
  EXPECT_EQ(says({})[0], '0') << says({});
  const std::string electric = "boundary.y_low=\"pec\"", wall = "boundary.symmetry=[]";
  EXPECT_TRUE(holds(says({electric}), "its E is turned round")) << says({electric});
  EXPECT_TRUE(holds(says({electric, wall}), "its E is turned round")) << says({electric, wall});
  const auto at = [](const char* y) {
    return std::string("source[0].position=[\"-2 um\", \"") + y + "\", \"0 um\"]";
  };
  EXPECT_TRUE(holds(says({at("0.5 um")}), "its axis does not lie in it"));
  EXPECT_TRUE(holds(says({"source[0].direction=[1, 0.1, 0]"}), "its axis does not lie in it"));
  const std::string clear = says({at("2.5 um"), electric});
  EXPECT_EQ(clear[0], '0') << clear;
  EXPECT_FALSE(holds(clear, "E0661")) << clear;
  // A tail of 0.04 of the amplitude there is told, one of 0.24 refused.
  const std::string tail = says({at("1.8 um"), electric, wall}),
                    more = says({at("1.2 um"), electric, wall});
  EXPECT_EQ(tail[0], '0') << tail;
  EXPECT_TRUE(holds(tail, "warning E0661") && holds(tail, "2.2 times the beam's width")) << tail;
  EXPECT_EQ(more[0], '5') << more;
  EXPECT_TRUE(holds(more, "error E0628")) << more;
}

}  // namespace
