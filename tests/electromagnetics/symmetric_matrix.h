// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/linalg.h"
#include "tessera/electromagnetics/averaging.h"

#include <Eigen/Dense>

#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// A symmetric tensor, (xx, yy, zz, xy, xz, yz), as a full matrix.
inline Eigen::Matrix3d matrix(const SymmetricTensor& t) {
  Eigen::Matrix3d m;
  m << t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2];
  return m;
}

/// Its eigenvalues, the least first, by LAPACK.
inline std::vector<double> eigenvalues(const SymmetricTensor& t) {
  const Eigen::Matrix3d m = matrix(t);
  return eigh(from_span(std::span<const double>(m.data(), 9), {3, 3})).values.to_vector();
}

}  // namespace tessera::electromagnetics
