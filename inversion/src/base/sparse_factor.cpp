// SPDX-License-Identifier: Apache-2.0
#include "base/sparse_factor.h"

#include "base/blocks.h"
#include "tessera/autodiff/error.h"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace tessera::inversion {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

Sparse with_identity(const SparseMatrix& a, const std::vector<bool>& fixed, std::int64_t& width) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(a.values.size());
  const auto is_fixed = [&](std::size_t k) { return !fixed.empty() && fixed[k]; };
  width = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    if (is_fixed(i)) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(i), 1.0);
      continue;
    }
    for (auto k = static_cast<std::size_t>(a.offsets[i]);
         k < static_cast<std::size_t>(a.offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(a.columns[k]);
      if (j > i || is_fixed(j)) continue;  // the lower half is read
      entries.emplace_back(static_cast<int>(i), static_cast<int>(j), a.values[k]);
      width = std::max(width, static_cast<std::int64_t>(i - j));
    }
  }
  Sparse out(static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

constexpr int side_by_side = 16;
/// A row of it lies in one piece, so that an entry of the factor meets all columns at once.
using SideBySide = Eigen::Matrix<double, Eigen::Dynamic, side_by_side, Eigen::RowMajor>;

/// x <- (L L^T)^-1 x, L by columns, each from its diagonal on.
void substitute(const Sparse& lower, SideBySide& x) {
  const int *begin = lower.outerIndexPtr(), *row = lower.innerIndexPtr();
  const double* l = lower.valuePtr();
  for (Eigen::Index j = 0; j < x.rows(); ++j) {
    const Eigen::Matrix<double, 1, side_by_side> xj = x.row(j) / l[begin[j]];
    x.row(j) = xj;
    for (int k = begin[j] + 1; k < begin[j + 1]; ++k) x.row(row[k]) -= l[k] * xj;
  }
  for (Eigen::Index j = x.rows() - 1; j >= 0; --j) {
    Eigen::Matrix<double, 1, side_by_side> xj = x.row(j);
    for (int k = begin[j] + 1; k < begin[j + 1]; ++k) xj -= l[k] * x.row(row[k]);
    x.row(j) = xj / l[begin[j]];
  }
}

}  // namespace

struct SparseFactor::Impl {
  // A narrow band fills nowhere as it stands; others are put in order first.
  bool band = true;
  Eigen::SimplicialLLT<Sparse, Eigen::Lower, Eigen::NaturalOrdering<int>> as_it_stands;
  Eigen::SimplicialLLT<Sparse, Eigen::Lower, Eigen::AMDOrdering<int>> in_order;

  Eigen::VectorXd solve_one(const Eigen::VectorXd& right) const {
    if (band) return as_it_stands.solve(right);
    return in_order.solve(right);
  }
  /// At most `side_by_side` columns.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const {
    SideBySide x = SideBySide::Zero(right.rows(), side_by_side);
    if (band) {
      x.leftCols(right.cols()) = right;
      substitute(as_it_stands.matrixL().nestedExpression(), x);
      return x.leftCols(right.cols());
    }
    x.leftCols(right.cols()) = in_order.permutationP() * right;
    substitute(in_order.matrixL().nestedExpression(), x);
    return in_order.permutationPinv() * x.leftCols(right.cols());
  }
};

SparseFactor::SparseFactor(const SparseMatrix& matrix, const std::vector<bool>& fixed,
                           const char* who)
    : impl_(std::make_unique<Impl>()) {
  std::int64_t width = 0;
  const Sparse a = with_identity(matrix, fixed, width);
  impl_->band = width <= 8;
  Eigen::ComputationInfo info = Eigen::Success;
  if (impl_->band) {
    impl_->as_it_stands.compute(a);
    info = impl_->as_it_stands.info();
  } else {
    impl_->in_order.compute(a);
    info = impl_->in_order.info();
  }
  if (info != Eigen::Success)
    throw Error("[" + std::string(who) + "] the prior's precision is not positive definite");
}
SparseFactor::~SparseFactor() = default;

Eigen::MatrixXd SparseFactor::solve(const Eigen::MatrixXd& right) const {
  if (right.cols() == 1) return impl_->solve_one(right.col(0));
  Eigen::MatrixXd out(right.rows(), right.cols());
  in_blocks_of<side_by_side>(right.cols(), [&](Eigen::Index first, Eigen::Index count) {
    out.middleCols(first, count) = impl_->solve(right.middleCols(first, count));
  });
  return out;
}

Eigen::MatrixXd SparseFactor::solve_transposed(
    const Eigen::Ref<const Eigen::MatrixXd>& right) const {
  Eigen::MatrixXd out(right.cols(), right.rows());
  in_blocks_of<side_by_side>(right.rows(), [&](Eigen::Index first, Eigen::Index count) {
    out.middleCols(first, count) = impl_->solve(right.middleRows(first, count).transpose());
  });
  return out;
}

Eigen::VectorXd SparseFactor::half_solve(const Eigen::VectorXd& x) const {
  if (impl_->band) return impl_->as_it_stands.matrixU().solve(x);
  const Eigen::VectorXd y = impl_->in_order.matrixU().solve(x);
  return impl_->in_order.permutationPinv() * y;
}

Eigen::VectorXd SparseFactor::half_solve_transposed(const Eigen::VectorXd& x) const {
  if (impl_->band) return impl_->as_it_stands.matrixL().solve(x);
  const Eigen::VectorXd y = impl_->in_order.permutationP() * x;
  return impl_->in_order.matrixL().solve(y);
}

Eigen::VectorXd SparseFactor::half_times(const Eigen::VectorXd& x) const {
  if (impl_->band) return impl_->as_it_stands.matrixL().nestedExpression() * x;
  const Eigen::VectorXd y = impl_->in_order.matrixL().nestedExpression() * x;
  return impl_->in_order.permutationPinv() * y;
}

double SparseFactor::log_determinant() const {
  const Sparse& l = impl_->band ? impl_->as_it_stands.matrixL().nestedExpression()
                                : impl_->in_order.matrixL().nestedExpression();
  return 2 * l.diagonal().array().log().sum();
}

Eigen::VectorXd times(const SparseMatrix& a, const Eigen::VectorXd& x) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(a.rows));
  for (std::size_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(a.offsets[i]);
         k < static_cast<std::size_t>(a.offsets[i + 1]); ++k)
      sum += a.values[k] * x[a.columns[k]];
    out[static_cast<Eigen::Index>(i)] = sum;
  }
  return out;
}

}  // namespace tessera::inversion
