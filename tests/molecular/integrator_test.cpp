// SPDX-License-Identifier: Apache-2.0
#include "springs.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::argon, testing::argon_forces, testing::Case,
    testing::rigid_waters, testing::rigid_water_forces, testing::springs, testing::springs_of;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;

TEST(Integrator, LeapFrogAndVerletAreOneTrajectory) {
  const Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  Dynamics o = {.scheme = Scheme::velocity_verlet,
                .dt_ps = 0.004,
                .temperature_k = 90,
                .centre_of_mass_removal_every = 0};
  const Integrator verlet(c.system, force, o);
  State a = verlet.begin(c.frame);
  o.scheme = Scheme::leap_frog;
  const Integrator leap(c.system, force, o);
  Frame half = a.frame;  // velocities half a step behind
  for (std::size_t i = 0; i < half.x_nm.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) half.v_nm_ps[i][k] -= 0.002 * a.forces.f[i][k] / 39.948;
  State b = leap.begin(half);
  EXPECT_NEAR(leap.energies(b).kinetic, verlet.energies(a).kinetic,
              1e-3 * verlet.energies(a).kinetic);
  verlet.step(a, 20);
  leap.step(b, 20);
  for (std::size_t i = 0; i < a.frame.x_nm.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) ASSERT_NEAR(a.frame.x_nm[i][k], b.frame.x_nm[i][k], 1e-12);
}

TEST(Integrator, FluctuationsOfTheEnergyAreOfSecondOrder) {
  const Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  const auto fluctuation = [&](double dt) {
    const Integrator s(c.system, force,
                       {.scheme = Scheme::velocity_verlet, .dt_ps = dt, .temperature_k = 120});
    State m = s.begin(c.frame);
    double sum = 0, squares = 0;
    const int steps = static_cast<int>(0.8 / dt + 0.5);
    for (int k = 0; k < steps; ++k) {
      s.step(m);
      const double e = s.energies(m).conserved;
      sum += e;
      squares += e * e;
    }
    return std::sqrt(squares / steps - sum / steps * sum / steps);
  };
  EXPECT_NEAR(fluctuation(0.008) / fluctuation(0.004), 4, 0.25);
}

TEST(Integrator, PressureIsTheDerivativeInTheVolume) {
  const Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  const Integrator s(c.system, force, {.scheme = Scheme::velocity_verlet, .temperature_k = 0});
  const auto potential = [&](double scale) {
    std::vector<Vec3> x = c.frame.x_nm;
    for (Vec3& p : x)
      for (double& v : p) v *= scale;
    Box box = c.frame.box;
    for (Vec3& e : box.edge)
      for (double& v : e) v *= scale;
    Forces f;
    force(x, box, f);
    return f.potential();
  };
  Frame still = c.frame;
  still.v_nm_ps.assign(c.frame.x_nm.size(), Vec3{});
  const double h = 1e-5, v = volume_nm3(c.frame.box);
  const double expected =
      -(potential(1 + h) - potential(1 - h)) / (6 * h * v) * bar_per_pressure_unit;
  // Energies are sums of 2^-32 kJ/mol: 1e-8 in the difference of two, 1e-5 of it.
  EXPECT_NEAR(s.energies(s.begin(still)).pressure_bar, expected, 1e-5 * std::abs(expected));
}

TEST(Integrator, RigidWatersKeepTheirEnergy) {
  const Case c = rigid_waters();
  const ForceEvaluator force(c.system, rigid_water_forces);
  const auto run = [&](double dt) {
    const Integrator integrator(
        c.system, force, {.scheme = Scheme::velocity_verlet, .dt_ps = dt, .temperature_k = 250});
    State m = integrator.begin(c.frame);
    EXPECT_EQ(integrator.degrees_of_freedom(), 27 * 6 - 3);
    integrator.step(m, static_cast<int>(0.01 / dt + 0.5));
    double sum = 0, squares = 0;
    const int n = static_cast<int>(0.05 / dt + 0.5);
    for (int k = 0; k < n; ++k) {
      integrator.step(m);
      const double e = integrator.energies(m).conserved;
      sum += e;
      squares += e * e;
    }
    EXPECT_LT(Constraints(c.system).largest_error(m.frame.x_nm, c.frame.box), 1e-12);
    return std::sqrt(squares / n - sum / n * sum / n);
  };
  EXPECT_NEAR(run(0.001) / run(0.0005), 4, 1);
}

