// SPDX-License-Identifier: Apache-2.0
//
// Indexing, order, running sums, random numbers and statistics as users call them.
#include "error_text.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

using testing::message_of;

void expect_vector(const Tensor& got, const std::vector<double>& want, double tolerance = 0) {
  const auto v = got.to_vector();
  ASSERT_EQ(v.size(), want.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(v[i], want[i], tolerance) << "element " << i;
}
const double kNaN = std::numeric_limits<double>::quiet_NaN(),
             kInf = std::numeric_limits<double>::infinity();

TEST(Index, OutsideNamesIndexAndRange) {
  const Tensor x = zeros({3, 4});
  const std::string m = message_of([&] { take(x, tensor<std::int64_t>({0, 7}), 1); });
  EXPECT_NE(m.find("index 7"), std::string::npos) << m;
  EXPECT_NE(m.find("0 ... 3"), std::string::npos) << m;
  EXPECT_NE(message_of([&] { scatter_add(x, tensor<std::int32_t>({-1}), 1.0); }).find("index -1"),
            std::string::npos);
  EXPECT_THROW(gather(zeros({0}), tensor<std::int64_t>({0})), Error);
  EXPECT_EQ(gather(zeros({0, 2}), tensor<std::int64_t>(std::vector<std::int64_t>{})).shape(),
            (Shape{0, 2}));
}

TEST(Index, TakeAlongEveryAxis) {
  const Tensor x = reshape(cast(arange(24), Dtype::f64), {2, 3, 4});
  const Tensor i = tensor<std::int64_t>({2, 0, 1, 1}, {2, 2});
  const Tensor y = take(x, i, 1);
  ASSERT_EQ(y.shape(), (Shape{2, 2, 2, 4}));
  const auto v = y.to_vector();
  const int at[2][2] = {{2, 0}, {1, 1}};
  for (int a = 0; a < 2; ++a)
    for (int p = 0; p < 2; ++p)
      for (int q = 0; q < 2; ++q)
        for (int c = 0; c < 4; ++c)
          EXPECT_EQ(v[((a * 2 + p) * 2 + q) * 4 + c], a * 12 + at[p][q] * 4 + c);
  expect_vector(take_along_axis(tensor({3.0, 1.0, 2.0}), argsort(tensor({3.0, 1.0, 2.0})), 0),
                {1, 2, 3});
  expect_vector(flatten(one_hot(tensor<std::int64_t>({1, 5}), 3)), {0, 1, 0, 0, 0, 0});
}

TEST(Index, BlocksThatMove) {
  const Tensor x = reshape(cast(arange(12), Dtype::f64), {3, 4});
  const Tensor at = tensor<std::int64_t>({1, 2});
  expect_vector(flatten(dynamic_slice(x, at, {2, 2})), {6, 7, 10, 11});
  expect_vector(flatten(dynamic_update(x, full({2, 2}, -1), at)),
                {0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1});
  expect_vector(flatten(dynamic_slice(x, tensor<std::int32_t>({2, 0}), {1, 4})), {8, 9, 10, 11});
  EXPECT_THROW(dynamic_slice(x, tensor<std::int64_t>({2, 2}), {2, 2}),
               Error);  // leaves at the bottom
  EXPECT_THROW(dynamic_slice(x, tensor<std::int64_t>({0, 1}), {1, 4}),
               Error);  // leaves at the right
  expect_vector(flatten(grad([&](Tensor z) {
                  return sum(square(dynamic_slice(z, at, {2, 2})));
                })(x)),
                {0, 0, 0, 0, 0, 0, 12, 14, 0, 0, 20, 22});
}

TEST(Index, ABlockThatLeavesSaysOnWhichAxis) {
  const Tensor x = zeros({3, 4});
  const auto at = [](std::int64_t row, std::int64_t column) {
    return tensor<std::int64_t>({row, column});
  };
  const auto block = [&](Tensor starts) { return dynamic_slice(x, starts, {2, 2}); };
  const std::string why =
      "dynamic_slice: the block [2,2] does not lie inside of f64[3,4]; it may begin at [0,0] ... "
      "[1,2] (the condition is false at ";
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(message_of([&] { block(at(2, 2)); }), why + "[0] of [2])");
  says(message_of([&] { block(at(0, -1)); }), why + "[1] of [2])");
  says(message_of([&] { jit(block)(at(2, 2)); }), why + "[0] of [2])");
  says(message_of([&] { vmap(block)(stack({at(0, 0), at(1, 3)})); }), why + "[1,1] of [2,2])");
  says(message_of([&] {
         dynamic_update(x, ones({1, 4}), at(0, 1));
       }),
       "dynamic_update: the block [1,4] does not lie inside of f64[3,4]");
  // Blocks without elements lie somewhere, too.
  EXPECT_EQ(dynamic_slice(x, at(3, 2), {0, 2}).shape(), (Shape{0, 2}));
  EXPECT_THROW(dynamic_slice(x, at(9, -7), {0, 2}), Error);
}

TEST(Index, PositionsOfNonzero) {
  const Tensor x = tensor({0.0, 2.0, 0.0, -1.0}, {2, 2});
  EXPECT_EQ(nonzero(x).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(nonzero(zeros({3})).shape(), (Shape{0, 1}));
  EXPECT_THROW(vmap([](Tensor v) { return cast(sum(nonzero(v)), Dtype::f64); })(x), Error);
}

TEST(Order, NanLastAndStable) {
  const Tensor x = tensor({2.0, kNaN, -kInf, 2.0, 1.0});
  EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 4, 0, 3, 1}));
  EXPECT_EQ(argsort(x, 0, true).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 3, 4, 2, 1}));
  const auto [v, i] = top_k(tensor({1.0, 5.0, 3.0}), 2);
  expect_vector(v, {5, 3});
  EXPECT_EQ(i.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_THROW(top_k(x, 6), Error);
  expect_vector(grad([](Tensor z) {
                  return sum(sort(z) * tensor({1.0, 2.0, 3.0}));
                })(tensor({5.0, 1.0, 3.0})),
                {3, 1, 2});
}

