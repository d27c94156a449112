// SPDX-License-Identifier: Apache-2.0
//
// Sums, products and choices.
#include "../kernels/arithmetic.h"

#include "../core/rules.h"
#include "call.h"
#include "forms.h"
#include "maps.h"

#include <utility>

namespace tessera {
namespace {

using namespace kernels;
using detail::zeros_of;

/// Linear in all operands, element-wise.
template <class P, class Body>
struct LinearBinary : Binary<P, Body> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 3u;
};

struct Add : LinearBinary<Add, body::Add> {
  static void jvp(const Application&, std::span<const Tensor> t, std::span<Tensor> o) {
    o[0] = detail::add_tangents(t[0], t[1]);
  }
  static void transpose(const Application&, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    for (int k : {0, 1})
      if (linear[k]) o[k] = ct[0];
  }
};
struct Sub : LinearBinary<Sub, body::Sub> {
  static void jvp(const Application&, std::span<const Tensor> t, std::span<Tensor> o) {
    o[0] = !t[1].defined() ? t[0] : t[0].defined() ? sub(t[0], t[1]) : neg(t[1]);
  }
  static void transpose(const Application&, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) o[0] = ct[0];
    if (linear[1]) o[1] = neg(ct[0]);
  }
};
struct Mul : Binary<Mul, body::Mul> {
  static constexpr RuleClass rule = RuleClass::bilinear;
  static constexpr std::uint32_t linear_in = 3u;
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0] && linear[1])
      detail::no_rule("mul", "transpose", "it is not linear in both operands together");
    if (linear[0]) o[0] = mul(ct[0], conj(a.in[1]));
    if (linear[1]) o[1] = mul(conj(a.in[0]), ct[0]);
  }
};
struct Div : Binary<Div, body::Div> {
  static constexpr RuleClass rule = RuleClass::hand;
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    Tensor top = t[0];
    if (t[1].defined()) {
      const Tensor rest = mul(a.out[0], t[1]);
      top = top.defined() ? sub(top, rest) : neg(rest);
    }
    if (top.defined()) o[0] = div(top, a.in[1]);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[1]) detail::no_rule("div", "transpose", "it is not linear in the denominator");
    o[0] = div(ct[0], conj(a.in[1]));
  }
  static constexpr int numerator = 0;
  static Tensor undo(const Application&, const Tensor& b, const Tensor& y) { return mul(b, y); }
};
struct Neg : Unary<Neg, body::Neg> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = neg(ct[0]);
  }
};

// ---- choices ----
/// Derivative of a choice by an operand that is `beaten` by the other, or ties with it. Where one
/// of them is NaN neither is beaten, and both have the derivative 1 of the NaN that comes out.
Tensor share(const Tensor& beaten, const Tensor& mine, const Tensor& other) {
  return where(beaten, 0.0,
               where(equal(mine, other), cast(0.5, mine.dtype()), cast(1.0, mine.dtype())));
}
struct Maximum : Binary<Maximum, body::Maximum> {
  static Tensor d(int k, std::span<const Tensor> x, const Tensor&) {
    return share(less(x[k], x[1 - k]), x[k], x[1 - k]);
  }
};
struct Minimum : Binary<Minimum, body::Minimum> {
  static Tensor d(int k, std::span<const Tensor> x, const Tensor&) {
    return share(less(x[1 - k], x[k]), x[k], x[1 - k]);
  }
};

struct Select : Elementwise<Select, 3>, body::Select {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 6u;
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (in.size() != 3 || in[0].dtype != Dtype::boolean || in[1] != in[2] ||
        in[0].shape != in[1].shape)
      fail("where", "needs a bool condition and two choices of one type and shape");
    return {in[1]};
  }
  static Dtype result(std::span<const Dtype> in) { return in[1]; }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<dtypes>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes*) {
        map3<bool, T, T>(*in[0], *in[1], *in[2], *out[0],
                         [](bool c, T x, T y) { return body::Select::eval(c, x, y); });
      };
    });
    return in[0] == Dtype::boolean && in[1] == in[2] ? table[static_cast<int>(in[1])] : nullptr;
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const Tensor zero = zeros_of(ct[0].type());
    if (linear[1]) o[1] = where(a.in[0], ct[0], zero);
    if (linear[2]) o[2] = where(a.in[0], zero, ct[0]);
  }
};

TESSERA_REGISTER(Add);
TESSERA_REGISTER(Sub);
TESSERA_REGISTER(Mul);
TESSERA_REGISTER(Div);
TESSERA_REGISTER(Neg);
TESSERA_REGISTER(Maximum);
TESSERA_REGISTER(Minimum);
TESSERA_REGISTER(Select);

}  // namespace

const Primitive& detail::mul_primitive() { return primitive<Mul>(); }
Tensor add(Arg a, Arg b) { return binary<Add>(a, b); }
Tensor sub(Arg a, Arg b) { return binary<Sub>(a, b); }
Tensor mul(Arg a, Arg b) { return binary<Mul>(a, b); }
Tensor div(Arg a, Arg b) { return binary<Div>(a, b); }
Tensor neg(Arg x) { return unary<Neg>(x); }
Tensor maximum(Arg a, Arg b) { return binary<Maximum>(a, b); }
Tensor minimum(Arg a, Arg b) { return binary<Minimum>(a, b); }

Tensor where(Arg condition, Arg a, Arg b) {
  Tensor c = detail::to_tensor("where", condition, Dtype::boolean);
  if (c.dtype() != Dtype::boolean)
    fail("where", "the condition must be bool, got " + to_string(c.type()), condition.line);
  auto [x, y] = detail::meet("where", a, b);
  if (c.shape() != x.shape()) {
    // Broadcast all three to their common shape by letting the condition meet a bool of the
    // choices' shape.
    auto [wide, other] =
        detail::meet("where", c, broadcast_to(scalar(0.0, Dtype::boolean), x.shape()));
    c = wide;
    x = broadcast_to(x, other.shape());
    y = broadcast_to(y, other.shape());
  }
  return apply(primitive<Select>(), {}, condition.line, c, x, y);
}

}  // namespace tessera
