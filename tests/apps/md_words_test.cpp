// SPDX-License-Identifier: Apache-2.0
// What molecular.dynamics says of settings that contradict each other, do nothing, or do something
// else than their words promise: at the key at fault, in words of the case.
#include "md_words.h"

#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

const std::string kSwitch = "rvdw_switch = \"0.7 nm\"\n",
                  kForceSwitch = "vdw_modifier = \"force-switch\"\n";

TEST_F(MdWords, SwitchesSayWhereTheyBegin) {
  for (const std::string modifier : {"force-switch", "potential-switch"})
    refused(changed("force-switch", modifier, changed(kSwitch, "")), "vdw_modifier", "E0751",
            "needs rvdw_switch, where it begins", "give rvdw_switch");
  warned(changed(kForceSwitch, "vdw_modifier = \"potential-shift\"\n"), "rvdw_switch",
         "rvdw_switch has no effect with vdw_modifier = \"potential-shift\"");
  warned(changed(kForceSwitch, ""), "rvdw_switch", "no effect");
  warned(changed("0.7 nm", "0.4 nm"), "rvdw_switch", "its well included");
  refused(changed("0.7 nm", "0.9 nm"), "rvdw_switch", "E0752",
          "begin below rvdw, 0.87 nm, not at 0.9 nm");
  write("case.toml", kArgon);
  EXPECT_FALSE(holds(tessera({"check", "case.toml"}).err, "E0757"));
  // Without a cut-off nothing is switched, and nothing is asked for.
  write("case.toml", changed(kSwitch, "box = \"none\"\n", changed("\"0.87 nm\"", "\"inf\"")));
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
}

TEST_F(MdWords, BarostatsAskForATemperature) {
  for (const std::string kind : {"c-rescale", "monte-carlo"}) {
    const std::string text = std::string(kArgon) + "pcoupl = \"" + kind +
                             "\"\n";  // of the last stage, which has no bath
    refused(text, "pcoupl", "E0751", "needs a temperature, and none is given", "give ref_t");
    write("case.toml", text + "ref_t = \"120 K\"\n");
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
    write("case.toml", text + "integrator = \"sd\"\n");
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
  }
  write("case.toml", std::string(kArgon) + "pcoupl = \"parrinello-rahman\"\n");
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0) << "it asks for none";
}

