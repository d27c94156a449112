// SPDX-License-Identifier: Apache-2.0
//
// Steps on ranks give the bits of an Integrator that has all atoms: what is compared is the whole
// state, and what is reported of it.
#include "tessera/molecular/divided_dynamics.h"

#include "molecular_cases.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/forces.h"
#include "tessera/parallel/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

namespace tessera::molecular {
namespace {

using testing::add_atom, testing::argon, testing::argon_forces, testing::Case,
    testing::small_mixture;
using Scheme = Dynamics::Scheme;
using Thermostat = Dynamics::Thermostat;
using Barostat = Dynamics::Barostat;

struct Divided {
  Case c;
  Nonbonded options;
  ForceOptions forces;
  Dynamics dynamics;
  std::int64_t steps = 30;
};

bool same(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0);
}
void expect_same(const State& a, const State& b) {
  EXPECT_TRUE(same(a.frame.x_nm, b.frame.x_nm)) << "positions";
  EXPECT_TRUE(same(a.frame.v_nm_ps, b.frame.v_nm_ps)) << "velocities";
  EXPECT_TRUE(same(a.forces.f, b.forces.f)) << "forces";
  EXPECT_TRUE(same(a.slow.f, b.slow.f)) << "slow forces";
  EXPECT_EQ(a.frame.box, b.frame.box);
  EXPECT_EQ(a.frame.step, b.frame.step);
  EXPECT_EQ(a.forces.energy, b.forces.energy);
  EXPECT_EQ(a.forces.virial, b.forces.virial);
  EXPECT_EQ(a.bath, b.bath);
  EXPECT_EQ(a.piston, b.piston);
  EXPECT_EQ(a.exchanged, b.exchanged);
  EXPECT_EQ(a.sampled, b.sampled);
}
void expect_same(const Energies& a, const Energies& b) {
  EXPECT_EQ(a.potential, b.potential);
  EXPECT_EQ(a.kinetic, b.kinetic);
  EXPECT_EQ(a.conserved, b.conserved);
  EXPECT_EQ(a.temperature_k, b.temperature_k);
  EXPECT_EQ(a.group_temperature_k, b.group_temperature_k);
  EXPECT_EQ(a.pressure_tensor_bar, b.pressure_tensor_bar);
}

struct Alone {
  State begin, end;
  Energies energies;
};
Alone alone(const Divided& d) {
  ForceOptions fast = d.forces, slow = d.forces;
  ForceFunction slow_forces;
  if (d.dynamics.slow_every > 1) {
    fast.part = ForceOptions::Part::fast;
    slow.part = ForceOptions::Part::slow;
    slow_forces = ForceEvaluator(d.c.system, d.options, slow);
  }
  const Integrator steps(d.c.system, ForceEvaluator(d.c.system, d.options, fast), d.dynamics,
                         slow_forces);
  Alone out;
  out.begin = steps.begin(d.c.frame);
  out.end = out.begin;
  steps.step(out.end, d.steps);
  out.energies = steps.energies(out.end);
  return out;
}

void expect_same_on(const Divided& d, const Alone& expected, int ranks,
                    const std::vector<double>& weights = {}) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  parallel::run_ranks(ranks, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c, weights);
    run.begin(d.c.frame);
    const State begin = run.whole();
    if (c.rank() == 0) expect_same(begin, expected.begin);
    run.step(d.steps);
    const Energies e = run.energies();
    expect_same(e, expected.energies);
    const State end = run.whole();
    if (c.rank() == 0) expect_same(end, expected.end);
    const State before = run.whole_before();
    if (c.rank() == 0) expect_same(before, expected.begin);
  });
}
void expect_same_everywhere(const Divided& d) {
  const Alone expected = alone(d);
  for (const int ranks : {1, 2, 3, 5, 8}) expect_same_on(d, expected, ranks);
  expect_same_on(d, expected, 3, {1, 5, 2});
  expect_same_on(d, expected, 4, {7, 1, 1, 3});
}

