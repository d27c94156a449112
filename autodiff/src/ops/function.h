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

/// y = P::eval(x) with a long body.
template <class P, DtypeSet S>
struct LongUnary : Unary<P, S> {
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<S>([](auto tag) -> KernelFn {
      return [](Inputs in, Outputs out, const Attributes*) {
        kernels::map_long<P, typename decltype(tag)::type>(*in[0], *out[0]);
      };
    });
    return table[static_cast<int>(in[0])];
  }
};

#define TESSERA_FUNCTION(P, NAME, TYPES, BODY, DERIVATIVE) \
  struct P : LongUnary<P, TYPES> {                         \
    static constexpr const char* name = NAME;              \
    template <class T>                                     \
    TESSERA_HD_INLINE static T eval(T x) {                 \
      return kernels::fn::BODY(x);                         \
    }                                                      \
    static Tensor d(int, In in, const Tensor& y) {         \
      const Tensor& x = in[0];                             \
      (void)x, (void)y;                                    \
      return DERIVATIVE;                                   \
    }                                                      \
  };                                                       \
  TESSERA_REGISTER(P)

// Functions with a sine inside, of real (SINE = kInexact) or of complex (SINE = kComplex)
// arguments.
#define TESSERA_PERIODIC(P, NAME, SINE, BODY, DERIVATIVE)                                    \
  struct P : LongUnary<P, kInexact> {                                                        \
    static constexpr const char* name = NAME;                                                \
    template <class T>                                                                       \
    TESSERA_HD_INLINE static T eval(T x) {                                                   \
      return kernels::fn::BODY(x);                                                           \
    }                                                                                        \
    template <class T>                                                                       \
    requires(SINE == kInexact || kernels::is_cplx<T>) TESSERA_HD_INLINE static T near(T x) { \
      return kernels::fn::BODY<true>(x);                                                     \
    }                                                                                        \
    template <class T>                                                                       \
    TESSERA_HD_INLINE static bool is_near(T x) {                                             \
      return kernels::fn::is_near(x);                                                        \
    }                                                                                        \
    static Tensor d(int, In in, const Tensor& y) {                                           \
      const Tensor& x = in[0];                                                               \
      (void)x, (void)y;                                                                      \
      return DERIVATIVE;                                                                     \
    }                                                                                        \
  };                                                                                         \
  TESSERA_REGISTER(P)

/// A function with an integer parameter n.
struct IntParameter {
  int n;
  auto fields() const { return std::tie(n); }
};
template <class P, DtypeSet S>
struct WithInt : Elementwise<P, 1> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr DtypeSet dtypes = S;
  static constexpr None transpose{"it is not linear"};
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        const int n = get<IntParameter>(a).n;
        kernels::map1<T>(*in[0], *out[0], [n](T x) { return P::eval(n, x); });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (t[0].defined()) o[0] = mul(t[0], P::derivative(a.get<IntParameter>().n, a.in[0]));
  }
};

}  // namespace tessera
