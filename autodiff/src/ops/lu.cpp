// SPDX-License-Identifier: Apache-2.0
//
// LU with row pivoting, and what rests on it: solve, inverse, logarithm of the determinant.
#include "../core/cost.h"
#include "../kernels/lapack.h"
#include "matrix_forms.h"
#include "tessera/autodiff/ops.h"

#include <numeric>

namespace tessera {
namespace {

using namespace kernels;

Tensor zeros_at(const Tensor& like, Index m, Index n) {
  return broadcast_to(scalar(0.0, like.dtype()), with_last(like.type(), {m, n}));
}
Tensor eye_at(const Tensor& like, Index n) {
  return broadcast_to(eye(n, like.dtype()), with_last(like.type(), {n, n}));
}

/// Square unit lower L [m, m] and upper U [n, n] of packed factors [m, n], completed by unit
/// matrices.
std::pair<Tensor, Tensor> square_factors(const Tensor& packed) {
  const Index m = packed.dim(-2), n = packed.dim(-1);
  Tensor l = tril(packed, -1), u = triu(packed);
  if (n < m) l = concatenate({l, zeros_at(packed, m, m - n)}, -1);
  if (n > m) l = slice(l, -1, 0, m);
  if (m < n)
    u = concatenate({u, concatenate({zeros_at(packed, n - m, m), eye_at(packed, n - m)}, -1)}, -2);
  if (m > n) u = slice(u, -2, 0, n);
  return {l + eye_at(packed, m), u};
}

/// With P A = L U (both completed to square) and F = L^-1 P dA U^-1: dL = L tril(F, -1), dU =
/// triu(F) U; NaN where U is singular.
struct Lu : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr const char* name = "lu";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::matrix_flops(in[0], 2.0 / 3);
  }
  static constexpr None transpose{"it is not linear"};
  static Types infer(std::span<const Type> in, const Attributes*) {
    need_matrices(name, in[0], false);
    return {in[0], {Dtype::i32, with_last(in[0], {in[0].shape[in[0].shape.size() - 2]})}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        const Matrices s(name, *in[0]);
        const T* a = static_cast<const T*>(in[0]->data);
        T* o = static_cast<T*>(out[0]->data);
        auto* order = static_cast<std::int32_t*>(out[1]->data);
        for_matrices(
            s.batch, s.m * s.n * std::min(s.m, s.n) + 1,
            [&](Index b) {
              std::int32_t* row = order + b * s.m;
              std::iota(row, row + s.m, 0);
              if (s.m == 0 || s.n == 0) return 0;
              detail::Scratch<T> columns(static_cast<std::size_t>(s.m * s.n + kSlack<T>));
              detail::Scratch<int> swaps(static_cast<std::size_t>(std::min(s.m, s.n)));
              transpose_into(a + b * s.m * s.n, s.m, s.n, columns.data());
              const int m = static_cast<int>(s.m), n = static_cast<int>(s.n);
              int info = 0;  // > 0: a pivot is exactly zero; the factors exist all the same
              TESSERA_LAPACK(T, getrf)(&m, &n, columns.data(), &m, swaps.data(), &info);
              transpose_into(columns.data(), s.n, s.m, o + b * s.m * s.n);
              for (std::size_t k = 0; k < swaps.size(); ++k) std::swap(row[k], row[swaps[k] - 1]);
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
      return detail::scratch_bytes<T>(s.m * s.n + kSlack<T>) +
             detail::scratch_bytes<int>(std::min(s.m, s.n));
    });
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const auto factors = square_factors(a.out[0]);
    const Tensor &l = factors.first, u = detail::nan_if_singular(factors.second);
    const Tensor moved = gather(t[0], a.out[1], t[0].ndim() - 2);
    const Tensor f = triangular_solve(u, triangular_solve(l, moved, {.unit = true}),
                                      {.lower = false, .left = false});
    o[0] = matmul(l, tril(f, -1)) + matmul(triu(f), u);
  }
};
TESSERA_REGISTER(Lu);

/// +1 or -1: parity of the number of pairs out of order.
Tensor parity(const Tensor& permutation, Dtype dtype) {
  const Index n = permutation.dim(-1);
  const Tensor earlier = logical_not(detail::below(n, n, 0));  // row < column
  const Tensor swapped =
      logical_and(earlier, less(expand_dims(permutation, -2), expand_dims(permutation, -1)));
  const Tensor odd = logical_and(sum(cast(swapped, Dtype::i64), {-1, -2}), 1);
  return cast(1 - 2 * odd, dtype);
}

}  // namespace

PackedLU lu_packed(Arg a) {
  const Tensor t = detail::to_tensor("lu", a);
  Tensor out[2];
  const Tensor* in[] = {&t};
  dispatch(primitive<Lu>(), in, {}, a.line, out);
  return {out[0], out[1]};
}
LU lu(Arg a) {
  const PackedLU f = lu_packed(a);
  const Index m = f.packed.dim(-2), n = f.packed.dim(-1), k = std::min(m, n);
  const auto [l, u] = square_factors(f.packed);
  // Row permutation[i] of A is row i of L U: column i of P has its one there.
  const Tensor p =
      cast(equal(expand_dims(arange(m, Dtype::i32), 1), expand_dims(f.permutation, -2)),
           f.packed.dtype());
  return {p, slice(l, -1, 0, k), slice(triu(f.packed), -2, 0, k)};
}

Tensor solve(Arg a, Arg b) {
  auto [x, y] = detail::one_dtype("solve", a, b);
  need_matrices("solve", x.type(), true);
  const bool vector = y.ndim() == 1 || y.ndim() == x.ndim() - 1;
  if (vector) y = expand_dims(y, -1);
  const int nd = std::max(x.ndim(), y.ndim());
  bool ok = y.ndim() >= 2 && y.dim(-2) == x.dim(-1);
  Shape lead;
  for (int d = 0; ok && d < nd - 2; ++d) {
    const int kx = d - (nd - x.ndim()), ky = d - (nd - y.ndim());
    const Index dx = kx >= 0 ? x.shape()[kx] : 1, dy = ky >= 0 ? y.shape()[ky] : 1;
    ok = dx == dy || dx == 1 || dy == 1;
    lead.push_back(dx == 1 ? dy : dx);
  }
  if (!ok)
    fail("solve",
         "the matrix " + to_string(x.type()) + " and the right-hand side " + to_string(y.type()) +
             " do not fit",
         a.line);
  auto wide = [&](const Tensor& t) {
    Shape s = lead;
    s.push_back(t.dim(-2)), s.push_back(t.dim(-1));
    return broadcast_to(t, s);
  };
  const PackedLU f = lu_packed(Arg(wide(x), a.line));
  const Tensor right = gather(wide(y), f.permutation, lead.size());
  const Tensor z = triangular_solve(
      Arg(f.packed, a.line), triangular_solve(f.packed, right, {.unit = true}), {.lower = false});
  return vector ? squeeze(z, -1) : z;
}
Tensor inv(Arg a) {
  const Tensor t = detail::to_tensor("inv", a);
  need_matrices("inv", t.type(), true);
  return solve(Arg(t, a.line), eye_at(t, t.dim(-1)));
}
SlogDet slogdet(Arg a) {
  const Tensor t = detail::to_tensor("slogdet", a);
  need_matrices("slogdet", t.type(), true);
  const PackedLU f = lu_packed(Arg(t, a.line));
  const Tensor d = diagonal(f.packed);
  return {parity(f.permutation, t.dtype()) * prod(sign(d), {-1}), sum(log(abs(d)), {-1})};
}

}  // namespace tessera
