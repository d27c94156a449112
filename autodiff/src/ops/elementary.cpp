// SPDX-License-Identifier: Apache-2.0
//
// Roots, powers, exponentials and logarithms.
#include "function.h"

namespace tessera {
namespace {

TESSERA_FUNCTION(Sqrt, "sqrt", kInexact, sqrt, 0.5 / y);
TESSERA_FUNCTION(Rsqrt, "rsqrt", kInexact, rsqrt, -0.5 * (y / x));
TESSERA_FUNCTION(Cbrt, "cbrt", kReal, cbrt, 1.0 / (3.0 * square(y)));
TESSERA_PERIODIC(Exp, "exp", kComplex, exp, y);
TESSERA_FUNCTION(Expm1, "expm1", kInexact, expm1, exp(x));
TESSERA_FUNCTION(Log, "log", kInexact, log, 1.0 / x);
TESSERA_FUNCTION(Log1p, "log1p", kInexact, log1p, 1.0 / (1.0 + x));

/// x^n; the derivative n x^(n-1) is exact at 0.
struct PowInt : WithInt<PowInt, kNumber> {
  static constexpr const char* name = "pow_int";
  template <class T>
  TESSERA_HD_INLINE static T eval(int n, T x) { return kernels::fn::pow_int(n, x); }
  static Tensor derivative(int n, const Tensor& x) { return n == 0 ? x * 0.0 : static_cast<double>(n) * pow(x, n - 1); }
};
struct Pow : Binary<Pow, kInexact> {
  static constexpr const char* name = "pow";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) { return kernels::fn::pow(x, y); }
  static Tensor d(int k, In in, const Tensor& z) {
    const Tensor &x = in[0], &y = in[1];
    if (k == 0) return y * pow(x, y - 1.0);
    const Tensor at_zero = equal(x, 0.0);  // x^y log x -> 0
    return where(at_zero, zeros({}, x.dtype()), z * log(where(at_zero, 1.0, x)));
  }
};
TESSERA_REGISTER(PowInt);
TESSERA_REGISTER(Pow);

}  // namespace

Tensor sqrt(Arg x) { return unary<Sqrt>(x); }
Tensor rsqrt(Arg x) { return unary<Rsqrt>(x); }
Tensor cbrt(Arg x) { return unary<Cbrt>(x); }
Tensor exp(Arg x) { return unary<Exp>(x); }
Tensor expm1(Arg x) { return unary<Expm1>(x); }
Tensor log(Arg x) { return unary<Log>(x); }
Tensor log1p(Arg x) { return unary<Log1p>(x); }
Tensor pow(Arg x, Arg y) { return binary<Pow>(x, y); }
Tensor square(Arg x) {
  const Tensor t = detail::to_tensor("square", x);
  return mul(Arg(t, x.where), t);
}
Tensor pow(Arg x, int n) {
  const Tensor t = detail::to_tensor("pow", x);
  if (n < 0 && !is_inexact(t.dtype())) fail("pow", "a negative power of an integer tensor; use cast", x.where);
  return apply(primitive<PowInt>(), attributes(IntParameter{n}), x.where, t);
}

}  // namespace tessera
