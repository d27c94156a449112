// SPDX-License-Identifier: Apache-2.0
// molecular.dynamics as its users meet it: from the example to results, killed and resumed, broken
// down, refused.
#include "md_case.h"
#include "test_data.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(Md, TheExampleKeepsItsPromise) {
  ASSERT_EQ(tessera({"new", "molecular.dynamics", "argon"}).code, 0);
  const Outcome check = tessera({"check", "argon/argon.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.out, "256 atoms")) << check.out;
  EXPECT_EQ(tessera({"estimate", "argon/argon.toml"}).code, 0);
  const std::vector<std::string> shorter{"--set", "stage[0].duration=1 ps", "--set",
                                         "stage[1].duration=1 ps"};
  std::vector<std::string> command{
      "run",   "argon/argon.toml",       "--output", "RUN",
      "--set", "expect[0].tolerance=40", "--set",    "expect[1].tolerance=40",
      "--set", "expect[2].tolerance=1"};
  command.insert(command.end(), shorter.begin(), shorter.end());
  const Outcome run = tessera(command);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(holds(run.err, "ns/day")) << run.err;
  for (const char* name : {"summary.csv", "results.h5", "1_equilibrate/energies.csv",
                           "2_free/final.rst7", "plots/free.png", "resolved.toml"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  const std::string before = read("RUN/plots/free.png");
  fs::remove(here() / "RUN/plots/free.png");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/free.png"), before);
  expect_files_known("RUN");
  command[3] = "BROKEN";
  command[5] = "expect[0].tolerance=1e-9";
  EXPECT_EQ(tessera(command).code, 6);
}

TEST_F(Md, StagesGoOnFromEachOther) {
  write("case.toml", kArgon);
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  auto minimize = table("RUN/1_minimize/energies.csv"), warm = table("RUN/2_warm/energies.csv"),
       free = table("RUN/3_free/energies.csv");
  EXPECT_LT(minimize["largest_force_kj_mol_nm"].back(), 1e-3);
  EXPECT_NEAR(warm["potential"].front(), minimize["potential"].back(), 1e-9);
  EXPECT_NEAR(free["potential"].front(), warm["potential"].back(), 1e-9);
  EXPECT_NEAR(free["time_ps"].front(), 1.2, 1e-12);
  EXPECT_NEAR(free["time_ps"].back(), 2.4, 1e-12);
  EXPECT_NEAR(warm["temperature_k"].front(), 120,
              4);  // drawn so; the row shows the mean of both half steps
  // Without a bath what is conserved is the total, which the step of 4 fs makes waver by less than
  // 1e-3 of the kinetic energy.
  for (const double e : free["conserved"])
    EXPECT_NEAR(e, free["conserved"].front(), 1e-3 * free["kinetic"].front());
}

TEST_F(Md, NoStageSharesItsRandomNumbersWithAnotherNorWithARunOfANeighbouringSeed) {
  std::string text = kArgon;
  text = text.substr(0, text.find("[[stage]]")) +
         "[[stage]]\nname = \"a\"\nnsteps = 0\n[[stage]]\nname = \"b\"\nnsteps = 0\n";
  text.insert(text.find("[lennard_jones]"), "gen_vel = true\nref_t = \"100 K\"\n");
  write("case.toml", text);
  for (const char* seed : {"5", "6"})
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", seed, "--set", std::string("seed=") + seed}).code,
        0);
  const std::string positions = read("5/1_a/final.rst7");
  for (const char* other : {"5/2_b/final.rst7", "6/1_a/final.rst7"})
    EXPECT_NE(read(other), positions) << other;
  EXPECT_NE(read("5/2_b/final.rst7"), read("6/1_a/final.rst7"));
}

TEST_F(Md, KilledAndResumedItIsTheSameOnAnyNumberOfThreads) {
  write("case.toml", kArgon);
  expect_same_after_kill("0.02 s");
  EXPECT_TRUE(results("whole").contains("3_free/energies.csv"));
  for (const char* name : {"2_warm/trajectory.xtc", "3_free/trajectory.xtc",
                           "3_free/trajectory.dcd", "3_free/final.rst7"}) {
    EXPECT_GT(fs::file_size(here() / "whole" / name), 1000u);
    EXPECT_EQ(read(fs::path("killed") / name), read(fs::path("whole") / name)) << name;
  }
}

/// Frames of a rerun take time and place, too; what is told is what is written, within headers.
TEST_F(Md, EstimatesKnowOfReruns) {
  std::string text = kArgon;
  text = text.substr(0, text.find("[[stage]]"));
  write("case.toml", text + "[[stage]]\nnsteps = 600\n");
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "RUN", "--set", "output.trajectory=[\"trr\"]"}).code,
      0);
  const std::string rerun =
      text + "[[stage]]\ntype = \"rerun\"\nframes = \"RUN/1_dynamics/trajectory.trr\"\n";
  write("again.toml", rerun);
  const std::vector<std::string> settings = {"--set", "output.forces=true", "--set",
                                             "output.trajectory=[\"trr\"]"};
  const auto with = [&](std::vector<std::string> command) {
    command.insert(command.end(), settings.begin(), settings.end());
    return command;
  };
  ASSERT_EQ(tessera(with({"run", "again.toml", "--output", "AGAIN"})).code, 0);
  double written = 0;
  for (const char* file : {"forces.trr", "energies.csv"})
    written += static_cast<double>(fs::file_size(here() / "AGAIN/1_rerun" / file));
  const auto told = [&](const std::vector<std::string>& command) {
    const Outcome o = tessera(command);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.out, "rerun: 61 frames")) << o.out;
    return nlohmann::json::parse(tessera([&] {
                                   std::vector<std::string> json = command;
                                   json.emplace_back("--json");
                                   return json;
                                 }())
                                     .out);
  };
  const nlohmann::json all = told(with({"estimate", "again.toml"})),
                       rows = told({"estimate", "again.toml"});
  const double states = 4.0 * 108 * 72;  // checkpoints
  EXPECT_NEAR(all["disk_bytes"].get<double>() - states, written, 0.2 * written);
  EXPECT_LT(rows["disk_bytes"].get<double>() - states, 0.1 * written);
  EXPECT_GT(all["seconds"].get<double>(), 0);
}

