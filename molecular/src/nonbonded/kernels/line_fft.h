// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of many lines at once, one line per SIMD lane: X_k = sum_j x_j e^{-2 pi i
// jk/n} by Stockham's method (Cooley-Tukey in natural order; van Loan, Computational Frameworks for
// the Fast Fourier Transform, section 1.7). After factors of product s, with m = n/(s r) left
// behind the factor r:
//
//   y[q + s (r p + k)] = w^{pk} sum_j x[q + s (p + m j)] e^{-2 pi i jk/r},   w = e^{-2 pi i/(r m)},
//   q < s, p < m
//
// Lines never meet, so that bits depend neither on the width of vectors nor on threads; whole
// planes of a grid need no library whose plans do. Exchanged real and imaginary parts give the
// inverse.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace tessera::molecular {

template <class T>
struct LineFft {
  struct Factor {
    std::size_t r, m, s;
    std::size_t twiddles;  ///< where w^{pk} are: m rows of r - 1 pairs
    std::size_t roots;     ///< where cos and sin of 2 pi j/r are: r pairs
  };
  std::size_t n = 0;
  std::vector<Factor> factors;
  std::vector<T> table;

  LineFft() = default;
  explicit LineFft(std::size_t length) : n(length) {
    std::vector<std::size_t> radices;
    std::size_t rest = n, twos = 0;
    for (; rest % 2 == 0; rest /= 2) ++twos;
    for (; twos % 3 != 0 && twos >= 2; twos -= 2)
      radices.push_back(4);  // 4 4 or 4 before the eights
    for (; twos >= 3; twos -= 3) radices.push_back(8);
    if (twos == 1) radices.push_back(2);
    for (std::size_t p = 3; rest > 1; p += 2)
      for (; rest % p == 0; rest /= p) radices.push_back(p);
    std::size_t s = 1, left = n;
    for (const std::size_t r : radices) {
      left /= r;
      factors.push_back({r, left, s, table.size(), 0});
      for (std::size_t p = 0; p < left; ++p)
        for (std::size_t k = 1; k < r; ++k) add_root(p * k, r * left, -1);
      factors.back().roots = table.size();
      for (std::size_t j = 0; j < r; ++j) add_root(j, r, 1);
      s *= r;
    }
  }

 private:
  void add_root(std::size_t k, std::size_t of, int sign) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(k % of) / static_cast<double>(of);
    table.push_back(static_cast<T>(std::cos(angle)));
    table.push_back(static_cast<T>(sign * std::sin(angle)));
  }
};

}  // namespace tessera::molecular
