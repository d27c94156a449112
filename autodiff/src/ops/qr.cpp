// SPDX-License-Identifier: Apache-2.0
//
// QR and least squares.
#include "../core/cost.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;
using detail::H;

/// With W = Q^H dA R^-1 on the first k columns and the anti-Hermitian O that has W's strict lower
/// triangle and imaginary diagonal: dQ = dA R^-1 - Q (W - O), dR = (W - O) R, with real diagonal;
/// NaN where these columns are dependent. Further columns of R are Q^H A (S. F. Walter & L. Lehmann
/// 2013, doi 10.1016/j.jcp.2013.04.024).
struct Qr : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "qr";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 8.0 / 3);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], false);
    const int nd = in[0].shape.size();
    const Index m = in[0].shape[nd - 2], n = in[0].shape[nd - 1], k = std::min(m, n);
    return {{in[0].dtype, with_last(in[0], {m, k})}, {in[0].dtype, with_last(in[0], {k, n})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        const Index k = std::min(s.m, s.n);
        if (k == 0) return;
        for_matrices(
            s.batch, s.m * s.n * k,
            [&](Index b) {
              return one<T>(s.m, s.n, k, static_cast<const T*>(in[0]->data) + b * s.m * s.n,
                            static_cast<T*>(out[0]->data) + b * s.m * k,
                            static_cast<T*>(out[1]->data) + b * k * s.n);
            },
            [](Index b, int info) {
              fail(name, "LAPACK refused matrix " + std::to_string(b) + " with code " +
                             std::to_string(info));
            });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  template <class T>
  static int work_of(Index rows, Index cols, Index k) {
    const int m = static_cast<int>(rows), n = static_cast<int>(cols), ask = -1;
    int info = 0;
    T best, none;
    TESSERA_LAPACK(T, geqrf)(&m, &n, &none, &m, &none, &best, &ask, &info);
    return std::max({static_cast<int>(std::real(best)), n, 64 * static_cast<int>(k)});
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(name, in[0], [](auto tag, const Matrices& s) -> std::size_t {
      using T = typename decltype(tag)::type;
      const Index k = std::min(s.m, s.n);
      if (k == 0) return 0;
      return detail::scratch_bytes<T>(s.m * s.n + kSlack<T>) + detail::scratch_bytes<T>(k) +
             detail::scratch_bytes<T>(work_of<T>(s.m, s.n, k));
    });
  }
  template <class T>
  static int one(Index rows, Index cols, Index k, const T* a, T* q, T* r) {
    detail::Scratch<T> f(static_cast<std::size_t>(rows * cols + kSlack<T>)),
        tau(static_cast<std::size_t>(k));
    transpose_into(a, rows, cols, f.data());
    const int m = static_cast<int>(rows), n = static_cast<int>(cols), kk = static_cast<int>(k),
              lwork = work_of<T>(rows, cols, k);
    int info = 0;
    detail::Scratch<T> work(static_cast<std::size_t>(lwork));
    TESSERA_LAPACK(T, geqrf)(&m, &n, f.data(), &m, tau.data(), work.data(), &lwork, &info);
    if (info) return info;
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < cols; ++j) r[i * cols + j] = j < i ? T(0) : f[j * rows + i];
    by_type<T>(sorgqr_, dorgqr_, cungqr_, zungqr_)(&m, &kk, &kk, f.data(), &m, tau.data(),
                                                   work.data(), &lwork, &info);
    transpose_into(f.data(), k, rows, q);
    for (Index i = 0; i < k; ++i) {
      if (std::real(r[i * cols + i]) >= 0) continue;
      for (Index j = i; j < cols; ++j) r[i * cols + j] = -r[i * cols + j];
      for (Index l = 0; l < rows; ++l) q[l * k + i] = -q[l * k + i];
    }
    return info;
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const Tensor &q = a.out[0], &r = a.out[1];
    const Index k = q.dim(-1), n = r.dim(-1);
    const Tensor r1 = detail::nan_if_singular(slice(r, -1, 0, k));
    const Tensor x = triangular_solve(r1, slice(t[0], -1, 0, k), {.lower = false, .left = false});
    const Tensor w = matmul(H(q), x);
    const Tensor strict = tril(w, -1);
    Tensor turn = strict - H(strict);
    if (is_complex(w.dtype())) turn = turn + detail::on_diagonal(complex(0.0, imag(diagonal(w))));
    const Tensor rest = w - turn;
    o[0] = x - matmul(q, rest);
    o[1] = matmul(triu(rest), r1);
    if (n > k)
      o[1] = concatenate(
          {o[1], matmul(H(o[0]), slice(a.in[0], -1, k, n)) + matmul(H(q), slice(t[0], -1, k, n))},
          -1);
  }
};
TESSERA_REGISTER(Qr);

}  // namespace

QR qr(Arg a) {
  const Tensor t = detail::to_tensor("qr", a);
  Tensor out[2];
  const Tensor* in[] = {&t};
  dispatch(primitive<Qr>(), in, {}, a.line, out);
  return {out[0], out[1]};
}

Tensor lstsq(Arg a, Arg b) {
  auto [x, y] = detail::one_dtype("lstsq", a, b);
  need_matrices("lstsq", x.type(), false);
  const bool vector = y.ndim() == x.ndim() - 1;
  if (vector) y = expand_dims(y, -1);
  if (y.ndim() != x.ndim() || y.dim(-2) != x.dim(-2))
    fail("lstsq",
         "the matrix " + to_string(x.type()) + " and the right-hand side " + to_string(y.type()) +
             " do not fit",
         a.line);
  Tensor z;
  if (x.dim(-2) >= x.dim(-1)) {
    const auto [q, r] = qr(Arg(x, a.line));
    z = triangular_solve(r, matmul(H(q), y), {.lower = false});
  } else {  // A^H = Q R: x = Q R^-H b lies in the row space, so it is the shortest
    const auto [q, r] = qr(Arg(H(x), a.line));
    z = matmul(q, triangular_solve(r, y, {.lower = false, .transpose = true, .conjugate = true}));
  }
  return vector ? squeeze(z, -1) : z;
}

}  // namespace tessera
