// SPDX-License-Identifier: Apache-2.0
//
// KSP and PC. All is computed in PetscScalar = complex<double>. PETSc solves A x = b and A^T x = b;
// hence A^H x = b as A^T conj(x) = conj(b).
#include "ksp.h"
#include "tessera/autodiff/exponents.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::solvers {
namespace {

using Complex = c128;

/// y = op(A) x on whole complex vectors; real operators take the parts one by one.
void product(const SolverOperator& a, const Complex* x, Complex* y, bool adjoint) {
  const std::size_t bytes = static_cast<std::size_t>(a.n) * size_of(a.dtype);
  std::vector<std::byte> in(bytes), out(bytes);
  std::fill(y, y + a.n, Complex(0));
  for (int part = 0; part < (is_complex(a.dtype) ? 1 : 2); ++part) {
    bool any = false;
    for (Index i = 0; i < a.n; ++i) {
      const Complex v = is_complex(a.dtype) ? x[i]
                        : part              ? Complex(x[i].imag())
                                            : Complex(x[i].real());
      any |= v != Complex(0);
      store(in.data(), a.dtype, i, v);
    }
    if (a.ranks) any = a.ranks->max(any ? 1 : 0) > 0;  // all take part in a product
    if (!any) continue;
    a.apply(in.data(), out.data(), adjoint);
    for (Index i = 0; i < a.n; ++i)
      y[i] += load(out.data(), a.dtype, i) * (part ? Complex(0, 1) : Complex(1));
  }
}

/// MatShell's products: A x, and A^T x = conj(A^H conj(x)).
PetscErrorCode shell_product(Mat m, Vec x, Vec y, bool transposed) {
  return guarded([&] {
    SolverOperator* a = nullptr;
    check(MatShellGetContext(m, &a));
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    check(VecGetArrayRead(x, &from));
    check(VecGetArray(y, &to));
    std::vector<Complex> in(from, from + a->n);
    if (transposed)
      for (Complex& v : in) v = std::conj(v);
    product(*a, in.data(), to, transposed);
    if (transposed)
      for (Index i = 0; i < a->n; ++i) to[i] = std::conj(to[i]);
    check(VecRestoreArray(y, &to));
    check(VecRestoreArrayRead(x, &from));
  });
}
PetscErrorCode shell_plain(Mat m, Vec x, Vec y) { return shell_product(m, x, y, false); }
PetscErrorCode shell_transposed(Mat m, Vec x, Vec y) { return shell_product(m, x, y, true); }

SolveReason reason_of(KSPConvergedReason r) {
  if (r > 0) return SolveReason::converged;
  switch (r) {
    case KSP_DIVERGED_ITS:
      return SolveReason::iterations;
    case KSP_DIVERGED_NANORINF:
      return SolveReason::not_finite;
    case KSP_DIVERGED_PC_FAILED:
      return SolveReason::singular;
    default:
      return SolveReason::stagnated;
  }
}

/// Whether one application of the method solves the system. "preonly" with any other preconditioner
/// is repeated on the residual until that meets the tolerance.
bool is_direct(const PetscOptions& o) {
  return o.ksp == "preonly" &&
         (o.pc == "lu" || o.pc == "cholesky" || o.pc == "qr" || o.pc == "svd");
}

class Prepared final : public PreparedSolver {
 public:
  Prepared(const SolverOperator& a, const PetscOptions& o)
      : a_(a),
        options_(o),
        direct_(is_direct(o)),
        comm_(o.distributed || a.ranks ? MPI_COMM_WORLD : PETSC_COMM_SELF) {
    refuse_other_ranks();
    refuse_large(a);
    const bool kept = a.kind == SolverOperator::Kind::csr && !a.ranks && analyses(o);
    if (kept) its_ = take_analysed(*a.pattern, o);
    const bool anew = !its_;
    if (anew)
      make_ksp();
    else
      refill(a, its_->matrix);
    check(KSPSetOperators(its_->ksp, its_->matrix, its_->matrix));
    check(KSPSetUp(its_->ksp));
    PC pc = nullptr;
    check(KSPGetPC(its_->ksp, &pc));
    PCFailedReason failed{};
    check(PCGetFailedReason(pc, &failed));
    if (failed == PC_FACTOR_OUTMEMORY)  // else told as singular, like a pivot of zero
      throw Error("[petsc] the factors of a system of " + std::to_string(a.n) +
                  " unknowns need more memory than there is, or than was estimated; the estimate "
                  "of MUMPS is raised in the options by -mat_mumps_icntl_14 100 (percent)");
    given_back_ = kept && failed == PC_NOERROR;
    PetscInt first = 0, last = 0;
    check(MatGetOwnershipRange(its_->matrix, &first, &last));
    if (a.ranks)
      first_ = 0, last_ = a.n;
    else
      first_ = first, last_ = last;
    if (anew) its_->words.refuse_unused();
    in_blocks_ = direct_ && !a.ranks && !o.distributed && failed == PC_NOERROR &&
                 (o.pc == "lu" || o.pc == "cholesky");
  }
  ~Prepared() override {
    if (Session::finished()) return;
    const Session session;
    try {
      if (given_back_) give_back(std::move(its_), a_.pattern, options_);
    } catch (const Error&) {  // it is destroyed instead
    }
    its_.reset();
  }

