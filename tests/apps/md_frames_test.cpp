// SPDX-License-Identifier: Apache-2.0
// Structures at the end of stages, and frames that are looked at again.
#include "md_case.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/structure_file.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace tessera::testing;
namespace fs = std::filesystem;
namespace mol = tessera::molecular;

namespace {

class MdFrames : public Md {
 protected:
  /// kWater with an output table, run into RUN.
  void run_water(const std::string& output) {
    write("case.toml", std::string(kWater) + "[output]\n" + output);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
    ASSERT_EQ(o.code, 0) << o.err;
  }
  static double farthest(const std::vector<mol::Vec3>& a, const std::vector<mol::Vec3>& b) {
    double most = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(a[i][c] - b[i][c]));
    return most;
  }
};

/// A look at a frame takes rigid waters for rigid: the temperature and the pressure are those of
/// the step that it is from.
TEST_F(MdFrames, NoStepsSayWhatTheLastStepSaid) {
  write(
      "case.toml",
      std::string("integrator = \"md-vv\"\n") + kWater +
          "[[stage]]\nname = \"move\"\ndt = \"0.01 fs\"\n[[stage]]\nname = \"look\"\nnsteps = 0\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto move = table("RUN/1_move/energies.csv"), look = table("RUN/2_look/energies.csv");
  for (const char* name : {"potential", "kinetic", "temperature_k"})
    EXPECT_NEAR(look[name].at(0), move[name].back(), 1e-9 * std::abs(move[name].back())) << name;
  // The run's pressure is that of half steps, 0.005 fs to either side.
  EXPECT_NEAR(look["pressure_bar"].at(0), move["pressure_bar"].back(),
              1e-3 * std::abs(move["pressure_bar"].back()));
  EXPECT_GT(std::abs(move["pressure_bar"].back()), 10) << "a bar more or less would not be seen";
}

/// Where no step follows, nothing has to be free to move.
TEST_F(MdFrames, OneAtomAndFrozenOnesAreLookedAt) {
  const auto atom = [](const char* steps) {
    return std::string("app = \"molecular.dynamics\"\ncoulombtype = \"none\"\nnsteps = ") + steps +
           "\n[lennard_jones]\n[build]\nlattice = \"simple\"\ncells = 1\nedge = \"3 nm\"\n";
  };
  write("case.toml", atom("0"));
  Outcome o = tessera({"run", "case.toml", "--output", "ATOM"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto of_atom = table("ATOM/1_dynamics/energies.csv");
  EXPECT_EQ(of_atom["potential"].at(0), 0);
  EXPECT_NEAR(of_atom["temperature_k"].at(0), 300, 1e-6) << "all its motion is of three directions";
  write("case.toml", atom("1"));
  o = tessera({"check", "case.toml"});
  EXPECT_TRUE(o.code == 5 && holds(o.err, "no degrees of freedom are left of 1 atoms")) << o.err;

  std::string water = kWater;
  water.replace(water.find("nsteps = 20"), 11, "nsteps = 0");
  for (const char* key : {"", "freeze = \"all\"\n"}) {
    write("case.toml", key + water);
    o = tessera({"run", "case.toml", "--output", *key ? "FROZEN" : "FREE"});
    ASSERT_EQ(o.code, 0) << o.err;
  }
  auto frozen = table("FROZEN/1_dynamics/energies.csv"),
       free = table("FREE/1_dynamics/energies.csv");
  EXPECT_EQ(frozen["temperature_k"].at(0), 0);
  EXPECT_NEAR(frozen["potential"].at(0), free["potential"].at(0),
              1e-6 * std::abs(free["potential"].at(0)));
}

TEST_F(MdFrames, FinalStructuresAreReadBack) {
  run_water(
      "final = [\"rst7\", \"ncrst\", \"gro\", \"pdb\", \"cif\"]\ntrajectory = "
      "[\"h5md\"]\nvelocities = true\n");
  const fs::path folder = here() / "RUN/1_dynamics";
  const mol::Frame last = frames("RUN/1_dynamics/trajectory.h5md").back().frame;
  const auto text = [&](const char* name) { return tessera::data::read_text_file(folder / name); };
  const mol::Frame rst7 = mol::read_amber_restart(text("final.rst7"), 192);
  const mol::Frame ncrst = mol::read_amber_restart(folder / "final.ncrst", 192);
  const mol::GroFile gro = mol::read_gro(text("final.gro"));
  const mol::Structure pdb = mol::read_pdb(text("final.pdb")).structure,
                       cif = mol::read_mmcif(text("final.cif")).structure;
  // The last digit of each format, halved.
  EXPECT_LE(farthest(rst7.x_nm, last.x_nm), 5.1e-9);
  EXPECT_LE(farthest(rst7.v_nm_ps, last.v_nm_ps), 1.03e-7);
  EXPECT_LE(farthest(ncrst.x_nm, last.x_nm), 2e-15);  // two roundings
  EXPECT_LE(farthest(ncrst.v_nm_ps, last.v_nm_ps), 2e-15);
  EXPECT_LE(farthest(gro.frames.at(0).x_nm, last.x_nm), 5.01e-4);
  EXPECT_LE(farthest(gro.frames.at(0).v_nm_ps, last.v_nm_ps), 5.01e-5);
  EXPECT_LE(farthest(pdb.x_nm, last.x_nm), 5.01e-5);
  EXPECT_LE(farthest(cif.x_nm, last.x_nm), 5.01e-8);
  EXPECT_NEAR(rst7.time_ps, 0.04, 1e-9);
  EXPECT_NEAR(gro.frames[0].time_ps, 0.04, 1e-5);
  EXPECT_EQ(gro.residues.at(63).name, "HOH");
  EXPECT_EQ(pdb.residues.at(63).name, "HOH");
  for (const mol::Box& b : {rst7.box, ncrst.box, gro.frames[0].box, pdb.box, cif.box})
    EXPECT_NEAR(b.edge[0][0], last.box.edge[0][0], 5e-5);
  // Unless asked: for both families of programs.
  write("case.toml", kWater);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "TWO"}).code, 0);
  EXPECT_TRUE(fs::exists(here() / "TWO/1_dynamics/final.gro") &&
              fs::exists(here() / "TWO/1_dynamics/final.rst7"));
  EXPECT_FALSE(fs::exists(here() / "TWO/1_dynamics/final.pdb"));
}

