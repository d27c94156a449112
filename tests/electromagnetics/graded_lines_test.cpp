// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/graded_lines.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

TEST(GradedLines, AreEvenWithoutStretches) {
  const std::vector<double> lines = graded_lines(-1, 2, 0.4);
  ASSERT_EQ(lines.size(), 9U);  // 7.5 cells of 0.4: eight
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_DOUBLE_EQ(lines[i], -1 + 3.0 * static_cast<double>(i) / 8);
}

TEST(GradedLines, HoldTheEndsOfStretchesAndGrowByTheRatio) {
  const std::vector<RefinedStretch> fine{{2, 3, 0.05}};
  const double ratio = 1.2, cell = 0.5;
  const std::vector<double> lines = graded_lines(0, 10, cell, fine, ratio);
  EXPECT_EQ(lines.front(), 0);
  EXPECT_EQ(lines.back(), 10);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  for (const double end : {2.0, 3.0})
    EXPECT_NE(std::find(lines.begin(), lines.end(), end), lines.end());
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const double d = lines[i + 1] - lines[i], middle = (lines[i] + lines[i + 1]) / 2;
    // Cells are rounded down between two stations, to a whole number of them.
    EXPECT_LE(d, cell * (1 + 1e-9));
    if (middle > 2 && middle < 3) {
      EXPECT_NEAR(d, 0.05, 1e-9);
    }
    if (i > 0) {
      const double before = lines[i] - lines[i - 1];
      EXPECT_LT(std::max(d / before, before / d), ratio * 1.002) << "at " << lines[i];
    }
  }
}

// A short cell between two stretches, or between one and the end of the axis, is one from which its
// neighbours grow.
TEST(GradedLines, KeepToTheRatioBesideStretches) {
  const double ratio = 1.3;
  for (const std::vector<RefinedStretch>& stretches :
       {std::vector<RefinedStretch>{{-3, -1, 0.5}, {-0.95, 2, 0.5}},
        std::vector<RefinedStretch>{{-4.9, 0, 0.5}}}) {
    const std::vector<double> lines = graded_lines(-5, 5, 1, stretches, ratio);
    for (const RefinedStretch& r : stretches)
      for (const double end : {r.from, r.to})
        EXPECT_NE(std::find(lines.begin(), lines.end(), end), lines.end()) << end;
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
      const double d = lines[i + 1] - lines[i], before = lines[i] - lines[i - 1];
      EXPECT_LT(std::max(d / before, before / d), ratio * 1.002) << "at " << lines[i];
    }
    EXPECT_LT(lines.size(), 32U);  // 28 and 20 cells
  }
}

TEST(GradedLines, RefuseWhatIsNoAxis) {
  EXPECT_THROW(graded_lines(1, 1, 0.1), Error);
  EXPECT_THROW(graded_lines(0, 1, 0), Error);
  EXPECT_THROW(graded_lines(0, 1, NAN), Error);
  const std::vector<RefinedStretch> none{{0.2, 0.3, 0}}, fine{{0.2, 0.3, 0.01}};
  EXPECT_THROW(graded_lines(0, 1, 0.1, none), Error);
  EXPECT_THROW(graded_lines(0, 1, 0.1, fine, 0.9), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
