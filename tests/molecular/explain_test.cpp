// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/explain.h"

#include "molecular_cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

/// Three atoms along x, the first two bonded at 0.15 nm, which they are apart.
struct ThreeInARow {
  System system = testing::lennard_jones_atoms(3);
  Frame frame;
  ThreeInARow() {
    system.bonds.atoms.push_back({0, 1});
    system.bonds.row.push_back(0);
    system.bonds.rows.push_back({0.15, 1000.0});
    system.exclusions.push_back({0, 1});
    frame.x_nm = {{0, 0, 0}, {0.15, 0, 0}, {3, 0, 0}};
  }
};

TEST(Explain, OverlapsAreTheClosestPairThatIsNotExcluded) {
  ThreeInARow r;
  EXPECT_FALSE(find_overlap(r.system, r.frame));
  r.frame.x_nm[1] = {1e-6, 0, 0};  // excluded
  EXPECT_FALSE(find_overlap(r.system, r.frame));
  r.frame.x_nm[2] = {0.1, 0, 0};  // 12 * 4 / 0.1^13 = 5e14 kJ/mol/nm
  const std::optional<Overlap> o = find_overlap(r.system, r.frame);
  ASSERT_TRUE(o);
  EXPECT_EQ(o->a, 1);
  EXPECT_EQ(o->b, 2);
  EXPECT_NEAR(o->distance_nm, 0.1, 1e-5);
}

TEST(Explain, BondsTellAUnit) {
  ThreeInARow r;
  EXPECT_EQ(wrong_unit(r.system, r.frame), 1);
  for (Vec3& x : r.frame.x_nm) x[0] *= 10;
  EXPECT_EQ(wrong_unit(r.system, r.frame), 10);
  for (Vec3& x : r.frame.x_nm) x[0] /= 100;
  EXPECT_EQ(wrong_unit(r.system, r.frame), 0.1);
}

TEST(Explain, TheAtomThatMovedFarthest) {
  const ThreeInARow r;
  Frame to = r.frame;
  to.x_nm[2][1] = 0.5;
  const auto [atom, far] = farthest_moved(r.frame, to);
  EXPECT_EQ(atom, 2);
  EXPECT_DOUBLE_EQ(far, 0.5);
  to.x_nm[1][0] = NAN;
  EXPECT_EQ(farthest_moved(r.frame, to).first, 1);
}

TEST(Explain, WhatPullsAtAnAtomIsToldWithItsForce) {
  ThreeInARow r;
  r.frame.x_nm[1] = {0.16, 0, 0};  // k (b - b0) = 10 kJ/mol/nm
  std::string all;
  for (const std::string& line : explain_atom(r.system, r.frame, 0)) all += line + "\n";
  EXPECT_NE(all.find("force 10 kJ/mol/nm, 0.1600 nm"), std::string::npos) << all;
  EXPECT_NE(all.find("neighbour"), std::string::npos) << all;
}

}  // namespace
}  // namespace tessera::molecular
