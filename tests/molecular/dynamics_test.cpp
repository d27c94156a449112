// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/dynamics.h"

#include "molecular/src/dynamics/baths.h"
#include "molecular/src/dynamics/noise.h"
#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/pme.h"
#include "tessera/molecular/virtual_sites.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::argon, testing::argon_forces, testing::Case, testing::edges,
    testing::flat, testing::rigid_waters, testing::rigid_water_forces;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;

/// n atoms tied to positions by springs of k, or free (k = 0).
Case springs(std::size_t n, double k, double mass) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  c.system.residues = {{"OSC", "1", "", ""}};
  if (k > 0) c.system.position_restraints.rows = {{k, k, k, 0, 0, 0}};
  for (std::size_t i = 0; i < n; ++i) {
    add_atom(c.system, "X", 6, mass, 0, 0);
    c.frame.x_nm.push_back({0, 0, 0});
    if (k == 0) continue;
    c.system.position_restraints.atoms.push_back({static_cast<std::int32_t>(i)});
    c.system.position_restraints.row.push_back(0);
  }
  return c;
}
ForceFunction springs_of(double k) {
  return [k](const std::vector<Vec3>& x, const Box&, Forces& out) {
    out = Forces{};
    for (const Vec3& p : x) {
      out.f.push_back({-k * p[0], -k * p[1], -k * p[2]});
      out.energy[0] += 0.5 * k * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    }
  };
}

TEST(ForceEvaluator, AddsUpAllTerms) {
  Case c = testing::small_mixture();
  c.system.bonds = {{{0, 1}, {3, 7}}, {0, 0}, {{0.3, 2e4}}};
  c.system.angles = {{{1, 0, 2}}, {0}, {{1.9, 400}}};
  c.system.pairs = {{{8, 9}}, {0}, {{1e-3, 1e-6, 0.5, 0}}};
  for (const Nonbonded::Coulomb kind :
       {Nonbonded::Coulomb::pme, Nonbonded::Coulomb::ewald, Nonbonded::Coulomb::reaction_field}) {
    Nonbonded o = {.coulomb = kind,
                   .tail = Nonbonded::Tail::c6,
                   .cutoff_coulomb_nm = 0.8,
                   .cutoff_lj_nm = 0.7,
                   .ewald_rtol = 1e-4};
    o.fourier_grid = {15, 16, 15};
    Forces f;
    ForceEvaluator(c.system, o, {.precision = Precision::f64})(c.frame.x_nm, c.frame.box, f);
    const Tensor charge = tensor(c.system.atoms.charge_e), c6 = c6_of(c.system),
                 c12 = c12_of(c.system);
    const auto u = [&](const std::vector<Tensor>& p) {
      Tensor sum = evaluate(nonbonded_energy(c.system, o), {p[0], p[1], charge, c6, c12}) +
                   tail_energy(c.system, o, p[1], c6, c12);
      for (const Term t : {Term::bonds, Term::angles})
        sum = sum + evaluate(bonded_energy(c.system, t), {p[0], p[1], table_of(c.system, t)});
      for (const Term t : {Term::pairs_lj, Term::pairs_coulomb})
        sum =
            sum + evaluate(bonded_energy(c.system, t), {p[0], p[1], table_of(c.system, t), charge});
      if (kind == Nonbonded::Coulomb::reaction_field) return sum;
      const std::vector<Tensor> q = {p[0], p[1], charge};
      const EnergyPtr waves = kind == Nonbonded::Coulomb::pme
                                  ? pme_energy(c.system, o, o.fourier_grid)
                                  : ewald_reciprocal_energy(c.system, o);
      return sum + evaluate(waves, q) + evaluate(ewald_excluded_energy(c.system, o), q) +
             ewald_self_energy(c.system, o, p[1], charge);
    };
    const std::vector<Tensor> p = {flat(c.frame.x_nm), edges(c.frame.box)}, g = grad(u)(p);
    const double expected = u(p).item<double>(), largest = max(abs(flatten(g[0]))).item<double>();
    EXPECT_NEAR(f.potential(), expected, 1e-12 * std::abs(expected) + 1e-8);
    for (Index i = 0; i < 10; ++i)
      for (Index k = 0; k < 3; ++k)
        EXPECT_NEAR(f.f[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)],
                    -select(select(g[0], 0, i), 0, k).item<double>(), 1e-12 * largest + 1e-8);
    const Tensor strain = -(matmul(transpose(p[0]), g[0]) + matmul(transpose(p[1]), g[1]));
    for (Index a = 0; a < 3; ++a)
      for (Index b = 0; b < 3; ++b)
        EXPECT_NEAR(f.virial[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)],
                    select(select(strain, 0, a), 0, b).item<double>(),
                    1e-11 * max(abs(flatten(strain))).item<double>() + 1e-7);
  }
}

