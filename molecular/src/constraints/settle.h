// SPDX-License-Identifier: Apache-2.0
//
// Rigid isosceles waters, eight at a time: positions in closed form (SETTLE: Miyamoto & Kollman
// 1992, the symbols of the paper; lower case 0: old positions from the oxygen, 1: free positions
// from the centre of mass), velocities by the three bonds' linear system.
#pragma once
#include "constraints/near.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace tessera::molecular {

struct Settle {
  double m_o, m_h, d_oh, d_hh, ra, rb, rc;
  Settle(double mass_o, double mass_h, double oh, double hh)
      : m_o(mass_o), m_h(mass_h), d_oh(oh), d_hh(hh) {
    const double height = std::sqrt(oh * oh - 0.25 * hh * hh);
    ra = 2 * m_h * height / (m_o + 2 * m_h);
    rb = height - ra;
    rc = 0.5 * hh;
  }
};

/// Up to eight waters of one kind; positions that are not taken repeat the last one.
struct Waters {
  static constexpr std::size_t lanes = 8;
  std::array<std::array<std::int32_t, lanes>, 3> atom;  ///< O, H, H
  std::size_t many = 0, kind = 0;
};

/// A vector of eight waters.
struct Lanes {
  double c[3][Waters::lanes];
};

/// O-H displacements to the hydrogen `h` of each water.
inline Lanes arms(const Waters& w, std::size_t h, double longest, const std::vector<Vec3>& x,
                  const Box& box) {
  Lanes d;
  for (std::size_t l = 0; l < Waters::lanes; ++l) {
    const Vec3 r = between(x, w.atom[h][l], w.atom[0][l], longest, box);
    for (std::size_t k = 0; k < 3; ++k) d.c[k][l] = r[k];
  }
  return d;
}

/// What free positions y (arms b, c) move by to be rigid: the oxygen by `das`, the hydrogens by
/// `bs`, `cs`, which hold the arms before. Lanes without a solution (the free water has turned by
/// more than a right angle) get a value that is not positive in `least`.
inline void settle_positions(const Settle& s, const Lanes& b0s, const Lanes& c0s, Lanes& bs,
                             Lanes& cs, Lanes& das, double* least) {
  const double share = s.m_h / (s.m_o + 2 * s.m_h), ra = s.ra, rb = s.rb, rc = s.rc;
  for (std::size_t l = 0; l < Waters::lanes; ++l) {
    const double b0x = b0s.c[0][l], b0y = b0s.c[1][l], b0z = b0s.c[2][l], c0x = c0s.c[0][l],
                 c0y = c0s.c[1][l], c0z = c0s.c[2][l];
    const double bx = bs.c[0][l], by = bs.c[1][l], bz = bs.c[2][l], cx = cs.c[0][l],
                 cy = cs.c[1][l], cz = cs.c[2][l];
    // Centre of mass from the oxygen; a1 is its negative.
    const double mx = share * (bx + cx), my = share * (by + cy), mz = share * (bz + cz);
    const double b1x = bx - mx, b1y = by - my, b1z = bz - mz, c1x = cx - mx, c1y = cy - my,
                 c1z = cz - mz;
    double zx = b0y * c0z - b0z * c0y, zy = b0z * c0x - b0x * c0z, zz = b0x * c0y - b0y * c0x;
    const double zn = 1 / std::sqrt(zx * zx + zy * zy + zz * zz);
    zx *= zn, zy *= zn, zz *= zn;
    double xx = mz * zy - my * zz, xy = mx * zz - mz * zx, xz = my * zx - mx * zy;  // a1 x z
    const double xn = 1 / std::sqrt(xx * xx + xy * xy + xz * xz);
    xx *= xn, xy *= xn, xz *= xn;
    const double yx = zy * xz - zz * xy, yy = zz * xx - zx * xz, yz = zx * xy - zy * xx;
    const double xb0 = b0x * xx + b0y * xy + b0z * xz, yb0 = b0x * yx + b0y * yy + b0z * yz,
                 xc0 = c0x * xx + c0y * xy + c0z * xz, yc0 = c0x * yx + c0y * yy + c0z * yz;
    const double za1 = -(mx * zx + my * zy + mz * zz);
    const double xb1 = b1x * xx + b1y * xy + b1z * xz, yb1 = b1x * yx + b1y * yy + b1z * yz,
                 zb1 = b1x * zx + b1y * zy + b1z * zz;
    const double xc1 = c1x * xx + c1y * xy + c1z * xz, yc1 = c1x * yx + c1y * yy + c1z * yz,
                 zc1 = c1x * zx + c1y * zy + c1z * zz;
    const double sin_phi = za1 / ra, cos2_phi = 1 - sin_phi * sin_phi,
                 cos_phi = std::sqrt(cos2_phi);
    const double sin_psi = (zb1 - zc1) / (2 * rc * cos_phi), cos2_psi = 1 - sin_psi * sin_psi,
                 cos_psi = std::sqrt(cos2_psi);
    const double ya2 = ra * cos_phi, xb2 = -rc * cos_psi,
                 yb2 = -rb * cos_phi - rc * sin_psi * sin_phi,
                 yc2 = -rb * cos_phi + rc * sin_psi * sin_phi;
    const double alpha = xb2 * (xb0 - xc0) + yb0 * yb2 + yc0 * yc2,
                 beta = xb2 * (yc0 - yb0) + xb0 * yb2 + xc0 * yc2;
    const double gamma = xb0 * yb1 - xb1 * yb0 + xc0 * yc1 - xc1 * yc0;
    const double square = alpha * alpha + beta * beta, rest = square - gamma * gamma;
    const double sin_theta = (alpha * gamma - beta * std::sqrt(rest)) / square,
                 cos_theta = std::sqrt(1 - sin_theta * sin_theta);
    const double a3x = -ya2 * sin_theta, a3y = ya2 * cos_theta;
    const double b3x = xb2 * cos_theta - yb2 * sin_theta, b3y = xb2 * sin_theta + yb2 * cos_theta;
    const double c3x = -xb2 * cos_theta - yc2 * sin_theta, c3y = -xb2 * sin_theta + yc2 * cos_theta;
    const double dax = mx + (a3x * xx + a3y * yx + za1 * zx),
                 day = my + (a3x * xy + a3y * yy + za1 * zy),
                 daz = mz + (a3x * xz + a3y * yz + za1 * zz);
    das.c[0][l] = dax;
    das.c[1][l] = day;
    das.c[2][l] = daz;
    const double bu = b3x - a3x, bv = b3y - a3y, bw = zb1 - za1, cu = c3x - a3x, cv = c3y - a3y,
                 cw = zc1 - za1;
    bs.c[0][l] = dax + ((bu * xx + bv * yx + bw * zx) - bx);
    bs.c[1][l] = day + ((bu * xy + bv * yy + bw * zy) - by);
    bs.c[2][l] = daz + ((bu * xz + bv * yz + bw * zz) - bz);
    cs.c[0][l] = dax + ((cu * xx + cv * yx + cw * zx) - cx);
    cs.c[1][l] = day + ((cu * xy + cv * yy + cw * zy) - cy);
    cs.c[2][l] = daz + ((cu * xz + cv * yz + cw * zz) - cz);
    const double one = cos2_phi < cos2_psi ? cos2_phi : cos2_psi;
    least[l] = one < rest ? one : rest;  // a lane of NaN is not positive either
  }
}