/// 64 waters whose sum is whole to 1e-3 of the force between two charges as near as a bond: cut
/// short by each of its keys, and by a cut-off that the grid does not follow.
TEST_F(MdWords, SumsThatAreCutShortAreDoubted) {
  const auto doubted = [&](const std::string& line, const std::string& key, const std::string& says,
                           const std::string& text = kWater) {
    write("case.toml", line + text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << line << o.err;
    EXPECT_TRUE(holds(o.err, at(line + text, key)) && holds(o.err, "warning E0758") &&
                holds(o.err, says))
        << line << o.err;
  };
  doubted("ewald_beta = \"3 1/nm\"\n", "ewald_beta", "ewald_beta of 4.");
  doubted("ewald_rtol = 1e-2\n", "ewald_rtol", "leaves erfc(beta rcoulomb) = 0.01");
  doubted("coulombtype = \"ewald\"\newald_kmax = \"20 1/nm\"\n", "ewald_kmax", "ewald_kmax of ");
  doubted("fourierspacing = \"0.2 nm\"\n", "fourierspacing", "fourierspacing of 0.1");
  doubted("fourier_grid = [8, 0, 0]\n", "fourier_grid", "8 x 12 x 12 points");
  doubted("", "rcoulomb", "a larger rcoulomb", changed("0.6 nm", "0.45 nm", kWater));
  const std::string pressed = "tcoupl = \"v-rescale\"\npcoupl = \"c-rescale\"\n";
  doubted(pressed, "rcoulomb", "pressures are off by about -");
  doubted(pressed + "fourierspacing = \"0.12 nm\"\n", "fourierspacing", "% of the volume");
  refused("ewald_beta = \"0.5 1/nm\"\n" + std::string(kWater), "ewald_beta", "E0752",
          "root mean square", "ewald_beta of ");
  refused("coulombtype = \"ewald\"\newald_kmax = \"5 1/nm\"\n" + std::string(kWater), "ewald_kmax",
          "E0752", "exp(-(kmax/2 beta)^2)");
  for (const std::string& text :
       {std::string(kWater), "coulombtype = \"ewald\"\n" + std::string(kWater),
        "coulombtype = \"reaction-field\"\n" + std::string(kWater),
        pressed + "fourierspacing = \"0.08 nm\"\n" + kWater}) {
    write("case.toml", text);
    EXPECT_FALSE(holds(tessera({"check", "case.toml"}).err, "E0758")) << text;
  }
}

TEST_F(MdWords, MessagesStandAtTheKeyAtFault) {
  const auto shift = [](const std::string& word) {
    return std::string("coulomb_modifier = \"") + word + "\"\n" + kWater;
  };
  for (const char* word : {"force-switch", "potential-switch"})  // of Lennard-Jones alone
    refused(shift(word), "coulomb_modifier", "E0215",
            "one of \"none\", \"potential-shift\", \"force-shift\"");
  refused(shift("force-shift"), "coulomb_modifier", "E0751",
          "does not go with coulombtype = \"pme\"");
  refused("coulombtype = \"pme\"\nbox = \"none\"\n" + std::string(kWater), "coulombtype", "E0752",
          "is a sum over a periodic box, and there is none",
          "coulombtype = \"cut-off\" with rcoulomb = \"inf\"");
  refused("box = \"none\"\n" + std::string(kWater), "app", "E0752",
          "coulombtype = \"pme\" is a sum over a periodic box");
  const std::string pressed = std::string(kWater).replace(
      std::string(kWater).find("nsteps"), 0, "tcoupl = \"v-rescale\"\npcoupl = \"c-rescale\"\n");
  const auto with = [&](const std::string& old, const std::string& now, const std::string& more) {
    return changed(old, now + more, pressed);
  };
  const std::string barostat = "pcoupl = \"c-rescale\"\n";
  refused(with(barostat, "pcoupl = \"parrinello-rahman\"\n",
               "pcoupltype = \"semiisotropic\"\nref_p = [\"1 bar\", \"1 bar\", \"2 bar\"]\n"),
          "ref_p", "E0751", "takes one pressure for all directions", "pcoupl = \"c-rescale\"");
  refused(with(barostat, barostat, "ref_p = [\"1 bar\", \"1 bar\", \"2 bar\"]\n"), "ref_p", "E0751",
          "edges that scale together take one pressure, not 1, 1, 2 bar", "pcoupltype");
  refused(with(barostat, barostat, "compressibility = \"0 1/bar\"\n"), "compressibility", "E0751",
          "every compressibility is 0, so the box cannot change");
  refused(with(barostat, "pcoupl = \"parrinello-rahman\"\n", "mts = true\n"), "mts", "E0751",
          "takes all forces in every step");
  refused(changed("tcoupl = \"v-rescale\"", "tcoupl = \"andersen\"\ntau_t = \"1 fs\"", pressed),
          "tau_t", "E0751", "is shorter than a step");
  for (const std::string bath : {"berendsen", "nose-hoover"})
    refused(
        changed("tcoupl = \"v-rescale\"", "tcoupl = \"" + bath + "\"\ntau_t = \"1 fs\"", pressed),
        "tau_t", "E0751",
        "the time of tcoupl = \"" + bath + "\", 0.001 ps, is shorter than a step");
  // What the topology cannot have: one atom whose motion is removed, hydrogens heavier than what
  // they are bound to, halves of a rigid molecule.
  refused(changed("cells = 3", "lattice = \"simple\"\ncells = 1",
                  changed("edge = \"0.58 nm\"", "edge = \"2 nm\"")),
          "[[stage]]\nname = \"warm\"", "E0751", "no degrees of freedom are left of 1 atoms");
  refused(std::string("hydrogen_mass = \"9 amu\"\n") +
              "app = \"molecular.dynamics\"\nforcefield = [\"" +
              (fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular/peptides.xml").string() +
              "\"]\nadd_hydrogens = true\nstructure = \"" +
              (fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular/alanine.pdb").string() +
              "\"\ncoulombtype = \"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\nnsteps = 1\n",
          "hydrogen_mass", "E0751", "less than its hydrogens'");
  refused(
      "tcoupl = \"v-rescale\"\ntc_grps = [\"element O\", \"element H\"]\n" + std::string(kWater),
      "tc_grps", "E0751", "in two temperature groups");
  refused(std::string("rcoulomb = \"0.8 nm\"\n") + changed("rcoulomb = \"0.6 nm\"\n", "", kWater),
          "rcoulomb", "E0752", "more than half of the box's smallest width");
  refused("fourier_grid = [4096, 4096, 4096]\n" + std::string(kWater), "fourier_grid", "E0752",
          "grid");
  refused("fourier_grid = [20, 4, 20]\n" + std::string(kWater), "fourier_grid", "E0752",
          "a grid of 4 points is too coarse for splines of order 5");
  refused("ewald_beta = \"31 1/nm\"\n" + std::string(kWater), "ewald_beta", "E0752",
          "take at most 16.66/nm");
}

TEST_F(MdWords, WordsOfOtherProgramsSayTheirWay) {
  const auto refused = [&](const std::string& line, const std::string& hint) {
    write("case.toml", std::string(kWater) + line);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << line;
    EXPECT_TRUE(holds(o.err, hint)) << line << "\n" << o.err;
  };
  refused("[[stage]]\ntcoupl = \"Langevin\"\n",
          "hint: Langevin's is integrator = \"sd\", which has its own bath");
  refused("[[stage]]\nnsteps = 1e3\n", "hint: write 1000");
  refused("[[stage]]\nrvdw = \"9 A\"\n", "write \"9 angstrom\"");
  refused("[[stage]]\nref_p = \"1 atmosphere\"\n", "hint: write 'atm'");
}

/// Both keys are named, and the place is that of one of them.
TEST_F(MdWords, KeysThatDoNotGoTogetherAreBothNamed) {
  const auto with = [](const std::string& keys) { return keys + "\n" + kWater; };
  const std::string times = "annealing_time = [\"0 ps\", \"0.01 ps\"]",
                    temperatures = "annealing_temp = [\"300 K\", \"250 K\"]",
                    bath = "tcoupl = \"v-rescale\"\n", heat = "heat_from = \"50 K\"\n";
  refused(with(bath + heat + times + "\n" + temperatures), "heat_from", "E0751",
          "heat_from and annealing_time are both given");
  refused(with(bath + heat + temperatures), "heat_from", "E0751",
          "heat_from and annealing_temp are both given");
  for (const auto& [one, key] :
       {std::pair{times, "annealing_time"}, {temperatures, "annealing_temp"}}) {
    refused(with(bath + one), key, "E0751", "annealing_time and annealing_temp belong together");
    refused(with(one), key, "E0751", "there is no thermostat to heat with", "give tcoupl");
  }
  refused(with("comm_mode = \"angular\""), "comm_mode", "E0751",
          "comm_mode = \"angular\" is for vacuum", "box = \"none\"");
  refused(with("mts = true\ncoulombtype = \"reaction-field\""), "mts", "E0751",
          "coulombtype = \"reaction-field\"");
  refused(with("mts = true\nmts_level2_factor = 3\n" + bath + "pcoupl = \"c-rescale\""),
          "mts_level2_factor", "E0751",
          "10 steps of nstpcouple are no multiple of mts_level2_factor, 3");
  refused(with("mts = true\nnstpcouple = 5\n" + bath + "pcoupl = \"c-rescale\""), "nstpcouple",
          "E0751", "5 steps of nstpcouple are no multiple of mts_level2_factor, 2");
  refused(changed("dt = \"2 fs\"", "dt = \"600 fs\"\ntcoupl = \"andersen\"", kWater), "tcoupl",
          "E0751", "is shorter than a step");
}

/// Rigid bodies are frozen as a whole, and minimized by methods that keep them.
TEST_F(MdWords, WhatRigidWaterDoesNotTakeNamesIt) {
  for (const char* key : {"freeze_x", "freeze_y", "freeze_z"})
    for (const char* more : {"", "integrator = \"l-bfgs\"\n"})
      refused(more + std::string(key) + " = \"serial 7 to 9\"\n" + kWater, key, "E0751",
              key + std::string(" holds atom 7 (O of HOH 3), which is part of a rigid water"),
              "rigid_water = false");
  // Of several keys the one that holds the atom.
  refused("freeze = \"serial 1 to 3\"\nfreeze_x = \"serial 7\"\n" + std::string(kWater), "freeze_x",
          "E0751", "freeze_x holds atom 7");
  refused("integrator = \"newton-cg\"\n" + std::string(kWater), "integrator", "E0751",
          "takes neither rigid bonds (rigid_water, constraints)", "l-bfgs");
  refused("freeze = \"all\"\n" + std::string(kWater), "freeze", "E0751",
          "with freeze nothing is left to move");
}

/// Sites are where the atoms are that they are made from, and neither held nor frozen.
TEST_F(MdWords, SitesAloneAreNotHeld) {
  for (const char* key : {"posres", "freeze", "freeze_y"})
    refused(std::string(key) + " = \"name M\"\n" + changed("spce", "tip4pew", kWater), key, "E0751",
            key + std::string(" means virtual sites alone"));
  write("case.toml", "posres = \"name O M\"\n" + changed("spce", "tip4pew", kWater));
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
}

/// Where no step follows, a bath that heats is at its first temperature, of which velocities are
/// drawn.
TEST_F(MdWords, HeatingOverNoStepIsItsBeginning) {
  const std::string heat = "tcoupl = \"v-rescale\"\nheat_from = \"50 K\"\nref_t = \"300 K\"\n",
                    water = changed("gen_temp = \"10 K\"\n", "gen_vel = true\n",
                                    changed("nsteps = 20", "nsteps = 0", kWater));
  for (const std::string groups : {"", "tc_grps = [\"serial 1 to 96\", \"serial 97 to 192\"]\n"}) {
    write("case.toml", heat + groups + water);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
    ASSERT_EQ(o.code, 0) << o.err;
    // 381 degrees of freedom: a temperature wavers by sqrt(2/381) = 7 %; four of them are allowed.
    EXPECT_NEAR(table("RUN/1_dynamics/energies.csv").at("temperature_k").at(0), 50, 15);
    fs::remove_all(here() / "RUN");
  }
}

/// What a case expects is known before its first step, at the words that ask for it.
TEST_F(MdWords, UnknownQuantitiesAreRefusedBeforeTheRun) {
  const auto expecting = [](const std::string& what) {
    return std::string(kWater) + "[[stage]]\nname = \"down\"\ntype = \"minimize\"\n" +
           "[[stage]]\nname = \"free\"\nnstenergy = 10\n[[expect]]\nvalue = 0\ntolerance = 1e9\n" +
           what;
  };
  refused(expecting("quantity = \"pressure\"\n"), "quantity", "E0754",
          "stage 'free' finds no 'pressure'", "did you mean pressure_bar");
  refused(expecting("quantity = \"temprature\"\n"), "quantity", "E0754",
          "stage 'free' finds no 'temprature'", "temperature_k");
  refused(expecting("quantity = \"conserved\"\nstage = \"down\"\n"), "quantity", "E0754",
          "stage 'down' finds no 'conserved'", "largest_force_kj_mol_nm");
  refused(expecting("quantity = \"drift\"\nstage = \"down\"\n"), "quantity", "E0754",
          "stage 'down' finds no 'drift'");
  refused(expecting("quantity = \"drift\"\n"), "quantity", "E0754",
          "a drift needs 4 rows of energies, stage 'free' has 3", "a smaller nstenergy");
  refused(expecting("quantity = \"potential\"\nstage = \"up\"\n"), "stage = \"up", "E0751",
          "there is no stage 'up'");
  refused(expecting("quantity = \"potential\"\nfirst = true\nlast = true\n"), "last = true",
          "E0751", "first and last ask for two values", "an [[expect]] of its own");
  // Whatever a run finds may be expected.
  write("case.toml", expecting("quantity = \"potential\"\n"));
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  for (const auto& [stage, folder] : {std::pair{"down", "1_down"}, {"free", "2_free"}})
    for (const auto& [column, values] : table("RUN/" + std::string(folder) + "/energies.csv")) {
      write("case.toml", expecting("quantity = \"" + column + "\"\nstage = \"" + stage + "\"\n"));
      EXPECT_EQ(tessera({"check", "case.toml"}).code, 0) << stage << " " << column;
    }
}

/// A time of a barostat is long beside what lies between its changes of the box.
TEST_F(MdWords, BarostatsTakeASmallPartOfTheirTime) {
  const auto pressed = [](const std::string& tau_p) {
    return "tcoupl = \"v-rescale\"\npcoupl = \"c-rescale\"\nnstpcouple = 10\n"
           "tau_p = \"" +
           tau_p + "\"\n" + std::string(kWater);
  };
  refused(pressed("0.019 ps"), "tau_p", "E0751", "is shorter than the 0.02 ps between");
  warned(pressed("0.19 ps"), "tau_p", "is less than ten times the 0.02 ps between");
  write("case.toml", pressed("0.2 ps"));
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_FALSE(holds(o.out + o.err, "tau_p of")) << o.out << o.err;
}

/// Steps beyond 2^31 have no place in some files; the last that is written counts.
TEST_F(MdWords, StepsThatFilesHaveNoPlaceForAreRefused) {
  const auto steps = [](const std::string& n, const std::string& format) {
    return "nsteps = " + n + "\n" +
           changed("nsteps = 20\nnstxout = 5\n", "nstxout = 1000000000\n", kWater) +
           "[output]\ntrajectory = [\"" + format + "\"]\n";
  };
  for (const char* format : {"xtc", "trr", "dcd"}) {
    refused(steps("3000000000", format), "nsteps", "E0751", "have no place for those beyond 2^31");
    write("case.toml", steps("2999999999", format));
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0) << format;
  }
  for (const char* format : {"h5md", "nc"}) {
    write("case.toml", steps("3000000000", format));
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0) << format;
  }
}

/// What a file has no place for has an error of its own: no step has failed.
TEST_F(MdWords, WhatATrajectoryHasNoPlaceForIsNoFailedStep) {
  write("case.toml", std::string(kWater) + "[output]\nxtc_precision = \"1e10 1/nm\"\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "error E0751") && holds(o.err, "[xtc]") &&
              holds(o.err, "another format") && !holds(o.err, "minimize first"))
      << o.err;
  EXPECT_FALSE(fs::exists(here() / "RUN/1_dynamics/why.txt"));
}

/// A time is as many steps as come nearest to it; none of a time above zero is refused.
TEST_F(MdWords, TimesThatAreNoWholeStepsAreTold) {
  const auto water = [](const char* duration) {
    return changed("nsteps = 20", std::string("duration = \"") + duration + "\"", kWater);
  };
  refused(water("0.9 fs"), "duration", "E0751", "the duration of 0.0009 ps is no step of 0.002 ps",
          "nsteps = 0");
  refused(water("1e8 s"), "duration", "E0751",
          "the duration of 1e+20 ps is 5e+22 steps of 0.002 ps; a stage has fewer than 9.22337e+18",
          "the time of the atoms");
  warned(water("0.0431 ps"), "duration",
         "0.0431 ps are no whole number of steps of 0.002 ps: 22 steps are taken, 0.044 ps");
  for (const char* good : {"0.044 ps", "44 fs", "0 ps", "123.456 ns", "2 fs"}) {
    write("case.toml", "nstlog = 0\n" + water(good));
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_TRUE(o.code == 0 && !holds(o.err, "E0757")) << good << o.err;
  }
}

TEST_F(MdWords, CoulombConstantsAreNamesOrPositiveNumbers) {
  const auto water = [](const std::string& word) {
    return "coulomb_constant = \"" + word + "\"\n" + kWater;
  };
  for (const char* bad : {"inf", "infinity", "nan", "0", "-138.9", "1e400", "138.9 kJ"})
    refused(water(bad), "coulomb_constant", "E0751",
            "'" + std::string(bad) + "' is neither a name nor a positive number");
  for (const char* good : {"file", "charmm", "138.9"}) {
    write("case.toml", water(good));
    EXPECT_EQ(tessera({"check", "case.toml"}).code, 0) << good;
  }
}

/// Axes that scale apart turn the edges of a slanted box; which do is known before the run.
TEST_F(MdWords, SlantedBoxesThatScaleApartAreTold) {
  write("ion.top",
        "[ defaults ]\n1 2 yes 1 1\n[ atomtypes ]\nNA 11 22.99 0 A 0.25 0.1\n[ moleculetype ]\nNA "
        "1\n[ atoms ]\n1 NA 1 NA NA 1 0\n[ system ]\nIon\n[ molecules ]\nNA 2\n");
  const auto box = [&](const std::string& numbers) {
    write(
        "ion.gro",
        "Ions\n    2\n    1NA      NA    1   0.500   0.500   0.500\n    2NA      NA    2   1.500   "
        "1.500   1.500\n" +
            numbers + "\n");
  };
  const auto pressed = [](const std::string& type, const std::string& compressibility) {
    return "app = \"molecular.dynamics\"\ntopology = \"ion.top\"\nstructure = \"ion.gro\"\n"
           "coulombtype = \"cut-off\"\nnsteps = 10\ntcoupl = \"v-rescale\"\npcoupl = "
           "\"c-rescale\"\npcoupltype = \"" +
           type + "\"\ncompressibility = " + compressibility + "\n";
  };
  const std::string all = "\"4.5e-5 1/bar\"", none = "\"0 1/bar\"";
  const auto list = [](const std::string& x, const std::string& y, const std::string& z) {
    return "[" + x + ", " + y + ", " + z + "]";
  };
  const auto silent = [&](const std::string& text) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_TRUE(o.code == 0 && !holds(o.out + o.err, "slanted")) << text << o.out << o.err;
  };
  const char* says = "its angles change";
  box(" 4.0 3.4641 5.0 0.0 0.0 -1.9 0.0 0.0 0.0");  // its second edge has x and y
  warned(pressed("anisotropic", all), "pcoupltype", says);
  warned(pressed("anisotropic", list(all, none, none)), "pcoupltype", says);
  warned(pressed("anisotropic", list(none, all, none)), "pcoupltype", says);
  silent(pressed("anisotropic", list(none, none, all)));
  silent(pressed("semiisotropic", all));
  silent(pressed("isotropic", all));
  box(" 4.0 4.0 4.0 0.0 0.0 0.0 0.0 1.0 0.0");  // its third x and z
  warned(pressed("semiisotropic", list(none, none, all)), "pcoupltype", says);
  silent(pressed("anisotropic", list(none, all, none)));
  box(" 4.0 4.0 4.0");
  silent(pressed("anisotropic", all));
}

