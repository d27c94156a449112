// SPDX-License-Identifier: Apache-2.0
//
// An array whose elements, or their bytes, would be 2^63 or more is refused, whoever asks for it;
// one of no elements is held whatever its other sizes.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr Index kHugeSize = Index{1} << 40;

template <class F>
void expect_refused(const char* what, F&& f) {
  try {
    f();
    ADD_FAILURE() << what << " is taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(","), std::string::npos)
        << what << ": " << e.what();  // it shows the sizes
  }
}

TEST(Sizes, OfTwoTo63AndMoreAreRefused) {
  try {
    broadcast_to(Tensor(1.0), {kHugeSize, kHugeSize});
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[broadcast] f64[1099511627776,1099511627776]"),
              std::string::npos)
        << e.what();
  }
  expect_refused("zeros", [] { zeros({kHugeSize, kHugeSize}); });
  expect_refused("ones", [] { ones({kHugeSize, kHugeSize}, Dtype::boolean); });
  expect_refused("full", [] { full({kHugeSize, kHugeSize, 3}, 2.0); });
  expect_refused("empty", [] { empty({Dtype::f32, {kHugeSize, kHugeSize}}); });
  expect_refused("eye", [] { eye(Index{1} << 31); });  // 2^62 elements, 2^65 bytes
  expect_refused("from_span", [] { from_span<double>({}, {kHugeSize, kHugeSize}); });
  const double one = 1;
  expect_refused("from_pointer", [&] { from_pointer(&one, {kHugeSize, kHugeSize}, {}, {0, 0}); });
  expect_refused("broadcast_to", [] { broadcast_to(Tensor(1.0), {kHugeSize, kHugeSize}); });
  expect_refused("bytes of a broadcast", [] {
    broadcast_to(Tensor(1.0), {Index{1} << 31, Index{1} << 31});
  });
  expect_refused("reshape", [] { reshape(zeros({0}), {kHugeSize, kHugeSize}); });
  expect_refused("reshape, one open", [] { reshape(zeros({6}), {kHugeSize, kHugeSize, -1}); });
  const Tensor long_view = broadcast_to(scalar(1, Dtype::u8), {kHugeSize});
  expect_refused("sum of axes that broadcast", [&] {
    broadcast_to(scalar(1, Dtype::u8), {kHugeSize, 1}) + long_view;
  });
  expect_refused("where", [&] {
    where(broadcast_to(scalar(true, Dtype::boolean), {2, 1}),
          broadcast_to(Tensor(1.0), {1, Index{1} << 59}), 0.0);
  });
  const Tensor wide = broadcast_to(scalar(true, Dtype::boolean), {Index{1} << 62});
  expect_refused("concatenate", [&] { concatenate({wide, wide, wide}); });
  expect_refused("pad", [&] { pad(zeros({2}), {INT64_MAX - 1}, {INT64_MAX}); });
  expect_refused("pad between", [&] { pad(zeros({5}), {0}, {0}, {INT64_MAX}); });
  expect_refused("matmul", [&] {
    matmul(broadcast_to(Tensor(1.0), {kHugeSize, 1}), broadcast_to(Tensor(1.0), {1, kHugeSize}));
  });
  EXPECT_THROW(arange(Index{1} << 61), Error);
  EXPECT_THROW(linspace(0, 1, Index{1} << 61), Error);
  for (const Shape& s : {Shape{-3}, Shape{-1, -1}}) {
    EXPECT_THROW(zeros(s), Error);
    EXPECT_THROW(empty({Dtype::f64, s}), Error);
    EXPECT_THROW(broadcast_to(ones({1}), s), Error);
  }
}

TEST(Sizes, AreCheckedWhereOnlyTypesAreKnown) {
  expect_refused("jit", [] {
    jit([](Tensor x) { return sum(broadcast_to(x, {kHugeSize, kHugeSize})); })(Tensor(1.0));
  });
  expect_refused("jit of matmul", [] {
    jit([](Tensor x) {
      return matmul(broadcast_to(x, {kHugeSize, 1}), broadcast_to(x, {1, kHugeSize}));
    })(Tensor(1.0));
  });
  expect_refused("vmap", [] {
    vmap([](Tensor x) { return broadcast_to(x, {kHugeSize}); })(
        broadcast_to(Tensor(1.0), {kHugeSize}));
  });
  expect_refused("grad", [] {
    grad([](Tensor x) { return sum(broadcast_to(x, {kHugeSize, kHugeSize})); })(Tensor(1.0));
  });
}

TEST(Sizes, BelowAreViewed) {
  const Tensor x = broadcast_to(scalar(7, Dtype::u8), {Index{1} << 31, Index{1} << 31});
  EXPECT_EQ(x.size(), Index{1} << 62);
  EXPECT_EQ(slice(slice(x, 0, 5, 7), 1, 1, 2).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{7, 7}));
}

TEST(Sizes, OfNothingAreHeld) {
  for (const Shape& s : {Shape{0, kHugeSize, kHugeSize}, Shape{kHugeSize, 0, kHugeSize},
                         Shape{kHugeSize, kHugeSize, 0}}) {
    EXPECT_EQ(zeros(s).size(), 0);
    EXPECT_EQ((zeros(s) + 1.0).shape(), s);
    EXPECT_EQ(sum(zeros(s)).item(), 0);
  }
}

TEST(Sizes, StepsOfAnySizeReachTheFirstElement) {
  const Tensor x = arange(5);
  EXPECT_EQ(slice(x, 0, 1, 5, INT64_MAX).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(
      grad([](Tensor t) { return sum(slice(t, 0, 1, 5, INT64_MAX - 4)); })(zeros({5})).to_vector(),
      (std::vector<double>{0, 1, 0, 0, 0}));
}

TEST(Memory, ThatTheSystemLacksIsNotCountedAsUsed) {
  const std::size_t before = memory_stats().in_use;
  EXPECT_THROW(empty({Dtype::f64, {Index{1} << 58}}), Error);
  EXPECT_EQ(memory_stats().in_use, before);
}

}  // namespace
}  // namespace tessera
