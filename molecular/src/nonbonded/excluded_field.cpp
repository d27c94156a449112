// SPDX-License-Identifier: Apache-2.0
#include "nonbonded/excluded_field.h"

#include "base/vec.h"
#include "nonbonded/pair_constants.h"

namespace tessera::molecular {

ExcludedField::ExcludedField(const System& s, const Nonbonded& o)
    : square_(o.cutoff_coulomb_nm * o.cutoff_coulomb_nm), pairs_(s.exclusions) {
  const CoulombConstants constants(o);
  k_ = constants.k_rf;
  c_ = constants.shift;
  for (const auto& [i, j] : pairs_)
    strength_.push_back(s.coulomb_constant / o.epsilon_r *
                        s.atoms.charge_e[static_cast<std::size_t>(i)] *
                        s.atoms.charge_e[static_cast<std::size_t>(j)]);
}

void ExcludedField::add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
                        Sums& sums) const {
  for (std::size_t p = begin; p < end; ++p) {
    const auto [i, j] = pairs_[p];
    const Vec3 d = wrapped(box, difference(x[i], x[j]));
    const double s = dot(d, d);
    if (s >= square_) continue;
    const Vec3 on_i = scaled(d, -2 * k_ * strength_[p]);
    sums.add_pair(i, j, on_i);
    sums.add_energy(Term::coulomb_short, strength_[p] * (k_ * s - c_));
    sums.add_virial(d, on_i);
  }
}

double field_of_itself(const System& s, const Nonbonded& o) {
  double sum = 0;
  for (const double q : s.atoms.charge_e) sum += q * q;
  return -0.5 * s.coulomb_constant / o.epsilon_r * CoulombConstants(o).shift * sum;
}

}  // namespace tessera::molecular
