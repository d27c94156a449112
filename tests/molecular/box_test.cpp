// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/box.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera::molecular {
namespace {

const Box slanted_box = box_of_angles({3, 3.2, 2.9}, {75, 80, 65});
double norm2(const Vec3& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

TEST(Box, LengthsAndAnglesComeBack) {
  const Box b = box_of_angles({3, 3.2, 2.9}, {85, 80, 88});  // such a cell is reduced as it stands
  const Vec3 l = lengths_nm(b), a = angles_deg(b);
  EXPECT_NEAR(l[0], 3, 1e-14);
  EXPECT_NEAR(l[1], 3.2, 1e-14);
  EXPECT_NEAR(l[2], 2.9, 1e-14);
  EXPECT_NEAR(a[0], 85, 1e-12);
  EXPECT_NEAR(a[1], 80, 1e-12);
  EXPECT_NEAR(a[2], 88, 1e-12);
}

TEST(Box, ReducingKeepsVolumeAndLattice) {
  const Box wild{{{{3, 0, 0}, {4.4, 2, 0}, {-7.1, 5.3, 2.5}}}};
  const Box r = reduced(wild);
  EXPECT_DOUBLE_EQ(volume_nm3(r), volume_nm3(wild));
  EXPECT_LE(std::abs(r.edge[1][0]), 1.5);
  EXPECT_LE(std::abs(r.edge[2][0]), 1.5);
  EXPECT_LE(std::abs(r.edge[2][1]), 1.0);
  for (const Vec3& e : wild.edge)
    for (const double s : fractions(r, e)) EXPECT_NEAR(s, std::round(s), 1e-12);
}

TEST(Box, TurningAnyVectorsKeepsTheirProducts) {
  const std::array<Vec3, 3> e = {{{1, 2, 2}, {-2, 2, 0.3}, {0.2, -0.4, 3}}};
  std::array<Vec3, 3> turn{};
  const Box b = box_of_vectors(e, &turn);
  for (std::size_t i = 0; i < 3; ++i) {
    Vec3 t{};
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) t[j] += turn[j][k] * e[i][k];
    for (const double s : fractions(b, t)) EXPECT_NEAR(s, std::round(s), 1e-12);
    EXPECT_NEAR(norm2(t), norm2(e[i]), 1e-12);
  }
}

TEST(Box, WrappedImagesAreTheNearestWithinHalfTheWidth) {
  const Vec3 w = widths_nm(slanted_box);
  const double r = 0.5 * std::min({w[0], w[1], w[2]});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-9, 9);
  int near = 0;
  for (int n = 0; n < 20000; ++n) {
    const Vec3 d = {any(random), any(random), any(random)}, s = shortest(slanted_box, d),
               f = wrapped(slanted_box, d);
    double least = 1e9;  // by trying all images
    const Vec3 q = fractions(slanted_box, d);
    for (int i = -2; i <= 2; ++i)
      for (int j = -2; j <= 2; ++j)
        for (int k = -2; k <= 2; ++k)
          least =
              std::min(least, norm2(from_fractions(slanted_box, {q[0] - std::round(q[0]) + i,
                                                                 q[1] - std::round(q[1]) + j,
                                                                 q[2] - std::round(q[2]) + k})));
    ASSERT_NEAR(norm2(s), least, 1e-12);
    if (least > r * r) continue;
    ++near;
    ASSERT_NEAR(norm2(f), least, 1e-12);
  }
  EXPECT_GT(near, 1000);
}

TEST(Box, ImpossibleCellsAreRefused) {
  EXPECT_THROW(box_of_angles({1, 1, 1}, {150, 150, 150}), Error);
  EXPECT_THROW(box_of_angles({1, 0, 1}, {90, 90, 90}), Error);
  EXPECT_THROW(box_of_vectors({{{1, 0, 0}, {2, 0, 0}, {0, 0, 1}}}), Error);
  EXPECT_THROW(box_of_vectors({{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}}), Error);
}

}  // namespace
}  // namespace tessera::molecular