/// What a rerun finds in the frames of a trajectory is what the run that wrote it found there.
TEST_F(Md, ARerunFindsTheSameEnergies) {
  write("case.toml", kArgon);
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "RUN", "--set", "output.trajectory=[\"h5md\"]"})
          .code,
      0);
  std::string text = kArgon;
  text = "posres = \"all\"\n" + text.substr(0, text.find("[[stage]]")) +
         "[[stage]]\ntype = \"rerun\"\nframes = \"RUN/3_free/trajectory.h5md\"\n";
  write("again.toml", text);
  const Outcome again =
      tessera({"run", "again.toml", "--output", "AGAIN", "--set", "output.forces=true"});
  ASSERT_EQ(again.code, 0) << again.err;
  auto run = table("RUN/3_free/energies.csv"), frames = table("AGAIN/1_rerun/energies.csv");
  EXPECT_EQ(frames["lj"].size(), 31u);
  EXPECT_EQ(run["lj"], frames["lj"]);
  EXPECT_FALSE(frames.contains("position_restraints")) << "springs of stages that move";
  EXPECT_TRUE(fs::exists(here() / "AGAIN/1_rerun/forces.xtc"));
  // Its averages are those of all frames; the run leaves out that in which the stage begins.
  const auto average = [&](const std::string& summary, const std::string& row) {
    std::istringstream lines(read(summary));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(row)) return std::stod(line.substr(line.find(',', row.size()) + 1));
    return std::nan("");
  };
  double sum = 0;
  for (const double u : frames["lj"]) sum += u;
  EXPECT_NEAR(average("AGAIN/summary.csv", "rerun,lj,"), sum / 31, 1e-9 * std::abs(sum));
  EXPECT_NEAR(average("RUN/summary.csv", "free,lj,"), (sum - frames["lj"].front()) / 30,
              1e-9 * std::abs(sum));
  // What counts rows has no average: the first and the last of it.
  const std::string table_of_run = read("RUN/summary.csv");
  EXPECT_TRUE(holds(table_of_run, "\nfree,step,1,,,0,300\n") &&
              holds(table_of_run, "\nfree,time_ps,ps,,,1.2,2.4\n") &&
              holds(table_of_run, "\nminimize,state,1,,,1,1\n"))
      << table_of_run;
}

