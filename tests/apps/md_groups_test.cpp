// SPDX-License-Identifier: Apache-2.0
// Choices of atoms in cases of molecular.dynamics: what stays, what has a bath of its own, what is
// held and what is written.
#include "md_case.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;
namespace fs = std::filesystem;
namespace mol = tessera::molecular;

namespace {

class MdGroups : public Md {
 protected:
  /// kArgon with other text in place of some of it.
  static std::string changed(const std::string& old, const std::string& now) {
    std::string out = kArgon;
    out.replace(out.find(old), old.size(), now);
    return out;
  }
};

TEST_F(MdGroups, FrozenAtomsStay) {
  write("case.toml", "freeze = \"serial 1 to 10\"\nfreeze_z = \"index 20\"\n" +
                         changed("[\"xtc\", \"dcd\"]", "[\"h5md\"]"));
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out, "11 frozen")) << check.out << check.err;
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* stage : {"2_warm", "3_free"}) {
    const std::vector<mol::Snapshot> f = frames(fs::path("RUN") / stage / "trajectory.h5md");
    ASSERT_GE(f.size(), 2u);
    const auto &first = f.front().frame.x_nm, &last = f.back().frame.x_nm;
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(first[i], last[i]) << stage << " atom " << i;
    EXPECT_EQ(first[20][2], last[20][2]) << stage;
    EXPECT_NE(first[20][0], last[20][0]) << stage;
    EXPECT_GT(std::hypot(first[30][0] - last[30][0], first[30][1] - last[30][1],
                         first[30][2] - last[30][2]),
              1e-3)
        << stage;
  }
  const auto e = table("RUN/3_free/energies.csv");
  for (const double c : e.at("conserved"))
    EXPECT_NEAR(c, e.at("conserved").front(), 2e-3 * e.at("kinetic").front());
}

TEST_F(MdGroups, RigidWatersThatAreFrozenAreNoLongerConstraints) {
  write("case.toml", std::string("freeze = \"resid 1 to 5\"\n") + kWater);
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out, "59 rigid waters, 0 atoms held, 15 frozen"))
      << check.out << check.err;
  EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  write("half.toml", std::string("freeze = \"element O\"\n") + kWater);
  const Outcome half = tessera({"check", "half.toml"});
  EXPECT_EQ(half.code, 5);
  EXPECT_TRUE(
      holds(half.err, "half.toml:1:") &&
      holds(half.err, "freeze holds atom 1 (O of HOH 1), which is part of a rigid water or bond"))
      << half.err;
}

TEST_F(MdGroups, BathsBySelectionsKeepTheirTemperatures) {
  const std::string two =
      "tcoupl = \"v-rescale\"\ntc_grps = [\"index 0 to 53\", \"not index 0 to 53\"]\ntc_ref_t = "
      "[\"50 K\", \"120 K\"]\ntc_tau_t = [\"0.02 ps\", \"0.02 ps\"]";
  write("case.toml", changed("tcoupl = \"v-rescale\"", two));
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto e = table("RUN/2_warm/energies.csv");
  ASSERT_TRUE(e.contains("index_0_to_53_temperature_k") &&
              e.contains("not_index_0_to_53_temperature_k"));
  const auto mean = [&](const char* column) {
    double sum = 0;
    for (const double v : e.at(column)) sum += v / static_cast<double>(e.at(column).size());
    return sum;
  };
  // 31 rows of a temperature that wavers by T sqrt(2/160) = 11 %; half of them independent: 3 %,
  // four of which are allowed.
  EXPECT_NEAR(mean("index_0_to_53_temperature_k"), 50, 6);
  EXPECT_NEAR(mean("not_index_0_to_53_temperature_k"), 120, 14);
}

