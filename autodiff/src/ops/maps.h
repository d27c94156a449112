// SPDX-License-Identifier: Apache-2.0
//
// Primitives of one or two operands, element by element, from a body of the table (kernels/body.h),
// which gives name, element types and eval.
#pragma once
#include "../kernels/map.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {

namespace detail {
template <class Body>
struct Eval {
  template <class T>
  TESSERA_HD_INLINE auto operator()(T x) const {
    return Body::eval(x);
  }
};
}  // namespace detail

/// y = eval(x), one operand.
template <class P, class Body>
struct Unary : Elementwise<P, 1>, Body {
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<Body::dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map1<T>(*in[0], *out[0], detail::Eval<Body>{});
      };
    });
    return table[static_cast<int>(in[0])];
  }
};

/// z = eval(x, y), two operands of one type.
template <class P, class Body>
struct Binary : Elementwise<P, 2>, Body {
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<Body::dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map2<T, T>(*in[0], *in[1], *out[0],
                            [](T x, T y) TESSERA_INLINE { return Body::eval(x, y); });
      };
    });
    return in[0] == in[1] ? table[static_cast<int>(in[0])] : nullptr;
  }
};

}  // namespace tessera
