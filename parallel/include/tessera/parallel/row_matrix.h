// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices and vectors that stay with their ranks: each rank has some rows of a square
// matrix and the same elements of vectors, and never more of others' than its rows read.
//
//   const std::vector<Index> parts = deal_rows(n, c);             // [begin of this rank's parts]
//   ... the rows parts.front() ... parts.back() - 1 in CSR form, columns from 0 to n - 1
//   const RowMatrixPtr a = RowMatrix::make(c, {.parts = parts, .row_begin = r, .column = k});
//   const Tensor y = a->product(values, x);                       // x, y: of this rank's rows
//   const Tensor x = linear_solve(a->with(values), b, {.solver = cg()}).x;
//
// Unknowns come in parts (vectors_on_ranks.h); a rank holds parts that follow each other. Products,
// their transposes, sums and Krylov's methods have the bits of one rank with the same parts, in
// values and derivatives of any order; PETSc's solvers take rows as they lie, under MPI.
//
// Pieces of a mesh (pieces.h) are parts, too: with 60 pieces rank r holds some of them, the
// unknowns of one after the other, and `numbers` says which these are.
#pragma once
#include "tessera/autodiff/solve.h"
#include "tessera/parallel/exchange_plan.h"
#include "tessera/parallel/part_sums.h"

namespace tessera::parallel {

/// Where the parts of this rank begin, and where its last one ends, among n unknowns in parts of
/// `part`, as evenly dealt as whole parts allow; {k, k}-like: one number where it has none.
std::vector<Index> deal_rows(Index n, const Communicator& c, Index part = kVectorPart);

/// What this rank has of a square matrix.
struct RowsOfRank {
  /// Where its parts begin, and where the last one ends: of numbers that count from anywhere.
  std::span<const Index> parts;
  /// CSR of its rows in that order: entries row_begin[i] ... row_begin[i + 1] - 1 of row i stand in
  /// columns `column`, numbers of unknowns, which rise within a row.
  std::span<const Index> row_begin, column;
  /// The unknown of each row; empty: parts.front(), parts.front() + 1, ...
  std::span<const Index> numbers = {};
};

class RowMatrix;
using RowMatrixPtr = std::shared_ptr<const RowMatrix>;

class RowMatrix final : public RowsOnRanks, public std::enable_shared_from_this<RowMatrix> {
 public:
  /// Made by all ranks; the communicator outlives it, in its place. Throws Error where the numbers
  /// do not describe rows, and what ExchangePlan::make throws: an unknown without a row, or with
  /// two.
  static RowMatrixPtr make(Communicator& c, const RowsOfRank& mine,
                           SourceLine line = SourceLine::here());

  /// Of this rank's rows; columns number the copies that they read. Entries are in the order of
  /// `column`.
  const CsrPatternPtr& pattern() const { return pattern_; }
  const ExchangePlanPtr& plan() const { return plan_; }

  /// A x for values [entries] and x [rows] or [rows, k]; with `transposed` A^T x, not conjugated.
  Tensor product(Arg values, Arg x, bool transposed = false) const;
  /// The sum over all ranks of conj(x) y, the same bits whoever has which parts: a scalar.
  Tensor dot(Arg x, Arg y) const;
  /// For linear_solve.
  LinearOperator with(const Tensor& values) const;

  // ---- what solvers see ----
  int rank() const override;
  int ranks() const override;
  std::span<const Index> parts() const override { return parts_; }
  void sum(std::span<const double> of_parts, Index n, std::span<double> total) const override;
  double max(double mine) const override;
  Tensor copies_of(const Tensor& x) const override;
  Tensor add_copies(const Tensor& y) const override;
  Index first() const override { return first_; }
  std::span<const Index> numbers() const override { return numbers_; }

 private:
  RowMatrix() = default;
  Communicator* communicator_ = nullptr;
  SourceLine line_;
  std::vector<Index> parts_, numbers_;
  PartsOfRanks parts_of_ranks_;
  CsrPatternPtr pattern_;
  ExchangePlanPtr plan_;
  Index first_ = 0;
};

}  // namespace tessera::parallel
