// SPDX-License-Identifier: Apache-2.0
//
// Graphs and cuts of meshes against loops over all pairs, and against cuts that are known.
#include "tessera/parallel/pieces.h"

#include "tessera/autodiff/error.h"
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/exchange_plan.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace tessera::parallel {
namespace {

/// n^3 cubes of six tetrahedra each.
std::vector<std::int32_t> tetrahedra(int n) {
  const auto node = [&](int i, int j, int k) { return (i * (n + 1) + j) * (n + 1) + k; };
  constexpr int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::vector<std::int32_t> out;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        for (const auto& path : paths) {  // from one corner to the opposite, edge by edge
          std::array<int, 3> p = {i, j, k};
          out.push_back(node(p[0], p[1], p[2]));
          for (const int a : path) {
            ++p[static_cast<std::size_t>(a)];
            out.push_back(node(p[0], p[1], p[2]));
          }
        }
  return out;
}

Graph by_pairs(const std::vector<std::int32_t>& nodes, int width, int shared) {
  Graph g;
  const auto n = static_cast<Index>(nodes.size()) / width;
  const auto of = [&](Index e) {
    return std::set<std::int32_t>(nodes.begin() + e * width, nodes.begin() + (e + 1) * width);
  };
  for (Index e = 0; e < n; ++e) {
    for (Index f = 0; f < n; ++f) {
      int common = 0;
      for (const std::int32_t v : of(f)) common += static_cast<int>(of(e).count(v));
      if (f != e && common >= shared) g.next.push_back(f);
    }
    g.first.push_back(static_cast<Index>(g.next.size()));
  }
  return g;
}

TEST(Pieces, NeighboursShareAFace) {
  const auto mesh = tetrahedra(2);
  for (const int shared : {0, 1, 2, 3}) {
    const Graph g = dual_graph(mesh, 4, shared), want = by_pairs(mesh, 4, shared ? shared : 3);
    EXPECT_EQ(g.first, want.first);
    EXPECT_EQ(g.next, want.next);
  }
  EXPECT_EQ(dual_graph({}, 4).size(), 0);
  const std::vector<std::int32_t> one = {5, 1, 3, 2};
  EXPECT_EQ(dual_graph(one, 4).next.size(), 0U);
}

TEST(Pieces, GraphsOfMatricesGoBothWays) {
  // Rows 0 {0, 2}, 1 {}, 2 {1}, 3 {3}.
  const std::vector<Index> rows = {0, 2, 2, 3, 4}, columns = {0, 2, 1, 3};
  const Graph g = graph_of_matrix(rows, columns);
  EXPECT_EQ(g.first, (std::vector<Index>{0, 1, 2, 4, 4}));
  EXPECT_EQ(g.next, (std::vector<Index>{2, 2, 0, 1}));
}

std::vector<std::array<double, 3>> centres(const std::vector<std::int32_t>& mesh, int n) {
  std::vector<std::array<double, 3>> out(mesh.size() / 4);
  for (std::size_t k = 0; k < mesh.size(); ++k) {
    const int v = mesh[k];
    out[k / 4][0] += 0.25 * (v / (n + 1) / (n + 1));
    out[k / 4][1] += 0.25 * (v / (n + 1) % (n + 1));
    out[k / 4][2] += 0.25 * (v % (n + 1));
  }
  return out;
}

TEST(Pieces, HilbertsCurveGoesFromCellToCell) {
  // Points of a grid of 8^3, one a piece: pieces in their order are neighbours.
  std::vector<std::array<double, 3>> points;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k) points.push_back({1.0 * i, 1.0 * j, 1.0 * k});
  const std::vector<int> piece = cut_curve(points, 512);
  std::vector<std::size_t> at(512, 512);
  for (std::size_t i = 0; i < 512; ++i) at[static_cast<std::size_t>(piece[i])] = i;
  for (std::size_t p = 0; p + 1 < 512; ++p) {
    ASSERT_LT(at[p], 512U) << "no point in piece " << p;
    ASSERT_LT(at[p + 1], 512U);
    double way = 0;
    for (std::size_t a = 0; a < 3; ++a) way += std::abs(points[at[p]][a] - points[at[p + 1]][a]);
    EXPECT_EQ(way, 1) << p;
  }
}

TEST(Pieces, AreAsLargeAsTheirShares) {
  constexpr int n = 10;
  const auto mesh = tetrahedra(n);
  const Graph g = dual_graph(mesh, 4);
  const auto points = centres(mesh, n);
  const std::vector<double> shares = {1, 2, 5};
  for (const auto& piece : {cut_graph(g, 3, {}, shares), cut_curve(points, 3, {}, shares)}) {
    ASSERT_EQ(piece.size(), 6000U);
    for (int p = 0; p < 3; ++p)
      EXPECT_NEAR(static_cast<double>(members(piece, p).size()),
                  750 * shares[static_cast<std::size_t>(p)], 0.03 * 6000);
  }
  for (const int pieces : {1, 2, 8, 60}) {
    const auto by_metis = cut_graph(g, pieces), by_curve = cut_curve(points, pieces);
    EXPECT_LE(quality_of(g, by_metis, pieces).imbalance, 1.03 + 60.0 / 6000);
    EXPECT_LE(quality_of(g, by_curve, pieces).imbalance, 1.01);
    EXPECT_EQ(by_metis, cut_graph(g, pieces)) << "the same call, the same pieces";
    if (pieces == 1) EXPECT_EQ(quality_of(g, by_metis, 1).edges, 0);
  }
  // Two halves of a cube: no cut is smaller than a face of it, two triangles a cell.
  EXPECT_LE(quality_of(g, cut_graph(g, 2), 2).edges, 1.3 * 2 * n * n);
}

// METIS takes SIGTERM for itself while it works.
TEST(Pieces, SigtermIsAnsweredAfterACutAsBefore) {
  struct sigaction before {
  }, own{}, now{};
  own.sa_handler = [](int) {};
  own.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &own, &before);
  const auto piece = cut_graph(dual_graph(tetrahedra(3), 4), 4);
  ::sigaction(SIGTERM, &before, &now);
  EXPECT_EQ(piece.size(), 162U);
  EXPECT_EQ(now.sa_handler, own.sa_handler);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | static_cast<int>(SA_RESETHAND)), SA_RESTART);
}

