// SPDX-License-Identifier: Apache-2.0
//
// Powers of two that keep sums of squares in range: what is linear may be computed of v 2^-e in
// place of v, and loses no bit by that.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace tessera::detail {

/// The largest part of v, real or imaginary, by its size; infinity where one is not finite.
template <class Numbers>
double largest_part(const Numbers& v) {
  double largest = 0;
  for (const auto& z : v)
    for (const double part :
         {static_cast<double>(std::real(z)), static_cast<double>(std::imag(z))}) {
      if (!std::isfinite(part)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::abs(part));
    }
  return largest;
}

/// The exponent e of a largest part: v 2^-e has it in 1 ... 2. 0 where all are 0, or one is not
/// finite.
inline int exponent_of_largest(double largest) {
  return largest == 0 || !std::isfinite(largest) ? 0 : std::ilogb(largest);
}
template <class Numbers>
int largest_exponent(const Numbers& v) {
  return exponent_of_largest(largest_part(v));
}

/// The same where squares of the elements of v, whose norm is given, would vanish or overflow; else
/// 0. `over_ranks`: the largest of what all ranks that hold v give.
template <class Numbers, class OverRanks>
int exponent_beyond_squares(const Numbers& v, double norm, OverRanks over_ranks) {
  constexpr double kSafe = 1e140;
  return norm > 1 / kSafe && norm < kSafe ? 0 : exponent_of_largest(over_ranks(largest_part(v)));
}

/// v 2^e.
template <class Numbers>
void shift_exponents(int e, Numbers& v) {
  const auto shifted = [e](auto part) { return std::ldexp(part, e); };
  for (auto& z : v) {
    if constexpr (requires { z.imag(); })
      z = {shifted(z.real()), shifted(z.imag())};
    else
      z = shifted(z);
  }
}

}  // namespace tessera::detail
