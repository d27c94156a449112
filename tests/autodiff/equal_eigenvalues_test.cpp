// SPDX-License-Identifier: Apache-2.0
//
// Where eigenvalues or singular values are equal, derivatives of what is computed from the vectors
// are right or NaN, never another number: against functions of matrices written in products alone,
// and against Daleckii and Krein's divided differences.
#include "tensor_measures.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/matrix_functions.h"
#include "tessera/autodiff/ops/spectral.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tessera {
namespace {

using testing::largest;
using Function = std::function<Tensor(Tensor)>;

Tensor gaussian(std::uint64_t seed, const Shape& s, Dtype t) {
  const Tensor x = normal(random_key(seed), s);
  return cast(is_complex(t) ? complex(x, normal(random_key(seed + 100), s)) : x, t);
}
bool all_finite(const Tensor& x) { return all(is_finite(x)).item<bool>(); }
bool none_finite(const Tensor& x) { return !any(is_finite(x)).item<bool>(); }

/// NaN (or infinite), or within `tolerance` of the largest element: element by element.
::testing::AssertionResult right_or_nan(const Tensor& got, const Tensor& want, double tolerance) {
  const auto a = cast(got, Dtype::c128).to_vector<c128>(),
             b = cast(want, Dtype::c128).to_vector<c128>();
  const double scale = std::max(1.0, largest(want));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(std::abs(a[i])) && std::abs(a[i] - b[i]) > tolerance * scale)
      return ::testing::AssertionFailure()
             << "element " << i << " is " << a[i] << ", right is " << b[i];
  return ::testing::AssertionSuccess();
}

/// Values and vectors put together again, against the same in products: X in the decomposition's
/// symmetry.
struct Law {
  const char* name;
  Function by_vectors, plain;
};
Tensor columns(const Tensor& v, const Tensor& w) { return v * cast(expand_dims(w, -2), v.dtype()); }
Tensor hermitian(const Tensor& x) { return 0.5 * (x + adjoint(x)); }

std::vector<Law> laws(Degenerate d) {
  const auto eigh_of = [d](auto g) {
    return [d, g](Tensor x) {
      const Eigh e = eigh(x, d);
      return matmul(columns(e.vectors, g(e.values)), adjoint(e.vectors));
    };
  };
  const auto svd_of = [d](auto g) {
    return [d, g](Tensor x) {
      const SVD f = svd(x, d);
      return matmul(columns(f.u, g(f.s)), f.vh);
    };
  };
  return {
      {"exp by eigh", eigh_of([](Tensor w) { return exp(w); }),
       [](Tensor x) { return hermitian_function(x, SpectralFunction::exp()); }},
      {"square by eigh", eigh_of([](Tensor w) { return square(w); }),
       [](Tensor x) { return matmul(hermitian(x), hermitian(x)); }},
      {"itself by eigh", eigh_of([](Tensor w) { return w; }),
       [](Tensor x) { return hermitian(x); }},
      {"sum w^2 by eigh", [d](Tensor x) { return sum(square(eigh(x, d).values)); },
       [](Tensor x) { return real(trace(matmul(hermitian(x), hermitian(x)))); }},
      {"itself by svd", svd_of([](Tensor s) { return s; }), [](Tensor x) { return x; }},
      {"cube by svd", svd_of([](Tensor s) { return pow(s, 3); }),
       [](Tensor x) { return matmul(x, matmul(adjoint(x), x)); }},
      {"sum s^2 by svd", [d](Tensor x) { return sum(square(svd(x, d).s)); },
       [](Tensor x) { return real(sum(conj(x) * x)); }},
      {"square by eig",
       [d](Tensor x) {
         const Eig e = eig(x, d);
         const Tensor y = matmul(e.vectors * expand_dims(square(e.values), -2), adjoint(e.left));
         return is_complex(x.dtype()) ? y : real(y);
       },
       [](Tensor x) { return matmul(x, x); }},
      {"sum w^2 by eig",
       [d](Tensor x) {
         const Tensor y = sum(square(eig(x, d).values));
         return is_complex(x.dtype()) ? y : real(y);
       },
       [](Tensor x) { return trace(matmul(x, x)); }},
  };
}

