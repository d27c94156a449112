// SPDX-License-Identifier: Apache-2.0
#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/dynamics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::argon, testing::Case, testing::rigid_waters,
    testing::rigid_water_forces;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;
using Barostat = Dynamics::Barostat;
using Scaling = Dynamics::Scaling;

/// Shorter than half of a box of 27 cells, whatever the barostat does to it.
const Nonbonded short_argon_forces = {.coulomb = Nonbonded::Coulomb::none,
                                      .lj_modifier = Nonbonded::Modifier::force_switch,
                                      .cutoff_lj_nm = 0.7,
                                      .lj_switch_nm = 0.5};

double deviation(const std::vector<double>& v) {
  double sum = 0, squares = 0;
  for (const double x : v) sum += x;
  const double mean = sum / static_cast<double>(v.size());
  for (const double x : v) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(v.size()));
}

/// Atoms that do not feel each other.
Case ideal_gas(int n, double volume_nm3) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  for (int i = 0; i < n; ++i) {
    c.system.residues.push_back({"X", "1", "", ""});
    add_atom(c.system, "X", 6, 10.0 + i % 7, 0, 0);
    c.frame.x_nm.push_back({0.1 * i, 0.07 * i, 0.05 * i});
  }
  const double l = std::cbrt(volume_nm3);
  c.frame.box = rectangular_box({l, l, l});
  return c;
}
void no_forces(const std::vector<Vec3>& x, const Box&, Forces& out) {
  out = Forces{};
  out.f.resize(x.size());
}

struct Gas {
  Barostat barostat;
  Scheme scheme;
  Thermostat thermostat;
  Scaling scaling;
};
class IdealGas : public ::testing::TestWithParam<Gas> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, IdealGas,
    ::testing::Values(
        Gas{Barostat::c_rescale, Scheme::leap_frog, Thermostat::v_rescale, Scaling::isotropic},
        Gas{Barostat::c_rescale, Scheme::velocity_verlet, Thermostat::v_rescale,
            Scaling::semi_isotropic},
        Gas{Barostat::monte_carlo, Scheme::leap_frog, Thermostat::v_rescale, Scaling::isotropic},
        Gas{Barostat::monte_carlo, Scheme::langevin, Thermostat::none, Scaling::semi_isotropic},
        Gas{Barostat::parrinello_rahman, Scheme::langevin, Thermostat::none, Scaling::isotropic},
        Gas{Barostat::parrinello_rahman, Scheme::leap_frog, Thermostat::andersen,
            Scaling::semi_isotropic},
        Gas{Barostat::berendsen, Scheme::leap_frog, Thermostat::v_rescale, Scaling::isotropic}));

TEST_P(IdealGas, VolumesHaveTheirDistribution) {
  // V^N exp(-P V/kT) dV: mean (N + 1) kT/P and variance (N + 1)(kT/P)^2. With a height of its own,
  // V^N dA dL has no mean height: it is held by a compressibility of zero, and the area has the
  // same distribution.
  const Gas& p = GetParam();
  const int n = 150;
  const double volume = 75, kt = gas_constant * 300, pressure = (n + 1) * kt / volume;
  const Case c = ideal_gas(n, volume);
  const double bar = pressure * bar_per_pressure_unit;
  Dynamics o = {.scheme = p.scheme,
                .dt_ps = 0.01,
                .temperature_k = 300,
                .friction_per_ps = 5,
                .thermostat = p.thermostat,
                .tau_t_ps = 0.1};
  o.barostat = p.barostat;
  o.scaling = p.scaling;
  o.pressure_bar = {bar, bar, bar};
  o.compressibility_per_bar = {1 / bar, 1 / bar, p.scaling == Scaling::isotropic ? 1 / bar : 0};
  const double two_edges = std::sqrt(2.0 / 3);  // of three: a piston of the same mass
  o.tau_p_ps = p.barostat != Barostat::parrinello_rahman ? 0.4
               : p.scaling == Scaling::isotropic         ? 1
                                                         : two_edges;
  o.barostat_every = 1;
  o.centre_of_mass_removal_every = 0;
  const Integrator s(c.system, no_forces, o);
  State m = s.begin(c.frame);
  s.step(m, 1000);
  double sum = 0, squares = 0;
  const int samples = 2500;
  for (int k = 0; k < samples; ++k) {
    s.step(m, 10);
    const double v = volume_nm3(m.frame.box);
    sum += v;
    squares += v * v;
  }
  const double mean = sum / samples, variance = (squares / samples - mean * mean) /
                                                ((n + 1) * (kt / pressure) * (kt / pressure));
  // Samples are 0.1 ps apart and relaxation takes about 0.4 ps: one in eight is independent, taken
  // as one in ten.
  const double independent = samples / 10.0;
  EXPECT_NEAR(mean / volume, 1, 4 * std::sqrt(1 / ((n + 1) * independent)));
  if (p.barostat == Barostat::berendsen) {
    EXPECT_LT(variance, 0.7) << "weak coupling squeezes the distribution";
  } else {
    EXPECT_NEAR(variance, 1, 4 * std::sqrt(2 / independent));
  }
}

