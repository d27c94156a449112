// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "vmath_log.h"
#include "vmath_trig.h"

#include <cstddef>
#include <cstdint>

// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC11,
// doi:10.1145/2063384.2063405).
//
// Element i of stream s under a seed is a function of (seed, s, i) alone: the same in any chunk,
// thread, rank or order. A block of four 32-bit words has the counter (block, stream) and the key
// seed; it serves four u32 or float elements, or two u64 or double ones.
namespace tessera::kernels {

struct RandomWords {
  std::uint32_t w[4];
};

/// The bijection itself: ten rounds on the counter c under the key k.
TESSERA_HD_INLINE RandomWords philox(RandomWords c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c.w[0], b = 0xCD9E8D57ull * c.w[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.w[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.w[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9u;  // golden ratio and sqrt(3) - 1
    k1 += 0xBB67AE85u;
  }
  return c;
}
TESSERA_HD_INLINE RandomWords random_block(std::uint64_t seed, std::uint64_t stream,
                                           std::uint64_t block) {
  return philox({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                  static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// An integer below 2^52 as a double, without the conversion that AVX2 lacks.
TESSERA_HD_INLINE double to_double(std::uint64_t n) {
  return vm::from_bits<double>(n | 0x4330000000000000ull) - 0x1p52;
}

/// [0, 1) in steps of 2^-53.
TESSERA_HD_INLINE double uniform_f64(std::uint32_t high, std::uint32_t low) {
  return vm::fma(to_double(high), 0x1p-32, to_double(low >> 11) * 0x1p-53);
}
/// (0, 1): odd multiples of 2^-53, symmetric about 1/2.
TESSERA_HD_INLINE double open_uniform_f64(std::uint32_t high, std::uint32_t low) {
  return vm::fma(to_double(high), 0x1p-32, to_double(low >> 12) * 0x1p-52 + 0x1p-53);
}
/// [0, 1) in steps of 2^-24.
TESSERA_HD_INLINE float uniform_f32(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}
/// (0, 1): odd multiples of 2^-24.
TESSERA_HD_INLINE float open_uniform_f32(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 9 << 1 | 1u)) * 0x1p-24f;
}

/// Two independent standard normal numbers from u in (0, 1) and v in [0, 1) (Box & Muller 1958).
struct NormalPair {
  double first, second;
};
TESSERA_HD_INLINE NormalPair box_muller(double u, double v) {
  const double r = vm::sqrt(-2 * vm::log(u));
  const auto [s, c] = vm::sin_cos<true>(6.283185307179586477 * v);
  return {r * c, r * s};
}

/// The elements that one block serves. kCount of them; `draw(words, out)` writes all.
struct BitsU32 {
  using type = std::uint32_t;
  static constexpr int kCount = 4;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 4; ++i) out[i] = r.w[i];
  }
};
struct BitsU64 {
  using type = std::uint64_t;
  static constexpr int kCount = 2;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 2; ++i)
      out[i] = static_cast<std::uint64_t>(r.w[2 * i]) << 32 | r.w[2 * i + 1];
  }
};
struct UniformF32 {
  using type = float;
  static constexpr int kCount = 4;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 4; ++i) out[i] = uniform_f32(r.w[i]);
  }
};
struct OpenUniformF32 {
  using type = float;
  static constexpr int kCount = 4;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 4; ++i) out[i] = open_uniform_f32(r.w[i]);
  }
};
struct UniformF64 {
  using type = double;
  static constexpr int kCount = 2;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 2; ++i) out[i] = uniform_f64(r.w[2 * i], r.w[2 * i + 1]);
  }
};
struct OpenUniformF64 {
  using type = double;
  static constexpr int kCount = 2;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 2; ++i) out[i] = open_uniform_f64(r.w[2 * i], r.w[2 * i + 1]);
  }
};
/// Mean 0, variance 1; up to 8.5 standard deviations.
struct NormalF64 {
  using type = double;
  static constexpr int kCount = 2;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    const NormalPair p = box_muller(open_uniform_f64(r.w[0], r.w[1]), uniform_f64(r.w[2], r.w[3]));
    out[0] = p.first;
    out[1] = p.second;
  }
};
/// Mean 0, variance 1; up to 6.7 standard deviations.
struct NormalF32 {
  using type = float;
  static constexpr int kCount = 4;
  TESSERA_HD_INLINE static void draw(RandomWords r, type* out) {
    for (int i = 0; i < 4; i += 2) {
      const double u = (to_double(r.w[i]) + 0.5) * 0x1p-32, v = to_double(r.w[i + 1]) * 0x1p-32;
      const NormalPair p = box_muller(u, v);
      out[i] = static_cast<float>(p.first);
      out[i + 1] = static_cast<float>(p.second);
    }
  }
};

/// out[j] = element first + j of the stream, j in [0, n). Serial: callers cut the range among
/// threads.
template <class D>
void fill_random(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t n,
                 typename D::type* out) {
  constexpr std::size_t kCount = D::kCount;
  typename D::type block[kCount];
  std::size_t j = 0;
  auto part = [&](std::size_t from) {  // elements of one block from position `from` on
    D::draw(random_block(seed, stream, (first + j) / kCount), block);
    for (std::size_t i = from; i < kCount && j < n; ++i) out[j++] = block[i];
  };
  if (first % kCount != 0) part(first % kCount);
  const std::uint64_t start = (first + j) / kCount;
  const std::size_t whole = (n - j) / kCount;
  typename D::type* to = out + j;
#pragma GCC ivdep
  for (std::size_t b = 0; b < whole; ++b)
    D::draw(random_block(seed, stream, start + b), to + b * kCount);
  j += whole * kCount;
  if (j < n) part(0);
}

}  // namespace tessera::kernels
