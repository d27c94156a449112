// SPDX-License-Identifier: Apache-2.0
//
// Steps in time. A step is a sequence of moves, each exact for its part of the motion:
//
//   B  kick        v += t f/m, then constraints on velocities
//   A  drift       x += t v, then constraints on places (what they move, over t, goes to v)
//   O  friction    v = c v + sqrt((1 - c^2) kT/m) R, c = e^{-gamma t}, then constraints on velocities
//   T  thermostat  all velocities of a group times a factor
//
//   velocity_verlet   B(dt/2) A(dt) F B(dt/2) T
//   leap_frog         F B(dt) A(dt): velocities half a step behind places, as GROMACS keeps them
//   langevin          B(dt/2) A(dt/2) O(dt) A(dt/2) F B(dt/2): BAOAB (Leimkuhler & Matthews, Appl. Math. Res. Express 2013, 34)
//
// Kinetic energies: velocity_verlet and langevin at full steps; leap_frog as the mean of both half steps (GROMACS). The
// temperature divides by the degrees of freedom: 3 n less constraints less 3 where the centre of mass is held.
// Random numbers depend on (seed, step, atom) alone.
#pragma once
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::molecular {

struct Dynamics {
  enum class Integrator : std::uint8_t { velocity_verlet, leap_frog, langevin };
  /// v_rescale: Bussi, Donadio & Parrinello, J. Chem. Phys. 126 (2007) 014101; andersen: every atom meets the bath at a rate of
  /// 1/tau (all atoms of a molecule with constraints at once); nose_hoover: chains of ten, Martyna et al., Mol. Phys. 87 (1996) 1117;
  /// berendsen: weak coupling, not canonical.
  enum class Thermostat : std::uint8_t { none, v_rescale, nose_hoover, andersen, berendsen };

  Integrator integrator = Integrator::leap_frog;
  double dt_ps = 0.002;
  double temperature_k = 300;    ///< of the bath
  double friction_per_ps = 1;    ///< langevin
  Thermostat thermostat = Thermostat::none;
  double tau_t_ps = 0.1;
  std::int64_t hold_centre_every = 100;  ///< steps between removals of the motion of the centre of mass; 0: never
  std::uint64_t seed = 1;
};

/// All that a run goes on from: resumed from it, it takes the same steps bit by bit.
struct Motion {
  Frame frame;                      ///< velocities: of full steps, or half a step behind (leap_frog)
  Forces forces;                    ///< at frame.x_nm
  std::vector<double> bath;         ///< positions and velocities of the thermostat's chain
  double exchanged = 0;             ///< energy that thermostat and friction have taken out [kJ/mol]
};

/// What a step is reported by.
struct Energies {
  double potential = 0, kinetic = 0;  ///< kJ/mol
  double conserved = 0;               ///< what would stay the same with an infinitely small step
  double temperature_k = 0;
  double pressure_bar = 0;
};

class Stepper {
 public:
  /// Throws Error where options contradict each other.
  Stepper(const System& system, ForceFunction forces, const Dynamics& options);
  ~Stepper();
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;

  /// The beginning of a run: constraints are met, velocities drawn where the frame has none, forces computed.
  Motion begin(Frame frame) const;
  void step(Motion& m, std::int64_t n = 1) const;
  Energies energies(const Motion& m) const;
  double degrees_of_freedom() const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

/// Maxwell-Boltzmann velocities, without motion of the centre of mass, scaled to the temperature exactly; constraints are not met.
std::vector<Vec3> maxwell_velocities(const System& system, double temperature_k, std::uint64_t seed);

}  // namespace tessera::molecular
