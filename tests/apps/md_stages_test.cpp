// SPDX-License-Identifier: Apache-2.0
// What a stage of molecular.dynamics takes over from the one before.
#include "md_case.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MdStages : public Md {
 protected:
  /// Eight waters whose oxygens the topology holds to the positions of the structure.
  void write_held_waters() {
    write("held.top",
          "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 "
          "1.008 0.0 A 0 0\n[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n"
          "2 H 1 SOL HW1 1 0.4238\n3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n#ifdef "
          "POSRES\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n[ system ]\nHeld\n"
          "[ molecules ]\nSOL 8\n");
    std::string gro = "Held waters\n   24\n";
    char line[100];
    for (int m = 0; m < 8; ++m) {
      const double x = 0.3 + 1.0 * (m % 2), y = 0.3 + 1.0 * (m / 2 % 2), z = 0.3 + 1.0 * (m / 4);
      const double at[3][3] = {{x, y, z}, {x + 0.1, y, z}, {x - 0.033, y + 0.094, z}};
      const char* names[] = {"OW", "HW1", "HW2"};
      for (int a = 0; a < 3; ++a) {
        std::snprintf(line, sizeof line, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", m + 1, "SOL", names[a],
                      3 * m + a + 1, at[a][0], at[a][1], at[a][2]);
        gro += line;
      }
    }
    write("held.gro", gro + "   2.00000   2.00000   2.00000\n");
  }
};

