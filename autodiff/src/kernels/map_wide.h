// SPDX-License-Identifier: Apache-2.0
//
// Loops of long bodies over reals, compiled a second time for vectors of 512 bits and chosen by the processor.
// Both give the same bits: nothing is contracted, and an element is computed from itself alone.
#pragma once
#include "map.h"

namespace tessera::kernels {

template <class T, class F>
[[gnu::noinline]] void packed_loop(Index n, const T* x, T* y, F f) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <class T, class F>
[[gnu::noinline, gnu::target("avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]] void packed_loop_wide(Index n, const T* x, T* y, F f) {
#pragma GCC ivdep
  for (Index i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <class T, class F>
auto packed_loop_for() {
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? &packed_loop_wide<T, F> : &packed_loop<T, F>;
}

/// F::near where F has it for T, else F.
template <class T, class F>
struct Near {
  static constexpr bool differs = requires(T x) { F::near(x); };
  TESSERA_HD_INLINE T operator()(T x) const {
    if constexpr (differs) return F::near(x);
    else return F{}(x);
  }
};

/// y = f(x) for n elements one after the other. Blocks without an argument beyond `F::is_near` take `F::near`, if F
/// has it for reals.
template <class T, class F>
void map_packed(Index n, const T* x, T* y, F f) {
  constexpr Index block = 512, per_chunk = 64 * block;
  const auto loop = packed_loop_for<T, Near<T, F>>();
  const auto chunk = [&](Index begin, Index end) {
    if constexpr (!Near<T, F>::differs) return loop(end - begin, x + begin, y + begin, Near<T, F>{});
    else for (; begin < end; begin += block) {
      const Index stop = std::min(end, begin + block);
      int far = 0;
      for (Index i = begin; i < stop; ++i) far |= F::is_near(x[i]) ? 0 : 1;
      if (!far) loop(stop - begin, x + begin, y + begin, Near<T, F>{});
      else for (Index i = begin; i < stop; ++i) y[i] = f(x[i]);
    }
  };
  if (n <= per_chunk) return chunk(0, n);
  parallel_chunks((n + per_chunk - 1) / per_chunk, [&](Index c) { chunk(c * per_chunk, std::min(n, (c + 1) * per_chunk)); });
}

}  // namespace tessera::kernels

namespace tessera {

/// y = P::eval(x) with a long body.
template <class P, DtypeSet S>
struct LongUnary : Unary<P, S> {
  static KernelFn kernel(std::span<const Dtype> in, const Attributes* attr) {
    static constexpr auto table = kernels::kernel_table<S & (set_of(Dtype::f32) | set_of(Dtype::f64))>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        constexpr Index kFew = 8;  // below, to look at the layout costs more than it gives
        const View &x = *in[0], &y = *out[0];
        if (const Index n = y.count(); n < kFew || !x.contiguous()) kernels::map1<T>(x, y, detail::Eval<P>{});
        else kernels::map_packed(n, static_cast<const T*>(x.data), static_cast<T*>(y.data), detail::Eval<P>{});
      };
    });
    const KernelFn packed = table[static_cast<int>(in[0])];
    return packed ? packed : Unary<P, S>::kernel(in, attr);
  }
};

}  // namespace tessera
