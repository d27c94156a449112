// SPDX-License-Identifier: Apache-2.0
// Stages as data, made ready where they begin and run by the library alone.
#include "tessera/molecular/stage.h"

#include "input_error.h"
#include "molecular_cases.h"
#include "tessera/molecular/pme.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/parallel/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace tessera::molecular {
namespace {

using tessera::testing::fault;
using testing::argon, testing::argon_forces, testing::Case, testing::rigid_waters,
    testing::rigid_water_forces;

/// Two baths, an atom that keeps its z, one on a spring, a box that moves.
Stage everything() {
  Stage s;
  s.n_steps = 40;
  s.nonbonded = argon_forces;
  s.dynamics.dt_ps = 0.004;
  s.dynamics.thermostat = Dynamics::Thermostat::v_rescale;
  s.dynamics.temperature_k = 90;
  s.dynamics.barostat = Dynamics::Barostat::c_rescale;
  s.dynamics.seed = 7;
  s.baths = {{"index 0 to 53", 90, 0.1}, {"not index 0 to 53", 120, 0.2}};
  s.frozen.z = "index 60";
  s.held = "index 70";
  s.restraint_scaling = RestraintScaling::all;
  s.pressure_tensor = true;
  return s;
}

TEST(Stages, StepsAreThoseOfTheIntegrator) {
  const Case c = argon(3);
  Stage s;
  s.n_steps = 20;
  s.nonbonded = argon_forces;
  s.dynamics.dt_ps = 0.004;
  s.dynamics.temperature_k = 90;
  const StageStart at = stage_start(s, c.system, c.frame, c.frame);
  const auto run = begin_stage(s, at, c.frame);
  run->advance(20);
  EXPECT_TRUE(run->done());
  const Integrator steps(c.system, ForceEvaluator(c.system, argon_forces), s.dynamics);
  State m = steps.begin(c.frame);
  steps.step(m, 20);
  EXPECT_EQ(run->frame().x_nm, m.frame.x_nm);
  EXPECT_EQ(run->frame().v_nm_ps, m.frame.v_nm_ps);
  ASSERT_EQ(run->row().size(), run->columns().size());
  EXPECT_EQ(run->row()[0], 20);
}

TEST(Stages, ARunGoesOnFromItsCheckpointBitByBit) {
  const Case c = argon(3);
  const Stage s = everything();
  const StageStart at = stage_start(s, c.system, c.frame, c.frame);
  const auto whole = begin_stage(s, at, c.frame);
  whole->advance(20);
  data::Checkpoint there;
  whole->save(there);
  const auto rest = begin_stage(s, at, c.frame, false);
  rest->restore(there);
  EXPECT_EQ(rest->row(), whole->row());
  whole->advance(40);
  rest->advance(40);
  EXPECT_EQ(rest->frame().x_nm, whole->frame().x_nm);
  EXPECT_EQ(rest->row(), whole->row());
  EXPECT_EQ(whole->frame().x_nm[60][2], c.frame.x_nm[60][2]) << "frozen along z";
  EXPECT_NE(whole->frame().x_nm[60][0], c.frame.x_nm[60][0]);
  const std::set<std::string> columns(whole->columns().begin(), whole->columns().end());
  for (const char* name : {"position_restraints", "index_0_to_53_temperature_k", "pressure_xy_bar"})
    EXPECT_TRUE(columns.contains(name)) << name;
}

/// W = -dU/de of a spring of which the atom's end alone is strained, or both: without a barostat,
/// too.
TEST(Stages, RestraintsAreInThePressureAsTheirPositionsScale) {
  const Case c = argon(3);
  std::vector<Vec3> x = c.frame.x_nm;
  x[70][0] += 0.01;
  const auto virial = [&](RestraintScaling kind, const char* held) {
    Stage s;
    s.n_steps = 1;
    s.nonbonded = argon_forces;
    s.force_options.precision = Precision::f64;
    s.held = held;
    s.held_k = 1000;
    s.restraint_scaling = kind;
    const StageStart at = stage_start(s, c.system, c.frame, c.frame);
    Forces f;
    stage_forces(s, at, c.frame.box)(x, c.frame.box, f);
    return f.virial[0][0];
  };
  const double without = virial(RestraintScaling::none, "");
  EXPECT_NEAR(virial(RestraintScaling::none, "index 70") - without, -10 * x[70][0], 1e-6);
  EXPECT_NEAR(virial(RestraintScaling::all, "index 70") - without, -10 * 0.01, 1e-6);
}

/// Pairs of bound atoms across faces: wherever a file has put them, springs pull at atoms and box
/// alike, with restraints of a stage and of a topology.
TEST(Stages, HeldMoleculesAreInOnePieceWhateverTheFileHasWrapped) {
  Case c = argon(3);
  const auto bind = [&](std::int32_t i, std::int32_t j) {
    c.system.connectivity.push_back({i, j});
  };
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3405}, {0.0});
  c.frame.x_nm[1] = {-0.08, 0.8, 0.12};  // one piece across two faces
  c.frame.x_nm[0] = {0.12, 0.8, -0.08};
  bind(0, 1);
  c.frame.x_nm[2] = {0.3, 0.8, 1.0};  // a molecule beside it
  c.frame.x_nm[3] = {0.3, 0.8, 1.2};
  bind(2, 3);
  const double edge = c.frame.box.edge[0][0];
  std::vector<Vec3> wrapped_x = c.frame.x_nm, far = c.frame.x_nm;
  wrapped_x[1][0] += edge;
  wrapped_x[0][2] += edge;
  wrapped_x[2][2] -= edge;  // and the other one torn, too
  for (std::size_t i = 0; i < 4; ++i) far[i][1] += 3 * edge;
  struct Found {
    double energy;
    Forces forces;
  };
  const auto found = [&](RestraintScaling kind, const std::vector<Vec3>& x, bool of_topology) {
    Stage s;
    s.n_steps = 1;
    s.nonbonded = argon_forces;
    s.force_options.precision = Precision::f64;
    s.restraint_scaling = kind;
    Case here = c;
    here.frame.x_nm = x;
    if (of_topology)
      for (const std::int32_t i : {0, 1}) {
        const Vec3& at = x[static_cast<std::size_t>(i)];
        here.system.position_restraints.atoms.push_back({i});
        here.system.position_restraints.row.push_back(i);
        here.system.position_restraints.rows.push_back({1000, 1000, 1000, at[0], at[1], at[2]});
      }
    else
      s.held = "index 0 to 3";
    const StageStart at = stage_start(s, here.system, here.frame, here.frame);
    const Box box = rectangular_box({0.99 * edge, 0.99 * edge, 0.99 * edge});
    std::vector<Vec3> moved = c.frame.x_nm;  // the same in all cases
    for (Vec3& p : moved)
      for (double& v : p) v *= 0.99;
    Forces f;
    stage_forces(s, at, here.frame.box)(moved, box, f);
    return Found{f.energy[static_cast<std::size_t>(Term::position_restraints)], f};
  };
  for (const RestraintScaling kind : {RestraintScaling::none, RestraintScaling::centre})
    for (const bool of_topology : {false, true}) {
      if (of_topology && kind == RestraintScaling::none) continue;  // as GROMACS has them
      const Found whole = found(kind, c.frame.x_nm, of_topology);
      for (const auto* x : {&wrapped_x, &far}) {
        const Found f = found(kind, *x, of_topology);
        EXPECT_NEAR(f.energy, whole.energy, 1e-9) << of_topology;
        for (std::size_t i = 0; i < 4; ++i)
          for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_NEAR(f.forces.f[i][a], whole.forces.f[i][a], 1e-6) << i << of_topology;
            EXPECT_NEAR(f.forces.virial[a][a], whole.forces.virial[a][a], 1e-6) << of_topology;
          }
      }
      if (kind == RestraintScaling::centre && of_topology) {
        // e = 0.01 of the distance from the centre, which is half of the bond.
        EXPECT_NEAR(whole.energy, 2 * 500 * 1e-4 * (0.1 * 0.1 + 0.1 * 0.1), 1e-9);
      }
    }
}

