// SPDX-License-Identifier: Apache-2.0
#include "learnt/straight_physics.h"

#include "base/eigen_map.h"
#include "base/large_products.h"
#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/through.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace tessera::inversion {
namespace {

using Eigen::MatrixXd;
using Numbers = std::vector<double>;

/// The first n rows and columns.
SparseMatrix corner(const SparseMatrix& a, std::size_t n) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = static_cast<std::size_t>(a.offsets[i]);
         k < static_cast<std::size_t>(a.offsets[i + 1]); ++k)
      if (static_cast<std::size_t>(a.columns[k]) < n)
        entries.push_back({i, static_cast<std::size_t>(a.columns[k]), a.values[k]});
  return sparse(n, n, std::move(entries));
}

/// J / sigma.
MatrixXd weighted_jacobian(const InverseProblem& p, const Numbers& m) {
  const Matrix numbers =
      p.forward.jacobian ? p.forward.jacobian(m) : dense(linearized(p.forward, m));
  MatrixXd j = view(numbers);
  for (std::size_t i = 0; i < p.sigma.size(); ++i)
    j.row(static_cast<Eigen::Index>(i)) /= p.sigma[i];
  return j;
}

LearntModel without_pixels(LearntModel model) {
  model.pixels = sparse(model.cells(), 0, {});
  return model;
}

/// What errors of decoders do to the data: J sum_k W_k e_k, [data, sections].
MatrixXd effects_of(const MatrixXd& j, const LearntModel& model,
                    const std::vector<HeldOut>& held_out) {
  const Index count = held_out[0].errors.dim(0);
  MatrixXd cells = MatrixXd::Zero(j.cols(), count);
  for (std::size_t k = 0; k < held_out.size(); ++k) {
    const Index numbers = model.generators[k].model.count();
    const Tensor errors = reshape(cast(held_out[k].errors, Dtype::f64), {count, numbers});
    for (Index t = 0; t < count; ++t) {
      const Numbers of_one = reshape(slice(errors, 0, t, t + 1), {numbers}).to_vector();
      const Numbers at_cells = model.into[k].times(of_one);
      cells.col(t) += view(at_cells);
    }
  }
  return product(j, cells);
}

/// Codes of all generators, one below the other: [codes, sections].
MatrixXd codes_of(const LearntModel& model, const std::vector<HeldOut>& held_out) {
  const Index count = held_out[0].errors.dim(0);
  MatrixXd out(static_cast<Eigen::Index>(model.n_codes()), count);
  for (std::size_t k = 0; k < held_out.size(); ++k) {
    const Numbers codes = cast(held_out[k].codes, Dtype::f64).to_vector();
    const auto n = static_cast<Eigen::Index>(model.generators[k].codes);
    out.middleRows(static_cast<Eigen::Index>(model.first_code(k) - model.n_pixels()), n) =
        Eigen::Map<const MatrixXd>(codes.data(), n, count);
  }
  return out;
}

/// Orthonormal columns such that j is U U^T j to `part` of its norm: data say few things of cells
/// (N. Halko, P. Martinsson and J. Tropp 2011, doi:10.1137/090771806).
MatrixXd range_of(const MatrixXd& j, double part) {
  const Eigen::Index n = j.rows();
  const MatrixXd g = gram(j);
  MatrixXd samples(n, 0);  // J times random columns, of which there are more in each round
  for (Eigen::Index rank = std::min<Eigen::Index>(n, 128);; rank = std::min(n, 2 * rank)) {
    if (rank == n) return MatrixXd::Identity(n, n);
    const Eigen::Index had = samples.cols();
    MatrixXd random(j.cols(), rank - had);
    for (Eigen::Index k = 0; k < random.size(); ++k)
      random(k) = data::normal({0x72616e6765, 0}, static_cast<std::uint64_t>(had * j.cols() + k));
    samples.conservativeResize(n, rank);
    samples.rightCols(rank - had) = product(j, random);
    const MatrixXd u = Eigen::HouseholderQR<MatrixXd>(product(g, samples)).householderQ() *
                       MatrixXd::Identity(n, rank);
    const double within = u.cwiseProduct(product(g, u)).sum();  // |U^T J|^2
    if (g.trace() - within <= part * part * g.trace()) return u;
  }
}

}  // namespace

