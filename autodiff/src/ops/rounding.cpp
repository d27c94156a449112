// SPDX-License-Identifier: Apache-2.0
//
// Rounding, remainders, signs and sizes.
#include "../kernels/arithmetic.h"
#include "../kernels/functions.h"
#include "call.h"
#include "maps.h"

namespace tessera {
namespace {

// ---- steps: derivative zero wherever it exists ----
template <class P, class Body>
struct StepFunction : Unary<P, Body> {
  static constexpr RuleClass rule = RuleClass::zero;
};
struct Floor : StepFunction<Floor, kernels::body::Floor> {};
struct Ceil : StepFunction<Ceil, kernels::body::Ceil> {};
struct Round : StepFunction<Round, kernels::body::Round> {};
struct SignReal : StepFunction<SignReal, kernels::body::SignReal> {};
struct IsFinite : StepFunction<IsFinite, kernels::body::IsFinite> {
  static Dtype result(std::span<const Dtype>) { return Dtype::boolean; }
};
struct AbsReal : Unary<AbsReal, kernels::body::AbsReal> {
  static Tensor d(int, In in, const Tensor&) { return sign(in[0]); }
};
struct Rem : Binary<Rem, kernels::body::Rem> {
  static Tensor d(int k, In in, const Tensor& r) {
    if (k == 0) return ones({}, r.dtype());
    return neg(round((in[0] - stop_gradient(r)) / in[1]));  // -trunc(x/y)
  }
};
TESSERA_REGISTER(Floor);
TESSERA_REGISTER(Ceil);
TESSERA_REGISTER(Round);
TESSERA_REGISTER(SignReal);
TESSERA_REGISTER(IsFinite);
TESSERA_REGISTER(AbsReal);
TESSERA_REGISTER(Rem);

}  // namespace

Tensor floor(Arg x) { return unary<Floor>(x); }
Tensor ceil(Arg x) { return unary<Ceil>(x); }
Tensor round(Arg x) { return unary<Round>(x); }
Tensor is_finite(Arg x) { return unary<IsFinite>(x); }
Tensor rem(Arg x, Arg y) { return binary<Rem>(x, y); }
Tensor abs(Arg x) {
  const Tensor t = detail::to_tensor("abs", x);
  if (is_complex(t.dtype())) return detail::abs_complex(t, x.line);
  return unary<AbsReal>(Arg(t, x.line));
}
Tensor sign(Arg x) {
  const Tensor t = detail::to_tensor("sign", x);
  return is_complex(t.dtype()) ? detail::sign_complex(t, x.line) : unary<SignReal>(Arg(t, x.line));
}

}  // namespace tessera
