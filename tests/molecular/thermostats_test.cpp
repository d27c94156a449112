// SPDX-License-Identifier: Apache-2.0
#include "molecular/src/dynamics/baths.h"
#include "rotors.h"
#include "springs.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::argon, testing::argon_forces, testing::Case, testing::springs,
    testing::springs_of;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;

TEST(VRescale, ItsRandomNumbersHaveTheirVarianceFromSeedToSeed) {
  // At K = K_0 a step of ratio r = dt/tau changes K by K_0 (2 sqrt(r/N_f) R + ...): the sum over n
  // steps over its deviation is normal.
  const double freedom = 900, ratio = 0.01;
  const int seeds = 200, steps = 2000;
  double sum = 0, squares = 0, neighbours = 0, last = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    double change = 0;
    for (std::uint64_t k = 0; k < steps; ++k) {
      const double s = bussi_factor(1, 1, freedom, ratio, seed, k);
      change += s * s - 1;
    }
    const double z = change / std::sqrt(4 * ratio / freedom * steps);
    sum += z;
    squares += z * z;
    neighbours += z * last;
    last = z;
  }
  EXPECT_NEAR(sum / seeds, 0, 4 / std::sqrt(seeds));
  EXPECT_NEAR(squares / seeds, 1, 4 * std::sqrt(2.0 / seeds));
  EXPECT_NEAR(neighbours / seeds, 0, 4 / std::sqrt(seeds));
}

struct BathKind {
  Scheme scheme;
  Thermostat thermostat;
  bool canonical;
};
class Thermostats : public ::testing::TestWithParam<BathKind> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, Thermostats,
    ::testing::Values(BathKind{Scheme::velocity_verlet, Thermostat::v_rescale, true},
                      BathKind{Scheme::leap_frog, Thermostat::v_rescale, true},
                      BathKind{Scheme::velocity_verlet, Thermostat::andersen, true},
                      BathKind{Scheme::velocity_verlet, Thermostat::berendsen, false}));

TEST_P(Thermostats, KineticEnergyHasItsDistribution) {
  // Springs of very different masses mix nothing by themselves: what varies is the thermostat's
  // doing.
  Case c = springs(20, 0, 10);
  for (std::size_t i = 0; i < 20; ++i) c.system.atoms.mass_amu[i] = 2.0 + static_cast<double>(i);
  const Integrator s(c.system, springs_of(1000),
                     {.scheme = GetParam().scheme,
                      .dt_ps = 0.005,
                      .temperature_k = 300,
                      .thermostat = GetParam().thermostat,
                      .tau_t_ps = 0.05,
                      .centre_of_mass_removal_every = 0});
  State m = s.begin(c.frame);
  s.step(m, 200);
  const int samples = 6000;
  double sum = 0, squares = 0;
  for (int n = 0; n < samples; ++n) {
    s.step(m, 10);
    const double k = s.energies(m).kinetic;
    sum += k;
    squares += k * k;
  }
  const double mean = sum / samples, variance = squares / samples - mean * mean,
               kt = gas_constant * 300, half = 0.5 * s.degrees_of_freedom();
  EXPECT_EQ(s.degrees_of_freedom(), 60);
  // Samples are about one relaxation time apart: standard errors sqrt(var/n) and var sqrt(2/n),
  // taken four times and doubled for correlation.
  EXPECT_NEAR(mean, half * kt, 8 * kt * std::sqrt(half / samples));
  if (GetParam().canonical) {
    EXPECT_NEAR(variance / (half * kt * kt), 1, 8 * std::sqrt(2.0 / samples));
  } else {
    EXPECT_LT(variance, 0.5 * half * kt * kt) << "weak coupling squeezes the distribution";
  }
}