TEST(Integrator, GoesOnFromWhereItWasBitByBit) {
  const Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  const int before = num_threads();
  for (const Dynamics& o :
       {Dynamics{.thermostat = Thermostat::v_rescale}, Dynamics{.scheme = Scheme::langevin},
        Dynamics{.scheme = Scheme::velocity_verlet, .thermostat = Thermostat::nose_hoover},
        Dynamics{.thermostat = Thermostat::nose_hoover},
        Dynamics{.thermostat = Thermostat::andersen}}) {
    set_num_threads(1);
    const Integrator s(c.system, force, o);
    State whole = s.begin(c.frame), part = whole;
    s.step(whole, 12);
    s.step(part, 5);
    set_num_threads(2);
    const State saved = part;
    State again = saved;
    Integrator(c.system, force, o).step(again, 7);
    EXPECT_EQ(again.frame.x_nm, whole.frame.x_nm);
    EXPECT_EQ(again.frame.v_nm_ps, whole.frame.v_nm_ps);
    EXPECT_EQ(again.exchanged, whole.exchanged);
  }
  set_num_threads(before);
}

TEST(Integrator, ContradictionsAreRefused) {
  const Case c = argon(1);
  const ForceFunction none = springs_of(1);
  EXPECT_THROW(Integrator(c.system, none, {.dt_ps = 0}), Error);
  EXPECT_THROW(
      Integrator(c.system, none, {.scheme = Scheme::langevin, .thermostat = Thermostat::v_rescale}),
      Error);
  Frame wrong = c.frame;
  wrong.x_nm.pop_back();
  EXPECT_THROW(Integrator(c.system, none, {}).begin(wrong), Error);
}

TEST(Integrator, FrozenDirectionsStay) {
  Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  Dynamics o = {.dt_ps = 0.004, .temperature_k = 90, .thermostat = Thermostat::v_rescale};
  o.frozen.assign(108, {});
  o.frozen[5] = {true, true, true};
  o.frozen[7] = {false, false, true};
  const Integrator s(c.system, force, o);
  EXPECT_EQ(s.degrees_of_freedom(), 324 - 4);
  State m = s.begin(c.frame);
  EXPECT_NEAR(s.energies(m).temperature_k, 90, 1e-9);
  s.step(m, 50);
  EXPECT_EQ(m.frame.x_nm[5], c.frame.x_nm[5]);
  EXPECT_EQ(m.frame.x_nm[7][2], c.frame.x_nm[7][2]);
  EXPECT_NE(m.frame.x_nm[7][0], c.frame.x_nm[7][0]);
  const Case w = rigid_waters();
  o.frozen.assign(81, {});
  o.frozen[4] = {true, true, true};
  EXPECT_THROW(Integrator(w.system, force, o), Error) << "a frozen atom with a rigid bond";
}

TEST(Integrator, DrawnVelocitiesMeetConstraintsAndTemperature) {
  const Case c = rigid_waters();
  const ForceEvaluator force(c.system, rigid_water_forces);
  const Integrator s(c.system, force,
                     {.scheme = Scheme::velocity_verlet, .temperature_k = 310, .seed = 7});
  const State m = s.begin(c.frame);
  EXPECT_NEAR(s.energies(m).temperature_k, 310, 1e-9);
  std::vector<Vec3> v = m.frame.v_nm_ps;
  Constraints(c.system).apply_to_velocities(m.frame.x_nm, v, m.frame.box);
  Vec3 momentum{};
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(v[i][k], m.frame.v_nm_ps[i][k], 1e-12);
      momentum[k] += c.system.atoms.mass_amu[i] * v[i][k];
    }
  for (const double p : momentum) EXPECT_NEAR(p, 0, 1e-10);
}

