// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra as users call it: against closed forms and against each other.
#include "autodiff/src/kernels/lapack.h"
#include "error_text.h"
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

using testing::difference;
using testing::message_of;

Tensor spread(const Shape& s, std::uint64_t seed) { return normal(random_key(seed), s); }

TEST(Linalg, FailuresNameMatrixAndPivot) {
  const Tensor good = eye(3), bad = good - 2.0 *
                                               reshape(one_hot(tensor<std::int64_t>({0, 1, 0}), 3) *
                                                           tensor({0.0, 1.0, 0.0}),
                                                       {3, 3}) *
                                               eye(3);
  const std::string m = message_of([&] { cholesky(stack({good, bad})); });
  EXPECT_NE(m.find("matrix 1 of the batch of 2"), std::string::npos) << m;
  EXPECT_NE(m.find("pivot 1"), std::string::npos) << m;
  const std::string s = message_of([&] { solve(ones({2, 2}), ones({2})); });
  EXPECT_NE(s.find("pivot 1 is zero"), std::string::npos) << s;
  EXPECT_NE(message_of([&] { eigh(full({2, 2}, std::nan(""))); }).find("NaN"), std::string::npos);
  EXPECT_NE(message_of([&] { cholesky(ones({2, 3})); }).find("f64[2,3]"), std::string::npos);
  EXPECT_EQ(det(ones({3, 3})).item(), 0);
}

TEST(Linalg, ClosedFormsOfDerivatives) {
  const Tensor a = spread({4, 4}, 1) + 3.0 * eye(4), b = spread({4, 2}, 2);
  EXPECT_LE(difference(matmul(a, solve(a, b)), b), 1e-13);
  EXPECT_LE(difference(matmul(inv(a), a), eye(4)), 1e-13);
  // Jacobi: d det = det tr(A^-1 dA); d log|det| = A^-T.
  EXPECT_LE(difference(grad([](Tensor x) { return det(x); })(a), det(a) * transpose(inv(a))),
            1e-11);
  EXPECT_LE(difference(grad([](Tensor x) { return slogdet(x).log_abs; })(a), transpose(inv(a))),
            1e-13);
  EXPECT_LE(difference(slogdet(a).sign * exp(slogdet(a).log_abs), det(a)), 1e-11);
  // The Hessian of log det on symmetric matrices is -A^-1 (x) A^-1.
  const Tensor spd = matmul(a, transpose(a));
  auto log_det = [](Tensor x) { return 2.0 * sum(log(diagonal(cholesky(x)))); };
  const double size = max(abs(inv(spd))).item();
  EXPECT_LE(difference(grad(log_det)(spd), inv(spd)), 1e-12 * size);
  const Tensor v = spread({4, 4}, 3), sym = v + transpose(v);
  EXPECT_LE(difference(hvp(log_det, spd, sym), neg(matmul(inv(spd), matmul(sym, inv(spd))))),
            1e-12 * size * size);
  // Gradient of the sum of singular values (nuclear norm) is U V^H; of the largest eigenvalue v
  // v^T.
  const SVD f = svd(a);
  EXPECT_LE(difference(grad([](Tensor x) { return sum(svd(x).s); })(a), matmul(f.u, f.vh)), 1e-13);
  const Tensor top = slice(eigh(spd).vectors, -1, 3, 4);
  EXPECT_LE(difference(grad([](Tensor x) { return max(eigh(x).values); })(spd),
                       matmul(top, transpose(top))),
            1e-12);
}

TEST(Linalg, EqualEigenvaluesInSymmetricFunctions) {
  // sum exp(w) = tr exp(A): its gradient at the unit matrix is e I although all eigenvalues are
  // equal.
  EXPECT_LE(difference(grad([](Tensor x) { return sum(exp(eigh(x).values)); })(eye(3)),
                       std::exp(1.0) * eye(3)),
            1e-14);
}

