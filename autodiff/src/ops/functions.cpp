// SPDX-License-Identifier: Apache-2.0
//
// Elementary and special functions of one element. Each row: the function, then its derivative in a form that
// does not cancel.
#include <cmath>
#include <numbers>

#include "../kernels/arithmetic.h"
#include "../kernels/functions.h"
#include "../kernels/map_wide.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using In = std::span<const Tensor>;

/// 1 - x^2: a product near +-1, and near 0 a square, whose derivative -2x is not the difference of 1 - x and 1 + x.
Tensor one_minus_square(const Tensor& x) { return where(less(abs(x), 0.5), 1.0 - square(x), (1.0 - x) * (1.0 + x)); }
/// 1 / (sqrt(x - 1) sqrt(x + 1)), near 0 as +-i / sqrt(1 - x^2) for the same reason.
Tensor acosh_slope(const Tensor& x) {
  const Tensor product = rsqrt(x - 1.0) * rsqrt(x + 1.0);
  if (!is_complex(x.dtype())) return product;
  const Tensor root = rsqrt(1.0 - square(where(less(abs(x), 0.5), x, 0.0)));
  return where(less(abs(x), 0.5), stop_gradient(product / root) * root, product);
}
/// x / hypot(x, y) by the smaller ratio t of the two: its derivative y^2 / hypot^3 does not come from a difference.
Tensor cosine_of(const Tensor& x, const Tensor& y) {
  const Tensor steep = less(abs(x), abs(y));
  const Tensor t = where(steep, x, y) / where(steep, y, where(equal(x, 0.0), 1.0, x));
  return rsqrt(1.0 + square(t)) * where(steep, t * sign(y), sign(x));
}

#define TESSERA_FUNCTION(P, NAME, TYPES, BODY, DERIVATIVE)               \
  struct P : LongUnary<P, TYPES> {                                       \
    static constexpr const char* name = NAME;                            \
    template <class T>                                                   \
    TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::BODY(x); }       \
    static Tensor d(int, In in, const Tensor& y) {                       \
      const Tensor& x = in[0];                                           \
      (void)x, (void)y;                                                  \
      return DERIVATIVE;                                                 \
    }                                                                    \
  };                                                                     \
  TESSERA_REGISTER(P)

TESSERA_FUNCTION(Sqrt, "sqrt", kInexact, sqrt, 0.5 / y);
TESSERA_FUNCTION(Rsqrt, "rsqrt", kInexact, rsqrt, -0.5 * (y / x));
TESSERA_FUNCTION(Cbrt, "cbrt", kReal, cbrt, 1.0 / (3.0 * square(y)));
TESSERA_FUNCTION(Expm1, "expm1", kInexact, expm1, exp(x));
TESSERA_FUNCTION(Log, "log", kInexact, log, 1.0 / x);
TESSERA_FUNCTION(Log1p, "log1p", kInexact, log1p, 1.0 / (1.0 + x));
TESSERA_FUNCTION(Asin, "asin", kInexact, asin, rsqrt(one_minus_square(x)));
TESSERA_FUNCTION(Acos, "acos", kInexact, acos, neg(rsqrt(one_minus_square(x))));
TESSERA_FUNCTION(Atan, "atan", kInexact, atan, 1.0 / (1.0 + square(x)));
TESSERA_FUNCTION(Asinh, "asinh", kInexact, asinh, is_complex(x.dtype()) ? rsqrt(1.0 + square(x)) : 1.0 / hypot(1.0, x));
TESSERA_FUNCTION(Acosh, "acosh", kInexact, acosh, acosh_slope(x));
TESSERA_FUNCTION(Atanh, "atanh", kInexact, atanh, 1.0 / one_minus_square(x));
TESSERA_FUNCTION(Sech2, "sech2", kInexact, sech2, (-2.0 * tanh(x)) * y);
TESSERA_FUNCTION(Logistic, "logistic", kInexact, logistic, 0.25 * sech2(0.5 * x));
TESSERA_FUNCTION(Softplus, "softplus", kReal, softplus, logistic(x));
TESSERA_FUNCTION(Erf, "erf", kReal, erf, (2.0 * std::numbers::inv_sqrtpi) * exp(neg(square(x))));
TESSERA_FUNCTION(Erfc, "erfc", kReal, erfc, (-2.0 * std::numbers::inv_sqrtpi) * exp(neg(square(x))));
TESSERA_FUNCTION(Erfinv, "erfinv", kReal, erfinv, (0.5 / std::numbers::inv_sqrtpi) * exp(square(y)));
TESSERA_FUNCTION(Lgamma, "lgamma", kReal, lgamma, digamma(x));
TESSERA_FUNCTION(Digamma, "digamma", kReal, digamma, polygamma(1, x));
TESSERA_FUNCTION(AbsReal, "abs", kReal | kInteger, abs, sign(x));

