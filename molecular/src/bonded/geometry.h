// SPDX-License-Identifier: Apache-2.0
//
// Internal coordinates q of bonded terms and their derivatives dq, as functions of displacements d
// between atoms, so that positions and the edges of the box (d = x_a - x_b - k h) take their
// derivatives from the same numbers.
//
//   Distance   d0 = x0 - x1
//   Angle      d0 = x0 - x1, d1 = x2 - x1
//   Bend       theta - pi of an angle: where it is straight, theta has lost the digits that second
//              derivatives of a potential about pi take
//   Dihedral   F = x0 - x1, G = x1 - x2, H = x3 - x2;  A = F x G, B = H x G
//              cos phi = A.B/(|A||B|), sin phi = (B x A).G/(|A||B||G|)
//              dphi/dF = -|G| A/A^2,  dphi/dH = |G| B/B^2,
//              dphi/dG = (F.G) A/(A^2 |G|) - (H.G) B/(B^2 |G|)
//              (Blondel & Karplus, J. Comput. Chem. 17 (1996) 1132: no singularity in phi)
//
// On tensors [m] of all terms they are the oracle, by formulas of their own.
#pragma once
#include "base/dual.h"
#include "base/vec.h"
#include "energy/generic.h"
#include "tessera/autodiff/ops.h"

#include <array>
#include <numbers>
#include <vector>

namespace tessera::molecular {

/// Atoms (a, b) of each displacement x_a - x_b.
using Ends = std::array<int, 2>;

struct Distance {
  static constexpr std::array<Ends, 1> ends = {{{0, 1}}};
  template <class T>
  static T of(const std::array<Vec<T>, 1>& d, std::array<Vec<T>, 1>& dq) {
    using std::sqrt;
    const T r = sqrt(dot(d[0], d[0]));
    dq[0] = scaled(d[0], T(1.0) / r);
    return r;
  }
  static Tensor of(const std::vector<Tensor>& d) { return sqrt(generic::dot(d[0], d[0])); }
};

struct Angle {
  static constexpr std::array<Ends, 2> ends = {{{0, 1}, {2, 1}}};
  /// (cos theta, sin theta) times |u||v|, and the derivatives of theta: with n = u x v dtheta/du =
  /// (u x n)/(u^2 |n|), turned away from v, dtheta/dv likewise.
  template <class T>
  static std::array<T, 2> circle(const std::array<Vec<T>, 2>& d, std::array<Vec<T>, 2>& dq) {
    using std::sqrt;
    const Vec<T>&u = d[0], &v = d[1];
    const Vec<T> n = cross(u, v);
    const T u2 = dot(u, u), v2 = dot(v, v);
    // Straight angles have no direction to open into: no derivative.
    const T area = sqrt(dot(n, n) + T(1e-20) * (u2 * v2));
    dq[0] = scaled(cross(u, n), T(1.0) / (u2 * area));
    dq[1] = scaled(cross(n, v), T(1.0) / (v2 * area));
    return {dot(u, v), area};
  }
  template <class T>
  static T of(const std::array<Vec<T>, 2>& d, std::array<Vec<T>, 2>& dq) {
    using std::atan2;
    const std::array<T, 2> at = circle(d, dq);
    return atan2(at[1], at[0]);
  }
  static Tensor of(const std::vector<Tensor>& d) {
    using generic::dot;
    return acos(dot(d[0], d[1]) / sqrt(dot(d[0], d[0]) * dot(d[1], d[1])));
  }
};

struct Bend {
  static constexpr std::array<Ends, 2> ends = Angle::ends;
  template <class T>
  static T of(const std::array<Vec<T>, 2>& d, std::array<Vec<T>, 2>& dq) {
    using std::atan2;
    const std::array<T, 2> at = Angle::circle(d, dq);
    return -atan2(at[1], -at[0]);
  }
  static Tensor of(const std::vector<Tensor>& d) { return Angle::of(d) - std::numbers::pi; }
};

struct Dihedral {
  static constexpr std::array<Ends, 3> ends = {{{0, 1}, {1, 2}, {3, 2}}};
  /// (cos phi, sin phi) times |A||B||G|, and the derivatives of phi.
  template <class T>
  static std::array<T, 2> circle(const std::array<Vec<T>, 3>& d, std::array<Vec<T>, 3>& dq) {
    using std::sqrt;
    const Vec<T>&f = d[0], &g = d[1], &h = d[2];
    const Vec<T> a = cross(f, g), b = cross(h, g);
    const T a2 = dot(a, a), b2 = dot(b, b), g2 = dot(g, g);
    // Three atoms on a line (within 1e-8 nm) have no direction to turn into: no derivative, phi 0.
    const T turns = step(a2 - T(1e-16) * g2) * step(b2 - T(1e-16) * g2), none = T(1.0) - turns;
    const T length = sqrt(g2), over = T(1.0) / length, over_a2 = turns / (a2 + none),
            over_b2 = turns / (b2 + none);
    dq[0] = scaled(a, T(-1.0) * length * over_a2);
    dq[2] = scaled(b, length * over_b2);
    dq[1] =
        difference(scaled(a, dot(f, g) * over_a2 * over), scaled(b, dot(h, g) * over_b2 * over));
    return {turns * dot(a, b) * length + none, turns * dot(cross(b, a), g)};
  }
  template <class T>
  static T of(const std::array<Vec<T>, 3>& d, std::array<Vec<T>, 3>& dq) {
    using std::atan2;
    const std::array<T, 2> at = circle(d, dq);
    return atan2(at[1], at[0]);
  }
  static Tensor of(const std::vector<Tensor>& d) { return generic::dihedral(d[0], d[1], d[2]); }
};

}  // namespace tessera::molecular
