// SPDX-License-Identifier: Apache-2.0
//
// Eigenpairs by SLEPc against closed forms and the dense decompositions; first and second
// derivatives of what does not depend on phases, the adjoint identity, failures.
#include "tessera/solvers/eigenpairs.h"

#include "measured.h"
#include "norm_error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/matrix_functions.h"
#include "tests/autodiff/noise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::solvers {
namespace {

using testing::noise;

#define NEEDS_SLEPC \
  std::string why;  \
  if (!slepc_available(&why)) GTEST_SKIP() << why

CsrPatternPtr band(Index n) {
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  return csr_pattern(n, n, begin, column);
}
/// lower, diagonal, upper in every row, the diagonal rising by `slope` a row.
Tensor rows(Index n, c128 lower, c128 diagonal, c128 upper, double slope) {
  const auto p = band(n);
  const auto row = p->row_of_entries();
  std::vector<c128> v;
  for (std::size_t e = 0; e < row.size(); ++e) {
    const Index off = p->column()[e] - row[e];
    v.push_back(off < 0 ? lower : off > 0 ? upper : diagonal + slope * static_cast<double>(row[e]));
  }
  return tensor(v);
}

TEST(Eigenpairs, OfTheSecondDifferenceFollowTheClosedForm) {
  NEEDS_SLEPC;
  // 2 - 2 cos(j pi / (n + 1)), vectors sin(i j pi / (n + 1)).
  constexpr Index n = 200;
  const Tensor v = real(rows(n, -1.0, 2.0, -1.0, 0));
  const double angle = std::acos(-1.0) / (n + 1);
  for (Spectrum which : {Spectrum::nearest, Spectrum::largest_real, Spectrum::largest_magnitude}) {
    const auto e = eigenpairs(v, band(n), {.count = 3, .which = which, .hermitian = true});
    EXPECT_EQ(e.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
    const auto l = e.values.to_vector(), r = e.residuals.to_vector();
    for (Index k = 0; k < 3; ++k) {
      const double j = static_cast<double>(which == Spectrum::nearest ? k + 1 : n - k);
      EXPECT_NEAR(l[k], 2 - 2 * std::cos(j * angle), 1e-12);
      EXPECT_LE(r[k], 1e-12);
      EXPECT_NEAR(norm(select(e.vectors, 0, k)).item(), 1, 1e-14);
    }
    // dl / dA_ij = x_i x_j.
    const Tensor
        x = select(e.vectors, 0, 1),
        g = grad([&](Tensor u) {
          return select(
              eigenpairs(u, band(n), {.count = 3, .which = which, .hermitian = true}).values, 0, 1);
        })(v);
    EXPECT_LE(norm_error(g, csr_from_dense(outer(x, x), band(n))), 1e-10);
  }
}

struct Band {
  const char* name;
  bool complex, hermitian;
  c128 lower, diagonal, upper;
};
const Band kBands[] = {
    {"symmetric", false, true, -1.0, 2.0, -1.0},
    {"Hermitian", true, true, c128(-0.8, 0.3), 2.0, c128(-0.8, -0.3)},
    {"complex symmetric", true, false, c128(-1.0, 0.1), c128(2.0, 0.4), c128(-1.0, 0.1)},
    {"nonsymmetric", false, false, -0.6, 2.0, -1.3},
    {"complex nonsymmetric", true, false, c128(-0.6, 0.2), c128(2.0, 0.1), -1.3}};

TEST(Eigenpairs, DerivativesToSecondOrderAreThoseOfTheDenseDecompositions) {
  NEEDS_SLEPC;
  constexpr Index n = 24;
  const auto pattern = band(n);
  double worst[3] = {0, 0, 0};
  for (const Band& p : kBands) {
    SCOPED_TRACE(p.name);
    const Tensor full = rows(n, p.lower, p.diagonal, p.upper, 0.13),
                 v = p.complex ? full : real(full);
    const c128 target(2.6, p.complex && !p.hermitian ? 0.3 : 0.0);
    const EigenOptions o{.count = 2, .target = target, .hermitian = p.hermitian};
    const Tensor c = noise({n}, 1, p.complex), weights = noise({2, 2}, 2, true);
    // What has no phase: eigenvalues, and |c^H x|^2 / |x|^2.
    const auto measure = [&](const Tensor& l, const Tensor& x) {
      const Tensor wide = cast(l, Dtype::c128),
                   shadow = sum(square(abs(matmul(conj(cast(x, Dtype::c128)),
                                                  expand_dims(cast(c, Dtype::c128), 1)))),
                                {1}) /
                            sum(square(abs(x)), {1});
      return sum(real(select(weights, 0, 0) * wide)) + sum(real(wide * wide)) +
             sum(real(select(weights, 0, 1)) * shadow);
    };
    const auto hermitian_part = [&](const Tensor& u) {
      if (!p.hermitian) return csr_to_dense(u, pattern);
      const Tensor d = csr_to_dense(u, pattern);
      return 0.5 * (d + adjoint(d));
    };
    const auto mine = [&](Tensor u) {
      const auto e = eigenpairs(csr_from_dense(hermitian_part(u), pattern), pattern, o);
      return measure(e.values, e.vectors);
    };
    const auto plain = [&](Tensor u) {
      const Tensor d = hermitian_part(u);
      const auto sorted = [&](const Tensor& l, const Tensor& x) {
        const Tensor nearest = slice(argsort(abs(cast(l, Dtype::c128) - target)), 0, 0, 2);
        return measure(gather(l, nearest), gather(transpose(x), nearest));
      };
      if (p.hermitian) {
        const auto e = eigh(d);
        return sorted(e.values, e.vectors);
      }
      const auto e = eig(d);
      return sorted(e.values, e.vectors);
    };
    const Tensor t = noise(v.shape(), 5, p.complex);
    const double errors[] = {std::abs(mine(v).item() / plain(v).item() - 1),
                             norm_error(grad(mine)(v), grad(plain)(v)),
                             norm_error(hvp(mine, v, t), hvp(plain, v, t))};
    std::printf("  %-22s value %.0e, first %.0e, second %.0e\n", p.name, errors[0], errors[1],
                errors[2]);
    for (int k = 0; k < 3; ++k) worst[k] = std::max(worst[k], errors[k]);
    const auto [y, push] = linearize(mine, v);
    const Tensor g = grad(mine)(v);
    EXPECT_NEAR(push(t).item(), sum(real(conj(g) * t)).item(), 1e-11 * (norm(g) * norm(t)).item());
  }
  EXPECT_LE(worst[0], 1e-12);
  EXPECT_LE(worst[1], 1e-10);
  EXPECT_LE(worst[2], 1e-9);
  test::measured("eigenpairs_first_derivative", worst[1]);
  test::measured("eigenpairs_second_derivative", worst[2]);
}

TEST(Eigenpairs, BatchesAndOneFactorisation) {
  NEEDS_SLEPC;
  constexpr Index n = 30;
  const auto pattern = band(n);
  const Tensor v = real(rows(n, -1.0, 2.0, -1.0, 0.05));
  const EigenOptions o{.count = 2, .hermitian = true};
  const auto f = [&](Tensor u) { return sum(eigenpairs(u, pattern, o).values); };
  const Tensor many = stack({v, 2.0 * v});
  const Tensor l = vmap(f)(many), g = vmap(grad(f))(many);
  for (Index k = 0; k < 2; ++k) {
    EXPECT_NEAR(l.to_vector()[k], f(select(many, 0, k)).item(), 1e-14);
    EXPECT_LE(norm_error(select(g, 0, k), grad(f)(select(many, 0, k))), 1e-12);
  }
  // The tangent and any number of adjoints are solves with one factorisation of each pair's system.
  struct Counting final : LinearSolver {
    LinearSolverPtr inner = mumps_lu();
    mutable int prepared = 0;
    std::string name() const override { return "counting"; }
    bool one_at_a_time() const override { return true; }
    std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override {
      ++prepared;
      return inner->prepare(a);
    }
  };
  const auto counting = std::make_shared<Counting>();
  EigenOptions with = o;
  with.linear = counting;
  const auto [y, pull] = vjp([&](Tensor u) { return eigenpairs(u, pattern, with).values; }, v);
  pull(tensor({1.0, 0.0})), pull(tensor({0.0, 1.0})), pull(tensor({1.0, 1.0}));
  EXPECT_EQ(counting->prepared, 2);
}

TEST(Eigenpairs, JetsFollowAKnownCurve) {
  NEEDS_SLEPC;
  // exp(t) A has the eigenvalues exp(t) l.
  constexpr Index n = 12;
  const auto pattern = band(n);
  const Tensor v = real(rows(n, -1.0, 2.0, -1.0, 0.3));
  const EigenOptions o{.count = 1, .hermitian = true};
  const double l = eigenpairs(v, pattern, o).values.to_vector()[0];
  const auto y = jet([&](Tensor t) { return eigenpairs(exp(t) * v, pattern, o).values; }, 5)(
      Tensor(0.0), Tensor(1.0));
  double factorial = 1;
  for (int k = 0; k <= 5; ++k) {
    factorial *= std::max(1, k);
    EXPECT_NEAR(y[static_cast<std::size_t>(k)].to_vector()[0], l / factorial, 1e-11);
  }
  // The 2 x 2 matrix [0, t; t, 1] beside far away ones: (1 - sqrt(1 + 4 t^2)) / 2 = -t^2 + t^4 - 2
  // t^6 + ...
  const auto full = csr_pattern(4, 4, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 2, 3});
  const auto z = jet(
      [&](Tensor t) {
        return eigenpairs(stack({0.0 * t, t, t, 1.0 + 0.0 * t, 7.0 + 0.0 * t, 9.0 + 0.0 * t}), full,
                          {.count = 1, .target = -0.3, .hermitian = true})
            .values;
      },
      6)(Tensor(0.0), Tensor(1.0));
  const double want[] = {0, 0, -1, 0, 1, 0, -2};
  for (int k = 0; k <= 6; ++k)
    EXPECT_NEAR(z[static_cast<std::size_t>(k)].to_vector()[0], want[k], 1e-11) << k;
}

// I + 4 w w^T has the eigenvalues 1, five times, and 5. The vectors of equal ones are any, but of
// length 1, orthogonal, and eigenvectors.
TEST(Eigenpairs, VectorsOfEqualEigenvaluesAreOrthonormal) {
  NEEDS_SLEPC;
  constexpr Index n = 6, count = 4;
  const Tensor raw = noise({n}, 7), w = raw / norm(raw);
  std::vector<Index> begin{0}, column;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) column.push_back(j);
    begin.push_back(static_cast<Index>(column.size()));
  }
  const auto pattern = csr_pattern(n, n, begin, column);
  const Tensor v = csr_from_dense(eye(n) + 4.0 * outer(w, w), pattern);
  const auto e = eigenpairs(v, pattern, {.count = count, .hermitian = true});
  ASSERT_EQ(e.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::converged));
  const auto l = e.values.to_vector(), r = e.residuals.to_vector();
  EXPECT_NEAR(l[0], 1, 1e-12);
  EXPECT_NEAR(l[1], 1, 1e-12);
  for (Index k = 0; k < count; ++k) {
    const Tensor x = select(e.vectors, 0, k);
    const double off = norm(csr_matmul(v, pattern, x) - l[k] * x).item();
    EXPECT_LE(off, 1e-11);
    EXPECT_NEAR(off, r[k], 1e-13);
    for (Index i = 0; i <= k; ++i)
      EXPECT_NEAR(sum(x * select(e.vectors, 0, i)).item(), i == k ? 1 : 0, 1e-12) << k << i;
  }
}

