// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/rollout.h"

#include "molecular_cases.h"
#include "tensor_measures.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using tessera::testing::largest;
using testing::Case;
using Scheme = Dynamics::Scheme;

const Nonbonded smooth_reaction_field = {.coulomb = Nonbonded::Coulomb::reaction_field,
                                         .lj_modifier = Nonbonded::Modifier::force_switch,
                                         .cutoff_coulomb_nm = 0.8,
                                         .cutoff_lj_nm = 0.8,
                                         .lj_switch_nm = 0.5};

/// Two rigid waters, one bent chain of four atoms with two constraints and free ones, moving.
Case rigid_case() {
  Case c;
  c.system = testing::waters(2, 0.4, 0.3, 0.5);
  System& s = c.system;
  s.residues.push_back({"CHN", "3", "", ""});
  for (int k = 0; k < 4; ++k) testing::add_atom(s, "C", 6, 12 + k, k % 2 ? 0.2 : -0.2, 0);
  s.rigid_waters = {{{0, 1, 2}, {3, 4, 5}}, {0, 0}, {{0.1, 0.16}}};
  s.constraints = {{{6, 7}, {7, 8}}, {0, 1}, {{0.15}, {0.14}}};
  s.bonds = {{{8, 9}}, {0}, {{0.15, 2e5}}};
  s.angles = {{{6, 7, 8}, {7, 8, 9}}, {0, 0}, {{1.9, 400}}};
  for (std::int32_t i = 6; i < 10; ++i)
    for (std::int32_t j = i + 1; j < 10; ++j) s.exclusions.push_back({i, j});
  c.frame.box = rectangular_box({2, 2, 2});
  const double y = 0.06, z = 0.08;  // O-H 0.1, H-H 0.16
  c.frame.x_nm = {{0.2, 0.2, 0.2},   {0.2, 0.2 + y, 0.2 + z},   {0.2, 0.2 + y, 0.2 - z},
                  {0.5, 0.25, 1.99}, {0.5 + y, 0.25, 1.99 + z}, {0.5 + y, 0.25, 1.99 - z},
                  {0.4, 0.6, 0.2},   {0.55, 0.6, 0.2},          {0.55, 0.74, 0.2},
                  {0.55, 0.74, 0.36}};
  const Integrator begin(
      s, ForceEvaluator(s, smooth_reaction_field, {.precision = Precision::f64}),
      {.scheme = Scheme::velocity_verlet, .centre_of_mass_removal_every = 0, .seed = 3});
  c.frame = begin.begin(c.frame).frame;
  return c;
}

/// A rigid water whose negative charge is a site on its axis, and a chloride.
Case site_case() {
  Case c;
  c.system = testing::waters(1, 0.52, 0.3164, 0.65);
  System& s = c.system;
  s.atoms.charge_e[0] = 0;
  testing::add_atom(s, "MW", 0, 0, -1.04, 1);
  s.exclusions = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  s.rigid_waters = {{{0, 1, 2}}, {0}, {{0.1, 0.16}}};
  s.virtual_sites = {{VirtualSite::Kind::linear3, 3, {0, 1, 2, -1}, {0.13, 0.13}}};
  s.residues.push_back({"CL", "2", "", ""});
  testing::add_atom(s, "CL", 17, 35.45, -1, 0);
  c.frame.box = rectangular_box({2, 2, 2});
  c.frame.x_nm = {{0.2, 0.2, 0.2}, {0.2, 0.26, 0.28}, {0.2, 0.26, 0.12}, {}, {0.2, 0.52, 0.2}};
  return c;
}

class Rollouts : public ::testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Integrators, Rollouts,
                         ::testing::Values(Scheme::velocity_verlet, Scheme::leap_frog),
                         [](const auto& i) {
                           return i.param == Scheme::leap_frog ? "leap_frog" : "velocity_verlet";
                         });

TEST_P(Rollouts, TakeTheStepsOfRuns) {
  const Case c = rigid_case();
  const Integrator run(
      c.system, ForceEvaluator(c.system, smooth_reaction_field, {.precision = Precision::f64}),
      {.scheme = GetParam(), .dt_ps = 0.001, .centre_of_mass_removal_every = 0});
  State m = run.begin(c.frame);
  const Tensor x = positions_of(m.frame.x_nm), v = positions_of(m.frame.v_nm_ps);
  const PotentialEnergy u(c.system, smooth_reaction_field, c.frame.box);
  const Path end = rollout(u, x, v, edges_of(c.frame.box), parameters(c.system),
                           {.scheme = GetParam(), .steps = 20});
  run.step(m, 20);
  EXPECT_GT(largest(end.x - x), 1e-3);
  EXPECT_LT(largest(end.x - positions_of(m.frame.x_nm)), 1e-9)
      << "forces of runs are rounded to 2^-32, constraints to 1e-10";
  EXPECT_LT(largest(end.v - positions_of(m.frame.v_nm_ps)), 1e-6);
  EXPECT_NEAR(select(end.potential, 0, 19).item<double>(), m.forces.potential(), 1e-5);
  EXPECT_LT(Constraints(c.system).largest_error(m.frame.x_nm, c.frame.box), 1e-9);
}

