// SPDX-License-Identifier: Apache-2.0
//
// Four numbers, of four terms or atoms, as one number of formulas. Every operation is that of
// doubles on each of them: the bits of one do not depend on which others stand beside it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::molecular {

class Four {
 public:
  static constexpr std::size_t size = 4;
  using Lanes [[gnu::vector_size(size * sizeof(double))]] = double;
  using Mask = decltype(Lanes{} < Lanes{});

  Four() = default;
  Four(double all) : v_{all, all, all, all} {}  // NOLINT: constants of formulas
  Four(double a, double b, double c, double d) : v_{a, b, c, d} {}
  double operator[](std::size_t k) const { return v_[k]; }

  friend Four operator-(Four a) { return Four(-a.v_); }
  friend Four operator+(Four a, Four b) { return Four(a.v_ + b.v_); }
  friend Four operator-(Four a, Four b) { return Four(a.v_ - b.v_); }
  friend Four operator*(Four a, Four b) { return Four(a.v_ * b.v_); }
  friend Four operator/(Four a, Four b) { return Four(a.v_ / b.v_); }
  friend Mask operator<(Four a, Four b) { return a.v_ < b.v_; }
  friend Four where(Mask m, Four a, Four b) { return Four(m ? a.v_ : b.v_); }

  friend Four floor(Four a) {
    return a.each([](double x) { return std::floor(x); });
  }
  friend Four sqrt(Four a) {
    return a.each([](double x) { return std::sqrt(x); });
  }
  friend Four cos(Four a) {
    return a.each([](double x) { return std::cos(x); });
  }
  friend Four sin(Four a) {
    return a.each([](double x) { return std::sin(x); });
  }
  friend Four atan2(Four y, Four x) {
    return {std::atan2(y[0], x[0]), std::atan2(y[1], x[1]), std::atan2(y[2], x[2]),
            std::atan2(y[3], x[3])};
  }
  friend Four whole(Four a) {
    return a.each([](double x) { return std::nearbyint(x); });
  }
  friend Four positive(Four a) { return where(Four(0.0) < a, a, 0.0); }
  friend Four step(Four a) { return where(Four(0.0) < a, Four(1.0), 0.0); }

  friend Four plain(Four a) { return a; }
  friend Four along(Four a) { return a; }

 private:
  explicit Four(Lanes v) : v_(v) {}
  template <class F>
  Four each(F f) const {
    Lanes r;
    for (std::size_t k = 0; k < size; ++k) r[k] = f(v_[k]);
    return Four(r);
  }

  Lanes v_;
};

/// f(begin), ..., f(begin + 3); the last one before `end` stands in for those beyond.
template <class F>
Four four_of(std::size_t begin, std::size_t end, F&& f) {
  const auto at = [&](std::size_t k) { return f(std::min(begin + k, end - 1)); };
  return {at(0), at(1), at(2), at(3)};
}

}  // namespace tessera::molecular
