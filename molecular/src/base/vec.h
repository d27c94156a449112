// SPDX-License-Identifier: Apache-2.0
//
// Vectors of any number type: doubles, dual numbers, tensors.
#pragma once
#include <array>
#include <cmath>

namespace tessera::molecular {

template <class T>
using Vec = std::array<T, 3>;
template <class T>
T dot(const Vec<T>& a, const Vec<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
Vec<T> cross(const Vec<T>& a, const Vec<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T>
Vec<T> scaled(const Vec<T>& a, const T& s) {
  return {s * a[0], s * a[1], s * a[2]};
}
template <class T>
Vec<T> sum(const Vec<T>& a, const Vec<T>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <class T>
Vec<T> difference(const Vec<T>& a, const Vec<T>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

}  // namespace tessera::molecular
