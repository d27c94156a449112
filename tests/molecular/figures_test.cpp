// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/figures.h"

#include <gtest/gtest.h>

#include <variant>

namespace tessera::molecular {
namespace {

TEST(MolecularFigures, ACurveHasABandWhereItHasErrors) {
  CurveFigure c{.title = "water",
                .x_label = "r",
                .x_unit = "nm",
                .y_label = "g",
                .y_unit = "",
                .curve = {{0.2, 0.3}, {1.0, 3.0}, {0.5, 1.0}}};
  const data::Figure f = curve_figure(c);
  ASSERT_EQ(f.panels.size(), 1u);
  ASSERT_EQ(f.panels[0].series.size(), 2u);
  const auto* band = std::get_if<data::Band>(&f.panels[0].series[0]);
  ASSERT_NE(band, nullptr);
  EXPECT_EQ(band->low, (std::vector<double>{0.5, 2.0}));
  EXPECT_EQ(band->high, (std::vector<double>{1.5, 4.0}));
  c.curve.error.clear();
  ASSERT_EQ(curve_figure(c).panels[0].series.size(), 1u);
}

TEST(MolecularFigures, AStageHasAPanelForEachQuantityOverOneAxis) {
  StageFigure s{.title = "heat", .axis = "Time", .axis_unit = "ps", .at = {0.0, 1.0, 2.0}};
  s.quantities.push_back({"Temperature", "K", {100.0, 200.0, 300.0}});
  s.quantities.push_back({"Largest force", "kJ/mol/nm", {1000.0, 10.0, 1.0}, true});
  const data::Figure f = stage_figure(s);
  ASSERT_EQ(f.panels.size(), 2u);
  EXPECT_EQ(f.panels[1].row, 1u);
  EXPECT_FALSE(f.panels[0].y.log);
  EXPECT_TRUE(f.panels[1].y.log);
  EXPECT_EQ(f.panels[0].x.group, f.panels[1].x.group);
  EXPECT_NE(data::render(f, "svg").find("heat"), std::string::npos);
}

}  // namespace
}  // namespace tessera::molecular
