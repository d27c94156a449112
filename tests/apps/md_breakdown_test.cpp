// SPDX-License-Identifier: Apache-2.0
// What users are told of a system that cannot run: atoms that overlap, steps too long for bonds,
// lengths in another unit.
#include "md_case.h"
#include "test_paths.h"

#include <gtest/gtest.h>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MdBreakdown : public Md {
 protected:
  static fs::path gallery(const char* name) {
    return fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular" / name;
  }
  /// The frame that a run has ended with, as it was written.
  std::string end_of(const std::string& run) const { return read(run + "/1_dynamics/final.gro"); }
  /// Alanine dipeptide in vacuum, its heavy atoms changed by `change(number from 0, place in
  /// angstrom)`.
  template <class F>
  void peptide(const std::string& stages, F&& change) {
    std::ifstream in(gallery("alanine.pdb"));
    std::string out;
    std::size_t k = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("ATOM")) {
        std::array<double, 3> x{};
        for (std::size_t c = 0; c < 3; ++c) x[c] = std::stod(line.substr(30 + 8 * c, 8));
        change(k++, x);
        std::array<char, 40> text;
        std::snprintf(text.data(), text.size(), "%8.3f%8.3f%8.3f", x[0], x[1], x[2]);
        line.replace(30, 24, text.data());
      }
      out += line + "\n";
    }
    write("peptide.pdb", out);
    write("case.toml", "app = \"molecular.dynamics\"\nforcefield = [\"" +
                           gallery("peptides.xml").string() +
                           "\"]\nadd_hydrogens = true\nstructure = \"peptide.pdb\"\ncoulombtype = "
                           "\"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\n" +
                           stages);
  }
};

/// The ends of the chain brought to 0.07 nm: a force of 5e10 kJ/mol/nm.
TEST_F(MdBreakdown, AtomsThatNoForceCanPartAreNamed) {
  std::array<double, 3> first{};
  peptide("[[stage]]\ntype = \"minimize\"\n", [&](std::size_t k, std::array<double, 3>& x) {
    if (k == 0) first = x;
    if (k == 9) x = {first[0] + 0.7, first[1], first[2]};
  });
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(holds(o.err, "error E0755") &&
              holds(o.err, "atoms 1 (CH3 of ACE 1) and 18 (CH3 of NME 3) 0.0700 nm apart"))
      << o.err;
}

/// Frames are looked at wherever the structure of the case has the atoms.
TEST_F(MdBreakdown, ARerunDoesNotAskForTheStructure) {
  const std::string stages =
      "output.final = [\"pdb\"]\n[[stage]]\ntype = \"minimize\"\nnsteps = 5\n";
  peptide(stages, [](std::size_t, std::array<double, 3>&) {});
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  std::array<double, 3> first{};
  peptide(stages, [&](std::size_t k, std::array<double, 3>& x) {
    if (k == 0) first = x;
    if (k == 9) x = {first[0] + 0.7, first[1], first[2]};
  });
  const Outcome o = tessera({"rerun", "case.toml", "RUN/1_minimize/final.pdb", "-o", "AGAIN"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(table("AGAIN/1_rerun/energies.csv").at("potential").size(), 1u);
}

/// What a rerun does not use is not asked of it, and frames that do not fit are bad input.
TEST_F(MdBreakdown, FramesThatDoNotFitAreRefusedWithTheirNumber) {
  const auto argon_in = [](const std::string& edge, const std::string& keys) {
    return "app = \"molecular.dynamics\"\ncoulombtype = \"none\"\nlennard_jones = {}\nbuild = "
           "{cells "
           "= 3, edge = \"" +
           edge + " nm\"}\noutput.pictures = false\n" + keys;
  };
  const std::string forces = "rvdw = \"0.7 nm\"\n", small = "rvdw = \"0.85 nm\"\n";
  write("run.toml", argon_in("0.54", forces + "dt = \"4 fs\"\noutput.trajectory = [\"trr\", "
                                              "\"dcd\"]\nnstxout = 5\nnsteps = 10\n"));
  ASSERT_EQ(tessera({"run", "run.toml", "-o", "RUN"}).code, 0);
  write("open.toml", argon_in("0.54", forces + "box = \"none\"\nnsteps = 5\nnstxout = 5\n"
                                               "output.trajectory = [\"dcd\"]\n"));
  ASSERT_EQ(tessera({"run", "open.toml", "-o", "OPEN"}).code, 0);
  const auto refused = [&](const std::string& edge, const std::string& keys,
                           const std::string& frames, const char* says, const char* hint) {
    write("again.toml",
          argon_in(edge, keys + "[[stage]]\ntype = \"rerun\"\nframes = \"" + frames + "\"\n"));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"check", "again.toml"}, {"run", "again.toml", "-o", "AGAIN"}}) {
      const Outcome o = tessera(command);
      EXPECT_EQ(o.code, 4) << o.err;
      EXPECT_TRUE(holds(o.err, "error E0750") && holds(o.err, says) && holds(o.err, hint)) << o.err;
    }
    EXPECT_FALSE(fs::exists(here() / "AGAIN/1_rerun/why.txt"));
  };
  refused("0.6", small, "RUN/1_dynamics/trajectory.trr", "frame 0: ", "a shorter cut-off");
  refused("0.54", forces, "OPEN/1_dynamics/trajectory.dcd", "frame 0 has no box", "box = \"none\"");
  // A later one, which the run meets.
  write("two.gro", end_of("RUN") + end_of("OPEN"));
  write("again.toml",
        argon_in("0.54", forces + "[[stage]]\ntype = \"rerun\"\nframes = \"two.gro\"\n"));
  EXPECT_EQ(tessera({"check", "again.toml"}).code, 0);
  const Outcome o = tessera({"run", "again.toml", "-o", "LATER"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(holds(o.err, "error E0750") && holds(o.err, "frame 1 has no box")) << o.err;
  EXPECT_FALSE(fs::exists(here() / "LATER/1_rerun/why.txt"));
  // Two atoms at one place, whose force is beyond all bounds.
  std::istringstream lines(end_of("RUN"));
  std::string overlapping, place;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number == 2) place = line.substr(20, 24);
    overlapping += (number == 3 ? line.substr(0, 20) + place + line.substr(44) : line) + "\n";
  }
  write("two.gro", end_of("RUN") + overlapping);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "again.toml", "-o", "OVER"},
        {"estimate", "again.toml"},
        {"run", "again.toml", "-o", "RANKS", "--ranks", "threads:2", "--threads", "1"}}) {
    const Outcome over = tessera(command);
    EXPECT_EQ(over.code, 4) << over.err;
    EXPECT_TRUE(holds(over.err, "error E0750") && holds(over.err, "frame 1: ") &&
                holds(over.err, "atoms overlap") && !holds(over.err, "minimize"))
        << over.err;
  }
}

