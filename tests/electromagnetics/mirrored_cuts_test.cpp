// SPDX-License-Identifier: Apache-2.0
//
// What conductors leave of edges and faces does not depend on which way the scene lies: a mirrored
// one leaves the mirrored shares. And of boxes they are exact, corners included.
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

constexpr int n = 12;  // cells of 1 m along each axis, from -6 to 6 m
const std::vector<Medium> media{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true},
                                Medium{.name = "glass", .eps = {2.25, 2.25, 2.25}}};

YeeGrid grid_of(int dimensions) {
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d) {
    if (d == 2 && dimensions == 2)
      grid.lines[d] = {-0.5, 0.5};
    else
      for (int i = 0; i <= n; ++i) grid.lines[d].push_back(i - n / 2);
  }
  return grid;
}

CutCellFractions cut(const Scene& scene, int dimensions) {
  constexpr Faces walls{Boundary::pec, Boundary::pec},
      joined{Boundary::periodic, Boundary::periodic};
  const YeeGrid grid = grid_of(dimensions);
  return cut_cell_fractions(SceneOrder(scene), media, grid,
                            {walls, walls, dimensions == 2 ? joined : walls},
                            0.9 * stable_time_step(grid));
}

struct Brick {
  Point low, high;
  int medium;
  Shape shape(const std::array<bool, 3>& flipped) const {
    Point a = low, b = high;
    for (std::size_t d = 0; d < 3; ++d)
      if (flipped[d]) a[d] = -high[d], b[d] = -low[d];
    return box(a, b);
  }
};
Scene scene_of(const std::vector<Brick>& bricks, const std::array<bool, 3>& flipped) {
  Scene scene;
  int order = 0;
  for (const Brick& b : bricks)
    scene.structures.push_back({b.shape(flipped), b.medium, order++, "brick"});
  return scene;
}

/// Boxes on lines, halves and quarters of cells, beside and over each other, with slots and corners
/// that touch.
TEST(MirroredCuts, SharesOfAMirroredSceneAreTheMirroredShares) {
  std::mt19937 random(5);
  const auto any = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (int turn = 0; turn < 60; ++turn) {
    const int dimensions = turn % 3 == 0 ? 3 : 2;
    std::vector<Brick> bricks;
    const double part = turn % 2 == 0 ? 1 : 0.25;
    for (int b = any(2, 5); b > 0; --b) {
      Brick brick{{-50, -50, -50}, {50, 50, 50}, any(0, 3) == 0 ? 2 : 1};
      for (std::size_t d = 0; d < (dimensions == 2 ? 2U : 3U); ++d) {
        brick.low[d] = any(-5, 1) + part * any(0, 3);
        brick.high[d] = std::min(brick.low[d] + any(1, 3), 5.0);
      }
      bricks.push_back(brick);
    }
    const CutCellFractions as_it_is = cut(scene_of(bricks, {}), dimensions);
    for (const std::array<bool, 3> flipped :
         {std::array{true, false, false}, {false, true, false}, {true, true, dimensions == 3}}) {
      const CutCellFractions mirrored = cut(scene_of(bricks, flipped), dimensions);
      EXPECT_EQ(mirrored.fractions.size(), as_it_is.fractions.size()) << turn;
      double off = 0;
      for (const CutCellFraction& f : as_it_is.fractions) {
        int at[3] = {f.edge.i, f.edge.j, f.edge.k};
        for (int d = 0; d < 3; ++d)
          if (flipped[static_cast<std::size_t>(d)])
            at[d] = (at_middle(f.edge.component, d) ? n - 1 : n) - at[d];
        const Edge there{f.edge.component, at[0], at[1], at[2]};
        off = std::max({off, std::abs(mirrored.fraction(there) - f.fraction),
                        std::abs(mirrored.share(there) - f.share)});
      }
      EXPECT_LT(off, 1e-9) << turn << ": " << dimensions << " dimensions";
    }
  }
}

/// The area of a face that a box leaves is one less the product of what it covers along each side.
TEST(MirroredCuts, AreasAtCornersOfBoxesAreExact) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> anywhere(-4, 0), size(1.5, 3.5);
  for (int turn = 0; turn < 40; ++turn) {
    Brick b{{anywhere(random), anywhere(random), -50}, {0, 0, 50}, 1};
    b.high[0] = b.low[0] + size(random), b.high[1] = b.low[1] + size(random);
    const CutCellFractions open = cut(scene_of({b}, {}), 2);
    const auto covered = [&](std::size_t d, int i) {
      const double x = i - n / 2;
      return std::clamp(b.high[d] - x, 0.0, 1.0) - std::clamp(b.low[d] - x, 0.0, 1.0);
    };
    for (const CutCellFraction& f : open.fractions)
      if (f.edge.component == Hz && f.fraction > 0) {
        EXPECT_NEAR(f.fraction, 1 - covered(0, f.edge.i) * covered(1, f.edge.j), 1e-4) << turn;
      }
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
