// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/averaging.h"

#include "symmetric_matrix.h"
#include "tessera/electromagnetics/preview.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace em = tessera::electromagnetics;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using em::eigenvalues;
using em::matrix;
using em::Point;
using std::numbers::pi;

namespace {

/// The tensor that gives the mean D of the mean E of a laminate: in each layer E_t and D_n are
/// those given. Solved layer by layer, with none of the formulas of averaging.h.
Matrix3d laminate(const std::vector<std::pair<double, Point>>& layers, Vector3d n) {
  n.normalize();
  const Vector3d t = n.unitOrthogonal(), u = n.cross(t);
  Matrix3d mean_e, mean_d;
  for (int c = 0; c < 3; ++c) {  // three states: E_t, E_u or D_n of one
    Vector3d e_sum = Vector3d::Zero(), d_sum = Vector3d::Zero();
    for (const auto& [share, value] : layers) {
      const Matrix3d eps = Vector3d(value[0], value[1], value[2]).asDiagonal();
      Matrix3d conditions;
      conditions << t.transpose(), u.transpose(), n.transpose() * eps;
      const Vector3d e = conditions.inverse().col(c);
      e_sum += share * e;
      d_sum += share * eps * e;
    }
    mean_e.col(c) = e_sum;
    mean_d.col(c) = d_sum;
  }
  return mean_d * mean_e.inverse();
}

em::Medium dielectric(double eps) { return {.eps = {eps, eps, eps}}; }

em::YeeGrid cells(int n, double low, double high) {
  em::YeeGrid grid;
  for (auto& lines : grid.lines)
    for (int i = 0; i <= n; ++i) lines.push_back(low + (high - low) * i / n);
  return grid;
}

}  // namespace

TEST(Averaging, TensorOfAFaceIsThatOfALaminate) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 30; ++trial) {
    const Point normal{u(random), u(random), u(random)},
        on{0.2 * u(random), 0.2 * u(random), 0.2 * u(random)};
    std::vector<Point> eps{{1, 1, 1}, {12, 12, 12}};
    if (trial % 2)
      for (Point& e : eps)
        for (double& x : e) x = 6 + 5 * u(random);
    const em::Fill f =
        em::fill(em::SceneOrder({{{em::half_space(on, normal), 1}}, 0}), {0, 0, 0}, {1, 1, 1});
    std::vector<std::pair<double, Point>> layers;
    for (const em::Share& s : f.media) layers.push_back({s.fraction, eps[s.medium]});
    const Matrix3d expected = laminate(layers, {normal[0], normal[1], normal[2]}).inverse();
    EXPECT_LT((matrix(em::inverse_average(f, eps)) - expected).norm(), 1e-13 * expected.norm());
  }
}

TEST(Averaging, ClosedFormsByHand) {
  // A face across x at a quarter of the box: 1/4 of eps 4, 3/4 of eps 1.
  const em::Fill f = em::fill(em::SceneOrder({{{em::half_space({-0.25, 0, 0}, {1, 0, 0}), 1}}, 0}),
                              {0, 0, 0}, {1, 1, 1});
  const auto t = em::inverse_average(f, {{1, 1, 1}, {4, 4, 4}});
  EXPECT_NEAR(t[0], 0.25 / 4 + 0.75, 1e-15);
  EXPECT_NEAR(t[1], 1 / (0.25 * 4 + 0.75), 1e-15);
  EXPECT_NEAR(t[2], 1 / 1.75, 1e-15);
  for (int k = 3; k < 6; ++k) EXPECT_NEAR(t[k], 0, 1e-15);

  // Several parallel layers within one box are still exact.
  const em::Fill g = em::fill(em::SceneOrder({{{em::box({-9, -0.1, -9}, {9, 0.2, 9}), 1}}, 0}),
                              {0, 0, 0}, {1, 1, 1});
  const auto s = em::inverse_average(g, {{1, 1, 1}, {4, 4, 4}});
  EXPECT_NEAR(s[1], 0.3 / 4 + 0.7, 1e-15);
  EXPECT_NEAR(s[0], 1 / 1.9, 1e-15);
}

