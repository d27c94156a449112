// SPDX-License-Identifier: Apache-2.0
//
// Rows of element-wise primitives. The ranges keep two hundredths away from poles, cuts and kinks.
#include "op_table.h"

#include <cmath>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
using LD = long double;

FlatFunction one(Tensor (*f)(Arg)) {
  return [f](const Tensors& x) { return Tensors{f(x[0])}; };
}
FlatFunction two(Tensor (*f)(Arg, Arg)) {
  return [f](const Tensors& x) { return Tensors{f(x[0], x[1])}; };
}
Oracle real1(LD (*f)(LD)) {
  return loop1([f](Wide z) { return Wide(f(z.real())); });
}
constexpr Index kLarge = 70000;

/// erf^-1 by Newton's method on std::erf.
LD erfinv_loop(LD y) {
  LD x = 0;
  for (int i = 0; i < 60; ++i)
    x -= (std::erf(x) - y) / (2 * std::numbers::inv_sqrtpi_v<LD> * std::exp(-x * x));
  return x;
}
/// psi^(n)(x) by the recurrence up to x > 40 and the asymptotic series (NIST DLMF 5.11.2, 5.15.8).
LD polygamma_loop(int n, LD x) {
  constexpr LD bernoulli[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                              5.0L / 66, -691.0L / 2730, 7.0L / 6};
  const LD sign = n % 2 ? 1 : -1;
  LD factorial = 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  LD s = 0;
  for (; x < 40; x += 1) s += (n ? sign * factorial : -1) / std::pow(x, n + 1);
  if (n == 0) {
    s += std::log(x) - 1 / (2 * x);
    for (int k = 1; k <= 7; ++k) s -= bernoulli[k - 1] / (2 * k * std::pow(x, 2 * k));
    return s;
  }
  LD tail = factorial / n / std::pow(x, n) + factorial / (2 * std::pow(x, n + 1));
  for (int k = 1; k <= 7; ++k) {
    LD ratio = 1;
    for (int i = 2 * k + 1; i <= 2 * k + n - 1; ++i) ratio *= i;
    tail += bernoulli[k - 1] * ratio / std::pow(x, 2 * k + n);
  }
  return s + sign * tail;
}
LD digamma_loop(LD x) { return polygamma_loop(0, x); }

}  // namespace

