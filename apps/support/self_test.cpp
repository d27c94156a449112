// SPDX-License-Identifier: Apache-2.0
#include "support/self_test.h"

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/tensor.h"

#include <cmath>

namespace tessera::apps {
namespace {

constexpr Index kPoints = 10007, kSize = 61;

double relative(double got, long double expected) {
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) /
                             std::fabs(expected));
}

/// sum exp(-x) sin(x)^2 over 10,007 points: element-wise kernels and the fixed-order sum. The terms
/// are positive, so the error is that of the functions (1 ulp each, four of them) and of a pairwise
/// or blocked sum (some ulp).
SelfTest elementwise_and_sum() {
  const Tensor x = linspace(0, 3, kPoints);
  const double got = sum(exp(-x) * square(sin(x))).item();
  long double expected = 0;
  for (const double v : x.to_vector())
    expected += std::exp(-static_cast<long double>(v)) *
                std::pow(std::sin(static_cast<long double>(v)), 2.0L);
  return {"engine sums", relative(got, expected), 1e-14};
}

/// A product of two 61 x 61 matrices with positive elements: error at most n ulp by the standard
/// bound.
SelfTest matrix_product() {
  std::vector<double> a(kSize * kSize), b(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = 1.0 / static_cast<double>(1 + i % 97);
    b[i] = 1.0 / static_cast<double>(1 + i % 89);
  }
  const std::vector<double> got =
      matmul(tensor(a, {kSize, kSize}), tensor(b, {kSize, kSize})).to_vector();
  double worst = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      long double expected = 0;
      for (std::size_t k = 0; k < kSize; ++k)
        expected += static_cast<long double>(a[i * kSize + k]) * b[k * kSize + j];
      const double error = relative(got[i * kSize + j], expected);
      worst = error <= worst ? worst : error;  // a NaN stays
    }
  }
  return {"engine matmul", worst, 61 * 2.3e-16};
}

/// f = sum exp(sin x): the gradient cos(x) exp(sin x), and the Hessian times x, by hand. Each
/// element is a product of at most four functions with 1 ulp each.
SelfTest derivatives() {
  const auto f = [](Tensor x) { return sum(exp(sin(x))); };
  const Tensor x = linspace(0.1, 1.4, 101);  // away from the zeros of both derivatives' factors
  const std::vector<double> at = x.to_vector(), gradient = grad(f)(x).to_vector(),
                            product = hvp(f, x, x).to_vector();
  double worst = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const long double v = at[i], s = std::sin(v), c = std::cos(v);
    // cos^2 - sin has a zero near 0.67: the error of its product is measured against the terms.
    const long double hessian = (c * c - s) * std::exp(s), scale = (c * c + s) * std::exp(s) * v;
    const double g = relative(gradient[i], c * std::exp(s));
    const double h = static_cast<double>(std::fabs(product[i] - hessian * v) / scale);
    worst = g <= worst ? worst : g;
    worst = h <= worst ? worst : h;
  }
  return {"engine gradient", worst, 2e-15};
}

}  // namespace

std::vector<SelfTest> run_self_tests() {
  return {elementwise_and_sum(), matrix_product(), derivatives()};
}

}  // namespace tessera::apps
