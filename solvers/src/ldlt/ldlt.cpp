// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/ldlt.h"

#include "ldlt/factor.h"
#include "tessera/autodiff/exponents.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace tessera::solvers {
namespace {

using namespace ldlt_detail;

CsrPatternPtr full_pattern(Index n) {
  std::vector<Index> begin(static_cast<std::size_t>(n) + 1),
      column(static_cast<std::size_t>(n * n));
  for (Index i = 0; i <= n; ++i) begin[i] = i * n;
  for (Index e = 0; e < n * n; ++e) column[e] = e % n;
  return csr_pattern(n, n, std::move(begin), std::move(column));
}

CsrPatternPtr pattern_of(const SolverOperator& a) {
  if (a.ranks || a.rows)
    throw Error(
        "[ldlt] the unknowns lie on ranks, and it factors what one process has; use cg, minres, "
        "gmres, or mumps_symmetric()");
  if (a.kind == SolverOperator::Kind::function)
    throw Error(
        "[ldlt] it needs the entries of the matrix, and the operator is a function; give them as "
        "LinearOperator::csr or dense, or use cg, minres or gmres");
  return a.pattern ? a.pattern : full_pattern(a.n);
}

template <class T>
class LdltPrepared final : public PreparedSolver {
 public:
  explicit LdltPrepared(const SolverOperator& a)
      : pattern_(pattern_of(a)),
        values_(static_cast<const T*>(a.values)),
        factor_(checked(analysis_of(pattern_)), values_) {}