TEST(ForceEvaluator, TailOfThePressure) {
  // sigma = epsilon = 1: P_tail = (32/9) pi rho^2 rc^-9 - (16/3) pi rho^2 rc^-3, of the truncated
  // and of the shifted potential.
  const double edge = 7, rc = 3, pi = 3.14159265358979323846;
  System s = testing::lennard_jones_atoms(2);
  const std::vector<Vec3> x = {{1, 1, 1}, {2.2, 1, 1}};
  const Box box = rectangular_box({edge, edge, edge});
  const double density = 2 / (edge * edge * edge),
               expected = pi * density * density *
                          (32.0 / 9 * std::pow(rc, -9) - 16.0 / 3 * std::pow(rc, -3));
  for (const Nonbonded::Modifier modifier :
       {Nonbonded::Modifier::none, Nonbonded::Modifier::potential_shift}) {
    Nonbonded o = {
        .coulomb = Nonbonded::Coulomb::none, .lj_modifier = modifier, .cutoff_lj_nm = rc};
    Forces without, with;
    ForceEvaluator(s, o)(x, box, without);
    o.tail = Nonbonded::Tail::c6_c12;
    ForceEvaluator(s, o)(x, box, with);
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR((with.virial[a][a] - without.virial[a][a]) * density / 2, expected,
                  1e-10 * std::abs(expected));
  }
}

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

TEST(Integrator, LangevinSamplesSpringsExactly) {
  // BAOAB has no error of the time step in the positions of springs: <x^2> = kT/k also at omega dt
  // = 1.
  const double k = 2500, mass = 10, kt = gas_constant * 300;  // omega = 15.8/ps
  const Case c = springs(400, 0, mass);
  const Integrator s(
      c.system, springs_of(k),
      {.scheme = Scheme::langevin, .dt_ps = 0.063, .temperature_k = 300, .friction_per_ps = 5});
  State m = s.begin(c.frame);
  s.step(m, 100);
  double squares = 0;
  const int samples = 300;
  for (int n = 0; n < samples; ++n) {
    s.step(m, 5);
    for (const Vec3& p : m.frame.x_nm) squares += p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  }
  // 1,200 coordinates, 300 samples a third of a relaxation time apart: about 1e5 independent ones,
  // relative error sqrt(2/1e5).
  EXPECT_NEAR(squares / (1200.0 * samples) / (kt / k), 1, 4 * std::sqrt(2 / 1e5));
}

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
  System s = testing::lennard_jones_atoms(40);
  Frame f;
  for (std::int32_t k = 0; k < 20; ++k) {
    s.constraints.atoms.push_back({2 * k, 2 * k + 1});
    s.constraints.row.push_back(0);
    f.x_nm.push_back({1.0 * k, 0, 0});
    f.x_nm.push_back({1.0 * k + 0.06, 0.08, 0});
  }
  s.constraints.rows = {{0.1}};
  const ForceFunction none = [](const std::vector<Vec3>& x, const Box&, Forces& out) {
    out = Forces{};
    out.f.assign(x.size(), Vec3{});
  };
  const Integrator integrator(s, none,
                              {.dt_ps = 0.002,
                               .temperature_k = 300,
                               .thermostat = Thermostat::andersen,
                               .tau_t_ps = 0.1,
                               .seed = 5});
  State m = integrator.begin(f);
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

