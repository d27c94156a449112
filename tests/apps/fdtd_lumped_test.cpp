// SPDX-License-Identifier: Apache-2.0
// Lumped ports and loads between two plates, against the formulas of a line and of circuits; ports
// and loads that cannot be.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

using C = std::complex<double>;

/// A line of 40 cells of 5 mm between magnetic walls, open at both ends, a port at each; two
/// dimensions, so that ohms are those of a width of 1 m.
std::string plates() {
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["200 mm", "20 mm", "0 mm"]
cell = "5 mm"
polarization = "Hz"
[run]
precision = "f64"
stop.decay_db = 120
[boundary]
x = "pmc"
y = "pec"
[[port]]
kind = "lumped"
name = "left"
position = ["-100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "5 ohm"
[[port]]
kind = "lumped"
name = "right"
position = ["100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "12 ohm"
capacitance = "30 pF"
circuit = "parallel"
[s_parameters]
frequencies = ["0.2 GHz", "0.5 GHz", "0.9 GHz"]
)";
}

C element(const std::vector<double>& re, const std::vector<double>& im, std::size_t f) {
  return {re[f], im[f]};
}

TEST_F(Fdtd, LumpedPortsSeeTheLineBetweenThem) {
  write("case.toml", plates());
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out, "port left: 4 edges along y over 0.02 m, 5 ohm"))
      << check.out << check.err;
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto s = [&](const std::string& name, std::size_t f) {
    return element(column("RUN", "s_parameters", "S_" + name + "_re"),
                   column("RUN", "s_parameters", "S_" + name + "_im"), f);
  };
  const double z0 = 376.730313412 * 20e-3, c0 = 299792458.0, frequency[] = {0.2e9, 0.5e9, 0.9e9};
  for (std::size_t f = 0; f < 3; ++f) {
    const C s11 = s("left_left", f), s21 = s("right_left", f), s12 = s("left_right", f),
            s22 = s("right_right", f);
    // A line without loss, whatever is behind its ports: as far as fields have fallen.
    EXPECT_NEAR(std::abs(s21 - s12), 0, 1e-6);
    EXPECT_NEAR(std::norm(s11) + std::norm(s21), 1, 1e-6);
    EXPECT_NEAR(std::norm(s22) + std::norm(s12), 1, 1e-6);
    // The chain matrix of a line of 200 mm between 5 and 12 ohm.
    const double beta_l = 2 * std::numbers::pi * frequency[f] / c0 * 0.2;
    const C a = std::cos(beta_l), b = C(0, z0 * std::sin(beta_l)), c = C(0, std::sin(beta_l) / z0),
            z1 = 5, z2 = 12, below = a * z2 + b + c * z1 * z2 + a * z1;
    EXPECT_LT(std::abs(s11 - (a * z2 + b - c * z1 * z2 - a * z1) / below), 2e-3) << frequency[f];
    EXPECT_LT(std::abs(s21 - 2.0 * std::sqrt(z1 * z2) / below), 2e-3) << frequency[f];
  }
}

TEST_F(Fdtd, ALoadEndsALineWithItsOwnReflection) {
  // The port at the right becomes a load: what the left one sees is a line that ends in it.
  std::string text = plates();
  const auto second = text.find("[[port]]", text.find("[[port]]") + 1), s = text.find("[s_param");
  text = text.substr(0, second) + R"([[load]]
name = "end"
position = ["100 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
axis = "y"
resistance = "10 ohm"
inductance = "4 nH"
)" + text.substr(s);
  write("case.toml", text);
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<double> re = column("RUN", "s_parameters", "S_left_left_re"),
                            im = column("RUN", "s_parameters", "S_left_left_im");
  const double z0 = 376.730313412 * 20e-3, c0 = 299792458.0, frequency[] = {0.2e9, 0.5e9, 0.9e9};
  for (std::size_t f = 0; f < 3; ++f) {
    const double w = 2 * std::numbers::pi * frequency[f];
    const C t(0, std::tan(w / c0 * 0.2)), z(10, w * 4e-9), seen = z0 * (z + z0 * t) / (z0 + z * t);
    EXPECT_LT(std::abs(C(re[f], im[f]) - (seen - 5.0) / (seen + 5.0)), 2e-3) << frequency[f];
  }
}

