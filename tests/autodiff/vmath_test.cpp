// SPDX-License-Identifier: Apache-2.0
// The scalar function bodies against a table made with mpmath (references/make_vmath_reference.py),
// at special values, and the promise that a vectorised loop gives the bits of single calls.
#include "autodiff/src/kernels/vmath.h"

#include "csv_cells.h"
#include "test_paths.h"
#include "ulp_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

namespace vm = tessera::kernels::vm;

struct Unary {
  const char* name;
  double max_ulp;  // largest error allowed, in units of the last place of the exact value
  double (*one64)(double);
  float (*one32)(float);
  void (*many64)(const double*, double*, std::size_t);
  void (*many32)(const float*, float*, std::size_t);
};

template <class F, class T>
__attribute__((noinline)) T one(T x) {
  return F{}(x);
}
template <class F, class T>
__attribute__((noinline)) void many(const T* x, T* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = F{}(x[i]);
}
template <class F>
Unary unary(const char* name, double max_ulp) {
  return {name, max_ulp, one<F, double>, one<F, float>, many<F, double>, many<F, float>};
}
template <class F, class Mapped>
Unary unary_mapped(const char* name, double max_ulp) {
  return {name,
          max_ulp,
          one<F, double>,
          one<F, float>,
          vm::map_trig<Mapped, double>,
          vm::map_trig<Mapped, float>};
}

#define FUNCTION(NAME)        \
  struct Call_##NAME {        \
    template <class T>        \
    T operator()(T x) const { \
      return vm::NAME(x);     \
    }                         \
  };
FUNCTION(exp)
FUNCTION(exp2)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(tanh)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(logistic)
FUNCTION(softplus)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)
FUNCTION(cbrt)
FUNCTION(rsqrt)
FUNCTION(erf)
FUNCTION(erfc)
FUNCTION(erfinv)
FUNCTION(lgamma)
FUNCTION(digamma)
FUNCTION(trigamma)
#undef FUNCTION

// Bounds: half an ulp of the last rounding plus what the steps before it can add, measured on
// millions of arguments (docs/reference/accuracy-vmath.md) and rounded up.
const std::vector<Unary>& functions() {
  static const std::vector<Unary> all = {
      unary<Call_exp>("exp", 0.8),
      unary<Call_exp2>("exp2", 0.8),
      unary<Call_expm1>("expm1", 1.1),
      unary<Call_log>("log", 0.8),
      unary<Call_log1p>("log1p", 1.0),
      unary_mapped<Call_sin, vm::Sin>("sin", 0.9),
      unary_mapped<Call_cos, vm::Cos>("cos", 0.9),
      unary_mapped<Call_tan, vm::Tan>("tan", 2.2),
      unary<Call_tanh>("tanh", 2.5),
      unary<Call_sinh>("sinh", 2.2),
      unary<Call_cosh>("cosh", 1.2),
      unary<Call_logistic>("logistic", 2.3),
      unary<Call_softplus>("softplus", 1.6),
      unary<Call_asin>("asin", 1.3),
      unary<Call_acos>("acos", 1.3),
      unary<Call_atan>("atan", 1.9),
      unary<Call_asinh>("asinh", 2.0),
      unary<Call_acosh>("acosh", 2.2),
      unary<Call_atanh>("atanh", 2.2),
      unary<Call_cbrt>("cbrt", 0.6),
      unary<Call_rsqrt>("rsqrt", 1.5),
      unary<Call_erf>("erf", 2.0),
      unary<Call_erfc>("erfc", 3.5),
      unary<Call_erfinv>("erfinv", 4.0),
      unary<Call_lgamma>("lgamma", 4.0),
      unary<Call_digamma>("digamma", 4.0),
      unary<Call_trigamma>("trigamma", 4.0),
  };
  return all;
}

struct Row {
  std::string function;
  int bits;
  std::vector<double> arguments;
  long double value;
};

