// SPDX-License-Identifier: Apache-2.0
//
// Solids of triangles: shares and distances against the primitives that they are drawn from, and
// drawings with gaps, overlaps and triangles that face the wrong way.
#include "tessera/electromagnetics/surface_mesh.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;

/// A surface over (u, v), closed along v and, if `ring`, along u; else its two ends are points.
SurfaceTriangles wound(int n_u, int n_v, bool ring,
                       const std::function<Point(double, double)>& at) {
  SurfaceTriangles s;
  const int rows = ring ? n_u : n_u + 1;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n_v; ++j) s.points.push_back(at(double(i) / n_u, double(j) / n_v));
  const auto number = [&](int i, int j) {
    return static_cast<std::uint32_t>((i % rows) * n_v + j % n_v);
  };
  for (int i = 0; i < n_u; ++i)
    for (int j = 0; j < n_v; ++j) {
      if (ring || i > 0) s.triangles.push_back({number(i, j), number(i + 1, j), number(i, j + 1)});
      if (ring || i + 1 < n_u)
        s.triangles.push_back({number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)});
    }
  return s;
}

SurfaceTriangles ball_of(int n, double r, const Point& c = {}) {
  SurfaceTriangles s = wound(n, 2 * n, false, [&](double u, double v) {
    const double t = pi * u, f = 2 * pi * v;
    const double across = u == 0 || u == 1 ? 0 : r * std::sin(t);
    return Point{c[0] + across * std::cos(f), c[1] + across * std::sin(f), c[2] + r * std::cos(t)};
  });
  return s;
}

SurfaceTriangles ring_of(int n, double ring, double tube, const Point& c = {}) {
  return wound(n, n, true, [&](double u, double v) {
    const double f = 2 * pi * u, t = 2 * pi * v, rho = ring + tube * std::cos(t);
    return Point{c[0] + rho * std::cos(f), c[1] + rho * std::sin(f), c[2] + tube * std::sin(t)};
  });
}

SurfaceTriangles block_of(const Point& low, const Point& high) {
  SurfaceTriangles s;
  for (int n = 0; n < 8; ++n)
    s.points.push_back(
        {n & 1 ? high[0] : low[0], n & 2 ? high[1] : low[1], n & 4 ? high[2] : low[2]});
  constexpr std::uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& f : faces) {
    s.triangles.push_back({f[0], f[1], f[2]});
    s.triangles.push_back({f[0], f[2], f[3]});
  }
  return s;
}

SurfaceTriangles both(SurfaceTriangles a, const SurfaceTriangles& b) {
  const auto n = static_cast<std::uint32_t>(a.points.size());
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (const auto& t : b.triangles) a.triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
  return a;
}

YeeGrid cube(int n, double low, double high) {
  YeeGrid grid;
  for (auto& lines : grid.lines)
    for (int i = 0; i <= n; ++i) lines.push_back(low + (high - low) * i / n);
  return grid;
}

SceneOrder one_body(const Shape& s) { return SceneOrder({.structures = {{s, 1, 0, "body"}}}); }

double volume_on(const YeeGrid& grid, const Shape& shape) {
  const SceneOrder scene = one_body(shape);
  const int n = grid.cells(0);
  double sum = 0;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const Point size{grid.length(0, i), grid.length(1, j), grid.length(2, k)};
        for (const Share& s :
             fill(scene, {grid.middle(0, i), grid.middle(1, j), grid.middle(2, k)}, size).media)
          if (s.medium == 1) sum += s.fraction * size[0] * size[1] * size[2];
      }
  return sum;
}

}  // namespace

