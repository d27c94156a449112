// SPDX-License-Identifier: Apache-2.0
//
// Dual numbers: a value and its first derivatives along N directions. Potentials are written once,
// as formulas of any number type, and give their derivatives when the number is a dual one. T may
// be a dual number again: Dual<Dual<double>, N> carries the derivative of all N along one
// direction, which is what a Hessian-vector product needs.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace tessera::molecular {

template <class T, int N = 1>
struct Dual {
  T v{};
  std::array<T, N> d{};

  Dual() = default;
  Dual(double value) : v(value) {}  // NOLINT: constants of formulas
  Dual(const T& value) requires(!std::is_same_v<T, double>) : v(value) {}  // NOLINT: the same
  Dual(const T& value, const std::array<T, N>& derivatives) : v(value), d(derivatives) {}
  /// The variable number k.
  static Dual variable(const T& value, int k) {
    Dual x;
    x.v = value;
    x.d[static_cast<std::size_t>(k)] = T(1.0);
    return x;
  }
  /// f(v), with the derivatives f'(v) d.
  Dual through(const T& f, const T& derivative) const {
    Dual r;
    r.v = f;
    for (std::size_t k = 0; k < N; ++k) r.d[k] = derivative * d[k];
    return r;
  }

  friend Dual operator-(const Dual& a) { return a.through(-a.v, T(-1.0)); }
  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v + b.v;
    for (std::size_t k = 0; k < N; ++k) r.d[k] = a.d[k] + b.d[k];
    return r;
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v - b.v;
    for (std::size_t k = 0; k < N; ++k) r.d[k] = a.d[k] - b.d[k];
    return r;
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v * b.v;
    for (std::size_t k = 0; k < N; ++k) r.d[k] = a.d[k] * b.v + a.v * b.d[k];
    return r;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    const T inverse = T(1.0) / b.v;
    r.v = a.v * inverse;
    for (std::size_t k = 0; k < N; ++k) r.d[k] = (a.d[k] - r.v * b.d[k]) * inverse;
    return r;
  }
};

inline double plain(double x) { return x; }
/// The number itself, without derivatives.
template <class T, int N>
auto plain(const Dual<T, N>& x) {
  return plain(x.v);
}

template <class T, int N>
Dual<T, N> sqrt(const Dual<T, N>& x) {
  using std::sqrt;
  const T r = sqrt(x.v);
  return x.through(r, T(0.5) / r);
}
template <class T, int N>
Dual<T, N> exp(const Dual<T, N>& x) {
  using std::exp;
  const T e = exp(x.v);
  return x.through(e, e);
}
template <class T, int N>
Dual<T, N> cos(const Dual<T, N>& x) {
  using std::cos, std::sin;
  return x.through(cos(x.v), -sin(x.v));
}
template <class T, int N>
Dual<T, N> sin(const Dual<T, N>& x) {
  using std::cos, std::sin;
  return x.through(sin(x.v), cos(x.v));
}
template <class T, int N>
Dual<T, N> atan2(const Dual<T, N>& y, const Dual<T, N>& x) {
  using std::atan2;
  Dual<T, N> r;
  r.v = atan2(y.v, x.v);
  const T inverse = T(1.0) / (x.v * x.v + y.v * y.v);
  for (std::size_t k = 0; k < N; ++k) r.d[k] = (x.v * y.d[k] - y.v * x.d[k]) * inverse;
  return r;
}
/// 2/sqrt(pi) = 1.1283791670955126.
template <class T, int N>
Dual<T, N> erfc(const Dual<T, N>& x) {
  using std::erfc, std::exp;
  return x.through(erfc(x.v), T(-1.1283791670955126) * exp(-(x.v * x.v)));
}
/// The whole number next to x: a constant under differentiation.
inline double whole(double x) { return std::nearbyint(x); }
template <class T, int N>
Dual<T, N> whole(const Dual<T, N>& x) {
  return Dual<T, N>(whole(x.v));
}
/// 1 where x is positive, else 0: its derivative is that of a constant.
inline double step(double x) { return x > 0 ? 1 : 0; }
template <class T, int N>
Dual<T, N> step(const Dual<T, N>& x) {
  return Dual<T, N>(step(x.v));
}
/// x where it is positive, else 0.
inline double positive(double x) { return x > 0 ? x : 0; }
template <class T, int N>
Dual<T, N> positive(const Dual<T, N>& x) {
  return x.through(positive(x.v), step(x.v));
}

/// A number and its derivative along one direction. `along` is that derivative, or the number
/// itself where T carries none, so that one body gives gradients on doubles and Hessian products on
/// dual numbers.
inline double along(double x) { return x; }
template <class T>
T along(const Dual<T, 1>& x) {
  return x.d[0];
}
/// Entry k of an array and of its derivatives; no derivatives: zero.
template <class T>
T number(const double* value, const double* derivative, std::size_t k) {
  if constexpr (std::is_same_v<T, double>)
    return value[k];
  else
    return Dual<double>(value[k], {derivative ? derivative[k] : 0.0});
}

}  // namespace tessera::molecular
