// SPDX-License-Identifier: Apache-2.0
//
// Krylov methods. Each is a `cycle`: from a residual r it finds a correction d with |r - A d| <=
// target, as far as its recurrences can tell. The driver adds d to x, computes the true residual
// and starts again, until the true one meets the tolerance, no longer falls, or the products run
// out.
#include "../kernels/lapack.h"
#include "../kernels/map.h"
#include "tessera/autodiff/exponents.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/solve.h"

#include <array>
#include <cmath>

namespace tessera {
namespace {

using namespace kernels;

template <class T>
using Vector = std::vector<T>;
/// Sums of single precision are taken in double.
template <class T>
using Sum = std::conditional_t<is_cplx<T>, c128, double>;

/// Sums over vectors, in parts (vectors_on_ranks.h).
template <class T>
struct Sums {
  const VectorOnRanks* ranks;

  template <std::size_t k>
  using Pairs = std::array<std::pair<const Vector<T>*, const Vector<T>*>, k>;
  /// <x, y> = sum conj(x) y of each pair, by one message to each rank.
  template <std::size_t k>
  std::array<Sum<T>, k> dots(const Pairs<k>& pairs) const {
    const Index n = static_cast<Index>(pairs[0].first->size()),
                parts = ranks ? static_cast<Index>(ranks->parts().size()) - 1
                              : (n + kVectorPart - 1) / kVectorPart;
    const auto begin = [&](Index p) {
      return ranks ? ranks->parts()[static_cast<std::size_t>(p)] : std::min(n, p * kVectorPart);
    };
    using Row = std::array<Sum<T>, k>;
    std::vector<Row> part(static_cast<std::size_t>(parts));
    parallel_chunks(parts, [&](Index p) {
      for (std::size_t j = 0; j < k; ++j) {
        const T *x = pairs[j].first->data(), *y = pairs[j].second->data();
        Sum<T> s(0);
        for (Index i = begin(p); i < begin(p + 1); ++i)
          s += multiply(Sum<T>(conjugate(x[i])), Sum<T>(y[i]));
        part[p][j] = s;
      }
    });
    Row total{};
    if (ranks) {
      constexpr std::size_t width = sizeof(Row) / sizeof(double);
      ranks->sum({reinterpret_cast<const double*>(part.data()), width * part.size()}, width,
                 {reinterpret_cast<double*>(&total), width});
      return total;
    }
    for (Index step = 1; step < parts; step *= 2)
      for (Index q = 0; q + step < parts; q += 2 * step)
        for (std::size_t j = 0; j < k; ++j) part[q][j] += part[q + step][j];
    return parts > 0 ? part[0] : total;
  }
  Sum<T> dot(const Vector<T>& x, const Vector<T>& y) const { return dots(Pairs<1>{{{&x, &y}}})[0]; }
  double length(const Vector<T>& x) const { return std::sqrt(std::real(dot(x, x))); }
};
/// y += a x.
template <class T>
void add(Sum<T> a, const Vector<T>& x, Vector<T>& y) {
  const T s(a);
  forall(static_cast<Index>(x.size()),
         [s, px = x.data(), py = y.data()](Index i) { py[i] = py[i] + multiply(s, px[i]); });
}
/// y = x + a y.
template <class T>
void scale_add(const Vector<T>& x, Sum<T> a, Vector<T>& y) {
  const T s(a);
  forall(static_cast<Index>(x.size()),
         [s, px = x.data(), py = y.data()](Index i) { py[i] = px[i] + multiply(s, py[i]); });
}
template <class T>
void scale(Sum<T> a, Vector<T>& x) {
  const T s(a);
  forall(static_cast<Index>(x.size()), [s, px = x.data()](Index i) { px[i] = multiply(s, px[i]); });
}

/// One system in progress.
template <class T>
struct Iteration {
  const SolverOperator& a;
  const KrylovOptions& options;
  const Vector<T>& diagonal;  ///< 1 / diagonal, or empty
  bool adjoint;
  int left;  ///< products that may still be taken
  double b_norm;
  SolveReport report;

