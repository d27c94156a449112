// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factors and triangular systems.
// S. F. Walter 2012, "Structured higher-order algorithmic differentiation"; M. Giles 2008,
// "Collected matrix derivative results"; I. Murray 2016, arXiv:1602.07527.
#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;
using detail::H;

/// Reads the lower triangle. With A = L L^H and S the Hermitian matrix of dA's lower triangle:
/// L^-1 S L^-H = M + M^H, dL = L M, M lower with half of the diagonal.
struct Cholesky : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "cholesky";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 1.0 / 3);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], true);
    return {in[0]};
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    return matrices_workspace(Matrices(name, in[0]).batch, 0);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        if (s.n == 0) return;
        const T* a = static_cast<const T*>(in[0]->data);
        T* o = static_cast<T*>(out[0]->data);
        for_matrices(
            s.batch, s.n * s.n * s.n / 3 + 1,
            [&](Index b) {
              const int n = static_cast<int>(s.n);
              T* l = o + b * s.n * s.n;
              std::copy(a + b * s.n * s.n, a + (b + 1) * s.n * s.n, l);
              for (Index i = 0; i < s.n; ++i)
                for (Index j = i + 1; j < s.n; ++j) l[i * s.n + j] = T(0);
              // By columns the lower triangle of A is the upper one of A^T = U^H U, and U^T = L.
              int info = 0;
              TESSERA_LAPACK(T, potrf)("U", &n, l, &n, &info);
              for (Index i = 0; info == 0 && i < s.n; ++i)
                if (!(l[i * s.n + i] == l[i * s.n + i]))
                  info = static_cast<int>(i) + 1;  // NaN passes some LAPACKs
              return info;
            },
            [&](Index b, int info) {
              fail(name, matrix_name(b, s.batch) + " " + to_string(in[0]->type()) +
                             " is not positive definite: pivot " + std::to_string(info - 1) +
                             " is not a positive number");
            });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const Tensor& l = a.out[0];
    const Index n = l.dim(-1);
    const Tensor strict = tril(t[0], -1);
    const Tensor s = strict + H(strict) + detail::on_diagonal(real_diagonal(t[0]));
    const Tensor m = triangular_solve(l, triangular_solve(l, s),
                                      {.transpose = true, .conjugate = true, .left = false});
    o[0] = matmul(l, tril(m) * detail::half_diagonal(n, l.dtype()));
  }
  static Tensor real_diagonal(const Tensor& x) {
    const Tensor d = diagonal(x);
    return is_complex(x.dtype()) ? cast(real(d), x.dtype()) : d;
  }
};

