// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/scene.h"

#include "tessera/autodiff/forall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

namespace em = tessera::electromagnetics;
using em::Point;
using em::Shape;
using std::numbers::pi;

namespace {

em::SceneOrder only(const Shape& shape) {
  return em::SceneOrder({{{.shape = shape, .medium = 1}}, 0});
}

double share(const em::Fill& f, int medium) {
  for (const em::Share& s : f.media)
    if (s.medium == medium) return s.fraction;
  return 0;
}

/// Sum over a grid of n^3 cells of [-1, 1]^3 of the fraction of medium 1, times their volume.
double volume_on_grid(const Shape& shape, int n) {
  const em::SceneOrder scene = only(shape);
  const double h = 2.0 / n;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        sum += share(em::fill(scene, {-1 + (i + 0.5) * h, -1 + (j + 0.5) * h, -1 + (k + 0.5) * h},
                              {h, h, h}),
                     1);
  return sum * h * h * h;
}

}  // namespace

TEST(Scene, LaterAndHigherPriorityIsSeen) {
  const Shape unit = em::box({0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(em::medium_at(em::Scene{{{unit, 1}, {unit, 2}}, 0}, {0.5, 0.5, 0.5}), 2);
  EXPECT_EQ(em::medium_at(em::Scene{{{unit, 1, 3}, {unit, 2}, {unit, 4, 3}, {unit, 5, -1}}, 0},
                          {0.5, 0.5, 0.5}),
            4);
  EXPECT_EQ(em::medium_at(em::Scene{{{unit, 1}}, 7}, {1, 0.5, 0.5}), 7);
}

// A plane in any direction cuts a box: against counting points on a fine lattice, n^3 of them,
// whose error is that of the surface, below 2/n.
TEST(Fill, HalfSpaceAgreesWithCountedPoints) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 40; ++trial) {
    const Point normal{u(random), u(random), trial % 4 == 0 ? 1e-9 * u(random) : u(random)};
    const Point on{0.3 * u(random), 0.3 * u(random), 0.3 * u(random)};
    const std::array<double, 3> size{0.7, 1.1, 0.5};
    const Shape half = em::half_space(on, normal);
    const em::Mix m = em::mix(only(half), {0.1, 0, 0}, size);
    const int n = 40;
    int inside = 0;
    for (int i = 0; i < n * n * n; ++i)
      inside += half.contains({0.1 + size[0] * ((i % n + 0.5) / n - 0.5),
                               size[1] * ((i / n % n + 0.5) / n - 0.5),
                               size[2] * ((i / n / n + 0.5) / n - 0.5)});
    const double counted = double(inside) / (n * n * n), f = m.inside == 1 ? m.fraction : 0.0;
    EXPECT_NEAR(f, counted, 0.01);
    EXPECT_TRUE(m.simple);
    if (m.inside == m.outside) continue;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(m.normal[k], half.normal({0, 0, 0})[k], 1e-14);
  }
}

// By hand: a corner of the unit cube is cut off by x + y + z = 3/2 - s: a tetrahedron of volume
// t^3/6.
TEST(Fill, CornerCutIsATetrahedron) {
  for (double t : {1e-6, 1e-3, 0.25, 0.9}) {
    const Shape half = em::half_space({-0.5 + t, -0.5, -0.5}, {1, 1, 1});
    const double f = share(em::fill(only(half), {0, 0, 0}, {1, 1, 1}), 1);
    EXPECT_NEAR(f, t * t * t / 6,
                1e-9 * t * t * t + 1e-16);  // offsets are known to 1e-16 of the box
  }
}

