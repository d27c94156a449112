// SPDX-License-Identifier: Apache-2.0
//
// Powers of two that keep sums of squares in range: what is linear may be computed of v 2^-e in
// place of v, and loses no bit by that.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::detail {

/// The exponent e of the largest part of v, real or imaginary: v 2^-e has it in 1 ... 2. 0 where
/// all are 0, or one is not finite.
template <class Numbers>
int largest_exponent(const Numbers& v) {
  double largest = 0;
  for (const auto& z : v)
    for (const double part :
         {static_cast<double>(std::real(z)), static_cast<double>(std::imag(z))}) {
      if (!std::isfinite(part)) return 0;
      largest = std::max(largest, std::abs(part));
    }
  return largest == 0 ? 0 : std::ilogb(largest);
}

/// The same where squares of the elements of v, whose norm is given, would vanish or overflow; else
/// 0.
template <class Numbers>
int exponent_beyond_squares(const Numbers& v, double norm) {
  constexpr double kSafe = 1e140;
  return norm > 1 / kSafe && norm < kSafe ? 0 : largest_exponent(v);
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
