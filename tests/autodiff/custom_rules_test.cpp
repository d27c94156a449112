// SPDX-License-Identifier: Apache-2.0
//
// What a rule of a user's own replaces is never differentiated, what nobody uses neither, and a
// rule gives derivatives of the types that their values have.
#include "autodiff/src/transform/subgraph.h"
#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using Flat = std::vector<Tensor>;

/// sin on the host: it has no derivative.
Tensor sine_of_the_host(const Tensor& x) {
  return host_call({.name = "sine", .run = [](const Flat& v) { return Flat{sin(v[0])}; }})({x})[0];
}
/// The same with its derivative, cos x, by a residual that is x itself.
Tensor sine(const Tensor& x) {
  return custom_vjp(
      [](const Flat& v) {
        return Flat{sine_of_the_host(v[0]), v[0]};
      },
      1, [](const Flat& residuals, const Flat& ct) { return Flat{cos(residuals[0]) * ct[0]}; })(
      {x})[0];
}

TEST(CustomRules, WhatABackwardReplacesNeedsNoDerivative) {
  const Tensor x(0.7);
  EXPECT_NEAR(grad(sine)(x).item(), std::cos(0.7), 1e-15);
  EXPECT_NEAR(jvp(sine, x, Tensor(1.0)).second.item(), std::cos(0.7), 1e-15);
  EXPECT_NEAR(grad(grad(sine))(x).item(), -std::sin(0.7), 1e-15);
  EXPECT_NEAR(jet(sine, 3)(x, Tensor(1.0))[3].item(), -std::cos(0.7) / 6, 1e-15);
  EXPECT_NEAR(jit(grad(sine))(x).item(), std::cos(0.7), 1e-15);
  EXPECT_NEAR(vmap(grad(sine))(tensor({0.7, 0.2})).to_vector()[1], std::cos(0.2), 1e-15);
}

TEST(CustomRules, WhatNobodyUsesIsNotDifferentiated) {
  const auto f = [](Tensor x) {
    sine_of_the_host(x);
    return x * x;
  };
  EXPECT_EQ(jvp(f, Tensor(3.0), Tensor(1.0)).second.item(), 6.0);
  EXPECT_EQ(grad(f)(Tensor(3.0)).item(), 6.0);
  EXPECT_EQ(jet(f, 2)(Tensor(3.0), Tensor(1.0))[2].item(), 1.0);
  EXPECT_EQ(laplacian([&](Tensor x) { return sum(f(x)); })(tensor({3.0})).item(), 2.0);
  EXPECT_EQ(grad(grad(f))(Tensor(3.0)).item(), 2.0);
  EXPECT_EQ(
      vmap([&](Tensor x) { return jvp(f, x, Tensor(1.0)).second; })(tensor({3.0})).to_vector()[0],
      6.0);
  // Of a first derivative the value is used by nobody, and its rule does not know what it captures.
  const auto slope = [](Tensor p) {
    return grad([&](Tensor x) {
      return custom_jvp(
          [p](const Flat& v) { return Flat{p * v[0]}; },
          [p](const Flat&, const Flat&, const Flat& t) { return Flat{p * t[0]}; })({x})[0];
    })(Tensor(2.0));
  };
  EXPECT_EQ(jet(slope, 1)(Tensor(3.0), Tensor(1.0))[1].item(), 1.0);
  EXPECT_EQ(grad(slope)(Tensor(3.0)).item(), 1.0);
}

TEST(CustomRules, DerivativesHaveTheTypesOfTheirValues) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const auto scalar_for_vector = [](Tensor v) {
    return custom_jvp(
        [](const Flat& u) { return Flat{u[0] * 2.0}; },
        [](const Flat&, const Flat&, const Flat& t) { return Flat{sum(t[0])}; })({v})[0];
  };
  const auto double_for_float = [](Tensor v) {
    return custom_jvp([](const Flat& u) { return Flat{u[0] * 2.0}; },
                      [](const Flat&, const Flat&, const Flat& t) {
                        return Flat{cast(t[0], Dtype::f64)};
                      })({v})[0];
  };
  const auto scalar_cotangent = [](Tensor v) {
    return custom_vjp([](const Flat& u) { return Flat{sum(u[0])}; }, 1,
                      [](const Flat&, const Flat& ct) { return Flat{ct[0]}; })({v})[0];
  };
  const std::string tangent = "the rule gave a f64[] as the tangent of result 0, a f64[3]";
  EXPECT_NE(testing::message_of([&] { jvp(scalar_for_vector, x, ones({3})); }).find(tangent),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] {
              grad([&](Tensor v) { return sum(scalar_for_vector(v)); })(x);
            }).find(tangent),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] { jet(scalar_for_vector, 2)(x, ones({3})); }).find(tangent),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] {
              jvp(double_for_float, cast(x, Dtype::f32), ones({3}, Dtype::f32));
            }).find("a f64[3] as the tangent of result 0, a f32[3]"),
            std::string::npos);
  const std::string cotangent = "backward gave a f64[] as the cotangent of argument 0, a f64[3]";
  EXPECT_NE(testing::message_of([&] { grad(scalar_cotangent)(x); }).find(cotangent),
            std::string::npos);
  EXPECT_NE(testing::message_of([&] { jet(scalar_cotangent, 1)(x, ones({3})); }).find(cotangent),
            std::string::npos);
}

