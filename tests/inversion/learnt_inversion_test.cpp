// SPDX-License-Identifier: Apache-2.0
//
// Inversions with a generator that is known: of a layered earth, on earths that it makes and on
// some that it does not.
#include "tessera/inversion/learnt_inversion.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/through.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
constexpr std::size_t n_layers = 12;

/// log10 rho = 2 + 0.8 z_0 + a step of z_1 below a depth that z_2 moves.
Tensor step_of(const Tensor& z) {
  const Tensor a = slice(z, 0, 0, 1), b = slice(z, 0, 1, 2), c = slice(z, 0, 2, 3);
  const Tensor at = arange(n_layers, Dtype::f64);
  return 2.0 + 0.8 * a + b / (1.0 + exp(-2.0 * (at - 6.0 - 1.5 * c)));
}
Generator steps() {
  return {3,
          {n_layers},
          step_of,
          [](const Tensor& z) { return -0.5 * sum(square(z)); },
          // Its codes of a model, but for the place of the step.
          [](const Tensor& m) {
            const Tensor top = slice(m, 0, 0, 1), bottom = slice(m, 0, 11, 12);
            return concatenate({(top - 2.0) / 0.8, bottom - top, zeros({1})}, 0);
          }};
}

struct SteppedEarth {
  InverseProblem problem;
  LearntModel model;
  GaussianPrior prior;
};
/// Data of 5 % of an earth; pixels are what the generator is wrong by, 0.02 decades.
SteppedEarth stepped_earth(const Numbers& ln_rho, std::uint64_t seed) {
  SteppedEarth e;
  Numbers thickness, frequency, at;
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n_layers; ++k) {
    if (k + 1 < n_layers) thickness.push_back(30 * std::pow(1.5, static_cast<double>(k)));
    points.at.push_back(static_cast<double>(k) + 0.5);
    points.cell.push_back(k);
  }
  for (int k = 0; k < 20; ++k) frequency.push_back(std::pow(10.0, 3.5 - 0.25 * k));
  e.problem.forward = layered_forward(frequency, thickness);
  e.problem.data = e.problem.forward.predict(ln_rho);
  for (std::size_t i = 0; i < e.problem.data.size(); ++i) {
    const std::size_t pair = i - i % 2;
    const double s = 0.05 * std::hypot(e.problem.data[pair], e.problem.data[pair + 1]);
    e.problem.sigma.push_back(s);
  }
  for (std::size_t i = 0; i < e.problem.data.size(); ++i)
    e.problem.data[i] += e.problem.sigma[i] * data::normal({seed, 0}, i);
  e.model = learnt_model({steps()}, {{.bounds = {{0, n_layers}}}}, points, Numbers(n_layers, 0.0),
                         sparse_diagonal(Numbers(n_layers, 1.0)));
  e.prior =
      e.model.prior({Numbers(n_layers, 0.0),
                     sparse_diagonal(Numbers(n_layers, std::pow(0.02 * std::numbers::ln10, -2)))});
  return e;
}
Numbers ln_of(const Numbers& z) {
  Numbers m = step_of(tensor(z)).to_vector();
  for (double& v : m) v *= std::numbers::ln10;
  return m;
}
PriorCalibration of_normal_codes() {
  Numbers norms, errors;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    double sum = 0;
    for (std::uint64_t j = 0; j < 3; ++j) sum += std::pow(data::normal({8, 0}, 3 * k + j), 2) / 3;
    norms.push_back(sum);
    errors.push_back(0.02);
  }
  return calibration_of(norms, errors, full({n_layers}, 0.02));
}

