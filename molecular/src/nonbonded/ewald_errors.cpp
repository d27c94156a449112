// SPDX-License-Identifier: Apache-2.0
//
// With d = 0.1 nm, rho the number of charges a volume, and forces in units of k_e/e_r <q^2>/d^2,
// charges that are anywhere miss, squared,
//
//   pairs   d^4 4 rho/rc exp(-2 beta^2 rc^2)
//   waves   d^4 8 rho int_kmax^inf exp(-k^2/2 beta^2) dk
//             = d^4 8 rho beta sqrt(pi/2) erfc(kmax/sqrt(2) beta)
//   mesh    d^4 8 rho int_0^inf exp(-k^2/2 beta^2) <e^2(k)> dk
//
// An axis with points h apart makes of exp(i k u), x = k_axis h/2 pi, p the order of the splines,
//
//   sum_m c_m exp(i (k + 2 pi m/h) u),  c_m = (x/(x + m))^p / sum_m' (x/(x + m'))^p,
//
// once as charges are spread and once as forces, of the gradient of each of these waves, are
// gathered:
//
//   e^2 = (c_0^2 - 1)^2 + sum_{m != 0} c_m^2 (1 + |k + G_m|^2/k^2),  1 where |x| > 1/2,
//
// summed over the axes, <> their mean over directions of k.
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

/// e^2 of one axis: of a wave of length k whose part along the axis is mu k.
double square_error_of_axis(double k, double mu, double spacing_nm, int order) {
  const double x = k * mu * spacing_nm / (2 * pi);
  if (x >= 0.5) return 1;
  double sum = 1, aliases = 0;
  for (const int m : {-2, -1, 1, 2}) {
    const double c = std::pow(x / (x + m), order), g = 2 * pi * m / spacing_nm;
    sum += c;
    aliases += c * c * (2 + (2 * mu * k * g + g * g) / (k * k));
  }
  const double systematic = 1 / (sum * sum) - 1;
  return std::min(1.0, systematic * systematic + aliases / (sum * sum));
}

/// int_0^inf exp(-k^2/2 beta^2) <e^2(k)> dk.
double integral_of_mesh(double beta, const Vec3& spacing_nm, int order) {
  constexpr int lengths = 96, directions = 24;
  const double step = 6 * beta / lengths;  // exp(-18) is left
  double out = 0;
  for (int i = 0; i < lengths; ++i) {
    const double k = (i + 0.5) * step;
    double mean = 0;
    for (int j = 0; j < directions; ++j)
      for (const double h : spacing_nm)
        mean += square_error_of_axis(k, (j + 0.5) / directions, h, order) / directions;
    out += step * std::exp(-k * k / (2 * beta * beta)) * mean;
  }
  return out;
}

}  // namespace

double ewald_kmax(const Nonbonded& o) {
  // exp(-k^2/4 beta^2) = rtol^1.2: less than the real-space sum leaves out.
  return o.ewald_kmax > 0
             ? o.ewald_kmax
             : 2 * ewald_beta(o) * std::sqrt(-1.2 * std::log(std::min(o.ewald_rtol, 0.1)));
}

EwaldErrors ewald_errors(const System& system, const Nonbonded& o, const Box& box) {
  constexpr double d2 = 0.1 * 0.1;
  const auto charges =
      std::ranges::count_if(system.atoms.charge_e, [](double q) { return q != 0; });
  if (charges == 0 ||
      (o.coulomb != Nonbonded::Coulomb::pme && o.coulomb != Nonbonded::Coulomb::ewald))
    return {};
  const double rho = static_cast<double>(charges) / volume_nm3(box), beta = ewald_beta(o),
               rc = o.cutoff_coulomb_nm;
  EwaldErrors out{.pairs = d2 * std::sqrt(4 * rho / rc) * std::exp(-std::pow(beta * rc, 2))};
  if (o.coulomb == Nonbonded::Coulomb::ewald) {
    out.waves = d2 * std::sqrt(8 * rho * beta * std::sqrt(pi / 2) *
                               std::erfc(ewald_kmax(o) / (std::numbers::sqrt2 * beta)));
    return out;
  }
  const std::array<int, 3> grid = pme_grid(o, box);
  Vec3 spacing = lengths_nm(box);
  for (std::size_t a = 0; a < 3; ++a) spacing[a] /= grid[a];
  out.mesh = d2 * std::sqrt(8 * rho * integral_of_mesh(beta, spacing, o.pme_order));
  return out;
}

}  // namespace tessera::molecular