/// They are fast forces, whatever moves their positions, with slow forces apart and on ranks: each
/// spring is there once.
TEST(Stages, RestraintsCountOnceWithMultipleTimeSteps) {
  Case c = rigid_waters();
  System& system = c.system;
  system.position_restraints.rows = {
      {1000, 1000, 1000, c.frame.x_nm[0][0] + 0.01, c.frame.x_nm[0][1], c.frame.x_nm[0][2]}};
  system.position_restraints.atoms = {{0}};
  system.position_restraints.row = {0};
  c.frame.v_nm_ps.assign(system.n_atoms(), Vec3{});  // slow kicks show in v^2 alone
  const auto restraints = [](const StageRun& run) {
    const auto at = std::ranges::find(run.columns(), std::string("position_restraints"));
    return run.row()[static_cast<std::size_t>(at - run.columns().begin())];
  };
  for (const RestraintScaling scaling :
       {RestraintScaling::none, RestraintScaling::all, RestraintScaling::centre}) {
    const auto stage = [&](std::int64_t every) {
      Stage s;
      s.n_steps = 4;
      s.nonbonded = rigid_water_forces;
      s.force_options.precision = Precision::f64;
      s.dynamics.dt_ps = 0.0001;
      s.dynamics.slow_every = every;
      s.held = "index 30";  // of its own kind, at its place
      s.restraint_scaling = scaling;
      return s;
    };
    const Stage plain = stage(1), seldom = stage(2);
    const StageStart at_plain = stage_start(plain, system, c.frame, c.frame),
                     at = stage_start(seldom, system, c.frame, c.frame);
    const auto all = begin_stage(plain, at_plain, c.frame);
    const auto compare = [&](StageRun& run) {
      EXPECT_NEAR(restraints(run), 0.05, 1e-9) << "k/2 x^2";
      const std::size_t n = run.row().size();
      ASSERT_EQ(n, all->row().size());
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_NEAR(run.row()[k], all->row()[k], 1e-7 * (1 + std::abs(all->row()[k])))
            << run.columns()[k];
      for (std::size_t a = 0; a < 3; ++a)
        EXPECT_NEAR(run.forces().f[0][a], all->forces().f[0][a], 1e-6);
      run.advance(4);
    };
    double after = 0;
    {
      const auto alone = begin_stage(seldom, at, c.frame);
      compare(*alone);
      after = restraints(*alone);
    }
    parallel::run_ranks(2, [&](parallel::Communicator& ranks) {
      if (ranks.rank() > 0) return help_stage(seldom, at, c.frame, {.all = &ranks});
      const auto run = begin_stage(seldom, at, c.frame, true, {.all = &ranks});
      compare(*run);
      EXPECT_EQ(restraints(*run), after);
    });
    all->advance(4);
    EXPECT_NEAR(after, restraints(*all), 1e-4 * after) << "after steps";
  }
}

