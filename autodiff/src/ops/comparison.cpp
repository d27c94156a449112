// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and shifts: the derivative is zero.
#include "../kernels/arithmetic.h"
#include "call.h"
#include "maps.h"

namespace tessera {
namespace {

using namespace kernels;

template <class P, DtypeSet S>
struct Compare : Binary<P, S> {
  static constexpr RuleClass rule = RuleClass::zero;
  static Dtype result(std::span<const Dtype>) { return Dtype::boolean; }
};
struct Equal : Compare<Equal, kAny> {
  static constexpr const char* name = "equal";
  template <class T>
  TESSERA_HD_INLINE static bool eval(T x, T y) {
    return fn::equal(x, y);
  }
};
struct NotEqual : Compare<NotEqual, kAny> {
  static constexpr const char* name = "not_equal";
  template <class T>
  TESSERA_HD_INLINE static bool eval(T x, T y) {
    return fn::not_equal(x, y);
  }
};
struct Less : Compare<Less, kReal | kInteger> {
  static constexpr const char* name = "less";
  template <class T>
  TESSERA_HD_INLINE static bool eval(T x, T y) {
    return fn::less(x, y);
  }
};
struct LessEqual : Compare<LessEqual, kReal | kInteger> {
  static constexpr const char* name = "less_equal";
  template <class T>
  TESSERA_HD_INLINE static bool eval(T x, T y) {
    return fn::less_equal(x, y);
  }
};
template <class P>
struct Logic : Binary<P, kBool | kInteger> {
  static constexpr RuleClass rule = RuleClass::zero;
};
struct And : Logic<And> {
  static constexpr const char* name = "and";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return fn::bit_and(x, y);
  }
};
struct Or : Logic<Or> {
  static constexpr const char* name = "or";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return fn::bit_or(x, y);
  }
};
struct Xor : Logic<Xor> {
  static constexpr const char* name = "xor";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return fn::bit_xor(x, y);
  }
};
template <class P>
struct Shift : Binary<P, kInteger> {
  static constexpr RuleClass rule = RuleClass::zero;
};
struct ShiftLeft : Shift<ShiftLeft> {
  static constexpr const char* name = "shift_left";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return fn::shift_left(x, y);
  }
};
struct ShiftRight : Shift<ShiftRight> {
  static constexpr const char* name = "shift_right";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x, T y) {
    return fn::shift_right(x, y);
  }
};
struct Not : Unary<Not, kBool | kInteger> {
  static constexpr RuleClass rule = RuleClass::zero;
  static constexpr const char* name = "not";
  template <class T>
  TESSERA_HD_INLINE static T eval(T x) {
    return fn::bit_not(x);
  }
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
