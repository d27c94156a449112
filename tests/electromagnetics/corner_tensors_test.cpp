// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/corner_tensors.h"

#include "symmetric_matrix.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace em = tessera::electromagnetics;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using em::eigenvalues;
using em::matrix;
using em::Point;

namespace {

/// A graded grid of [-1, 1]^3.
em::YeeGrid graded() {
  em::YeeGrid grid;
  grid.lines = {std::vector<double>{-1, -0.6, -0.25, 0.05, 0.3, 0.6, 1},
                {-1, -0.5, -0.1, 0.4, 1},
                {-1, -0.7, -0.2, 0.2, 0.5, 1}};
  return grid;
}

/// Calls f(node, corners) at all nodes.
template <class F>
void each_node(const em::SceneOrder& scene, const std::vector<em::Medium>& media,
               const em::YeeGrid& grid, const em::Periodic& periodic, const F& f) {
  std::array<int, 3> n;
  for (int k = 0; k < 3; ++k) n[k] = grid.cells(k) + (periodic[k] ? 0 : 1);
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i)
        f(std::array{i, j, k}, em::node_corners(scene, media, grid, {i, j, k}, periodic));
}

em::Edge edge_of(const std::array<int, 3>& node, int corner, int axis) {
  std::array<int, 3> index = node;
  if (!(corner >> axis & 1)) --index[axis];
  return {std::uint8_t(axis), index[0], index[1], index[2]};
}

/// E in a medium where E_t + n D_n = F: solved, not by the formula of the header.
Vector3d field(const Point& eps, const Vector3d& n, const Vector3d& f) {
  const Vector3d t = n.unitOrthogonal(), u = n.cross(t);
  const Matrix3d e = Vector3d(eps[0], eps[1], eps[2]).asDiagonal();
  Matrix3d conditions;
  conditions << t.transpose(), u.transpose(), n.transpose() * e;
  return conditions.partialPivLu().solve(Vector3d(t.dot(f), u.dot(f), n.dot(f)));
}

}  // namespace

// What the corners are made for: with E_t and D_n constant everywhere, D known on the edges as the
// mean over their dual faces, the sum of D . xi D over all corners of inner nodes is the integral
// of D . E over their boxes. (At the outer ones a face meets its image.)
TEST(CornerTensors, HoldTheEnergyOfAFaceExactly) {
  const em::YeeGrid grid = graded();
  const Point on{0.07, -0.03, 0.02}, normal{0.6, -0.3, 0.8};
  const Vector3d n = Vector3d(normal[0], normal[1], normal[2]).normalized(), f(0.7, -1.1, 0.4);
  const em::SceneOrder scene({{{em::half_space(on, normal), 1}}, 0});
  for (const Point& eps : {Point{9, 9, 9}, Point{9, 4, 6}}) {
    const std::vector<em::Medium> media{{.eps = {1.5, 1.5, 1.5}}, {.eps = eps}};
    const auto mean_d = [&](const em::Edge& e) {  // over the dual face of the edge
      Point low = grid.position(e), high = low;
      const int index[3] = {e.i, e.j, e.k};
      for (int k = 0; k < 3; ++k) {
        if (k == e.component) continue;
        if (index[k] > 0) low[k] = grid.middle(k, index[k] - 1);
        if (index[k] < grid.cells(k)) high[k] = grid.middle(k, index[k]);
      }
      double d = 0;
      const em::Fill face =
          em::fill(scene, {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2},
                   {high[0] - low[0], high[1] - low[1], high[2] - low[2]});
      for (const em::Share& s : face.media)
        d += s.fraction * media[s.medium].eps[e.component] *
             field(media[s.medium].eps, n, f)[e.component];
      return d;
    };
    double energy = 0, volume = 0;
    each_node(scene, media, grid, {},
              [&](const std::array<int, 3>& node, const em::NodeCorners& corners) {
                for (int k = 0; k < 3; ++k)
                  if (node[k] == 0 || node[k] == grid.cells(k)) return;
                for (int c = 0; c < 8; ++c) {
                  const Vector3d d(mean_d(edge_of(node, c, 0)), mean_d(edge_of(node, c, 1)),
                                   mean_d(edge_of(node, c, 2)));
                  energy += corners.volume[c] * d.dot(matrix(corners.inverse_eps[c]) * d);
                  volume += corners.volume[c];
                }
              });
    Point centre, size;
    for (int k = 0; k < 3; ++k) {
      const double low = grid.middle(k, 0), high = grid.middle(k, grid.cells(k) - 1);
      centre[k] = (low + high) / 2, size[k] = high - low;
    }
    const double inner = size[0] * size[1] * size[2];
    EXPECT_NEAR(volume, inner, 1e-13);
    double exact = 0;
    for (const em::Share& s : em::fill(scene, centre, size).media) {
      const Vector3d e = field(media[s.medium].eps, n, f);
      const Point& m = media[s.medium].eps;
      exact += inner * s.fraction * e.dot(Vector3d(m[0], m[1], m[2]).cwiseProduct(e));
    }
    EXPECT_NEAR(energy, exact, 1e-11 * exact);
  }
}