/// Sites end where their parents put them, wherever the beginning had them and however fast.
TEST_P(Rollouts, TakeSitesAlong) {
  const Case c = site_case();
  const Integrator run(
      c.system, ForceEvaluator(c.system, smooth_reaction_field, {.precision = Precision::f64}),
      {.scheme = GetParam(), .dt_ps = 0.001, .centre_of_mass_removal_every = 0});
  State m = run.begin(c.frame);
  std::vector<Vec3> x = m.frame.x_nm, v = m.frame.v_nm_ps;
  x[3] = {0.7, 0.1, 0.4};
  v[3] = {1, -2, 3};
  const PotentialEnergy u(c.system, smooth_reaction_field, c.frame.box);
  const Path end = rollout(u, positions_of(x), positions_of(v), edges_of(c.frame.box),
                           parameters(c.system), {.scheme = GetParam(), .steps = 20});
  run.step(m, 20);
  EXPECT_LT(largest(end.x - positions_of(m.frame.x_nm)), 1e-9);
  EXPECT_LT(largest(end.v - positions_of(m.frame.v_nm_ps)), 1e-6);
}

TEST_P(Rollouts, VerifyAgainstDifferencesToTheSecondOrder) {
  const Case c = rigid_case();
  const Tensor x = positions_of(c.frame.x_nm), v = positions_of(c.frame.v_nm_ps),
               h = edges_of(c.frame.box);
  const Parameters p = parameters(c.system);
  const PotentialEnergy u(c.system, smooth_reaction_field, c.frame.box);
  // Of epsilon, charges, a bond's length and its constraint, and the beginning's velocities.
  const auto end = [&](const Tensor& s) {
    const auto factor = [&](int k) { return 1.0 + 0.2 * select(s, 0, k); };
    Parameters q = p;
    q.epsilon = p.epsilon * factor(0);
    q.charge = p.charge * factor(1);
    q.angles = p.angles * factor(2);
    q.constraints = p.constraints * (1.0 + 1e-3 * select(s, 0, 3));
    const Path path =
        rollout(u, x, v * factor(4), h, q,
                {.scheme = GetParam(), .steps = 6, .checkpoint = Checkpoint::revolve(3)});
    return std::pair(path.x, path.potential + path.kinetic);
  };
  const CheckReport t = transpose_check(end, zeros({5}), {.order = 1});
  EXPECT_TRUE(t) << to_string(t);
  const TaylorReport report = taylor_check(end, zeros({5}), tensor({0.7, -0.5, 0.3, 0.4, -0.2}));
  EXPECT_TRUE(report) << to_string(report);
  EXPECT_NEAR(report.first.slope, 2, 0.1);
  EXPECT_NEAR(report.second.slope, 3, 0.2);
}

TEST(Rollouts, AdjointOfTheEnergyDrift) {
  // What the step loses of the energy, by reverse mode, against a difference quotient.
  const Case c = rigid_case();
  const Tensor x = positions_of(c.frame.x_nm), v = positions_of(c.frame.v_nm_ps),
               h = edges_of(c.frame.box);
  const PotentialEnergy u(c.system, smooth_reaction_field, c.frame.box);
  const auto drift = [&](const Parameters& p) {
    const Path path =
        rollout(u, x, v, h, p, {.dt_ps = 0.002, .steps = 12, .checkpoint = Checkpoint::every(4)});
    const Tensor e = path.potential + path.kinetic;
    return select(e, 0, 11) - select(e, 0, 0);
  };
  const Parameters p = parameters(c.system);
  const Parameters g = grad(drift)(p);
  const auto at = [&](double f) {
    Parameters q = p;
    q.epsilon = f * p.epsilon;
    return drift(q).item<double>();
  };
  const double expected = (8 * (at(1.01) - at(0.99)) - (at(1.02) - at(0.98))) / 0.12;
  EXPECT_NEAR(sum(g.epsilon * p.epsilon).item<double>(), expected, 1e-6 * std::abs(expected));
  EXPECT_GT(largest(g.constraints), 0) << "lengths of constraints have their part in it";
}

TEST(Rollouts, RefuseWhatTheyCannotDo) {
  const Case c = rigid_case();
  const PotentialEnergy u(c.system, smooth_reaction_field, c.frame.box);
  const Tensor x = positions_of(c.frame.x_nm);
  EXPECT_THROW(
      rollout(u, x, x, edges_of(c.frame.box), parameters(c.system), {.scheme = Scheme::langevin}),
      Error);
  EXPECT_THROW(rollout(u, x, 1e3 * sin(1e3 * x), edges_of(c.frame.box), parameters(c.system),
                       {.dt_ps = 0.002}),
               Error)
      << "no water is found that far away";
}

}  // namespace
}  // namespace tessera::molecular
