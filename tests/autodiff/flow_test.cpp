// SPDX-License-Identifier: Apache-2.0
//
// Checks, barriers and host calls: what they do beyond being identities or functions
// (op_table_custom_test.cpp).
#include "tessera/autodiff/ops/flow.h"

#include "error_text.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/sparse.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

using testing::message_of;

using Tensors = std::vector<Tensor>;

TEST(Check, SpeaksInEveryTransform) {
  const auto f = [](Tensor x) { return sqrt(check(x, x >= 0.0, "the density is negative")); };
  const Tensor good = tensor({1.0, 4.0, 9.0}), bad = tensor({1.0, -4.0, 9.0});
  EXPECT_EQ(f(good).to_vector(), (std::vector<double>{1, 2, 3}));
  const auto compiled = jit(f);
  EXPECT_EQ(compiled(good).to_vector(), (std::vector<double>{1, 2, 3}));
  for (const std::string& text : {message_of([&] { f(bad); }), message_of([&] { compiled(bad); }),
                                  message_of([&] { vmap(f)(bad); }), message_of([&] {
                                    grad([&](Tensor x) { return sum(f(x)); })(bad);
                                  })}) {
    EXPECT_NE(text.find("[check] the density is negative (the condition is false at [1] of [3])"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("flow_test.cpp"), std::string::npos) << text;
  }
  const Tensor rows = tensor({1.0, 1.0, 1.0, 1.0, 1.0, -1.0}, {2, 3});
  EXPECT_NE(message_of([&] { vmap(f)(rows); }).find("[1,2] of [2,3]"), std::string::npos)
      << message_of([&] { vmap(f)(rows); });
  EXPECT_THROW(check(good, good, "not a condition"), Error);
}

TEST(Check, OfOneConditionInALoop) {
  const auto f = [](Tensor x) {
    return fori_loop(
        5, [](Tensor, Tensor c) { return check(2.0 * c, c < 10.0, "too large"); }, x);
  };
  EXPECT_EQ(f(Tensor(0.5)).item(), 16);
  EXPECT_NE(message_of([&] { f(Tensor(1.0)); }).find("[check] too large"), std::string::npos);
  EXPECT_EQ(grad(f)(Tensor(0.5)).item(), 32);
}

std::size_t equations(const FlatFunction& f) {
  return simplify(trace(f, std::vector<Type>{{Dtype::f64, {3}}})).equations.size();
}

TEST(Barrier, KeepsEqualWorkApartAndUnusedWorkAlive) {
  EXPECT_EQ(equations([](const Tensors& x) { return Tensors{sin(x[0]) + sin(x[0])}; }),
            2u);  // sin, add
  EXPECT_EQ(equations([](const Tensors& x) { return Tensors{sin(x[0]) + sin(barrier(x[0]))}; }),
            4u);
  EXPECT_EQ(
      equations([](const Tensors& x) { return Tensors{sin(barrier(x[0])) + sin(barrier(x[0]))}; }),
      5u);
  EXPECT_EQ(equations([](const Tensors& x) { return Tensors{barrier(x[0], {sin(x[0])})}; }), 2u);
}

TEST(Flow, SparsityIsThatOfTheValue) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const CsrPatternPtr p = jacobian_sparsity(
      [](Tensor t) { return barrier(check(square(t), t > 0.0, "not positive"), {sum(t)}); }, x);
  EXPECT_EQ(p->entries(), 3);
}

int calls = 0;
/// y = x^3 on the host, counted; its vjp is a host call too.
FlatFunction cube() {
  const FlatFunction pulled =
      host_call({.name = "3 x^2 c",
                 .run = [](const Tensors& x) { return Tensors{3.0 * square(x[0]) * x[1]}; },
                 .jvp =
                     [](const Tensors& x, const Tensors&, const Tensors& t) {
                       return Tensors{6.0 * x[0] * x[1] * t[0] + 3.0 * square(x[0]) * t[1]};
                     }});
  return host_call({.name = "cube",
                    .run =
                        [](const Tensors& x) {
                          ++calls;
                          return Tensors{x[0] * x[0] * x[0]};
                        },
                    .vjp =
                        [pulled](const Tensors& x, const Tensors&, const Tensors& ct) {
                          return pulled({x[0], ct[0]});
                        }});
}

