// SPDX-License-Identifier: Apache-2.0
//
// Element-wise loops over strided operands: out[i] = f(a[i], b[i], ...). The output is contiguous.
// Operands that are contiguous or one repeated element (stride 0) take a loop that the compiler
// vectorises; anything else is walked row by row after merging dimensions.
#pragma once
#include "scalar.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/kernel.h"

#include <array>
#include <utility>

namespace tessera::kernels {

/// Merged dimensions of N operands with a common shape: rows of `inner` elements with constant
/// strides.
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

/// One row of an element-wise loop f: n elements of each operand, `stride` elements apart, to
/// contiguous memory.
using RowLoop = void (*)(const void* f, Index n, const void* const* in, const Index* stride,
                         void* out);

/// `row` over all of `out`, in pieces of rows spread over the threads. `bytes`: of an element of
/// each operand, then of the result. All that a loop does beside its elements is here, compiled
/// once for all functions and types.
template <int N>
void over_rows(const std::array<const View*, N>& in, const View& out,
               const std::array<std::size_t, N + 1>& bytes, RowLoop row, const void* f);
extern template void over_rows<1>(const std::array<const View*, 1>&, const View&,
                                  const std::array<std::size_t, 2>&, RowLoop, const void*);
extern template void over_rows<2>(const std::array<const View*, 2>&, const View&,
                                  const std::array<std::size_t, 3>&, RowLoop, const void*);
extern template void over_rows<3>(const std::array<const View*, 3>&, const View&,
                                  const std::array<std::size_t, 4>&, RowLoop, const void*);

/// o[i] = f(a[i sa], ...): strides that the compiler sees to be 0 or 1 make loops that it
/// vectorises.
template <class F>
TESSERA_HD_INLINE void each(Index n, F body) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) body(i);
}

template <class A, class F>
void map1(const View& a, const View& o, const F& f) {
  using R = decltype(f(std::declval<A>()));
  if (o.shape.single()) {
    *static_cast<R*>(o.data) = f(*static_cast<const A*>(a.data));
    return;
  }
  over_rows<1>(
      {&a}, o, {sizeof(A), sizeof(R)},
      [](const void* body, Index n, const void* const* in, const Index* stride, void* out) {
        const F f = *static_cast<const F*>(body);
        const A* a = static_cast<const A*>(in[0]);
        R* o = static_cast<R*>(out);
        const Index sa = stride[0];
        if (sa == 1)
          each(n, [=](Index i) TESSERA_INLINE { store(o + i, f(load(a + i))); });
        else if (sa == 0)
          std::fill_n(o, n, f(*a));
        else
          each(n, [=](Index i) TESSERA_INLINE { store(o + i, f(load(a + i * sa))); });
      },
      &f);
}

template <class A, class B, class F>
void map2(const View& a, const View& b, const View& o, const F& f) {
  using R = decltype(f(std::declval<A>(), std::declval<B>()));
  if (o.shape.single()) {
    *static_cast<R*>(o.data) = f(*static_cast<const A*>(a.data), *static_cast<const B*>(b.data));
    return;
  }
  over_rows<2>(
      {&a, &b}, o, {sizeof(A), sizeof(B), sizeof(R)},
      [](const void* body, Index n, const void* const* in, const Index* stride, void* out) {
        const F f = *static_cast<const F*>(body);
        const A* a = static_cast<const A*>(in[0]);
        const B* b = static_cast<const B*>(in[1]);
        R* o = static_cast<R*>(out);
        const Index sa = stride[0], sb = stride[1];
        if (sa == 1 && sb == 1)
          each(n, [=](Index i) TESSERA_INLINE { store(o + i, f(load(a + i), load(b + i))); });
        else if (sa == 1 && sb == 0)
          each(n, [=, y = load(b)](Index i) TESSERA_INLINE { store(o + i, f(load(a + i), y)); });
        else if (sa == 0 && sb == 1)
          each(n, [=, x = load(a)](Index i) TESSERA_INLINE { store(o + i, f(x, load(b + i))); });
        else
          each(n, [=](Index i)
                      TESSERA_INLINE { store(o + i, f(load(a + i * sa), load(b + i * sb))); });
      },
      &f);
}

template <class A, class B, class C, class F>
void map3(const View& a, const View& b, const View& c, const View& o, const F& f) {
  using R = decltype(f(std::declval<A>(), std::declval<B>(), std::declval<C>()));
  over_rows<3>(
      {&a, &b, &c}, o, {sizeof(A), sizeof(B), sizeof(C), sizeof(R)},
      [](const void* body, Index n, const void* const* in, const Index* stride, void* out) {
        const F f = *static_cast<const F*>(body);
        const A* a = static_cast<const A*>(in[0]);
        const B* b = static_cast<const B*>(in[1]);
        const C* c = static_cast<const C*>(in[2]);
        R* o = static_cast<R*>(out);
        const Index sa = stride[0], sb = stride[1], sc = stride[2];
        if (sa == 1 && sb == 1 && sc == 1)
          each(n, [=](Index i)
                      TESSERA_INLINE { store(o + i, f(load(a + i), load(b + i), load(c + i))); });
        else if (sa == 1 && sb == 0 && sc == 1)
          each(n, [=, y = load(b)](Index i)
                      TESSERA_INLINE { store(o + i, f(load(a + i), y, load(c + i))); });
        else if (sa == 1 && sb == 1 && sc == 0)
          each(n, [=, z = load(c)](Index i)
                      TESSERA_INLINE { store(o + i, f(load(a + i), load(b + i), z)); });
        else
          each(n, [=](Index i) TESSERA_INLINE {
            store(o + i, f(load(a + i * sa), load(b + i * sb), load(c + i * sc)));
          });
      },
      &f);
}

/// The C++ type of each Dtype, by position.
template <int K>
using element_t = std::tuple_element_t<K, std::tuple<bool, std::uint8_t, std::int32_t, std::int64_t,
                                                     std::uint32_t, float, double, c64, c128>>;

/// f(type_tag<T>{}) for the T that `t`, one of S, stands for; of others what {} is.
template <DtypeSet S, class F>
auto with_type(Dtype t, F f) {
  decltype(f(type_tag<float>{})) r{};
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto look = [&](auto k) {
      if constexpr (contains(S, static_cast<Dtype>(k())))
        if (k() == static_cast<std::size_t>(t)) r = f(type_tag<element_t<k()>>{});
    };
    (look(std::integral_constant<std::size_t, K>{}), ...);
  }
  (std::make_index_sequence<kDtypes>{});
  return r;
}

/// A table of kernels, one per element type in P::dtypes, null elsewhere. `make<T>()` gives each.
template <DtypeSet S, class Make>
constexpr std::array<KernelFn, kDtypes> kernel_table(Make make) {
  std::array<KernelFn, kDtypes> t{};
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((contains(S, static_cast<Dtype>(K)) ? void([&] {
       if constexpr (contains(S, static_cast<Dtype>(K))) t[K] = make(type_tag<element_t<K>>{});
     }())
                                         : void()),
     ...);
  }
  (std::make_index_sequence<kDtypes>{});
  return t;
}

}  // namespace tessera::kernels
