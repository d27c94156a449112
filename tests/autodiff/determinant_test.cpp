// SPDX-License-Identifier: Apache-2.0
//
// The determinant is a polynomial of the entries: its derivatives exist for matrices of any rank,
// to any order, and are those of its expansion by rows, here written out in products alone. What
// has no derivative there is NaN for that matrix only.
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

namespace tessera {
namespace {

using testing::difference;
using testing::largest;

/// det [..., n, n] by Laplace's expansion, row after row over sets of columns.
Tensor expanded_det(const Tensor& a) {
  const Index n = a.dim(-1);
  std::map<unsigned, Tensor> minors{
      {0u, ones({}, a.dtype())}};  // of the first rows, by their columns
  for (Index i = 0; i < n; ++i) {
    std::map<unsigned, Tensor> next;
    for (const auto& [columns, minor] : minors)
      for (Index j = 0; j < n; ++j) {
        if (columns >> j & 1) continue;
        const Tensor term = select(select(a, -2, i), -1, j) * minor;
        Tensor& to = next[columns | 1u << j];
        const bool odd = std::popcount(columns >> j) & 1;
        to = !to.defined() ? (odd ? neg(term) : term) : odd ? to - term : to + term;
      }
    minors = std::move(next);
  }
  return minors.begin()->second;
}
Tensor random_entries(std::uint64_t seed, const Shape& s, Dtype t = Dtype::f64) {
  const Tensor x = normal(random_key(seed), s);
  return cast(is_complex(t) ? complex(x, normal(random_key(seed + 500), s)) : x, t);
}
/// Rank r: small integers, so that it is exact, or a product of noise.
Tensor of_rank(Index n, Index r, Dtype t, bool exact) {
  Tensor left = random_entries(10 + n + 7 * r, {n, std::max<Index>(r, 1)}, t),
         right = random_entries(40 + n + 7 * r, {std::max<Index>(r, 1), n}, t);
  if (exact) {
    const auto whole = [](const Tensor& x) {
      return is_complex(x.dtype()) ? complex(round(real(x)), round(imag(x))) : round(x);
    };
    left = whole(left * 1.5), right = whole(right * 1.5);
  }
  return r == 0 ? zeros({n, n}, t) : matmul(left, right);
}

TEST(Determinant, DerivativesOfMatricesOfAnyRankAreThoseOfTheExpansion) {
  for (Dtype type : {Dtype::f64, Dtype::c128})
    for (Index n = 1; n <= 6; ++n)
      for (Index r : {n, n - 1, n - 2, Index{1}, Index{0}})
        for (bool exact : {true, false}) {
          if (r < 0) continue;
          const Tensor a = of_rank(n, r, type, exact), e = random_entries(3, {n, n}, type),
                       g = random_entries(4, {n, n}, type), c = random_entries(5, {}, type);
          const auto loss = [&](auto f) {
            return [f, c](Tensor x) { return sum(real(c * f(x))); };
          };
          const auto mine = [](Tensor x) { return det(x); };
          const auto plain = [](Tensor x) { return expanded_det(x); };
          // Rounding: n! products of n entries each; derivatives put entries of e and g in their
          // places.
          const double size = std::max({largest(a), largest(e), largest(g), 1.0}),
                       tolerance = 1e-15 * std::tgamma(n + 1.0) * std::pow(size, n) * 10;
          const auto what = [&] {
            return std::string(name_of(type)) + " n " + std::to_string(n) + " rank " +
                   std::to_string(r) + (exact ? " exact" : "");
          };
          EXPECT_LE(difference(mine(a), plain(a)), tolerance) << what();
          EXPECT_LE(difference(grad(loss(mine))(a), grad(loss(plain))(a)), tolerance) << what();
          EXPECT_LE(difference(jvp(mine, a, e).second, jvp(plain, a, e).second), tolerance)
              << what();
          EXPECT_LE(difference(hvp(loss(mine), a, e), hvp(loss(plain), a, e)), tolerance) << what();
          const auto third = [&](auto f) {
            return jvp([&](Tensor x) { return hvp(loss(f), x, e); }, a, g).second;
          };
          EXPECT_LE(difference(third(mine), third(plain)), tolerance * 10) << what();
          const auto back = [&](auto f) {
            return grad([&](Tensor x) { return sum(real(conj(g) * hvp(loss(f), x, e))); })(a);
          };
          EXPECT_LE(difference(back(mine), back(plain)), tolerance * 10) << what();
          if (n > 5) continue;
          const std::vector<Tensor> curve{a, e, g};
          const auto y = jet(mine, static_cast<int>(n) + 1)(curve),
                     z = jet(plain, static_cast<int>(n) + 1)(curve);
          for (Index k = 0; k <= n + 1; ++k)
            EXPECT_LE(difference(y[k], z[k]), tolerance * 100) << what() << " coefficient " << k;
        }
}

TEST(Determinant, GradientIsTheCofactorMatrix) {
  // Of rank 2 in 3 dimensions: adj = minors by hand. Of rank 1: none is left but in the Hessian.
  const Tensor two = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}, {3, 3});
  const auto f = [](Tensor x) { return det(x); };
  EXPECT_LE(
      difference(grad(f)(two), tensor({-3.0, 6.0, -3.0, 6.0, -12.0, 6.0, -3.0, 6.0, -3.0}, {3, 3})),
      1e-13);
  EXPECT_EQ(largest(grad(f)(zeros({3, 3}))), 0);
  EXPECT_EQ(largest(hessian(f)(zeros({3, 3}))), 0);
  EXPECT_EQ(grad(f)(full({1, 1}, 0)).item(), 1);
  EXPECT_LE(difference(grad(f)(ones({2, 2})), tensor({1.0, -1.0, -1.0, 1.0}, {2, 2})), 0);
  // The Hessian of ones [2, 2] pairs 00 with 11 and 01 with 10.
  EXPECT_LE(difference(reshape(hessian(f)(ones({2, 2})), {4, 4}),
                       tensor({0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0,
                               0.0, 0.0, 0.0},
                              {4, 4})),
            0);
  // det(t 1) = t^n, and det(1 + t E) = the characteristic polynomial of a nilpotent E: 1.
  for (Index n : {2, 5, 7}) {
    const auto y = jet(f, 8)(zeros({n, n}), eye(n));
    for (Index k = 0; k <= 8; ++k) EXPECT_NEAR(y[k].item(), k == n, 1e-14) << n << " " << k;
  }
  EXPECT_NEAR(laplacian(f)(random_entries(9, {4, 4})).item(), 0,
              1e-13);  // it is linear in every entry
  // Far from 1 in size: entries near 1e80 and 1e-80.
  for (double s : {1e80, 1e-80})
    EXPECT_LE(largest(grad(f)(s * two) / (s * s) - grad(f)(two)), 1e-12);
}

