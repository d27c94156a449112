// SPDX-License-Identifier: Apache-2.0
//
// Rods of perfect conductor that run between the edges of the grid: what hangs together does in the
// grid, and what has a gap keeps it.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <string>

namespace tessera::electromagnetics {
namespace {

const std::vector<Medium> rod_media{Medium{.name = "vacuum"}, Medium{.name = "pec", .pec = true}};
using RodNode = std::array<int, 3>;

/// Closed edges of a grid of unit cells (uneven ones along y), as a graph of its nodes.
struct RodGrid {
  YeeGrid grid;
  std::array<Faces, 3> faces;
  CutCellFractions open;
  std::map<RodNode, RodNode> parent;
  int n_edges = 0;

  RodGrid(std::array<int, 3> n, bool joined = false) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (int i = 0; i <= n[d]; ++i)
        grid.lines[d].push_back(i + (d == 1 && n[d] > 1 ? 0.1 * std::sin(i) : 0));
      faces[d] = joined || n[d] == 1 ? Faces{Boundary::periodic, Boundary::periodic}
                                     : Faces{Boundary::pec, Boundary::pec};
    }
  }
  RodNode root(RodNode a) {
    while (parent.contains(a) && parent[a] != a) a = parent[a];
    return a;
  }
  void set(const std::vector<Shape>& bodies, bool conformal = true) {
    Scene scene;
    for (const Shape& s : bodies) scene.structures.push_back({s, 1, 0, "body"});
    open = cut_cell_fractions(SceneOrder(scene), rod_media, grid, faces,
                              0.5 * stable_time_step(grid), {.conformal = conformal});
    parent.clear();
    n_edges = 0;
    const SceneOrder order(scene);
    for (std::uint8_t c = Ex; c <= Ez; ++c)
      for (int k = 0; k <= last(c, 2); ++k)
        for (int j = 0; j <= last(c, 1); ++j)
          for (int i = 0; i <= last(c, 0); ++i) {
            const Edge e{c, i, j, k};
            if (open.fraction(e) == 0 || (!conformal && medium_at(order, grid.position(e)) == 1))
              add(e);
          }
  }
  int last(int component, int axis) const {
    const auto d = static_cast<std::size_t>(axis);
    return grid.cells(axis) -
           (at_middle(component, axis) || faces[d].low == Boundary::periodic ? 1 : 0);
  }
  void add(const Edge& e) {
    const auto d = static_cast<std::size_t>(e.component);
    const RodNode a{e.i, e.j, e.k};
    RodNode b = a;
    if (grid.cells(static_cast<int>(d)) > 1) ++b[d];
    if (faces[d].low == Boundary::periodic) b[d] %= grid.cells(static_cast<int>(d));
    parent.try_emplace(a, a), parent.try_emplace(b, b);
    const RodNode from = root(b), to = root(a);
    parent[from] = to;
    ++n_edges;
  }
  std::set<RodNode> pieces() {
    std::set<RodNode> out;
    for (const auto& [node, up] : parent) out.insert(root(node));
    return out;
  }
  Point at(const RodNode& n) const {
    return {grid.lines[0][static_cast<std::size_t>(n[0])],
            grid.lines[1][static_cast<std::size_t>(n[1])],
            grid.lines[2][static_cast<std::size_t>(n[2])]};
  }
};

double distance_from_line(const Point& p, const Point& on, const Point& along) {
  const Point r{p[0] - on[0], p[1] - on[1], p[2] - on[2]};
  const double t = r[0] * along[0] + r[1] * along[1] + r[2] * along[2];
  return std::sqrt(std::max(0.0, r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - t * t));
}