// Functions with a sine inside, of real (SINE = kInexact) or of complex (SINE = kComplex) arguments.
#define TESSERA_PERIODIC(P, NAME, SINE, BODY, DERIVATIVE)                                \
  struct P : LongUnary<P, kInexact> {                                                    \
    static constexpr const char* name = NAME;                                            \
    template <class T>                                                                   \
    TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::BODY(x); }                       \
    template <class T>                                                                   \
      requires(SINE == kInexact || kernels::is_cplx<T>)                                  \
    TESSERA_HD_INLINE static T near(T x) { return kernels::fn::BODY<true>(x); }                 \
    template <class T>                                                                   \
    TESSERA_HD_INLINE static bool is_near(T x) { return kernels::fn::is_near(x); }              \
    static Tensor d(int, In in, const Tensor& y) {                                       \
      const Tensor& x = in[0];                                                           \
      (void)x, (void)y;                                                                  \
      return DERIVATIVE;                                                                 \
    }                                                                                    \
  };                                                                                     \
  TESSERA_REGISTER(P)

TESSERA_PERIODIC(Exp, "exp", kComplex, exp, y);
TESSERA_PERIODIC(Sin, "sin", kInexact, sin, cos(x));
TESSERA_PERIODIC(Cos, "cos", kInexact, cos, neg(sin(x)));
TESSERA_PERIODIC(Tan, "tan", kInexact, tan, is_complex(x.dtype()) ? sech2(c128(0, 1) * x) : 1.0 + square(y));
TESSERA_PERIODIC(Sinh, "sinh", kComplex, sinh, cosh(x));
TESSERA_PERIODIC(Cosh, "cosh", kComplex, cosh, sinh(x));
TESSERA_PERIODIC(Tanh, "tanh", kComplex, tanh, sech2(x));

#undef TESSERA_PERIODIC
#undef TESSERA_FUNCTION

// ---- steps: derivative zero wherever it exists ----
template <class P, DtypeSet S>
struct StepFunction : Unary<P, S> {
  static constexpr RuleClass rule = RuleClass::zero;
};
struct Floor : StepFunction<Floor, kReal> {
  static constexpr const char* name = "floor";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::floor(x); }
};
struct Ceil : StepFunction<Ceil, kReal> {
  static constexpr const char* name = "ceil";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::ceil(x); }
};
struct Round : StepFunction<Round, kReal> {
  static constexpr const char* name = "round";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::round(x); }
};
struct SignReal : StepFunction<SignReal, kReal | kInteger> {
  static constexpr const char* name = "sign";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x) { return kernels::fn::sign(x); }
};
struct IsFinite : StepFunction<IsFinite, kInexact> {
  static constexpr const char* name = "is_finite";
  static Dtype result(std::span<const Dtype>) { return Dtype::boolean; }
  template <class T>
  TESSERA_HD_INLINE static bool eval(T x) { return kernels::fn::is_finite(x); }
};
TESSERA_REGISTER(Floor);
TESSERA_REGISTER(Ceil);
TESSERA_REGISTER(Round);
TESSERA_REGISTER(SignReal);
TESSERA_REGISTER(IsFinite);

// ---- functions with an integer parameter ----
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
/// x^n; the derivative n x^(n-1) is exact at 0.
struct PowInt : WithInt<PowInt, kNumber> {
  static constexpr const char* name = "pow_int";
  template <class T>
  TESSERA_HD_INLINE static T eval(int n, T x) { return kernels::fn::pow_int(n, x); }
  static Tensor derivative(int n, const Tensor& x) { return n == 0 ? x * 0.0 : static_cast<double>(n) * pow(x, n - 1); }
};
/// (-1)^(n+1) n! sum_k 1/(x+k)^(n+1); n = 0 is digamma.
struct Polygamma : WithInt<Polygamma, kReal> {
  static constexpr const char* name = "polygamma";
  template <class T>
  TESSERA_HD_INLINE static T eval(int n, T x) { return kernels::fn::polygamma(n, x); }
  static Tensor derivative(int n, const Tensor& x) { return polygamma(n + 1, x); }
};
TESSERA_REGISTER(PowInt);
TESSERA_REGISTER(Polygamma);