struct TriangularAttr {
  bool lower, transpose, conjugate, unit, left;
  TESSERA_ATTRIBUTES(lower, transpose, conjugate, unit, left)
};
/// op(A) X = B: linear in B; op(A) dX = dB - op(dA) X on A's triangle.
struct TriangularSolve {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr std::uint32_t linear_in = 2u;
  static constexpr const char* name = "triangular_solve";
  static double flops(TypeSpan in, TypeSpan out, const Attributes*) {
    return detail::multiply_adds(
        out[0], detail::count(out[0]) * static_cast<double>(in[0].shape.back()) / 2);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    need_matrices(name, in[0], true);
    const Shape &m = in[0].shape, &r = in[1].shape;
    const int nd = m.size();
    bool ok = in[0].dtype == in[1].dtype && r.size() == nd;
    for (int d = 0; ok && d < nd - 2; ++d) ok = m[d] == r[d];
    if (ok) ok = r[get<TriangularAttr>(a).left ? nd - 2 : nd - 1] == m[nd - 1];
    if (!ok)
      fail(name, "the matrix " + to_string(in[0]) + " and the right-hand side " + to_string(in[1]) +
                     " do not fit");
    return {in[1]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        run<T>(*in[0], *in[1], *out[0], get<TriangularAttr>(attr));
      };
    });
    return table[static_cast<int>(in[0])];
  }
  /// BLAS knows A, A^T and A^H.
  static bool needs_conjugate(const TriangularAttr& f) { return f.conjugate && !f.transpose; }
  static std::size_t workspace(std::span<const View> in, std::span<const View>,
                               const Attributes* attr) {
    const Matrices s(name, in[0]);
    const bool copies = is_complex(in[0].dtype) && needs_conjugate(get<TriangularAttr>(attr));
    if (in[1].count() == 0) return 0;
    const std::size_t bytes = static_cast<std::size_t>(s.n * s.n) * size_of(in[0].dtype);
    return matrices_workspace(s.batch, copies ? detail::whole_lines(bytes) : 0);
  }
  template <class T>
  static void run(const View& av, const View& bv, const View& ov, const TriangularAttr& f) {
    const Matrices s(name, av), r(name, bv);
    if (bv.count() == 0) return;
    const T *a = static_cast<const T*>(av.data), *b = static_cast<const T*>(bv.data);
    T* o = static_cast<T*>(ov.data);
    const bool conjugate_first = is_cplx<T> && needs_conjugate(f);
    for_matrices(
        s.batch, s.n * r.m * r.n + 1,
        [&](Index i) {
          const T* m = a + i * s.n * s.n;
          T* x = o + i * r.m * r.n;
          for (Index k = 0; !f.unit && k < s.n; ++k)
            if (m[k * s.n + k] == T(0)) return static_cast<int>(k) + 1;
          std::copy(b + i * r.m * r.n, b + (i + 1) * r.m * r.n, x);
          detail::Scratch<T> held;
          if (conjugate_first) {
            held.assign(m, m + s.n * s.n);
            for (T& v : held) v = kernels::conjugate(v);
            m = held.data();
          }
          // By columns everything is transposed: sides and triangles change places, op(A)^T is op
          // of what is stored.
          const char *side = f.left ? "R" : "L", *triangle = f.lower ? "U" : "L",
                     *diagonal = f.unit ? "U" : "N";
          const char* op = !f.transpose ? "N" : f.conjugate && is_cplx<T> ? "C" : "T";
          const int rows = static_cast<int>(r.n), cols = static_cast<int>(r.m),
                    lda = static_cast<int>(s.n);
          const T one(1);
          TESSERA_LAPACK(T, trsm)
          (side, triangle, op, diagonal, &rows, &cols, &one, m, &lda, x, &rows);
          return 0;
        },
        [&](Index i, int info) {
          fail(name, matrix_name(i, s.batch) + " " + to_string(av.type()) + " is singular: pivot " +
                         std::to_string(info - 1) + " is zero");
        });
  }
  static constexpr int numerator = 1;
  /// op(dA) X, where the diagonal of a unit triangle does not move.
  static Tensor undo(const Application& a, const Tensor& da, const Tensor& x) {
    const auto& f = a.get<TriangularAttr>();
    Tensor d = f.lower ? tril(da, f.unit ? -1 : 0) : triu(da, f.unit ? 1 : 0);
    if (f.transpose) d = tessera::transpose(d);
    if (f.conjugate) d = conj(d);
    return f.left ? matmul(d, x) : matmul(x, d);
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    Tensor right = t[1];
    if (t[0].defined()) {
      const Tensor moved = undo(a, t[0], a.out[0]);
      right = right.defined() ? right - moved : neg(moved);
    }
    if (right.defined())
      o[0] = apply(primitive<TriangularSolve>(), a.attr, detail::context_line(), a.in[0], right);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) detail::no_rule(name, "transpose", "it is not linear in the matrix");
    TriangularAttr f = a.get<TriangularAttr>();
    f.transpose = !f.transpose, f.conjugate = !f.conjugate;
    o[1] =
        apply(primitive<TriangularSolve>(), attributes(f), detail::context_line(), a.in[0], ct[0]);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    const SourceLine w = detail::context_line();
    const Tensor &m = a.in[0], &b = a.in[1];
    if (!batched[0] && m.ndim() == 2) {  // one matrix for all: the batch becomes columns (or rows)
      const bool left = a.get<TriangularAttr>().left;
      const Index p = b.dim(-2), q = b.dim(-1);
      if (left) {
        const Tensor x = apply(primitive<TriangularSolve>(), a.attr, w, m,
                               reshape(moveaxis(b, 0, 1), {p, n * q}));
        o[0] = moveaxis(reshape(x, {p, n, q}), 1, 0);
      } else {
        o[0] = reshape(apply(primitive<TriangularSolve>(), a.attr, w, m, reshape(b, {n * p, q})),
                       {n, p, q});
      }
      return;
    }
    o[0] = apply(primitive<TriangularSolve>(), a.attr, w, detail::with_batch(m, batched[0], n),
                 detail::with_batch(b, batched[1], n));
  }
};

TESSERA_REGISTER(Cholesky);
TESSERA_REGISTER(TriangularSolve);

}  // namespace

Tensor cholesky(Arg a) {
  const Tensor t = detail::to_tensor("cholesky", a);
  need_matrices("cholesky", t.type(), true);
  return apply(primitive<Cholesky>(), {}, a.line, detail::hermitian_part(t));
}
Tensor triangular_solve(Arg a, Arg b, TriangularOptions f) {
  auto [x, y] = detail::one_dtype("triangular_solve", a, b);
  return apply(primitive<TriangularSolve>(),
               attributes(TriangularAttr{f.lower, f.transpose, f.conjugate, f.unit, f.left}),
               a.line, x, y);
}

}  // namespace tessera
