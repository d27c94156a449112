// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <concepts>

// Element-wise operations. Operands broadcast by NumPy's rules (trailing axes align, size 1
// stretches). Literals take the tensor's type, and it is an error if that does not hold an integer
// one (u8 and 300, or -1); f32 with f64 and real with complex widen; integers with floats throw.
// Derivatives of complex functions are those of the holomorphic function; of abs, real, imag, conj
// and complex those of the map on R^2 (gradients are adjoints: grad |z|^2 = 2 z).

namespace tessera {

Tensor add(Arg a, Arg b);
Tensor sub(Arg a, Arg b);
Tensor mul(Arg a, Arg b);
Tensor div(Arg a, Arg b);  ///< floats and complex; integers divide towards zero (by zero: 0)
inline Tensor operator+(Arg a, Arg b) { return add(a, b); }
inline Tensor operator-(Arg a, Arg b) { return sub(a, b); }
inline Tensor operator*(Arg a, Arg b) { return mul(a, b); }
inline Tensor operator/(Arg a, Arg b) { return div(a, b); }

Tensor neg(Arg x);
inline Tensor operator-(const Tensor& x) { return neg(x); }
Tensor abs(Arg x);   ///< real result for complex x; derivative 0 at 0, of complex x the second one
                     ///< NaN there
Tensor sign(Arg x);  ///< -1, 0, 1; for complex x/|x|, 0 at 0 with derivative NaN
Tensor square(Arg x);
Tensor sqrt(Arg x);
Tensor rsqrt(Arg x);
Tensor cbrt(Arg x);
Tensor exp(Arg x);
Tensor expm1(Arg x);
Tensor log(Arg x);
Tensor log1p(Arg x);
Tensor sin(Arg x);
Tensor cos(Arg x);
Tensor tan(Arg x);
Tensor asin(Arg x);
Tensor acos(Arg x);
Tensor atan(Arg x);
Tensor sinh(Arg x);
Tensor cosh(Arg x);
Tensor tanh(Arg x);
Tensor sech2(Arg x);  ///< 1 / cosh(x)^2, the derivative of tanh; free of overflow and cancellation
Tensor asinh(Arg x);
Tensor acosh(Arg x);
Tensor atanh(Arg x);
Tensor logistic(Arg x);  ///< 1 / (1 + e^-x)
Tensor softplus(Arg x);  ///< log(1 + e^x)
Tensor erf(Arg x);
Tensor erfc(Arg x);
Tensor erfinv(Arg x);
Tensor lgamma(Arg x);
Tensor digamma(Arg x);
Tensor polygamma(int n, Arg x);  ///< n-th derivative of digamma, n >= 0
Tensor floor(Arg x);
Tensor ceil(Arg x);
Tensor round(Arg x);  ///< half to even
Tensor is_finite(Arg x);
Tensor logical_not(Arg x);  ///< bool: not; integers: bitwise not

/// 0^0 is 1 with derivatives 0; elsewhere at x = 0 they are those of the formula, infinite or NaN
/// where it has none.
Tensor pow(Arg x, Arg y);
/// A real exponent; without this overload C++ would cut 0.5 to the integer 0.
template <std::floating_point T>
Tensor pow(Arg x, T y) {
  return pow(x, Arg(y, x.line));
}
Tensor pow(Arg x, int n);  ///< by repeated multiplication; n may be negative for inexact types
/// An exponent of another integer type: the same where int holds it, else as a literal of the type
/// of x; an error for integers.
template <std::integral T>
requires(!std::is_same_v<T, bool>) Tensor pow(Arg x, T n) {
  return std::in_range<int>(n) ? pow(x, static_cast<int>(n)) : pow(x, Arg(n, x.line));
}
Tensor rem(Arg x, Arg y);  ///< remainder with the sign of x (C's fmod)
Tensor maximum(
    Arg x,
    Arg y);  ///< NaN if either is NaN; ties share the derivative equally, beside a NaN both have 1
Tensor minimum(Arg x, Arg y);
Tensor atan2(Arg y, Arg x);
Tensor hypot(Arg x, Arg y);  ///< sqrt(x^2 + y^2); derivatives at 0: 0, the second ones NaN

Tensor equal(Arg x, Arg y);
Tensor not_equal(Arg x, Arg y);
Tensor less(Arg x, Arg y);
Tensor less_equal(Arg x, Arg y);
inline Tensor greater(Arg x, Arg y) { return less(y, x); }
inline Tensor greater_equal(Arg x, Arg y) { return less_equal(y, x); }
inline Tensor operator<(Arg a, Arg b) { return less(a, b); }
inline Tensor operator<=(Arg a, Arg b) { return less_equal(a, b); }
inline Tensor operator>(Arg a, Arg b) { return less(b, a); }
inline Tensor operator>=(Arg a, Arg b) { return less_equal(b, a); }
Tensor logical_and(Arg x, Arg y);  ///< bool: and; integers: bitwise and
Tensor logical_or(Arg x, Arg y);
Tensor logical_xor(Arg x, Arg y);
Tensor shift_left(Arg x, Arg y);
Tensor shift_right(Arg x, Arg y);  ///< arithmetic for signed types
/// condition ? a : b, element by element; the way to choose inside vmap and jit.
Tensor where(Arg condition, Arg a, Arg b);

Tensor complex(Arg re, Arg im);
Tensor real(Arg z);
Tensor imag(Arg z);
Tensor conj(Arg z);
Tensor arg(Arg z);         ///< phase in (-pi, pi]
Tensor as_real(Arg z);     ///< [..., 2]: real and imaginary part side by side
Tensor as_complex(Arg x);  ///< inverse of as_real
Tensor cast(Arg x,
            Dtype dtype);     ///< the one explicit conversion; complex to real keeps the real part
Tensor stop_gradient(Arg x);  ///< x, with derivative zero

namespace detail {
/// The operand as a tensor; a literal becomes one of type `like`.
Tensor to_tensor(const char* op, const Arg& a, Dtype like = Dtype::f64);
/// Both operands with one type and one shape.
std::pair<Tensor, Tensor> meet(const char* op, const Arg& a, const Arg& b);
Tensor abs_complex(const Tensor& z, SourceLine line);
Tensor sign_complex(const Tensor& z, SourceLine line);
/// The square root of a sum of squares, whose derivative at 0 is 0.
Tensor root_of_squares(const Tensor& sum, SourceLine line);
}  // namespace detail

}  // namespace tessera
