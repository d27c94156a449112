// SPDX-License-Identifier: Apache-2.0
#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom;

TEST(HeavyHydrogens, MassStays) {
  System s = testing::waters(2, 0.4, 0.3, 0.5);
  s.residues.push_back({"MET", "1", "", ""});
  for (int k = 0; k < 4; ++k)
    add_atom(s, k == 0 ? "C" : "H", k == 0 ? 6 : 1, k == 0 ? 12 : 1, 0, 0);
  for (std::int32_t h = 7; h < 10; ++h) s.connectivity.push_back({6, h});
  const System heavy = heavy_hydrogens(s, 3), all = heavy_hydrogens(s, 2, true);
  EXPECT_EQ(heavy.atoms.mass_amu[0], s.atoms.mass_amu[0]);
  EXPECT_EQ(heavy.atoms.mass_amu[6], 6);
  EXPECT_EQ(heavy.atoms.mass_amu[8], 3);
  EXPECT_NEAR(all.atoms.mass_amu[0] + 4, s.atoms.mass_amu[0] + 2 * s.atoms.mass_amu[1], 1e-12);
  EXPECT_THROW(heavy_hydrogens(s, 4), Error);
}

}  // namespace
}  // namespace tessera::molecular
