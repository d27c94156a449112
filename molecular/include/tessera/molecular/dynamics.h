// SPDX-License-Identifier: Apache-2.0
//
// Steps in time. A step is a sequence of moves, each exact for its part of the motion:
//
//   B  kick         v += t f/m
//   A  drift        x += t v, then constraints on positions (what they move, over t, goes to v)
//   O  friction     v = c v + sqrt((1 - c^2) kT/m) R, c = e^{-gamma t}, then constraints on v
//   T  thermostat   velocities of a group times a factor
//   D  piston       the box, and centres of rigid groups with it, by the piston's velocity; their
//                   velocities inversely
//   P  barostat     box and centres scaled once, by a stochastic or a weak-coupling step, or a
//                   trial move
//   F  forces
//
//   velocity_verlet   T B(dt/2) A(dt) P F B(dt/2) T     constraints on velocities before the last T
//   leap_frog         T B(dt) A(dt) P F                 velocities half a step behind positions, as
//                                                       GROMACS keeps them; with Nose-Hoover
//                                                       B(dt) A(dt/2) T A(dt/2) P F
//   langevin          B(dt/2) A(dt/2) O(dt) A(dt/2) P F B(dt/2)      BAOAB (Leimkuhler & Matthews,
//                                                       Appl. Math. Res. Express 2013, 34)
//
// With a piston A(t) is D(t/2) A(t) D(t/2); A pushes it by the kinetic energy and B by the virial,
// which makes a step symplectic.
//
// Kinetic energies. A step of finite length shifts some of them by (omega dt)^2/4 of every
// vibration. Maxwell's distribution belongs to the velocities that the bath acts upon;
// `Energies::sampled` is their energy and gives the temperature:
//
//   velocity_verlet   full steps
//   leap_frog         half steps (the mean of two, `kinetic`, has the same mean and a narrower
//                     distribution); with andersen full steps, as its collisions draw them
//   langevin          just after O
//
// Pressure is that of scaling centres of rigid groups (what constraints hold together; else single
// atoms), so that no force of a constraint enters, with kinetic energies of half steps, which is
// what positions follow at any step length:
//   P V = sum_g M_g <u_g u_g> + W,   W = sum r f - sum_g sum_{i in g} (x_i - X_g) f_i
// Its mean is that of the atomic pressure, its fluctuations are smaller.
//
// Random numbers depend on (seed, step, atom) alone, sums are of whole numbers: a run goes on from
// a State bit by bit, on any number of threads, and of ranks (divided_dynamics.h).
#pragma once
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A temperature in time: straight lines between points {time_ps, temperature_k}, constant before
/// the first and after the last.
using Ramp = std::vector<std::array<double, 2>>;
double value_at(const Ramp& ramp, double time_ps);

/// Atoms with a bath of their own. A rigid group of atoms has one bath.
struct TemperatureGroup {
  std::string name;
  std::vector<std::int32_t> atoms;
  double temperature_k = 300;
  double tau_t_ps = 0.1;  ///< 0: no thermostat; langevin: the inverse of the friction
  Ramp annealing;         ///< in place of temperature_k, unless empty
};

struct Dynamics {
  enum class Scheme : std::uint8_t { velocity_verlet, leap_frog, langevin };
  /// v_rescale: Bussi, Donadio & Parrinello, J. Chem. Phys. 126 (2007) 014101; andersen: every atom
  /// meets the bath at a rate of 1/tau (all atoms of a rigid group at once; J. Chem. Phys. 72
  /// (1980) 2384); nose_hoover: chains of ten, Martyna et al., Mol. Phys. 87 (1996) 1117, which
  /// have no mass at 0 K and do nothing there; berendsen: weak coupling (J. Chem. Phys. 81 (1984)
  /// 3684), not canonical.
  enum class Thermostat : std::uint8_t { none, v_rescale, nose_hoover, andersen, berendsen };
  /// c_rescale: stochastic cell rescaling, Bernetti & Bussi, J. Chem. Phys. 153 (2020) 114107;
  /// parrinello_rahman: a piston with mass, moving with every step (J. Appl. Phys. 52 (1981) 7182,
  /// edges along axes), mass by tau_p and compressibility; monte_carlo: molecules' centres scaled
  /// by trial moves (Åqvist et al., Chem. Phys. Lett. 384 (2004) 288); berendsen: weak coupling,
  /// which is no ensemble.
  enum class Barostat : std::uint8_t { none, c_rescale, parrinello_rahman, monte_carlo, berendsen };
  /// What scales together along the axes: all; x with y, and z; each alone. A slanted box keeps its
  /// angles with the first alone.
  enum class Scaling : std::uint8_t { isotropic, semi_isotropic, anisotropic };
  /// Motion of the whole that is taken out: of its centre, also its rotation (no periodicity).
  enum class CentreOfMassRemoval : std::uint8_t { none, linear, angular };

  Scheme scheme = Scheme::leap_frog;
  double dt_ps = 0.002;

  double temperature_k = 300;  ///< of the bath
  double friction_per_ps = 1;  ///< langevin, without groups
  Thermostat thermostat = Thermostat::none;
  double tau_t_ps = 0.1;
  Ramp annealing;                        ///< in place of temperature_k, unless empty
  std::vector<TemperatureGroup> groups;  ///< every atom in one of them; empty: one group of all, by
                                         ///< temperature_k, tau_t_ps, annealing

