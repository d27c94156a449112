// SPDX-License-Identifier: Apache-2.0
//
// Axes are named once and lie inside of the array, whoever takes them; bools are counted; what is
// undefined is refused.
#include "error_text.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessera {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(Axes, NamedTwiceOrOutsideAreRefused) {
  const Tensor x = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
  for (const Shape& axes :
       {Shape{0, 0}, Shape{1, -1}, Shape{1, 1, 1}, Shape{2}, Shape{-3}, Shape{Index{1} << 32}}) {
    EXPECT_THROW(reverse(x, axes), Error) << to_string(axes);
    EXPECT_THROW(sum(x, axes), Error) << to_string(axes);
    EXPECT_THROW(max(x, axes), Error) << to_string(axes);
    EXPECT_THROW(prod(x, axes), Error) << to_string(axes);
    EXPECT_THROW(mean(x, axes), Error) << to_string(axes);
    EXPECT_THROW(logsumexp(x, axes), Error) << to_string(axes);
  }
  EXPECT_EQ(reverse(x, {-1, 0}).to_vector(), (std::vector<double>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(reverse(x, {}).to_vector(), x.to_vector());
}

TEST(Axes, TrianglesBeyondTheCornersAreAllOrNothing) {
  using Limits = std::numeric_limits<Index>;
  const std::vector<double> all(6, 1.0), nothing(6, 0.0);
  const Tensor x = ones({2, 3});
  EXPECT_EQ(tril(x, Limits::max()).to_vector(), all);
  EXPECT_EQ(tril(x, Limits::min()).to_vector(), nothing);
  EXPECT_EQ(triu(x, Limits::max()).to_vector(), nothing);
  EXPECT_EQ(triu(x, Limits::min()).to_vector(), all);
}

TEST(Bools, AreCounted) {
  const Tensor x = tensor<bool>({true, false, true});
  EXPECT_EQ(sum(x).item<std::int64_t>(), 2);
  EXPECT_EQ(prod(x).item<std::int64_t>(), 0);
  EXPECT_EQ(prod(zeros({0}, Dtype::boolean)).item<std::int64_t>(), 1);
  EXPECT_EQ(cumsum(x).to_vector<std::int64_t>(), (Indices{1, 1, 2}));
  EXPECT_EQ(cumprod(x).to_vector<std::int64_t>(), (Indices{1, 0, 0}));
  EXPECT_EQ(cast(cummax(x, 0, true), Dtype::i64).to_vector<std::int64_t>(), (Indices{1, 1, 1}));
  EXPECT_EQ(cast(cummin(x), Dtype::i64).to_vector<std::int64_t>(), (Indices{1, 0, 0}));
  EXPECT_EQ(argmax(logical_not(x), 0).item<std::int64_t>(), 1);
  EXPECT_EQ(argmin(x, 0).item<std::int64_t>(), 1);
}

TEST(Integers, AreRefusedByTheNameOfWhatWasCalled) {
  const Tensor x = tensor<std::int64_t>({3, 4});
  const auto refused = [](const char* name, const auto& f) {
    const std::string text = testing::message_of(f);
    EXPECT_NE(text.find(std::string("[") + name + "]"), std::string::npos) << text;
    EXPECT_NE(text.find("cast it to a floating type"), std::string::npos) << text;
  };
  refused("norm", [&] { norm(x); });
  refused("logsumexp", [&] { logsumexp(x); });
  refused("softmax", [&] { softmax(x); });
  refused("log_softmax", [&] { log_softmax(x); });
  refused("variance", [&] { variance(x); });
}

TEST(Undefined, TensorsAreRefusedByName) {
  const Tensor none;
  EXPECT_NE(testing::message_of([&] { concatenate({none}); }).find("undefined"), std::string::npos);
  EXPECT_NE(testing::message_of([&] { stack({none, none}); }).find("undefined"), std::string::npos);
  EXPECT_NE(testing::message_of([&] { Tensor(1.0) + none; }).find("undefined"), std::string::npos);
  EXPECT_NE(testing::message_of([&] { none.dim(0); }).find("undefined"), std::string::npos);
  EXPECT_NE(testing::message_of([&] { none.item(); }).find("undefined"), std::string::npos);
}

TEST(Errors, OfWhatMakesTensorsNameTheLineOfTheCall) {
  const std::string here = "axes_test.cpp";
  exp(Tensor(1.0));  // no line of an earlier operation
  EXPECT_NE(testing::message_of([] { full({1}, 1e300, Dtype::i32); }).find(here),
            std::string::npos);
  EXPECT_NE(testing::message_of([] { zeros({Index{1} << 62}); }).find(here), std::string::npos);
  EXPECT_NE(testing::message_of([] { arange(300, Dtype::u8); }).find(here), std::string::npos);
  EXPECT_NE(testing::message_of([] { scalar(300, Dtype::u8); }).find(here), std::string::npos);
  EXPECT_NE(testing::message_of([] { linspace(0, 1, -1); }).find(here), std::string::npos);
}

TEST(Errors, NameNoLineOfAnEarlierOperation) {
  exp(Tensor(1.0));
  const std::string text =
      testing::message_of([] { laplacian([](Tensor x) { return x; })(Tensor(3.0)); });
  EXPECT_NE(text.find("[laplacian]"), std::string::npos);
  EXPECT_EQ(text.find("axes_test.cpp"), std::string::npos) << text;
}

TEST(Loops, OfTwoTo63StepsAndMoreAreRefused) {
  using Limits = std::numeric_limits<Index>;
  const auto same = [](Tensor, Tensor c) { return c; };
  EXPECT_NE(testing::message_of([&] {
              fori_loop(Limits::min(), Limits::max(), same, Tensor(0.0));
            }).find("2^63 steps"),
            std::string::npos);
  EXPECT_EQ(fori_loop(
                Limits::max(), Limits::min(), [](Tensor, Tensor c) { return c + 1.0; }, Tensor(0.0))
                .item(),
            0.0);
  EXPECT_EQ(
      fori_loop(
          Limits::max() - 2, Limits::max(), [](Tensor, Tensor c) { return c + 1.0; }, Tensor(0.0))
          .item(),
      2.0);
}

}  // namespace
}  // namespace tessera
