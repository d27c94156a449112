// SPDX-License-Identifier: Apache-2.0
//
// The determinant. It is a polynomial of the entries, so that it has derivatives of any order at
// matrices of any rank:
//
//   d det A = sum_ij C(A)_ij dA_ij,   C(A) the cofactors, of degree n - 1 in A,
//
// and one primitive holds all that follows, C(A; E_1 ... E_k), the derivative of C at A along E_1
// ... E_k: the coefficient of t_1 ... t_k in the cofactors of A + sum t_l E_l. It is linear and
// symmetric in the E_l, vanishes for k >= n, and
//
//   d/dA C(A; E_1 ... E_k) along E = C(A; E_1 ... E_k, E),
//   <X, C(A; E_1 ...)> = conj <E_1, conj C(A; conj X, E_2 ...)>.
//
// Nothing divides by what may be zero. Matrices up to 4 x 4 are expanded by rows, well conditioned
// ones inverted (all of them is P below). Others are taken in their singular vectors, A = U S V^H
// and B = S + sum t_l U^H E_l V, where rows of large singular values (P) are eliminated and those
// of small ones (Q) remain, with coefficients that are polynomials in the t,
//
//   B^-1 det B = det B_PP [det Z X + Y adj Z Y', -Y adj Z; -adj Z Y', adj Z],
//   X = B_PP^-1, Y = X B_PQ, Y' = B_QP X,
//
// Z = B_QQ - B_QP X B_PQ = diag(s_Q) + N with N = O(t), whose cofactors are a sum over sets I of
// the rows: those of N on I times the product of the s outside of it, of which k + 1 rows are
// enough.
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/lapack.h"
#include "tessera/autodiff/ops.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace tessera {
namespace {

using namespace kernels;
using detail::Scratch;

/// det of a row-major n x n matrix by LU with pivoting; `m` is overwritten by its factors and has
/// kSlack elements to spare.
template <class T>
T det_by_lu(Scratch<T>& m, Index size, Scratch<int>& swaps) {
  const int n = static_cast<int>(size);
  swaps.resize(static_cast<std::size_t>(size));
  int info = 0;  // > 0: a pivot is exactly zero, and so is the product
  TESSERA_LAPACK(T, getrf)
  (&n, &n, m.data(), &n, swaps.data(), &info);  // by columns it is the transpose, of the same det
  T d(1);
  for (int i = 0; i < n; ++i) d = multiply(d, swaps[i] == i + 1 ? m[i * n + i] : -m[i * n + i]);
  return d;
}

struct Det : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "det";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 2.0 / 3);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    return {{in[0].dtype, with_last(in[0], {})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        const T* a = static_cast<const T*>(in[0]->data);
        T* o = static_cast<T*>(out[0]->data);
        for_matrices(
            s.batch, s.n * s.n * s.n + 1,
            [&](Index b) {
              Scratch<T> m(static_cast<std::size_t>(s.n * s.n + kSlack<T>));
              std::copy(a + b * s.n * s.n, a + (b + 1) * s.n * s.n, m.begin());
              Scratch<int> swaps;
              o[b] = s.n == 0 ? T(1) : det_by_lu(m, s.n, swaps);
              return 0;
            },
            [](Index, int) {});
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(name, in[0], [](auto tag, const Matrices& s) {
      using T = typename decltype(tag)::type;
      return detail::scratch_bytes<T>(s.n * s.n + kSlack<T>) + detail::scratch_bytes<int>(s.n);
    });
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
};

struct Cofactors : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "cofactors";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 21);
  }
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    for (const Type& t : in)
      if (t != in[0]) fail(name, "matrices differ: " + to_string(in[0]) + " and " + to_string(t));
    return {in[0]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) { run<T>(in, *out[0]); };
    });
    return table[static_cast<int>(in[0])];
  }

  /// Matrices, their products with one t, polynomials of matrices.
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    const Matrices s(name, in[0]);
    const Index k = std::min<Index>(static_cast<Index>(in.size()) - 1, 16), sets = Index{1} << k,
                n2 = s.n * s.n, element = is_complex(in[0].dtype) ? 16 : 8;
    if (k >= s.n) return matrices_workspace(s.batch, 0);
    const Index numbers = s.n <= 4 ? (k + 1 + sets) * n2 + (Index{2} << s.n) * sets
                                   : (3 * sets + 4 * k + 16) * n2 + 128 * s.n;
    return matrices_workspace(
        s.batch, detail::whole_lines(static_cast<std::size_t>(numbers * element)) + 4096);
  }

  /// A matrix of polynomials in t_1 ... t_k of which no square occurs: coefficients by the set of
  /// the t, the bits of the index; without elements: 0.
  template <class W>
  using Polynomial = std::vector<Scratch<W>>;

  /// Cofactors [p, p] of m on the rows and columns `at`, [p, p, 2^k]. Without row i, row after row
  /// chooses a column that is left and a term in t's that are left: held[columns taken][t taken].
  template <class W>
  static void expand(const Polynomial<W>& m, Index stride, std::span<const Index> at,
                     Scratch<W>& held, Scratch<W>& next, W* c) {
    const Index p = static_cast<Index>(at.size());
    const std::size_t columns = std::size_t{1} << p, sets = m.size();
    for (Index i = 0; i < p; ++i) {
      held.assign(columns * sets, W(0));
      held[0] = W(1);
      for (Index row = 0; row < p; ++row) {
        if (row == i) continue;
        next.assign(held.size(), W(0));
        for (std::size_t q = 0; q < columns; ++q)
          for (std::size_t used = 0; used < sets; ++used) {
            const W& have = held[q * sets + used];
            if (have == W(0)) continue;
            for (Index j = 0; j < p; ++j) {
              if (q >> j & 1) continue;
              const W term = std::popcount(q >> j) & 1 ? -have : have;
              const std::size_t from = static_cast<std::size_t>(at[row] * stride + at[j]);
              W* to = &next[(q | std::size_t{1} << j) * sets];
              for (std::size_t t = 0; t < sets; ++t)
                if (!(t & used) && !m[t].empty()) to[used | t] += multiply(term, m[t][from]);
            }
          }
        std::swap(held, next);
      }
      for (Index j = 0; j < p; ++j)
        for (std::size_t t = 0; t < sets; ++t) {
          const W& minor = held[(columns - 1 - (std::size_t{1} << j)) * sets + t];
          c[(i * p + j) * static_cast<Index>(sets) + static_cast<Index>(t)] =
              (i + j) & 1 ? -minor : minor;
        }
    }
  }
  /// Adjugate of diag(s) + N, N = O(t).
  template <class W>
  static Polynomial<W> adjugate(std::span<const double> s, const Polynomial<W>& n, Scratch<W>& held,
                                Scratch<W>& next) {
    const Index size = static_cast<Index>(s.size()), sets = static_cast<Index>(n.size());
    Polynomial<W> adj(n.size(), Scratch<W>(static_cast<std::size_t>(size * size), W(0)));
    for (Index p = 1; p <= std::min<Index>(size, std::bit_width(n.size())); ++p) {
      std::vector<Index> set(static_cast<std::size_t>(p));
      std::iota(set.begin(), set.end(), Index{0});
      Scratch<W> part(static_cast<std::size_t>(p * p * sets));
      for (bool more = true; more;) {
        double outside = 1;
        for (Index i = 0, at = 0; i < size; ++i) {
          if (at < p && set[at] == i)
            ++at;
          else
            outside *= s[i];
        }
        if (outside != 0) {
          expand<W>(n, size, set, held, next, part.data());
          for (Index i = 0; i < p; ++i)
            for (Index j = 0; j < p; ++j)
              for (Index t = 0; t < sets; ++t)
                adj[t][set[j] * size + set[i]] += outside * part[(i * p + j) * sets + t];
        }
        Index i = p - 1;  // the next set in lexicographic order
        while (i >= 0 && set[i] == size - p + i) --i;
        more = i >= 0;
        if (more) std::iota(set.begin() + i, set.end(), set[i] + 1);
      }
    }
    return adj;
  }
  /// y + f a b of [m, l] and [l, n]; of all coefficients, or of that of t_1 ... t_k alone.
  template <class W>
  static void add_product(Polynomial<W>& y, double f, const Polynomial<W>& a,
                          const Polynomial<W>& b, Index m, Index l, Index n,
                          bool last_alone = false) {
    for (std::size_t t = last_alone ? y.size() - 1 : 0; t < y.size(); ++t)
      for (std::size_t u = t;; u = (u - 1) & t) {  // the subsets of t
        if (!a[u].empty() && !b[t ^ u].empty()) {
          if (y[t].empty()) y[t].assign(static_cast<std::size_t>(m * n), W(0));
          for (Index i = 0; i < m; ++i)
            for (Index k = 0; k < l; ++k) {
              const W factor = f * a[u][i * l + k];
              const W* from = b[t ^ u].data() + k * n;
              W* to = y[t].data() + i * n;
              for (Index j = 0; j < n; ++j) to[j] += multiply(factor, from[j]);
            }
        }
        if (u == 0) break;
      }
  }

  /// In double precision throughout.
  template <class T>
  static void run(Inputs in, const View& out) {
    using W = std::conditional_t<is_cplx<T>, c128, double>;
    const Matrices s(name, *in[0]);
    const Index n = s.n, k = static_cast<Index>(in.size()) - 1;
    if (k > 16)
      fail(name, "derivatives of det of order " + std::to_string(k + 1) + "; there are 17 at most");
    for_matrices(
        s.batch, (3 * k + 20) * n * n * n + 64,
        [&](Index b) {
          const auto matrix = [&](Index operand) {
            const T* p =
                static_cast<const T*>(in[static_cast<std::size_t>(operand)]->data) + b * n * n;
            return Scratch<W>(p, p + n * n);
          };
          T* to = static_cast<T*>(out.data) + b * n * n;
          if (k >= n) {
            std::fill(to, to + n * n, T(0));
            return 0;
          }
          Polynomial<W> m(std::size_t{1} << k);
          m[0] = matrix(0);
          for (Index l = 0; l < k; ++l) m[std::size_t{1} << l] = matrix(l + 1);
          Scratch<W> c(static_cast<std::size_t>(n * n) * m.size());
          if (n <= 4) {
            Scratch<W> held, next;
            const Index all[] = {0, 1, 2, 3};
            expand<W>(m, n, {all, static_cast<std::size_t>(n)}, held, next, c.data());
            for (Index i = 0; i < n * n; ++i)
              to[i] = T(c[static_cast<std::size_t>(i + 1) * m.size() - 1]);
          } else {
            c = by_elimination(n, std::move(m));
            for (Index i = 0; i < n * n; ++i) to[i] = T(c[i]);
          }
          return 0;
        },
        [](Index, int) {});
  }

  template <class W>
  static Scratch<W> by_elimination(Index n, Polynomial<W> b) {
    const std::size_t sets = b.size();
    for (const W& x : b[0])
      if (!std::isfinite(std::real(x)) || !std::isfinite(std::imag(x)))
        return Scratch<W>(b[0].size(), W(std::nan("")));
    Scratch<W> u, vh, held, next;
    Scratch<double> s;
    Polynomial<W> x(sets), det_p(sets);
    Index r = n;
    W phase(1);
    if (!invert(n, b[0], std::bit_width(sets) - 1, x[0], det_p[0])) {
      decompose(n, b[0], u, s, vh);
      for (Scratch<W> m : {u, vh}) {
        m.resize(static_cast<std::size_t>(n * n + kSlack<W>));
        Scratch<int> swaps;
        const W d = det_by_lu(m, n, swaps);
        phase = multiply(phase, d / std::abs(d));
      }
      for (std::size_t t = 1; t < sets; t *= 2)
        b[t] = times(n, u, times(n, b[t], vh, false, true), true, false);
      // Large: elimination multiplies rounding by at most 16 for each t.
      r = std::count_if(s.begin(), s.end(), [&](double v) { return v > s[0] / 16; });
      x[0].assign(static_cast<std::size_t>(r * r), W(0));
      det_p[0] = {W(1)};
      for (Index i = 0; i < r; ++i) x[0][i * r + i] = W(1 / s[i]), det_p[0][0] *= s[i];
    }
    const Index q = n - r;
    const auto block = [&](Index row, Index rows, Index column, Index columns) {
      Polynomial<W> y(sets);
      for (std::size_t t = 1; t < sets; t *= 2)
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j) y[t].push_back(b[t][(row + i) * n + column + j]);
      return y;
    };
    const Polynomial<W> pp = block(0, r, 0, r), pq = block(0, r, r, q), qp = block(r, q, 0, r);
    // X = X_0 (1 - N_PP X), and det B_PP by d/dt_l det B_PP = det B_PP tr(X dB_PP/dt_l).
    for (std::size_t t = 1; t < sets; ++t) {
      Polynomial<W> moved(1), solved(1);
      for (std::size_t l = 1; l <= t; l *= 2)
        if (t & l) add_product<W>(moved, -1, {pp[l]}, {x[t ^ l]}, r, r, r);
      add_product<W>(solved, 1, {x[0]}, moved, r, r, r);
      x[t] = std::move(solved[0]);
      const std::size_t l = std::bit_floor(t), rest = t ^ l;
      W d(0);
      for (std::size_t v = rest;; v = (v - 1) & rest) {
        W trace(0);
        for (Index i = 0; i < r; ++i)
          for (Index j = 0; j < r; ++j) trace += multiply(x[v][i * r + j], pp[l][j * r + i]);
        d += multiply(trace, det_p[rest ^ v][0]);
        if (v == 0) break;
      }
      det_p[t] = {d};
    }
    Polynomial<W> z = block(r, q, r, q), y(sets), y2(sets), adj_z(sets), det_z(sets), scaled(sets);
    if (q == 0) {
      det_z[0] = {W(1)};
    } else {
      add_product(y, 1, x, pq, r, r, q);
      add_product(y2, 1, qp, x, q, r, r);
      add_product(z, -1, qp, y, q, r, q);
      const std::span<const double> small{s.data() + r, static_cast<std::size_t>(q)};
      adj_z = adjugate<W>(small, z, held, next);
      for (std::size_t t = 0; t < sets; ++t) {  // by the first row
        W d = multiply(W(small[0]), adj_z[t][0]);
        for (std::size_t v = t; v; v = (v - 1) & t)
          for (Index j = 0; j < q && !z[v].empty(); ++j)
            d += multiply(z[v][j], adj_z[t ^ v][j * q]);
        det_z[t] = {d};
      }
      const Polynomial<W> plain = std::move(adj_z);
      adj_z.assign(sets, {});
      for (std::size_t t = 0; t < sets; ++t) {  // det B_PP adj Z
        adj_z[t].assign(static_cast<std::size_t>(q * q), W(0));
        for (std::size_t v = t;; v = (v - 1) & t) {
          for (Index i = 0; i < q * q; ++i) adj_z[t][i] += multiply(det_p[t ^ v][0], plain[v][i]);
          if (v == 0) break;
        }
      }
    }
    add_product(scaled, 1, det_p, det_z, 1, 1, 1);
    Polynomial<W> top(sets), left(sets), right(sets);
    for (std::size_t t = sets - 1;; --t) {  // det B_PP det Z X, of t_1 ... t_k
      if (top[sets - 1].empty()) top[sets - 1].assign(static_cast<std::size_t>(r * r), W(0));
      for (Index i = 0; i < r * r; ++i)
        top[sets - 1][i] += multiply(scaled[sets - 1 - t][0], x[t][i]);
      if (t == 0) break;
    }
    add_product(left, 1, y, adj_z, r, q, q);
    add_product(right, -1, adj_z, y2, q, q, r, true);
    add_product(top, 1, left, y2, r, q, r, true);
    // The cofactors are the transpose of the adjugate.
    Scratch<W> c(static_cast<std::size_t>(n * n), W(0));
    const auto put = [&](const Scratch<W>& m, Index row, Index rows, Index column, Index columns,
                         double f) {
      for (Index i = 0; i < rows && !m.empty(); ++i)
        for (Index j = 0; j < columns; ++j) c[(column + j) * n + row + i] = f * m[i * columns + j];
    };
    put(top.back(), 0, r, 0, r, 1), put(left.back(), 0, r, r, q, -1),
        put(right.back(), r, q, 0, r, 1), put(adj_z.back(), r, q, r, q, 1);
    if (u.empty()) return c;
    for (W& e : u) e = conjugate(e);
    for (W& e : vh) e = conjugate(e);
    c = times(n, u, times(n, c, vh, false, false), false, false);
    for (W& e : c) e = multiply(phase, e);
    return c;
  }
  /// The inverse and the determinant of a, unless cond^k (cond^1 for k = 0) by the 1-norm exceeds
  /// 1e5: what k products with the inverse that cancel make of rounding.
  template <class W>
  static bool invert(Index size, Scratch<W> a, int k, Scratch<W>& inverse, Scratch<W>& d) {
    const auto norm1 = [&](const Scratch<W>& m) {
      double most = 0;
      for (Index j = 0; j < size; ++j) {
        double s = 0;
        for (Index i = 0; i < size; ++i) s += std::abs(m[i * size + j]);
        most = std::max(most, s);
      }
      return most;
    };
    const double length = norm1(a);
    const std::size_t n2 = a.size();
    a.resize(n2 + kSlack<W>), inverse.assign(n2 + kSlack<W>, W(0));
    for (Index i = 0; i < size; ++i) inverse[i * size + i] = W(1);
    Scratch<int> swaps;
    d = {det_by_lu(a, size, swaps)};
    if (d[0] == W(0)) return false;
    const int n = static_cast<int>(size);
    int info = 0;
    TESSERA_LAPACK(W, getrs)
    ("N", &n, &n, a.data(), &n, swaps.data(), inverse.data(), &n,
     &info);  // by columns all is transposed
    inverse.resize(n2);
    return std::pow(length * norm1(inverse), std::max(k, 1)) <= 1e5;
  }
  /// a = u diag(s) vh.
  template <class W>
  static void decompose(Index size, Scratch<W> a, Scratch<W>& u, Scratch<double>& s,
                        Scratch<W>& vh) {
    const std::size_t n2 = static_cast<std::size_t>(size * size + kSlack<W>);
    a.resize(n2), u.resize(n2), vh.resize(n2), s.resize(static_cast<std::size_t>(size));
    const int n = static_cast<int>(size), ask = -1;
    int info = 0;
    W best;
    Scratch<int> iwork(static_cast<std::size_t>(8 * size));
    // By columns a is its transpose, vh^T diag(s) u^T.
    const auto gesdd = [&](W* work, const int* lwork) {
      if constexpr (is_cplx<W>) {
        Scratch<double> rwork(static_cast<std::size_t>(5 * size * size + 7 * size));
        zgesdd_("S", &n, &n, a.data(), &n, s.data(), vh.data(), &n, u.data(), &n, work, lwork,
                rwork.data(), iwork.data(), &info);
      } else {
        dgesdd_("S", &n, &n, a.data(), &n, s.data(), vh.data(), &n, u.data(), &n, work, lwork,
                iwork.data(), &info);
      }
    };
    gesdd(&best, &ask);
    const int lwork = static_cast<int>(std::real(best));
    Scratch<W> work(static_cast<std::size_t>(lwork));
    gesdd(work.data(), &lwork);
    if (info != 0) std::fill(s.begin(), s.end(), std::nan(""));
    u.resize(static_cast<std::size_t>(size * size)), vh.resize(u.size());
  }
  template <class W>
  static Scratch<W> times(Index n, const Scratch<W>& a, const Scratch<W>& b, bool a_adjoint,
                          bool b_adjoint) {
    Scratch<W> y(static_cast<std::size_t>(n * n), W(0));
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < n; ++l) {
        const W f = a_adjoint ? conjugate(a[l * n + i]) : a[i * n + l];
        for (Index j = 0; j < n; ++j)
          y[i * n + j] += multiply(f, b_adjoint ? conjugate(b[j * n + l]) : b[l * n + j]);
      }
    return y;
  }

  static Tensor of(const std::vector<Tensor>& v) {
    std::vector<const Tensor*> in;
    for (const Tensor& t : v) in.push_back(&t);
    return dispatch1(primitive<Cofactors>(), in, {}, detail::context_line());
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    std::vector<Tensor> v(a.in.begin(), a.in.end());
    for (std::size_t l = 1; l < v.size(); ++l) {
      if (!t[l].defined()) continue;
      std::vector<Tensor> moved = v;
      moved[l] = t[l];
      o[0] = detail::add_tangents(o[0], of(moved));
    }
    if (!t[0].defined() || static_cast<Index>(v.size()) >= v[0].dim(-1)) return;
    v.push_back(t[0]);
    o[0] = detail::add_tangents(o[0], of(v));
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) detail::no_rule(name, "transpose", "it is not linear in the matrix");
    for (std::size_t l = 1; l < a.in.size(); ++l) {
      if (!linear[l]) continue;
      std::vector<Tensor> v(a.in.begin(), a.in.end());
      v[l] = conj(ct[0]);
      o[l] = conj(of(v));
    }
  }
};

void Det::jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  if (t[0].defined()) o[0] = sum(Cofactors::of({a.in[0]}) * t[0], {-2, -1});
}
TESSERA_REGISTER(Det);
TESSERA_REGISTER(Cofactors);

}  // namespace

Tensor det(Arg a) { return apply(primitive<Det>(), {}, a.line, detail::to_tensor("det", a)); }

}  // namespace tessera