TEST(SurfaceMesh, SharesOfAClosedSurfaceSumToItsVolume) {
  const YeeGrid grid = cube(14, -1, 1);
  for (const SurfaceTriangles& s :
       {ball_of(20, 0.83, {0.03, -0.05, 0.01}), ball_of(4, 0.83), ring_of(24, 0.6, 0.27),
        block_of({-0.4, -0.31, -1 + 4.0 / 7}, {0.55, 0.6, 1 - 2.0 / 7})}) {
    const SurfaceSolid solid = surface_solid(s);
    EXPECT_TRUE(solid.found.clean()) << solid.found.text();
    EXPECT_NEAR(volume_on(grid, solid.shape), solid.found.volume, 1e-12);
    const Shape turned = rotate(solid.shape, rotation_about({1, 2, -0.5}, 0.7), {0.1, 0, 0});
    EXPECT_NEAR(volume_on(grid, turned), solid.found.volume, 1e-12);
    EXPECT_NEAR(volume_on(grid, translate(scale(solid.shape, 0.8), {0.05, 0, -0.1})),
                0.512 * solid.found.volume, 1e-12);
    EXPECT_NEAR(volume_on(grid, subtract(box({-1, -1, -1}, {1, 1, 1}), solid.shape)),
                8 - solid.found.volume, 1e-9);
  }
}

// A ball of n strips lies within the sphere, at most r (pi/n)^2 below it.
TEST(SurfaceMesh, DistancesAndSidesAreThoseOfTheSphere) {
  const int n = 60;
  const Shape mesh = surface_solid(ball_of(n, 0.8, {0.1, 0, 0})).shape,
              ball = sphere({0.1, 0, 0}, 0.8);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> along(-1.2, 1.2);
  const double off = 0.8 * (pi / n) * (pi / n);
  for (int k = 0; k < 3000; ++k) {
    const Point p{along(random), along(random), along(random)};
    const double d = ball.signed_distance(p);
    EXPECT_NEAR(mesh.signed_distance(p), d, 1.01 * off);
    if (std::abs(d) > off) {
      EXPECT_EQ(mesh.contains(p), d < 0);
    }
    const Point g = mesh.normal(p), e = ball.normal(p);
    if (std::abs(d) > 0.05 && std::abs(d) < 0.6) {
      EXPECT_GT(g[0] * e[0] + g[1] * e[1] + g[2] * e[2], 0.99);
    }
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(mesh.bounds().low[k], ball.bounds().low[k], off);
    EXPECT_NEAR(mesh.bounds().high[k], ball.bounds().high[k], off);
  }
}

// A block of triangles has the faces of a box: in their planes, in sections, on lines.
TEST(SurfaceMesh, ABlockFillsBoxesAsABoxDoes) {
  const Point low{-0.5, -0.25, 0}, high{0.5, 0.625, 0.75};
  const Shape mesh = surface_solid(block_of(low, high)).shape, plain = box(low, high);
  const auto share = [](const Shape& s, const Point& at, const Point& size) {
    for (const Share& x : fill(one_body(s), at, size).media)
      if (x.medium == 1) return x.fraction;
    return 0.0;
  };
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int> eighth(-8, 8);
  std::uniform_int_distribution<int> side(0, 4);
  int cut = 0;
  for (int k = 0; k < 4000; ++k) {
    const Point at{eighth(random) / 8.0, eighth(random) / 8.0, eighth(random) / 8.0};
    const Point size{side(random) / 4.0, side(random) / 4.0, side(random) / 4.0};
    EXPECT_EQ(mesh.contains(at), plain.contains(at)) << at[0] << " " << at[1] << " " << at[2];
    const double f = share(mesh, at, size);
    // A side of zero is 1e-7 of the longest.
    EXPECT_NEAR(f, share(plain, at, size), 1e-6) << at[0] << " " << at[1] << " " << at[2];
    cut += f > 0 && f < 1;
  }
  EXPECT_GT(cut, 500);
}

