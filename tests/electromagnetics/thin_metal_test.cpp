// SPDX-License-Identifier: Apache-2.0
//
// A wall of metal conducts wherever it lies in the cells and however thin it is: in one, two and
// three dimensions, along the grid and turned, as a staircase and conformal.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace tessera::electromagnetics {
namespace {

constexpr double cell = 0.1;
const std::vector<Medium> open_and_metal{Medium{.name = "vacuum"},
                                         Medium{.name = "pec", .pec = true}};

/// A domain cut in two by a wall about x = 0, and a current in front of it.
struct WallCase {
  int dimensions = 2;
  int component = Ez;
  double thickness = 0;  ///< in cells
  double offset = 0;     ///< of its low face from a line, in cells
  double angle = 0;      ///< about z, and about x half of it in three dimensions
  bool conformal = true;

  std::string name() const {
    return std::to_string(dimensions) + "-D " + name_of(component) + ", " +
           std::to_string(thickness) + " cells thick at " + std::to_string(offset) +
           ", turned by " + std::to_string(angle) + (conformal ? ", conformal" : ", staircase");
  }
};

struct Seen {
  double before = 0, behind = 0;  ///< the largest |E|
  double early = 0, late = 0;     ///< energy: the largest while the source lasts, the last
  std::int64_t thin = 0;
};

Seen run_wall(const WallCase& w, std::int64_t steps) {
  YeeGrid grid;
  const int n[3] = {w.dimensions > 2 ? 24 : 30,
                    w.dimensions > 2   ? 14
                    : w.dimensions > 1 ? 26
                                       : 1,
                    w.dimensions > 2 ? 12 : 1};
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = 0; i <= n[d]; ++i) grid.lines[d].push_back((i - n[d] / 2) * cell);
  const Faces layers{Boundary::pml, Boundary::pml}, joined{Boundary::periodic, Boundary::periodic};
  const std::array<Faces, 3> faces{layers, w.dimensions > 1 ? layers : joined,
                                   w.dimensions > 2 ? layers : joined};
  const double dt = 0.95 * stable_time_step(grid);
  Shape wall = box({w.offset * cell, -50, -50}, {(w.offset + w.thickness) * cell, 50, 50});
  if (w.angle != 0) wall = rotate(wall, rotation_about({0, 0, 1}, w.angle));
  if (w.angle != 0 && w.dimensions > 2) wall = rotate(wall, rotation_about({1, 0, 0}, w.angle / 2));
  const Scene scene{.structures = {{wall, 1, 0, "wall"}}};
  const auto open = std::make_shared<CutCellFractions>(cut_cell_fractions(
      SceneOrder(scene), open_and_metal, grid, faces, dt, {.conformal = w.conformal}));
  YeeModel model = yee_model(grid, faces, {.cells = 5}, dt, Dtype::f64, scene, open_and_metal,
                             Averaging::kottke, *open);
  if (w.dimensions == 1) model.active = {false, true, true, false, true, true};
  if (w.dimensions == 2)
    model.active = w.component == Ez ? std::array{false, false, true, true, true, false}
                                     : std::array{true, true, false, false, false, true};
  SampleList samples(grid, faces, model.active, open);
  std::vector<char> behind;
  const Point normal{std::cos(w.angle),
                     std::sin(w.angle) * std::cos(w.dimensions > 2 ? w.angle / 2 : 0),
                     w.dimensions > 2 ? std::sin(w.angle) * std::sin(w.angle / 2) : 0};
  for (int i = -9; i <= 9; ++i)
    for (int j = w.dimensions > 1 ? -6 : 0; j <= (w.dimensions > 1 ? 6 : 0); j += 3)
      for (int k = w.dimensions > 2 ? -4 : 0; k <= (w.dimensions > 2 ? 4 : 0); k += 4) {
        const Point at{(i + 0.3) * cell, (j + 0.2) * cell, (k + 0.4) * cell};
        double off = 0;
        for (std::size_t d = 0; d < 3; ++d)
          if (grid.resolved(static_cast<int>(d))) off += normal[d] * at[d] / cell;
        if (off > -3 && off < 5)
          continue;  // what is a cell thick, and between lines that E is the mean of
        for (const int c : {Ex, Ey, Ez}) {
          samples.add(c, at);
          behind.push_back(off > 0);
        }
      }
  const double f = speed_of_light / (8 * cell);
  const Point source{-8 * cell, 0.25 * cell, 0.25 * cell};
  TimeDomain run(
      std::move(model),
      {current_source(grid, faces, dt, w.component, source, source, 1, gaussian_pulse(f, f))},
      samples.edges());
  Seen seen{.thin = open->thin};
  const auto sources = static_cast<std::int64_t>(run.sources_end_s() / dt) + 1;
  while (run.step() < steps) {
    run.advance(std::min<std::int64_t>(20, steps - run.step()), [&](const Records& r) {
      for (std::int64_t s = 0; s < r.n_steps; ++s)
        for (std::int64_t m = 0; m < samples.size(); ++m) {
          double& largest = behind[static_cast<std::size_t>(m)] ? seen.behind : seen.before;
          largest = std::max(largest, std::abs(samples.value(m, r.step(s).data())));
        }
    });
    seen.late = run.energy_j();
    if (run.step() <= sources) seen.early = std::max(seen.early, seen.late);
  }
  return seen;
}