TEST(Eigenpairs, FailuresAreSeen) {
  NEEDS_SLEPC;
  constexpr Index n = 60;
  const Tensor v = real(rows(n, -1.0, 2.0, -1.0, 0));
  const auto few = eigenpairs(v, band(n),
                              {.count = 4,
                               .which = Spectrum::smallest_real,
                               .hermitian = true,
                               .iterations = 1,
                               .options = "-eps_ncv 6"});
  EXPECT_EQ(few.reason.item<std::int32_t>(), static_cast<std::int32_t>(SolveReason::iterations));
  EXPECT_TRUE(std::isnan(few.values.to_vector()[3]));
  for (const double bad : {std::nan(""), HUGE_VAL})
    for (const Spectrum which : {Spectrum::nearest, Spectrum::largest_real}) {
      const Tensor one = where(equal(arange(v.dim(0)), 5), bad, v);
      const auto none =
          eigenpairs(stack({one, v}), band(n), {.count = 2, .which = which, .hermitian = true});
      EXPECT_EQ(none.reason.to_vector<std::int32_t>(),
                (std::vector{static_cast<std::int32_t>(SolveReason::not_finite),
                             static_cast<std::int32_t>(SolveReason::converged)}));
      const std::vector<double> l = none.values.to_vector();
      EXPECT_TRUE(std::isnan(l[0]) && std::isnan(l[1]) && std::isfinite(l[2]));
    }
  // The target is an eigenvalue: A - target has a pivot of zero. Others of a batch do not mind.
  const auto three = csr_pattern(3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2});
  const Tensor flat = ones({9}), fine = flat + reshape(2.0 * eye(3), {9});
  const auto at_it = eigenpairs(stack({flat, fine}), three, {.count = 1, .hermitian = true});
  EXPECT_EQ(at_it.reason.to_vector<std::int32_t>(),
            (std::vector{static_cast<std::int32_t>(SolveReason::singular),
                         static_cast<std::int32_t>(SolveReason::converged)}));
  EXPECT_TRUE(std::isnan(at_it.values.to_vector()[0]));
  EXPECT_NEAR(at_it.values.to_vector()[1], 2, 1e-12);
  // The pair is found, but the system of its derivative is not solved.
  const auto poorly = [&](Tensor u) {
    return eigenpairs(u, band(n), {.hermitian = true, .linear = gmres({.iterations = 1})}).values;
  };
  EXPECT_TRUE(std::isfinite(poorly(v).to_vector()[0]));
  EXPECT_TRUE(std::isnan(jvp(poorly, v, noise({v.dim(0)}, 1)).second.to_vector()[0]));
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message([&] { eigenpairs(v, band(n), {.count = n}); }).find("1 to 59"),
            std::string::npos);
  EXPECT_NE(message([&] {
              eigenpairs(ones({1}), band(1), {.count = 1});
            }).find("1 rows; use eigh or eig"),
            std::string::npos);
  EXPECT_NE(message([&] {
              eigenpairs(v, band(n), {.options = "-eps_ncvv 6"});
            }).find("-eps_ncvv was not used"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::solvers
