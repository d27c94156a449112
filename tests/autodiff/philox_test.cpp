// SPDX-License-Identifier: Apache-2.0
// The random numbers against Random123's own generator and its published vectors, the independence
// of the place where a range is cut, and the distributions.
#include "autodiff/src/kernels/philox.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

namespace kernels = tessera::kernels;
using kernels::RandomWords;

TEST(Philox, PublishedVectors) {
  struct Vector {
    RandomWords counter;
    std::uint32_t k0, k1;
    RandomWords expected;
  };
  // Random123, tests/kat_vectors: "philox4x32 10"
  const Vector vectors[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       0xffffffff,
       0xffffffff,
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const Vector& v : vectors) {
    const RandomWords got = kernels::philox(v.counter, v.k0, v.k1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got.w[i], v.expected.w[i]);
  }
}

TEST(Philox, AgreesWithRandom123) {
  std::mt19937_64 random(1);
  r123::Philox4x32_R<10> reference;
  for (int n = 0; n < 1000; ++n) {
    const std::uint64_t seed = random(), stream = random(), block = random();
    const auto expected = reference({{std::uint32_t(block), std::uint32_t(block >> 32),
                                      std::uint32_t(stream), std::uint32_t(stream >> 32)}},
                                    {{std::uint32_t(seed), std::uint32_t(seed >> 32)}});
    const RandomWords got = kernels::random_block(seed, stream, block);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(got.w[i], expected[i]);
  }
}

TEST(Philox, UniformEndpoints) {
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(kernels::uniform_f64(0, 0), 0);
  EXPECT_EQ(kernels::uniform_f64(all, all), 1 - 0x1p-53);
  EXPECT_EQ(kernels::open_uniform_f64(0, 0), 0x1p-53);
  EXPECT_EQ(kernels::open_uniform_f64(all, all), 1 - 0x1p-53);
  EXPECT_EQ(kernels::uniform_f32(0), 0);
  EXPECT_EQ(kernels::uniform_f32(all), 1 - 0x1p-24f);
  EXPECT_EQ(kernels::open_uniform_f32(0), 0x1p-24f);
  EXPECT_EQ(kernels::open_uniform_f32(all), 1 - 0x1p-24f);
}

template <class D>
class RandomFill : public testing::Test {};
using Draws = testing::Types<kernels::BitsU32, kernels::BitsU64, kernels::UniformF32,
                             kernels::OpenUniformF32, kernels::UniformF64, kernels::OpenUniformF64,
                             kernels::NormalF32, kernels::NormalF64>;
TYPED_TEST_SUITE(RandomFill, Draws);

TYPED_TEST(RandomFill, AnElementDoesNotDependOnTheCut) {
  using T = typename TypeParam::type;
  const std::size_t n = 203;
  std::vector<T> single(n), all(n);
  for (std::size_t i = 0; i < n; ++i)
    kernels::fill_random<TypeParam>(7, 3, 1000 + i, 1, &single[i]);
  for (std::size_t start = 0; start < 9; ++start) {
    std::fill(all.begin(), all.end(), T(0));
    kernels::fill_random<TypeParam>(7, 3, 1000 + start, n - start, all.data() + start);
    for (std::size_t i = start; i < n; ++i)
      ASSERT_EQ(all[i], single[i]) << i << " of a range from " << start;
  }
  // other seeds and streams give other numbers
  std::vector<T> seed(n), stream(n);
  kernels::fill_random<TypeParam>(8, 3, 1000, n, seed.data());
  kernels::fill_random<TypeParam>(7, 4, 1000, n, stream.data());
  int equal = 0;
  for (std::size_t i = 0; i < n; ++i) equal += (seed[i] == single[i]) + (stream[i] == single[i]);
  EXPECT_LE(equal, 1);
}

/// Largest distance of the empirical distribution from `cdf`.
template <class T, class F>
double kolmogorov(std::vector<T> x, F cdf) {
  std::sort(x.begin(), x.end());
  double worst = 0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(x[i]);
    worst = std::max({worst, std::abs(p - static_cast<double>(i) / n),
                      std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

// 2.5 / sqrt(n) is passed by chance with probability 1 - 7e-6 (Kolmogorov); the seed is fixed.
template <class D, class F>
void check_distribution(F cdf) {
  std::vector<typename D::type> x(100000);
  kernels::fill_random<D>(12345, 0, 0, x.size(), x.data());
  const double bound = 2.5 / std::sqrt(static_cast<double>(x.size()));
  EXPECT_LE(kolmogorov(x, cdf), bound);
  // neighbours are uncorrelated in every distance within a block and across
  const double n = static_cast<double>(x.size());
  double mean = 0, square = 0;
  for (auto v : x) mean += v / n;
  for (auto v : x) square += (v - mean) * (v - mean) / n;
  for (std::size_t lag = 1; lag <= 5; ++lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i) sum += (x[i] - mean) * (x[i + lag] - mean) / n;
    EXPECT_LE(std::abs(sum / square), 5 / std::sqrt(n)) << "lag " << lag;
  }
}

TEST(RandomDistributions, UniformAndNormal) {
  auto uniform = [](double x) { return x; };
  auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  check_distribution<kernels::UniformF32>(uniform);
  check_distribution<kernels::OpenUniformF32>(uniform);
  check_distribution<kernels::UniformF64>(uniform);
  check_distribution<kernels::OpenUniformF64>(uniform);
  check_distribution<kernels::NormalF32>(normal);
  check_distribution<kernels::NormalF64>(normal);
}

}  // namespace
