// SPDX-License-Identifier: Apache-2.0
// Thermostats at work on a state: collisions, rescaling, chains.
#include "base/whole_sums.h"
#include "dynamics/baths.h"
#include "dynamics/integrator_impl.h"
#include "dynamics/random.h"

#include <cmath>

namespace tessera::molecular {

std::vector<Vec3> Integrator::Impl::full_step_velocities(const State& m) const {
  std::vector<Vec3> v = m.frame.v_nm_ps;
  if (o.scheme != Scheme::leap_frog) return v;
  for (std::size_t i = 0; i < n(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      v[i][k] += 0.5 * o.dt_ps * bodies.inverse[i][k] * m.forces.f[i][k];
  if (constraints.size() > 0) constraints.apply_to_velocities(m.frame.x_nm, v, m.frame.box);
  return v;
}
/// Andersen's collisions. They give velocities of full steps, which know nothing of the forces
/// there; those of half a step before are correlated with them. Nothing but what a collision
/// changes is heat.
void Integrator::Impl::collide(State& m, const std::vector<double>& temperature,
                               std::uint64_t step) const {
  std::vector<std::size_t> met;
  for (std::size_t i = 0; i < n(); ++i) {
    const auto g = static_cast<std::size_t>(bodies.bath[i]);
    if (coupled(g) &&
        data::uniform({o.seed, collisions},
                      step * bodies.all + static_cast<std::uint64_t>(bodies.rigid_of[i])) <
            o.dt_ps / o.groups[g].tau_t_ps)
      met.push_back(i);
  }
  if (bodies.others.all(met.empty())) return;
  const bool leaps = o.scheme == Scheme::leap_frog;
  const std::vector<Vec3> before = full_step_velocities(m);
  std::vector<Vec3> v = before;
  for (const std::size_t i : met)
    for (std::size_t k = 0; k < 3; ++k)
      v[i][k] = std::sqrt(gas_constant * temperature[static_cast<std::size_t>(bodies.bath[i])] *
                          bodies.inverse[i][k]) *
                normal_of(o.seed, new_velocities, step, bodies.all,
                          static_cast<std::uint64_t>(bodies.number[i]), k);
  if (constraints.size() > 0) constraints.apply_to_velocities(m.frame.x_nm, v, m.frame.box);
  m.exchanged -= whole_sums<1>(met.size(), bodies.others, [&](std::size_t of) {
    const std::size_t i = met[of];
    double gained = 0;
    for (std::size_t k = 0; k < 3; ++k)
      gained += 0.5 * bodies.mass[i] * (v[i][k] * v[i][k] - before[i][k] * before[i][k]);
    return std::array{gained};
  })[0];
  for (const std::size_t i : met)
    for (std::size_t k = 0; k < 3; ++k)
      m.frame.v_nm_ps[i][k] =
          v[i][k] - (leaps ? 0.5 * o.dt_ps * bodies.inverse[i][k] * m.forces.f[i][k] : 0);
}
std::vector<double> Integrator::Impl::couple(State& m) const {
  std::vector<Vec3>& v = m.frame.v_nm_ps;
  if (o.thermostat == Thermostat::none || has_chains()) return {};
  const std::vector<double> temperature = temperatures(m.frame.time_ps);
  const auto step = static_cast<std::uint64_t>(m.frame.step);
  if (o.thermostat == Thermostat::andersen) {
    collide(m, temperature, step);
    return {};
  }
  const std::vector<double> before = kinetic_energies(bodies, v);
  std::vector<double> factor(o.groups.size(), 1.0);
  for (std::size_t g = 0; g < factor.size(); ++g) {
    if (!coupled(g) || !(before[g] > 0)) continue;
    const double aim = 0.5 * bodies.freedom[g] * gas_constant * temperature[g],
                 ratio = o.dt_ps / o.groups[g].tau_t_ps;
    factor[g] = o.thermostat == Thermostat::v_rescale
                    ? bussi_factor(before[g], aim, bodies.freedom[g], ratio, o.seed,
                                   step * factor.size() + g)
                    : std::sqrt(1 + ratio * (aim / before[g] - 1));
    m.exchanged -= (factor[g] * factor[g] - 1) * before[g];
  }
  return factor;
}
void Integrator::Impl::turn_chains(State& m, double t) const {
  const std::vector<double> temperature = temperatures(m.frame.time_ps);
  std::vector<double> factor = kinetic_energies(bodies, m.frame.v_nm_ps);
  for (std::size_t g = 0; g < factor.size(); ++g)
    factor[g] = coupled(g)
                    ? nose_hoover_factor(m.bath.data() + 2 * nose_hoover_length * g, factor[g],
                                         bodies.freedom[g], gas_constant * temperature[g],
                                         o.groups[g].tau_t_ps, t)
                    : 1;
  scale(m.frame.v_nm_ps, factor);
}
double Integrator::Impl::energy_of_chains(const State& m,
                                          const std::vector<double>& temperature) const {
  double sum = 0;
  for (std::size_t g = 0; g < temperature.size(); ++g)
    if (coupled(g))
      sum += nose_hoover_energy(m.bath.data() + 2 * nose_hoover_length * g, bodies.freedom[g],
                                gas_constant * temperature[g], o.groups[g].tau_t_ps);
  return sum;
}

}  // namespace tessera::molecular
