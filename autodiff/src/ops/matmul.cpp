// SPDX-License-Identifier: Apache-2.0
#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"
#include "../kernels/gemm.h"
#include "../kernels/map.h"
#include "../kernels/scalar.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;

/// A matrix as BLAS sees it: row-major with a leading dimension, perhaps transposed.
struct Blas {
  bool transposed;
  Index ld;
};
/// How the last two axes of `v` can be handed to BLAS, if they can.
bool as_blas(const View& v, Blas& b) {
  const int n = v.shape.size();
  const Index rows = v.shape[n - 2], cols = v.shape[n - 1], sr = v.strides[n - 2],
              sc = v.strides[n - 1];
  if ((sc == 1 || cols == 1) && (sr >= std::max<Index>(1, cols) || rows == 1))
    return b = {false, std::max({sr, cols, Index{1}})}, true;
  if ((sr == 1 || rows == 1) && (sc >= std::max<Index>(1, rows) || cols == 1))
    return b = {true, std::max({sc, rows, Index{1}})}, true;
  return false;
}

/// [B..., m, k] x [B..., k, n] with equal leading axes B.
struct MatMul : Bilinear<MatMul> {
  static constexpr const char* name = "matmul";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::multiply_adds(in[0],
                                 detail::count(in[0]) * static_cast<double>(in[1].shape.back()));
  }
  static constexpr bool takes_strides = true;
  static Types infer(std::span<const Type> in, const Attributes*) {
    const Shape &a = in[0].shape, &b = in[1].shape;
    const int n = a.size();
    bool ok =
        n >= 2 && b.size() == n && in[0].dtype == in[1].dtype && contains(kInexact, in[0].dtype);
    for (int d = 0; ok && d < n - 2; ++d) ok = a[d] == b[d];
    if (!ok) fail(name, "cannot multiply " + to_string(in[0]) + " and " + to_string(in[1]));
    if (a[n - 1] != b[n - 2])
      fail(name, "inner sizes differ: " + to_string(in[0]) + " x " + to_string(in[1]));
    Shape s = a;
    s[n - 1] = b[n - 1];
    return {{in[0].dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) { run<T>(*in[0], *in[1], *out[0]); };
    });
    return table[static_cast<int>(in[0])];
  }
  template <class T>
  static void run(const View& a, const View& b, const View& o) {
    const int nd = a.shape.size();
    const Index m = a.shape[nd - 2], k = a.shape[nd - 1], n = b.shape[nd - 1];
    if (a.count() == 0 || b.count() == 0) {  // sums of nothing; strides mean nothing here
      std::fill_n(static_cast<T*>(o.data), o.count(), T(0));
      return;
    }
    Blas fa, fb;
    if (!as_blas(a, fa)) return run<T>(PackedCopy(a).view(), b, o);
    if (!as_blas(b, fb)) return run<T>(a, PackedCopy(b).view(), o);
    View oa = a, ob = b;
    for (View* v : {&oa, &ob})
      for (int d = 0; d < 2; ++d)
        v->shape.erase(v->shape.size() - 1), v->strides.erase(v->strides.size() - 1);
    const Rows<2> rows(oa.shape, {&oa, &ob});
    const Index batch = oa.shape.count();
    T* c = static_cast<T*>(o.data);
    auto one = [&](Index i) {
      const Index r = i / rows.inner, q = i % rows.inner;
      const T* pa = static_cast<const T*>(a.data) + rows.offset(0, r) + q * rows.inner_stride[0];
      const T* pb = static_cast<const T*>(b.data) + rows.offset(1, r) + q * rows.inner_stride[1];
      gemm<T>(fa.transposed, fb.transposed, m, n, k, pa, fa.ld, pb, fb.ld, c + i * m * n);
    };
    if (batch > 1 && m * n * k < (1 << 18)) {
      for_rows(batch, m * n * k, one);
    } else {
      for (Index i = 0; i < batch; ++i) one(i);
    }
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View> out,
                               const Attributes*) {
    if (in[0].count() == 0 || in[1].count() == 0) return 0;
    std::size_t copies = 0;
    Blas l;
    for (const View& v : in)
      if (!as_blas(v, l)) copies += PackedCopy::workspace(v);
    const int nd = in[0].shape.size();
    const Index m = out[0].shape[nd - 2], n = out[0].shape[nd - 1], k = in[0].shape[nd - 1];
    return copies + with_type<kInexact>(in[0].dtype, [&](auto tag) {
             return gemm_workspace<typename decltype(tag)::type>(m, n, k);
           });
  }
  template <class T>
  static void gemm(bool ta, bool tb, Index m, Index n, Index k, const T* a, Index lda, const T* b,
                   Index ldb, T* c) {
    kernels::gemm<T>(ta, tb, m, n, k, T(1), a, lda, b, ldb, T(0), c, n);
  }
  static detail::BoxRule boxes(const detail::BoxWanted& w) {
    Box a = w.box, b = w.box;
    const int n = a.begin.size();
    detail::set(a, n - 1, {0, w.in[0].shape[n - 1]});
    detail::set(b, n - 2, {0, w.in[1].shape[n - 2]});
    return {w.box, {a, b}, nullptr};
  }
  /// One product of reals whose right matrix is small.
  static const RowKernel* row_kernel(std::span<const View> in, const Attributes*) {
    const View &a = in[0], &b = in[1];
    const int nd = a.shape.size();
    Blas l;
    if (a.count() == 0 || b.count() == 0 || !as_blas(a, l) || !as_blas(b, l)) return nullptr;
    for (int d = 0; d < nd - 2; ++d)
      if (a.shape[d] != 1) return nullptr;
    const Index k = b.shape[nd - 2], n = b.shape[nd - 1];
    if (a.dtype == Dtype::f32 && has_gemm_rows<float>(n, k)) return &by_rows<float>;
    if (a.dtype == Dtype::f64 && has_gemm_rows<double>(n, k)) return &by_rows<double>;
    return nullptr;
  }
  template <class T>
  static constexpr RowKernel by_rows{
      [](std::span<const View> in) {
        const View& b = in[1];
        return static_cast<std::size_t>(
                   gemm_packed_size<T>(b.shape.back(), b.shape[b.shape.size() - 2])) *
               sizeof(T);
      },
      [](Inputs in, std::byte* shared) {
        const View& b = *in[1];
        Blas l;
        as_blas(b, l);
        gemm_pack<T>(l.transposed, b.shape.back(), b.shape[b.shape.size() - 2],
                     static_cast<const T*>(b.data), l.ld, reinterpret_cast<T*>(shared));
      },
      [](Inputs in, const std::byte* shared, Index begin, Index end, void* out) {
        const View &a = *in[0], &b = *in[1];
        const Index n = b.shape.back(), k = a.shape.back();
        Blas l;
        as_blas(a, l);
        const T* const from = static_cast<const T*>(a.data) + begin * (l.transposed ? 1 : l.ld);
        gemm_rows<T>(l.transposed, end - begin, n, k, from, l.ld,
                     reinterpret_cast<const T*>(shared), static_cast<T*>(out), n);
      }};
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0] && linear[1])
      detail::no_rule("matmul", "transpose", "it is not linear in both operands together");
    const SourceLine w = detail::context_line();
    if (linear[0])
      o[0] = apply(primitive<MatMul>(), {}, w, ct[0], tessera::transpose(conj(a.in[1])));
    if (linear[1])
      o[1] = apply(primitive<MatMul>(), {}, w, tessera::transpose(conj(a.in[0])), ct[0]);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    const SourceLine w = detail::context_line();
    if (batched[0] && !batched[1] &&
        a.in[1].ndim() == 2) {  // one matrix for all: the batch becomes rows
      const Tensor& x = a.in[0];
      const Index m = x.dim(-2), k = x.dim(-1);
      const Tensor flat = apply(primitive<MatMul>(), {}, w, reshape(x, {n * m, k}), a.in[1]);
      o[0] = reshape(flat, {n, m, a.in[1].dim(-1)});
      return;
    }
    o[0] = apply(primitive<MatMul>(), {}, w, detail::with_batch(a.in[0], batched[0], n),
                 detail::with_batch(a.in[1], batched[1], n));
  }
};
TESSERA_REGISTER(MatMul);
TESSERA_BOXES(MatMul);

}  // namespace