TEST_F(Md, StoppedItGoesOn) {
  std::string text = kArgon;
  text.replace(text.rfind("nsteps = 300"), 12,
               "nsteps = 6000");  // longer than the time given on any machine
  write("case.toml", text);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole"}).code, 0);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "parts", "--max-time", "10 ms"}).code, 75);
  const Outcome resumed = tessera({"resume", "parts"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read("parts/summary.csv"), read("whole/summary.csv"));
}

TEST_F(Md, AnEditedCaseIsNotGoneOnWith) {
  write("case.toml", kArgon);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "10 ms", "--set",
                     "stage[2].nsteps=1000000"})
                .code,
            75);
  expect_edit_refused("RUN", "\ndt = \"4 fs\"", "\ndt = \"8 fs\"", "dt=8 fs");
}

// Steps 295, 300 and 310 are, in this order, no step in which the longer run computes energies; one
// that it reports; one in which it computes energies but writes none. Frames of the trajectory,
// too, are those of the longer run.
TEST_F(Md, ALongerEndIsARunOfThatLength) {
  std::string text = kArgon;
  for (const char* key : {"nstenergy = 1", "nstxout = 1"})
    text[text.find(key) + std::string(key).size() - 1] = '2';
  write("case.toml", text);
  const std::string last = "stage[2].nsteps=600";
  for (const char* first : {"295", "300", "310"}) {
    SCOPED_TRACE(first);
    for (const char* run : {"long", "longer"}) fs::remove_all(here() / run);
    expect_same_after_extension(std::string("stage[2].nsteps=") + first, last);
    for (const char* name : {"3_free/trajectory.xtc", "3_free/trajectory.dcd", "3_free/final.rst7"})
      EXPECT_EQ(read(fs::path("longer") / name), read(fs::path("long") / name)) << name;
  }
  const auto refused = [&](const std::string& set, const std::string& why) {
    const Outcome o = tessera({"resume", "long", "--set", set});
    EXPECT_EQ(o.code, 5) << set << o.err;
    EXPECT_TRUE(holds(o.err, "error E0436") && holds(o.err, why)) << o.err;
  };
  refused("stage[2].nsteps=500", "stage 'free' is at step 600 already, past 500");
  refused("stage[1].nsteps=400", "stage 'warm' has ended");
}

TEST_F(Md, AHeatingStageHasOneEnd) {
  std::string text = kArgon;
  text.insert(text.rfind("nsteps = 300"),
              "tcoupl = \"v-rescale\"\nheat_from = \"10 K\"\nref_t = \"50 K\"\n");
  write("case.toml", text);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const Outcome o = tessera({"resume", "RUN", "--set", "stage[2].nsteps=400"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "another end is another ramp")) << o.err;
}

