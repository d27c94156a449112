// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/energy_function.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

/// U = a sum_i x_i^2 y^3 of x [4], y [1], a [] by hand: the smallest energy whose blocks are all
/// different.
struct Toy final : EnergyFunction {
  const char* name() const override { return "toy"; }
  std::vector<tessera::Shape> shapes() const override { return {{4}, {1}, {}}; }
  static double squares(const double* x) {
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
  }
  double value(Arrays p) const override { return *p[2] * squares(p[0]) * std::pow(*p[1], 3); }
  void gradient(Arrays p, Results g) const override {
    const double y = *p[1], a = *p[2], s = squares(p[0]);
    if (g[0])
      for (int i = 0; i < 4; ++i) g[0][i] += 2 * a * p[0][i] * y * y * y;
    if (g[1]) *g[1] += 3 * a * s * y * y;
    if (g[2]) *g[2] += s * y * y * y;
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    const double y = *p[1], a = *p[2], s = squares(p[0]), dy = v[1] ? *v[1] : 0,
                 da = v[2] ? *v[2] : 0;
    double ds = 0;
    if (v[0])
      for (int i = 0; i < 4; ++i) ds += 2 * p[0][i] * v[0][i];
    if (w[0])
      for (int i = 0; i < 4; ++i)
        w[0][i] +=
            2 * y * y * (da * y * p[0][i] + 3 * a * dy * p[0][i] + (v[0] ? a * y * v[0][i] : 0));
    if (w[1]) *w[1] += 3 * y * (da * s * y + a * ds * y + 2 * a * s * dy);
    if (w[2]) *w[2] += y * y * (ds * y + 3 * s * dy);
  }
  Tensor generic(std::span<const Tensor> p) const override {
    return p[2] * sum(square(p[0])) * sum(p[1] * p[1] * p[1]);
  }
};

const EnergyPtr toy = std::make_shared<Toy>();
Tensor kernel(const Tensor& x, const Tensor& y, const Tensor& a) {
  return evaluate(toy, {x, y, a});
}
Tensor oracle(const Tensor& x, const Tensor& y, const Tensor& a) {
  return toy->generic(std::vector{x, y, a});
}
const std::tuple<Tensor, Tensor, Tensor> point = {tensor({1.0, -2.0, 0.5, 3.0}), tensor({0.7}),
                                                  Tensor(1.3)};

TEST(EnergyFunction, ThreeKernelsGiveEveryDerivativeUpToTheSecond) {
  EXPECT_NEAR(std::apply(kernel, point).item<double>(), std::apply(oracle, point).item<double>(),
              1e-13);
  const CheckReport report = gradcheck(kernel, point, {.order = 2});
  EXPECT_TRUE(report) << to_string(report);
  const CheckReport adjoint = transpose_check(kernel, point, {.order = 2});
  EXPECT_TRUE(adjoint) << to_string(adjoint);
}

TEST(EnergyFunction, ThirdDerivativesComeFromTheEngineOperations) {
  const auto& [x, y, a] = point;
  const auto third = [&](auto f) {
    const auto u = [&](const Tensor& t) { return f(x, t, a); };
    return grad([&](const Tensor& t) {
      return sum(grad([&](const Tensor& s) { return sum(grad(u)(s)); })(t));
    })(y);
  };
  EXPECT_NEAR(sum(third(kernel)).item<double>(), 6 * 1.3 * 14.25, 1e-12);
  EXPECT_NEAR(sum(third(oracle)).item<double>(), 6 * 1.3 * 14.25, 1e-12);
}

TEST(EnergyFunction, SamplesOfABatchAreApart) {
  const CheckReport report = vmap_check(kernel, point);
  EXPECT_TRUE(report) << to_string(report);
}

TEST(EnergyFunction, OperandsOfOtherShapesAreRefused) {
  EXPECT_THROW(kernel(tensor({1.0, 2.0}), tensor({0.7}), Tensor(1.3)), Error);
  EXPECT_THROW(kernel(cast(tensor({1.0, -2.0, 0.5, 3.0}), Dtype::f32), tensor({0.7}), Tensor(1.3)),
               Error);
}

}  // namespace
}  // namespace tessera::molecular
