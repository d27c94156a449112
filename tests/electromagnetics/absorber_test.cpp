// SPDX-License-Identifier: Apache-2.0
// Layers of conductivity, and films that a pml does not stand.
#include "tessera/electromagnetics/absorber.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/backward_films.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <tuple>

namespace tessera::electromagnetics {
namespace {

constexpr double step_s = 1e-12;

/// The row of a component along x of a line of cells whose medium has 1/eps = 1/mu = `inverse`.
MaterialRow row_of(const YeeGrid& grid, const std::array<AbsorbingFaces, 3>& faces,
                   const Absorber& absorber, int component, double inverse = 1) {
  const MaterialRows rows = with_absorber(
      [inverse](int, int, int, MaterialRow& r) { r.inverse.assign(r.inverse.size(), inverse); },
      grid, faces, absorber, step_s);
  const auto n = static_cast<std::size_t>(grid.cells(0)) + 1;
  MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
  rows(component, 0, 0, row);
  return row;
}

/// There and back a wave loses R: exp(-2 integral s dx / v), with s dt/2 = loss inverse.
TEST(Absorber, TakesItsReflectionFromAWaveThereAndBack) {
  const YeeGrid grid = uniform_grid({100 * cell, 0, 0}, cell);
  const Absorber absorber{.cells = 30, .order = 3, .reflection = 1e-3, .index = 1.5};
  const std::array<AbsorbingFaces, 3> high{{{false, true}, {}, {}}};
  for (const int component : {static_cast<int>(Ez), static_cast<int>(Hy)}) {
    const MaterialRow row = row_of(grid, high, absorber, component);
    double integral = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      // At lines both ends of a cell count half; at middles each cell has one value.
      const double s = at_middle(component, 0) ? row.loss[i] : (row.loss[i] + row.loss[i + 1]) / 2;
      integral += s * 2 / step_s * cell;
    }
    // Both rules sum u^3 over 30 cells to a share of 1/30^2 and less of the exponent, 6.9.
    EXPECT_NEAR(std::exp(-2 * integral * 1.5 / speed_of_light), 1e-3, 1e-2 * 1e-3);
    EXPECT_EQ(row.loss[69], 0);
    EXPECT_EQ(row.loss[10], 0);
  }
}

TEST(Absorber, LosesTheSameInEveryMediumAndLeavesConductors) {
  const YeeGrid grid = uniform_grid({40 * cell, 0, 0}, cell);
  const std::array<AbsorbingFaces, 3> both{{{true, true}, {}, {}}};
  const MaterialRow vacuum = row_of(grid, both, {.cells = 10}, Ez),
                    glass = row_of(grid, both, {.cells = 10}, Ez, 0.25),
                    metal = row_of(grid, both, {.cells = 10}, Ez, 0);
  EXPECT_GT(vacuum.loss.front(), 0);
  EXPECT_NEAR(vacuum.loss.front(), vacuum.loss.back(), 1e-12 * vacuum.loss.back());
  for (std::size_t i = 0; i < vacuum.loss.size(); ++i) {
    EXPECT_DOUBLE_EQ(glass.loss[i] * 0.25, vacuum.loss[i]);  // s = loss/eps
    EXPECT_EQ(metal.loss[i], 0);
  }
}

/// Media of 1 at infinite frequency, and of 9 and -3 at f.
TEST(Absorber, CountsTheMediumAtTheFrequenciesOfTheRun) {
  const YeeGrid grid = uniform_grid({40 * cell, 0, 0}, cell);
  const auto losses = [&](const std::vector<PoleResidue>& poles, double f_hz) {
    Medium m;
    m.poles = poles;
    const std::array<Faces, 3> walls{};
    const YeeModel model = yee_model(grid, walls, {}, step_s, Dtype::f64, {}, {m});
    const MaterialRows rows = with_absorber(model.material, grid, {{{false, true}, {}, {}}},
                                            {.cells = 10, .frequency_hz = f_hz}, step_s);
    MaterialRow row{std::vector<double>(41, 1.0), std::vector<double>(41, 0.0), {}, {}};
    rows(Ez, 0, 0, row);
    return row.loss;
  };
  const double f = 1e9, at_once = losses({}, f).back();
  EXPECT_GT(at_once, 0);
  EXPECT_EQ(losses(lorentz(1e12, 1e9, 8), 0).back(), at_once);
  EXPECT_NEAR(losses(lorentz(1e12, 1e9, 8), f).back(), 9 * at_once, 1e-4 * at_once);
  EXPECT_EQ(losses(drude(2 * f, 1e-3 * f), f).back(), at_once);
  EXPECT_EQ(losses(lorentz(1e12, 1e9, 8), f)[20], 0);
}

TEST(Absorber, RefusesWhatIsNoLayer) {
  const YeeGrid grid = uniform_grid({40 * cell, 0, 0}, cell);
  const auto make = [&](const Absorber& a, AbsorbingFaces x) {
    with_absorber([](int, int, int, MaterialRow&) {}, grid, {{x, {}, {}}}, a, step_s);
  };
  EXPECT_THROW(make({.cells = 21}, {true, true}), Error);
  EXPECT_NO_THROW(make({.cells = 21}, {true, false}));
  EXPECT_THROW(make({.cells = 0}, {true, false}), Error);
  EXPECT_THROW(make({.cells = 5, .order = -1}, {true, false}), Error);
  EXPECT_THROW(make({.cells = 5, .reflection = 0}, {true, false}), Error);
  EXPECT_THROW(make({.cells = 5, .index = 0}, {true, false}), Error);
  EXPECT_NO_THROW(make({.cells = 0}, {}));  // no layer
}

/// eps = 1 - fp^2/f^2 = -3 at fp/2: the skin depth is c/(2 pi f sqrt(3)).
TEST(BackwardFilms, AreThinnerThanTwoSkinDepthsAndRunThroughAPml) {
  const YeeGrid grid = uniform_grid({60 * cell, 60 * cell, 0}, cell);
  const double f = 1e9, skin = speed_of_light / (2 * std::numbers::pi * f * std::sqrt(3.0));
  Medium metal{.name = "metal"};
  metal.poles = drude(2 * f, 0);
  Medium glass{.name = "glass"};
  glass.eps = {2, 2, 2};
  const std::vector<Medium> media{Medium{}, metal, glass};
  const auto films = [&](double thickness, const std::array<Faces, 3>& faces) {
    // Glass below, the film, glass above: along all of x.
    const double inf = INFINITY;
    const Scene scene{{{box({-inf, -inf, -inf}, {inf, 0, inf}), 2, 0, ""},
                       {box({-inf, 0, -inf}, {inf, thickness, inf}), 1, 0, ""},
                       {box({-inf, thickness, -inf}, {inf, inf, inf}), 2, 0, ""}}};
    return backward_films(scene, media, grid, faces, 10, f, f);
  };
  ASSERT_GT(1.5 * skin, 5 * cell);
  const auto found = films(1.5 * skin, {pml, pec, joined});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].structure, 1U);
  EXPECT_EQ(found[0].axis, 0);
  EXPECT_NEAR(found[0].thickness_m, 1.5 * skin, cell);
  EXPECT_NEAR(found[0].skin_depth_m, skin, 1e-9 * skin);
  EXPECT_TRUE(films(2.5 * skin, {pml, pec, joined}).empty());
  EXPECT_TRUE(films(1.5 * skin, {pec, pml, joined}).empty());
}