Shape rod_between(const Point& a, const Point& b, double radius) {
  const Point v{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return cylinder({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2}, radius,
                  std::hypot(v[0], v[1], v[2]), v);
}

TEST(MetalRods, ARodWithinACellOfTwoDimensionsIsOnTheNearestNode) {
  // The nearer line, in the middle of a cell that away from the middle of the domain; not a wall.
  const auto nearest = [](double at, int n, bool joined) {
    const double low = std::floor(at), share = at - low;
    const bool high = std::abs(share - 0.5) > 1e-9 ? share > 0.5
                      : at < 1 || at > n - 1       ? at < 1
                                                   : at > n / 2.0 + 1e-9;
    const int line = static_cast<int>(low) + high;
    return joined ? line % n : std::clamp(line, 1, n - 1);
  };
  for (const bool joined : {false, true}) {
    RodGrid g({8, 7, 1}, joined);
    for (const bool conformal : {true, false})
      for (const double radius : {1e-3, 0.1, 0.3, 0.36})
        for (const double x : {3.5, 3.45, 3.55, 4.5, 5.5, 0.4, 0.5, 7.5, 7.56})
          for (const double y : {0.5, 3.46, 6.44, 6.5}) {
            const double j = std::floor(y), yy = (g.at({0, int(j), 0})[1] * (1 + j - y) +
                                                  g.at({0, int(j) + 1, 0})[1] * (y - j));
            g.set({cylinder({x, yy, 0}, radius, INFINITY)}, conformal);
            const Edge expected{Ez, nearest(x, 8, joined), nearest(y, 7, joined), 0};
            EXPECT_EQ(g.open.fraction(expected), 0) << x << ", " << y << ", " << radius;
            EXPECT_EQ(g.parent.size(), 1U) << x << ", " << y << ", " << radius;
            ASSERT_EQ(g.open.thin_metal.size(), 1U);
            EXPECT_EQ(g.open.thin_metal[0].moved, 1);
            EXPECT_GT(g.open.thin_metal[0].shift_m, 0.4);
            EXPECT_LT(g.open.thin_metal[0].shift_m, 0.9);
          }
  }
}

TEST(MetalRods, HAcrossThePlaneSeesTheAreaOfARodInACell) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::array<int, 3> n{6, 6, 6};
    n[axis] = 1;
    RodGrid g(n);
    Point low{3.4, 0, 3.4}, high;
    low[1] = g.grid.middle(1, n[1] == 1 ? 0 : 3) - (n[1] == 1 ? 0 : 0.01);
    high = low;
    low[axis] = -9, high[axis] = 9;
    Scene scene;
    scene.structures.push_back({rod_between(low, high, 0.3), 1, 0, "body"});
    Edge face{static_cast<std::uint8_t>(Hx + axis), 3, 3, 3};
    (axis == 0 ? face.i : axis == 1 ? face.j : face.k) = 0;
    const double whole = axis == 1 ? 1 : g.grid.length(1, 3);
    for (const bool conformal : {true, false})
      for (const int polarization : {0, 1, 2}) {  // both, that of E and that of H along the axis
        CutCellChoices choices{.conformal = conformal};
        for (std::size_t c = Ex; c <= Hz; ++c) {
          const bool of_e = is_electric(static_cast<int>(c)) == (c % 3 == axis);
          choices.stepped[c] = polarization == 0 || (polarization == 1) == of_e;
        }
        const CutCellFractions open = cut_cell_fractions(
            SceneOrder(scene), rod_media, g.grid, g.faces, 0.1 * stable_time_step(g.grid), choices);
        EXPECT_NEAR(open.share(face), conformal ? 1 - std::numbers::pi * 0.09 / whole : 1, 1e-3)
            << axis << ", " << conformal;
        EXPECT_EQ(open.fraction({static_cast<std::uint8_t>(axis), face.i, face.j, face.k}), 0)
            << axis << ", " << conformal;
        ASSERT_EQ(open.thin_metal.size(), 1U);
        const ThinMetal& told = open.thin_metal[0];
        EXPECT_EQ(told.moved, polarization == 2 ? 0 : 1);
        EXPECT_EQ(told.unseen, polarization == 2);
        EXPECT_EQ(told.by_area, polarization == 2 && conformal);
      }
  }
}

TEST(MetalRods, ARodAlongAnAxisIsALineOfEdges) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const bool conformal : {true, false})
      for (const double radius : {1e-3, 0.2, 0.45, 0.7})
        for (const double b : {3.1, 3.5, 3.75})
          for (const double c : {3.4, 3.5}) {
            RodGrid g({7, 7, 7});
            Point low{}, high{};
            low[axis] = -1, high[axis] = 9;
            low[(axis + 1) % 3] = high[(axis + 1) % 3] = b;
            low[(axis + 2) % 3] = high[(axis + 2) % 3] = c;
            g.set({rod_between(low, high, radius)}, conformal);
            EXPECT_EQ(g.pieces().size(), 1U) << axis << ", " << radius << ", " << b << ", " << c;
            RodNode first{}, last{};
            first[axis] = 0, last[axis] = 7;
            bool begins = false, ends = false;
            for (const auto& [node, up] : g.parent)
              begins = begins || node[axis] == 0, ends = ends || node[axis] == 7;
            EXPECT_TRUE(begins && ends) << axis << ", " << radius << ", " << b << ", " << c;
            if (radius < 0.1 && b != 3.5) {
              EXPECT_EQ(g.parent.size(), 8U);
            }
          }
}