  std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                 bool adjoint) const override {
    const Session session;
    std::vector<SolveReport> reports;
    constexpr Index most = 64;  // columns of a block, whose memory is a few such
    for (Index begin = 0; begin < columns; begin += most) {
      const Index count = std::min(columns - begin, most);
      const auto n = static_cast<std::size_t>(a_.n);
      std::vector<Complex> rhs(n * static_cast<std::size_t>(count)), found(rhs.size());
      for (Index i = 0; i < a_.n; ++i)
        for (Index c = 0; c < count; ++c)
          rhs[static_cast<std::size_t>(c * a_.n + i)] = load(b, a_.dtype, i * columns + begin + c);
      if (in_blocks_ && count > 1) {
        block(rhs, found, count, adjoint, reports);
      } else {
        std::vector<Complex> from(n), to(n);
        for (Index c = 0; c < count; ++c) {
          std::copy_n(rhs.begin() + c * a_.n, a_.n, from.begin());
          reports.push_back(column(from, to, adjoint));
          std::copy(to.begin(), to.end(), found.begin() + c * a_.n);
        }
      }
      for (Index i = 0; i < a_.n; ++i)
        for (Index c = 0; c < count; ++c)
          store(x, a_.dtype, i * columns + begin + c,
                found[static_cast<std::size_t>(c * a_.n + i)]);
    }
    return reports;
  }

 private:
  /// Rows that lie on ranks are PETSc's as they lie: its ranks must be those.
  void refuse_other_ranks() const {
    if (!a_.ranks) return;
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    if (rank != a_.ranks->rank() || ranks != a_.ranks->ranks())
      throw Error("[petsc] the unknowns lie on " + std::to_string(a_.ranks->ranks()) +
                  " ranks, of which this is rank " + std::to_string(a_.ranks->rank()) +
                  "; MPI has " + std::to_string(ranks) + ", and this is its rank " +
                  std::to_string(rank) +
                  ": PETSc solves what lies on all ranks of MPI (parallel::mpi_communicator)");
  }
  void make_ksp() {
    its_ = std::make_unique<Ksp>(options_.options);
    Ksp& k = *its_;
    make_matrix();
    check(MatCreateVecs(k.matrix, &k.x, &k.b));
    if (!a_.ranks) check(VecScatterCreateToAll(k.x, &k.gather, &k.all));
    check(KSPCreate(comm_, &k.ksp));
    check(KSPSetOptionsPrefix(k.ksp, k.words.prefix()));
    check(KSPSetOperators(k.ksp, k.matrix, k.matrix));
    check(KSPSetType(k.ksp, options_.ksp.c_str()));
    PC pc = nullptr;
    check(KSPGetPC(k.ksp, &pc));
    check(PCSetType(pc, options_.pc.c_str()));
    if (options_.pc == "cholesky") check(MatSetOption(k.matrix, MAT_SYMMETRIC, PETSC_TRUE));
    if (!direct_) {
      // Relative alone: PETSc's absolute tolerance, 1e-50, would end small systems at once.
      check(KSPSetTolerances(k.ksp, 0.5 * options_.tolerance, 0.0, 1e10, options_.iterations));
      k.history.resize(static_cast<std::size_t>(options_.iterations) + 2);
      check(KSPSetResidualHistory(k.ksp, k.history.data(), static_cast<PetscInt>(k.history.size()),
                                  PETSC_TRUE));
    }
    check(KSPSetFromOptions(k.ksp));
  }
  void make_matrix() {
    const auto n = static_cast<PetscInt>(a_.n);
    if (a_.kind == SolverOperator::Kind::function) {
      if (options_.distributed && !a_.ranks)
        throw Error(
            "[petsc] a matrix-free operator runs on one rank; give its entries to spread it");
      const PetscInt all = a_.ranks ? PETSC_DETERMINE : n;
      check(MatCreateShell(comm_, n, n, all, all, &a_, &its_->matrix));
      check(MatShellSetOperation(its_->matrix, MATOP_MULT,
                                 reinterpret_cast<void (*)()>(shell_plain)));
      check(MatShellSetOperation(its_->matrix, MATOP_MULT_TRANSPOSE,
                                 reinterpret_cast<void (*)()>(shell_transposed)));
      return;
    }
    assemble(a_, comm_, &its_->matrix);
  }