TEST(Pieces, WeightsCount) {
  std::vector<std::array<double, 3>> line;
  std::vector<double> weights;
  for (int i = 0; i < 100; ++i) {
    line.push_back({1.0 * i, 0, 0});
    weights.push_back(i < 10 ? 10 : 1);
  }
  const std::vector<int> piece = cut_curve(line, 2, weights);
  double first = 0;
  for (std::size_t i = 0; i < 100; ++i) first += piece[i] == 0 ? weights[i] : 0;
  EXPECT_NEAR(first, 95, 5);
  // Along a line the curve may turn back, but pieces are few runs.
  int runs = 1;
  for (std::size_t i = 1; i < 100; ++i) runs += piece[i] != piece[i - 1];
  EXPECT_LE(runs, 3);
  // All in one place, fewer points than pieces, none.
  EXPECT_EQ(cut_curve(std::vector<std::array<double, 3>>(4, {1, 2, 3}), 2),
            (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(cut_curve(std::vector<std::array<double, 3>>(1, {1, 2, 3}), 5).size(), 1U);
  EXPECT_TRUE(cut_curve({}, 3).empty());
  EXPECT_TRUE(cut_graph(Graph{}, 3).empty());
}

/// n x n cells, neighbours across their sides.
Graph cells_across(Index n) {
  std::vector<Index> rows{0}, columns;
  for (Index i = 0; i < n * n; ++i) {
    if (i % n + 1 < n) columns.push_back(i + 1);
    if (i + n < n * n) columns.push_back(i + n);
    rows.push_back(static_cast<Index>(columns.size()));
  }
  return graph_of_matrix(rows, columns);
}

TEST(Pieces, AreAsEvenAsFewNodesAllow) {
  const Graph g = cells_across(8);
  for (const int pieces : {20, 24, 32, 40, 48, 63, 64, 65, 200}) {
    const std::vector<int> piece = cut_graph(g, pieces);
    std::set<int> filled(piece.begin(), piece.end());
    EXPECT_EQ(static_cast<int>(filled.size()), std::min(pieces, 64)) << pieces;
    for (int p = 0; p < pieces; ++p) EXPECT_LE(members(piece, p).size(), pieces >= 32 ? 2U : 4U);
  }
  for (Index n = 2; n < 5; ++n)
    for (int pieces = 1; pieces <= n * n; ++pieces) {
      const std::vector<int> piece = cut_graph(cells_across(n), pieces);
      for (int p = 0; p < pieces; ++p)
        EXPECT_GT(members(piece, p).size(), 0U) << n << " " << pieces;
    }
  // A share of less than a node may stay empty, and two nodes lie where their shares are.
  EXPECT_LE(members(cut_graph(g, 2, {}, std::vector<double>{1e-3, 1}), 0).size(), 1U);
  EXPECT_EQ(cut_graph(graph_of_matrix(std::vector<Index>{0, 1, 1}, std::vector<Index>{1}), 3, {},
                      std::vector<double>{1, 1e-3, 1}),
            (std::vector<int>{0, 2}));
}

TEST(Pieces, WeightsOfAnySumCount) {
  const Graph g = cells_across(8);
  for (const std::int32_t each : {1, 40'000'000, 1'000'000'000, 2'147'483'647})
    for (const int pieces : {2, 4, 9}) {
      const std::vector<std::int32_t> weights(64, each);
      EXPECT_LE(quality_of(g, cut_graph(g, pieces, weights), pieces, weights).imbalance, 1.13)
          << each << " " << pieces;
    }
  const std::vector<std::int32_t> none(64, 0);
  EXPECT_EQ(cut_graph(g, 4, none), cut_graph(g, 4));
  const std::vector<std::array<double, 3>> points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  EXPECT_EQ(cut_curve(points, 2, std::vector<double>(4, 0)), cut_curve(points, 2));
  EXPECT_THROW(cut_curve(points, 2, std::vector<double>{1, INFINITY, 1, 1}), Error);
  EXPECT_THROW(cut_graph(g, 2, {}, std::vector<double>{1e-60, 1}), Error);
}

TEST(Pieces, RingsAreWhatIsNear) {
  constexpr int n = 4;
  const auto mesh = tetrahedra(n);
  const Graph g = dual_graph(mesh, 4);
  const std::vector<int> piece = cut_curve(centres(mesh, n), 5);
  for (int p = 0; p < 5; ++p)
    for (int k = 0; k <= 3; ++k) {
      std::set<Index> within;
      for (const Index i : members(piece, p)) within.insert(i);
      const std::set<Index> own = within;
      for (int ring = 0; ring < k; ++ring) {
        std::set<Index> more = within;
        for (const Index i : within)
          for (Index e = g.first[static_cast<std::size_t>(i)];
               e < g.first[static_cast<std::size_t>(i) + 1]; ++e)
            more.insert(g.next[static_cast<std::size_t>(e)]);
        within = more;
      }
      std::vector<Index> want;
      for (const Index i : within)
        if (!own.count(i)) want.push_back(i);
      EXPECT_EQ(rings(g, piece, p, k), want) << p << " " << k;
    }
}

TEST(Pieces, GhostsComeFromTheirOwners) {
  constexpr int n = 3;
  const auto mesh = tetrahedra(n);
  const Graph g = dual_graph(mesh, 4);
  const std::vector<int> piece = cut_graph(g, 4);
  run_ranks(4, [&](Communicator& c) {
    const std::vector<Index> owned = members(piece, c.rank()),
                             ghosts = rings(g, piece, c.rank(), 2);
    const auto plan = ExchangePlan::make(c, {.owned = owned, .wanted = ghosts});
    EXPECT_EQ(plan->owned(), static_cast<Index>(owned.size()));
    EXPECT_EQ(plan->copies(), static_cast<Index>(ghosts.size()));
  });
}

TEST(Pieces, WhatIsNoMeshIsRefused) {
  const auto refused = [](auto&& f, const char* word) {
    try {
      f();
    } catch (const Error& e) {
      return std::string(e.what()).find(word) != std::string::npos;
    }
    return false;
  };
  const std::vector<std::int32_t> short_of = {0, 1, 2}, negative = {0, 1, 2, -1},
                                  twice = {0, 1, 2, 1};
  EXPECT_TRUE(refused([&] { dual_graph(short_of, 4); }, "whole number"));
  EXPECT_TRUE(refused([&] { dual_graph(negative, 4); }, "-1"));
  EXPECT_TRUE(refused([&] { dual_graph(twice, 4); }, "twice"));
  EXPECT_TRUE(refused([&] { cut_graph(Graph{}, 0); }, "at least one"));
  const std::vector<std::array<double, 3>> nan = {{0, NAN, 0}};
  EXPECT_TRUE(refused([&] { cut_curve(nan, 2); }, "no number"));
  const std::vector<double> bad = {1, -1};
  EXPECT_TRUE(refused([&] { cut_curve({}, 2, {}, bad); }, "share"));
  const std::vector<Index> rows = {0, 1}, columns = {4};
  EXPECT_TRUE(refused([&] { graph_of_matrix(rows, columns); }, "column 4"));
}

}  // namespace
}  // namespace tessera::parallel
