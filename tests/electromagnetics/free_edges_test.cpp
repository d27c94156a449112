// SPDX-License-Identifier: Apache-2.0
// Which edges are free, against what yee_op takes for design edges, and by hand.
#include "tessera/electromagnetics/free_edges.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/yee_primitive.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

/// Ez on 8 x 8 cells with conductors around, of which 7 x 7 edges are computed.
YeeModel square(std::function<void(int i, int j, MaterialRow&)> medium = {}) {
  YeeModel m{.grid = uniform_grid({8 * cell, 8 * cell, 0}, cell), .faces = {pec, pec, joined}};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  m.dtype = Dtype::f64;
  m.active = {false, false, true, true, true, false};
  if (medium)
    m.material = [medium](int c, int j, int, MaterialRow& row) {
      for (int i = 0; c == Ez && i < static_cast<int>(row.inverse.size()); ++i) medium(i, j, row);
    };
  return m;
}
Medium of_eps(double eps) {
  Medium m;
  m.eps = {eps, eps, eps};
  return m;
}

TEST(FreeEdges, ABodyIsToldFromTheBackgroundAndItsOtherMediaAreCounted) {
  const FreeEdges found =
      free_edges(square([](int i, int j, MaterialRow& row) {
                   const auto u = static_cast<std::size_t>(i);
                   row.inverse[u] = j == 3 && (i == 2 || i == 3) ? 0.25 : 0.5;
                   if (j == 4 && i < 4) row.loss[u] = 0.1;  // 3 are computed
                   if (j == 5 && i == 2) row.inverse[u] = 0;
                   if (j == 6 && i == 0)
                     row.dispersive.push_back(
                         {.first = 2, .weight = {1, 0, 0.5}, .alpha = {0.9}, .beta = {0.01}});
                 }),
                 of_eps(2));
  EXPECT_EQ(found.edges, (std::vector<Edge>{{Ez, 2, 3, 0}, {Ez, 3, 3, 0}}));
  EXPECT_EQ(found.eps, (std::vector<double>{4, 4}));
  EXPECT_EQ(found.lossy, 3);
  EXPECT_EQ(found.conducting, 1);
  EXPECT_EQ(found.dispersive, 2);
  EXPECT_FALSE(found.of_background);
}

TEST(FreeEdges, WithoutABodyTheMiddleOfTheBackgroundIsFree) {
  const FreeEdges found = free_edges(square(), of_eps(1));
  EXPECT_TRUE(found.of_background);
  ASSERT_EQ(found.edges.size(), 16u);
  EXPECT_EQ(found.edges.front(), (Edge{Ez, 2, 2, 0}));
  EXPECT_EQ(found.edges.back(), (Edge{Ez, 5, 5, 0}));
  // In a perfect conductor everything that is computed is a body.
  Medium metal;
  metal.pec = true;
  EXPECT_EQ(free_edges(square(), metal).edges.size(), 49u);
}

/// yee_op refuses a design edge that is a conductor, lossy or dispersive, or that is not computed.
TEST(FreeEdges, AreThoseThatAYeeOpTakes) {
  YeeModel model = model_with_everything({pec, joined, Faces{}});
  Medium metal;
  metal.pec = true;  // no edge is of the background
  const FreeEdges found = free_edges(model, metal);
  model.traced = found.edges;
  const YeeOpPtr op = yee_op(model);
  for (std::size_t e = 0; e < found.edges.size(); ++e)
    ASSERT_NEAR(op->unit[e] / op->coefficient[e], found.eps[e], 1e-12 * found.eps[e]);

  const std::vector<std::uint8_t> computed = op->scheme.unknowns();
  std::int64_t refused = 0;
  for (std::uint8_t q = 0; q < 3; ++q)
    for (int k = 0; k < 12; ++k)
      for (int j = 0; j < 11; j += 2)
        for (int i = 0; i < 13; i += 3) {
          const Edge e{q, i, j, k};
          if (!computed[static_cast<std::size_t>(op->scheme.offset(e))]) continue;
          if (std::find(found.edges.begin(), found.edges.end(), e) != found.edges.end()) continue;
          model.traced = {e};
          EXPECT_THROW(yee_op(model), Error) << name_of(q) << i << " " << j << " " << k;
          ++refused;
        }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tessera::electromagnetics