TEST(Pressure, IsTheDerivativeForCentresOfRigidGroups) {
  Case c = rigid_waters();
  const ForceEvaluator force(c.system, rigid_water_forces, {.precision = Precision::f64});
  const Integrator s(c.system, force, {.scheme = Scheme::velocity_verlet, .temperature_k = 0});
  c.frame.v_nm_ps.assign(c.frame.x_nm.size(), Vec3{});
  const State m = s.begin(c.frame);
  const auto potential = [&](const Vec3& factor) {
    std::vector<Vec3> x = m.frame.x_nm;
    const double mo = c.system.atoms.mass_amu[0], mh = c.system.atoms.mass_amu[1];
    for (std::size_t w = 0; w < x.size(); w += 3)
      for (std::size_t k = 0; k < 3; ++k) {
        const double shift =
            (factor[k] - 1) * (mo * x[w][k] + mh * (x[w + 1][k] + x[w + 2][k])) / (mo + 2 * mh);
        for (std::size_t a = 0; a < 3; ++a) x[w + a][k] += shift;
      }
    Box box = m.frame.box;
    for (Vec3& e : box.edge)
      for (std::size_t k = 0; k < 3; ++k) e[k] *= factor[k];
    Forces f;
    force(x, box, f);
    return f.potential();
  };
  const Energies e = s.energies(m);
  const double h = 1e-5;
  // At rest the velocities of both half steps are a dt/2 away: their kinetic energy is left out.
  const Energies tiny =
      Integrator(c.system, force,
                 {.scheme = Scheme::velocity_verlet, .dt_ps = 1e-9, .temperature_k = 0})
          .energies(m);
  for (std::size_t k = 0; k < 3; ++k) {
    Vec3 up = {1, 1, 1}, down = up;
    up[k] += h;
    down[k] -= h;
    const double expected =
        -(potential(up) - potential(down)) / (2 * h * e.volume_nm3) * bar_per_pressure_unit;
    EXPECT_NEAR(tiny.pressure_tensor_bar[k][k], expected, 1e-5 * std::abs(expected) + 0.5);
    EXPECT_GT(e.pressure_tensor_bar[k][k], tiny.pressure_tensor_bar[k][k]);
  }
}

struct Piston {
  Scheme scheme;
  Scaling scaling;
  Thermostat thermostat;
};
class Pistons : public ::testing::TestWithParam<Piston> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, Pistons,
    ::testing::Values(Piston{Scheme::velocity_verlet, Scaling::isotropic, Thermostat::none},
                      Piston{Scheme::leap_frog, Scaling::isotropic, Thermostat::none},
                      Piston{Scheme::velocity_verlet, Scaling::anisotropic,
                             Thermostat::nose_hoover},
                      Piston{Scheme::leap_frog, Scaling::semi_isotropic, Thermostat::nose_hoover}));

