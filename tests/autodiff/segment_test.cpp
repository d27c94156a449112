// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/segment.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tessera {
namespace {

TEST(Segment, AgainstLoops) {
  const Tensor x = tensor(
                   {0.3, -1.1, 0.7, 0.2, -0.4, 0.9, 1.3, -0.6, -0.8, 0.5, 0.1, -0.2, 0.6, 1.7},
                   {7, 2}),
               ids = tensor<std::int64_t>({2, 0, 2, 4, 0, 2, 0});
  const auto v = x.to_vector();
  const std::vector<std::int64_t> id = ids.to_vector<std::int64_t>();
  for (std::size_t s = 0; s < 5; ++s)
    for (std::size_t c = 0; c < 2; ++c) {
      double total = 0, product = 1, high = -INFINITY, low = INFINITY, count = 0;
      for (std::size_t i = 0; i < 7; ++i)
        if (id[i] == static_cast<std::int64_t>(s))
          total += v[2 * i + c], product *= v[2 * i + c],
              high = std::max(high, v[2 * i + c]), low = std::min(low, v[2 * i + c]), ++count;
      const std::size_t at = 2 * s + c;
      EXPECT_DOUBLE_EQ(segment_sum(x, ids, 5).to_vector()[at], total);
      EXPECT_DOUBLE_EQ(segment_mean(x, ids, 5).to_vector()[at], count ? total / count : 0);
      EXPECT_DOUBLE_EQ(segment_prod(x, ids, 5).to_vector()[at], product);
      EXPECT_EQ(segment_max(x, ids, 5).to_vector()[at], high);
      EXPECT_EQ(segment_min(x, ids, 5).to_vector()[at], low);
    }
  EXPECT_EQ(segment_max(arange(3), tensor<std::int64_t>({0, 0, 0}), 2).to_vector<std::int64_t>()[1],
            std::numeric_limits<std::int64_t>::lowest());
  for (auto f : {segment_sum, segment_mean, segment_prod}) {
    const CheckReport r =
        gradcheck([&](Tensor t) { return square(f(t, ids, 5)); }, x, {.order = 2});
    EXPECT_TRUE(r) << to_string(r);
  }
  const Tensor dense = tensor<std::int64_t>({2, 0, 2, 1, 0, 2, 0});  // no segment without rows
  const CheckReport r = gradcheck(
      [&](Tensor t) { return square(segment_max(t, dense, 3)) + segment_min(t, dense, 3); }, x,
      {.order = 2, .step = 0.005});
  EXPECT_TRUE(r) << to_string(r);
  EXPECT_THROW(segment_sum(x, tensor<std::int64_t>({0, 1}), 5), Error);
  // 1 / 2 is no integer.
  EXPECT_THROW(segment_mean(arange(2), tensor<std::int64_t>({0, 0}), 1), Error);
  for (auto f : {segment_sum, segment_prod}) EXPECT_THROW(f(x, ids, 3), Error);
}

/// 2^24 and 1 are 2^24 in f32: neither the rows nor the sum of ones goes on from there.
TEST(Segment, MeansOfMoreRowsThanF32CountsAreThoseOfAll) {
  const Index zero_rows = Index(1) << 22, n = (Index(1) << 24) + zero_rows;
  const Tensor ids = zeros({n}, Dtype::i32);
  const Tensor x = concatenate({zeros({zero_rows}, Dtype::f32), ones({n - zero_rows}, Dtype::f32)});
  EXPECT_EQ(segment_mean(x, ids, 1).to_vector<float>()[0], 0.8f);
  EXPECT_EQ(segment_mean(ones({n}, Dtype::f32), ids, 1).to_vector<float>()[0], 1.0f);
}

TEST(Segment, ProductsWithZerosHaveTheirDerivatives) {
  const Tensor ids = tensor<std::int64_t>({1, 0, 1, 1}), x = tensor({0.0, 5.0, 0.0, 3.0});
  const auto f = [&](Tensor t) { return sum(segment_prod(t, ids, 2)); };  // x1 + x0 x2 x3
  EXPECT_EQ(grad(f)(x).to_vector(), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_EQ(hessian(f)(x).to_vector(),
            (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Segment, ProductsKeepApartWhatIsNotFiniteInAnother) {
  for (const double other : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const Tensor x = tensor({2.0, other, 3.0}), ids = tensor<std::int64_t>({0, 1, 0});
    const auto f = [&](Tensor t) { return select(segment_prod(t, ids, 2), 0, 0); };
    EXPECT_EQ(grad(f)(x).to_vector(), (std::vector<double>{3, 0, 2}));
    EXPECT_EQ(grad([&](Tensor t) { return sum(segment_prod(t, ids, 2)); })(x).to_vector(),
              (std::vector<double>{3, 1, 2}));
    EXPECT_EQ(hessian(f)(x).to_vector(), (std::vector<double>{0, 0, 1, 0, 0, 0, 1, 0, 0}));
  }
}

}  // namespace
}  // namespace tessera