TEST(Determinant, LargeMatricesKeepTheirDigits) {
  // d det = det A^-T of well conditioned ones; singular ones by U diag(products) V^T.
  for (Index n : {8, 40}) {
    const Tensor q = qr(random_entries(1, {n, n})).q, p = qr(random_entries(2, {n, n})).q;
    Tensor s = linspace(0.5, 1.5, n);
    const Tensor a = matmul(q * s, transpose(p)), e = random_entries(3, {n, n}), x = solve(a, e);
    const auto f = [](Tensor u) { return det(u); };
    const Tensor d = det(a);
    EXPECT_LE(largest(grad(f)(a) - d * transpose(inv(a))), 1e-13 * n * largest(d * inv(a)));
    const Tensor second = d * (trace(x) * transpose(inv(a)) - transpose(matmul(x, inv(a))));
    EXPECT_LE(largest(hvp(f, a, e) - second), 1e-12 * n * largest(second));
    s = s * cast(not_equal(arange(n), 3), Dtype::f64);
    const Tensor product = prod(where(equal(s, 0.0), 1.0, s)),
                 hit = cast(equal(s, 0.0), Dtype::f64);
    const Tensor want = product * det(q) * det(p) * matmul(q * hit, transpose(p));
    EXPECT_LE(largest(grad(f)(matmul(q * s, transpose(p))) - want), 1e-13 * n * largest(want));
  }
}

