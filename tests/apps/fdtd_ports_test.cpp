// SPDX-License-Identifier: Apache-2.0
// Ports of a device and its S, against what a lossless and reciprocal device must have.
#include "fdtd_case.h"
#include "tessera/data/touchstone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A parallel-plate guide in two dimensions, closed by its walls, with a step in height: one mode
/// travels at both sides.
std::string unlike_guides() {
  return R"(app = "electromagnetics.fdtd"
[grid]
size = ["80 mm", "20 mm", "0 mm"]
cell = "1 mm"
polarization = "Ez"
[run]
precision = "f64"
stop.decay_db = 100
[boundary]
y = "pec"
pml.cells = 12
[[structure]]
shape = "box"
material = "pec"
low = ["0 mm", "6 mm", "-inf"]
high = ["inf", "inf", "inf"]
[[port]]
kind = "mode"
name = "wide"
position = ["-20.2 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
[[port]]
kind = "mode"
name = "narrow"
position = ["16 mm", "-2 mm", "0 mm"]
size = ["0 mm", "16 mm", "0 mm"]
direction = [-1, 0, 0]
[s_parameters]
frequencies = ["11 GHz", "12 GHz", "13 GHz"]
)";
}

std::complex<double> at(const tessera::data::Touchstone& s, std::size_t f, std::size_t i,
                        std::size_t j) {
  return s.at(f, i, j);
}

TEST_F(Fdtd, PortsOfAClosedDeviceGiveAUnitaryReciprocalMatrix) {
  write("case.toml", unlike_guides());
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out,
                    "port wide: the plane x = -0.02 m, the nearest line, 0.0002 m from "
                    "its position; index "))
      << check.out << check.err;
  EXPECT_TRUE(holds(check.out, "2 runs: driven are wide, narrow")) << check.out;
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto file = tessera::data::read_touchstone(here() / "RUN/s_parameters.s2p");
  const tessera::data::Touchstone& s = file.network;
  ASSERT_EQ(s.ports, 2u);
  ASSERT_EQ(s.frequency_hz, (std::vector<double>{11e9, 12e9, 13e9}));
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(std::abs(at(s, f, 1, 0) - at(s, f, 0, 1)), 0, 1e-5);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(std::norm(at(s, f, 0, j)) + std::norm(at(s, f, 1, j)), 1, 1e-4);
    EXPECT_GT(std::abs(at(s, f, 0, 0)), 0.05);  // there is something to be seen
    EXPECT_DOUBLE_EQ(column("RUN", "s_parameters", "S_narrow_wide_re")[f], at(s, f, 1, 0).real());
  }
}

TEST_F(Fdtd, OneDrivenPortGivesItsColumn) {
  write("case.toml", unlike_guides());
  ASSERT_EQ(run_case("case.toml", "ALL").code, 0);
  const Outcome run = run_case("case.toml", "ONE", {"run.excite=wide"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* element : {"S_wide_wide_re", "S_narrow_wide_im"}) {
    const std::vector<double> one = column("ONE", "s_parameters", element),
                              all = column("ALL", "s_parameters", element);
    for (std::size_t f = 0; f < 3; ++f) EXPECT_NEAR(one[f], all[f], 2e-3) << element;
  }
  EXPECT_FALSE(holds(table("ONE", "s_parameters"), "S_wide_narrow"));
  EXPECT_FALSE(std::filesystem::exists(here() / "ONE/s_parameters.s2p"));
}

}  // namespace
