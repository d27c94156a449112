// SPDX-License-Identifier: Apache-2.0
//
// What averaging is for: the error of the scheme where faces run across the grid, against an exact
// solution, in the frequency domain so that nothing of time stepping is in it. w^2/c^2 is an
// eigenvalue of C^H xi C, with C the curl that takes H to D and xi the inverse permittivity of the
// grid.
//
// The case: layers of eps 12 and 1 (two fifths and three fifths of the period) across a direction n
// that is periodic in the unit square. Their waves with H along the layers obey
//   cos(k_n L) = cos(k_1 d_1) cos(k_2 d_2) - (r + 1/r)/2 sin(k_1 d_1) sin(k_2 d_2),
//   r = k_1 eps_2/(k_2 eps_1).
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/corner_tensors.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/time_domain.h"

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

namespace em = tessera::electromagnetics;
using std::numbers::pi;

namespace {

using Complex = std::complex<double>;
using Sparse = Eigen::SparseMatrix<Complex>;
using Triplets = std::vector<Eigen::Triplet<Complex>>;

constexpr double thick_share = 0.4, eps_layer = 12;
using Phases = std::array<double, 2>;  // of the Bloch wave along x and y, from one side of the
                                       // square to the other
constexpr Phases bloch{1.1 * pi, 0.7 * pi};
const std::vector<em::Medium> media{{}, {.eps = {eps_layer, eps_layer, eps_layer}}};

struct Layers {
  double nx, ny;
  double length() const { return std::hypot(nx, ny); }
  double period() const { return 1 / length(); }

  em::SceneOrder scene(double shift) const {
    em::Scene s;
    for (int m = -8; m <= 8; ++m) {
      const auto on = [&](double d) { return em::Point{d * nx / length(), d * ny / length(), 0}; };
      const double low = (m + shift) * period(), high = low + thick_share * period();
      s.structures.push_back({em::intersect({em::half_space(on(high), {nx, ny, 0}),
                                             em::half_space(on(low), {-nx, -ny, 0})}),
                              1});
    }
    return em::SceneOrder(s);
  }

  /// The lowest wavenumber w/c over all orders of the Bloch wave that the square allows.
  double exact(const Phases& phases = bloch) const {
    double lowest = INFINITY;
    for (int p : {0, -1, 1, -2, 2, -3, 3})  // the search ends where a lower one is known
      for (int q : {0, -1, 1, -2, 2, -3, 3}) {
        const double kx = phases[0] + 2 * pi * p, ky = phases[1] + 2 * pi * q;
        const double kn = (kx * nx + ky * ny) / length(), kt = (ky * nx - kx * ny) / length();
        const auto f = [&](double w) {
          const Complex k1 = std::sqrt(Complex(eps_layer * w * w - kt * kt)),
                        k2 = std::sqrt(Complex(w * w - kt * kt));
          const Complex a = k1 * (thick_share * period()), b = k2 * ((1 - thick_share) * period()),
                        r = k1 / (eps_layer * k2);
          return (std::cos(a) * std::cos(b) - 0.5 * (r + 1.0 / r) * std::sin(a) * std::sin(b))
                     .real() -
                 std::cos(kn * period());
        };
        double low = 0.0103;
        for (double here = f(low), next; low < lowest; low += 0.001, here = next)
          if (next = f(low + 0.001); here * next <= 0) break;
        double high = low + 0.001;
        for (int i = 0; i < 60; ++i) {
          const double middle = (low + high) / 2;
          (f(low) * f(middle) <= 0 ? high : low) = middle;
        }
        lowest = std::min(lowest, low);
      }
    return lowest;
  }
};

/// Indices of an n x n x 1 grid with Bloch phases.
struct Numbering {
  int n;
  Phases phases;
  std::pair<int, Complex> operator()(int i, int j) const {
    Complex factor = 1;
    if (i < 0 || i >= n) factor *= std::polar(1.0, i < 0 ? -phases[0] : phases[0]);
    if (j < 0 || j >= n) factor *= std::polar(1.0, j < 0 ? -phases[1] : phases[1]);
    return {(j + n) % n * n + (i + n) % n, factor};
  }
};

enum class Scheme { corners, nodes, diagonal, volume, none };

em::YeeGrid square(int n) {
  em::YeeGrid grid;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i <= n; ++i) grid.lines[k].push_back(-0.5 + double(i) / n);
  grid.lines[2] = {-0.5, 0.5};
  return grid;
}