Tensor matmul(Arg a, Arg b) {
  Tensor x = detail::to_tensor("matmul", a), y = detail::to_tensor("matmul", b);
  if (x.ndim() == 0 || y.ndim() == 0)
    fail("matmul",
         "cannot multiply " + to_string(x.type()) + " and " + to_string(y.type()) +
             "; use * for scalars",
         a.line);
  if (!can_promote(x.dtype(), y.dtype()) || !is_inexact(promote(x.dtype(), y.dtype())))
    fail("matmul",
         "cannot multiply " + to_string(x.type()) + " and " + to_string(y.type()) + "; use cast",
         a.line);
  const Dtype d = promote(x.dtype(), y.dtype());
  x = cast(x, d), y = cast(y, d);
  const bool row = x.ndim() == 1, column = y.ndim() == 1;
  if (x.shape().back() != y.shape()[column ? 0 : y.ndim() - 2])
    fail("matmul", "inner sizes differ: " + to_string(x.type()) + " x " + to_string(y.type()),
         a.line);
  if (row) x = expand_dims(x, 0);
  if (column) y = expand_dims(y, 1);
  Tensor z;
  if (x.ndim() > 2 && y.ndim() == 2) {  // one matrix for all: leading axes become rows
    Shape s = x.shape(), lead = s;
    lead.erase(lead.size() - 1);
    s[s.size() - 1] = y.dim(1);
    z = reshape(apply(primitive<MatMul>(), {}, a.line, reshape(x, {lead.count(), x.dim(-1)}), y),
                s);
  } else {
    Shape lead;
    const int n = std::max(x.ndim(), y.ndim()) - 2;
    for (int k = 0; k < n; ++k) {
      const int kx = k - (n - (x.ndim() - 2)), ky = k - (n - (y.ndim() - 2));
      const Index dx = kx >= 0 ? x.shape()[kx] : 1, dy = ky >= 0 ? y.shape()[ky] : 1;
      if (dx != dy && dx != 1 && dy != 1)
        fail("matmul",
             "leading axes of " + to_string(x.type()) + " and " + to_string(y.type()) +
                 " do not broadcast",
             a.line);
      lead.push_back(dx == 1 ? dy : dx);
    }
    auto wide = [&](const Tensor& t) {
      Shape s = lead;
      s.push_back(t.dim(-2)), s.push_back(t.dim(-1));
      return broadcast_to(t, s);
    };
    z = apply(primitive<MatMul>(), {}, a.line, wide(x), wide(y));
  }
  if (row) z = squeeze(z, -2);
  if (column) z = squeeze(z, -1);
  return z;
}
Tensor dot(Arg a, Arg b) {
  const Tensor x = detail::to_tensor("dot", a), y = detail::to_tensor("dot", b);
  if (x.ndim() != 1 || x.shape() != y.shape())
    fail("dot",
         "needs two vectors of one length, got " + to_string(x.type()) + " and " +
             to_string(y.type()),
         a.line);
  return sum(mul(Arg(x, a.line), Arg(y, b.line)));
}

}  // namespace tessera
