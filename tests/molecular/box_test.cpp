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

/// A hexagonal cell, a rhombic dodecahedron and a truncated octahedron of GROMACS: to the rounding
/// of files their edges are as short either way.
TEST(Box, EdgesAtTheLimitStay) {
  const double h = std::sqrt(0.75), q = std::sqrt(2.0);
  for (const Box& at : {Box{{{{3, 0, 0}, {1.5, 3 * h, 0}, {0, 0, 4}}}},
                        Box{{{{3, 0, 0}, {0, 3, 0}, {1.5, 1.5, 1.5 * q}}}},
                        Box{{{{3, 0, 0}, {1, 2 * q, 0}, {-1, q, 3 * q / std::sqrt(3.0)}}}}})
    for (const double sign : {1.0, -1.0})
      for (const double off : {0.0, 1e-15, -1e-15, 7e-6, -7e-6}) {
        Box box = at;
        for (const auto& [i, k] : {std::pair{1U, 0U}, {2U, 0U}, {2U, 1U}})
          box.edge[i][k] *= sign * (1 + off);
        EXPECT_EQ(reduced(box), box);
        const Box back = box_of_angles(lengths_nm(box), angles_deg(box));
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(back.edge[i][k], box.edge[i][k], 1e-13) << sign << " " << off;
      }
  const Box beyond{{{{3, 0, 0}, {1.501, 2.6, 0}, {0, 0, 4}}}}, least = reduced(beyond);
  EXPECT_NEAR(least.edge[1][0], -1.499, 1e-15);
  const Box before{{{{3.1, 0, 0}, {1.549, 2.7, 0}, {0, 0, 4}}}};
  EXPECT_NEAR(reduced_like(least, before).edge[1][0], 1.501, 1e-15);
  EXPECT_EQ(reduced_like(beyond, before), beyond);
  EXPECT_NEAR(reduced(Box{{{{3, 0, 0}, {4.5 + 1e-9, 2, 0}, {0, 0, 4}}}}).edge[1][0], 1.5, 1e-8)
      << "and not its opposite";
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