/// Atoms that do not feel each other, by sd: one half meets its bath every 0.02 ps, the other one
/// hardly ever.
TEST_F(MdGroups, FrictionOfSdIsThatOfEachGroup) {
  write("case.toml",
        "app = \"molecular.dynamics\"\nintegrator = \"sd\"\ntc_grps = [\"index 0 to 53\", \"not "
        "index 0 to 53\"]\ntc_tau_t = [\"0.02 ps\", \"1000 ps\"]\nref_t = \"120 K\"\ndt = \"4 "
        "fs\"\nnsteps = 300\ngen_temp = \"10 K\"\n"
        "coulombtype = \"none\"\nrvdw = \"0.8 nm\"\nnstenergy = 10\nnstxout = "
        "0\n[lennard_jones]\nepsilon = \"0 kJ/mol\"\n[build]\ncells = 3\nedge = \"0.58 nm\"\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto e = table("RUN/1_dynamics/energies.csv");
  EXPECT_NEAR(e.at("index_0_to_53_temperature_k").back(), 120, 4 * 120 * std::sqrt(2 / 162.0));
  // 110 K (1 - exp(-2.4 ps/1000 ps)) more, and a spread of 2 sqrt(10 * 0.26/162).
  EXPECT_NEAR(e.at("not_index_0_to_53_temperature_k").back(), 10.26, 1.1);
}

/// What heats goes to each group's own temperature; one table of temperatures is one for all
/// groups.
TEST_F(MdGroups, RampsOfGroupsEndAtTheirOwnTemperatures) {
  const std::string two =
      "tcoupl = \"berendsen\"\ntc_grps = [\"index 0 to 53\", \"not index 0 to 53\"]\ntc_ref_t = "
      "[\"100 K\", \"200 K\"]\ntau_t = \"0.01 ps\"\n";
  std::string text =
      changed("tcoupl = \"v-rescale\"\ntau_t = \"0.2 ps\"", two + "heat_from = \"20 K\"");
  write("case.toml", text);
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto e = table("RUN/2_warm/energies.csv");
  // A bath of 2.5 steps holds temperatures to what a few steps between two groups of atoms that
  // touch exchange.
  const auto &cold = e.at("index_0_to_53_temperature_k"),
             &warm = e.at("not_index_0_to_53_temperature_k");
  EXPECT_NEAR(cold.front(), 20, 5);
  EXPECT_NEAR(warm.front(), 20, 5);
  EXPECT_NEAR(cold[cold.size() / 2], 60, 8);
  EXPECT_NEAR(warm[warm.size() / 2], 110, 12);
  EXPECT_NEAR(cold.back(), 100, 10);
  EXPECT_NEAR(warm.back(), 200, 18);
  write("case.toml",
        changed(
            "tcoupl = \"v-rescale\"\ntau_t = \"0.2 ps\"",
            two + "annealing_time = [\"0 ps\", \"1 ps\"]\nannealing_temp = [\"10 K\", \"20 K\"]"));
  const Outcome refused = tessera({"check", "case.toml"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_TRUE(holds(refused.err, "E0751") &&
              holds(refused.err, "one temperature for all of tc_grps"))
      << refused.err;
}

TEST_F(MdGroups, EveryAtomHasOneBathAndChoicesMeanSomething) {
  const auto refused = [&](const std::string& text, const char* number, const std::string& says) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << text;
    EXPECT_TRUE(holds(o.err, number) && holds(o.err, says)) << says << "\n" << o.err;
  };
  const auto baths = [](const std::string& groups) {
    return changed("tcoupl = \"v-rescale\"", "tcoupl = \"v-rescale\"\ntc_grps = " + groups);
  };
  refused(baths("[\"index 0 to 53\", \"index 60 to 107\"]"), "E0751",
          "atom 55 (Ar of Ar 55) is in none of the groups with baths");
  refused(baths("[\"index 0 to 53\", \"index 50 to 107\"]"), "E0751",
          "atom 51 (Ar of Ar 51) is in 'index 0 to 53' and in 'index 50 to 107'");
  refused(baths("[\"all\", \"protein\"]"), "E0751", "'protein' means no atom");
  refused(baths("[\"indx 4\"]"), "E0760", "did you mean 'index'");
  refused(baths("[\"all\"]\ntc_ref_t = [\"1 K\", \"2 K\"]"), "E0751", "2 values for 1 of tc_grps");
  refused(changed("output.trajectory", "output.select = \"name AR\"\noutput.trajectory"), "E0751",
          "'name AR' means no atom");
  refused("freeze_y = \"index 0 to\"\n" + std::string(kArgon), "E0760", "case.toml:1:");
  refused("posres = \"heavy and\"\n" + std::string(kArgon), "E0760", "column 9 of");
  write("case.toml", "posres = \"index 3 4\"\n" + std::string(kArgon));
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).out, "2 atoms held"));
}

TEST_F(MdGroups, TrajectoriesHoldTheAtomsChosen) {
  const std::string text = std::string("nstlog = 10\n") + kWater +
                           "[output]\nselect = \"element O\"\ntrajectory = [\"xtc\", \"trr\", "
                           "\"dcd\", \"h5md\", \"pvd\"]\nvelocities = true\nforces = true\n";
  write("case.toml", text);
  write("whole.toml", std::string("nstlog = 10\n") + kWater +
                          "[output]\ntrajectory = [\"trr\"]\nvelocities = true\nforces = true\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  ASSERT_EQ(tessera({"run", "whole.toml", "--output", "WHOLE"}).code, 0);
  const std::vector<mol::Snapshot> all = frames("WHOLE/1_dynamics/trajectory.trr"),
                                   some = frames("RUN/1_dynamics/trajectory.trr");
  ASSERT_EQ(all.size(), 5u);
  ASSERT_EQ(some.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    ASSERT_EQ(some[k].frame.x_nm.size(), 64u);
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(some[k].frame.x_nm[i], all[k].frame.x_nm[3 * i]);
      EXPECT_EQ(some[k].frame.v_nm_ps[i], all[k].frame.v_nm_ps[3 * i]);
    }
  }
  for (const char* name : {"trajectory.xtc", "trajectory.dcd", "trajectory.h5md"})
    EXPECT_EQ(frames(fs::path("RUN/1_dynamics") / name).at(4).frame.x_nm.size(), 64u) << name;
  const std::string shown = read("RUN/1_dynamics/trajectory.pdb");
  EXPECT_TRUE(holds(shown, " O   HOH    64 ")) << shown.substr(0, 500);
  EXPECT_FALSE(holds(shown, " H1 "));
  EXPECT_TRUE(fs::exists(here() / "RUN/1_dynamics/final.rst7"));
}

}  // namespace