  Sum<T> dot(const Vector<T>& x, const Vector<T>& y) const {
    return Sums<T>{a.ranks.get()}.dot(x, y);
  }
  /// <x, y> and <u, v>.
  std::array<Sum<T>, 2> dots(const Vector<T>& x, const Vector<T>& y, const Vector<T>& u,
                             const Vector<T>& v) const {
    using Pairs = typename Sums<T>::template Pairs<2>;
    return Sums<T>{a.ranks.get()}.dots(Pairs{{{&x, &y}, {&u, &v}}});
  }
  double length(const Vector<T>& x) const { return Sums<T>{a.ranks.get()}.length(x); }
  Vector<T> product(const Vector<T>& x) {
    Vector<T> y(x.size());
    a.apply(x.data(), y.data(), adjoint);
    --left;
    ++report.iterations;
    return y;
  }
  Vector<T> preconditioned(const Vector<T>& r) const {
    if (options.preconditioner) {
      const Tensor z = contiguous(options.preconditioner(from_span<T>(r, {a.n}), adjoint));
      if (z.type() != Type{a.dtype, {a.n}})
        fail("linear_solve", "the preconditioner gave a " + to_string(z.type()) + " for a " +
                                 to_string(Type{a.dtype, {a.n}}));
      const auto d = z.data<T>();
      return {d.begin(), d.end()};
    }
    Vector<T> z = r;
    if (!diagonal.empty())
      forall(a.n, [adjoint = adjoint, d = diagonal.data(), p = z.data()](Index i) {
        p[i] = multiply(adjoint ? conjugate(d[i]) : d[i], p[i]);
      });
    return z;
  }
  void note(double residual) { report.residuals.push_back(residual / b_norm); }
};

/// Minimises the error in the norm of A over the Krylov space. Stops where p^H A p shows that A is
/// not positive.
template <class T>
void cycle_cg(Iteration<T>& it, Vector<T> r, Vector<T>& d, double target) {
  Vector<T> z = it.preconditioned(r), p = z;
  double rz = std::real(it.dot(r, z));
  while (it.left > 0) {
    const Vector<T> q = it.product(p);
    const double pq = std::real(it.dot(p, q));
    if (!(pq > 0) || !std::isfinite(pq)) return;
    const double alpha = rz / pq;
    add<T>(alpha, p, d);
    add<T>(-alpha, q, r);
    z = it.preconditioned(r);
    const auto [rr, r_z] = it.dots(r, r, r, z);
    const double residual = std::sqrt(std::real(rr)), next = std::real(r_z);
    it.note(residual);
    if (residual <= target) return;
    scale_add<T>(z, next / rz, p);
    rz = next;
  }
}

/// Minimises |r - A d|: Lanczos vectors v, rotations (c, s), directions w.
template <class T>
void cycle_minres(Iteration<T>& it, Vector<T> v, Vector<T>& d, double target) {
  double eta = it.length(v), beta = 0, c = 1, s = 0, c_old = 1, s_old = 0;
  scale<T>(1 / eta, v);
  Vector<T> v_old(v.size(), T(0)), w(v.size(), T(0)), w_old = w;
  while (it.left > 0) {
    Vector<T> q = it.product(v);
    add<T>(-beta, v_old, q);
    const double alpha = std::real(it.dot(v, q));
    add<T>(-alpha, v, q);
    const double beta_next = it.length(q);
    const double delta = c * alpha - c_old * s * beta;
    const double rho1 = std::hypot(delta, beta_next), rho2 = s * alpha + c_old * c * beta,
                 rho3 = s_old * beta;
    if (!(rho1 > 0) || !std::isfinite(rho1)) return;
    c_old = c, s_old = s, c = delta / rho1, s = beta_next / rho1;
    Vector<T> w_next = v;
    add<T>(-rho3, w_old, w_next);
    add<T>(-rho2, w, w_next);
    scale<T>(1 / rho1, w_next);
    add<T>(c * eta, w_next, d);
    eta = -s * eta;
    it.note(std::abs(eta));
    if (std::abs(eta) <= target || beta_next == 0) return;
    w_old = std::move(w), w = std::move(w_next);
    v_old = std::move(v), v = std::move(q);
    scale<T>(1 / beta_next, v);
    beta = beta_next;
  }
}

/// r = (polynomials of degree 1 that shrink the residual) times the residual of bi-conjugate
/// gradients.
template <class T>
void cycle_bicgstab(Iteration<T>& it, Vector<T> r, Vector<T>& d, double target) {
  const Vector<T> shadow = r;
  Vector<T> p = r;
  Sum<T> rho = it.dot(shadow, r);
  while (it.left > 1) {
    const Vector<T> p_hat = it.preconditioned(p), v = it.product(p_hat);
    const Sum<T> sv = it.dot(shadow, v);
    if (sv == Sum<T>(0) || !std::isfinite(std::abs(sv))) return;
    const Sum<T> alpha = divide(rho, sv);
    add<T>(alpha, p_hat, d);
    add<T>(-alpha, v, r);
    double residual = it.length(r);
    it.note(residual);
    if (residual <= target) return;
    const Vector<T> r_hat = it.preconditioned(r), t = it.product(r_hat);
    const auto [t_t, t_r] = it.dots(t, t, t, r);
    const double tt = std::real(t_t);
    if (!(tt > 0) || !std::isfinite(tt)) return;
    const Sum<T> omega = t_r / tt;
    add<T>(omega, r_hat, d);
    add<T>(-omega, t, r);
    const auto [rr, next] = it.dots(r, r, shadow, r);
    residual = std::sqrt(std::real(rr));
    it.note(residual);
    if (residual <= target || omega == Sum<T>(0) || next == Sum<T>(0)) return;
    add<T>(-omega, v, p);
    scale_add<T>(r, multiply(divide(next, rho), divide(alpha, omega)), p);
    rho = next;
  }
  if (it.left == 1) it.left = 0;  // a step takes two products
}

/// Minimises |r - A M^-1 y| over `restart` Arnoldi vectors v; the triangular factor of their matrix
/// by rotations.
template <class T>
void cycle_gmres(Iteration<T>& it, Vector<T> r, Vector<T>& d, double target) {
  const int m = std::max(1, it.options.restart);
  std::vector<Vector<T>> v;
  std::vector<std::vector<Sum<T>>> h;  // columns
  std::vector<double> c;
  std::vector<Sum<T>> s, g{Sum<T>(it.length(r))};
  scale<T>(1 / std::real(g[0]), r);
  v.push_back(std::move(r));
  for (int j = 0; j < m && it.left > 0; ++j) {
    Vector<T> w = it.product(it.preconditioned(v[j]));
    std::vector<Sum<T>> column;
    for (int i = 0; i <= j; ++i) {
      column.push_back(it.dot(v[i], w));
      add<T>(-column[i], v[i], w);
    }
    const double below = it.length(w);
    for (int i = 0; i < j; ++i) {
      const Sum<T> a = column[i], b = column[i + 1];
      column[i] = c[i] * a + multiply(s[i], b);
      column[i + 1] = c[i] * b - multiply(conjugate(s[i]), a);
    }
    const double top = std::abs(column[j]), size = std::hypot(top, below);
    if (!(size > 0) || !std::isfinite(size)) break;
    const Sum<T> phase = top > 0 ? column[j] / top : Sum<T>(1);
    c.push_back(top / size);
    s.push_back(phase * (below / size));
    column[j] = phase * size;
    g.push_back(-multiply(conjugate(s[j]), g[j]));
    g[j] = c[j] * g[j];
    h.push_back(std::move(column));
    it.note(std::abs(g[j + 1]));
    if (std::abs(g[j + 1]) <= target || below == 0) break;
    scale<T>(1 / below, w);
    v.push_back(std::move(w));
  }
  const int k = static_cast<int>(h.size());
  for (int i = k - 1; i >= 0; --i) {
    for (int j = i + 1; j < k; ++j) g[i] -= multiply(h[j][i], g[j]);
    g[i] = divide(g[i], h[i][i]);
  }
  Vector<T> y(d.size(), T(0));
  for (int i = 0; i < k; ++i) add<T>(g[i], v[i], y);
  add<T>(1, it.preconditioned(y), d);
}

enum class Method : std::uint8_t { cg, minres, bicgstab, gmres };

template <class T>
SolveReport solve_column(Method method, const SolverOperator& a, const KrylovOptions& options,
                         const Vector<T>& diagonal, bool adjoint, const Vector<T>& b,
                         Vector<T>& x) {
  const VectorOnRanks* const ranks = a.ranks.get();
  const double norm = Sums<T>{ranks}.length(b);
  if (const int e = detail::exponent_beyond_squares(
          b, norm, [&](double mine) { return ranks ? ranks->max(mine) : mine; });
      e != 0) {  // norms are those of b 2^-e
    Vector<T> scaled = b;
    detail::shift_exponents(-e, scaled);
    const SolveReport report = solve_column(method, a, options, diagonal, adjoint, scaled, x);
    detail::shift_exponents(e, x);
    return report;
  }
  const double tolerance = options.tolerance > 0            ? options.tolerance
                           : size_of(real_of(a.dtype)) == 4 ? 1e-5
                                                            : 1e-10;
  std::fill(x.begin(), x.end(), T(0));
  Iteration<T> it{
      a, options, diagonal, adjoint, options.iterations, norm, {SolveReason::converged, 0, {}}};
  SolveReport& report = it.report;
  if (it.b_norm == 0) return {SolveReason::converged, 0, {0.0}};
  Vector<T> r = b;
  double residual = it.b_norm;
  while (true) {
    if (!std::isfinite(residual)) return report.reason = SolveReason::not_finite, report;
    if (residual <= tolerance * it.b_norm) return report;
    if (it.left <= 0) return report.reason = SolveReason::iterations, report;
    Vector<T> d(b.size(), T(0));
    const double target = 0.9 * tolerance * it.b_norm;
    switch (method) {
      case Method::cg:
        cycle_cg(it, r, d, target);
        break;
      case Method::minres:
        cycle_minres(it, r, d, target);
        break;
      case Method::bicgstab:
        cycle_bicgstab(it, r, d, target);
        break;
      case Method::gmres:
        cycle_gmres(it, r, d, target);
        break;
    }
    add<T>(1, d, x);
    Vector<T> ax(b.size());
    a.apply(x.data(), ax.data(), adjoint);
    r = b;
    add<T>(-1, ax, r);
    const double before = residual;
    residual = it.length(r);
    it.note(residual);
    if (it.left > 0 && residual > tolerance * it.b_norm && residual >= 0.999 * before)
      return report.reason = SolveReason::stagnated, report;
  }
}

template <class T>
class Prepared final : public PreparedSolver {
 public:
  Prepared(Method method, KrylovOptions options, const SolverOperator& a)
      : method_(method), options_(std::move(options)), a_(a) {
    if (!options_.jacobi || options_.preconditioner || method == Method::minres ||
        a.kind == SolverOperator::Kind::function)
      return;
    const T* v = static_cast<const T*>(a.values);
    const auto unknown = [&](Index column) {  // of this rank
      return a.rows ? a.rows->numbers()[static_cast<std::size_t>(column)] - a.rows->first()
                    : column;
    };
    diagonal_.assign(static_cast<std::size_t>(a.n), T(0));
    bool usable = true;
    for (Index i = 0; i < a.n && usable; ++i) {
      if (a.kind == SolverOperator::Kind::dense)
        diagonal_[i] = v[i * a.n + i];
      else
        for (Index e = a.pattern->row_begin()[i]; e < a.pattern->row_begin()[i + 1]; ++e)
          if (unknown(a.pattern->column()[e]) == i) diagonal_[i] = v[e];
      usable = method == Method::cg ? std::real(diagonal_[i]) > 0 : diagonal_[i] != T(0);
      diagonal_[i] = divide(T(1), diagonal_[i]);
    }
    if (a.ranks) usable = a.ranks->max(usable ? 0 : 1) == 0;
    if (!usable) diagonal_.clear();
  }
  std::vector<SolveReport> solve(const void* b, void* x, Index columns,
                                 bool adjoint) const override {
    const T* from = static_cast<const T*>(b);
    T* to = static_cast<T*>(x);
    std::vector<SolveReport> reports;
    Vector<T> rhs(static_cast<std::size_t>(a_.n)), found(rhs.size());
    for (Index c = 0; c < columns; ++c) {
      for (Index i = 0; i < a_.n; ++i) rhs[i] = from[i * columns + c];
      reports.push_back(solve_column(method_, a_, options_, diagonal_, adjoint, rhs, found));
      for (Index i = 0; i < a_.n; ++i) to[i * columns + c] = found[i];
    }
    return reports;
  }

