// SPDX-License-Identifier: Apache-2.0
// Scalar functions: largest error on random arguments against quadruple precision, and time an
// element of a vector loop on one thread beside the C library called element by element. Writes the
// table of docs/reference/accuracy-vmath.md with `vmath_bench --table`. Bound by the floating-point
// units.
#include "autodiff/src/kernels/vmath.h"
#include "measure.h"

#include <quadmath.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

namespace vm = tessera::kernels::vm;
using namespace tessera::benchmarks;
using Quad = __float128;

struct Range {
  double low, high;
};
struct Function {
  const char* name;
  Quad (*exact)(Quad);
  double (*ours)(double);
  float (*ours32)(float);
  void (*loop)(const double*, double*, std::size_t);
  void (*loop32)(const float*, float*, std::size_t);
  void (*libm)(const double*, double*, std::size_t);
  std::vector<Range> ranges;  // arguments are drawn from each, uniformly
  bool every_exponent;        // and with random bits
  Range timed;
};

template <class F, class T>
__attribute__((noinline)) T call(T x) {
  return F::any(x);
}
template <class F, class T>
__attribute__((noinline, flatten)) void loop(const T* x, T* y, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) y[i] = F::near(x[i]);
}
template <class F>
__attribute__((noinline)) void libm(const double* x, double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = F::std(x[i]);
}

Quad logistic_exact(Quad x) { return 1 / (1 + expq(-x)); }
Quad softplus_exact(Quad x) { return x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x)); }
Quad rsqrt_exact(Quad x) { return 1 / sqrtq(x); }
double logistic_plain(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_plain(double x) { return std::log1p(std::exp(x)); }
double rsqrt_plain(double x) { return 1 / std::sqrt(x); }

#define BODY(NAME, NEAR, STD)                      \
  struct Body_##NAME {                             \
    template <class T>                             \
    static T any(T x) {                            \
      return vm::NAME(x);                          \
    }                                              \
    template <class T>                             \
    static T near(T x) {                           \
      return vm::NEAR(x);                          \
    }                                              \
    static double std(double x) { return STD(x); } \
  };
BODY(exp, exp, std::exp)
BODY(exp2, exp2, std::exp2)
BODY(expm1, expm1, std::expm1)
BODY(log, log, std::log)
BODY(log1p, log1p, std::log1p)
BODY(sin, sin_near, std::sin)
BODY(cos, cos_near, std::cos)
BODY(tan, tan_near, std::tan)
BODY(asin, asin, std::asin)
BODY(acos, acos, std::acos)
BODY(atan, atan, std::atan)
BODY(sinh, sinh, std::sinh)
BODY(cosh, cosh, std::cosh)
BODY(tanh, tanh, std::tanh)
BODY(asinh, asinh, std::asinh)
BODY(acosh, acosh, std::acosh)
BODY(atanh, atanh, std::atanh)
BODY(logistic, logistic, logistic_plain)
BODY(softplus, softplus, softplus_plain)
BODY(cbrt, cbrt, std::cbrt)
BODY(rsqrt, rsqrt, rsqrt_plain)
BODY(erf, erf, std::erf)
BODY(erfc, erfc, std::erfc)
BODY(lgamma, lgamma, std::lgamma)
#undef BODY

#define ROW(NAME, EXACT, EVERY, LOW, HIGH, ...)                                                \
  Function {                                                                                   \
#NAME, EXACT, call < Body_##NAME, double>, call < Body_##NAME, float>, loop < Body_##NAME, \
        double>, loop < Body_##NAME, float>, libm < Body_##NAME>, {__VA_ARGS__ }, EVERY, {     \
      LOW, HIGH                                                                                \
    }                                                                                          \
  }
