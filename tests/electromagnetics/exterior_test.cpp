// SPDX-License-Identifier: Apache-2.0
// What is outside of a surface: mirrors of the domain, and the medium.
#include "tessera/electromagnetics/exterior.h"

#include "tessera/autodiff/error.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tessera::electromagnetics {
namespace {

/// 20 x 20 x 20 cells from the origin on: y = 0 a magnetic symmetry, z = 0 a wall.
struct Corner {
  YeeGrid grid = uniform_grid(cells(20, 20, 20), cell, cells(10, 10, 10));
  std::vector<DomainMirror> mirrors{{{1, 0, true}, false, true}, {{2, 0, false}, false, false}};
};

TEST(Exterior, ABoxCountsTwiceForEachSymmetryThatItReaches) {
  const Corner c;
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 5, 5), cells(4, 10, 10)), 2);
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 10, 10), cells(4, 4, 4)), 1);
  // A plane on the mirror or along it is not cut by it.
  EXPECT_EQ(images_of(c.grid, c.mirrors, cells(10, 0, 5), cells(4, 0, 4)), 1);
  EXPECT_EQ(images_of_all(c.mirrors), 2);
}

TEST(Exterior, ABoxHasAllSymmetriesAndTheWallsItStandsOn) {
  const Corner c;
  const auto on_wall = mirrors_of_box(c.grid, c.mirrors, cells(10, 10, 5), cells(4, 4, 10));
  ASSERT_EQ(on_wall.size(), 2U);
  EXPECT_EQ(name_of(on_wall[0]), "y_low");
  EXPECT_EQ(name_of(on_wall[1]), "z_low");
  const auto above = mirrors_of_box(c.grid, c.mirrors, cells(10, 10, 10), cells(4, 4, 4));
  ASSERT_EQ(above.size(), 1U);
  EXPECT_TRUE(above[0].symmetry);
  // One that is named and there already counts once.
  const std::vector<Mirror> named{{2, 1e-12 * cell, false}, {0, -cell, false}};
  const auto joined_ones = joined_mirrors(c.grid, on_wall, named);
  ASSERT_EQ(joined_ones.size(), 3U);
  EXPECT_EQ(joined_ones[2].axis, 0);
}

using Faults = std::vector<std::array<int, 3>>;
int number(MirrorFault::Kind k) { return static_cast<int>(k); }
/// Kinds, with the numbers of the named mirror and of the face that they speak of.
Faults faults(const std::vector<DomainMirror>& domain, const std::vector<Mirror>& named,
              const Point& middle, const Point& size) {
  Faults out;
  for (const MirrorFault& f : mirror_faults(Corner{}.grid, domain, named, middle, size))
    out.push_back({number(f.kind), static_cast<int>(f.named), static_cast<int>(f.domain)});
  return out;
}

TEST(Exterior, ABoxLiesOnOneSideOfANamedMirror) {
  using enum MirrorFault::Kind;
  const Point middle = cells(10, 10, 10), size = cells(4, 4, 4);
  const auto of = [&](double at) {
    return faults({}, {{2, 3 * cell, false}, {0, at * cell, true}}, middle, size);
  };
  EXPECT_EQ(of(9), (Faults{{number(through_box), 1, 0}}));
  EXPECT_EQ(of(12 - 1e-6), (Faults{{number(through_box), 1, 0}}));
  EXPECT_EQ(of(12), Faults{});  // on its face
  EXPECT_EQ(of(12 - 1e-9), Faults{});
  EXPECT_EQ(of(15), Faults{});
}

TEST(Exterior, AMirrorLiesAcrossEachAxisAtMost) {
  using enum MirrorFault::Kind;
  const Corner c;
  std::vector<DomainMirror> three = c.mirrors;
  three.push_back({{2, 20 * cell, false}, true, false});
  const Point middle = cells(10, 5, 10), size = cells(4, 10, 20);
  EXPECT_EQ(faults(c.mirrors, {}, middle, size), Faults{});
  EXPECT_EQ(faults(three, {}, middle, size), (Faults{{number(two_faces), 0, 2}}));
  // A face of the domain that is named as well has to be the same.
  const std::vector<Mirror> named{{1, 0, true}, {1, 0, false}, {1, -cell, true}};
  EXPECT_EQ(faults(c.mirrors, named, middle, size),
            (Faults{{number(other_kind), 1, 0}, {number(another_plane), 2, 0}}));
}

TEST(Exterior, NoMirrorLiesAcrossAnAxisThatIsNotResolved) {
  const YeeGrid flat = uniform_grid(cells(20, 20, 0), cell);
  const std::vector<Mirror> named{{2, 1, false}};
  const auto found = mirror_faults(flat, {}, named, {}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, MirrorFault::Kind::not_resolved);
}

TEST(Exterior, AMediumWithPolesIsAnotherAtEachFrequency) {
  Medium glass{.name = "glass"};
  glass.eps = {2, 2, 2};
  const std::vector<double> f{1e14, 2e14};
  EXPECT_EQ(exteriors(glass, 3, {}, f).size(), 1U);
  glass.poles = lorentz(1e15, 0, 1);
  const auto each = exteriors(glass, 3, {{2, 0, true}}, f);
  ASSERT_EQ(each.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_DOUBLE_EQ(each[k].eps, permittivity(glass, 0, f[k]).real());
    EXPECT_EQ(each[k].mirrors.size(), 1U);
  }
  EXPECT_GT(each[1].eps, each[0].eps);
}

TEST(Exterior, RefusesMediaThatCarryNoWavesAway) {
  const std::vector<double> f{1e14};
  Medium m{.name = "m"};
  m.eps = {2, 2, 3};
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
  m.eps = {2, 2, 2};
  EXPECT_NO_THROW(exteriors(m, 3, {}, f));
  m.chi3 = 1e-20;
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
  m.chi3 = 0;
  m.sigma = {1, 1, 1};
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
  m.sigma = {};
  m.poles = drude(3e14, 1e12);  // a metal at f
  EXPECT_FALSE(is_transparent(m, f[0]));
  EXPECT_THROW(exteriors(m, 3, {}, f), Error);
}

}  // namespace
}  // namespace tessera::electromagnetics