TEST(LearntInversion, FindsAnEarthOfItsKind) {
  const Numbers truth{0.7, -1.4, 0.4};
  const SteppedEarth e = stepped_earth(ln_of(truth), 3);
  const Numbers smooth(n_layers, std::log(100.0));
  const LearntResult r = invert_learnt(e.problem, e.model, e.prior, smooth, {.draws = 3});
  EXPECT_EQ(r.reason, Reason::converged);
  ASSERT_EQ(r.starts.size(), 5u);
  EXPECT_EQ(r.starts[0].name, "zero");
  EXPECT_EQ(r.starts[1].name, "smooth");
  EXPECT_EQ(r.starts[4].name, "draw 3");
  for (const LearntStart& s : r.starts) EXPECT_GE(s.objective, r.starts[r.start].objective);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(r.m[n_layers + k], truth[k], 0.25) << k;
  EXPECT_NEAR(r.rms, 1, 0.25);
  // The parts of the objective are what they are said to be.
  EXPECT_NEAR(r.objective, r.misfit + r.codes_cost + r.pixels_cost, 1e-9 * r.objective);
  double z2 = 0, p2 = 0, difference = 0;
  for (std::size_t k = 0; k < 3; ++k) z2 += r.m[n_layers + k] * r.m[n_layers + k];
  for (std::size_t k = 0; k < n_layers; ++k) {
    p2 += std::pow(r.m[k] / (0.02 * std::numbers::ln10), 2);
    difference += std::pow((r.cells[k] - smooth[k]) / std::numbers::ln10, 2) / n_layers;
  }
  EXPECT_NEAR(r.codes_cost, z2, 1e-12);
  EXPECT_NEAR(r.pixels_cost, p2, 1e-9);
  EXPECT_NEAR(r.code_norm[0], z2 / 3, 1e-12);
  EXPECT_NEAR(r.from_smooth, std::sqrt(difference), 1e-12);
  EXPECT_TRUE(doubts_of(r, of_normal_codes()).empty());
  EXPECT_TRUE(std::isnan(invert_learnt(e.problem, e.model, e.prior, {}).from_smooth));
}

// Under the right prior one earth in a hundred or so is doubted for what it costs, and as many for
// their codes; 40 are drawn.
TEST(LearntInversion, FewOfItsKindAreDoubtedAndMostOfAnother) {
  const PriorCalibration calibration = of_normal_codes();
  int own = 0, other = 0;
  double cost = 0;
  for (std::uint64_t k = 0; k < 40; ++k) {
    Numbers z(3);
    for (std::size_t j = 0; j < 3; ++j) z[j] = data::normal({12, k}, j);
    Numbers m = ln_of(z);
    for (std::size_t c = 0; c < n_layers; ++c)
      m[c] += 0.02 * std::numbers::ln10 * data::normal({13, k}, c);
    const SteppedEarth e = stepped_earth(m, 100 + k);
    const LearntResult r = invert_learnt(e.problem, e.model, e.prior, {});
    own += !doubts_of(r, calibration).empty();
    cost += r.objective / static_cast<double>(r.n_data) / 40;
    // A conductor between resistors, which no step is.
    for (std::size_t c = 0; c < n_layers; ++c) m[c] = std::log(c > 3 && c < 7 ? 3.0 : 300.0);
    const SteppedEarth wrong = stepped_earth(m, 200 + k);
    other +=
        !doubts_of(invert_learnt(wrong.problem, wrong.model, wrong.prior, {}), calibration).empty();
  }
  EXPECT_NEAR(cost, 1, 0.12);  // chi-squared of 40 data: 0.22 each, 0.035 of 40
  EXPECT_LE(own, 3);
  EXPECT_EQ(other, 40);
}

/// What a result must cost a datum to be doubted.
double bound_of(LearntResult r, const PriorCalibration& calibration) {
  double low = 0, high = 10;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    r.objective = middle * static_cast<double>(r.n_data);
    (doubts_of(r, calibration).empty() ? low : high) = middle;
  }
  return high;
}

