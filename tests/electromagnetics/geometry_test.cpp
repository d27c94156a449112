// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/geometry.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

namespace em = tessera::electromagnetics;
using em::Point;
using em::Shape;
using std::numbers::pi;

namespace {

double norm(const Point& p) { return std::hypot(p[0], p[1], p[2]); }
Point shifted(const Point& p, const Point& by, double s) {
  return {p[0] + s * by[0], p[1] + s * by[1], p[2] + s * by[2]};
}

struct Named {
  const char* name;
  Shape shape;
  double volume;
};

/// One of each kind, off the origin and turned, with its volume by school formulas.
std::vector<Named> solids() {
  const em::Rotation turn = em::rotation_about({1, 2, -0.5}, 0.7);
  // An L of three unit squares, height 0.8: area 3.
  const std::vector<std::array<double, 2>> ell{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  // A square of side 2 whose walls lean inwards by 0.2 rad over a height of 1: a frustum of a
  // pyramid.
  const double top = 2 - 2 * std::tan(0.2);
  return {
      {"box", em::box({-0.4, -0.3, -0.8}, {0.6, 0.9, 0.1}), 1.0 * 1.2 * 0.9},
      {"turned box", em::rotate(em::box({-0.4, -0.3, -0.8}, {0.6, 0.9, 0.1}), turn, {0.1, 0, 0}),
       1.08},
      {"sphere", em::sphere({0.2, -0.1, 0.3}, 0.9), 4 * pi / 3 * 0.729},
      {"ellipsoid", em::ellipsoid({0.1, 0.2, -0.1}, {1.1, 0.5, 0.7}), 4 * pi / 3 * 1.1 * 0.5 * 0.7},
      {"cylinder", em::cylinder({0.1, 0, 0.2}, 0.6, 1.4, {1, 1, 0.3}), pi * 0.36 * 1.4},
      {"cylinder y", em::cylinder({0.1, 0, 0.2}, 0.6, 1.4, {0, 2, 0}), pi * 0.36 * 1.4},
      {"cone", em::cone({0, 0.1, 0}, 1.0, 0.3, 1.2, {0, -1, 1}), pi * 1.2 / 3 * (1 + 0.3 + 0.09)},
      {"pointed cone", em::cone({0, 0.1, 0}, 0, 0.9, 1.2), pi * 1.2 / 3 * 0.81},
      {"torus", em::torus({0.1, -0.1, 0.2}, 0.8, 0.3, {1, -2, 2}), 2 * pi * pi * 0.8 * 0.09},
      {"prism", em::translate(em::prism(ell, -0.4, 0.4, 0), {0, -1, -1}), 3 * 0.8},
      {"leaning prism", em::prism({{-1, 1}, {1, 1}, {1, -1}, {-1, -1}}, -0.5, 0.5, 2, 0.2),
       (4 + top * top + 2 * top) / 3},
      {"stretched", em::scale(em::sphere({0, 0, 0}, 0.5), {2, 1.2, 0.8}, {0.1, 0, 0}),
       4 * pi / 3 * 0.125 * 2 * 1.2 * 0.8},
      {"shell", em::subtract(em::sphere({0, 0, 0}, 1), em::sphere({0, 0, 0}, 0.7)),
       4 * pi / 3 * (1 - 0.343)},
      {"lens", em::intersect({em::sphere({-0.5, 0, 0}, 1), em::sphere({0.5, 0, 0}, 1)}),
       2 * pi / 3 * 0.25 * (3 - 0.5)},  // two caps of height 1/2
      {"pair", em::unite({em::sphere({-0.6, 0, 0}, 0.5), em::box({0.1, 0, 0}, {1, 1, 1})}),
       pi / 6 + 0.9},
  };
}

// Lengths are of nanometres as well.
TEST(Geometry, RefusalsTellShortLengths) {
  try {
    em::cylinder({0, 0, 0}, 1e-7, -2.5e-9);
    FAIL() << "a cylinder of a negative height";
  } catch (const tessera::Error& e) {
    EXPECT_NE(std::string(e.what()).find("got -2.5e-09"), std::string::npos) << e.what();
  }
}

}  // namespace

// Monte-Carlo volumes: 1e5 points in [-2, 2]^3, so a standard error of 64 sqrt(p (1 - p) / 1e5) <
// 0.06.
TEST(Geometry, VolumesAgreeWithMonteCarlo) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> along(-2, 2);
  const int n = 100000;
  std::vector<Point> points(n);
  for (Point& p : points) p = {along(random), along(random), along(random)};
  for (const Named& s : solids()) {
    int inside = 0;
    for (const Point& p : points) inside += s.shape.contains(p);
    const double share = s.volume / 64, error = 64 * std::sqrt(share * (1 - share) / n);
    EXPECT_NEAR(64.0 * inside / n, s.volume, 4 * error) << s.name;
  }
}

