// SPDX-License-Identifier: Apache-2.0
//
// Functions of Hermitian matrices whose eigenvalues are exactly equal, to third order, against
// polynomials in products of matrices; and what eigh says there.
#include "tessera/autodiff/ops/spectral.h"

#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::relative_difference;

Tensor noise_4x4(std::uint64_t seed, bool complex) {
  const Tensor x = normal(random_key(seed), {4, 4});
  return complex ? tessera::complex(x, normal(random_key(seed + 100), {4, 4})) : x;
}
/// Eigenvalues 2, 2, 2, 5 exactly to rounding, in a basis that is not that of the axes; and 2 times
/// the identity.
std::vector<Tensor> degenerate(bool complex) {
  const Tensor q = qr(noise_4x4(1, complex)).q;
  const Tensor w = tensor({2.0, 2.0, 2.0, 5.0});
  const Dtype t = complex ? Dtype::c128 : Dtype::f64;
  return {matmul(q * cast(w, t), adjoint(q)), 2.0 * eye(4, t), cast(diag(w), t)};
}

TEST(Spectral, MatrixFunctionsToThirdOrderAtEqualEigenvalues) {
  // power(3) is A A A, power(-1) the inverse, and exp(log A) = A: each by products alone on the
  // other side.
  for (bool complex : {false, true})
    for (const Tensor& a : degenerate(complex)) {
      const Tensor c = noise_4x4(2, complex), t = noise_4x4(3, complex), u = noise_4x4(4, complex);
      const auto herm = [](const Tensor& x) { return 0.5 * (x + adjoint(x)); };
      const auto loss = [&](auto g) {
        return [&, g](Tensor x) { return sum(real(conj(c) * g(x))); };
      };
      const std::pair<std::function<Tensor(Tensor)>, std::function<Tensor(Tensor)>> pairs[] = {
          {[](Tensor x) { return hermitian_function(x, SpectralFunction::power(3)); },
           [&](Tensor x) { return matmul(herm(x), matmul(herm(x), herm(x))); }},
          {[](Tensor x) { return hermitian_function(x, SpectralFunction::power(-1)); },
           [&](Tensor x) { return inv(herm(x)); }},
          {[](Tensor x) {
             return hermitian_function(hermitian_function(x, SpectralFunction::log()),
                                       SpectralFunction::exp());
           },
           [&](Tensor x) { return herm(x); }},
          {[](Tensor x) {
             const Tensor r = hermitian_function(x, SpectralFunction::power(0.5));
             return matmul(r, r);
           },
           [&](Tensor x) { return herm(x); }}};
      for (const auto& [mine, plain] : pairs) {
        EXPECT_LE(relative_difference(mine(a), plain(a)), 1e-13);
        EXPECT_LE(relative_difference(grad(loss(mine))(a), grad(loss(plain))(a)), 1e-12);
        EXPECT_LE(relative_difference(hvp(loss(mine), a, t), hvp(loss(plain), a, t)), 1e-11);
        const auto third = [&](auto g) {
          return jvp([&](Tensor x) { return hvp(loss(g), x, t); }, a, u).second;
        };
        EXPECT_LE(relative_difference(third(mine), third(plain)), 1e-10);
        const auto back = [&](auto g) {
          return grad([&](Tensor x) { return sum(real(conj(u) * hvp(loss(g), x, t))); })(a);
        };
        EXPECT_LE(relative_difference(back(mine), back(plain)), 1e-10);
      }
    }
}

TEST(Spectral, NearlyEqualEigenvaluesLoseNoDigits) {
  // The second derivative of tr exp(A) on 2 x 2 diagonals at gaps from 0 to 3: |t01|^2 (e^a - e^b)
  // / (a - b) in each order.
  for (double gap : {0.0, 1e-15, 1e-9, 1e-5, 1e-2, 0.9, 1.1, 3.0}) {
    const Tensor a = diag(tensor({1.0, 1.0 + gap})), t = tensor({0.0, 1.0, 1.0, 0.0}, {2, 2});
    const auto f = [](Tensor x) { return trace(hermitian_function(x, SpectralFunction::exp())); };
    const double exact = 2 * std::exp(1.0) * (gap == 0 ? 1 : std::expm1(gap) / gap);
    EXPECT_NEAR(sum(t * hvp(f, a, t)).item(), exact, 1e-13 * exact) << gap;
  }
}

