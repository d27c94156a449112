// SPDX-License-Identifier: Apache-2.0
#include "app_test.h"

using namespace tessera::testing;

namespace {

class Gradcheck : public AppTest {};

/// The forces of the argon of `new`, a crystal, are zero whatever sigma and epsilon are: rounding
/// is no wrong derivative.
TEST_F(Gradcheck, ResultsThatAreZeroBySymmetryHaveTheSizeOfTheirChanges) {
  ASSERT_EQ(tessera({"new", "molecular.dynamics", "argon"}).code, 0);
  const Outcome o = tessera({"gradcheck", "argon/argon.toml"});
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_NE(o.out.find("the derivatives are right"), std::string::npos) << o.out;
}

/// Forces that jump at a cut-off have no derivative there: those of Coulomb, and in vacuum, too.
TEST_F(Gradcheck, ForcesThatJumpAreNotChecked) {
  const auto told = [&](const std::string& text) {
    write("case.toml",
          "app = \"molecular.dynamics\"\nnsteps = 0\nvdw_modifier = "
          "\"force-switch\"\nrvdw = \"0.5 nm\"\nrvdw_switch = \"0.4 nm\"\nbuild = "
          "{kind = \"water\", molecules = 40}\n" +
              text);
    return tessera({"gradcheck", "case.toml"}).out;
  };
  const char* const jumps = "not checked: forces: with this coulombtype";
  const std::string field = "coulombtype = \"reaction-field\"\nrcoulomb = \"0.5 nm\"\n";
  EXPECT_EQ(told(field).find(jumps), std::string::npos) << "a conductor's ends at the cut-off";
  EXPECT_NE(told(field + "epsilon_rf = 78\n").find(jumps), std::string::npos);
  const std::string cut = "coulombtype = \"cut-off\"\nrcoulomb = \"0.5 nm\"\nbox = \"none\"\n";
  EXPECT_NE(told(cut).find(jumps), std::string::npos);
  EXPECT_EQ(told(cut + "coulomb_modifier = \"force-shift\"\n").find(jumps), std::string::npos);
}

/// A parameter by its name: through its expressions, one of them not linear, to both sources.
TEST_F(Gradcheck, ParametersOfAmplitudesAreCheckedByTheirNames) {
  write("two.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["1.2 um", "1 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run.stop.steps = 60
boundary = {x = "pec", y = "pec"}
parameters = {a = 1.5, b = "a^2/2 + 0.1", w = "200 nm"}
material = [{name = "glass", eps = 2.25}]
structure = [{shape = "box", size = ["w", "w", "inf"], material = "glass"}]
source = [
  {kind = "point", component = "Ez", position = ["-0.3 um", "0 um", "0 um"], amplitude = "a", waveform = {kind = "gaussian", frequency_min = "200 THz", frequency_max = "600 THz"}},
  {kind = "point", component = "Ez", position = ["0.3 um", "0.1 um", "0 um"], amplitude = "-b", waveform = {kind = "gaussian", frequency_min = "200 THz", frequency_max = "500 THz"}}]
monitor = [{kind = "probe", name = "p", position = ["0 um", "0.2 um", "0 um"], components = ["Ez"]}]
)");
  const Outcome o = tessera({"gradcheck", "two.toml"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "parameter a = 1.5, which makes amplitudes of sources")) << o.out;
  EXPECT_TRUE(holds(o.out, "not checked: parameter w, which moves structure[0].size")) << o.out;
  const std::size_t row = o.out.find("parameter a  ");
  ASSERT_NE(row, std::string::npos) << o.out;
  EXPECT_TRUE(holds(o.out.substr(row, o.out.find('\n', row) - row), "ok")) << o.out;
}

TEST_F(Gradcheck, TheSoundingsOfNewHaveRightDerivatives) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  EXPECT_EQ(tessera({"gradcheck", "site/mt1d.toml"}).code, 0);
}

}  // namespace