/// xi on the edges E_x (first n^2) and E_y.
Triplets inverse_permittivity(const em::SceneOrder& scene, int n, Scheme scheme,
                              const Phases& phases, double largest) {
  const em::YeeGrid grid = square(n);
  const em::Periodic periodic{true, true, false};
  const Numbering at{n, phases};
  const int y = n * n;
  Triplets xi;
  const auto couple = [&](std::pair<int, Complex> a, std::pair<int, Complex> b, double value) {
    xi.emplace_back(a.first, y + b.first, std::conj(a.second) * b.second * value);
    xi.emplace_back(y + b.first, a.first, std::conj(b.second) * a.second * value);
  };
  std::vector<double> diagonal(2 * y);
  const em::Averaging averaging = scheme == Scheme::volume ? em::Averaging::volume
                                  : scheme == Scheme::none ? em::Averaging::none
                                                           : em::Averaging::kottke;
  if (scheme != Scheme::corners)
    for (int e = 0; e < 2 * y; ++e) {
      const em::Edge edge{std::uint8_t(e / y), e % n, e % y / n, 0};
      diagonal[e] = em::edge_material(scene, media, grid, edge, averaging, periodic).inverse_eps;
      xi.emplace_back(e, e, diagonal[e]);
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const std::pair<int, Complex> xs[] = {at(i - 1, j), at(i, j)},
                                    ys[] = {at(i, j - 1), at(i, j)};
      if (scheme == Scheme::corners) {
        const em::NodeCorners c =
            em::node_corners(scene, media, grid, {i, j, 0}, periodic, largest);
        const double edge_volume = 1.0 / (n * n);
        for (int corner = 0; corner < 8; ++corner) {
          const double weight = c.volume[corner] / edge_volume;
          const auto &a = xs[corner & 1], &b = ys[corner >> 1 & 1];
          xi.emplace_back(a.first, a.first, weight * c.inverse_eps[corner][0]);
          xi.emplace_back(y + b.first, y + b.first, weight * c.inverse_eps[corner][1]);
          couple(a, b, weight * c.inverse_eps[corner][3]);
        }
      } else if (scheme == Scheme::nodes) {
        const em::Point least{std::min(diagonal[xs[0].first], diagonal[xs[1].first]),
                              std::min(diagonal[y + ys[0].first], diagonal[y + ys[1].first]), 1};
        const auto x = em::clip_off_diagonals(
            least, em::node_off_diagonals(scene, media, grid, {i, j, 0}, periodic));
        for (const auto& a : xs)
          for (const auto& b : ys) couple(a, b, x[0] / 4);
      }
    }
  return xi;
}

/// Wavenumber w/c of the wave with H_z nearest to `guess`.
double wavenumber(const em::SceneOrder& scene, int n, Scheme scheme, double guess,
                  const Phases& phases = bloch, double largest = INFINITY) {
  const Numbering at{n, phases};
  Triplets curl;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const auto add = [&](int row, std::pair<int, Complex> to, double value) {
        curl.emplace_back(row, to.first, value * n * to.second);
      };
      const int here = j * n + i;
      add(here, at(i, j), 1), add(here, at(i, j - 1), -1);                  // D_x = d H_z/dy
      add(n * n + here, at(i, j), -1), add(n * n + here, at(i - 1, j), 1);  // D_y = -d H_z/dx
    }
  const Triplets terms = inverse_permittivity(scene, n, scheme, phases, largest);
  Sparse c(2 * n * n, n * n), xi(2 * n * n, 2 * n * n), one(n * n, n * n);
  c.setFromTriplets(curl.begin(), curl.end());
  xi.setFromTriplets(terms.begin(), terms.end());
  one.setIdentity();
  const double shift = 0.98 * guess * guess;
  Sparse a = Sparse(c.adjoint()) * xi * c - Complex(shift) * one;
  a.makeCompressed();
  const Eigen::SparseLU<Sparse> lu(a);
  Eigen::VectorXcd v = Eigen::VectorXcd::Ones(n * n);
  for (int i = 0; i < n * n; ++i) v[i] += Complex(std::sin(1.7 * i), std::cos(2.3 * i));
  double value = 0;
  for (int step = 0, still = 0; step < 25 && still < 2; ++step) {
    v.normalize();
    const Eigen::VectorXcd w = lu.solve(v);
    const double before = std::exchange(value, shift + 1 / v.dot(w).real());
    still = std::abs(value - before) <= 1e-14 * value ? still + 1 : 0;
    v = w;
  }
  return std::sqrt(value);
}

/// Mean of |error| relative to the exact wavenumber over three positions of the layers.
struct Errors {
  Layers layers;
  double exact = layers.exact();

