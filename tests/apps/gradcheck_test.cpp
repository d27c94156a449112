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

TEST_F(Gradcheck, TheSoundingsOfNewHaveRightDerivatives) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  EXPECT_EQ(tessera({"gradcheck", "site/mt1d.toml"}).code, 0);
}

}  // namespace
