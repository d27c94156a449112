// SPDX-License-Identifier: Apache-2.0
// Lines that demands make, against what was asked for: each demand by itself, and thousands drawn
// at random.
#include "tessera/electromagnetics/demanded_lines.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::electromagnetics {
namespace {

bool line_lies(const std::vector<double>& lines, double at) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](double x) { return std::abs(x - at) <= 1e-12; });
}

TEST(DemandedLines, AreEvenWhereNothingIsAsked) {
  const DemandedLines d = demanded_lines({.low = -1, .high = 2, .cell = 0.4, .reason = "air"});
  ASSERT_EQ(d.lines.size(), 9U);  // 7.5 cells of 0.4: eight
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(d.lines[i], -1 + 3.0 * static_cast<double>(i) / 8, 1e-12);
  EXPECT_EQ(d.culprit.reason, "air");
  EXPECT_NEAR(d.ratio, 1, 1e-9);
}

TEST(DemandedLines, GrowByTheRatioFromAShortStretch) {
  const double q = 1.25;
  const DemandedLines d = demanded_lines(
      {.low = 0, .high = 40, .cell = 2, .cells = {{19.9, 20.1, 0.05, "film"}}}, {.ratio = q});
  EXPECT_LE(d.ratio, q * (1 + 1e-5));
  EXPECT_GE(d.ratio, 0.97 * q);  // no more cells than the ratio asks for
  EXPECT_EQ(d.culprit.reason, "film");
  // Cells that grow by q from 0.05 to 2 fill (2 - 0.05)/ln q of each side in ln 40/ln q cells.
  const double steps = std::log(40.0) / std::log(q), there = 1.95 / std::log(q);
  EXPECT_NEAR(static_cast<double>(d.lines.size() - 1), 4 + 2 * steps + 2 * (19.9 - there) / 2, 3);
}

TEST(DemandedLines, CountWhatIsSymmetricSymmetrically) {
  AxisDemands a{.low = -1, .high = 1, .cell = 0.1, .cells = {{-0.2, 0.2, 0.03, "core"}}};
  for (const double x : {-0.31, 0.31, -0.2, 0.2, 0.0}) a.lines.push_back({x, 1, "face"});
  const DemandedLines d = demanded_lines(a);
  for (std::size_t i = 0; i < d.lines.size(); ++i)
    EXPECT_NEAR(d.lines[i], -d.lines[d.lines.size() - 1 - i], 1e-9);
}

TEST(DemandedLines, DoNotDependOnTheOrderOfDemands) {
  AxisDemands a{.low = 0, .high = 1, .cell = 0.1};
  a.lines = {{0.3, 1, "b"}, {0.301, 2, "a"}, {0.7, 1, "c"}};
  a.cells = {{0.2, 0.4, 0.02, "x"}, {0.6, 0.9, 0.05, "y"}};
  const DemandedLines one = demanded_lines(a);
  std::reverse(a.lines.begin(), a.lines.end());
  std::reverse(a.cells.begin(), a.cells.end());
  EXPECT_EQ(one.lines, demanded_lines(a).lines);
}

TEST(DemandedLines, SayWhichLinesAreSoNear) {
  AxisDemands a{.low = 0, .high = 1, .cell = 0.1};
  a.lines = {{0.3, 1, "'board'"}, {0.301, 2, "'patch'"}};
  const DemandedLines d = demanded_lines(a);
  EXPECT_NEAR(d.lines[d.smallest + 1] - d.lines[d.smallest], 0.001, 1e-12);
  EXPECT_EQ(d.culprit.reason, "lines of 'board' and 'patch', 0.001 m apart");
  ASSERT_TRUE(d.culprit.line);
  EXPECT_EQ(d.culprit.line->owner, "'board'");
  // Without it nothing is so near.
  const DemandedLines other = demanded_lines(without(a, d.culprit));
  EXPECT_LT(other.lines.size(), d.lines.size() - 10);
  // A floor leaves the heavier line, and says so.
  const DemandedLines floored = demanded_lines(a, {.least = 0.01});
  ASSERT_EQ(floored.dropped.size(), 1U);
  EXPECT_EQ(floored.dropped[0].owner, "'board'");
  EXPECT_TRUE(line_lies(floored.lines, 0.301));
}

