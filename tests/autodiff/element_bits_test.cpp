// SPDX-License-Identifier: Apache-2.0
//
// An element-wise result follows from its own operands alone: in the middle of a vector, in the
// rest behind the last one, in a strided view and by itself an element has the same bits. Complex
// products and quotients have those of their formulas, each step rounded.
#include "same_bits.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <random>

namespace tessera {
namespace {

constexpr Index kMany = 67;  // vectors of any width, and a rest

Tensor drawn(Dtype type, unsigned seed, Index n = kMany) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  std::vector<double> parts(static_cast<std::size_t>(2 * n));
  for (double& x : parts) x = normal(rng);
  const Tensor both = from_span<double>(parts, {2, n});
  return is_complex(type) ? cast(complex(select(both, 0, 0), select(both, 0, 1)), type)
                          : cast(select(both, 0, 0), type);
}
Tensor element(const Tensor& x, Index k) { return slice(x, {k}, {k + 1}); }

using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;
struct Named {
  const char* name;
  Binary f;
};
const Named kElementWise[] = {
    {"product", [](const Tensor& x, const Tensor& y) { return x * y; }},
    {"quotient", [](const Tensor& x, const Tensor& y) { return x / y; }},
    {"square", [](const Tensor& x, const Tensor&) { return square(x); }},
    {"cube", [](const Tensor& x, const Tensor&) { return pow(x, 3); }},
    {"reciprocal", [](const Tensor& x, const Tensor&) { return pow(x, -1); }},
    {"power", [](const Tensor& x, const Tensor& y) { return pow(abs(x), y); }},
    {"exp", [](const Tensor& x, const Tensor&) { return exp(x); }},
    {"log", [](const Tensor& x, const Tensor&) { return log(x * x); }},
    {"sqrt", [](const Tensor& x, const Tensor&) { return sqrt(x * x); }},
    {"sin", [](const Tensor& x, const Tensor&) { return sin(x); }},
    {"tanh", [](const Tensor& x, const Tensor&) { return tanh(x); }},
    {"logistic", [](const Tensor& x, const Tensor&) { return logistic(x); }},
    {"joined", [](const Tensor& x, const Tensor& y) { return (x * y + x) * conj(y) / (x - 3.0); }},
};

TEST(ElementBits, AreThoseThatTheElementHasAlone) {
  for (Dtype type : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    const Tensor x = drawn(type, 1), y = drawn(type, 2);
    const Tensor wide_x = stack({x, y}, 1), wide_y = stack({y, x}, 1);  // every second one
    for (const auto& [name, f] : kElementWise) {
      const Tensor all = f(x, y), strided = f(select(wide_x, 1, 0), select(wide_y, 1, 0)),
                   planned = jit(f)(x, y);
      EXPECT_TRUE(same_bits(all, strided)) << name << " of " << name_of(type) << ", strided";
      EXPECT_TRUE(same_bits(all, planned)) << name << " of " << name_of(type) << ", planned";
      for (Index k = 0; k < kMany; ++k)
        EXPECT_TRUE(same_bits(element(all, k), f(element(x, k), element(y, k))))
            << name << " of " << name_of(type) << ", element " << k;
    }
  }
}

template <class R>
void expect_rounded_steps(Dtype type) {
  const Tensor x = drawn(type, 3), y = drawn(type, 4);
  const auto a = real(x).to_vector<R>(), b = imag(x).to_vector<R>(), c = real(y).to_vector<R>(),
             d = imag(y).to_vector<R>();
  const Tensor product = x * y, quotient = x / y,
               sums = sum_product(reshape(x, {1, kMany}), reshape(y, {1, kMany}), {0});
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Index at = static_cast<Index>(k);
    volatile R ac = a[k] * c[k], bd = b[k] * d[k], ad = a[k] * d[k], bc = b[k] * c[k];
    const R re = ac - bd, im = ad + bc;
    for (const Tensor& p : {product, sums}) {
      EXPECT_EQ(real(element(p, at)).to_vector<R>()[0], re) << k;
      EXPECT_EQ(imag(element(p, at)).to_vector<R>()[0], im) << k;
    }
    // Smith (1962): by the larger part of the divisor.
    const bool tall = std::abs(c[k]) < std::abs(d[k]);
    const R big = tall ? d[k] : c[k], small = tall ? c[k] : d[k];
    volatile R r = small / big, small_r = small * r, ar = a[k] * r, br = b[k] * r;
    volatile R den = big + small_r, up = tall ? ar + b[k] : a[k] + br,
               right = tall ? br - a[k] : b[k] - ar;
    EXPECT_EQ(real(element(quotient, at)).to_vector<R>()[0], up / den) << k;
    EXPECT_EQ(imag(element(quotient, at)).to_vector<R>()[0], right / den) << k;
  }
}
TEST(ElementBits, OfComplexProductsAndQuotientsAreThoseOfRoundedSteps) {
  expect_rounded_steps<float>(Dtype::c64);
  expect_rounded_steps<double>(Dtype::c128);
}

// A plan may join a product with the sum behind it.
TEST(ElementBits, OfSumsOfComplexProductsAreThoseOfTheProductsSummed) {
  for (Dtype type : {Dtype::c64, Dtype::c128})
    for (Index rows : {1, 2, 3, 9, 67})
      for (Index columns : {1, 2, 3, 5, 67}) {
        const Tensor x = reshape(drawn(type, 5, rows * columns), {rows, columns}),
                     y = reshape(drawn(type, 6, rows * columns), {rows, columns});
        for (const Tensor& other : {x, y}) {
          const Tensor apart = sum(x * other, {0});
          EXPECT_TRUE(same_bits(apart, sum_product(x, other, {0}))) << rows << " x " << columns;
          EXPECT_TRUE(same_bits(apart, jit([](const Tensor& a, const Tensor& b) {
                                  return sum(a * b, {0});
                                })(x, other)))
              << rows << " x " << columns;
        }
      }
}

}  // namespace
}  // namespace tessera