Divided water(const char* model, std::size_t molecules) {
  const BuiltSystem w = water_box({.model = model, .molecules = molecules, .seed = 5});
  return {.c = {w.system, w.frame},
          .options = {.coulomb = Nonbonded::Coulomb::pme,
                      .tail = Nonbonded::Tail::c6,
                      .cutoff_coulomb_nm = 0.7,
                      .cutoff_lj_nm = 0.7,
                      .fourier_spacing_nm = 0.12},
          .forces = {.buffer_nm = 0.08},
          .dynamics = {.scheme = Scheme::leap_frog, .dt_ps = 0.001}};
}

TEST(DividedDynamics, WatersInAWaveSum) { expect_same_everywhere(water("spce", 256)); }

TEST(DividedDynamics, InDoublePrecision) {
  Divided d = water("spce", 256);
  d.forces.precision = Precision::f64;
  d.dynamics.scheme = Scheme::velocity_verlet;
  d.dynamics.thermostat = Thermostat::nose_hoover;
  d.steps = 12;
  expect_same_everywhere(d);
}

TEST(DividedDynamics, VirtualSitesAndSlowForcesInABoxThatRelaxes) {
  Divided d = water("tip4pew", 216);
  d.dynamics.scheme = Scheme::velocity_verlet;
  d.dynamics.thermostat = Thermostat::v_rescale;
  d.dynamics.barostat = Barostat::c_rescale;
  d.dynamics.barostat_every = 4;
  d.dynamics.slow_every = 2;
  d.steps = 24;
  expect_same_everywhere(d);
}

TEST(DividedDynamics, APistonAndLangevinInASlantedBox) {
  Divided d = water("spce", 300);
  const BuiltSystem w =
      water_box({.model = "spce", .box = box_of_angles({2.2, 2.3, 2.4}, {75, 80, 70}), .seed = 3});
  d.c = {w.system, w.frame};
  d.dynamics.scheme = Scheme::langevin;
  d.dynamics.barostat = Barostat::parrinello_rahman;
  d.dynamics.scaling = Dynamics::Scaling::semi_isotropic;
  d.dynamics.friction_per_ps = 20;
  d.steps = 20;
  expect_same_everywhere(d);
}

TEST(DividedDynamics, AtomsThatCollide) {
  Divided d{.c = argon(5),
            .options = argon_forces,
            .forces = {.buffer_nm = 0.05},
            .dynamics = {.scheme = Scheme::velocity_verlet,
                         .dt_ps = 0.004,
                         .temperature_k = 150,
                         .thermostat = Thermostat::andersen,
                         .tau_t_ps = 0.1},
            .steps = 120};
  TemperatureGroup a{.name = "a"}, b{.name = "b"};
  for (std::int32_t i = 0; i < 500; ++i) (i % 3 == 0 ? a : b).atoms.push_back(i);
  a.temperature_k = 300;
  d.dynamics.groups = {a, b};
  expect_same_everywhere(d);
}