TEST(Linalg, SingularVectorsTurnAlikeAtEveryScale) {
  // U and V of c A are those of A. In single precision squares of 2^+-80 are infinite and 0.
  for (const Shape& shape : {Shape{3, 3}, Shape{4, 3}, Shape{3, 4}})
    for (const Dtype type : {Dtype::f32, Dtype::c64}) {
      const Tensor middle =
                       pad(diag(tensor({4.0, 2.0, 1.0})), {0, 0}, {shape[0] - 3, shape[1] - 3}),
                   a = cast(middle + 0.1 * spread(shape, 9), type),
                   t = cast(spread(shape, 10), type);
      for (const bool left : {true, false}) {
        const auto vectors = [left](Tensor x) {
          const SVD f = svd(x);
          return left ? f.u : f.vh;
        };
        const Tensor want = jvp(vectors, a, t).second;
        for (const double c : {0x1p-80, 0x1p80})
          EXPECT_LE(testing::relative_difference(jvp(vectors, c * a, c * t).second, want), 1e-4)
              << to_string(a.type()) << " times " << c;
      }
    }
}

// 2 n^2 + 6 n + 1 elements, which eigh needs, are odd: beyond 2^24, from n = 2895 on, every other
// one is rounded down where LAPACK says it in single precision.
TEST(Linalg, WorkspacesBeyondSinglePrecisionAreNotCutShort) {
  constexpr Index n = 2895, least = 1 + 6 * n + 2 * n * n;
  ASSERT_LT(static_cast<Index>(static_cast<float>(least)), least);
  EXPECT_EQ(kernels::lapack_size(static_cast<float>(least), least), least);
  EXPECT_EQ(kernels::lapack_size(c64(static_cast<float>(least)), least), least);
  EXPECT_EQ(kernels::lapack_size(1e4, 100), 10000);
}

TEST(Linalg, LeastSquares) {
  const Tensor tall = spread({6, 3}, 5), b = spread({6}, 6), x = lstsq(tall, b);
  EXPECT_LE(difference(matmul(transpose(tall), matmul(tall, x) - b), zeros({3})),
            1e-13);  // normal equations
  const Tensor wide = spread({3, 6}, 7), c = spread({3}, 8), y = lstsq(wide, c);
  EXPECT_LE(difference(matmul(wide, y), c), 1e-13);
  EXPECT_LE(difference(y, matmul(transpose(wide), solve(matmul(wide, transpose(wide)), c))),
            1e-12);  // shortest
}

TEST(Linalg, EinsumAgainstLoops) {
  const Tensor a = spread({2, 3, 4}, 9), b = spread({2, 4, 5}, 10), c = spread({5, 3}, 11);
  EXPECT_LE(difference(einsum("bij,bjk->bik", {a, b}), matmul(a, b)), 1e-13);
  EXPECT_LE(
      difference(einsum("bij, bjk, ki -> b", {a, b, c}), sum(matmul(a, b) * transpose(c), {1, 2})),
      1e-12);
  EXPECT_LE(difference(einsum("ij->ji", {c}), transpose(c)), 0);
  const Tensor s = spread({3, 3}, 12);
  EXPECT_LE(difference(einsum("ii", {s}), trace(s)), 0);
  EXPECT_LE(difference(einsum("ii->i", {s}), diagonal(s)), 0);
  EXPECT_LE(difference(einsum("i,j->ij", {tensor({1.0, 2.0}), tensor({3.0, 4.0})}),
                       outer(tensor({1.0, 2.0}), tensor({3.0, 4.0}))),
            0);
  EXPECT_LE(difference(einsum("ij,jk", {c, transpose(c)}), matmul(c, transpose(c))), 1e-14);
  EXPECT_LE(difference(einsum("bij->j", {a}), sum(a, {0, 1})), 1e-14);
  EXPECT_NE(message_of([&] { einsum("ij,jk->ik", {a, b}); }).find("operand 0"), std::string::npos);
  EXPECT_THROW(einsum("ij,jk->ik", {c, c}), Error);
}