// Between the bounds of Wiener, 1/<e> and <1/e>, in all directions, whatever is in the box.
TEST(Averaging, EdgesAndCornersStayBetweenTheBounds) {
  const em::Rotation turn = em::rotation_about({1, 2, 0.3}, 0.9);
  const em::SceneOrder scene({{{em::box({-9, -9, -9}, {0.1, 0.05, 0.2}), 1},
                               {em::rotate(em::box({0, 0, 0}, {9, 9, 9}), turn), 2},
                               {em::sphere({0.3, -0.3, 0.3}, 0.4), 3}},
                              0});
  const std::vector<Point> eps{{1, 1, 1}, {12, 12, 12}, {4, 4, 4}, {2, 2, 2}};
  for (double x : {-0.3, 0.0, 0.3})
    for (double y : {-0.3, 0.0, 0.3})
      for (double z : {-0.3, 0.0, 0.3}) {
        const em::Fill f = em::fill(scene, {x, y, z}, {0.5, 0.5, 0.5});
        double mean = 0, mean_inverse = 0, total = 0;
        for (const em::Share& s : f.media) {
          mean += s.fraction * eps[s.medium][0];
          mean_inverse += s.fraction / eps[s.medium][0];
          total += s.fraction;
        }
        EXPECT_NEAR(total, 1, 1e-12);
        const std::vector<double> values = eigenvalues(em::inverse_average(f, eps));
        EXPECT_GE(values[0], 1 / mean - 1e-13);
        EXPECT_LE(values[2], mean_inverse + 1e-13);
      }
}

TEST(Averaging, EdgesInADispersiveFaceHaveHalfOfIt) {
  // Medium 1 fills x < 0; the line x = 0 lies in the face.
  em::Medium metal{
      .name = "metal", .eps = {3, 3, 3}, .sigma = {5, 5, 5}, .poles = em::drude(2e15, 1e13)};
  const std::vector<em::Medium> media{dielectric(2), metal};
  const em::SceneOrder scene({{{em::half_space({0, 0, 0}, {1, 0, 0}), 1}}, 0});
  const em::YeeGrid grid = cells(4, -2, 2);
  for (int component : {em::Ey, em::Ez}) {
    const auto m = em::edge_material(scene, media, grid, {std::uint8_t(component), 2, 1, 1},
                                     em::Averaging::kottke);
    ASSERT_EQ(m.weights.size(), 1u);
    EXPECT_EQ(m.weights[0].medium, 1);
    EXPECT_NEAR(m.weights[0].weight, 0.5, 1e-14);
    EXPECT_NEAR(m.sigma, 2.5, 1e-14);
    EXPECT_NEAR(m.inverse_eps, 1 / 2.5, 1e-14);
  }
  const auto before =
      em::edge_material(scene, media, grid, {em::Ex, 1, 1, 1}, em::Averaging::kottke);
  EXPECT_EQ(before.weights.at(0).weight, 1);
  EXPECT_EQ(before.sigma, 5);
  const auto behind =
      em::edge_material(scene, media, grid, {em::Ex, 2, 1, 1}, em::Averaging::kottke);
  EXPECT_TRUE(behind.weights.empty());
  EXPECT_EQ(behind.inverse_eps, 0.5);
  EXPECT_EQ(em::node_off_diagonals(scene, media, grid, {2, 1, 1}), (std::array<double, 3>{}));
  EXPECT_FALSE(before.pec || behind.pec);
}