/// Stages begin where those before have ended, which an estimate does not know.
TEST_F(MdBreakdown, EstimatesTellWhatTheyDoNotKnow) {
  std::string xyz = "8\nLattice=\"20 0 0 0 20 0 0 0 20\"\n";
  for (int k = 0; k < 8; ++k) {
    const int row = k == 7 ? 6 : k;  // two of them beside each other, far too near
    xyz += "Ar " + std::to_string(1 + 10 * (row % 2) + (k == 7 ? 0.3 : 0)) + " " +
           std::to_string(1 + 10 * (row / 2 % 2)) + " " + std::to_string(1 + 10 * (row / 4)) + "\n";
  }
  write("near.xyz", xyz);
  write("case.toml",
        "app = \"molecular.dynamics\"\nrvdw = \"0.7 nm\"\ncoulombtype = \"none\"\nstructure = "
        "\"near.xyz\"\nlennard_jones = {}\n[[stage]]\ntype = \"minimize\"\nnsteps = "
        "100\n[[stage]]\nname = \"go\"\nnsteps = 100\n");
  Outcome o = tessera({"estimate", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.out, "go: its time is not known: steps from the start of the case fail"))
      << o.out;
  o = tessera({"estimate", "case.toml", "--ranks", "2"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(holds(o.err, "--ranks: steps from the start of the case fail")) << o.err;
}

TEST_F(MdBreakdown, ARerunDoesNotAskForMasses) {
  peptide("output.trajectory = [\"trr\"]\n[[stage]]\ntype = \"minimize\"\nnsteps = 2\n",
          [](std::size_t, std::array<double, 3>&) {});
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const std::string rerun = "[[stage]]\ntype = \"rerun\"\nframes = \"RUN/1_minimize/final.gro\"\n";
  peptide("hydrogen_mass = \"9 amu\"\n" + rerun, [](std::size_t, std::array<double, 3>&) {});
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
  const Outcome o = tessera({"run", "case.toml", "--output", "AGAIN"});
  EXPECT_EQ(o.code, 0) << o.err;
}

/// Whatever moves the box, by trials too.
TEST_F(MdBreakdown, ABoxBelowTwoCutOffsIsNamed) {
  for (const std::string barostat : {"monte-carlo", "c-rescale", "parrinello-rahman"}) {
    write("case.toml",
          "app = \"molecular.dynamics\"\nrvdw = \"0.8 nm\"\ncoulombtype = \"none\"\ndt = \"4 "
          "fs\"\nnsteps = 5000\nnstxout = 0\nnstlog = 0\ntcoupl = \"v-rescale\"\nref_t = \"100 "
          "K\"\npcoupl = \"" +
              barostat +
              "\"\nref_p = \"3000 bar\"\nlennard_jones = {}\nbuild = {kind = \"lattice\", cells = "
              "3, edge = \"0.54 nm\"}\noutput.pictures = false\n");
    const Outcome o = tessera({"run", "case.toml", "--output", barostat});
    EXPECT_EQ(o.code, 7) << barostat << o.err;
    EXPECT_TRUE(holds(o.err, "what to try: a shorter cut-off")) << barostat << o.err;
  }
}

TEST_F(MdBreakdown, AStepTooLongForBondsTellsWhatWentAstray) {
  peptide(
      "dt = \"10 fs\"\n[[stage]]\ntype = \"minimize\"\nnsteps = 50\n[[stage]]\nname = "
      "\"go\"\nnsteps = 1000\ngen_temp = \"300 K\"\n",
      [](std::size_t, std::array<double, 3>&) {});
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 7) << o.err;
  EXPECT_TRUE(holds(o.err, "warning E0753") && holds(o.err, "no step is stable")) << o.err;
  const std::string why = read("RUN/2_go/why.txt");
  for (const char* part :
       {"stage 2 ('go') failed at step", "the largest force before it", "bonds  ", "neighbour ",
        "the atom that moved farthest in the failed step (",
        "the last good frame is last_good.* in", "a shorter dt"})
    EXPECT_TRUE(holds(why, part)) << part << "\n" << why;
  EXPECT_TRUE(fs::exists(here() / "RUN/2_go/last_good.rst7") &&
              fs::exists(here() / "RUN/2_go/last_good.gro"));
}

TEST_F(MdBreakdown, LengthsInAnotherUnitAreSeenByBonds) {
  const auto refused = [&](const char* says) {
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 4) << o.out;
    EXPECT_TRUE(holds(o.err, "error E0756") && holds(o.err, says)) << o.err;
  };
  peptide("nsteps = 1\n", [](std::size_t, std::array<double, 3>& x) {
    for (double& c : x) c /= 10;
  });
  refused("peptide.pdb: error E0756: bonds are about a tenth");
  write("w.top",
        "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 "
        "0.0 A 0 0\n[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n2 H 1 SOL HW1 1 "
        "0.4238\n"
        "3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n[ system ]\nWater\n[ molecules "
        "]\nSOL 1\n");
  write("w.gro",
        "Water\n    3\n    1SOL     OW    1   5.000   5.000   5.000\n    1SOL    HW1    2   6.000  "
        " 5.000   5.000\n    1SOL    HW2    3   4.670   5.940   5.000\n  20.00000  20.00000  "
        "20.00000\n");
  write("case.toml",
        "app = \"molecular.dynamics\"\ntopology = \"w.top\"\nstructure = \"w.gro\"\nrcoulomb = "
        "\"0.9 nm\"\nrvdw = \"0.9 nm\"\nnsteps = 10\n");
  refused("are these lengths in angstrom where the format has nm (.gro)?");
}

