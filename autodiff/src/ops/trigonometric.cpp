// SPDX-License-Identifier: Apache-2.0
//
// Circular and hyperbolic functions and their inverses.
#include "function.h"

namespace tessera {
namespace {

/// 1 - x^2: a product near +-1, and near 0 a square, whose derivative -2x is not the difference of
/// 1 - x and 1 + x.
Tensor one_minus_square(const Tensor& x) {
  return where(less(abs(x), 0.5), 1.0 - square(x), (1.0 - x) * (1.0 + x));
}
/// 1 / (sqrt(x - 1) sqrt(x + 1)), near 0 as +-i / sqrt(1 - x^2) for the same reason.
Tensor acosh_derivative(const Tensor& x) {
  const Tensor product = rsqrt(x - 1.0) * rsqrt(x + 1.0);
  if (!is_complex(x.dtype())) return product;
  const Tensor root = rsqrt(1.0 - square(where(less(abs(x), 0.5), x, 0.0)));
  return where(less(abs(x), 0.5), stop_gradient(product / root) * root, product);
}

TESSERA_PERIODIC(Sin, "sin", kInexact, sin, cos(x));
TESSERA_PERIODIC(Cos, "cos", kInexact, cos, neg(sin(x)));
TESSERA_PERIODIC(Tan, "tan", kInexact, tan,
                 is_complex(x.dtype()) ? sech2(c128(0, 1) * x) : 1.0 + square(y));
TESSERA_FUNCTION(Asin, "asin", kInexact, asin, rsqrt(one_minus_square(x)));
TESSERA_FUNCTION(Acos, "acos", kInexact, acos, neg(rsqrt(one_minus_square(x))));
TESSERA_FUNCTION(Atan, "atan", kInexact, atan, 1.0 / (1.0 + square(x)));
TESSERA_PERIODIC(Sinh, "sinh", kComplex, sinh, cosh(x));
TESSERA_PERIODIC(Cosh, "cosh", kComplex, cosh, sinh(x));
TESSERA_PERIODIC(Tanh, "tanh", kComplex, tanh, sech2(x));
TESSERA_FUNCTION(Asinh, "asinh", kInexact, asinh,
                 is_complex(x.dtype()) ? rsqrt(1.0 + square(x)) : 1.0 / hypot(1.0, x));
TESSERA_FUNCTION(Acosh, "acosh", kInexact, acosh, acosh_derivative(x));
TESSERA_FUNCTION(Atanh, "atanh", kInexact, atanh, 1.0 / one_minus_square(x));
TESSERA_FUNCTION(Sech2, "sech2", kInexact, sech2, (-2.0 * tanh(x)) * y);

struct Atan2 : Binary<Atan2, kReal> {
  static constexpr const char* name = "atan2";
  template <class T>
  TESSERA_HD_INLINE static T eval(T y, T x) {
    return kernels::fn::atan2(y, x);
  }
  static Tensor d(int k, In in, const Tensor&) {
    const Tensor h = hypot(in[0], in[1]);
    return k == 0 ? (in[1] / h) / h : neg((in[0] / h) / h);
  }
};
/// c = x / hypot(x, y), and s = y / hypot(x, y): dc = s (s dx - c dy) / hypot, free of cancellation
/// and NaN at 0, where c = 0.
struct HypotDerivative : Binary<HypotDerivative, kReal> {
  static constexpr const char* name = "hypot_derivative";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return kernels::fn::hypot_derivative(x, y);
  }
  static Tensor of(const Tensor& x, const Tensor& y) { return binary<HypotDerivative>(x, y); }
  static Tensor d(int k, In in, const Tensor& c) {
    const Tensor s = of(in[1], in[0]);
    return s * (k == 0 ? s : neg(c)) / hypot(in[0], in[1]);
  }
};
struct Hypot : Binary<Hypot, kReal> {
  static constexpr const char* name = "hypot";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return kernels::fn::hypot(x, y);
  }
  static Tensor d(int k, In in, const Tensor&) { return HypotDerivative::of(in[k], in[1 - k]); }
};
TESSERA_REGISTER(Atan2);
TESSERA_REGISTER(HypotDerivative);
TESSERA_REGISTER(Hypot);

}  // namespace

Tensor sin(Arg x) { return unary<Sin>(x); }
Tensor cos(Arg x) { return unary<Cos>(x); }
Tensor tan(Arg x) { return unary<Tan>(x); }
Tensor asin(Arg x) { return unary<Asin>(x); }
Tensor acos(Arg x) { return unary<Acos>(x); }
Tensor atan(Arg x) { return unary<Atan>(x); }
Tensor sinh(Arg x) { return unary<Sinh>(x); }
Tensor cosh(Arg x) { return unary<Cosh>(x); }
Tensor tanh(Arg x) { return unary<Tanh>(x); }
Tensor asinh(Arg x) { return unary<Asinh>(x); }
Tensor acosh(Arg x) { return unary<Acosh>(x); }
Tensor atanh(Arg x) { return unary<Atanh>(x); }
Tensor sech2(Arg x) { return unary<Sech2>(x); }
Tensor atan2(Arg y, Arg x) { return binary<Atan2>(y, x); }
Tensor hypot(Arg x, Arg y) { return binary<Hypot>(x, y); }

}  // namespace tessera
