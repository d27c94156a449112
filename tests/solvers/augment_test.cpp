// SPDX-License-Identifier: Apache-2.0
//
// Samples changed by chance, against what they can become, by counts, and alone.
#include "tessera/solvers/augment.h"

#include "error_text.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace tessera;
using namespace tessera::solvers;
using tessera::testing::message_of;

namespace {

Tensor keys_of_rows(const Tensor& x) { return split_key(random_key(3), x.dim(0)); }
std::vector<double> row_values(const Tensor& x, Index n) { return select(x, 0, n).to_vector(); }

}  // namespace

TEST(Augment, FlipsAShareOfTheSamplesAlongOneAxis) {
  const Tensor x = normal(random_key(1), {4000, 2, 3}), back = reverse(x, {2});
  const Tensor y = flipped(x, 1, 0.3, keys_of_rows(x));
  int turned = 0;
  for (Index n = 0; n < 4000; ++n) {
    const bool now = row_values(y, n) == row_values(back, n);
    EXPECT_TRUE(now || row_values(y, n) == row_values(x, n)) << n;
    turned += now;
  }
  EXPECT_NEAR(turned, 1200, 4 * std::sqrt(4000 * 0.3 * 0.7));  // four standard deviations
  EXPECT_EQ(flipped(x, 1, 0, keys_of_rows(x)).to_vector(), x.to_vector());
  EXPECT_EQ(flipped(x, 1, 1, keys_of_rows(x)).to_vector(), back.to_vector());
}

TEST(Augment, ShiftsByEachNumberAlikeAndPutsZerosWhereNothingComes) {
  const Index rows = 5000, size = 4;
  const Tensor x = cast(reshape(arange(rows * size), {rows, size}) + 1, Dtype::f64);  // none is 0
  const Tensor y = shifted(x, {0}, 2, keys_of_rows(x));
  std::vector<int> met(5, 0);
  for (Index n = 0; n < rows; ++n) {
    const std::vector<double> was = row_values(x, n), is = row_values(y, n);
    int fits = 0;
    for (Index s = -2; s <= 2; ++s) {
      std::vector<double> want(4, 0.0);
      for (Index i = 0; i < size; ++i)
        if (i - s >= 0 && i - s < size)
          want[static_cast<std::size_t>(i)] = was[static_cast<std::size_t>(i - s)];
      if (want == is) ++fits, ++met[static_cast<std::size_t>(s + 2)];
    }
    EXPECT_EQ(fits, 1) << n;
  }
  for (const int count : met) EXPECT_NEAR(count, 1000, 4 * std::sqrt(5000 * 0.2 * 0.8));
  EXPECT_EQ(shifted(x, {0}, 0, keys_of_rows(x)).to_vector(), x.to_vector());
}

TEST(Augment, AxesAreShiftedByNumbersOfTheirOwn) {
  const Tensor x = ones({2000, 3, 3}, Dtype::f32);
  const Tensor y = shifted(x, {0, 1}, 1, keys_of_rows(x));
  EXPECT_EQ(y.type(), x.type());
  int both = 0;
  for (Index n = 0; n < 2000; ++n) both += sum(cast(select(y, 0, n), Dtype::f64)).item() == 4;
  EXPECT_NEAR(both, 2000 * 4.0 / 9, 4 * std::sqrt(2000 * 20.0 / 81));
}

TEST(Augment, NeitherTheBatchNorTheThreadsHaveAPart) {
  const auto all = [](const Tensor& x, const Tensor& keys) {
    const Tensor three = split_key(keys, 3);
    const auto key = [&](Index k) { return select(three, 1, k); };
    return shifted(flipped(noisy(x, 0.1, key(0)), 0, 0.5, key(1)), {1, 0}, 2, key(2));
  };
  const Tensor x = normal(random_key(1), {500, 7, 30}), keys = keys_of_rows(x);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor whole = all(x, keys);
  set_num_threads(3);
  EXPECT_EQ(all(x, keys).to_vector(), whole.to_vector());
  set_num_threads(before);
  for (const Index n : {0, 7, 499})
    EXPECT_EQ(all(slice(x, 0, n, n + 1), slice(keys, 0, n, n + 1)).to_vector(),
              row_values(whole, n));
  EXPECT_EQ(all(slice(x, 0, 0, 0), slice(keys, 0, 0, 0)).shape(), (Shape{0, 7, 30}));
}

TEST(Augment, RefusesAxesThatAreNotThere) {
  const Tensor x = ones({4, 3}), keys = keys_of_rows(x);
  for (const int axis : {-1, 1}) {
    EXPECT_NE(message_of([&] { flipped(x, axis, 0.5, keys); }).find("have no axis"),
              std::string::npos);
    EXPECT_NE(message_of([&] { shifted(x, {axis}, 1, keys); }).find("have no axis"),
              std::string::npos);
  }
  EXPECT_NE(message_of([&] { shifted(x, {0}, -1, keys); }).find("at most -1"), std::string::npos);
}
