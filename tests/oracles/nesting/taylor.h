// SPDX-License-Identifier: Apache-2.0
//
// Truncated Taylor arithmetic in several directions, with plain floating-point numbers R and
// nothing of the engine.
//
// A number is a polynomial in nilpotent directions e_1 ... e_m, e_i^(K_i + 1) = 0. Directions are
// opened and closed like scopes: `Direction e(K)` adds e_m; a number made before it does not know
// it, and is constant in it. Coefficients are stored with the latest direction slowest, so that
// such a number is a prefix. The part [e^k] of f(x + e v) is the k-th coefficient of f along v:
// (1/k!) d^k/dt^k f(x + t v) at t = 0, itself a number in the directions that are left.
//
//   f(a_0 + h) = sum_k f^(k)(a_0)/k! h^k   with h nilpotent: the sum ends at the total order K_1 +
//   ... + K_m,
//
// and the series of f at the point a_0 come from its differential equation in one variable (A.
// Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, section 13.2).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

namespace nesting {

/// The open directions.
class Directions {
 public:
  static int depth() { return static_cast<int>(orders().size()); }
  static int order(int direction) { return orders()[static_cast<std::size_t>(direction)]; }
  /// Coefficients of a number that knows the first `depth` directions.
  static std::size_t coefficients(int depth) { return sizes()[static_cast<std::size_t>(depth)]; }
  static int total_order(int depth) {
    int n = 0;
    for (int d = 0; d < depth; ++d) n += order(d);
    return n;
  }

 private:
  friend class Direction;
  static std::vector<int>& orders() {
    static std::vector<int> o;
    return o;
  }
  static std::vector<std::size_t>& sizes() {
    static std::vector<std::size_t> s{1};
    return s;
  }
};

template <class R>
class Number {
 public:
  Number(R value = 0) : c_{value} {}
  R value() const { return c_[0]; }
  int depth() const { return depth_; }
  const std::vector<R>& coefficients() const { return c_; }
  bool finite() const {
    return std::all_of(c_.begin(), c_.end(), [](R v) { return std::isfinite(v); });
  }
  /// The coefficient of e^k, e the latest direction: a number of those before it.
  Number part(int k) const {
    const int d = Directions::depth() - 1;
    if (depth_ <= d) return k == 0 ? *this : Number();
    const std::size_t n = Directions::coefficients(d);
    Number r;
    r.depth_ = d;
    r.c_.assign(c_.begin() + static_cast<std::ptrdiff_t>(n * static_cast<std::size_t>(k)),
                c_.begin() + static_cast<std::ptrdiff_t>(n * static_cast<std::size_t>(k + 1)));
    return r;
  }
  /// x + e t for the latest direction e, which neither knows.
  static Number along(const Number& x, const Number& t) {
    const int d = Directions::depth();
    Number r = x;
    r.widen(d);
    const std::size_t n = Directions::coefficients(d - 1);
    for (std::size_t i = 0; i < t.c_.size(); ++i) r.c_[n + i] += t.c_[i];
    return r;
  }

  Number& operator+=(const Number& o) {
    widen(o.depth_);
    for (std::size_t i = 0; i < o.c_.size(); ++i) c_[i] += o.c_[i];
    return *this;
  }
  friend Number operator+(Number a, const Number& b) { return a += b; }
  friend Number operator-(const Number& a) { return a * R(-1); }
  friend Number operator-(const Number& a, const Number& b) { return a + -b; }
  friend Number operator*(Number a, R f) {
    for (R& v : a.c_) v *= f;
    return a;
  }
  friend Number operator*(const Number& a, const Number& b) {
    Number r;
    r.widen(std::max(a.depth_, b.depth_));
    multiply(r.c_.data(), r.depth_, a.c_.data(), a.depth_, b.c_.data(), b.depth_);
    return r;
  }

  /// sum_k series[k] (a - a_0)^k.
  template <class Series>
  friend Number compose(const Series& series, const Number& a) {
    Number h = a;
    h.c_[0] = 0;
    int k = Directions::total_order(a.depth_);
    Number y = series[static_cast<std::size_t>(k)];
    while (k-- > 0) y = y * h + series[static_cast<std::size_t>(k)];
    return y;
  }

 private:
  void widen(int depth) {
    if (depth <= depth_) return;
    depth_ = depth;
    c_.resize(Directions::coefficients(depth));
  }
  /// r += a b, of numbers that know the first d (da, db) directions.
  static void multiply(R* r, int d, const R* a, int da, const R* b, int db) {
    if (d == 0) {
      r[0] += a[0] * b[0];
      return;
    }
    const int order = Directions::order(d - 1);
    const std::size_t n = Directions::coefficients(d - 1);
    for (int i = 0; i <= (da == d ? order : 0); ++i)
      for (int j = 0; j <= (db == d ? order - i : 0); ++j)
        multiply(r + n * static_cast<std::size_t>(i + j), d - 1,
                 a + n * static_cast<std::size_t>(i), std::min(da, d - 1),
                 b + n * static_cast<std::size_t>(j), std::min(db, d - 1));
  }

