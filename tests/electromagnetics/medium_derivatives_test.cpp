// SPDX-License-Identifier: Apache-2.0
//
// How the media of edges move with the end of a body: against closed forms of their averages, also
// where the end is about to leave the box of an edge.
#include "tessera/electromagnetics/medium_derivatives.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/time_domain.h"
#include "test_constants.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>

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

/// Of a metal block from x = low(p) to high(p), across the plane (Hz).
MediumDerivatives moves_of_metal(const std::function<std::array<double, 2>(double)>& ends,
                                 double at) {
  const YeeGrid grid = uniform_grid({4 * um, 2 * um, 0}, cell_of_block);
  const double dt = 0.9 * stable_time_step(grid);
  const std::vector<Medium> media = {{.name = "", .eps = {2, 2, 2}},
                                     {.name = "metal", .pec = true}};
  const auto model = [&](const std::vector<double>& p) {
    const auto [low, high] = ends(p[0]);
    const Scene scene{
        {{box({low, -INFINITY, -INFINITY}, {high, INFINITY, INFINITY}), 1, 0, "metal"}}, 0};
    YeeModel m = yee_model(grid, {}, {.cells = 5}, dt, Dtype::f64, scene, media, Averaging::kottke,
                           cut_cell_fractions(SceneOrder(scene), media, grid, {}, dt));
    m.active = hz_of_block;
    return m;
  };
  return medium_derivatives(model, {at}, {1e-5 * cell_of_block});
}
std::array<double, 2> grows(double end) { return {-INFINITY, end}; }

// A corner of a box between lines along y, its end along x at and beside the middle of a cell,
// where the mean of what both faces cut jumps: slopes at the jump are those of both sides.
TEST(MediumDerivatives, WhereAnAverageJumpsTheSlopeIsThatOfBothSides) {
  const YeeGrid grid = uniform_grid({2 * um, 2 * um, 0}, cell_of_block);
  const std::vector<Medium> media = {{.name = "", .eps = {1, 1, 1}},
                                     {.name = "block", .eps = {4, 4, 4}}};
  const auto slopes_at = [&](double end) {
    const auto model = [&](const std::vector<double>& p) {
      const Scene scene{
          {{box({-INFINITY, -INFINITY, -INFINITY}, {p[0], 0.3 * cell_of_block, INFINITY}), 1, 0,
            "block"}},
          0};
      YeeModel m =
          yee_model(grid, {}, {.cells = 5}, 0.9 * stable_time_step(grid), Dtype::f64, scene, media);
      m.active = hz_of_block;
      m.tensors.clear();
      return m;
    };
    const MediumDerivatives d =
        medium_derivatives(model, {end * cell_of_block}, {1e-5 * cell_of_block});
    std::map<std::array<int, 4>, double> out;
    for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
      const Edge& at = d.edges.edges[e];
      out[{at.component, at.i, at.j, at.k}] = d.moves[0][2 * e] * cell_of_block;
    }
    return out;
  };
  auto below = slopes_at(3.5 - 1e-3), above = slopes_at(3.5 + 1e-3);
  const auto here = slopes_at(3.5);
  double largest = 0;
  for (const auto& [place, slope] : here) {
    EXPECT_NEAR(slope, 0.5 * (below[place] + above[place]), 0.02) << place[0] << " " << place[1];
    largest = std::max(largest, std::abs(slope));
  }
  EXPECT_GT(largest, 1);
  EXPECT_LT(largest, 20);
}