 private:
  Method method_;
  KrylovOptions options_;
  SolverOperator a_;
  Vector<T> diagonal_;
};

class Krylov final : public LinearSolver {
 public:
  Krylov(Method method, KrylovOptions options) : method_(method), options_(std::move(options)) {}
  std::string name() const override {
    constexpr const char* names[] = {"cg", "minres", "bicgstab", "gmres"};
    return names[static_cast<int>(method_)];
  }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
    switch (a.dtype) {
      case Dtype::f32:
        return std::make_unique<Prepared<float>>(method_, options_, a);
      case Dtype::f64:
        return std::make_unique<Prepared<double>>(method_, options_, a);
      case Dtype::c64:
        return std::make_unique<Prepared<c64>>(method_, options_, a);
      default:
        return std::make_unique<Prepared<c128>>(method_, options_, a);
    }
  }

 private:
  Method method_;
  KrylovOptions options_;
};
LinearSolverPtr make(Method method, KrylovOptions options) {
  return std::make_shared<const Krylov>(method, std::move(options));
}

}  // namespace

LinearSolverPtr cg(KrylovOptions options) { return make(Method::cg, std::move(options)); }
LinearSolverPtr minres(KrylovOptions options) { return make(Method::minres, std::move(options)); }
LinearSolverPtr bicgstab(KrylovOptions options) {
  return make(Method::bicgstab, std::move(options));
}
LinearSolverPtr gmres(KrylovOptions options) { return make(Method::gmres, std::move(options)); }

const char* to_string(SolveReason r) {
  switch (r) {
    case SolveReason::exact:
      return "solved by a factorisation";
    case SolveReason::converged:
      return "converged";
    case SolveReason::iterations:
      return "the limit of iterations was reached";
    case SolveReason::stagnated:
      return "the residual stopped falling";
    case SolveReason::not_finite:
      return "NaN or infinity came up";
    default:
      return "a pivot is zero or not positive";
  }
}

}  // namespace tessera