TEST(HostCall, AnAdjointOfTheHost) {
  const auto f = [h = cube()](Tensor x) { return sum(h({x})[0]); };
  const Tensor x = tensor({1.0, -2.0, 0.5});
  EXPECT_EQ(grad(f)(x).to_vector(), (std::vector<double>{3, 12, 0.75}));
  EXPECT_EQ(jit(grad(f))(x).to_vector(), (std::vector<double>{3, 12, 0.75}));
  EXPECT_EQ(hessian(f)(x).to_vector(), (std::vector<double>{6, 0, 0, 0, -12, 0, 0, 0, 3}));
  EXPECT_EQ(vmap(grad(f))(stack({x, x})).to_vector(),
            (std::vector<double>{3, 12, 0.75, 3, 12, 0.75}));
  const CheckReport r = gradcheck(f, x, {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(HostCall, InsideALoop) {
  const auto f = [h = cube()](Tensor x) {
    return fori_loop(
        3, [&](Tensor, Tensor c) { return 0.5 * c + 0.1 * h({c})[0]; }, x);
  };
  const auto plain = [](Tensor x) {
    return fori_loop(
        3, [](Tensor, Tensor c) { return 0.5 * c + 0.1 * (c * c * c); }, x);
  };
  const Tensor x(0.8);
  EXPECT_NEAR(f(x).item(), plain(x).item(), 1e-16);
  EXPECT_NEAR(grad(f)(x).item(), grad(plain)(x).item(), 1e-16);
  EXPECT_NEAR(grad(grad(f))(x).item(), grad(grad(plain))(x).item(), 1e-15);
}

TEST(HostCall, RunsAtEveryCallOfWhatIsCompiled) {
  const auto f = jit([h = cube()](Tensor x) { return h({x})[0]; });
  calls = 0;
  for (int k = 1; k <= 3; ++k) f(Tensor(1.0 * k));
  EXPECT_EQ(calls, 3);
}

TEST(HostCall, ComplexAndIntegerOperandsAndSeveralResults) {
  const HostFunction f{
      .name = "shift and scale",
      .run =
          [](const Tensors& x) {
            return Tensors{x[0] * cast(x[1], Dtype::c128), x[1] + 1, real(x[0])};
          },
      .vjp =
          [](const Tensors& x, const Tensors&, const Tensors& ct) {
            return Tensors{ct[0] * cast(x[1], Dtype::c128) + cast(ct[2], Dtype::c128), ct[1]};
          },
      .types =
          [](const Types& x) {
            return Types{x[0], x[1], {Dtype::f64, x[0].shape}};
          }};
  const auto g = [h = host_call(f)](Tensor z) {
    const Tensors y = h({z, tensor<std::int64_t>({2, 3})});
    return std::pair(y[0], y[2]);
  };
  const Tensor z = complex(tensor({0.3, -1.0}), tensor({0.5, 0.2}));
  const CheckReport r = gradcheck(g, z, {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
  const CheckReport t = transpose_check(g, z, {.order = 2});
  EXPECT_TRUE(t) << to_string(t);
}

TEST(HostCall, SaysWhatIsMissingOrWrong) {
  const Tensor x = tensor({1.0, 2.0});
  const auto plain = host_call({.name = "table", .run = [](const Tensors& v) { return v; }});
  EXPECT_NE(message_of([&] {
              grad([&](Tensor t) { return sum(plain({t})[0]); })(x);
            }).find("'table' has neither jvp nor vjp"),
            std::string::npos);
  EXPECT_NE(message_of([&] { plain({}); }).find("give `types`"), std::string::npos);
  const auto shape =
      host_call({.name = "table", .run = [](const Tensors& v) { return Tensors{sum(v[0])}; }});
  EXPECT_NE(message_of([&] { shape({x}); }).find("gave a f64[] as result 0, it announced a f64[2]"),
            std::string::npos)
      << message_of([&] { shape({x}); });
  const auto slope = host_call(
      {.name = "table",
       .run = [](const Tensors& v) { return v; },
       .jvp = [](const Tensors&, const Tensors&, const Tensors& t) { return Tensors{sum(t[0])}; }});
  EXPECT_NE(message_of([&] {
              jvp([&](Tensor t) { return slope({t})[0]; }, x, x);
            }).find("jvp of 'table' gave a f64[]"),
            std::string::npos);
  // A vjp of the host alone cannot be transposed into a jvp.
  const auto opaque =
      host_call({.name = "adjoint", .run = [](const Tensors& v) { return Tensors{2.0 * v[0]}; }});
  const auto only_back =
      host_call({.name = "forward",
                 .run = [](const Tensors& v) { return Tensors{2.0 * v[0]}; },
                 .vjp = [opaque](const Tensors&, const Tensors&,
                                 const Tensors& ct) { return opaque({ct[0]}); }});
  EXPECT_EQ(grad([&](Tensor t) { return sum(only_back({t})[0]); })(x).to_vector(),
            (std::vector<double>{2, 2}));
  EXPECT_THROW(jvp([&](Tensor t) { return only_back({t})[0]; }, x, x), Error);
}

}  // namespace
}  // namespace tessera