/// The identity, one pair equal on the axes and in another basis, rank 1, nothing.
std::vector<std::pair<std::string, Tensor>> matrices(Dtype t) {
  const Tensor q = qr(gaussian(1, {4, 4}, t)).q, u = gaussian(2, {4, 1}, t);
  const Tensor pair = tensor({2.0, 2.0, 5.0, -1.0});
  return {{"identity", eye(4, t)},
          {"pair on axes", cast(diag(pair), t)},
          {"pair turned", matmul(columns(q, pair), adjoint(q))},
          {"rank 1", matmul(u, adjoint(u))},
          {"zero", zeros({4, 4}, t)},
          {"distinct", matmul(columns(q, tensor({2.0, 3.0, 5.0, -1.0})), adjoint(q))}};
}

TEST(EqualEigenvalues, DerivativesAreRightOrNaN) {
  for (Dtype t : {Dtype::f64, Dtype::c128, Dtype::f32})
    for (const auto& [matrix, a] : matrices(t))
      for (const Law& law : laws(Degenerate::nan)) {
        const Tensor e = gaussian(3, {4, 4}, t), g = gaussian(4, {4, 4}, t);
        const double tolerance = t == Dtype::f32 ? 3e-4 : 1e-11;
        const std::string what = std::string(law.name) + " of " + matrix + " " + name_of(t);
        const auto loss = [&](const Function& f) {
          return [&f, &g](Tensor x) {
            const Tensor y = f(x);
            return sum(y.ndim() ? real(conj(g) * y) : real(y));
          };
        };
        EXPECT_LE(largest(law.by_vectors(a) - law.plain(a)),
                  tolerance * std::max(1.0, largest(law.plain(a))))
            << what;
        const auto check = [&](const Tensor& got, const Tensor& want, double slack,
                               const char* which) {
          EXPECT_TRUE(right_or_nan(got, want, tolerance * slack)) << which << " of " << what;
          EXPECT_TRUE(matrix != "distinct" || t == Dtype::f32 || all_finite(got))
              << which << " of " << what;
        };
        check(jvp(law.by_vectors, a, e).second, jvp(law.plain, a, e).second, 1, "jvp");
        check(grad(loss(law.by_vectors))(a), grad(loss(law.plain))(a), 1, "grad");
        check(hvp(loss(law.by_vectors), a, e), hvp(loss(law.plain), a, e), 100, "hvp");
        const auto twice = [&](const Function& f) {
          return jvp([&](Tensor x) { return jvp(f, x, e).second; }, a, g).second;
        };
        check(twice(law.by_vectors), twice(law.plain), 100, "second jvp");
        if (t == Dtype::f32) continue;
        const auto y = jet(law.by_vectors, 3)(a, e), z = jet(law.plain, 3)(a, e);
        for (int k = 0; k <= 3; ++k)
          check(y[k], z[k], std::pow(10.0, k), ("jet " + std::to_string(k)).c_str());
      }
}

TEST(EqualEigenvalues, WhatIsNamedInTheLawsIsNaN) {
  // exp(A) at A = 1 moves by e dA, the polar factor by the skew part: through vectors NaN.
  const Tensor one = eye(3), e = gaussian(5, {3, 3}, Dtype::f64);
  const auto polar = [](Tensor x) {
    const SVD f = svd(x);
    return matmul(f.u, f.vh);
  };
  EXPECT_TRUE(none_finite(jvp(laws(Degenerate::nan)[0].by_vectors, one, e).second));
  EXPECT_TRUE(none_finite(jvp(polar, one, e).second));
  EXPECT_FALSE(all_finite(hvp([](Tensor x) { return sum(square(svd(x).s)); }, one, e)));
  EXPECT_FALSE(all_finite(hvp([](Tensor x) { return sum(real(square(eig(x).values))); }, one, e)));
  // First derivatives of sums over all eigenvalues exist.
  EXPECT_LE(largest(grad([](Tensor x) { return sum(square(svd(x).s)); })(one) - 2.0 * one), 1e-14);
  EXPECT_LE(
      largest(grad([](Tensor x) { return sum(real(square(eig(x).values))); })(one) - 2.0 * one),
      1e-14);
}