/// Impulses along the bonds O-H1, O-H2, H1-H2 (arms b, c) that take out relative speeds along them;
/// u: velocities O, H1, H2.
inline void settle_speeds(const Settle& s, const Lanes& bs, const Lanes& cs, Lanes* u) {
  const double io = 1 / s.m_o, ih = 1 / s.m_h;
  for (std::size_t l = 0; l < Waters::lanes; ++l) {
    const double bx = bs.c[0][l], by = bs.c[1][l], bz = bs.c[2][l], cx = cs.c[0][l],
                 cy = cs.c[1][l], cz = cs.c[2][l];
    const double ex = cx - bx, ey = cy - by, ez = cz - bz;  // H1 to H2
    const double bb = bx * bx + by * by + bz * bz, cc = cx * cx + cy * cy + cz * cz,
                 bc = bx * cx + by * cy + bz * cz;
    const double be = bx * ex + by * ey + bz * ez, ce = cx * ex + cy * ey + cz * ez,
                 ee = ex * ex + ey * ey + ez * ez;
    const double vbx = u[1].c[0][l] - u[0].c[0][l], vby = u[1].c[1][l] - u[0].c[1][l],
                 vbz = u[1].c[2][l] - u[0].c[2][l];
    const double vcx = u[2].c[0][l] - u[0].c[0][l], vcy = u[2].c[1][l] - u[0].c[1][l],
                 vcz = u[2].c[2][l] - u[0].c[2][l];
    const double g0 = -(vbx * bx + vby * by + vbz * bz), g1 = -(vcx * cx + vcy * cy + vcz * cz),
                 g2 = -((vcx - vbx) * ex + (vcy - vby) * ey + (vcz - vbz) * ez);
    // Symmetric matrix of the bonds, factored as L D L^T.
    const double a00 = bb * (io + ih), a11 = cc * (io + ih), a22 = 2 * ih * ee, a01 = bc * io,
                 a02 = -be * ih, a12 = ce * ih;
    const double l10 = a01 / a00, l20 = a02 / a00, d1 = a11 - l10 * a01,
                 l21 = (a12 - l20 * a01) / d1, d2 = a22 - l20 * a02 - l21 * (a12 - l20 * a01);
    const double y1 = g1 - l10 * g0, y2 = g2 - l20 * g0 - l21 * y1;
    const double p2 = y2 / d2, p1 = y1 / d1 - l21 * p2, p0 = g0 / a00 - l10 * p1 - l20 * p2;
    u[0].c[0][l] -= io * (p0 * bx + p1 * cx);
    u[0].c[1][l] -= io * (p0 * by + p1 * cy);
    u[0].c[2][l] -= io * (p0 * bz + p1 * cz);
    u[1].c[0][l] += ih * (p0 * bx - p2 * ex);
    u[1].c[1][l] += ih * (p0 * by - p2 * ey);
    u[1].c[2][l] += ih * (p0 * bz - p2 * ez);
    u[2].c[0][l] += ih * (p1 * cx + p2 * ex);
    u[2].c[1][l] += ih * (p1 * cy + p2 * ey);
    u[2].c[2][l] += ih * (p1 * cz + p2 * ez);
  }
}

}  // namespace tessera::molecular