TEST_P(Pistons, ConserveTheirEnergyToSecondOrder) {
  Case c = argon(3);
  const ForceEvaluator force(c.system, short_argon_forces);
  const auto fluctuation = [&](double dt) {
    Dynamics o = {.scheme = GetParam().scheme,
                  .dt_ps = dt,
                  .temperature_k = 100,
                  .thermostat = GetParam().thermostat,
                  .tau_t_ps = 0.3};
    o.barostat = Barostat::parrinello_rahman;
    o.scaling = GetParam().scaling;
    o.pressure_bar = {300, 300, 300};
    o.compressibility_per_bar = {2e-4, 2e-4, 2e-4};
    o.tau_p_ps = 0.8;
    const Integrator s(c.system, force, o);
    State m = s.begin(c.frame);
    s.step(m, static_cast<int>(0.2 / dt + 0.5));
    const double start = volume_nm3(m.frame.box);
    double moved = 0;
    std::vector<double> e;
    for (int k = 0; k < static_cast<int>(0.6 / dt + 0.5); ++k) {
      s.step(m);
      e.push_back(s.energies(m).conserved);
      moved = std::max(moved, std::abs(volume_nm3(m.frame.box) / start - 1));
    }
    EXPECT_GT(moved, 0.003) << "the box has nothing to do";
    return deviation(e);
  };
  EXPECT_NEAR(fluctuation(0.006) / fluctuation(0.003), 4, 0.6);
}

TEST(Pistons, AVolumeHasThePeriodHoweverItsEdgesScale) {
  // P = -(V - V0)/(beta V0), as of a liquid, and nothing else: d2 ln V/dt2 = (2 pi/tau)^2 beta P.
  const Case c = argon(1);
  const double volume = volume_nm3(c.frame.box), beta = 4.5e-5 * bar_per_pressure_unit;
  const ForceFunction liquid = [=](const std::vector<Vec3>& x, const Box& box, Forces& out) {
    out = Forces{};
    out.f.resize(x.size());
    const double v = volume_nm3(box);
    for (std::size_t k = 0; k < 3; ++k) out.virial[k][k] = -v * (v - volume) / (beta * volume);
  };
  for (const Scaling scaling :
       {Scaling::isotropic, Scaling::semi_isotropic, Scaling::anisotropic}) {
    Dynamics o = {
        .scheme = Scheme::velocity_verlet, .dt_ps = 0.002, .centre_of_mass_removal_every = 0};
    o.barostat = Barostat::parrinello_rahman;
    o.scaling = scaling;
    o.pressure_bar = {0, 0, 0};
    o.tau_p_ps = 1;
    Frame start = c.frame;
    start.v_nm_ps.assign(start.x_nm.size(), Vec3{});
    for (std::size_t k = 0; k < 3; ++k) start.box.edge[k][k] *= 1.0005;
    const double grown = volume_nm3(start.box) / volume - 1;
    const Integrator s(c.system, liquid, o);
    State m = s.begin(start);
    s.step(m, 250);
    EXPECT_NEAR(volume_nm3(m.frame.box) / volume - 1, -grown, 0.03 * grown)
        << static_cast<int>(scaling);
    s.step(m, 250);
    EXPECT_NEAR(volume_nm3(m.frame.box) / volume - 1, grown, 0.03 * grown)
        << static_cast<int>(scaling);
  }
}

