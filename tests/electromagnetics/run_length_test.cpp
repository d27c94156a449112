// SPDX-License-Identifier: Apache-2.0
// How many steps a run takes, against counts by hand.
#include "tessera/electromagnetics/run_length.h"

#include "tessera/electromagnetics/constants.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tessera::electromagnetics {
namespace {

constexpr double dt = 0.1;  // no whole number of which is exact in binary

TEST(RunLength, AWholeNumberOfStepsIsNotRoundedUp) {
  for (int n = 1; n < 1000; ++n) EXPECT_EQ(steps_within(n * dt, dt), n);
  EXPECT_EQ(steps_within(0.31, dt), 4);
  EXPECT_EQ(steps_within(0, dt), 1);
  EXPECT_EQ(steps_within(INFINITY, dt), std::int64_t{1} << 50);
}

TEST(RunLength, TheFirstEndCounts) {
  EXPECT_EQ(fixed_end({}, 1, dt), std::nullopt);
  EXPECT_EQ(fixed_end({.steps = 7}, 1, dt), 7);
  EXPECT_EQ(fixed_end({.steps = 7, .time_s = 0.5}, 1, dt), 5);
  EXPECT_EQ(fixed_end({.steps = 3, .time_s = 0.5}, 1, dt), 3);
  EXPECT_EQ(fixed_end({.time_s = 5, .after_sources_s = 0.5}, 1, dt), 15);
  EXPECT_EQ(fixed_end({.time_s = 1.2, .after_sources_s = 0.5}, 1, dt), 12);
}

TEST(RunLength, SourcesThatNeverEndEndNothing) {
  EXPECT_EQ(fixed_end({.after_sources_s = 1}, INFINITY, dt), std::nullopt);
  EXPECT_EQ(fixed_end({.steps = 9, .after_sources_s = 1}, INFINITY, dt), 9);
}

/// 3 x 4 cells with the time step in which light goes one cell.
TEST(RunLength, PassagesAreCountedAlongEdgesOrTheDiagonal) {
  const YeeGrid grid = uniform_grid({3 * cell, 4 * cell, 0}, cell);
  const double step = cell / speed_of_light;
  EXPECT_EQ(steps_of_decay(grid, 0, step), 20 * 7);
  EXPECT_EQ(steps_of_decay(grid, 10 * step, step), 10 + 20 * 7);
  EXPECT_EQ(steps_of_decay(grid, INFINITY, step), 20 * 7);
  // Half a step further, so that rounding decides nothing.
  Medium glass, metal;
  glass.eps = {9, 9, 9};
  metal.pec = true, metal.eps = {100, 100, 100};
  const double begin = 0.5 * step;
  EXPECT_EQ(steps_of_passages(grid, {}, 0, begin, step), 2 * 5 + 1);
  EXPECT_EQ(steps_of_passages(grid, std::vector{metal, glass}, 0, begin, step), 3 * 2 * 5 + 1);
  EXPECT_EQ(steps_of_passages(grid, std::vector{metal}, 0, 10 * step + begin, step),
            10 + 2 * 5 + 1);
  // 1 + 8 far below the resonance, 1 - 8/3 at twice its frequency, negative above it.
  Medium crystal;
  crystal.poles = lorentz(1e15, 0, 8);
  EXPECT_EQ(steps_of_passages(grid, std::vector{crystal}, 1e11, begin, step), 3 * 2 * 5 + 1);
  EXPECT_EQ(steps_of_passages(grid, std::vector{crystal}, 2e15, begin, step), 2 * 5 + 1);
  EXPECT_EQ(steps_of_passages(grid, std::vector{crystal}, 1e15, begin, step), 2 * 5 + 1);
}

}  // namespace
}  // namespace tessera::electromagnetics
