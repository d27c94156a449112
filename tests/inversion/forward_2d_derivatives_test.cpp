// SPDX-License-Identifier: Apache-2.0
#include "measured.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_2d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace tessera::inversion {
namespace {

/// Land, a slope and a sea over three rows of blocks, some of them given; sensors on the ground and
/// on the sea floor, level and tilted.
struct SmallCoast {
  Mesh2d mesh;
  Sensors2d sensors;
};
SmallCoast small_coast(bool triangles) {
  const std::vector<double> y{-9000, -5000, -2500, -1200, -500, 0,
                              500,   1100,  1900,  3000,  5000, 9000},
      z{-20000, -8000, -3000, -1000, -300, 0, 150, 400, 900, 2000, 5000, 12000};
  Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0, 150.0}, [](double at, double depth) {
    if (depth < 0) return air();
    if (depth < 150 && at > 500) return Medium2d{.ohm_m = 0.3};
    const Index row = depth < 150   ? 0
                      : depth < 900 ? 1
                                    : 2,
                column = at < -1200  ? 0
                         : at < 1100 ? 1
                                     : 2;
    return Medium2d{.parameter = 3 * row + column};
  });
  mesh = bent(mesh, {{-20000},
                     {0, [](double at) { return at < 0 ? 0.04 * at + 0.5 : 0.5; }},
                     {150, [](double at) { return 160 + 0.02 * std::max(0.0, at); }},
                     {12000}});
  if (triangles) mesh = triangles_of(mesh);
  SmallCoast out{mesh, sensors_on(mesh, 0, {-3100, -1200, 140})};
  out.sensors.tilt = {std::atan(0.04), 0.03, 0};
  const Sensors2d floor = sensors_on(mesh, 1, {1500, 2500}, true);
  out.sensors.y.insert(out.sensors.y.end(), floor.y.begin(), floor.y.end());
  out.sensors.z.insert(out.sensors.z.end(), floor.z.begin(), floor.z.end());
  out.sensors.tilt.push_back(floor.tilt[0]);
  out.sensors.tilt.push_back(0.0);  // level on a slope: the field across the floor has its part
  return out;
}

Tensor small_model(bool by_axis) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> ln_rho(std::log(3.0), std::log(300.0));
  std::vector<double> m;
  for (int k = 0; k < (by_axis ? 27 : 9); ++k) m.push_back(ln_rho(random));
  return by_axis ? tensor(m, {9, 3}) : tensor(m);
}

/// Every kind of datum, real: ln rho_a and phase of both modes, tipper.
Tensor data_of(const Forward2d& forward, const Tensor& m) {
  const Responses2d r = forward(m);
  std::vector<Tensor> parts;
  for (const Tensor& z : {r.te, -r.tm}) {
    parts.push_back(flatten(ln_apparent_resistivity(z, forward.frequency_hz())));
    parts.push_back(flatten(phase_degrees(z)) * (std::numbers::pi / 180));
  }
  parts.push_back(flatten(real(r.tipper)));
  parts.push_back(flatten(imag(r.tipper)));
  return concatenate(parts);
}

struct Case {
  bool triangles, by_axis;
  int order;
  Sides2d sides;
};
class Forward2dDerivatives : public ::testing::TestWithParam<Case> {
 protected:
  Forward2d forward() const {
    const SmallCoast coast = small_coast(GetParam().triangles);
    return {coast.mesh,
            coast.sensors,
            {1, 0.1},
            {.order = GetParam().order, .sides = GetParam().sides}};
  }
  Tensor model() const { return small_model(GetParam().by_axis); }
};