  std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                 bool adjoint) const override {
    const T* const from = static_cast<const T*>(b);
    T* const to = static_cast<T*>(x);
    const Index n = pattern_->rows();
    const auto all = [columns](SolveReason reason, std::vector<double> residuals) {
      return std::vector<SolveReport>(static_cast<std::size_t>(columns),
                                      SolveReport{reason, 0, std::move(residuals)});
    };
    const Pivots pivots = factor_.pivots();
    if (pivots.zero || !pivots.finite) {
      std::fill(to, to + n * columns, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
      return all(pivots.zero ? SolveReason::singular : SolveReason::not_finite, {});
    }
    std::vector<SolveReport> reports = all(SolveReason::exact, {0.0});
    if (n == 0 || columns == 0) return reports;
    // Blocks of columns go to threads; a column's bits do not depend on its block. Where factors
    // stay in the cache narrow blocks do, too; where they do not, wide ones read them less often.
    constexpr Index cached = 16 << 20;
    const Index most = (factor_.bytes() <= cached ? 3 : 12) * kBlock<T>;
    const Index blocks = (columns + most - 1) / most;
    parallel_chunks(blocks, [&](Index k) {
      const Index begin = k * columns / blocks, end = (k + 1) * columns / blocks;
      solve_block(from + begin, to + begin, end - begin, columns, adjoint, reports.data() + begin);
    });
    return reports;
  }

 private:
  using R = RealOf<T>;
  static constexpr double kEps = std::numeric_limits<R>::epsilon();
  static constexpr double kRefine = 64 * kEps, kAccept = 1024 * kEps;
  static constexpr double kTrusted = 32;  ///< growth of which no residual need be looked at
  static constexpr int kRounds = 5;

  struct Errors {
    double backward = 0;  ///< |b - A x| / (|A| |x| + |b|)
    double residual = 0;  ///< |b - A x| / |b|
  };

  /// Throws where the matrix is not its transposed, up to rounding.
  std::shared_ptr<const Analysis> checked(std::shared_ptr<const Analysis> a) const {
    const CsrPattern& p = *pattern_;
    std::vector<R> diagonal(static_cast<std::size_t>(p.rows()), R(0));
    for (Index i = 0; i < p.rows(); ++i)
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e)
        if (p.column()[e] == i) diagonal[i] = std::abs(values_[e]);
    constexpr R most = 1000 * static_cast<R>(kEps);
    for (Index i = 0; i < p.rows(); ++i)
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e) {
        const Index j = p.column()[e], m = a->mirror[e];
        if (m >= 0 && (j <= i || values_[e] == values_[m])) continue;
        const T other = m >= 0 ? values_[m] : T(0);
        if (sum_of_parts(values_[e] - other) <= most * largest_part(values_[e])) continue;
        const R size =
            std::max(std::abs(values_[e]), std::sqrt(diagonal[i]) * std::sqrt(diagonal[j]));
        if (!(std::abs(values_[e] - other) > most * size)) continue;  // NaN is told later
        throw Error("[ldlt] the matrix is not symmetric: a(" + std::to_string(i) + ", " +
                    std::to_string(j) + ") = " + text(values_[e]) + ", a(" + std::to_string(j) +
                    ", " + std::to_string(i) + ") = " + (m >= 0 ? text(other) : "none") +
                    "; use mumps_lu(), or dense_lu()" +
                    (kIsComplex<T> ? " (A = A^T is asked for, not A = A^H)" : ""));
      }
    return a;
  }
  /// Bounds of abs(v) from above and below, without its hypot.
  static R sum_of_parts(T v) { return std::abs(std::real(v)) + std::abs(std::imag(v)); }
  static R largest_part(T v) { return std::max(std::abs(std::real(v)), std::abs(std::imag(v))); }
  static std::string text(T v) {
    if constexpr (kIsComplex<T>)
      return std::to_string(v.real()) + (v.imag() < 0 ? " - " : " + ") +
             std::to_string(std::abs(v.imag())) + " i";
    else
      return std::to_string(v);
  }

  /// Largest sum of the sizes of a row's entries.
  double norm_of_rows() const {
    double largest = 0;
    for (Index i = 0; i < pattern_->rows(); ++i) {
      double sum = 0;
      for (Index e = pattern_->row_begin()[i]; e < pattern_->row_begin()[i + 1]; ++e)
        sum += static_cast<double>(std::abs(values_[e]));
      largest = std::max(largest, sum);
    }
    return largest;
  }

  /// Of each column of b and x, rows `stride` apart. The residuals go to r, rows `count` apart.
  std::vector<Errors> errors(const T* b, const T* x, Index count, Index stride, bool adjoint,
                             T* r) const {
    const CsrPattern& p = *pattern_;
    const auto m = static_cast<std::size_t>(count);
    // Squares of b 2^-e are in range.
    std::vector<double> scale(m), rr(m, 0), bb(m, 0), xx(m, 0), largest(m, 0);
    for (Index i = 0; i < p.rows(); ++i)
      for (std::size_t c = 0; c < m; ++c) {
        const T v = b[i * stride + static_cast<Index>(c)];
        largest[c] =
            std::max({largest[c], std::abs(double(std::real(v))), std::abs(double(std::imag(v)))});
      }
    for (std::size_t c = 0; c < m; ++c)
      scale[c] = std::ldexp(1.0, -std::clamp(detail::exponent_of_largest(largest[c]), -1000, 1000));
    std::vector<T> row(m);
    const auto square = [](T v, double s) {
      const double re = std::real(v) * s, im = std::imag(v) * s;
      return re * re + im * im;
    };
    for (Index i = 0; i < p.rows(); ++i) {
      std::copy(b + i * stride, b + i * stride + count, row.begin());
      for (Index e = p.row_begin()[i]; e < p.row_begin()[i + 1]; ++e) {
        const T* const at = x + p.column()[e] * stride;
        for (std::size_t c = 0; c < m; ++c) row[c] -= product(values_[e], at[c], adjoint);
      }
      for (std::size_t c = 0; c < m; ++c) {
        rr[c] += square(row[c], scale[c]);
        bb[c] += square(b[i * stride + static_cast<Index>(c)], scale[c]);
        xx[c] += square(x[i * stride + static_cast<Index>(c)], scale[c]);
      }
      std::copy(row.begin(), row.end(), r + i * count);
    }
    const double norm = norm_of_rows();
    std::vector<Errors> of(m);
    for (std::size_t c = 0; c < m; ++c) {
      if (rr[c] == 0) continue;
      const double length = std::sqrt(rr[c]);
      of[c] = {length / (norm * std::sqrt(xx[c]) + std::sqrt(bb[c])), length / std::sqrt(bb[c])};
    }
    return of;
  }
  /// a b, or conj(a) b.
  static T product(T a, T b, bool conjugated) {
    if constexpr (kIsComplex<T>) {
      const RealOf<T> im = conjugated ? -a.imag() : a.imag();
      return {a.real() * b.real() - im * b.imag(), a.real() * b.imag() + im * b.real()};
    } else {
      return a * b;
    }
  }

  void solve_block(const T* b, T* x, Index count, Index stride, bool adjoint,
                   SolveReport* reports) const {
    const auto m = static_cast<std::size_t>(count);
    std::vector<R> bad(m);
    factor_.solve(b, x, count, stride, adjoint, bad.data());
    for (std::size_t c = 0; c < m; ++c)
      if (bad[c] != 0) reports[c].reason = SolveReason::not_finite;
    if (factor_.pivots().growth > kTrusted) refine(b, x, count, stride, adjoint, reports);
  }
  /// Each column by itself, until its error is small or falls no more.
  void refine(const T* b, T* x, Index count, Index stride, bool adjoint,
              SolveReport* reports) const {
    const Index n = pattern_->rows();
    const auto m = static_cast<std::size_t>(count);
    std::vector<T> r(static_cast<std::size_t>(n * count)), d(r.size());
    std::vector<R> bad(m);
    const auto add = [&](std::size_t c, R sign) {
      for (Index i = 0; i < n; ++i)
        x[i * stride + static_cast<Index>(c)] += sign * d[static_cast<std::size_t>(i) * m + c];
    };
    std::vector<Errors> now = errors(b, x, count, stride, adjoint, r.data());
    std::vector<char> goes_on(m, 1);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t c = 0; c < m; ++c) goes_on[c] = goes_on[c] && now[c].backward > kRefine;
      if (std::none_of(goes_on.begin(), goes_on.end(), [](char g) { return g != 0; })) break;
      factor_.solve(r.data(), d.data(), count, count, adjoint, bad.data());
      for (std::size_t c = 0; c < m; ++c)
        if (goes_on[c]) add(c, R(1));
      const std::vector<Errors> next = errors(b, x, count, stride, adjoint, r.data());
      for (std::size_t c = 0; c < m; ++c) {
        if (!goes_on[c]) continue;
        goes_on[c] = next[c].backward < now[c].backward;
        if (goes_on[c])
          now[c] = next[c];
        else
          add(c, R(-1));
      }
    }
    for (std::size_t c = 0; c < m; ++c) {
      reports[c].residuals = {now[c].residual};
      if (!std::isfinite(now[c].backward))
        reports[c].reason = SolveReason::not_finite;
      else if (!(now[c].backward <= kAccept))
        reports[c].reason = SolveReason::stagnated;
    }
  }

  CsrPatternPtr pattern_;
  const T* values_;
  Factor<T> factor_;
};

class Ldlt final : public LinearSolver {
 public:
  std::string name() const override { return "L D L^T"; }
  bool joins_columns() const override { return true; }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    switch (a.dtype) {
      case Dtype::f32:
        return std::make_unique<LdltPrepared<float>>(a);
      case Dtype::f64:
        return std::make_unique<LdltPrepared<double>>(a);
      case Dtype::c64:
        return std::make_unique<LdltPrepared<c64>>(a);
      default:
        return std::make_unique<LdltPrepared<c128>>(a);
    }
  }
};

}  // namespace

LinearSolverPtr ldlt() {
  static const LinearSolverPtr one = std::make_shared<const Ldlt>();
  return one;
}

}  // namespace tessera::solvers
