// SPDX-License-Identifier: Apache-2.0
// What a stage of molecular.dynamics takes over from the one before.
#include "md_case.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MdStages : public Md {
 protected:
  /// Eight waters whose oxygens the topology holds to the places of the structure.
  void write_held_waters() {
    write("held.top",
          "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 0.0 A 0 0\n[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n"
          "2 H 1 SOL HW1 1 0.4238\n3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n#ifdef POSRES\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n[ system ]\nHeld\n"
          "[ molecules ]\nSOL 8\n");
    std::string gro = "Held waters\n   24\n";
    char line[100];
    for (int m = 0; m < 8; ++m) {
      const double x = 0.3 + 1.0 * (m % 2), y = 0.3 + 1.0 * (m / 2 % 2), z = 0.3 + 1.0 * (m / 4);
      const double at[3][3] = {{x, y, z}, {x + 0.1, y, z}, {x - 0.033, y + 0.094, z}};
      const char* names[] = {"OW", "HW1", "HW2"};
      for (int a = 0; a < 3; ++a) {
        std::snprintf(line, sizeof line, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", m + 1, "SOL", names[a], 3 * m + a + 1, at[a][0], at[a][1], at[a][2]);
        gro += line;
      }
    }
    write("held.gro", gro + "   2.00000   2.00000   2.00000\n");
  }
};

/// Places of a topology's restraints are those of the structure, and go on with the box from stage to stage, whatever the stage does.
TEST_F(MdStages, RestraintsOfTheTopologyGoOnWithTheBox) {
  write_held_waters();
  for (const std::string scaling : {"all", "com"}) {
    // A pressure that makes the box grow by some per cent within 50 steps.
    write("case.toml", "app = \"molecular.dynamics\"\ntopology = \"held.top\"\nstructure = \"held.gro\"\ndefine = [\"POSRES\"]\nrefcoord_scaling = \"" + scaling +
                           "\"\ndt = \"1 fs\"\nrcoulomb = \"0.9 nm\"\nrvdw = \"0.9 nm\"\nconstraints = \"h-bonds\"\ntcoupl = \"v-rescale\"\nref_t = \"100 K\"\ngen_temp = \"100 K\"\nnstenergy = 10\n"
                           "pcoupl = \"c-rescale\"\ntau_p = \"0.05 ps\"\nnstpcouple = 5\nref_p = \"-2000 bar\"\n"
                           "[[stage]]\nname = \"one\"\nnsteps = 50\n[[stage]]\nname = \"two\"\nnsteps = 50\n[[stage]]\nname = \"nvt\"\npcoupl = \"no\"\nnsteps = 10\n"
                           "[[stage]]\nname = \"point\"\nnsteps = 0\n[[stage]]\nname = \"down\"\ntype = \"minimize\"\nnsteps = 1\n");
    const fs::path out = "RUN_" + scaling;
    const Outcome run = tessera({"run", "case.toml", "--output", out.string()});
    ASSERT_EQ(run.code, 0) << run.err;
    std::map<std::string, std::vector<double>> before = table(out / "1_one/energies.csv");
    EXPECT_GT(before.at("volume_nm3").back(), 1.01 * before.at("volume_nm3").front()) << "the box has to move";
    for (const char* stage : {"2_two", "3_nvt", "4_point", "5_down"}) {
      const auto next = table(out / stage / "energies.csv");
      const double last = before.at("position_restraints").back(), first = next.at("position_restraints").front();
      // Sums of single contributions are rounded to 2^-32 kJ/mol each.
      EXPECT_NEAR(first, last, 1e-9 * std::abs(last) + 1e-8) << scaling << " " << stage;
      before = next;
    }
  }
}

}  // namespace
