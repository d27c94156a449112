// SPDX-License-Identifier: Apache-2.0
//
// x of A x = b as one operation whose derivatives are solves with the same A, whatever solves it:
//
//   forward   A dx = db - dA x            reverse   A^H lambda = c,  b* = lambda,  A* = -lambda x^H
//
// so that a factorisation or a preconditioner is made once and serves value, tangents and adjoints
// of every order, and nothing of the iteration is recorded.
//
//   LinearOperator a = LinearOperator::csr(values, pattern);
//   Tensor x = linear_solve(a, b, {.solver = gmres({.tolerance = 1e-12})}).x;
//   const auto solved = [&](Tensor v) { return linear_solve(LinearOperator::csr(v, pattern), b); };
//   Tensor g = grad([&](Tensor v) { return loss(solved(v).x); })(values);
//
// The unknowns may lie on the ranks of a program (vectors_on_ranks.h): b and x are then those of
// this rank, Krylov's methods and PETSc solve what all hold together, and reports are the same on
// all. Own solvers give the same bits whatever the ranks.
//
// f32, f64, c64 and c128; complex derivatives are adjoints. Under vmap each system of the batch is
// solved by itself, those with a common matrix by one factorisation.
//
// What was prepared for a matrix is kept by the equations that came from one call (or, for `dense`
// and `csr`, by the LinearOperator) and is found again by comparing the matrix's values with a
// copy, bit by bit: one pass over them. No global table exists; it goes when they go. One matrix is
// kept for each system of a batch.
#pragma once
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/ops/sparse.h"
#include "tessera/autodiff/vectors_on_ranks.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Why a solver stopped; positive: it did what was asked.
enum class SolveReason : std::int32_t {
  exact = 2,        ///< by a factorisation
  converged = 1,    ///< |b - A x| <= tolerance |b|, measured on the true residual
  iterations = -1,  ///< the limit was reached; x is the last iterate
  stagnated = -2,   ///< rounding or the method itself keeps the residual from falling further
  not_finite = -3,  ///< NaN or infinity came up
  singular = -4,    ///< a pivot is zero (LU) or not positive (Cholesky); x is NaN
};
const char* to_string(SolveReason r);
struct SolveReport {
  SolveReason reason = SolveReason::exact;
  int iterations = 0;             ///< products with A
  std::vector<double> residuals;  ///< |b - A x| / |b| after each, as the method estimates it; the
                                  ///< last is the true one
  bool ok() const { return static_cast<int>(reason) > 0; }
};

// ---- what solves: plugged in ----
/// One square operator as a solver sees it. Lives as long as what was prepared from it.
struct SolverOperator {
  enum class Kind : std::uint8_t { dense, csr, function };
  Kind kind = Kind::function;
  Dtype dtype = Dtype::f64;
  Index n = 0;                   ///< unknowns of one column; of this rank
  const void* values = nullptr;  ///< dense: row-major [n, n]; csr: [entries]; function: null
  CsrPatternPtr pattern;         ///< csr
  VectorOnRanksPtr ranks;        ///< of the unknowns; null: one process has all
  RowsOnRanksPtr rows;           ///< csr on ranks: the same, and what the pattern's columns are
  /// y = A x, or A^H x, on vectors [n] in memory.
  std::function<void(const void* x, void* y, bool adjoint)> apply;
};
/// A factorisation, or all that an iteration needs. `solve` may be called from several threads at
/// once.
class PreparedSolver {
 public:
  virtual ~PreparedSolver() = default;
  /// X of A X = B, or A^H X = B; B and X are row-major [n, columns]. A report for each column.
  virtual std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                         bool adjoint) const = 0;
};
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  virtual std::string name() const = 0;
  /// Whether a solve with many columns is cheaper than many solves: batches are joined then.
  virtual bool joins_columns() const { return false; }
  /// Whether the systems of a batch must be solved in their order by the calling thread (libraries
  /// with MPI inside).
  virtual bool one_at_a_time() const { return false; }
  virtual std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const = 0;
};
using LinearSolverPtr = std::shared_ptr<const LinearSolver>;

/// LU with row pivoting, or Cholesky's factors (reads A's lower triangle), through LAPACK: n^3
/// operations once, n^2 a column. Of a sparse or matrix-free operator the dense matrix is formed
/// first.
LinearSolverPtr dense_lu();
LinearSolverPtr dense_cholesky();

/// Krylov methods, each restarted on the true residual until that meets the tolerance. Sums have a
/// fixed order (vectors_on_ranks.h).
struct KrylovOptions {
  double tolerance = 0;   ///< on |b - A x| / |b|; 0: 1e-10 in double, 1e-5 in single precision
  int iterations = 1000;  ///< products with A, for each column
  int restart = 50;       ///< gmres alone: vectors kept
  bool jacobi = true;     ///< scale by the diagonal where it is known (dense, csr) and has no zero;
                          ///< not in minres
  /// M^-1 r on concrete vectors [n], M near A (near A^H with `adjoint`); in cg M is positive
  /// definite. It changes the way alone, never the result, and is not differentiated. Replaces
  /// `jacobi`; minres has none.
  std::function<Tensor(const Tensor& r, bool adjoint)> preconditioner = nullptr;
};
/// A = A^H positive definite. Hestenes & Stiefel 1952, doi:10.6028/jres.049.044.
LinearSolverPtr cg(KrylovOptions options = {});
/// A = A^H, perhaps indefinite. Paige & Saunders 1975, doi:10.1137/0712047.
LinearSolverPtr minres(KrylovOptions options = {});
/// Any A, short recurrences. van der Vorst 1992, doi:10.1137/0913035.
LinearSolverPtr bicgstab(KrylovOptions options = {});
/// Any A; the residual never rises. Saad & Schultz 1986, doi:10.1137/0907058; preconditioned from
/// the right.
LinearSolverPtr gmres(KrylovOptions options = {});