TEST(Fill, FractionsOfRoundShapesSumToTheirVolumeToSecondOrder) {
  const struct {
    const char* name;
    Shape shape;
    double volume,
        coarse;  // bound on the relative error at 16^3; the tangent plane alone is off by 6e-3
  } cases[] = {
      {"sphere", em::sphere({0.03, -0.05, 0.01}, 0.8), 4 * pi / 3 * 0.512, 1e-4},
      {"ellipsoid", em::ellipsoid({0.03, 0, 0.01}, {0.9, 0.6, 0.7}), 4 * pi / 3 * 0.9 * 0.6 * 0.7,
       2e-4},
      {"cylinder", em::cylinder({0.01, 0.02, 0.03}, 0.6, 1.2, {1, 2, 3}), pi * 0.36 * 1.2, 1e-4},
      {"cone", em::cone({0.01, 0.02, 0.03}, 0.8, 0.3, 1.1), pi * 1.1 / 3 * (0.64 + 0.24 + 0.09),
       1e-4},
      {"torus", em::torus({0.01, 0.02, 0.03}, 0.6, 0.25, {1, 2, 3}), 2 * pi * pi * 0.6 * 0.0625,
       1e-4},
      {"stretched", em::scale(em::sphere({0, 0, 0}, 0.5), {1.7, 1.2, 1.1}),
       pi / 6 * 1.7 * 1.2 * 1.1, 1e-3},
      {"lens", em::intersect({em::sphere({-0.3, 0, 0}, 0.8), em::sphere({0.3, 0, 0}, 0.8)}),
       2 * pi / 3 * 0.25 * (2.4 - 0.5), 1e-3},
  };
  for (const auto& c : cases) {
    const double coarse = std::abs(volume_on_grid(c.shape, 16) / c.volume - 1);
    const double fine = std::abs(volume_on_grid(c.shape, 32) / c.volume - 1);
    EXPECT_LT(coarse, c.coarse) << c.name;
    EXPECT_LT(fine, c.coarse / 4) << c.name;
  }
}

TEST(Fill, BoxesAreExactInAnyCell) {
  const auto overlap = [](double a, double b, double c, double d) {
    return std::max(0.0, std::min(b, d) - std::max(a, c));
  };
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    Point low, high, corner, size;
    double expected = 1;
    for (int k = 0; k < 3; ++k) {
      low[k] = u(random), high[k] = low[k] + 0.6 * u(random);
      corner[k] = u(random), size[k] = 0.7 * u(random);
      expected *= overlap(low[k], high[k], corner[k], corner[k] + size[k]) / size[k];
    }
    const Point centre{corner[0] + size[0] / 2, corner[1] + size[1] / 2, corner[2] + size[2] / 2};
    const em::Fill f = em::fill(only(em::box(low, high)), centre, size);
    EXPECT_NEAR(share(f, 1), expected, 1e-14);
  }
}

TEST(Fill, BoxesOfManyMediaAreExact) {
  // Overlapping boxes of four media against the cells of their common refinement.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> u(-0.7, 0.7);
  for (int trial = 0; trial < 50; ++trial) {
    em::Scene scene;
    std::array<std::vector<double>, 3> cuts;
    for (int k = 0; k < 3; ++k) cuts[k] = {-0.5, 0.5};
    for (int m = 1; m <= 4; ++m) {
      Point a, b;
      for (int k = 0; k < 3; ++k) {
        a[k] = u(random), b[k] = u(random);
        if (a[k] > b[k]) std::swap(a[k], b[k]);
        for (double c : {a[k], b[k]})
          if (std::abs(c) < 0.5) cuts[k].push_back(c);
      }
      scene.structures.push_back({em::box(a, b), m, m % 2});
    }
    std::map<int, double> expected;
    for (auto& c : cuts) std::sort(c.begin(), c.end());
    for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i)
      for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j)
        for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k)
          expected[em::medium_at(
              scene, {(cuts[0][i] + cuts[0][i + 1]) / 2, (cuts[1][j] + cuts[1][j + 1]) / 2,
                      (cuts[2][k] + cuts[2][k + 1]) / 2})] += (cuts[0][i + 1] - cuts[0][i]) *
                                                              (cuts[1][j + 1] - cuts[1][j]) *
                                                              (cuts[2][k + 1] - cuts[2][k]);
    const em::Fill f = em::fill(em::SceneOrder(scene), {0, 0, 0}, {1, 1, 1});
    for (const auto& [medium, volume] : expected) EXPECT_NEAR(share(f, medium), volume, 1e-13);
  }
}

