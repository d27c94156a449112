// SPDX-License-Identifier: Apache-2.0
// Functions of complex numbers.
#include "../kernels/functions.h"
#include "table.cuh"

namespace tessera::device {
namespace {

TESSERA_UNARY(sqrt);
TESSERA_UNARY(rsqrt);
TESSERA_UNARY(exp);
TESSERA_UNARY(expm1);
TESSERA_UNARY(log);
TESSERA_UNARY(log1p);
TESSERA_UNARY(sin);
TESSERA_UNARY(cos);
TESSERA_UNARY(tan);
TESSERA_UNARY(asin);
TESSERA_UNARY(acos);
TESSERA_UNARY(atan);
TESSERA_UNARY(sinh);
TESSERA_UNARY(cosh);
TESSERA_UNARY(tanh);
TESSERA_UNARY(sech2);
TESSERA_UNARY(asinh);
TESSERA_UNARY(acosh);
TESSERA_UNARY(atanh);
TESSERA_UNARY(logistic);
TESSERA_BINARY(pow);
struct Body_pow_derivative : BinaryWithInt {
  template <class T>
  TESSERA_HD_INLINE static auto eval(int orders, T x, T y) {
    return kernels::fn::pow_derivative(orders % 1000, orders / 1000, x, y);
  }
};
TESSERA_UNARY(sign_complex);
struct Body_abs : Unary {
  template <class T>
  TESSERA_HD_INLINE static auto eval(T z) {
    return kernels::fn::hypot(z.real(), z.imag());
  }
};

}  // namespace

std::span<const Row> complex_function_rows() {
  static const Row rows[] = {
      row<Body_sqrt>("sqrt", Complex{}),
      row<Body_rsqrt>("rsqrt", Complex{}),
      row<Body_exp>("exp", Complex{}),
      row<Body_expm1>("expm1", Complex{}),
      row<Body_log>("log", Complex{}),
      row<Body_log1p>("log1p", Complex{}),
      row<Body_sin>("sin", Complex{}),
      row<Body_cos>("cos", Complex{}),
      row<Body_tan>("tan", Complex{}),
      row<Body_asin>("asin", Complex{}),
      row<Body_acos>("acos", Complex{}),
      row<Body_atan>("atan", Complex{}),
      row<Body_sinh>("sinh", Complex{}),
      row<Body_cosh>("cosh", Complex{}),
      row<Body_tanh>("tanh", Complex{}),
      row<Body_sech2>("sech2", Complex{}),
      row<Body_asinh>("asinh", Complex{}),
      row<Body_acosh>("acosh", Complex{}),
      row<Body_atanh>("atanh", Complex{}),
      row<Body_logistic>("logistic", Complex{}),
      row<Body_pow>("pow", Complex{}),
      row<Body_pow_derivative>("pow_derivative", Complex{}),
      row<Body_abs>("abs_complex", Complex{}),
      row<Body_sign_complex>("sign_complex", Complex{}),
  };
  return rows;
}

}  // namespace tessera::device