  /// Of all unknowns.
  double length(const std::vector<Complex>& v) const {
    if (!a_.ranks) {
      double s = 0;
      for (const Complex& z : v) s += std::norm(z);
      return std::sqrt(s);
    }
    const std::span<const Index> begin = a_.ranks->parts();
    std::vector<double> squares(begin.size() - 1);
    for (std::size_t p = 0; p < squares.size(); ++p)
      for (Index i = begin[p]; i < begin[p + 1]; ++i)
        squares[p] += std::norm(v[static_cast<std::size_t>(i)]);
    double all = 0;
    a_.ranks->sum(squares, 1, {&all, 1});
    return std::sqrt(all);
  }

  /// r = b - op(A) x, and its length.
  double residual(const std::vector<Complex>& b, const std::vector<Complex>& x, bool adjoint,
                  std::vector<Complex>& r) const {
    product(a_, x.data(), r.data(), adjoint);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    return length(r);
  }

  /// One run of the KSP: d of op(A) d = r.
  KSPConvergedReason run(const std::vector<Complex>& r, std::vector<Complex>& d, bool adjoint,
                         int& iterations) const {
    PetscScalar* to = nullptr;
    check(VecGetArray(its_->b, &to));
    for (Index i = first_; i < last_; ++i) to[i - first_] = adjoint ? std::conj(r[i]) : r[i];
    check(VecRestoreArray(its_->b, &to));
    check(VecSet(its_->x, 0));
    check(adjoint ? KSPSolveTranspose(its_->ksp, its_->b, its_->x)
                  : KSPSolve(its_->ksp, its_->b, its_->x));
    KSPConvergedReason reason{};
    PetscInt steps = 0;
    check(KSPGetConvergedReason(its_->ksp, &reason));
    check(KSPGetIterationNumber(its_->ksp, &steps));
    iterations = static_cast<int>(steps);
    if (its_->gather) {
      check(VecScatterBegin(its_->gather, its_->x, its_->all, INSERT_VALUES, SCATTER_FORWARD));
      check(VecScatterEnd(its_->gather, its_->x, its_->all, INSERT_VALUES, SCATTER_FORWARD));
    }
    const Vec found = its_->gather ? its_->all : its_->x;
    const PetscScalar* from = nullptr;
    check(VecGetArrayRead(found, &from));
    for (Index i = 0; i < a_.n; ++i) d[i] = adjoint ? std::conj(from[i]) : from[i];
    check(VecRestoreArrayRead(found, &from));
    return reason;
  }

  SolveReport column(const std::vector<Complex>& b, std::vector<Complex>& x, bool adjoint) const {
    SolveReport report{direct_ ? SolveReason::exact : SolveReason::converged, 0, {}};
    std::fill(x.begin(), x.end(), Complex(0));
    std::vector<Complex> r = b, d(b.size());
    const double b_norm = length(b);
    if (const int e = detail::exponent_beyond_squares(
            b, b_norm, [&](double mine) { return a_.ranks ? a_.ranks->max(mine) : mine; });
        e != 0) {
      detail::shift_exponents(-e, r);
      report = column(r, x, adjoint);  // whose norms are those of b 2^-e
      detail::shift_exponents(e, x);
      return report;
    }
    if (b_norm == 0) return report.residuals = {0.0}, report;
    double size = b_norm;
    while (true) {
      int steps = 0;
      const KSPConvergedReason stopped = run(r, d, adjoint, steps);
      report.iterations += steps;
      if (!direct_) {
        const PetscReal* kept = nullptr;
        PetscInt count = 0;
        check(KSPGetResidualHistory(its_->ksp, &kept, &count));
        for (PetscInt k = 1; k < count; ++k)
          report.residuals.push_back(kept[k] / kept[0] * size / b_norm);
      }
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += d[i];
      const double before = size;
      size = residual(b, x, adjoint, r);
      report.residuals.push_back(size / b_norm);
      const SolveReason said = reason_of(stopped);
      if (direct_) {
        if (said != SolveReason::converged || !std::isfinite(size)) {
          report.reason = said == SolveReason::converged ? SolveReason::not_finite : said;
          std::fill(x.begin(), x.end(), Complex(std::numeric_limits<double>::quiet_NaN()));
        }
        return report;
      }
      if (!std::isfinite(size)) return report.reason = SolveReason::not_finite, report;
      if (size <= options_.tolerance * b_norm) return report;
      if (report.iterations >= options_.iterations)
        return report.reason = SolveReason::iterations, report;
      if (said == SolveReason::singular || size >= 0.999 * before)
        return report.reason = said == SolveReason::converged ? SolveReason::stagnated : said,
               report;
    }
  }

