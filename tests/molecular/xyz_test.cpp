// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/xyz.h"

#include "input_error.h"

#include <gtest/gtest.h>

namespace tessera::molecular {
namespace {

using tessera::testing::expect_fault;
using tessera::testing::fault;

Frame frame_of(const std::string& text) { return read_xyz(data::make_text_file("a.xyz", text)); }

TEST(Xyz, PositionsAndTheBoxAreInAngstrom) {
  const Frame f = frame_of("2\nLattice=\"30 0 0 0 40 0 0 0 50\"\nAr 1 2 3\nAr 4 5 6\n");
  ASSERT_EQ(f.x_nm.size(), 2U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(f.x_nm[0][k], 0.1 * static_cast<double>(k + 1), 1e-15);
    EXPECT_NEAR(f.box.edge[k][k], 3.0 + static_cast<double>(k), 1e-14);
  }
  EXPECT_FALSE(is_periodic(frame_of("1\n\nAr 1 2 3\n").box));
  EXPECT_FALSE(
      is_periodic(frame_of("1\nLattice=\"30 0 0 0 40 0 0 0 50\" pbc=\"F F F\"\nAr 1 2 3\n").box));
}

TEST(Xyz, WhatIsWrongIsToldWithItsLine) {
  expect_fault(fault([] { frame_of("2 atoms\n\nAr 1 2 3\n"); }), 701, 1, 1, "number of atoms");
  expect_fault(fault([] { frame_of("2\n\nAr 1 2 3\nAr 4 5\n"); }), 701, 4, 1, "three numbers");
  EXPECT_EQ(fault([] { frame_of("3\n\nAr 1 2 3\n"); }).number, 701);
  EXPECT_EQ(fault([] { frame_of("1\nLattice=\"1 0 0 0 1 0 0 0\"\nAr 1 2 3\n"); }).number, 701);
}

}  // namespace
}  // namespace tessera::molecular
