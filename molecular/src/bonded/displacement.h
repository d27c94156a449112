// SPDX-License-Identifier: Apache-2.0
//
// Displacements d = x_a - x_b - k h between atoms as terms take them, and the way back: a
// derivative along d belongs to x_a, with the other sign to x_b, and -k (x) it to h.
#pragma once
#include "base/dual.h"
#include "base/four.h"
#include "bonded/geometry.h"
#include "system/box_of.h"
#include "tessera/molecular/energy_function.h"

#include <cmath>

namespace tessera::molecular {

/// value[at(t)] of four terms t, with derivative[at(t)] (null: zero) where T = Dual<Four> carries
/// one.
template <class T, class F, class At>
T numbers(const F& of_terms, const double* value, const double* derivative, const At& at) {
  const Four v = of_terms([&](std::size_t t) { return value[at(t)]; });
  if constexpr (std::is_same_v<T, Four>)
    return v;
  else
    return T(v,
             {derivative ? of_terms([&](std::size_t t) { return derivative[at(t)]; }) : Four(0.0)});
}

/// Positions and box with their tangents (null: zero), as numbers of type T.
template <class T>
class TermPositions {
 public:
  TermPositions(const double* x, const double* dx, const double* h, const double* dh)
      : x_(x), dx_(dx), h_(h), dh_(dh), box_(box_of(h)) {
    for (std::size_t k = 0; k < 3 && is_periodic(box_); ++k) over_[k] = 1 / box_.edge[k][k];
  }
  /// d of atoms a and b, and its image k.
  Vec<T> apart(std::size_t a, std::size_t b, Vec3& image) const {
    const double *p = x_ + 3 * a, *q = x_ + 3 * b;
    const auto& e = box_.edge;  // lower triangular
    const double s2 = (p[2] - q[2]) * over_[2], s1 = (p[1] - q[1] - s2 * e[2][1]) * over_[1],
                 s0 = (p[0] - q[0] - s2 * e[2][0] - s1 * e[1][0]) * over_[0];
    image = {std::floor(s0 + 0.5), std::floor(s1 + 0.5), std::floor(s2 + 0.5)};
    Vec<T> d;
    for (std::size_t c = 0; c < 3; ++c) {
      d[c] = number<T>(x_, dx_, 3 * a + c) - number<T>(x_, dx_, 3 * b + c);
      for (std::size_t k = 0; k < 3; ++k)
        if (image[k] != 0) d[c] = d[c] - image[k] * number<T>(h_, dh_, 3 * k + c);
    }
    return d;
  }
  /// The same of four terms at once: a(t) and b(t) are the atoms of term t.
  template <class F, class A, class B>
  Vec<T> apart(const F& of_terms, const A& a, const B& b, Vec<Four>& image) const {
    const auto& e = box_.edge;  // lower triangular
    Vec<T> d;
    for (std::size_t c = 0; c < 3; ++c)
      d[c] = numbers<T>(of_terms, x_, dx_, [&](std::size_t t) { return 3 * a(t) + c; }) -
             numbers<T>(of_terms, x_, dx_, [&](std::size_t t) { return 3 * b(t) + c; });
    const Vec<Four> s = {plain(d[0]), plain(d[1]), plain(d[2])};
    const Four s2 = s[2] * over_[2], s1 = (s[1] - s2 * e[2][1]) * over_[1],
               s0 = (s[0] - s2 * e[2][0] - s1 * e[1][0]) * over_[0];
    image = {floor(s0 + 0.5), floor(s1 + 0.5), floor(s2 + 0.5)};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k)
        d[c] =
            d[c] - image[k] * numbers<T>(of_terms, h_, dh_, [&](std::size_t) { return 3 * k + c; });
    return d;
  }

 private:
  const double *x_, *dx_, *h_, *dh_;
  Box box_;
  Vec3 over_{};  ///< 1/edges; zero without a box, as images then are
};

/// wrapped(box, d) (box.h) for many displacements in one box.
class Nearest {
 public:
  explicit Nearest(const Box& box) : box_(box), periodic_(is_periodic(box)) {
    if (periodic_)
      for (std::size_t k = 0; k < 3; ++k) over_[k] = 1 / box.edge[k][k];
  }
  template <class T>
  Vec<T> operator()(const Vec<T>& d) const {
    using std::floor;
    if (!periodic_) return d;
    const auto& h = box_.edge;
    const T s2 = d[2] * over_[2], s1 = (d[1] - s2 * h[2][1]) * over_[1],
            s0 = (d[0] - s1 * h[1][0] - s2 * h[2][0]) * over_[0];
    const T n0 = floor(s0 + 0.5), n1 = floor(s1 + 0.5), n2 = floor(s2 + 0.5);
    return {d[0] - n0 * h[0][0] - n1 * h[1][0] - n2 * h[2][0], d[1] - n1 * h[1][1] - n2 * h[2][1],
            d[2] - n2 * h[2][2]};
  }

 private:
  Box box_;
  bool periodic_;
  Vec3 over_{};
};

/// Adds the derivative along d to those of positions and box that are asked for.
inline void spread_gradient(EnergyFunction::Results g, std::size_t a, std::size_t b,
                            const Vec3& image, const Vec3& du) {
  for (std::size_t c = 0; c < 3; ++c) {
    if (g[0]) {
      g[0][3 * a + c] += du[c];
      g[0][3 * b + c] -= du[c];
    }
    if (g[1])
      for (std::size_t k = 0; k < 3; ++k) g[1][3 * k + c] -= image[k] * du[c];
  }
}

}  // namespace tessera::molecular
