// SPDX-License-Identifier: Apache-2.0
// min |A x - b| subject to G x >= h. With A = Q R and y = R x - Q^T b it is the point nearest to
// the origin under G R^-1 y >= h - G R^-1 Q^T b, whose dual is a nonnegative least-squares problem.
#include "passive_residues.h"

#include "gain_frequencies.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_gain.h"
#include "tessera/solvers/nnls.h"

#include <Eigen/Dense>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kRidge = 1e-14;  // keeps R regular where two poles fall together
constexpr int kMostRounds = 40;

/// The least-squares problem in triangular form; x is kept in units of the columns' lengths.
class Fit {
 public:
  Fit(const FitSamples& samples, const Poles& poles, const ResidueOptions& options)
      : poles_(poles), options_(options), n_(basis_size(poles, false)) {
    const auto k = static_cast<Index>(samples.s.size());
    const Index columns = n_ + 1 + options.conducting;
    MatrixXd a(2 * k + columns, columns);
    VectorXd b = VectorXd::Zero(2 * k + columns);
    for (Index row = 0; row < k; ++row) {
      const auto i = static_cast<std::size_t>(row);
      const Eigen::RowVectorXcd r = samples.weight[i] * row_at(samples.s[i]);
      a.row(row) = r.real();
      a.row(k + row) = r.imag();
      b[row] = samples.weight[i] * samples.value[i].real();
      b[k + row] = samples.weight[i] * samples.value[i].imag();
    }
    length_ = a.topRows(2 * k).colwise().norm().transpose().cwiseMax(1e-300);
    a.topRows(2 * k) = a.topRows(2 * k) * length_.cwiseInverse().asDiagonal();
    a.bottomRows(columns) = kRidge * MatrixXd::Identity(columns, columns);
    const Eigen::HouseholderQR<MatrixXd> qr(a);
    r_ = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
    f_ = (qr.householderQ().transpose() * b).head(columns);
  }

  VectorXd free() const { return unscaled(VectorXd::Zero(f_.size())); }

  /// Values of all basis functions at s, then 1, then 1/s.
  Eigen::RowVectorXcd row_at(Complex s) const {
    Eigen::RowVectorXcd row(n_ + 1 + options_.conducting);
    Index at = 0;
    for_each_basis(poles_, s, false, [&](Complex phi) { row[at++] = phi; });
    row[at++] = 1.0;
    if (options_.conducting) row[at] = 1.0 / s;
    return row;
  }

  /// The constrained minimum; empty if there is none.
  VectorXd under(const MatrixXd& g, const VectorXd& h) const {
    const MatrixXd scaled = g * length_.cwiseInverse().asDiagonal();
    const MatrixXd gt =
        r_.transpose().triangularView<Eigen::Lower>().solve(scaled.transpose()).transpose();
    const VectorXd ht = h - gt * f_;
    const Index n = f_.size();
    MatrixXd e(n + 1, g.rows());
    for (Index k = 0; k < g.rows(); ++k) {
      e.col(k).head(n) = gt.row(k).transpose();
      e(n, k) = ht[k];
      e.col(k) /= std::max(e.col(k).norm(), 1e-300);
    }
    if (!e.allFinite()) return {};  // two poles too close to tell apart
    VectorXd target = VectorXd::Zero(n + 1);
    target[n] = 1;
    const auto result =
        solvers::nnls({e.data(), static_cast<std::size_t>(e.size())},
                      {target.data(), static_cast<std::size_t>(target.size())}, 1e-15);
    const double last = result.residual[static_cast<std::size_t>(n)];  // 1/(1 + |y|^2)
    if (!(last > 1e-14)) return {};
    VectorXd y(n);
    for (Index k = 0; k < n; ++k) y[k] = -result.residual[static_cast<std::size_t>(k)] / last;
    return unscaled(y);
  }

  /// x as terms in SI.
  ResidueFit terms(const VectorXd& x) const {
    ResidueFit fit;
    Index at = 0;
    for (const Complex& a : poles_) {
      Complex c;
      if (!is_pair(a)) {
        c = x[at++];
      } else {
        if (!is_lossless(a)) c = x[at++];
        c += Complex(0, x[at++]);
      }
      if (c != 0.0) fit.poles.push_back({a * options_.scale, c * options_.scale});
    }
    fit.eps_inf = x[at++];
    if (options_.conducting) fit.sigma = x[at] * options_.scale * vacuum_permittivity;
    return fit;
  }