TEST(Linalg, EinsumOfTheAxesBetweenDots) {
  const Tensor a = spread({2, 1, 3, 4}, 9), b = spread({5, 4, 6}, 10), c = spread({3, 4}, 11),
               d = spread({4}, 12);
  EXPECT_LE(difference(einsum("...ij,...jk->...ik", {a, b}), matmul(a, b)),
            1e-13);  // [2,1] with [5]
  EXPECT_LE(difference(einsum("...ij,...jk", {a, b}), matmul(a, b)),
            1e-13);  // the dots first, then i and k
  EXPECT_LE(difference(einsum("...ij,jk", {a, transpose(c)}), matmul(a, transpose(c))), 1e-13);
  EXPECT_LE(difference(einsum("i...->...i", {a}), moveaxis(a, 0, -1)), 0);
  EXPECT_LE(difference(einsum("i...j->j...", {a}), sum(moveaxis(a, -1, 0), {1})), 1e-15);
  EXPECT_LE(difference(einsum("...", {a}), a), 0);
  EXPECT_LE(difference(einsum("...,...", {c, d}), c * d), 0);
  EXPECT_LE(difference(einsum("...i->...", {d}), sum(d)), 1e-15);
  EXPECT_LE(difference(einsum("...ii->...i", {matmul(c, transpose(c))}),
                       diagonal(matmul(c, transpose(c)))),
            0);
  EXPECT_LE(difference(einsum("...i, ...i, ... -> ...", {a, c, spread({2, 1, 1}, 13)}),
                       sum(a * c, {-1}) * spread({2, 1, 1}, 13)),
            1e-14);
  EXPECT_EQ(einsum("...i,...i->...", {zeros({0, 3}), ones({1, 3})}).shape(), Shape{0});
  const auto f = [](Tensor x, Tensor y) {
    return sum(square(einsum("...ij,...jk->...ik", {x, y})));
  };
  const auto g = [](Tensor x, Tensor y) { return sum(square(matmul(x, y))); };
  EXPECT_LE(difference(grad(f)(a, b), grad(g)(a, b)), 1e-11);
  EXPECT_LE(difference(vmap([&](Tensor x) { return einsum("i...->...", {x}); })(a), sum(a, {1})),
            1e-15);
  for (const char* formula :
       {"...i->i", "...i...->...", "....i->...", "..i->...", "...ijklm->...", "...i->......"})
    EXPECT_THROW(einsum(formula, {a}), Error) << formula;
  EXPECT_THROW(einsum("...,...->...", {zeros({2}), zeros({3})}), Error);
}

TEST(Linalg, OuterAndDotTakeVectorsAlone) {
  EXPECT_EQ(outer(tensor({1.0, 2.0}), tensor({3.0, 4.0, 5.0})).to_vector(),
            (std::vector<double>{3, 4, 5, 6, 8, 10}));
  EXPECT_THROW(outer(ones({2, 3}), ones({3, 2})), Error);  // was some [2, 3, 2]
  EXPECT_THROW(dot(ones({1}), ones({3})), Error);          // was 3: one of them spread
  EXPECT_THROW(dot(ones({2, 3}), ones({2, 3})), Error);
  EXPECT_THROW(dot(2.0, ones({3})), Error);
  EXPECT_THROW(outer(ones({}), ones({3})), Error);
}