// Of 1000 data, whose variance is by nine tenths that of pixels in 200 directions, for sections
// that the decoder is wrong by more or less: the logarithm of it scatters by 0.4.
TEST(LearntInversion, OneInAHundredIsDoubtedWhereErrorsDifferFromSectionToSection) {
  constexpr std::size_t n = 1000, of_pixels = 200;
  constexpr double part = 0.9;
  LearntResult r;
  r.n_data = n, r.code_norm = {0};
  r.pixels_variance = part * of_pixels / n, r.pixels_variance_square = part * part * of_pixels / n;
  const Numbers norms(1000, 1.0);
  EXPECT_NEAR(bound_of(r, calibration_of(norms, Numbers(1000, 0.1), full({4}, 0.1))), 1.10697,
              1e-4);  // chi-squared's table
  Numbers errors;
  double pooled = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    errors.push_back(0.1 * std::exp(0.4 * data::normal({22, 0}, k)));
    pooled += std::pow(errors.back(), 2) / 1000;
  }
  pooled = std::sqrt(pooled);
  const double bound = bound_of(r, calibration_of(norms, errors, full({4}, pooled)));
  int above = 0;
  constexpr int drawn = 10000;
  for (std::uint64_t k = 0; k < drawn; ++k) {
    const double s2 = std::pow(errors[k % 1000] / pooled, 2);
    double cost = 0;
    for (std::size_t i = 0; i < n; ++i)
      cost += (i < of_pixels ? 1 + (s2 - 1) * part : 1) * std::pow(data::normal({21, k}, i), 2) / n;
    above += cost > bound;
  }
  // One in a hundred, to what 10,000 draws and quantiles of nine steps say.
  EXPECT_GT(above, 0.006 * drawn);
  EXPECT_LT(above, 0.016 * drawn);
}

// Where physics and decoder are linear the draws' mean is the minimum, and pixels' share is what
// dense matrices say.
TEST(LearntInversion, TheMeanOfDrawsIsTheMinimumWhereAllIsLinear) {
  const std::size_t n = 6;
  Generator g{2,
              {6},
              [](const Tensor& z) {
                return matmul(
                    tensor(Numbers{1, 0.2, 0.5, -1, 0.3, 0.8, 1, 1, -0.4, 0.1, 0.6, 0.2}, {6, 2}),
                    z);
              },
              [](const Tensor& z) { return -0.5 * sum(square(z)); }};
  CellPoints points{.axes = 1};
  for (std::size_t k = 0; k < n; ++k)
    points.at.push_back(static_cast<double>(k) + 0.5), points.cell.push_back(k);
  const LearntModel model = learnt_model({g}, {{.bounds = {{0, 6}}}}, points, Numbers(n, 0.0),
                                         sparse_diagonal(Numbers(n, 1.0)));
  const GaussianPrior prior = model.prior({Numbers(n, 0.0), sparse_diagonal(Numbers(n, 1 / 0.09))});
  InverseProblem p;
  p.forward = engine_map(n, [](const Tensor& m) {
    return matmul(reshape(sin(arange(24, Dtype::f64)), {4, 6}), m);
  });
  p.data = {1, -2, 0.5, 3}, p.sigma = {0.5, 0.4, 0.6, 0.5};
  const LearntResult r = invert_learnt(p, model, prior, {}, {.posterior_draws = 2000});
  EXPECT_EQ(r.reason, Reason::converged);
  const Matrix j =
      p.forward.jacobian ? p.forward.jacobian(r.cells) : dense(linearized(p.forward, r.cells));
  const Matrix k = dense(linearized(model.map(), r.m));
  Eigen::MatrixXd a(4, 6), d(6, 8);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < 6; ++c) a(Eigen::Index(i), Eigen::Index(c)) = j(i, c) / p.sigma[i];
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < 8; ++c) d(Eigen::Index(i), Eigen::Index(c)) = k(i, c);
  const Eigen::MatrixXd codes = a * d.rightCols(2), b = 0.09 * a * a.transpose();
  const Eigen::MatrixXd v = Eigen::MatrixXd::Identity(4, 4) + b + codes * codes.transpose(),
                        part = v.inverse() * b;
  EXPECT_NEAR(r.pixels_variance, part.trace() / 4, 1e-10);
  EXPECT_NEAR(r.pixels_variance_square, (part * part).trace() / 4, 1e-10);
  // Codes' covariance given data, pixels integrated out; of cells: what their draws scatter by.
  const Eigen::MatrixXd h =
      (Eigen::MatrixXd::Identity(2, 2) +
       codes.transpose() * (Eigen::MatrixXd::Identity(4, 4) + b).inverse() * codes)
          .inverse();
  for (std::size_t c = 0; c < n; ++c) {
    const double sd = std::sqrt(
        (d.rightCols(2) * h * d.rightCols(2).transpose())(Eigen::Index(c), Eigen::Index(c)));
    EXPECT_NEAR(r.mean[c], r.cells[c], 4 * sd / std::sqrt(2000.0) + 1e-6);
  }
  EXPECT_NEAR(r.mean_rms, r.rms, 0.1);
}