/// Positions of a topology's restraints are those of the structure, and go on with the box from
/// stage to stage, whatever the stage does.
TEST_F(MdStages, RestraintsOfTheTopologyGoOnWithTheBox) {
  write_held_waters();
  for (const std::string scaling : {"all", "com"}) {
    // A pressure that makes the box grow by some per cent within 50 steps.
    write("case.toml",
          "app = \"molecular.dynamics\"\ntopology = \"held.top\"\nstructure = \"held.gro\"\ndefine "
          "= [\"POSRES\"]\nrefcoord_scaling = \"" +
              scaling +
              "\"\ndt = \"1 fs\"\nrcoulomb = \"0.9 nm\"\nrvdw = \"0.9 nm\"\nconstraints = "
              "\"h-bonds\"\ntcoupl = \"v-rescale\"\nref_t = \"100 K\"\ngen_temp = \"100 "
              "K\"\nnstenergy = 10\n"
              "pcoupl = \"c-rescale\"\ntau_p = \"0.05 ps\"\nnstpcouple = 5\nref_p = \"-2000 bar\"\n"
              "output.trajectory = [\"trr\"]\noutput.final = [\"ncrst\"]\nnstxout = "
              "10\n[[stage]]\nname = \"one\"\nnsteps = "
              "50\n[[stage]]\nname = \"two\"\nnsteps = 50\n[[stage]]\nname = \"nvt\"\npcoupl = "
              "\"no\"\nnsteps = 10\n"
              "[[stage]]\nname = \"point\"\nnsteps = 0\n[[stage]]\nname = \"down\"\ntype = "
              "\"minimize\"\nnsteps = 1\n");
    const fs::path out = "RUN_" + scaling;
    const Outcome run = tessera({"run", "case.toml", "--output", out.string()});
    ASSERT_EQ(run.code, 0) << run.err;
    std::map<std::string, std::vector<double>> before = table(out / "1_one/energies.csv");
    EXPECT_GT(before.at("volume_nm3").back(), 1.01 * before.at("volume_nm3").front())
        << "the box has to move";
    const double left = before.at("position_restraints").back();
    for (const char* stage : {"2_two", "3_nvt", "4_point", "5_down"}) {
      const auto next = table(out / stage / "energies.csv");
      const double last = before.at("position_restraints").back(),
                   first = next.at("position_restraints").front();
      // Sums of single contributions are rounded to 2^-32 kJ/mol each.
      EXPECT_NEAR(first, last, 1e-9 * std::abs(last) + 1e-8) << scaling << " " << stage;
      before = next;
    }
    // So they do in another case that goes on from the restart: the structure has its own box.
    write("next.toml",
          "app = \"molecular.dynamics\"\ntopology = \"held.top\"\nstructure = \"held.gro\"\n"
          "velocities = \"" +
              out.string() + "/1_one/final.ncrst\"\ndefine = [\"POSRES\"]\nrefcoord_scaling = \"" +
              scaling +
              "\"\nrcoulomb = \"0.9 nm\"\nrvdw = \"0.9 nm\"\nconstraints = \"h-bonds\"\n"
              "[[stage]]\nname = \"next\"\nnsteps = 0\n");
    const Outcome next = tessera({"run", "next.toml", "-o", "NEXT_" + scaling});
    ASSERT_EQ(next.code, 0) << next.err;
    EXPECT_NEAR(table(fs::path("NEXT_" + scaling) / "1_next/energies.csv")
                    .at("position_restraints")
                    .front(),
                left, 1e-6 * left + 1e-6)
        << scaling;
    // Frames are looked at with the positions where their boxes put them.
    const std::string again = "AGAIN_" + scaling;
    const Outcome looked = tessera({"rerun", "case.toml", (out / "2_two/trajectory.trr").string(),
                                    "--stage", "two", "-o", again});
    ASSERT_EQ(looked.code, 0) << looked.err;
    const auto run_rows = table(out / "2_two/energies.csv").at("position_restraints"),
               found = table(fs::path(again) / "1_rerun/energies.csv").at("position_restraints");
    ASSERT_EQ(found.size(), run_rows.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_NEAR(found[k], run_rows[k], 1e-6 * run_rows[k] + 1e-6) << scaling << " " << k;
  }
}

/// Two cases that go on from each other are one case in two stages, whatever the system is made
/// from.
TEST_F(MdStages, SystemsWithoutATopologyGoOnInAnotherCase) {
  const std::string
      peptide = (fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular/alanine.pdb").string(),
      field = (fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular/peptides.xml").string();
  const std::string sums =
      "dt = \"1 fs\"\nprecision = \"f64\"\nconstraints = \"h-bonds\"\nnstenergy = 1\nnstlog = "
      "0\nnstxout = 0\noutput.final = [\"ncrst\", \"pdb\"]\noutput.pictures = false\n";
  const std::string cut = "rcoulomb = \"0.6 nm\"\nrvdw = \"0.6 nm\"\n",
                    vacuum = "coulombtype = \"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\n";
  const std::string begin =
                        "[[stage]]\nname = \"down\"\ntype = \"minimize\"\nnsteps = "
                        "50\n[[stage]]\nname = \"one\"\nnsteps = 20\ngen_temp = \"100 K\"\n",
                    more = "[[stage]]\nname = \"two\"\nnsteps = 10\n";
  const std::string xml =
      "forcefield = [\"" + field + "\"]\nadd_hydrogens = true\nstructure = \"" + peptide + "\"\n";
  const struct {
    const char* name;
    std::string source, forces;
  } systems[] = {
      {"xml", xml, vacuum},
      {"solvate", xml + "solvate = {model = \"tip3p\", padding = \"0.4 nm\"}\n", cut},
      {"water", "build = {kind = \"water\", model = \"tip4pew\", molecules = 60}\n", cut},
      {"argon", "lennard_jones = {}\nbuild = {cells = 3, edge = \"0.56 nm\"}\n",
       "coulombtype = \"none\"\nrvdw = \"0.8 nm\"\n"}};
  for (const auto& s : systems) {
    const std::string name = s.name, app = "app = \"molecular.dynamics\"\n";
    write("case.toml", app + s.source + s.forces + sums + begin + more);
    Outcome o = tessera({"run", "case.toml", "--output", name + "_whole", "--threads", "1"});
    ASSERT_EQ(o.code, 0) << name << o.err;
    ASSERT_TRUE(fs::exists(here() / (name + "_whole") / "system.prmtop")) << name << o.err;
    const auto whole = table(fs::path(name + "_whole") / "3_two/energies.csv");
    write("next.toml", app + "topology = \"" + name + "_whole/system.prmtop\"\nstructure = \"" +
                           name + "_whole/2_one/final.ncrst\"\n" + s.forces + sums + more);
    o = tessera({"run", "next.toml", "--output", name + "_next", "--threads", "1"});
    ASSERT_EQ(o.code, 0) << name << o.err;
    const auto next = table(fs::path(name + "_next") / "1_two/energies.csv");
    ASSERT_EQ(next.at("potential").size(), 11u);
    // Parameters of a prmtop have nine digits.
    for (const std::size_t k : {std::size_t{0}, std::size_t{10}})
      for (const char* column : {"time_ps", "potential", "kinetic"})
        EXPECT_NEAR(next.at(column)[k], whole.at(column)[k], 1e-6 * std::abs(whole.at(column)[k]))
            << name << " " << column << " " << k;
  }
  // The same force field again, with what a PDB file lacks; its own topology is the first case's.
  const std::string again = "forcefield = [\"" + field +
                            "\"]\nstructure = \"xml_whole/2_one/final.pdb\"\nvelocities = "
                            "\"xml_whole/2_one/final.ncrst\"\n";
  write("next.toml", "app = \"molecular.dynamics\"\n" + again + vacuum + sums + more);
  const Outcome o = tessera({"run", "next.toml", "--output", "again", "--threads", "1"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto whole = table("xml_whole/3_two/energies.csv"),
             next = table("again/1_two/energies.csv");
  for (const char* column : {"time_ps", "potential", "kinetic"})
    EXPECT_NEAR(next.at(column)[10], whole.at(column)[10], 1e-9 * std::abs(whole.at(column)[10]))
        << column;
  write("bad.toml", "app = \"molecular.dynamics\"\nforcefield = [\"" + field +
                        "\"]\nstructure = \"xml_whole/2_one/final.pdb\"\nvelocities = "
                        "\"xml_whole/1_down/final.ncrst\"\n" +
                        vacuum + sums + more);
  const Outcome bad = tessera({"check", "bad.toml"});
  EXPECT_NE(bad.code, 0);
  EXPECT_TRUE(holds(bad.err, "bad.toml:4:") && holds(bad.err, "holds no velocities")) << bad.err;
}

/// A stage behind one that looks at frames begins as without it, in a run that is resumed, too.
TEST_F(MdStages, ARerunMovesNothing) {
  std::string head = kArgon;
  head = "output.final = [\"gro\"]\n" + head.substr(0, head.find("[[stage]]"));
  const std::string one = "[[stage]]\nname = \"one\"\nnsteps = 20\ngen_temp = \"120 K\"\n",
                    two = "[[stage]]\nname = \"two\"\nnsteps = 20\n";
  write("straight.toml", head + one + two);
  ASSERT_EQ(tessera({"run", "straight.toml", "--output", "STRAIGHT"}).code, 0);
  write("look.toml", head + one +
                         "[[stage]]\nname = \"look\"\ntype = \"rerun\"\nframes = "
                         "\"STRAIGHT/2_two/final.gro\"\n" +
                         two);
  const Outcome o = tessera({"run", "look.toml", "--output", "LOOK"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string expected = read("STRAIGHT/2_two/energies.csv");
  EXPECT_EQ(read("LOOK/3_two/energies.csv"), expected);
  // As if it had been killed in the last stage, before a checkpoint of that one.
  constexpr std::uint64_t last_stage = std::uint64_t{2} << 40;
  std::size_t removed = 0;
  for (const auto& e : fs::directory_iterator(here() / "LOOK/ckpt")) {
    const std::string name = e.path().filename().string();
    if (name.starts_with("step-") && std::stoull(name.substr(5)) >= last_stage)
      removed += fs::remove(e.path());
  }
  ASSERT_GT(removed, 0u);
  fs::remove_all(here() / "LOOK/3_two");
  std::string manifest = read("LOOK/manifest.json");
  const std::string ended = "\"exit_code\": 0";
  ASSERT_TRUE(holds(manifest, ended)) << manifest;
  write("LOOK/manifest.json",
        manifest.replace(manifest.find(ended), ended.size(), "\"exit_code\": -1"));
  const Outcome again = tessera({"resume", "LOOK"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err, "stage 'look'")) << again.err;
  EXPECT_EQ(read("LOOK/3_two/energies.csv"), expected);
}

}  // namespace
