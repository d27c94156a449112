// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <limits>

/// |got - exact| in units of the last place that exact has in the format of T (of denormals below
/// the normals).
template <class T>
double ulp_error(T got, long double exact) {
  using L = std::numeric_limits<T>;
  if (!std::isfinite(got)) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  std::frexp(exact, &exponent);
  if (exact == 0 || exponent < L::min_exponent) exponent = L::min_exponent;
  return static_cast<double>(
      std::abs((static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent - L::digits)));
}