/// Of a truncated energy, too, whose jump at the cut-off no force knows: the virial has what is
/// beyond.
TEST(Stages, SumsOfDoublesGiveTheForcesAndVirialsOfRuns) {
  const Case c = argon(3);
  using N = Nonbonded;
  for (const N::Modifier modifier :
       {N::Modifier::none, N::Modifier::potential_shift, N::Modifier::force_switch})
    for (const N::TailPairs pairs : {N::TailPairs::all, N::TailPairs::not_excluded}) {
      Stage s;
      s.nonbonded = argon_forces;
      s.nonbonded.lj_modifier = modifier;
      s.nonbonded.tail = N::Tail::c6_c12;
      s.nonbonded.tail_pairs = pairs;
      s.force_options.precision = Precision::f64;
      const StageStart at = stage_start(s, c.system, c.frame, c.frame);
      Forces run, exact;
      stage_forces(s, at, c.frame.box)(c.frame.x_nm, c.frame.box, run);
      s.exact = true;
      stage_forces(s, at, c.frame.box)(c.frame.x_nm, c.frame.box, exact);
      EXPECT_NEAR(exact.potential(), run.potential(), 1e-5);
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_NEAR(exact.virial[a][a], run.virial[a][a], 1e-5);
        EXPECT_NEAR(exact.f[5][a], run.f[5][a], 1e-5);
      }
    }
}

/// Six for each rigid water, as in its steps, which leave the motion of the whole.
TEST(Stages, ALookAtAFrameHasTheDegreesOfFreedomOfLangevin) {
  Case c = rigid_waters();
  c.frame.v_nm_ps = maxwell_velocities(c.system, 300, 3);
  Stage s;
  s.nonbonded = rigid_water_forces;
  s.dynamics.scheme = Dynamics::Scheme::langevin;
  const StageStart at = stage_start(s, c.system, c.frame, c.frame);
  const auto run = begin_stage(s, at, c.frame);
  const auto value = [&](const char* name) {
    const auto& columns = run->columns();
    return run->row()[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())];
  };
  const double freedom = 6 * 27;
  EXPECT_NEAR(value("temperature_k"), 2 * value("kinetic") / (freedom * gas_constant), 1e-9);
}