// Across a face of media with poles: the parts of a laminate, exact across the edge, in 64ths
// beside it.
TEST(Averaging, EdgesAcrossADispersiveFaceAreLaminates) {
  const em::Medium metal{.name = "metal", .eps = {3, 3, 3}, .poles = em::drude(2e15, 1e13)};
  em::Medium kerr = dielectric(2);
  kerr.chi3 = 1e-20;
  const std::vector<em::Medium> media{dielectric(2), metal};
  const em::YeeGrid grid = cells(4, -2, 2);
  const em::Edge edge{em::Ex, 2, 2, 2};  // its box: 0 < x < 1, |y|, |z| < 1/2
  const auto at = [&](const Point& on, const Point& normal,
                      em::Averaging averaging = em::Averaging::kottke) {
    return em::edge_material(em::SceneOrder({{{em::half_space(on, normal), 1}}, 0}), media, grid,
                             edge, averaging);
  };
  const auto across = at({0.3, 0, 0}, {1, 0, 0});
  ASSERT_EQ(across.parts.size(), 2u);
  EXPECT_EQ(across.across, 1);
  EXPECT_NEAR(across.parts[0].weight, 0.3, 1e-14);
  EXPECT_NEAR(across.inverse_eps, 0.3 / 3 + 0.7 / 2, 1e-14);
  EXPECT_TRUE(across.weights.empty());
  const auto oblique = at({0.5, 0, 0}, {1, 2, 0});
  EXPECT_EQ(oblique.across, 13 / 64.0);  // 1/5
  EXPECT_EQ(oblique.parts.at(0).weight, 0.5);
  EXPECT_TRUE(at({0, 0.1, 0}, {0, 1, 0}).parts.empty());      // along the face
  EXPECT_TRUE(at({0, -0.499, 0}, {1, 20, 0}).parts.empty());  // a sliver
  EXPECT_TRUE(at({0.3, 0, 0}, {1, 0, 0}, em::Averaging::volume).parts.empty());
  const auto nonlinear =
      em::edge_material(em::SceneOrder({{{em::half_space({0.3, 0, 0}, {1, 0, 0}), 1}}, 0}),
                        {kerr, metal}, grid, edge, em::Averaging::kottke);
  EXPECT_TRUE(nonlinear.parts.empty());
  EXPECT_EQ(nonlinear.weights.size(), 2u);
}

TEST(Averaging, ModesDiffer) {
  const std::vector<em::Medium> media{dielectric(1), dielectric(4)};
  const em::SceneOrder scene({{{em::half_space({0.25, 0, 0}, {1, 0, 0}), 1}}, 0});
  const em::YeeGrid grid = cells(4, -2, 2);
  const em::Edge across{em::Ex, 2, 1, 1};  // its box: 0 < x < 1, a quarter of it medium 1
  EXPECT_NEAR(em::edge_material(scene, media, grid, across, em::Averaging::kottke).inverse_eps,
              0.25 / 4 + 0.75, 1e-14);
  EXPECT_NEAR(em::edge_material(scene, media, grid, across, em::Averaging::volume).inverse_eps,
              1 / 1.75, 1e-14);
  EXPECT_EQ(em::edge_material(scene, media, grid, across, em::Averaging::none).inverse_eps,
            1);  // x = 1/2
}