TEST(Geometry, DistanceHasTheSignOfContainsAndBoundsHoldTheShape) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> along(-2, 2);
  const auto all = solids();
  for (int i = 0; i < 5000; ++i) {
    const Point p{along(random), along(random), along(random)};
    for (const Named& s : all) {
      const double d = s.shape.signed_distance(p);
      EXPECT_EQ(d < 0, s.shape.contains(p)) << s.name << " at distance " << d;
      if (d >= 0) continue;
      const em::Bounds& b = s.shape.bounds();
      for (int k = 0; k < 3; ++k) EXPECT_TRUE(b.low[k] <= p[k] && p[k] <= b.high[k]) << s.name;
    }
  }
}

// What makes a function a distance: |grad| = 1, and the point reached by going back along the
// gradient lies on the surface.
TEST(Geometry, NormalIsTheGradientAndLeadsToTheSurface) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> along(-1.5, 1.5);
  for (const Named& s : solids()) {
    const bool exact = std::string(s.name) != "stretched";
    int checked = 0;
    for (int i = 0; i < 3000; ++i) {
      const Point p{along(random), along(random), along(random)};
      const double d = s.shape.signed_distance(p);
      const Point n = s.shape.normal(p);
      EXPECT_NEAR(norm(n), 1, 1e-12) << s.name;
      if (std::abs(d) > 0.05) continue;
      const double left = s.shape.signed_distance(shifted(p, n, -d));
      // Inside a concave edge the nearest face may end before the foot; the leaning walls and
      // combinations take the larger of several distances beyond their edges.
      if (std::abs(left) > 1e-9 && std::string(s.name) != "stretched") continue;
      EXPECT_LT(std::abs(left), exact ? 1e-9 : 5 * d * d) << s.name;
      const double h = 1e-5;
      bool smooth = true;
      Point gradient;
      for (int k = 0; k < 3; ++k) {
        Point e{};
        e[k] = 1;
        const double up = s.shape.signed_distance(shifted(p, e, h)),
                     down = s.shape.signed_distance(shifted(p, e, -h));
        smooth = smooth && std::abs(up + down - 2 * d) < 1e-8;  // no edge in between
        gradient[k] = (up - down) / (2 * h);
      }
      if (!smooth) continue;
      ++checked;
      if (!exact) continue;
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(gradient[k], n[k], 1e-7) << s.name;
    }
    EXPECT_GT(checked, 40) << s.name;
  }
}

// Distances against the nearest of many points of the surface.
TEST(Geometry, DistanceToRoundSolidsAgreesWithTheNearestOfManyPoints) {
  const Point axes{1.3, 0.5, 0.8};
  const Shape ellipsoid = em::ellipsoid({0, 0, 0}, axes);
  const Shape cone = em::cone({0, 0, 0}, 1.0, 0.3, 1.2);
  for (const Point& p :
       {Point{0.2, 0.1, 0.05}, Point{1.5, 0.4, -0.6}, Point{0.1, 0, 0}, Point{0, 0, 0},
        Point{0, 0.2, 0.9}, Point{0.9, 0, 0.9}, Point{0.3, -0.2, -0.8}}) {
    double to_ellipsoid = 1e9, to_cone = 1e9;
    const int n = 700;
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j < n; ++j) {
        const double t = pi * i / n, f = 2 * pi * j / n;
        to_ellipsoid = std::min(to_ellipsoid, norm({p[0] - axes[0] * std::sin(t) * std::cos(f),
                                                    p[1] - axes[1] * std::sin(t) * std::sin(f),
                                                    p[2] - axes[2] * std::cos(t)}));
        for (int part = 0; part < 3; ++part) {  // low cap, side, high cap
          const double u = double(i) / n, r = part == 0 ? u : part == 1 ? 1 - 0.7 * u : 0.3 * u;
          const double z = part == 0 ? -0.6 : part == 1 ? -0.6 + 1.2 * u : 0.6;
          to_cone =
              std::min(to_cone, norm({p[0] - r * std::cos(f), p[1] - r * std::sin(f), p[2] - z}));
        }
      }
    // The surface points are h = 0.006 apart: off by h^2/(8 distance), or by h/2 near the surface.
    EXPECT_NEAR(std::abs(ellipsoid.signed_distance(p)), to_ellipsoid, 1e-4);
    EXPECT_NEAR(std::abs(cone.signed_distance(p)), to_cone, 1e-4);
  }
  EXPECT_NEAR(ellipsoid.signed_distance({0, 0, 0}), -0.5, 1e-15);
  EXPECT_NEAR(ellipsoid.signed_distance({2.3, 0, 0}), 1.0, 1e-15);
}