/// Energies on two grids differ by the errors of both, which a barostat's trials would take for
/// work.
TEST(Stages, TheGridOfPmeStaysWhileTheBoxChanges) {
  const Case c = rigid_waters();
  Stage s;
  s.nonbonded = rigid_water_forces;
  const StageStart at = stage_start(s, c.system, c.frame, c.frame);
  Nonbonded fixed = rigid_water_forces;
  fixed.fourier_grid = pme_grid(rigid_water_forces, c.frame.box);
  EXPECT_EQ(at.nonbonded.fourier_grid, fixed.fourier_grid);
  const Box larger = rectangular_box({1.1, 1.1, 1.1});
  ASSERT_NE(pme_grid(rigid_water_forces, larger), fixed.fourier_grid);
  Forces of_stage, of_grid;
  stage_forces(s, at, c.frame.box)(c.frame.x_nm, larger, of_stage);
  ForceEvaluator(c.system, fixed, s.force_options)(c.frame.x_nm, larger, of_grid);
  EXPECT_EQ(of_stage.energy, of_grid.energy);
}

/// Frames of a rerun have boxes of their own, and in each the grid that fourierspacing asks for.
TEST(Stages, TheGridOfPmeIsThatOfEachFrameOfARerun) {
  const Case c = rigid_waters();
  Stage s;
  s.type = StageType::rerun;
  s.exact = true;
  s.nonbonded = rigid_water_forces;
  const StageStart at = stage_start(s, c.system, c.frame, c.frame);
  const ForceFunction rerun = stage_forces(s, at, c.frame.box);
  for (const double edge : {1.1, 1.6, c.frame.box.edge[0][0]}) {
    const Box box = rectangular_box({edge, edge, edge});
    Forces of_rerun, of_frame;
    rerun(c.frame.x_nm, box, of_rerun);
    stage_forces(s, at, box)(c.frame.x_nm, box, of_frame);
    EXPECT_EQ(of_rerun.energy, of_frame.energy) << edge;
  }
}

TEST(Stages, GroupsAndRampsAreThoseOfTheBeginning) {
  const Case c = argon(3);
  Frame begin = c.frame;
  begin.time_ps = 5;
  Stage s = everything();
  s.heat_from_k = 10;
  const StageStart heated = stage_start(s, c.system, c.frame, begin);
  const Dynamics& d = heated.dynamics;
  EXPECT_EQ(d.annealing, (Ramp{{5, 10}, {5 + 40 * 0.004, 90}}));
  ASSERT_EQ(d.groups.size(), 2u);
  EXPECT_EQ(d.groups[1].annealing, (Ramp{{5, 10}, {5 + 40 * 0.004, 120}}));
  EXPECT_EQ(d.groups[0].atoms.size(), 54u);
  ASSERT_EQ(d.frozen.size(), c.system.n_atoms());
  EXPECT_EQ(d.frozen[60], (std::array<bool, 3>{false, false, true}));
  ASSERT_EQ(heated.system.position_restraints.size(), 1u);
  EXPECT_EQ(heated.topology_restraints, 0u);
  EXPECT_EQ(heated.system.position_restraints.rows[0][3], c.frame.x_nm[70][0]);
  s.heat_from_k.reset();
  s.dynamics.annealing = {{0, 20}, {2, 30}};
  EXPECT_EQ(stage_start(s, c.system, c.frame, begin).dynamics.annealing, (Ramp{{5, 20}, {7, 30}}));
}

