// SPDX-License-Identifier: Apache-2.0
//
// Lines of bodies that touch no wall, in planes that layers or a window end: their impedance is
// voltage over current, whatever is about them, and their modes run forward.
#include "guides.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/mode_source.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/solvers/eigenpairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace guides;
constexpr double kMm = 1e-3;

/// [x0, x1, y0, y1] in mm.
using Bar = std::array<double, 4>;
Bar moved(const Bar& b, double x, double y) { return {b[0] + x, b[1] + x, b[2] + y, b[3] + y}; }
Bar turned_over(const Bar& b) { return {b[0], b[1], -b[3], -b[2]}; }

/// Along z, of cells of 1 mm between -13 and 13 mm or from x = `from` on, layers of five cells.
struct OpenLine {
  std::vector<Bar> metal, holes, board;  ///< holes: of what is about the metal, with new metal in
  std::vector<Bar> cores;
  Faces at_x = layers, at_y = layers;
  int from = -13, window = 0;  ///< window: between - and + so many mm
  SymmetryFaces symmetry{};

  YeeModel model() const {
    YeeGrid grid;
    for (const std::size_t d : {0, 1})
      for (int i = d == 0 ? from : -13; i <= 13; ++i) grid.lines[d].push_back(i * kMm);
    grid.lines[2] = even(4, kMm);
    std::vector<Medium> media(3);
    media[1].pec = true, media[2].eps.fill(4);
    Scene scene;
    const auto add = [&](const std::vector<Bar>& bars, int medium) {
      for (const Bar& b : bars)
        scene.structures.push_back(
            {box({b[0] * kMm, b[2] * kMm, -INFINITY}, {b[1] * kMm, b[3] * kMm, INFINITY}), medium});
    };
    add(board, 2), add(metal, 1), add(holes, 0), add(cores, 1);
    return yee_model(grid, {at_x, at_y, period}, {.cells = 5}, 0.5 * stable_time_step(grid),
                     Dtype::f64, scene, media);
  }
  ModePlane plane() const {
    ModePlane out{2, 2};
    if (window > 0) out.low = {13 - window, 13 - window}, out.high = {13 + window, 13 + window};
    return out;
  }
  GridModes modes(double f = 3e9, int count = 1) const {
    return grid_modes(model(), plane(), {.frequency_hz = f, .count = count, .whole_groups = true});
  }
  std::vector<GuideConductor> conductors(const GridModes& m) const {
    return guide_conductors(model(), plane(), m, symmetry);
  }
  double impedance(double f = 3e9) const {
    const GridModes m = modes(f);
    return line_impedance(m, m.modes[0], conductors(m)).real();
  }
};

class OpenLines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!solvers::slepc_available()) GTEST_SKIP() << "SLEPc is not there";
  }
};

const Bar kEverywhere{-50, 50, -50, 50};

// A tube and its core know nothing of what is about the tube: layers, a window's walls, in it or in
// the tube, a box of metal.
TEST_F(OpenLines, ATubeIsWhatItsCoreReturnsThrough) {
  const Bar core{-2, 2, -2, 2}, hole{-6, 6, -6, 6}, tube{-8, 8, -8, 8};
  const double z = OpenLine{.metal = {kEverywhere}, .holes = {hole}, .cores = {core}}.impedance();
  EXPECT_NEAR(z, 58.43, 0.01);
  OpenLine line{.metal = {tube}, .holes = {hole}, .cores = {core}};
  for (const int window : {0, 12, 10, 7}) {
    line.window = window;
    EXPECT_NEAR(line.impedance(), z, 1e-6 * z) << window;
  }
  const OpenLine aside{
      .metal = {moved(tube, 2, -1)}, .holes = {moved(hole, 2, -1)}, .cores = {moved(core, 2, -1)}};
  EXPECT_NEAR(aside.impedance(), z, 1e-6 * z);
  // In a box there are two lines, one in the tube and one about it.
  line.window = 0, line.at_x = line.at_y = walls;
  const double outer = OpenLine{.metal = {tube}, .at_x = walls, .at_y = walls}.impedance();
  const GridModes both = line.modes(3e9, 2);
  std::vector<double> found;
  for (const GridMode& m : both.modes)
    found.push_back(line_impedance(both, m, line.conductors(both)).real());
  std::sort(found.begin(), found.end());
  EXPECT_NEAR(found[0], std::min(outer, z), 1e-6 * z);
  EXPECT_NEAR(found[1], std::max(outer, z), 1e-6 * z);
}