// A ball whose end comes to the middle of a cell reaches into boxes by little, where what jumps is
// less than of a flat end: slopes there were up to 18 of a cell in place of next to nothing.
TEST(MediumDerivatives, WhereARoundBodyComesToABoxItsSlopesDoNotJump) {
  const YeeGrid grid = uniform_grid({0.8 * um, 1 * um, 1 * um}, cell_of_block);
  for (const double sigma : {0.0, 1e4}) {
    const std::vector<Medium> media = {
        {.name = "", .eps = {1, 1, 1}},
        {.name = "ball", .eps = {3, 3, 3}, .sigma = {sigma, sigma, sigma}}};
    const auto slopes_at = [&](double radius) {
      const auto model = [&](const std::vector<double>& p) {
        const Scene scene{{{sphere({0.04 * um, 0.03 * um, -0.02 * um}, p[0]), 1, 0, "ball"}}, 0};
        YeeModel m = yee_model(grid, {}, {.cells = 2}, 0.9 * stable_time_step(grid), Dtype::f64,
                               scene, media, Averaging::kottke, {}, {}, LaminateShares::exact);
        m.tensors.clear();
        return m;
      };
      const MediumDerivatives d = medium_derivatives(model, {radius}, {1e-5 * cell_of_block});
      const std::size_t n = d.theta.size() / d.edges.edges.size();
      std::map<std::array<int, 4>, double> out;
      for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
        const Edge& at = d.edges.edges[e];
        out[{at.component, at.i, at.j, at.k}] = d.moves[0][n * e] * cell_of_block;
      }
      return out;
    };
    const double end = 2.1 * cell_of_block;  // half way between two lines
    auto below = slopes_at(end - 1e-3 * cell_of_block),
         above = slopes_at(end + 1e-3 * cell_of_block);
    for (const auto& [place, slope] : slopes_at(end))
      EXPECT_NEAR(slope, 0.5 * (below[place] + above[place]), 0.02) << place[0] << " " << sigma;
  }
}

/// Of the last edge and face before the metal what is open goes down by the end's way; at a line of
/// the grid it is that of the side on which nothing opens.
TEST(MediumDerivatives, WhatAConductorLeavesOpenMoves) {
  for (const double end : {0.0, 0.13, 0.48, 0.55}) {
    const MediumDerivatives d = moves_of_metal(grows, (end + 2) * cell_of_block);
    int edges = 0, faces = 0;
    for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
      const Edge& at = d.edges.edges[e];
      const bool electric = is_electric(at.component);
      if (at.component == 1) {  // the box of an edge along the metal: nothing but vacuum's medium
        ADD_FAILURE() << "an edge along the metal moves";
        continue;
      }
      (electric ? edges : faces) += 1;
      EXPECT_EQ(at.i, 22) << end;  // the domain's middle is x = 0
      const double slope = (electric ? 2.0 : -1.0) / (1 - end) / cell_of_block;
      EXPECT_NEAR(d.theta[2 * e], electric ? 2 : 1, 1e-12);
      EXPECT_NEAR(d.moves[0][2 * e], slope, 1e-5 * std::abs(slope)) << end << " " << electric;
    }
    EXPECT_EQ(edges, 19 + 0) << end;
    EXPECT_EQ(faces, 20) << end;
  }
}

TEST(MediumDerivatives, BothEndsAtLinesMayMoveIfTheyAreApart) {
  const auto moves = [](double width) {
    return moves_of_metal(
        [=](double x) {
          return std::array{x, x + width * cell_of_block};
        },
        -5 * cell_of_block);
  };
  EXPECT_THROW(moves(4), Error);
  const MediumDerivatives d = moves(12);
  for (std::size_t e = 0; e < d.edges.edges.size(); ++e) {
    const Edge& at = d.edges.edges[e];
    const bool low = at.i < 20, electric = is_electric(at.component);
    EXPECT_EQ(at.i, low ? 14 : 27);
    const double slope = (electric ? 2.0 : -1.0) * (low ? -1 : 1) / cell_of_block;
    EXPECT_NEAR(d.moves[0][2 * e], slope, 1e-5 * std::abs(slope));
  }
}

TEST(MediumDerivatives, WhatMovesNothingIsRefused) {
  EXPECT_THROW(moves_of_block(-5 * um, 0, ez_of_block), Error);
  EXPECT_NO_THROW(moves_of_block(0.13 * um, 0, ez_of_block));
}

}  // namespace
}  // namespace tessera::electromagnetics
