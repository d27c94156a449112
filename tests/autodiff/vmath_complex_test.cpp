// SPDX-License-Identifier: Apache-2.0
// The complex scalar functions against a table made with mpmath, on their branch cuts against
// std::complex, and vector loops against single calls.
#include "autodiff/src/kernels/vmath.h"
#include "csv_cells.h"
#include "test_paths.h"
#include "ulp_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

namespace vm = tessera::kernels::vm;
using vm::c128;
using vm::c64;
using Std = std::complex<double>;

struct Function {
  const char* name;
  c128 (*one)(c128);
  c64 (*one32)(c64);
  void (*many)(const c128*, c128*, std::size_t);  // for |parts| <= kTrigLimit
  Std (*standard)(const Std&);
};

template <class F>
__attribute__((noinline)) c128 complex_one(c128 z) {
  return F{}.any(z);
}
template <class F>
__attribute__((noinline)) c64 complex_one32(c64 z) {
  return F{}.any(z);
}
template <class F>
__attribute__((noinline)) void complex_many(const c128* z, c128* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = F{}.near(z[i]);
}

#define PLAIN(NAME)                                 \
  struct Complex_##NAME {                           \
    template <class C>                              \
    C any(C z) const {                              \
      return vm::NAME(z);                           \
    }                                               \
    c128 near(c128 z) const { return vm::NAME(z); } \
  };
#define WITH_SINE(NAME)                                   \
  struct Complex_##NAME {                                 \
    template <class C>                                    \
    C any(C z) const {                                    \
      return vm::NAME(z);                                 \
    }                                                     \
    c128 near(c128 z) const { return vm::NAME<true>(z); } \
  };
PLAIN(sqrt)
PLAIN(log)
PLAIN(asin)
PLAIN(acos)
PLAIN(atan)
PLAIN(asinh)
PLAIN(acosh)
PLAIN(atanh)
WITH_SINE(exp)
WITH_SINE(sinh)
WITH_SINE(cosh)
WITH_SINE(tanh)
WITH_SINE(sin)
WITH_SINE(cos)
WITH_SINE(tan)
#undef PLAIN
#undef WITH_SINE

#define ROW(NAME)                                                          \
  Function {                                                               \
#NAME, complex_one < Complex_##NAME>, complex_one32 < Complex_##NAME>, \
        complex_many < Complex_##NAME>, std::NAME < double>                \
  }
const Function kFunctions[] = {ROW(sqrt),  ROW(log),   ROW(asin),  ROW(acos), ROW(atan),
                               ROW(asinh), ROW(acosh), ROW(atanh), ROW(exp),  ROW(sinh),
                               ROW(cosh),  ROW(tanh),  ROW(sin),   ROW(cos),  ROW(tan)};
#undef ROW

struct ComplexRow {
  std::string function;
  c128 z;
  long double re, im;
};

std::vector<ComplexRow> read_complex_reference() {
  std::vector<ComplexRow> rows;
  for (const auto& cell : csv_cells(std::string(TESSERA_SOURCE_DIR) +
                                    "/tests/autodiff/references/vmath_complex_reference.csv"))
    rows.push_back(
        {cell.at(0),
         {std::strtod(cell.at(1).c_str(), nullptr), std::strtod(cell.at(2).c_str(), nullptr)},
         std::strtold(cell.at(3).c_str(), nullptr),
         std::strtold(cell.at(4).c_str(), nullptr)});
  return rows;
}

// Each part to 6 ulp: a handful of roundings of sines, roots and quotients (5.4 measured on 200,000
// arguments of each function in quadruple precision).
TEST(VmathComplex, FunctionsMatchTheReferenceTable) {
  const std::vector<ComplexRow> rows = read_complex_reference();
  for (const Function& f : kFunctions) {
    int seen = 0;
    for (const ComplexRow& row : rows) {
      if (row.function != f.name) continue;
      ++seen;
      const c128 y = f.one(row.z);
      EXPECT_LE(ulp_error(y.re, row.re), 6)
          << f.name << " re at " << row.z.re << ", " << row.z.im << ": " << row.re;
      EXPECT_LE(ulp_error(y.im, row.im), 6)
          << f.name << " im at " << row.z.re << ", " << row.z.im << ": " << row.im;
      // float parts are the double ones rounded
      const c64 z32{static_cast<float>(row.z.re), static_cast<float>(row.z.im)};
      const c128 wide = f.one({z32.re, z32.im});
      const c64 y32 = f.one32(z32);
      EXPECT_TRUE(y32.re == static_cast<float>(wide.re) || std::isnan(wide.re)) << f.name;
      EXPECT_TRUE(y32.im == static_cast<float>(wide.im) || std::isnan(wide.im)) << f.name;
    }
    EXPECT_GT(seen, 25) << f.name;
  }
}

struct Doubles {
  double re, im;
};
struct Floats {
  float re, im;
};
__attribute__((noinline)) Doubles through_float(Doubles z) {
  const Floats w{static_cast<float>(z.re), static_cast<float>(z.im)};
  return {w.re, w.im};
}