TEST(DemandedLines, HaveTwoEvenCellsAboutAPort) {
  AxisDemands a{.low = 0, .high = 1, .cell = 0.05, .even = {{0.4, "port 'in'"}}};
  a.lines = {{0.4, 3, "port 'in'"}, {0.43, 1, "step"}};
  const std::vector<double> x = demanded_lines(a).lines;
  const auto at =
      std::find_if(x.begin(), x.end(), [](double v) { return std::abs(v - 0.4) < 1e-12; });
  ASSERT_TRUE(at - x.begin() >= 2 && x.end() - at > 2);
  for (int k = -2; k < 2; ++k)
    EXPECT_NEAR(at[k + 1] - at[k], 0.015, 1e-12);  // half way to the step
}

// Two ports in one plane ask for the same as one.
TEST(DemandedLines, HaveTheSameEvenCellsAboutTwoPorts) {
  AxisDemands a{.low = 0, .high = 1, .cell = 0.05, .even = {{0.4, "port 'in'"}}};
  a.lines = {{0.4, 3, "port 'in'"}};
  const std::vector<double> one = demanded_lines(a).lines;
  a.lines.push_back({0.4, 3, "port 'out'"});
  a.even.push_back({0.4, "port 'out'"});
  EXPECT_EQ(one, demanded_lines(a).lines);
}

TEST(DemandedLines, JoinFacesByTheRatio) {
  const AxisDemands a{
      .low = 0, .high = 1, .joined = true, .cell = 0.1, .cells = {{0, 0.02, 0.005, "film"}}};
  const std::vector<double> x = demanded_lines(a, {.ratio = 1.2}).lines;
  const std::size_t n = x.size() - 1;
  EXPECT_LE((x[n] - x[n - 1]) / (x[1] - x[0]), 1.2 * (1 + 1e-5));
}

// A thousand axes: every line is there, cells are as short as asked for, neighbours as alike.
TEST(DemandedLines, KeepEveryPromise) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> u(0, 1);
  for (int t = 0; t < 1000; ++t) {
    AxisDemands a{.low = -u(random),
                  .high = 0.1 + u(random),
                  .joined = u(random) < 0.2,
                  .cell = std::pow(10, -0.5 - 1.5 * u(random))};
    const double length = a.high - a.low, q = 1.1 + 0.9 * u(random);
    for (int k = static_cast<int>(8 * u(random)); k > 0; --k)
      a.lines.push_back({a.low + length * u(random), static_cast<int>(3 * u(random)), "line"});
    for (int k = static_cast<int>(6 * u(random)); k > 0; --k) {
      const double from = a.low + length * u(random), wide = length * std::pow(10, -3 * u(random));
      a.cells.push_back({from, from + wide, a.cell * std::pow(10, -2 * u(random)), "cells"});
    }
    const DemandedLines d = demanded_lines(a, {.ratio = q});
    ASSERT_EQ(d.lines.front(), a.low);
    ASSERT_EQ(d.lines.back(), a.high);
    EXPECT_LE(d.ratio, q * (1 + 1e-5)) << t;
    for (const LineDemand& l : a.lines)
      EXPECT_TRUE(line_lies(d.lines, l.at) || !d.dropped.empty()) << t;
    for (std::size_t i = 0; i + 1 < d.lines.size(); ++i) {
      const double cell = d.lines[i + 1] - d.lines[i];
      ASSERT_GT(cell, 0);
      EXPECT_LE(cell, a.cell * (1 + 1e-9));
      for (const CellDemand& c : a.cells)
        if (d.lines[i] >= c.from - 1e-12 && d.lines[i + 1] <= c.to + 1e-12) {
          EXPECT_LE(cell, c.cell * (1 + 1e-6)) << t;
        }
    }
  }
}

TEST(DemandedLines, RefuseWhatIsNoAxis) {
  EXPECT_THROW(demanded_lines({.low = 1, .high = 1, .cell = 0.1}), Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = 1, .cell = 0}), Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = 1, .cell = NAN}), Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = INFINITY, .cell = 1}), Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = 1, .cell = 0.1, .cells = {{0, 1, 0, "x"}}}),
               Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = 1, .cell = 0.1}, {.ratio = 1}), Error);
  EXPECT_THROW(demanded_lines({.low = 0, .high = 1, .cell = 1e-12}), Error);  // cells without end
}

}  // namespace
}  // namespace tessera::electromagnetics