TEST(Linalg, SmallForms) {
  EXPECT_LE(difference(kron(eye(2), tensor({1.0, 2.0}, {1, 2})),
                       tensor({1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0}, {2, 4})),
            0);
  EXPECT_LE(difference(diag(tensor({1.0, 2.0})), tensor({1.0, 0.0, 0.0, 2.0}, {2, 2})), 0);
  EXPECT_LE(difference(tril(ones({2, 3}), 1) + triu(ones({2, 3}), 2), ones({2, 3})), 0);
  EXPECT_DOUBLE_EQ(norm(tensor({3e200, 4e200})).item(), 5e200);
  EXPECT_DOUBLE_EQ(norm(tensor({3e-200, 4e-200})).item(), 5e-200);
  EXPECT_NEAR(norm(tensor<c128>({{3, 0}, {0, 4}})).item(), 5, 1e-15);
  EXPECT_LE(difference(grad([](Tensor x) { return norm(x); })(zeros({2})), zeros({2})), 0);
  EXPECT_LE(
      difference(grad([](Tensor x) { return norm(x); })(tensor({3.0, 4.0})), tensor({0.6, 0.8})),
      1e-15);
}

TEST(Inverse, OfAStackIsTheStackOfInverses) {
  for (Dtype t : {Dtype::f64, Dtype::c128})
    for (Index n : {1, 3})
      for (const Shape& lead :
           {Shape{0}, Shape{1}, Shape{n}, Shape{n + 1}, Shape{2, 3}, Shape{1, n}, Shape{n, 1}}) {
        Shape s = lead;
        s.push_back(n), s.push_back(n);
        const Tensor a = cast(spread(s, 21), t) + 3.0 * eye(n, t), e = cast(spread(s, 22), t);
        const auto f = [](Tensor x) { return inv(x); };
        const Tensor x = f(a);
        ASSERT_EQ(x.type(), a.type());
        if (lead.count() == 0) {
          EXPECT_EQ(jvp(f, a, e).second.type(), a.type());
          EXPECT_EQ(grad([](Tensor u) { return sum(real(inv(u))); })(a).type(), a.type());
          continue;
        }
        EXPECT_LE(difference(matmul(a, x), broadcast_to(eye(n, t), s)), 1e-13);
        const Tensor dx = neg(matmul(x, matmul(e, x)));
        EXPECT_LE(difference(jvp(f, a, e).second, dx), 1e-13);
        EXPECT_LE(difference(grad([&](Tensor u) { return sum(real(conj(e) * inv(u))); })(a),
                             neg(matmul(adjoint(x), matmul(e, adjoint(x))))),
                  1e-13);
        const Tensor ddx = 2.0 * matmul(x, matmul(e, matmul(x, matmul(e, x))));
        EXPECT_LE(difference(jvp([&](Tensor u) { return jvp(f, u, e).second; }, a, e).second, ddx),
                  1e-12);
        EXPECT_LE(difference(2.0 * jet(f, 2)(a, e)[2], ddx), 1e-12);
      }
}