const Function kFunctions[] = {
    ROW(exp, expq, true, -5, 5, {-1, 1}, {-745, 710}, {-104, 89}),
    ROW(exp2, exp2q, true, -5, 5, {-1, 1}, {-1075, 1024}, {-150, 128}),
    ROW(expm1, expm1q, true, -5, 5, {-2, 2}, {-45, 710}, {-20, 89}),
    ROW(log, logq, true, 0.01, 10, {0, 3}, {0.7, 1.5}),
    ROW(log1p, log1pq, true, 0.01, 10, {-1, 3}, {-0.1, 0.1}, {0, 1e5}),
    ROW(sin, sinq, true, -10, 10, {-4, 4}, {-500, 500}, {0, 1e9}, {0, 1e12}),
    ROW(cos, cosq, true, -10, 10, {-4, 4}, {-500, 500}, {0, 1e9}, {0, 1e12}),
    ROW(tan, tanq, true, -10, 10, {-4, 4}, {-500, 500}, {0, 1e9}, {0, 1e12}),
    ROW(asin, asinq, false, -1, 1, {-1, 1}, {0.4, 0.6}, {0.99, 1}),
    ROW(acos, acosq, false, -1, 1, {-1, 1}, {0.4, 0.6}, {-0.6, -0.4}, {0.99, 1}),
    ROW(atan, atanq, true, -5, 5, {-1, 1}, {-10, 10}, {0.3, 0.6}),
    ROW(sinh, sinhq, true, -5, 5, {-1, 1}, {-10, 10}, {700, 710.4}, {80, 89.3}),
    ROW(cosh, coshq, true, -5, 5, {-1, 1}, {-10, 10}, {700, 710.4}, {80, 89.3}),
    ROW(tanh, tanhq, true, -5, 5, {-1, 1}, {-10, 10}, {-0.1, 0.1}),
    ROW(asinh, asinhq, true, -5, 5, {-1, 1}, {-10, 10}, {0, 0.2}),
    ROW(acosh, acoshq, true, 1, 10, {1, 1.1}, {1, 3}, {1, 1000}),
    ROW(atanh, atanhq, false, -0.99, 0.99, {-1, 1}, {-0.1, 0.1}, {0.9, 1}),
    ROW(logistic, logistic_exact, false, -5, 5, {-1, 1}, {-10, 10}, {-740, 40}, {-103, -80}),
    ROW(softplus, softplus_exact, false, -5, 5, {-1, 3}, {-50, 50}, {-740, 0}),
    ROW(cbrt, cbrtq, true, -5, 5, {-1, 1}, {-10, 10}),
    ROW(rsqrt, rsqrt_exact, false, 0.01, 10, {0, 1}, {0, 10}),
    ROW(erf, erfq, true, -3, 3, {-1, 1}, {-7, 7}, {0.6, 0.7}),
    ROW(erfc, erfcq, false, -3, 5, {-1, 1}, {-7, 7}, {0.6, 0.7}, {5, 27.2}),
    ROW(lgamma, lgammaq, false, 0.1, 12, {0, 3}, {3, 40}, {0.9, 1.1}, {1.9, 2.1}),
};
#undef ROW

/// |got - exact| in units of the last place of exact.
template <class T>
double ulp_error(T got, Quad exact) {
  using L = std::numeric_limits<T>;
  if (isnanq(exact)) return std::isnan(got) ? 0 : L::infinity();
  if (std::isinf(static_cast<T>(exact)))
    return std::isinf(got) || got == L::max() ? 0 : L::infinity();
  int exponent;
  frexpq(exact, &exponent);
  if (exact == 0 || exponent < L::min_exponent) exponent = L::min_exponent;
  return static_cast<double>(fabsq((got - exact) / scalbnq(1, exponent - L::digits)));
}

template <class T, class Draw>
double worst_of(int n, T (*f)(T), Quad (*exact)(Quad), Draw draw) {
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    const T x = draw();
    worst = std::max(worst, ulp_error(f(x), exact(x)));
  }
  return worst;
}

template <class T>
double largest_error(const Function& f, T (*ours)(T), int n) {
  std::mt19937_64 random(20240611);
  double worst = 0;
  for (const Range& r : f.ranges) {
    std::uniform_real_distribution<double> uniform(r.low, r.high);
    worst = std::max(
        worst, worst_of<T>(n, ours, f.exact, [&] { return static_cast<T>(uniform(random)); }));
  }
  if (f.every_exponent)
    worst = std::max(worst, worst_of<T>(n, ours, f.exact, [&] {
                       return vm::from_bits<T>(static_cast<vm::BitsOf<T>>(random()));
                     }));
  return worst;
}

template <class T>
double nanoseconds(const Function& f, void (*run)(const T*, T*, std::size_t)) {
  constexpr std::size_t kSize = 4096;  // in the first cache
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(f.timed.low, f.timed.high);
  std::vector<T> x(kSize), y(kSize);
  for (T& v : x) v = static_cast<T>(uniform(random));
  Samples samples;
  for (int r = 0; r < 40; ++r) samples.add(seconds_of([&] { run(x.data(), y.data(), kSize); }));
  return samples.best() / kSize * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const bool table = argc > 1 && std::strcmp(argv[1], "--table") == 0;
  const int n = 100000;
  if (table) {
    std::printf(
        "| function | f64 error, ulp | f32 error, ulp | f64 ns | f32 ns | C library f64 ns |\n");
    std::printf("|---|---|---|---|---|---|\n");
  }
  for (const Function& f : kFunctions) {
    const double e64 = largest_error<double>(f, f.ours, n),
                 e32 = largest_error<float>(f, f.ours32, n);
    const double t64 = nanoseconds(f, f.loop), t32 = nanoseconds(f, f.loop32),
                 t_libm = nanoseconds(f, f.libm);
    if (table) {
      std::printf("| %s | %.2f | %.2f | %.1f | %.1f | %.1f |\n", f.name, e64, e32, t64, t32,
                  t_libm);
    } else {
      const std::string name = f.name;
      print_figure(name + "_f64_error", e64, "ulp");
      print_figure(name + "_f32_error", e32, "ulp");
      print_figure(name + "_f64", t64, "ns");
      print_figure(name + "_f32", t32, "ns");
      print_figure("libm_" + name + "_f64", t_libm, "ns");
      print_figure("ratio_" + name + "_f64_to_libm", t_libm / t64, "x");
    }
  }
  return 0;
}