TEST(EqualEigenvalues, VectorsOfSingleEigenvaluesKeepTheirDerivatives) {
  // v of eigenvalue 5 beside a pair of equal ones: dv = sum_i v_i (v_i^H dA v) / (5 - w_i).
  const Tensor a = diag(tensor({2.0, 2.0, 5.0})), e = hermitian(gaussian(6, {3, 3}, Dtype::f64));
  const Tensor dv = jvp([](Tensor x) { return eigh(x).vectors; }, a, e).second;
  const auto m = e.to_vector();
  EXPECT_LE(largest(select(dv, 1, 2) - tensor({m[2] / 3, m[5] / 3, 0.0})), 1e-14);
  EXPECT_TRUE(none_finite(slice(slice(dv, 1, 0, 2), 0, 0, 2)));
  const auto second = jet([](Tensor x) { return eigh(x).values; }, 2)(a, e);
  EXPECT_NEAR(select(second[2], 0, 2).item(), (m[2] * m[2] + m[5] * m[5]) / 3,
              1e-14);  // Rayleigh and Schroedinger
  EXPECT_TRUE(none_finite(slice(second[2], 0, 0, 2)));
  // A batch: only the matrix that has equal ones.
  const Tensor batch = stack({a, diag(tensor({1.0, 2.0, 5.0}))});
  const auto f = [](Tensor x) { return sum(square(eigh(x).vectors) * tensor({1.0, 2.0, 3.0})); };
  const Tensor g = grad(f)(batch);
  EXPECT_TRUE(none_finite(select(g, 0, 0)));
  EXPECT_TRUE(all_finite(select(g, 0, 1)));
}

TEST(EqualEigenvalues, ZeroOnRequestIsRightForWhatDoesNotTurnInsideOfTheSpace) {
  for (Dtype t : {Dtype::f64, Dtype::c128}) {
    const Tensor q = qr(gaussian(1, {4, 4}, t)).q, e = gaussian(7, {4, 4}, t);
    for (const Tensor& a : {cast(diag(tensor({2.0, 2.0, 5.0, 6.0})), t),
                            matmul(columns(q, tensor({2.0, 2.0, 5.0, 6.0})), adjoint(q))}) {
      // Projector on the space of the pair, (A - 5) (A - 6) / 12 for these values: dP = sum over
      // outside v v^H dA P / gap + adjoint.
      const auto projector = [](Tensor x) {
        const Tensor v = slice(eigh(x, Degenerate::zero).vectors, 1, 0, 2);
        return matmul(v, adjoint(v));
      };
      const Eigh w = eigh(a);
      const Tensor p = projector(a), h = hermitian(e);
      Tensor want = zeros({4, 4}, t);
      for (int i : {2, 3}) {
        const Tensor v = slice(w.vectors, 1, i, i + 1),
                     outside = matmul(v, matmul(adjoint(v), matmul(h, p)));
        const double gap = i == 2 ? -3 : -4;
        want = want + (outside + adjoint(outside)) / gap;
      }
      EXPECT_LE(largest(jvp(projector, a, e).second - want), 1e-12);
      const auto loss = [&](Tensor x) { return sum(real(conj(e) * projector(x))); };
      EXPECT_TRUE(all_finite(grad(loss)(a)));
      EXPECT_FALSE(all_finite(hvp(loss, a, e)));  // zeros would make it wrong
      EXPECT_FALSE(all_finite(
          hvp([](Tensor x) { return sum(square(eigh(x, Degenerate::zero).values)); }, a, e)));
      // A A^H by the singular vectors alone: projectors too.
      const auto range = [](Tensor x) {
        const Tensor u = slice(svd(x, Degenerate::zero).u, 1, 0, 2);  // of 6 and 5
        return matmul(u, adjoint(u));
      };
      EXPECT_LE(largest(jvp(range, a, h).second + want), 1e-12);
      const auto spread = [](Tensor x) {
        return real(trace(
            matmul(eig(x, Degenerate::zero).vectors, adjoint(eig(x, Degenerate::zero).left))));
      };
      EXPECT_LE(largest(grad(spread)(a)), 1e-12);
    }
    EXPECT_TRUE(all_finite(
        grad([](Tensor x) { return sum(abs(svd(x, Degenerate::zero).u)); })(zeros({3, 2}, t))));
  }
  const Function second_of[] = {
      [](Tensor x) { return sum(square(svd(x, Degenerate::zero).s)); },
      [](Tensor x) { return sum(real(square(eig(x, Degenerate::zero).values))); }};
  for (const Function& f : second_of) EXPECT_FALSE(all_finite(hvp(f, eye(3), ones({3, 3}))));
  EXPECT_FALSE(all_finite(hvp(second_of[0], zeros({3, 1}), ones({3, 1}))));
}