TEST(Pistons, GoBackwards) {
  // Velocity Verlet with a piston retraces its steps when all velocities turn round.
  const Case c = argon(3);
  const ForceEvaluator force(c.system, short_argon_forces);
  Dynamics o = {.scheme = Scheme::velocity_verlet,
                .dt_ps = 0.004,
                .temperature_k = 100,
                .centre_of_mass_removal_every = 0};
  o.barostat = Barostat::parrinello_rahman;
  o.scaling = Scaling::anisotropic;
  o.tau_p_ps = 0.5;
  const Integrator s(c.system, force, o);
  const State start = s.begin(c.frame);
  State m = start;
  s.step(m, 30);
  EXPECT_GT(std::abs(volume_nm3(m.frame.box) - volume_nm3(start.frame.box)), 1e-4);
  for (Vec3& v : m.frame.v_nm_ps)
    for (double& w : v) w = -w;
  for (std::size_t j = 0; j < m.piston.size(); j += 2) m.piston[j] = -m.piston[j];
  s.step(m, 30);
  for (std::size_t i = 0; i < start.frame.x_nm.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      ASSERT_NEAR(m.frame.x_nm[i][k], start.frame.x_nm[i][k], 1e-9);
}

TEST(Barostats, ScalingKeepsItsBooks) {
  // Energies that stochastic scaling takes are counted by the mean virial of before and after: what
  // is left is small beside them.
  for (const Barostat kind : {Barostat::c_rescale, Barostat::berendsen, Barostat::monte_carlo}) {
    Case c = argon(3);
    const ForceEvaluator force(c.system, short_argon_forces);
    Dynamics o = {.dt_ps = 0.002, .temperature_k = 100};
    o.barostat = kind;
    o.pressure_bar = {2000, 2000, 2000};
    o.compressibility_per_bar = {2e-4, 2e-4, 2e-4};
    o.tau_p_ps = 0.5;
    o.barostat_every = 5;
    const Integrator s(c.system, force, o);
    State m = s.begin(c.frame);
    s.step(m, 20);
    const double start = s.energies(m).conserved, volume = volume_nm3(m.frame.box),
                 taken = m.exchanged;
    s.step(m, 200);
    EXPECT_LT(volume_nm3(m.frame.box), 0.99 * volume);
    EXPECT_GT(std::abs(m.exchanged - taken), 5);
    EXPECT_NEAR(s.energies(m).conserved, start, 0.02 * std::abs(m.exchanged - taken) + 0.2)
        << static_cast<int>(kind);
  }
}

/// A quarter of the atoms stays: the pressure is the derivative of the energy as the box and all
/// others scale, and barostats keep their books.
TEST(Barostats, AtomsThatStayTakeNoPartInThePressure) {
  Case c = argon(3);
  const ForceEvaluator force(c.system, short_argon_forces, {.precision = Precision::f64});
  Dynamics o = {.scheme = Scheme::velocity_verlet, .dt_ps = 1e-9, .temperature_k = 100};
  o.frozen.assign(c.system.n_atoms(), {});
  for (std::size_t i = 0; i < c.system.n_atoms(); i += 4) o.frozen[i] = {true, true, true};
  o.frozen[1] = {false, true, false};
  c.frame.x_nm[0][1] += 0.03;  // so that those that stay feel forces
  c.frame.x_nm[1][1] += 0.02;
  c.frame.x_nm[8][0] += 0.03;
  c.frame.v_nm_ps.assign(c.system.n_atoms(), Vec3{});
  const Integrator at_rest(c.system, force, o);
  const State m = at_rest.begin(c.frame);
  const Energies e = at_rest.energies(m);
  for (std::size_t a = 0; a < 3; ++a) {
    const auto energy = [&](double h) {
      std::vector<Vec3> x = m.frame.x_nm;
      Box box = m.frame.box;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!o.frozen[i][a]) x[i][a] *= 1 + h;
      for (Vec3& edge : box.edge) edge[a] *= 1 + h;
      Forces f;
      force(x, box, f);
      return f.potential();
    };
    const double expected =
        -(energy(1e-5) - energy(-1e-5)) / 2e-5 / e.volume_nm3 * bar_per_pressure_unit;
    EXPECT_NEAR(e.pressure_tensor_bar[a][a], expected, 1e-5 * std::abs(expected) + 0.5);
  }
  for (const Barostat kind : {Barostat::c_rescale, Barostat::parrinello_rahman, Barostat::berendsen,
                              Barostat::monte_carlo}) {
    o.scheme = Scheme::leap_frog;
    o.dt_ps = 0.002;
    o.barostat = kind;
    o.pressure_bar = {2000, 2000, 2000};
    o.compressibility_per_bar = {2e-4, 2e-4, 2e-4};
    o.tau_p_ps = 0.5;
    o.barostat_every = 5;
    Frame start = c.frame;
    start.v_nm_ps.clear();
    const Integrator s(c.system, force, o);
    State run = s.begin(start);
    s.step(run, 20);
    const double conserved = s.energies(run).conserved, volume = volume_nm3(run.frame.box),
                 taken = run.exchanged;
    s.step(run, 200);
    EXPECT_LT(volume_nm3(run.frame.box), 0.99 * volume) << static_cast<int>(kind);
    EXPECT_NEAR(s.energies(run).conserved, conserved, 0.02 * std::abs(run.exchanged - taken) + 0.3)
        << static_cast<int>(kind);
  }
}