TEST(Geometry, BoundsAreTight) {
  const auto check = [](const Shape& s, const Point& low, const Point& high) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(s.bounds().low[k], low[k], 1e-14);
      EXPECT_NEAR(s.bounds().high[k], high[k], 1e-14);
    }
  };
  const double d = std::sqrt(0.5);
  check(em::cylinder({0, 0, 0}, 1, 2, {1, 1, 0}), {-2 * d, -2 * d, -1}, {2 * d, 2 * d, 1});
  check(em::torus({0, 0, 0}, 1, 0.25, {1, 0, 0}), {-0.25, -1.25, -1.25}, {0.25, 1.25, 1.25});
  check(em::torus({0, 0, 0}, 1, 0.25, {1, 1, 0}), {-d - 0.25, -d - 0.25, -1.25},
        {d + 0.25, d + 0.25, 1.25});
  check(em::rotate(em::ellipsoid({1, 0, 0}, {2, 1, 1}), em::rotation_about({0, 0, 1}, pi / 2)),
        {-1, -1, -1}, {1, 3, 1});
  check(em::scale(em::sphere({1, 1, 1}, 1), {1, 2, 3}, {1, 0, 0}), {0, 0, 0}, {2, 4, 6});
  check(em::intersect({em::sphere({0, 0, 0}, 1), em::half_space({0.5, 0, 0}, {-2, 0, 0})}),
        {0.5, -1, -1}, {1, 1, 1});
  EXPECT_TRUE(Shape().bounds().empty());
  EXPECT_FALSE(Shape().contains({0, 0, 0}));
  EXPECT_EQ(Shape().signed_distance({0, 0, 0}), INFINITY);
}

// Turned by right angles: cos(pi/2) is 6e-17, and times infinity it would be infinite.
TEST(Geometry, InfiniteBodiesAreSoAlongTheirOwnAxisAlone) {
  const auto expect_bounds = [](const Shape& s, const Point& low, const Point& high) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_DOUBLE_EQ(s.bounds().low[k], low[k]) << k;
      EXPECT_DOUBLE_EQ(s.bounds().high[k], high[k]) << k;
    }
  };
  const double inf = INFINITY;
  const Shape guide = em::box({-inf, -1, -2}, {inf, 1, 2});
  for (const double turn : {pi / 2, -pi / 2, 3 * pi / 2, 5 * pi / 2})
    expect_bounds(em::rotate(guide, em::rotation_about({0, 0, 1}, turn)), {-1, -inf, -2},
                  {1, inf, 2});
  expect_bounds(em::rotate(guide, em::rotation_about({0, 0, 1}, pi)), {-inf, -1, -2}, {inf, 1, 2});
  const em::Rotation half = em::rotation_about({0, 0, 1}, pi / 4);
  const Shape twice = em::rotate(em::rotate(guide, half), half);
  EXPECT_NEAR(twice.bounds().high[0], 1, 1e-14);
  EXPECT_EQ(twice.bounds().high[1], inf);
  expect_bounds(em::rotate(em::cylinder({0, 0, 0}, 1, inf), em::rotation_about({1, 0, 0}, pi / 2)),
                {-1, -inf, -1}, {1, inf, 1});
  // A sheet stays one.
  const Shape sheet = em::rotate(em::box({-6, -5, 0}, {4, 5, 0}),
                                 em::rotation_about({0, 1, 0}, pi / 2), {-1, 0, 0});
  expect_bounds(sheet, {-1, -5, -5}, {-1, 5, 5});
}

