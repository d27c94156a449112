// SPDX-License-Identifier: Apache-2.0
// Thin wires: shares of the edges and faces about them, and lines whose impedance is known.
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/free_wire.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/thin_wire.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {
namespace {

constexpr double kCell = 0.01;

YeeGrid wire_grid(int cells = 12) {
  return uniform_grid({cells * kCell, cells * kCell, cells * kCell}, kCell);
}
std::array<Faces, 3> open_faces() {
  const Faces f{Boundary::pml, Boundary::pml};
  return {f, f, f};
}
CutCellFractions with_wires(const YeeGrid& grid, const std::vector<ThinWire>& wires,
                            const std::vector<Edge>& taken = {},
                            std::array<Faces, 3> faces = open_faces()) {
  Medium vacuum;
  vacuum.name = "vacuum";
  Scene scene;
  const std::vector<Medium> media{vacuum};
  return cut_cell_fractions(SceneOrder(scene), media, grid, faces, 0.95 * stable_time_step(grid),
                            {.wires = wires, .taken = taken});
}
/// Upright through the middle.
ThinWire upright(double from, double to, double radius) {
  return {{{0, 0, from}, {0, 0, to}}, radius};
}

TEST(ThinWires, EdgesAndFacesTakeTheLogarithmOfTheRadius) {
  const double a = 0.1 * kCell, r0 = std::exp(-std::numbers::egamma) * std::sqrt(2.0) / 4 * kCell;
  const CutCellFractions open = with_wires(wire_grid(), {upright(-0.06, 0.06, a)});
  const double share = 1 + std::log(r0 / a) / (std::numbers::pi / 2);
  EXPECT_EQ(open.fraction({Ez, 6, 6, 5}), 0);
  EXPECT_EQ(open.fraction({Ez, 6, 7, 5}), 1);
  for (const Edge& e : {Edge{Ex, 6, 6, 5}, Edge{Ex, 5, 6, 5}, Edge{Ey, 6, 6, 6}, Edge{Ey, 6, 5, 6},
                        Edge{Hx, 6, 6, 5}, Edge{Hx, 6, 5, 5}, Edge{Hy, 6, 6, 5}, Edge{Hy, 5, 6, 5}})
    EXPECT_NEAR(open.share(e), share, 1e-12) << name_of(e.component);
  EXPECT_EQ(open.share({Ex, 7, 6, 5}), 1);
}

TEST(ThinWires, AWireOfTheGridsOwnRadiusChangesNothing) {
  const double r0 = std::exp(-std::numbers::egamma) * std::sqrt(2.0) / 4 * kCell;
  const CutCellFractions open = with_wires(wire_grid(), {upright(-0.06, 0.06, r0)});
  for (const CutCellFraction& p : open.fractions)
    if (p.fraction > 0) {
      EXPECT_NEAR(p.share, 1, 1e-12) << name_of(p.edge.component);
    }
}

TEST(ThinWires, AnEndBetweenNodesBelongsToTheLastOneThatItReaches) {
  const double a = 0.1 * kCell;
  for (const double end : {0.02, 0.024, 0.0299}) {
    const CutCellFractions open = with_wires(wire_grid(), {upright(-0.06, end, a)});
    EXPECT_EQ(open.fraction({Ez, 6, 6, 7}), 0);
    EXPECT_EQ(open.fraction({Ez, 6, 6, 8}), 1);
  }
  // The longer the wire beyond its node, the less the node's edges drop.
  const auto beyond = [&](double end) {
    return with_wires(wire_grid(), {upright(-0.06, end, a)}).share({Ez, 6, 6, 8});
  };
  EXPECT_GT(beyond(0.02), beyond(0.024));
  EXPECT_GT(beyond(0.024), beyond(0.0299));
}

/// What crosses a magnetic wall goes on in its image: half of a wire has the shares of the whole.
TEST(ThinWires, AMagneticWallMirrorsThem) {
  const int half = 6;
  YeeGrid grid = wire_grid(2 * half), mirrored = grid;
  mirrored.lines[0].erase(mirrored.lines[0].begin(), mirrored.lines[0].begin() + half);
  const double x = mirrored.lines[0].front(), a = 0.1 * kCell;
  // Across the wall, with an end amid a cell; and along x before a bend that lies in it.
  const std::vector<std::pair<std::vector<Point>, std::vector<Point>>> wires{
      {{{x - 0.034, 0, 0}, {x + 0.034, 0, 0}}, {{x, 0, 0}, {x + 0.034, 0, 0}}},
      {{{x - 0.03, 0, 0}, {x + 0.03, 0, 0}, {x + 0.03, 0.02, 0}, {x - 0.03, 0.02, 0}},
       {{x, 0, 0}, {x + 0.03, 0, 0}, {x + 0.03, 0.02, 0}, {x, 0.02, 0}}}};
  for (const auto& [whole, part] : wires) {
    std::array<Faces, 3> faces = open_faces();
    const CutCellFractions of_whole = with_wires(grid, {{whole, a}});
    faces[0].low = Boundary::pmc;
    const CutCellFractions of_half = with_wires(mirrored, {{part, a}}, {}, faces);
    for (int c = 0; c < 6; ++c)
      for (int k = 0; k < 2 * half; ++k)
        for (int j = 0; j < 2 * half; ++j)
          for (int i = 0; i < half; ++i) {
            const Edge here{static_cast<std::uint8_t>(c), i, j, k},
                there{static_cast<std::uint8_t>(c), i + half, j, k};
            ASSERT_EQ(of_half.fraction(here), of_whole.fraction(there));
            ASSERT_NEAR(of_half.share(here), of_whole.share(there), 1e-12)
                << name_of(c) << " " << i << " " << j << " " << k;
          }
  }
}

TEST(ThinWires, AnElementOnAWireCarriesItsCurrent) {
  const double a = 0.1 * kCell;
  const Edge gap{Ez, 6, 6, 6};
  const CutCellFractions whole = with_wires(wire_grid(), {upright(-0.06, 0.06, a)}),
                         fed = with_wires(wire_grid(), {upright(-0.06, 0.06, a)}, {gap}),
                         between = with_wires(
                             wire_grid(), {upright(-0.06, 0, a), upright(0.01, 0.06, a)}, {gap});
  EXPECT_EQ(fed.fraction(gap), 1);
  for (const CutCellFraction& p : whole.fractions) {
    if (p.edge == gap) continue;
    EXPECT_EQ(fed.share(p.edge), p.share);
    EXPECT_EQ(between.share(p.edge), p.share);
  }
}

TEST(ThinWires, WiresThatCannotBeAreRefusedWithTheirPlace) {
  const auto words = [&](const std::vector<ThinWire>& wires) -> std::string {
    try {
      with_wires(wire_grid(), wires);
    } catch (const WireFault& e) {
      return std::to_string(e.wire) + ": " + e.what();
    }
    return "";
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const double a = 0.1 * kCell;
  EXPECT_EQ(words({upright(-0.06, 0.06, a)}), "");
  const ThinWire good = upright(-0.03, 0.03, a);
  EXPECT_TRUE(holds(words({good, {{{0.003, 0.02, 0}, {0.003, 0.02, 0.03}}, a}}), "1: at"));
  EXPECT_TRUE(holds(words({{{{0.003, 0, 0}, {0.003, 0, 0.03}}, a}}), "nearest across x is at 0 m"));
  EXPECT_TRUE(holds(words({upright(-0.03, 0.03, 0.4 * kCell)}), "0.4 of a cell"));
  EXPECT_TRUE(holds(words({{{{0, 0, 0}, {0.01, 0, 0.03}}, a}}), "does not run along an axis"));
  EXPECT_TRUE(holds(words({upright(0.02, 0.08, a)}), "leaves the domain"));
  EXPECT_TRUE(holds(words({upright(0.02, 0.028, a)}), "no edge of the grid"));
  EXPECT_TRUE(holds(words({good, upright(0, 0.02, a)}), "runs along another one"));
  EXPECT_TRUE(holds(words({{{{0, 0, 0}, {0, 0, 0}}, a}}), "two of its points"));
  EXPECT_TRUE(holds(words({{{{0, 0, -0.03}, {0, 0, 0.015}, {0, 0.03, 0.015}}, a}}), "its bend at"));
  EXPECT_TRUE(holds(words({upright(-0.03, 0.03, std::nan(""))}), "radius"));
}

/// A closed loop, and the same with coordinates that differ by rounding.
TEST(ThinWires, RoundingLeavesThemOnTheirLines) {
  const double a = 0.1 * kCell, y = 0.02, next = std::nextafter(y, 1.0);
  const ThinWire exact{
      {{0, y, -0.03}, {0, y, 0.03}, {0.03, y, 0.03}, {0.03, y, -0.03}, {0, y, -0.03}}, a},
      rounded{{{0, y, -0.03},
               {1e-18, next, 0.03},
               {0.03, y, std::nextafter(0.03, 1.0)},
               {0.03, next, -0.03},
               {-1e-18, y, std::nextafter(-0.03, -1.0)}},
              a};
  EXPECT_TRUE(runs_on_lines(rounded, wire_grid()));
  const CutCellFractions one = with_wires(wire_grid(), {exact}),
                         other = with_wires(wire_grid(), {rounded});
  ASSERT_EQ(one.fractions.size(), other.fractions.size());
  for (const CutCellFraction& p : one.fractions) {
    EXPECT_EQ(other.fraction(p.edge), p.fraction);
    EXPECT_EQ(other.share(p.edge), p.share);
  }
}

/// A wire along the middle of a square pipe of side s has Z0 = eta/(2 pi) ln(0.539353 s/a): of a
/// thin one the pipe is a circle of the square's conformal radius.
TEST(ThinWires, AWireInASquarePipeHasItsImpedance) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  const double side = 0.12;
  for (const int narrow : {1, 2})  // cells across x to those across y
    for (const double radius : {0.001, 0.03, 0.1, 0.2, 0.3}) {
      YeeGrid grid;
      for (int i = 0; i <= 12 * narrow; ++i)
        grid.lines[0].push_back((i / 12.0 / narrow - 0.5) * side);
      for (int i = 0; i <= 12; ++i) grid.lines[1].push_back((i / 12.0 - 0.5) * side);
      for (int i = 0; i <= 4; ++i) grid.lines[2].push_back(i * kCell);
      const Faces shut{Boundary::pec, Boundary::pec};
      const std::array<Faces, 3> faces{shut, shut, {Boundary::periodic, Boundary::periodic}};
      const double dt = 0.95 * stable_time_step(grid), a = radius * kCell / narrow;
      const std::vector<Medium> media(1);
      const Scene scene;
      const std::vector<ThinWire> wires{{{{0, 0, 0}, {0, 0, 4 * kCell}}, a}};
      const YeeModel m = yee_model(
          grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke,
          cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt, {.wires = wires}));
      const ModePlane plane{2, 2};
      const GridModes modes = grid_modes(m, plane, {.frequency_hz = 1e8});
      const auto conductors = guide_conductors(m, plane, modes);
      ASSERT_EQ(conductors.size(), 1u);
      const double z = line_impedance(modes, modes.modes[0], conductors).real(),
                   wanted =
                       vacuum_impedance / (2 * std::numbers::pi) * std::log(0.5393526 * side / a);
      EXPECT_NEAR(z / wanted, 1, 0.003) << radius << " of cells, " << narrow;
      EXPECT_NEAR(modes.modes[0].index.real(), 1, 0.001) << radius << " of cells, " << narrow;
    }
}

/// Bent, closed and ending wires of any radius in a closed box: what a pulse leaves does not grow.
TEST(ThinWires, StepsStayStable) {
  for (const Dtype type : {Dtype::f32, Dtype::f64})
    for (const double radius : {1e-6, 0.01, 0.1, 0.3}) {
      const double a = radius * kCell;
      const Faces shut{Boundary::pec, Boundary::pec};
      const std::array<Faces, 3> faces{shut, shut, shut};
      const YeeGrid grid = wire_grid();
      const double dt = 0.99 * stable_time_step(grid);
      const std::vector<Medium> media(1);
      const Scene scene;
      const std::vector<ThinWire> wires{
          upright(-0.037, 0.031, a),
          {{{0.01, -0.03, 0.01},
            {0.04, -0.03, 0.01},
            {0.04, 0.03, 0.01},
            {0.01, 0.03, 0.01},
            {0.01, -0.03, 0.01}},
           a},
          {{{-0.04, -0.04, -0.06}, {-0.04, -0.04, 0}, {-0.04, 0.0449, 0}}, a}};
      TimeDomain run(yee_model(grid, faces, {}, dt, type, scene, media, Averaging::kottke,
                               cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt,
                                                  {.wires = wires})),
                     {current_source(grid, faces, dt, Ez, {0.02, 0.01, 0.02}, {0.02, 0.01, 0.02}, 1,
                                     gaussian_pulse(3e9, 3e9))},
                     {{Ez, 3, 4, 5}, {Ex, 6, 6, 2}});
      double early = 0, late = 0;
      constexpr std::int64_t steps = 8000;
      run.advance(steps, [&](const Records& r) {
        for (std::int64_t n = 0; n < r.n_steps; ++n)
          for (const double x : {r.step(n)[0], r.step(n)[1]})
            ((r.first + n) < steps / 4 ? early : late) =
                std::max((r.first + n) < steps / 4 ? early : late, std::abs(x));
      });
      EXPECT_LT(late, 1.5 * early) << radius;
      EXPECT_GT(late, 0.05 * early) << radius;
    }
}

}  // namespace
}  // namespace tessera::electromagnetics