/// An ion beside the oxygen of a four-point water. Forces on its charges at M, 139 1.048/0.2125^2 =
/// 3226 kJ/mol/nm, are larger than that on the ion, which the hydrogens push away; M has no mass:
/// the oxygen feels 0.787 of them.
TEST_F(MdBreakdown, ForcesOnVirtualSitesAreThoseOfTheirAtoms) {
  write(
      "ion.top",
      "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0 A 0.3166 0.65\nH 1 1.008 0 A "
      "0 0\nM 0 0 0 D 0 0\nQ 1 1.008 0 A 0 0\n[ moleculetype ]\nSOL 2\n[ atoms ]\n"
      "1 O 1 SOL OW 1 0\n2 H 1 SOL HW1 1 0.52422\n3 H 1 SOL HW2 1 0.52422\n"
      "4 M 1 SOL MW 1 -1.04844\n[ settles ]\n1 1 0.09572 0.15139\n[ virtual_sites3 ]\n"
      "4 1 2 3 1 0.106676721 0.106676721\n[ exclusions ]\n1 2 3 4\n2 1 3 4\n3 1 2 4\n4 1 2 3\n"
      "[ moleculetype ]\nION 1\n[ atoms ]\n1 Q 1 ION Q 1 1\n[ system ]\nIon\n[ molecules ]\n"
      "SOL 1\nION 1\n");
  write("ion.gro",
        "Ion\n    5\n"
        "    1SOL     OW    1   1.000   1.000   1.000\n"
        "    1SOL    HW1    2   1.059   1.076   1.000\n"
        "    1SOL    HW2    3   1.059   0.924   1.000\n"
        "    1SOL     MW    4   1.013   1.000   1.000\n"
        "    2ION      Q    5   0.800   1.000   1.000\n   3.00000   3.00000   3.00000\n");
  write("case.toml",
        "app = \"molecular.dynamics\"\ntopology = \"ion.top\"\nstructure = \"ion.gro\"\nbox = "
        "\"none\"\ncoulombtype = \"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\ndt = \"20 fs\"\n"
        "nsteps = 10\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 7) << o.err;
  const std::string why = read("RUN/1_dynamics/why.txt");
  EXPECT_TRUE(holds(why, "was that on\natom 1 (OW of SOL 1)")) << why;
}

}  // namespace
