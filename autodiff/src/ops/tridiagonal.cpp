// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/tridiagonal.h"

#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;

/// Whether bands [B..., 3, n] and x [B..., n, k] fit.
bool fit(const Type& bands, const Type& x) {
  const int nd = bands.shape.size();
  bool ok = nd >= 2 && x.shape.size() == nd && bands.dtype == x.dtype &&
            contains(kInexact, x.dtype) && bands.shape[nd - 2] == 3;
  for (int d = 0; ok && d < nd - 2; ++d) ok = bands.shape[d] == x.shape[d];
  return ok && bands.shape[nd - 1] == x.shape[nd - 2];
}
/// One band as a column [..., n, 1].
Tensor band(const Tensor& bands, int k) { return expand_dims(select(bands, -2, k), -1); }
/// x with a zero before its first (`by` = 1) or after its last element (-1) along an axis.
Tensor padded(const Tensor& x, int axis, int by) {
  Shape low = Shape::filled(x.ndim(), 0), high = low;
  (by > 0 ? low : high)[x.ndim() + axis] = 1;
  return pad(x, low, high);
}
/// x_{i-1} in row i (`by` = 1), or x_{i+1} (-1); zero where there is none.
Tensor shifted(const Tensor& x, int axis, int by) {
  const Index n = x.dim(axis);
  if (n == 0) return x;
  return padded(by > 0 ? slice(x, axis, 0, n - 1) : slice(x, axis, 1, n), axis, by);
}
/// bands[0, i] x_{i-1} in row i (`by` = 1), or bands[2, i] x_{i+1} (-1); zero where there is none,
/// whatever that band holds there.
Tensor beside_diagonal(const Tensor& bands, const Tensor& x, int by) {
  const Index n = x.dim(-2);
  if (n == 0) return x;
  const Index row = by > 0 ? 1 : 0, column = 1 - row;
  return padded(
      slice(band(bands, 1 - by), -2, row, row + n - 1) * slice(x, -2, column, column + n - 1), -2,
      by);
}
Tensor product(const Tensor& bands, const Tensor& x) {
  return band(bands, 1) * x + (beside_diagonal(bands, x, 1) + beside_diagonal(bands, x, -1));
}

/// A x = b: linear in b; A dx = db - dA x.
struct TridiagonalSolve : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr std::uint32_t linear_in = 2u;
  static constexpr const char* name = "tridiagonal_solve";
  static double flops(TypeSpan, TypeSpan out, const Attributes*) {
    return 8 * detail::count(out[0]);
  }
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (!fit(in[0], in[1]))
      fail(name, "bands " + to_string(in[0]) + " and the right-hand side " + to_string(in[1]) +
                     " do not fit");
    return {in[1]};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[1]);
        if (out[0]->count() == 0) return;
        for_matrices(
            s.batch, s.m * (3 * s.n + 10),
            [&](Index q) {
              return one<T>(s.m, s.n, static_cast<const T*>(in[0]->data) + 3 * q * s.m,
                            static_cast<const T*>(in[1]->data) + q * s.m * s.n,
                            static_cast<T*>(out[0]->data) + q * s.m * s.n);
            },
            [&](Index q, int info) {
              fail(name, matrix_name(q, s.batch) + " is singular: pivot " +
                             std::to_string(info - 1) + " is zero");
            });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View>, const Attributes*) {
    const Matrices s(name, in[1]);
    const auto bytes = [&](Index n) {
      return detail::whole_lines(static_cast<std::size_t>(n) * size_of(in[0].dtype));
    };
    return in[1].count() == 0
               ? 0
               : matrices_workspace(s.batch, 2 * bytes(s.m - 1) + bytes(s.m) + bytes(s.m * s.n));
  }
  template <class T>
  static int one(Index rows, Index columns, const T* bands, const T* b, T* x) {
    detail::Scratch<T> lower(bands + 1, bands + rows), diagonal(bands + rows, bands + 2 * rows),
        upper(bands + 2 * rows, bands + 3 * rows);
    detail::Scratch<T> by_columns(static_cast<std::size_t>(rows * columns));
    transpose_into(b, rows, columns, by_columns.data());
    const int n = static_cast<int>(rows), k = static_cast<int>(columns);
    int info = 0;
    TESSERA_LAPACK(T, gtsv)
    (&n, &k, lower.data(), diagonal.data(), upper.data(), by_columns.data(), &n, &info);
    transpose_into(by_columns.data(), columns, rows, x);
    return info;
  }
  static constexpr int numerator = 1;
  static Tensor undo(const Application&, const Tensor& bands, const Tensor& x) {
    return product(bands, x);
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    Tensor right = t[1];
    if (t[0].defined()) {
      const Tensor moved = product(t[0], a.out[0]);
      right = right.defined() ? right - moved : neg(moved);
    }
    if (right.defined())
      o[0] = apply(primitive<TridiagonalSolve>(), {}, detail::context_line(), a.in[0], right);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) detail::no_rule(name, "transpose", "it is not linear in the matrix");
    // A^H[i, i-1] = conj A[i-1, i], A^H[i, i+1] = conj A[i+1, i].
    const auto row = [&](int k) { return select(a.in[0], -2, k); };
    const Tensor bands = conj(stack({shifted(row(2), -1, 1), row(1), shifted(row(0), -1, -1)}, -2));
    o[1] = apply(primitive<TridiagonalSolve>(), {}, detail::context_line(), bands, ct[0]);
  }
};
TESSERA_REGISTER(TridiagonalSolve);

/// `f` on bands and columns of one type; vectors as one column.
template <class F>
Tensor by_columns(const char* op, const Arg& bands, const Arg& x, F f) {
  auto [a, b] = detail::one_dtype(op, bands, x);
  const bool vector = b.ndim() == a.ndim() - 1;
  if (vector) b = expand_dims(b, -1);
  if (!fit(a.type(), b.type()))
    fail(op,
         "needs bands [..., 3, n] and vectors [..., n] or columns [..., n, k], got " +
             to_string(a.type()) + " and " + to_string(b.type()),
         bands.line);
  const Tensor y = f(a, b);
  return vector ? squeeze(y, -1) : y;
}

}  // namespace

Tensor tridiagonal_product(Arg bands, Arg x) {
  return by_columns("tridiagonal_product", bands, x, product);
}
Tensor tridiagonal_solve(Arg bands, Arg b) {
  return by_columns("tridiagonal_solve", bands, b, [&](const Tensor& a, const Tensor& r) {
    return apply(primitive<TridiagonalSolve>(), {}, bands.line, a, r);
  });
}

}  // namespace tessera
