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
//
// Energies, of charges that are anywhere but in their molecules, S(k) = 1 + 2/(sum q^2)
// sum over excluded pairs of q_i q_j sin(k r)/(k r):
//
//   U = k_e/(e_r pi) sum q^2 int_0^inf exp(-k^2/4 beta^2)
//       < (c_0^2 - 1) S(k) + sum_{m != 0} c_m^2 S(|k + G_m|) > dk,  P = -1/3V h dU/dh
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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

/// S(k), by linear interpolation in a table.
class OfMolecules {
 public:
  OfMolecules(const System& s, const Frame& f) {
    constexpr double bin_nm = 1e-3;
    std::vector<double> at;  // sum of q_i q_j of excluded pairs, by their distance
    double square = 0;
    for (const double q : s.atoms.charge_e) square += q * q;
    for (const auto& [i, j] : s.exclusions) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      const Vec3 &x = f.x_nm[a], &y = f.x_nm[b],
                 d = shortest(f.box, {x[0] - y[0], x[1] - y[1], x[2] - y[2]});
      const auto k = static_cast<std::size_t>(std::hypot(d[0], d[1], d[2]) / bin_nm);
      if (k >= at.size()) at.resize(k + 1, 0.0);
      at[k] += s.atoms.charge_e[a] * s.atoms.charge_e[b];
    }
    for (std::size_t n = 0; n < points; ++n) {
      table_.push_back(1);
      for (std::size_t k = 0; k < at.size(); ++k) {
        const double kr = static_cast<double>(n) * step * (static_cast<double>(k) + 0.5) * bin_nm;
        table_.back() += 2 * at[k] / square * (kr > 0 ? std::sin(kr) / kr : 1);
      }
    }
  }
  double operator()(double k) const {
    const double at = std::min(k / step, static_cast<double>(points) - 1.001);
    const auto n = static_cast<std::size_t>(at);
    return table_[n] + (at - static_cast<double>(n)) * (table_[n + 1] - table_[n]);
  }

 private:
  static constexpr std::size_t points = 512;
  static constexpr double step = 1;  // 1/nm
  std::vector<double> table_;
};

/// U in units of k_e/e_r sum q^2.
double energy_of_mesh(double beta, const Vec3& spacing_nm, int order, const OfMolecules& s) {
  constexpr int lengths = 128, directions = 32;
  constexpr double edge = 0.47;  // of x: odd orders have no bound at 1/2
  const double step = 8 * beta / lengths;
  double out = 0;
  for (int i = 0; i < lengths; ++i) {
    const double k = (i + 0.5) * step;
    double mean = 0;
    for (int j = 0; j < directions; ++j)
      for (const double h : spacing_nm) {
        const double mu = (j + 0.5) / directions, x = k * mu * h / (2 * pi);
        double sum = 1, aliases = 0;
        for (const int m : {-2, -1, 1, 2}) {
          const double c = std::pow(x / (x + m), order), g = 2 * pi * m / h;
          sum += c;
          aliases += c * c * s(std::sqrt(k * k + 2 * mu * k * g + g * g));
        }
        mean += x < edge ? s(k) * (1 / (sum * sum) - 1) + aliases / (sum * sum) : -s(k);
      }
    out += step * std::exp(-k * k / (4 * beta * beta)) * mean / directions;
  }
  return out / pi;
}

Vec3 spacings(const Nonbonded& o, const Box& box) {
  const std::array<int, 3> grid = pme_grid(o, box);
  Vec3 out = lengths_nm(box);
  for (std::size_t a = 0; a < 3; ++a) out[a] /= grid[a];
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
  out.mesh = d2 * std::sqrt(8 * rho * integral_of_mesh(beta, spacings(o, box), o.pme_order));
  return out;
}

double mesh_pressure_bar(const System& s, const Nonbonded& o, const Frame& f) {
  if (o.coulomb != Nonbonded::Coulomb::pme) return 0;
  double square = 0;
  for (const double q : s.atoms.charge_e) square += q * q;
  if (square == 0) return 0;
  constexpr double part = 0.01;  // of h, for the difference that stands for the derivative
  const OfMolecules of_molecules(s, f);
  const auto energy = [&](double times) {
    Vec3 h = spacings(o, f.box);
    for (double& v : h) v *= times;
    return energy_of_mesh(ewald_beta(o), h, o.pme_order, of_molecules);
  };
  return -bar_per_pressure_unit * s.coulomb_constant / o.epsilon_r * square *
         (energy(1 + part) - energy(1 - part)) / (2 * part) / (3 * volume_nm3(f.box));
}

}  // namespace tessera::molecular
