// SPDX-License-Identifier: Apache-2.0
//
// Drawn sections: what each event does, measured on the cells, and that chance is that of the
// recipe.
#include "tessera/inversion/geology.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

namespace tessera::inversion {
namespace {

using Kind = Event::Kind;
using Section = std::vector<float>;

float at(const Geology& g, const Section& s, std::int64_t row, std::int64_t column) {
  return s[static_cast<std::size_t>(row * g.columns + column)];
}
/// Depth of the first change of value in a column, in parts of the depth.
double boundary(const Geology& g, const Section& s, std::int64_t column) {
  for (std::int64_t row = 1; row < g.rows; ++row)
    if (std::abs(at(g, s, row, column) - at(g, s, 0, column)) > 0.5)
      return static_cast<double>(row) / static_cast<double>(g.rows);
  return 1;
}
/// 10 above 1000 ohm m or the other way, with the boundary at a depth that the key chooses; the
/// first key whose boundary lies well inside.
Geology two_layers(std::int64_t rows, std::int64_t columns) {
  return {.rows = rows,
          .columns = columns,
          .events = {{.kind = Kind::layers, .count = {2, 2}, .resistivity_ohm_m = {1, 1e4}}}};
}
data::RandomKey with_boundary_inside(const Geology& g) {
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const Section s = draw_section(g, {5, k});
    const double z = boundary(g, s, 0);
    if (z > 0.4 && z < 0.6 && std::abs(at(g, s, 0, 0) - at(g, s, g.rows - 1, 0)) > 1.5)
      return {5, k};
  }
  throw Error("none of 1000");
}

TEST(Geology, AKeyIsASection) {
  Geology g{.rows = 9, .columns = 7, .events = {{.kind = Kind::layers, .count = {3, 8}}}};
  for (int k = 1; k < 7; ++k)
    g.events.push_back({.kind = static_cast<Kind>(k), .probability = 0.5, .count = {1, 3}});
  std::set<std::vector<float>> all;
  for (std::uint64_t k = 0; k < 50; ++k) {
    const Section once = draw_section(g, {1, k});
    EXPECT_EQ(once, draw_section(g, {1, k}));
    EXPECT_EQ(times_of(g, {1, k}), times_of(g, {1, k}));
    ASSERT_EQ(once.size(), 63u);
    ASSERT_EQ(times_of(g, {1, k}).size(), 7u);
    all.insert(once);
  }
  EXPECT_EQ(all.size(), 50u);
  EXPECT_NE(draw_section(g, {1, 0}), draw_section(g, {2, 0}));
}

TEST(Geology, LayersAreLevelAndBetweenTheirBounds) {
  const Geology g{
      .rows = 40,
      .columns = 3,
      .events = {{.kind = Kind::layers, .count = {4, 6}, .resistivity_ohm_m = {10, 1000}}}};
  std::set<int> numbers;
  for (std::uint64_t k = 0; k < 60; ++k) {
    const Section s = draw_section(g, {3, k});
    for (std::int64_t row = 0; row < g.rows; ++row) {
      EXPECT_EQ(at(g, s, row, 0), at(g, s, row, 2));
      EXPECT_GE(at(g, s, row, 0), 1);
      EXPECT_LE(at(g, s, row, 0), 3);
    }
    numbers.insert(times_of(g, {3, k})[0]);
  }
  EXPECT_EQ(numbers, (std::set{4, 5, 6}));
  const Geology half_space{.rows = 1, .columns = 1, .events = {{.kind = Kind::layers}}};
  EXPECT_EQ(draw_section(half_space, {0, 0}).size(), 1u);
}

TEST(Geology, AFaultMovesTheLayersByItsThrow) {
  Geology g = two_layers(200, 40);
  const data::RandomKey key = with_boundary_inside(g);
  const double before = boundary(g, draw_section(g, key), 0);
  g.events.push_back({.kind = Kind::fault,
                      .x = {0.5, 0.5},
                      .dip = {std::numbers::pi / 2, std::numbers::pi / 2},
                      .throw_ = {0.2, 0.2}});
  // Events are drawn in order, so that what came before them is what it was.
  const Section s = draw_section(g, key);
  const double left = boundary(g, s, 0), right = boundary(g, s, 39);
  EXPECT_NEAR(std::max(left, right) - std::min(left, right), 0.2, 0.0051);  // a row
  EXPECT_NEAR(std::min(left, right), before, 0.0051);
  EXPECT_EQ(boundary(g, s, 19), left);
  EXPECT_EQ(boundary(g, s, 20), right);

  // Dipping by 45 degrees in a region twice as wide as deep the plane goes through (0.5, 0) and
  // (0.5 +- 0.25, 0.5); downwards it moves by throw / sqrt 2.
  g.events[1].dip = {std::numbers::pi / 4, std::numbers::pi / 4};
  const Section t = draw_section(g, key);
  const double a = boundary(g, t, 0), b = boundary(g, t, 39);
  EXPECT_NEAR(std::abs(a - b), 0.2 / std::numbers::sqrt2, 0.0051);
  g.events[1].throw_ = {-0.2, -0.2};  // a thrust
  const Section up = draw_section(g, key);
  EXPECT_NEAR(std::min(boundary(g, up, 0), boundary(g, up, 39)), before - 0.2 / std::numbers::sqrt2,
              0.0051);
}

TEST(Geology, AFoldIsASineOfItsAmplitude) {
  Geology g = two_layers(400, 64);
  const data::RandomKey key = with_boundary_inside(g);
  g.events.push_back({.kind = Kind::fold, .amplitude = {0.1, 0.1}, .wavelength = {0.5, 0.5}});
  const Section s = draw_section(g, key);
  double low = 1, high = 0;
  for (std::int64_t c = 0; c < g.columns; ++c) {
    low = std::min(low, boundary(g, s, c)), high = std::max(high, boundary(g, s, c));
    EXPECT_NEAR(boundary(g, s, c), boundary(g, s, (c + 32) % 64), 0.0026);  // two waves
  }
  EXPECT_NEAR(high - low, 0.2, 0.006);
}

TEST(Geology, BodiesHaveTheirAreaAndPlace) {
  const auto share = [](const Event& body) {
    const Geology g{.rows = 100,
                    .columns = 200,
                    .events = {{.kind = Kind::layers, .resistivity_ohm_m = {1, 1}}, body}};
    const Section s = draw_section(g, {8, 1});
    double inside = 0;
    for (const float v : s) inside += v / 3;
    EXPECT_EQ(times_of(g, {8, 1}), (std::vector{1, 1}));
    return inside / static_cast<double>(s.size());
  };
  Event e{.kind = Kind::block,
          .resistivity_ohm_m = {1000, 1000},
          .x = {0.5, 0.5},
          .z = {0.5, 0.5},
          .width = {0.3, 0.3},
          .height = {0.4, 0.4}};
  EXPECT_NEAR(share(e), 0.3 * 0.4, 1e-6);
  e.kind = Kind::intrusion;
  EXPECT_NEAR(share(e), std::numbers::pi / 4 * 0.3 * 0.4, 5e-4);
  e.kind = Kind::basin;  // the mean of a squared cosine is a half
  EXPECT_NEAR(share(e), 0.3 * 0.4 / 2, 5e-4);
  e.z = {0.9, 0.9}, e.kind = Kind::block;  // a half of it lies below the region
  EXPECT_NEAR(share(e), 0.3 * 0.3, 1e-6);
}

TEST(Geology, AFieldHasItsVarianceAndCorrelation) {
  const Geology g{.rows = 2,
                  .columns = 2,
                  .aspect = 3,
                  .ohm_m = {1e-20, 1e20},
                  .events = {{.kind = Kind::layers, .resistivity_ohm_m = {1, 1}},
                             {.kind = Kind::random_field,
                              .width = {0.5, 0.5},
                              .height = {4, 4},
                              .amplitude = {0.3, 0.3}}}};
  // Cells average over their quarter points, a quarter of the region apart, so that theory is that
  // of four points.
  const auto of = [](double dx, double dz) {
    return 0.09 * std::exp(-dx * dx / (2 * 0.25) - dz * dz / (2 * 16.0));
  };
  double variance = 0, along = 0;
  for (const double a : {0.0, 0.25})
    for (const double b : {0.0, 0.25})
      for (const double c : {0.0, 0.25})
        for (const double d : {0.0, 0.25}) {
          variance += of(a - b, c - d) / 16;
          along += of(0.5 + a - b, c - d) / 16;
        }
  constexpr int n = 4000;
  double squares = 0, products = 0, mean = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    const Section s = draw_section(g, {4, k});
    mean += s[0] / n;
    squares += s[0] * s[0] / n;
    products += s[0] * s[1] / n;
  }
  const double error = 4 * variance * std::sqrt(2.0 / n);  // four standard deviations
  EXPECT_NEAR(mean, 0, 4 * std::sqrt(variance / n));
  EXPECT_NEAR(squares, variance, error);
  EXPECT_NEAR(products, along, error);
}