/// What each function of a stack of matrices gives is what it gives of each, in value and in
/// derivatives.
TEST(Stacks, OfMatricesAreTreatedOneByOne) {
  using Function = std::function<Tensor(Tensor)>;
  const auto gram = [](const Tensor& x) {
    return matmul(x, adjoint(x)) + eye(x.dim(-2), x.dtype());
  };
  const auto fixed = spread({3, 3}, 30);
  const std::pair<const char*, Function> all[] = {
      {"inv", [](Tensor x) { return inv(x); }},
      {"solve for a matrix",
       [fixed](Tensor x) { return solve(x, broadcast_to(fixed, x.shape())); }},
      {"solve for vectors",
       [](Tensor x) { return expand_dims(solve(x, select(x, -1, 0) + 1.0), -1); }},
      {"solve for one vector",
       [](Tensor x) {
         return expand_dims(solve(x, tensor({1.0, 2.0, 3.0})), -1);
       }},
      {"det", [](Tensor x) { return expand_dims(expand_dims(det(x), -1), -1); }},
      {"slogdet",
       [](Tensor x) {
         return expand_dims(expand_dims(slogdet(x).log_abs * slogdet(x).sign, -1), -1);
       }},
      {"lu",
       [](Tensor x) {
         const LU f = lu(x);
         return f.l + f.u + f.p;
       }},
      {"qr",
       [](Tensor x) {
         const QR f = qr(x);
         return f.q + 2.0 * f.r;
       }},
      {"lstsq", [](Tensor x) { return lstsq(slice(x, -1, 0, 2), x); }},
      {"lstsq, wide", [](Tensor x) { return lstsq(slice(x, -2, 0, 2), slice(x, -2, 1, 3)); }},
      {"cholesky", [gram](Tensor x) { return cholesky(gram(x)); }},
      {"triangular_solve", [](Tensor x) { return triangular_solve(x + 5.0 * eye(3), x); }},
      {"eigh",
       [](Tensor x) {
         const Eigh e = eigh(x);
         return e.vectors * square(expand_dims(e.values, -2));
       }},
      {"svd",
       [](Tensor x) {
         const SVD f = svd(x);
         return matmul(f.u * square(expand_dims(f.s, -2)), f.vh);
       }},
      {"eig",
       [](Tensor x) {
         const Eig e = eig(x);
         return real(matmul(e.vectors * expand_dims(square(e.values), -2), adjoint(e.left)));
       }},
      {"expm", [](Tensor x) { return expm(x); }},
      {"hermitian_function",
       [](Tensor x) { return hermitian_function(x, SpectralFunction::exp()); }}};
  for (const auto& [name, f] : all)
    for (Index b : {1, 3, 4}) {
      const Tensor a = spread({b, 3, 3}, 31) + diag(tensor({3.0, 5.0, 9.0})),
                   e = spread({b, 3, 3}, 32);
      const auto one_by_one = [&](const std::function<Tensor(Tensor, Tensor)>& g) {
        std::vector<Tensor> y;
        for (Index i = 0; i < b; ++i) y.push_back(g(select(a, 0, i), select(e, 0, i)));
        return stack(y);
      };
      const auto check = [&](const Tensor& got, const Tensor& want, const char* what) {
        ASSERT_EQ(got.shape(), want.shape()) << name << " " << what;
        EXPECT_LE(difference(got, want), 1e-11 * std::max(1.0, max(abs(want)).item()))
            << name << " " << what << " of " << b;
      };
      const auto loss = [&f](Tensor x) {
        const Tensor y = f(x);
        return sum(y * y);
      };
      check(f(a), one_by_one([&](Tensor x, Tensor) { return f(x); }), "value");
      check(f(a), vmap(f)(a), "vmap");
      check(jvp(f, a, e).second,
            one_by_one([&](Tensor x, Tensor t) { return jvp(f, x, t).second; }), "jvp");
      check(grad(loss)(a), one_by_one([&](Tensor x, Tensor) { return grad(loss)(x); }), "grad");
      check(vmap(grad(loss))(a), grad(loss)(a), "vmap of grad");
      check(hvp(loss, a, e), one_by_one([&](Tensor x, Tensor t) { return hvp(loss, x, t); }),
            "hvp");
      check(jet(f, 2)(a, e)[2], one_by_one([&](Tensor x, Tensor t) { return jet(f, 2)(x, t)[2]; }),
            "jet");
      EXPECT_EQ(f(zeros({0, 3, 3})).shape()[0], 0) << name;
    }
}

TEST(Linalg, EmptyAndOneByOne) {
  EXPECT_EQ(cholesky(zeros({2, 0, 0})).shape(), (Shape{2, 0, 0}));
  EXPECT_EQ(solve(zeros({0, 3, 3}), zeros({0, 3, 1})).shape(), (Shape{0, 3, 1}));
  EXPECT_EQ(qr(zeros({3, 0})).q.shape(), (Shape{3, 0}));
  EXPECT_EQ(det(zeros({0, 0})).item(), 1);
  EXPECT_EQ(cholesky(full({1, 1}, 4)).item(), 2);
  EXPECT_EQ(svd(full({1, 1}, -4)).s.item(), 4);
  EXPECT_EQ(inv(full({1, 1, 1, 1}, 4)).item(), 0.25);
}

}  // namespace
}  // namespace tessera