/// Where steps leave the motion of the centre it is drawn, so that each degree of freedom has its
/// temperature: of four atoms the share of the nine inner ones in a fixed energy of twelve is that
/// of Beta(9/2, 3/2), 3/4 +- 0.164 of one draw, +- 0.0116 of the mean of 200.
TEST(Integrator, TheCentreIsDrawnWhereItsMotionStays) {
  const Case c = springs(4, 0, 40);
  using Removal = Dynamics::CentreOfMassRemoval;
  const auto inner_share = [&](Dynamics o) {
    o.temperature_k = 300;
    double sum = 0;
    for (o.seed = 1; o.seed <= 200; ++o.seed) {
      const Integrator s(c.system, springs_of(0), o);
      const State m = s.begin(c.frame);
      EXPECT_NEAR(s.energies(m).temperature_k, 300, 1e-6);
      double all = 0, centre = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        double v = 0;
        for (const Vec3& u : m.frame.v_nm_ps) {
          all += u[k] * u[k];
          v += u[k];
        }
        centre += v * v / 4;
      }
      sum += 1 - centre / all;
    }
    return sum / 200;
  };
  for (const Dynamics& o :
       {Dynamics{.centre_of_mass_removal = Removal::none},
        Dynamics{.scheme = Scheme::velocity_verlet, .centre_of_mass_removal_every = 0},
        Dynamics{.scheme = Scheme::langevin}, Dynamics{.thermostat = Thermostat::andersen}})
    EXPECT_NEAR(inner_share(o), 0.75, 4 * 0.0116);
  EXPECT_NEAR(inner_share({}), 1, 1e-9);
}

/// The motion of the centre is all that one atom has, and half of what one rigid molecule has:
/// where it is not removed, it is drawn.
TEST(Integrator, OneAtomIsDrawnAtItsTemperature) {
  const Case one = springs(1, 0, 40);
  for (const Scheme kind : {Scheme::leap_frog, Scheme::velocity_verlet, Scheme::langevin}) {
    const Integrator s(one.system, springs_of(0),
                       {.scheme = kind,
                        .temperature_k = 120,
                        .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                        .centre_of_mass_removal_every = 0});
    const State m = s.begin(one.frame);
    // Kinetic energies are multiples of 2^-36 kJ/mol, where velocities are drawn and where they are
    // told.
    EXPECT_NEAR(s.energies(m).temperature_k, 120, 4 * 0x1p-37 / (1.5 * gas_constant));
    EXPECT_NEAR(gas_constant * 120 * 1.5,
                0.5 * 40 *
                    (m.frame.v_nm_ps[0][0] * m.frame.v_nm_ps[0][0] +
                     m.frame.v_nm_ps[0][1] * m.frame.v_nm_ps[0][1] +
                     m.frame.v_nm_ps[0][2] * m.frame.v_nm_ps[0][2]),
                1e-9);
  }
  EXPECT_THROW(Integrator(one.system, springs_of(0), {}), Error)
      << "nothing is left of one atom whose motion is removed";
  Case water = rigid_waters();
  System& s = water.system;
  for (auto* v : {&s.atoms.mass_amu, &s.atoms.charge_e}) v->resize(3);
  for (auto* v : {&s.atoms.name, &s.atoms.type}) v->resize(3);
  s.atoms.element.resize(3);
  s.atoms.lj_type.resize(3);
  s.atoms.residue.resize(3);
  s.connectivity.resize(2);
  s.exclusions.resize(3);
  s.rigid_waters.atoms.resize(1);
  s.rigid_waters.row.resize(1);
  water.frame.x_nm.resize(3);
  const Integrator rotor(s, springs_of(0),
                         {.scheme = Scheme::velocity_verlet,
                          .temperature_k = 250,
                          .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                          .seed = 3});
  EXPECT_EQ(rotor.degrees_of_freedom(), 6);
  const State m = rotor.begin(water.frame);
  double momentum = 0;
  for (std::size_t i = 0; i < 3; ++i) momentum += s.atoms.mass_amu[i] * m.frame.v_nm_ps[i][0];
  EXPECT_GT(std::abs(momentum), 0.1);
  EXPECT_NEAR(rotor.energies(m).temperature_k, 250, 1e-9);
}

