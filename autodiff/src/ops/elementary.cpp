// SPDX-License-Identifier: Apache-2.0
//
// Roots, powers, exponentials and logarithms.
#include "../core/rules.h"
#include "function.h"

namespace tessera {
namespace {

TESSERA_FUNCTION(Sqrt, 0.5 / y);
/// 1 / (2 y), and at y = 0 sqrt x: 0 with a derivative that is not finite.
Tensor length_derivative(const Tensor& x, const Tensor& y) {
  const Tensor zero = equal(y, 0.0);
  return where(zero, sqrt(x), 0.5 / where(zero, 1.0, y));
}
/// The root of a sum of squares: as a length it has the derivative 0 at 0 and no second derivative
/// there.
TESSERA_FUNCTION(Length, length_derivative(x, y));
TESSERA_FUNCTION(Rsqrt, -0.5 * (y / x));
TESSERA_FUNCTION(Cbrt, 1.0 / (3.0 * square(y)));
TESSERA_FUNCTION(Exp, y);
TESSERA_FUNCTION(Expm1, exp(x));
TESSERA_FUNCTION(Log, 1.0 / x);
TESSERA_FUNCTION(Log1p, 1.0 / (1.0 + x));

/// x^n; the derivative n x^(n-1) is exact at 0, and x^0 has none.
struct PowInt : WithInt<PowInt, kernels::body::PowInt> {
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const int n = a.get<IntParameter>().n;
    if (t[0].defined() && n != 0) o[0] = mul(t[0], static_cast<double>(n) * pow(a.in[0], n - 1));
  }
};

/// d^i/dx^i d^j/dy^j x^y: each derivative of x^y is one of these, so that all are right where a
/// factor is 0 and the power infinite.
struct PowDerivative : Elementwise<PowDerivative, 2>, kernels::body::PowDerivative {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr None transpose{"it is not linear"};
  struct Orders {
    int in_x, in_y;
    TESSERA_ATTRIBUTES(in_x, in_y)
  };
  static Tensor of(Orders k, const Tensor& x, const Tensor& y) {
    if (std::min(k.in_x, k.in_y) > kernels::fn::kPowOrders)
      fail("pow", "derivatives of order " + std::to_string(k.in_x) + " in x and " +
                      std::to_string(k.in_y) + " in y together; at most one may exceed " +
                      std::to_string(kernels::fn::kPowOrders));
    return apply(primitive<PowDerivative>(), attributes(k), detail::context_line(), x, y);
  }
  /// Compiled for its orders: it vectorises.
  template <int I, int J>
  static constexpr auto low = kernels::kernel_table<dtypes>([](auto tag) -> KernelFn {
    using T = typename decltype(tag)::type;
    return [](Inputs in, Outputs out, const Attributes*) {
      kernels::map2<T, T>(*in[0], *in[1], *out[0],
                          [](T x, T y) TESSERA_INLINE { return eval(I, J, x, y); });
    };
  });
  static constexpr auto any = kernels::kernel_table<dtypes>([](auto tag) -> KernelFn {
    using T = typename decltype(tag)::type;
    return [](Inputs in, Outputs out, const Attributes* a) {
      const Orders k = get<Orders>(a);
      kernels::map2<T, T>(*in[0], *in[1], *out[0],
                          [k](T x, T y) { return eval(k.in_x, k.in_y, x, y); });
    };
  });
  static KernelFn kernel(std::span<const Dtype> in, const Attributes* a) {
    if (in[0] != in[1]) return nullptr;
    const Orders k = a ? get<Orders>(a) : Orders{};
    const auto is = [&](int i, int j) { return k.in_x == i && k.in_y == j; };
    const auto& table = is(1, 0) ? low<1, 0> : is(2, 0) ? low<2, 0> : is(0, 1) ? low<0, 1> : any;
    return table[static_cast<int>(in[0])];
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const Orders k = a.get<Orders>();
    if (t[0].defined()) o[0] = mul(t[0], of({k.in_x + 1, k.in_y}, a.in[0], a.in[1]));
    if (t[1].defined())
      o[0] = detail::add_tangents(o[0], mul(t[1], of({k.in_x, k.in_y + 1}, a.in[0], a.in[1])));
  }
};
struct Pow : Binary<Pow, kernels::body::Pow> {
  static Tensor d(int k, In in, const Tensor&) {
    return PowDerivative::of({k == 0, k == 1}, in[0], in[1]);
  }
};
TESSERA_REGISTER(PowInt);
TESSERA_REGISTER(PowDerivative);
TESSERA_REGISTER(Pow);

}  // namespace

Tensor detail::root_of_squares(const Tensor& sum, SourceLine w) {
  return apply(primitive<Length>(), {}, w, sum);
}
Tensor sqrt(Arg x) { return unary<Sqrt>(x); }
Tensor rsqrt(Arg x) { return unary<Rsqrt>(x); }
Tensor cbrt(Arg x) { return unary<Cbrt>(x); }
Tensor exp(Arg x) { return unary<Exp>(x); }
Tensor expm1(Arg x) { return unary<Expm1>(x); }
Tensor log(Arg x) { return unary<Log>(x); }
Tensor log1p(Arg x) { return unary<Log1p>(x); }
Tensor pow(Arg x, Arg y) {
  if (x.tensor && x.tensor->defined() && !is_inexact(x.tensor->dtype()) && !y.tensor &&
      y.literal.kind == Literal::Kind::integer)
    fail("pow",
         "the exponent " + std::to_string(y.literal.integer) + " of a " +
             to_string(x.tensor->type()) + " is no int, which counts its multiplications",
         x.line);
  return binary<Pow>(x, y);
}
Tensor square(Arg x) {
  const Tensor t = detail::to_tensor("square", x);
  return mul(Arg(t, x.line), t);
}
Tensor pow(Arg x, int n) {
  const Tensor t = detail::to_tensor("pow", x);
  if (n < 0 && !is_inexact(t.dtype()))
    fail("pow", "a negative power of an integer tensor; use cast", x.line);
  return apply(primitive<PowInt>(), attributes(IntParameter{n}), x.line, t);
}

}  // namespace tessera