/// Molecules that a topology holds, whole ones a box vector away among them: what only their centre
/// scales is the same. They lie evenly around the box along x, and end to end along y, where no
/// image is the nearest one by more than rounding.
TEST(Stages, WhatATopologyHoldsIsGatheredWhateverImagesItsMoleculesHave) {
  Case c = argon(3);
  const double edge = c.frame.box.edge[0][0];
  for (std::size_t k = 0; k < 6; ++k) {
    const double y = k % 2 == 0 ? 0.25 : 0.75;
    c.frame.x_nm[2 * k] = {(static_cast<double>(k) + 0.1) * edge / 6, y * edge, 0.3};
    c.frame.x_nm[2 * k + 1] = c.frame.x_nm[2 * k];
    c.frame.x_nm[2 * k + 1][2] += 0.2;
    const auto first = static_cast<std::int32_t>(2 * k);
    c.system.connectivity.push_back({first, first + 1});
  }
  const auto found = [&](const std::vector<Vec3>& reference, const Frame& begin) {
    Stage s;
    s.n_steps = 1;
    s.nonbonded = argon_forces;
    s.restraint_scaling = RestraintScaling::centre;
    System system = c.system;
    for (std::int32_t i = 0; i < 12; ++i) {
      const Vec3& at = reference[static_cast<std::size_t>(i)];
      system.position_restraints.atoms.push_back({i});
      system.position_restraints.row.push_back(i);
      system.position_restraints.rows.push_back({1000, 1000, 1000, at[0], at[1], at[2]});
    }
    Frame structure = c.frame;
    structure.x_nm = reference;
    const StageStart at = stage_start(s, system, structure, begin);
    Forces f;
    std::vector<Vec3> moved = c.frame.x_nm;
    for (Vec3& p : moved)
      for (double& v : p) v *= 0.99;
    stage_forces(s, at, begin.box)(moved, rectangular_box({0.99 * edge, 0.99 * edge, 0.99 * edge}),
                                   f);
    return std::array{f.energy[static_cast<std::size_t>(Term::position_restraints)],
                      f.virial[0][0] + f.virial[1][1] + f.virial[2][2]};
  };
  const auto gathered = found(c.frame.x_nm, c.frame);
  EXPECT_GT(gathered[0], 0.01);
  for (const std::size_t k : {0U, 1U, 2U, 3U, 4U, 5U})
    for (const std::size_t axis : {0U, 1U, 2U})
      for (const double image : {-1.0, 1.0, 3.0}) {
        std::vector<Vec3> far = c.frame.x_nm;
        for (const std::size_t i : {2 * k, 2 * k + 1}) far[i][axis] += image * edge;
        Frame elsewhere = c.frame;  // and where the stage begins
        elsewhere.x_nm = far;
        for (const auto& f :
             {found(far, c.frame), found(c.frame.x_nm, elsewhere), found(far, elsewhere)}) {
          EXPECT_NEAR(f[0], gathered[0], 1e-9 * gathered[0]) << k << axis << image;
          EXPECT_NEAR(f[1], gathered[1], 1e-6 * std::abs(gathered[1])) << k << axis << image;
        }
      }
}

/// Springs that move with the box are summed alike by stages that minimize and that move.
TEST(Stages, AnEnergyOfRestraintsIsThatOfTheStageBefore) {
  Case c = argon(3);
  for (std::int32_t i = 0; i < 4; ++i) {
    const Vec3& at = c.frame.x_nm[static_cast<std::size_t>(i)];
    c.system.position_restraints.atoms.push_back({i});
    c.system.position_restraints.row.push_back(i);
    c.system.position_restraints.rows.push_back({5, 5, 5, at[0] + 0.01, at[1], at[2]});
  }
  for (const RestraintScaling scaling :
       {RestraintScaling::none, RestraintScaling::all, RestraintScaling::centre}) {
    Stage s;
    s.type = StageType::minimize;
    s.n_steps = 5;
    s.nonbonded = argon_forces;
    s.force_options.precision = Precision::f64;
    s.restraint_scaling = scaling;
    const StageStart at = stage_start(s, c.system, c.frame, c.frame);
    const auto down = begin_stage(s, at, c.frame);
    while (!down->done()) down->advance(down->step() + 1);
    Stage next = s;
    next.type = StageType::dynamics;
    const StageStart there = stage_start(next, c.system, c.frame, down->frame());
    const auto steps = begin_stage(next, there, down->frame());
    const auto energy = [](const StageRun& run) {
      const auto column = std::ranges::find(run.columns(), std::string("position_restraints"));
      return run.row()[static_cast<std::size_t>(column - run.columns().begin())];
    };
    EXPECT_GT(energy(*down), 0);
    EXPECT_NEAR(energy(*steps), energy(*down), 1e-13 * energy(*down));
  }
}