// A mirror cuts tube and core: the whole's impedance of a half.
TEST_F(OpenLines, HalfATubeIsTheWhole) {
  const OpenLine whole{
      .metal = {{-8, 8, -8, 8}}, .holes = {{-6, 6, -6, 6}}, .cores = {{-2, 2, -2, 2}}};
  OpenLine half = whole;
  half.at_x = {Boundary::pmc, Boundary::pml}, half.from = 0, half.symmetry[0][0] = true;
  const double z = whole.impedance();
  EXPECT_NEAR(half.impedance(), z, 1e-6 * z);
}

// A strip's impedance over a plate, eps 4 between: the same whether the plate ends short of the
// layers' ends or goes through them, up to what its edges do; above or below.
TEST_F(OpenLines, AFiniteGroundIsWhatAStripReturnsThrough) {
  const Bar strip{-2, 2, 1, 2}, plate{-50, 50, -2, -1}, board{-50, 50, -1, 1};
  const double z = OpenLine{.metal = {plate, strip}, .board = {board}}.impedance();
  EXPECT_NEAR(z, 42.7, 0.5);
  for (const double half : {6.0, 9.0}) {
    const Bar ground{-half, half, -2, -1}, slab{-half, half, -1, 1};
    const OpenLine line{.metal = {ground, strip}, .board = {slab}},
        below{.metal = {turned_over(ground), turned_over(strip)}, .board = {turned_over(slab)}};
    const double finite = line.impedance();
    EXPECT_NEAR(finite, z, 0.04 * z) << half;
    EXPECT_NEAR(below.impedance(), finite, 1e-6 * z) << half;
  }
}

// Two bars in air: one carries what the other returns, be they in the middle or beside it. Half of
// it against a wall of metal has half of its voltage.
TEST_F(OpenLines, ATwinLineHasItsDifferentialImpedance) {
  const Bar left{-4, -2, -1, 1}, right{2, 4, -1, 1};
  const double z = OpenLine{.metal = {left, right}}.impedance();
  EXPECT_NEAR(z, 178.9, 0.05 * 178.9);  // at cells of 0.25 mm, in a box
  OpenLine half{.metal = {right}, .at_x = {Boundary::pec, Boundary::pml}, .from = 0};
  EXPECT_NEAR(half.impedance(), z / 2, 1e-6 * z);
  half.symmetry[0][0] = true;
  EXPECT_NEAR(half.impedance(), z, 1e-6 * z);
  const OpenLine aside{.metal = {moved(left, 1, 2), moved(right, 1, 2)}},
      below{.metal = {moved(left, 1, -2), moved(right, 1, -2)}};
  EXPECT_NEAR(aside.impedance(), z, 0.02 * z);
  EXPECT_NEAR(below.impedance(), aside.impedance(), 1e-6 * z);
}

// In air all modes of lines have one speed: first comes that whose conductors return all.
TEST_F(OpenLines, TheLinesOwnModeComesBeforeTheOneAgainstTheLayers) {
  const Bar strip{-2, 2, 1, 2}, plate{-6, 6, -2, -1};
  const OpenLine line{.metal = {plate, strip}},
      below{.metal = {turned_over(plate), turned_over(strip)}};
  const double z = line.impedance();
  EXPECT_NEAR(z, 79.8, 0.05 * 79.8);  // at cells of 0.25 mm, in a box
  EXPECT_NEAR(below.impedance(), z, 1e-6 * z);
  const GridModes m = line.modes();
  EXPECT_EQ(m.alike, 1);
  const auto currents = line_currents(m, m.modes[0], line.conductors(m));
  ASSERT_EQ(currents.size(), 2u);
  EXPECT_LT(std::abs(currents[0] + currents[1]), 1e-6 * std::abs(currents[0]));
}