TEST(MetalRods, AnObliqueRodIsAChain) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> in(-1, 1);
  RodGrid g({9, 9, 9});
  int broken = 0, short_of = 0;  // of the thicker ones, which the rule of thin walls sees in part
  for (int n = 0; n < 150; ++n) {
    Point u{in(random), in(random), in(random)};
    if (n % 5 == 0) u[static_cast<std::size_t>(n) % 3] = 0;
    if (n % 7 == 0) u = {1, n % 2 ? 1.0 : -1.0, n % 3 ? 1.0 : 0.0};
    const double length = std::hypot(u[0], u[1], u[2]);
    for (double& x : u) x /= length;
    const Point on{4.5 + in(random), 4.5 + in(random), 4.5 + in(random)};
    Point a, b;
    for (std::size_t d = 0; d < 3; ++d) a[d] = on[d] - 3 * u[d], b[d] = on[d] + 3 * u[d];
    const double radius = std::array{1e-3, 0.03, 0.2, 0.4}[static_cast<std::size_t>(n) % 4];
    g.set({rod_between(a, b, radius)}, n % 8 < 4);
    const std::string name = "rod " + std::to_string(n) + ", " + std::to_string(radius);
    if (radius > 0.1)
      broken += g.pieces().size() != 1;
    else
      EXPECT_EQ(g.pieces().size(), 1U) << name;
    double first = 9, last = -9;
    for (const auto& [node, up] : g.parent) {
      const Point p = g.at(node);
      EXPECT_LT(distance_from_line(p, on, u), 1.3 + radius) << name;
      const double t = u[0] * (p[0] - on[0]) + u[1] * (p[1] - on[1]) + u[2] * (p[2] - on[2]);
      first = std::min(first, t), last = std::max(last, t);
    }
    if (radius > 0.1) {
      short_of += std::max(std::abs(first + 3), std::abs(last - 3)) > 1.3;
      continue;
    }
    EXPECT_NEAR(first, -3, 1.3) << name;
    EXPECT_NEAR(last, 3, 1.3) << name;
  }
  EXPECT_LE(broken, 1);
  EXPECT_LE(short_of, 2);
}

TEST(MetalRods, AThinRingIsClosed) {
  RodGrid g({11, 11, 11});
  for (const double tilt : {0.0, 0.3, 1.0})
    for (const double tube : {0.02, 0.1, 0.3}) {
      g.set({translate(rotate(torus({0, 0, 0}, 3.3, tube), rotation_about({1, 0.3, 0}, tilt)),
                       {5.3, 5.45, 5.4})});
      EXPECT_EQ(g.pieces().size(), 1U) << tilt << ", " << tube;
      // A chain without ends: as many edges as nodes, or more.
      EXPECT_GE(g.n_edges, static_cast<int>(g.parent.size())) << tilt << ", " << tube;
      EXPECT_GE(g.n_edges, 20) << tilt << ", " << tube;
    }
}