TEST(Averaging, ConductorsHoldTheirSurfaces) {
  const std::vector<em::Medium> media{dielectric(1), {.name = "pec", .pec = true}, dielectric(4)};
  const em::YeeGrid grid = cells(8, -4, 4);
  const auto pec = [&](const em::Scene& scene, const em::Edge& e) {
    return em::edge_material(em::SceneOrder(scene), media, grid, e, em::Averaging::kottke).pec;
  };
  const auto line = [](double x) { return int(x) + 4; };
  // A cube [-1, 1]^3: edges in its low and high faces and along its corners conduct, those that
  // leave do not.
  const em::Scene cube{{{em::box({-1, -1, -1}, {1, 1, 1}), 1}}, 0};
  for (int side : {-1, 1}) {
    EXPECT_TRUE(pec(cube, {em::Ey, line(side), line(0), line(0)}));
    EXPECT_TRUE(pec(cube, {em::Ey, line(side), line(-1), line(side)}));
    EXPECT_FALSE(pec(cube, {em::Ey, line(side), line(1), line(0)}));
    EXPECT_FALSE(pec(cube, {em::Ey, line(2 * side), line(0), line(0)}));
  }
  // A sheet of no thickness in z = 1, -2 < x < 2, |y| < 1.
  const em::Scene sheet{{{em::box({-2, -1, 1}, {2, 1, 1}), 1}}, 0};
  EXPECT_TRUE(pec(sheet, {em::Ex, line(-2), line(1), line(1)}));
  EXPECT_FALSE(pec(sheet, {em::Ex, line(2), line(1), line(1)}));
  EXPECT_FALSE(pec(sheet, {em::Ex, line(0), line(2), line(1)}));
  EXPECT_FALSE(pec(sheet, {em::Ez, line(0), line(0), line(1)}));
  const auto uniform = em::uniform_media(em::SceneOrder(sheet), grid);
  EXPECT_EQ(uniform.at(line(0), line(0), line(1)), -1);  // the cells at the sheet are looked at
  EXPECT_EQ(uniform.at(line(0), line(0), line(-3)), 0);
  // A hole through the cube that dielectric fills: its walls conduct, its middle does not.
  const em::Scene hole{
      {{em::box({-3, -3, -3}, {3, 3, 3}), 1}, {em::box({-1, -1, -9}, {1, 1, 9}), 2}}, 0};
  EXPECT_TRUE(pec(hole, {em::Ez, line(-1), line(0), line(0)}));
  EXPECT_TRUE(pec(hole, {em::Ez, line(1), line(0), line(0)}));
  EXPECT_FALSE(pec(hole, {em::Ez, line(0), line(0), line(0)}));
  // Conductors take no part in averages: beside one there is the dielectric alone.
  const auto m = em::edge_material(em::SceneOrder(hole), media, grid,
                                   {em::Ex, line(-1), line(0), line(0)}, em::Averaging::kottke);
  EXPECT_EQ(m.inverse_eps, 0.25);
}

TEST(Averaging, SeamsOfPeriodicAxesSeeBothEnds) {
  // Medium 1 fills the half x < 0 of a period [-2, 2], so the seam is a face; a sphere crosses it
  // at y, z = 0.
  const std::vector<em::Medium> media{dielectric(1), dielectric(4)};
  const em::SceneOrder scene({{{em::half_space({0, 0, 0}, {1, 0, 0}), 1}}, 0});
  const em::YeeGrid grid = cells(4, -2, 2);
  const em::Edge seam[] = {{em::Ey, 0, 1, 1}, {em::Ey, 4, 1, 1}};
  for (const em::Edge& e : seam) {
    const auto m =
        em::edge_material(scene, media, grid, e, em::Averaging::kottke, {true, true, true});
    EXPECT_NEAR(m.inverse_eps, 1 / 2.5, 1e-14);
  }
  EXPECT_NEAR(em::edge_material(scene, media, grid, seam[0], em::Averaging::kottke).inverse_eps,
              0.25, 1e-14);
  EXPECT_NEAR(em::edge_material(scene, media, grid, seam[1], em::Averaging::kottke).inverse_eps, 1,
              1e-14);
  const auto open = em::uniform_media(scene, grid),
             closed = em::uniform_media(scene, grid, {true, false, false});
  EXPECT_EQ(open.at(0, 0, 0), 1);
  EXPECT_EQ(closed.at(0, 0, 0), -1);
  EXPECT_EQ(closed.at(3, 0, 0), -1);
}

