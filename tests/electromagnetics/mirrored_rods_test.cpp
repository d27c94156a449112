// SPDX-License-Identifier: Apache-2.0
//
// Thin conductors beside a mirror, or a wall: a half has the edges that it has within the whole.
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/lumped_element.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

const std::vector<Medium> media_of_halves{Medium{.name = "vacuum"},
                                          Medium{.name = "pec", .pec = true}};
using ClosedEdges = std::set<std::tuple<int, int, int, int>>;  // component and place

/// Unit cells, or longer ones outwards; along `across` n[across] to both sides of 0, or to one.
struct MirrorGrid {
  std::size_t across;
  std::array<int, 3> n;
  bool conformal = true;
  Boundary mirror = Boundary::pmc;
  bool named = true;  // as a symmetry
  double stretch = 0;

  /// side: -1 the lower half, 1 the upper one, 0 the whole. Places count from the mirror.
  ClosedEdges closed(const std::vector<Shape>& bodies, int side) const {
    YeeGrid grid;
    std::array<Faces, 3> faces;
    CutCellChoices choices{.conformal = conformal};
    std::array<int, 3> first{};
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] = d == across && side < 1 ? -n[d] : 0;
      const int last = d == across && side < 0 ? 0 : n[d];
      for (int i = first[d]; i <= last; ++i)
        grid.lines[d].push_back(d == across ? i + stretch * i * std::abs(i) : i);
      faces[d] = n[d] == 1 ? Faces{Boundary::periodic, Boundary::periodic}
                           : Faces{Boundary::pml, Boundary::pml};
    }
    if (side != 0) {
      (side > 0 ? faces[across].low : faces[across].high) = mirror;
      choices.symmetry[across][side > 0 ? 0 : 1] = named;
    }
    Scene scene;
    for (const Shape& s : bodies) scene.structures.push_back({s, 1, 0, "body"});
    const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media_of_halves, grid,
                                                     faces, 0.5 * stable_time_step(grid), choices);
    ClosedEdges out;
    for (const CutCellFraction& f : open.fractions)
      if (is_electric(f.edge.component) && f.fraction == 0)
        out.emplace(f.edge.component, f.edge.i + first[0], f.edge.j + first[1],
                    f.edge.k + first[2]);
    return out;
  }
  /// What of the whole lies in one half, and on the mirror; turned over of the lower one.
  ClosedEdges half_of(const ClosedEdges& whole, int side) const {
    ClosedEdges out;
    for (const auto& [c, i, j, k] : whole) {
      std::array<int, 3> at{i, j, k};
      const bool along = at_middle(c, static_cast<int>(across));
      if (side < 0) at[across] = along ? -1 - at[across] : -at[across];
      if (at[across] >= 0) out.emplace(c, at[0], at[1], at[2]);
    }
    return out;
  }
};

std::string told(const ClosedEdges& edges) {
  std::string out;
  for (const auto& [c, i, j, k] : edges)
    out += std::string(name_of(c)) + "(" + std::to_string(i) + "," + std::to_string(j) + "," +
           std::to_string(k) + ") ";
  return out;
}