TEST_F(Md, AlanineDipeptideOfAmber) {
  const fs::path folder = test_data() / "md/amber";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  write("case.toml",
        "app = \"molecular.dynamics\"\ntopology = \"" + (folder / "ala2_vac.prmtop").string() +
            "\"\nstructure = \"" + (folder / "ala2_vac.rst7").string() +
            "\"\ncoulombtype = \"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\nnsteps = 0\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  auto e = table("RUN/1_dynamics/energies.csv");
  // kcal/mol; digits of an independent program, and sums of contributions that are each rounded to
  // 2^-32 kJ/mol.
  for (const auto& [name, kcal] : {std::pair{"bonds", 0.0205983150048},
                                   {"angles", 0.361950366109},
                                   {"pairs_lj", 5.01569168647},
                                   {"pairs_coulomb", 48.9354638123},
                                   {"lj", 2.81198590139},
                                   {"coulomb_short", -80.1237986438}})
    EXPECT_NEAR(e[name].at(0), 4.184 * kcal, 1e-10 * std::abs(4.184 * kcal) + 4e-9) << name;
  // The same positions from NetCDF, whatever the file is called.
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "NC", "--set", "output.final=[\"ncrst\"]"}).code, 0);
  for (const char* name : {"again.ncrst", "again.rst7"}) {
    fs::copy_file(here() / "NC/1_dynamics/final.ncrst", here() / name);
    const Outcome again = tessera({"run", "case.toml", "--output", std::string("R_") + name,
                                   "--set", std::string("structure=\"") + name + "\""});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_NEAR(table(std::string("R_") + name + "/1_dynamics/energies.csv").at("potential").at(0),
                e.at("potential").at(0), 1e-8);
  }
}

TEST_F(Md, ABreakdownExplainsItself) {
  write("case.toml", kArgon);
  const Outcome run =
      tessera({"run", "case.toml", "--output", "RUN", "--set", "stage[1].dt=0.1 ps"});
  EXPECT_EQ(run.code, 7) << run.err;
  const std::string why = read("RUN/2_warm/why.txt");
  for (const char* part : {"stage 2 ('warm') failed at step", "the largest force before it",
                           "atom ", "neighbour ", "Lennard-Jones", "what to try"})
    EXPECT_TRUE(holds(why, part)) << part << "\n" << why;
  EXPECT_TRUE(fs::exists(here() / "RUN/2_warm/last_good.rst7"));
  EXPECT_TRUE(holds(read("RUN/manifest.json"), "blow-up"));
}

TEST_F(Md, AtomsUponEachOtherAreNamed) {
  write("two.xyz",
        "3\nLattice=\"30 0 0 0 30 0 0 0 30\"\nAr 1 1 1\nAr 20 20 20\nAr 1 1.002 31.001\n");
  write("case.toml",
        "app = \"molecular.dynamics\"\nstructure = \"two.xyz\"\ncoulombtype = \"none\"\nnsteps = "
        "5\n[lennard_jones]\n");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 4) << run.err;
  EXPECT_TRUE(holds(run.err, "error E0755")) << run.err;
  EXPECT_TRUE(holds(run.err, "atoms 1 (Ar of Ar 1) and 3 (Ar of Ar 3) 0.0002 nm apart")) << run.err;
}

/// An XYZ file may have any cell: it and its atoms are turned, which changes no energy.
TEST_F(Md, CellsOfXyzFilesMayLieInAnyDirection) {
  // The same pair across the second face; a, b and c along x, y and z, along y, z and x, and with a
  // cell of the same lattice that is not reduced.
  write("along.xyz", "2\nLattice=\"30 0 0 0 31 0 0 0 32\"\nAr 1 1 1\nAr 1 29 3\n");
  write("turned.xyz", "2\nLattice=\"0 30 0 0 0 31 32 0 0\"\nAr 1 1 1\nAr 3 1 29\n");
  write("skewed.xyz", "2\nLattice=\"30 0 0 30 31 0 0 31 32\"\nAr 1 1 1\nAr 1 29 3\n");
  std::map<std::string, double> energy;
  for (const std::string name : {"along", "turned", "skewed"}) {
    write("case.toml", "app = \"molecular.dynamics\"\nstructure = \"" + name +
                           ".xyz\"\ncoulombtype = \"none\"\nnsteps = 1\n[lennard_jones]\n");
    const Outcome run = tessera({"run", "case.toml", "--output", name});
    ASSERT_EQ(run.code, 0) << run.err;
    energy[name] = table(name + "/1_dynamics/energies.csv").at("lj").front();
  }
  EXPECT_LT(energy["along"], -0.1) << "they do not feel each other across the face";
  EXPECT_NEAR(energy["turned"], energy["along"], 1e-6);
  EXPECT_NEAR(energy["skewed"], energy["along"], 1e-6);
}