TEST(EqualEigenvalues, JordanBlocksHaveNoVectorsToDifferentiate) {
  const Tensor jordan = tensor({2.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 2.0}, {3, 3}),
               e = gaussian(8, {3, 3}, Dtype::f64);
  for (Degenerate d : {Degenerate::nan, Degenerate::zero})
    for (const Law& law : laws(d)) {
      if (std::string(law.name).find("by eig") == std::string::npos ||
          std::string(law.name).find("by eigh") != std::string::npos)
        continue;
      EXPECT_TRUE(right_or_nan(jvp(law.by_vectors, jordan, e).second,
                               jvp(law.plain, jordan, e).second, 1e-11))
          << law.name;
      EXPECT_TRUE(right_or_nan(jet(law.by_vectors, 2)(jordan, e)[2],
                               jet(law.plain, 2)(jordan, e)[2], 1e-11))
          << law.name;
    }
}

// Copies of one oscillator in any basis, A = S (1 x J) S^-1 with the eigenvalues -i, i, -i, i, ...,
// which the order by real parts, 0 up to rounding, mixes; in an oblique basis they are further
// apart than rounding. Of A rounding leaves condition^2 eps.
TEST(EqualEigenvalues, CopiesOfOneOscillatorHaveLeftVectorsOfTheirRightOnes) {
  for (Dtype t : {Dtype::f64, Dtype::c128})
    for (const Index copies : {2, 3})
      for (const double condition : {8.0, 500.0})
        for (std::uint64_t seed = 20; seed < 26; ++seed) {
          SCOPED_TRACE(std::string(name_of(t)) + ", " + std::to_string(copies) + " copies, " +
                       std::to_string(condition) + ", seed " + std::to_string(seed));
          const Index n = 2 * copies;
          const Tensor stretch = exp(linspace(0, std::log(condition), n)),
                       j = tensor({0.0, 1.0, -1.0, 0.0}, {2, 2}),
                       s = matmul(columns(qr(gaussian(seed, {n, n}, t)).q, stretch),
                                  qr(gaussian(seed + 50, {n, n}, t)).q),
                       a = matmul(s, matmul(cast(kron(eye(copies), j), t), inv(s)));
          const double tolerance = 4e-14 * condition * condition;
          const Eig e = eig(a);
          EXPECT_LE(largest(matmul(adjoint(e.left), e.vectors) - eye(n, Dtype::c128)), tolerance);
          if (is_complex(t)) continue;
          // d sum w^2 = 2 tr(A dA), d sum log |w| = tr(A^-1 dA).
          EXPECT_LE(largest(grad([](Tensor x) { return sum(real(square(eigvals(x)))); })(a) -
                            2.0 * transpose(a)),
                    tolerance);
          EXPECT_LE(largest(grad([](Tensor x) { return sum(log(abs(eigvals(x)))); })(a) -
                            transpose(inv(a))),
                    tolerance);
        }
}

TEST(EqualEigenvalues, SingularValuesOfLowRank) {
  // Tall, wide and square; of full rank, with one singular value that is 0 and with several.
  for (Dtype t : {Dtype::f64, Dtype::c128})
    for (auto [m, n] : {std::pair<Index, Index>{4, 2}, {2, 4}, {3, 1}, {1, 3}, {3, 3}})
      for (Index r : {0, 1, 2}) {
        if (r > std::min(m, n)) continue;
        const Tensor a = r ? matmul(gaussian(9, {m, r}, t), gaussian(10, {r, n}, t))
                           : zeros({m, n}, t),
                     e = gaussian(11, {m, n}, t), g = gaussian(12, {m, n}, t);
        for (const Law& law : laws(Degenerate::nan)) {
          if (std::string(law.name).find("svd") == std::string::npos) continue;
          const std::string what =
              std::string(law.name) + " " + to_string(a.type()) + " rank " + std::to_string(r);
          EXPECT_TRUE(
              right_or_nan(jvp(law.by_vectors, a, e).second, jvp(law.plain, a, e).second, 1e-11))
              << what;
          const auto twice = [&](const Function& f) {
            return jvp([&](Tensor x) { return jvp(f, x, e).second; }, a, g).second;
          };
          EXPECT_TRUE(right_or_nan(twice(law.by_vectors), twice(law.plain), 1e-10)) << what;
          const auto y = jet(law.by_vectors, 3)(a, e), z = jet(law.plain, 3)(a, e);
          for (int k = 1; k <= 3; ++k)
            EXPECT_TRUE(right_or_nan(y[k], z[k], 1e-10)) << what << " " << k;
        }
      }
}