// The outer two of a coplanar line return together: its impedance is voltage over current, along
// the board from the strip to the right, between the lines 14 and 16 mm from the low face.
TEST_F(OpenLines, ACoplanarLineReturnsThroughBothSides) {
  const OpenLine line{.metal = {{-1, 1, -1, 0}, {3, 8, -1, 0}, {-8, -3, -1, 0}},
                      .board = {{-50, 50, -4, -1}}};
  const GridModes m = line.modes(1e9, 3);
  const auto conductors = line.conductors(m);
  ASSERT_EQ(conductors.size(), 3u);
  const std::size_t middle = 1;
  ASSERT_EQ(conductors[middle].low[0], 12);
  const auto in_middle = [&](const GridMode& mode) {
    return std::abs(line_currents(m, mode, conductors)[middle]);
  };
  const GridMode& mode = *std::max_element(
      m.modes.begin(), m.modes.end(),
      [&](const GridMode& a, const GridMode& b) { return in_middle(a) < in_middle(b); });
  const auto current = line_currents(m, mode, conductors);
  const double net = std::abs(current[0] + current[1] + current[2]);
  EXPECT_GT(net, 0.01 * in_middle(mode));  // some returns through the layers' ends
  EXPECT_LT(net, 0.05 * in_middle(mode));
  std::complex<double> voltage = 0;
  for (std::size_t k = 0; k < m.open; ++k)
    if (m.e[k].component == 0 && m.e[k].j == 12 && m.e[k].i >= 14 && m.e[k].i < 16)
      voltage += mode.e[k] * m.reference;
  const double z = line_impedance(m, mode, conductors).real();
  EXPECT_NEAR(z, std::abs(voltage / current[middle]), 0.02 * z);
}

// Each of a pair against the plate below, as over one that goes through the layers.
TEST_F(OpenLines, AFiniteGroundKeepsThatOfEachOfAPair) {
  const Bar left{-4, -1, 1, 2}, right{1, 4, 1, 2};
  std::vector<std::vector<double>> found;
  for (const double half : {9.0, 50.0}) {
    const OpenLine line{.metal = {{-half, half, -2, -1}, left, right},
                        .board = {{-half, half, -1, 1}}};
    const GridModes m = line.modes(3e9, 2);
    auto& z = found.emplace_back();
    for (const GridMode& mode : m.modes)
      z.push_back(line_impedance(m, mode, line.conductors(m)).real());
  }
  for (const std::size_t k : {0, 1}) EXPECT_NEAR(found[0][k], found[1][k], 0.06 * found[1][k]) << k;
  EXPECT_GT(std::abs(found[0][0] - found[0][1]), 0.1 * found[0][0]);
}

// One body has the window's walls for its return, as if they were there.
TEST_F(OpenLines, ABodyAloneReturnsThroughTheWindow) {
  OpenLine line{.metal = {{-2, 2, -1, 1}}};
  line.window = 7;
  const double z =
      OpenLine{.metal = {kEverywhere}, .holes = {{-7, 7, -7, 7}}, .cores = {{-2, 2, -1, 1}}}
          .impedance();
  EXPECT_NEAR(line.impedance(), z, 1e-6 * z);
}

// Layers beside a strip let its wave decay a little or grow a little, by the frequency: it carries
// its power forward all the same.
TEST_F(OpenLines, LayersAtTheSidesDoNotTurnAWave) {
  const OpenLine line{.metal = {{-50, 50, -2, -1}, {-2, 2, 1, 2}}, .board = {{-50, 50, -1, 1}}};
  std::vector<double> f{1e9, 2e9, 3e9, 4e9, 10e9};
  bool grows = false;
  for (const GridModes& m : modes_at(line.model(), line.plane(), f, 1, 7)) {
    const std::complex<double> index = m.modes[0].index;
    EXPECT_GT(index.real(), 1.7);
    EXPECT_LT(index.real(), 1.9);
    grows = grows || index.imag() > 1e-3 * index.real();
    EXPECT_GT(line_impedance(m, m.modes[0], line.conductors(m)).real(), 40);
  }
  EXPECT_TRUE(grows);
}

}  // namespace
}  // namespace tessera::electromagnetics