void expect_dark(const WallCase& w) {
  const Seen seen = run_wall(w, 200);
  EXPECT_GT(seen.before, 0) << w.name();
  EXPECT_LE(seen.behind, 1e-3 * seen.before)
      << w.name() << ": " << 20 * std::log10(seen.behind / seen.before)
      << " dB";  // -60 dB of power
  EXPECT_LT(seen.late, seen.early) << w.name();
}

constexpr double turned = std::numbers::pi / 6;
const std::vector<double> thicknesses{0, 0.1, 0.5, 0.9};

TEST(ThinMetal, NothingPassesAWallInOneDimension) {
  for (const int component : {Ey, Ez})
    for (const double thickness : thicknesses)
      for (int tenths = 0; tenths < 10; ++tenths)
        for (const bool conformal : {true, false})
          expect_dark({1, component, thickness, 0.1 * tenths, 0, conformal});
}

TEST(ThinMetal, NothingPassesAWallInTwoDimensions) {
  for (const int component : {Ez, Ey})
    for (const double angle : {0.0, turned})
      for (const double thickness : thicknesses)
        for (int tenths = 0; tenths < 10; ++tenths)
          for (const bool conformal : {true, false})
            expect_dark({2, component, thickness, 0.1 * tenths, angle, conformal});
  // From corner to corner of the cells.
  for (const int component : {Ez, Ey})
    for (const double thickness : thicknesses)
      expect_dark({2, component, thickness, 0, std::numbers::pi / 4, true});
}

TEST(ThinMetal, NothingPassesAWallInThreeDimensions) {
  for (const double angle : {0.0, turned})
    for (const double thickness : thicknesses)
      for (int tenths = 0; tenths < 10; ++tenths)
        for (const bool conformal : {true, false})
          expect_dark({3, tenths % 2 ? Ez : Ey, thickness, 0.1 * tenths, angle, conformal});
}

TEST(ThinMetal, NothingGrowsInTwentyThousandSteps) {
  for (const int component : {Ez, Ey})
    for (const double angle : {0.0, turned}) {
      const WallCase w{2,   component, angle == 0 ? 0.1 : 0.5,
                       0.3, angle,     (component == Ez) == (angle == 0)};
      const Seen seen = run_wall(w, 20000);
      EXPECT_LT(seen.late, 1e-6 * seen.early) << w.name();
    }
  const Seen solid = run_wall({3, Ey, 0.1, 0.3, turned, true}, 20000);
  EXPECT_LT(solid.late, 1e-3 * solid.early);
}

