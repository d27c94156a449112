// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of a sparse precision, by Eigen. Beside solving it gives the determinant and
// half a solve, which random draws take.
#pragma once
#include "base/eigen_map.h"
#include "tessera/inversion/sparse_matrix.h"

#include <memory>
#include <vector>

namespace tessera::inversion {

class SparseFactor {
 public:
  /// Of a symmetric matrix with the rows and columns of what is `fixed` (or none) replaced by those
  /// of the identity. Throws tessera::Error, `who` in front, where it is not positive definite.
  SparseFactor(const SparseMatrix& matrix, const std::vector<bool>& fixed, const char* who);
  ~SparseFactor();
  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;
  /// A^-1 right^T, without a copy of right.
  Eigen::MatrixXd solve_transposed(const Eigen::Ref<const Eigen::MatrixXd>& right) const;
  // With A = S S^T, S triangular up to the order of rows:
  Eigen::VectorXd half_solve(const Eigen::VectorXd& x) const;             ///< S^-T x
  Eigen::VectorXd half_solve_transposed(const Eigen::VectorXd& x) const;  ///< S^-1 x
  Eigen::VectorXd half_times(const Eigen::VectorXd& x) const;             ///< S x
  double log_determinant() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A x without copies.
Eigen::VectorXd times(const SparseMatrix& a, const Eigen::VectorXd& x);

}  // namespace tessera::inversion