/// MDAnalysis and mdtraj, where they are installed.
class MdPeerReaders : public MdFrames {};
TEST_F(MdPeerReaders, SeeFinalStructures) {
  const auto set = [](const char* name) {
    return std::string(std::getenv(name) ? std::getenv(name) : "");
  };
  const std::string cache =
      set("XDG_CACHE_HOME").empty() ? set("HOME") + "/.cache" : set("XDG_CACHE_HOME");
  const fs::path python = fs::path(set("TESSERA_PEERS").empty() ? cache + "/tessera/peers/python"
                                                                : set("TESSERA_PEERS")) /
                          "bin/python";
  if (!fs::exists(python))
    GTEST_SKIP() << "no " << python.string() << "; ./bootstrap.sh bench installs it";
  run_water("final = [\"rst7\", \"ncrst\", \"gro\", \"pdb\"]\ntrajectory = [\"h5md\"]\n");
  const mol::Frame last = frames("RUN/1_dynamics/trajectory.h5md").back().frame;
  for (const auto& [reader, file, digit] : {std::tuple{"MDAnalysis", "final.gro", 1e-3},
                                            {"MDAnalysis", "final.pdb", 1e-4},
                                            {"mdtraj", "final.gro", 1e-3},
                                            {"mdtraj", "final.pdb", 1e-4},
                                            {"mdtraj", "final.rst7", 1e-8},
                                            {"mdtraj", "final.ncrst", 1e-8}}) {
    const Outcome o =
        RunningProgram({python.string(), TESSERA_SOURCE_DIR "/tests/apps/peers/read_structure.py",
                        reader, (here() / "RUN/1_dynamics" / file).string(),
                        (here() / "RUN/1_dynamics/final.pdb").string()},
                       here())
            .wait();
    if (o.code == 77) continue;  // not installed
    ASSERT_EQ(o.code, 0) << reader << " " << file << "\n" << o.err;
    std::istringstream in(o.out);
    std::vector<mol::Vec3> x(192);
    double edge = 0;
    in >> edge;
    for (mol::Vec3& p : x) in >> p[0] >> p[1] >> p[2];
    ASSERT_TRUE(in.good()) << reader << " " << file;
    EXPECT_LE(farthest(x, last.x_nm), 0.51 * digit + 2e-7)
        << reader << " " << file;  // they keep single precision
    EXPECT_NEAR(edge, last.box.edge[0][0], 1e-4) << reader << " " << file;
  }
}

