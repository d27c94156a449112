// SPDX-License-Identifier: Apache-2.0
// What a step is reported by.
#include "dynamics/integrator_impl.h"

namespace tessera::molecular {

Energies Integrator::Impl::energies(const State& m) const {
  Energies e;
  e.potential = m.forces.potential();
  std::vector<double> kinetic = kinetic_energies(bodies, m.frame.v_nm_ps);
  const std::vector<double> temperature = temperatures(m.frame.time_ps);
  e.kinetic = total(kinetic);
  if (o.scheme == Scheme::leap_frog) {
    // The half step to come, tried on copies.
    const double dt = o.dt_ps;
    std::vector<Vec3> v = m.frame.v_nm_ps, x = m.frame.x_nm;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        v[i][c] += dt * bodies.inverse[i][c] * m.forces.f[i][c];
        x[i][c] += dt * v[i][c];
      }
    if (constraints.size() > 0)
      constraints.apply_to_positions(m.frame.x_nm, x, m.frame.box, &v, dt);
    e.kinetic = 0.5 * (e.kinetic + total(kinetic_energies(bodies, v)));
  }
  if (o.scheme == Scheme::langevin) kinetic = m.sampled;
  if (o.scheme == Scheme::leap_frog && o.thermostat == Thermostat::andersen)
    kinetic = kinetic_energies(bodies, full_step_velocities(m));
  e.sampled = total(kinetic);
  e.temperature_k = freedom > 0.5 ? 2 * e.sampled / (freedom * gas_constant) : 0;
  for (std::size_t g = 0; g < kinetic.size(); ++g)
    e.group_temperature_k.push_back(
        bodies.freedom[g] > 0 ? 2 * kinetic[g] / (bodies.freedom[g] * gas_constant) : 0);
  e.conserved = e.potential + e.kinetic + m.exchanged;
  if (has_chains()) e.conserved += energy_of_chains(m, temperature);
  if (has_piston()) {
    std::vector<double> next = m.piston;
    if (o.scheme == Scheme::leap_frog)
      push_piston(scales, next, m.frame.box, centres_of(bodies, m, 0, 0).virial, true, o.dt_ps);
    e.conserved += 0.5 * (piston_energy(m.piston) + piston_energy(next)) +
                   scales[0].pressure * volume_nm3(m.frame.box);
  }
  if (!is_periodic(m.frame.box)) return e;
  e.volume_nm3 = volume_nm3(m.frame.box);
  const Centres c = centres(m);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      e.pressure_tensor_bar[a][b] =
          bar_per_pressure_unit * (c.twice_kinetic[a][b] + c.virial[a][b]) / e.volume_nm3;
  e.pressure_bar =
      (e.pressure_tensor_bar[0][0] + e.pressure_tensor_bar[1][1] + e.pressure_tensor_bar[2][2]) / 3;
  return e;
}

}  // namespace tessera::molecular
