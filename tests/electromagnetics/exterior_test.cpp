// SPDX-License-Identifier: Apache-2.0
// What is outside of a surface: mirrors of the domain, and the medium.
#include "tessera/electromagnetics/exterior.h"

#include "tessera/autodiff/error.h"
#include "test_constants.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

/// 20 x 20 x 20 cells from the origin on: y = 0 a magnetic symmetry, z = 0 a wall.
struct Corner {
  YeeGrid grid = uniform_grid(cells(20, 20, 20), cell, cells(10, 10, 10));
  std::vector<DomainMirror> mirrors{{{1, 0, true}, false, true}, {{2, 0, false}, false, false}};
};

TEST(Exterior, ABoxCountsTwiceForEachSymmetryThatItReaches) {
  const Corner c;
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 5, 5), cells(4, 10, 10)), 2);
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 10, 10), cells(4, 4, 4)), 1);
  // A plane on the mirror or along it is not cut by it.
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 0, 5), cells(4, 0, 4)), 1);
  EXPECT_EQ(images_of_all(c.mirrors), 2);
}

TEST(Exterior, ABoxHasAllSymmetriesAndTheWallsItStandsOn) {
  const Corner c;
  const auto on_wall = mirrors_of_box(c.grid, c.mirrors, cells(10, 10, 5), cells(4, 4, 10));
  ASSERT_EQ(on_wall.size(), 2U);
  EXPECT_EQ(name_of(on_wall[0]), "y_low");
  EXPECT_EQ(name_of(on_wall[1]), "z_low");
  const auto above = mirrors_of_box(c.grid, c.mirrors, cells(10, 10, 10), cells(4, 4, 4));
  ASSERT_EQ(above.size(), 1U);
  EXPECT_TRUE(above[0].symmetry);
  // One that is named and there already counts once.
  const std::vector<Mirror> named{{2, 1e-12 * cell, false}, {0, -cell, false}};
  const auto joined_ones = joined_mirrors(c.grid, on_wall, named);
  ASSERT_EQ(joined_ones.size(), 3U);
  EXPECT_EQ(joined_ones[2].axis, 0);
}

TEST(Exterior, AMediumWithPolesIsAnotherAtEachFrequency) {
  Medium glass{.name = "glass"};
  glass.eps = {2, 2, 2};
  const std::vector<double> f{1e14, 2e14};
  EXPECT_EQ(exteriors(glass, 3, {}, f).size(), 1U);
  glass.poles = lorentz(1e15, 0, 1);
  const auto each = exteriors(glass, 3, {{2, 0, true}}, f);
  ASSERT_EQ(each.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_DOUBLE_EQ(each[k].eps, permittivity(glass, 0, f[k]).real());
    EXPECT_EQ(each[k].mirrors.size(), 1U);
  }
  EXPECT_GT(each[1].eps, each[0].eps);
}

TEST(Exterior, RefusesMediaThatCarryNoWavesAway) {
  const std::vector<double> f{1e14};
  Medium m{.name = "m"};
  m.eps = {2, 2, 3};
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
  m.eps = {2, 2, 2};
  EXPECT_NO_THROW(exteriors(m, 3, {}, f));
  m.sigma = {1, 1, 1};
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
  m.sigma = {};
  m.poles = drude(3e14, 1e12);  // a metal at f
  EXPECT_FALSE(is_transparent(m, f[0]));
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
