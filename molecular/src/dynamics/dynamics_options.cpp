// SPDX-License-Identifier: Apache-2.0
// Whether options of dynamics go together; ramps of temperature.
#include "dynamics/integrator_impl.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::molecular {

void check_dynamics(const Dynamics& o, bool slow) {
  if (!(o.dt_ps > 0))
    dynamics_fault(fmt::format("the time step must be positive, got {} ps", o.dt_ps));
  if (o.scheme == Scheme::langevin && o.thermostat != Thermostat::none)
    dynamics_fault("langevin keeps the temperature by itself: thermostat = none");
  if (o.scheme == Scheme::langevin && !(o.friction_per_ps > 0))
    dynamics_fault(fmt::format("the friction must be positive, got {} 1/ps", o.friction_per_ps));
  for (const TemperatureGroup& g : o.groups) {
    if (!(g.temperature_k >= 0))
      dynamics_fault(
          fmt::format("the temperature must not be negative, got {} K", g.temperature_k));
    if (!(g.tau_t_ps >= 0))
      dynamics_fault(fmt::format("the thermostat's time must be positive, or 0 for none, got {} ps",
                                 g.tau_t_ps));
    if (o.thermostat == Thermostat::andersen && g.tau_t_ps > 0 && o.dt_ps > g.tau_t_ps)
      dynamics_fault("andersen: the time step is longer than the time between collisions");
    for (const auto& [kind, name] :
         {std::pair{Thermostat::berendsen, "berendsen"}, {Thermostat::nose_hoover, "nose_hoover"}})
      if (o.thermostat == kind && g.tau_t_ps > 0 && o.dt_ps > g.tau_t_ps)
        dynamics_fault(fmt::format("{}: the time step is longer than the thermostat's time", name));
    for (std::size_t k = 0; k < g.annealing.size(); ++k) {
      if (!(g.annealing[k][1] >= 0))
        dynamics_fault(
            fmt::format("the temperature must not be negative, got {} K", g.annealing[k][1]));
      if (k > 0 && !(g.annealing[k][0] > g.annealing[k - 1][0]))
        dynamics_fault(fmt::format("times of annealing must grow, got {} ps after {} ps",
                                   g.annealing[k][0], g.annealing[k - 1][0]));
    }
  }
  if (o.barostat != Barostat::none) {
    if (!(o.tau_p_ps > 0))
      dynamics_fault(fmt::format("the barostat's time must be positive, got {} ps", o.tau_p_ps));
    if (o.barostat_every < 1)
      dynamics_fault(fmt::format("the barostat needs at least one step between its moves, got {}",
                                 o.barostat_every));
    const bool one_pressure =
        o.pressure_bar[0] == o.pressure_bar[1] && o.pressure_bar[0] == o.pressure_bar[2];
    if ((o.barostat == Barostat::parrinello_rahman || o.barostat == Barostat::monte_carlo) &&
        !one_pressure)
      dynamics_fault(
          "parrinello_rahman and monte_carlo have one pressure: take c_rescale for a tension");
    if (o.barostat != Barostat::parrinello_rahman && o.slow_every > 1 &&
        o.barostat_every % o.slow_every != 0)
      dynamics_fault(fmt::format(
          "the barostat moves every {} steps, which is no multiple of the {} between slow forces",
          o.barostat_every, o.slow_every));
    if (o.barostat == Barostat::parrinello_rahman && o.slow_every > 1)
      dynamics_fault("parrinello_rahman needs all forces in every step: slow_every = 1");
  }
  if (o.slow_every < 1)
    dynamics_fault(
        fmt::format("slow forces need at least one step between them, got {}", o.slow_every));
  if (o.slow_every > 1 && !slow)
    dynamics_fault("slow_every is above 1 and there are no slow forces");
}

double value_at(const Ramp& r, double time_ps) {
  if (r.empty()) throw Error("[value_at] a ramp needs a point");
  if (time_ps <= r.front()[0]) return r.front()[1];
  for (std::size_t k = 1; k < r.size(); ++k)
    if (time_ps < r[k][0])
      return r[k - 1][1] +
             (r[k][1] - r[k - 1][1]) * (time_ps - r[k - 1][0]) / (r[k][0] - r[k - 1][0]);
  return r.back()[1];
}

}  // namespace tessera::molecular
