// SPDX-License-Identifier: Apache-2.0
//
// A literal takes the type of the tensor beside it with all its bits, or is refused by an error
// that names both.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tessera {
namespace {

struct LiteralUse {
  const char* name;
  std::function<Tensor(const Tensor&, Arg)> f;
  bool makes = false;  ///< the literal is the first element of the result
};
std::vector<LiteralUse> literal_uses() {
  const auto condition = [](const Tensor& x) { return equal(x, x); };
  return {{"add", [](const Tensor& x, Arg v) { return x + v; }},
          {"sub", [](const Tensor& x, Arg v) { return x - v; }},
          {"sub from", [](const Tensor& x, Arg v) { return v - x; }},
          {"mul", [](const Tensor& x, Arg v) { return x * v; }},
          {"div", [](const Tensor& x, Arg v) { return x / v; }},
          {"rem", [](const Tensor& x, Arg v) { return rem(x, v); }},
          {"maximum", [](const Tensor& x, Arg v) { return maximum(x, v); }},
          {"minimum", [](const Tensor& x, Arg v) { return minimum(v, x); }},
          {"equal", [](const Tensor& x, Arg v) { return equal(x, v); }},
          {"not_equal", [](const Tensor& x, Arg v) { return not_equal(v, x); }},
          {"less", [](const Tensor& x, Arg v) { return x < v; }},
          {"less_equal", [](const Tensor& x, Arg v) { return v <= x; }},
          {"greater", [](const Tensor& x, Arg v) { return x > v; }},
          {"greater_equal", [](const Tensor& x, Arg v) { return x >= v; }},
          {"and", [](const Tensor& x, Arg v) { return logical_and(x, v); }},
          {"or", [](const Tensor& x, Arg v) { return logical_or(x, v); }},
          {"xor", [](const Tensor& x, Arg v) { return logical_xor(v, x); }},
          {"shift_left", [](const Tensor& x, Arg v) { return shift_left(v, x); }},
          {"shift_right", [](const Tensor& x, Arg v) { return shift_right(v, x); }},
          {"where", [=](const Tensor& x, Arg v) { return where(condition(x), v, x); }},
          {"clip", [](const Tensor& x, Arg v) { return clip(x, v, v); }},
          {"scatter_set",
           [](const Tensor& x, Arg v) { return scatter_set(x, zeros({1}, Dtype::i64), v); }},
          {"cast", [](const Tensor& x, Arg v) { return cast(v, x.dtype()); }, true},
          {"full", [](const Tensor& x, Arg v) { return full({2}, v.literal, x.dtype()); }, true},
          {"scalar", [](const Tensor& x, Arg v) { return scalar(v.literal, x.dtype()); }, true},
          {"pad", [](const Tensor& x, Arg v) { return pad(x, {1}, {0}, {}, v.literal); }, true}};
}

template <class T, class V>
void expect_refusal(const LiteralUse& use, V v, const std::string& number) {
  try {
    use.f(tensor<T>({1, 2}), v);
    ADD_FAILURE() << use.name << " takes " << number << " as " << name_of(dtype_of<T>());
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.find(name_of(dtype_of<T>())) != std::string::npos &&
                text.find(number) != std::string::npos)
        << use.name << ": " << text;
  }
}

template <class T>
void check_edges() {
  using L = std::numeric_limits<T>;
  const std::int64_t low = L::min(), high = L::max();
  const Tensor x = tensor<T>({1, 3});
  for (const LiteralUse& use : literal_uses()) {
    for (const std::int64_t v : {low, low + 1, high - 1, high}) {
      const Tensor there = use.f(x, v);
      if (use.makes) {
        EXPECT_EQ(there.to_vector<T>()[0], static_cast<T>(v)) << use.name;
        continue;
      }
      const Tensor expected = use.f(x, tensor<T>({static_cast<T>(v)}, {}));
      EXPECT_EQ(there.type(), expected.type()) << use.name;
      EXPECT_TRUE(all(equal(there, expected)).item<bool>())
          << use.name << ' ' << v << " beside " << name_of(dtype_of<T>());
    }
    if constexpr (sizeof(T) < 8) {
      expect_refusal<T>(use, low - 1, std::to_string(low - 1));
      expect_refusal<T>(use, high + 1, std::to_string(high + 1));
      expect_refusal<T>(use, INT64_MAX, std::to_string(INT64_MAX));
      expect_refusal<T>(use, INT64_MIN, std::to_string(INT64_MIN));
    } else {
      expect_refusal<T>(use, std::uint64_t{1} << 63, "9223372036854775808");
    }
  }
}

TEST(Literals, KeepTheirBitsOrAreRefusedByEveryIntegerType) {
  check_edges<std::uint8_t>();
  check_edges<std::int32_t>();
  check_edges<std::uint32_t>();
  check_edges<std::int64_t>();
}

