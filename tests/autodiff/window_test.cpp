// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/window.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

/// A fold over two-dimensional windows, with the number of elements in each.
template <class F>
std::pair<Tensor, Tensor> pooled(const Tensor& x, const Window& w, double start, F combine) {
  const std::vector<double> v = x.to_vector();
  Index n[2] = {x.dim(0), x.dim(1)}, m[2];
  for (int d = 0; d < 2; ++d) m[d] = (n[d] + w.low[d] + w.high[d] - w.size[d]) / w.stride[d] + 1;
  std::vector<double> y, count;
  for (Index p = 0; p < m[0]; ++p)
    for (Index q = 0; q < m[1]; ++q) {
      double fold = start, inside = 0;
      for (Index i = 0; i < w.size[0]; ++i)
        for (Index j = 0; j < w.size[1]; ++j) {
          const Index a = p * w.stride[0] + i - w.low[0], b = q * w.stride[1] + j - w.low[1];
          if (a < 0 || b < 0 || a >= n[0] || b >= n[1]) continue;
          fold = combine(fold, v[static_cast<std::size_t>(a * n[1] + b)]), ++inside;
        }
      y.push_back(fold), count.push_back(inside);
    }
  return {tensor(y, {m[0], m[1]}), tensor(count, {m[0], m[1]})};
}

TEST(Window, TwoAxesAgainstLoops) {
  const Tensor x = sin(3.0 * reshape(arange(42, Dtype::f64), {6, 7}));
  const Window w{.size = {3, 2}, .stride = {2, 1}, .low = {1, 0}, .high = {2, 1}};
  const auto [total, count] = pooled(x, w, 0, [](double a, double b) { return a + b; });
  EXPECT_LE(max(abs(window_sum(x, w) - total)).item(), 1e-15);
  EXPECT_LE(max(abs(window_mean(x, w) - total / count)).item(), 1e-15);
  EXPECT_EQ(window_max(x, w).to_vector(), pooled(x, w, -INFINITY, [](double a, double b) {
                                            return std::max(a, b);
                                          }).first.to_vector());
  EXPECT_EQ(window_min(x, w).to_vector(), pooled(x, w, INFINITY, [](double a, double b) {
                                            return std::min(a, b);
                                          }).first.to_vector());
  // Axes before those of the window are a batch.
  EXPECT_EQ(window_max(stack({x, 2.0 * x}), w).to_vector(),
            stack({window_max(x, w), 2.0 * window_max(x, w)}).to_vector());
  for (auto f : {window_sum, window_mean, window_max, window_min}) {
    const CheckReport r = gradcheck([&](Tensor t) { return square(f(t, w)); }, x,
                                    {.order = 2, .directions = 2, .step = 0.01});
    EXPECT_TRUE(r) << to_string(r);
  }
}

TEST(Window, TiesGoToTheFirstAndNaNIsLargest) {
  const Window w{.size = {2, 2}, .stride = {2, 2}};
  const Tensor flat = ones({2, 4});
  EXPECT_EQ(grad([&](Tensor x) { return sum(window_max(x, w)); })(flat).to_vector(),
            (std::vector<double>{1, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(std::isnan(window_max(tensor<double>({1.0, NAN, 5.0}), {.size = {3}}).item()));
}

TEST(Window, WhatDoesNotFitThrows) {
  const Tensor x = ones({4});
  EXPECT_THROW(window_sum(x, {.size = {2, 2}}), Error);
  EXPECT_THROW(window_mean(arange(2), {.size = {2}}), Error);  // 1 / 2 is no integer
  EXPECT_THROW(window_sum(x, {.size = {2}, .stride = {0}}), Error);
  EXPECT_THROW(window_sum(x, {.size = {2}, .low = {2}}), Error);
  EXPECT_THROW(window_max(ones({1}), {.size = {2}, .low = {1}, .high = {1}, .dilation = {2}}),
               Error);  // two borders around nothing
  EXPECT_EQ(window_sum(x, {.size = {5}}).size(), 0);
}

TEST(Window, SizesBeyondAllElementsAreThoseOfTheFormula) {
  constexpr Index most = std::numeric_limits<Index>::max(), far = Index{1} << 62;
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(window_sum(x, {.size = {2}, .stride = {most}}).to_vector(), (std::vector<double>{3}));
  EXPECT_EQ(window_sum(x, {.size = {1}, .stride = {most}}).to_vector(), (std::vector<double>{1}));
  EXPECT_EQ(grad([](Tensor v) { return sum(window_sum(v, {.size = {2}, .stride = {most}})); })(x)
                .to_vector(),
            (std::vector<double>{1, 1}));
  EXPECT_EQ(window_sum(x, {.size = {2}, .dilation = {Index{1} << 59}}).size(), 0);
  EXPECT_THROW(window_sum(x, {.size = {5}, .dilation = {far}}), Error);
  EXPECT_THROW(window_sum(x, {.size = {most}, .dilation = {2}}), Error);
}

}  // namespace
}  // namespace tessera
