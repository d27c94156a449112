// SPDX-License-Identifier: Apache-2.0
//
// A line of which mirrors of a symmetry leave a half or a quarter in the grid has the impedance of
// the whole, of the same cells, to what the eigensolver leaves.
#include "guides.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tessera::electromagnetics {
namespace {

using namespace guides;

constexpr double kCell = 0.5e-3;
constexpr Faces kJoined{Boundary::periodic, Boundary::periodic};

/// How the plane is cut at x = 0 or y = 0.
enum class Cut { no, magnetic, electric };
struct Line {
  YeeModel model;
  SymmetryFaces symmetry{};
  ModePlane plane{2, 2};

  double images() const { return images_of(model.grid, plane, symmetry); }
  GridModes modes() const { return grid_modes(model, plane, {.frequency_hz = 2e9, .count = 1}); }
  std::vector<GuideConductor> conductors(const SymmetryFaces& mirrors) const {
    return guide_conductors(model, plane, modes(), mirrors);
  }
  std::size_t count() const { return conductors(symmetry).size(); }
  /// Of the mode that is slowest.
  double impedance(const SymmetryFaces& mirrors) const {
    const GridModes m = modes();
    return line_impedance(m, m.modes[0], guide_conductors(model, plane, m, mirrors)).real();
  }
  double impedance() const { return impedance(symmetry); }
};
/// Along z, between x = -a and a, y = -b and b in cells `half` = {a, b}, or from 0 on where a
/// mirror cuts it.
Line line(std::array<int, 2> half, Faces outer_x, Faces outer_y, Cut cut_x, Cut cut_y,
          const std::vector<Shape>& metal) {
  Line out;
  YeeGrid grid;
  std::array<Faces, 3> faces{outer_x, outer_y, kJoined};
  for (const std::size_t d : {0, 1}) {
    const Cut cut = d == 0 ? cut_x : cut_y;
    for (int i = cut == Cut::no ? -half[d] : 0; i <= half[d]; ++i)
      grid.lines[d].push_back(i * kCell);
    if (cut == Cut::no) continue;
    faces[d].low = cut == Cut::magnetic ? Boundary::pmc : Boundary::pec;
    out.symmetry[d][0] = true;
  }
  grid.lines[2] = even(4, kCell);
  std::vector<Medium> media(2);
  media[1].pec = true;
  Scene scene;
  for (const Shape& s : metal) scene.structures.push_back({s, 1});
  out.model = yee_model(grid, faces, {}, 0.5 * stable_time_step(grid), Dtype::f64, scene, media);
  return out;
}

Shape bar(double x0, double x1, double y0, double y1) {
  return box({x0 * kCell, y0 * kCell, -INFINITY}, {x1 * kCell, y1 * kCell, INFINITY});
}

TEST(LineSymmetry, PartsOfACoaxialLineAreTheWhole) {
  const std::vector<Shape> inner{bar(-2, 2, -1, 1)};
  const Line whole = line({6, 5}, walls, walls, Cut::no, Cut::no, inner),
             half = line({6, 5}, walls, walls, Cut::magnetic, Cut::no, inner),
             quarter = line({6, 5}, walls, walls, Cut::magnetic, Cut::magnetic, inner);
  EXPECT_EQ(whole.images(), 1);
  EXPECT_EQ(half.images(), 2);
  EXPECT_EQ(quarter.images(), 4);
  const double z = whole.impedance();
  EXPECT_NEAR(half.impedance(), z, 1e-6 * z);
  EXPECT_NEAR(quarter.impedance(), z, 1e-6 * z);
}

TEST(LineSymmetry, PlatesKeepTheirWidthAndTheirDistance) {
  // Walls of metal at y, six cells apart, 8 wide: half of the width, of the distance, of both.
  const double wanted = vacuum_impedance * 6 / 8;
  for (const auto& [x, y] :
       {std::pair{Cut::no, Cut::no}, std::pair{Cut::magnetic, Cut::no},
        std::pair{Cut::no, Cut::electric}, std::pair{Cut::magnetic, Cut::electric}}) {
    const Line plates = line({4, 3}, mirrors, walls, x, y, {});
    EXPECT_NEAR(plates.impedance(), wanted, 1e-3 * wanted);
    EXPECT_EQ(plates.count(), y == Cut::no ? 2u : 1u);
  }
}

TEST(LineSymmetry, TwoBarsAgainstEachOtherAreOneLine) {
  // No wall but magnetic ones: one bar carries what the other returns. An electric mirror between
  // them is no third conductor.
  std::vector<Shape> bars{bar(2, 3, -1, 1), bar(-3, -2, -1, 1)};
  const Line whole = line({7, 6}, mirrors, mirrors, Cut::no, Cut::no, bars),
             half = line({7, 6}, mirrors, mirrors, Cut::electric, Cut::no, bars),
             quarter = line({7, 6}, mirrors, mirrors, Cut::electric, Cut::magnetic, bars);
  ASSERT_EQ(whole.count(), 2u);
  const double z = whole.impedance();
  EXPECT_NEAR(half.impedance(), z, 1e-6 * z);
  EXPECT_NEAR(quarter.impedance(), z, 1e-6 * z);
  // A plate in the plane of symmetry, with more nodes than both, is what they return through: of
  // each against it, half of that.
  bars.push_back(bar(-0.4, 0.4, -5, 5));
  EXPECT_NEAR(line({7, 6}, mirrors, mirrors, Cut::electric, Cut::no, bars).impedance(), z / 2,
              1e-6 * z);
}

TEST(LineSymmetry, StripsThatNoMirrorCutsKeepThatOfEach) {
  // Two bars in a box: its walls are what they return through. Even and odd, each bar's own, as
  // where the face is no symmetry.
  const std::vector<Shape> bars{bar(2, 4, -2, 2), bar(-4, -2, -2, 2)};
  const Line even_half = line({7, 6}, walls, walls, Cut::magnetic, Cut::no, bars),
             odd_half = line({7, 6}, walls, walls, Cut::electric, Cut::no, bars);
  for (const Line* half : {&even_half, &odd_half}) {
    EXPECT_EQ(half->count(), 1u);
    EXPECT_NEAR(half->impedance(), half->impedance({}), 1e-9 * half->impedance());
  }
  EXPECT_GT(even_half.impedance(), 1.1 * odd_half.impedance());
}

// A window that ends at a magnetic face sees that face there and no wall: what touches it is not
// joined to the window's walls.
TEST(LineSymmetry, AWindowBesideAMagneticFaceHasNoWallThere) {
  const std::vector<Shape> inner{bar(-2, 2, -1, 1)};
  Line window = line({9, 5}, walls, walls, Cut::magnetic, Cut::no, inner);
  window.plane.low = {0, -1}, window.plane.high = {6, -1};
  const double z = line({6, 5}, walls, walls, Cut::no, Cut::no, inner).impedance();
  EXPECT_NEAR(window.impedance(), z, 1e-6 * z);
  EXPECT_NEAR(window.impedance({}), 2 * z, 1e-6 * z);
}

}  // namespace
}  // namespace tessera::electromagnetics
