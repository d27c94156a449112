// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {

Tensor remainder(const Tensor& a, const Tensor& b) {
  const Tensor r = rem(a, b), zero = like(0, r);
  const Tensor other_sign = logical_xor(less(r, zero), less(b, zero));
  return where(logical_and(not_equal(r, zero), other_sign), r + b, r);
}
Tensor floor_divide(const Tensor& a, const Tensor& b) {
  if (is_inexact(a.dtype())) return where(equal(b, 0.0), a / b, round((a - remainder(a, b)) / b));
  const Tensor q = a / b;
  return where(
      logical_and(not_equal(q * b, a), logical_xor(less(a, like(0, a)), less(b, like(0, b)))),
      q - like(1, q), q);
}

namespace {

template <Tensor (*F)(Arg, Arg)>
Tensor pairwise(const Call& c) {
  const auto [a, b] = c.both();
  return F(a, b);
}
template <Tensor (*F)(Arg, Arg)>
Tensor pairwise_number(const Call& c) {
  const auto [a, b] = c.both();
  return of_numbers([](const Tensor& x, const Tensor& y) { return F(x, y); }, a, b);
}
template <Tensor (*F)(Arg, Arg)>
Tensor pairwise_floating(const Call& c) {
  const auto [a, b] = c.both();
  return F(floating(a), floating(b));
}
template <Tensor (*F)(Arg, Arg)>
Tensor of_truths(const Call& c) {
  return F(truth(c[0]), truth(c.tensor(1, "other")));
}

Tensor times(const Tensor& x, const Call& c, const char* name, int place = -1) {
  const Value* v = c.find(place, name);
  if (!v) return x;
  if (v->kind == Value::Kind::tensor) return c.tensor(*v) * x;
  return x.dtype() == Dtype::boolean ? logical_and(x, v->number != 0.0)
                                     : x * cast(c.tensor(*v), x.dtype());
}
Tensor plus(const Tensor& a, const Tensor& b) {
  return a.dtype() == Dtype::boolean ? logical_or(a, b) : a + b;
}
Tensor sum_of(const Tensor& a, const Tensor& b) {
  const auto [x, y] = meet(a, b);
  return x + y;
}
Tensor product_of(const Call& c) {
  const auto [a, b] = c.both();
  return a.dtype() == Dtype::boolean ? logical_and(a, b) : a * b;
}
Tensor quotient(const Call& c) {
  const auto [a, b] = c.both();
  return floating(a) / floating(b);
}
Tensor difference(const Call& c, bool swapped) {
  auto [a, b] = c.both();
  if (swapped) std::swap(a, b);
  return a - times(b, c, "alpha");
}
/// By squaring; negative powers of integers but 1 and -1 are 0.
Tensor whole_power(const Tensor& x, const Tensor& n) {
  const Tensor zero = like(0, n), one = like(1, n);
  Tensor r = x * zero + one, square_of = x, bits = maximum(n, zero);
  for (int k = 0; k < 63; ++k) {
    r = where(equal(logical_and(bits, one), one), r * square_of, r);
    square_of = square_of * square_of;
    bits = shift_right(bits, one);
  }
  const Tensor odd = equal(logical_and(n, one), one),
               of_unit =
                   where(equal(x, one), one, where(equal(x, -one), where(odd, -one, one), zero));
  return where(less(n, zero), of_unit, r);
}
Tensor power(const Tensor& x, const Call& c, int place) {
  const Value* v = c.find(place, "exponent");
  if (!is_inexact(x.dtype())) {  // whole powers of integers, exact below 2^53
    const auto [a, b] = c.both(0, place, "exponent");
    return whole_power(a, b);
  }
  if (v->kind == Value::Kind::integer && is_inexact(x.dtype()))
    return pow(x, static_cast<int>(v->integer));
  if (v->kind == Value::Kind::real && is_inexact(x.dtype())) return pow(x, v->number.real());
  const auto [a, b] = c.both(0, place, "exponent");
  return pow(a, b);
}
/// x log y, 0 where x is 0 and y is not NaN; there the derivative in x is log y where that exists.
Tensor x_log(const Tensor& x, const Tensor& y, double shift) {
  const Tensor nothing = logical_and(equal(x, 0.0), less_equal(y, -shift));
  const Tensor safe = where(nothing, 1.0, y);
  return where(nothing, 0.0, x * (shift == 1 ? log1p(safe) : log(safe)));
}
Tensor clamped(const Tensor& x, const Call& c, int low, int high) {
  Tensor r = x;
  const auto bound = [&](int place, const char* name, Tensor (*f)(Arg, Arg)) {
    if (place < -1 || !c.has(place, name)) return;
    const Value& v = *c.find(place, name);
    const auto [a, b] = v.kind == Value::Kind::tensor ? meet(r, c.tensor(v))
                        : is_integer(r.dtype()) && v.kind == Value::Kind::real
                            ? meet(r, c.tensor(v))
                            : std::pair(r, like(v.number, r));
    r = of_numbers([&](const Tensor& p, const Tensor& q) { return f(p, q); }, a, b);
  };
  bound(low, "min", maximum);
  bound(high, "max", minimum);
  return r;
}
/// Of the one that is a number where the other is NaN.
Tensor skipping_nan(const Call& c, Tensor (*f)(Arg, Arg)) {
  const auto [a, b] = c.both();
  if (!is_inexact(a.dtype()))
    return of_numbers([&](const Tensor& x, const Tensor& y) { return f(x, y); }, a, b);
  return where(is_nan(a), b, where(is_nan(b), a, f(a, b)));
}
Tensor log_add(const Tensor& a, const Tensor& b) {
  const Shape s = broadcast_shape(a.shape(), b.shape());
  return log_of_sum(stack({broadcast_to(a, s), broadcast_to(b, s)}), {0}, false);
}
Tensor close(const Call& c) {
  const auto [a, b] = c.both();
  const double rtol = c.real(2, "rtol", 1e-5), atol = c.real(3, "atol", 1e-8);
  const Tensor x = floating(a), y = floating(b);
  Tensor near = logical_or(equal(x, y), logical_and(less_equal(abs(x - y), atol + rtol * abs(y)),
                                                    logical_and(is_finite(x), is_finite(y))));
  if (c.flag(4, "equal_nan", false)) near = logical_or(near, logical_and(is_nan(x), is_nan(y)));
  return near;
}

}  // namespace

