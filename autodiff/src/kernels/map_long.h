// SPDX-License-Identifier: Apache-2.0
//
// y = f(x) for long bodies f, which dominate compile time: one loop over elements side by side,
// into which all others gather. Over reals it is compiled a second time for vectors of 512 bits,
// chosen at run time (vectors.h). All ways give the same bits: nothing is contracted, and an
// element is computed from itself alone.
#pragma once
#include "map.h"
#include "tessera/autodiff/vectors.h"

namespace tessera::kernels {

template <class T, class F>
[[gnu::noinline]] void packed_loop(Index n, const T* x, T* y, F f) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) store(y + i, f(load(x + i)));
}
template <class T, class F>
[[gnu::noinline, gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] void
packed_loop_wide(Index n, const T* x, T* y, F f) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) y[i] = f(x[i]);
}

/// P::eval, and P::near where P has it for T: equal to eval at all x with P::is_near(x), and it
/// vectorises.
template <class P, class T>
struct Long {
  static constexpr bool has_near = requires(T x) { P::near(x); };
  struct Body {
    TESSERA_HD_INLINE T operator()(T x) const {
      if constexpr (has_near)
        return P::near(x);
      else
        return P::eval(x);
    }
  };
  [[gnu::noinline]] static T one(T x) { return P::eval(x); }
  static void loop(Index n, const T* x, T* y) {
    if constexpr (!is_cplx<T>) {
      if (vector_bits() == 512) return packed_loop_wide(n, x, y, Body{});
    }
    packed_loop(n, x, y, Body{});
  }
  /// y = f(x) for n elements side by side; y may be x.
  static void packed(Index n, const T* x, T* y) {
    if constexpr (has_near) {
      int far = 0;
      for (Index i = 0; i < n; ++i) far |= P::is_near(load(x + i)) ? 0 : 1;
      if (far) {
        for (Index i = 0; i < n; ++i) y[i] = one(x[i]);
        return;
      }
    }
    loop(n, x, y);
  }
  /// The same with `stride` elements from one x to the next.
  static void row(Index n, const T* x, Index stride, T* y) {
    constexpr Index block = 512;
    for (Index begin = 0; begin < n; begin += block) {
      const Index count = std::min(block, n - begin);
      if (stride == 1)
        packed(count, x + begin, y + begin);
      else {
        for (Index i = 0; i < count; ++i) y[begin + i] = x[(begin + i) * stride];
        packed(count, y + begin, y + begin);
      }
    }
  }
};

template <class P, class T>
void map_long(const View& x, const View& y) {
  using L = Long<P, T>;
  constexpr Index kFew = 8;  // below, to look at the layout costs more than it gives
  const Index n = y.count();
  if (n < kFew && x.contiguous()) {
    for (Index i = 0; i < n; ++i)
      static_cast<T*>(y.data)[i] = L::one(static_cast<const T*>(x.data)[i]);
    return;
  }
  over_rows<1>(
      {&x}, y, {sizeof(T), sizeof(T)},
      [](const void*, Index n, const void* const* in, const Index* stride, void* out) {
        const T* from = static_cast<const T*>(in[0]);
        T* to = static_cast<T*>(out);
        if (*stride == 0)
          std::fill_n(to, n, L::one(*from));
        else
          L::row(n, from, *stride, to);
      },
      nullptr);
}

}  // namespace tessera::kernels
