// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of x^y where x or y is 0, in every mode and mixed, against d^m/dx^m x^n = n (n - 1)
// ... (n - m + 1) x^(n-m), whose terms with a factor 0 are 0 whatever the power says, and against
// closed forms of those in x and y together.
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tessera {
namespace {

using Function = std::function<Tensor(Tensor)>;

Function derived_forward(Function f) {
  return [f](Tensor x) { return jvp(f, x, ones(x.shape(), x.dtype())).second; };
}
/// The gradient of Re f is conj(f').
Function derived_reverse(Function f) {
  return [f](Tensor x) { return conj(grad([f](Tensor u) { return sum(real(f(u))); })(x)); };
}
double falling(double n, int m) {
  double c = 1;
  for (int i = 0; i < m; ++i) c *= n - i;
  return c;
}
/// d^m/dx^m x^n at x for integers n >= 0 and any real x.
double derivative_of_power(int n, int m, double x) {
  return m > n ? 0 : falling(n, m) * std::pow(x, n - m);
}

constexpr int kHighest = 6;

/// x^n for exponents of each kind a user may write.
std::vector<std::pair<const char*, Function>> powers(int n) {
  return {{"int", [n](Tensor x) { return pow(x, n); }},
          {"real", [n](Tensor x) { return pow(x, static_cast<double>(n)); }},
          {"scalar", [n](Tensor x) { return pow(x, scalar(n, x.dtype())); }},
          {"tensor", [n](Tensor x) { return pow(x, full(x.shape(), n, x.dtype())); }}};
}

TEST(PowerAtZero, AllDerivativesInXOfIntegerExponents) {
  const std::vector<double> at = {0.0, -0.0, 2.0, -1.5};
  for (Dtype type : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128})
    for (int n = 0; n <= 4; ++n)
      for (const auto& [kind, f] : powers(n)) {
        const Tensor x = cast(tensor(at), type), one = ones(x.shape(), type);
        // What rounding does to complex powers: |(n - m) log x| ulps and more.
        const double tolerance = type == Dtype::f32 || type == Dtype::c64 ? 2e-5 : 1e-13;
        const auto y = jet(f, kHighest)(x, one);
        // Modes in all orders that repeat: f, r, ff, fr, rf, rr, ...: the bits of `modes` say
        // which.
        for (int modes : {0, 63, 21, 42}) {
          Function g = f;
          for (int m = 0; m <= kHighest; ++m) {
            const Tensor got = cast(g(x), Dtype::c128),
                         taylor = cast(y[m], Dtype::c128) * std::tgamma(m + 1.0);
            for (std::size_t i = 0; i < at.size(); ++i) {
              const double want = derivative_of_power(n, m, at[i]);
              const double allowed = tolerance * std::max(1.0, std::abs(want));
              EXPECT_LE(std::abs(got.to_vector<c128>()[i] - want), allowed)
                  << kind << " " << name_of(type) << " n " << n << " m " << m << " x " << at[i]
                  << " modes " << modes;
              EXPECT_LE(std::abs(taylor.to_vector<c128>()[i] - want), allowed)
                  << kind << " " << name_of(type) << " n " << n << " m " << m << " x " << at[i]
                  << " jet";
            }
            g = modes >> m & 1 ? derived_reverse(g) : derived_forward(g);
            if (modes && m == 3) break;  // reverse over reverse grows threefold by order
          }
        }
      }
}

TEST(PowerAtZero, JetsThatRunThroughZero) {
  // (t + t^2)^n and t^2 to real exponents: coefficients of polynomials.
  for (Dtype type : {Dtype::f64, Dtype::c128}) {
    const std::vector<Tensor> curve{scalar(0.0, type), scalar(1.0, type), scalar(1.0, type)};
    const double cubes[] = {0, 0, 0, 1, 3, 3, 1}, ones_[] = {1, 0, 0, 0, 0, 0, 0};
    const auto y = jet([](Tensor x) { return pow(x, 3.0); }, kHighest)(curve);
    const auto z = jet([](Tensor x) { return pow(x, 0.0); }, kHighest)(curve);
    for (int k = 0; k <= kHighest; ++k) {
      EXPECT_LE(std::abs(cast(y[k], Dtype::c128).item<c128>() - cubes[k]), 1e-14) << k;
      EXPECT_LE(std::abs(cast(z[k], Dtype::c128).item<c128>() - ones_[k]), 0) << k;
    }
  }
  // sum x_i^3.0 at the origin: Laplacian 0, biharmonic 0; x^4.0 has biharmonic 24 each.
  EXPECT_EQ(laplacian([](Tensor x) { return sum(pow(x, 2.0)); })(zeros({3})).item(), 6);
  EXPECT_EQ(biharmonic([](Tensor x) { return sum(pow(x, 4.0)); })(zeros({3})).item(), 72);
  EXPECT_EQ(biharmonic([](Tensor x) { return sum(pow(x, 1.0) + pow(x, 0.0)); })(zeros({3})).item(),
            0);
}

TEST(PowerAtZero, ExponentsOfZeroKeepTheirMixedDerivatives) {
  // f = x^y: f_x = y x^(y-1), f_xy = x^(y-1) (1 + y log x), f_xxy = x^(y-2) ((2 y - 1) + y (y - 1)
  // log x), f_xyy = x^(y-1) log x (2 + y log x).
  for (double x : {0.5, 2.0})
    for (double y : {0.0, 1.0, 2.0, 3.5}) {
      const Tensor tx(x), ty(y);
      const double l = std::log(x);
      const auto f = [](Tensor a, Tensor b) { return pow(a, b); };
      const auto fx = [f](Tensor a, Tensor b) {
        return grad([&](Tensor u) { return f(u, b); })(a);
      };
      const auto fy = [f](Tensor a, Tensor b) {
        return grad([&](Tensor u) { return f(a, u); })(b);
      };
      const auto fxy = [fx](Tensor a, Tensor b) {
        return jvp([&](Tensor u) { return fx(a, u); }, b, Tensor(1.0)).second;
      };
      const auto fyx = [fy](Tensor a, Tensor b) {
        return jvp([&](Tensor u) { return fy(u, b); }, a, Tensor(1.0)).second;
      };
      const double want = std::pow(x, y - 1) * (1 + y * l);
      EXPECT_NEAR(fxy(tx, ty).item(), want, 1e-13 * (1 + std::abs(want)));
      EXPECT_NEAR(fyx(tx, ty).item(), want, 1e-13 * (1 + std::abs(want)));
      const double xxy = std::pow(x, y - 2) * (2 * y - 1 + y * (y - 1) * l),
                   xyy = std::pow(x, y - 1) * l * (2 + y * l);
      EXPECT_NEAR(grad([&](Tensor u) { return fxy(u, ty); })(tx).item(), xxy,
                  1e-12 * (1 + std::abs(xxy)));
      EXPECT_NEAR(grad([&](Tensor u) { return fyx(u, ty); })(tx).item(), xxy,
                  1e-12 * (1 + std::abs(xxy)));
      EXPECT_NEAR(grad([&](Tensor u) { return fyx(tx, u); })(ty).item(), xyy,
                  1e-12 * (1 + std::abs(xyy)));
      // Along (x + t, y + t): f_t = f_x + f_y and so on, by Taylor mode.
      const auto line =
          jet([&](Tensor t) { return pow(t + x, t + y); }, 2)(Tensor(0.0), Tensor(1.0));
      const double fxx = y * (y - 1) * std::pow(x, y - 2), fyy = std::pow(x, y) * l * l;
      EXPECT_NEAR(2 * line[2].item(), fxx + 2 * want + fyy,
                  1e-12 * (1 + std::abs(want) + std::abs(fyy)));
    }
  // At y = 0 the mixed one is 1 / x, in f32 and complex too.
  const auto mixed = [](Tensor x, Tensor y) {
    return jvp(
               [&](Tensor b) {
                 return jvp([&](Tensor a) { return pow(a, b); }, x, ones({}, x.dtype())).second;
               },
               y, ones({}, x.dtype()))
        .second;
  };
  EXPECT_EQ(mixed(Tensor(4.0), Tensor(0.0)).item(), 0.25);
  EXPECT_EQ(mixed(scalar(4.0, Dtype::f32), scalar(0.0, Dtype::f32)).item<float>(), 0.25f);
  EXPECT_LE(std::abs(mixed(scalar(c128(0, 2), Dtype::c128), scalar(0.0, Dtype::c128)).item<c128>() -
                     1.0 / c128(0, 2)),
            1e-15);
}

TEST(PowerAtZero, MixedDerivativesOfHighOrderAreExact) {
  // (1 + u)^(y + v): the coefficient of u^n v^n is that of u^n in log(1 + u)^n / n!, 1 / n!. Its
  // derivative n! has more significant bits than single precision.
  constexpr int n = 14;
  const auto in_base = [](Tensor y) {
    return jet([y](Tensor x) { return pow(x, y); }, n)(Tensor(1.0), Tensor(1.0))[n];
  };
  const double got = jet(in_base, n)(Tensor(2.5), Tensor(1.0))[n].item();
  EXPECT_NEAR(got * std::tgamma(n + 1.0), 1, 1e-13);
}

TEST(PowerAtZero, SlopesOfBothAtZeroAreZeroAndWhatDivergesIsNotANumberOfOurs) {
  for (Dtype type : {Dtype::f32, Dtype::f64, Dtype::c128}) {
    const Tensor zero = scalar(0.0, type), one = ones({}, type);
    EXPECT_EQ(cast(pow(zero, zero), Dtype::c128).item<c128>(), c128(1));
    const auto [x, y] = [&] {
      const auto g = grad([](std::pair<Tensor, Tensor> p) { return real(pow(p.first, p.second)); })(
          std::pair(zero, zero));
      return std::pair(cast(g.first, Dtype::c128).item<c128>(),
                       cast(g.second, Dtype::c128).item<c128>());
    }();
    EXPECT_EQ(x, c128(0));
    EXPECT_EQ(y, c128(0));
    EXPECT_EQ(cast(jvp([&](Tensor b) { return pow(zero, b); }, 2.0 * one, one).second, Dtype::c128)
                  .item<c128>(),
              c128(0));
  }
  // x log x at 0 has the limit 0, its slope has not: d2/dxdy of x^y at (0, 1), either first, is
  // -inf or NaN.
  const auto x_then_y = [](Tensor y) {
    return grad([&](Tensor x) { return pow(x, y); })(Tensor(0.0));
  };
  const auto y_then_x = [](Tensor x) {
    return grad([&](Tensor y) { return pow(x, y); })(Tensor(1.0));
  };
  EXPECT_FALSE(std::isfinite(grad(x_then_y)(Tensor(1.0)).item()));
  EXPECT_FALSE(std::isfinite(grad(y_then_x)(Tensor(0.0)).item()));
  EXPECT_EQ(grad(x_then_y)(Tensor(2.0)).item(), 0);  // x (1 + 2 log x)
  // Fractional powers: the derivative that is infinite is, those below are 0.
  const auto root = jet([](Tensor x) { return pow(x, 1.5); }, 3)(Tensor(0.0), Tensor(1.0));
  EXPECT_EQ(root[1].item(), 0);
  EXPECT_FALSE(std::isfinite(root[2].item()));
  // 0^-1 is infinite, and so is what it does with y.
  EXPECT_FALSE(
      std::isfinite(grad([](Tensor y) { return pow(Tensor(0.0), y); })(Tensor(-1.0)).item()));
  // x^0 is 1 at infinity and for NaN.
  for (double far : {static_cast<double>(INFINITY), -static_cast<double>(INFINITY), std::nan("")}) {
    EXPECT_EQ(grad([](Tensor x) { return pow(x, 0); })(Tensor(far)).item(), 0) << far;
    EXPECT_EQ(grad([](Tensor x) { return pow(x, 0.0); })(Tensor(far)).item(), 0) << far;
  }
}

TEST(PowerAtZero, BatchedAndPlannedAlike) {
  const auto second = [](Tensor x) {
    return grad([](Tensor u) { return grad([](Tensor v) { return pow(v, 2.0); })(u); })(x);
  };
  const Tensor x = tensor({0.0, 1.0, -2.0});
  EXPECT_EQ(vmap(second)(x).to_vector(), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(jit([&](Tensor v) { return vmap(second)(v); })(x).to_vector(),
            (std::vector<double>{2, 2, 2}));
  const auto f = [](Tensor a, Tensor b) { return pow(a, b); };
  const CheckReport r =
      gradcheck(f, std::tuple(tensor({0.7, 2.0, 1.3}), tensor({0.0, 1.0, 3.0})), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
  const CheckReport z = transpose_check(
      f,
      std::tuple(tensor<c128>({{0.7, 0.2}, {2.0, -1.0}}), tensor<c128>({{0.0, 0.0}, {2.0, 0.5}})),
      {.order = 2});
  EXPECT_TRUE(z) << to_string(z);
}

}  // namespace
}  // namespace tessera
