// SPDX-License-Identifier: Apache-2.0
//
// What an Integrator is made of. A step is a sequence of moves (moves.cpp) with thermostats
// (thermostats.cpp) and barostats among them; in which order, the scheme says (integrator.cpp).
#pragma once
#include "base/blocks.h"
#include "dynamics/barostats.h"
#include "dynamics/bodies.h"
#include "tessera/molecular/dynamics.h"

#include <cstdint>
#include <numeric>
#include <vector>

namespace tessera::molecular {

using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;
using Barostat = Dynamics::Barostat;
using Removal = Dynamics::CentreOfMassRemoval;

inline double total(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0);
}
/// Throws Error where options contradict each other; `slow`: there are slow forces.
void check_dynamics(const Dynamics& o, bool slow);

struct Integrator::Impl {
  System system;
  ForceFunction force, slow;
  Dynamics o;
  std::vector<double> friction_per_ps;  ///< of each group
  Constraints constraints;
  Bodies bodies;
  std::vector<Scale> scales;
  Sets molecules;  ///< of monte_carlo
  double freedom = 0;

  bool has_sites = false;  ///< the system, wherever its atoms are

  Impl(const System& s, ForceFunction f, const Dynamics& options, ForceFunction g);
  /// Of the atoms of `all` with these numbers (bodies.h: some_of), and the forces on them.
  Impl(const Impl& all, const std::vector<std::int32_t>& numbers, const Others& others,
       ForceFunction f, ForceFunction g);
  std::size_t n() const { return system.n_atoms(); }
  bool removes_motion() const {
    return o.centre_of_mass_removal != Removal::none && o.centre_of_mass_removal_every > 0 &&
           o.scheme != Scheme::langevin && o.thermostat != Thermostat::andersen && !bodies.any_held;
  }
  bool relaxes_box() const {
    return o.barostat == Barostat::c_rescale || o.barostat == Barostat::berendsen;
  }
  bool has_piston() const { return o.barostat == Barostat::parrinello_rahman; }
  double time_ps(const State& m, std::int64_t step) const {
    return m.begin_ps + static_cast<double>(step) * o.dt_ps;
  }
  std::vector<double> temperatures(double time_ps) const {
    std::vector<double> t;
    for (const TemperatureGroup& g : o.groups)
      t.push_back(g.annealing.empty() ? g.temperature_k : value_at(g.annealing, time_ps));
    return t;
  }
  bool coupled(std::size_t g) const { return o.groups[g].tau_t_ps > 0 && bodies.freedom[g] > 0; }
  /// kT of the box: the mean over all degrees of freedom.
  double box_kt(const std::vector<double>& t) const {
    double sum = 0;
    for (std::size_t g = 0; g < t.size(); ++g) sum += bodies.freedom[g] * t[g];
    return gas_constant * sum / freedom;
  }
  /// How many times the slow forces are in the forces of a step.
  double slow_kicks(std::int64_t step) const {
    return !slow ? 1 : step % o.slow_every == 0 ? static_cast<double>(o.slow_every) : 0;
  }
  /// Two half steps around full steps, from velocities as they are kept.
  Centres centres(const State& m) const {
    const double half = 0.5 * o.dt_ps;
    const bool leaps = o.scheme == Scheme::leap_frog;
    return centres_of(bodies, m, leaps ? 0 : -half, leaps ? 2 * half : half,
                      slow_kicks(m.frame.step));
  }
  bool has_chains() const { return o.thermostat == Thermostat::nose_hoover; }

  // ---- moves
  void scale(std::vector<Vec3>& v, const std::vector<double>& factor) const;
  void kick(State& m, double t) const;
  void constrain_velocities(State& m) const;
  void drift(State& m, double t) const;
  /// B(kick) A(t), velocities before it times their group's factor (empty: 1).
  void kick_and_drift(State& m, const std::vector<double>& factor, double kick_t, double t) const;
  void kick_and_move(State& m, const std::vector<double>& factor, double kick_t, double t) const;
  /// Forces at the positions of step `step`; `first`: there are none yet.
  void evaluate(State& m, std::int64_t step, bool first = false) const;
  void apply_friction(State& m, double t) const;
  /// Takes out the motion of the whole, and books what `energies` loses by it.
  void stop_whole(State& m) const;

  // ---- thermostats
  /// Velocities of full steps: those that leap-frog keeps are half a step behind.
  std::vector<Vec3> full_step_velocities(const State& m) const;
  void collide(State& m, const std::vector<double>& temperature, std::uint64_t step) const;
  /// The thermostat over one step; what it scales velocities by is left to the caller (empty:
  /// nothing).
  std::vector<double> couple(State& m) const;
  void turn_chains(State& m, double t) const;
  double energy_of_chains(const State& m, const std::vector<double>& temperature) const;

  /// The move of monte_carlo.
  void try_box(State& m) const;

  /// What `begin` does before it computes forces.
  State start(Frame frame) const;
  /// And behind: chains and pistons at rest.
  void set_going(State& m) const;
  Energies energies(const State& m) const;

  /// `reported`: energies and virial of where the step arrives are wanted, not by a barostat alone.
  void step(State& m, bool reported) const;
};

}  // namespace tessera::molecular
