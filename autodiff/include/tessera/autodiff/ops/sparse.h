// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <memory>
#include <span>
#include <vector>

// Sparse matrices in compressed rows (CSR): a pattern on the host that says where entries stand,
// and a tensor of their values, which is differentiated like any other. f32, f64, c64 and c128. A
// row is one sum from left to right on one thread, so that results are the same bits on any number
// of threads.

namespace tessera {

/// Where the entries of a rows x cols matrix stand: entry e of row i has row_begin[i] <= e <
/// row_begin[i + 1] and stands in column column[e]. Columns rise strictly within a row. Immutable;
/// share it by pointer.
class CsrPattern {
 public:
  /// Throws Error, naming the row, where the arrays do not describe such a matrix.
  CsrPattern(Index rows, Index cols, std::vector<Index> row_begin, std::vector<Index> column);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index entries() const { return static_cast<Index>(column_.size()); }
  std::span<const Index> row_begin() const { return row_begin_; }
  std::span<const Index> column() const { return column_; }
  std::vector<Index> row_of_entries() const;
  /// The pattern by columns: entry t of column j has begin[j] <= t < begin[j + 1], stands in row
  /// row[t] and is entry[t] of this pattern. Computed once, when the pattern is made.
  struct ByColumns {
    std::vector<Index> begin, row, entry;
  };
  const ByColumns& by_columns() const { return by_columns_; }
  bool operator==(const CsrPattern& o) const;

 private:
  Index rows_, cols_;
  std::vector<Index> row_begin_, column_;
  ByColumns by_columns_;
};
using CsrPatternPtr = std::shared_ptr<const CsrPattern>;

CsrPatternPtr csr_pattern(Index rows, Index cols, std::vector<Index> row_begin,
                          std::vector<Index> column);

/// A pattern from entries in any order, some perhaps for the same position: triplet k goes to entry
/// slot[k].
struct CooPattern {
  CsrPatternPtr pattern;
  std::vector<Index> slot;
};
CooPattern csr_from_coo(Index rows, Index cols, std::span<const Index> row,
                        std::span<const Index> column);
/// Values [..., triplets] -> [..., entries]; triplets of one position are added, in their order.
Tensor csr_values(const CooPattern& coo, Arg triplets);

/// A X for values [B..., entries] and X [B..., cols, k] with equal leading axes: [B..., rows, k].
/// With `transposed` A^T X (not conjugated) for X [B..., rows, k]. A vector [n] stands for one
/// column. Linear in either operand; costs 2 entries k operations.
Tensor csr_matmul(Arg values, const CsrPatternPtr& pattern, Arg x, bool transposed = false);
/// The products (X Y^T)_ij at the pattern's entries alone: X [B..., rows, k], Y [B..., cols, k] ->
/// [B..., entries], sum over k of X[i, k] Y[j, k] (not conjugated). What the transpose of
/// csr_matmul in its values is made of.
Tensor csr_sddmm(const CsrPatternPtr& pattern, Arg x, Arg y);

Tensor csr_to_dense(Arg values, const CsrPatternPtr& pattern);  ///< [entries] -> [rows, cols]
Tensor csr_from_dense(Arg dense,
                      const CsrPatternPtr& pattern);  ///< [rows, cols] -> [entries]; drops the rest
Tensor csr_diagonal(Arg values,
                    const CsrPatternPtr& pattern);  ///< [min(rows, cols)]; 0 where none is stored
Tensor csr_scale_rows(Arg values, const CsrPatternPtr& pattern,
                      Arg scale);  ///< diag(scale) A, scale [rows]

}  // namespace tessera