TEST(MetalRods, GapsStay) {
  RodGrid g({9, 7, 9});
  for (const double gap : {0.05, 0.3, 0.8})
    for (int tenths = 0; tenths < 10; ++tenths)
      for (const double radius : {0.01, 0.3})
        for (const bool conformal : {true, false}) {
          const double z = 4 + 0.1 * tenths;
          const std::string name =
              std::to_string(gap) + ", " + std::to_string(z) + ", " + std::to_string(radius);
          // One behind the other, along an axis and oblique.
          g.set({rod_between({4.4, 3.4, 1}, {4.4, 3.4, z}, radius),
                 rod_between({4.4, 3.4, z + gap}, {4.4, 3.4, 8}, radius)},
                conformal);
          EXPECT_EQ(g.pieces().size(), 2U) << "along, " << name;
          if (radius > 0.1) continue;
          g.set({rod_between({2.1, 3.4, 1}, {4.4, 3.2, z}, radius),
                 rod_between({4.4, 3.2, z + gap}, {7.2, 3.3, 8}, radius)},
                conformal);
          EXPECT_EQ(g.pieces().size(), 2U) << "oblique, " << name;
          // Beside each other.
          g.set({rod_between({z, 3.4, 1}, {z, 3.4, 8}, radius),
                 rod_between({z + gap, 3.4, 1}, {z + gap, 3.4, 8}, radius)},
                conformal);
          EXPECT_EQ(g.pieces().size(), 2U) << "beside, " << name;
          // Beside a plate.
          g.set({box({1, 2, 1}, {8, 5, z - 1}),
                 rod_between({2, 3.4, z - 1 + gap}, {7, 3.4, z - 1 + gap + 0.02}, radius)},
                conformal);
          // A surface that the staircase rounds to the rod's line, or a rod nearer to it than to a
          // line that is free, has no room between.
          if (gap > 0.7 && conformal) {
            EXPECT_EQ(g.pieces().size(), 2U) << "plate, " << name;
          }
        }
}

TEST(MetalRods, WhatTouchesHangsTogether) {
  RodGrid g({9, 7, 9});
  for (int tenths = 0; tenths < 10; ++tenths)
    for (const double thickness : {0.0, 0.1, 0.6, 2.0})
      for (const double x : {4.3, 4.5, 4.75})
        for (const bool conformal : {true, false}) {
          const double z = 2.01 + 0.1 * tenths;
          const std::string name = std::to_string(z) + ", " + std::to_string(thickness) + ", " +
                                   std::to_string(x) + (conformal ? "" : ", staircase");
          g.set({box({1.3, 1.3, z - thickness}, {7.6, 5.6, z}),
                 rod_between({x, 3.3, z}, {x, 3.3, 5.2}, 0.05)},
                conformal);
          EXPECT_EQ(g.pieces().size(), 1U) << "post, " << name;
          g.set({box({1.3, 1.3, z - thickness}, {7.6, 5.6, z}),
                 rod_between({x, 3.3, z}, {x + 0.2, 3.1, z + 2.1}, 0.05),
                 box({1.3, 1.3, z + 2.05}, {7.6, 5.6, z + 2.05 + thickness})},
                conformal);
          EXPECT_EQ(g.pieces().size(), 1U) << "between two, " << name;
        }
  g.set({rod_between({1.3, 3.4, 2.4}, {5.45, 3.4, 2.4}, 0.02),
         rod_between({5.45, 3.4, 2.4}, {5.45, 3.4, 7.3}, 0.02)});
  EXPECT_EQ(g.pieces().size(), 1U);
}

TEST(MetalRods, AShortPostThatLengthensAnEdgeOfMetalIsSeen) {
  RodGrid g({5, 5, 5});
  const Shape plate = box({1.2, 1.2, 1}, {3.8, 3.8, 2.3});
  for (const double top : {2.35, 2.5, 2.58, 2.7})
    for (const bool below : {false, true}) {
      const double y = g.at({0, 2, 0})[1];
      const Shape post = below ? box({1.9, y - 0.1, 0.9 - (top - 2.3)}, {2.1, y + 0.1, 1})
                               : box({1.9, y - 0.1, 2.3}, {2.1, y + 0.1, top});
      g.set({plate, post});
      for (const ThinMetal& t : g.open.thin_metal) EXPECT_FALSE(t.unseen) << top << ", " << below;
    }
}

TEST(MetalRods, WhatIsTooSmallIsTold) {
  RodGrid g({5, 5, 5});
  g.set({sphere({2.5, 2.5, 2.5}, 0.3), sphere({2, 2, 2}, 0.3), sphere({1.5, 1.5, 2}, 0.2)});
  ASSERT_EQ(g.open.thin_metal.size(), 2U);
  EXPECT_EQ(g.open.thin_metal[0].structure, 0U);
  EXPECT_EQ(g.open.thin_metal[1].structure, 2U);
  for (const ThinMetal& t : g.open.thin_metal) EXPECT_TRUE(t.unseen);
  EXPECT_TRUE(g.parent.empty());
}

}  // namespace
}  // namespace tessera::electromagnetics