TEST(SurfaceMesh, FacesOfABoxAreThoseOfItsTriangles) {
  const SurfaceSolid solid = surface_solid(ball_of(24, 0.8));
  const SceneOrder mesh = one_body(solid.shape), ball = one_body(sphere({0, 0, 0}, 0.8));
  for (const Point& at : {Point{0.5, 0.4, 0.45}, Point{-0.8, 0.05, 0.02}, Point{0.1, -0.5, 0.6}}) {
    const Fill a = fill(mesh, at, {0.2, 0.2, 0.2}), b = fill(ball, at, {0.2, 0.2, 0.2});
    ASSERT_EQ(a.interfaces.size(), 1U);
    ASSERT_EQ(b.interfaces.size(), 1U);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(a.interfaces[0].area[k], b.interfaces[0].area[k], 0.4);
    EXPECT_TRUE(a.simple);
  }
}

TEST(SurfaceMesh, MetalIsOpenWhereTheSphereIs) {
  const YeeGrid grid = cube(12, -0.6, 0.6);
  const std::vector<Medium> media{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true}};
  const double dt = 0.05 * stable_time_step(grid);
  constexpr Faces walls{Boundary::pec, Boundary::pec};
  const auto open = [&](const Shape& s) {
    return cut_cell_fractions(one_body(s), media, grid, {walls, walls, walls}, dt);
  };
  const Point at{0.013, -0.021, 0.034};
  const int n = 50;
  const CutCellFractions mesh = open(surface_solid(ball_of(n, 0.43, at)).shape),
                         ball = open(sphere(at, 0.43));
  const double off = 0.43 * (pi / n) * (pi / n);
  ASSERT_GT(ball.fractions.size(), 500U);
  double sum = 0;
  for (const CutCellFraction& f : ball.fractions) {
    // An edge that the sphere grazes is cut over up to sqrt(8 r off) = 0.76 cells, or not at all.
    EXPECT_NEAR(mesh.fraction(f.edge), f.fraction, 0.76);
    sum += std::abs(mesh.fraction(f.edge) - f.fraction);
  }
  EXPECT_LT(sum / static_cast<double>(ball.fractions.size()), off / 0.1);
}

TEST(SurfaceMesh, HolesAreClosedAndTold) {
  SurfaceTriangles s = ball_of(50, 0.8);
  const double whole = surface_solid(s).found.volume;
  std::mt19937_64 random(11);
  std::shuffle(s.triangles.begin(), s.triangles.end(), random);
  s.triangles.resize(s.triangles.size() * 99 / 100);
  const SurfaceSolid solid = surface_solid(s);
  EXPECT_GT(solid.found.holes, 40U);
  EXPECT_NEAR(std::hypot(solid.found.largest_hole[0], solid.found.largest_hole[1],
                         solid.found.largest_hole[2]),
              0.8, 0.01);
  EXPECT_NE(solid.found.text().find("open edges"), std::string::npos);
  EXPECT_NEAR(solid.found.volume, whole, 1e-4 * whole);
  EXPECT_NEAR(volume_on(cube(12, -1, 1), solid.shape), whole, 2e-4 * whole);
}

// Half-balls that do not touch: their winding numbers add up to that of the ball, across the gap.
TEST(SurfaceMesh, ACrackDoesNoHarm) {
  const SurfaceTriangles s = ball_of(30, 0.8);
  SurfaceTriangles upper, lower;
  upper.points = lower.points = s.points;
  for (Point& p : upper.points) p[2] += 1e-4;
  for (const auto& t : s.triangles) {
    double z = 0;
    for (const auto c : t) z += s.points[c][2];
    (z > 0 ? upper : lower).triangles.push_back(t);
  }
  const SurfaceSolid solid = surface_solid(both(upper, lower));
  EXPECT_GT(solid.found.open_edges, 100U);
  for (const double z : {-0.1, -1e-3, 0.0, 0.5e-4, 1e-4, 0.1})
    EXPECT_TRUE(solid.shape.contains({0.1, 0.2, z})) << z;
  EXPECT_LT(solid.shape.signed_distance({0, 0, 0}), -0.7);  // nothing is in the middle
  const double whole = surface_solid(s).found.volume;
  EXPECT_NEAR(volume_on(cube(12, -1, 1), solid.shape), whole, 3e-3 * whole);
}

