// SPDX-License-Identifier: Apache-2.0
//
// Three normal numbers an atom, from one Philox 4x32-10 block (Salmon et al. 2011) by Box and
// Muller's transform, in loops without branches that compilers turn into vector code. u = (w +
// 1/2)/2^32 for a word w: values reach 6.7 standard deviations.
#pragma once
#include "random.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace tessera::molecular {

struct Noise {
  static constexpr std::size_t most = 256;
  std::array<std::array<double, most>, 3> normal;  ///< of each direction
  std::array<std::array<std::uint32_t, most>, 4> word;

  /// Of counters first + number[0 ... n - 1], which are not negative; the words are data::philox's.
  void fill(std::uint64_t seed, Stream stream, std::uint64_t first, const std::int32_t* number,
            std::size_t n) {
    const auto low = static_cast<std::uint32_t>(first),
               high = static_cast<std::uint32_t>(first >> 32);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t c0 = low + static_cast<std::uint32_t>(number[i]),
                    c1 = high + (c0 < low ? 1U : 0U), c2 = static_cast<std::uint32_t>(stream),
                    c3 = 0;
      auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
      for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0,
                            p1 = std::uint64_t{0xCD9E8D57} * c2;
        c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
        c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<std::uint32_t>(p1);
        c3 = static_cast<std::uint32_t>(p0);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
      }
      word[0][i] = c0;
      word[1][i] = c1;
      word[2][i] = c2;
      word[3][i] = c3;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double r = radius(unit(word[0][i]));
      const Turn t = turn(unit(word[1][i]));
      normal[0][i] = r * t.cosine;
      normal[1][i] = r * t.sine;
    }
    for (std::size_t i = 0; i < n; ++i)
      normal[2][i] = radius(unit(word[2][i])) * turn(unit(word[3][i])).cosine;
  }

 private:
  struct Turn {
    double cosine, sine;
  };
  static double unit(std::uint32_t w) {
    // 2^52 + w, its bits written down: conversions from unsigned words have no vector instruction.
    return (std::bit_cast<double>(std::uint64_t{0x4330000000000000} | w) - 4503599627370496.0 +
            0.5) *
           0x1p-32;
  }
  /// sqrt(-2 ln u): u = 2^e m with m between sqrt(1/2) and sqrt(2), ln m = 2 artanh((m - 1)/(m +
  /// 1)).
  static double radius(double u) {
    const auto bits = std::bit_cast<std::uint64_t>(u);
    double e = std::bit_cast<double>(std::uint64_t{0x4330000000000000} | (bits >> 52)) -
               (4503599627370496.0 + 1023);
    double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
    const bool large = m > std::numbers::sqrt2;
    m = large ? 0.5 * m : m;
    e = large ? e + 1 : e;
    const double s = (m - 1) / (m + 1), q = s * s;
    const double series =
        1 +
        q * (1.0 / 3 +
             q * (1.0 / 5 +
                  q * (1.0 / 7 +
                       q * (1.0 / 9 +
                            q * (1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15 + q * (1.0 / 17))))))));
    return std::sqrt(-2 * (e * std::numbers::ln2 + 2 * s * series));
  }
  /// cos and sin of 2 pi u, by the nearest quarter turn and Taylor series within an eighth.
  static Turn turn(double u) {
    const double quarter = std::rint(4 * u), a = (4 * u - quarter) * (0.5 * std::numbers::pi),
                 q = a * a;
    const double s =
        a *
        (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110 * (1 - q / 156))))));
    const double c =
        1 -
        q / 2 *
            (1 -
             q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90 * (1 - q / 132 * (1 - q / 182))))));
    const bool odd = quarter == 1 || quarter == 3;
    const double x = odd ? s : c, y = odd ? c : s;
    return {quarter == 1 || quarter == 2 ? -x : x, quarter == 2 || quarter == 3 ? -y : y};
  }
};

}  // namespace tessera::molecular
