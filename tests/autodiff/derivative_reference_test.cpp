// SPDX-License-Identifier: Apache-2.0
//
// Values and first three derivatives of every element-wise primitive against a table made with
// mpmath (references/make_derivative_reference.py), at ordinary and extreme arguments. An error is
// allowed of
//
//   ulp |g| max(1, |x g'/g|),  g = f, f', f'', f''',
//
// the second factor being what half an ulp of the argument does. For x^y as a function of x that of
// the exponent,
// |(y - k) log x|, counts too: y - k is rounded.
#include "csv_cells.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/bessel.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

namespace tessera {
namespace {

using Wide = std::complex<long double>;
using ParametricFunction = std::function<Tensor(double parameter, const Tensor& x)>;

struct Entry {
  std::string name;
  bool complex;
  double parameter;
  c128 x;
  Wide value[4];
  long double condition[4];
};

std::vector<Entry> read_table() {
  std::vector<Entry> table;
  for (const auto& c : csv_cells(std::string(TESSERA_SOURCE_DIR) +
                                 "/tests/autodiff/references/derivative_reference.csv")) {
    Entry e{c.at(0),
            c.at(1) == "c",
            std::stod(c.at(2)),
            {std::strtod(c.at(3).c_str(), nullptr), std::strtod(c.at(4).c_str(), nullptr)},
            {},
            {}};
    auto number = [&](std::size_t i) { return std::strtold(c.at(i).c_str(), nullptr); };
    for (std::size_t k = 0; k < 4; ++k) {
      e.value[k] = {number(5 + 3 * k), number(6 + 3 * k)};
      e.condition[k] = number(7 + 3 * k);
    }
    table.push_back(e);
  }
  return table;
}

template <Tensor (*f)(Arg)>
Tensor of(double, const Tensor& x) {
  return f(x);
}
template <Tensor (*f)(double, Arg)>
Tensor of_order(double v, const Tensor& x) {
  return f(v, x);
}

const std::map<std::string, ParametricFunction>& functions() {
  static const std::map<std::string, ParametricFunction> all = {
      {"sqrt", of<sqrt>},
      {"rsqrt", of<rsqrt>},
      {"cbrt", of<cbrt>},
      {"exp", of<exp>},
      {"expm1", of<expm1>},
      {"log", of<log>},
      {"log1p", of<log1p>},
      {"sin", of<sin>},
      {"cos", of<cos>},
      {"tan", of<tan>},
      {"asin", of<asin>},
      {"acos", of<acos>},
      {"atan", of<atan>},
      {"sinh", of<sinh>},
      {"cosh", of<cosh>},
      {"tanh", of<tanh>},
      {"sech2", of<sech2>},
      {"asinh", of<asinh>},
      {"acosh", of<acosh>},
      {"atanh", of<atanh>},
      {"logistic", of<logistic>},
      {"softplus", of<softplus>},
      {"erf", of<erf>},
      {"erfc", of<erfc>},
      {"erfinv", of<erfinv>},
      {"lgamma", of<lgamma>},
      {"digamma", of<digamma>},
      {"abs", of<abs>},
      {"neg", of<neg>},
      {"polygamma", [](double n, const Tensor& x) { return polygamma(static_cast<int>(n), x); }},
      {"pow_int", [](double n, const Tensor& x) { return pow(x, static_cast<int>(n)); }},
      {"pow_of_x", [](double y, const Tensor& x) { return pow(x, scalar(y, x.dtype())); }},
      {"pow_of_y", [](double x, const Tensor& y) { return pow(scalar(x, y.dtype()), y); }},
      {"atan2_of_y", [](double x, const Tensor& y) { return atan2(y, x); }},
      {"atan2_of_x", [](double y, const Tensor& x) { return atan2(y, x); }},
      {"hypot", [](double y, const Tensor& x) { return hypot(x, y); }},
      {"div_of_x", [](double y, const Tensor& x) { return x / y; }},
      {"div_of_y", [](double x, const Tensor& y) { return x / y; }},
      {"bessel_j", of_order<bessel_j>},
      {"bessel_y", of_order<bessel_y>},
      {"bessel_i", of_order<bessel_i>},
      {"bessel_k", of_order<bessel_k>},
      {"hankel1", of_order<hankel1>},
      {"hankel2", of_order<hankel2>}};
  return all;
}

/// Units of the last place allowed for the value, and the first, second and third derivative.
struct Allowed {
  double ulp[4];
};
Allowed allowed(const Entry& e) {
  const bool bessel = e.name.starts_with("bessel") || e.name.starts_with("hankel");
  if (bessel) return {{16, 16, 32, 32}};
  return {{4, 8, 32, 32}};
}

Tensor derivative(const ParametricFunction& f, double p, const Tensor& x, int order) {
  if (order == 0) return f(p, x);
  const auto lower = [&](Tensor t) { return derivative(f, p, t, order - 1); };
  return jvp(lower, x, scalar(1.0, x.dtype())).second;
}

TEST(DerivativeReference, ValuesAndThreeDerivativesMatchTheTable) {
  const std::vector<Entry> table = read_table();
  ASSERT_GT(table.size(), 1000u);
  std::map<std::string, std::array<double, 4>> worst;
  std::map<std::string, int> seen;
  for (const Entry& e : table) {
    const auto f = functions().find(e.name);
    ASSERT_NE(f, functions().end()) << e.name;
    ++seen[e.name];
    const Tensor x = scalar(e.x, e.complex ? Dtype::c128 : Dtype::f64);
    for (int k = 0; k < 4; ++k) {
      const Tensor y = derivative(f->second, e.parameter, x, k);
      const c128 got = e.complex ? y.item<c128>() : c128(y.item<double>());
      long double condition = e.condition[k];
      if (e.name == "pow_of_x")
        condition =
            std::max(condition, (std::abs(e.parameter) + k) * std::abs(std::log(Wide(e.x))));
      const long double size = std::abs(e.value[k]), largest = std::numeric_limits<double>::max();
      std::ostringstream what;
      what << e.name << (e.complex ? " complex" : "") << " of parameter " << e.parameter << " at "
           << e.x << ", derivative " << k << ": " << got << " for "
           << std::complex<double>(e.value[k]) << ", condition "
           << static_cast<double>(e.condition[k]);
      if (size > largest) {
        EXPECT_FALSE(std::isfinite(std::abs(got))) << what.str();
        continue;
      }
      const long double ulp = std::max(size * 0x1p-52L, 0x1p-1074L) * std::max(1.0L, condition);
      const double error = static_cast<double>(std::abs(Wide(got) - e.value[k]) / ulp);
      EXPECT_LE(error, allowed(e).ulp[k]) << what.str();
      double& w = worst[e.name + (e.complex ? " (complex)" : "")][static_cast<std::size_t>(k)];
      w = std::max(w, error);
    }
  }
  for (const auto& [name, f] : functions())
    EXPECT_GT(seen[name], 0) << "no reference rows for " << name;
  for (const auto& [name, w] : worst)
    std::printf("  %-22s %8.2f %8.2f %8.2f %8.2f\n", name.c_str(), w[0], w[1], w[2], w[3]);
}

// log(1 + z) is the logarithm of w = 1 + z: beside w = 0, where z = w - 1 is exact for these, and
// far off, where |z|^2 overflows in the type.
TEST(DerivativeReference, ComplexLog1pIsALogarithmBesideItsPoleAndFarOff) {
  for (const int e : {-2, -8, -20, -30, -52})
    for (const c128 turn : {c128(1, 0.5), c128(1, -2), c128(-1, 1), c128(0, 1)}) {
      const c128 w = std::ldexp(1.0, e) * turn, want = std::log(w);
      const c128 got = log1p(scalar(w - 1.0, Dtype::c128)).item<c128>();
      EXPECT_LE(std::abs(got - want), 1e-15 * std::abs(want)) << w;
    }
  for (const double size : {1e16, 1e160, 1e300}) {
    const c128 z(size, -0.5 * size), want = std::log(z);
    const c128 got = log1p(scalar(z, Dtype::c128)).item<c128>();
    EXPECT_LE(std::abs(got - want), 1e-15 * std::abs(want)) << z;
  }
  const c64 got = log1p(scalar(c64(1e25f, 2e25f), Dtype::c64)).item<c64>();
  EXPECT_LE(std::abs(got - std::log(c64(1e25f, 2e25f))), 1e-5f);
}

// 1 / (1 + e^-z) goes to e^z on the left, to 0 in the end, and 1 less that of -z.
TEST(DerivativeReference, ComplexLogisticFallsToZeroOnTheLeft) {
  for (const Dtype t : {Dtype::c64, Dtype::c128})
    for (const double re : {-1e3, -1e5, -1e300}) {
      if (t == Dtype::c64 && re < -1e30) continue;
      for (const double im : {0.0, 1.0, -2.5}) {
        const Tensor z = scalar(c128(re, im), t);
        EXPECT_EQ(cast(logistic(z), Dtype::c128).item<c128>(), c128(0)) << re << ", " << im;
        EXPECT_EQ(cast(logistic(neg(z)), Dtype::c128).item<c128>(), c128(1)) << re << ", " << im;
      }
    }
  for (const c128 z : {c128(-3, 1), c128(-0.1, 2), c128(0.4, -1), c128(5, 0.3)}) {
    const auto at = [](c128 x) { return logistic(scalar(x, Dtype::c128)).item<c128>(); };
    EXPECT_LE(std::abs(at(z) + at(-z) - 1.0), 1e-15) << z;
  }
  const c128 far = logistic(scalar(c128(-700, 0.7), Dtype::c128)).item<c128>();
  EXPECT_LE(std::abs(far / std::exp(c128(-700, 0.7)) - 1.0), 1e-12);
}

// On a branch cut the sign of the zero chooses the side of the value, and the derivative is that of
// the same side: along the cut it is the slope of the values.
TEST(DerivativeReference, OnABranchCutTheDerivativeIsThatOfTheSideOfTheValue) {
  const struct {
    const char* name;
    Tensor (*f)(Arg);
    bool upright;
  } cases[] = {{"sqrt", sqrt, false},   {"rsqrt", rsqrt, false}, {"log", log, false},
               {"log1p", log1p, false}, {"asin", asin, false},   {"acos", acos, false},
               {"acosh", acosh, false}, {"atanh", atanh, false}, {"asinh", asinh, true},
               {"atan", atan, true}};
  for (const auto& c : cases)
    for (const double at : {-3.0, -2.0, -0.7, -0.3, 0.3, 0.7, 2.0, 3.0})
      for (const double side : {0.0, -0.0}) {
        const auto point = [&](double s) {
          return scalar(c.upright ? c128(side, s) : c128(s, side), Dtype::c128);
        };
        const auto value = [&](double s) { return c.f(point(s)).item<c128>(); };
        const double h = 1e-5;
        const c128 slope = (value(at + h) - value(at - h)) / (2 * h);
        const Tensor along = scalar(c.upright ? c128(0, 1) : c128(1, 0), Dtype::c128);
        const c128 got =
            jvp([&](Tensor x) { return c.f(x); }, point(at), along).second.item<c128>();
        EXPECT_LE(std::abs(got - slope), 1e-6) << c.name << " at " << point(at).item<c128>();
      }
}

}  // namespace
}  // namespace tessera