TEST(LengthsAtZero, FirstDerivativesAreZeroAndSecondOnesNaN) {
  for (Dtype t : {Dtype::f32, Dtype::f64}) {
    const Tensor zero = zeros({2}, t), e = cast(tensor({1.0, -2.0}), t);
    const std::pair<const char*, Function> lengths[] = {
        {"norm", [](Tensor x) { return norm(x); }},
        {"norm of a complex vector", [](Tensor x) { return norm(as_complex(x)); }},
        {"norm along an axis",
         [](Tensor x) {
           return sum(norm(reshape(x, {1, 2}), {1}));
         }},
        {"abs", [](Tensor x) { return abs(as_complex(x)); }},
        {"hypot", [](Tensor x) { return hypot(select(x, 0, 0), select(x, 0, 1)); }}};
    for (const auto& [name, f] : lengths) {
      EXPECT_EQ(f(zero).item(), 0) << name;
      EXPECT_EQ(largest(grad(f)(zero)), 0) << name;
      EXPECT_EQ(largest(jvp(f, zero, e).second), 0) << name;
      EXPECT_FALSE(all_finite(hvp(f, zero, e))) << name;
      EXPECT_TRUE(none_finite(hessian(f)(zero))) << name;
      EXPECT_TRUE(none_finite(jacfwd(jacfwd(f))(zero))) << name;
      EXPECT_TRUE(std::isnan(jet(f, 2)(zero, e)[2].item())) << name;
      // Elsewhere r'' = (1 - n n^T) / r, and third derivatives by Taylor mode from those along a
      // line.
      const Tensor x = cast(tensor({3.0, -4.0}), t);
      const Tensor want = cast(tensor({16.0, 12.0, 12.0, 9.0}, {2, 2}) / 125.0, t);
      EXPECT_LE(largest(hessian(f)(x) - want), t == Dtype::f32 ? 1e-6 : 1e-15) << name;
      // |x + s e| = sqrt(25 + 22 s + 5 s^2)
      const auto line = jet([](Tensor s) { return sqrt(25.0 + 22.0 * s + 5.0 * square(s)); }, 5)(
                     scalar(0.0, t), ones({}, t)),
                 got = jet(f, 5)(x, e);
      for (int k = 0; k <= 5; ++k)
        EXPECT_LE(largest(got[k] - line[k]), t == Dtype::f32 ? 1e-5 : 1e-14) << name << " " << k;
    }
  }
  // Only the row that is 0, and in the batch.
  const Tensor rows = tensor({0.0, 0.0, 3.0, 4.0}, {2, 2});
  const auto f = [](Tensor x) { return sum(norm(x, {1})); };
  const Tensor h = hvp(f, rows, ones({2, 2}));
  EXPECT_TRUE(none_finite(select(h, 0, 0)));
  EXPECT_TRUE(all_finite(select(h, 0, 1)));
  EXPECT_TRUE(all_finite(select(
      vmap([](Tensor r) { return hvp([](Tensor x) { return norm(x); }, r, ones({2})); })(rows), 0,
      1)));
  // A standard deviation is the length of what is left of x without its mean.
  const auto deviation = [](Tensor x) { return sum(standard_deviation(x, {1})); };
  EXPECT_EQ(grad(deviation)(tensor({0.5, 0.5, 3.0, 5.0}, {2, 2})).to_vector(),
            (std::vector<double>{0, 0, -0.5, 0.5}));
  EXPECT_EQ(grad([](Tensor x) { return standard_deviation(x); })(full({4}, 0.5)).to_vector(),
            (std::vector<double>{0, 0, 0, 0}));
  const Tensor z = tensor<c128>({{0, 0}, {3, 4}});
  const Tensor s = jvp([](Tensor x) { return sign(x); }, z, ones({2}, Dtype::c128)).second;
  EXPECT_FALSE(all_finite(select(s, 0, 0)));
  EXPECT_LE(std::abs(s.to_vector<c128>()[1] - c128(16, -12) / 125.0), 1e-16);
}

}  // namespace
}  // namespace tessera