// A square on its corner, cut by a mirror through two of its corners: there the box of a node has
// two faces, a face and its image. Shares of a face are those of the whole to 1e-9.
TEST(CornerTensors, OfABodyInAMirrorAreThoseOfTheWhole) {
  em::YeeGrid whole = graded();
  whole.lines[0] = {-1, -0.55, -0.2, 0.1, 0.4, 0.7, 1};
  whole.lines[1] = {-1, -0.6, -0.3, 0, 0.3, 0.6, 1};
  em::YeeGrid half = whole;
  half.lines[1] = {0, 0.3, 0.6, 1};
  const std::vector<em::Medium> media{{}, {.eps = {6, 6, 6}}};
  const em::SceneOrder scene({{{em::rotate(em::box({-0.5, -0.5, -9}, {0.5, 0.5, 9}),
                                           em::rotation_about({0, 0, 1}, std::acos(-1) / 4)),
                                1}},
                              0});
  for (int i = 1; i < 6; ++i) {
    const em::NodeCorners all = em::node_corners(scene, media, whole, {i, 3, 2}),
                          part = em::node_corners(scene, media, half, {i, 0, 2});
    for (const int c : {2, 3, 6, 7}) {  // those behind the mirror
      EXPECT_NEAR(part.volume[c], all.volume[c], 1e-15);
      for (int k = 0; k < 6; ++k)
        EXPECT_NEAR(part.inverse_eps[c][k], all.inverse_eps[c][k], 1e-9) << i << ' ' << c << k;
    }
  }
}

TEST(CornerTensors, AreThoseOfEdgesWhereFacesFollowTheGrid) {
  const em::YeeGrid grid = graded();
  const std::vector<em::Medium> media{{}, {.eps = {12, 12, 12}}};
  const em::SceneOrder scene({{{em::box({-0.13, -9, -9}, {0.41, 9, 9}), 1}}, 0});
  const auto number = [&](const em::Edge& e) {
    return ((e.component * 8 + e.k) * 8 + e.j) * 8 + e.i;
  };
  std::vector<double> sum(3 * 512), volume(3 * 512);
  each_node(scene, media, grid, {},
            [&](const std::array<int, 3>& node, const em::NodeCorners& corners) {
              EXPECT_FALSE(corners.coupled);
              for (int c = 0; c < 8; ++c)
                for (int k = 0; k < 3 && corners.volume[c] > 0; ++k) {
                  sum[number(edge_of(node, c, k))] += corners.volume[c] * corners.inverse_eps[c][k];
                  volume[number(edge_of(node, c, k))] += corners.volume[c];
                }
            });
  for (int component = 0; component < 3; ++component)
    for (int k = 0; k < 5; ++k)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 6; ++i) {
          const em::Edge e{std::uint8_t(component), i, j, k};
          const double expected =
              em::edge_material(scene, media, grid, e, em::Averaging::kottke).inverse_eps;
          EXPECT_NEAR(sum[number(e)] / volume[number(e)], expected, 1e-13)
              << i << " " << j << " " << k;
        }
}

TEST(CornerTensors, ArePositiveWhateverIsInTheBox) {
  const em::YeeGrid grid = graded();
  const std::vector<em::Medium> media{{}, {.eps = {16, 16, 16}}, {.eps = {2, 9, 5}}};
  const em::SceneOrder scene({{{em::sphere({0.1, 0, 0}, 0.45), 1},
                               {em::rotate(em::box({-0.2, -0.9, -0.3}, {0.3, 0.5, 0.9}),
                                           em::rotation_about({1, 2, 3}, 0.8)),
                                2},
                               {em::cone({0.4, 0.3, 0}, 0.3, 0, 0.8, {1, 0, 1}), 1}},
                              0});
  int coupled = 0;
  each_node(scene, media, grid, {true, true, true},
            [&](const std::array<int, 3>&, const em::NodeCorners& corners) {
              coupled += corners.coupled;
              for (int c = 0; c < 8; ++c) {
                EXPECT_GT(corners.volume[c], 0);
                EXPECT_GT(eigenvalues(corners.inverse_eps[c])[0], 0.005);
              }
            });
  EXPECT_GT(coupled, 40);
}