  /// Columns of `rhs`, one after the other, by one call of the factors. Their reports follow those
  /// that are there.
  void block(std::vector<Complex>& rhs, std::vector<Complex>& found, Index count, bool adjoint,
             std::vector<SolveReport>& reports) const {
    const auto n = static_cast<PetscInt>(a_.n), m = static_cast<PetscInt>(count);
    std::vector<Complex> given(static_cast<std::size_t>(n)), x(given.size()), r(given.size());
    const auto at = [&](std::vector<Complex>& v, Index c) { return v.begin() + c * a_.n; };
    std::vector<int> exponent(static_cast<std::size_t>(count), 0);
    const std::vector<Complex> before = rhs;
    for (Index c = 0; c < count; ++c) {
      std::copy_n(at(rhs, c), n, given.begin());
      exponent[static_cast<std::size_t>(c)] =
          detail::exponent_beyond_squares(given, length(given), [](double mine) { return mine; });
      detail::shift_exponents(-exponent[static_cast<std::size_t>(c)], given);
      for (Index i = 0; adjoint && i < a_.n; ++i)
        given[static_cast<std::size_t>(i)] = std::conj(given[static_cast<std::size_t>(i)]);
      std::copy_n(given.begin(), n, at(rhs, c));
    }
    // A^H x = b is A^T conj(x) = conj(b); of A = A^T no other factors are needed.
    Mat b = nullptr, y = nullptr;
    check(MatCreateSeqDense(comm_, n, m, rhs.data(), &b));
    check(MatCreateSeqDense(comm_, n, m, found.data(), &y));
    const PetscErrorCode code = adjoint && options_.pc == "lu"
                                    ? MatMatSolveTranspose(its_->factors(), b, y)
                                    : MatMatSolve(its_->factors(), b, y);
    MatDestroy(&b);
    MatDestroy(&y);
    check(code);
    for (Index c = 0; c < count; ++c) {
      std::copy_n(at(found, c), n, x.begin());
      for (Index i = 0; adjoint && i < a_.n; ++i)
        x[static_cast<std::size_t>(i)] = std::conj(x[static_cast<std::size_t>(i)]);
      const int e = exponent[static_cast<std::size_t>(c)];
      std::copy_n(before.begin() + c * a_.n, n, given.begin());
      detail::shift_exponents(-e, given);
      SolveReport one{SolveReason::exact, 1, {0.0}};
      if (const double size = length(given); size != 0) {
        const double left = residual(given, x, adjoint, r);
        one.residuals.back() = left / size;
        if (!std::isfinite(left)) {
          one.reason = SolveReason::not_finite;
          std::fill(x.begin(), x.end(), Complex(std::numeric_limits<double>::quiet_NaN()));
        }
      }
      detail::shift_exponents(e, x);
      std::copy(x.begin(), x.end(), at(found, c));
      reports.push_back(std::move(one));
    }
  }

  SolverOperator a_;
  PetscOptions options_;
  bool direct_, in_blocks_ = false, given_back_ = false;
  MPI_Comm comm_;
  KspPtr its_;
  Index first_ = 0, last_ = 0;
};

}  // namespace

std::unique_ptr<PreparedSolver> prepare_linear(const SolverOperator& a, const PetscOptions& o) {
  const Session session;
  return std::make_unique<Prepared>(a, o);
}

}  // namespace tessera::solvers