TEST(Determinant, OneSingularMatrixOfABatchConcernsNoOther) {
  for (Dtype type : {Dtype::f32, Dtype::f64, Dtype::c128})
    for (Index n : {2, 3, 5}) {
      const Tensor a = random_entries(1, {n, n}, type), b = ones({n, n}, type),
                   c = random_entries(2, {n, n}, type);
      const Tensor batch = stack({a, b, c, zeros({n, n}, type)});
      const auto total = [](Tensor x) { return sum(real(det(x))); };
      const Tensor g = grad(total)(batch);
      const double tolerance = type == Dtype::f32 ? 1e-4 : 1e-12;
      EXPECT_LE(largest(select(g, 0, 0) - grad(total)(a)), tolerance);
      EXPECT_LE(
          largest(select(g, 0, 1) - grad([](Tensor x) { return sum(real(expanded_det(x))); })(b)),
          tolerance);
      EXPECT_LE(largest(vmap(grad(total))(batch) - g), tolerance);
      EXPECT_LE(largest(jit(grad(total))(batch) - g), 0);
      EXPECT_EQ(g.dtype(), type);
      const auto log_size = [](Tensor x) { return sum(slogdet(x).log_abs); };
      const Tensor l = grad(log_size)(batch);
      EXPECT_LE(largest(select(l, 0, 0) - adjoint(inv(a))), tolerance * 10);
      EXPECT_LE(largest(select(l, 0, 2) - adjoint(inv(c))), tolerance * 10);
      const auto none_finite = [](const Tensor& x) { return !any(is_finite(x)).item<bool>(); };
      EXPECT_TRUE(none_finite(select(l, 0, 1)));
      EXPECT_TRUE(none_finite(select(l, 0, 3)));
      const Tensor direction = random_entries(7, batch.shape(), type);
      const auto factors = [](Tensor x) { return lu(x).u + lu(x).l; };
      const Tensor t = jvp(factors, batch, direction).second,
                   alone = jvp(factors, a, select(direction, 0, 0)).second;
      EXPECT_LE(largest(select(t, 0, 0) - alone), tolerance * 10);
      EXPECT_FALSE(all(is_finite(select(t, 0, 1))).item<bool>());
      const Tensor h = hvp(log_size, batch, direction);
      EXPECT_TRUE(all(is_finite(select(h, 0, 0))).item<bool>());
      EXPECT_TRUE(all(is_finite(select(h, 0, 2))).item<bool>());
      EXPECT_TRUE(none_finite(select(h, 0, 1)));
      // QR of dependent columns has no derivative either.
      const auto triangle = [](Tensor x) { return qr(x).r; };
      const Tensor r = jvp(triangle, batch, direction).second;
      EXPECT_LE(largest(select(r, 0, 0) - jvp(triangle, a, select(direction, 0, 0)).second),
                tolerance * 10);
      EXPECT_FALSE(all(is_finite(select(r, 0, 3))).item<bool>());
    }
}

TEST(Determinant, TransposesAreAdjoints) {
  for (Index n : {3, 5}) {
    const auto f = [](Tensor x) { return det(x); };
    const CheckReport z = transpose_check(
        f, stack({random_entries(1, {n, n}, Dtype::c128), of_rank(n, n - 2, Dtype::c128, false)}),
        {.order = 2});
    EXPECT_TRUE(z) << to_string(z);
    const CheckReport v = vmap_check(f, of_rank(n, n - 1, Dtype::f64, false), {.order = 2});
    EXPECT_TRUE(v) << to_string(v);
    const CheckReport j =
        jetcheck(f, of_rank(n, n - 1, Dtype::f64, true), random_entries(8, {n, n}), 4);
    EXPECT_TRUE(j) << to_string(j);
  }
}

}  // namespace
}  // namespace tessera