/// Chains across the box with all kinds of terms, some of whose atoms are far apart.
Divided chains() {
  Divided d;
  Case& c = d.c;
  constexpr int side = 4, length = 15;
  const double edge = 2.4;
  c.frame.box = rectangular_box({edge, edge, edge});
  c.system.lj = mixed(LennardJones::Mixing::geometric, {0.3, 0.34}, {0.4, 0.3});
  System& s = c.system;
  s.bonds.rows = {{0.15, 2e4}};
  s.angles.rows = {{1.9, 300}};
  s.dihedrals.rows = {{0.3, 3, 2}};
  s.ryckaert_bellemans.rows = {{9.3, 12.2, -13.1, -3.1, 26.2, -31.5}};
  s.pairs.rows = {{1e-3, 1e-6, 0.8, 0}};
  s.distance_restraints.rows = {{0.5, 1.1, 50}};
  const auto put = [](auto& list, const auto& atoms) {
    list.atoms.push_back(atoms);
    list.row.push_back(0);
  };
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const auto first = static_cast<std::int32_t>(s.n_atoms());
      for (int k = 0; k < length; ++k) {
        s.residues.push_back({"C", "1", "", ""});
        add_atom(s, "C", 6, 12 + k % 3,
                 k % 2 == 0            ? 0.25
                 : k + 1 == length - 1 ? 0.0
                                       : -0.25,
                 k % 2);
        c.frame.x_nm.push_back(
            {0.6 * i + 0.04 * (k % 2), 0.6 * j + 0.06 * ((k / 2) % 2), 0.14 * k});
        const std::int32_t a = first + k;
        if (k >= 1) put(s.bonds, std::array{a - 1, a});
        if (k >= 2) put(s.angles, std::array{a - 2, a - 1, a});
        if (k >= 3 && k % 2 == 0) put(s.dihedrals, std::array{a - 3, a - 2, a - 1, a});
        if (k >= 3 && k % 2 == 1) put(s.ryckaert_bellemans, std::array{a - 3, a - 2, a - 1, a});
        if (k >= 3) put(s.pairs, std::array{a - 3, a});
        for (int back = 3; back >= 1; --back)
          if (k >= back) s.exclusions.push_back({a - back, a});
      }
      put(s.distance_restraints, std::array{first, first + length - 1});
      s.position_restraints.rows.push_back(
          {500, 500, 200, c.frame.x_nm[static_cast<std::size_t>(first)][0], 0.6 * j, 0.1});
      s.position_restraints.atoms.push_back({first});
      s.position_restraints.row.push_back(
          static_cast<std::int32_t>(s.position_restraints.rows.size()) - 1);
    }
  std::ranges::sort(s.exclusions);
  for (const auto& b : s.bonds.atoms) s.connectivity.push_back(b);
  s.constraints.rows = {{0.15}};
  d.options = {.coulomb = Nonbonded::Coulomb::pme,
               .cutoff_coulomb_nm = 0.8,
               .cutoff_lj_nm = 0.7,
               .fourier_spacing_nm = 0.15};
  d.forces = {.buffer_nm = 0.1};
  d.dynamics = {.scheme = Scheme::leap_frog, .dt_ps = 0.0005, .temperature_k = 500};
  return d;
}

TEST(DividedDynamics, ChainsWithEveryKindOfTerm) {
  Divided d = chains();
  d.steps = 150;
  expect_same_everywhere(d);
}

TEST(DividedDynamics, ChainsInAReactionFieldOfExcludedPairs) {
  Divided d = chains();
  d.options = {
      .coulomb = Nonbonded::Coulomb::reaction_field, .cutoff_coulomb_nm = 0.8, .cutoff_lj_nm = 0.8};
  d.options.epsilon_rf = 60;
  d.options.reaction_field_of_excluded = true;
  // Rigid bonds: whole chains, and stars, each on one rank.
  System& s = d.c.system;
  for (std::size_t b = 0; b < s.bonds.atoms.size(); ++b)
    if (b < 14 || b % 14 % 4 == 0) {
      s.constraints.atoms.push_back(s.bonds.atoms[b]);
      s.constraints.row.push_back(0);
    }
  d.steps = 100;
  expect_same_everywhere(d);
}

TEST(DividedDynamics, FewAtomsOnManyRanks) {
  const Case c = small_mixture();
  Divided d{.c = c,
            .options = {.coulomb = Nonbonded::Coulomb::reaction_field,
                        .cutoff_coulomb_nm = 0.8,
                        .cutoff_lj_nm = 0.8},
            .forces = {},
            .dynamics = {.scheme = Scheme::velocity_verlet, .dt_ps = 0.0002, .temperature_k = 50},
            .steps = 20};
  expect_same_everywhere(d);
}

