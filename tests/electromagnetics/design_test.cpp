// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/design.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"
#include "test_constants.h"

#include <gtest/gtest.h>

namespace tessera::electromagnetics {
namespace {

constexpr Faces absorbing{}, mirror{Boundary::pmc, Boundary::pec};

TEST(DesignRegion, NodesOfTwoDimensionsAreMeansOfFourCells) {
  const YeeGrid grid = uniform_grid({10, 8, 0}, 1);
  const DesignRegion r =
      design_region(grid, {absorbing, absorbing, joined}, {3, 2, 0}, {5, 5, 1}, {Ez});
  ASSERT_EQ(r.edges.size(), 12u);  // 3 x 4 nodes of 2 x 3 cells
  EXPECT_EQ(r.edges[0], (Edge{Ez, 3, 2, 0}));
  EXPECT_EQ(r.edges[5], (Edge{Ez, 5, 3, 0}));
  const Tensor eps = tensor({2.0, 3.0, 4.0, 5.0, 6.0, 7.0}, {3, 2});
  const std::vector<double> q = inverse_permittivity(r, eps, 1.5).to_vector();
  EXPECT_DOUBLE_EQ(1 / q[0], (2 + 3 * 1.5) / 4);      // a corner
  EXPECT_DOUBLE_EQ(1 / q[1], (2 + 3 + 2 * 1.5) / 4);  // a side
  EXPECT_DOUBLE_EQ(1 / q[4], (2 + 3 + 4 + 5) / 4.0);  // inside
  EXPECT_DOUBLE_EQ(1 / q[11], (7 + 3 * 1.5) / 4);
}

TEST(DesignRegion, UnevenCellsCountByTheirArea) {
  YeeGrid grid = uniform_grid({3, 3, 3}, 1);
  grid.lines[1] = {0, 1, 4, 5};
  const DesignRegion r =
      design_region(grid, {absorbing, absorbing, absorbing}, {0, 0, 0}, {3, 3, 3}, {Ex});
  ASSERT_EQ(r.edges.size(), 12u);  // 3 x 2 x 2: those on the outer conductor are not computed
  std::vector<double> eps;
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) eps.push_back(1 + i + 10 * j + 100 * k);
  const std::vector<double> q = inverse_permittivity(r, tensor(eps)).to_vector();
  EXPECT_DOUBLE_EQ(
      1 / q[1],
      1 + 1 + 10 * 0.75 + 100 * 0.5);  // Ex at (1, 1, 1): cells 0 and 1 of y have lengths 1 and 3
}

TEST(DesignRegion, FacesDecideWhichEdgesThereAre) {
  const YeeGrid grid = uniform_grid({4, 4, 0}, 1);
  const DesignRegion r = design_region(grid, {joined, mirror, joined}, {0, 0, 0}, {4, 4, 1}, {Ez});
  ASSERT_EQ(r.edges.size(), 16u);  // x: 0 ... 3; y: 0 on the mirror ... 3, 4 is a conductor
  std::vector<double> eps(16, 1.0);
  eps[3] = 5;  // cell (3, 0), which the joined face puts beside node (0, 0); a mirror has one row
               // of cells
  const std::vector<double> q = inverse_permittivity(r, tensor(eps)).to_vector();
  EXPECT_DOUBLE_EQ(1 / q[0], 3);
  EXPECT_DOUBLE_EQ(1 / q[4], 2);
  EXPECT_DOUBLE_EQ(sum(r.outside).item(), 0);
  EXPECT_THROW(design_region(grid, {joined, mirror, joined}, {0, 0, 0}, {5, 4, 1}), Error);
  EXPECT_THROW(inverse_permittivity(r, tensor({1.0, 2.0})), Error);
}

TEST(DesignRegion, Differentiates) {
  const YeeGrid grid = uniform_grid({4, 4, 4}, 1);
  const DesignRegion r = design_region(grid, {absorbing, joined, absorbing}, {1, 1, 1}, {3, 4, 3});
  const CheckReport c = gradcheck([&](Tensor eps) { return inverse_permittivity(r, eps, 2.0); },
                                  linspace(1, 4, 12), {.order = 2, .directions = 2});
  EXPECT_TRUE(c) << to_string(c);
}

}  // namespace
}  // namespace tessera::electromagnetics
