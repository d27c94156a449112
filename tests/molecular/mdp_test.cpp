// SPDX-License-Identifier: Apache-2.0
// GROMACS's run parameters as a stage. What is refused, and how, is asked of the command in
// tests/apps/mdp_test.cpp.
#include "tessera/molecular/mdp.h"

#include "input_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

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

/// GROMACS user guide, "gen-seed", "ld-seed": -1, the default, is pseudo-random.
TEST(MdpStage, SeedsAreThoseThatTheRunUses) {
  const std::string draws = "gen-vel = yes\n", noise =
                                                   "integrator = sd\ntc-grps = System\n"
                                                   "tau-t = 1\nref-t = 300\n";
  const auto seed = [](const std::string& text) {
    const Mdp m = parse_mdp(text);
    if (m.seed) {
      EXPECT_EQ(m.stage.dynamics.seed, *m.seed);
    }
    return m.seed;
  };
  const auto told = [](const std::string& text) {
    std::string all;
    for (const data::Diagnostic& d : parse_mdp(text).remarks) all += d.message + "\n";
    return all.find("seed = ") != std::string::npos;
  };
  for (const std::string& any :
       {draws, noise, draws + noise, draws + "gen-seed = -1\n",
        noise + "ld_seed = -1\ngen-seed = 5\n", draws + noise + "gen-seed = 5\n"}) {
    EXPECT_NE(seed(any), seed(any)) << any;
    EXPECT_TRUE(told(any)) << any;
  }
  EXPECT_EQ(seed(draws + "gen-seed = 173529\nld-seed = 77\n"), 173529u);
  EXPECT_EQ(seed(noise + "gen-seed = 173529\nld-seed = 77\n"), 77u);
  EXPECT_EQ(seed(draws + noise + "gen-seed = 77\nld-seed = 77\n"), 77u);
  const std::string both = draws + noise + "ld-seed = 77\ngen-seed = ";
  EXPECT_EQ(seed(both + "1\n"), seed(both + "1\n"));
  EXPECT_NE(seed(both + "1\n"), seed(both + "2\n")) << "replicas differ in gen-seed";
  EXPECT_TRUE(told(both + "1\n"));
  EXPECT_FALSE(told(both + "77\n"));
  EXPECT_TRUE(seed(draws + "gen-seed = -5\n")) << "a seed as any other";
  EXPECT_EQ(seed("integrator = md\n"), std::nullopt) << "nothing is drawn";
  EXPECT_FALSE(told("integrator = steep\n"));
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

/// Those of grompp's mdout.mdp, releases 5.1 to 2025, with what they read where a switch is on, and
/// what they call obsolete (user guide, "mdp options"; reference manual, "Special topics").
TEST(MdpStage, EveryKeyOfGromacsIsKnown) {
  const char* const of_2022 =
      "include define integrator tinit dt nsteps init-step simulation-part mts comm-mode nstcomm "
      "comm-grps bd-fric ld-seed emtol emstep niter fcstep nstcgsteep nbfgscorr rtpi nstxout "
      "nstvout nstfout nstlog nstcalcenergy nstenergy nstxout-compressed compressed-x-precision "
      "compressed-x-grps energygrps cutoff-scheme nstlist pbc periodic-molecules "
      "verlet-buffer-tolerance rlist coulombtype coulomb-modifier rcoulomb-switch rcoulomb "
      "epsilon-r epsilon-rf vdw-type vdw-modifier rvdw-switch rvdw DispCorr table-extension "
      "energygrp-table fourierspacing fourier-nx fourier-ny fourier-nz pme-order ewald-rtol "
      "ewald-rtol-lj lj-pme-comb-rule ewald-geometry epsilon-surface implicit-solvent tcoupl "
      "nsttcouple nh-chain-length print-nose-hoover-chain-variables tc-grps tau-t ref-t pcoupl "
      "pcoupltype nstpcouple tau-p compressibility ref-p refcoord-scaling QMMM QMMM-grps "
      "annealing annealing-npoints annealing-time annealing-temp gen-vel gen-temp gen-seed "
      "constraints constraint-algorithm continuation Shake-SOR shake-tol lincs-order lincs-iter "
      "lincs-warnangle morse energygrp-excl nwall wall-type wall-r-linpot wall-atomtype "
      "wall-density wall-ewald-zfac pull awh rotation IMD-group disre disre-weighting "
      "disre-mixed disre-fc disre-tau nstdisreout orire orire-fc orire-tau orire-fitgrp "
      "nstorireout free-energy couple-moltype couple-lambda0 couple-lambda1 couple-intramol "
      "init-lambda init-lambda-state delta-lambda nstdhdl fep-lambdas mass-lambdas coul-lambdas "
      "vdw-lambdas bonded-lambdas restraint-lambdas temperature-lambdas calc-lambda-neighbors "
      "init-lambda-weights dhdl-print-energy sc-function sc-alpha sc-power sc-r-power sc-sigma "
      "sc-coul sc-gapsys-scale-linpoint-lj sc-gapsys-scale-linpoint-q sc-gapsys-sigma-lj "
      "separate-dhdl-file dhdl-derivatives dh_hist_size dh_hist_spacing acc-grps accelerate "
      "freezegrps freezedim cos-acceleration deform simulated-tempering "
      "simulated-tempering-scaling sim-temp-low sim-temp-high swapcoords adress user1-grps "
      "user2-grps userint1 userint2 userint3 userint4 userreal1 userreal2 userreal3 userreal4 "
      "electric-field-x electric-field-y electric-field-z density-guided-simulation-active "
      "qmmm-cp2k-active";
  const char* const older =
      "ns-type rlistlong nstcalclr gb-algorithm nstgbradii rgbradii gb-epsilon-solvent "
      "gb-saltconc gb-obc-alpha gb-obc-beta gb-obc-gamma gb-dielectric-offset sa-algorithm "
      "sa-surface-tension QMmethod QMMMscheme QMbasis QMcharge QMmult SH CASorbitals "
      "CASelectrons SAon SAoff SAsteps MMChargeScaleFactor bOPT bTS E-x E-xt E-y E-yt E-z E-zt "
      "adress-type adress-const-wf title cpp domain-decomposition andersen-seed dihre dihre-fc "
      "dihre-tau nstdihreout nstcheckpoint optimize-fft unconstrained-start foreign-lambda "
      "verlet-buffer-drift nstxtcout xtc-grps xtc-precision pull-print-com2";
  const char* const newer =
      "ensemble-temperature-setting ensemble-temperature mass-repartition-factor "
      "verlet-buffer-pressure-tolerance deform-init-flow init-lambda-counts "
      "init-wl-histogram-counts colvars-active colvars-configfile colvars-seed nnpot-active "
      "nnpot-modelfile nnpot-input-group nnpot-model-input1 fmm-backend";
  const char* const of_switches =
      "mts-levels mts-level2-forces mts-level2-factor nstexpanded lmc-stats lmc-move "
      "lmc-weights-equil weight-equil-number-all-lambda weight-equil-wl-delta lmc-seed "
      "mc-temperature lmc-repeats lmc-gibbsdelta lmc-forced-nstart symmetrized-transition-matrix "
      "nst-transition-matrix mininum-var-min weight-c-range wl-scale wl-ratio init-wl-delta "
      "wl-oneovert pull-cylinder-r pull-coord1-k pull-group1-name pull-xout-average "
      "awh-potential awh1-dim1-start awh3-growth-factor awh1-growth-factor rot-nstrout rot-type0 "
      "swap-frequency "
      "iontypes split-group0 split-group1 massw-split0 massw-split1 solvent-group cyl0-r cyl0-up "
      "cyl1-down coupl-steps iontype0-name iontype0-in-A bulk-offsetA bulk-offsetB threshold "
      "anionsA cationsB density-guided-simulation-group density-guided-simulation-shift-vector "
      "qmmm-cp2k-qmgroup qmmm-cp2k-qmfilenames";
  for (const char* list : {of_2022, older, newer, of_switches}) {
    std::istringstream words(list);
    for (std::string key; words >> key;)
      for (const data::Diagnostic& d : parse_mdp("; a key\n" + key + " =\n").remarks)
        EXPECT_EQ(d.message.find("mdp has no key"), std::string::npos) << d.message;
  }
}

/// An empty key that GROMACS does not have asks for nothing.
TEST(MdpStage, WhatIsSwitchedOffIsNoMatter) {
  const auto notes = [](const std::string& text) {
    std::string out;
    for (const data::Diagnostic& d : parse_mdp("dt = 0.001\n" + text).remarks)
      out += d.message + "\n";
    return out;
  };
  EXPECT_NE(
      notes("QMMM = no\nQMmethod = RHF\nQMMMscheme = normal\nMMChargeScaleFactor = 1\nSH = no\n")
          .find("of what is switched off, and have no effect: qmmethod, qmmmscheme, "
                "mmchargescalefactor, sh"),
      std::string::npos);
  EXPECT_NE(notes("nnpot-active = false\nnnpot-modelfile = model.pt\n").find("nnpot-modelfile"),
            std::string::npos);
  EXPECT_EQ(fault([] { parse_mdp("dt = 0.001\nnnpot-active = true\n"); }).number, 726);
  EXPECT_NE(notes("nstxut =\n").find("mdp has no key 'nstxut', and no value is given"),
            std::string::npos);
  EXPECT_EQ(fault([] { parse_mdp("dt = 0.001\nnstxut = 5\n"); }).number, 725);
}

TEST(MdpStage, ADefaultThatHasChangedIsTold) {
  const std::string pressed = "pcoupl = Berendsen\nref-p = 1\ncompressibility = 4.5e-5\n";
  const Mdp m = parse_mdp(pressed), given = parse_mdp(pressed + "tau-p = 1\n");
  EXPECT_EQ(m.stage.dynamics.tau_p_ps, 5);
  ASSERT_EQ(m.remarks.size(), 1U);
  EXPECT_NE(m.remarks[0].message.find("tau-p is not given: 5 ps"), std::string::npos);
  EXPECT_EQ(given.stage.dynamics.tau_p_ps, 1);
  EXPECT_TRUE(given.remarks.empty());
}

TEST(MdpStage, ABarostatTakesTheTemperatureOfTheEnsemble) {
  const std::string pressed =
                        "dt = 0.002\npcoupl = C-rescale\nref-p = 1\ncompressibility = 4.5e-5\n",
                    bath = "tcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\n",
                    constant = "ensemble-temperature-setting = constant\n";
  EXPECT_EQ(
      parse_mdp(pressed + constant + "ensemble-temperature = 100\n").stage.dynamics.temperature_k,
      100);
  EXPECT_EQ(parse_mdp(pressed + bath).stage.dynamics.temperature_k, 300);
  EXPECT_EQ(parse_mdp(pressed + bath + constant + "ensemble-temperature = 300\n")
                .stage.dynamics.temperature_k,
            300);
  for (const std::string& refused :
       {pressed, pressed + constant, pressed + "ensemble-temperature = 100\n",
        pressed + bath + constant + "ensemble-temperature = 310\n",
        pressed + "ensemble-temperature-setting = high\n" + bath})
    EXPECT_EQ(fault([&] { parse_mdp(refused); }).number, 726) << refused;
}

}  // namespace
}  // namespace tessera::molecular
