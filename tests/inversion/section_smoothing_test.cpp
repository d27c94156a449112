// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_smoothing.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/section_forward.h"
#include "tessera/inversion/section_mesh.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::inversion {
namespace {

using Vector = std::vector<double>;

/// ny x nz equal cells of a region of 3 by 2 km, parameter by parameter.
Mesh2d equal_cells(Index ny, Index nz) {
  Vector y, z;
  for (Index k = 0; k <= ny; ++k)
    y.push_back(3000.0 * static_cast<double>(k) / static_cast<double>(ny));
  for (Index k = 0; k <= nz; ++k)
    z.push_back(2000.0 * static_cast<double>(k) / static_cast<double>(nz));
  Index next = 0;
  return tensor_mesh(y, z, {}, [&](double, double) { return Medium2d{.parameter = next++}; });
}
Vector at_middles(const Mesh2d& m, const std::function<double(double, double)>& f) {
  Vector out(static_cast<std::size_t>(m.parameters()));
  for (Index c = 0; c < m.cells(); ++c) {
    const auto [y, z] = m.middle(c);
    out[m.medium[c].parameter] = f(y, z);
  }
  return out;
}

/// int |grad m|^2 over the part between the outermost middles, by hand; whatever the cells.
TEST(SectionSmoothing, RoughnessIsTheIntegralOfTheGradient) {
  for (const auto& [ny, nz] : {std::pair(6, 4), std::pair(12, 20), std::pair(40, 10)}) {
    const Mesh2d m = equal_cells(ny, nz);
    const Smoothing s = section_smoothing(m, {.along = 2, .down = 5, .reference = {4.0}});
    const double by_y = s.roughness(at_middles(m, [](double y, double) { return 1e-3 * y; })),
                 by_z = s.roughness(at_middles(m, [](double, double z) { return 1e-3 * z; }));
    EXPECT_NEAR(by_y, 2 * 1e-6 * 3000 * (1 - 1.0 / ny) * 2000, 1e-9);
    EXPECT_NEAR(by_z, 5 * 1e-6 * 3000 * 2000 * (1 - 1.0 / nz), 1e-9);
    EXPECT_NEAR(s.roughness(Vector(static_cast<std::size_t>(ny * nz), 7.0)), 0, 1e-12);
  }
}

TEST(SectionSmoothing, PenaltyIsRoughnessAndAnchor) {
  const Mesh2d m = equal_cells(5, 4);
  const Vector x = at_middles(m, [](double y, double z) { return std::sin(y / 700) + z / 900; });
  const Smoothing s = section_smoothing(m, {.reference = {2.0}, .anchor = 0.3});
  double anchor = 0;
  for (const double v : x) anchor += 0.3 / 20 * (v - 2) * (v - 2);
  EXPECT_NEAR(s.prior(7).penalty(x), 7 * (s.roughness(x) + anchor), 1e-9);
  // An uneven reference, whether differences know it or not, up to what does not depend on x.
  const Vector reference = at_middles(m, [](double, double z) { return z < 1000 ? 1.0 : 3.0; });
  for (const bool from : {false, true}) {
    const Smoothing u =
        section_smoothing(m, {.reference = reference, .rough_from_reference = from, .anchor = 0.3});
    const auto direct = [&](const Vector& v) {
      double sum = u.roughness(v);
      for (std::size_t k = 0; k < v.size(); ++k) sum += 0.3 / 20 * std::pow(v[k] - reference[k], 2);
      return sum;
    };
    const Vector other =
        at_middles(m, [](double y, double z) { return std::cos(y / 500) - z / 800; });
    EXPECT_NEAR(u.prior(1).penalty(x) - u.prior(1).penalty(other), direct(x) - direct(other), 1e-8);
  }
}

TEST(SectionSmoothing, NothingTiesAcrossATear) {
  const Mesh2d m = equal_cells(6, 4);
  SectionSmoothingOptions o{.reference = {0.0}};
  o.tears = {{{1600, 1400}, {-10, 2010}}};  // steep, between and through columns
  const Vector step =
      at_middles(m, [](double y, double z) { return y + (z - 1000) * 0.0990 > 1500 ? 1.0 : 0.0; });
  EXPECT_GT(section_smoothing(m, {.reference = {0.0}}).roughness(step), 3);
  EXPECT_EQ(section_smoothing(m, o).roughness(step), 0);
  o.across_tears = 0.25;
  EXPECT_NEAR(section_smoothing(m, o).roughness(step),
              0.25 * section_smoothing(m, {.reference = {0.0}}).roughness(step), 1e-12);
}

// Middles on a tear go with one side of it, and a vertex of its line leaves no hole.
TEST(SectionSmoothing, ATearThroughMiddlesPartsThemOnce) {
  const Mesh2d m = equal_cells(6, 4);  // middles at 250, 750, ... and 250, 750, ... down
  const auto torn = [&](const Tear2d& tear) {
    SectionSmoothingOptions o{.reference = {0.0}};
    const std::size_t all = section_ties(m, o).size();
    o.tears = {tear};
    o.across_tears = 0;
    return all - section_ties(m, o).size();
  };
  EXPECT_EQ(torn({{750, 750}, {0, 2000}}), 4u);  // down through a column of middles
  EXPECT_EQ(torn({{750, 750}, {2000, 0}}), 4u);  // upwards
  EXPECT_EQ(torn({{0, 3000}, {750, 750}}), 6u);  // along a row of them
  EXPECT_EQ(torn({{750, 740, 750}, {0, 1000, 2000}}), 4u);
  for (const double vertex : {740.0, 750.0, 760.0}) {
    EXPECT_EQ(torn({{0, vertex, 3000}, {1000, 1010, 1000}}), 6u) << vertex;
    EXPECT_EQ(torn({{3000, vertex, 0}, {1000, 1010, 1000}}), 6u) << vertex;
    EXPECT_EQ(torn({{1000, 1010, 1000}, {0, vertex, 2000}}), 4u) << vertex;
  }
}

TEST(SectionSmoothing, ReweightedDifferencesHaveTheGradientOfTheirNorm) {
  const Mesh2d m = equal_cells(5, 4);
  SectionSmoothingOptions o{.reference = {0.0}, .anchor = 1e-9};
  o.norm = DifferenceNorm::huber;
  o.corner = 0.2;
  const Vector x =
      at_middles(m, [](double y, double z) { return y > 1500 ? 2.0 + z / 5000 : z / 900; });
  const Smoothing s = section_smoothing(m, o, x);
  for (std::size_t k = 0; k < x.size(); k += 3) {
    Vector up = x, down = x;
    up[k] += 1e-5, down[k] -= 1e-5;
    const double slope = (s.roughness(up) - s.roughness(down)) / 2e-5,
                 by_prior = (s.prior(1).penalty(up) - s.prior(1).penalty(down)) / 2e-5;
    EXPECT_NEAR(slope, by_prior, 1e-5 * (1 + std::abs(slope)));
  }
}

TEST(SectionSmoothing, ThreeAxesAreTiedToOneAnother) {
  const Mesh2d m = equal_cells(3, 2);
  const Smoothing s = section_smoothing(m, {.reference = {0.0}, .axes = 3, .isotropy = 2});
  Vector same(18, 1.0), apart(18, 1.0);
  for (std::size_t k = 0; k < 18; k += 3) apart[k] = 2;
  EXPECT_NEAR(s.roughness(same), 0, 1e-12);
  double expected = 0;  // A / depth^2 of middles at 500 and 1500 m, two differences of one
  for (const double depth : {500.0, 1500.0}) expected += 3 * 2 * 2 * 1e6 / (depth * depth);
  EXPECT_NEAR(s.roughness(apart), expected, 1e-9);
}

TEST(SectionSmoothing, WhatIsNoPriorIsRefused) {
  const Mesh2d m = equal_cells(3, 2);
  EXPECT_THROW(section_smoothing(m, {.reference = {1, 2}}), Error);
  EXPECT_THROW(section_smoothing(m, {.reference = {1}, .anchor = 0}), Error);
  EXPECT_THROW(section_smoothing(m, {.along = -1, .reference = {1}}), Error);
  EXPECT_THROW(section_smoothing(m, {.reference = {1}, .axes = 2}), Error);
}

/// The whole chain on five stations: a block is found, and the data are met.
TEST(SectionSmoothing, GaussNewtonMeetsTheDataOfABlock) {
  SectionStations stations;
  for (int k = 0; k < 5; ++k) stations.y.push_back(500.0 * k), stations.z.push_back(0);
  const SectionScales scales{.ohm_m = 100, .shallowest_m = 360, .deepest_m = 3560};
  const SectionMesh mesh = section_mesh(stations, scales, {.growth = 1.3});
  const Vector frequency{100, 30, 10, 3, 1};
  DataTable table;
  for (int s = 0; s < 5; ++s)
    for (const double f : frequency)
      for (const Element e : {Element::xy, Element::yx}) {
        table.add(s, f, {e, Part::log10_rho}, 0, 0.02);
        table.add(s, f, {e, Part::phase}, 45, 1.3);
      }
  const SectionForward forward(mesh.solver, mesh.sensors, table, frequency);
  Vector truth(static_cast<std::size_t>(mesh.parameters()), std::log(100.0));
  for (Index c = 0; c < mesh.columns; ++c)
    for (Index r = 0; r < mesh.rows; ++r) {
      const double y = (mesh.y[c] + mesh.y[c + 1]) / 2, z = (mesh.depth[r] + mesh.depth[r + 1]) / 2;
      if (std::abs(y - 1000) < 600 && std::abs(z - 900) < 500)
        truth[c * mesh.rows + r] = std::log(10.0);
    }
  InverseProblem p{
      .forward = forward.map(), .data = forward.map().predict(truth), .sigma = table.sigma};
  const Smoothing smooth = section_smoothing(mesh.cells, {.reference = {std::log(100.0)}});
  const GaussNewtonResult r =
      gauss_newton(p, smooth.prior(1), Vector(truth.size(), std::log(100.0)), {.tolerance = 1e-3});
  EXPECT_EQ(r.reason, Reason::converged);
  EXPECT_LT(r.rms, 0.5);
  EXPECT_LE(r.iterations.size(), 20u);
  const auto mean_of = [&](bool block) {
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < truth.size(); ++k)
      if ((truth[k] < 3) == block) sum += r.m[k], ++count;
    return sum / count;
  };
  EXPECT_LT(mean_of(true), mean_of(false) - 1);
}

