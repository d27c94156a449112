// SPDX-License-Identifier: Apache-2.0
//
// jit at level O0: the bits of O1 and of no jit, where a NaN comes from, what each operation takes.
#include "error_text.h"
#include "same_bits.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera;
using tessera::testing::message_of;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

std::pair<Tensor, Tensor> a_step(const Tensor& w, const Tensor& x) {
  return value_and_grad([&](const Tensor& v) {
    return mean(square(tanh(matmul(x, v)) - 0.5)) + 1e-3 * sum(exp(-square(v)));
  })(w);
}

TEST(JitLevels, GiveTheSameBits) {
  const Tensor w = normal(random_key(1), {40, 30}), x = normal(random_key(2), {60, 40});
  const auto [y, g] = a_step(w, x);
  for (const Level level : {Level::O0, Level::O1}) {
    const auto f = jit(a_step, {.level = level});
    for (int k = 0; k < 2; ++k) {
      const auto [y_level, g_level] = f(w, x);
      EXPECT_TRUE(same_bits(y_level, y));
      EXPECT_TRUE(same_bits(g_level, g));
    }
  }
}

TEST(JitLevels, TellTheFirstNanByOperationAndElement) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    const Tensor bad = log(x * y);
    return sum(where(bad > 0, bad, 2 * bad));
  };
  const Tensor x = tensor({1.0, -2.0, 3.0, -4.0}, {2, 2}),
               y = tensor({1.0, -1.0, -1.0, 1.0}, {2, 2});
  const auto trapped = jit(f, {.level = Level::O0, .trap = Trap::nan});
  const std::string why = message_of([&] { trapped(x, y); });
  EXPECT_NE(why.find("[log] gives nan at [1,0], of operands without: f64[2,2] = -3"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("jit_levels_test.cpp:"), std::string::npos) << why;
  EXPECT_FALSE(std::isnan(trapped(x, x).item()));
  // An infinity is no NaN; what operands bring is theirs.
  const auto inverse = [](const Tensor& v) { return 1.0 / v; };
  const JitOptions nan{.level = Level::O0, .trap = Trap::nan},
      any{.level = Level::O0, .trap = Trap::not_finite};
  EXPECT_TRUE(std::isinf(jit(inverse, nan)(Tensor(0.0)).item()));
  EXPECT_TRUE(std::isnan(jit(inverse, nan)(Tensor(kNan)).item()));
  EXPECT_NE(message_of([&] { jit(inverse, any)(Tensor(0.0)); }).find("gives inf"),
            std::string::npos);
  // Complex numbers, no elements, integers.
  const Tensor z = tensor(std::vector<c128>{{1, 0}, {0, kNan}});
  EXPECT_NO_THROW(jit([](const Tensor& v) { return v * v; }, any)(z));
  EXPECT_NO_THROW(jit([](const Tensor& v) { return v * v; }, any)(zeros({0, 3})));
  EXPECT_NO_THROW(jit([](const Tensor& v) { return v + 1; }, any)(tensor(std::vector<Index>{1})));
}

TEST(JitLevels, TellWhatEachOperationTakes) {
  std::vector<OperationTime> times;
  const auto f = jit([](const Tensor& a) { return sum(matmul(a, a)) + sum(exp(a)); },
                     {.level = Level::O0, .times = &times});
  const Tensor a = normal(random_key(1), {200, 200});
  for (int k = 0; k < 3; ++k) f(a);
  std::int64_t products = 0;
  for (const OperationTime& t : times) {
    EXPECT_GT(t.seconds, 0);
    EXPECT_NE(t.line.find("jit_levels_test.cpp:"), std::string::npos) << t.line;
    if (t.operation == "matmul") products += t.calls;
  }
  EXPECT_EQ(products, 3);
  for (std::size_t k = 1; k < times.size(); ++k) EXPECT_GE(times[k - 1].seconds, times[k].seconds);
}

TEST(JitLevels, OneDoesNotTrap) {
  EXPECT_NE(message_of([] {
              jit([](const Tensor& v) { return v; }, {.trap = Trap::nan});
            }).find("traps and times are of level O0"),
            std::string::npos);
}

}  // namespace
