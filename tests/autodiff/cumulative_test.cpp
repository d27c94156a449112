// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/cumulative.h"

#include "error_text.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

/// Largest relative error of the running sums y of x, from the last element where `reverse`; exact
/// sums in long double.
double running_error(const std::vector<float>& x, const std::vector<float>& y, bool reverse) {
  long double sum = 0;
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t i = reverse ? x.size() - 1 - k : k;
    sum += x[i];
    worst = std::max(worst, static_cast<double>(std::fabs((y[i] - sum) / sum)));
  }
  return worst;
}

/// By eights a sum of 10^7 terms has 8 levels of at most 8 roundings of 6e-8 behind it, of mixed
/// signs: 1e-6 is met with room, where sums from the beginning reach 1e-4.
TEST(Cumsum, OfTenMillionTermsIsAsGoodAsTheirSum) {
  const Index n = 10'000'000;
  for (const float step : {0.1f, 1.0f / 3}) {
    const std::vector<float> x(static_cast<std::size_t>(n), step);
    const Tensor t = tensor(x);
    for (const bool reverse : {false, true})
      EXPECT_LE(running_error(x, cumsum(t, 0, reverse).to_vector<float>(), reverse), 1e-6);
    // The transpose runs the other way.
    const Tensor pulled = vjp([](Tensor v) { return cumsum(v); }, t).second(t);
    EXPECT_LE(running_error(x, pulled.to_vector<float>(), true), 1e-6);
    const Tensor pushed = jvp([](Tensor v) { return cumsum(v, 0, true); }, t, t).second;
    EXPECT_LE(running_error(x, pushed.to_vector<float>(), true), 1e-6);
  }
  std::vector<float> logs(1 << 20, std::log(0.1f));
  const Tensor l = cumlogsumexp(tensor(logs));
  EXPECT_NEAR(l.to_vector<float>().back(), std::log(0.1) + 20 * std::log(2.0), 2e-5);
}

TEST(Cumsum, OfIntegersIsExactAndWraps) {
  for (const Index n : {1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4096, 5000, 40000}) {
    const Tensor x = arange(n) * 7919 - 100000;
    std::vector<std::int64_t> expected = x.to_vector<std::int64_t>(), backwards = expected;
    for (std::size_t i = 1; i < expected.size(); ++i) expected[i] += expected[i - 1];
    for (std::size_t i = backwards.size() - 1; i-- > 0;) backwards[i] += backwards[i + 1];
    EXPECT_EQ(cumsum(x).to_vector<std::int64_t>(), expected) << n;
    EXPECT_EQ(cumsum(x, 0, true).to_vector<std::int64_t>(), backwards) << n;
  }
  EXPECT_EQ(cumsum(full({600}, 1, Dtype::u8)).to_vector<std::uint8_t>().back(), 600 % 256);
  EXPECT_EQ(cumsum(full({2}, INT32_MAX, Dtype::i32)).to_vector<std::int32_t>().back(), -2);
}

/// An error names the operation and the line of the call, however long the axis is.
template <class F>
void expect_refused_here(const char* name, F call) {
  const std::string text = testing::message_of(call);
  EXPECT_NE(text.find(std::string("[") + name + "]"), std::string::npos) << text;
  EXPECT_NE(text.find("cumulative_test.cpp"), std::string::npos) << text;
}

TEST(Cumulative, TypesAreRefusedByNameAtAnyLength) {
  for (const Index n : {0, 1, 2}) {
    const Tensor whole = zeros({n}, Dtype::i32), z = zeros({n}, Dtype::c128);
    expect_refused_here("cumlogsumexp", [&] { return cumlogsumexp(whole); });
    expect_refused_here("cumlogsumexp", [&] { return cumlogsumexp(z); });
    expect_refused_here("cummax", [&] { return cummax(z); });
    expect_refused_here("cummin", [&] { return cummin(z); });
  }
  expect_refused_here("cumprod", [&] { return cumprod(ones({})); });
}

TEST(Cumsum, HasTheSameBitsOnAnyNumberOfThreadsAndInAnyRow) {
  const Index n = 100'003;
  const Tensor x = sin(arange(n, Dtype::f32));
  const int threads = num_threads();
  set_num_threads(1);
  const Tensor one = cumsum(x), back = cumsum(x, 0, true);
  for (int k : {2, 3, 5}) {
    set_num_threads(k);
    EXPECT_TRUE(all(equal(cumsum(x), one)).item<bool>());
    EXPECT_TRUE(all(equal(cumsum(x, 0, true), back)).item<bool>());
    EXPECT_TRUE(all(equal(cumsum(broadcast_to(x, {3, n}), 1), one)).item<bool>());
    EXPECT_TRUE(
        all(equal(cumsum(transpose(broadcast_to(x, {2, n}))), expand_dims(one, 1))).item<bool>());
  }
  set_num_threads(threads);
}

TEST(Cumsum, LetsInfinityAndNaNPassForward) {
  std::vector<double> x(1000, 1.0);
  x[700] = INFINITY;
  const std::vector<double> y = cumsum(tensor(x)).to_vector();
  EXPECT_EQ(y[699], 700);
  for (std::size_t i = 700; i < 1000; ++i) EXPECT_EQ(y[i], INFINITY);
  x[800] = NAN;
  const std::vector<double> z = cumsum(tensor(x)).to_vector();
  EXPECT_EQ(z[799], INFINITY);
  for (std::size_t i = 800; i < 1000; ++i) EXPECT_TRUE(std::isnan(z[i]));
}

}  // namespace
}  // namespace tessera