TEST(Barostats, TrialsThatLeaveNoVolumeAreNotTaken) {
  // Of two molecules volumes V^2 exp(-P V/kT) dV shrink to less than a trial of their largest ones
  // takes away. Energies of such a box are no numbers, and a box that is no number is refused.
  const double volume = 1000, bar = 3 * gas_constant * 300 / volume * bar_per_pressure_unit;
  const Case c = ideal_gas(2, volume);
  const ForceEvaluator force(c.system, {.coulomb = Nonbonded::Coulomb::none, .cutoff_lj_nm = 0.5});
  for (const std::uint64_t seed : {1U, 2U}) {
    Dynamics o = {
        .scheme = Scheme::langevin, .dt_ps = 0.01, .temperature_k = 300, .friction_per_ps = 5};
    o.seed = seed;
    o.barostat = Barostat::monte_carlo;
    o.pressure_bar = {bar, bar, bar};
    o.barostat_every = 1;
    o.centre_of_mass_removal_every = 0;
    const Integrator s(c.system, force, o);
    State m = s.begin(c.frame);
    EXPECT_NO_THROW(s.step(m, 4000)) << seed;
    EXPECT_GT(volume_nm3(m.frame.box), 0) << seed;
  }
}

TEST(Barostats, RigidWatersInASlantedBox) {
  for (const Barostat kind :
       {Barostat::c_rescale, Barostat::parrinello_rahman, Barostat::monte_carlo}) {
    Case c = rigid_waters();
    c.frame.box = box_of_angles({0.95, 0.95, 0.95}, {85, 80, 95});
    const ForceEvaluator force(c.system, rigid_water_forces);
    Dynamics o = {
        .dt_ps = 0.001, .temperature_k = 250, .thermostat = Thermostat::v_rescale, .tau_t_ps = 0.1};
    o.barostat = kind;
    o.scaling = Scaling::semi_isotropic;
    o.tau_p_ps = 0.5;
    o.barostat_every = 2;
    o.pressure_bar = {-3000, -3000, -3000};  // so that the box grows: it is small for the cut-off
    const Integrator s(c.system, force, o);
    State m = s.begin(c.frame);
    const Vec3 angles = angles_deg(m.frame.box);
    const double e = s.energies(m).conserved;
    s.step(m, 10);
    EXPECT_LT(Constraints(c.system).largest_error(m.frame.x_nm, m.frame.box), 1e-9);
    EXPECT_NE(m.frame.box.edge[0][0] / c.frame.box.edge[0][0],
              m.frame.box.edge[2][2] / c.frame.box.edge[2][2]);
    EXPECT_NEAR(angles_deg(m.frame.box)[2], angles[2], 1e-9) << "x and y scale together";
    EXPECT_NEAR(s.energies(m).conserved, e, 2) << static_cast<int>(kind);
  }
}

