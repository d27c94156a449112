// SPDX-License-Identifier: Apache-2.0
//
// Currents and impedances of lines: a plate line's is exact on any grid; a coaxial line's is 60
// ohm/sqrt(eps) ln(b/a); the circulation of h round a conductor is what runs in it, step for step.
#include "tessera/electromagnetics/line_impedance.h"

#include "guides.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using std::numbers::pi;
using C = std::complex<double>;
using namespace guides;

std::vector<Medium> filled(double eps) {
  std::vector<Medium> m(2);
  m[0].eps.fill(eps), m[1].pec = true;
  return m;
}

struct GuideLine {
  YeeModel model;
  ModePlane plane;
  GridModes modes;
  std::vector<GuideConductor> conductors;
  C impedance(std::size_t k = 0) const {
    return line_impedance(modes, modes.modes.at(k), conductors);
  }
};
/// Along z, on these lines of x and y, with metal where `conductors` are.
GuideLine line(std::vector<double> x, std::vector<double> y, double cell, Faces at_x, Faces at_y,
               const std::vector<Shape>& conductors, const std::vector<Medium>& media, double f,
               int count = 1) {
  YeeGrid grid;
  grid.lines[0] = std::move(x), grid.lines[1] = std::move(y), grid.lines[2] = even(4, cell);
  Scene scene;
  for (const Shape& s : conductors) scene.structures.push_back({s, 1});
  const std::array<Faces, 3> faces{at_x, at_y, period};
  const double dt = 0.5 * stable_time_step(grid);
  const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
  GuideLine out{yee_model(grid, faces, {}, dt, Dtype::f64, scene, media, Averaging::kottke, open),
                {2, 2},
                {},
                {}};
  out.modes = grid_modes(out.model, out.plane, {.frequency_hz = f, .count = count});
  out.conductors = guide_conductors(out.model, out.plane, out.modes);
  return out;
}

TEST(LineImpedance, OfPlatesIsThatOfTheirDistance) {
  // Between walls of metal at y, mirrors at x: width 6 mm, distance 3 mm, eps 4. The wave is plane:
  // on the grid, e and h are uniform, and their ratio is that of the step.
  const GuideLine plates =
      line(even(6, 1e-3), even(4, 0.75e-3), 1e-3, mirrors, walls, {}, filled(4), 5e9);
  ASSERT_EQ(plates.conductors.size(), 2u);
  const double dispersion = plates.modes.modes[0].index.real() / 2;
  EXPECT_NEAR(dispersion, 1, 3e-3);
  EXPECT_NEAR(plates.impedance().real(), vacuum_impedance / 2 * 0.5, 1e-4 * 94.2);
  EXPECT_NEAR(plates.impedance().imag(), 0, 1e-9);
}

// A plate between two: both walls are what it returns through, whichever of them that is.
TEST(LineImpedance, WallsOnBothSidesCountAlike) {
  for (const double above : {1.0, 4.0}) {
    std::vector<Medium> media = filled(1);
    media.emplace_back();
    media[2].eps.fill(above);
    YeeGrid grid;
    grid.lines[0] = even(6, 1e-3), grid.lines[1] = even(9, 0.75e-3), grid.lines[2] = even(4, 1e-3);
    const double y = grid.lines[1][4];
    Scene scene;
    scene.structures = {{box({-INFINITY, y, -INFINITY}, {INFINITY, INFINITY, INFINITY}), 2},
                        {box({-INFINITY, y, -INFINITY}, {INFINITY, y + 0.75e-3, INFINITY}), 1}};
    const std::array<Faces, 3> faces{mirrors, walls, period};
    const YeeModel model =
        yee_model(grid, faces, {}, 0.5 * stable_time_step(grid), Dtype::f64, scene, media);
    const ModePlane plane{2, 2};
    const GridModes modes = grid_modes(model, plane, {.frequency_hz = 5e9, .count = 2});
    const auto conductors = guide_conductors(model, plane, modes);
    std::vector<double> impedance;
    for (const GridMode& m : modes.modes)
      impedance.push_back(line_impedance(modes, m, conductors).real());
    const double channel = vacuum_impedance * 3.0 / 6.0;  // slowest first, else the lower one
    EXPECT_NEAR(impedance[0], channel / std::sqrt(above), 2e-3 * channel) << above;
    EXPECT_NEAR(impedance[1], channel, 2e-3 * channel) << above;
  }
}

TEST(LineImpedance, OfPlatesInTwoDimensionsIsOhmMetres) {
  YeeModel m;
  m.grid.lines[0] = even(4, 1e-3), m.grid.lines[1] = even(5, 0.4e-3);
  m.grid.lines[2] = {-0.5e-3, 0.5e-3};
  m.faces = {period, walls, period};
  m.dtype = Dtype::f64;
  m.active = {true, true, false, false, false, true};
  m.dt_s = 0.9 * stable_time_step(m.grid);
  const ModePlane plane{0, 2};
  const GridModes modes = grid_modes(m, plane, {.frequency_hz = 3e9});
  const auto conductors = guide_conductors(m, plane, modes);
  ASSERT_EQ(conductors.size(), 2u);
  EXPECT_NEAR(line_impedance(modes, modes.modes[0], conductors).real(), vacuum_impedance * 2e-3,
              1e-4 * 0.75);
}