/// What pbc="F F F" says of a lattice, as other programs write it around a cluster.
TEST_F(Md, AnXyzFileSaysWhetherItsCellRepeats) {
  const auto run = [&](const std::string& pbc) {
    write("c.xyz",
          "2\nLattice=\"30 0 0 0 31 0 0 0 32\" pbc=\"" + pbc + "\"\nAr 1 1 1\nAr 1 29 3\n");
    write("case.toml",
          "app = \"molecular.dynamics\"\nstructure = \"c.xyz\"\ncoulombtype = \"none\"\nnsteps "
          "= 1\n[lennard_jones]\n");
    return tessera({"run", "case.toml", "--output", "RUN_" + pbc.substr(0, 1) + pbc.substr(4)});
  };
  ASSERT_EQ(run("F F F").code, 0);
  EXPECT_EQ(table("RUN_FF/1_dynamics/energies.csv").at("lj").front(), 0) << "2.8 nm apart";
  ASSERT_EQ(run("T T T").code, 0);
  EXPECT_LT(table("RUN_TT/1_dynamics/energies.csv").at("lj").front(), -0.1);
  const Outcome mixed = run("T T F");
  EXPECT_EQ(mixed.code, 4);
  EXPECT_TRUE(holds(mixed.err, "E0703") && holds(mixed.err, "c.xyz:2")) << mixed.err;
}

/// A run places virtual sites itself: where a file has them, at one point too, does not matter.
TEST_F(Md, VirtualSitesOfTheFileMayLieAnywhere) {
  write("m.top",
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nA 12 0 A 0.3 0.4\nS 0 0 V 0.3 0.4\n"
        "[ moleculetype ]\nM 1\n[ atoms ]\n1 A 1 M A1 1 0\n2 A 1 M A2 1 0\n3 S 1 M S 1 0\n"
        "[ bonds ]\n1 2 1 0.15 1000\n[ virtual_sites2 ]\n3 1 2 1 0.5\n[ exclusions ]\n3 1 2\n"
        "[ system ]\nx\n[ molecules ]\nM 2\n");
  const auto gro = [](const std::string& site_1, const std::string& site_2) {
    return "t\n6\n"
           "    1M       A1    1   1.000   1.000   1.000\n"
           "    1M       A2    2   1.150   1.000   1.000\n"
           "    1M        S    3" +
           site_1 +
           "\n"
           "    2M       A1    4   1.000   1.600   1.000\n"
           "    2M       A2    5   1.150   1.600   1.000\n"
           "    2M        S    6" +
           site_2 + "\n   3.00000   3.00000   3.00000\n";
  };
  write("there.gro", gro("   1.075   1.000   1.000", "   1.075   1.600   1.000"));
  write("zero.gro", gro("   0.000   0.000   0.000", "   0.000   0.000   0.000"));
  write(
      "case.toml",
      "app = \"molecular.dynamics\"\ntopology = \"m.top\"\nstructure = \"there.gro\"\ncoulombtype "
      "= \"none\"\nnsteps = 1\n");
  const Outcome there = tessera({"run", "case.toml", "--output", "THERE"}),
                zero = tessera(
                    {"run", "case.toml", "--output", "ZERO", "--set", "structure=\"zero.gro\""});
  ASSERT_EQ(there.code, 0) << there.err;
  ASSERT_EQ(zero.code, 0) << zero.err;
  EXPECT_EQ(table("ZERO/1_dynamics/energies.csv"), table("THERE/1_dynamics/energies.csv"));
}

