// SPDX-License-Identifier: Apache-2.0
// Views of our plain vectors and matrices as Eigen's, for the sources of this module only.
#pragma once
#include "tessera/inversion/matrix.h"

#include <Eigen/Dense>

#include <vector>

namespace tessera::inversion {

inline Eigen::Map<const Eigen::VectorXd> view(const std::vector<double>& v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
inline Eigen::Map<Eigen::VectorXd> view(std::vector<double>& v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
inline Eigen::Map<const Eigen::MatrixXd> view(const Matrix& a) {
  return {a.values.data(), static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols)};
}
inline Eigen::Map<Eigen::MatrixXd> view(Matrix& a) {
  return {a.values.data(), static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.cols)};
}
inline std::vector<double> to_vector(const Eigen::VectorXd& v) {
  return {v.data(), v.data() + v.size()};
}
inline Matrix to_matrix(const Eigen::MatrixXd& a) {
  Matrix out(static_cast<std::size_t>(a.rows()), static_cast<std::size_t>(a.cols()));
  view(out) = a;
  return out;
}

}  // namespace tessera::inversion