Shape thin_rod(const Point& a, const Point& b, double radius) {
  const Point v{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return cylinder({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2}, radius,
                  std::hypot(v[0], v[1], v[2]), v);
}

/// Rods by their ends in (across, second, third) axes, and their images.
struct MirroredRod {
  Point a, b;
};
struct MirroredBodies {
  std::vector<Shape> whole, upper, lower;
};
MirroredBodies bodies_of(const MirrorGrid& g, const std::vector<MirroredRod>& rods, double radius) {
  MirroredBodies out;
  for (const int sign : {1, -1})
    for (const MirroredRod& r : rods) {
      Point a{}, b{};
      for (std::size_t m = 0; m < 3; ++m) {
        a[(g.across + m) % 3] = (m == 0 ? sign : 1) * r.a[m];
        b[(g.across + m) % 3] = (m == 0 ? sign : 1) * r.b[m];
      }
      out.whole.push_back(thin_rod(a, b, radius));
      (sign > 0 ? out.upper : out.lower).push_back(out.whole.back());
    }
  return out;
}
void expect_halves(const MirrorGrid& g, const std::vector<MirroredRod>& rods, double radius,
                   const std::string& name) {
  const auto [whole, upper, lower] = bodies_of(g, rods, radius);
  const ClosedEdges all = g.closed(whole, 0);
  const ClosedEdges upper_half = g.half_of(all, 1);
  EXPECT_FALSE(all.empty()) << name;
  EXPECT_EQ(told(g.half_of(all, -1)), told(upper_half)) << name << ": the whole is symmetric";
  EXPECT_EQ(told(g.closed(upper, 1)), told(upper_half)) << name << ": the upper half";
  EXPECT_EQ(told(g.half_of(g.closed(lower, -1), -1)), told(upper_half))
      << name << ": the lower half";
}

TEST(MirroredRods, HalvesOfTwoDimensionsAreThoseOfTheWhole) {
  for (std::size_t across = 0; across < 3; ++across)
    for (const std::size_t flat : {(across + 1) % 3, (across + 2) % 3}) {
      MirrorGrid g{across, {6, 6, 6}, true, Boundary::pmc, true, 0.005};
      g.n[flat] = 1;
      const bool flat_is_second = flat == (across + 1) % 3;
      for (const bool conformal : {true, false})
        for (const double far : {0.1, 0.4, 0.5, 0.6, 0.9, 1.5, 2.5, 3.3})
          for (const double at : {2.5, 3.5, 2.7}) {
            g.conformal = conformal;
            const auto rod = [&](double x, double y) {
              return flat_is_second ? MirroredRod{{x, -9, y}, {x, 9, y}}
                                    : MirroredRod{{x, y, -9}, {x, y, 9}};
            };
            const auto place = [&g](double u) {  // u counts cells
              const double i = std::floor(u);
              return u + g.stretch * ((1 + i - u) * i * i + (u - i) * (1 + i) * (1 + i));
            };
            const std::string name = std::to_string(across) + std::to_string(flat) + ", " +
                                     std::to_string(far) + ", " + std::to_string(at);
            expect_halves(g, {rod(place(far), at)}, 0.02, name);
            expect_halves(g, {rod(place(far), at), rod(place(far + 1), at)}, 0.02, name + ", two");
            expect_halves(g, {rod(place(far), at), rod(place(0.3), at + 0.1)}, 0.02,
                          name + ", near");
          }
    }
}

TEST(MirroredRods, HalvesOfSpaceAreThoseOfTheWhole) {
  for (std::size_t across = 0; across < 3; ++across)
    for (const Boundary mirror : {Boundary::pmc, Boundary::pec})
      for (const bool conformal : {true, false}) {
        const MirrorGrid g{across, {5, 5, 5}, conformal, mirror};
        const std::string name = std::to_string(across) + (conformal ? "" : ", staircase");
        for (const double far : {0.3, 0.5, 0.6}) {
          const std::string there = name + ", " + std::to_string(far);
          expect_halves(g, {{{far, 1.2, 2.5}, {far, 3.9, 2.5}}}, 0.02, "beside, " + there);
          expect_halves(g, {{{far, 2.4, 0.7}, {far, 2.4, 4.2}}}, 0.02, "beside, " + there);
          expect_halves(g, {{{far, 2.4, 2.5}, {3.6, 2.4, 2.5}}}, 0.02, "in front, " + there);
          expect_halves(g, {{{far, 1.3, 1.2}, {3.6, 3.4, 2.9}}}, 0.02, "oblique, " + there);
        }
        expect_halves(g, {{{0, 2.4, 2.5}, {3.6, 2.4, 2.5}}}, 0.02, "reaches it, " + name);
        expect_halves(g, {{{0, 1.3, 1.2}, {3.6, 3.4, 2.9}}}, 0.02, "reaches it, oblique, " + name);
      }
}

TEST(MirroredRods, NearlyAllObliqueRodsAreThoseOfTheWhole) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> in(0, 1);
  int others = 0;  // which of several ways through a cell is taken depends on what comes first
  for (int n = 0; n < 100; ++n) {
    const MirrorGrid g{static_cast<std::size_t>(n) % 3, {5, 5, 5}, n % 2 == 0};
    const auto end = [&](double from) {
      const double a = from + 4 * in(random), b = 0.7 + 3.6 * in(random);
      return Point{a, b, 0.7 + 3.6 * in(random)};
    };
    MirroredRod rod{end(0.05), end(0.05)};
    if (n % 4 == 0) rod.a[0] = 0;
    const MirroredBodies bodies = bodies_of(g, {rod}, n % 12 < 6 ? 0.02 : 0.2);
    others += g.closed(bodies.upper, 1) != g.half_of(g.closed(bodies.whole, 0), 1);
  }
  EXPECT_LE(others, 2);
}

