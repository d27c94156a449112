// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and shifts: the derivative is zero.
#include "../kernels/arithmetic.h"
#include "call.h"
#include "maps.h"

namespace tessera {
namespace {

using namespace kernels;

template <class P, class Body>
struct Compare : Binary<P, Body> {
  static constexpr RuleClass rule = RuleClass::zero;
  static Dtype result(std::span<const Dtype>) { return Dtype::boolean; }
};
struct Equal : Compare<Equal, body::Equal> {};
struct NotEqual : Compare<NotEqual, body::NotEqual> {};
struct Less : Compare<Less, body::Less> {};
struct LessEqual : Compare<LessEqual, body::LessEqual> {};
template <class P, class Body>
struct Bits : Binary<P, Body> {
  static constexpr RuleClass rule = RuleClass::zero;
};
struct And : Bits<And, body::And> {};
struct Or : Bits<Or, body::Or> {};
struct Xor : Bits<Xor, body::Xor> {};
struct ShiftLeft : Bits<ShiftLeft, body::ShiftLeft> {};
struct ShiftRight : Bits<ShiftRight, body::ShiftRight> {};
struct Not : Unary<Not, body::Not> {
  static constexpr RuleClass rule = RuleClass::zero;
};

TESSERA_REGISTER(Equal);
TESSERA_REGISTER(NotEqual);
TESSERA_REGISTER(Less);
TESSERA_REGISTER(LessEqual);
TESSERA_REGISTER(And);
TESSERA_REGISTER(Or);
TESSERA_REGISTER(Xor);
TESSERA_REGISTER(ShiftLeft);
TESSERA_REGISTER(ShiftRight);
TESSERA_REGISTER(Not);

}  // namespace

Tensor equal(Arg a, Arg b) { return binary<Equal>(a, b); }
Tensor not_equal(Arg a, Arg b) { return binary<NotEqual>(a, b); }
Tensor less(Arg a, Arg b) { return binary<Less>(a, b); }
Tensor less_equal(Arg a, Arg b) { return binary<LessEqual>(a, b); }
Tensor logical_and(Arg a, Arg b) { return binary<And>(a, b); }
Tensor logical_or(Arg a, Arg b) { return binary<Or>(a, b); }
Tensor logical_xor(Arg a, Arg b) { return binary<Xor>(a, b); }
Tensor shift_left(Arg a, Arg b) { return binary<ShiftLeft>(a, b); }
Tensor shift_right(Arg a, Arg b) { return binary<ShiftRight>(a, b); }
Tensor logical_not(Arg x) { return unary<Not>(x); }

}  // namespace tessera
