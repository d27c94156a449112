// SPDX-License-Identifier: Apache-2.0
// Times, lags and bins that frames do not divide, do not reach or cannot hold.
#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/analysis.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace tessera::molecular {
namespace {

/// The line lies between the times that are asked for, on frames: what comes before is left out.
TEST(MeanSquaredDisplacement, FitsBetweenTheTimesAsked) {
  using Pair = std::array<std::size_t, 2>;
  EXPECT_EQ(frames_between(0.4, 10.4, 1, 0), (Pair{1, 10}));
  EXPECT_EQ(frames_between(2, 10, 1, 0), (Pair{2, 10}));
  EXPECT_EQ(frames_between(0, 9.9, 1, 0), (Pair{0, 9}));
  EXPECT_EQ(frames_between(0.02 * 5, 0.02 * 50, 0.02, 0), (Pair{5, 50}));
  // Rounded to a hundredth of a frame, no more.
  EXPECT_EQ(frames_between(5, 10, 0.999, 0), (Pair{5, 10}));
  EXPECT_EQ(frames_between(0, 1, 0.334, 0), (Pair{0, 3}));
  EXPECT_EQ(frames_between(0.02, 2.98, 1, 0), (Pair{1, 2}));
  // dt of two times in single precision at 1e5 ps, off by 0.008 ps.
  EXPECT_EQ(frames_between(10, 50, 1.0078125, 1e5), (Pair{10, 50}));
  EXPECT_EQ(frames_between(10, 50, 0.9921875, 1e5), (Pair{10, 50}));
  EXPECT_GT(frames_between(0, 1e30, 0.02, 0)[1], std::size_t{1} << 40);
  // x = t^2 in time: slopes from frame 1 on, not 0.
  const auto slope_of = [](double from, double to) {
    MeanSquaredDisplacement msd(testing::lennard_jones_atoms(1), {{0}},
                                {.fit_from_ps = from, .fit_to_ps = to});
    for (int t = 0; t < 8; ++t)
      msd.add({.x_nm = {{static_cast<double>(t), 0, 0}}, .time_ps = static_cast<double>(t)});
    return 6 * msd.diffusion().mean;
  };
  EXPECT_NEAR(slope_of(0.4, 2.4), 3, 1e-12) << "of 1 and 4";
  EXPECT_NEAR(slope_of(0, 1.9), 1, 1e-12) << "of 0 and 1";
  EXPECT_THROW(slope_of(0.2, 1.9), Error) << "one frame";
}

/// Memory is that of the frames there are, not of those that would be.
TEST(LagAverage, LagsBeyondAllFramesCostNothing) {
  LagAverage of(LagAverage::Of::product, std::size_t{1} << 60);
  for (int t = 0; t < 5; ++t) of.add(t, {{1.0 + t, 0, 0}});
  const Curve c = of.curve();
  ASSERT_EQ(c.y.size(), 5u);
  EXPECT_NEAR(c.y[4], 5, 1e-12);
  EXPECT_NEAR(c.y[0], (1 + 4 + 9 + 16 + 25) / 5.0, 1e-12);
  MeanSquaredDisplacement msd(testing::lennard_jones_atoms(1), {{0}},
                              {.fit_from_ps = 1, .fit_to_ps = 1e15});
  for (int t = 0; t < 5; ++t)
    msd.add({.x_nm = {{static_cast<double>(t), 0, 0}}, .time_ps = static_cast<double>(t)});
  EXPECT_EQ(msd.curve().y.size(), 5u);
  EXPECT_THROW(msd.diffusion(), Error);
}

TEST(PairDistribution, RefusesMoreBinsThanAreOfUse) {
  Group all(108);
  std::iota(all.begin(), all.end(), 0);
  PairDistribution g(all, all, {.r_max_nm = 0.8, .bin_nm = 1e-12});
  EXPECT_THROW(g.add(testing::argon(3).frame), Error);
}

}  // namespace
}  // namespace tessera::molecular
