// SPDX-License-Identifier: Apache-2.0
// Fields of point and line sources in closed form, e^{+i w t}, and their tangential parts on
// patches. Written apart from the product.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/surface.h"

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

namespace tessera::electromagnetics::analytic {

using Complex = std::complex<double>;
using Vec = std::array<Complex, 3>;
using Pos = std::array<double, 3>;
inline constexpr double pi = std::numbers::pi;
inline constexpr Complex i{0, 1};

struct EH {
  Vec e{}, h{};
};

/// Electric dipole of moment `il` (A m) at `at`; J. D. Jackson, Classical Electrodynamics,
/// eq. 9.18, with p = il/(i w) and i -> -i:
///   H = (k^2 c n/4 pi) (r^ x p)(1 + 1/(ikr)) e^{-ikr}/r,
///   E = 1/(4 pi eps) { k^2 (r^ x p) x r^ /r + [3 r^(r^.p) - p](1/r^3 + ik/r^2) } e^{-ikr}.
inline EH dipole(double f, const Pos& at, const Vec& il, const Pos& r, double eps = 1,
                 double mu = 1) {
  const double w = 2 * pi * f, k = w * std::sqrt(eps * mu) / speed_of_light,
               v = speed_of_light / std::sqrt(eps * mu);
  Pos d{r[0] - at[0], r[1] - at[1], r[2] - at[2]};
  const double x = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  for (double& c : d) c /= x;
  Vec p;
  for (int c = 0; c < 3; ++c) p[c] = il[c] / (i * w);
  const Complex wave = std::exp(-i * k * x), along = d[0] * p[0] + d[1] * p[1] + d[2] * p[2];
  EH out;
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    out.h[c] =
        k * k * v / (4 * pi) * (d[a] * p[b] - d[b] * p[a]) * (1.0 + 1.0 / (i * k * x)) * wave / x;
    out.e[c] = wave / (4 * pi * vacuum_permittivity * eps) *
               (k * k * (p[c] - d[c] * along) / x +
                (3 * d[c] * along - p[c]) * (1 / (x * x * x) + i * k / (x * x)));
  }
  return out;
}

inline Complex hankel(int n, double x) {
  return {std::cyl_bessel_j(n, x), -std::cyl_neumann(n, x)};
}

/// Electric line current along z (A): E_z = -(w mu I/4) H0(k r), H_phi = -(i k I/4) H1... from curl
/// E = -i w mu H.
inline EH line(double f, const Pos& at, Complex current, const Pos& r, double eps = 1,
               double mu = 1) {
  const double w = 2 * pi * f, k = w * std::sqrt(eps * mu) / speed_of_light;
  const double dx = r[0] - at[0], dy = r[1] - at[1], x = std::hypot(dx, dy);
  const Complex h_phi = -i * k * current / 4.0 * hankel(1, k * x);  // -> I/(2 pi r) for k r -> 0
  EH out;
  out.e[2] = -w * mu * vacuum_permeability * current / 4.0 * hankel(0, k * x);
  out.h[0] = -dy / x * h_phi;
  out.h[1] = dx / x * h_phi;
  return out;
}
/// Magnetic line current along z (V): the dual, E -> H, H -> -E, mu <-> eps.
inline EH magnetic_line(double f, const Pos& at, Complex current, const Pos& r, double eps = 1,
                        double mu = 1) {
  const double w = 2 * pi * f, k = w * std::sqrt(eps * mu) / speed_of_light;
  const double dx = r[0] - at[0], dy = r[1] - at[1], x = std::hypot(dx, dy);
  const Complex e_phi = i * k * current / 4.0 * hankel(1, k * x);
  EH out;
  out.h[2] = -w * eps * vacuum_permittivity * current / 4.0 * hankel(0, k * x);
  out.e[0] = -dy / x * e_phi;
  out.e[1] = dx / x * e_phi;
  return out;
}

/// Samples `field(f, r)` on the patches.
inline std::vector<SurfaceFields> on_patches(const std::vector<Patch>& patches,
                                             const std::vector<double>& frequencies,
                                             const std::function<EH(double, const Pos&)>& field) {
  std::vector<SurfaceFields> out;
  for (const Patch& p : patches) {
    std::vector<Complex> e, h;
    for (double f : frequencies)
      for (int component : {p.lo_axis(), p.hi_axis()})
        for (const Pos& r : points_of(p)) {
          const EH v = field(f, r);
          e.push_back(v.e[component]);
          h.push_back(v.h[component]);
        }
    const tessera::Shape shape{static_cast<Index>(frequencies.size()), 2, p.n_hi(), p.n_lo()};
    out.push_back({tensor(e, shape), tensor(h, shape)});
  }
  return out;
}

}  // namespace tessera::electromagnetics::analytic