TEST(Fill, StackedBoxesAreOneFaceWithoutGap) {
  // Two media that share the face z = 0.3 (as 0.1 + 0.2, one rounding off) in a box that both
  // cross.
  const em::Scene scene{
      {{em::box({-9, -9, -9}, {9, 9, 0.1 + 0.2}), 1}, {em::box({-9, -9, 0.3}, {9, 9, 9}), 2}}, 0};
  const em::Mix m = em::mix(scene, {0, 0, 0.25}, {0.2, 0.2, 0.2});
  EXPECT_EQ(m.inside, 2);
  EXPECT_EQ(m.outside, 1);
  EXPECT_TRUE(m.simple);
  EXPECT_NEAR(m.fraction, 0.25, 1e-14);
  EXPECT_NEAR(m.normal[2], -1, 1e-14);
}

TEST(Fill, TurnedStackAndThinCoatingAreExactLayers) {
  const em::Rotation turn = em::rotation_about({1, 2, 3}, 0.4);
  const Shape below = em::rotate(em::box({-9, -9, -9}, {9, 9, 0.05}), turn),
              above = em::rotate(em::box({-9, -9, 0.05}, {9, 9, 9}), turn);
  const em::Mix m = em::mix(em::Scene{{{below, 1}, {above, 2}}, 0}, {0, 0, 0}, {0.4, 0.4, 0.4});
  EXPECT_TRUE(m.simple);
  EXPECT_EQ(m.inside, 2);
  const double alone = share(em::fill(only(above), {0, 0, 0}, {0.4, 0.4, 0.4}), 1);
  EXPECT_NEAR(m.fraction, alone, 1e-13);

  // A coating thinner than a cell: three media whose fractions are differences of two balls.
  const Shape outer = em::sphere({0, 0, 0}, 5.1), inner = em::sphere({0, 0, 0}, 5);
  const Point at{3, 4.0, 0.7};
  const std::array<double, 3> size{0.5, 0.5, 0.5};
  const em::Fill f = em::fill(em::SceneOrder({{{outer, 1}, {inner, 2}}, 0}), at, size);
  const double in_outer = share(em::fill(only(outer), at, size), 1),
               in_inner = share(em::fill(only(inner), at, size), 1);
  EXPECT_NEAR(share(f, 2), in_inner, 1e-13);
  EXPECT_NEAR(share(f, 1), in_outer - in_inner, 1e-13);
  EXPECT_EQ(f.media[0].medium, 2);
  EXPECT_FALSE(f.simple);
  const em::Fill same = em::fill(only(em::subtract(outer, inner)), at, size);
  EXPECT_NEAR(share(same, 1), in_outer - in_inner, 1e-13);
}

TEST(Fill, ThinSlabInsideACellHasItsDirection) {
  const em::Mix m = em::mix(only(em::box({-9, -0.1, -9}, {9, 0.1, 9})), {0, 0, 0}, {1, 1, 1});
  EXPECT_NEAR(m.fraction, 0.2, 1e-14);
  EXPECT_NEAR(std::abs(m.normal[1]), 1, 1e-14);
  EXPECT_FALSE(m.simple);
}

TEST(Fill, EdgesOfTurnedBoxesAndPolygonsAgreeWithCountedPoints) {
  const Shape turned =
      em::rotate(em::box({-1, -1, -1}, {0.1, 0.05, 0.1}), em::rotation_about({1, 1, 0}, 0.5));
  const Shape star = em::prism(
      {{0.2, 0.02}, {1, 1}, {-0.03, 0.25}, {-1, 1}, {-0.2, 0}, {-1, -1}, {0, -0.25}, {1, -1}}, -0.3,
      0.2);
  for (const Shape& shape : {turned, star})
    for (const Point& at : {Point{0, 0, 0}, Point{0.1, 0.1, 0.1}, Point{-0.1, 0.2, 0.15}}) {
      const double size = 0.4;
      const int n = 60;
      int inside = 0;
      for (int i = 0; i < n * n * n; ++i)
        inside += shape.contains({at[0] + size * ((i % n + 0.5) / n - 0.5),
                                  at[1] + size * ((i / n % n + 0.5) / n - 0.5),
                                  at[2] + size * ((i / n / n + 0.5) / n - 0.5)});
      // A corner of an outline, or an edge, lies in 1/64 of the box and is off there by some tenth:
      // 0.0016 for each of the up to four.
      EXPECT_NEAR(share(em::fill(only(shape), at, {size, size, size}), 1),
                  double(inside) / (n * n * n), 0.0065);
    }
}