  double operator()(int n, Scheme scheme) const {
    double sum = 0;
    for (double shift : {0.137, 0.31, 0.02})
      sum += std::abs(wavenumber(layers.scene(shift), n, scheme, exact) / exact - 1) / 3;
    return sum;
  }
};

}  // namespace

TEST(AveragingOrder, FacesAlongTheGridAreOfSecondOrder) {
  const Errors error{{1, 0}};
  const double coarse = error(16, Scheme::diagonal), fine = error(32, Scheme::diagonal);
  EXPECT_LT(fine, coarse / 2.8);
  EXPECT_LT(5 * fine, error(32, Scheme::none));
  EXPECT_LT(5 * fine, error(32, Scheme::volume));
  // Corners are the same there.
  EXPECT_NEAR(error(16, Scheme::corners), coarse, 1e-9);
}

// Measured at 24 cells, relative: corners 3e-4, 9e-4, 2.4e-3; nodes 3e-3, 9e-3, 1.3e-2; without
// off-diagonals 1.6e-2 to 3.4e-2. Nodes leave an error of first order, which is what the bounds on
// the finer grid hold to.
TEST(AveragingOrder, CornersAreMoreAccurateThanNodesAcrossTheGrid) {
  const struct {
    Layers layers;
    double corners, nodes;  // bounds at 24 cells
  } cases[] = {{{1, 1}, 4.5e-4, 5e-3}, {{1, 2}, 1.2e-3, 1.3e-2}, {{1, 3}, 3e-3, 1.8e-2}};
  for (const auto& c : cases) {
    const Errors error{c.layers};
    const double corners = error(24, Scheme::corners), nodes = error(24, Scheme::nodes),
                 diagonal = error(24, Scheme::diagonal);
    EXPECT_LT(corners, c.corners);
    EXPECT_LT(nodes, c.nodes);
    EXPECT_LT(4 * corners, nodes);
    EXPECT_LT(2 * nodes, diagonal);
    EXPECT_LT(3 * corners, error(24, Scheme::none));
    EXPECT_LT(3 * corners, error(24, Scheme::volume));
  }
  const Errors error{{1, 2}};
  EXPECT_LT(error(48, Scheme::nodes), 6e-3);
  EXPECT_LT(error(48, Scheme::corners), 8e-4);
}

// The couplings of the time steps are those of the operator: a ring-down without phases has the
// same w, by 2 sin(w dt/2)/dt. The limit is what the step allows.
TEST(AveragingOrder, TimeStepsHaveTheEigenvaluesOfTheOperator) {
  const Layers layers{1, 2};
  const em::SceneOrder scene = layers.scene(0.31);
  const em::YeeGrid grid = square(12);
  constexpr em::Faces joined{em::Boundary::periodic, em::Boundary::periodic};
  const std::array<em::Faces, 3> faces{joined, joined, joined};
  const double dt = 0.95 * em::stable_time_step(grid);
  const double largest =
      (1 - 1e-6) * 4 / (std::pow(em::speed_of_light * dt, 2) * em::curl_curl_bound(grid));
  EXPECT_NEAR(largest, 1 / (0.95 * 0.95), 1e-5);
  const struct {
    em::Averaging averaging;
    Scheme scheme;
  } cases[] = {{em::Averaging::corners, Scheme::corners}, {em::Averaging::kottke, Scheme::nodes}};
  for (const auto& c : cases) {
    const double expected = wavenumber(scene, 12, c.scheme, layers.exact({0, 0}), {0, 0}, largest);
    const double f = std::asin(expected * em::speed_of_light * dt / 2) / (pi * dt);
    em::SampleList samples(grid, faces);
    samples.add(em::Hz, {0.13, 0.21, 0});
    const em::Point at{-0.2, 0.07, 0};
    em::TimeDomain run(
        em::yee_model(grid, faces, {}, dt, tessera::Dtype::f64, scene.scene(), media, c.averaging),
        {em::current_source(grid, faces, dt, em::Hz, at, at, 1.0, em::gaussian_pulse(f, 0.3 * f))},
        samples.edges());
    run.advance(static_cast<std::int64_t>(run.sources_end_s() / dt) + 1);
    std::vector<double> signal;
    run.advance(1500, [&](const em::Records& r) {
      for (std::int64_t s = 0; s < r.n_steps; ++s)
        signal.push_back(samples.value(0, r.step(s).data()));
    });
    double nearest = 1;
    for (const auto& m :
         em::harmonic_inversion(std::span<const double>(signal), dt, 0.85 * f, 1.15 * f))
      nearest = std::min(nearest, std::abs(m.frequency_hz / f - 1));
    EXPECT_LT(nearest, 1e-8);
  }
}