/// The values carry 20 digits; long double keeps 64 bits of them: 2^-11 ulp of a double.
std::vector<Row> read_reference() {
  std::vector<Row> rows;
  for (const auto& cell : csv_cells(std::string(TESSERA_SOURCE_DIR) +
                                    "/tests/autodiff/references/vmath_reference.csv")) {
    Row row{cell.at(0), std::stoi(cell.at(1)), {}, std::strtold(cell.back().c_str(), nullptr)};
    for (std::size_t i = 2; i + 1 < cell.size(); ++i)
      row.arguments.push_back(std::strtod(cell[i].c_str(), nullptr));
    rows.push_back(row);
  }
  return rows;
}

TEST(Vmath, UnaryFunctionsMatchTheReferenceTable) {
  const std::vector<Row> rows = read_reference();
  ASSERT_GT(rows.size(), 1000u);
  std::map<std::string, int> seen;
  for (const Unary& f : functions()) {
    double worst[2] = {0, 0};
    for (const Row& row : rows) {
      if (row.function != f.name || row.arguments.size() != 1) continue;
      ++seen[row.function];
      const double x = row.arguments[0];
      const double error = row.bits == 64 ? ulp_error(f.one64(x), row.value)
                                          : ulp_error(f.one32(static_cast<float>(x)), row.value);
      EXPECT_LE(error, f.max_ulp) << f.name << row.bits << "(" << x << "), exact " << row.value;
      worst[row.bits == 32] = std::max(worst[row.bits == 32], error);
    }
    EXPECT_GT(seen[f.name], 50) << "no reference rows for " << f.name;
    RecordProperty(std::string(f.name) + "_f64_ulp", std::to_string(worst[0]));
    RecordProperty(std::string(f.name) + "_f32_ulp", std::to_string(worst[1]));
  }
}

struct Binary {
  const char* name;
  double max_ulp;
  double (*f64)(double, double);
  float (*f32)(float, float);
};

template <class T>
T polygamma_of(T n, T x) {
  return vm::polygamma(static_cast<int>(n), x);
}

TEST(Vmath, BinaryFunctionsMatchTheReferenceTable) {
  const std::vector<Row> rows = read_reference();
  for (const Binary& f : {Binary{"pow", 0.9, vm::pow<double>, vm::pow<float>},
                          Binary{"atan2", 2.0, vm::atan2, vm::atan2},
                          // the power and the factorial round some n times
                          Binary{"polygamma", 10.0, polygamma_of<double>, polygamma_of<float>}}) {
    int seen = 0;
    for (const Row& row : rows) {
      if (row.function != f.name) continue;
      ++seen;
      const double x = row.arguments.at(0), y = row.arguments.at(1);
      const double error =
          row.bits == 64
              ? ulp_error(f.f64(x, y), row.value)
              : ulp_error(f.f32(static_cast<float>(x), static_cast<float>(y)), row.value);
      EXPECT_LE(error, f.max_ulp) << f.name << row.bits << "(" << x << ", " << y << "), exact "
                                  << row.value;
    }
    EXPECT_GT(seen, 50);
  }
}

template <class T>
bool same(T a, T b) {
  return vm::to_bits(a) == vm::to_bits(b) || (std::isnan(a) && std::isnan(b));
}

/// Arguments of every kind: ordinary, tiny, huge, denormal, zeros, infinities, NaN.
template <class T>
std::vector<T> mixed_arguments(std::size_t n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> small(-4, 4), large(-1000, 1000);
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (random() % 8) {
      case 0:
        x[i] = vm::from_bits<T>(static_cast<vm::BitsOf<T>>(random()));
        break;
      case 1:
        x[i] = static_cast<T>(large(random));
        break;
      case 2:
        x[i] = std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 1000);
        break;
      case 3:
        x[i] = random() % 2 != 0 ? T(0) : -T(0);
        break;
      case 4:
        x[i] = static_cast<T>(small(random) * 1e-3);
        break;
      default:
        x[i] = static_cast<T>(small(random));
        break;
    }
  }
  x[n / 2] = vm::kInfinity<T>;
  x[n / 3] = -vm::kInfinity<T>;
  x[n / 4] = vm::kNaN<T>;
  return x;
}