TEST(Fill, RectanglesLinesAndPoints) {
  const em::SceneOrder ball = only(em::sphere({0, 0, 0}, 1));
  // 2-D: a circle in the plane z = 0.6, radius 0.8.
  const double h = 0.05;
  double area = 0;
  for (int i = -20; i < 20; ++i)
    for (int j = -20; j < 20; ++j) {
      const em::Fill f = em::fill(ball, {(i + 0.5) * h, (j + 0.5) * h, 0.6}, {h, h, 0});
      area += share(f, 1) * h * h;
      for (const em::Interface& face : f.interfaces) EXPECT_EQ(face.area[2], 0);
    }
  EXPECT_NEAR(area, pi * 0.64, 2e-3 * pi * 0.64);  // second order: (h/0.8)^2/2
  // 1-D and a point.
  const em::Mix line = em::mix(ball, {0.95, 0, 0}, {0.2, 0, 0});
  EXPECT_NEAR(line.fraction, 0.75, 1e-14);
  EXPECT_NEAR(line.normal[0], 1, 1e-14);
  EXPECT_EQ(em::mix(ball, {0.99, 0, 0}, {0, 0, 0}).inside, 1);
  EXPECT_EQ(em::mix(ball, {1.01, 0, 0}, {0, 0, 0}).inside, 0);
  // A section along a face belongs to the solid that holds its surface.
  const em::Mix low = em::mix(only(em::box({0, 0, 0}, {1, 1, 1})), {0.5, 0.5, 0}, {0.1, 0.1, 0});
  const em::Mix high = em::mix(only(em::box({0, 0, 0}, {1, 1, 1})), {0.5, 0.5, 1}, {0.1, 0.1, 0});
  EXPECT_EQ(low.inside, 1);
  EXPECT_EQ(high.inside, 0);
}

TEST(Fill, MediumOfWhatIsCoveredDoesNotShow) {
  const em::Scene scene{{{em::sphere({0, 0, 0}, 1), 1}, {em::box({-2, -2, -2}, {2, 2, 2}), 2, 1}},
                        0};
  const em::Mix m = em::mix(scene, {1, 0, 0}, {0.1, 0.1, 0.1});
  EXPECT_EQ(m.inside, 2);
  EXPECT_EQ(m.outside, 2);
  // The same medium on both sides of a face is one medium.
  const em::Scene same{{{em::sphere({0, 0, 0}, 1), 1}}, 1};
  EXPECT_TRUE(em::mix(same, {1, 0, 0}, {0.1, 0.1, 0.1}).simple);
  EXPECT_EQ(em::mix(same, {1, 0, 0}, {0.1, 0.1, 0.1}).outside, 1);
}

TEST(UniformMedia, AgreesWithWhatFillsTheBoxes) {
  const em::SceneOrder scene({{{em::sphere({0.1, 0, 0}, 0.6), 1},
                               {em::box({-0.9, -0.9, -0.9}, {-0.2, 0.9, -0.5}), 2},
                               {em::cone({0.3, 0.3, 0.2}, 0.3, 0.1, 0.5, {1, 0, 1}), 3, 1}},
                              0});
  em::YeeGrid grid;
  auto& [x, y, z] = grid.lines;
  for (int i = 0; i <= 24; ++i)
    x.push_back(-1 + i / 12.0), y.push_back(-1 + i / 12.0 + 0.02 * std::sin(i));
  for (int i = 0; i <= 17; ++i) z.push_back(-1 + 2 * i / 17.0);
  const auto medium = em::uniform_media(scene, grid).medium;
  int mixed = 0, needless = 0;
  for (int k = 0; k < 17; ++k)
    for (int j = 0; j < 24; ++j)
      for (int i = 0; i < 24; ++i) {
        const int index[3] = {i, j, k};
        Point centre, size;
        for (int a = 0; a < 3; ++a) {
          const auto& l = grid.lines[a];
          const double low = l[std::max(index[a] - 1, 0)],
                       high = l[std::min<std::size_t>(index[a] + 2, l.size() - 1)];
          centre[a] = (low + high) / 2, size[a] = high - low;
        }
        const em::Fill f = em::fill(scene, centre, size);
        const int got = medium[(k * 24 + j) * 24 + i];
        mixed += f.media.size() > 1;
        needless += f.media.size() == 1 && got == -1;
        if (f.media.size() > 1 || got != -1) {
          EXPECT_EQ(got, f.media.size() > 1 ? -1 : f.media[0].medium) << i << " " << j << " " << k;
        }
      }
  EXPECT_LT(needless, mixed / 20);
  EXPECT_GT(mixed, 1000);
  EXPECT_LT(mixed, 8000);

  tessera::set_num_threads(1);
  const auto alone = em::uniform_media(scene, grid).medium;
  tessera::set_num_threads(2);
  EXPECT_EQ(alone, em::uniform_media(scene, grid).medium);
}

