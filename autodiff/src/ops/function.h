// SPDX-License-Identifier: Apache-2.0
//
// A function of one element as a primitive: its body, then its derivative in a form that does not
// cancel.
#pragma once
#include "../kernels/arithmetic.h"
#include "../kernels/functions.h"
#include "../kernels/map_long.h"
#include "call.h"
#include "maps.h"

namespace tessera {

/// y = eval(x) with a long body.
template <class P, class Body>
struct LongUnary : Unary<P, Body> {
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<Body::dtypes>([](auto tag) -> KernelFn {
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map_long<Body, typename decltype(tag)::type>(*in[0], *out[0]);
      };
    });
    return table[static_cast<int>(in[0])];
  }
};

// The row NAME of the table with its derivative, an expression in x and y.
#define TESSERA_FUNCTION(NAME, DERIVATIVE)             \
  struct NAME : LongUnary<NAME, kernels::body::NAME> { \
    static Tensor d(int, In in, const Tensor& y) {     \
      const Tensor& x = in[0];                         \
      (void)x, (void)y;                                \
      return DERIVATIVE;                               \
    }                                                  \
  };                                                   \
  TESSERA_REGISTER(NAME)

/// A function with an integer parameter n.
struct IntParameter {
  int n;
  TESSERA_ATTRIBUTES(n)
};
template <class P, class Body>
struct WithInt : Elementwise<P, 1>, Body {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr None transpose{"it is not linear"};
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<Body::dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const int n = get<IntParameter>(a).n;
        kernels::map1<T>(*in[0], *out[0], [n](T x) { return Body::eval(n, x); });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (t[0].defined()) o[0] = mul(t[0], P::derivative(a.get<IntParameter>().n, a.in[0]));
  }
};

}  // namespace tessera
