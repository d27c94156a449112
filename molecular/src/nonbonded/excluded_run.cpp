// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/excluded_run.h"

#include "nonbonded/series.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

constexpr double far = 4;  // z beyond which no series is summed; 1-4 pairs have about 1.5
constexpr std::size_t width = 64;

void sum_series(const std::vector<double>& c, const double* t, double* out) {
  std::fill(out, out + width, c.back());
  for (std::size_t p = c.size() - 1; p-- > 0;)
    for (std::size_t k = 0; k < width; ++k) out[k] = std::fma(out[k], t[k], c[p]);
}

}  // namespace

ExcludedRun::ExcludedRun(const System& s, const Nonbonded& o) : beta_(ewald_beta(o)) {
  for (const auto& [i, j] : s.exclusions) {
    const double qq = s.coulomb_constant / o.epsilon_r * s.atoms.charge_e[static_cast<std::size_t>(i)] * s.atoms.charge_e[static_cast<std::size_t>(j)];
    if (qq == 0) continue;
    pairs_.push_back({i, j});
    strength_.push_back(qq * beta_);
  }
  for (const auto& [which, to] : {std::pair{0, &value_}, {1, &slope_}})
    for (const long double c : pairs::ewald_series(which, far, 1e-17, 2)) to->push_back(static_cast<double>(c));
}

void ExcludedRun::add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool energies, Sums& sums) const {
  alignas(64) double dx[width] = {}, dy[width] = {}, dz[width] = {}, z[width], t[width], slope[width], value[width];
  const auto& h = box.edge;
  const double ix = 1 / h[0][0], iy = 1 / h[1][1], iz = 1 / h[2][2], square = beta_ * beta_;
  for (; begin < end; begin += width) {
    const std::size_t many = std::min(width, end - begin);
    for (std::size_t k = 0; k < many; ++k) {
      const Vec3 &a = x[pairs_[begin + k][0]], &b = x[pairs_[begin + k][1]];
      dx[k] = a[0] - b[0];
      dy[k] = a[1] - b[1];
      dz[k] = a[2] - b[2];
    }
    bool distant = false;
    for (std::size_t k = 0; k < width; ++k) {
      const double s2 = dz[k] * iz, s1 = (dy[k] - s2 * h[2][1]) * iy, s0 = (dx[k] - s1 * h[1][0] - s2 * h[2][0]) * ix;
      const double n0 = std::floor(s0 + 0.5), n1 = std::floor(s1 + 0.5), n2 = std::floor(s2 + 0.5);
      dx[k] -= n0 * h[0][0] + n1 * h[1][0] + n2 * h[2][0];
      dy[k] -= n1 * h[1][1] + n2 * h[2][1];
      dz[k] -= n2 * h[2][2];
      z[k] = square * (dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k]);
      t[k] = z[k] * (2 / far) - 1;
    }
    sum_series(slope_, t, slope);
    for (std::size_t k = 0; k < many; ++k) distant |= !(z[k] <= far);
    if (energies) sum_series(value_, t, value);
    if (distant)
      for (std::size_t k = 0; k < many; ++k) {
        if (z[k] <= far) continue;
        const auto shapes = pairs::ewald_shapes(z[k]);
        value[k] = static_cast<double>(shapes[0]);
        slope[k] = static_cast<double>(shapes[1]);
      }
    for (std::size_t k = 0; k < many; ++k) {
      const double f = -square * strength_[begin + k] * slope[k];
      const Vec3 d = {dx[k], dy[k], dz[k]}, on_i = {f * d[0], f * d[1], f * d[2]};
      sums.add_pair(pairs_[begin + k][0], pairs_[begin + k][1], on_i);
      if (!energies) continue;
      sums.add_energy(Term::coulomb_reciprocal, -strength_[begin + k] * value[k]);
      sums.add_virial(d, on_i);
    }
  }
}

}  // namespace tessera::molecular
