// SPDX-License-Identifier: Apache-2.0
// What bodies ask of lines: wavelengths, faces, gaps, strips and layers of scenes whose answer is
// known.
#include "tessera/electromagnetics/scene_demands.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace tessera::electromagnetics {
namespace {

Medium demand_medium(const std::string& name, double eps, double sigma = 0) {
  Medium m;
  m.name = name;
  m.eps = {eps, eps, eps};
  m.sigma = {sigma, sigma, sigma};
  return m;
}
Medium demand_metal() {
  Medium m;
  m.name = "pec";
  m.pec = true;
  return m;
}

const std::vector<Medium> demand_media{demand_medium("air", 1), demand_medium("board", 4),
                                       demand_metal(), demand_medium("copper", 1, 5.8e7),
                                       demand_medium("brine", 80, 5)};
const Bounds demand_domain{{-1, -1, -1}, {1, 1, 1}};
const double band_top_hz = 3e9;

SceneDemands demands_of_bodies(std::vector<Structure> bodies, SceneDemandOptions o = {}) {
  if (o.frequencies_hz.empty()) o.frequencies_hz = {1e9, band_top_hz};
  return scene_demands({.structures = std::move(bodies)}, demand_media, demand_domain, o);
}

std::set<double> line_places(const AxisDemands& a) {
  std::set<double> out;
  for (const LineDemand& l : a.lines) out.insert(l.at);
  return out;
}

/// The shortest cell asked for at x, and why.
CellDemand least_cell_at(const AxisDemands& a, double x) {
  CellDemand out{a.low, a.high, a.cell, a.reason};
  for (const CellDemand& c : a.cells)
    if (x > c.from && x < c.to && c.cell < out.cell) out = c;
  return out;
}

TEST(SceneDemands, CountTheShortestWavelengthOfTheBand) {
  const SceneDemandOptions o{.cells_per_wavelength = 10, .frequencies_hz = {1e9, band_top_hz}};
  EXPECT_NEAR(cell_in(demand_media[0], o), speed_of_light / band_top_hz / 10, 1e-15);
  EXPECT_NEAR(cell_in(demand_media[1], o), speed_of_light / band_top_hz / 20, 1e-15);
  // |n| of a lossy medium: sqrt |80 - i sigma/(w eps0)|.
  const double loss = 5 / (2 * std::numbers::pi * band_top_hz * vacuum_permittivity);
  EXPECT_NEAR(cell_in(demand_media[4], o),
              speed_of_light / band_top_hz / 10 / std::pow(80 * 80 + loss * loss, 0.25), 1e-12);
  EXPECT_FALSE(is_metal(demand_media[4], o.frequencies_hz));
  EXPECT_TRUE(is_metal(demand_media[3], o.frequencies_hz));
  EXPECT_TRUE(is_metal(demand_media[2], {}));
}

// A patch above its ground, with a board between.
TEST(SceneDemands, OfAPatchAreGapEdgesAndWavelength) {
  const SceneDemands d =
      demands_of_bodies({{box({-0.3, -0.3, 0}, {0.3, 0.3, 0.01}), 1, 0, "board"},
                         {box({-0.3, -0.3, 0}, {0.3, 0.3, 0}), 2, 0, "ground"},
                         {box({-0.1, -0.2, 0.01}, {0.1, 0.2, 0.01}), 2, 0, "patch"}},
                        {.gap_cells = 5});
  EXPECT_EQ(line_places(d.axes[0]), (std::set<double>{-0.3, -0.1, 0.1, 0.3}));
  EXPECT_EQ(line_places(d.axes[1]), (std::set<double>{-0.3, -0.2, 0.2, 0.3}));
  EXPECT_EQ(line_places(d.axes[2]), (std::set<double>{0, 0.01}));
  const CellDemand gap = least_cell_at(d.axes[2], 0.005);
  EXPECT_NEAR(gap.cell, 0.002, 1e-15);
  EXPECT_EQ(gap.reason, "the gap between 'ground' and 'patch'");
  ASSERT_EQ(d.gaps.empty(), false);
  EXPECT_EQ(d.gaps[0].axis, 2);
  EXPECT_NEAR(d.gaps[0].width, 0.01, 1e-15);
  // Elsewhere the wave in the board, outside of it that in air.
  EXPECT_EQ(least_cell_at(d.axes[0], 0.2).reason, "the wavelength in 'board'");
  EXPECT_EQ(least_cell_at(d.axes[0], 0.5).reason, "the wavelength in air");
  EXPECT_NEAR(least_cell_at(d.axes[0], 0).cell, speed_of_light / band_top_hz / 2 / 20, 1e-12);
}

// Fields at the edge of a strip change over its height above ground; the ground's own edge, with
// nothing above, asks for nothing.
TEST(SceneDemands, OfEdgesAreTheDistanceOfTheNextConductor) {
  const SceneDemands d =
      demands_of_bodies({{box({-0.3, -0.3, 0}, {0.3, 0.3, 0.001}), 1, 0, "board"},
                         {box({-0.3, -0.3, 0}, {0.3, 0.3, 0}), 2, 0, "ground"},
                         {box({-0.1, -0.2, 0.001}, {0.1, 0.2, 0.0015}), 2, 0, "strip"}});
  for (const double x : {-0.1005, -0.0995, 0.0995, 0.1005}) {
    EXPECT_NEAR(least_cell_at(d.axes[0], x).cell, 0.001, 1e-9) << x;
    EXPECT_EQ(least_cell_at(d.axes[0], x).reason, "the edge of 'strip' near 'ground'");
  }
  EXPECT_EQ(least_cell_at(d.axes[0], 0.102).reason, "the wavelength in 'board'");
  EXPECT_EQ(least_cell_at(d.axes[0], 0.2995).reason, "the wavelength in 'board'");
}

TEST(SceneDemands, OfGapsAreFromMetalToMetalWhateverFillsThem) {
  const SceneDemands d =
      demands_of_bodies({{box({-0.3, -0.3, 0}, {0.3, 0.3, 0.01}), 1, 0, "lower"},
                         {box({-0.3, -0.3, 0.01}, {0.3, 0.3, 0.02}), 4, 0, "upper"},
                         {box({-0.3, -0.3, -0.1}, {0.3, 0.3, 0}), 2, 0, "ground"},
                         {box({-0.1, -0.2, 0.02}, {0.1, 0.2, 0.05}), 3, 0, "trace"}},
                        {.gap_cells = 10, .layer_cells = 1});
  EXPECT_NEAR(least_cell_at(d.axes[2], 0.005).cell, 0.002, 1e-15);
  EXPECT_NEAR(least_cell_at(d.axes[2], 0.015).cell,
              std::min(0.002, cell_in(demand_media[4], {.frequencies_hz = {band_top_hz}})), 1e-9);
}

// Two strips in a plane, a slot between them: gap and widths, though sheets hold no point.
TEST(SceneDemands, SeeSlotsAndStripsInAPlane) {
  const SceneDemands d =
      demands_of_bodies({{box({-0.02, -0.5, 0}, {-0.002, 0.5, 0}), 2, 0, "left"},
                         {box({0.002, -0.5, 0}, {0.02, 0.5, 0}), 2, 0, "right"}});
  EXPECT_NEAR(least_cell_at(d.axes[0], 0).cell, 0.001, 1e-15);
  EXPECT_EQ(least_cell_at(d.axes[0], 0).reason, "the gap between 'left' and 'right'");
  EXPECT_NEAR(least_cell_at(d.axes[0], 0.01).cell, 0.0045, 1e-12);
  EXPECT_EQ(least_cell_at(d.axes[0], 0.01).reason, "the width of 'right'");
  EXPECT_EQ(least_cell_at(d.axes[1], 0).reason, "the wavelength in air");
}

TEST(SceneDemands, SeeASlotThatIsCutOut) {
  const Shape plate = box({-0.4, -0.4, 0}, {0.4, 0.4, 0.01}),
              slot = box({-0.1, -0.004, -1}, {0.1, 0.004, 1});
  const SceneDemands d = demands_of_bodies({{subtract(plate, slot), 2, 0, "plate"}});
  EXPECT_TRUE(line_places(d.axes[1]).contains(0.004));
  EXPECT_FALSE(line_places(d.axes[2]).contains(1));  // beyond the plate
  EXPECT_NEAR(least_cell_at(d.axes[1], 0).cell, 0.002, 1e-15);
  // Its thickness is no width.
  EXPECT_EQ(least_cell_at(d.axes[2], 0.005).reason, "the wavelength in air");
}

TEST(SceneDemands, SeeTheGapOfACoaxialLine) {
  const SceneDemands d = demands_of_bodies(
      {{subtract(cylinder({0, 0, 0}, 0.03, 1.0), cylinder({0, 0, 0}, 0.023, 1.0)), 2, 0, "shield"},
       {cylinder({0, 0, 0}, 0.01, 1.0), 2, 0, "inner"}});
  EXPECT_NEAR(least_cell_at(d.axes[0], 0.015).cell, 0.013 / 4, 1e-12);
  EXPECT_NEAR(least_cell_at(d.axes[1], -0.015).cell, 0.013 / 4, 1e-12);
  EXPECT_TRUE(line_places(d.axes[0]).empty());  // nothing flat across x
  EXPECT_EQ(line_places(d.axes[2]), (std::set<double>{-0.5, 0.5}));
}

TEST(SceneDemands, OfMirrorsAreHalf) {
  SceneDemandOptions o;
  o.mirrors[0][0] = true;
  std::vector<Structure> bodies{{box({-0.99, -0.5, 0}, {-0.95, 0.5, 0}), 2, 0, "strip"}};
  EXPECT_NEAR(least_cell_at(demands_of_bodies(bodies, o).axes[0], -0.995).cell,
              speed_of_light / band_top_hz / 20,
              1e-9);  // open: no gap
  o.walls[0][0] = true, o.mirrors[0][0] = false;
  EXPECT_NEAR(least_cell_at(demands_of_bodies(bodies, o).axes[0], -0.995).cell, 0.01 / 4, 1e-12);
  o.mirrors[0][0] = true, o.walls[0][0] = false;
  bodies[0].shape = box({-1.5, -0.5, 0}, {-0.994, 0.5, 0});  // half of a strip
  EXPECT_NEAR(least_cell_at(demands_of_bodies(bodies, o).axes[0], -0.997).cell, 0.003, 1e-12);
}

TEST(SceneDemands, OfPrismsAreTheirUprightWalls) {
  const std::vector<std::array<double, 2>> corners{
      {0, 0}, {0.2, 0}, {0.2, 0.1}, {0.1, 0.3}, {0, 0.3}};
  const SceneDemands d = demands_of_bodies({{prism(corners, 0, 0.05), 1, 0, "step"}});
  EXPECT_EQ(line_places(d.axes[0]), (std::set<double>{0, 0.2}));
  EXPECT_EQ(line_places(d.axes[1]), (std::set<double>{0, 0.3}));
  EXPECT_EQ(line_places(d.axes[2]), (std::set<double>{0, 0.05}));
  const SceneDemands turned = demands_of_bodies(
      {{rotate(box({-0.1, -0.1, 0}, {0.1, 0.1, 0.05}), rotation_about({0, 0, 1}, 0.3)), 1, 0,
        "box"}});
  EXPECT_TRUE(line_places(turned.axes[0]).empty());
}

TEST(SceneDemands, OfThinLayersAreTheirOwnCells) {
  const SceneDemands d = demands_of_bodies(
      {{box({-0.5, -0.5, 0}, {0.5, 0.5, 0.001}), 1, 0, "film"}}, {.layer_cells = 3});
  EXPECT_NEAR(least_cell_at(d.axes[2], 0.0005).cell, 0.001 / 3, 1e-15);
  EXPECT_EQ(least_cell_at(d.axes[2], 0.0005).reason, "the layer 'film'");
}

TEST(SceneDemands, RefuseWhatHasNoWave) {
  EXPECT_THROW(scene_demands({}, demand_media, demand_domain, {}), Error);
  EXPECT_THROW(scene_demands({}, {demand_metal()}, demand_domain, {.frequencies_hz = {1e9}}),
               Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