/// Atoms of unlike masses, each pulled to where it begins by forces of which steps know nothing:
/// what removals take is booked, to what a step of this length leaves of the energy, (omega dt)^2/8
/// = 1e-5 of some 100 kJ/mol.
TEST(Integrator, WhatARemovalTakesIsBooked) {
  using Removal = Dynamics::CentreOfMassRemoval;
  Case c = springs(20, 0, 10);
  for (std::size_t i = 0; i < 20; ++i) {
    c.system.atoms.mass_amu[i] = 10 + 3 * double(i);
    c.frame.x_nm[i] = {0.3 * double(i % 3), 0.3 * double(i / 3 % 3), 0.3 * double(i / 9)};
  }
  const ForceFunction pulled = [at = c.frame.x_nm](const std::vector<Vec3>& x, const Box& box,
                                                   Forces& out) {
    std::vector<Vec3> from = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) from[i][k] -= at[i][k];
    springs_of(500)(from, box, out);
  };
  for (const Scheme scheme : {Scheme::velocity_verlet, Scheme::leap_frog})
    for (const Removal removal : {Removal::linear, Removal::angular})
      for (const std::int64_t every : {10, 50}) {
        const Integrator s(c.system, pulled,
                           {.scheme = scheme,
                            .dt_ps = 0.001,
                            .centre_of_mass_removal = removal,
                            .centre_of_mass_removal_every = every});
        State m = s.begin(c.frame);
        const double before = s.energies(m).conserved;
        s.step(m, 2000);
        EXPECT_GT(m.exchanged, 0.1);
        EXPECT_NEAR(s.energies(m).conserved, before, 2e-4 * before);
      }
}

/// Springs take up momentum, as what holds frozen atoms does; those without a force constant do
/// not.
TEST(Integrator, TheMotionOfTheWholeStaysWhereSpringsHoldAtoms) {
  Case c = springs(5, 500, 10);
  c.system.position_restraints.atoms.resize(1);
  c.system.position_restraints.row.resize(1);
  const Dynamics o = {.dt_ps = 0.001, .centre_of_mass_removal_every = 1};
  const Integrator held(c.system, springs_of(0), o);
  EXPECT_EQ(held.degrees_of_freedom(), 15);
  State m = held.begin(c.frame);
  const std::vector<Vec3> v = m.frame.v_nm_ps;
  held.step(m, 5);
  EXPECT_EQ(m.frame.v_nm_ps, v) << "free here, since the forces are none";
  EXPECT_EQ(m.exchanged, 0);
  c.system.position_restraints.rows[0] = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(Integrator(c.system, springs_of(0), o).degrees_of_freedom(), 12);
}

TEST(Integrator, RotationIsTakenOut) {
  Case c = argon(2);
  c.frame.box = {};
  const ForceEvaluator force(c.system, {.coulomb = Nonbonded::Coulomb::none, .cutoff_lj_nm = 5});
  Dynamics o = {
      .scheme = Scheme::velocity_verlet, .temperature_k = 20, .centre_of_mass_removal_every = 10};
  o.centre_of_mass_removal = Dynamics::CentreOfMassRemoval::angular;
  const Integrator s(c.system, force, o);
  EXPECT_NEAR(s.degrees_of_freedom(), 96 - 6, 1e-12);
  State m = s.begin(c.frame);
  EXPECT_NEAR(s.energies(m).temperature_k, 20, 1e-9);
  s.step(m, 10);
  Vec3 p{}, l{}, centre{};
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t k = 0; k < 3; ++k) centre[k] += m.frame.x_nm[i][k] / 32;
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t a = (k + 1) % 3, b = (k + 2) % 3;
      const auto &x = m.frame.x_nm[i], &v = m.frame.v_nm_ps[i];
      p[k] += v[k];
      l[k] += (x[a] - centre[a]) * v[b] - (x[b] - centre[b]) * v[a];
    }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(p[k], 0, 1e-11);
    EXPECT_NEAR(l[k], 0, 1e-11);
  }
  o.centre_of_mass_removal = Dynamics::CentreOfMassRemoval::angular;
  EXPECT_THROW(Integrator(argon(3).system, force, o).begin(argon(3).frame), Error)
      << "a box does not turn";
}