/// A fold of no amplitude moves nothing, and yet the field below it is added point by point.
TEST(Geology, AFieldIsTheSameBelowWhatDoesNotMoveIt) {
  Geology g{.rows = 12,
            .columns = 10,
            .events = {{.kind = Kind::layers, .count = {3, 3}},
                       {.kind = Kind::random_field, .count = {2, 2}, .amplitude = {0.3, 0.3}}}};
  const Section on_top = draw_section(g, {2, 7});
  g.events.push_back({.kind = Kind::fold, .amplitude = {0, 0}});
  const Section below = draw_section(g, {2, 7});
  for (std::size_t k = 0; k < below.size(); ++k) EXPECT_NEAR(on_top[k], below[k], 1e-6);
}

TEST(Geology, ProbabilityAndBoundsAreKept) {
  const Geology g{.rows = 4,
                  .columns = 4,
                  .ohm_m = {20, 50},
                  .events = {{.kind = Kind::layers, .count = {5, 5}},
                             {.kind = Kind::block, .probability = 0.25, .count = {2, 3}}}};
  int came = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const Section s = draw_section(g, {6, k});
    const int blocks = times_of(g, {6, k})[1];
    came += blocks > 0;
    EXPECT_TRUE(blocks == 0 || blocks == 2 || blocks == 3) << blocks;
    for (const float v : s) {
      EXPECT_GE(v, std::log10(20.0) - 1e-6);
      EXPECT_LE(v, std::log10(50.0) + 1e-6);
    }
  }
  EXPECT_NEAR(came, 250, 4 * std::sqrt(1000 * 0.25 * 0.75));
}