/// The line that it is put on is the nearest one, which is told; a wall on a line, or thicker than
/// a cell, is no thin metal.
TEST(ThinMetal, AWallIsPutOnTheNearestLine) {
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = 0; i <= (d == 0 ? 8 : 1); ++i) grid.lines[d].push_back(i * cell);
  const Faces walls{Boundary::pec, Boundary::pec}, joined{Boundary::periodic, Boundary::periodic};
  const auto fractions = [&](double low, double high, bool conformal) {
    const Scene scene{
        .structures = {{box({low * cell, -50, -50}, {high * cell, 50, 50}), 1, 0, "wall"}}};
    return cut_cell_fractions(SceneOrder(scene), open_and_metal, grid, {walls, joined, joined},
                              0.5 * stable_time_step(grid), {.conformal = conformal});
  };
  for (const bool conformal : {true, false}) {
    for (const auto& [middle, line] : {std::pair{3.2, 3}, {3.49, 3}, {3.7, 4}}) {
      const CutCellFractions open = fractions(middle - 0.05, middle + 0.05, conformal);
      for (int i = 1; i < 8; ++i) {
        EXPECT_EQ(open.fraction({Ez, i, 0, 0}), i == line ? 0 : 1) << middle << ", line " << i;
        EXPECT_EQ(open.fraction({Ey, i, 0, 0}), i == line ? 0 : 1) << middle << ", line " << i;
        EXPECT_EQ(open.fraction({Hy, i, 0, 0}), 1);
      }
      ASSERT_EQ(open.thin_metal.size(), 1U);
      EXPECT_NEAR(open.thin_metal[0].shift_m, std::abs(middle - line) * cell, 1e-9 * cell);
    }
    EXPECT_TRUE(fractions(3, 3.4, conformal).thin_metal.empty());
    EXPECT_TRUE(fractions(3.4, 4.6, conformal).thin_metal.empty());
    const CutCellFractions thick = fractions(3.1, 3.9, conformal);
    EXPECT_EQ(thick.fraction({Ez, 3, 0, 0}) + thick.fraction({Ez, 4, 0, 0}), 0);
    EXPECT_EQ(thick.fraction({Ez, 2, 0, 0}) + thick.fraction({Ez, 5, 0, 0}), 2);
  }
}

/// A slot one cell wide between two bodies on lines is open to its mouths, whichever way it lies:
/// bodies that meet a face at its corners alone are no thin metal in it.
TEST(ThinMetal, ASlotOfOneCellIsOpenToItsMouths) {
  constexpr int n = 12;
  const Faces walls{Boundary::pec, Boundary::pec}, joined{Boundary::periodic, Boundary::periodic};
  for (const int third :
       {-1, 0, 1, 2})  // the axis along which the bodies are four cells high; none
    for (int flips = 0; flips < 4; ++flips) {
      const int flat = third < 0 ? 2 : third;
      const std::size_t u = (static_cast<std::size_t>(flat) + 1) % 3, v = (u + 1) % 3,
                        w = static_cast<std::size_t>(flat);
      YeeGrid grid;
      for (std::size_t d = 0; d < 3; ++d)
        for (int i = 0; i <= (d == w && third < 0 ? 1 : n); ++i)
          grid.lines[d].push_back((i - n / 2) * cell);
      const auto body = [&](int u0, int u1, int v0, int v1) {
        Point low{}, high{};
        const auto put = [&](std::size_t d, int from, int to, bool flip) {
          low[d] = (flip ? n / 2 - to : from - n / 2) * cell;
          high[d] = (flip ? n / 2 - from : to - n / 2) * cell;
        };
        put(u, u0, u1, flips & 1), put(v, v0, v1, flips & 2);
        if (third < 0)
          low[w] = -50, high[w] = 50;
        else
          put(w, 4, 8, false);
        return box(low, high);
      };
      const Scene scene{
          .structures = {{body(3, 5, 3, 7), 1, 0, "a"}, {body(6, 9, 5, 7), 1, 0, "b"}}};
      std::array<Faces, 3> faces{walls, walls, walls};
      if (third < 0) faces[w] = joined;
      const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), open_and_metal, grid,
                                                       faces, 0.5 * stable_time_step(grid));
      EXPECT_EQ(open.thin, 0) << third << ", " << flips;
      for (int j = 4; j <= 8; ++j) {  // of the slot, below and above it
        int at[3] = {0, 0, 0};
        at[u] = flips & 1 ? n - 1 - 5 : 5, at[v] = flips & 2 ? n - 1 - j : j;
        if (third >= 0) at[w] = 6;
        const Edge face{static_cast<std::uint8_t>(Hx + static_cast<int>(w)), at[0], at[1], at[2]};
        EXPECT_EQ(open.fraction(face), 1) << third << ", " << flips << ", " << j;
      }
    }
}

}  // namespace
}  // namespace tessera::electromagnetics