TEST_F(MdFrames, RerunFindsWhatTheRunFound) {
  write("case.toml", kArgon);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--set",
                     "output.trajectory=[\"h5md\",\"xtc\"]", "--set", "output.forces=true"})
                .code,
            0);
  const Outcome again = tessera({"rerun", "case.toml", "RUN/3_free/trajectory.h5md"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "trajectory.rerun\n");
  const auto run = table("RUN/3_free/energies.csv"),
             found = table("trajectory.rerun/1_rerun/energies.csv");
  EXPECT_EQ(run.at("lj"), found.at("lj"));
  const auto forces = frames("trajectory.rerun/1_rerun/forces.trr"),
             then = frames("RUN/3_free/trajectory.h5md");
  ASSERT_EQ(forces.size(), 31u);
  EXPECT_EQ(forces.at(7).f, then.at(7).f);
  EXPECT_EQ(tessera({"resume", "trajectory.rerun"}).code, 0);

  // The forces of another stage, and positions rounded to 0.001 nm: sqrt(3)/4 of it by a force of
  // some 100 kJ/mol/nm, of 108 atoms.
  const Outcome stiff = tessera({"rerun", "case.toml", "RUN/3_free/trajectory.xtc", "--stage",
                                 "minimize", "-o", "R2", "--set", "stage[0].vdw_modifier=none"});
  ASSERT_EQ(stiff.code, 0) << stiff.err;
  const auto other = table("R2/1_rerun/energies.csv");
  for (std::size_t k = 0; k < 31; ++k) EXPECT_NE(other.at("lj")[k], run.at("lj")[k]);
  ASSERT_EQ(tessera({"rerun", "case.toml", "RUN/3_free/trajectory.xtc", "-o", "R3"}).code, 0);
  const auto rounded = table("R3/1_rerun/energies.csv");
  for (std::size_t k = 0; k < 31; ++k) EXPECT_NEAR(rounded.at("lj")[k], run.at("lj")[k], 1);
  // Frames that a run does not write are none that a rerun does not look at.
  ASSERT_EQ(tessera({"rerun", "case.toml", "RUN/3_free/trajectory.h5md", "-o", "R4", "--set",
                     "nstxout=0"})
                .code,
            0);
  const auto seldom = frames("R4/1_rerun/forces.trr");
  ASSERT_EQ(seldom.size(), 31u);
  EXPECT_EQ(seldom.at(7).f, then.at(7).f);

  const Outcome none =
      tessera({"rerun", "case.toml", "RUN/3_free/trajectory.xtc", "--stage", "cold"});
  EXPECT_EQ(none.code, 5);
  EXPECT_TRUE(holds(none.err, "there is no stage 'cold'") &&
              holds(none.err, "minimize, warm, free"))
      << none.err;
  EXPECT_EQ(tessera({"rerun", "case.toml"}).code, 2);
  const Outcome missing = tessera({"rerun", "case.toml", "gone.xtc"});
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(holds(missing.err, "gone.xtc")) << missing.err;
  write("text.txt", "no frames");
  const Outcome text = tessera({"rerun", "case.toml", "text.txt"});
  EXPECT_EQ(text.code, 5);
  EXPECT_TRUE(holds(text.err, "E0750") && holds(text.err, ".xtc")) << text.err;
  EXPECT_FALSE(holds(text.err, ".pvd")) << "which is written alone: " << text.err;
}

TEST_F(MdFrames, RerunReadsEveryKindOfFrames) {
  run_water("final = [\"gro\", \"pdb\"]\ntrajectory = [\"xtc\", \"trr\", \"dcd\", \"nc\"]\n");
  const double whole = table("RUN/1_dynamics/energies.csv").at("potential").back();
  for (const auto& [file, rows, off] : {std::tuple{"trajectory.trr", 5u, 1e-6},
                                        {"trajectory.dcd", 5u, 0.05},
                                        {"trajectory.nc", 5u, 0.05},
                                        {"trajectory.xtc", 5u, 50.0},
                                        {"final.gro", 1u, 50.0},
                                        {"final.pdb", 1u, 5.0}}) {
    const Outcome o = tessera({"rerun", "case.toml", std::string("RUN/1_dynamics/") + file, "-o",
                               std::string("R_") + file});
    ASSERT_EQ(o.code, 0) << file << o.err;
    EXPECT_FALSE(holds(o.err, "E0757")) << "frames end by themselves\n" << o.err;
    const auto e = table(std::string("R_") + file + "/1_rerun/energies.csv");
    ASSERT_EQ(e.at("potential").size(), rows) << file;
    EXPECT_NEAR(e.at("potential").back(), whole, off) << file;
  }
  // Two models, the second of which lacks an atom.
  const std::string pdb = read("RUN/1_dynamics/final.pdb");
  const std::size_t begin = pdb.find("ATOM") < pdb.find("HETATM") ? pdb.find("ATOM")
                                                                  : pdb.find("HETATM"),
                    end = pdb.find("\nEND");
  const std::string head = pdb.substr(0, begin),
                    atoms = pdb.substr(begin, pdb.find("CONECT") == std::string::npos
                                                  ? end + 1 - begin
                                                  : pdb.find("CONECT") - begin);
  write("two.pdb",
        head + "MODEL        1\n" + atoms + "ENDMDL\nMODEL        2\n" + atoms + "ENDMDL\nEND\n");
  ASSERT_EQ(tessera({"rerun", "case.toml", "two.pdb", "-o", "R_two"}).code, 0);
  const auto two = table("R_two/1_rerun/energies.csv").at("potential");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0], two[1]);
  write("less.pdb", head + "MODEL        1\n" + atoms + "ENDMDL\nMODEL        2\n" +
                        atoms.substr(atoms.find('\n') + 1) + "ENDMDL\nEND\n");
  const Outcome less = tessera({"rerun", "case.toml", "less.pdb", "-o", "R_less"});
  EXPECT_EQ(less.code, 4);
  EXPECT_TRUE(holds(less.err, "E0704") && holds(less.err, "model 2 has 191 atoms")) << less.err;
}

}  // namespace