TEST(LineImpedance, OfACoaxialLineOffTheGridsLines) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  // b/a = 2.3, ten cells between, the axis 0.3 cells off the lines.
  const double a = 1e-3, b = 2.3e-3, cell = (b - a) / 10, eps = 2.1;
  const int n = 2 * static_cast<int>(std::ceil(b / cell)) + 4;
  std::vector<double> x, y;
  for (int i = 0; i <= n; ++i)
    x.push_back((i - n / 2 + 0.3) * cell), y.push_back((i - n / 2 - 0.3) * cell);
  const Shape outer = complement(cylinder({0, 0, 0}, b, INFINITY)),
              inner = cylinder({0, 0, 0}, a, INFINITY);
  const GuideLine coax = line(x, y, cell, walls, walls, {outer, inner}, filled(eps), 5e9);
  ASSERT_EQ(coax.conductors.size(), 1u);
  const double wanted = vacuum_impedance / (2 * pi) / std::sqrt(eps) * std::log(b / a);
  EXPECT_NEAR(coax.impedance().real(), wanted, 0.002 * wanted);
  EXPECT_NEAR(coax.modes.modes[0].index.real(), std::sqrt(eps), 0.0005 * std::sqrt(eps));
}

/// Strips on a substrate above ground; x from -5 mm or from a mirror at 0.
GuideLine strips(Faces at_x, double from, int count) {
  const double cell = 0.25e-3;
  const int half = 20, nx = from < 0 ? 2 * half : half;
  std::vector<double> x, y;
  for (int i = 0; i <= nx; ++i) x.push_back(from + i * cell);
  for (int i = 0; i <= 16; ++i) y.push_back(i * cell);
  std::vector<Medium> media = filled(1);
  media.emplace_back();
  media[2].eps.fill(6);
  YeeGrid grid;
  grid.lines[0] = x, grid.lines[1] = y, grid.lines[2] = even(4, cell);
  Scene scene;
  scene.structures = {{box({-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 4 * cell, INFINITY}), 2},
                      {box({4 * cell, 4 * cell, -INFINITY}, {8 * cell, 5 * cell, INFINITY}), 1},
                      {box({-8 * cell, 4 * cell, -INFINITY}, {-4 * cell, 5 * cell, INFINITY}), 1}};
  const std::array<Faces, 3> faces{at_x, walls, period};
  GuideLine out{yee_model(grid, faces, {}, 0.9 * stable_time_step(grid), Dtype::f64, scene, media),
                {2, 2},
                {},
                {}};
  out.modes = grid_modes(out.model, out.plane, {.frequency_hz = 2e9, .count = count});
  out.conductors = guide_conductors(out.model, out.plane, out.modes);
  return out;
}

TEST(LineImpedance, OfAPairIsThatOfItsHalves) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  const GuideLine pair = strips(walls, -5e-3, 2);
  ASSERT_EQ(pair.conductors.size(), 2u);
  EXPECT_EQ(pair.conductors[0].low, (std::array{12, 4}));
  EXPECT_EQ(pair.conductors[0].high, (std::array{16, 5}));
  const GuideLine even_half = strips({Boundary::pmc, Boundary::pec}, 0, 1),
                  odd_half = strips({Boundary::pec, Boundary::pec}, 0, 1);
  ASSERT_EQ(even_half.conductors.size(), 1u);
  std::vector<std::pair<double, double>> found;  // index, impedance
  for (const std::size_t k : {0, 1}) {
    const auto i = line_currents(pair.modes, pair.modes.modes[k], pair.conductors);
    EXPECT_NEAR(std::abs(i[0] / i[1]), 1, 1e-6);
    const GuideLine& half = (i[0] / i[1]).real() > 0 ? even_half : odd_half;
    EXPECT_NEAR(pair.modes.modes[k].index.real(), half.modes.modes[0].index.real(), 1e-8);
    EXPECT_NEAR(pair.impedance(k).real(), half.impedance().real(), 1e-6 * 50);
  }
  EXPECT_GT(even_half.impedance().real(), 1.1 * odd_half.impedance().real());
}

TEST(LineImpedance, ModesWithoutCurrentsHaveNone) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  // Of a square coaxial line TEM has a current, TE11 and its like have as much there as back.
  const double cell = 0.5e-3;
  const GuideLine coax = line(
      even(20, cell), even(20, cell), cell, walls, walls,
      {box({7 * cell, 7 * cell, -INFINITY}, {13 * cell, 13 * cell, INFINITY})}, filled(1), 20e9, 3);
  ASSERT_EQ(coax.conductors.size(), 1u);
  EXPECT_GT(coax.impedance(0).real(), 20);
  EXPECT_TRUE(std::isnan(coax.impedance(1).real()));
  EXPECT_TRUE(std::isnan(coax.impedance(2).real()));
  const GuideLine hollow =
      line(even(20, cell), even(10, cell), cell, walls, walls, {}, filled(1), 20e9);
  EXPECT_TRUE(hollow.conductors.empty());
  EXPECT_TRUE(std::isnan(hollow.impedance().real()));
}

