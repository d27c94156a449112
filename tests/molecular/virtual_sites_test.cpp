// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/virtual_sites.h"

#include "molecular_cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

TEST(VirtualSites, ForcesFollowTheirPositions) {
  // Energy g.x_site of a site: forces on parents are the differences of it.
  for (int kind = 0; kind < 8; ++kind) {
    System s;
    s.virtual_sites = {{static_cast<VirtualSite::Kind>(kind),
                        4,
                        {0, 1, 2, 3},
                        {0.3, 0.25, 0.4, 0.2, 0.5, -0.7, 0.3, -0.9, 0.6, 0.02, -0.03, 0.05}}};
    std::vector<Vec3> x = {
        {0.1, 0.2, 0.3}, {0.35, 0.25, 0.2}, {0.15, 0.5, 0.35}, {0.2, 0.1, 0.6}, {}};
    const Box box = rectangular_box({2, 2, 2});
    const Vec3 g = {1.0, -2.0, 0.5};
    const auto energy = [&](std::vector<Vec3> y) {
      place_virtual_sites(s, y, box);
      return g[0] * y[4][0] + g[1] * y[4][1] + g[2] * y[4][2];
    };
    place_virtual_sites(s, x, box);
    std::vector<Vec3> f(5);
    f[4] = {-g[0], -g[1], -g[2]};
    std::array<Vec3, 3> virial{};
    const std::vector<Vec3> before = f;
    spread_virtual_forces(s, x, box, f, virial);
    Vec3 sum{};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<Vec3> y = x, z = x;
        y[i][k] += 1e-5;
        z[i][k] -= 1e-5;
        EXPECT_NEAR(f[i][k], -(energy(y) - energy(z)) / 2e-5, 1e-8)
            << "kind " << kind << ", atom " << i;
        sum[k] += f[i][k];
      }
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_NEAR(sum[a], -g[a], 1e-12);
      for (std::size_t b = 0; b < 3; ++b) {
        double moved = 0;  // sum x f of the parents less that of the site
        for (std::size_t i = 0; i < 5; ++i) moved += x[i][a] * (f[i][b] - before[i][b]);
        EXPECT_NEAR(virial[a][b], moved, 9 * 0x1p-37 + 1e-12);  // of whole multiples of 2^-36
      }
    }
  }
}

/// A site of a site, listed before it: the order is that in which positions follow.
TEST(VirtualSites, OfSitesComeBehindThem) {
  const auto half = [](std::int32_t site, std::int32_t a, std::int32_t b) {
    return VirtualSite{VirtualSite::Kind::linear2, site, {a, b, -1, -1}, {0.5}};
  };
  std::vector<VirtualSite> sites = {half(4, 3, 0), half(2, 0, 1), half(3, 2, 1)};
  ASSERT_TRUE(order_virtual_sites(sites, 5));
  System s;
  s.virtual_sites = sites;
  std::vector<Vec3> x = {{0, 0, 0}, {0.8, 0, 0}, {}, {}, {}};
  place_virtual_sites(s, x, {});
  EXPECT_EQ(x[2][0], 0.4);
  EXPECT_NEAR(x[3][0], 0.6, 1e-15);
  EXPECT_NEAR(x[4][0], 0.3, 1e-15);
  std::vector<Vec3> f(5);
  f[4] = {1, 0, 0};
  std::array<Vec3, 3> virial{};
  spread_virtual_forces(s, x, {}, f, virial);
  EXPECT_NEAR(f[0][0] + f[1][0], 1, 1e-15) << "a force on a site is lost";
  EXPECT_NEAR(f[1][0], 0.375, 1e-15);  // dx_4/dx_1
  const std::vector<VirtualSite> circle = {half(2, 3, 0), half(3, 2, 1)};
  sites = circle;
  EXPECT_FALSE(order_virtual_sites(sites, 5));
  EXPECT_EQ(sites, circle);
}

}  // namespace
}  // namespace tessera::molecular