// By sums over the reciprocal lattice; and in the limit of small cells d K1(d).
TEST(SectionSmoothing, CorrelationsAreThoseOfTheSquareOfTheOperator) {
  constexpr Index n = 25, middle = 12;
  constexpr double length = 2;  // cells
  Vector y, z;
  for (Index k = 0; k <= n; ++k)
    y.push_back(static_cast<double>(k)), z.push_back(0.5 * static_cast<double>(k));
  const Mesh2d m = tensor_mesh(y, z, {}, [&](double at_y, double at_z) {
    return Medium2d{.parameter = static_cast<Index>(std::floor(at_y)) * n +
                                 static_cast<Index>(std::floor(2 * at_z))};
  });
  const GaussianPrior p = section_correlation(m, length, 0.5 * length);
  ASSERT_EQ(p.size(), static_cast<std::size_t>(n * n));
  Eigen::MatrixXd q = Eigen::MatrixXd::Zero(n * n, n * n);
  for (std::size_t i = 0; i < p.size(); ++i)
    for (auto k = static_cast<std::size_t>(p.precision.offsets[i]);
         k < static_cast<std::size_t>(p.precision.offsets[i + 1]); ++k)
      q(static_cast<Eigen::Index>(i), p.precision.columns[k]) = p.precision.values[k];
  EXPECT_LT(p.precision.values.size(), 13 * p.size());  // each with the neighbours of neighbours
  const Eigen::VectorXd covariance =
      q.llt().solve(Eigen::VectorXd::Unit(n * n, middle * n + middle));
  const auto lattice = [&](Index i, Index j) {
    constexpr int waves = 64;
    double sum = 0;
    for (int a = 0; a < waves; ++a)
      for (int b = 0; b < waves; ++b) {
        const double u = 2 * std::numbers::pi * a / waves, v = 2 * std::numbers::pi * b / waves;
        sum += std::cos(u * static_cast<double>(i)) * std::cos(v * static_cast<double>(j)) /
               std::pow(1 / (length * length) + 4 - 2 * std::cos(u) - 2 * std::cos(v), 2);
      }
    return sum;
  };
  for (const auto& [i, j] : {std::pair<Index, Index>{1, 0}, {0, 1}, {3, 0}, {2, 2}, {0, 6}}) {
    const double found =
                     covariance[(middle + i) * n + middle + j] / covariance[middle * n + middle],
                 d = std::hypot(i, j) / length;
    EXPECT_NEAR(found, lattice(i, j) / lattice(0, 0), 1e-3) << i << " " << j;
    EXPECT_NEAR(found, d * std::cyl_bessel_k(1.0, d), 0.045) << i << " " << j;  // cells of l / 2
  }
  EXPECT_THROW(section_correlation(m, 0, 1), Error);
}

}  // namespace
}  // namespace tessera::inversion
