// SPDX-License-Identifier: Apache-2.0
//
// Eigenvectors of Hermitian matrices and the singular value decomposition.
// M. Giles 2008, "Collected matrix derivative results"; M. Seeger et al. 2017, arXiv:1710.08717;
// Z.-Q. Wan & S.-X. Zhang 2019, arXiv:1909.02659 (the phases of complex singular vectors).
#include "../core/cost.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;
using detail::H;

/// The factor of modulus 1 that makes the largest of v[0], v[step], ... real and positive.
template <class T>
T phase_to_positive(const T* v, Index n, Index step) {
  Index best = 0;
  for (Index i = 1; i < n; ++i)
    if (std::abs(v[i * step]) > std::abs(v[best * step])) best = i;
  if constexpr (is_cplx<T>) {
    const auto size = std::abs(v[best * step]);
    return size == 0 ? T(1) : conjugate(v[best * step]) / size;
  } else {
    return v[best * step] < 0 ? T(-1) : T(1);
  }
}

/// Reads the lower triangle. With M = V^H dA V and F_ij = 1 / (w_j - w_i): dw = Re diag M, dV = V
/// (F o M).
struct EighPrimitive : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "eigh";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 9);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    return {{real_of(in[0].dtype), with_last(in[0], {in[0].shape.back()})}, in[0]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      using R = real_t<T>;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        if (s.n == 0) return;
        for_matrices(
            s.batch, 9 * s.n * s.n * s.n,
            [&](Index b) {
              return one<T>(s.n, static_cast<const T*>(in[0]->data) + b * s.n * s.n,
                            static_cast<R*>(out[0]->data) + b * s.n,
                            static_cast<T*>(out[1]->data) + b * s.n * s.n);
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
    int work, rwork = 0, iwork = 0;
    explicit Needs(Index size) {
      const int n = static_cast<int>(size), ask = -1;
      const Index least = 1 + 6 * size + 2 * size * size;  // of work, or of rwork
      int info = 0;
      T none, best;
      real_t<T> w, rbest;
      if constexpr (is_cplx<T>) {
        by_type<T>(0, 0, cheevd_, zheevd_)("V", "U", &n, &none, &n, &w, &best, &ask, &rbest, &ask,
                                           &iwork, &ask, &info);
        work = lapack_size(best, size * (size + 2)), rwork = lapack_size(rbest, least);
      } else {
        by_type<T>(ssyevd_, dsyevd_, 0, 0)("V", "U", &n, &none, &n, &w, &best, &ask, &iwork, &ask,
                                           &info);
        work = lapack_size(best, least);
      }
    }
  };
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(name, in[0], [](auto tag, const Matrices& s) -> std::size_t {
      using T = typename decltype(tag)::type;
      if (s.n == 0) return 0;
      const Needs<T> needs(s.n);
      return detail::scratch_bytes<T>(s.n * s.n + kSlack<T>) +
             detail::scratch_bytes<T>(needs.work) + detail::scratch_bytes<real_t<T>>(needs.rwork) +
             detail::scratch_bytes<int>(needs.iwork);
    });
  }
  template <class T>
  static int one(Index size, const T* a, real_t<T>* w, T* v) {
    using R = real_t<T>;
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j <= i; ++j)
        if (!std::isfinite(std::real(a[i * size + j])) ||
            !std::isfinite(std::imag(a[i * size + j])))
          return -1;
    // By columns the lower triangle of A is the upper one of conj(A), whose eigenvectors are
    // conj(V).
    detail::Scratch<T> z(static_cast<std::size_t>(size * size + kSlack<T>));
    std::copy(a, a + size * size, z.begin());
    const int n = static_cast<int>(size);
    const Needs<T> needs(size);
    int info = 0;
    detail::Scratch<T> work(static_cast<std::size_t>(needs.work));
    detail::Scratch<R> rwork(static_cast<std::size_t>(needs.rwork));
    detail::Scratch<int> iwork(static_cast<std::size_t>(needs.iwork));
    if constexpr (is_cplx<T>)
      by_type<T>(0, 0, cheevd_, zheevd_)("V", "U", &n, z.data(), &n, w, work.data(), &needs.work,
                                         rwork.data(), &needs.rwork, iwork.data(), &needs.iwork,
                                         &info);
    else
      by_type<T>(ssyevd_, dsyevd_, 0, 0)("V", "U", &n, z.data(), &n, w, work.data(), &needs.work,
                                         iwork.data(), &needs.iwork, &info);
    for (Index j = 0; j < size; ++j) {
      T* column = z.data() + j * size;
      for (Index i = 0; i < size; ++i) column[i] = conjugate(column[i]);
      const T phase = phase_to_positive(column, size, 1);
      for (Index i = 0; i < size; ++i) v[i * size + j] = multiply(column[i], phase);
    }
    return info;
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined() || t[0].size() == 0) return;
    const Tensor &w = a.out[0], &v = a.out[1];
    const Tensor strict = tril(t[0], -1);
    const Tensor d = diagonal(t[0]);
    const Tensor s = strict + H(strict) + detail::on_diagonal(cast(real(d), d.dtype()));
    const Tensor m = matmul(H(v), matmul(s, v));
    const Degenerate degenerate = a.get<detail::SpectrumAttr>().degenerate();
    const Tensor gap = expand_dims(w, -2) - expand_dims(w, -1), equal = detail::equal_pairs(w);
    o[0] = real(diagonal(m));
    if (degenerate == Degenerate::zero) o[0] = o[0] * detail::differentiable_once(equal, gap);
    o[1] = matmul(v, m * cast(detail::inverse_gaps(gap, equal, degenerate), m.dtype()));
  }
};

