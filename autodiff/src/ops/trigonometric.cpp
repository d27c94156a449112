// SPDX-License-Identifier: Apache-2.0
//
// Circular and hyperbolic functions and their inverses.
#include "function.h"

namespace tessera {
namespace {

/// 1, in complex numbers 1 - 0 i: sums with it keep the sign of a zero imaginary part, which is the
/// side of a branch cut, and so do differences from it.
Tensor one(const Tensor& x) { return scalar(c128(1, -0.0), x.dtype()); }
/// 1 - x^2: a product near +-1, and near 0 a square, whose derivative -2x is not the difference of
/// 1 - x and 1 + x.
Tensor one_minus_square(const Tensor& x) {
  return where(less(abs(x), 0.5), 1.0 - square(x), (one(x) - x) * (one(x) + x));
}
/// 1 / (sqrt(x - 1) sqrt(x + 1)), near 0 as +-i / sqrt(1 - x^2) for the same reason.
Tensor acosh_derivative(const Tensor& x) {
  const Tensor product = rsqrt(x - 1.0) * rsqrt(x + one(x));
  if (!is_complex(x.dtype())) return product;
  const Tensor root = rsqrt(1.0 - square(where(less(abs(x), 0.5), x, 0.0)));
  return where(less(abs(x), 0.5), stop_gradient(product / root) * root, product);
}

TESSERA_FUNCTION(Sin, cos(x));
TESSERA_FUNCTION(Cos, neg(sin(x)));
TESSERA_FUNCTION(Tan, is_complex(x.dtype()) ? sech2(c128(0, 1) * x) : 1.0 + square(y));
TESSERA_FUNCTION(Asin, rsqrt(one_minus_square(x)));
TESSERA_FUNCTION(Acos, neg(rsqrt(one_minus_square(x))));
TESSERA_FUNCTION(Atan, 1.0 / (1.0 + square(x)));
TESSERA_FUNCTION(Sinh, cosh(x));
TESSERA_FUNCTION(Cosh, sinh(x));
TESSERA_FUNCTION(Tanh, sech2(x));
TESSERA_FUNCTION(Asinh, is_complex(x.dtype()) ? rsqrt(one(x) + square(x)) : 1.0 / hypot(1.0, x));
TESSERA_FUNCTION(Acosh, acosh_derivative(x));
TESSERA_FUNCTION(Atanh, 1.0 / one_minus_square(x));
TESSERA_FUNCTION(Sech2, (-2.0 * tanh(x)) * y);

struct Atan2 : Binary<Atan2, kernels::body::Atan2> {
  static Tensor d(int k, In in, const Tensor&) {
    const Tensor h = hypot(in[0], in[1]);
    return k == 0 ? (in[1] / h) / h : neg((in[0] / h) / h);
  }
};
/// c = x / hypot(x, y), and s = y / hypot(x, y): dc = s (s dx - c dy) / hypot, free of cancellation
/// and NaN at 0, where c = 0.
struct HypotDerivative : Binary<HypotDerivative, kernels::body::HypotDerivative> {
  static Tensor of(const Tensor& x, const Tensor& y) { return binary<HypotDerivative>(x, y); }
  static Tensor d(int k, In in, const Tensor& c) {
    const Tensor s = of(in[1], in[0]);
    return s * (k == 0 ? s : neg(c)) / hypot(in[0], in[1]);
  }
};
struct Hypot : Binary<Hypot, kernels::body::Hypot> {
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