/// A barostat that makes the box smaller than two cut-offs: what helps is no minimization.
TEST_F(MdWords, ABoxThatShrinksBelowTwoCutOffsAsksForShorterOnes) {
  write("case.toml", std::string(kArgon) +
                         "ref_t = \"100 K\"\npcoupl = \"berendsen\"\ntau_p = \"0.1 ps\"\nref_p = "
                         "\"20000 bar\"\nnstpcouple = 1\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 7) << run.err;
  const std::string why = read("RUN/3_free/why.txt");
  EXPECT_TRUE(holds(why, "more than half of the box's smallest width")) << why;
  EXPECT_TRUE(holds(why, "a shorter cut-off (rvdw, rcoulomb), or a larger box") &&
              !holds(why, "minimize first"))
      << why;
}

TEST_F(MdWords, TheEstimateCountsTrajectories) {
  const std::string formats = "[\"xtc\", \"trr\", \"dcd\", \"nc\", \"h5md\"]";
  write("case.toml", std::string("nstlog = 0\n") + kWater + "[output]\ntrajectory = " + formats +
                         "\nvelocities = true\nforces = true\npictures = false\n");
  const std::vector<std::string> length = {"--set",     "nsteps=400", "--set",
                                           "nstxout=2", "--set",      "nstenergy=0"};
  std::vector<std::string> run = {"run", "case.toml", "--output", "RUN"};
  run.insert(run.end(), length.begin(), length.end());
  ASSERT_EQ(tessera(run).code, 0);
  double written = 0;
  for (const auto& entry : fs::recursive_directory_iterator(here() / "RUN/1_dynamics"))
    if (entry.is_regular_file() && entry.path().stem() == "trajectory")
      written += static_cast<double>(entry.file_size());
  ASSERT_GT(written, 5e6);
  std::vector<std::string> estimate = {"estimate", "case.toml", "--json"};
  estimate.insert(estimate.end(), length.begin(), length.end());
  const Outcome o = tessera(estimate);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::size_t key = o.out.find("disk");
  ASSERT_NE(key, std::string::npos) << o.out;
  const double told = std::stod(o.out.substr(o.out.find(':', key) + 1));
  EXPECT_GT(told, 0.9 * written) << o.out;
  EXPECT_LT(told, 1.4 * written) << o.out;
}

/// The pressure tensor in NVT, diagonal and off it; its trace is the pressure.
TEST_F(MdWords, ThePressureTensorIsWrittenInAnyEnsemble) {
  write("case.toml",
        std::string("tcoupl = \"v-rescale\"\n") + kWater + "[output]\npressure_tensor = true\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const auto e = table("RUN/1_dynamics/energies.csv");
  for (const char* column : {"pressure_xx_bar", "pressure_yy_bar", "pressure_zz_bar",
                             "pressure_xy_bar", "pressure_xz_bar", "pressure_yz_bar"})
    ASSERT_TRUE(e.contains(column)) << column;
  for (std::size_t k = 0; k < e.at("pressure_bar").size(); ++k) {
    EXPECT_NEAR(
        (e.at("pressure_xx_bar")[k] + e.at("pressure_yy_bar")[k] + e.at("pressure_zz_bar")[k]) / 3,
        e.at("pressure_bar")[k], 1e-9 * std::abs(e.at("pressure_bar")[k]) + 1e-6);
    EXPECT_NE(e.at("pressure_xy_bar")[k], 0);
  }
  write("case.toml", kWater);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "WITHOUT"}).code, 0);
  EXPECT_FALSE(table("WITHOUT/1_dynamics/energies.csv").contains("pressure_xx_bar"));
}