// g++ 12 with -ftree-slp-vectorize (on from -O2) returns z unrounded. The build switches that off.
TEST(VmathComplex, CompilerKeepsRoundingToFloat) {
  const Doubles rounded = through_float({0.1, 0.2});
  EXPECT_EQ(rounded.re, 0x1.99999ap-4);
  EXPECT_EQ(rounded.im, 0x1.99999ap-3);
}

// The side of a cut is chosen by the sign of the zero, as in C99 annex G.
TEST(VmathComplex, BranchCutsAndSignedZeros) {
  for (const char* name : {"sqrt", "log", "asin", "acos", "atan", "asinh", "acosh", "atanh"}) {
    const Function& f =
        *std::find_if(std::begin(kFunctions), std::end(kFunctions),
                      [&](const Function& g) { return std::string(g.name) == name; });
    for (double a : {0.25, 0.75, 1.5, 3.0})
      for (double side : {0.0, -0.0})
        for (const Std z : {Std(a, side), Std(-a, side), Std(side, a), Std(side, -a)}) {
          const Std expected = f.standard(z);
          const c128 got = f.one({z.real(), z.imag()});
          EXPECT_NEAR(got.re, expected.real(), 1e-15 * (1 + std::abs(expected))) << name << z;
          EXPECT_NEAR(got.im, expected.imag(), 1e-15 * (1 + std::abs(expected))) << name << z;
          EXPECT_EQ(std::signbit(got.im), std::signbit(expected.imag())) << name << z;
        }
  }
}

TEST(VmathComplex, ProductQuotientAndAbsoluteValue) {
  const c128 a{3, -4}, b{1, 2};
  EXPECT_EQ((a * b).re, 11);
  EXPECT_EQ((a * b).im, 2);
  EXPECT_EQ((a * vm::conj(a)).im, 0);
  EXPECT_EQ((a / b).re, -1);
  EXPECT_EQ((a / b).im, -2);
  EXPECT_EQ(vm::abs(a), 5);
  // no overflow or underflow on the way
  const c128 big{1e308, 1e308}, tiny{1e-308, -1e-308};
  EXPECT_EQ((big / big).re, 1);
  EXPECT_EQ((big / big).im, 0);
  EXPECT_EQ((tiny / tiny).re, 1);
  EXPECT_EQ((c128{1, 0} / big).re, 5e-309);
  EXPECT_DOUBLE_EQ(vm::abs(c128{3e-310, 4e-310}), 5e-310);
  EXPECT_DOUBLE_EQ(vm::abs(c128{3e307, 4e307}), 5e307);
  EXPECT_EQ(vm::abs(c128{vm::kNaN<double>, -vm::kInfinity<double>}), vm::kInfinity<double>);
  EXPECT_TRUE(std::isnan((a / c128{0, 0}).re));
  // against long double
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    const c128 p{std::ldexp(normal(random), int(random() % 200) - 100), normal(random)};
    const c128 q{normal(random), std::ldexp(normal(random), int(random() % 200) - 100)};
    const std::complex<long double> lp(p.re, p.im), lq(q.re, q.im);
    const long double square = lq.real() * lq.real() + lq.imag() * lq.imag();
    const c128 r = p / q;
    const std::complex<long double> exact = lp * std::conj(lq) / square;
    const double norm = static_cast<double>(std::abs(exact));
    EXPECT_LE(std::abs(static_cast<double>(r.re - exact.real())), 6e-16 * norm);
    EXPECT_LE(std::abs(static_cast<double>(r.im - exact.imag())), 6e-16 * norm);
  }
}

TEST(VmathComplex, PowerIsTheExponentialOfTheLogarithm) {
  const c128 i{0, 1};
  EXPECT_NEAR(vm::pow(i, i).re, 0.20787957635076190855, 1e-16);  // e^(-pi/2)
  EXPECT_NEAR(vm::pow(i, i).im, 0, 1e-16);
  EXPECT_EQ(vm::pow(c128{0, 0}, c128{2, 0}).re, 0);
  EXPECT_EQ(vm::pow(c128{0, 0}, c128{0, 0}).re, 1);
  const c128 cube = vm::pow_int(c128{1, 2}, 3);
  EXPECT_EQ(cube.re, -11);
  EXPECT_EQ(cube.im, -2);
}