TEST(Thermostats, NoseHooverConservesItsEnergy) {
  const Case c = argon(3);
  const ForceEvaluator force(c.system, argon_forces);
  const auto fluctuation = [&](Scheme scheme, double dt) {
    const Integrator s(c.system, force,
                       {.scheme = scheme,
                        .dt_ps = dt,
                        .temperature_k = 100,
                        .thermostat = Thermostat::nose_hoover,
                        .tau_t_ps = 0.2});
    State m = s.begin(c.frame);
    double sum = 0, squares = 0, hottest = 0;
    const int steps = static_cast<int>(0.8 / dt + 0.5);
    for (int k = 0; k < steps; ++k) {
      s.step(m);
      const Energies e = s.energies(m);
      sum += e.conserved;
      squares += e.conserved * e.conserved;
      hottest = std::max(hottest, std::abs(e.temperature_k - 100));
    }
    EXPECT_GT(hottest, 10) << "the bath has nothing to do";
    return std::sqrt(squares / steps - sum / steps * sum / steps);
  };
  for (const Scheme kind : {Scheme::velocity_verlet, Scheme::leap_frog})
    EXPECT_NEAR(fluctuation(kind, 0.004) / fluctuation(kind, 0.002), 4, 0.5);
}

TEST(Integrator, SampledKineticEnergiesAreMaxwells) {
  // Springs with omega dt = 1: velocities at full steps of BAOAB lack a quarter, those after O have
  // all of it.
  const double k = 2500, mass = 10, kt = gas_constant * 300;
  const Case c = springs(400, 0, mass);
  const Integrator langevin(c.system, springs_of(k),
                            {.scheme = Scheme::langevin,
                             .dt_ps = std::sqrt(mass / k),
                             .temperature_k = 300,
                             .friction_per_ps = 5});
  State m = langevin.begin(c.frame);
  langevin.step(m, 100);
  double sampled = 0, full = 0;
  const int samples = 300;
  for (int n = 0; n < samples; ++n) {
    langevin.step(m, 5);
    const Energies e = langevin.energies(m);
    sampled += e.sampled / (600 * kt * samples);
    full += e.kinetic / (600 * kt * samples);
    EXPECT_NEAR(e.temperature_k / 300, e.sampled / (600 * kt), 1e-12);
  }
  // 1,200 squares of normal numbers, a third of 300 samples independent: relative error
  // sqrt(2/1.2e5).
  EXPECT_NEAR(sampled, 1, 4 * std::sqrt(2 / 1.2e5));
  EXPECT_NEAR(full, 0.75, 4 * std::sqrt(2 / 1.2e5));
}

/// Of every scheme the temperatures of groups are of one energy with that of all, of which they are
/// parts: at omega dt = 1 energies of full steps and those that the bath acts upon differ by a
/// quarter.
TEST(Integrator, TemperaturesOfGroupsAreThatOfTheWhole) {
  const double k = 2500, mass = 10;
  const Case c = springs(60, 0, mass);
  const std::size_t n = c.system.n_atoms();
  for (const auto& [scheme, thermostat] : {std::pair{Scheme::langevin, Thermostat::none},
                                           {Scheme::leap_frog, Thermostat::v_rescale},
                                           {Scheme::leap_frog, Thermostat::andersen},
                                           {Scheme::leap_frog, Thermostat::nose_hoover},
                                           {Scheme::velocity_verlet, Thermostat::v_rescale},
                                           {Scheme::velocity_verlet, Thermostat::andersen}})
    for (const std::size_t first : {n, n / 3}) {
      Dynamics o = {.scheme = scheme, .dt_ps = std::sqrt(mass / k), .thermostat = thermostat};
      o.groups = {{"a", {}, 300, 0.2, {}}};
      if (first < n) o.groups.push_back({"b", {}, 400, 0.3, {}});
      for (std::size_t i = 0; i < n; ++i)
        o.groups[i < first ? 0 : 1].atoms.push_back(static_cast<std::int32_t>(i));
      const Integrator s(c.system, springs_of(k), o);
      State m = s.begin(c.frame);
      const std::vector<double> freedom = s.degrees_of_freedom_of_groups();
      for (int step = 0; step < 30; ++step) {
        const Energies e = s.energies(m);
        double sum = 0;
        for (std::size_t g = 0; g < freedom.size(); ++g)
          sum += freedom[g] / s.degrees_of_freedom() * e.group_temperature_k[g];
        EXPECT_NEAR(sum, e.temperature_k, 1e-9)
            << static_cast<int>(scheme) << static_cast<int>(thermostat) << " step " << step;
        s.step(m);
      }
    }
}

