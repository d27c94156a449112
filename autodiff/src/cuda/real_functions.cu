// SPDX-License-Identifier: Apache-2.0
// Functions of real numbers.
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
TESSERA_UNARY(cbrt);
TESSERA_UNARY(softplus);
TESSERA_UNARY(erf);
TESSERA_UNARY(erfc);
TESSERA_UNARY(erfinv);
TESSERA_UNARY(lgamma);
TESSERA_UNARY(digamma);
TESSERA_UNARY(abs);
TESSERA_BINARY(pow);
TESSERA_BINARY(atan2);
TESSERA_BINARY(hypot);
TESSERA_BINARY(hypot_derivative);
TESSERA_WITH_INT(polygamma);
struct Body_pow_derivative : BinaryWithInt {
  template <class T>
  TESSERA_HD_INLINE static auto eval(int orders, T x, T y) {
    return kernels::fn::pow_derivative(orders % 1000, orders / 1000, x, y);
  }
};

}  // namespace

std::span<const Row> real_function_rows() {
  static const Row rows[] = {
      row<Body_sqrt>("sqrt", Real{}),
      row<Body_sqrt>("length", Real{}),
      row<Body_rsqrt>("rsqrt", Real{}),
      row<Body_exp>("exp", Real{}),
      row<Body_expm1>("expm1", Real{}),
      row<Body_log>("log", Real{}),
      row<Body_log1p>("log1p", Real{}),
      row<Body_sin>("sin", Real{}),
      row<Body_cos>("cos", Real{}),
      row<Body_tan>("tan", Real{}),
      row<Body_asin>("asin", Real{}),
      row<Body_acos>("acos", Real{}),
      row<Body_atan>("atan", Real{}),
      row<Body_sinh>("sinh", Real{}),
      row<Body_cosh>("cosh", Real{}),
      row<Body_tanh>("tanh", Real{}),
      row<Body_sech2>("sech2", Real{}),
      row<Body_asinh>("asinh", Real{}),
      row<Body_acosh>("acosh", Real{}),
      row<Body_atanh>("atanh", Real{}),
      row<Body_logistic>("logistic", Real{}),
      row<Body_cbrt>("cbrt", Real{}),
      row<Body_softplus>("softplus", Real{}),
      row<Body_erf>("erf", Real{}),
      row<Body_erfc>("erfc", Real{}),
      row<Body_erfinv>("erfinv", Real{}),
      row<Body_lgamma>("lgamma", Real{}),
      row<Body_digamma>("digamma", Real{}),
      row<Body_pow>("pow", Real{}),
      row<Body_pow_derivative>("pow_derivative", Real{}),
      row<Body_atan2>("atan2", Real{}),
      row<Body_hypot>("hypot", Real{}),
      row<Body_hypot_derivative>("hypot_derivative", Real{}),
      row<Body_polygamma>("polygamma", Real{}),
      row<Body_abs>("abs", Integer{}, Real{}),
  };
  return rows;
}

}  // namespace tessera::device
