// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/section.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

namespace em = tessera::electromagnetics;
using em::Point;
using em::Shape;
using Point2 = std::array<double, 2>;
using Lines = std::vector<em::SectionLine>;

namespace {

/// The square from -1 to 1 in steps of 1/500.
em::SectionWindow square(int axis = 2, double at = 0) {
  return {.axis = axis, .at = at, .low = {-1, -1}, .high = {1, 1}, .steps = {1000, 1000}};
}
constexpr double kStep = 2.0 / 1000;

Lines lines(const std::vector<em::Structure>& structures, const em::SectionWindow& w = square()) {
  return em::section_lines(em::SceneOrder({structures, 0}), w);
}

double length(const em::SectionLine& line) {
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i)
    sum += std::hypot(line[i][0] - line[i - 1][0], line[i][1] - line[i - 1][1]);
  return sum;
}
double length(const Lines& all) {
  double sum = 0;
  for (const auto& line : all) sum += length(line);
  return sum;
}
bool closed(const em::SectionLine& line) { return line.front() == line.back(); }

/// Points of the lines, a quarter of a step apart, not only their corners.
template <class Visit>
void walk(const Lines& all, Visit visit) {
  for (const auto& line : all)
    for (std::size_t i = 1; i < line.size(); ++i) {
      const int parts = 1 + static_cast<int>(std::hypot(line[i][0] - line[i - 1][0],
                                                        line[i][1] - line[i - 1][1]) /
                                             (kStep / 4));
      for (int k = 0; k <= parts; ++k) {
        const double t = double(k) / parts;
        visit(Point2{line[i - 1][0] + t * (line[i][0] - line[i - 1][0]),
                     line[i - 1][1] + t * (line[i][1] - line[i - 1][1])});
      }
    }
}
double distance(const Lines& all, const Point2& p) {
  double least = INFINITY;
  for (const auto& line : all)
    for (std::size_t i = 1; i < line.size(); ++i) {
      const Point2 &a = line[i - 1], &b = line[i];
      const double du = b[0] - a[0], dv = b[1] - a[1], square = du * du + dv * dv;
      const double t =
          square > 0 ? std::clamp(((p[0] - a[0]) * du + (p[1] - a[1]) * dv) / square, 0.0, 1.0) : 0;
      least = std::min(least, std::hypot(p[0] - a[0] - t * du, p[1] - a[1] - t * dv));
    }
  return least;
}
/// The point of the plane, in space.
Point in_space(const em::SectionWindow& w, const Point2& p) {
  Point out{w.at, w.at, w.at};
  out[w.axis == 0 ? 1 : 0] = p[0];
  out[w.axis == 2 ? 1 : 2] = p[1];
  return out;
}

}  // namespace

// A plane at height h cuts a sphere of radius r in a circle of radius sqrt(r^2 - h^2), whichever
// axis it is across.
TEST(Section, ASphereIsCutInACircle) {
  for (int axis = 0; axis < 3; ++axis) {
    const Point centre{0.1, -0.2, 0.3};
    const em::SectionWindow w = square(axis, 0.25);
    const double h = w.at - centre[axis], radius = std::sqrt(0.36 - h * h);
    const Point2 middle{centre[axis == 0 ? 1 : 0], centre[axis == 2 ? 1 : 2]};
    const Lines all = lines({{em::sphere(centre, 0.6), 1}}, w);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(closed(all[0]));
    EXPECT_LT(all[0].size(), 300U) << "a circle needs few points";
    for (const Point2& p : all[0])
      EXPECT_NEAR(std::hypot(p[0] - middle[0], p[1] - middle[1]), radius, 0.012 * kStep);
    walk(all, [&](const Point2& p) {
      EXPECT_NEAR(std::hypot(p[0] - middle[0], p[1] - middle[1]), radius, 0.13 * kStep);
    });
    EXPECT_NEAR(length(all), 2 * std::numbers::pi * radius, 1e-3 * radius);
  }
}