TEST_F(Md, ABoxOfTwoCutOffsRunsASmallerOneIsRefused) {
  write("case.toml", kArgon);
  EXPECT_EQ(
      tessera({"run", "case.toml", "--output", "RUN", "--set", "rvdw=0.87 nm", "--set",
               "stage[0].nsteps=1", "--set", "stage[1].nsteps=1", "--set", "stage[2].nsteps=1"})
          .code,
      0);
  const Outcome refused =
      tessera({"run", "case.toml", "--output", "R2", "--set", "rvdw=0.8701 nm"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_TRUE(holds(refused.err, "E0752") && holds(refused.err, "0.8701") &&
              holds(refused.err, "1.74"))
      << refused.err;
  EXPECT_FALSE(fs::exists(here() / "R2"));
}

TEST_F(Md, BadInputsAreRefusedWithTheirPlace) {
  const std::string argon = kArgon;
  const auto changed = [&](const std::string& old, const std::string& now) {
    std::string out = argon;
    out.replace(out.find(old), old.size(), now);
    return out;
  };
  const struct {
    std::string text;
    int code;
    const char* says;
  } cases[] = {
      {changed("rvdw_switch", "rvdw_swich"), 5, "did you mean 'rvdw_switch'"},
      {changed("dt = \"4 fs\"", "dt = \"4 nm\""), 5, "E0212"},
      {changed("dt = \"4 fs\"", "dt = 0.004"), 5, "case.toml:2:"},
      {argon + "[[stage]]\nname = \"endless\"\n", 5, "E0751"},
      {changed("name = \"free\"", "name = \"warm\""), 5, "two stages"},
      {changed("name = \"free\"", "name = \"a/b\""), 5, "cannot name a folder"},
      {changed("name = \"free\"", "name = \"title\""), 5, "no stage can be called 'title'"},
      {changed("name = \"free\"", "name = \"" + std::string(300, 'x') + "\""), 5,
       "at most 100 letters, this one 300"},
      {changed("tcoupl = \"v-rescale\"", "heat_from = \"10 K\""), 5, "no thermostat to heat with"},
      {changed("tcoupl = \"v-rescale\"", "tcoupl = \"v-rescale\"\nannealing_time = [\"1 ps\"]"), 5,
       "annealing_temp"},
      {changed("tcoupl = \"v-rescale\"", "tcoupl = \"v-rescale\"\ntc_grps = [\"water\"]"), 5,
       "E0751"},
      {changed("[build]\ncells = 3\nedge = \"0.58 nm\"\n", ""), 5, "E0750"},
      {changed("coulombtype = \"none\"", "coulombtype = \"none\"\ntopology = \"none.prmtop\""), 5,
       "E0750"},
      {changed("[build]\ncells = 3\nedge = \"0.58 nm\"\n", "")
           .insert(0, "structure = \"missing.xyz\"\n"),
       4, "missing.xyz"}};
  for (const auto& c : cases) {
    write("case.toml", c.text);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
    EXPECT_EQ(o.code, c.code) << c.says << "\n" << o.err;
    EXPECT_TRUE(holds(o.err, c.says)) << c.says << "\n" << o.err;
    EXPECT_FALSE(fs::exists(here() / "RUN"));
  }
  write("cut.xyz", "2\n\nAr 1 1 1\n");
  write("words.xyz", "1\n\nAr 1 one 1\n");
  write("more.xyz", "1\n\nAr 1 1 1\nAr 5 5 5\n");
  write("flat.xyz", "1\nLattice=\"1 0 0 2 0 0 0 0 1\"\nAr 1 1 1\n");
  write("far.xyz", "1\n\nAr 1 1e300 1\n");
  for (const auto& [name, says] : {std::pair{"cut.xyz", "E0701"},
                                   {"words.xyz", "words.xyz:3:6"},
                                   {"more.xyz", "more.xyz:4:1"},
                                   {"flat.xyz", "flat.xyz:2:10"},
                                   {"far.xyz", "far.xyz:3:6"}}) {
    write("case.toml",
          std::string(
              "app = \"molecular.dynamics\"\ncoulombtype = \"none\"\nnsteps = 5\nstructure = \"") +
              name + "\"\n[lennard_jones]\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
    EXPECT_EQ(o.code, 4) << o.err;
    EXPECT_TRUE(holds(o.err, says)) << o.err;
  }
}

/// Beyond a cut-off without a box there is no density; one that is infinite is told as such.
TEST_F(Md, NoTailWithoutABox) {
  std::string text = kArgon;
  text.replace(text.find("\"0.87 nm\""), 9, "\"inf\"");
  text = "box = \"none\"\n" + text.replace(text.find("rvdw_switch"), 23, "");
  write("case.toml", text);
  EXPECT_FALSE(holds(tessera({"check", "case.toml"}).err, "E0757"));
  write("case.toml", "DispCorr = \"AllEnerPres\"\nDispCorr_pairs = \"all\"\n" + text);
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* says : {"case.toml:1:1: warning E0757: DispCorr has no effect without a box",
                           "case.toml:2:1: warning E0757: DispCorr_pairs has no effect without"})
    EXPECT_TRUE(holds(o.out + o.err, says)) << o.err;
  EXPECT_TRUE(holds(o.out, "Lennard-Jones inf; ")) << o.out;
}

/// Distances that cannot be rigid are told at what makes them so.
TEST_F(Md, RigidDistancesThatCannotBe) {
  const auto told = [&](const std::string& bonds, const std::string& settles,
                        const std::string& keys, const char* line, const char* says) {
    write(
        "t.top",
        "[ defaults ]\n1 2 yes 1 1\n[ atomtypes ]\nOX 8 15.9994 0 A 0.3154 0.6485\nHW 1 1.008 0 A "
        "0 0\nMW 0 0 0 V 0 0\n[ moleculetype ]\nTP4 2\n[ atoms ]\n1 OX 1 TP4 OW 1 0\n2 HW 1 TP4 "
        "HW1 1 0.52\n3 HW 1 TP4 HW2 1 0.52\n4 MW 1 TP4 MW 1 -1.04\n[ bonds ]\n1 2 1 0.09572 "
        "400000\n1 3 1 0.09572 400000\n" +
            bonds +
            "[ angles ]\n2 1 3 1 104.52 600\n[ virtual_sites3 ]\n4 1 2 3 1 0.128012 0.128012\n" +
            settles + "[ system ]\nx\n[ molecules ]\nTP4 1\n");
    write("c.gro",
          "x\n    4\n    1TP4     OW    1   1.000   1.000   1.000\n    1TP4    HW1    2   1.096   "
          "1.000   1.000\n    1TP4    HW2    3   0.976   1.093   1.000\n    1TP4     MW    4   "
          "1.009   1.012   1.000\n   3.00000   3.00000   3.00000\n");
    write(
        "case.toml",
        "app = \"molecular.dynamics\"\ntopology = \"t.top\"\nstructure = \"c.gro\"\nnsteps = 10\n" +
            keys);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << says << o.err;
    EXPECT_TRUE(holds(o.err, std::string("case.toml:") + line + ":1: error E0751: " + says))
        << says << o.err;
  };
  const std::string all = "constraints = \"all-bonds\"\n", flexible = "rigid_water = false\n";
  told("1 4 1 0.0150 100000\n", "", flexible + all, "6",
       "the distance of atoms 1 and 4 cannot be rigid: atom 4 is a virtual site");
  told("", "[ constraints ]\n1 2 1 0.09572\n", "rigid_water = true\n", "5",
       "atom 1 belongs to a rigid water and to another constraint");
  told("", "[ constraints ]\n1 2 1 0.09572\n1 2 1 0.09572\n", flexible, "2",
       "the distance of atoms 1 and 2 is constrained twice");
}

}  // namespace