/// Atoms on one line have no rotation about it: what is left of two is their distance, of three
/// what stretches and bends them.
TEST(Integrator, RotationOfAtomsOnALine) {
  const Vec3 line = {2.0 / 7, -3.0 / 7, 6.0 / 7};
  for (const std::size_t n : {std::size_t{2}, std::size_t{3}}) {
    Case c = springs(n, 0, 12);
    c.frame.box = {};
    for (std::size_t i = 0; i < n; ++i) {
      c.system.atoms.mass_amu[i] = 12 + 4 * double(i);
      for (std::size_t k = 0; k < 3; ++k) c.frame.x_nm[i][k] = 0.3 + 0.12 * double(i * i) * line[k];
    }
    const Integrator s(c.system, springs_of(0),
                       {.scheme = Scheme::velocity_verlet,
                        .temperature_k = 20,
                        .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::angular,
                        .centre_of_mass_removal_every = 1});
    EXPECT_NEAR(s.degrees_of_freedom(), n == 2 ? 1 : 3, 1e-12);
    // Energies are multiples of 2^-36 kJ/mol; of one degree of freedom a draw may be small before
    // it is scaled.
    EXPECT_NEAR(s.energies(s.begin(c.frame)).temperature_k, 20, 1e-4);

    // What is taken out is a motion of one solid; what is left has neither momentum.
    Frame given = c.frame;
    for (std::size_t i = 0; i < n; ++i)
      given.v_nm_ps.push_back({0.3 - double(i), 0.1 * double(i * i), 0.7 * double(i) - 0.2});
    const std::vector<Vec3> v = s.begin(given).frame.v_nm_ps;
    const auto along = [&](const Vec3& a) {
      return a[0] * line[0] + a[1] * line[1] + a[2] * line[2];
    };
    Vec3 p{}, l{};
    for (std::size_t i = 0; i < n; ++i) {
      const double m = c.system.atoms.mass_amu[i], r = double(i * i);
      for (std::size_t k = 0; k < 3; ++k) {
        const double across = v[i][k] - along(v[i]) * line[k];
        p[k] += m * v[i][k], l[k] += m * r * across;
        if (n == 2) EXPECT_NEAR(across, 0, 1e-9);
      }
      EXPECT_NEAR(along(v[i]) - along(v[0]), along(given.v_nm_ps[i]) - along(given.v_nm_ps[0]),
                  1e-9);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(p[k], 0, 1e-9);
      EXPECT_NEAR(l[k], 0, 1e-9);
    }
    if (n == 3) {  // what a straight line through the three does not meet
      const auto bent = [&](const std::vector<Vec3>& u, std::size_t k) {
        const auto across = [&](std::size_t i) { return u[i][k] - along(u[i]) * line[k]; };
        return across(2) - across(0) - 4 * (across(1) - across(0));
      };
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(bent(v, k), bent(given.v_nm_ps, k), 1e-9);
    }
  }
  const Case one = springs(1, 0, 12);
  EXPECT_THROW(Integrator(one.system, springs_of(0),
                          {.centre_of_mass_removal = Dynamics::CentreOfMassRemoval::angular}),
               Error);
}

TEST(Integrator, SlowForcesKickSeldom) {
  // x'' = -(k1 + k2) x with k2 evaluated every fourth step: the energy at these steps stays; every
  // step, it is the plain integrator.
  const Case c = springs(20, 0, 10);
  const auto energy_range = [&](std::int64_t every) {
    Dynamics o = {.scheme = Scheme::velocity_verlet,
                  .dt_ps = 0.002,
                  .temperature_k = 300,
                  .centre_of_mass_removal_every = 0};
    o.slow_every = every;
    int calls = 0;
    const ForceFunction slow = [&calls, f = springs_of(100)](const std::vector<Vec3>& x,
                                                             const Box& b, Forces& out) {
      ++calls;
      f(x, b, out);
    };
    const Integrator s(c.system, springs_of(2000), o, slow);
    State m = s.begin(c.frame);
    double least = 1e300, most = -1e300;
    for (int n = 0; n < 100; ++n) {
      s.step(m, every);
      const double e = s.energies(m).conserved;
      least = std::min(least, e);
      most = std::max(most, e);
    }
    EXPECT_EQ(calls, 101);
    return (most - least) / most;
  };
  // omega = 14.5/ps: (omega dt)^2/8 of the energy for 0.002 ps, and (sqrt(10) 0.008)^2/4 more for
  // the impulses.
  EXPECT_LT(energy_range(1), 3e-4);
  EXPECT_LT(energy_range(4), 1e-3);
  Dynamics o;
  o.slow_every = 2;
  EXPECT_THROW(Integrator(c.system, springs_of(1), o), Error);
}

}  // namespace
}  // namespace tessera::molecular
