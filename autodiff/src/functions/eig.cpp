// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and both kinds of eigenvectors of general matrices.
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/lapack.h"
#include "../ops/matrix_forms.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/matrix_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace tessera {
namespace {

using namespace kernels;
using detail::H;

/// With M = W^H dA V and F_ij = 1 / (w_j - w_i) off the diagonal:
///   dw = diag M,   dV = V (F o M) - V diag(g),   dW = -W dV^H W,
/// where g keeps the length of each column and the phase of its largest component.
struct EigPrimitive : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "eig";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 25);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    const Dtype z = complex_of(in[0].dtype);
    return {{z, with_last(in[0], {in[0].shape.back()})}, {z, in[0].shape}, {z, in[0].shape}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      using Z = std::complex<real_t<T>>;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        if (s.n == 0) return;
        const Index size = s.n * s.n;
        for_matrices(
            s.batch, 25 * s.n * size,
            [&](Index b) {
              return one<T>(s.n, static_cast<const T*>(in[0]->data) + b * size,
                            static_cast<Z*>(out[0]->data) + b * s.n,
                            static_cast<Z*>(out[1]->data) + b * size,
                            static_cast<Z*>(out[2]->data) + b * size);
            },
            [&](Index b, int info) {
              fail(name, info < 0 ? matrix_name(b, s.batch) + " holds NaN or infinity"
                                  : matrix_name(b, s.batch) + " did not converge (LAPACK code " +
                                        std::to_string(info) + ")");
            });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  /// Elements of LAPACK's memory.
  template <class T>
  struct Needs {
    int work;
    explicit Needs(Index size) {
      const int n = static_cast<int>(size), ask = -1;
      int info = 0;
      T none, best;
      real_t<T> r;
      std::complex<real_t<T>> w;
      if constexpr (is_cplx<T>)
        by_type<T>(0, 0, cgeev_, zgeev_)("V", "V", &n, &none, &n, &w, &none, &n, &none, &n, &best,
                                         &ask, &r, &info);
      else
        by_type<T>(sgeev_, dgeev_, 0, 0)("V", "V", &n, &none, &n, &r, &r, &none, &n, &none, &n,
                                         &best, &ask, &info);
      work = static_cast<int>(std::real(best));
    }
  };
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(name, in[0], [](auto tag, const Matrices& s) -> std::size_t {
      if (s.n == 0) return 0;
      using T = typename decltype(tag)::type;
      using R = real_t<T>;
      using Z = std::complex<R>;
      const Index n2 = s.n * s.n;
      return 3 * detail::scratch_bytes<T>(n2 + kSlack<T>) + 2 * detail::scratch_bytes<Z>(n2) +
             detail::scratch_bytes<T>(Needs<T>(s.n).work) + detail::scratch_bytes<R>(2 * s.n) +
             detail::scratch_bytes<Z>(s.n) + 2 * detail::scratch_bytes<Index>(s.n);
    });
  }
  template <class T>
  static int one(Index size, const T* a, std::complex<real_t<T>>* values,
                 std::complex<real_t<T>>* vectors, std::complex<real_t<T>>* left) {
    using R = real_t<T>;
    using Z = std::complex<R>;
    const std::size_t n2 = static_cast<std::size_t>(size * size);
    for (std::size_t i = 0; i < n2; ++i)
      if (!std::isfinite(std::real(a[i])) || !std::isfinite(std::imag(a[i]))) return -1;
    // By columns A is its transpose: conjugates of LAPACK's left vectors are the right ones of A,
    // and the other way round.
    detail::Scratch<T> copy(n2 + kSlack<T>), l(n2 + kSlack<T>), r(n2 + kSlack<T>);
    std::copy(a, a + n2, copy.begin());
    const int n = static_cast<int>(size);
    const Needs<T> needs(size);
    int info = 0;
    detail::Scratch<T> work(static_cast<std::size_t>(needs.work));
    detail::Scratch<R> rwork(static_cast<std::size_t>(2 * size));
    detail::Scratch<Z> w(static_cast<std::size_t>(size)), right_vectors(n2), left_vectors(n2);
    if constexpr (is_cplx<T>) {
      by_type<T>(0, 0, cgeev_, zgeev_)("V", "V", &n, copy.data(), &n, w.data(), l.data(), &n,
                                       r.data(), &n, work.data(), &needs.work, rwork.data(), &info);
      for (std::size_t i = 0; i < n2; ++i)
        right_vectors[i] = std::conj(l[i]), left_vectors[i] = std::conj(r[i]);
    } else {
      R *const re = rwork.data(), *const im = re + size;
      by_type<T>(sgeev_, dgeev_, 0, 0)("V", "V", &n, copy.data(), &n, re, im, l.data(), &n,
                                       r.data(), &n, work.data(), &needs.work, &info);
      // Columns j and j + 1 hold real and imaginary part of a conjugate pair.
      for (Index j = 0; j < size; ++j) {
        w[j] = {re[j], im[j]};
        const Index first = im[j] < 0 ? j - 1 : j;
        const R sign = im[j] == 0 ? R(0) : im[j] > 0 ? R(1) : R(-1);
        const Index second = im[j] == 0 ? first : first + 1;
        for (Index i = 0; i < size; ++i) {
          right_vectors[j * size + i] = {l[first * size + i], -sign * l[second * size + i]};
          left_vectors[j * size + i] = {r[first * size + i], -sign * r[second * size + i]};
        }
      }
    }
    if (info != 0) return info;
    detail::Scratch<Index> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index i, Index k) {
      return w[i].real() < w[k].real() || (w[i].real() == w[k].real() && w[i].imag() < w[k].imag());
    });
    for (Index j = 0; j < size; ++j) {
      values[j] = w[order[j]];
      Z *v = right_vectors.data() + order[j] * size, *u = left_vectors.data() + order[j] * size;
      normalise(size, v, u);
      for (Index i = 0; i < size; ++i) vectors[i * size + j] = v[i], left[i * size + j] = u[i];
    }
    pair_close(size, values, vectors, left, order.data(), right_vectors.data(),
               left_vectors.data());
    return 0;
  }
  /// W^H V = 1 also where values are close. geev makes vectors of both kinds by themselves: of a
  /// gap d they are those of each other up to eps |w| / d, of equal values not at all. Values are
  /// of one group where a chain of gaps below sqrt(eps) |w| joins them; equal ones need not follow
  /// each other, as -i, i, -i, i whose real parts are 0 up to rounding. `columns` is memory for n,
  /// `g` and `u` for n^2 values each.
  template <class Z>
  static void pair_close(Index n, const Z* values, const Z* vectors, Z* left, Index* columns, Z* g,
                         Z* u) {
    using R = typename Z::value_type;
    R most = 0;
    for (Index j = 0; j < n; ++j) most = std::max(most, std::abs(values[j]));
    const R close = std::sqrt(std::numeric_limits<R>::epsilon()) * most;
    detail::Scratch<Index> group(static_cast<std::size_t>(n));  // the first value of each one's
    std::iota(group.begin(), group.end(), Index{0});
    for (Index j = 1; j < n; ++j)
      for (Index i = j; i-- > 0 && values[j].real() - values[i].real() <= close;) {
        const Index one = group[i], other = group[j];
        if (one != other && std::abs(values[j] - values[i]) <= close)
          std::replace(group.begin(), group.begin() + j + 1, std::max(one, other),
                       std::min(one, other));
      }
    for (Index first = 0; first < n; ++first) {
      if (group[first] != first) continue;
      Index count = 0;
      for (Index j = first; j < n; ++j)
        if (group[j] == first) columns[count++] = j;
      if (count > 1)
        pair_off(n, std::span(columns, static_cast<std::size_t>(count)), vectors, left, g, u);
    }
  }
  /// U <- U (V^H U)^-1 of these columns, so that U^H V = 1; where one of them is infinite, or they
  /// do not span their space, they stay. `g` and `u` are memory for n^2 values each.
  template <class Z>
  static void pair_off(Index n, std::span<const Index> columns, const Z* vectors, Z* left, Z* g,
                       Z* u) {
    using R = typename Z::value_type;
    const Index k = static_cast<Index>(columns.size());
    std::fill_n(g, k * k, Z(0));  // V^H U
    for (Index a = 0; a < k; ++a)
      for (Index b = 0; b < k; ++b)
        for (Index i = 0; i < n; ++i)
          g[a * k + b] += std::conj(vectors[i * n + columns[a]]) * left[i * n + columns[b]];
    // Gauss and Jordan by columns, on U as on V^H U.
    const R least = static_cast<R>(8 * n) * std::numeric_limits<R>::epsilon();
    for (Index i = 0; i < n; ++i)
      for (Index b = 0; b < k; ++b) u[i * k + b] = left[i * n + columns[b]];
    const auto each_row = [&](auto&& f) {
      for (Index a = 0; a < k; ++a) f(g + a * k);
      for (Index i = 0; i < n; ++i) f(u + i * k);
    };
    for (Index a = 0; a < k; ++a) {
      Index pivot = a;
      for (Index b = a + 1; b < k; ++b)
        if (std::abs(g[a * k + b]) > std::abs(g[a * k + pivot])) pivot = b;
      if (!(std::abs(g[a * k + pivot]) > least) || !std::isfinite(std::abs(g[a * k + pivot])))
        return;
      each_row([&](Z* row) { std::swap(row[a], row[pivot]); });
      const Z over = Z(1) / g[a * k + a];
      each_row([&](Z* row) { row[a] *= over; });
      for (Index b = 0; b < k; ++b) {
        if (b == a) continue;
        const Z share = g[a * k + b];
        each_row([&](Z* row) { row[b] -= share * row[a]; });
      }
    }
    for (Index i = 0; i < n; ++i)
      for (Index b = 0; b < k; ++b) left[i * n + columns[b]] = u[i * k + b];
  }
  /// |v| = 1, its largest component real and positive, u^H v = 1; of a defective pair, u^H v no
  /// more than rounding, u is infinite.
  template <class Z>
  static void normalise(Index n, Z* v, Z* u) {
    using R = typename Z::value_type;
    Index best = 0;
    R square = 0;
    for (Index i = 0; i < n; ++i) {
      square += std::norm(v[i]);
      if (std::abs(v[i]) > std::abs(v[best])) best = i;
    }
    const Z factor = std::conj(v[best]) / (std::abs(v[best]) * std::sqrt(square));
    Z overlap = 0;
    for (Index i = 0; i < n; ++i) {
      v[i] *= factor;
      if (i == best) v[i] = v[i].real();
      overlap += std::conj(v[i]) * u[i];
    }
    if (std::abs(overlap) <= static_cast<R>(8 * n) * std::numeric_limits<R>::epsilon())
      overlap = 0;  // geev gives |u| = 1
    for (Index i = 0; i < n; ++i) u[i] = divide(u[i], overlap);
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const Tensor &w = a.out[0], &v = a.out[1], &u = a.out[2];
    const Index n = v.dim(-1);
    if (n == 0) {  // nothing to choose a phase by
      for (int k : {0, 1, 2}) o[k] = detail::zeros_of(a.out[k].type());
      return;
    }
    const Tensor m = matmul(H(u), matmul(cast(t[0], v.dtype()), v));
    const Degenerate degenerate = a.get<detail::SpectrumAttr>().degenerate();
    const Tensor gap = expand_dims(w, -2) - expand_dims(w, -1), equals = detail::equal_pairs(w);
    const Tensor free = matmul(v, m * detail::inverse_gaps(gap, equals, degenerate));
    // The largest component is the largest of those that are real.
    const Tensor largest = argmax(where(equal(imag(v), 0.0), real(v), -1.0), -2);
    const Tensor chosen =
        cast(equal(expand_dims(arange(n), 1), expand_dims(largest, -2)), real_of(v.dtype()));
    const Tensor stretch = sum(real(conj(v) * free), {-2}),
                 turn = sum(chosen * imag(free), {-2}) / sum(chosen * real(v), {-2});
    o[0] = diagonal(m);
    if (degenerate == Degenerate::zero)
      o[0] = o[0] * cast(detail::differentiable_once(equals, gap), v.dtype());
    o[1] = free - v * expand_dims(complex(stretch, turn), -2);
    o[2] = neg(matmul(u, matmul(H(o[1]), u)));
  }
};
TESSERA_REGISTER(EigPrimitive);

}  // namespace

Eig eig(Arg a, Degenerate degenerate) {
  const Tensor t = detail::to_tensor("eig", a);
  Tensor out[3];
  const Tensor* in[] = {&t};
  dispatch(primitive<EigPrimitive>(), in, detail::spectrum(degenerate), a.line, out);
  return {out[0], out[1], out[2]};
}
Tensor eigvals(Arg a) { return eig(a).values; }

}  // namespace tessera