TEST(Cumulative, ProductsExactAtZero) {
  const Tensor x = tensor({2.0, 0.0, 3.0, 4.0});
  expect_vector(cumprod(x), {2, 0, 0, 0});
  expect_vector(cumprod(x, 0, true), {0, 0, 12, 4});
  // d/dx of 2 + 2*0 + 2*0*3 + 2*0*3*4: the derivative along the zero is 2 (1 + 3 + 12).
  expect_vector(grad([](Tensor z) { return sum(cumprod(z)); })(x), {1, 32, 0, 0});
  expect_vector(cummax(tensor({1.0, 3.0, 2.0, 3.0})), {1, 3, 3, 3});
  expect_vector(grad([](Tensor z) { return sum(cummax(z)); })(tensor({1.0, 3.0, 2.0, 3.0})),
                {1, 3, 0, 0});
  expect_vector(cummin(tensor({2.0, 3.0, 1.0}), 0, true), {1, 1, 1});
  EXPECT_TRUE(std::isnan(cummax(tensor({1.0, kNaN, 2.0})).to_vector()[2]));
}

TEST(Random, PublishedWordsAndMoments) {
  // Salmon et al. 2011, known-answer file of their library: philox4x32 10, counter and key 0.
  EXPECT_EQ(random_bits(tensor<std::uint32_t>({0, 0}), {4}).to_vector<std::uint32_t>(),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const Tensor key = random_key(42);
  const Index n = 100000;
  const Tensor u = uniform(key, {n}), z = normal(key, {n}), w = normal(key, {n}, Dtype::c128);
  EXPECT_GE(min(u).item(), 0);
  EXPECT_LT(max(u).item(), 1);
  const double e = 5 / std::sqrt(n);  // five standard errors
  EXPECT_NEAR(mean(u).item(), 0.5, e * std::sqrt(1 / 12.0));
  EXPECT_NEAR(mean(z).item(), 0, e);
  EXPECT_NEAR(variance(z).item(), 1, e * std::sqrt(2.0));
  EXPECT_NEAR(mean(pow(z, 4)).item(), 3, e * std::sqrt(96.0));
  EXPECT_NEAR(mean(square(abs(w))).item(), 1, e);
  const Tensor keys = split_key(key, 3);
  EXPECT_NE(keys.to_vector<std::uint32_t>()[0],
            random_bits(key, {6}).to_vector<std::uint32_t>()[0]);
  const Tensor both = vmap([](Tensor k) { return uniform(k, {5}); })(keys);
  EXPECT_EQ(select(both, 0, 1).to_vector(), uniform(select(keys, 0, 1), {5}).to_vector());
  EXPECT_EQ(uniform(keys, {5}).to_vector(), both.to_vector());
}

TEST(Random, ComplexNormalNumbersOfEightAxes) {
  const Tensor key = random_key(3), z = normal(key, Shape::filled(8, 1), Dtype::c128);
  EXPECT_EQ(z.shape(), Shape::filled(8, 1));
  // The same numbers in any shape, and of a stack of keys those of each.
  const Tensor keys = split_key(key, 2), flat = normal(keys, {12}, Dtype::c64);
  EXPECT_EQ(normal(keys, {3, 2, 2}, Dtype::c64).to_vector<c64>(), flat.to_vector<c64>());
  EXPECT_EQ(select(flat, 0, 1).to_vector<c64>(),
            normal(select(keys, 0, 1), {12}, Dtype::c64).to_vector<c64>());
  EXPECT_EQ(normal(key, {0, 2}, Dtype::c64).shape(), (Shape{0, 2}));
  EXPECT_EQ(normal(key, {}, Dtype::c128).item<c128>(), z.to_vector<c128>()[0]);
}

TEST(Reductions, SumsAndProductsOfIntegersWrapAndThoseOfBoolDoNot) {
  EXPECT_EQ(sum(ones({300}, Dtype::u8)).item<std::uint8_t>(), 300 % 256);
  EXPECT_EQ(sum(ones({300}, Dtype::boolean)).item<std::int64_t>(), 300);
  EXPECT_EQ(sum(full({2}, INT32_MAX, Dtype::i32)).item<std::int32_t>(), -2);
}

/// The bounds of a closed interval move what comes out, x does not: the derivatives in x, low and
/// high sum to 1, that of all three moved together.
TEST(Statistics, ClipBetweenEqualBoundsDoesNotMoveWithItsArgument) {
  const auto f = [](Tensor x, Tensor l, Tensor h) { return sum(clip(x, l, h)); };
  const Tensor x = tensor({0.5, 1.0, 1.5, 1.0, kNaN, 2.0}),
               l = tensor({1.0, 1.0, 1.0, 0.0, 1.0, 2.0}),
               h = tensor({1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  const auto [dx, dl, dh] = vjp(f, x, l, h).second(Tensor(1.0));
  expect_vector(dx, {0, 0, 0, 0.5, 1, 0});
  expect_vector(slice(dx + dl + dh, 0, 0, 4), {1, 1, 1, 1});
  expect_vector(jvp([&](Tensor v) { return clip(v, l, h); }, x, ones({6})).second,
                {0, 0, 0, 0.5, 1, 0});
  EXPECT_TRUE(std::isnan(clip(x, l, h).to_vector()[4]));
  expect_vector(slice(clip(x, l, h), 0, 0, 4), {1, 1, 1, 1});
  const auto closed = [](Tensor v) { return sum(square(clip(v, 1.0, 1.0))); };
  expect_vector(grad(closed)(tensor({1.0})), {0});
  expect_vector(flatten(hessian(closed)(tensor({1.0}))), {0});
  expect_vector(grad([](Tensor v) { return sum(clip(v, 0.0, 1.0)); })(tensor({0.0, 0.5, 1.0, 2.0})),
                {0.5, 1, 0.5, 0});
}

TEST(Statistics, StableAtTheEdge) {
  const Tensor x = tensor({1000.0, 1000.0, -kInf});
  EXPECT_NEAR(logsumexp(x).item(), 1000 + std::log(2.0), 1e-12);
  EXPECT_EQ(logsumexp(tensor({-kInf, -kInf})).item(), -kInf);
  expect_vector(softmax(x), {0.5, 0.5, 0}, 1e-15);
  expect_vector(grad([](Tensor z) { return logsumexp(z); })(tensor({0.0, std::log(3.0)})),
                {0.25, 0.75}, 1e-15);
  expect_vector(log_softmax(tensor({0.0, -800.0})), {0, -800}, 1e-12);
  EXPECT_NEAR(variance(tensor({1e8 + 1, 1e8 + 2, 1e8 + 3}), {0}, 1).item(), 1, 1e-12);
  EXPECT_NEAR(variance(tensor<c128>({{1, 1}, {-1, -1}})).item(), 2, 1e-15);
  expect_vector(clip(tensor({-2.0, 0.5, 9.0}), -1, 1), {-1, 0.5, 1});
}

TEST(Shapes, EmptyOneStridedAndEightAxes) {
  EXPECT_EQ(cumsum(zeros({0})).size(), 0);
  EXPECT_EQ(sort(zeros({2, 0}), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(sort(tensor({3.0})).item(), 3);
  const Tensor t = transpose(reshape(cast(arange(6), Dtype::f64), {2, 3}));  // strided
  expect_vector(flatten(cumsum(t, 0)), {0, 3, 1, 7, 3, 12});
  expect_vector(flatten(sort(t, 0, true)), {2, 5, 1, 4, 0, 3});
  expect_vector(cumsum(broadcast_to(tensor(2.0), {3})), {2, 4, 6});
  const Tensor eight = broadcast_to(tensor({1.0, 2.0}), {1, 2, 1, 2, 1, 2, 1, 2});
  EXPECT_EQ(sum(cumsum(eight, 3)).item(), 8 * (1.0 + 2.0) / 2 * 3);
  EXPECT_EQ(take_along_axis(eight, zeros(eight.shape(), Dtype::i64), 7).shape(), eight.shape());
  EXPECT_EQ(scatter_add(zeros({3}), zeros({0}, Dtype::i64), zeros({0})).to_vector(),
            (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace tessera
