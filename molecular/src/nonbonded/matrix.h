// SPDX-License-Identifier: Apache-2.0
//
// 3 x 3 matrices of any number type.
#pragma once
#include <array>
#include <cstddef>

namespace tessera::molecular {

template <class T>
using Matrix = std::array<std::array<T, 3>, 3>;

template <class T>
T determinant(const Matrix<T>& h) {
  return h[0][0] * (h[1][1] * h[2][2] - h[1][2] * h[2][1]) -
         h[0][1] * (h[1][0] * h[2][2] - h[1][2] * h[2][0]) +
         h[0][2] * (h[1][0] * h[2][1] - h[1][1] * h[2][0]);
}
template <class T>
Matrix<T> inverse(const Matrix<T>& h) {
  const T d = T(1.0) / determinant(h);
  Matrix<T> r;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const std::size_t a1 = (b + 1) % 3, a2 = (b + 2) % 3, b1 = (a + 1) % 3, b2 = (a + 2) % 3;
      r[a][b] = (h[a1][b1] * h[a2][b2] - h[a1][b2] * h[a2][b1]) * d;
    }
  return r;
}

}  // namespace tessera::molecular