template <class T>
void expect_position_free(const char* name, T (*one)(T), void (*many)(const T*, T*, std::size_t)) {
  const std::vector<T> x = mixed_arguments<T>(1200);
  std::vector<T> expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] = one(x[i]);
  std::vector<T> y(x.size());
  auto check = [&](std::size_t start, std::size_t n) {
    std::fill(y.begin(), y.end(), T(-7));
    many(x.data() + start, y.data() + start, n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool inside = i >= start && i < start + n;
      ASSERT_TRUE(same(y[i], inside ? expected[i] : T(-7)))
          << name << " at " << i << " of [" << start << ", " << start + n << "), x = " << x[i];
    }
  };
  for (std::size_t start = 0; start < 17; ++start) check(start, x.size() - start);  // offsets
  for (std::size_t n = 0; n < 40; ++n) check(5, n);                                 // tails
}

TEST(Vmath, VectorLoopsGiveTheBitsOfSingleCalls) {
  for (const Unary& f : functions()) {
    expect_position_free(f.name, f.one64, f.many64);
    expect_position_free(f.name, f.one32, f.many32);
  }
}

template <class T>
struct Special {
  const char* name;
  T x, y;
};

template <class T>
std::vector<Special<T>> specials() {
  const T inf = vm::kInfinity<T>, nan = vm::kNaN<T>, tiny = std::numeric_limits<T>::denorm_min();
  const T big = std::numeric_limits<T>::max();
  return {
      {"exp", T(0), T(1)},      {"exp", -T(0), T(1)},      {"exp", inf, inf},
      {"exp", -inf, T(0)},      {"exp", big, inf},         {"exp", -big, T(0)},
      {"exp2", T(10), T(1024)}, {"exp2", T(-3), T(0.125)}, {"exp2", inf, inf},
      {"exp2", -inf, T(0)},     {"expm1", -T(0), -T(0)},   {"expm1", tiny, tiny},
      {"expm1", inf, inf},      {"expm1", -inf, T(-1)},    {"expm1", big, inf},
      {"log", T(1), T(0)},      {"log", T(0), -inf},       {"log", -T(0), -inf},
      {"log", T(-1), nan},      {"log", inf, inf},         {"log", -inf, nan},
      {"log1p", -T(0), -T(0)},  {"log1p", T(-1), -inf},    {"log1p", T(-2), nan},
      {"log1p", inf, inf},      {"log1p", tiny, tiny},     {"sin", -T(0), -T(0)},
      {"sin", T(0), T(0)},      {"sin", inf, nan},         {"sin", -inf, nan},
      {"sin", tiny, tiny},      {"cos", T(0), T(1)},       {"cos", -T(0), T(1)},
      {"cos", inf, nan},        {"tan", -T(0), -T(0)},     {"tan", inf, nan},
      {"tan", -tiny, -tiny},    {"tanh", -T(0), -T(0)},    {"tanh", inf, T(1)},
      {"tanh", -inf, T(-1)},    {"tanh", tiny, tiny},      {"tanh", -big, T(-1)},
      {"sinh", -T(0), -T(0)},   {"sinh", inf, inf},        {"sinh", -inf, -inf},
      {"sinh", tiny, tiny},     {"sinh", big, inf},        {"cosh", T(0), T(1)},
      {"cosh", -inf, inf},      {"cosh", big, inf},        {"logistic", T(0), T(0.5)},
      {"logistic", inf, T(1)},  {"logistic", -inf, T(0)},  {"softplus", -inf, T(0)},
      {"softplus", inf, inf},   {"softplus", big, big},
  };
}

template <class T>
void check_specials(const Unary& f, T (*one)(T)) {
  EXPECT_TRUE(std::isnan(one(vm::kNaN<T>))) << f.name << "(NaN)";
  for (const Special<T>& s : specials<T>()) {
    if (s.name != std::string(f.name)) continue;
    EXPECT_TRUE(same(one(s.x), s.y))
        << f.name << "(" << s.x << ") = " << one(s.x) << ", not " << s.y;
  }
}

TEST(Vmath, SpecialValues) {
  for (const Unary& f : functions()) {
    check_specials(f, f.one64);
    check_specials(f, f.one32);
  }
}