/// Temperatures of a ramp are those of times that no stop among the steps rounds.
TEST(Stages, ARampDoesNotKnowWhereStepsAreReported) {
  Case c = argon(3);
  c.frame.time_ps = 0.1;
  for (const auto scheme : {Dynamics::Scheme::langevin, Dynamics::Scheme::leap_frog,
                            Dynamics::Scheme::velocity_verlet}) {
    Stage s;
    s.n_steps = 210;
    s.nonbonded = argon_forces;
    s.dynamics.scheme = scheme;
    s.dynamics.dt_ps = 0.004;
    s.dynamics.thermostat = scheme == Dynamics::Scheme::langevin ? Dynamics::Thermostat::none
                            : scheme == Dynamics::Scheme::velocity_verlet
                                ? Dynamics::Thermostat::nose_hoover
                                : Dynamics::Thermostat::v_rescale;
    s.dynamics.annealing = {{0, 50}, {0.7, 150}};
    const StageStart at = stage_start(s, c.system, c.frame, c.frame);
    const auto by = [&](std::int64_t steps) {
      auto run = begin_stage(s, at, c.frame);
      while (!run->done()) run->advance(std::min(s.n_steps, run->step() + steps));
      return run;
    };
    const auto one = by(210), ten = by(10), seven = by(7);
    EXPECT_EQ(one->frame().time_ps, 0.1 + 210 * 0.004);
    for (const auto* run : {&ten, &seven}) {
      EXPECT_EQ((*run)->frame().x_nm, one->frame().x_nm);
      EXPECT_EQ((*run)->frame().v_nm_ps, one->frame().v_nm_ps);
      EXPECT_EQ((*run)->frame().time_ps, one->frame().time_ps);
    }
  }
}

TEST(Stages, FrozenWatersAndFramesThatAreLookedAtAreNotRigid) {
  const Case c = rigid_waters();
  Stage s;
  s.nonbonded = rigid_water_forces;
  s.frozen.all = "index 0 to 2";
  EXPECT_EQ(stage_start(s, c.system, c.frame, c.frame).system.rigid_waters.size(), 26u);
  s.type = StageType::rerun;
  EXPECT_EQ(stage_start(s, c.system, c.frame, c.frame).system.rigid_waters.size(), 0u);
}

TEST(Stages, WithoutABoxAnInfiniteCutOffIsNone) {
  Nonbonded o;
  o.cutoff_lj_nm = o.cutoff_coulomb_nm = std::numeric_limits<double>::infinity();
  const Nonbonded vacuum = in_box(o, Box{});
  EXPECT_GT(vacuum.cutoff_lj_nm, 1e5);
  EXPECT_TRUE(std::isfinite(vacuum.cutoff_coulomb_nm));
  EXPECT_EQ(vacuum.lj_modifier, Nonbonded::Modifier::none) << "nothing to shift by";
  EXPECT_TRUE(std::isinf(in_box(o, rectangular_box({3, 3, 3})).cutoff_lj_nm));
}

TEST(Groups, EachAtomHasOneBathAndAGroupMeansSomething) {
  const Case c = argon(3);
  const auto told = [&](const std::vector<BathGroup>& groups, int number, const char* says) {
    const data::Diagnostic d =
        fault([&] { temperature_groups(groups, {}, false, c.system, c.frame); });
    EXPECT_EQ(d.number, number);
    EXPECT_NE(d.message.find(says), std::string::npos) << d.message;
  };
  told({{"index 0 to 53"}, {"index 50 to 107"}}, 751,
       "in 'index 0 to 53' and in 'index 50 to 107'");
  told({{"index 0 to 53"}, {"index 60 to 107"}}, 751, "atom 55 (AR of AR 1) is in none");
  told({{"protein"}}, 751, "'protein' means no atom");
  told({{"indx 4"}}, 760, "column 1 of 'indx 4'");
  EXPECT_TRUE(frozen_atoms({.all = "none"}, c.system, c.frame).empty());
  const Case waters = rigid_waters();
  EXPECT_EQ(atoms_of("solvent", waters.system, waters.frame).size(), 81u);
  EXPECT_EQ(part_of(waters.system, {3, 4, 5}).residues.size(), 1u);
}

}  // namespace
}  // namespace tessera::molecular