/// Springs with omega dt = 1: full steps of Verlet have the density exp(-(m v^2/2 + (1 - 1/4) k
/// x^2/2)/kT), in which positions know nothing of velocities. Drawn for half steps, velocities
/// would heat: those are correlated with the forces.
TEST(Andersen, VelocitiesOfFullStepsAreMaxwells) {
  const double k = 2500, mass = 10, kt = gas_constant * 300;
  const Case c = springs(400, 0, mass);
  for (const Scheme kind : {Scheme::leap_frog, Scheme::velocity_verlet}) {
    const Integrator s(c.system, springs_of(k),
                       {.scheme = kind,
                        .dt_ps = std::sqrt(mass / k),
                        .temperature_k = 300,
                        .thermostat = Thermostat::andersen,
                        .tau_t_ps = 0.2});
    State m = s.begin(c.frame);
    s.step(m, 100);
    double sampled = 0, positions = 0;
    const int samples = 300;
    for (int n = 0; n < samples; ++n) {
      s.step(m, 5);
      const Energies e = s.energies(m);
      sampled += e.sampled / (600 * kt * samples);
      EXPECT_NEAR(e.group_temperature_k[0], e.temperature_k, 1e-9);
      for (const Vec3& x : m.frame.x_nm)
        positions += k * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / (1200 * kt * samples);
    }
    EXPECT_NEAR(sampled, 1, 4 * std::sqrt(2 / 1.2e5)) << static_cast<int>(kind);  // as above
    EXPECT_NEAR(positions, 1 / 0.75, 4 / 0.75 * std::sqrt(2 / 1.2e5)) << static_cast<int>(kind);
  }
}

/// Rigid rotors without forces, half of whose energy is in their turning: what constraints take
/// from velocities of half steps is no heat.
TEST(Andersen, LeapFrogBooksCollisionsAlone) {
  const Case c = testing::rigid_rotors(20);
  const Integrator integrator(c.system, testing::no_forces,
                              {.dt_ps = 0.002,
                               .temperature_k = 300,
                               .thermostat = Thermostat::andersen,
                               .tau_t_ps = 0.1,
                               .seed = 5});
  State m = integrator.begin(c.frame);
  integrator.step(m);
  const double first = integrator.energies(m).conserved;
  double exchanged = 0;
  for (int k = 0; k < 300; ++k) {
    integrator.step(m);
    exchanged = std::max(exchanged, std::abs(m.exchanged));
    // Half steps have (omega dt)^2/4 = 5e-4 more than full ones, of 50 kJ/mol: 0.025 that waver
    // with the velocities; all 300 steps: 7.
    EXPECT_NEAR(integrator.energies(m).conserved, first, 0.1) << k;
  }
  EXPECT_GT(exchanged, 5);
}

TEST(Thermostats, GroupsHaveTheirOwnBaths) {
  Case c = springs(40, 0, 10);
  Dynamics o = {
      .dt_ps = 0.005, .thermostat = Thermostat::v_rescale, .centre_of_mass_removal_every = 0};
  o.groups = {{"cold", {}, 100, 0.05, {}}, {"warm", {}, 400, 0.05, {}}, {"free", {}, 250, 0, {}}};
  for (std::int32_t i = 0; i < 40; ++i) o.groups[i < 15 ? 0 : i < 30 ? 1 : 2].atoms.push_back(i);
  for (const Thermostat kind :
       {Thermostat::v_rescale, Thermostat::nose_hoover, Thermostat::andersen}) {
    o.thermostat = kind;
    const Integrator s(c.system, springs_of(1000), o);
    EXPECT_EQ(s.degrees_of_freedom_of_groups(), (std::vector<double>{45, 45, 30}));
    State m = s.begin(c.frame);
    const std::vector<double> start = s.energies(m).group_temperature_k;
    for (std::size_t g = 0; g < 3; ++g)
      EXPECT_NEAR(start[g], o.groups[g].temperature_k, 1e-9) << "drawn exactly";
    std::vector<double> mean(3, 0.0);
    const int samples = 2000;
    for (int n = 0; n < samples; ++n) {
      s.step(m, 5);
      for (std::size_t g = 0; g < 3; ++g) mean[g] += s.energies(m).group_temperature_k[g] / samples;
    }
    // 50 ps, correlated over about 0.1 ps: sqrt(2/45/500).
    for (std::size_t g = 0; g < 2; ++g)
      EXPECT_NEAR(mean[g] / o.groups[g].temperature_k, 1, 5 * std::sqrt(2 / 45.0 / 500))
          << static_cast<int>(kind);
    EXPECT_NEAR(mean[2] / 125, 1, 5e-3) << "springs at rest share what they began with";
  }
  o.groups[2].atoms.pop_back();
  EXPECT_THROW(Integrator(c.system, springs_of(1000), o), Error);
  o.groups[2].atoms.push_back(3);
  EXPECT_THROW(Integrator(c.system, springs_of(1000), o), Error);
}

