// SPDX-License-Identifier: Apache-2.0
#include "dynamics/bodies.h"
#include "dynamics/random.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

std::vector<Vec3> velocities_at(const Bodies& p, const Constraints& constraints,
                                const std::vector<Vec3>& x, const Box& box,
                                const std::vector<double>& temperature_k,
                                Dynamics::CentreOfMassRemoval removal, std::uint64_t seed) {
  const std::size_t n = p.n();
  std::vector<Vec3> v(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      v[i][c] = std::sqrt(gas_constant * temperature_k[static_cast<std::size_t>(p.bath[i])] *
                          p.inverse[i][c]) *
                normal_of(seed, velocities, 0, p.all, static_cast<std::uint64_t>(p.number[i]), c);
  if (constraints.size() > 0) constraints.apply_to_velocities(x, v, box);
  // Scaling of groups moves the centre, removing its motion changes the groups' energies: with one
  // group the first round is exact.
  const int rounds = p.freedom.size() == 1 ? 1 : 20;
  for (int round = 0; round < rounds; ++round) {
    if (removal != Dynamics::CentreOfMassRemoval::none)
      remove_motion(p, x, v, removal == Dynamics::CentreOfMassRemoval::angular);
    std::vector<double> factor = kinetic_energies(p, v);
    for (std::size_t g = 0; g < factor.size(); ++g)
      factor[g] = factor[g] > 0 ? std::sqrt(0.5 * std::max(p.freedom[g], 0.0) * gas_constant *
                                            temperature_k[g] / factor[g])
                                : 1;
    for (std::size_t i = 0; i < n; ++i)
      for (double& c : v[i]) c *= factor[static_cast<std::size_t>(p.bath[i])];
  }
  return v;
}

std::vector<Vec3> maxwell_velocities(const System& s, double temperature_k, std::uint64_t seed) {
  System free = s;
  free.constraints = {};
  free.rigid_waters = {};
  const Constraints none(free);
  Bodies p = bodies_of(free, none, {});
  const bool several = std::ranges::count_if(p.mass, [](double m) { return m > 0; }) > 1;
  if (several) p.freedom[0] -= 3;
  const std::vector<Vec3> nowhere(p.n());
  return velocities_at(
      p, none, nowhere, {}, {temperature_k},
      several ? Dynamics::CentreOfMassRemoval::linear : Dynamics::CentreOfMassRemoval::none, seed);
}

}  // namespace tessera::molecular