TEST(MirroredRods, TwoRodsACellApartStayApart) {
  const auto lines_of = [](double first, int side) {
    std::set<int> out;
    const auto along = [](double x) { return thin_rod({x, 2.4, -9}, {x, 2.4, 9}, 0.02); };
    for (const auto& [c, i, j, k] :
         MirrorGrid{0, {6, 6, 1}}.closed({along(first), along(first + 1)}, side))
      out.insert(i);
    return out;
  };
  EXPECT_EQ(lines_of(1.5, 1), (std::set{2, 3}));
  EXPECT_EQ(lines_of(-3.5, 0), (std::set{-4, -3}));
  EXPECT_EQ(lines_of(-0.5, 0), (std::set{-1, 1}));  // about the middle
  EXPECT_EQ(lines_of(0.5, 1), (std::set{1, 2}));    // beside the mirror
}

TEST(MirroredRods, WallsAmidCellsAreThoseOfTheWhole) {
  for (std::size_t across = 0; across < 3; ++across)
    for (const bool conformal : {true, false})
      for (const double far : {0.5, 1.5, 2.5, 4.5}) {
        const MirrorGrid g{across, {5, 5, 5}, conformal};
        std::vector<Shape> sheets;
        for (const double at : {far, -far}) {
          Point low{-9, -9, -9}, high{9, 9, 9};
          low[across] = high[across] = at;
          sheets.push_back(box(low, high));
        }
        const ClosedEdges all = g.closed(sheets, 0), upper = g.half_of(all, 1);
        EXPECT_EQ(told(g.half_of(all, -1)), told(upper)) << far << ": the whole is symmetric";
        EXPECT_EQ(told(g.closed({sheets[0]}, 1)), told(upper)) << far;
        EXPECT_EQ(told(g.half_of(g.closed({sheets[1]}, -1), -1)), told(upper)) << far;
        for (const auto& [c, i, j, k] : upper) {  // neither on the mirror nor on the outer wall
          EXPECT_GT((std::array{i, j, k})[across], 0) << far;
          EXPECT_LT((std::array{i, j, k})[across], 5) << far;
        }
      }
}

/// Whether a port from one arm of a dipole to the other, both along z at (x, y), ends on them.
bool joins_arms(const YeeGrid& grid, const SymmetryFaces& symmetry, int axis, double x, double y) {
  std::array<Faces, 3> faces;
  for (std::size_t d = 0; d < 3; ++d) {
    if (symmetry[d][0]) faces[d].low = Boundary::pmc;
    if (symmetry[d][1]) faces[d].high = Boundary::pmc;
  }
  const auto turned = [&](double z) {
    Point p{};
    p[static_cast<std::size_t>(axis + 1) % 3] = x, p[static_cast<std::size_t>(axis + 2) % 3] = y;
    p[static_cast<std::size_t>(axis)] = z;
    return p;
  };
  Scene scene;
  scene.structures.push_back({thin_rod(turned(-2), turned(0), 0.02), 1, 0, "low"});
  scene.structures.push_back({thin_rod(turned(1), turned(3), 0.02), 1, 0, "high"});
  CutCellChoices choices;
  choices.symmetry = symmetry;
  const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media_of_halves, grid, faces,
                                                   0.5 * stable_time_step(grid), choices);
  const auto metal = [&](const Edge& e) { return open.fraction(e) == 0; };
  LumpedElement port;
  port.axis = axis, port.low = turned(0), port.high = turned(1);
  port.circuit.resistance_ohm = 50;
  const PlacedElement placed = place(port, grid, faces, open, metal, symmetry);
  EXPECT_EQ(placed.edges.size(), 1U);
  return !loose_end(placed, grid, faces, metal);
}