TEST(Geology, WhatCannotBeDrawnIsSaid) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const Geology& g, const char* why) {
    const auto wrong = faults_of(g);
    ASSERT_EQ(wrong.size(), 1u) << why;
    EXPECT_NE(wrong[0].find(why), std::string::npos) << wrong[0];
    EXPECT_THROW(draw_section(g, {}), Error);
  };
  const Event layers{.kind = Kind::layers};
  refused({.events = {}}, "events[0].kind");
  refused({.events = {{.kind = Kind::fault}}}, "events[0].kind");
  refused({.events = {layers, layers}}, "events[1].kind");
  refused({.rows = 0, .events = {layers}}, "rows");
  refused({.aspect = nan, .events = {layers}}, "aspect");
  refused({.ohm_m = {10, 1}, .events = {layers}}, "ohm_m");
  refused({.events = {layers, {.kind = Kind::fault, .count = {0, 1}}}}, "events[1].count");
  refused({.events = {layers, {.kind = Kind::fault, .dip = {0, 1}}}}, "dip");
  refused({.events = {layers, {.kind = Kind::fold, .wavelength = {0, 1}}}}, "wavelength");
  refused({.events = {layers, {.kind = Kind::block, .width = {nan, 1}}}}, "width");
  refused({.events = {layers, {.kind = Kind::block, .x = {2, 1}}}}, "x:");
  refused({.events = {layers, {.kind = Kind::block, .probability = 1.5}}}, "probability");
  refused({.events = {layers, {.kind = Kind::block, .resistivity_ohm_m = {0, 1}}}}, "resistivity");
}

}  // namespace
}  // namespace tessera::inversion
