// SPDX-License-Identifier: Apache-2.0
//
// Operators that work element by element; types of operands are equal, and axes of length 1 repeat.
#include "onnx/program.h"
#include "tessera/autodiff/nn/activations.h"
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <limits>

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

template <Tensor (*F)(Arg)>
Out one(const C& c) {
  return {F(c.x())};
}
/// Of one type, and together no larger than there is memory for.
void check_operands(const C& c) {
  for (const Tensor& t : c.in)
    if (t.defined() && t.dtype() != c.x().dtype())
      c.malformed("its operands are " + to_string(c.x().type()) + " and " + to_string(t.type()));
  c.must_fit_together(c.shapes());
}
template <Tensor (*F)(Arg, Arg)>
Out two(const C& c) {
  check_operands(c);
  return {F(c.x(0), c.x(1))};
}
/// Of any number of operands, from the first on.
template <Tensor (*F)(Arg, Arg)>
Out many(const C& c) {
  check_operands(c);
  Tensor y = c.x();
  for (std::size_t k = 1; k < c.in.size(); ++k) y = F(y, c.x(k));
  return {y};
}
Out mean_of_operands(const C& c) { return {many<add>(c)[0] / static_cast<double>(c.in.size())}; }

Out identity(const C& c) { return {c.x()}; }
Out reciprocal(const C& c) { return {1 / c.x()}; }
Out softsign(const C& c) { return {c.x() / (1 + abs(c.x()))}; }
Out mish(const C& c) { return {c.x() * tanh(softplus(c.x()))}; }
Out elu(const C& c) {
  const Tensor &x = c.x(), right = x > 0;
  return {where(right, x, c.real("alpha", 1) * expm1(where(right, 0, x)))};
}
Out celu(const C& c) {
  const double a = c.real("alpha", 1);
  const Tensor& x = c.x();
  return {maximum(x, 0) + minimum(a * expm1(minimum(x, 0) / a), 0)};
}
Out selu(const C& c) {
  const Tensor &x = c.x(), right = x > 0;
  const double a = c.real("alpha", 1.67326319217681884765625),
               g = c.real("gamma", 1.05070102214813232421875);
  return {g * where(right, x, a * expm1(where(right, 0, x)))};
}
Out leaky_relu(const C& c) { return {nn::leaky_relu(c.x(), c.real("alpha", 0.01))}; }
Out thresholded_relu(const C& c) { return {where(c.x() > c.real("alpha", 1), c.x(), 0)}; }
Tensor hard_sigmoid_of(const Tensor& x, double a, double b) {
  return maximum(minimum(a * x + b, 1), 0);
}
Out hard_sigmoid(const C& c) {
  return {hard_sigmoid_of(c.x(), c.real("alpha", 0.2), c.real("beta", 0.5))};
}
Out hard_swish(const C& c) { return {c.x() * hard_sigmoid_of(c.x(), 1.0 / 6, 0.5)}; }
Out gelu(const C& c) {
  const std::string how = c.text("approximate", "none");
  if (how != "none" && how != "tanh") c.refuse("approximate = " + how);
  return {how == "none" ? nn::gelu(c.x()) : nn::gelu_tanh(c.x())};
}
Out shrink(const C& c) {
  const Tensor& x = c.x();
  if (!is_float(x.dtype())) c.refuse("of " + to_string(x.type()));
  const double l = c.real("lambd", 0.5), b = c.real("bias", 0);
  return {where(x < -l, x + b, where(x > l, x - b, 0))};
}
Out prelu(const C& c) {
  check_operands(c);
  return {where(c.x() < 0, c.x(1) * c.x(), c.x())};
}

Out is_nan(const C& c) { return {not_equal(c.x(), c.x())}; }
Out is_inf(const C& c) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Tensor y = logical_and(c.x() > 0, c.x() < 0);
  if (c.integer("detect_positive", 1)) y = logical_or(y, equal(c.x(), inf));
  if (c.integer("detect_negative", 1)) y = logical_or(y, equal(c.x(), -inf));
  return {y};
}

Out division(const C& c) {
  check_operands(c);
  return {div(c.x(0), c.x(1))};
}
/// The remainder has the sign of the divisor; of `fmod` that of what is divided.
Out mod(const C& c) {
  check_operands(c);
  const Tensor r = rem(c.x(0), c.x(1)), y = c.x(1);
  if (c.integer("fmod", 0)) return {r};
  if (!is_integer(y.dtype())) c.malformed("without fmod it takes integers");
  return {where(logical_and(not_equal(r, 0), not_equal(r < 0, y < 0)), r + y, r)};
}
/// The result is of the first operand's type. Integers as long as f64 holds all of them.
Out power(const C& c) {
  const Tensor &x = c.x(0), &y = c.x(1);
  c.must_fit_together(c.shapes());
  if (is_float(x.dtype())) return {pow(x, cast(y, x.dtype()))};
  if (x.is_traced() || y.is_traced()) c.refuse("of " + to_string(x.type()) + " that are not known");
  const Tensor p = pow(cast(x, Dtype::f64), cast(y, Dtype::f64));
  const double most = x.dtype() == Dtype::i64 ? 0x1p53 : 0x1p31;
  if (p.size() && !all(abs(p) < most).item<bool>())
    c.refuse("integers of " + std::to_string(most) + " or more");
  return {cast(p, x.dtype())};
}
Out bit_shift(const C& c) {
  check_operands(c);
  const std::string direction = c.text("direction", "");
  if (direction == "LEFT") return {shift_left(c.x(0), c.x(1))};
  if (direction == "RIGHT") return {shift_right(c.x(0), c.x(1))};
  c.malformed("expected direction LEFT or RIGHT, found '" + direction + "'");
}
Out choice(const C& c) {
  if (c.x(1).dtype() != c.x(2).dtype()) c.malformed("it chooses between two types");
  c.must_fit_together(c.shapes());
  return {where(c.x(0), c.x(1), c.x(2))};
}
Out clipped(const C& c) {
  Tensor y = c.x();
  if (c.opset < 11) {
    const double most = std::numeric_limits<float>::max();
    return {minimum(maximum(y, c.real("min", -most)), c.real("max", most))};
  }
  check_operands(c);
  if (c.given(1)) y = maximum(y, c.in[1]);
  if (c.given(2)) y = minimum(y, c.in[2]);
  return {y};
}