TEST(PriorCalibration, ErrorsAreAsLongAsTheirMeansSay) {
  for (const double length : {0.3, 0.75, 2.0}) {
    double sum = 0;
    for (int a = 0; a < 16; ++a)
      for (int b = 0; b < 16; ++b) {
        const double d = std::hypot(a / 4 - b / 4, a % 4 - b % 4) / length;
        sum += (a == b ? 1 : d * std::cyl_bessel_k(1.0, d)) / 256;
      }
    EXPECT_NEAR(error_length_of(sum), length, 1e-6);
  }
  EXPECT_NEAR(error_length_of(1.0 / 16), 0.1, 1e-6);  // at most as fine as cells
}

TEST(PriorCalibration, QuantilesOfWhatSectionsShow) {
  Numbers norms, errors;
  for (int k = 0; k <= 100; ++k)
    norms.push_back(0.01 * ((37 * k) % 101)), errors.push_back(2.0 * k);
  const PriorCalibration c = calibration_of(norms, errors, zeros({2, 3}));
  for (const double p : {0.0, 0.05, 0.3, 0.5, 0.97, 1.0}) {
    EXPECT_NEAR(c.norm_at(p), p, 1e-12);  // evenly spread: linear between those kept
    EXPECT_NEAR(c.error_at(p), 200 * p, 1e-9);
  }
  EXPECT_EQ(calibration_of({3}, {4}, {}).norm_at(0.9), 3);
  EXPECT_THROW(calibration_of({}, {}, {}), Error);
  EXPECT_THROW(calibration_of({1}, {1, 2}, {}), Error);
  EXPECT_THROW(PriorCalibration{}.norm_at(0.5), Error);
}

TEST(PriorCalibration, CorrelationsStayWhenStandardDeviationsChange) {
  Matrix q(3, 3);
  q.values = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
  const Numbers wanted{0.1, 2, 0.7};
  const GaussianPrior before{{1, 2, 3}, sparse(q)},
      after = with_standard_deviations(before, wanted);
  EXPECT_EQ(after.mean, before.mean);
  // Covariances by the dense posterior of a datum that says nothing.
  const auto covariance = [](const GaussianPrior& p) {
    InverseProblem none;
    none.forward = engine_map(3, [](const Tensor& x) { return slice(x, 0, 0, 1); });
    none.data = {0}, none.sigma = {1e12};
    const auto post = low_rank_laplace(none, p, p.mean);
    Matrix c(3, 3);
    for (std::size_t k = 0; k < 3; ++k) {
      Numbers unit(3, 0.0);
      unit[k] = 1;
      const Numbers column = post.covariance_times(unit);
      for (std::size_t i = 0; i < 3; ++i) c(i, k) = column[i];
    }
    return c;
  };
  const Matrix a = covariance(before), b = covariance(after);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::sqrt(b(i, i)), wanted[i], 1e-12);
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(b(i, j) / std::sqrt(b(i, i) * b(j, j)), a(i, j) / std::sqrt(a(i, i) * a(j, j)),
                  1e-12);
  }
  EXPECT_THROW(with_standard_deviations(before, {1, 2}), Error);
  EXPECT_THROW(with_standard_deviations(before, {1, 0, 2}), Error);
}

}  // namespace
}  // namespace tessera::inversion