void elementwise_rows(std::vector<Row>& rows) {
  auto unary = [&](const char* name, DtypeSet types, Tensor (*f)(Arg), Oracle oracle, double low,
                   double high) {
    rows.push_back({.primitive = name,
                    .dtypes = types,
                    .inputs = elements(1, low, high),
                    .f = one(f),
                    .oracle = oracle,
                    .large = kLarge});
  };
  auto complex1 = [](Wide (*f)(const Wide&)) { return loop1([f](Wide z) { return f(z); }); };
  // Where there is one definition for real and complex numbers.
  unary("sqrt", kInexact, sqrt, complex1(std::sqrt<LD>), 0.1, 3);
  unary("rsqrt", kInexact, rsqrt, loop1([](Wide z) { return LD(1) / std::sqrt(z); }), 0.1, 3);
  unary("exp", kInexact, exp, complex1(std::exp<LD>), -2, 2);
  unary("expm1", kInexact, expm1, loop1([](Wide z) {
          return z.imag() == 0 ? Wide(std::expm1(z.real())) : std::exp(z) - LD(1);
        }),
        -1, 1);
  unary("log", kInexact, log, complex1(std::log<LD>), 0.1, 5);
  unary("log1p", kInexact, log1p, loop1([](Wide z) {
          return z.imag() == 0 ? Wide(std::log1p(z.real())) : std::log(LD(1) + z);
        }),
        -0.5, 2);
  unary("sin", kInexact, sin, complex1(std::sin<LD>), -3, 3);
  unary("cos", kInexact, cos, complex1(std::cos<LD>), -3, 3);
  unary("tan", kInexact, tan, complex1(std::tan<LD>), -1.2, 1.2);
  unary("asin", kInexact, asin, complex1([](const Wide& z) { return std::asin(z); }), -0.7, 0.7);
  unary("acos", kInexact, acos, complex1([](const Wide& z) { return std::acos(z); }), -0.7, 0.7);
  unary("atan", kInexact, atan, complex1([](const Wide& z) { return std::atan(z); }), -0.7, 0.7);
  unary("sinh", kInexact, sinh, complex1(std::sinh<LD>), -2, 2);
  unary("cosh", kInexact, cosh, complex1(std::cosh<LD>), -2, 2);
  unary("tanh", kInexact, tanh, complex1(std::tanh<LD>), -1.2, 1.2);
  unary("sech2", kInexact, sech2,
        loop1([](Wide z) { return LD(1) / (std::cosh(z) * std::cosh(z)); }), -1.2, 1.2);
  unary("asinh", kInexact, asinh, complex1([](const Wide& z) { return std::asinh(z); }), -0.7, 0.7);
  unary("acosh", kInexact, acosh, complex1([](const Wide& z) { return std::acosh(z); }), 1.3, 3);
  unary("atanh", kInexact, atanh, complex1([](const Wide& z) { return std::atanh(z); }), -0.7, 0.7);
  unary("logistic", kInexact, logistic,
        loop1([](Wide z) { return LD(1) / (LD(1) + std::exp(-z)); }), -2, 2);
  unary("cbrt", kReal, cbrt, real1(std::cbrt), 0.3, 3);
  unary("softplus", kReal, softplus, real1([](LD x) { return std::log1p(std::exp(x)); }), -3, 3);
  unary("erf", kReal, erf, real1(std::erf), -2, 2);
  unary("erfc", kReal, erfc, real1(std::erfc), -2, 2);
  unary("erfinv", kReal, erfinv, real1(erfinv_loop), -0.8, 0.8);
  unary("lgamma", kReal, lgamma, real1(std::lgamma), 0.3, 5);
  unary("digamma", kReal, digamma, real1(digamma_loop), 0.3, 5);
  rows.back().tolerance = 16;
  rows.push_back({.primitive = "polygamma",
                  .variant = "2",
                  .dtypes = kReal,
                  .inputs = elements(1, 0.5, 5),
                  .f = [](const Tensors& x) { return Tensors{polygamma(2, x[0])}; },
                  .oracle = real1([](LD x) { return polygamma_loop(2, x); }),
                  .tolerance = 32,
                  .large = kLarge});
  rows.push_back({.primitive = "abs",
                  .dtypes = kReal | kInteger,
                  .inputs = distinct_elements(1),
                  .f = one(abs),
                  .oracle = loop1([](Wide z) { return std::abs(z); }),
                  .large = kLarge});
  rows.push_back({.primitive = "abs_complex",
                  .dtypes = kComplex,
                  .inputs = elements(1, 0.2, 2),
                  .f = one(abs),
                  .oracle = loop1([](Wide z) { return std::abs(z); }),
                  .large = kLarge});
  rows.push_back({.primitive = "sign_complex",
                  .dtypes = kComplex,
                  .inputs = elements(1, 0.2, 2),
                  .f = one(sign),
                  .oracle = loop1([](Wide z) { return z / std::abs(z); }),
                  .large = kLarge});
  rows.push_back({.primitive = "neg",
                  .dtypes = kNumber,
                  .inputs = elements(1, -2, 2),
                  .f = one(neg),
                  .oracle = loop1([](Wide z) { return -z; }),
                  .tolerance = 0,
                  .large = kLarge});
  rows.push_back({.primitive = "conj",
                  .dtypes = kComplex,
                  .inputs = elements(1, -2, 2),
                  .f = one(conj),
                  .oracle = loop1([](Wide z) { return std::conj(z); }),
                  .tolerance = 0,
                  .large = kLarge});
  auto part = [&](const char* name, Tensor (*f)(Arg), std::function<Wide(Wide)> g) {
    rows.push_back({.primitive = name,
                    .dtypes = kComplex,
                    .inputs = elements(1, -2, 2),
                    .f = one(f),
                    .oracle = loop1(g),
                    .tolerance = 0,
                    .large = kLarge});
  };
  part("real", real, [](Wide z) { return z.real(); });
  part("imag", imag, [](Wide z) { return z.imag(); });
  rows.push_back({.primitive = "complex",
                  .dtypes = kReal,
                  .inputs = elements(2, -2, 2),
                  .f = two(complex),
                  .oracle = loop2([](Wide x, Wide y) { return Wide(x.real(), y.real()); }),
                  .tolerance = 0,
                  .large = kLarge});
  rows.push_back({.primitive = "stop_gradient",
                  .dtypes = kAny,
                  .inputs = elements(1, -2, 2),
                  .f = one(stop_gradient),
                  .oracle = loop1([](Wide z) { return z; }),
                  .tolerance = 0,
                  .large = kLarge,
                  .differentiable = false});
  for (Dtype to : {Dtype::boolean, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::f32,
                   Dtype::f64, Dtype::c64, Dtype::c128})
    rows.push_back({.primitive = "cast",
                    .variant = std::string("to ") + name_of(to),
                    .dtypes = static_cast<DtypeSet>(kAny & ~set_of(to)),
                    .inputs = elements(1, 0.3, 3),
                    .f = [to](const Tensors& x) { return Tensors{cast(x[0], to)}; },
                    .oracle = loop1([to](Wide z) {
                      if (to == Dtype::boolean) return Wide(z != Wide(0));
                      if (!is_complex(to)) z = z.real();
                      return is_integer(to) ? Wide(std::trunc(z.real())) : z;
                    }),
                    .tolerance = to == Dtype::f32 || to == Dtype::c64 ? 1e9 : 0,
                    .large = kLarge,
                    .differentiable = size_of(real_of(to)) == 8 && is_inexact(to)});
  auto step = [&](const char* name, DtypeSet types, Tensor (*f)(Arg), Oracle oracle) {
    rows.push_back({.primitive = name,
                    .dtypes = types,
                    .inputs = elements(1, -3, 3),
                    .f = one(f),
                    .oracle = oracle,
                    .tolerance = 0,
                    .large = kLarge,
                    .differentiable = false});
  };
  step("floor", kReal, floor, real1(std::floor));
  step("ceil", kReal, ceil, real1(std::ceil));
  step("round", kReal, round, real1(std::nearbyint));
  step("is_finite", kInexact, is_finite, loop1([](Wide) { return Wide(1); }));
  step("not", kBool | kInteger, logical_not, {});
  rows.back().oracle = nullptr;
  rows.back().property = [](const Tensors& x, const Tensors& y) {
    const Array a = to_array(x[0]), b = to_array(y[0]);
    double d = 0;
    for (Index i = 0; i < a.size(); ++i) {
      const LD v = a[i].real(), all = x[0].dtype() == Dtype::u8 ? 255.0L : 4294967295.0L;
      const LD want = x[0].dtype() == Dtype::boolean                            ? 1 - v
                      : x[0].dtype() == Dtype::u8 || x[0].dtype() == Dtype::u32 ? all - v
                                                                                : -1 - v;
      d += static_cast<double>(std::abs(b[i] - Wide(want)));
    }
    return d;
  };
  rows.push_back({.primitive = "sign",
                  .dtypes = kReal | kInteger,
                  .inputs = elements(1, -3, 3),
                  .f = one(sign),
                  .oracle = loop1([](Wide z) { return Wide((z.real() > 0) - (z.real() < 0)); }),
                  .tolerance = 0,
                  .large = kLarge,
                  .differentiable = false});
  for (int n : {-3, 0, 1, 2, 5})
    rows.push_back({.primitive = "pow_int",
                    .variant = std::to_string(n),
                    .dtypes = n < 0 ? kInexact : kNumber,
                    .inputs =
                        [](Dtype t, Index k, Rng& rng) {
                          return elements(1, is_inexact(t) ? 0.4 : 0, is_inexact(t) ? 1.5 : 0.5)(
                              t, k, rng);
                        },
                    .f = [n](const Tensors& x) { return Tensors{pow(x[0], n)}; },
                    .oracle = loop1([n](Wide z) {
                      Wide p = 1;
                      for (int i = 0; i < std::abs(n); ++i) p *= z;
                      return n < 0 ? LD(1) / p : p;
                    }),
                    .tolerance = 16,
                    .large = kLarge});

  auto binary = [&](const char* name, DtypeSet types, Tensor (*f)(Arg, Arg),
                    std::function<Wide(Wide, Wide)> g, double low, double high) {
    rows.push_back({.primitive = name,
                    .dtypes = types,
                    .inputs = elements(2, low, high),
                    .f = two(f),
                    .oracle = loop2(g),
                    .large = kLarge});
    return rows.size() - 1;
  };
  binary(
      "add", kNumber, add, [](Wide x, Wide y) { return x + y; }, -2, 2);
  binary(
      "sub", kNumber, sub, [](Wide x, Wide y) { return x - y; }, -2, 2);
  binary(
      "mul", kNumber, mul, [](Wide x, Wide y) { return x * y; }, -2, 2);
  binary(
      "div", kInexact, div, [](Wide x, Wide y) { return x / y; }, 0.4, 2);
  rows.push_back({.primitive = "div",
                  .variant = "integers",
                  .dtypes = kInteger,
                  .inputs = elements(2, -2, 2),
                  .f = two(div),
                  .oracle = loop2([](Wide x, Wide y) {
                    return y == Wide(0) ? Wide(0) : Wide(std::trunc(x.real() / y.real()));
                  }),
                  .tolerance = 0,
                  .large = kLarge});
  binary(
      "pow", kInexact, pow, [](Wide x, Wide y) { return std::pow(x, y); }, 0.4, 2);
  rows.back().tolerance = 24;
  // Derivatives that are primitives of their own, by the operation they belong to.
  const auto derivative = [](auto f, std::vector<int> along) {
    return [f, along](const Tensors& x) {
      std::function<Tensor(Tensor, Tensor)> g = f;
      for (int k : along)
        g = [g, k](Tensor a, Tensor b) {
          const Tensor one = ones((k ? b : a).shape(), (k ? b : a).dtype());
          return k ? jvp([&](Tensor u) { return g(a, u); }, b, one).second
                   : jvp([&](Tensor u) { return g(u, b); }, a, one).second;
        };
      return Tensors{g(x[0], x[1])};
    };
  };
  const auto power = [](Tensor x, Tensor y) { return pow(x, y); };
  rows.push_back({.primitive = "pow_derivative",
                  .variant = "in x",
                  .dtypes = kInexact,
                  .inputs = elements(2, 0.4, 2),
                  .f = derivative(power, {0}),
                  .oracle = loop2([](Wide x, Wide y) { return y * std::pow(x, y - 1.0L); }),
                  .tolerance = 24,
                  .large = kLarge});
  rows.push_back({.primitive = "pow_derivative",
                  .variant = "in x and y",
                  .dtypes = kInexact,
                  .inputs = elements(2, 0.4, 2),
                  .f = derivative(power, {0, 1}),
                  .oracle = loop2([](Wide x, Wide y) {
                    return std::pow(x, y - 1.0L) * (1.0L + y * std::log(x));
                  }),
                  .tolerance = 24,
                  .large = kLarge});
  rows.push_back(
      {.primitive = "pow_derivative",
       .variant = "twice in y",
       .dtypes = kInexact,
       .inputs = elements(2, 0.4, 2),
       .f = derivative(power, {1, 1}),
       .oracle = loop2([](Wide x, Wide y) { return std::pow(x, y) * std::log(x) * std::log(x); }),
       .tolerance = 24,
       .large = kLarge});
  rows.push_back({.primitive = "length",
                  .dtypes = kReal,
                  .inputs = elements(1, 0.3, 2),
                  .f = [](const Tensors& x) { return Tensors{detail::root_of_squares(x[0], {})}; },
                  .oracle = loop1([](Wide x) { return std::sqrt(x); }),
                  .large = kLarge});
  rows.push_back(
      {.primitive = "hypot_derivative",
       .dtypes = kReal,
       .inputs = elements(2, 0.3, 2),
       .f = derivative([](Tensor x, Tensor y) { return hypot(x, y); }, {0}),
       .oracle = loop2([](Wide x, Wide y) { return x / std::hypot(x.real(), y.real()); }),
       .large = kLarge});
  binary(
      "atan2", kReal, atan2, [](Wide y, Wide x) { return Wide(std::atan2(y.real(), x.real())); },
      0.3, 2);
  binary(
      "hypot", kReal, hypot, [](Wide x, Wide y) { return Wide(std::hypot(x.real(), y.real())); },
      0.3, 2);
  rows.push_back({.primitive = "rem",
                  .dtypes = kReal | kInteger,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        Tensors x = distinct_elements(1)(t, n, rng);
                        x.push_back(uniform_tensor(t, x[0].shape(), rng, 0.71, 0.72));
                        if (is_inexact(t))
                          x[1] = x[1] * 10.0;  // |x| < |y|, and x + y on the other side
                        if (is_inexact(t)) x[0] = x[0] + 8.0;
                        return x;
                      },
                  .f = two(rem),
                  .oracle = loop2([](Wide x, Wide y) {
                    return y == Wide(0) ? x : Wide(std::fmod(x.real(), y.real()));
                  }),
                  .large = kLarge});
  for (bool larger : {true, false})
    rows.push_back({.primitive = larger ? "maximum" : "minimum",
                    .dtypes = kReal | kInteger,
                    .inputs = distinct_elements(2),
                    .f = two(larger ? maximum : minimum),
                    .oracle = loop2([larger](Wide x, Wide y) {
                      return (x.real() < y.real()) == larger ? y : x;
                    }),
                    .tolerance = 0,
                    .large = kLarge});
  rows.push_back({.primitive = "select",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        Tensors x = elements(2, -2, 2)(t, n, rng);
                        x.insert(x.begin(), uniform_tensor(Dtype::boolean, x[0].shape(), rng));
                        return x;
                      },
                  .f = [](const Tensors& x) { return Tensors{where(x[0], x[1], x[2])}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y = in[1];
                        for (Index i = 0; i < y.size(); ++i)
                          if (in[0][i] == Wide(0)) y[i] = in[2][i];
                        return Arrays{y};
                      },
                  .tolerance = 0,
                  .large = kLarge});
  auto compare = [&](const char* name, DtypeSet types, Tensor (*f)(Arg, Arg),
                     std::function<bool(Wide, Wide)> g) {
    rows.push_back({.primitive = name,
                    .dtypes = types,
                    .inputs =
                        [](Dtype t, Index n, Rng& rng) {
                          Tensors x = elements(2, -0.2, 0.2)(t, n, rng);
                          x[1] = where(uniform_tensor(Dtype::boolean, x[0].shape(), rng), x[0],
                                       x[1]);  // some are equal
                          return x;
                        },
                    .f = two(f),
                    .oracle = loop2([g](Wide x, Wide y) { return Wide(g(x, y)); }),
                    .tolerance = 0,
                    .large = kLarge,
                    .differentiable = false});
  };
  compare("equal", kAny, equal, [](Wide x, Wide y) { return x == y; });
  compare("not_equal", kAny, not_equal, [](Wide x, Wide y) { return x != y; });
  compare("less", kReal | kInteger, less, [](Wide x, Wide y) { return x.real() < y.real(); });
  compare("less_equal", kReal | kInteger, less_equal,
          [](Wide x, Wide y) { return x.real() <= y.real(); });
  auto bits = [&](const char* name, DtypeSet types, Tensor (*f)(Arg, Arg),
                  std::function<std::int64_t(std::int64_t, std::int64_t)> g, double low,
                  double high) {
    rows.push_back({.primitive = name,
                    .dtypes = types,
                    .inputs = elements(2, low, high),
                    .f = two(f),
                    .oracle = loop2([g](Wide x, Wide y) {
                      return Wide(static_cast<LD>(g(static_cast<std::int64_t>(x.real()),
                                                    static_cast<std::int64_t>(y.real()))));
                    }),
                    .tolerance = 0,
                    .large = kLarge,
                    .differentiable = false});
  };
  bits(
      "and", kBool | kInteger, logical_and, [](auto x, auto y) { return x & y; }, -2, 2);
  bits(
      "or", kBool | kInteger, logical_or, [](auto x, auto y) { return x | y; }, -2, 2);
  bits(
      "xor", kBool | kInteger, logical_xor, [](auto x, auto y) { return x ^ y; }, -2, 2);
  bits(
      "shift_left", kInteger, shift_left, [](auto x, auto y) { return x << y; }, 0, 0.5);
  bits(
      "shift_right", kInteger, shift_right, [](auto x, auto y) { return x >> y; }, 0, 0.5);
}

}  // namespace tessera::table
