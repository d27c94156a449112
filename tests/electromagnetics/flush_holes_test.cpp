// SPDX-License-Identifier: Apache-2.0
//
// Metal and holes whose faces meet in one plane. A without B is the same set however far B reaches
// beyond A, so that a hole as long as its plate is high is open as a longer one is; a conductor
// without thickness is one wherever it lies.
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/yee_scheme.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

constexpr double mm = 1e-3;
const std::vector<Medium> flush_media{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true},
                                      Medium{.name = "board", .eps = {4, 4, 4}}};

Shape flush_block(const Point& low, const Point& high) {
  return box({low[0] * mm, low[1] * mm, low[2] * mm}, {high[0] * mm, high[1] * mm, high[2] * mm});
}

std::vector<Structure> flush_metal(const Shape& body) { return {{body, 1, 0, "metal"}}; }

/// A scene on ten cells of 1 mm along each axis.
struct FlushScene {
  YeeGrid grid;
  SceneOrder scene;
  CutCellFractions conformal, staircase;

  explicit FlushScene(std::vector<Structure> bodies)
      : scene(Scene{.structures = std::move(bodies)}) {
    for (auto& lines : grid.lines)
      for (int i = 0; i <= 10; ++i) lines.push_back(i * mm);
    const auto find = [&](bool cut) {
      return cut_cell_fractions(scene, flush_media, grid, {pec, pec, pec},
                                0.05 * stable_time_step(grid), {.conformal = cut});
    };
    conformal = find(true), staircase = find(false);
  }
  bool is_step_of_metal(const Edge& e) const {
    return edge_material(scene, flush_media, grid, e, Averaging::kottke, {}, staircase).pec;
  }
};

void expect_same_metal(const FlushScene& a, const FlushScene& b, const std::string& what) {
  EXPECT_EQ(a.conformal.thin, b.conformal.thin) << what;
  double largest_off = 0;
  int steps_off = 0;
  for (int c = 0; c < 6; ++c)
    for (int k = 0; k < 10; ++k)
      for (int j = 0; j < 10; ++j)
        for (int i = 0; i < 10; ++i) {
          const Edge e{static_cast<std::uint8_t>(c), i, j, k};
          largest_off =
              std::max(largest_off, std::abs(a.conformal.fraction(e) - b.conformal.fraction(e)));
          if (is_electric(e.component)) steps_off += a.is_step_of_metal(e) != b.is_step_of_metal(e);
        }
  EXPECT_LT(largest_off, 3e-5) << what;  // shares snap within 1e-5, surfaces are known to 1e-6
  EXPECT_EQ(steps_off, 0) << what;
}

TEST(FlushHoles, AreOpenAsLongerOnesAre) {
  const Shape plate = flush_block({0, 0, 4}, {10, 10, 6});
  const auto square = [](double low, double high) {
    return flush_block({3, 3, low}, {8, 8, high});
  };
  const FlushScene longer(flush_metal(subtract(plate, square(3.5, 6.5))));
  EXPECT_EQ(longer.conformal.fraction({Ex, 5, 5, 4}), 1);
  const FlushScene flush(flush_metal(subtract(plate, square(4, 6))));
  EXPECT_EQ(flush.conformal.fraction({Ex, 5, 5, 4}), 1);
  EXPECT_EQ(flush.conformal.fraction({Hz, 5, 5, 6}), 1);
  EXPECT_FALSE(flush.is_step_of_metal({Ex, 5, 5, 6}));
  EXPECT_EQ(flush.conformal.fraction({Ey, 3, 5, 4}), 0) << "its rim is metal";
  expect_same_metal(flush, longer, "a square hole");
  expect_same_metal(FlushScene(flush_metal(subtract(plate, unite({square(4, 5), square(5, 6)})))),
                    longer, "a hole of two parts");
  expect_same_metal(
      FlushScene(std::vector<Structure>{{plate, 1, 0, "plate"}, {square(4, 6), 0, 0, "hole"}}),
      longer, "a body of vacuum");
  const auto bore = [](double height) {
    return subtract(cylinder({5.5 * mm, 5.5 * mm, 5 * mm}, 4 * mm, 2 * mm),
                    cylinder({5.5 * mm, 5.5 * mm, 5 * mm}, 2.5 * mm, height));
  };
  const FlushScene tube(flush_metal(bore(2 * mm)));
  EXPECT_EQ(tube.conformal.fraction({Ex, 5, 5, 4}), 1);
  expect_same_metal(tube, FlushScene(flush_metal(bore(3 * mm))), "a tube");
}

// A notch in the edge of a plate is flush with three of its faces, and their corners are open.
TEST(FlushHoles, NotchesLeaveNoWireAtTheCorner) {
  const Shape plate = flush_block({2, 2, 4}, {8, 8, 6});
  const FlushScene flush(flush_metal(subtract(plate, flush_block({6, 3, 5}, {8, 7, 6}))));
  EXPECT_EQ(flush.conformal.fraction({Ey, 8, 4, 6}), 1);
  EXPECT_FALSE(flush.is_step_of_metal({Ey, 8, 4, 6}));
  EXPECT_EQ(flush.conformal.fraction({Ey, 8, 4, 5}), 0) << "the floor of the notch";
  expect_same_metal(flush,
                    FlushScene(flush_metal(subtract(plate, flush_block({6, 3, 5}, {9, 7, 6.5})))),
                    "a notch");
}

TEST(FlushHoles, LeaveKnivesOfMetalTheirEdge) {  // of ten degrees, between a box and a slope
  const Shape below = complement(half_space({2 * mm, 2 * mm, 4 * mm}, {1, 0, -6}));
  const FlushScene knife(flush_metal(intersect({flush_block({2, 2, 4}, {8, 8, 5}), below})));
  EXPECT_EQ(knife.conformal.fraction({Ey, 2, 5, 4}), 0);
  EXPECT_TRUE(knife.is_step_of_metal({Ey, 2, 5, 4}));
}

TEST(FlushHoles, LeaveConductorsWithoutThickness) {
  const Shape sheet = flush_block({0, 0, 6}, {10, 10, 6}),
              plate = flush_block({0, 0, 4}, {10, 10, 6}), hole = flush_block({3, 3, 4}, {8, 8, 6}),
              above = flush_block({0, 0, 6}, {10, 10, 8});
  struct Placed {
    const char* where;
    std::vector<Structure> bodies;
  };
  const std::vector<Placed> cases{
      {"alone", {{sheet, 1, 0, "sheet"}}},
      {"on a board", {{sheet, 1, 0, "sheet"}, {plate, 2, 0, "board"}}},
      {"between boards", {{sheet, 1, 0, "sheet"}, {plate, 2, 0, "board"}, {above, 2, 0, "lid"}}},
      {"on a hole", {{subtract(plate, hole), 1, 0, "plate"}, {sheet, 1, 0, "sheet"}}}};
  for (const auto& [where, bodies] : cases) {
    const FlushScene of(bodies);
    EXPECT_EQ(of.conformal.fraction({Ex, 5, 5, 6}), 0) << where;
    EXPECT_EQ(of.conformal.fraction({Hz, 5, 5, 6}), 0) << where;
    EXPECT_TRUE(of.is_step_of_metal({Ex, 5, 5, 6})) << where;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
