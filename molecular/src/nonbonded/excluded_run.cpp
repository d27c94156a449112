// SPDX-License-Identifier: Apache-2.0
//
// u = -q q erf(beta r)/r, F/r = -q q beta^3 f(beta^2 r^2): by the series of series.h up to the cut-off, by erf beyond.
#include "nonbonded/excluded_run.h"

#include "nonbonded/series.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

double sum_of(const std::vector<double>& c, double t) {
  const double t2 = t * t;
  double even = c[c.size() - 2], odd = c.back();
  for (std::size_t n = c.size() - 2; n > 0; n -= 2) {
    even = std::fma(even, t2, c[n - 2]);
    odd = std::fma(odd, t2, c[n - 1]);
  }
  return std::fma(odd, t, even);
}

}  // namespace

ExcludedRun::ExcludedRun(const System& s, const Nonbonded& o) : beta_(ewald_beta(o)), radius2_(o.cutoff_coulomb_nm * o.cutoff_coulomb_nm) {
  for (const auto& [i, j] : s.exclusions) {
    const double qq = s.coulomb_constant / o.epsilon_r * s.atoms.charge_e[static_cast<std::size_t>(i)] * s.atoms.charge_e[static_cast<std::size_t>(j)];
    if (qq != 0) pairs_.push_back({i, j, qq});
  }
  const auto series = [&](int which, double factor) {
    std::vector<double> c;
    for (const long double v : pairs::ewald_series(which, beta_ * beta_ * radius2_, 1e-17, 2)) c.push_back(static_cast<double>(v * factor));
    return c;
  };
  force_ = series(1, beta_ * beta_ * beta_);
  energy_ = series(0, beta_);
}

void ExcludedRun::add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool energies, Sums& sums) const {
  for (std::size_t k = begin; k < end; ++k) {
    const Pair& p = pairs_[k];
    const Vec3 &a = x[p.i], &b = x[p.j];
    const Vec3 d = wrapped(box, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
    const double s = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double f, u = 0;
    if (s <= radius2_) {
      const double t = 2 * s / radius2_ - 1;
      f = -p.qq * sum_of(force_, t);
      if (energies) u = -p.qq * sum_of(energy_, t);
    } else {
      const auto shapes = pairs::ewald_shapes(beta_ * beta_ * s);
      u = -p.qq * beta_ * static_cast<double>(shapes[0]);
      f = -p.qq * beta_ * beta_ * beta_ * static_cast<double>(shapes[1]);
    }
    const Vec3 force = {f * d[0], f * d[1], f * d[2]};
    sums.add_force(p.i, force);
    sums.add_force(p.j, {-force[0], -force[1], -force[2]});
    if (!energies) continue;
    sums.add_energy(Term::coulomb_reciprocal, u);
    sums.add_virial(d, force);
  }
}

}  // namespace tessera::molecular