  std::vector<R> c_;
  int depth_ = 0;
};

/// One more direction, as long as this lives.
class Direction {
 public:
  explicit Direction(int order) {
    Directions::sizes().push_back(Directions::sizes().back() * static_cast<std::size_t>(order + 1));
    Directions::orders().push_back(order);
  }
  ~Direction() {
    Directions::sizes().pop_back();
    Directions::orders().pop_back();
  }
  Direction(const Direction&) = delete;
};

// ---- series of functions of one variable at a: s[k] = f^(k)(a) / k! ----
template <class R>
using Series = std::array<R, 26>;
/// Terms that a number of the open directions can ask for.
inline std::size_t terms() {
  return static_cast<std::size_t>(Directions::total_order(Directions::depth())) + 1;
}

/// The antiderivative with this value at a.
template <class R>
Series<R> integral(R value, const Series<R>& slope) {
  Series<R> s{value};
  for (std::size_t k = 0; k + 1 < terms(); ++k) s[k + 1] = slope[k] / static_cast<R>(k + 1);
  return s;
}
/// y' = p(y) with p(y) = constant + linear y + quadratic y^2.
template <class R>
Series<R> riccati(R y0, R constant, R linear, R quadratic) {
  Series<R> y{y0};
  for (std::size_t k = 0; k + 1 < terms(); ++k) {
    R d = (k == 0 ? constant : 0) + linear * y[k];
    for (std::size_t j = 0; j <= k; ++j) d += quadratic * y[j] * y[k - j];
    y[k + 1] = d / static_cast<R>(k + 1);
  }
  return y;
}
template <class R>
Series<R> power_series(R a, R p) {
  Series<R> s{std::pow(a, p)};
  for (std::size_t k = 1; k < terms(); ++k)
    s[k] = s[k - 1] * (p - static_cast<R>(k) + 1) / static_cast<R>(k) / a;
  return s;
}
/// y'' = -y.
template <class R>
Series<R> turning(R s0, R s1) {
  Series<R> s{s0, s1};
  for (std::size_t k = 2; k < terms(); ++k) s[k] = -s[k - 2] / static_cast<R>(k * (k - 1));
  return s;
}

template <class R>
Number<R> exp(const Number<R>& a) {
  return compose(riccati<R>(std::exp(a.value()), 0, 1, 0), a);
}
template <class R>
Number<R> log(const Number<R>& a) {
  return compose(integral(std::log(a.value()), power_series<R>(a.value(), -1)), a);
}
template <class R>
Number<R> log1p(const Number<R>& a) {
  return compose(integral(std::log1p(a.value()), power_series<R>(1 + a.value(), -1)), a);
}
template <class R>
Number<R> pow(const Number<R>& a, std::type_identity_t<R> p) {
  return compose(power_series<R>(a.value(), p), a);
}
template <class R>
Number<R> sqrt(const Number<R>& a) {
  return compose(power_series<R>(a.value(), 0.5), a);
}
template <class R>
Number<R> reciprocal(const Number<R>& a) {
  return compose(power_series<R>(a.value(), -1), a);
}
template <class R>
Number<R> operator/(const Number<R>& a, const Number<R>& b) {
  return a * reciprocal(b);
}
template <class R>
Number<R> sin(const Number<R>& a) {
  return compose(turning(std::sin(a.value()), std::cos(a.value())), a);
}
template <class R>
Number<R> cos(const Number<R>& a) {
  return compose(turning(std::cos(a.value()), -std::sin(a.value())), a);
}
template <class R>
Number<R> tanh(const Number<R>& a) {
  return compose(riccati<R>(std::tanh(a.value()), 1, 0, -1), a);
}
template <class R>
Series<R> logistic_series(R a) {
  return riccati<R>(1 / (1 + std::exp(-a)), 0, 1, -1);
}
template <class R>
Number<R> logistic(const Number<R>& a) {
  return compose(logistic_series(a.value()), a);
}
template <class R>
Number<R> softplus(const Number<R>& a) {
  const R x = a.value(), y = std::max(x, R(0)) + std::log1p(std::exp(-std::abs(x)));
  return compose(integral(y, logistic_series(x)), a);
}
template <class R>
Number<R> atan(const Number<R>& a) {
  const R x = a.value(), q = 1 + x * x;
  Series<R> slope{};  // 1 / (q + 2 x h + h^2)
  for (std::size_t k = 0; k < terms(); ++k)
    slope[k] = ((k == 0) - (k > 0 ? 2 * x * slope[k - 1] : 0) - (k > 1 ? slope[k - 2] : 0)) / q;
  return compose(integral(std::atan(x), slope), a);
}
template <class R>
Number<R> erf(const Number<R>& a) {
  const R x = a.value();
  Series<R> slope{2 / std::sqrt(std::numbers::pi_v<R>) * std::exp(-x * x)};  // g' = -2 x g
  for (std::size_t k = 0; k + 1 < terms(); ++k)
    slope[k + 1] = -2 * (x * slope[k] + (k > 0 ? slope[k - 1] : 0)) / static_cast<R>(k + 1);
  return compose(integral(std::erf(x), slope), a);
}
/// The angle of (x, y), by the quotient that is not large.
template <class R>
Number<R> atan2(const Number<R>& y, const Number<R>& x) {
  const Number<R> r = std::abs(x.value()) > std::abs(y.value()) ? atan(y / x) : -atan(x / y);
  return r + (std::atan2(y.value(), x.value()) - r.value());
}

}  // namespace nesting