TEST(Literals, AreNotDoubles) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ((zeros({}, Dtype::i64) + odd).item<std::int64_t>(), odd);
  EXPECT_EQ((odd + zeros({}, Dtype::i64)).item<std::int64_t>(), odd);
  EXPECT_EQ(full({1}, odd, Dtype::i64).item<std::int64_t>(), odd);
  EXPECT_EQ(full({1}, 9007199254740993ll, Dtype::i64).item<std::int64_t>(), odd);
  EXPECT_EQ(where(tensor<bool>({true}), odd, arange(1)).item<std::int64_t>(), odd);
  EXPECT_EQ(clip(full({}, INT64_MAX, Dtype::i64), 0, odd).item<std::int64_t>(), odd);
  EXPECT_TRUE((full({}, odd, Dtype::i64) > (odd - 1)).item<bool>());
  EXPECT_TRUE((full({}, odd, Dtype::i64) > (std::int64_t{1} << 53)).item<bool>());
  EXPECT_EQ(jit([odd](Tensor x) { return x + odd; })(zeros({}, Dtype::i64)).item<std::int64_t>(),
            odd);
  EXPECT_EQ(vmap([odd](Tensor x) { return x + odd; })(zeros({1}, Dtype::i64)).item<std::int64_t>(),
            odd);
  EXPECT_EQ(scatter_min(full({2}, INT64_MAX, Dtype::i64), 1, odd).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{INT64_MAX, odd}));
  EXPECT_EQ(clip(tensor<std::int64_t>({-5, 7}), 0, std::int64_t{1} << 40).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 7}));
}

TEST(Literals, OfEveryIntegerTypeOfTheLanguage) {
  const Tensor x = arange(2);
  const std::vector<std::int64_t> expected = {3, 4};
  const std::size_t size = 3;
  const short small = 3;
  EXPECT_EQ((x + size).to_vector<std::int64_t>(), expected);
  EXPECT_EQ((x + small).to_vector<std::int64_t>(), expected);
  EXPECT_EQ((x + 3u).to_vector<std::int64_t>(), expected);
  EXPECT_EQ((x + 3ll).to_vector<std::int64_t>(), expected);
  EXPECT_EQ((x + std::uint8_t{3}).to_vector<std::int64_t>(), expected);
  EXPECT_EQ((ones({}) * UINT64_MAX).item(), 0x1p64);
  EXPECT_EQ(full({1}, size).item(), 3);
}

TEST(Literals, OfFloatingTensorsRound) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ((zeros({}) + odd).item(), 0x1p53);
  EXPECT_EQ((zeros({}, Dtype::f32) + 16777217).item<float>(), 0x1p24f);
  EXPECT_EQ((zeros({}, Dtype::f32) + ((std::int64_t{1} << 60) + 1)).item<float>(), 0x1p60f);
  EXPECT_EQ((zeros({}, Dtype::c128) + odd).item<c128>(), c128(0x1p53));
}

TEST(Literals, OfOtherKindsKeepTheirRules) {
  EXPECT_THROW(arange(2) + 2.5, Error);
  EXPECT_THROW(arange(2) + 2.0, Error);
  EXPECT_THROW(arange(2) + true, Error);
  EXPECT_THROW(tensor<bool>({true}) + 1, Error);
  EXPECT_THROW(logical_and(tensor<bool>({true}), 1), Error);
  EXPECT_EQ(full({1}, 2.9, Dtype::i32).item<std::int32_t>(), 2);
  EXPECT_EQ(full({1}, -0.9, Dtype::u8).item<std::uint8_t>(), 0);
  EXPECT_EQ(full({1}, 255.9, Dtype::u8).item<std::uint8_t>(), 255);
  EXPECT_EQ(full({1}, -0x1p63, Dtype::i64).item<std::int64_t>(), INT64_MIN);
  EXPECT_TRUE(full({1}, 2, Dtype::boolean).item<bool>());
  for (const double v : {256.0, -1.0, 1e300, double(NAN), double(INFINITY)})
    EXPECT_THROW(full({1}, v, Dtype::u8), Error) << v;
  EXPECT_THROW(full({1}, 0x1p63, Dtype::i64), Error);
  EXPECT_THROW(full({1}, c128(1, 2), Dtype::f64), Error);
  EXPECT_EQ(full({1}, c128(1, 0), Dtype::f64).item(), 1);
  EXPECT_EQ(full({1}, c128(1, 2), Dtype::c64).item<c64>(), c64(1, 2));
}

TEST(Literals, AsExponents) {
  const Tensor x = tensor<std::int64_t>({2, 3});
  EXPECT_EQ(pow(x, std::int64_t{3}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{8, 27}));
  EXPECT_EQ(pow(x, 3u).to_vector<std::int64_t>(), (std::vector<std::int64_t>{8, 27}));
  EXPECT_THROW(pow(x, std::int64_t{1} << 40), Error);
  EXPECT_EQ(pow(tensor({1.0, 0.5}), std::int64_t{1} << 40).to_vector(),
            (std::vector<double>{1, 0}));
}

TEST(Arange, IsHeldByItsType) {
  EXPECT_EQ(arange(256, Dtype::u8).to_vector<std::uint8_t>().back(), 255);
  EXPECT_THROW(arange(257, Dtype::u8), Error);
  EXPECT_EQ(arange(2, Dtype::boolean).size(), 2);
  EXPECT_THROW(arange(3, Dtype::boolean), Error);
  EXPECT_EQ(one_hot(tensor<std::uint8_t>({1}), 300).to_vector()[1],
            1);  // more classes than the type counts
  EXPECT_EQ(sum(one_hot(tensor<std::uint8_t>({1}), 300)).item(), 1);
}

}  // namespace
}  // namespace tessera
