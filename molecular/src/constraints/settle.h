// SPDX-License-Identifier: Apache-2.0
//
// SETTLE: the place of a rigid isosceles water in closed form (Miyamoto & Kollman 1992, the symbols of the paper; lower case 0:
// old places from the oxygen, 1: free places from the centre of mass).
#pragma once
#include "tessera/molecular/box.h"

#include <cmath>

namespace tessera::molecular {

struct Settle {
  double m_o, m_h, ra, rb, rc;
  Settle(double mass_o, double mass_h, double d_oh, double d_hh) : m_o(mass_o), m_h(mass_h) {
    const double height = std::sqrt(d_oh * d_oh - 0.25 * d_hh * d_hh);
    ra = 2 * m_h * height / (m_o + 2 * m_h);
    rb = height - ra;
    rc = 0.5 * d_hh;
  }

  /// From old places of the hydrogens (b0, c0: from the oxygen) and free places a, b, c, new places. False where there is no
  /// solution: the free water has turned by more than a right angle.
  bool place(const Vec3& b0, const Vec3& c0, Vec3& a, Vec3& b, Vec3& c) const {
    const auto dot = [](const Vec3& u, const Vec3& v) { return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]; };
    const auto cross = [](const Vec3& u, const Vec3& v) { return Vec3{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]}; };
    const auto unit = [&](Vec3 u) {
      const double n = 1 / std::sqrt(dot(u, u));
      return Vec3{u[0] * n, u[1] * n, u[2] * n};
    };
    const double mass = 1 / (m_o + 2 * m_h);
    Vec3 centre, a1, b1, c1;
    for (std::size_t k = 0; k < 3; ++k) {
      centre[k] = (m_o * a[k] + m_h * (b[k] + c[k])) * mass;
      a1[k] = a[k] - centre[k];
      b1[k] = b[k] - centre[k];
      c1[k] = c[k] - centre[k];
    }
    const Vec3 z = unit(cross(b0, c0)), x = unit(cross(a1, z)), y = cross(z, x);
    const double xb0 = dot(b0, x), yb0 = dot(b0, y), xc0 = dot(c0, x), yc0 = dot(c0, y);
    const double za1 = dot(a1, z), xb1 = dot(b1, x), yb1 = dot(b1, y), zb1 = dot(b1, z), xc1 = dot(c1, x), yc1 = dot(c1, y), zc1 = dot(c1, z);
    const double sin_phi = za1 / ra, cos2_phi = 1 - sin_phi * sin_phi;
    if (!(cos2_phi > 0)) return false;
    const double cos_phi = std::sqrt(cos2_phi), sin_psi = (zb1 - zc1) / (2 * rc * cos_phi), cos2_psi = 1 - sin_psi * sin_psi;
    if (!(cos2_psi > 0)) return false;
    const double cos_psi = std::sqrt(cos2_psi);
    const double ya2 = ra * cos_phi, xb2 = -rc * cos_psi, yb2 = -rb * cos_phi - rc * sin_psi * sin_phi, yc2 = -rb * cos_phi + rc * sin_psi * sin_phi;
    const double alpha = xb2 * (xb0 - xc0) + yb0 * yb2 + yc0 * yc2;
    const double beta = xb2 * (yc0 - yb0) + xb0 * yb2 + xc0 * yc2;
    const double gamma = xb0 * yb1 - xb1 * yb0 + xc0 * yc1 - xc1 * yc0;
    const double square = alpha * alpha + beta * beta, rest = square - gamma * gamma;
    if (!(rest > 0)) return false;
    const double sin_theta = (alpha * gamma - beta * std::sqrt(rest)) / square, cos_theta = std::sqrt(1 - sin_theta * sin_theta);
    const Vec3 a3 = {-ya2 * sin_theta, ya2 * cos_theta, za1};
    const Vec3 b3 = {xb2 * cos_theta - yb2 * sin_theta, xb2 * sin_theta + yb2 * cos_theta, zb1};
    const Vec3 c3 = {-xb2 * cos_theta - yc2 * sin_theta, -xb2 * sin_theta + yc2 * cos_theta, zc1};
    for (std::size_t k = 0; k < 3; ++k) {
      a[k] = centre[k] + a3[0] * x[k] + a3[1] * y[k] + a3[2] * z[k];
      b[k] = centre[k] + b3[0] * x[k] + b3[1] * y[k] + b3[2] * z[k];
      c[k] = centre[k] + c3[0] * x[k] + c3[1] * y[k] + c3[2] * z[k];
    }
    return true;
  }
};

}  // namespace tessera::molecular