  const Poles& poles() const { return poles_; }
  Index background() const { return n_; }

 private:
  VectorXd unscaled(const VectorXd& y) const {
    return r_.triangularView<Eigen::Upper>().solve(y + f_).cwiseQuotient(length_);
  }

  Poles poles_;
  ResidueOptions options_;
  Index n_;
  VectorXd length_, f_;
  MatrixXd r_;
};

/// Rows of G x >= h, grown as they are found wanting.
class Constraints {
 public:
  Constraints(const Fit& fit, const ResidueOptions& options, Index columns)
      : fit_(&fit), scale_(options.scale), columns_(columns) {
    add(RowVectorXd::Unit(columns, fit.background()), options.least_eps_inf);
    if (options.conducting) add(RowVectorXd::Unit(columns, columns - 1), 0);
    RowVectorXd far = RowVectorXd::Zero(columns);  // -w Im eps at w to infinity: sum of 2 Re c
    Index at = 0;
    for (const Complex& a : fit.poles()) {
      if (!is_pair(a)) {
        far[at++] = 1;
      } else if (is_lossless(a)) {
        add(-RowVectorXd::Unit(columns, at++), 0);  // Im c <= 0: a strength >= 0
      } else {
        far[at] = 2;
        at += 2;
      }
    }
    if (options.conducting) far[columns - 1] = 1;
    if (far.any()) add(far, 0);
  }

  /// -Im eps(f) >= floor.
  void add_loss(double f_hz, double floor) {
    const Complex s(0, 2 * std::numbers::pi * f_hz / scale_);
    const RowVectorXd row = -fit_->row_at(s).imag();
    if (row.any()) add(row, floor);
  }

  VectorXd solve() const {
    MatrixXd g(static_cast<Index>(rows_.size()), columns_);
    for (std::size_t k = 0; k < rows_.size(); ++k) g.row(static_cast<Index>(k)) = rows_[k];
    return fit_->under(g, Eigen::Map<const VectorXd>(h_.data(), static_cast<Index>(h_.size())));
  }

 private:
  void add(const RowVectorXd& row, double h) {
    rows_.push_back(row);
    h_.push_back(h);
  }
  const Fit* fit_;
  double scale_;
  Index columns_;
  std::vector<RowVectorXd> rows_;
  std::vector<double> h_;
};

Medium medium_of(const ResidueFit& fit) {
  return {.eps = {fit.eps_inf, fit.eps_inf, fit.eps_inf},
          .sigma = {fit.sigma, fit.sigma, fit.sigma},
          .poles = fit.poles};
}

}  // namespace

ResidueFit fit_residues(const FitSamples& samples, const Poles& poles,
                        const ResidueOptions& options) {
  const Fit fit(samples, poles, options);
  const VectorXd x = fit.free();
  ResidueFit result = fit.terms(x);
  // A background that is the least one but for rounding is the least one.
  const double least = options.least_eps_inf;
  if (result.eps_inf < least && result.eps_inf > least - 1e-12 * std::abs(least))
    result.eps_inf = least;
  result.passive = largest_gain(medium_of(result)).passive;
  if (result.eps_inf >= least && (!options.passive || (result.sigma >= 0 && result.passive)))
    return result;

  Constraints constraints(fit, options, x.size());
  if (options.passive)
    for (double f : gain_frequencies(result.poles, 0, 0)) constraints.add_loss(f, 0);
  for (int round = 0; round < kMostRounds; ++round) {
    const VectorXd held = constraints.solve();
    if (held.size() == 0 || !held.allFinite()) break;
    ResidueFit next = fit.terms(held);
    const GainReport gain = largest_gain(medium_of(next));
    next.passive = gain.passive;
    next.constrained = true;
    result = next;
    if (!options.passive || gain.passive) break;
    // A floor a little above the rounding of the terms there, larger the longer it takes.
    const double size = size_of_terms(next.poles, gain.f_hz) +
                        next.sigma / (2 * std::numbers::pi * gain.f_hz * vacuum_permittivity);
    constraints.add_loss(gain.f_hz, 1e-12 * std::exp2(round) * size);
  }
  // The constraints hold up to the rounding of the solution.
  result.eps_inf = std::max(result.eps_inf, options.least_eps_inf);
  result.sigma = std::max(result.sigma, 0.0);
  return result;
}

}  // namespace tessera::electromagnetics
