// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/matrix_functions.h"

#include <Eigen/Core>

namespace tessera::electromagnetics {
/// Eigenvalues of a small dense matrix [n,n] of finite elements, in no order: those of its
/// transpose, as Eigen keeps columns.
inline Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& m) {
  const std::vector<c128> values =
      eigvals(
          from_span<double>({m.data(), static_cast<std::size_t>(m.size())}, {m.rows(), m.cols()}))
          .to_vector<c128>();
  return Eigen::Map<const Eigen::VectorXcd>(values.data(), m.rows());
}
}  // namespace tessera::electromagnetics