/// Chains have masses in proportion to the temperature of their bath.
TEST_F(MdWords, ChainsHaveNoBathAtZero) {
  const std::string chains = changed("v-rescale", "nose-hoover"), at_120 = "ref_t = \"120 K\"\n";
  const auto ramp = [&](const std::string& from, const std::string& to,
                        const std::string& begin = "0 ps") {
    return changed(at_120,
                   "annealing_time = [\"" + begin + "\", \"1 ps\"]\nannealing_temp = [\"" + from +
                       "\", \"" + to + "\"]\n",
                   chains);
  };
  const auto no_bath = [&](const std::string& text, const std::string& key) {
    refused(text, key, "E0751", "is no bath at 0 K", "tcoupl = \"v-rescale\"");
  };
  no_bath(changed("120 K", "0 K", chains), "ref_t");
  no_bath(changed(at_120, "heat_from = \"120 K\"\nref_t = \"0 K\"\n", chains), "ref_t");
  no_bath(changed(at_120,
                  "tc_grps = [\"index 0 to 53\", \"index 54 to 107\"]\ntc_ref_t = [\"120 K\", "
                  "\"0 K\"]\n",
                  chains),
          "tc_ref_t");
  no_bath(ramp("120 K", "0 K"), "annealing_temp");
  no_bath(ramp("0 K", "120 K", "0.5 ps"), "annealing_temp");
  for (const std::string& text : {changed("120 K", "0 K"), ramp("0 K", "120 K"),
                                  changed(at_120, "heat_from = \"0 K\"\n" + at_120, chains)}) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << text << o.err;
  }
}

TEST_F(MdWords, SumsAndTailsThatAreInfiniteAreRefused) {
  for (const char* kmax : {"2e3", "1e11"})
    refused("coulombtype = \"ewald\"\newald_kmax = \"" + std::string(kmax) + " 1/nm\"\n" + kWater,
            "ewald_kmax", "E0752", "more than the 1e+07 that a sum without a grid takes");
  const std::string at_0 = changed("0.7 nm", "0 nm", changed("force-switch", "potential-switch"));
  refused("DispCorr = \"EnerPres\"\n" + at_0, "rvdw_switch", "E0751", "lacks an infinite energy",
          "DispCorr = \"no\"");
  warned(at_0, "rvdw_switch", "its well included");
}

}  // namespace
