// SPDX-License-Identifier: Apache-2.0
//
// Primitives of one or two operands, element by element, from P::eval.
#pragma once
#include "../kernels/map.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {

namespace detail {
/// P::eval as a functor, with P::near where P has one.
template <class P>
struct Eval {
  template <class T>
  TESSERA_HD_INLINE auto operator()(T x) const {
    return P::eval(x);
  }
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
        kernels::map2<T, T>(*in[0], *in[1], *out[0],
                            [](T x, T y) TESSERA_INLINE { return P::eval(x, y); });
      };
    });
    return in[0] == in[1] ? table[static_cast<int>(in[0])] : nullptr;
  }
};

}  // namespace tessera
