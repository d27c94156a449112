// SPDX-License-Identifier: Apache-2.0
//
// Solvers by factorisation. LAPACK stores by columns and so sees A^T where we store A:
//   LU of A^T:            A x = b is the transposed solve; A^H x = b is A^T conj(x) = conj(b)
//   Cholesky of conj(A):  A x = b is conj(A) conj(x) = conj(b)
#include "../kernels/lapack.h"
#include "tessera/autodiff/solve.h"

namespace tessera {
namespace {

using namespace kernels;

/// The matrix of `a`, row-major, with LAPACK's slack behind it.
template <class T>
std::vector<T> matrix_of(const SolverOperator& a) {
  if (a.ranks)
    fail("linear_solve",
         "the unknowns lie on " + std::to_string(a.ranks->ranks()) +
             " ranks, and a factorisation in memory takes a matrix that one process has; use cg, "
             "minres, bicgstab or gmres, or PETSc's solvers");
  const Index n = a.n;
  std::vector<T> m(static_cast<std::size_t>(n * n + kSlack<T>), T(0));
  const T* v = static_cast<const T*>(a.values);
  if (a.kind == SolverOperator::Kind::dense) {
    std::copy(v, v + n * n, m.begin());
  } else if (a.kind == SolverOperator::Kind::csr) {
    for (Index i = 0; i < n; ++i)
      for (Index e = a.pattern->row_begin()[i]; e < a.pattern->row_begin()[i + 1]; ++e)
        m[i * n + a.pattern->column()[e]] = v[e];
  } else {
    std::vector<T> unit(static_cast<std::size_t>(n), T(0)), column(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) {
      unit[j] = T(1);
      a.apply(unit.data(), column.data(), false);
      unit[j] = T(0);
      for (Index i = 0; i < n; ++i) m[i * n + j] = column[i];
    }
  }
  return m;
}

/// Whether a row-major matrix [n, n], or its lower triangle, is finite.
template <class T>
bool finite(const std::vector<T>& m, Index n, bool lower) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < (lower ? i + 1 : n); ++j)
      if (!std::isfinite(std::real(m[i * n + j])) || !std::isfinite(std::imag(m[i * n + j])))
        return false;
  return true;
}

template <class T>
class Factors final : public PreparedSolver {
 public:
  Factors(const SolverOperator& a, bool cholesky)
      : n_(a.n), cholesky_(cholesky), m_(matrix_of<T>(a)), swaps_(static_cast<std::size_t>(a.n)) {
    if (n_ > (Index{1} << 30))
      fail("linear_solve",
           "a dense matrix of " + std::to_string(n_) + " rows is larger than LAPACK takes");
    if (n_ == 0) return;
    const SerialBlas serial;
    const int n = static_cast<int>(n_);
    if (cholesky)
      TESSERA_LAPACK(T, potrf)("U", &n, m_.data(), &n, &info_);
    else
      TESSERA_LAPACK(T, getrf)(&n, &n, m_.data(), &n, swaps_.data(), &info_);
    if (info_ != 0) not_finite_ = !finite(matrix_of<T>(a), n_, cholesky);
    for (Index i = 0; info_ == 0 && i < n_; ++i)
      if (!std::isfinite(std::abs(m_[i * n_ + i]))) not_finite_ = true;
  }
  std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                 bool adjoint) const override {
    const T* from = static_cast<const T*>(b);
    T* to = static_cast<T*>(x);
    if (info_ != 0 || not_finite_) {
      std::fill(to, to + n_ * columns, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
      const SolveReason why = not_finite_ ? SolveReason::not_finite : SolveReason::singular;
      return std::vector<SolveReport>(static_cast<std::size_t>(columns), SolveReport{why, 0, {}});
    }
    std::vector<SolveReport> reports(static_cast<std::size_t>(columns));
    if (n_ == 0 || columns == 0) return reports;
    const bool conjugated = is_cplx<T> && (cholesky_ || adjoint);
    const char* op = adjoint ? "N" : "T";
    constexpr Index kColumns = 32;  // a block of columns goes to one thread; its size is fixed
    parallel_chunks((columns + kColumns - 1) / kColumns, [&](Index c) {
      const SerialBlas serial;
      const Index begin = c * kColumns, count = std::min(columns, begin + kColumns) - begin;
      std::vector<T> held(static_cast<std::size_t>(n_ * count + kSlack<T>));
      for (Index i = 0; i < n_; ++i)
        for (Index j = 0; j < count; ++j)
          held[j * n_ + i] =
              conjugated ? conjugate(from[i * columns + begin + j]) : from[i * columns + begin + j];
      const int n = static_cast<int>(n_), k = static_cast<int>(count);
      int info = 0;
      if (cholesky_)
        TESSERA_LAPACK(T, potrs)("U", &n, &k, m_.data(), &n, held.data(), &n, &info);
      else
        TESSERA_LAPACK(T, getrs)(op, &n, &k, m_.data(), &n, swaps_.data(), held.data(), &n, &info);
      real_t<T> bad[kColumns] = {};  // NaN where something is not finite
      for (Index i = 0; i < n_; ++i)
        for (Index j = 0; j < count; ++j) {
          const T v = held[j * n_ + i];
          to[i * columns + begin + j] = conjugated ? conjugate(v) : v;
          bad[j] += real_t<T>(0) * std::real(v) + real_t<T>(0) * std::imag(v);
        }
      for (Index j = 0; j < count; ++j)
        if (bad[j] != 0) reports[begin + j].reason = SolveReason::not_finite;
    });
    return reports;
  }

 private:
  Index n_;
  bool cholesky_, not_finite_ = false;
  std::vector<T> m_;
  std::vector<int> swaps_;
  int info_ = 0;
};

class DenseSolver final : public LinearSolver {
 public:
  explicit DenseSolver(bool cholesky) : cholesky_(cholesky) {}
  std::string name() const override { return cholesky_ ? "dense Cholesky" : "dense LU"; }
  bool joins_columns() const override { return true; }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    switch (a.dtype) {
      case Dtype::f32:
        return std::make_unique<Factors<float>>(a, cholesky_);
      case Dtype::f64:
        return std::make_unique<Factors<double>>(a, cholesky_);
      case Dtype::c64:
        return std::make_unique<Factors<c64>>(a, cholesky_);
      default:
        return std::make_unique<Factors<c128>>(a, cholesky_);
    }
  }

 private:
  bool cholesky_;
};

}  // namespace

LinearSolverPtr dense_lu() { return std::make_shared<const DenseSolver>(false); }
LinearSolverPtr dense_cholesky() { return std::make_shared<const DenseSolver>(true); }

}  // namespace tessera
