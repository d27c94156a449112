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

TEST_F(Gradcheck, TheSoundingsOfNewHaveRightDerivatives) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  EXPECT_EQ(tessera({"gradcheck", "site/mt1d.toml"}).code, 0);
}

}  // namespace
