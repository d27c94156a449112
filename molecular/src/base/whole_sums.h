// SPDX-License-Identifier: Apache-2.0
//
// Sums over atoms whose bits depend neither on order nor on threads nor on which rank has which
// atom: every contribution is rounded once to a whole number of units and added as one. Units are
// 2^-36, in which a contribution may have 2^15, or 2^-4 for contributions of up to 2^47 where one
// of them is larger; beyond it, and for what is no number, the sums are NaN.
#pragma once
#include "base/blocks.h"
#include "base/others.h"

#include <array>
#include <bit>
#include <functional>
#include <limits>

namespace tessera::molecular {

/// Adds contributions as whole numbers of 1/scale to sums of a block, without branches.
struct UnitSums {
  double scale;
  std::int64_t* sum;
  double largest = 0;  ///< |contribution| in units

  void add(std::size_t k, double v) {
    constexpr double magic = 6755399441055744.0;  // 1.5 2^52: the sum's low bits are the nearest
                                                  // whole number
    const double units = v * scale;
    largest = std::abs(units) <= largest ? largest : std::abs(units);  // also where it is no number
    sum[k] += std::bit_cast<std::int64_t>(units + magic) - std::bit_cast<std::int64_t>(magic);
  }
  bool holds() const { return largest <= 0x1p51; }
};

/// `many` sums over [0, n) and over those of all other ranks; add(begin, end, sums) adds up a block
/// of elements.
std::vector<double> whole_sums(
    std::size_t n, std::size_t many, const Others& others,
    const std::function<void(std::size_t begin, std::size_t end, UnitSums& sums)>& add);

/// Sums of f(i), arrays of K contributions.
template <std::size_t K, class F>
std::array<double, K> whole_sums(std::size_t n, const Others& others, F&& f) {
  const std::vector<double> sums =
      whole_sums(n, K, others, [&](std::size_t begin, std::size_t end, UnitSums& to) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::array<double, K> of = f(i);
          for (std::size_t k = 0; k < K; ++k) to.add(k, of[k]);
        }
      });
  std::array<double, K> out;
  std::copy_n(sums.begin(), K, out.begin());
  return out;
}

}  // namespace tessera::molecular
