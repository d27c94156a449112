// SPDX-License-Identifier: Apache-2.0
// Multiple time steps in cases of molecular.dynamics.
#include "md_case.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MdSteps : public Md {};

const std::string kMany = std::string("mts = true\nmts_level2_factor = 4\nseed = 3\n") + kWater;
/// kWater has steps and rows that are multiples of 5.
const std::vector<std::string> kFours{"--set", "nsteps=40",
                                      "--set", "nstxout=8",
                                      "--set", "nstenergy=8",
                                      "--set", "nstlog=8",
                                      "--set", "output.trajectory=[\"trr\"]",
                                      "--set", "output.forces=true",
                                      "--set", "precision=\"f64\""};

TEST_F(MdSteps, RowsAndForcesAreThoseOfTheWholeAtTheFrame) {
  write("case.toml", kMany);
  std::vector<std::string> command{"run", "case.toml", "--output", "RUN"};
  command.insert(command.end(), kFours.begin(), kFours.end());
  const Outcome run = tessera(command);
  ASSERT_EQ(run.code, 0) << run.err;
  std::vector<std::string> again{"rerun", "case.toml", "RUN/1_dynamics/trajectory.trr", "-o",
                                 "AGAIN"};
  again.insert(again.end(), kFours.begin(), kFours.end());
  const Outcome looked = tessera(again);
  ASSERT_EQ(looked.code, 0) << looked.err;
  const auto e = table("RUN/1_dynamics/energies.csv"), f = table("AGAIN/1_rerun/energies.csv");
  ASSERT_EQ(e.at("potential").size(), 6u);
  for (const char* term : {"lj", "coulomb_short", "coulomb_reciprocal", "potential"})
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(e.at(term)[k], f.at(term)[k], 1e-8 * std::abs(e.at("potential")[k]))
          << term << " " << k;
  const auto x = frames("RUN/1_dynamics/trajectory.trr"), y = frames("AGAIN/1_rerun/forces.trr");
  ASSERT_EQ(x.size(), 6u);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t i = 0; i < 192; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(x[k].f[i][c], y[k].f[i][c], 1e-4)
            << k << " atom " << i;  // of some 1000, positions moved by 1e-9 by constraints
}

/// Rigid waters turn by forces within them, of which the pressure takes none: the slow ones once,
/// however hard they kick.
TEST_F(MdSteps, ThePressureIsThatOfPlainSteps) {
  std::vector<double> pressure;
  for (const std::string mts : {"false", "true"}) {
    write("case.toml", kMany);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN" + mts, "--set", "mts=" + mts,
                               "--set", "dt=0.001 fs", "--set", "nsteps=8", "--set", "nstenergy=8",
                               "--set", "nstxout=0", "--set", "precision=\"f64\""});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto e = table("RUN" + mts + "/1_dynamics/energies.csv");
    pressure.insert(pressure.end(), {e.at("pressure_bar").front(), e.at("pressure_bar").back()});
  }
  // Steps so short that half kicks by slow forces change the kinetic energy by 1e-5 of its own.
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(pressure[k + 2], pressure[k], 1e-4 * std::abs(pressure[k]) + 0.1) << k;
}

TEST_F(MdSteps, StoppedItGoesOnBitByBit) {
  write("case.toml", kMany);
  const std::vector<std::string> longer{"--set", "nsteps=4000",  "--set", "nstxout=400",
                                        "--set", "nstenergy=40", "--set", "nstlog=0"};
  std::vector<std::string> whole{"run", "case.toml", "--output", "whole"},
      parts{"run", "case.toml", "--output", "parts", "--max-time", "5 ms"};
  whole.insert(whole.end(), longer.begin(), longer.end());
  parts.insert(parts.end(), longer.begin(), longer.end());
  ASSERT_EQ(tessera(parts).code, 75);
  ASSERT_EQ(tessera(whole).code, 0);
  ASSERT_EQ(tessera({"resume", "parts", "--threads", "1"}).code, 0);
  EXPECT_EQ(read("parts/1_dynamics/energies.csv"), read("whole/1_dynamics/energies.csv"));
  EXPECT_EQ(read("parts/1_dynamics/trajectory.xtc"), read("whole/1_dynamics/trajectory.xtc"));
}

/// The forces with which a stage begins, and those that a row asks for, are no second part.
TEST_F(MdSteps, TheTimeOfAStageIsDividedIntoItsParts) {
  write("case.toml", std::string(kWater) +
                         "[[stage]]\ntype = \"minimize\"\nnsteps = 3\n[[stage]]\nnsteps = 2\n"
                         "nstenergy = 1\ntcoupl = \"v-rescale\"\npcoupl = \"c-rescale\"\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::istringstream log(read("RUN/log.txt"));
  std::vector<double> percent;
  for (std::string line; std::getline(log, line);)
    if (line.ends_with(" %")) percent.push_back(std::stod(line.substr(line.rfind(" s ") + 3)));
  ASSERT_EQ(percent.size(), 8u) << run.err;
  for (std::size_t k = 0; k < 8; k += 4)
    EXPECT_NEAR(percent[k] + percent[k + 1] + percent[k + 2] + percent[k + 3], 100, 0.25)
        << run.err;
}

/// As in GROMACS, whose exit code is 0: stages behind it go on. Who wants it held expects it.
TEST_F(MdSteps, AMinimizationAboveEmtolIsToldAndHeldWhereItIsExpected) {
  const std::string above = std::string(kWater) + "[[stage]]\ntype = \"minimize\"\nnsteps = 3\n";
  write("case.toml", above);
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(holds(run.err, "above emtol") && holds(run.err, "after all of its steps") &&
              holds(run.err, "[[expect]]"))
      << run.err;
  EXPECT_NE(table("RUN/1_minimize/energies.csv").at("state").back(), 1);
  write("case.toml", above +
                         "[[expect]]\nstage = \"minimize\"\nquantity = "
                         "\"largest_force_kj_mol_nm\"\nlast = true\nvalue = 0\ntolerance = 10\n");
  EXPECT_EQ(tessera({"run", "case.toml", "--output", "HELD"}).code, 6);
}

TEST_F(MdSteps, WhatDoesNotFitIsRefused) {
  const auto refused = [&](const std::string& set, const std::string& says) {
    write("case.toml", kMany);
    std::vector<std::string> command{"check", "case.toml"};
    command.insert(command.end(), kFours.begin(), kFours.end());
    command.insert(command.end(), {"--set", set});
    const Outcome o = tessera(command);
    EXPECT_EQ(o.code, 5) << set;
    EXPECT_TRUE(holds(o.err, "E0751") && holds(o.err, says)) << set << "\n" << o.err;
  };
  refused("coulombtype=\"reaction-field\"", "there are no slow forces");
  refused("nsteps=41", "the 41 steps of nsteps are no multiple of mts_level2_factor, 4");
  refused("nstenergy=10", "the 10 steps of nstenergy are no multiple of mts_level2_factor, 4");
  refused("pcoupl=\"c-rescale\"",
          "the 10 steps of nstpcouple are no multiple of mts_level2_factor, 4");
}

}  // namespace