TEST(Thermostats, TemperaturesFollowARamp) {
  EXPECT_EQ(value_at({{1, 100}, {3, 200}, {4, 50}}, 0), 100);
  EXPECT_EQ(value_at({{1, 100}, {3, 200}, {4, 50}}, 2.5), 175);
  EXPECT_EQ(value_at({{1, 100}, {3, 200}, {4, 50}}, 9), 50);
  const Case c = springs(400, 0, 10);
  for (const Thermostat kind :
       {Thermostat::v_rescale, Thermostat::berendsen, Thermostat::nose_hoover}) {
    const Integrator s(c.system, springs_of(0),
                       {.dt_ps = 0.005,
                        .thermostat = kind,
                        .tau_t_ps = 0.05,
                        .annealing = {{0, 100}, {5, 300}},
                        .centre_of_mass_removal_every = 0});
    State m = s.begin(c.frame);
    EXPECT_NEAR(s.energies(m).temperature_k, 100, 1e-9);
    const double conserved = s.energies(m).conserved;
    s.step(m, 500);
    EXPECT_NEAR(s.energies(m).temperature_k, 200, 40);
    s.step(m, 1000);
    EXPECT_NEAR(s.energies(m).temperature_k, 300, 40);
    EXPECT_NEAR(s.energies(m).conserved, conserved, 1e-3 * s.energies(m).kinetic);
  }
  EXPECT_THROW(Integrator(c.system, springs_of(1), {.annealing = {{1, 100}, {1, 200}}}), Error);
}

TEST(Thermostats, ARampMayBeginAtZeroKelvin) {
  Case c = springs(50, 1000, 10);
  for (std::size_t i = 0; i < 50; ++i) c.frame.x_nm[i] = {0.01, -0.01, 0.02};
  for (const Thermostat kind :
       {Thermostat::v_rescale, Thermostat::berendsen, Thermostat::nose_hoover}) {
    const Integrator s(c.system, springs_of(1000),
                       {.dt_ps = 0.002,
                        .thermostat = kind,
                        .tau_t_ps = 0.2,
                        .annealing = {{0, 0}, {1, 100}},
                        .centre_of_mass_removal_every = 0});
    State m = s.begin(c.frame);
    s.step(m, 20);
    EXPECT_GT(s.energies(m).temperature_k, 0) << static_cast<int>(kind);
    EXPECT_TRUE(std::isfinite(s.energies(m).conserved)) << static_cast<int>(kind);
  }
}

TEST(Thermostats, CouplingWithinAStepIsRefused) {
  // sqrt(1 + dt/tau (T0/T - 1)) is no number of a hot system; chains take their turns in tau/150.
  const Case c = springs(4, 1000, 10);
  for (const Thermostat kind : {Thermostat::berendsen, Thermostat::nose_hoover})
    EXPECT_THROW(Integrator(c.system, springs_of(1000),
                            {.dt_ps = 0.002, .thermostat = kind, .tau_t_ps = 1e-3}),
                 Error);
}

}  // namespace
}  // namespace tessera::molecular