// A face that runs through the seam is averaged there as anywhere: the same after a shift by half a
// period.
TEST(Averaging, FacesThroughASeamAreAveragedAsElsewhere) {
  const std::vector<em::Medium> media{dielectric(1), dielectric(12)};
  const auto layers = [](double shift) {  // across (1, 2, 0), periodic in cubes of side 4
    em::Scene s;
    const double length = std::sqrt(5.0), period = 4 / length;
    for (int m = -9; m <= 9; ++m) {
      const auto on = [&](double d) { return Point{d / length + shift, 2 * d / length, 0}; };
      s.structures.push_back({em::intersect({em::half_space(on((m + 0.63) * period), {1, 2, 0}),
                                             em::half_space(on((m + 0.2) * period), {-1, -2, 0})}),
                              1});
    }
    return em::SceneOrder(s);
  };
  const em::YeeGrid grid = cells(20, -2, 2);
  const em::Periodic periodic{true, true, true};
  const em::SceneOrder scene = layers(0), shifted = layers(2);
  int mixed = 0;
  for (int j = 0; j < 20; ++j) {
    const auto seam = em::node_off_diagonals(scene, media, grid, {0, j, 3}, periodic);
    const auto middle = em::node_off_diagonals(shifted, media, grid, {10, j, 3}, periodic);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(seam[k], middle[k], 1e-12) << j;
    const em::Edge at_seam{em::Ey, 20, j, 3}, at_middle{em::Ey, 10, j, 3};
    EXPECT_NEAR(
        em::edge_material(scene, media, grid, at_seam, em::Averaging::kottke, periodic).inverse_eps,
        em::edge_material(shifted, media, grid, at_middle, em::Averaging::kottke, periodic)
            .inverse_eps,
        1e-12);
    mixed += seam[0] != 0;
  }
  EXPECT_GT(mixed, 5);
}

TEST(Averaging, MagneticMediaFollowTheSameRules) {
  em::Medium ferrite{.mu = {4, 4, 4}};
  em::Medium lossy{.mu = {4, 4, 4}, .sigma_m = {10, 10, 10}};
  const em::SceneOrder scene({{{em::half_space({0, 0, 0}, {1, 0, 0}), 1}}, 0});
  const em::YeeGrid grid = cells(4, -2, 2);
  const em::Edge on_face{em::Hx, 2, 1, 1};  // along the normal: the mean of 1/mu
  EXPECT_NEAR(
      em::face_material(scene, {{}, ferrite}, grid, on_face, em::Averaging::kottke).inverse_mu,
      0.625, 1e-14);
  const auto m = em::face_material(scene, {{}, lossy}, grid, on_face, em::Averaging::kottke);
  EXPECT_NEAR(m.inverse_mu, 1 / 2.5, 1e-14);
  EXPECT_NEAR(m.sigma_m, 5, 1e-14);
}

TEST(Averaging, ClippedOffDiagonalsReachTheMarginAndNoMore) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> u(-1, 1);
  int clipped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Point d{0.1 + std::abs(u(random)), 0.1 + std::abs(u(random)), 0.1 + std::abs(u(random))};
    const std::array<double, 3> x{0.8 * u(random), 0.8 * u(random), 0.8 * u(random)};
    const auto y = em::clip_off_diagonals(d, x);
    const auto least =
        [&](const std::array<double, 3>& o) {  // of the tensor scaled to a diagonal of ones
          return eigenvalues({1, 1, 1, o[0] / std::sqrt(d[0] * d[1]), o[1] / std::sqrt(d[0] * d[2]),
                              o[2] / std::sqrt(d[1] * d[2])})[0];
        };
    if (y != x) {
      EXPECT_NEAR(least(y), 1e-3, 1e-12);
      ++clipped;
    } else {
      EXPECT_GE(least(x), 1e-3 - 1e-12);
    }
  }
  EXPECT_GT(clipped, 50);
  EXPECT_LT(clipped, 190);
}