/// Slope of log |remainder| against log step, between these steps.
double remainder_slope(const std::function<double(double t)>& remainder, double from, double to) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, n = 0;
  for (double t = from; t >= to * 0.999; t /= std::pow(10, 0.25), ++n) {
    const double x = std::log(t), y = std::log(std::abs(remainder(t)));
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// Data are added with the signs of their next derivative, so that leading terms of remainders do
/// not cancel. Slope 2 over four decades; slope 3 over the decade between what the fourth
/// derivative and what rounding (3e-13 of the sums) make of it.
TEST_P(Forward2dDerivatives, TaylorSlopesOfEachKindOfDatum) {
  const Forward2d f = forward();
  const Tensor m = model(),
               w = reshape(1 + 0.5 * cos(1.3 * arange(m.size(), Dtype::f64)), m.shape());
  const auto data = [&](const Tensor& x) { return data_of(f, x); };
  const auto first = [&](const Tensor& x) { return jvp(data, x, w).second; };
  const auto second = [&](const Tensor& x) { return jvp(first, x, w).second; };
  const auto [t2, t3] = jvp(second, m, w);
  const auto d0 = data(m).to_vector<double>(), d1 = first(m).to_vector<double>(),
             d2 = t2.to_vector<double>(), d3 = t3.to_vector<double>();
  const char* kinds[] = {"ln rho_a TE", "phase TE",  "ln rho_a TM",
                         "phase TM",    "tipper re", "tipper im"};
  double worst_first = 2, worst_second = 3;
  for (std::size_t kind = 0; kind < 6; ++kind) {
    const auto remainder = [&](double t, bool with_second) {
      const auto d = data(m + t * w).to_vector<double>();
      double out = 0;
      for (std::size_t i = kind * 10; i < kind * 10 + 10; ++i) {
        const double rest = d[i] - d0[i] - t * d1[i] - (with_second ? t * t / 2 * d2[i] : 0);
        out += std::copysign(1.0, with_second ? d3[i] : d2[i]) * rest;
      }
      return out;
    };
    const double two = remainder_slope([&](double t) { return remainder(t, false); }, 0.03, 3e-6),
                 three = remainder_slope([&](double t) { return remainder(t, true); }, 2e-3, 2e-4);
    EXPECT_NEAR(two, 2, 0.05) << kinds[kind];
    EXPECT_NEAR(three, 3, 0.05) << kinds[kind];
    if (std::abs(two - 2) > std::abs(worst_first - 2)) worst_first = two;
    if (std::abs(three - 3) > std::abs(worst_second - 3)) worst_second = three;
  }
  test::measured("slope_jacobian_less_2", worst_first - 2);
  test::measured("slope_hessian_less_3", worst_second - 3);
}

TEST_P(Forward2dDerivatives, AdjointIdentity) {
  const Forward2d f = forward();
  const auto data = [&](const Tensor& m) { return data_of(f, m); };
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int k = 0; k < 5; ++k) {
    std::vector<double> w(60), v(static_cast<std::size_t>(model().size()));
    for (double& x : w) x = normal(random);
    for (double& x : v) x = normal(random);
    const Tensor along = reshape(tensor(v), model().shape());
    const auto [d, change] = jvp(data, model(), along);
    const auto [d2, pull] = vjp(data, model());
    const double left = sum(change * tensor(w)).item(), right = sum(pull(tensor(w)) * along).item();
    worst = std::max(worst, std::abs(left - right) / sum(abs(change * tensor(w))).item());
  }
  test::measured("adjoint", worst);
  EXPECT_LE(worst, 1e-11);
}

TEST_P(Forward2dDerivatives, JacobianByReciprocityIsThePulledBackOne) {
  const Forward2d f = forward();
  const Tensor m = model();
  const Jacobian2d j = f.jacobian(m);
  const auto [value, pull] = vjp([&](const Tensor& x) { return f(x); }, m);
  double worst = 0;
  const auto check = [&](const Tensor& whole, const Tensor& z, int which) {
    const Index n = z.size();
    const auto seed = [&](const Tensor& e, c128 unit) {
      Responses2d ct{zeros(z.shape(), Dtype::c128), zeros(z.shape(), Dtype::c128),
                     zeros(z.shape(), Dtype::c128)};
      const Tensor s = reshape(e * unit, z.shape());
      (which == 0 ? ct.te : which == 1 ? ct.tm : ct.tipper) = s;
      return ct;
    };
    std::vector<double> identity(static_cast<std::size_t>(n * n), 0.0);
    for (Index k = 0; k < n; ++k) identity[static_cast<std::size_t>(k * n + k)] = 1;
    const Tensor rows = tensor(identity, {n, n});
    const Tensor re = vmap([&](const Tensor&e) { return pull(seed(e, c128(1, 0))); })(rows),
                 im = vmap([&](const Tensor&e) { return pull(seed(e, c128(0, 1))); })(rows);
    const Tensor expected = complex(re, im), got = reshape(whole, expected.shape());
    worst = std::max(worst, max(abs(got - expected)).item() / max(abs(expected)).item());
  };
  check(j.te, j.value.te, 0);
  check(j.tm, j.value.tm, 1);
  check(j.tipper, j.value.tipper, 2);
  const double values = max(abs(j.value.te - value.te)).item() / max(abs(value.te)).item();
  test::measured("jacobian", worst);
  EXPECT_LE(worst, 1e-10);
  EXPECT_LE(values, 1e-14);
  EXPECT_EQ(j.tm.shape(), GetParam().by_axis ? (Shape{2, 5, 9, 3}) : (Shape{2, 5, 9}));
}