/// With P = U^H dA V: ds = Re diag P; rotations F o (P s + (P s)^H) of U and F o (s P + (s P)^H) of
/// V with F = 1 / (s_j^2 - s_i^2); the phases of U alone follow; for m != n the part of dA outside
/// of the span. These two divide by s, which counts as 0 below 8 k eps max s.
struct SvdPrimitive : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "svd";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 21);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], false);
    const int nd = in[0].shape.size();
    const Index m = in[0].shape[nd - 2], n = in[0].shape[nd - 1], k = std::min(m, n);
    return {{in[0].dtype, with_last(in[0], {m, k})},
            {real_of(in[0].dtype), with_last(in[0], {k})},
            {in[0].dtype, with_last(in[0], {k, n})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      using R = real_t<T>;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        const Index k = std::min(s.m, s.n);
        if (k == 0) return;
        for_matrices(
            s.batch, 20 * s.m * s.n * k,
            [&](Index b) {
              return one<T>(s.m, s.n, k, static_cast<const T*>(in[0]->data) + b * s.m * s.n,
                            static_cast<T*>(out[0]->data) + b * s.m * k,
                            static_cast<R*>(out[1]->data) + b * k,
                            static_cast<T*>(out[2]->data) + b * k * s.n);
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
    int work, rwork = 0, iwork;
    Needs(Index rows, Index cols, Index k) : iwork(static_cast<int>(8 * k)) {
      const int m = static_cast<int>(cols), n = static_cast<int>(rows), kk = static_cast<int>(k),
                ask = -1;
      int info = 0, i;
      T none, best;
      real_t<T> s;
      if constexpr (is_cplx<T>) {
        const Index big = std::max(rows, cols);
        rwork = static_cast<int>(std::max(5 * k * k + 5 * k, 2 * big * k + 2 * k * k + k) + 7 * k);
        by_type<T>(0, 0, cgesdd_, zgesdd_)("S", &m, &n, &none, &m, &s, &none, &m, &none, &kk, &best,
                                           &ask, &s, &i, &info);
      } else {
        by_type<T>(sgesdd_, dgesdd_, 0, 0)("S", &m, &n, &none, &m, &s, &none, &m, &none, &kk, &best,
                                           &ask, &i, &info);
      }
      work = static_cast<int>(std::real(best));
    }
  };
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(name, in[0], [](auto tag, const Matrices& s) -> std::size_t {
      using T = typename decltype(tag)::type;
      const Index k = std::min(s.m, s.n);
      if (k == 0) return 0;
      const Needs<T> needs(s.m, s.n, k);
      std::size_t each = detail::scratch_bytes<T>(needs.work) +
                         detail::scratch_bytes<real_t<T>>(needs.rwork) +
                         detail::scratch_bytes<int>(needs.iwork);
      for (Index n : {k * s.n, s.m * k, s.m * s.n}) each += detail::scratch_bytes<T>(n + kSlack<T>);
      return each;
    });
  }
  template <class T>
  static int one(Index rows, Index cols, Index k, const T* a, T* u, real_t<T>* s, T* vh) {
    using R = real_t<T>;
    for (Index i = 0; i < rows * cols; ++i)
      if (!std::isfinite(std::real(a[i])) || !std::isfinite(std::imag(a[i]))) return -1;
    // By columns A^T = V' s U'^T: LAPACK's left vectors are the rows of Vh, its right ones U, in
    // our order.
    detail::Scratch<T> left(static_cast<std::size_t>(k * cols + kSlack<T>)),
        right(static_cast<std::size_t>(rows * k + kSlack<T>));
    detail::Scratch<T> copy(static_cast<std::size_t>(rows * cols + kSlack<T>));
    std::copy(a, a + rows * cols, copy.begin());
    const int m = static_cast<int>(cols), n = static_cast<int>(rows), kk = static_cast<int>(k);
    const Needs<T> needs(rows, cols, k);
    int info = 0;
    detail::Scratch<T> work(static_cast<std::size_t>(needs.work));
    detail::Scratch<R> rwork(static_cast<std::size_t>(needs.rwork));
    detail::Scratch<int> iwork(static_cast<std::size_t>(needs.iwork));
    if constexpr (is_cplx<T>)
      by_type<T>(0, 0, cgesdd_, zgesdd_)("S", &m, &n, copy.data(), &m, s, left.data(), &m,
                                         right.data(), &kk, work.data(), &needs.work, rwork.data(),
                                         iwork.data(), &info);
    else
      by_type<T>(sgesdd_, dgesdd_, 0, 0)("S", &m, &n, copy.data(), &m, s, left.data(), &m,
                                         right.data(), &kk, work.data(), &needs.work, iwork.data(),
                                         &info);
    for (Index j = 0; j < k; ++j) {
      const T phase = phase_to_positive(right.data() + j, rows, k);
      for (Index i = 0; i < rows; ++i) u[i * k + j] = multiply(right[i * k + j], phase);
      for (Index i = 0; i < cols; ++i)
        vh[j * cols + i] = multiply(left[j * cols + i], conjugate(phase));
    }
    return info;
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined() || t[0].size() == 0) return;
    const Tensor &u = a.out[0], &s = a.out[1], &vh = a.out[2], &d = t[0];
    const Dtype type = u.dtype();
    const Index m = u.dim(-2), n = vh.dim(-1);
    const Tensor v = H(vh), dv = matmul(d, v), p = matmul(H(u), dv);
    const Degenerate degenerate = a.get<detail::SpectrumAttr>().degenerate();
    // In units of the largest singular value, whose squares neither overflow nor vanish.
    const Tensor most = stop_gradient(slice(s, -1, 0, 1)),
                 unit = where(tessera::equal(most, 0.0), 1.0, most), scaled = s / unit;
    const Tensor row = expand_dims(scaled, -2), column = expand_dims(scaled, -1);
    const Tensor gap = (row - column) * (row + column), equal = detail::equal_pairs(s);
    o[1] = real(diagonal(p));
    if (degenerate == Degenerate::zero) o[1] = o[1] * detail::differentiable_once(equal, gap);
    const Tensor f = cast(detail::inverse_gaps(gap, equal, degenerate), type);
    const Tensor wide = cast(row, type), tall = cast(column, type);
    const Tensor q = p / cast(expand_dims(unit, -1), type), ps = q * wide, sp = tall * q;
    const Tensor turn = f * (ps + H(ps));
    o[0] = matmul(u, turn);
    o[2] = matmul(H(f * (sp + H(sp))), vh);
    if (m == n && !is_complex(type)) return;
    const Tensor none = detail::negligible(s);
    if (degenerate == Degenerate::zero)
      o[1] = o[1] * detail::differentiable_once(expand_dims(none, -1), expand_dims(s, -1));
    const Tensor inverse = cast(detail::inverse_or(none, s, degenerate), type);
    if (is_complex(type))
      o[0] = o[0] + u * expand_dims(complex(0.0, imag(diagonal(p))) * inverse, -2);
    if (m > n) o[0] = o[0] + (dv - matmul(u, p)) * expand_dims(inverse, -2);
    if (n > m) {
      const Tensor ud = matmul(H(u), d);
      o[2] = o[2] + expand_dims(inverse, -1) * (ud - matmul(p, vh));
    }
  }
};
TESSERA_REGISTER(EighPrimitive);
TESSERA_REGISTER(SvdPrimitive);

}  // namespace

Eigh eigh(Arg a, Degenerate degenerate) {
  const Tensor t = detail::to_tensor("eigh", a);
  need_matrices("eigh", t.type(), true);
  const Tensor h = detail::hermitian_part(t);
  Tensor out[2];
  const Tensor* in[] = {&h};
  dispatch(primitive<EighPrimitive>(), in, detail::spectrum(degenerate), a.line, out);
  return {out[0], out[1]};
}
SVD svd(Arg a, Degenerate degenerate) {
  const Tensor t = detail::to_tensor("svd", a);
  Tensor out[3];
  const Tensor* in[] = {&t};
  dispatch(primitive<SvdPrimitive>(), in, detail::spectrum(degenerate), a.line, out);
  return {out[0], out[1], out[2]};
}

}  // namespace tessera