// A rim of two rings and a square within one of them, raised: as the prisms that it is made of.
TEST(Geometry, APrismOfARimIsThatOfItsParts) {
  const auto square = [](double x, double y, double a) {
    return std::vector<std::array<double, 2>>{{x, y}, {x + a, y}, {x + a, y + a}, {x, y + a}};
  };
  std::vector<tessera::data::Side> sides;
  const auto add = [&](std::vector<std::array<double, 2>> c, bool hole) {
    if (hole) std::reverse(c.begin(), c.end());
    for (std::size_t k = 0; k < 4; ++k) sides.push_back({c[k], c[(k + 1) % 4]});
  };
  add(square(0, 0, 1), false), add(square(0.25, 0.25, 0.5), true);
  add(square(0.375, 0.375, 0.25), false), add(square(1.5, 0, 0.5), false);
  for (const int axis : {0, 1, 2})
    for (const double lean : {0.0, 0.1, -0.1}) {
      const auto tree = std::make_shared<const tessera::data::SideTree>(sides);
      const Shape rim = em::prism(tree, 0, 0.5, axis, lean);
      const auto plain = [&](double x, double y, double a, double l) {
        return em::prism(square(x, y, a), 0, 0.5, axis, l);
      };
      // A wall that leans inwards leans outwards as that of a hole. The rims of holes are round at
      // their corners then, so points near these are left out.
      const Shape parts =
          em::unite({em::subtract(plain(0, 0, 1, lean), plain(0.25, 0.25, 0.5, -lean)),
                     plain(0.375, 0.375, 0.25, lean), plain(1.5, 0, 0.5, lean)});
      std::mt19937_64 random(2);
      std::uniform_real_distribution<double> along(-0.3, 2.3);
      for (int k = 0; k < 2000; ++k) {
        Point p;
        p[static_cast<std::size_t>(axis)] = along(random) / 3;
        const double u = along(random), v = along(random);
        p[static_cast<std::size_t>((axis + 1) % 3)] = u;
        p[static_cast<std::size_t>((axis + 2) % 3)] = v;
        EXPECT_EQ(rim.contains(p), parts.contains(p)) << u << " " << v;
        if (lean == 0 && rim.contains(p)) {
          EXPECT_NEAR(rim.signed_distance(p), parts.signed_distance(p), 1e-12);
        }
      }
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(rim.bounds().low[k], parts.bounds().low[k], 1e-14);
        EXPECT_NEAR(rim.bounds().high[k], parts.bounds().high[k], 1e-14);
      }
    }
}

// A point on a shared face, edge or corner belongs to exactly one of the solids that meet there.
TEST(Geometry, PointsOnSharedFacesHaveOneOwner) {
  std::vector<Shape> cubes;  // 2 x 2 x 2 about the origin
  for (int i = 0; i < 8; ++i) {
    const double x = i % 2 - 1, y = i / 2 % 2 - 1, z = i / 4 - 1;
    cubes.push_back(em::box({x, y, z}, {x + 1, y + 1, z + 1}));
  }
  const Shape ball = em::sphere({0, 0, 0}, 0.5);
  const std::vector<Shape> with_ball{ball, em::complement(ball)};
  const em::Shape left = em::cylinder({-0.5, 0, 0}, 0.5, 1, {1, 0, 0}),
                  right = em::cylinder({0.5, 0, 0}, 0.5, 1, {1, 0, 0});
  const std::vector<Shape> triangles{em::prism({{-1, -1}, {1, -1}, {1, 0.5}}, -1, 1),
                                     em::prism({{-1, -1}, {1, 0.5}, {-1, 1}}, -1, 1),
                                     em::prism({{-1, 1}, {1, 0.5}, {1, 1}}, -1, 1)};
  const auto owners = [](const std::vector<Shape>& shapes, const Point& p) {
    int n = 0;
    for (const Shape& s : shapes) n += s.contains(p);
    return n;
  };
  for (double x : {-0.5, 0.0, 0.25})
    for (double y : {-0.5, 0.0, 0.25})
      for (double z : {-0.5, 0.0, 0.25}) {
        EXPECT_EQ(owners(cubes, {x, y, z}), 1);
        EXPECT_EQ(owners(with_ball, {x, y, z}), 1);
        EXPECT_EQ(owners(triangles, {x, y, z}), 1);
      }
  EXPECT_EQ(owners({left, right}, {0, 0.2, 0.1}), 1);
  for (int i = -8; i < 8; ++i)
    EXPECT_EQ(owners(triangles, {i / 8.0, -1 + (i / 8.0 + 1) * 0.75, 0}), 1);
  // A step of +x decides.
  EXPECT_TRUE(ball.contains({-0.5, 0, 0}));
  EXPECT_FALSE(ball.contains({0.5, 0, 0}));
  EXPECT_TRUE(ball.contains({0, -0.5, 0}));
  EXPECT_FALSE(ball.contains({0, 0, 0.5}));
}