/// Films thinner than a cell, and what mirrors, joined faces and several bodies make of them.
TEST(BackwardFilms, AreSeenWhereverTheyLie) {
  const YeeGrid grid = uniform_grid({60 * cell, 40 * cell, 0}, cell);
  const double inf = INFINITY, f = 1e9, rim = 20 * cell,
               skin = speed_of_light / (2 * std::numbers::pi * f * std::sqrt(3.0));
  Medium metal{.name = "metal"};
  metal.poles = drude(2 * f, 0);
  const std::vector<Medium> media{Medium{}, metal};
  using Slabs = std::vector<std::array<double, 2>>;
  const auto found = [&](const Slabs& slabs, const Faces& y) {
    Scene scene;
    for (const auto& s : slabs)
      scene.structures.push_back({box({-inf, s[0], -inf}, {inf, s[1], inf}), 1, 0, ""});
    const auto films = backward_films(scene, media, grid, {pml, y, joined}, 10, f, f);
    return films.size() == 1 ? films[0].thickness_m : films.empty() ? 0 : -1;
  };
  for (const Faces& y : {pml, pec, pmc, joined})
    for (const double thick : {1e-3 * cell, 0.3 * cell, 1.5 * skin})
      EXPECT_NEAR(found({{0.1 * cell, 0.1 * cell + thick}}, y), thick, 1e-9 * cell);
  // Half of it at a rim: a mirror has the other half, joined faces have nothing there, and behind a
  // layer it goes on.
  const Slabs low{{-inf, 0.7 * skin - rim}}, high{{rim - 0.7 * skin, inf}}, both{low[0], high[0]};
  for (const Slabs& half : {low, high}) {
    for (const Faces& y : {pec, pmc}) EXPECT_NEAR(found(half, y), 1.4 * skin, 1e-9 * skin);
    EXPECT_NEAR(found(half, joined), 0.7 * skin, 1e-9 * skin);
    EXPECT_EQ(found(half, pml), 0);
  }
  EXPECT_EQ(found({{-inf, 1.1 * skin - rim}}, pec), 0);
  EXPECT_EQ(found({{-inf, inf}}, pec), 0);
  EXPECT_EQ(found({{-inf, inf}}, joined), 0);
  // Across joined faces both halves are one film, and two bodies of one metal are one.
  EXPECT_EQ(found({{-inf, 1.1 * skin - rim}, {rim - 1.1 * skin, inf}}, joined), 0);
  EXPECT_EQ(found(both, pec), -1);
  EXPECT_EQ(found({{0, 1.1 * skin}, {1.1 * skin, 2.2 * skin}}, pec), 0);
  EXPECT_NEAR(found({{0, 0.5 * skin}, {0.5 * skin, 1.2 * skin}}, pec), 1.2 * skin, 1e-9 * skin);
  EXPECT_EQ(found({}, pec), 0);
}