/// The C library's pow is the independent judge of the special cases of IEEE 754; the signs of NaN
/// are free.
template <class T>
void check_pow_specials() {
  const T inf = vm::kInfinity<T>, nan = vm::kNaN<T>;
  const T values[] = {T(0),
                      -T(0),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(-0.5),
                      T(2),
                      T(-2),
                      T(3),
                      T(-3),
                      T(0.3),
                      inf,
                      -inf,
                      nan,
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max(),
                      -std::numeric_limits<T>::max(),
                      T(1) / std::numeric_limits<T>::epsilon() - 1,
                      2 / std::numeric_limits<T>::epsilon()};
  for (T x : values)
    for (T y : values) {
      const T expected = std::pow(x, y), got = vm::pow(x, y);
      const bool near =
          std::isfinite(expected) && std::isfinite(got) &&
          std::abs(got - expected) <= 2 * std::numeric_limits<T>::epsilon() * std::abs(expected) &&
          std::signbit(got) == std::signbit(expected);
      EXPECT_TRUE(near || same(got, expected))
          << "pow(" << x << ", " << y << ") = " << got << ", not " << expected;
    }
}

TEST(Vmath, PowSpecialCasesAreThoseOfIeee) {
  check_pow_specials<double>();
  check_pow_specials<float>();
  EXPECT_EQ(vm::pow_int(3.0, 5), 243.0);
  EXPECT_EQ(vm::pow_int(-2.0, -3), -0.125);
  EXPECT_EQ(vm::pow_int(0.0, 0), 1.0);
}

TEST(Vmath, Atan2KnowsQuadrantsAndSignedZeros) {
  const double inf = vm::kInfinity<double>;
  const double values[] = {0.0, -0.0, 1.0,    -1.0,    0.3,   -0.3,
                           inf, -inf, 5e-324, -5e-324, 1e308, -1e308};
  for (double y : values)
    for (double x : values) {
      const double expected = std::atan2(y, x), got = vm::atan2(y, x);
      EXPECT_TRUE(std::signbit(got) == std::signbit(expected) &&
                  std::abs(got - expected) <= 4.5e-16 * std::abs(expected))
          << "atan2(" << y << ", " << x << ") = " << got << ", not " << expected;
    }
}

// At negative arguments through Gamma(x) Gamma(1 - x) = pi / sin(pi x) and its derivatives, with
// absolute errors of a few ulp of the terms.
TEST(Vmath, GammaFamilyBelowZero) {
  for (double x : {-0.25, -0.7, -1.5, -2.3, -7.9, -20.4, -33.125}) {
    EXPECT_NEAR(vm::lgamma(x), std::lgamma(x),
                1e-14 * (1 + std::abs(std::lgamma(x)) + std::lgamma(1 - x)));
    const double pi = 3.14159265358979323846;
    const double cot = std::cos(pi * x) / std::sin(pi * x);
    const double square = pi * pi * (1 + cot * cot);
    EXPECT_NEAR(vm::digamma(x), vm::digamma(1 - x) - pi * cot, 1e-13 * (1 + std::abs(pi * cot)));
    EXPECT_NEAR(vm::trigamma(x), square - vm::trigamma(1 - x), 1e-12 * square);
    EXPECT_NEAR(vm::polygamma(2, x), vm::polygamma(2, 1 - x) - 2 * pi * square * cot,
                1e-12 * (1 + std::abs(2 * pi * square * cot)));
  }
}

// psi(x) = -1 / x + ... beside the pole at 0, psi^(n)(x) = (-1)^(n+1) (n-1)! / x^n far from it.
TEST(Vmath, GammaFamilyAtTheEndsOfTheRange) {
  const double inf = vm::kInfinity<double>;
  EXPECT_EQ(vm::digamma(-1e-320), inf);
  EXPECT_EQ(vm::digamma(1e-320), -inf);
  EXPECT_EQ(vm::digamma(-0x1p-80), 0x1p80);
  for (double x : {0x1p61, 0x1p500, 0x1p540, 0x1p1000}) EXPECT_EQ(vm::trigamma(x), 1 / x);
  EXPECT_EQ(vm::polygamma(2, 0x1p400), -0x1p-800);
  EXPECT_EQ(vm::polygamma(3, 0x1p300), 2 * 0x1p-900);
  EXPECT_EQ(vm::trigamma(inf), 0);
}

}  // namespace