/// e^z - 1 is e^z where that has no digit of 1, finite wherever it can be: of 709.9 e^x is beyond
/// doubles, and so is e^89 beyond floats.
TEST(VmathComplex, Expm1IsFiniteWhereTheExponentialIs) {
  EXPECT_EQ(vm::expm1(c128{710, 0}).re, vm::kInfinity<double>);
  EXPECT_EQ(vm::expm1(c128{710, 0}).im, 0);
  EXPECT_EQ(vm::expm1(c64{89, 0}).re, vm::kInfinity<float>);
  EXPECT_EQ(vm::expm1(c64{89, 0}).im, 0);
  // mpmath; each part to 6 ulp, as the functions of the table, in floats to the last rounding.
  EXPECT_NEAR(vm::expm1(c128{709.9, 1e-3}).im / 2.0214017192192382e305, 1, 1.4e-15);
  EXPECT_NEAR(vm::expm1(c128{709.9, 1.57}).re / 1.6096964504191477e305, 1, 1.4e-15);
  EXPECT_NEAR(vm::expm1(c64{89, 1e-3f}).im / 4.489612284150639e35, 1, 6e-8);
  // Against long double: across x = 40 in few roundings of the modulus, near 0 in that to float.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> beside_40(39.5, 40.5), small(-1e-3, 1e-3), angle(-3, 3);
  for (int i = 0; i < 1000; ++i) {
    const c128 z{beside_40(random), angle(random)}, got = vm::expm1(z);
    const std::complex<long double> want = std::exp(std::complex<long double>(z.re, z.im)) - 1.0L;
    const double size = static_cast<double>(std::abs(want));
    EXPECT_NEAR(got.re, static_cast<double>(want.real()), 1e-15 * size);
    EXPECT_NEAR(got.im, static_cast<double>(want.imag()), 1e-15 * size);
    const c64 w{static_cast<float>(small(random)), static_cast<float>(small(random))},
        narrow = vm::expm1(w);
    const std::complex<long double> near_0 = std::exp(std::complex<long double>(w.re, w.im)) - 1.0L;
    const double part = static_cast<double>(std::abs(near_0));
    EXPECT_NEAR(narrow.re, static_cast<double>(near_0.real()), 6e-8 * part);
    EXPECT_NEAR(narrow.im, static_cast<double>(near_0.imag()), 6e-8 * part);
  }
}

/// C99 annex G.6, whose table std::complex follows: each pairing of infinities, NaN, zeros of both
/// signs and numbers, except the signs that the table leaves open.
TEST(VmathComplex, InversesOfInfinitiesAreThoseOfTheStandard) {
  using z128 = std::complex<double>;
  struct Inverse {
    const char* name;
    c128 (*ours)(c128);
    z128 (*standard)(const z128&);
  };
  const Inverse inverses[] = {
      {"asin", [](c128 z) { return vm::asin(z); }, [](const z128& z) { return std::asin(z); }},
      {"acos", [](c128 z) { return vm::acos(z); }, [](const z128& z) { return std::acos(z); }},
      {"atan", [](c128 z) { return vm::atan(z); }, [](const z128& z) { return std::atan(z); }},
      {"asinh", [](c128 z) { return vm::asinh(z); }, [](const z128& z) { return std::asinh(z); }},
      {"acosh", [](c128 z) { return vm::acosh(z); }, [](const z128& z) { return std::acosh(z); }},
      {"atanh", [](c128 z) { return vm::atanh(z); }, [](const z128& z) { return std::atanh(z); }}};
  const double infinity = vm::kInfinity<double>, nan = vm::kNaN<double>;
  const double parts[] = {-infinity, -2.0, -0.0, 0.0, 0.5, infinity, nan};
  for (const Inverse& f : inverses)
    for (double x : parts)
      for (double y : parts) {
        if (!std::isinf(x) && !std::isinf(y)) continue;
        const c128 got = f.ours({x, y});
        const z128 want = f.standard({x, y});
        const auto agrees = [&](double a, double b) {
          if (std::isnan(b)) return std::isnan(a);
          // beside a NaN the table leaves the sign of an infinity or zero open
          const bool open = (std::isnan(x) || std::isnan(y)) && (b == 0 || std::isinf(b));
          if (b == 0 || std::isinf(b))
            return std::abs(a) == std::abs(b) && (open || std::signbit(a) == std::signbit(b));
          return std::abs(a - b) <= 2.3e-16 * std::abs(b);  // an angle, to its rounding
        };
        EXPECT_TRUE(agrees(got.re, want.real()) && agrees(got.im, want.imag()))
            << f.name << " of " << x << ", " << y << ": " << got.re << ", " << got.im
            << " where the standard has " << want.real() << ", " << want.imag();
      }
}

bool same(double a, double b) {
  return vm::to_bits(a) == vm::to_bits(b) || (std::isnan(a) && std::isnan(b));
}

TEST(VmathComplex, VectorLoopsGiveTheBitsOfSingleCalls) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<c128> z(203);
  for (c128& w : z) {
    w = {uniform(random), uniform(random)};
    if (random() % 4 == 0) w.re = std::ldexp(w.re, int(random() % 60) - 55);
    if (random() % 4 == 0) w.im = std::ldexp(w.im, int(random() % 60) - 55);
    if (random() % 9 == 0) w.re = -0.0;
    if (random() % 9 == 0) w.im = 0.0;
  }
  for (const Function& f : kFunctions) {
    std::vector<c128> y(z.size());
    for (std::size_t start = 0; start < 9; ++start)
      for (std::size_t n : {z.size() - start, std::size_t(1), std::size_t(7)}) {
        f.many(z.data() + start, y.data() + start, n);
        for (std::size_t i = start; i < start + n; ++i) {
          const c128 expected = f.one(z[i]);
          ASSERT_TRUE(same(y[i].re, expected.re) && same(y[i].im, expected.im))
              << f.name << " at " << i << " of " << n << " from " << start << ": " << z[i].re
              << ", " << z[i].im;
        }
      }
  }
}

}  // namespace