TEST(DividedDynamics, GoOnFromAnyNumberOfRanks) {
  Divided d = water("spce", 216);
  d.steps = 20;
  const Alone expected = alone(d);
  State half;
  parallel::run_ranks(3, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c);
    run.begin(d.c.frame);
    run.step(11);
    State whole = run.whole();
    if (c.rank() == 0) half = std::move(whole);
  });
  parallel::run_ranks(5, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c);
    run.go_on(half);
    run.step(9);
    const State end = run.whole();
    if (c.rank() == 0) expect_same(end, expected.end);
  });
}

TEST(DividedDynamics, WhatFailsOnOneRankIsThrownOnAll) {
  Divided d = water("spce", 216);
  d.c.frame.v_nm_ps.assign(d.c.frame.x_nm.size(), Vec3{});
  d.c.frame.v_nm_ps[4] = {3000, 0, 0};  // its water cannot be made rigid after a step
  d.dynamics.as_they_are = true;
  std::array<std::string, 4> told;
  parallel::run_ranks(4, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c);
    run.begin(d.c.frame);
    try {
      run.step(2);
    } catch (const Error& e) {
      told[static_cast<std::size_t>(c.rank())] = e.what();
    }
    const State before = run.whole_before();
    if (c.rank() == 0) {
      EXPECT_EQ(before.frame.step, 0);
    }
  });
  for (const std::string& t : told)
    EXPECT_NE(t.find("cannot be made rigid"), std::string::npos) << t;
}

TEST(DividedDynamics, AtomsThatOverlapAreToldOnAll) {
  Divided d{.c = argon(4), .options = argon_forces, .forces = {}, .dynamics = {}};
  d.c.frame.x_nm[1] = d.c.frame.x_nm[0];
  d.c.frame.x_nm[1][2] += 1e-4;
  std::atomic<int> thrown = 0;
  parallel::run_ranks(3, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c);
    try {
      run.begin(d.c.frame);
    } catch (const Error&) {
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 3);
}

/// Whatever ranks would still say to each other then would be waited for as long again.
TEST(DividedDynamics, ARankThatDoesNotComeIsWaitedForOnce) {
  const Divided d{.c = argon(4), .options = argon_forces, .forces = {}, .dynamics = {}};
  std::atomic<bool> over = false;
  std::string first, later;
  int waits = 0;
  const auto run = [&](parallel::Communicator& c) {
    DividedDynamics steps(d.c.system, d.options, d.forces, d.dynamics, c);
    steps.begin(d.c.frame);
    while (c.rank() == 1 && !over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (c.rank() == 1) return;
    c.patience = {.tell = 0.05, .end = 0.1, .say = [&](const std::string&) { ++waits; }};
    try {
      steps.step(1);
    } catch (const parallel::WaitedInVain& e) {
      first = e.what();
    }
    try {
      steps.whole();
    } catch (const parallel::WaitedInVain& e) {
      later = e.what();
    }
    over = true;
  };
  EXPECT_THROW(parallel::run_ranks(2, run), Error);
  EXPECT_NE(first.find("waited in vain for rank 1"), std::string::npos) << first;
  EXPECT_EQ(later, first);
  EXPECT_LE(waits, 1);
}

TEST(DividedDynamics, TellWhyTheyAreNot) {
  const Box box = rectangular_box({3, 3, 3});
  EXPECT_EQ(why_not_divided(argon_forces, {}, box), "");
  EXPECT_NE(why_not_divided(argon_forces, {}, {}), "");
  EXPECT_NE(why_not_divided({.coulomb = Nonbonded::Coulomb::ewald}, {}, box), "");
  EXPECT_NE(why_not_divided(argon_forces, {.barostat = Barostat::monte_carlo}, box), "");
}

TEST(DividedDynamics, ShareTheAtoms) {
  const Divided d = water("spce", 1000);  // 3.1 nm
  parallel::run_ranks(8, [&](parallel::Communicator& c) {
    DividedDynamics run(d.c.system, d.options, d.forces, d.dynamics, c);
    run.begin(d.c.frame);
    EXPECT_LT(run.own().size(), 450U);
    EXPECT_LT(run.atoms_with_copies(), 1600U);
  });
}

}  // namespace
}  // namespace tessera::molecular