// ---- the operation ----
namespace detail {
class PreparedSystems;
}
/// A square matrix: by its entries, or by its products.
class LinearOperator {
 public:
  using Map = std::function<Tensor(const Tensor&)>;
  static LinearOperator dense(const Tensor& a);  ///< [..., n, n]: a stack of systems
  static LinearOperator csr(const Tensor& values, CsrPatternPtr pattern);  ///< [entries]
  /// Rows that lie on ranks: values [entries] and pattern of this rank's (parallel/row_matrix.h).
  static LinearOperator csr(const Tensor& values, CsrPatternPtr pattern, RowsOnRanksPtr rows);
  /// x -> A x on tensors of one shape, linear in x. Traced tensors that `a` captures are
  /// differentiated; it is recorded once and reads no values. Without `adjoint` (x -> A^H x) that
  /// is `a`'s recording transposed.
  static LinearOperator function(Map a, Map adjoint = {});
  static LinearOperator self_adjoint(Map a);  ///< A = A^H: `a` is its own adjoint
  /// The same where the unknowns of a function lie on ranks: it takes and gives those of this rank.
  LinearOperator on_ranks(VectorOnRanksPtr ranks) const;

  SolverOperator::Kind kind() const { return kind_; }
  const Tensor& values() const { return values_; }
  const CsrPatternPtr& pattern() const { return pattern_; }
  const VectorOnRanksPtr& ranks() const { return ranks_; }
  const RowsOnRanksPtr& rows() const { return rows_; }
  const Map& map() const { return map_; }
  const Map& adjoint_map() const { return adjoint_; }
  const std::shared_ptr<detail::PreparedSystems>& prepared() const { return prepared_; }

 private:
  SolverOperator::Kind kind_ = SolverOperator::Kind::dense;
  Tensor values_;
  CsrPatternPtr pattern_;
  VectorOnRanksPtr ranks_;
  RowsOnRanksPtr rows_;
  Map map_, adjoint_;
  std::shared_ptr<detail::PreparedSystems> prepared_;
};

struct LinearSolveOptions {
  LinearSolverPtr solver = nullptr;  ///< null: dense_lu for dense matrices, gmres for the others
  /// Sees the report of every system solved: of values, tangents and adjoints, at whatever order.
  std::function<void(const SolveReport&, bool adjoint)> monitor = nullptr;
};
/// x, and how it came about: for each system of a batch (scalars for one) the SolveReason i32,
/// iterations i32 and the last relative residual f64 (0 for factorisations). The column of b that
/// fared worst speaks for its system, iterations are those of all its columns. Not to converge is a
/// result: x is the last iterate. A column of a tangent or of an adjoint whose own solve fails has
/// no such place to say so and is NaN.
struct LinearSolution {
  Tensor x, reason, iterations, residual;
};
/// b is [..., n] or [..., n, k] for dense matrices, [n] or [n, k] for csr, of any shape for a
/// function. On ranks n is the number of this rank's rows. Throws where shapes or types do not fit,
/// and where a factorisation in memory is asked for on ranks.
LinearSolution linear_solve(const LinearOperator& a, Arg b, LinearSolveOptions options = {});

namespace detail {
/// A linear system as the equations of a graph hold it: the product (x, p...) -> A(p) x and its
/// adjoint as graphs. Where `bilinear`, A is linear in p[0] alone, so that a product rule of any
/// order (Taylor mode) is the graph at coefficients of p.
struct LinearSystem {
  SolverOperator::Kind kind;
  Type unknown;              ///< of x and b of one system
  std::vector<Type> params;  ///< of p of one system
  Graph apply, adjoint;      ///< inputs x, p...
  bool bilinear;
  CsrPatternPtr pattern;
  VectorOnRanksPtr ranks;
  RowsOnRanksPtr rows;
  LinearSolverPtr solver;
  std::function<void(const SolveReport&, bool adjoint)> monitor;
  std::shared_ptr<PreparedSystems> prepared;
};
/// Attributes of the primitive `linear_solve`, whose operands are b, p... and whose results x,
/// reason, iterations, residual. `levels` holds pairs (size, mask) of leading axes, the outermost
/// first: bit 0 of the mask is b's, bit k + 1 that of p[k].
struct LinearSolveAttr {
  std::shared_ptr<const LinearSystem> system;
  bool adjoint = false;     ///< A^H in place of A
  bool derivative = false;  ///< a tangent or an adjoint
  std::vector<Index> levels;
  TESSERA_ATTRIBUTES(system, adjoint, derivative, levels)
};
/// A(p) x, or A(p)^H x, over all leading axes of the application. `v` is x, p...
Tensor apply_operator(const LinearSolveAttr& f, const std::vector<Tensor>& v);
/// Solves with the operands of one application of the primitive.
LinearSolution apply_linear_solve(const LinearSolveAttr& f, const std::vector<Tensor>& v);
}  // namespace detail

}  // namespace tessera