// The whole operator of Werner and Cary on a periodic grid of 4^3 cells: symmetric, and positive
// once the off-diagonals are clipped; with the same nodes not clipped it has a negative eigenvalue.
TEST(Averaging, ClippingMakesTheOperatorPositive) {
  constexpr int n = 4;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto wrap = [](int i) { return (i + n) % n; };
  const auto edge = [&](int axis, const std::array<int, 3>& c) {
    return ((axis * n + wrap(c[2])) * n + wrap(c[1])) * n + wrap(c[0]);
  };
  std::vector<double> diagonal(3 * n * n * n);
  for (double& d : diagonal) d = std::exp(1.2 * u(random));
  const auto lowest = [&](bool clip) {
    std::mt19937_64 nodes(12);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(3 * n * n * n, 3 * n * n * n);
    for (int e = 0; e < 3 * n * n * n; ++e) m(e, e) = diagonal[e];
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          const std::array<int, 3> node{i, j, k};
          std::array<std::array<int, 2>, 3> beside;  // the two edges of the node along each axis
          Point least;
          for (int a = 0; a < 3; ++a) {
            std::array<int, 3> before = node;
            --before[a];
            beside[a] = {edge(a, before), edge(a, node)};
            least[a] = std::min(diagonal[beside[a][0]], diagonal[beside[a][1]]);
          }
          std::array<double, 3> x{u(nodes), u(nodes), u(nodes)};
          if (clip) x = em::clip_off_diagonals(least, x);
          const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
          for (int p = 0; p < 3; ++p)
            for (int e : beside[pair[p][0]])
              for (int f : beside[pair[p][1]]) m(e, f) += x[p] / 4, m(f, e) += x[p] / 4;
        }
    const std::span<const double> entries(m.data(),
                                          m.size());  // LAPACK's solver is compiled already
    return tessera::eigh(tessera::from_span(entries, {m.rows(), m.cols()})).values.to_vector()[0];
  };
  EXPECT_LT(lowest(false), -0.01);
  EXPECT_GT(lowest(true), 0);
}

namespace {

struct Sums {
  double volume = 0, inverse = 0;  // of the fraction, and of the trace of the inverse tensor
};

/// Over a grid of 24^3 cells of [-1, 1]^3 with a shape of eps 1 + contrast.
Sums sums(const em::Shape& shape, double contrast) {
  const em::SceneOrder scene({{{shape, 1}}, 0});
  const std::vector<Point> eps{{1, 1, 1}, {1 + contrast, 1 + contrast, 1 + contrast}};
  const int n = 24;
  const double h = 2.0 / n;
  Sums s;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const em::Fill f = em::fill(
            scene, {-1 + (i + 0.5) * h, -1 + (j + 0.5) * h, -1 + (k + 0.5) * h}, {h, h, h});
        const auto t = em::inverse_average(f, eps);
        s.inverse += (t[0] + t[1] + t[2]) * h * h * h;
        for (const em::Share& share : f.media)
          s.volume += share.medium * share.fraction * h * h * h;
      }
  return s;
}

}  // namespace

// Derivatives in a radius, by central differences with steps s and s/2: a smooth function's differ
// by O(s^2), one of counted points by steps of h^3/s. The volume's must be the surface, to O(h^2).
TEST(Averaging, SumsAreDifferentiableInTheRadius) {
  const double r = 0.61;
  const struct {
    const char* name;
    em::Shape (*shape)(double);
    double surface;  // of the part that moves with r
  } cases[] = {
      {"sphere",
       [](double r) {
         return em::sphere({0.01, 0.02, -0.03}, r);
       },
       4 * pi * r * r},
      {"cylinder",
       [](double r) {
         return em::cylinder({0, 0.02, 0.01}, r, 1.3, {0, 0, 1});
       },
       2 * pi * r * 1.3},
      {"turned cylinder",
       [](double r) {
         return em::cylinder({0, 0.02, 0.01}, r, 1.0, {1, 0.5, 1});
       },
       2 * pi * r},
      {"box",
       [](double r) {
         return em::box({-r, -0.5, -0.4}, {r, 0.5, 0.4});
       },
       2 * 1.0 * 0.8},
  };
  for (const auto& c : cases) {
    const auto derivative = [&](double contrast, double step) {
      const Sums up = sums(c.shape(r + step), contrast), down = sums(c.shape(r - step), contrast);
      return Sums{(up.volume - down.volume) / (2 * step), (up.inverse - down.inverse) / (2 * step)};
    };
    const Sums coarse = derivative(11, 2e-4), fine = derivative(11, 1e-4);
    EXPECT_NEAR(fine.volume, c.surface, 0.01 * c.surface) << c.name;  // (h/r)^2 = 0.019
    EXPECT_NEAR(coarse.volume, fine.volume, 1e-4 * c.surface) << c.name;
    EXPECT_NEAR(coarse.inverse, fine.inverse, 1e-4 * std::abs(fine.inverse)) << c.name;
    // Low contrast d: 1/eps = 1 - d f up to d^2, so the sum of three moves by -3 d times the
    // surface.
    const Sums weak = derivative(1e-3, 1e-4);
    EXPECT_NEAR(weak.inverse, -3e-3 * c.surface, 5e-3 * 3e-3 * c.surface) << c.name;
  }
}