TEST(LineImpedance, OfLossyLinesIsComplex) {
  // Plates with a conductivity between: Z = sqrt(i w mu / (sigma + i w eps)) d/w.
  std::vector<Medium> media = filled(4);
  media[0].sigma.fill(0.3);
  const double f = 5e9, w = 2 * pi * f;
  const GuideLine plates =
      line(even(6, 1e-3), even(4, 0.75e-3), 0.5e-3, mirrors, walls, {}, media, f);
  const C wanted =
      0.5 * std::sqrt(C(0, w * vacuum_permeability) / C(0.3, w * 4 * vacuum_permittivity));
  EXPECT_NEAR(std::abs(plates.impedance() - wanted), 0, 2e-3 * std::abs(wanted));
  EXPECT_GT(wanted.imag(), 0.1 * wanted.real());
}

/// A slab of index 2.5 in the middle of 30 cells of y, along x, or half of it from 0 on; `metal`: a
/// plate of so many cells below its lower line.
struct SlabGuide {
  YeeModel model;
  ModePlane plane{0, 2};
  std::array<AbsorbingFaces, 3> absorbers{};
  SymmetryFaces symmetry{};

  std::size_t conductors(double f = 1e10) const {
    const GridModes m = grid_modes(model, plane, {.frequency_hz = f});
    return guide_conductors(model, plane, m, symmetry, absorbers).size();
  }
};
SlabGuide slab_guide(Faces at_y, bool three = false) {
  const double cell = 1e-3;
  YeeGrid grid;
  grid.lines[0] = even(4, cell), grid.lines[2] = {-cell / 2, cell / 2};
  for (int j = 0; j <= 30; ++j) grid.lines[1].push_back((j - 15) * cell);
  std::vector<Medium> media = filled(1);
  media.emplace_back();
  media[2].eps.fill(6.25);
  Scene scene;
  scene.structures = {{box({-INFINITY, -3 * cell, -INFINITY}, {INFINITY, 3 * cell, INFINITY}), 2}};
  SlabGuide out;
  out.model = yee_model(grid, {period, at_y, period}, {.cells = 4}, 0.5 * stable_time_step(grid),
                        Dtype::f64, scene, media);
  if (!three) out.model.active = {true, true, false, false, false, true};
  return out;
}

// The walls of a window and those behind layers are two in a plane of one axis, and no conductors
// of the guide: between them a slab has no impedance, which real plates have.
TEST(LineImpedance, WallsThatTheGuideDoesNotHaveAreNoConductors) {
  const Faces layers{Boundary::pml, Boundary::pml};
  SlabGuide window = slab_guide(layers);
  window.plane.low = {6, -1}, window.plane.high = {24, -1};
  EXPECT_EQ(window.conductors(), 0u);
  EXPECT_EQ(slab_guide(layers).conductors(), 0u);
  EXPECT_EQ(slab_guide(walls).conductors(), 2u);  // plates
  SlabGuide absorbed = slab_guide(walls);
  absorbed.absorbers[1] = {true, true};
  EXPECT_EQ(absorbed.conductors(), 0u);
  // On a plate it has one conductor, and that carries no line either.
  absorbed.absorbers[1] = {false, true};
  EXPECT_EQ(absorbed.conductors(), 0u);
  // A mirror between the walls: their images are what they are.
  SlabGuide half = slab_guide({Boundary::pec, Boundary::pml});
  half.symmetry[1][0] = true;
  EXPECT_EQ(half.conductors(), 0u);
}

TEST(LineImpedance, OneCellOfAPeriodHasNoWallsMore) {
  if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  EXPECT_EQ(slab_guide({Boundary::pml, Boundary::pml}, true).conductors(), 0u);
  EXPECT_EQ(slab_guide(walls, true).conductors(), 2u);
}

// A plate four cells over a wall of metal, open above: Z = Z0 d of the two, whatever the window.
TEST(LineImpedance, AWindowAboveAPlateAddsNothing) {
  SlabGuide line = slab_guide({Boundary::pec, Boundary::pml});
  line.model.material = [](int c, int j, int, MaterialRow& row) {
    if (c == 0 && j == 4) std::fill(row.inverse.begin(), row.inverse.end(), 0.0);
  };
  for (const int high : {12, 22}) {
    line.plane.high = {high, -1};
    const GridModes m = grid_modes(line.model, line.plane, {.frequency_hz = 1e9});
    const auto conductors = guide_conductors(line.model, line.plane, m);
    ASSERT_EQ(conductors.size(), 2u);  // the plate, below and above
    EXPECT_EQ(conductors[0].low[0], 4);
    EXPECT_NEAR(line_impedance(m, m.modes[0], conductors).real(), vacuum_impedance * 4e-3,
                1e-3 * 1.5);
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