INSTANTIATE_TEST_SUITE_P(Elements, Forward2dDerivatives,
                         ::testing::Values(Case{false, false, 1, Sides2d::columns},
                                           Case{false, true, 2, Sides2d::columns},
                                           Case{true, true, 1, Sides2d::columns},
                                           Case{true, false, 2, Sides2d::mirror}),
                         [](const auto& i) {
                           return std::string(i.param.triangles ? "P" : "Q") +
                                  std::to_string(i.param.order) +
                                  (i.param.by_axis ? "ByAxis" : "Isotropic") +
                                  (i.param.sides == Sides2d::mirror ? "Mirror" : "");
                         });

// Where functionals of a frequency are large, as many are taken at a time as there are threads.
TEST(Forward2dDerivative, OfManyUnknownsHasTheSameBitsOnAnyThreads) {
  const std::vector<double> y = graded_axis(
                                {-5e4, 0, 5e4},
                                [](double x) { return std::max(200.0, 0.1 * std::abs(x)); }),
                            z = graded_axis({-5e4, 0, 3e4}, [](double x) {
                              return std::max(100.0, 0.15 * std::abs(x));
                            });
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, [](double at, double depth) {
    return depth < 0 ? air() : Medium2d{.parameter = at < 0 ? 0 : 1};
  });
  std::vector<double> at;
  for (int k = -35; k <= 35; ++k) at.push_back(250.0 * k + 10);
  const Forward2d f(mesh, sensors_on(mesh, 0, at), {3, 0.3}, {.order = 2});
  ASSERT_GT(32 * Index(at.size()) * f.unknowns(), Index{32} << 20);
  ASSERT_LT(32 * Index(at.size()) * f.unknowns(), Index{128} << 20);
  const Tensor m = tensor({std::log(30.0), std::log(300.0)});
  const int before = num_threads();
  std::vector<std::vector<c128>> found;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    const Jacobian2d j = f.jacobian(m);
    found.push_back(
        concatenate({flatten(j.value.te), flatten(j.te), flatten(j.tm), flatten(j.tipper)})
            .to_vector<c128>());
  }
  set_num_threads(before);
  EXPECT_EQ(found[0], found[1]);
}

TEST(Forward2dDerivative, GradcheckOfSecondOrder) {
  const SmallCoast coast = small_coast(true);
  const Forward2d f(coast.mesh, coast.sensors, {3}, {.order = 1});
  const auto misfit = [&](const Tensor& m) { return sum(square(data_of(f, m))); };
  const CheckReport r = gradcheck(misfit, small_model(false), {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(Forward2dDerivative, OneModelOfABatchIsThatModel) {
  const SmallCoast coast = small_coast(false);
  const Forward2d f(coast.mesh, coast.sensors, {3, 0.2});
  const Tensor one = small_model(false), two = 0.8 * one + 0.3;
  const Responses2d both = vmap([&](const Tensor& m) { return f(m); })(stack({one, two}));
  const Responses2d alone = f(two);
  EXPECT_LE(max(abs(select(both.te, 0, 1) - alone.te)).item(), 1e-13 * max(abs(alone.te)).item());
  EXPECT_LE(max(abs(select(both.tm, 0, 1) - alone.tm)).item(), 1e-13 * max(abs(alone.tm)).item());
  const auto compiled = jit([&](const Tensor& m) { return f(m); });
  EXPECT_LE(max(abs(compiled(two).tipper - alone.tipper)).item(), 1e-15);
  // The Jacobian is itself made of operations: its derivative along w is the second derivative.
  const Tensor w = cos(one);
  const auto along = [&](const Tensor& m) {
    return jvp([&](const Tensor& x) { return f(x); }, m, w).second.te;
  };
  const Tensor by_jvp = jvp(along, one, w).second;
  const auto products = [&](const Tensor& m) { return sum(f.jacobian(m).te * w, {2}); };
  const Tensor by_jacobian = jvp(products, one, w).second;
  EXPECT_LE(max(abs(by_jvp - by_jacobian)).item(), 1e-9 * max(abs(by_jvp)).item());
}

}  // namespace
}  // namespace tessera::inversion