TEST(Barostats, GoOnBitByBitOnAnyNumberOfThreads) {
  const Case c = argon(3), w = rigid_waters();
  const ForceEvaluator argon_force(c.system, short_argon_forces),
      water_force(w.system, rigid_water_forces);
  const int before = num_threads();
  for (const Barostat kind : {Barostat::c_rescale, Barostat::parrinello_rahman,
                              Barostat::monte_carlo, Barostat::berendsen})
    for (const bool water : {false, true}) {
      Dynamics o = {.dt_ps = 0.001, .temperature_k = 100, .thermostat = Thermostat::nose_hoover};
      o.barostat = kind;
      o.barostat_every = 3;
      o.pressure_bar = {-2000, -2000, -2000};
      const System& system = water ? w.system : c.system;
      const ForceFunction force = water ? ForceFunction(water_force) : ForceFunction(argon_force);
      set_num_threads(1);
      const Integrator s(system, force, o);
      State whole = s.begin(water ? w.frame : c.frame), part = whole;
      s.step(whole, 8);
      s.step(part, 5);
      set_num_threads(2);
      Integrator(system, force, o).step(part, 3);
      EXPECT_EQ(part.frame.x_nm, whole.frame.x_nm);
      EXPECT_EQ(part.frame.v_nm_ps, whole.frame.v_nm_ps);
      EXPECT_EQ(part.frame.box, whole.frame.box);
      EXPECT_EQ(part.exchanged, whole.exchanged);
      EXPECT_EQ(part.piston, whole.piston);
    }
  set_num_threads(before);
}

TEST(Barostats, ContradictionsAreRefused) {
  const Case c = argon(1);
  Dynamics o = {.barostat = Barostat::c_rescale};
  o.pressure_bar = {1, 1, 2};
  EXPECT_THROW(Integrator(c.system, no_forces, o), Error);
  o.scaling = Scaling::semi_isotropic;
  EXPECT_NO_THROW(Integrator(c.system, no_forces, o));
  o.barostat = Barostat::parrinello_rahman;
  EXPECT_THROW(Integrator(c.system, no_forces, o), Error) << "two pressures have no energy";
  o.pressure_bar = {1, 1, 1};
  o.compressibility_per_bar = {};
  EXPECT_THROW(Integrator(c.system, no_forces, o), Error);
  Frame open = c.frame;
  open.box = {};
  EXPECT_THROW(Integrator(c.system, no_forces, {.barostat = Barostat::monte_carlo}).begin(open),
               Error);
}

TEST(PositionRestraints, MoveWithTheBox) {
  const Box reference = box_of_angles({2, 2.2, 2.1}, {80, 85, 95});
  PositionRestraints r;
  r.atoms = {{0}, {1}, {2}};
  r.row = {0, 1, 2};
  r.rows = {
      {500, 600, 700, 0.2, 0.3, 0.4}, {400, 0, 300, 1.2, 0.9, 0.1}, {100, 200, 300, 0.5, 1.4, 1.3}};
  const std::vector<Vec3> x = {{0.25, 0.28, 0.41}, {1.1, 1.0, 0.12}, {0.52, 1.45, 1.2}};
  for (const RestraintScaling kind :
       {RestraintScaling::none, RestraintScaling::all, RestraintScaling::centre}) {
    const ForceFunction f = with_position_restraints(no_forces, r, reference, kind);
    Forces at;
    f(x, reference, at);
    const auto energy = [&](std::vector<Vec3> y, Box box, std::size_t a,
                            double h) {  // strained along a
      for (Vec3& p : y) p[a] *= 1 + h;
      for (Vec3& e : box.edge) e[a] *= 1 + h;
      Forces out;
      f(y, box, out);
      return out.potential();
    };
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(at.virial[a][a],
                  -(energy(x, reference, a, 1e-5) - energy(x, reference, a, -1e-5)) / 2e-5, 1e-5)
          << static_cast<int>(kind);
    EXPECT_NEAR(at.f[0][0], -25, 1e-9);
    if (kind == RestraintScaling::all) {
      EXPECT_NEAR(energy({{0.2, 0.3, 0.4}, {1.2, 0.9, 0.1}, {0.5, 1.4, 1.3}}, reference, 1, 0.1), 0,
                  1e-12);
    }
  }
}

}  // namespace
}  // namespace tessera::molecular