// The coefficients of a grid are the sums over its nodes, whether near surfaces or not.
TEST(CornerTensors, CoefficientsAreTheSumsOverAllNodes) {
  const em::YeeGrid grid = graded();
  const std::vector<em::Medium> media{{.eps = {2, 2, 2}}, {.eps = {9, 9, 9}}};
  const em::SceneOrder scene({{{em::sphere({0.55, 0.1, -0.1}, 0.3), 1}}, 0});
  for (const em::Periodic& periodic : {em::Periodic{}, em::Periodic{true, true, true}}) {
    const auto wrap = [&](em::Edge e) {
      e.i = (e.i + 6) % 6, e.j = (e.j + 4) % 4, e.k = (e.k + 5) % 5;
      return e;
    };
    const auto number = [&](const em::Edge& e) {
      return ((e.component * 8 + e.k) * 8 + e.j) * 8 + e.i;
    };
    std::vector<double> sum(3 * 512), volume(3 * 512);
    std::size_t coupled = 0;
    const auto uniform = em::uniform_media(scene, grid, periodic);
    const auto c =
        em::corner_coefficients(scene, media, grid, uniform, {{0, 0, 0}, {6, 4, 5}}, periodic, 0.6);
    each_node(
        scene, media, grid, periodic, [&](const std::array<int, 3>& node, const em::NodeCorners&) {
          const em::NodeCorners corners = em::node_corners(scene, media, grid, node, periodic, 0.6);
          coupled += corners.coupled;
          double all = 0;
          for (double v : corners.volume) all += v;
          const auto same =
              std::find_if(c.nodes.begin(), c.nodes.end(), [&](const em::NodeCoupling& n) {
                return std::array{n.i, n.j, n.k} == node;
              });
          EXPECT_EQ(same != c.nodes.end(), corners.coupled);
          if (corners.coupled) {  // the pair of the x edge behind and the z edge before the node
            EXPECT_NEAR(same->pairs[1][1],
                        4 / all *
                            (corners.volume[1] * corners.inverse_eps[1][4] +
                             corners.volume[3] * corners.inverse_eps[3][4]),
                        1e-14);
          }
          for (int q = 0; q < 8; ++q)
            for (int k = 0; k < 3 && corners.volume[q] > 0; ++k) {
              em::Edge e = edge_of(node, q, k);
              if (periodic[0]) e = wrap(e);
              sum[number(e)] += corners.volume[q] * corners.inverse_eps[q][k];
              volume[number(e)] += corners.volume[q];
            }
        });
    EXPECT_EQ(c.nodes.size(), coupled);
    EXPECT_GT(coupled, 10u);
    EXPECT_GT(c.edges.size(), 20u);
    for (const em::EdgeInverse& e : c.edges)
      EXPECT_NEAR(e.inverse_eps, sum[number(e.edge)] / volume[number(e.edge)], 1e-13);
  }
}

TEST(CornerTensors, StopAtTheLimit) {
  const em::YeeGrid grid = graded();
  const std::vector<em::Medium> media{{}, {.eps = {30, 30, 30}}};
  const em::SceneOrder scene({{{em::half_space({0.02, 0.03, 0.01}, {1, 2, 3}), 1}}, 0});
  int above = 0;
  for (const std::array<int, 3> node :
       {std::array{3, 2, 2}, {2, 2, 3}, {3, 3, 2}, {3, 1, 3}, {4, 2, 2}}) {
    const em::NodeCorners free = em::node_corners(scene, media, grid, node),
                          bound = em::node_corners(scene, media, grid, node, {}, 1.1);
    for (int c = 0; c < 8; ++c) {
      const auto most = [&](const em::NodeCorners& n) { return eigenvalues(n.inverse_eps[c])[2]; };
      EXPECT_LT(most(bound), 1.1 + 1e-12);
      if (most(free) > 1.1)
        ++above;
      else
        EXPECT_EQ(free.inverse_eps[c], bound.inverse_eps[c]);
    }
  }
  EXPECT_GT(above, 2);
}

TEST(CornerTensors, DispersiveMediaAndConductorsAreDiagonal) {
  const em::YeeGrid grid = graded();
  const em::Medium metal{.eps = {3, 3, 3}, .poles = em::drude(2e15, 1e13)};
  for (const em::Medium& other : {metal, em::Medium{.pec = true}}) {
    const std::vector<em::Medium> media{{.eps = {2, 2, 2}}, other};
    const em::SceneOrder scene({{{em::half_space({0.02, 0.03, 0.01}, {1, 1, 1}), 1}}, 0});
    each_node(scene, media, grid, {},
              [&](const std::array<int, 3>& node, const em::NodeCorners& corners) {
                EXPECT_FALSE(corners.coupled);
                if (node != std::array{3, 2, 2}) return;
                for (int c = 0; c < 8; ++c)
                  for (int k = 0; k < 3; ++k)
                    EXPECT_EQ(corners.inverse_eps[c][k],
                              em::edge_material(scene, media, grid, edge_of(node, c, k),
                                                em::Averaging::kottke)
                                  .inverse_eps);
              });
  }
}