/// x^2 + 1 with its derivative, inside of which is another rule: a square.
Tensor square_and_one(const Tensor& x) {
  const FlatFunction inner =
      custom_jvp([](const Flat& v) { return Flat{v[0] * v[0]}; },
                 [](const Flat& v, const Flat&, const Flat& t) { return Flat{2.0 * v[0] * t[0]}; });
  return custom_jvp(
      [inner](const Flat& v) { return Flat{inner({v[0]})[0] + 1.0}; },
      [](const Flat& v, const Flat&, const Flat& t) { return Flat{2.0 * v[0] * t[0]}; })({x})[0];
}
/// Turned round and three times as large: a linear map with its transpose.
Tensor turned(const Tensor& x) {
  return custom_linear([](const Flat& v) { return Flat{reverse(v[0], {0}) * 3.0}; },
                       [](const Flat& v) { return Flat{reverse(v[0] * 3.0, {0})}; })({x})[0];
}

void expect_planned_alike(const FlatFunction& f, const Flat& x) {
  const Flat want = f(x);
  for (const Level level : {Level::O0, Level::O1}) {
    const Flat got = jit(f, {.level = level})(x);
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(same_bits(got[k], want[k])) << k;
  }
}

TEST(CustomRules, APlanGoesThroughThem) {
  const Tensor x = sin(arange(5000, Dtype::f64));
  const auto f = [](const Tensor& u) { return tanh(square_and_one(u * 0.5) - u) * u; };
  const auto g = [](const Tensor& u) { return sum(turned(square_and_one(u)) * sine(u * 2.0)); };
  expect_planned_alike([&](const Flat& v) { return Flat{f(v[0])}; }, {x});
  expect_planned_alike([&](const Flat& v) { return Flat{g(v[0]), grad(g)(v[0])}; }, {x});
  expect_planned_alike([&](const Flat& v) { return Flat{vmap(f)(reshape(v[0], {50, 100}))}; }, {x});
  expect_planned_alike(
      [&](const Flat& v) {
        return Flat{grad([&](Tensor u) {
          return sum(grad([&](Tensor w) { return sum(f(w)); })(u) * v[0]);
        })(v[0])};
      },
      {x});
  // In the body of a loop, of single numbers and of many.
  const auto steps = [&](Tensor u) {
    return fori_loop(
        4, [&](Tensor, Tensor w) { return f(w) + 0.1; }, u);
  };
  expect_planned_alike([&](const Flat& v) { return Flat{steps(v[0]), steps(sum(v[0]))}; }, {x});
  // One run of element-wise operations: no step of its own, no copies.
  const std::vector<Type> types = {x.type()};
  const auto traced = [&](auto h) {
    return detail::with_calls_opened(trace([&](const Flat& v) { return Flat{h(v[0])}; }, types));
  };
  EXPECT_EQ(Plan(simplify(traced(f)), 1).steps(), 1u);
}

TEST(CustomRules, APlanGoesThroughWhatGivesBackItsArguments) {
  const Tensor x = sin(arange(300, Dtype::f64)), c = cos(arange(300, Dtype::f64));
  const FlatFunction rule = custom_jvp(
      [c](const Flat& v) {
        return Flat{v[1], v[0], c, v[0] * c, v[1]};
      },
      [](const Flat&, const Flat& y, const Flat& t) {
        return Flat{t[1], t[0], zeros(y[2].shape()), t[0] * y[2], t[1]};
      });
  expect_planned_alike([&](const Flat& v) { return rule(v); }, {x, x * 2.0});
  expect_planned_alike([&](const Flat& v) { return rule(rule({v[1], v[1]})); }, {x, x * 2.0});
  expect_planned_alike(
      [&](const Flat& v) {
        return Flat{grad([&](Tensor u) {
          const Flat y = rule({u, u * v[1]});
          return sum(y[0] * y[1] + y[3]) + sum(y[2]);
        })(v[0])};
      },
      {x, x * 2.0});
}

TEST(CustomRules, AnIntegerArgumentNeedsNoCotangent) {
  const auto f = custom_vjp(
      [](const Flat& x) {
        return Flat{gather(x[0], x[1]), x[0], x[1]};
      },
      1,
      [](const Flat& r, const Flat& c) {
        return Flat{0.0 * r[0] + sum(c[0]), Tensor()};
      });
  const Tensor i = tensor(std::vector<std::int64_t>{1});
  EXPECT_EQ(grad([&](const Tensor& x) {
              return sum(f({x, i})[0]);
            })(ones({3}))
                .to_vector(),
            (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace tessera
