// SPDX-License-Identifier: Apache-2.0
// Energy that fields store.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

class FdtdEnergy : public Fdtd {};

/// A pulse through a plasma without losses: what a stretch holds passes its end at the group
/// velocity c sqrt(1 - (fp/f)^2). 100 cells a wavelength.
TEST_F(FdtdEnergy, PassesAtTheGroupVelocity) {
  write("plasma.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["8.004 um", "0 um", "0 um"], cell = "12 nm", background = "plasma"}
run = {precision = "f64", stop.after_sources = "300 fs"}
boundary.pml.cells = 150
[[material]]
name = "plasma"
poles = [{kind = "drude", frequency = "150 THz", damping = "0 THz"}]
[[source]]
kind = "point"
component = "Ez"
position = ["-2 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "230 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "flux"
name = "through"
position = ["1.5 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["220 THz", "230 THz", "240 THz"]
[[monitor]]
kind = "energy"
name = "stored"
position = ["0.5 um", "0 um", "0 um"]
size = ["1 um", "0 um", "0 um"]
frequencies = ["220 THz", "230 THz", "240 THz"]
)");
  const Outcome o = tessera({"run", "plasma.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto f = column("RUN", "through", "frequency_Hz"), flux = column("RUN", "through", "flux"),
             energy = column("RUN", "stored", "energy");
  ASSERT_EQ(f.size(), 3u);
  for (std::size_t k = 0; k < f.size(); ++k) {
    const double velocity = 299792458.0 * std::sqrt(1 - std::pow(150e12 / f[k], 2));
    EXPECT_NEAR(energy[k] * velocity / (1e-6 * flux[k]), 1, 0.01) << f[k];
  }
}

TEST_F(FdtdEnergy, OfTwoHalvesIsThatOfTheWhole) {
  std::string text = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["2 um", "2 um", "0 um"], cell = "50 nm", polarization = "Hz", x.refine = [{from = "0 um", to = "0.3 um", cell = "20 nm"}]}
run = {precision = "f64", stop.steps = 1500}
boundary.pml.cells = 6
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "600 THz", damping = "20 THz"}]
[[structure]]
shape = "cylinder"
radius = "0.3 um"
height = "inf"
material = "metal"
[[source]]
kind = "point"
component = "Ey"
position = ["-0.5 um", "0.1 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
)";
  const auto box = [&](const std::string& name, const std::string& at, const std::string& size) {
    text += "[[monitor]]\nkind = \"energy\"\nname = \"" + name + "\"\nposition = " + at +
            "\nsize = " + size + "\nfrequencies = [\"200 THz\"]\n";
  };
  box("whole", "[\"0 um\", \"0 um\", \"0 um\"]", "[\"1 um\", \"0.8 um\", \"0 um\"]");
  box("left", "[\"-0.1975 um\", \"0 um\", \"0 um\"]",
      "[\"0.605 um\", \"0.8 um\", \"0 um\"]");  // to 0.105 um, within a cell
  box("right", "[\"0.3025 um\", \"0 um\", \"0 um\"]", "[\"0.395 um\", \"0.8 um\", \"0 um\"]");
  box("cell", "[\"-0.525 um\", \"0.125 um\", \"0 um\"]", "[\"0.05 um\", \"0.05 um\", \"0 um\"]");
  box("lower", "[\"-0.525 um\", \"0.11 um\", \"0 um\"]", "[\"0.05 um\", \"0.02 um\", \"0 um\"]");
  box("upper", "[\"-0.525 um\", \"0.135 um\", \"0 um\"]", "[\"0.05 um\", \"0.03 um\", \"0 um\"]");
  write("halves.toml", text);
  const Outcome o = tessera({"run", "halves.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* quantity : {"energy", "electric", "magnetic"}) {
    const auto of = [&](const char* name) { return column("RUN", name, quantity).at(0); };
    EXPECT_GT(of("whole"), 0);
    EXPECT_NEAR((of("left") + of("right")) / of("whole"), 1, 1e-12) << quantity;
    EXPECT_NEAR((of("lower") + of("upper")) / of("cell"), 1, 1e-12) << quantity;
    EXPECT_LT(of("cell"), of("whole")) << quantity;
  }
  const Outcome flat =
      tessera({"check", "halves.toml", "--set", "monitor[0].size=[\"1 um\", \"0 um\", \"0 um\"]"});
  EXPECT_EQ(flat.code, 5);
  EXPECT_TRUE(holds(flat.err, "E0629: the box of an energy has no extent")) << flat.err;
}

}  // namespace
