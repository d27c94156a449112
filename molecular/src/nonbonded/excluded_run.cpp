// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/excluded_run.h"

#include <algorithm>

namespace tessera::molecular {

ExcludedRun::ExcludedRun(const System& s, const Nonbonded& o, const ExcludedShapes& shapes,
                         std::size_t counted)
    : shapes_(shapes) {
  for (std::size_t e = 0; e < s.exclusions.size(); ++e) {
    const auto [i, j] = s.exclusions[e];
    const double qq = s.coulomb_constant / o.epsilon_r *
                      s.atoms.charge_e[static_cast<std::size_t>(i)] *
                      s.atoms.charge_e[static_cast<std::size_t>(j)];
    if (qq == 0) continue;
    pairs_.push_back({i, j});
    strength_.push_back(qq * shapes_.beta());
    if (e < counted) counted_ = pairs_.size();
  }
}

void ExcludedRun::add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
                      bool energies, Sums& sums) const {
  ExcludedBatch batch;
  const double square = shapes_.beta() * shapes_.beta();
  for (; begin < end; begin += ExcludedBatch::width) {
    const std::size_t many = std::min(ExcludedBatch::width, end - begin);
    shapes_(x->data(), box, pairs_.data() + begin, many, energies, false, batch);
    for (std::size_t k = 0; k < many; ++k) {
      const double f = -square * strength_[begin + k] * batch.derivative[k];
      const Vec3 d = {batch.d[0][k], batch.d[1][k], batch.d[2][k]},
                 on_i = {f * d[0], f * d[1], f * d[2]};
      sums.add_pair(pairs_[begin + k][0], pairs_[begin + k][1], on_i);
      if (!energies) continue;
      sums.add_energy(Term::coulomb_reciprocal, -strength_[begin + k] * batch.value[k]);
      sums.add_virial(d, on_i);
    }
  }
}

}  // namespace tessera::molecular
