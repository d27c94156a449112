// SPDX-License-Identifier: Apache-2.0
// GROMACS's run parameters as a stage. What is refused, and how, is asked of the command in
// tests/apps/mdp_test.cpp.
#include "tessera/molecular/mdp.h"

#include "input_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using tessera::testing::fault;

Mdp parse_mdp(const std::string& text, const MdpGroups& groups = {}) {
  return read_mdp(data::make_text_file("run.mdp", text), groups);
}

TEST(MdpStage, ValuesAreThoseOfTheFile) {
  const Mdp m = parse_mdp(
      "integrator = md-vv\ndt = 0.002\nnsteps = 100\ncoulombtype = PME\nrcoulomb = 0.9\nrvdw = "
      "1.1\nvdw-modifier = Force-switch\nrvdw-switch = 0.8\nDispCorr = EnerPres\nconstraints = "
      "h-bonds\ntcoupl = V-rescale\ntc-grps = System\ntau-t = 0.4\nref-t = 298\npcoupl = "
      "C-rescale\npcoupltype = semiisotropic\nref-p = 1 2\ncompressibility = 4e-5 0\nmts = "
      "yes\nmts-level2-factor = 4\nld-seed = 11\ndefine = -DPOSRES -DK=5\ninclude = -Iff\ntinit = "
      "3\nnstxout-compressed = 50\nnstvout = 50\n");
  const Stage& s = m.stage;
  EXPECT_EQ(s.type, StageType::dynamics);
  EXPECT_EQ(s.n_steps, 100);
  EXPECT_EQ(s.nonbonded.coulomb, Nonbonded::Coulomb::pme);
  EXPECT_EQ(s.nonbonded.cutoff_coulomb_nm, 0.9);
  EXPECT_EQ(s.nonbonded.cutoff_lj_nm, 1.1);
  EXPECT_EQ(s.nonbonded.lj_modifier, Nonbonded::Modifier::force_switch);
  EXPECT_EQ(s.nonbonded.lj_switch_nm, 0.8);
  EXPECT_EQ(s.nonbonded.tail, Nonbonded::Tail::c6);
  EXPECT_EQ(s.nonbonded.tail_pairs, Nonbonded::TailPairs::not_excluded);
  EXPECT_EQ(s.nonbonded.pme_order, 4) << "GROMACS's default";
  EXPECT_EQ(s.constraints, Rigid::h_bonds);
  EXPECT_EQ(s.dynamics.scheme, Dynamics::Scheme::velocity_verlet);
  EXPECT_EQ(s.dynamics.dt_ps, 0.002);
  EXPECT_EQ(s.dynamics.thermostat, Dynamics::Thermostat::v_rescale);
  EXPECT_EQ(s.dynamics.tau_t_ps, 0.4);
  EXPECT_EQ(s.dynamics.temperature_k, 298);
  EXPECT_TRUE(s.baths.empty()) << "one bath of all";
  EXPECT_EQ(s.dynamics.scaling, Dynamics::Scaling::semi_isotropic);
  EXPECT_EQ(s.dynamics.pressure_bar, (Vec3{1, 1, 2}));
  EXPECT_EQ(s.dynamics.compressibility_per_bar, (Vec3{4e-5, 4e-5, 0}));
  EXPECT_EQ(s.dynamics.slow_every, 4);
  EXPECT_EQ(s.dynamics.seed, 11u);
  EXPECT_EQ(s.draws_velocities, false);
  EXPECT_EQ(m.start_ps, 3);
  EXPECT_TRUE(m.output.compressed && m.output.full && m.output.velocities);
  EXPECT_EQ(m.output.frames_every, 50);
  const Frame structure;
  const TopologyOptions t = m.topology(structure);
  EXPECT_EQ(t.defines, (std::vector<std::string>{"POSRES", "K=5"}));
  EXPECT_EQ(t.include_folders, (std::vector<std::filesystem::path>{"ff"}));
  EXPECT_EQ(t.reference, &structure);
}

TEST(MdpStage, GroupsAreWords) {
  MdpGroups groups;
  groups.residues = {"LIG"};
  const Mdp m = parse_mdp(
      "integrator = sd\ntc-grps = Protein non-Protein\ntau-t = 1 2\nref-t = 300 310\nfreezegrps = "
      "LIG Water\nfreezedim = Y Y Y N N Y\n",
      groups);
  ASSERT_EQ(m.stage.baths.size(), 2u);
  EXPECT_EQ(m.stage.baths[1].atoms, "non-protein");
  EXPECT_EQ(m.stage.baths[1].tau_t_ps, 2);
  EXPECT_EQ(m.stage.baths[1].temperature_k, 310);
  EXPECT_EQ(m.stage.frozen.all, "(resname \"LIG\")");
  EXPECT_EQ(m.stage.frozen.z, "(water)");
  EXPECT_EQ(m.stage.dynamics.friction_per_ps, 1);
  groups.file = "index.ndx";
  groups.index = read_index(data::make_text_file("index.ndx", "[ First_Two ]\n1 2\n3 7\n"));
  EXPECT_EQ(groups.find("first-two"), "serial 1 to 3 7");
  EXPECT_FALSE(groups.find("Protein")) << "an index takes the place of the usual groups";
}

TEST(MdpStage, RestraintsScaleAsTheFileSaysWithoutABarostatToo) {
  EXPECT_EQ(parse_mdp("refcoord-scaling = com\n").stage.restraint_scaling,
            RestraintScaling::centre);
  EXPECT_EQ(parse_mdp("dt = 0.001\n").stage.restraint_scaling, RestraintScaling::none);
}

TEST(MdpStage, MinimizersAndVacuum) {
  const Mdp m = parse_mdp(
      "integrator = steep\nnsteps = 7\nemtol = 5\nemstep = 0.02\npbc = no\nrcoulomb = 0\nrvdw = "
      "0\n");
  EXPECT_TRUE(m.stage.minimizes());
  EXPECT_EQ(m.stage.minimization.method, Minimization::Method::steepest_descent);
  EXPECT_EQ(m.stage.minimization.force_tolerance, 5);
  EXPECT_EQ(m.stage.minimization.first_move_nm, 0.02);
  EXPECT_FALSE(m.periodic);
  EXPECT_TRUE(std::isinf(m.stage.nonbonded.cutoff_lj_nm));
  const data::Diagnostic d = fault([] { parse_mdp("dt = 0.001\nintegrator = cg\n"); });
  EXPECT_EQ(d.number, 726);
  EXPECT_EQ(d.place.line, 2u);
  EXPECT_EQ(d.place.column, 14u);
}

}  // namespace
}  // namespace tessera::molecular
