// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/figures.h"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

namespace em = tessera::electromagnetics;
using Numbers = std::vector<double>;

/// Frequencies may be listed in any order; a line that follows the list would run to and fro.
TEST(CurvesFigure, GoFromTheLeastToTheLargest) {
  const tessera::data::Figure f = em::curves_figure({.title = "t",
                                                     .axis = "frequency",
                                                     .axis_unit = "Hz",
                                                     .at = {3, 1, 2},
                                                     .label = "flux",
                                                     .unit = "W",
                                                     .curves = {{"a", {30, 10, 20}}}});
  ASSERT_EQ(f.panels.size(), 1U);
  ASSERT_EQ(f.panels[0].series.size(), 1U);
  const auto& line = std::get<tessera::data::Line>(f.panels[0].series[0]);
  EXPECT_EQ(line.x, (Numbers{1, 2, 3}));
  EXPECT_EQ(line.y, (Numbers{10, 20, 30}));
}