Dtype type_to(const C& c, std::int64_t type) {
  const std::optional<Dtype> to = dtype_of_onnx(type);
  if (!to) c.refuse("to type " + onnx_type_name(type) + " (" + std::to_string(type) + ")");
  return *to;
}
Out cast_to_type(const C& c) { return {cast(c.x(), type_to(c, c.integer("to", 0)))}; }
Out cast_like(const C& c) { return {cast(c.x(0), c.x(1).dtype())}; }
/// As networks are used: nothing is dropped.
Out dropout(const C& c) {
  if (c.given(2) && c.in[2].item<bool>()) c.refuse("in training");
  return {c.x(), ones(c.x().shape(), Dtype::boolean)};
}

constexpr std::size_t kAny = 1u << 20;

}  // namespace

void add_element_rules(OnnxRules& r) {
  r["Abs"] = {one<abs>};
  r["Acos"] = {one<acos>};
  r["Acosh"] = {one<acosh>};
  r["Asin"] = {one<asin>};
  r["Asinh"] = {one<asinh>};
  r["Atan"] = {one<atan>};
  r["Atanh"] = {one<atanh>};
  r["Ceil"] = {one<ceil>};
  r["Cos"] = {one<cos>};
  r["Cosh"] = {one<cosh>};
  r["Erf"] = {one<erf>};
  r["Exp"] = {one<exp>};
  r["Floor"] = {one<floor>};
  r["Log"] = {one<log>};
  r["Neg"] = {one<neg>};
  r["Not"] = {one<logical_not>};
  r["Relu"] = {one<nn::relu>};
  r["Round"] = {one<round>};
  r["Sigmoid"] = {one<logistic>};
  r["Sign"] = {one<sign>};
  r["Sin"] = {one<sin>};
  r["Sinh"] = {one<sinh>};
  r["Softplus"] = {one<softplus>};
  r["Sqrt"] = {one<sqrt>};
  r["Tan"] = {one<tan>};
  r["Tanh"] = {one<tanh>};
  r["Identity"] = {identity};
  r["Reciprocal"] = {reciprocal};
  r["Softsign"] = {softsign};
  r["Mish"] = {mish};
  r["Elu"] = {elu, "alpha"};
  r["Celu"] = {celu, "alpha"};
  r["Selu"] = {selu, "alpha gamma"};
  r["LeakyRelu"] = {leaky_relu, "alpha"};
  r["ThresholdedRelu"] = {thresholded_relu, "alpha"};
  r["HardSigmoid"] = {hard_sigmoid, "alpha beta"};
  r["HardSwish"] = {hard_swish};
  r["Gelu"] = {gelu, "approximate"};
  r["Shrink"] = {shrink, "lambd bias"};
  r["PRelu"] = {prelu, "", 2, 2};
  r["IsNaN"] = {is_nan};
  r["IsInf"] = {is_inf, "detect_positive detect_negative"};
  r["Add"] = {two<add>, "", 2, 2};
  r["Sub"] = {two<sub>, "", 2, 2};
  r["Mul"] = {two<mul>, "", 2, 2};
  r["Div"] = {division, "", 2, 2};
  r["Mod"] = {mod, "fmod", 2, 2};
  r["Pow"] = {power, "", 2, 2};
  r["BitShift"] = {bit_shift, "direction", 2, 2};
  r["And"] = {two<logical_and>, "", 2, 2};
  r["Or"] = {two<logical_or>, "", 2, 2};
  r["Xor"] = {two<logical_xor>, "", 2, 2};
  r["Equal"] = {two<equal>, "", 2, 2};
  r["Less"] = {two<less>, "", 2, 2};
  r["LessOrEqual"] = {two<less_equal>, "", 2, 2};
  r["Greater"] = {two<greater>, "", 2, 2};
  r["GreaterOrEqual"] = {two<greater_equal>, "", 2, 2};
  r["Max"] = {many<maximum>, "", 1, kAny};
  r["Min"] = {many<minimum>, "", 1, kAny};
  r["Sum"] = {many<add>, "", 1, kAny};
  r["Mean"] = {mean_of_operands, "", 1, kAny};
  r["Where"] = {choice, "", 3, 3};
  r["Clip"] = {clipped, "min max", 1, 3};
  r["Cast"] = {cast_to_type, "to saturate"};
  r["CastLike"] = {cast_like, "saturate", 2, 2};
  r["Dropout"] = {dropout, "ratio seed", 1, 3, 2};
}

}  // namespace tessera::data