TEST(Spectral, DerivativesHaveTheSizeOfTheMatrix) {
  // g(c A) = c^p g(A), or g(A) + log c: derivatives of order k in units of c^(p-k), also where the
  // powers c^(+-32) of a series are beyond double precision. All pairs of nodes are near each
  // other.
  const Tensor a = diag(tensor({1.0, 1.05, 1.2})), t = ones({3, 3});
  for (const auto& [g, p] :
       {std::pair(SpectralFunction::log(), 0.0), std::pair(SpectralFunction::power(0.5), 0.5),
        std::pair(SpectralFunction::power(-2), -2.0)}) {
    const auto f = [g = g](Tensor x) { return hermitian_function(x, g); };
    const auto first = [&](double c) { return jvp(f, c * a, c * t).second; };
    const auto second = [&](double c) {
      return jvp([&](Tensor x) { return jvp(f, x, c * t).second; }, c * a, c * t).second;
    };
    for (double c : {0x1p-90, 0x1p90}) {
      EXPECT_LE(relative_difference(first(c) / std::pow(c, p), first(1)), 1e-13) << p << ' ' << c;
      EXPECT_LE(relative_difference(second(c) / std::pow(c, p), second(1)), 1e-12) << p << ' ' << c;
    }
  }
}

TEST(Spectral, FirstDerivativesOfEighAtEqualEigenvaluesAreRightAndSecondOnesNaN) {
  for (const Tensor& a : degenerate(false)) {
    const auto by_eigh = [](Tensor x) { return sum(exp(eigh(x).values)); };
    const auto by_function = [](Tensor x) {
      return trace(hermitian_function(x, SpectralFunction::exp()));
    };
    EXPECT_LE(relative_difference(grad(by_eigh)(a), grad(by_function)(a)), 1e-13);
  }
  const Tensor a = diag(tensor({2.0, 2.0, 5.0})), t = ones({3, 3});
  // The projector on the pair of equal eigenvalues: dP = sum over the rest of v v^H dA / gap + its
  // adjoint.
  const auto projector = [](Tensor x) {
    const Tensor v = slice(eigh(x, Degenerate::zero).vectors, 1, 0, 2);
    return matmul(v, adjoint(v));
  };
  const double s = -1.0 / 3;
  EXPECT_LE(relative_difference(jvp(projector, a, t).second,
                                tensor({0.0, 0.0, s, 0.0, 0.0, s, s, s, 0.0}, {3, 3})),
            1e-14);
  const auto f = [](Tensor x) { return sum(exp(eigh(x).values)); };
  EXPECT_TRUE(std::isnan(sum(hvp(f, a, t)).item()));
  EXPECT_TRUE(std::isnan(
      sum(jvp([&](Tensor x) { return jvp(projector, x, t).second; }, a, t).second).item()));
  // Where all differ, they are numbers.
  const auto by_function = [](Tensor x) {
    return trace(hermitian_function(x, SpectralFunction::exp()));
  };
  EXPECT_LE(relative_difference(hvp(f, diag(tensor({2.0, 2.5, 5.0})), t),
                                hvp(by_function, diag(tensor({2.0, 2.5, 5.0})), t)),
            1e-12);
}

TEST(Spectral, FailuresNameTheMatrix) {
  try {
    hermitian_function(stack({eye(2), neg(eye(2))}), SpectralFunction::log());
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("matrix 1 of the batch of 2"), std::string::npos)
        << e.what();
  }
}

TEST(Spectral, HighPowersHaveTheDerivativesOfTheirProducts) {
  // Eigenvalues just within and beyond the radius of the series; the off-diagonal derivative is
  // (b^p - a^p) / (b - a).
  const Tensor swap = tensor({0.0, 1.0, 1.0, 0.0}, {2, 2});
  for (const double apart : {1e-6, 0.01, 0.03, 0.15, 0.29998, 0.4})
    for (const double p : {13.0, 40.0, 100.0, 200.0, 400.0, -30.0, -100.0, -200.0}) {
      const double a = 1 - apart / 2, b = 1 + apart / 2;
      const auto f = [p](const Tensor& x) {
        return hermitian_function(x, SpectralFunction::power(p));
      };
      const double got = jvp(f, diag(tensor({a, b})), swap).second.to_vector()[1];
      const long double low = a, high = b,
                        right = (std::pow(high, p) - std::pow(low, p)) / (high - low);
      // The recursion loses as many digits as the powers are alike; |p| roundings of each power.
      EXPECT_NEAR(got / static_cast<double>(right), 1, 1e-12) << "p = " << p << ", apart " << apart;
    }
}

}  // namespace
}  // namespace tessera
