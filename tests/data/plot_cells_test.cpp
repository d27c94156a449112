// SPDX-License-Identifier: Apache-2.0
// Cells of meshes and arrows in figures.
#include "matches.h"
#include "png_reader.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/plot.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::data {
namespace {

Figure panel_of(std::vector<Series> series, Axis x = {.label = "x"}, Axis y = {.label = "y"}) {
  Figure f{.width = 240, .height = 180};
  f.panels = {
      {.title = "panel", .x = std::move(x), .y = std::move(y), .series = std::move(series)}};
  return f;
}

MeshCells two_triangles(double a, double b) {  // of the unit square, above and below y = x
  return {.label = "t",
          .corners = 3,
          .x = {0, 1, 1, 0},
          .y = {0, 0, 1, 1},
          .corner = {0, 2, 3, 0, 1, 2},
          .value = {a, b}};
}

TEST(PlotCells, CellsOfAMeshHaveTheColoursOfTheRamp) {
  Figure f = panel_of({two_triangles(10, NAN)});
  f.panels[0].colour = {
      .axis = {.log = true, .min = 1, .max = 100}, .map = ColourMap::viridis, .bar = false};
  f.panels[0].grid = false;
  tests::Image image = tests::read_png(render(f, "png"));
  const Colour middle = colour_at(ColourMap::viridis, std::lround(0.5 * 255) / 255.0);
  const auto looks_like = [&](std::size_t x, std::size_t y, Colour c) {
    const unsigned char* p = image.at(x, y);
    EXPECT_NEAR(p[0], c.r * 255, 1);
    EXPECT_NEAR(p[1], c.g * 255, 1);
    EXPECT_NEAR(p[2], c.b * 255, 1);
  };
  looks_like(image.width * 35 / 100, image.height * 40 / 100, middle);
  EXPECT_TRUE(image.white(image.width * 80 / 100, image.height * 65 / 100)) << "NaN stays white";

  auto& cells = std::get<MeshCells>(f.panels[0].series[0]);
  cells.value = {10, 10};
  cells.veil = {0, 0.75};
  image = tests::read_png(render(f, "png"));
  looks_like(image.width * 35 / 100, image.height * 40 / 100, middle);
  looks_like(image.width * 80 / 100, image.height * 65 / 100,
             {middle.r + 0.75 * (1 - middle.r), middle.g + 0.75 * (1 - middle.g),
              middle.b + 0.75 * (1 - middle.b)});

  // Axes that end inside of the cells cut them, so that nothing lies outside of the frame.
  f.panels[0].x.min = f.panels[0].y.min = 0.4;
  f.panels[0].x.max = f.panels[0].y.max = 0.6;
  const tests::Image cut = tests::read_png(render(f, "png"));
  EXPECT_EQ(cut.ink(0.3, 0.3, 0.7, 0.7), 1);
  EXPECT_EQ(cut.ink(0.98, 0.2, 1, 1), 0);
}

// Between cells of one colour and of two, whatever the angles of their edges.
TEST(PlotCells, MeshesHaveNoSeams) {
  for (const std::size_t n : {3u, 17u, 80u}) {
    MeshCells mesh{.label = "m", .corners = 3, .x = {}, .y = {}, .corner = {}, .value = {}};
    for (std::size_t j = 0; j <= n; ++j)
      for (std::size_t i = 0; i <= n; ++i) {
        const bool inner = i > 0 && j > 0 && i < n && j < n;
        const double wave = inner ? 0.3 * std::sin(static_cast<double>(7 * i + 3 * j)) : 0;
        mesh.x.push_back(static_cast<double>(i) + wave);
        mesh.y.push_back(static_cast<double>(j) - wave);
      }
    const auto at = [n](std::size_t i, std::size_t j) { return j * (n + 1) + i; };
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        mesh.corner.insert(mesh.corner.end(), {at(i, j), at(i + 1, j), at(i + 1, j + 1)});
        mesh.corner.insert(mesh.corner.end(), {at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        mesh.value.insert(mesh.value.end(),
                          {static_cast<double>((i + j) % 3), static_cast<double>(i % 2)});
      }
    Figure f = panel_of({mesh});
    f.panels[0].colour.bar = f.panels[0].grid = false;
    EXPECT_EQ(tests::read_png(render(f, "png")).ink(0.3, 0.3, 0.7, 0.7), 1) << n;
    EXPECT_EQ(matches(render(f, "svg"), "crispEdges").size(), 3u) << "a path for each colour";
  }
}

TEST(PlotCells, ArrowsPointWhereTheyAreTurned) {
  Figure f = panel_of({Arrows{.label = "a", .x = {0}, .y = {0}, .length = {30}, .angle = {90}}},
                      {.min = -1, .max = 1}, {.min = -1, .max = 1});
  f.panels[0].grid = false;
  const auto tips = matches(render(f, "svg"), "<polygon points=\"([0-9.]+),([0-9.]+) ");
  const auto shafts = matches(render(f, "svg"),
                              "<polyline points=\"([0-9.]+),([0-9.]+) [0-9., ]+\" "
                              "stroke=\"#[0-9a-f]+\" stroke-width=\"1.1\"");
  ASSERT_EQ(tips.size(), 1u);
  ASSERT_EQ(shafts.size(), 1u);
  EXPECT_NEAR(std::stod(tips[0][1]) - std::stod(shafts[0][1]), 30, 0.02) << "to the right";
  EXPECT_NEAR(std::stod(tips[0][2]) - std::stod(shafts[0][2]), 0, 0.02);
}

TEST(PlotCells, CsvHasCellsAndArrows) {
  MeshCells cells = two_triangles(1.5, NAN);
  cells.veil = {0.25, 0};
  const std::string csv = to_csv(
      panel_of({cells, Arrows{.label = "a", .x = {1}, .y = {2}, .length = {30}, .angle = {90}}}));
  EXPECT_NE(csv.find("panel,t,polygon,,,,,,,1.5,0.25,0 0; 1 1; 0 1\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("panel,t,polygon,,,,,,,,0,0 0; 1 0; 1 1\n"), std::string::npos);
  EXPECT_NE(csv.find("panel,a,arrow,1,,,2,,,,,30 90\n"), std::string::npos);
}

TEST(PlotCells, MismatchedArraysAreNamed) {
  const auto message = [](Series s) {
    try {
      render(panel_of({std::move(s)}), "svg");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  MeshCells cells = two_triangles(1, 2);
  cells.corner.pop_back();
  EXPECT_NE(message(cells).find("corner has 5 entries, expected 3 for each of 2 values"),
            std::string::npos);
  cells.corner.push_back(4);
  EXPECT_NE(message(cells).find("point 4 of 4"), std::string::npos);
  cells.corner.back() = 2;
  cells.veil = {0.5};
  EXPECT_NE(message(cells).find("veil has 1"), std::string::npos);
  cells.veil.clear();
  cells.corners = 2;
  EXPECT_NE(message(cells).find("three corners"), std::string::npos);
  EXPECT_NE(
      message(Arrows{.label = "a", .x = {0}, .y = {0}, .length = {}, .angle = {1}}).find("length"),
      std::string::npos);
}

}  // namespace
}  // namespace tessera::data