void binary_rows(Table& t) {
  t["add"] = t["__radd__"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return plus(a, times(b, c, "alpha"));
  };
  t["sub"] = [](const Call& c) { return difference(c, false); };
  t["rsub"] = t["__rsub__"] = [](const Call& c) { return difference(c, true); };
  t["mul"] = t["__rmul__"] = product_of;
  t["div.no_rounding_mode"] = t["true_divide"] = quotient;
  t["__rdiv__"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return floating(b) / floating(a);
  };
  t["div.trunc_rounding"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return trunc(a / b);
  };
  t["div.floor_rounding"] = t["floor_divide"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return floor_divide(a, b);
  };
  t["fmod"] = pairwise<rem>;
  t["remainder"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return remainder(a, b);
  };
  t["__rmod__"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return remainder(b, a);
  };
  t["pow"] = [](const Call& c) { return power(c[0], c, 1); };
  t["float_power"] = [](const Call& c) {
    const auto [a, b] = c.both();
    const Dtype wide = is_complex(a.dtype()) ? Dtype::c128 : Dtype::f64;
    return pow(cast(a, wide), cast(b, wide));
  };
  t["__rpow__"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return is_inexact(a.dtype()) ? pow(b, a) : whole_power(b, a);
  };
  t["atan2"] = pairwise_floating<atan2>;
  t["hypot"] = pairwise<hypot>;
  t["copysign"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return where(logical_xor(negative(floating(a)), negative(floating(b))), -floating(a),
                 floating(a));
  };
  t["maximum"] = t["max.binary"] = pairwise_number<maximum>;
  t["minimum"] = t["min.binary"] = pairwise_number<minimum>;
  t["fmax"] = [](const Call& c) { return skipping_nan(c, maximum); };
  t["fmin"] = [](const Call& c) { return skipping_nan(c, minimum); };
  t["clamp"] = [](const Call& c) { return clamped(c[0], c, 1, 2); };
  t["clamp_min"] = [](const Call& c) { return clamped(c[0], c, 1, -2); };
  t["clamp_max"] = [](const Call& c) { return clamped(c[0], c, -2, 1); };
  t["logaddexp"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return without_turns(log_add(a, b));
  };
  t["logaddexp2"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return log_add(a * std::log(2.0), b * std::log(2.0)) / std::log(2.0);
  };
  t["xlogy"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return x_log(floating(a), floating(b), 0);
  };
  t["special.xlog1py"] = [](const Call& c) {
    const auto [a, b] = c.both();
    return x_log(floating(a), floating(b), 1);
  };
  t["ldexp"] = [](const Call& c) {
    const auto [a, n] = meet(floating(c[0]), floating(c.tensor(1, "other")));
    return a * pow(2.0, n);
  };
  t["heaviside"] = [](const Call& c) {
    const auto [x, v] = c.both();
    return where(equal(x, like(0, x)), v, cast(greater(number(x), like(0, number(x))), x.dtype()));
  };
  t["eq"] = pairwise<equal>;
  t["ne"] = pairwise<not_equal>;
  t["lt"] = pairwise_number<less>;
  t["le"] = pairwise_number<less_equal>;
  t["gt"] = pairwise_number<greater>;
  t["ge"] = pairwise_number<greater_equal>;
  t["logical_and"] = of_truths<logical_and>;
  t["logical_or"] = of_truths<logical_or>;
  t["logical_xor"] = of_truths<logical_xor>;
  t["isclose"] = close;
  t["allclose"] = [](const Call& c) { return all(close(c)); };
  t["equal"] = [](const Call& c) {
    return c[0].shape() == c[1].shape() ? all(equal(c[0], c[1]))
                                        : cast(Tensor(0.0), Dtype::boolean);
  };
  t["complex"] = pairwise<complex>;
  t["polar"] = [](const Call& c) { return complex(c[0] * cos(c[1]), c[0] * sin(c[1])); };
  t["lerp"] = [](const Call& c) {
    const Tensor a = c[0], b = c.tensor(1, "end");
    const Value& w = *c.find(2, "weight");
    return w.kind == Value::Kind::tensor ? a + c.tensor(w) * (b - a)
                                         : a + like(w.number, a) * (b - a);
  };
  t["addcmul"] = [](const Call& c) {
    const auto [a, b] = meet(c[1], c[2]);
    return sum_of(c[0], times(a * b, c, "value"));
  };
  t["addcdiv"] = [](const Call& c) {
    return sum_of(c[0], times(floating(c[1]) / floating(c[2]), c, "value"));
  };
  t["where"] =
      [](const Call& c) {  // the database's input is the first choice, the condition comes second
        const auto [a, b] = c.both(0, 2);
        return where(c.tensor(1, "condition"), a, b);
      };
  t["masked_fill"] = [](const Call& c) {
    const Tensor x = c[0];
    return where(c.tensor(1, "mask"), cast(c.tensor(2, "value"), x.dtype()), x);
  };
  t["dist"] = [](const Call& c) {
    return p_norm(c[0] - c.tensor(1, "other"), c.real(2, "p", 2), {});
  };
}

}  // namespace tessera::oracle
