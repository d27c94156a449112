// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/matrix_functions.h"

#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera {
namespace {

using testing::largest;

Tensor scaled_noise(const Shape& s, double scale = 1, unsigned seed = 3) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> u(-scale, scale);
  std::vector<double> v(static_cast<std::size_t>(s.count()));
  for (double& x : v) x = u(rng);
  return from_span<double>(v, s);
}

TEST(Eig, RotationTurnsByItsAngle) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  const Eig e = eig(tensor({c, -s, s, c}, {2, 2}));
  const auto w = e.values.to_vector<c128>();
  EXPECT_NEAR(std::abs(w[0] - std::polar(1.0, -0.3)), 0, 1e-15);
  EXPECT_NEAR(std::abs(w[1] - std::polar(1.0, 0.3)), 0, 1e-15);
}

TEST(Eig, SumsOverAllEigenvaluesHaveTheirMatrixDerivatives) {
  const Tensor a = scaled_noise({6, 6});  // real, with conjugate pairs
  const auto cubes = [](Tensor x) { return sum(real(pow(eigvals(x), 3))); };  // tr A^3
  EXPECT_LE(largest(grad(cubes)(a) - 3.0 * transpose(matmul(a, a))), 1e-13);
  const auto log_det = [](Tensor x) { return sum(log(abs(eigvals(x)))); };
  EXPECT_LE(largest(grad(log_det)(a) - transpose(inv(a))), 1e-12);
  const auto again = [](Tensor x) {  // V diag(w) W^H = A
    const Eig e = eig(x);
    return real(matmul(e.vectors * expand_dims(e.values, -2), adjoint(e.left)));
  };
  EXPECT_LE(largest(again(a) - a), 1e-14);
  EXPECT_LE(largest(jvp(again, a, scaled_noise({6, 6}, 1, 4)).second - scaled_noise({6, 6}, 1, 4)),
            1e-13);
  EXPECT_LE(largest(hessian(cubes)(a) -
                    hessian([](Tensor x) { return trace(matmul(x, matmul(x, x))); })(a)),
            1e-12);
}

TEST(Eig, NoEigenvectorsOfWhatIsNotFinite) {
  EXPECT_THROW(eig(tensor<double>({1.0, NAN, 0.0, 1.0}, {2, 2})), Error);
}

TEST(Expm, KnownExponentials) {
  EXPECT_EQ(expm(zeros({3, 3})).to_vector(), eye(3).to_vector());
  EXPECT_TRUE(std::isnan(expm(full({2, 2}, INFINITY)).to_vector()[0]));
  const Tensor jordan = tensor({2.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 2.0}, {3, 3});
  EXPECT_LE(largest(expm(jordan) / std::exp(2.0) -
                    tensor({1.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0}, {3, 3})),
            1e-15);
  for (double angle :
       {0.1, 5.0, 40.0}) {  // 40 radians: three squarings; the error grows with the norm
    const Tensor turn = expm(tensor({0.0, -angle, angle, 0.0}, {2, 2}));
    EXPECT_LE(
        largest(turn - tensor({std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)},
                              {2, 2})),
        1e-15 * (1 + angle));
  }
}

TEST(Expm, EachMatrixOfAStackByItsOwnSquarings) {
  const Tensor small = scaled_noise({4, 4}, 0.1), large = scaled_noise({4, 4}, 30, 5),
               both = stack({small, large, zeros({4, 4})});
  const Tensor e = expm(both);
  EXPECT_EQ(select(e, 0, 0).to_vector(), expm(small).to_vector());
  EXPECT_EQ(select(e, 0, 1).to_vector(), expm(large).to_vector());
  EXPECT_EQ(jit([](Tensor x) { return expm(x); })(both).to_vector(), e.to_vector());
  EXPECT_LE(largest(vmap([](Tensor x) { return expm(x); })(both) - e) / largest(e), 1e-14);
}

TEST(Expm, DerivativeIsTheBlockExponential) {  // Van Loan 1978: exp [[A, E], [0, A]] holds L(A, E)
  for (double size : {0.5, 6.0}) {
    const Tensor a = scaled_noise({3, 3}, size), e = scaled_noise({3, 3}, 1, 9);
    const Tensor block =
        concatenate({concatenate({a, e}, 1), concatenate({zeros({3, 3}), a}, 1)}, 0);
    const Tensor want = slice(slice(expm(block), 0, 0, 3), 1, 3, 6);
    EXPECT_LE(largest(jvp([](Tensor x) { return expm(x); }, a, e).second - want) / largest(want),
              1e-13);
  }
  const auto f = [](Tensor x) { return expm(x); };
  const CheckReport r = gradcheck(f, scaled_noise({3, 3}, 4), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
  const CheckReport z = transpose_check(
      f, complex(scaled_noise({2, 3, 3}, 4), scaled_noise({2, 3, 3}, 4, 8)), {.order = 2});
  EXPECT_TRUE(z) << to_string(z);
}

}  // namespace
}  // namespace tessera