TEST(Geometry, SheetsHoldNoPointButHaveADistance) {
  const Shape sheet = em::box({0, 0, 1}, {2, 3, 1});
  EXPECT_FALSE(sheet.contains({1, 1, 1}));
  EXPECT_EQ(sheet.signed_distance({1, 1, 1}), 0);
  EXPECT_EQ(sheet.signed_distance({1, 1, 1.5}), 0.5);
  const Shape slab = em::box({-INFINITY, -INFINITY, 0}, {INFINITY, INFINITY, 1});
  EXPECT_EQ(slab.signed_distance({5, 7, 0.25}), -0.25);
  EXPECT_TRUE(slab.contains({1e9, -1e9, 0}));
}

TEST(Geometry, ScaledByOneFactorDistancesScale) {
  const Shape s = em::cone({0.1, 0.2, 0.3}, 0.4, 0.1, 0.7, {1, 1, 1});
  const Shape t = em::scale(s, 2.5, {1, 0, 0});
  for (const Point& p : {Point{0.1, 0.2, 0.2}, Point{0.5, 0.5, 0.5}, Point{-1, 0, 2}})
    EXPECT_NEAR(t.signed_distance({1 + 2.5 * (p[0] - 1), 2.5 * p[1], 2.5 * p[2]}),
                2.5 * s.signed_distance(p), 1e-14);
}

TEST(Geometry, RefusesWhatHasNoInside) {
  const auto message = [](const auto& make) {
    try {
      make();
    } catch (const tessera::Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([] {
              em::prism({{0, 0}, {1, 1}, {1, 0}, {0, 1}}, 0, 1);
            }),
            "[prism] the outline crosses or touches itself: side 0-1 meets side 2-3; unite several "
            "prisms, or "
            "subtract one for a hole");
  EXPECT_NE(message([] {
              em::prism({{0, 0}, {2, 0}, {2, 2}, {1, 0}, {0, 2}}, 0, 1);
            }).find("touches"),
            std::string::npos);
  EXPECT_NE(message([] {
              em::prism({{0, 0}, {2, 0}, {1, 0}}, 0, 1);
            }).find("runs back"),
            std::string::npos);
  EXPECT_NE(message([] {
              em::prism({{0, 0}, {0, 0}, {1, 0}, {0, 1}}, 0, 1);
            }).find("coincide"),
            std::string::npos);
  EXPECT_NE(message([] {
              em::prism({{0, 0}, {1, 0}}, 0, 1);
            }).find("at least 3"),
            std::string::npos);
  EXPECT_NE(message([] { em::sphere({0, 0, 0}, -1); }).find("[sphere]"), std::string::npos);
  EXPECT_NE(message([] { em::sphere({0, NAN, 0}, 1); }).find("[sphere]"), std::string::npos);
  EXPECT_NE(message([] { em::torus({0, 0, 0}, 1, 1); }).find("[torus]"), std::string::npos);
  EXPECT_NE(message([] { em::box({0, 0, 0}, {1, -1, 1}); }).find("[box]"), std::string::npos);
  EXPECT_NE(message([] {
              em::half_space({0, 0, 0}, {0, 0, 0});
            }).find("no direction"),
            std::string::npos);
  EXPECT_NE(message([] {
              em::scale(em::sphere({0, 0, 0}, 1), -1);
            }).find("[scale]"),
            std::string::npos);
  EXPECT_NE(message([] {
              em::rotate(em::sphere({0, 0, 0}, 1), {{{1, 0, 0}, {0, 1, 0}, {0, 0, -2}}});
            }).find("no rotation"),
            std::string::npos);
}
