// SPDX-License-Identifier: Apache-2.0
//
// NaN in, NaN out: in every argument, at every place of a vector; and the derivative of a choice
// goes to the NaN that was chosen.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/bessel.h"
#include "tessera/autodiff/ops/cumulative.h"
#include "tessera/autodiff/ops/index.h"
#include "tessera/autodiff/ops/segment.h"
#include "tessera/autodiff/ops/sort.h"
#include "tessera/autodiff/ops/window.h"
#include "tessera/autodiff/solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>

namespace tessera {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN(),
                 kEndless = std::numeric_limits<double>::infinity();

struct Function1 {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  std::function<c128(c128)> complex =
      {};  ///< the C++ library's, where the function takes complex numbers
};
std::vector<Function1> functions_of_one() {
#define TESSERA_CASE(f)                      \
  {                                          \
#f, [](const Tensor& x) { return f(x); } \
  }
#define TESSERA_COMPLEX(f, g)                                                  \
  {                                                                            \
#f, [](const Tensor& x) { return f(x); }, [](c128 z) -> c128 { return g; } \
  }
  return {TESSERA_COMPLEX(neg, -z),
          TESSERA_COMPLEX(square, z * z),
          TESSERA_COMPLEX(sqrt, std::sqrt(z)),
          TESSERA_COMPLEX(rsqrt, 1.0 / std::sqrt(z)),
          TESSERA_CASE(cbrt),
          TESSERA_COMPLEX(exp, std::exp(z)),
          TESSERA_COMPLEX(expm1, std::exp(z) - 1.0),
          TESSERA_COMPLEX(log, std::log(z)),
          TESSERA_COMPLEX(log1p, std::log(c128(1.0) + z)),
          TESSERA_COMPLEX(sin, std::sin(z)),
          TESSERA_COMPLEX(cos, std::cos(z)),
          TESSERA_COMPLEX(tan, std::tan(z)),
          TESSERA_COMPLEX(asin, std::asin(z)),
          TESSERA_COMPLEX(acos, std::acos(z)),
          TESSERA_COMPLEX(atan, std::atan(z)),
          TESSERA_COMPLEX(sinh, std::sinh(z)),
          TESSERA_COMPLEX(cosh, std::cosh(z)),
          TESSERA_COMPLEX(tanh, std::tanh(z)),
          TESSERA_COMPLEX(asinh, std::asinh(z)),
          {"acosh", [](const Tensor& x) { return acosh(1.0 + x); },
           [](c128 z) -> c128 { return std::acosh(c128(1.0) + z); }},
          TESSERA_COMPLEX(atanh, std::atanh(z)),
          TESSERA_CASE(abs),
          TESSERA_CASE(sign),
          TESSERA_CASE(sech2),
          TESSERA_CASE(logistic),
          TESSERA_CASE(softplus),
          TESSERA_CASE(erf),
          TESSERA_CASE(erfc),
          TESSERA_CASE(erfinv),
          TESSERA_CASE(lgamma),
          TESSERA_CASE(digamma),
          {"polygamma", [](const Tensor& x) { return polygamma(2, x); }},
          TESSERA_CASE(floor),
          TESSERA_CASE(ceil),
          TESSERA_CASE(round),
          {"pow 3", [](const Tensor& x) { return pow(x, 3); }},
          {"pow -2", [](const Tensor& x) { return pow(x, -2); }},
          {"pow 2.5", [](const Tensor& x) { return pow(x, 2.5); }},
          {"bessel_j", [](const Tensor& x) { return bessel_j(0, x); }},
          {"bessel_y", [](const Tensor& x) { return bessel_y(1, x); }},
          {"bessel_i", [](const Tensor& x) { return bessel_i(0.5, x); }},
          {"bessel_k", [](const Tensor& x) { return bessel_k(2, x); }},
          {"spherical_j", [](const Tensor& x) { return spherical_j(2, x); }},
          {"clip", [](const Tensor& x) { return clip(x, -1.0, 1.0); }},
          {"maximum 0", [](const Tensor& x) { return maximum(x, 0.0); }},
          {"minimum 0", [](const Tensor& x) { return minimum(0.0, x); }},
          TESSERA_CASE(stop_gradient)};
#undef TESSERA_CASE
#undef TESSERA_COMPLEX
}

/// The elements of x as doubles.
std::vector<double> as_doubles(const Tensor& x) { return cast(x, Dtype::f64).to_vector(); }

TEST(NaN, StaysAtEveryPlaceOfEveryFunction) {
  for (const Dtype type : {Dtype::f32, Dtype::f64})
    for (const Function1& g : functions_of_one()) {
      EXPECT_TRUE(std::isnan(as_doubles(g.f(scalar(kMissing, type)))[0]))
          << g.name << " alone, " << name_of(type);
      for (const Index n : {1, 2, 3, 7, 8, 9, 16, 17, 33}) {
        const Tensor plain = g.f(full({n}, 0.625, type));
        for (Index at = 0; at < n; ++at) {
          const Tensor here = equal(arange(n), at),
                       x = where(here, cast(kMissing, type), cast(0.625, type)), y = g.f(x);
          const Tensor missing = not_equal(y, y);
          EXPECT_TRUE(all(equal(missing, here)).item<bool>())
              << g.name << " at " << at << " of " << n << ", " << name_of(type);
          EXPECT_TRUE(all(logical_or(here, equal(y, plain))).item<bool>())
              << g.name << ": the neighbours of a NaN move";
        }
      }
    }
}

TEST(NaN, StaysInBothArguments) {
  struct Function2 {
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> f;
    std::function<double(double, double)> expected;
  };
  const auto choice = [](double a, double b, bool first) {
    return std::isnan(a) || std::isnan(b) ? kMissing : first ? a : b;
  };
  const Function2 functions[] = {
      {"add", [](auto& x, auto& y) { return x + y; }, [](double x, double y) { return x + y; }},
      {"sub", [](auto& x, auto& y) { return x - y; }, [](double x, double y) { return x - y; }},
      {"mul", [](auto& x, auto& y) { return x * y; }, [](double x, double y) { return x * y; }},
      {"div", [](auto& x, auto& y) { return x / y; }, [](double x, double y) { return x / y; }},
      {"atan2", [](auto& x, auto& y) { return atan2(x, y); },
       [](double x, double y) { return std::atan2(x, y); }},
      {"hypot", [](auto& x, auto& y) { return hypot(x, y); },
       [](double x, double y) { return std::hypot(x, y); }},
      {"pow", [](auto& x, auto& y) { return pow(x, y); },
       [](double x, double y) { return std::pow(x, y); }},
      {"rem", [](auto& x, auto& y) { return rem(x, y); },
       [](double x, double y) { return std::fmod(x, y); }},
      {"maximum", [](auto& x, auto& y) { return maximum(x, y); },
       [&](double x, double y) { return choice(x, y, x > y); }},
      {"minimum", [](auto& x, auto& y) { return minimum(x, y); },
       [&](double x, double y) { return choice(x, y, x < y); }},
      {"arg", [](auto& x, auto& y) { return arg(complex(x, y)); },
       [](double x, double y) { return std::atan2(y, x); }},
      {"abs", [](auto& x, auto& y) { return abs(complex(x, y)); },
       [](double x, double y) { return std::hypot(x, y); }}};
  const std::vector<double> numbers = {0.0,    -0.0,   1.0,      -1.0,     2.5,
                                       -1e300, 5e-324, kEndless, -kEndless};
  std::vector<double> a, b;
  for (double v : numbers) a.insert(a.end(), {kMissing, v}), b.insert(b.end(), {v, kMissing});
  a.push_back(kMissing), b.push_back(kMissing);
  for (const Dtype type : {Dtype::f32, Dtype::f64}) {
    const Tensor x = cast(tensor(a), type), y = cast(tensor(b), type);
    const std::vector<double> u = as_doubles(x), v = as_doubles(y);
    for (const Function2& g : functions) {
      const std::vector<double> together = as_doubles(g.f(x, y));
      for (std::size_t k = 0; k < u.size(); ++k) {
        const double expected = g.expected(u[k], v[k]),
                     alone = as_doubles(g.f(cast(u[k], type), cast(v[k], type)))[0];
        for (const double got : {together[k], alone})
          EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected)
              << g.name << '(' << u[k] << ", " << v[k] << ") = " << got << ", " << name_of(type);
      }
    }
  }
}