TEST(MirroredRods, APortAmidCellsIsOnTheRodsThatItJoins) {
  for (int axis = 0; axis < 3; ++axis)
    for (const int mirror : {0, -1, 1}) {
      YeeGrid grid;
      SymmetryFaces symmetry{};
      for (int d = 0; d < 3; ++d)
        for (int i = -3; i <= 4; ++i)
          grid.lines[static_cast<std::size_t>(d)].push_back(0.1 * i / 0.1);
      if (mirror != 0) symmetry[static_cast<std::size_t>(axis + 1) % 3][mirror > 0] = true;
      for (const double x : {-2.5, -1.5, -0.5, 0.5, 0.5 + 1e-12, 1.5, 3.5, 1.3, 2.0})
        for (const double y : {0.5 - 1e-12, 0.5, 2.5, -0.7})
          EXPECT_TRUE(joins_arms(grid, symmetry, axis, x, y))
              << axis << ", " << mirror << ", " << x << ", " << y;
    }
}

TEST(MirroredRods, APortAcrossTwoWiresAmidCellsEndsOnThem) {
  for (std::size_t axis = 0; axis < 3; ++axis)  // of the port
    for (const bool half : {false, true})
      for (const double first : {-2.5, -1.5, -0.5, 0.5, 1.5}) {
        if (half && first != -0.5) continue;  // else it would have to cross the mirror
        YeeGrid grid;
        std::array<Faces, 3> faces;
        CutCellChoices choices;
        for (std::size_t d = 0; d < 3; ++d)
          for (int i = half && d == axis ? 0 : -4; i <= 4; ++i) grid.lines[d].push_back(i);
        if (half) faces[axis].low = Boundary::pec, choices.symmetry[axis][0] = true;
        const auto at = [&](double across, double along) {
          Point p{0.4, 0.4, 0.4};
          p[axis] = across, p[(axis + 1) % 3] = along;
          return p;
        };
        Scene scene;
        for (const double x : {first, first + 1})
          if (!half || x > 0)
            scene.structures.push_back({thin_rod(at(x, -9), at(x, 9), 0.02), 1, 0, "wire"});
        const CutCellFractions open = cut_cell_fractions(
            SceneOrder(scene), media_of_halves, grid, faces, 0.5 * stable_time_step(grid), choices);
        const auto metal = [&](const Edge& e) { return open.fraction(e) == 0; };
        LumpedElement port;
        port.axis = static_cast<int>(axis);
        port.low = at(first, 0.3), port.high = at(first + 1, 0.3);
        port.circuit.resistance_ohm = 50;
        const PlacedElement placed = place(port, grid, faces, open, metal, choices.symmetry);
        EXPECT_FALSE(loose_end(placed, grid, faces, metal))
            << axis << ", " << first << ", " << half;
      }
}

TEST(MirroredRods, AMagneticWallIsAMirrorWithoutAName) {
  for (const double far : {0.4, 0.5, 1.5})
    expect_halves({1, {6, 6, 1}, true, Boundary::pmc, false}, {{{far, -9, 2.5}, {far, 9, 2.5}}},
                  0.02, std::to_string(far));
}

TEST(MirroredRods, ARodBesideAWallIsNotTheWall) {
  const MirrorGrid g{0, {5, 5, 5}, true, Boundary::pec, false};
  for (const double far : {0.1, 0.4, 0.5})
    for (const auto& [c, i, j, k] : g.closed({thin_rod({far, 2.4, 1}, {far, 2.4, 4}, 0.02)}, 1))
      EXPECT_EQ(i, 1) << far;
  // A post that stands on it does reach it, and one with a gap does not.
  EXPECT_TRUE(g.closed({thin_rod({0, 2.4, 2.4}, {3, 2.4, 2.4}, 0.02)}, 1).contains({Ex, 0, 2, 2}));
  EXPECT_FALSE(
      g.closed({thin_rod({0.1, 2.4, 2.4}, {3, 2.4, 2.4}, 0.02)}, 1).contains({Ex, 0, 2, 2}));
}

TEST(MirroredRods, TheNearerOfTwoHasTheNode) {
  // Whichever is first in the scene: at 2.7 and 3.4 both are nearest to 3, the former more so.
  MirrorGrid g{0, {6, 6, 1}};
  const Shape near = thin_rod({2.7, 2.4, -9}, {2.7, 2.4, 9}, 0.02),
              far = thin_rod({3.4, 2.4, -9}, {3.4, 2.4, 9}, 0.02);
  const ClosedEdges expected{{Ez, 3, 2, 0}, {Ez, 4, 2, 0}};
  EXPECT_EQ(told(g.closed({near, far}, 1)), told(expected));
  EXPECT_EQ(told(g.closed({far, near}, 1)), told(expected));
}

}  // namespace
}  // namespace tessera::electromagnetics