TEST(Section, ATiltedBlockIsItsFourEdgesWithSharpCorners) {
  const double angle = 0.3;
  const Shape block =
      em::rotate(em::box({-0.5, -0.2, -1}, {0.5, 0.2, 1}), em::rotation_about({0, 0, 1}, angle));
  const Lines all = lines({{block, 1}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_LE(all[0].size(), 14U);
  walk(all, [&](const Point2& p) {
    EXPECT_LT(std::abs(block.signed_distance({p[0], p[1], 0})), 0.13 * kStep);
  });
  for (const Point2& c : {Point2{-0.5, -0.2}, {0.5, -0.2}, {0.5, 0.2}, {-0.5, 0.2}}) {
    const Point2 turned{c[0] * std::cos(angle) - c[1] * std::sin(angle),
                        c[0] * std::sin(angle) + c[1] * std::cos(angle)};
    EXPECT_LT(distance(all, turned), 0.2 * kStep);
  }
  EXPECT_NEAR(length(all), 2.8, 2 * kStep);
}

TEST(Section, ABodyThatIsCoveredLeavesNoLine) {
  const Shape left = em::cylinder({-0.2, 0, 0}, 0.4, 1), right = em::cylinder({0.2, 0, 0}, 0.4, 1);
  for (const auto& [a, b] : {std::pair{0, 0}, {1, 0}}) {
    const Lines all = lines({{left, 1, a}, {right, 2, b}});
    const Shape& upper = a > b ? left : right;
    // Both circles meet where x = 0: the lower one has an arc of 2 (pi - acos(1/2)) left.
    EXPECT_NEAR(length(all), 0.4 * (2 * std::numbers::pi + 4 * std::numbers::pi / 3), 4 * kStep);
    walk(all, [&](const Point2& p) {
      EXPECT_GT(upper.signed_distance({p[0], p[1], 0}), -1.5 * kStep);
    });
  }
  EXPECT_EQ(lines({{em::sphere({0, 0, 0}, 0.3), 1}, {em::sphere({0, 0, 0}, 0.5), 2}}).size(), 1U);
}

TEST(Section, BodiesOfOneMediumAreOne) {
  const Shape left = em::cylinder({-0.2, 0, 0}, 0.4, 1), right = em::cylinder({0.2, 0, 0}, 0.4, 1);
  const double rim = 0.4 * 8 * std::numbers::pi / 3;
  EXPECT_NEAR(length(lines({{left, 1}, {right, 1}})), rim, 4 * kStep);
  EXPECT_NEAR(length(lines({{em::unite({left, right}), 1}})), rim, 4 * kStep);
  // Two that share a face.
  EXPECT_NEAR(length(lines({{em::box({-0.5, -0.5, -1}, {0, 0.5, 1}), 1},
                            {em::box({0, -0.5, -1}, {0.5, 0.5, 1}), 1}})),
              4, 4 * kStep);
  // Of different media the face is drawn, once.
  EXPECT_NEAR(length(lines({{em::box({-0.5, -0.5, -1}, {0, 0.5, 1}), 1},
                            {em::box({0, -0.5, -1}, {0.5, 0.5, 1}), 2}})),
              5, 6 * kStep);
  EXPECT_TRUE(lines({{left, 0}}).empty()) << "what is of the background";
  // A hole that the background fills is seen.
  EXPECT_EQ(lines({{em::sphere({0, 0, 0}, 0.5), 1}, {em::sphere({0, 0, 0}, 0.2), 0}}).size(), 2U);
}

TEST(Section, NothingIsDrawnWhereThePlaneCutsNothing) {
  EXPECT_TRUE(lines({}).empty());
  EXPECT_TRUE(lines({{em::sphere({0, 0, 0.5}, 0.4), 1}}).empty());
  EXPECT_TRUE(lines({{em::sphere({3, 0, 0}, 0.4), 1}}).empty());
  EXPECT_TRUE(lines({{em::box({-2, -2, -2}, {2, 2, 2}), 1}}).empty()) << "it fills the window";
  // Bounds reach across the plane, the body does not.
  EXPECT_TRUE(lines({{em::rotate(em::cylinder({0, 0, 0.2}, 0.05, 1),
                                 em::rotation_about({1, 0, 0}, std::numbers::pi / 2), {0, 0, 0.2}),
                      1}},
                    square(2, 0.1))
                  .empty());
}

TEST(Section, SheetsAndThinWallsAreSeenHoweverTheyLie) {
  const Shape sheet = em::box({-0.5, 0.0003, -1}, {0.5, 0.0003, 1});
  for (const double angle : {0.0, 0.1, 0.7, 1.5}) {
    const Lines all = lines({{em::rotate(sheet, em::rotation_about({0, 0, 1}, angle)), 1}});
    ASSERT_EQ(all.size(), 1U) << angle;
    EXPECT_NEAR(length(all), 2, 4 * kStep) << "there and back";
    walk(all, [&](const Point2& p) {
      EXPECT_LT(std::abs(-p[0] * std::sin(angle) + p[1] * std::cos(angle) - 0.0003), 0.13 * kStep);
    });
  }
  // In the plane: its rim.
  EXPECT_NEAR(length(lines({{em::box({-0.5, -0.3, 0}, {0.5, 0.3, 0}), 1}})), 3.2, 4 * kStep);
  EXPECT_TRUE(lines({{em::box({-0.5, -0.3, 0.01}, {0.5, 0.3, 0.01}), 1}}).empty());
  // A tube with a wall of a tenth of a step.
  const Lines tube = lines(
      {{em::subtract(em::cylinder({0, 0, 0}, 0.5, 1), em::cylinder({0, 0, 0}, 0.5 - kStep / 10, 1)),
        1}});
  EXPECT_NEAR(length(tube), 2 * 2 * std::numbers::pi * 0.5, 4 * kStep);
  walk(tube, [&](const Point2& p) { EXPECT_NEAR(std::hypot(p[0], p[1]), 0.5, 0.25 * kStep); });
}

TEST(Section, TheRimOfTheWindowIsNoLine) {
  // As at a mirror: whole or half, the body ends there without a seam.
  for (const Shape& body : {em::cylinder({0, -1, 0}, 0.5, 1),
                            em::intersect({em::cylinder({0, -1, 0}, 0.5, 1),
                                           em::half_space({0, -1, 0}, {0, -1, 0})})}) {
    const Lines all = lines({{body, 1}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_FALSE(closed(all[0]));
    EXPECT_NEAR(all[0].front()[1], -1, 0.6 * kStep);
    EXPECT_NEAR(all[0].back()[1], -1, 0.6 * kStep);
    EXPECT_NEAR(length(all), std::numbers::pi * 0.5, 2 * kStep);
  }
  EXPECT_TRUE(lines({{em::box({-3, 1, -1}, {3, 2, 1}), 1}}).empty())
      << "it touches the window from outside";
}

TEST(Section, AMirroredSceneHasMirroredLines) {
  const std::vector<em::Structure> scene{
      {em::rotate(em::box({-0.3, 0.1, -1}, {0.5, 0.7, 1}), em::rotation_about({0, 0, 1}, 0.4)), 1},
      {em::sphere({0.1, 0.5, 0.1}, 0.3), 2}};
  const std::vector<em::Structure> image{
      {em::rotate(em::box({-0.3, -0.7, -1}, {0.5, -0.1, 1}), em::rotation_about({0, 0, 1}, -0.4)),
       1},
      {em::sphere({0.1, -0.5, 0.1}, 0.3), 2}};
  const Lines there = lines(scene), here = lines(image);
  EXPECT_NEAR(length(here), length(there), 4 * kStep);
  walk(there, [&](const Point2& p) { EXPECT_LT(distance(here, {p[0], -p[1]}), 1.5 * kStep); });
}

TEST(Section, AThousandSpheresAreAThousandCircles) {
  std::vector<em::Structure> many;
  std::vector<Shape> parts;
  for (int i = 0; i < 1000; ++i) {
    const Point centre{-0.95 + 0.05 * (i % 39), -0.95 + 0.07 * (i / 39), 0.001 * (i % 7)};
    parts.push_back(em::sphere(centre, 0.02));
    many.push_back({parts.back(), 1});
  }
  const Lines apart = lines(many), united = lines({{em::unite(parts), 1}});
  EXPECT_EQ(apart.size(), 1000U);
  EXPECT_EQ(apart, united);
  for (const auto& line : apart) EXPECT_TRUE(closed(line));
}

TEST(Section, StretchedWindowsShowTheSame) {
  // A guide 100 long and 1 wide: what is drawn wide and flat.
  const em::SectionWindow w{
      .axis = 2, .at = 0, .low = {0, -0.5}, .high = {100, 0.5}, .steps = {1000, 300}};
  const Lines all = lines({{em::box({-INFINITY, -0.2, -1}, {INFINITY, 0.2, 1}), 1},
                           {em::cylinder({50, 0, 0}, 0.1, 2), 0}},
                          w);
  std::size_t straight = 0;
  Lines hole;
  for (const auto& line : all) {
    if (length(line) < 50) {
      hole.push_back(line);
      continue;
    }
    ++straight;
    EXPECT_EQ(line.size(), 2U);
    EXPECT_NEAR(std::abs(line[0][1]), 0.2, 0.1 / 300);
    EXPECT_NEAR(length(line), 100, 1e-9);
  }
  EXPECT_EQ(straight, 2U);
  // A hole that is two steps wide and sixty high.
  for (const auto& line : hole)
    for (const Point2& p : line) EXPECT_NEAR(std::hypot(p[0] - 50, p[1]), 0.1, 0.02);
  for (int k = 0; k < 12; ++k)
    EXPECT_LT(distance(hole, {50 + 0.1 * std::cos(k * std::numbers::pi / 6),
                              0.1 * std::sin(k * std::numbers::pi / 6)}),
              0.02);
}

// Against the medium at points: on either side of a line two media are seen, and where a short way
// leads from one medium into another there is a line.
TEST(Section, LinesPartMediaAndMediaArePartedByLines) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto point = [&] { return Point{u(random), u(random), u(random)}; };
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<em::Structure> structures;
    for (int i = 0; i < 6; ++i) {
      Shape shape;
      switch (i % 4) {
        case 0:
          shape = em::sphere(point(), 0.4 + 0.3 * u(random));
          break;
        case 1:
          shape = em::rotate(em::box({-0.5, -0.2, -0.6}, {0.4, 0.3, 0.5}),
                             em::rotation_about(point(), u(random)), point());
          break;
        case 2:
          shape = em::cylinder(point(), 0.3, 0.9, point());
          break;
        default:
          shape = em::subtract(em::ellipsoid(point(), {0.9, 0.5, 0.7}),
                               em::cone(point(), 0.1, 0.4, 1, point()));
      }
      structures.push_back({shape, i % 3, static_cast<int>(2 * u(random))});
    }
    const em::SceneOrder scene({structures, 0});
    const em::SectionWindow w = square(trial % 3, 0.3 * u(random));
    const Lines all = em::section_lines(scene, w);
    int asked = 0, apart = 0;
    walk(all, [&](const Point2& p) {
      ++asked;
      std::set<int> media;
      for (int k = 0; k < 8; ++k) {
        const double a = k * std::numbers::pi / 4;
        media.insert(em::medium_at(
            scene, in_space(w, {p[0] + kStep * std::cos(a), p[1] + kStep * std::sin(a)})));
      }
      apart += media.size() > 1;
    });
    EXPECT_GT(asked, 100);
    EXPECT_GE(apart, 0.998 * asked) << "but for flat corners of two lines";
    for (int n = 0; n < 4000; ++n) {
      const Point2 p{0.99 * u(random), 0.99 * u(random)};
      const double a = std::numbers::pi * u(random), far = 4 * kStep;
      const Point2 q{p[0] + far * std::cos(a), p[1] + far * std::sin(a)};
      if (em::medium_at(scene, in_space(w, p)) == em::medium_at(scene, in_space(w, q))) continue;
      EXPECT_LT(distance(all, {(p[0] + q[0]) / 2, (p[1] + q[1]) / 2}), far / 2 + 1.5 * kStep)
          << trial << ": " << p[0] << ", " << p[1];
    }
  }
}

TEST(Section, WindowsThatAreNoneAreRefused) {
  EXPECT_THROW(lines({}, {.axis = 3, .at = 0, .low = {0, 0}, .high = {1, 1}}), tessera::Error);
  EXPECT_THROW(lines({}, {.axis = 2, .at = NAN, .low = {0, 0}, .high = {1, 1}}), tessera::Error);
  EXPECT_THROW(lines({}, {.axis = 2, .at = 0, .low = {0, 1}, .high = {1, 1}}), tessera::Error);
  EXPECT_THROW(lines({}, {.axis = 2, .at = 0, .low = {0, 0}, .high = {1, 1}, .steps = {0, 4}}),
               tessera::Error);
}