// ---- two operands ----
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
struct Rem : Binary<Rem, kReal | kInteger> {
  static constexpr const char* name = "rem";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) { return kernels::fn::rem(x, y); }
  static Tensor d(int k, In in, const Tensor& r) {
    if (k == 0) return ones({}, r.dtype());
    return neg(round((in[0] - stop_gradient(r)) / in[1]));  // -trunc(x/y)
  }
};
struct Atan2 : Binary<Atan2, kReal> {
  static constexpr const char* name = "atan2";
  template <class T>
  TESSERA_HD_INLINE static T eval(T y, T x) { return kernels::fn::atan2(y, x); }
  static Tensor d(int k, In in, const Tensor&) {
    const Tensor h = hypot(in[0], in[1]);
    return k == 0 ? (in[1] / h) / h : neg((in[0] / h) / h);
  }
};
struct Hypot : Binary<Hypot, kReal> {
  static constexpr const char* name = "hypot";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) { return kernels::fn::hypot(x, y); }
  static Tensor d(int k, In in, const Tensor&) { return cosine_of(in[k], in[1 - k]); }
};
TESSERA_REGISTER(Pow);
TESSERA_REGISTER(Rem);
TESSERA_REGISTER(Atan2);
TESSERA_REGISTER(Hypot);

template <class P>
Tensor unary(const Arg& x) {
  if (x.tensor && x.tensor->defined()) return apply(primitive<P>(), {}, x.where, *x.tensor);
  return apply(primitive<P>(), {}, x.where, detail::to_tensor(P::name, x));
}
template <class P>
Tensor binary(const Arg& a, const Arg& b) {
  const auto [x, y] = detail::meet(P::name, a, b);
  return apply(primitive<P>(), {}, a.where, x, y);
}

}  // namespace

Tensor sqrt(Arg x) { return unary<Sqrt>(x); }
Tensor rsqrt(Arg x) { return unary<Rsqrt>(x); }
Tensor cbrt(Arg x) { return unary<Cbrt>(x); }
Tensor exp(Arg x) { return unary<Exp>(x); }
Tensor expm1(Arg x) { return unary<Expm1>(x); }
Tensor log(Arg x) { return unary<Log>(x); }
Tensor log1p(Arg x) { return unary<Log1p>(x); }
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
Tensor logistic(Arg x) { return unary<Logistic>(x); }
Tensor softplus(Arg x) { return unary<Softplus>(x); }
Tensor erf(Arg x) { return unary<Erf>(x); }
Tensor erfc(Arg x) { return unary<Erfc>(x); }
Tensor erfinv(Arg x) { return unary<Erfinv>(x); }
Tensor lgamma(Arg x) { return unary<Lgamma>(x); }
Tensor digamma(Arg x) { return unary<Digamma>(x); }
Tensor floor(Arg x) { return unary<Floor>(x); }
Tensor ceil(Arg x) { return unary<Ceil>(x); }
Tensor round(Arg x) { return unary<Round>(x); }
Tensor is_finite(Arg x) { return unary<IsFinite>(x); }
Tensor pow(Arg x, Arg y) { return binary<Pow>(x, y); }
Tensor rem(Arg x, Arg y) { return binary<Rem>(x, y); }
Tensor atan2(Arg y, Arg x) { return binary<Atan2>(y, x); }
Tensor hypot(Arg x, Arg y) { return binary<Hypot>(x, y); }
Tensor square(Arg x) {
  const Tensor t = detail::to_tensor("square", x);
  return mul(Arg(t, x.where), t);
}
Tensor pow(Arg x, int n) {
  const Tensor t = detail::to_tensor("pow", x);
  if (n < 0 && !is_inexact(t.dtype())) fail("pow", "a negative power of an integer tensor; use cast", x.where);
  return apply(primitive<PowInt>(), attributes(IntParameter{n}), x.where, t);
}
Tensor polygamma(int n, Arg x) {
  if (n < 0) fail("polygamma", "the order must not be negative, got " + std::to_string(n), x.where);
  return apply(primitive<Polygamma>(), attributes(IntParameter{n}), x.where, detail::to_tensor("polygamma", x));
}

Tensor abs(Arg x) {
  const Tensor t = detail::to_tensor("abs", x);
  if (is_complex(t.dtype())) return detail::abs_complex(t, x.where);
  return unary<AbsReal>(Arg(t, x.where));
}
Tensor sign(Arg x) {
  const Tensor t = detail::to_tensor("sign", x);
  if (!is_complex(t.dtype())) return unary<SignReal>(Arg(t, x.where));
  const Tensor size = detail::abs_complex(t, x.where);
  const Tensor safe = where(equal(size, 0.0), 1.0, size);
  return t / complex(safe, zeros({}, safe.dtype()));
}

}  // namespace tessera
