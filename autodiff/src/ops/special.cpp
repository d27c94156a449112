// SPDX-License-Identifier: Apache-2.0
//
// Special functions: sigmoids, the error function and the gamma function with its relatives.
#include "function.h"

#include <numbers>

namespace tessera {
namespace {

TESSERA_FUNCTION(Logistic, 0.25 * sech2(0.5 * x));
TESSERA_FUNCTION(Softplus, logistic(x));
TESSERA_FUNCTION(Erf, (2.0 * std::numbers::inv_sqrtpi) * exp(neg(square(x))));
TESSERA_FUNCTION(Erfc, (-2.0 * std::numbers::inv_sqrtpi) * exp(neg(square(x))));
TESSERA_FUNCTION(Erfinv, (0.5 / std::numbers::inv_sqrtpi) * exp(square(y)));
TESSERA_FUNCTION(Lgamma, digamma(x));
TESSERA_FUNCTION(Digamma, polygamma(1, x));

/// (-1)^(n+1) n! sum_k 1/(x+k)^(n+1); n = 0 is digamma.
struct Polygamma : WithInt<Polygamma, kernels::body::Polygamma> {
  static Tensor derivative(int n, const Tensor& x) { return polygamma(n + 1, x); }
};
TESSERA_REGISTER(Polygamma);

}  // namespace

Tensor logistic(Arg x) { return unary<Logistic>(x); }
Tensor softplus(Arg x) { return unary<Softplus>(x); }
Tensor erf(Arg x) { return unary<Erf>(x); }
Tensor erfc(Arg x) { return unary<Erfc>(x); }
Tensor erfinv(Arg x) { return unary<Erfinv>(x); }
Tensor lgamma(Arg x) { return unary<Lgamma>(x); }
Tensor digamma(Arg x) { return unary<Digamma>(x); }
Tensor polygamma(int n, Arg x) {
  if (n < 0) fail("polygamma", "the order must not be negative, got " + std::to_string(n), x.line);
  return apply(primitive<Polygamma>(), attributes(IntParameter{n}), x.line,
               detail::to_tensor("polygamma", x));
}

}  // namespace tessera