// Cut between the edges in series of a port.
TEST_F(Fdtd, LumpedPortsHaveTheSameBitsOnRanks) {
  write("case.toml", plates());
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  const Outcome cut =
      tessera({"run", "case.toml", "--output", "CUT", "--force", "--ranks", "threads:2"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_EQ(table("RUN", "s_parameters"), table("CUT", "s_parameters"));
}

TEST_F(Fdtd, LumpedPortsThatCannotBeAreRefused) {
  struct {
    const char *what, *by, *number, *key, *words;
  } const wrong[] = {
      {"size = [\"0 mm\", \"20 mm\"", "size = [\"0 mm\", \"0 mm\"", "E0630", "port[0].size",
       "has no length along y"},
      {"size = [\"0 mm\", \"20 mm\"", "size = [\"0 mm\", \"10 mm\"", "E0630", "port[0].position",
       "on no conductor"},
      {"resistance = \"5 ohm\"", "inductance = \"1 nH\"", "E0667", "port[0].resistance",
       "behind a resistance"},
      {"direction = [0, 1, 0]", "direction = [1, 1, 0]", "E0667", "port[0].direction",
       "along an axis"},
      {"direction = [0, 1, 0]", "direction = [0, 0, 1]", "E0630", "port[0].direction",
       "not computed"},
      {"position = [\"-100 mm\"", "position = [\"-150 mm\"", "E0630", "port[0].position",
       "outside of the grid"},
      {"x = \"pmc\"", "x = \"pec\"", "E0630", "port[0].position", "no open edge"},
      {"resistance = \"5 ohm\"", "resistance = \"5 ohm\"\nplane = [\"-50 mm\", \"0 mm\", \"0 mm\"]",
       "E0667", "port[0].plane", "outer ones"},
      {"resistance = \"5 ohm\"", "resistance = \"5 ohm\"\nplane = [\"-50 mm\", \"5 mm\", \"0 mm\"]",
       "E0667", "port[0].plane", "a line runs along an axis"}};
  for (const auto& w : wrong) {
    write("wrong.toml", changed(plates(), w.what, w.by));
    const Outcome check = tessera({"check", "wrong.toml"});
    EXPECT_EQ(check.code, 5) << w.by;
    const std::string key = w.key;
    for (const std::string& said :
         {std::string(w.number), key.substr(key.rfind('.') + 1) + " = ", std::string(w.words)})
      EXPECT_TRUE(holds(check.err, said)) << w.by << ": " << check.err;
  }
}

/// Sums of h around a conductor have no phase of joined faces.
TEST_F(Fdtd, LumpedPortsOnASeamWithAPhaseAreRefused) {
  const std::string joined = "x = \"bloch\"\nbloch_phase = [\"90 deg\", \"0 deg\", \"0 deg\"]";
  const std::string text = changed(plates(), "[\"100 mm\"", "[\"50 mm\"");
  write("case.toml", changed(text, "x = \"pmc\"", joined));
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(
      holds(o.err, "error E0667: lies on the seam of faces that are joined along x with a phase"))
      << o.err;
  write("case.toml", changed(changed(text, "[\"-100 mm\"", "[\"-50 mm\""), "x = \"pmc\"", joined));
  const Outcome inside = tessera({"check", "case.toml"});
  EXPECT_FALSE(holds(inside.err, "seam")) << inside.err;
}

/// A mode and a lumped port have one power, that of the scheme: between them S of a line without
/// loss is reciprocal and unitary at 30 and 20 cells a wavelength, where cos(w dt/2) is 0.9975 and
/// 0.9944.
TEST_F(Fdtd, LumpedPortsAndModesHaveOnePower) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["300 mm", "20 mm", "0 mm"], cell = "5 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 120}
boundary = {x_high = "pmc", y = "pec"}
[[port]]
kind = "mode"
name = "guide"
position = ["-50 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "lumped"
name = "end"
position = ["150 mm", "0 mm", "0 mm"]
size = ["0 mm", "20 mm", "0 mm"]
direction = [0, 1, 0]
resistance = "15 ohm"
[s_parameters]
frequencies = ["2 GHz", "3 GHz"]
touchstone = "none"
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto s = [&](const std::string& name, std::size_t f) {
    return element(column("RUN", "s_parameters", "S_" + name + "_re"),
                   column("RUN", "s_parameters", "S_" + name + "_im"), f);
  };
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_NEAR(std::abs(s("guide_end", f) / s("end_guide", f)), 1, 1e-5);
    EXPECT_NEAR(std::norm(s("end_end", f)) + std::norm(s("guide_end", f)), 1, 1e-5);
    EXPECT_NEAR(std::norm(s("guide_guide", f)) + std::norm(s("end_guide", f)), 1, 1e-5);
  }
}

/// Without losses what a lumped port takes is what goes out through a box around it, which far
/// fields have, too: at 30 and 15 cells a wavelength.
TEST_F(Fdtd, WhatALumpedPortTakesIsRadiated) {
  write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["40 mm", "40 mm", "0 mm"], cell = "1 mm", polarization = "Ez"}
run = {precision = "f64", stop = {decay_db = 90, time = "6 ns"}}
[[port]]
kind = "lumped"
name = "feed"
position = ["0 mm", "0 mm", "0 mm"]
size = ["0 mm", "0 mm", "1 m"]
direction = [0, 0, 1]
resistance = "100 ohm"
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 mm", "0 mm", "0 mm"]
size = ["12 mm", "12 mm", "0 mm"]
frequencies = ["10 GHz", "20 GHz"]
phi = ["0 deg"]
[[monitor]]
kind = "flux"
name = "box"
position = ["0 mm", "0 mm", "0 mm"]
size = ["12 mm", "12 mm", "0 mm"]
frequencies = ["10 GHz", "20 GHz"]
[s_parameters]
frequencies = ["10 GHz", "20 GHz"]
per_watt = "accepted"
touchstone = "none"
)");
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  for (const double x : column("RUN", "far", "radiation_efficiency")) EXPECT_NEAR(x, 1, 1e-4);
  for (const double x : column("RUN", "box", "flux")) EXPECT_NEAR(x, 1, 1e-4);
}

}  // namespace