  Barostat barostat = Barostat::none;
  Scaling scaling = Scaling::isotropic;
  Vec3 pressure_bar = {1, 1, 1};  ///< along x, y, z; equal where edges scale together
  Vec3 compressibility_per_bar = {4.5e-5, 4.5e-5, 4.5e-5};  ///< likewise; 0: nothing scales there
  double tau_p_ps = 5;
  std::int64_t barostat_every = 10;  ///< steps between moves P

  CentreOfMassRemoval centre_of_mass_removal = CentreOfMassRemoval::linear;
  /// Steps between removals of the motion of the whole; 0: never. Langevin and andersen do without,
  /// and it stays where atoms are frozen or position restraints hold them, which take up momentum.
  std::int64_t centre_of_mass_removal_every = 100;
  std::vector<std::array<bool, 3>>
      frozen;                   ///< directions in which an atom stays where it is, [n]; empty: none
  std::int64_t slow_every = 1;  ///< steps between evaluations of the slow forces, which then act
                                ///< that many times as strongly (impulse method)
  /// To look at a frame without a step: its positions and velocities are not moved onto the
  /// constraints, and nothing has to be free to move.
  bool as_they_are = false;
  std::uint64_t seed = 1;
};

/// All that a run goes on from: resumed from it, it takes the same steps bit by bit.
struct State {
  Frame frame;    ///< velocities: of full steps, or half a step behind (leap_frog)
  Forces forces;  ///< at frame.x_nm; of both kinds where there are slow ones
  Forces slow;    ///< slow forces at their last evaluation
  std::vector<double>
      bath;  ///< positions and velocities of the thermostats' chains, group by group
  std::vector<double> piston;  ///< parrinello_rahman: {q, p} of each scaling; monte_carlo: {largest
                               ///< trial, trials, accepted} of each
  double exchanged = 0;        ///< energy that baths, barostat and removals of the motion of the
                               ///< whole have taken out [kJ/mol]
  double begin_ps = 0;         ///< the time of step 0, from which that of each step is computed: no
                               ///< sum of roundings
  std::vector<double> sampled;  ///< langevin: kinetic energies of the groups just after the last O
};

/// What a step is reported by.
struct Energies {
  double potential = 0,
         kinetic = 0;  ///< kJ/mol; kinetic: full steps, or the mean of both half steps (leap_frog)
  double sampled = 0;  ///< kinetic energy with Maxwell's distribution (see above)
  double conserved = 0;      ///< what would stay the same with an infinitely small step
  double temperature_k = 0;  ///< of `sampled`
  std::vector<double> group_temperature_k;  ///< of the groups' parts of `sampled`
  double pressure_bar = 0;                  ///< a third of the tensor's trace
  std::array<Vec3, 3> pressure_tensor_bar{};
  double volume_nm3 = 0;
};

class Integrator {
 public:
  /// `slow`: forces evaluated every `slow_every` steps. Throws Error where options contradict each
  /// other.
  Integrator(const System& system, ForceFunction forces, const Dynamics& options,
             ForceFunction slow = {});
  ~Integrator();
  Integrator(Integrator&&) noexcept;
  Integrator& operator=(Integrator&&) noexcept;

  /// The beginning of a run: molecules are made whole, constraints are met, velocities drawn where
  /// the frame has none (after which each group has its temperature exactly; of the motion of the
  /// whole those parts that steps do not take out), forces computed.
  State begin(Frame frame) const;
  /// n steps. Energies and virial are computed for the last alone, if it is reported, and where a
  /// barostat asks; else they are zero. Positions, velocities and forces do not depend on it.
  void step(State& m, std::int64_t n = 1, bool reported = true) const;
  Energies energies(const State& m) const;
  /// 3 a moving atom, less constraints, less what `centre_of_mass_removal` takes out.
  double degrees_of_freedom() const;
  std::vector<double> degrees_of_freedom_of_groups() const;

 private:
  friend class DividedDynamics;
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

/// Maxwell-Boltzmann velocities, without motion of the centre of mass, scaled to the temperature
/// exactly; constraints are not met (Integrator::begin meets them).
std::vector<Vec3> maxwell_velocities(const System& system, double temperature_k,
                                     std::uint64_t seed);

/// Hydrogens of this mass, what they gain taken from the atom that each is bound to; waters stay as
/// they are unless `waters`. The slowest of their motions stay, the fastest slow down (Feenstra,
/// Hess & Berendsen, J. Comput. Chem. 20 (1999) 786). Throws Error where an atom would be left
/// lighter than its hydrogens.
System heavy_hydrogens(System system, double mass_amu, bool waters = false);

/// Whether any of them has a force constant.
bool hold_any(const PositionRestraints& restraints);
/// Forces with position restraints added whose reference positions move with the box: `base` is of
/// the system without them.
enum class RestraintScaling : std::uint8_t {
  none,    ///< reference positions stay
  all,     ///< reference positions scale as the box does
  centre,  ///< the centre of all reference positions scales, they keep their distances from it
};
ForceFunction with_position_restraints(ForceFunction base, const PositionRestraints& restraints,
                                       const Box& reference, RestraintScaling scaling);
/// The restraints with their reference positions, given in the box `reference`, as they are in the
/// box `now`.
PositionRestraints moved_with_box(PositionRestraints restraints, const Box& reference,
                                  const Box& now, RestraintScaling scaling);

}  // namespace tessera::molecular