TEST(SurfaceMesh, TrianglesThatFaceTheWrongWayAreTurned) {
  SurfaceTriangles s = ball_of(12, 0.8);
  const double whole = surface_solid(s).found.volume;
  for (std::size_t n = 0; n < s.triangles.size(); n += 7)
    std::swap(s.triangles[n][0], s.triangles[n][1]);
  const SurfaceSolid flipped = surface_solid(s);
  EXPECT_EQ(flipped.found.flipped, (s.triangles.size() + 6) / 7);
  EXPECT_NEAR(flipped.found.volume, whole, 1e-12);
  for (auto& t : s.triangles) std::swap(t[0], t[1]);
  const SurfaceSolid reversed = surface_solid(s);
  EXPECT_EQ(reversed.found.reversed, 1U);
  EXPECT_NEAR(reversed.found.volume, whole, 1e-12);
}

TEST(SurfaceMesh, ACavityStaysOneAndAShellWithinAShellIsNone) {
  SurfaceTriangles inner = ball_of(20, 0.4);
  const SurfaceTriangles outer = ball_of(20, 0.8);
  const SurfaceSolid twice = surface_solid(both(outer, inner));
  EXPECT_NEAR(twice.found.volume, surface_solid(outer).found.volume, 1e-12);
  EXPECT_TRUE(twice.shape.contains({0, 0, 0}));
  for (auto& t : inner.triangles) std::swap(t[0], t[1]);
  const SurfaceSolid shell = surface_solid(both(outer, inner));
  EXPECT_NEAR(shell.found.volume, 0.875 * surface_solid(outer).found.volume, 1e-12);
  EXPECT_FALSE(shell.shape.contains({0, 0, 0}));
  EXPECT_NEAR(volume_on(cube(12, -1, 1), shell.shape), shell.found.volume, 1e-10);
}

TEST(SurfaceMesh, OverlapsCountOnce) {
  const SurfaceSolid solid = surface_solid(both(block_of({-0.8, -0.4, -0.4}, {0.3, 0.4, 0.4}),
                                                block_of({-0.2, -0.25, -0.3}, {0.7, 0.3, 0.6})));
  EXPECT_GT(solid.found.crossings, 0U);
  const double exact = 1.1 * 0.8 * 0.8 + 0.9 * 0.55 * 0.9 - 0.5 * 0.55 * 0.7;
  EXPECT_NEAR(volume_on(cube(13, -1, 1), solid.shape), exact, 5e-3 * exact);
  const SurfaceSolid touching = surface_solid(both(block_of({-0.8, -0.4, -0.4}, {0, 0.4, 0.4}),
                                                   block_of({0, -0.4, -0.4}, {0.7, 0.4, 0.4})));
  EXPECT_NEAR(volume_on(cube(13, -1, 1), touching.shape), 1.5 * 0.64, 1e-9);
  EXPECT_NEAR(touching.shape.signed_distance({0, 0, 0}), -0.4, 1e-12);
}

TEST(SurfaceMesh, TellsWhatIsNoSolid) {
  const auto message = [](const SurfaceTriangles& s) {
    try {
      surface_solid(s);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({}).find("no triangles"), std::string::npos);
  EXPECT_NE(message({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}}).find("names point 3"),
            std::string::npos);
  EXPECT_NE(message({{{0, 0, 0}, {1, 0, 0}, {NAN, 1, 0}}, {{0, 1, 2}}}).find("not finite"),
            std::string::npos);
  EXPECT_NE(message({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}}).find("enclose nothing"),
            std::string::npos);
  EXPECT_NE(message({{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}}).find("area"),
            std::string::npos);
  SurfaceTriangles sheet{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}};
  EXPECT_NE(message(sheet).find("enclose nothing"), std::string::npos);
}

}  // namespace tessera::electromagnetics
