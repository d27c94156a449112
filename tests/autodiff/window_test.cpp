// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/window.h"

#include "same_bits.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
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

TEST(Window, TrailingAxesAreChannels) {
  // As with the channels moved to the front; more channels than a block of them, and a rest.
  const Tensor x = sin(7.0 * reshape(arange(2 * 5 * 6 * 70, Dtype::f64), {2, 5, 6, 70}));
  Window w{.size = {3, 2}, .stride = {2, 1}, .low = {1, 0}, .high = {1, 1}, .dilation = {1, 2}};
  const Tensor front = moveaxis(x, -1, 1);
  const int before = num_threads();
  for (auto f : {window_sum, window_mean, window_max, window_min}) {
    w.trailing = 0;
    const auto of_front = [&](const Tensor& t) { return f(t, w); };
    const Tensor want = moveaxis(of_front(front), 1, -1), ct = cos(want * 3.0);
    const Tensor back = moveaxis(vjp(of_front, front).second(moveaxis(ct, -1, 1)), 1, -1);
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      w.trailing = 1;
      const auto of = [&](const Tensor& t) { return f(t, w); };
      EXPECT_TRUE(same_bits(of(x), want));
      EXPECT_TRUE(same_bits(vjp(of, x).second(ct), back));
      EXPECT_TRUE(same_bits(vmap(of)(stack({x, 2.0 * x, cos(x)})),
                            stack({of(x), of(2.0 * x), of(cos(x))})));
      const CheckReport r =
          gradcheck([&](const Tensor& t) { return square(of(t)); }, slice(x, -1, 0, 3),
                    {.order = 2, .directions = 2, .step = 0.001});
      EXPECT_TRUE(r) << to_string(r);
    }
  }
  set_num_threads(before);
}

TEST(Window, LargeWindowsGoAxisByAxisToTheSame) {
  // 7 x 7 elements are more than go at once; ties, by rounding, and NaN in three axes.
  const Tensor x = floor(3.0 * sin(5.0 * reshape(arange(8 * 9 * 3, Dtype::f64), {8, 9, 3})));
  const Window large{.size = {7, 7}, .low = {3, 3}, .high = {3, 3}, .trailing = 1};
  const Tensor y = window_max(x, large),
               g = grad([&](const Tensor&t) { return sum(window_max(t, large)); })(x);
  std::vector<double> hits(static_cast<std::size_t>(x.size()));
  const std::vector<double> v = x.to_vector(), got = y.to_vector();
  for (Index p = 0; p < 8; ++p)
    for (Index q = 0; q < 9; ++q)
      for (Index c = 0; c < 3; ++c) {
        Index best = -1;
        for (Index i = std::max<Index>(p - 3, 0); i < std::min<Index>(p + 4, 8); ++i)
          for (Index j = std::max<Index>(q - 3, 0); j < std::min<Index>(q + 4, 9); ++j) {
            const Index at = (i * 9 + j) * 3 + c;
            if (best < 0 || v[static_cast<std::size_t>(at)] > v[static_cast<std::size_t>(best)])
              best = at;
          }
        EXPECT_EQ(got[static_cast<std::size_t>((p * 9 + q) * 3 + c)],
                  v[static_cast<std::size_t>(best)]);
        ++hits[static_cast<std::size_t>(best)];
      }
  EXPECT_EQ(sum(g).item(), static_cast<double>(x.size()));
  const std::vector<double> slopes = g.to_vector();
  for (std::size_t k = 0; k < hits.size(); ++k) EXPECT_EQ(slopes[k], hits[k]) << k;

  const Window cubes{.size = {2, 2, 2}, .stride = {2, 2, 2}, .trailing = 2};
  Tensor z = reshape(sin(arange(4 * 2 * 6 * 2 * 5, Dtype::f64)), {4, 2, 6, 2, 5});
  z = where(z > 0.999, NAN, z);
  const Tensor pooled = window_max(z, cubes);
  EXPECT_EQ(pooled.shape(), (Shape{2, 1, 3, 2, 5}));
  const Tensor as_max = max(reshape(z, {2, 2, 1, 2, 3, 2, 2, 5}), {1, 3, 5});
  for (std::size_t k = 0; k < 60; ++k) {
    const double a = pooled.to_vector()[k], b = as_max.to_vector()[k];
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)));
  }
}

/// 2^24 and 1 are 2^24 in f32: neither the elements nor the sum of ones goes on from there.
TEST(Window, MeansOfMoreElementsThanF32CountsAreThoseOfAll) {
  const Index zero_count = Index(1) << 22, n = (Index(1) << 24) + zero_count;
  const Tensor x =
      concatenate({zeros({zero_count}, Dtype::f32), ones({n - zero_count}, Dtype::f32)});
  EXPECT_EQ(window_mean(x, {.size = {n}}).to_vector<float>(), (std::vector<float>{0.8f}));
}

TEST(Window, EmptyAxes) {
  const Window w{.size = {2}, .stride = {2}, .trailing = 1};
  for (const Shape& s : {Shape{0, 4, 3}, Shape{2, 4, 0}, Shape{2, 0, 3}, Shape{2, 1, 3}}) {
    const Tensor y = window_max(zeros(s), w);
    EXPECT_EQ(y.shape(), (Shape{s[0], s[1] / 2, s[2]}));
    EXPECT_EQ(grad([&](const Tensor& t) { return sum(window_max(t, w)); })(zeros(s)).shape(), s);
  }
}

TEST(Window, WhatDoesNotFitThrows) {
  const Tensor x = ones({4});
  EXPECT_THROW(window_sum(x, {.size = {2, 2}}), Error);
  EXPECT_THROW(window_max(x, {.size = {2}, .trailing = 1}), Error);
  EXPECT_THROW(window_max(x, {.size = {2}, .trailing = -1}), Error);
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