StraightPhysics::StraightPhysics(const InverseProblem& problem, const LearntModel& model,
                                 const GaussianPrior& prior, const Numbers& m0) {
  const std::size_t n = problem.data.size(), pixels = model.n_pixels();
  MatrixXd j = weighted_jacobian(problem, m0);
  pixels_mean_.assign(prior.mean.begin(), prior.mean.begin() + static_cast<std::ptrdiff_t>(pixels));
  const Numbers at_m0 = problem.forward.predict(m0);
  Eigen::VectorXd y = view(problem.data) - view(at_m0);
  for (std::size_t i = 0; i < n; ++i) y[static_cast<Eigen::Index>(i)] /= problem.sigma[i];
  y += j * view(m0);
  if (pixels > 0) {
    const Matrix a = from_left(to_matrix(j), linear_map(model.pixels));
    const SparseFactor factor(corner(prior.precision, pixels), {}, "invert_learnt");
    const MatrixXd b = factor.solve_transposed(view(a));  // Q^-1 A^T
    MatrixXd c = lower_product(view(a), b);
    c.diagonal().array() += 1;
    const Eigen::LLT<MatrixXd> llt(c);
    y -= view(a) * view(pixels_mean_);
    llt.matrixL().solveInPlace(y);
    solve_half_in_place(llt, j);
    pixels_of_residual_ = times_inverse_half(b, llt);
  }
  // What is left of the data is the same for all codes.
  const MatrixXd u = range_of(j, 1e-4);
  const Eigen::VectorXd within = u.transpose() * y;
  if (pixels > 0) {
    view(pixels_mean_) += pixels_of_residual_ * (y - u * within);
    pixels_of_residual_ = product(pixels_of_residual_, u);
  }
  ForwardMap straight{.n_parameters = m0.size(), .n_data = static_cast<std::size_t>(u.cols())};
  auto numbers = std::make_shared<const Matrix>(to_matrix(product(u.transpose(), j)));
  straight.predict = [numbers](const Numbers& m) { return to_vector(view(*numbers) * view(m)); };
  straight.jacobian = [numbers](const Numbers&) { return *numbers; };
  const LearntModel codes = without_pixels(model);
  codes_ = {.forward = through(std::move(straight), codes.map()),
            .data = to_vector(within),
            .sigma = Numbers(static_cast<std::size_t>(u.cols()), 1.0)};
  prior_ = codes.prior({});
}

Numbers StraightPhysics::minimum_from(const Numbers& x) const {
  return searched(codes_, prior_, x);
}

Numbers StraightPhysics::draw_from(const Numbers& x, data::RandomKey key) const {
  InverseProblem codes = codes_;
  GaussianPrior prior = prior_;
  std::uint64_t counter = 0;
  for (double& v : codes.data) v += data::normal(key, counter++);
  for (double& v : prior.mean) v += data::normal(key, counter++);
  return searched(codes, prior, x);
}

Numbers StraightPhysics::searched(const InverseProblem& codes, const GaussianPrior& prior,
                                  const Numbers& x) const {
  const auto first = static_cast<std::ptrdiff_t>(pixels_mean_.size());
  const GaussNewtonResult r = gauss_newton(codes, prior, {x.begin() + first, x.end()},
                                           {.max_iterations = 25, .tolerance = 0.1});
  Numbers out = pixels_mean_;
  if (!out.empty()) {
    Numbers residual = codes_.data;
    view(residual) -= view(r.predicted);
    view(out) += pixels_of_residual_ * view(residual);
  }
  out.insert(out.end(), r.m.begin(), r.m.end());
  return out;
}

std::vector<ExpectedCost> expected_costs(const InverseProblem& problem, const LearntModel& model,
                                         const GaussianPrior& prior, const Numbers& x,
                                         const std::vector<HeldOut>& held_out) {
  const std::size_t pixels = model.n_pixels();
  if (held_out.empty()) return {};
  if (model.decoder_part.size() != pixels)
    throw Error("[invert_learnt] decoder_part is one number of each pixel");
  const double n = static_cast<double>(problem.data.size());
  // Another loss than squares is, of errors that are normal, one of w r^2.
  const double w = problem.loss.expected();
  const MatrixXd j = std::sqrt(w) * weighted_jacobian(problem, model.map().predict(x));
  const LearntModel codes = without_pixels(model);
  const Matrix k = from_left(
      to_matrix(j),
      linearized(codes.map(), {x.begin() + static_cast<std::ptrdiff_t>(pixels), x.end()}));
  const MatrixXd one = MatrixXd::Identity(j.rows(), j.rows());
  MatrixXd g = w * one, v = one + view(k) * view(k).transpose();
  if (pixels > 0) {
    Matrix a = from_left(to_matrix(j), linear_map(model.pixels));
    const SparseFactor factor(corner(prior.precision, pixels), {}, "invert_learnt");
    MatrixXd all = lower_product(view(a), factor.solve_transposed(view(a)));
    mirror(all);
    v += all;
    // Errors of held-out sections stand for what decoders are wrong by; the rest is as free as it
    // is.
    view(a).array().rowwise() *=
        (1.0 - view(model.decoder_part).transpose().array()).max(0.0).sqrt();
    MatrixXd of_rest = lower_product(view(a), factor.solve_transposed(view(a)));
    mirror(of_rest);
    g += of_rest;
  }
  const Eigen::LLT<MatrixXd> llt(v);
  const MatrixXd of_g = solution(llt, g),  // V^-1 G
      d = effects_of(j, model, held_out) + view(k) * codes_of(model, held_out),
                 weighed = solution(llt, d), g_weighed = product(g, weighed);
  const double mean = of_g.trace(), square = of_g.cwiseProduct(of_g.transpose()).sum();
  std::vector<ExpectedCost> out;
  for (Eigen::Index t = 0; t < d.cols(); ++t)
    out.push_back({(mean + d.col(t).dot(weighed.col(t))) / n,
                   2 * (square + 2 * weighed.col(t).dot(g_weighed.col(t))) / (n * n)});
  return out;
}

}  // namespace tessera::inversion