/// Strips of a third of a cell, each a part of one body, in a domain of 300 cells across.
TEST(BackwardFilms, AreSeenInNarrowStrips) {
  const YeeGrid grid = uniform_grid({40 * cell, 300 * cell, 30 * cell}, cell);
  Medium metal{.name = "metal"};
  metal.poles = drude(2e9, 0);
  for (const double thick : {0.2, 50.0})
    for (const double at : {-97.3, 0.0, 61.6}) {
      Scene scene;
      scene.structures.push_back(
          {unite({box({-INFINITY, at * cell, -thick * cell}, {INFINITY, (at + 0.3) * cell, 0}),
                  box(cells(0, 0, 0), cells(3, 3, 3))}),
           1, 0, ""});
      const auto films =
          backward_films(scene, {Medium{}, metal}, grid, {pml, pml, pml}, 10, 1e9, 1e9);
      ASSERT_EQ(films.size(), thick > 1 ? 2U : 1U) << at;
      EXPECT_EQ(films[0].axis, 0);
      EXPECT_NEAR(films[0].thickness_m, 0.3 * cell, 1e-9 * cell);
    }
}

TEST(BackwardFilms, AreSheetsThatReachIntoALayer) {
  const YeeGrid grid = uniform_grid({60 * cell, 40 * cell, 30 * cell}, cell);
  Medium metal{.name = "metal"}, glass{.name = "glass"};
  metal.poles = drude(2e9, 0), glass.eps.fill(2);
  const double t = 0.9 * cell;
  const auto axes = [&](const Sheet& sheet, const std::array<Faces, 3>& faces) {
    std::string out;
    for (const BackwardFilm& b :
         backward_sheets(std::span(&sheet, 1), grid, faces, 10, 0.9e9, 1.1e9)) {
      out += "xyz"[b.axis];
      EXPECT_EQ(b.thickness_m, t);
      EXPECT_TRUE(b.frequency_hz >= 0.9e9 && b.frequency_hz <= 1.1e9);
    }
    return out;
  };
  const Sheet whole{.axis = 1, .thickness_m = t, .medium = metal};
  EXPECT_EQ(axes(whole, {pml, pml, pml}), "xz");
  EXPECT_EQ(axes(whole, {pml, pml, pec}), "x");
  EXPECT_EQ(axes(whole, {Faces{Boundary::pec, Boundary::pml}, pml, joined}), "x");
  // 2 GHz: at 0.9 GHz eps is -3.94, and two skin depths are 53 mm.
  EXPECT_TRUE(backward_sheets(std::vector{Sheet{.axis = 1, .thickness_m = 54e-3, .medium = metal}},
                              grid, {pml, pml, pml}, 10, 0.9e9, 0.9e9)
                  .empty());
  EXPECT_EQ(axes({.axis = 1, .thickness_m = t, .medium = glass}, {pml, pml, pml}), "");
  EXPECT_EQ(axes({.axis = 1, .resistance_ohm = 50, .thickness_m = t}, {pml, pml, pml}), "");
  // Cells from -30 to 30 along x, and from -15 to 15 along z, of which 10 are the layer.
  for (const auto& [x, z, seen] : {std::tuple(19.0, 4.0, ""), std::tuple(27.0, 4.0, "x"),
                                   std::tuple(19.0, 12.0, "z"), std::tuple(99.0, 99.0, "xz")}) {
    Sheet part = whole;
    part.outline = box({-x * cell, -INFINITY, -z * cell}, {x * cell, INFINITY, z * cell});
    EXPECT_EQ(axes(part, {pml, pml, pml}), seen) << x << " " << z;
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
