// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::inversion {

struct Matrix;

/// A sparse matrix by rows: those of row i are columns[offsets[i]..offsets[i + 1]), rising, with
/// their values. A symmetric one is kept whole. It only carries numbers across public headers, as
/// Matrix does.
struct SparseMatrix {
  std::size_t rows = 0, cols = 0;
  std::vector<std::int64_t> offsets{0};  ///< [rows + 1]
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  /// 0 where nothing is kept; looks the column up.
  double operator()(std::size_t i, std::size_t j) const;
  std::vector<double> times(const std::vector<double>& x) const;             ///< A x
  std::vector<double> transposed_times(const std::vector<double>& y) const;  ///< A^T y
};

struct Entry {
  std::size_t row = 0, column = 0;
  double value = 0;
};
/// Entries in any order; those of one place add up. Throws tessera::Error outside of the matrix.
SparseMatrix sparse(std::size_t rows, std::size_t cols, std::vector<Entry> entries);
/// What is not zero of a dense one.
SparseMatrix sparse(const Matrix& dense);
SparseMatrix sparse_diagonal(const std::vector<double>& values);

}  // namespace tessera::inversion
