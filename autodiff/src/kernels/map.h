// SPDX-License-Identifier: Apache-2.0
//
// Element-wise loops over strided operands: out[i] = f(a[i], b[i], ...). The output is contiguous. Operands
// that are contiguous or one repeated element (stride 0) take a loop that the compiler vectorises; anything
// else is walked row by row after merging dimensions.
#pragma once
#include <array>
#include <utility>

#include "scalar.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/primitive.h"

namespace tessera::kernels {

/// Merged dimensions of N operands with a common shape: rows of `inner` elements with constant strides.
template <int N>
struct Rows {
  int n_outer = 0;
  Index outer_shape[kMaxDims];
  Index outer_strides[N][kMaxDims];
  Index inner = 1;
  Index inner_stride[N];

  Rows(const Shape& shape, const std::array<const View*, N>& v) {
    Index dims[kMaxDims], strides[N][kMaxDims];
    int n = 0;
    for (int d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      bool merge = n > 0;
      for (int k = 0; merge && k < N; ++k) merge = strides[k][n - 1] == v[k]->strides[d] * shape[d];
      if (!merge) dims[n++] = 1;
      dims[n - 1] *= shape[d];
      for (int k = 0; k < N; ++k) strides[k][n - 1] = v[k]->strides[d];
    }
    for (int k = 0; k < N; ++k) inner_stride[k] = n ? strides[k][n - 1] : 0;
    if (n) inner = dims[n - 1];
    n_outer = n ? n - 1 : 0;
    for (int d = 0; d < n_outer; ++d) {
      outer_shape[d] = dims[d];
      for (int k = 0; k < N; ++k) outer_strides[k][d] = strides[k][d];
    }
  }
  Index rows() const {
    Index r = 1;
    for (int d = 0; d < n_outer; ++d) r *= outer_shape[d];
    return r;
  }
  /// Element offset of operand k at row r.
  Index offset(int k, Index r) const {
    Index at = 0;
    for (int d = n_outer - 1; d >= 0; --d) {
      at += (r % outer_shape[d]) * outer_strides[k][d];
      r /= outer_shape[d];
    }
    return at;
  }
};

/// `row(r)` for every row, in parallel when there is much to do.
template <class F>
void for_rows(Index rows, Index inner, F&& row) {
  const Index per_chunk = std::max<Index>(1, (Index{1} << 15) / std::max<Index>(inner, 1));
  parallel_chunks((rows + per_chunk - 1) / per_chunk, [&](Index c) {
    for (Index r = c * per_chunk; r < std::min(rows, (c + 1) * per_chunk); ++r) row(r);
  });
}

/// A constant stride the compiler can see: 0, 1, or any.
template <int S>
struct Step {
  Index any;
  TESSERA_HD Index operator()(Index i) const {
    if constexpr (S == 0) return 0;
    else if constexpr (S == 1) return i;
    else return i * any;
  }
};

template <class A, class R, class F, int SA>
inline void map1_row(Index n, const A* a, Index sa, R* o, F f) {
  const Step<SA> step{sa};
  forall(n, [=](Index i) TESSERA_INLINE { store(o + i, f(load(a + step(i)))); });
}

template <class A, class F>
void map1(const View& av, const View& ov, F f) {
  using R = decltype(f(std::declval<A>()));
  const A* a = static_cast<const A*>(av.data);
  R* o = static_cast<R*>(ov.data);
  const Index n = ov.count();
  if (n == 1) {
    o[0] = f(a[0]);
    return;
  }
  const Rows<1> rows(ov.shape, {&av});
  auto row = [&](Index count, const A* pa, R* po) {
    if (rows.inner_stride[0] == 1) map1_row<A, R, F, 1>(count, pa, 1, po, f);
    else if (rows.inner_stride[0] == 0) {
      const R v = f(pa[0]);
      forall(count, [=](Index i) { po[i] = v; });
    } else map1_row<A, R, F, 2>(count, pa, rows.inner_stride[0], po, f);
  };
  if (n == 0) return;
  if (rows.n_outer == 0) return row(n, a, o);
  for_rows(rows.rows(), rows.inner, [&](Index r) { row(rows.inner, a + rows.offset(0, r), o + r * rows.inner); });
}

template <class A, class B, class R, class F, int SA, int SB>
inline void map2_row(Index n, const A* a, Index sa, const B* b, Index sb, R* o, F f) {
  const Step<SA> step_a{sa};
  const Step<SB> step_b{sb};
  forall(n, [=](Index i) TESSERA_INLINE { store(o + i, f(load(a + step_a(i)), load(b + step_b(i)))); });
}

template <class A, class B, class F>
void map2(const View& av, const View& bv, const View& ov, F f) {
  using R = decltype(f(std::declval<A>(), std::declval<B>()));
  const A* a = static_cast<const A*>(av.data);
  const B* b = static_cast<const B*>(bv.data);
  R* o = static_cast<R*>(ov.data);
  const Index n = ov.count();
  if (n == 1) {
    o[0] = f(a[0], b[0]);
    return;
  }
  if (n == 0) return;
  const Rows<2> rows(ov.shape, {&av, &bv});
  const Index sa = rows.inner_stride[0], sb = rows.inner_stride[1];
  auto row = [&](Index count, const A* pa, const B* pb, R* po) {
    if (sa == 1 && sb == 1) map2_row<A, B, R, F, 1, 1>(count, pa, 1, pb, 1, po, f);
    else if (sa == 1 && sb == 0) map2_row<A, B, R, F, 1, 0>(count, pa, 1, pb, 0, po, f);
    else if (sa == 0 && sb == 1) map2_row<A, B, R, F, 0, 1>(count, pa, 0, pb, 1, po, f);
    else map2_row<A, B, R, F, 2, 2>(count, pa, sa, pb, sb, po, f);
  };
  if (rows.n_outer == 0) return row(n, a, b, o);
  for_rows(rows.rows(), rows.inner, [&](Index r) {
    row(rows.inner, a + rows.offset(0, r), b + rows.offset(1, r), o + r * rows.inner);
  });
}

template <class A, class B, class C, class F>
void map3(const View& av, const View& bv, const View& cv, const View& ov, F f) {
  using R = decltype(f(std::declval<A>(), std::declval<B>(), std::declval<C>()));
  const A* a = static_cast<const A*>(av.data);
  const B* b = static_cast<const B*>(bv.data);
  const C* c = static_cast<const C*>(cv.data);
  R* o = static_cast<R*>(ov.data);
  if (ov.count() == 0) return;
  const Rows<3> rows(ov.shape, {&av, &bv, &cv});
  const Index sa = rows.inner_stride[0], sb = rows.inner_stride[1], sc = rows.inner_stride[2];
  auto row = [&](Index count, const A* pa, const B* pb, const C* pc, R* po) {
    if (sa == 1 && sb == 1 && sc == 1) forall(count, [=](Index i) TESSERA_INLINE { store(po + i, f(load(pa + i), load(pb + i), load(pc + i))); });
    else forall(count, [=](Index i) { po[i] = f(pa[i * sa], pb[i * sb], pc[i * sc]); });
  };
  if (rows.n_outer == 0) return row(rows.inner, a, b, c, o);
  for_rows(rows.rows(), rows.inner, [&](Index r) {
    row(rows.inner, a + rows.offset(0, r), b + rows.offset(1, r), c + rows.offset(2, r), o + r * rows.inner);
  });
}

/// The C++ type of each Dtype, by position.
template <int K>
using element_t = std::tuple_element_t<K, std::tuple<bool, std::uint8_t, std::int32_t, std::int64_t, std::uint32_t,
                                                     float, double, c64, c128>>;

/// A table of kernels, one per element type in P::dtypes, null elsewhere. `make<T>()` gives each.
template <DtypeSet S, class Make>
constexpr std::array<KernelFn, kDtypes> kernel_table(Make make) {
  std::array<KernelFn, kDtypes> t{};
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((contains(S, static_cast<Dtype>(K)) ? void([&] {
        if constexpr (contains(S, static_cast<Dtype>(K))) t[K] = make(type_tag<element_t<K>>{});
      }()) : void()), ...);
  }(std::make_index_sequence<kDtypes>{});
  return t;
}

}  // namespace tessera::kernels

namespace tessera {

namespace detail {
/// P::eval as a functor, with P::near where P has one.
template <class P>
struct Eval {
  template <class T>
  TESSERA_HD_INLINE auto operator()(T x) const { return P::eval(x); }
};
}  // namespace detail

/// y = P::eval(x), one operand.
template <class P, DtypeSet S>
struct Unary : Elementwise<P, 1> {
  static constexpr DtypeSet dtypes = S;
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map1<T>(*in[0], *out[0], detail::Eval<P>{});
      };
    });
    return table[static_cast<int>(in[0])];
  }
};

/// z = P::eval(x, y), two operands of one type.
template <class P, DtypeSet S>
struct Binary : Elementwise<P, 2> {
  static constexpr DtypeSet dtypes = S;
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map2<T, T>(*in[0], *in[1], *out[0], [](T x, T y) TESSERA_INLINE { return P::eval(x, y); });
      };
    });
    return in[0] == in[1] ? table[static_cast<int>(in[0])] : nullptr;
  }
};

}  // namespace tessera
