// SPDX-License-Identifier: Apache-2.0
// Absorbing layers in media whose permittivity poles make: laid out for the band, as in a medium
// of the same index without poles.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace tessera::testing;

namespace {

class FdtdLayers : public Fdtd {
 protected:
  /// What layers of silicon (index 3.48 at 193 THz) give back to its middle, beside the pulse that
  /// has passed there.
  double reflection(const std::string& layer, const std::string& background) {
    write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["8 um", "0 um", "0 um"], cell = "20 nm", background = ")" +
                           background + R"("}
run = {precision = "f64", stop.time = "280 fs"}
output = {vtk = false, pictures = false, scene = false}
boundary = {x = ")" + layer +
                           R"(", absorber.cells = 80}
[[material]]
name = "plain"
index = 3.48
[[source]]
kind = "point"
component = "Ey"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "193 THz", bandwidth = "60 THz"}
[[monitor]]
kind = "probe"
name = "p"
position = ["0 um", "0 um", "0 um"]
components = ["Ey"]
)");
    const Outcome o = run_case("line.toml", "RUN");
    EXPECT_EQ(o.code, 0) << o.err;
    const auto values = rows("RUN", "p");
    const auto less = [](const auto& a, const auto& b) { return std::abs(a[1]) < std::abs(b[1]); };
    const auto peak = std::max_element(values.begin(), values.end(), less);
    double back = 0;
    for (const auto& v : values)
      if (v[0] > (*peak)[0] + 45e-15) back = std::max(back, std::abs(v[1]));
    return 20 * std::log10(back / std::abs((*peak)[1]));
  }
};

TEST_F(FdtdLayers, APmlIsLaidOutForTheIndexInTheBand) {
  EXPECT_LT(reflection("pml", "Si"), reflection("pml", "plain") + 3);
}
TEST_F(FdtdLayers, AnAbsorberIsLaidOutForTheMediumInTheBand) {
  EXPECT_LT(reflection("absorber", "Si"), reflection("absorber", "plain") + 3);
}

}  // namespace