TEST(Preview, ShowsMediaAndMeans) {
  const em::YeeGrid grid = cells(4, -2, 2);
  const em::SceneOrder scene(
      {{{em::box({-9, -9, -9}, {0.25, 9, 9}), 1}, {em::box({-2, -2, -2}, {-1, -1, -1}), 2}}, 0});
  const std::vector<em::Medium> media{dielectric(1), dielectric(5), {.pec = true}};
  const auto p = em::preview(scene, media, grid);
  tessera::data::check_grid(p);
  ASSERT_EQ(p.fields.cells.size(), 3u);
  const auto at = [&](int field, int i, int j, int k, int c = 0) {
    const auto& f = p.fields.cells[field];
    return f.values[((k * 4 + j) * 4 + i) * f.components + c];
  };
  EXPECT_EQ(at(0, 0, 0, 0), 2);
  EXPECT_EQ(at(2, 0, 0, 0), 0);
  EXPECT_EQ(at(0, 1, 2, 2), 1);
  EXPECT_EQ(at(0, 2, 2, 2), 0);
  EXPECT_NEAR(at(1, 2, 2, 2), 0.75, 1e-14);
  EXPECT_NEAR(at(2, 2, 2, 2, 1), 2, 1e-14);
  for (const int axis : {1, 2}) {  // planes 1 and 2 alone
    const auto part = em::preview(scene, media, grid, {axis, 1, 2});
    tessera::data::check_grid(part);
    const int ny = axis == 1 ? 2 : 4, nz = axis == 2 ? 2 : 4;
    for (int field = 0; field < 3; ++field)
      for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
          for (int i = 0; i < 4; ++i) {
            const auto& f = part.fields.cells[field];
            EXPECT_EQ(f.values[((k * ny + j) * 4 + i) * f.components],
                      at(field, i, j + (axis == 1), k + (axis == 2)));
          }
  }
  em::YeeGrid flat = grid;
  flat.lines[2] = {-0.5, 0.5};
  tessera::data::check_grid(em::preview(scene, media, flat));

  // With poles: as they are at a frequency, on a pole a millionth beside it.
  std::vector<em::Medium> lossless = media;
  lossless[1].poles = em::lorentz(2, 0, 3);
  EXPECT_NEAR(
      em::preview(scene, lossless, grid, {}, 1).fields.cells[2].values[3 * (4 * (2 * 4 + 2) + 1)],
      5 + 3 * 4.0 / (4 - 1), 1e-12);
  EXPECT_EQ(em::preview(scene, lossless, grid).fields.cells[2].values[3 * (4 * (2 * 4 + 2) + 1)],
            5);
  EXPECT_NEAR(em::shown_permittivity(lossless[1], 0, 2).real(), -3e6 / 2, 10);
  try {
    em::preview(scene, {dielectric(1)}, grid);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "[scene] structure 1 is of medium 1, but there are 1");
  }
}
