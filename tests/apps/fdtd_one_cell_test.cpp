// SPDX-License-Identifier: Apache-2.0
// An axis of one cell: a period between joined faces, and nothing else.
#include "app_test.h"
#include "csv_columns.h"
#include "test_paths.h"

#include <cmath>

using namespace tessera::testing;

namespace {

class FdtdOneCell : public AppTest {
 protected:
  /// The gallery's case, `cells` wide.
  void run_case(const std::string& name, int cells, const std::vector<std::string>& settings) {
    const std::string width = std::to_string(5 * cells) + " nm";
    std::vector<std::string> arguments{
        "run", TESSERA_SOURCE_DIR "/apps/examples/electromagnetics/fresnel_oblique.toml",
        "--output", name};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    for (const char* key : {"grid", "source[0]", "monitor[0]", "monitor[1]", "monitor[2]"})
      arguments.insert(arguments.end(), {"--set", std::string(key) + ".size[1]=\"" + width + "\""});
    const Outcome o = tessera(arguments);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  std::vector<double> fluxes(const std::string& name) const {
    std::vector<double> all;
    for (const char* monitor : {"before", "behind", "reflected"})
      for (const double v : csv_column(read(name + "/tables/" + monitor + ".csv"), "flux"))
        all.push_back(v);
    return all;
  }
};

/// Fields that differ from cell to cell by a phase alone: one cell holds all that two do, and half
/// of the power. Of Ez the samples lie between lines, one of which is beyond the face.
TEST_F(FdtdOneCell, BetweenJoinedFacesHoldsWhatTwoDo) {
  const std::vector<std::vector<std::string>> cases{
      {},
      {"grid.polarization=\"Ez\"", "source[0].component=\"Ez\""},
      {"boundary.bloch_k[1]=\"7 rad/um\"", "grid.polarization=\"Ez\"", "source[0].component=\"Ez\"",
       "expect[0].tolerance=1e9"},
      {"boundary.y=\"periodic\"", "boundary.bloch_k=[\"0 rad/m\", \"0 rad/m\", \"0 rad/m\"]"}};
  int number = 0;
  for (const auto& settings : cases) {
    const std::string one = "one" + std::to_string(number), two = "two" + std::to_string(number);
    run_case(one, 1, settings);
    run_case(two, 2, settings);
    ++number;
    const std::vector<double> a = fluxes(one), b = fluxes(two);
    ASSERT_EQ(a.size(), 33U);
    ASSERT_EQ(b.size(), 33U);
    double largest = 0;
    for (const double v : b) largest = std::max(largest, std::abs(v));
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(2 * a[i], b[i], 1e-9 * largest) << "case " << number << ", entry " << i;
  }
}

TEST_F(FdtdOneCell, BetweenOtherFacesIsRefusedAtItsSize) {
  for (const char* face : {"pec", "pmc", "pml"}) {
    write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["1 um", "20 nm", "0 um"], cell = "20 nm"}
run.stop.steps = 10
boundary = {x = "periodic", y = ")" +
                           std::string(face) + R"("}
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
)");
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << face;
    EXPECT_TRUE(holds(o.err, "case.toml:2:") && holds(o.err, "E0643") && holds(o.err, "one cell"))
        << o.err;
  }
}

}  // namespace
