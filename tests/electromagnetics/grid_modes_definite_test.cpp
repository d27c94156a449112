// SPDX-License-Identifier: Apache-2.0
// Modes of a guide are its own, whatever plane they are found in: their signs, and which of one
// speed comes first.
#include "guides.h"
#include "tessera/electromagnetics/grid_modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::electromagnetics {
namespace {

using C = std::complex<double>;
using namespace guides;

// Two lobes of one height have no largest one but by rounding.
TEST(GridModes, OfOneGuideHaveOneSignInAllItsPlanes) {
  for (const int axis : {0, 1, 2})
    for (int nu = 8; nu <= 13; ++nu) {
      const YeeModel m = guide(axis, even(nu, 1.9e-3), even(4, 2.5e-3), even(6, 1e-3));
      for (const int plane : {1, 2, 4}) {
        const GridModes found = grid_modes(m, {axis, plane}, {.frequency_hz = 20e9, .count = 4});
        for (const GridMode& mode : found.modes) {
          double largest = 0;
          for (const C& e : mode.e) largest = std::max(largest, std::abs(e));
          const auto lobe = std::find_if(mode.e.begin(), mode.e.end(),
                                         [&](const C& e) { return std::abs(e) > 0.999 * largest; });
          EXPECT_GT(lobe->real(), 0.999 * largest) << axis << " " << nu << " " << plane;
        }
      }
    }
}

// Modes of one speed are those of the guide, not of a solver's rounding: of two equal channels one
// in each, of a square guide along its sides, TE before TM.
TEST(GridModes, OfOneSpeedAreDefinite) {
  for (const int axis : {0, 1, 2}) {
    const int u = (axis + 1) % 3;
    YeeModel channels = guide(axis, even(11, 1e-3), even(4, 2e-3), even(6, 1e-3), walls, mirrors);
    channels.material = [axis](int c, int j, int k, MaterialRow& row) {  // metal from u = 5 to 6
      for (int i = 0; i < static_cast<int>(row.inverse.size()); ++i) {
        const int at[3] = {i, j, k}, p = at[(axis + 1) % 3];
        const bool along = axis_of(c) == (axis + 1) % 3;
        if (is_electric(c) && (p == 5 || (p == 6 && !along))) row.inverse[i] = 0;
      }
    };
    for (const int plane : {1, 2, 4}) {
      const auto found = [&](int count, bool whole) {
        return grid_modes(channels, {axis, plane},
                          {.frequency_hz = 5e9, .count = count, .whole_groups = whole});
      };
      const GridModes both = found(2, true), first = found(1, true);
      EXPECT_EQ(both.alike, 0);
      EXPECT_EQ(first.alike, 1);
      const auto above = [&](const GridMode& m) {
        double sum = 0, all = 0;
        for (std::size_t k = 0; k < m.e.size(); ++k) {
          const int at[3] = {both.e[k].i, both.e[k].j, both.e[k].k};
          (at[u] > 5 ? sum : all) += std::norm(m.e[k]);
        }
        return sum / (sum + all);
      };
      EXPECT_NEAR(above(both.modes[0]), 0, 1e-18) << axis << " " << plane;
      EXPECT_NEAR(above(both.modes[1]), 1, 1e-18) << axis << " " << plane;
      EXPECT_NEAR(above(first.modes[0]), 0, 1e-18) << axis << " " << plane;
      EXPECT_LT(std::abs(mode_product(both, both.modes[0].e, both.modes[1].h)),
                1e-12 * std::abs(mode_product(both, both.modes[0].e, both.modes[0].h)));
    }
    // TE10 and TE01; TE11 and TM11, which decay at 20 GHz and travel at 30 GHz.
    for (const double f : {20e9, 30e9}) {
      const YeeModel square = guide(axis, even(8, 1e-3), even(8, 1e-3), even(6, 1e-3));
      const GridModes found = grid_modes(square, {axis, 2}, {.frequency_hz = f, .count = 4});
      const auto along_u = [&](const GridMode& m) {
        double of_u = 0, all = 0;
        for (std::size_t k = 0; k < m.e.size(); ++k) {
          all += std::norm(m.e[k]);
          if (axis_of(found.e[k].component) == u) of_u += std::norm(m.e[k]);
        }
        return of_u / all;
      };
      EXPECT_NEAR(std::abs(along_u(found.modes[0]) - along_u(found.modes[1])), 1, 1e-12) << f;
      const auto e_n = [&](const GridMode& m) {
        double sum = 0;
        for (const C& e : m.e_n) sum = std::max(sum, std::abs(e));
        return sum;
      };
      EXPECT_LT(e_n(found.modes[2]), 1e-6 * e_n(found.modes[3])) << f;
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b)
          EXPECT_NEAR(std::abs(mode_product(found, found.modes[a].e, found.modes[b].h)), 0,
                      1e-9 * std::abs(mode_product(found, found.modes[a].e, found.modes[a].h)))
              << f << " " << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace tessera::electromagnetics
