// SPDX-License-Identifier: Apache-2.0
//
// What fills a box beside a mirror is half of what fills it in the whole, and what fills one in a
// seam is what fills it in the middle of the period.
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/surface_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace tessera::electromagnetics {
namespace {

/// Cells from `low` to `high` of size 0.1 along each axis.
YeeGrid grid_of_cells(const std::array<int, 3>& low, const std::array<int, 3>& high) {
  YeeGrid grid;
  for (std::size_t d = 0; d < 3; ++d)
    for (int i = low[d]; i <= high[d]; ++i) grid.lines[d].push_back(0.1 * i);
  return grid;
}

double share_of(const Fill& f, int medium) {
  double sum = 0;
  for (const Share& s : f.media)
    if (s.medium == medium) sum += s.fraction;
  return sum;
}

void expect_same_fill(const Fill& a, const Fill& b, const std::string& name) {
  for (int medium = 0; medium < 3; ++medium)
    EXPECT_NEAR(share_of(a, medium), share_of(b, medium), 1e-12) << name << ", " << medium;
  std::array<double, 6> sum_a{}, sum_b{};
  for (const Interface& f : a.interfaces)
    for (std::size_t k = 0; k < 6; ++k) sum_a[k] += f.orientation[k];
  for (const Interface& f : b.interfaces)
    for (std::size_t k = 0; k < 6; ++k) sum_b[k] += f.orientation[k];
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(sum_a[k], sum_b[k], 1e-9) << name << ", " << k;
}

/// A ball of triangles that are their own images in all three planes: the faces of an octahedron,
/// each in n^2 parts.
Shape drawn_ball(const Point& at, double radius, int n) {
  SurfaceTriangles s;
  for (int octant = 0; octant < 8; ++octant) {
    const Point sign{octant & 1 ? -1.0 : 1.0, octant & 2 ? -1.0 : 1.0, octant & 4 ? -1.0 : 1.0};
    const auto add = [&](std::array<std::array<int, 2>, 3> corners) {
      if (sign[0] * sign[1] * sign[2] < 0) std::swap(corners[0], corners[1]);
      const auto first = static_cast<std::uint32_t>(s.points.size());
      for (const auto& [i, j] : corners) {
        const Point p{double(i), double(j), double(n - i - j)};
        const double far = std::hypot(p[0], p[1], p[2]);
        Point q;
        for (std::size_t d = 0; d < 3; ++d) q[d] = at[d] + radius * sign[d] * p[d] / far;
        s.points.push_back(q);
      }
      s.triangles.push_back({first, first + 1, first + 2});
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        add({{{i, j}, {i + 1, j}, {i, j + 1}}});
        if (i + j + 1 < n) add({{{i + 1, j}, {i + 1, j + 1}, {i, j + 1}}});
      }
  }
  return surface_solid(s).shape;
}

Shape drawn_brick(const Point& low, const Point& high) {
  SurfaceTriangles s;
  for (int n = 0; n < 8; ++n)
    s.points.push_back(
        {n & 1 ? high[0] : low[0], n & 2 ? high[1] : low[1], n & 4 ? high[2] : low[2]});
  for (const std::array<std::uint32_t, 4>& f : {std::array<std::uint32_t, 4>{0, 2, 3, 1},
                                                {4, 5, 7, 6},
                                                {0, 1, 5, 4},
                                                {2, 6, 7, 3},
                                                {0, 4, 6, 2},
                                                {1, 3, 7, 5}}) {
    s.triangles.push_back({f[0], f[1], f[2]});
    s.triangles.push_back({f[0], f[2], f[3]});
  }
  return surface_solid(s).shape;
}

/// Bodies with the planes y = 0 and z = 0 as mirrors.
std::vector<Scene> mirrored_scenes() {
  const Shape ball = sphere({0.02, 0, 0}, 0.37), rod = cylinder({0, 0, 0}, 0.33, 0.7),
              ring = torus({0, 0, 0}, 0.32, 0.083),
              brick = box({-0.27, -0.33, -0.41}, {0.38, 0.33, 0.41});
  std::vector<Scene> out;
  for (const Shape& s :
       {ball, rod, ring, brick, subtract(brick, ball), unite({rod, ring}),
        ellipsoid({0, 0, 0}, {0.21, 0.43, 0.37}), drawn_ball({0.02, 0, 0}, 0.37, 6),
        rotate(brick, rotation_about({1, 0, 0}, std::numbers::pi))})
    out.push_back(Scene{.structures = {{s, 1, 0, "a"}}});
  out.push_back(Scene{.structures = {{ball, 1, 0, "a"}, {sphere({0.02, 0, 0}, 0.21), 2, 0, "b"}}});
  out.push_back(Scene{.structures = {{brick, 1, 0, "a"}, {ball, 2, 0, "b"}}});
  return out;
}

TEST(FillsBesideMirrors, AQuarterIsAQuarterOfTheWhole) {
  const YeeGrid whole = grid_of_cells({-6, -6, -6}, {6, 6, 6}),
                low = grid_of_cells({-6, 0, 0}, {6, 6, 6}),
                high = grid_of_cells({-6, -6, -6}, {6, 0, 0});
  int number = 0;
  for (const Scene& scene : mirrored_scenes()) {
    const SceneOrder order(scene);
    for (std::uint8_t c = Ex; c <= Hz; ++c)
      for (int k = 0; k < 6; ++k)
        for (int j = 0; j < 6; ++j)
          for (int i = 1; i < 12; ++i) {
            if (j > 0 && k > 0) continue;  // beside the mirrors
            const std::string name = std::to_string(number) + ": " + name_of(c) + " " +
                                     std::to_string(i) + " " + std::to_string(j) + " " +
                                     std::to_string(k);
            const Fill all = fill_of(order, whole, {c, i, j + 6, k + 6});
            expect_same_fill(fill_of(order, low, {c, i, j, k}), all, name);
            const int jj = at_middle(c, 1) ? 5 - j : 6 - j, kk = at_middle(c, 2) ? 5 - k : 6 - k;
            Fill mirror = fill_of(order, high, {c, i, jj, kk});
            for (Interface& f : mirror.interfaces) f.orientation[3] *= -1, f.orientation[4] *= -1;
            expect_same_fill(mirror, all, name + ", high");
          }
    ++number;
  }
}

TEST(FillsBesideMirrors, AMeshFillsAHalfByWhatIsInIt) {
  // Just above the middle of a cell, and a little in front of the mirror: all of a box there has
  // nearly one plane, and half of it an edge.
  for (const double end : {0.002, 0.02, 0.03})
    for (const double top : {0.051, 0.052, 0.06, 0.1}) {
      const Point low{-0.53, -1, -0.5}, high{0.41, end, top};
      const Scene drawn{.structures = {{drawn_brick(low, high), 1, 0, "a"}}},
          exact{.structures = {{box(low, high), 1, 0, "a"}}};
      const SceneOrder one(drawn), other(exact);
      const YeeGrid grid = grid_of_cells({-6, 0, -6}, {6, 6, 6});
      for (const bool joined : {false, true})
        for (std::uint8_t c = Ex; c <= Hz; ++c)
          for (int k = 1; k < 12; ++k)
            for (int i = 1; i < 12; ++i) {
              const Periodic periodic{false, joined, false};
              const Edge edge{c, i, 0, k};
              EXPECT_NEAR(share_of(fill_of(one, grid, edge, periodic), 1),
                          share_of(fill_of(other, grid, edge, periodic), 1), 1e-12)
                  << end << ", " << top << ", " << name_of(c) << " " << i << " " << k;
            }
    }
}

TEST(FillsBesideMirrors, ABodyInASeamIsOneInTheMiddle) {
  const YeeGrid grid = grid_of_cells({0, 0, 0}, {12, 12, 12});
  const auto drawn = [](const Shape& s, const Point& at, bool everywhere) {
    Scene scene;
    for (const double x : {at[0], at[0] - 1.2, at[0] + 1.2})
      for (const double y : {at[1], at[1] - 1.2, at[1] + 1.2})
        if (everywhere || (x == at[0] && y == at[1]))
          scene.structures.push_back({translate(s, {x, y, at[2]}), 1, 0, "a"});
    return scene;
  };
  for (const Shape& s :
       {sphere({0, 0, 0}, 0.37), cylinder({0.013, 0.02, 0}, 0.33, 0.7, {0.3, 0.2, 1}),
        torus({0, 0, 0}, 0.3, 0.07, {0.3, 0.5, 1}), box({-0.27, -0.33, -0.41}, {0.38, 0.33, 0.41}),
        rotate(box({-0.27, -0.33, -0.41}, {0.38, 0.33, 0.41}), rotation_about({0, 0, 1}, 0.4))}) {
    const Scene middle = drawn(s, {0.6, 0.6, 0.6}, false), seam = drawn(s, {0, 0, 0.6}, true);
    const SceneOrder one(middle), other(seam);
    for (std::uint8_t c = Ex; c <= Hz; ++c)
      for (int k = 1; k < 11; ++k)
        for (int j = 0; j < 12; ++j)
          for (int i = 0; i < 12; ++i) {
            if (i > 0 && j > 0) continue;
            const Fill a = fill_of(other, grid, {c, i, j, k}, {true, true, false}),
                       b = fill_of(one, grid, {c, (i + 6) % 12, (j + 6) % 12, k},
                                   {true, true, false});
            expect_same_fill(a, b,
                             std::to_string(c) + " " + std::to_string(i) + " " + std::to_string(j) +
                                 " " + std::to_string(k));
          }
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
