// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

namespace tessera::inversion {

/// A small dense matrix, column by column (as LAPACK and Eigen keep it): `values[i + j * rows]`.
/// It only carries numbers across public headers; the algebra is done by Eigen inside the sources.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::size_t n_rows, std::size_t n_cols, double value = 0.0)
      : rows(n_rows), cols(n_cols), values(n_rows * n_cols, value) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i + j * rows]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i + j * rows]; }
};

}  // namespace tessera::inversion
