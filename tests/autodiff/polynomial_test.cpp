// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/polynomial.h"

#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::largest;

TEST(Polynomial, ValuesDerivativesAndProductsByHand) {
  const Tensor p = tensor({2.0, -3.0, 0.0, 1.0}), x = tensor({0.0, 1.0, -2.0});  // 2 - 3x + x^3
  EXPECT_EQ(polyval(p, x).to_vector(), (std::vector<double>{2, 0, 0}));
  EXPECT_EQ(polyval(p, 3.0).item(), 20);
  EXPECT_EQ(polyval(tensor({5.0}), x).to_vector(), (std::vector<double>{5, 5, 5}));
  EXPECT_EQ(polyval(tensor({1.0, 1.0, 0.0, 2.0}, {2, 2}), tensor({3.0, 4.0})).to_vector(),
            (std::vector<double>{4, 8}));  // rows of coefficients
  EXPECT_EQ(polyder(p).to_vector(), (std::vector<double>{-3, 0, 3}));
  EXPECT_EQ(polyder(tensor({5.0})).to_vector(), (std::vector<double>{0}));
  EXPECT_EQ(polyder(polyint(p)).to_vector(), p.to_vector());
  EXPECT_EQ(polymul(tensor({1.0, 1.0}), tensor({-1.0, 0.0, 2.0})).to_vector(),
            (std::vector<double>{-1, -1, 2, 2}));
  EXPECT_EQ(polyval(p, c128(0, 1)).item<c128>(), c128(2, -4));
  EXPECT_THROW(polyval(Tensor(1.0), x), Error);
}

TEST(Polynomial, DerivativesOfValues) {
  const auto f = [](Tensor c, Tensor x) { return polyval(c, x); };
  const std::tuple at(tensor({0.4, -1.0, 0.3, 0.7}), tensor({0.2, -0.9, 1.4}));
  const CheckReport g = gradcheck(f, at, {.order = 2});
  EXPECT_TRUE(g) << to_string(g);
  const CheckReport j =
      jetcheck(f, at, std::tuple(tensor({1.0, 0.5, -0.2, 0.1}), tensor({0.3, 0.6, -1.0})), 3);
  EXPECT_TRUE(j) << to_string(j);
  const CheckReport v = vmap_check(f, at);
  EXPECT_TRUE(v) << to_string(v);
}

TEST(Polynomial, FitFindsThePolynomialThatMadeTheData) {
  const Tensor x = linspace(-300.0, 500.0, 20),
               c = tensor({1.0, 2e-2, -3e-5, 4e-8, 1.0, 0.0, 0.0, -2e-8}, {2, 4});
  const Tensor y = polyval(expand_dims(c, 1), x);
  EXPECT_LE(
      largest(polyfit(x, y, 3) / where(equal(c, 0.0), 1.0, c) - where(equal(c, 0.0), 0.0, 1.0)),
      1e-11);
  EXPECT_LE(largest(polyfit(x, select(y, 0, 0), 3) - select(polyfit(x, y, 3), 0, 0)), 1e-14);
  // The residual of a fit is orthogonal to all powers.
  const Tensor u = linspace(-1.0, 1.0, 15), rough = abs(u - 0.2),
               left = rough - polyval(polyfit(u, rough, 4), u);
  for (int k = 0; k <= 4; ++k) EXPECT_NEAR(sum(left * pow(u, k)).item(), 0, 1e-14);
  const CheckReport r =
      gradcheck([](Tensor a, Tensor b) { return polyfit(a, b, 2); },
                std::tuple(linspace(-1.0, 1.0, 6), linspace(0.3, 2.0, 6) * linspace(1.0, 2.0, 6)),
                {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
  EXPECT_THROW(polyfit(x, y, 20), Error);
}

TEST(Polynomial, RootsOfKnownPolynomials) {
  const Tensor p = polymul(polymul(tensor({-1.0, 1.0}), tensor({2.0, 1.0})),
                           tensor({5.0, -2.0, 1.0}));  // 1, -2, 1 +- 2i
  const auto r = roots(3.0 * p).to_vector<c128>();
  const c128 want[] = {-2.0, {1, -2}, 1.0, {1, 2}};
  for (const c128& w : want) {
    double nearest = INFINITY;
    for (const c128& z : r) nearest = std::min(nearest, std::abs(z - w));
    EXPECT_LE(nearest, 1e-14) << w;
  }
  EXPECT_EQ(roots(tensor({2.0})).size(), 0);
  EXPECT_LE(largest(roots(tensor({6.0, -2.0})) - c128(3, 0)), 0);
  EXPECT_THROW(roots(tensor({1.0, 2.0, 0.0})), Error);
}

TEST(Polynomial, RootsMoveAsTheImplicitFunctionSays) {
  // r of a + b r + r^2: by the closed form, to third order.
  const auto smaller = [](Tensor c) {
    return real(select(roots(concatenate({c, ones({1})})), 0, 0));
  };
  const auto closed = [](Tensor c) {
    const Tensor a = select(c, 0, 0), b = select(c, 0, 1);
    return 0.5 * (neg(b) - sqrt(square(b) - 4.0 * a));
  };
  const Tensor c = tensor({0.7, -2.3});
  EXPECT_LE(largest(grad(smaller)(c) - grad(closed)(c)), 1e-14);
  EXPECT_LE(largest(hessian(smaller)(c) - hessian(closed)(c)), 1e-13);
  EXPECT_LE(largest(jacfwd(hessian(smaller))(c) - jacfwd(hessian(closed))(c)), 1e-12);
  const Tensor both = tensor({0.7, -2.3, 1.0, 0.2, 1.5, 1.0}, {2, 3});
  EXPECT_LE(largest(vmap([](Tensor x) { return roots(x); })(both) - roots(both)), 0);
  const CheckReport z = transpose_check(
      [](Tensor x) { return roots(x); },
      complex(tensor({0.3, 1.0, -0.4, 2.0}), tensor({0.1, 0.5, 0.9, 0.3})), {.order = 2});
  EXPECT_TRUE(z) << to_string(z);
}

}  // namespace
}  // namespace tessera