TEST(Noise, IsPhiloxByBoxAndMuller) {
  Noise noise;
  const std::uint64_t first = (std::uint64_t{1} << 32) - 7, seed = 0x123456789ABCDEFULL;
  noise.fill(seed, friction, first, 200);
  const auto unit = [](std::uint32_t w) { return (w + 0.5) / 4294967296.0; };
  const double turn = 2 * 3.14159265358979323846;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto w = data::philox({seed, friction}, first + i);
    for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(noise.word[k][i], w[k]);
    const double a = std::sqrt(-2 * std::log(unit(w[0]))), b = std::sqrt(-2 * std::log(unit(w[2])));
    EXPECT_NEAR(noise.normal[0][i], a * std::cos(turn * unit(w[1])), 1e-11);
    EXPECT_NEAR(noise.normal[1][i], a * std::sin(turn * unit(w[1])), 1e-11);
    EXPECT_NEAR(noise.normal[2][i], b * std::cos(turn * unit(w[3])), 1e-11);
  }
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

/// Free atoms at T_0 reach T - (T - T_0) exp(-2 t/tau) at t, each group by a tau of its own.
TEST(Langevin, GroupsHaveTheirOwnFriction) {
  const std::int32_t fast = 200, slow = 1000, still = 100;
  Case c = springs(static_cast<std::size_t>(fast + slow + still), 0, 10);
  Dynamics o = {.scheme = Scheme::langevin, .dt_ps = 0.01, .centre_of_mass_removal_every = 0};
  o.groups = {{"fast", {}, 300, 0.01, {}}, {"slow", {}, 300, 1000, {}}, {"still", {}, 300, 0, {}}};
  for (std::int32_t i = 0; i < fast + slow + still; ++i)
    o.groups[i < fast ? 0 : i < fast + slow ? 1 : 2].atoms.push_back(i);
  Dynamics cold = o;
  for (TemperatureGroup& g : cold.groups) g.temperature_k = 10;
  const Integrator s(c.system, springs_of(0), o);
  c.frame.v_nm_ps = Integrator(c.system, springs_of(0), cold).begin(c.frame).frame.v_nm_ps;
  State m = s.begin(c.frame);
  const double conserved = s.energies(m).conserved;
  s.step(m, 400);
  const std::vector<double> t = s.energies(m).group_temperature_k;
  EXPECT_NEAR(t[0], 300, 4 * 300 * std::sqrt(2 / (3.0 * fast)));
  // 290 (1 - exp(-0.008)) above 10, by noise of 2.3 K beside velocities of 10 K: a spread of 2
  // sqrt(10 * 2.3 / (3 n)) K.
  EXPECT_NEAR(t[1], 10 + 290 * -std::expm1(-0.008), 4 * 2 * std::sqrt(10 * 2.3 / (3.0 * slow)));
  EXPECT_NEAR(t[2], 10, 1e-9) << "no thermostat";
  EXPECT_NEAR(s.energies(m).conserved, conserved, 1e-6 * s.energies(m).kinetic);
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

/// Rigid rotors without forces: half drifts turn them at the same speed, and all that friction and
/// noise do is heat.
TEST(Integrator, LangevinKeepsAccountsOfRigidRotors) {
  System s = testing::lennard_jones_atoms(40);
  Frame f;
  for (std::int32_t k = 0; k < 20; ++k) {
    s.constraints.atoms.push_back({2 * k, 2 * k + 1});
    s.constraints.row.push_back(0);
    f.x_nm.push_back({1.0 * k, 0, 0});
    f.x_nm.push_back({1.0 * k + 0.06, 0.08, 0});
  }
  s.constraints.rows = {{0.1}};
  const ForceFunction none = [](const std::vector<Vec3>& x, const Box&, Forces& out) {
    out = Forces{};
    out.f.assign(x.size(), Vec3{});
  };
  const Integrator integrator(s, none,
                              {.scheme = Dynamics::Scheme::langevin,
                               .dt_ps = 0.004,
                               .temperature_k = 300,
                               .friction_per_ps = 2,
                               .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                               .seed = 5});
  State m = integrator.begin(f);
  const double first = integrator.energies(m).conserved;
  EXPECT_GT(first, 50);
  double exchanged = 0;
  for (int k = 0; k < 300; ++k) {
    integrator.step(m);
    exchanged = std::max(exchanged, std::abs(m.exchanged));
    EXPECT_NEAR(integrator.energies(m).conserved, first, 1e-7 * first)
        << k;  // constraints hold to 1e-10 of a bond, at each of 1200 moves
  }
  EXPECT_GT(exchanged, 1);
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
    EXPECT_NEAR(s.energies(m).temperature_k, 120, 1e-9);
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

TEST(HeavyHydrogens, MassStays) {
  System s = testing::waters(2, 0.4, 0.3, 0.5);
  s.residues.push_back({"MET", "1", "", ""});
  for (int k = 0; k < 4; ++k)
    add_atom(s, k == 0 ? "C" : "H", k == 0 ? 6 : 1, k == 0 ? 12 : 1, 0, 0);
  for (std::int32_t h = 7; h < 10; ++h) s.connectivity.push_back({6, h});
  const System heavy = heavy_hydrogens(s, 3), all = heavy_hydrogens(s, 2, true);
  EXPECT_EQ(heavy.atoms.mass_amu[0], s.atoms.mass_amu[0]);
  EXPECT_EQ(heavy.atoms.mass_amu[6], 6);
  EXPECT_EQ(heavy.atoms.mass_amu[8], 3);
  EXPECT_NEAR(all.atoms.mass_amu[0] + 4, s.atoms.mass_amu[0] + 2 * s.atoms.mass_amu[1], 1e-12);
  EXPECT_THROW(heavy_hydrogens(s, 4), Error);
}

TEST(VirtualSites, ForcesFollowTheirPositions) {
  // Energy g.x_site of a site: forces on parents are the differences of it.
  for (int kind = 0; kind < 8; ++kind) {
    System s;
    s.virtual_sites = {{static_cast<VirtualSite::Kind>(kind),
                        4,
                        {0, 1, 2, 3},
                        {0.3, 0.25, 0.4, 0.2, 0.5, -0.7, 0.3, -0.9, 0.6, 0.02, -0.03, 0.05}}};
    std::vector<Vec3> x = {
        {0.1, 0.2, 0.3}, {0.35, 0.25, 0.2}, {0.15, 0.5, 0.35}, {0.2, 0.1, 0.6}, {}};
    const Box box = rectangular_box({2, 2, 2});
    const Vec3 g = {1.0, -2.0, 0.5};
    const auto energy = [&](std::vector<Vec3> y) {
      place_virtual_sites(s, y, box);
      return g[0] * y[4][0] + g[1] * y[4][1] + g[2] * y[4][2];
    };
    place_virtual_sites(s, x, box);
    std::vector<Vec3> f(5);
    f[4] = {-g[0], -g[1], -g[2]};
    std::array<Vec3, 3> virial{};
    const std::vector<Vec3> before = f;
    spread_virtual_forces(s, x, box, f, virial);
    Vec3 sum{};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<Vec3> y = x, z = x;
        y[i][k] += 1e-5;
        z[i][k] -= 1e-5;
        EXPECT_NEAR(f[i][k], -(energy(y) - energy(z)) / 2e-5, 1e-8)
            << "kind " << kind << ", atom " << i;
        sum[k] += f[i][k];
      }
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_NEAR(sum[a], -g[a], 1e-12);
      for (std::size_t b = 0; b < 3; ++b) {
        double moved = 0;  // sum x f of the parents less that of the site
        for (std::size_t i = 0; i < 5; ++i) moved += x[i][a] * (f[i][b] - before[i][b]);
        EXPECT_NEAR(virial[a][b], moved, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::molecular
