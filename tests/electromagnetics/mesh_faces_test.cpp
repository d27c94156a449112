// SPDX-License-Identifier: Apache-2.0
// What a grid's lines are asked for by solids of triangles: what the primitive asks for that they
// are drawn from.
#include "tessera/electromagnetics/scene_demands.h"
#include "tessera/electromagnetics/surface_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

/// A prism of these corners, counterclockwise in (x, y), from z = low to high. Places are those of
/// a file of single precision.
SurfaceTriangles upright(const std::vector<std::array<double, 2>>& outline, double low,
                         double high) {
  SurfaceTriangles s;
  const auto n = static_cast<std::uint32_t>(outline.size());
  for (const double z : {low, high})
    for (const auto& [x, y] : outline)
      s.points.push_back({double(float(x)), double(float(y)), double(float(z))});
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t next = (k + 1) % n;
    s.triangles.push_back({k, next, next + n});
    s.triangles.push_back({k, next + n, k + n});
    if (k == 0 || next == 0) continue;
    s.triangles.push_back({0, next, k});
    s.triangles.push_back({n, k + n, next + n});
  }
  return s;
}
SurfaceTriangles brick(const Point& a, const Point& b) {
  return upright({{a[0], a[1]}, {b[0], a[1]}, {b[0], b[1]}, {a[0], b[1]}}, a[2], b[2]);
}
SurfaceTriangles round_column(int sides, double radius, double low, double high) {
  std::vector<std::array<double, 2>> outline;
  for (int k = 0; k < sides; ++k) {  // the middle of a side is on each axis
    const double t = 2 * std::numbers::pi * (k + 0.5) / sides;
    outline.push_back({radius * std::cos(t), radius * std::sin(t)});
  }
  return upright(outline, low, high);
}

Medium named_medium(const std::string& name, double eps, bool pec = false) {
  Medium m;
  m.name = name;
  m.eps = {eps, eps, eps};
  m.pec = pec;
  return m;
}

SceneDemands demands(std::vector<Structure> bodies) {
  const std::vector<Medium> media{named_medium("air", 1), named_medium("board", 4),
                                  named_medium("pec", 1, true)};
  return scene_demands({.structures = std::move(bodies)}, media, {{-1, -1, -1}, {1, 1, 1}},
                       {.frequencies_hz = {1e9, 3e9}});
}
Structure body(const SurfaceTriangles& drawn, int medium, const std::string& name) {
  return {surface_solid(drawn).shape, medium, 0, name};
}
void expect_lines(const AxisDemands& axis, std::initializer_list<double> wanted) {
  ASSERT_EQ(axis.lines.size(), wanted.size());
  auto found = axis.lines;
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  std::size_t k = 0;
  for (const double at : wanted) EXPECT_NEAR(found[k++].at, at, 1e-7);
}

TEST(MeshFaces, OfABoxAreSix) {
  const SceneDemands d = demands({body(brick({-0.3, -0.2, 0.1}, {0.3, 0.25, 0.4}), 1, "drawn")});
  expect_lines(d.axes[0], {-0.3, 0.3});
  expect_lines(d.axes[1], {-0.2, 0.25});
  expect_lines(d.axes[2], {0.1, 0.4});
  EXPECT_EQ(d.axes[0].lines[0].owner, "'drawn'");
}

TEST(MeshFaces, OfAStepAreItsOwnToo) {
  const SceneDemands d = demands(
      {body(upright({{0, 0}, {0.2, 0}, {0.2, 0.1}, {0.1, 0.1}, {0.1, 0.3}, {0, 0.3}}, 0, 0.05), 1,
            "step")});
  expect_lines(d.axes[0], {0, 0.1, 0.2});
  expect_lines(d.axes[1], {0, 0.1, 0.3});
}

// A facet of a round body is none, though it lies along the grid; its ends are.
TEST(MeshFaces, OfRoundBodiesAreTheirEnds) {
  const SceneDemands d = demands({body(round_column(64, 0.1, -0.2, 0.3), 2, "rod")});
  expect_lines(d.axes[0], {});
  expect_lines(d.axes[1], {});
  expect_lines(d.axes[2], {-0.2, 0.3});
  const SceneDemands eight = demands({body(round_column(8, 0.1, -0.2, 0.3), 2, "bar")});
  EXPECT_EQ(eight.axes[0].lines.size(), 2u);  // edges of 45 degrees
}

TEST(MeshFaces, FollowTheBodyWhereItIsPut) {
  const Shape drawn = surface_solid(brick({-0.1, -0.2, -0.05}, {0.1, 0.2, 0.05})).shape;
  const double quarter = std::numbers::pi / 2;
  const SceneDemands turned =
      demands({{rotate(drawn, rotation_about({0, 0, 1}, quarter)), 1, 0, "turned"}});
  expect_lines(turned.axes[0], {-0.2, 0.2});
  expect_lines(turned.axes[1], {-0.1, 0.1});
  const SceneDemands oblique =
      demands({{rotate(drawn, rotation_about({0, 0, 1}, 0.3)), 1, 0, "oblique"}});
  expect_lines(oblique.axes[0], {});
  expect_lines(oblique.axes[2], {-0.05, 0.05});
}

// Single precision leaves the drawn board 3e-11 m short of the ground that is given by numbers:
// there is no layer of air between them, and the gap below the patch is the board's height.
TEST(MeshFaces, ThatTouchButForRoundingLeaveNoGap) {
  const SceneDemands d = demands({body(brick({-0.3, -0.3, 0.1}, {0.3, 0.3, 0.108}), 1, "board"),
                                  {box({-0.3, -0.3, 0.1}, {0.3, 0.3, 0.1}), 2, 0, "ground"},
                                  {box({-0.1, -0.2, 0.108}, {0.1, 0.2, 0.108}), 2, 0, "patch"}});
  double least = INFINITY;
  for (const CellDemand& c : d.axes[2].cells) least = std::min(least, c.cell);
  EXPECT_NEAR(least, 0.008 / 4, 1e-9);
  ASSERT_FALSE(d.gaps.empty());
  EXPECT_EQ(d.gaps[0].reason, "the gap between 'ground' and 'patch'");
}

}  // namespace
}  // namespace tessera::electromagnetics
