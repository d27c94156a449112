// SPDX-License-Identifier: Apache-2.0
// What a body of lossy metal absorbs, against Mie's series: cells that its surface cuts must not
// absorb for it.
#include "app_test.h"
#include "csv_columns.h"

#include <cmath>
#include <numbers>

using namespace tessera::testing;

namespace {

class FdtdMetal : public AppTest {
 protected:
  /// A quarter of a sphere of 60 nm, eps 5 with a Drude and a Lorentz term, in a plane wave; 125
  /// cells in a um.
  static std::string sphere(const std::string& averaging) {
    return R"(app = "electromagnetics.fdtd"
grid = {centre = ["0 nm", "160 nm", "160 nm"], size = ["640 nm", "320 nm", "320 nm"], cell = "8 nm", averaging = ")" +
           averaging + R"("}
run.stop = {decay_db = 60, time = "200 fs"}
boundary = {y_low = "pmc", z_low = "pec", symmetry = ["y_low", "z_low"], pml.cells = 12}
output = {pictures = false, scene = false}
[[material]]
name = "metal"
eps = 5
poles = [{kind = "drude", frequency = "2158.5057 THz", damping = "17.98755 THz"}, {kind = "lorentz", frequency = "659.54341 THz", damping = "149.89623 THz", delta_eps = 1.0}]
[[structure]]
shape = "sphere"
name = "ball"
radius = "60 nm"
material = "metal"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
position = ["0 nm", "64 nm", "64 nm"]
size = ["256 nm", "128 nm", "128 nm"]
waveform = {kind = "gaussian", frequency_min = "210 THz", frequency_max = "780 THz"}
[[monitor]]
kind = "flux"
name = "absorbed"
position = ["0 nm", "48 nm", "48 nm"]
size = ["192 nm", "96 nm", "96 nm"]
frequencies = ["299.792458 THz"]
[[monitor]]
kind = "flux"
name = "scattered"
position = ["0 nm", "80 nm", "80 nm"]
size = ["320 nm", "160 nm", "160 nm"]
frequencies = ["299.792458 THz"]
[[monitor]]
kind = "rcs"
name = "echo"
position = ["0 nm", "80 nm", "80 nm"]
size = ["320 nm", "160 nm", "160 nm"]
frequencies = ["299.792458 THz"]
theta = ["90 deg"]
phi = ["180 deg"]
)";
  }
};

/// At a vacuum wavelength of 1 um Q_abs = 0.018986 and Q_sca = 0.073776. Averaged cells absorb ten
/// times as much as the sphere.
TEST_F(FdtdMetal, ASphereAbsorbsAsBySeriesWhereCellsAreNotAveraged) {
  write("ball.toml", sphere("none"));
  const Outcome o = tessera({"run", "ball.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  const double area = std::numbers::pi * 60e-9 * 60e-9;
  const double scattered = csv_column(read("RUN/tables/echo.csv"), "total").at(0) / area;
  const double absorbed = -csv_column(read("RUN/tables/absorbed.csv"), "flux").at(0) /
                          csv_column(read("RUN/tables/scattered.csv"), "flux").at(0) * scattered;
  EXPECT_NEAR(absorbed, 0.018986, 0.15 * 0.018986);
  EXPECT_NEAR(scattered, 0.073776, 0.15 * 0.073776);
}

TEST_F(FdtdMetal, AveragedCellsOfAMetalAreDoubted) {
  const auto doubted = [&](const std::string& text) {
    write("ball.toml", text);
    const Outcome o = tessera({"check", "ball.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return holds(o.err + o.out, "0658");
  };
  EXPECT_TRUE(doubted(sphere("kottke")));
  EXPECT_FALSE(doubted(sphere("none")));
  std::string box = sphere("kottke");
  box.replace(box.find("shape = \"sphere\""), 16, "shape = \"box\"");
  box.replace(box.find("radius = \"60 nm\""), 16, "size = [\"96 nm\", \"96 nm\", \"96 nm\"]");
  EXPECT_FALSE(doubted(box));
  // By what an rcs tells of absorption alone, and not by fields.
  const std::string flux[] = {"kind = \"flux\"\nname = \"absorbed\"",
                              "kind = \"flux\"\nname = \"scattered\""};
  std::string echo = sphere("kottke");
  for (const std::string& f : flux) echo.replace(echo.find(f), 13, "kind = \"dft\" ");
  EXPECT_TRUE(doubted(echo));
  echo.erase(echo.find("[[monitor]]\nkind = \"rcs\""));
  EXPECT_FALSE(doubted(echo));
}

}  // namespace