/// Where the C++ library's part is NaN (annex G of C), ours is.
TEST(NaN, StaysInComplexFunctions) {
  for (const Dtype type : {Dtype::c128, Dtype::c64})
    for (const Function1& g : functions_of_one()) {
      if (!g.complex) continue;
      for (const double other : {0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 30.0})
        for (const c128 z :
             {c128(kMissing, other), c128(other, kMissing), c128(kMissing, kMissing)}) {
          const c128 expected = g.complex(z);
          const c128 got = cast(g.f(scalar(z, type)), Dtype::c128).item<c128>(),
                     together = cast(g.f(full({9}, z, type)), Dtype::c128).to_vector<c128>()[8];
          for (const c128 v : {got, together}) {
            EXPECT_TRUE(std::isnan(v.real()) || !std::isnan(expected.real()))
                << g.name << z << " = " << v << ", expected " << expected << ", " << name_of(type);
            EXPECT_TRUE(std::isnan(v.imag()) || !std::isnan(expected.imag()))
                << g.name << z << " = " << v << ", expected " << expected << ", " << name_of(type);
          }
        }
    }
}

TEST(NaN, ThatAReductionChoosesTakesItsDerivative) {
  const Tensor x = tensor({1.0, kMissing, 5.0, kMissing, 2.0, 3.0}, {2, 3});
  for (const bool largest : {true, false}) {
    const auto extreme = [largest](Tensor t, const Shape& axes) {
      return largest ? max(t, axes) : min(t, axes);
    };
    const auto whole = [&](Tensor t) { return largest ? max(t) : min(t); };
    EXPECT_EQ(grad(whole)(x).to_vector(), (std::vector<double>{0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(jit(grad(whole))(x).to_vector(), (std::vector<double>{0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(grad([&](Tensor t) { return sum(extreme(t, {1})); })(x).to_vector(),
              (std::vector<double>{0, 1, 0, 1, 0, 0}));
    EXPECT_EQ(vmap(grad(whole))(x).to_vector(), (std::vector<double>{0, 1, 0, 1, 0, 0}));
    EXPECT_EQ(grad([&](Tensor t) { return sum(extreme(t, {0})); })(x).to_vector(),
              (std::vector<double>{0, 1, largest ? 1. : 0., 1, 0, largest ? 0. : 1.}));
    EXPECT_EQ(jvp(whole, x, tensor({10.0, 20.0, 30.0, 40.0, 50.0, 60.0}, {2, 3})).second.item(),
              20);
    EXPECT_EQ(grad(whole)(cast(x, Dtype::f32)).to_vector<float>(),
              (std::vector<float>{0, 1, 0, 0, 0, 0}));
  }
}

TEST(NaN, ThatTwoArgumentsChooseTakesItsDerivative) {
  const Tensor x = tensor({kMissing, 1.0, kMissing, 2.0, 1.0, kEndless}),
               y = tensor({1.0, kMissing, kMissing, 2.0, 3.0, -kEndless});
  const auto slopes = [&](auto f, int k) {
    return k == 0 ? grad([&](Tensor t) { return sum(f(t, y)); })(x).to_vector()
                  : grad([&](Tensor t) { return sum(f(x, t)); })(y).to_vector();
  };
  const auto larger = [](Tensor a, Tensor b) { return maximum(a, b); };
  const auto smaller = [](Tensor a, Tensor b) { return minimum(a, b); };
  EXPECT_EQ(slopes(larger, 0),
            (std::vector<double>{1, 1, 1, 0.5, 0, 1}));  // neither is beaten by a NaN, as in torch
  EXPECT_EQ(slopes(larger, 1), (std::vector<double>{1, 1, 1, 0.5, 1, 0}));
  EXPECT_EQ(slopes(smaller, 0), (std::vector<double>{1, 1, 1, 0.5, 1, 0}));
  EXPECT_EQ(slopes(smaller, 1), (std::vector<double>{1, 1, 1, 0.5, 0, 1}));
  EXPECT_EQ(grad([](Tensor t) { return sum(clip(t, 0.0, 1.0)); })(tensor({kMissing, 0.5, 2.0}))
                .to_vector(),
            (std::vector<double>{1, 1, 0}));
}

TEST(NaN, ThatAScatterChoosesTakesItsDerivative) {
  const Tensor at = tensor<std::int64_t>({0, 0, 1, 1, 2});
  const Tensor x = tensor({0.0, 0.0, kMissing}), u = tensor({1.0, kMissing, kMissing, 4.0, 7.0});
  for (auto f : {scatter_max, scatter_min}) {
    EXPECT_EQ(grad([&](Tensor t) { return sum(f(x, at, t, 0)); })(u).to_vector(),
              (std::vector<double>{0, 1, 1, 0, 0}));
    EXPECT_EQ(grad([&](Tensor t) { return sum(f(t, at, u, 0)); })(x).to_vector(),
              (std::vector<double>{0, 0, 1}));
  }
  for (auto f : {segment_max, segment_min})
    EXPECT_EQ(grad([&](Tensor t) { return sum(f(t, at, 3)); })(u).to_vector(),
              (std::vector<double>{0, 1, 1, 0, 1}));
}

TEST(NaN, ThatOrderChoosesTakesItsDerivative) {
  const Tensor x = tensor({1.0, kMissing, 5.0}), w = tensor({1.0, 10.0, 100.0});
  EXPECT_EQ(grad([&](Tensor t) { return sum(w * cummax(t)); })(x).to_vector(),
            (std::vector<double>{1, 110, 0}));
  EXPECT_EQ(grad([&](Tensor t) { return sum(w * cummin(t)); })(x).to_vector(),
            (std::vector<double>{1, 110, 0}));
  EXPECT_EQ(grad([&](Tensor t) { return sum(w * sort(t)); })(x).to_vector(),
            (std::vector<double>{1, 100, 10}));  // NaN is last
  EXPECT_EQ(grad([&](Tensor t) { return sum(w * sort(t, -1, true)); })(x).to_vector(),
            (std::vector<double>{10, 100, 1}));
  EXPECT_EQ(grad([&](Tensor t) { return sum(window_max(t, {.size = {2}})); })(x).to_vector(),
            (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(argmax(x, 0).item<std::int64_t>(), 1);
  EXPECT_EQ(argmin(x, 0).item<std::int64_t>(), 1);
}

// A solution that is NaN or overflows is no exact one; other columns are.
TEST(NaN, DenseFactorsSayWhereASolutionIsNotFinite) {
  for (const LinearSolverPtr& solver : {dense_lu(), dense_cholesky()}) {
    const auto reason = [&](const Tensor& a, const Tensor& b) {
      return static_cast<SolveReason>(linear_solve(LinearOperator::dense(a), b, {.solver = solver})
                                          .reason.item<std::int32_t>());
    };
    EXPECT_EQ(reason(eye(2), tensor({std::nan(""), 1.0})), SolveReason::not_finite);
    EXPECT_EQ(reason(1e-300 * eye(2), full({2}, 1e10)), SolveReason::not_finite);
    EXPECT_EQ(reason(1e-300 * eye(2, Dtype::c128), full({2}, 1e10)), SolveReason::not_finite);
    EXPECT_EQ(reason(1e-300 * eye(2), ones({2, 40})), SolveReason::exact);
  }
}

}  // namespace
}  // namespace tessera