TEST(UniformMedia, OfSomePlanesAreThoseOfTheWhole) {
  const em::SceneOrder scene({{{em::sphere({0.1, 0.7, -0.6}, 0.6), 1},
                               {em::box({-0.9, -1.9, -0.9}, {-0.2, 0.9, 1.5}), 2},
                               {em::cone({0.3, 0.3, 0.2}, 0.3, 0.1, 0.5, {1, 0, 1}), 3, 1}},
                              0});
  em::YeeGrid grid;
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i <= 17 + d; ++i) grid.lines[d].push_back(-1 + 2.0 * i / (17 + d));
  for (const std::array<bool, 3> periodic :
       {std::array{false, false, false}, std::array{true, true, true},
        std::array{false, true, false}}) {
    const auto whole = em::uniform_media(scene, grid, periodic);
    for (const int axis : {1, 2})
      for (const auto& [first, count] : {std::pair{0, 3}, std::pair{4, 1}, std::pair{12, 6},
                                         std::pair{16, 5}, std::pair{0, grid.cells(axis)}}) {
        const em::Planes planes{axis, first, count};
        const auto part = em::uniform_media(scene, grid, periodic, planes);
        std::size_t held = 0;
        for (int k = 0; k < grid.cells(2); ++k)
          for (int j = 0; j < grid.cells(1); ++j)
            for (int i = 0; i < grid.cells(0); ++i) {
              if (!part.holds({i, j, k})) continue;
              ++held;
              EXPECT_EQ(part.at(i, j, k), whole.at(i, j, k)) << i << " " << j << " " << k;
            }
        EXPECT_EQ(held, part.medium.size());
        EXPECT_EQ(held * static_cast<std::size_t>(grid.cells(axis)),
                  whole.medium.size() * static_cast<std::size_t>(count));
      }
  }
}

TEST(Scene, NamesOverlapsAndWhatLiesOutside) {
  const em::Bounds domain{{-1, -1, -1}, {1, 1, 1}};
  const Shape slab = em::box({-9, -9, -0.2}, {9, 9, 0.2});
  em::Scene scene{
      {{slab, 1, 0, "film"},
       {em::sphere({0, 0, 0.3}, 0.15), 2, 0, "particle"},              // overlaps the film
       {em::box({-0.5, -0.5, 0.2}, {0.5, 0.5, 0.4}), 3, 0, "on top"},  // shares a face with it
       {em::sphere({0, 0, 0}, 0.1), 4, 1, "core"},                     // of higher priority
       {em::sphere({0.5, 0, 0}, 0.1), 1, 0, "same medium"},
       {em::rotate(em::box({0.6, 0.6, 0.6}, {0.9, 0.9, 0.9}), em::rotation_about({0, 0, 1}, 0.01)),
        2, 0, "apart"},
       {em::sphere({1.2, 1.2, 1.2}, 0.3), 5, 0, "beyond"}},  // its bounds reach in, it does not
      0};
  const auto found = em::overlaps(scene, domain);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, 0u);
  EXPECT_EQ(found[0].second, 1u);
  EXPECT_EQ(found[1].first, 1u);  // particle and what stands on the film
  EXPECT_EQ(found[1].second, 2u);
  for (const em::Overlap& o : found) {
    EXPECT_TRUE(scene.structures[o.first].shape.contains(o.at));
    EXPECT_TRUE(scene.structures[o.second].shape.contains(o.at));
  }
  EXPECT_EQ(em::describe(found[0], scene).substr(0, 45),
            "structures 'film' and 'particle' overlap near");
  EXPECT_NE(em::describe(found[0], scene).find("'particle', the later one, is seen there"),
            std::string::npos);

  EXPECT_EQ(em::structures_outside(scene, domain), std::vector<std::size_t>{6});
}
