// SPDX-License-Identifier: Apache-2.0
//
// How the media of edges move with the end of a body: against closed forms of their averages, also
// where the end is about to leave the box of an edge.
#include "tessera/electromagnetics/medium_derivatives.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::electromagnetics {
namespace {

constexpr double cell_of_block = 0.1 * um, eps_of_block = 9;

/// A block from x = -inf to p[0], in the plane.
MediumDerivatives moves_of_block(double end, double sigma, std::array<bool, 6> active) {
  const YeeGrid grid = uniform_grid({2 * um, 2 * um, 0}, cell_of_block);
  const std::vector<Medium> media = {{.name = "", .eps = {1, 1, 1}},
                                     {.name = "block",
                                      .eps = {eps_of_block, eps_of_block, eps_of_block},
                                      .sigma = {sigma, sigma, sigma}}};
  const auto model = [&](const std::vector<double>& p) {
    const Scene scene{
        {{box({-INFINITY, -INFINITY, -INFINITY}, {p[0], INFINITY, INFINITY}), 1, 0, "block"}}, 0};
    YeeModel m =
        yee_model(grid, {}, {.cells = 5}, 0.9 * stable_time_step(grid), Dtype::f64, scene, media);
    m.active = active;
    return m;
  };
  return medium_derivatives(model, {end}, {1e-5 * cell_of_block});
}

constexpr std::array<bool, 6> ez_of_block{false, false, true, true, true, false},
    hz_of_block{true, true, false, false, false, true};

/// Ends within cells and, by 0.02 of a cell, before and behind what bounds a box.
const double ends_of_block[] = {0.13, 0.27, 0.48, 0.52, 0.77, 0.98};

TEST(MediumDerivatives, AlongAFaceTheyAreThoseOfTheMean) {
  for (const double end : ends_of_block) {
    const MediumDerivatives d = moves_of_block((end + 2) * cell_of_block, 0.5, ez_of_block);
    ASSERT_FALSE(d.edges.edges.empty());
    for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
      // eps = share * 9 + (1 - share); loss goes with the share, too
      EXPECT_NEAR(d.moves[0][2 * e], (eps_of_block - 1) / cell_of_block, 1e-6 / cell_of_block)
          << end;
      const double share = (d.theta[2 * e] - 1) / (eps_of_block - 1);
      EXPECT_NEAR(d.moves[0][2 * e + 1] * share, d.theta[2 * e + 1] / cell_of_block,
                  1e-6 * d.theta[2 * e + 1] / cell_of_block)
          << end;
    }
  }
}

TEST(MediumDerivatives, AcrossAFaceTheyAreThoseOfTheMeanOfInverses) {
  for (const double end : ends_of_block) {
    const MediumDerivatives d = moves_of_block((end + 2) * cell_of_block, 0, hz_of_block);
    bool any = false;
    for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
      if (d.edges.edges[e].component != 0) continue;
      any = true;
      // 1/eps = share/9 + (1 - share), and d eps = -eps^2 d(1/eps)
      const double eps = d.theta[2 * e];
      EXPECT_NEAR(d.moves[0][2 * e], eps * eps * (1 - 1 / eps_of_block) / cell_of_block,
                  1e-6 * eps * eps / cell_of_block)
          << end;
    }
    EXPECT_TRUE(any) << end;
  }
}

TEST(MediumDerivatives, WhatMovesNothingOrAConductorIsRefused) {
  EXPECT_THROW(moves_of_block(-5 * um, 0, ez_of_block), Error);
  EXPECT_NO_THROW(moves_of_block(0.13 * um, 0, ez_of_block));
}

}  // namespace
}  // namespace tessera::electromagnetics
