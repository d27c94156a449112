// SPDX-License-Identifier: Apache-2.0
// Atoms that are held or frozen while a barostat moves the box.
#include "md_case.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;

namespace {

class MdHeld : public Md {
 protected:
  static std::string water(const std::string& keys) { return keys + kWater; }
  static std::string argon(const std::string& keys) {
    const std::string all = kArgon;
    return "nsteps = 5\n" + keys + all.substr(0, all.find("[[stage]]"));
  }
  bool warns(const std::string& text, const char* says) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << text << o.err;
    return holds(o.out + o.err, "E0757") && holds(o.out + o.err, says);
  }
};

const std::string kPressed = "ref_t = \"300 K\"\ntcoupl = \"v-rescale\"\npcoupl = \"c-rescale\"\n",
                  kHeld = "posres = \"index 0\"\n", kFrozen = "freeze = \"resid 1\"\n";
const char *const kStay = "springs hold the box, too", *const kRest = "frozen atoms stay where";

TEST_F(MdHeld, WhatStaysWhileTheBoxChangesIsTold) {
  EXPECT_TRUE(warns(water(kPressed + kHeld), kStay));
  EXPECT_TRUE(warns(water(kPressed + kHeld + "refcoord_scaling = \"no\"\n"), kStay));
  for (const char* scaling : {"com", "all"})
    EXPECT_FALSE(
        warns(water(kPressed + kHeld + "refcoord_scaling = \"" + scaling + "\"\n"), kStay));
  EXPECT_FALSE(warns(water(kHeld), kStay)) << "no barostat";
  EXPECT_FALSE(warns(water(kPressed + "posres = \"none\"\n"), kStay));
  EXPECT_FALSE(warns(water(kPressed), kStay));
  EXPECT_TRUE(warns(water(kPressed + kFrozen), kRest));
  EXPECT_FALSE(warns(water(kFrozen), kRest));
  const std::string flat =
      "pcoupltype = \"semiisotropic\"\ncompressibility = [\"4.5e-5 1/bar\", "
      "\"4.5e-5 1/bar\", \"0 1/bar\"]\n";
  EXPECT_FALSE(warns(argon(kPressed + flat + "freeze_z = \"resid 1\"\n"), kRest));
  EXPECT_TRUE(warns(argon(kPressed + flat + "freeze_x = \"resid 1\"\n"), kRest));
}

/// Masses that choices go by are those of the topology, of all keys.
TEST_F(MdHeld, HeavyHydrogensAreChosenAsHydrogens) {
  write("ch.top",
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nCT 12.011 0 A 0.34 0.4\nHC 1.008 0 A 0.25 0.1\n"
        "[ moleculetype ]\nM 3\n[ atoms ]\n1 CT 1 M C 1\n2 HC 1 M H 1\n[ bonds ]\n1 2 1 0.109 "
        "284512\n"
        "[ system ]\nch\n[ molecules ]\nM 2\n");
  write(
      "ch.gro",
      "ch\n4\n    1M        C    1   0.500   0.500   0.500\n"
      "    1M        H    2   0.609   0.500   0.500\n    2M        C    3   1.200   1.200   1.200\n"
      "    2M        H    4   1.309   1.200   1.200\n   2.0   2.0   2.0\n");
  for (const char* key : {"posres", "freeze"})
    for (const char* choice : {"mass < 2", "mass > 2"}) {
      write("case.toml",
            std::string("app = \"molecular.dynamics\"\ntopology = \"ch.top\"\n"
                        "structure = \"ch.gro\"\ncoulombtype = \"none\"\nrvdw = \"0.9 nm\"\n"
                        "dt = \"0.5 fs\"\nnsteps = 10\nhydrogen_mass = \"3 amu\"\n") +
                key + " = \"" + choice + "\"\n");
      const Outcome o = tessera({"check", "case.toml"});
      EXPECT_EQ(o.code, 0) << key << choice << o.err;
      EXPECT_TRUE(holds(o.out, key == std::string("posres") ? "2 atoms held" : "2 frozen"))
          << key << choice << o.out;
    }
}

/// Restraints of a topology count where the stage defines them.
TEST_F(MdHeld, RestraintsOfTheStageCount) {
  write("held.top",
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 39.948 0 A 0.34 0.99\n[ moleculetype ]\nA "
        "1\n[ atoms "
        "]\n1 AR 1 AR AR 1\n#ifdef POSRES\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n[ "
        "system ]\nheld\n[ molecules ]\nA 2\n");
  write("held.gro",
        "held\n2\n    1AR      AR    1   0.500   0.500   0.500\n"
        "    2AR      AR    2   1.200   1.200   1.200\n   2.0   2.0   2.0\n");
  const std::string text =
      "app = \"molecular.dynamics\"\ntopology = \"held.top\"\nstructure = \"held.gro\"\nrvdw = "
      "\"0.9 nm\"\ncoulombtype = \"none\"\ncomm_mode = \"none\"\nnsteps = 5\n" +
      kPressed;
  EXPECT_FALSE(warns(text, kStay));
  EXPECT_TRUE(warns("define = [\"POSRES\"]\n" + text, kStay));
  const std::string every = "nstcomm = 5\n", linear = "comm_mode = \"linear\"\n";
  const char* const stays = "has no effect where springs hold atoms";
  const std::string moves = every + std::string(text).replace(text.find("comm_mode"), 19, linear);
  EXPECT_FALSE(warns(moves, stays));
  EXPECT_TRUE(warns(water(every + kHeld), stays));
  EXPECT_TRUE(warns("define = [\"POSRES\"]\n" + moves, stays));
  EXPECT_TRUE(warns(text + "[[stage]]\nname = \"a\"\n[[stage]]\ndefine = [\"POSRES\"]\n", kStay));
}

/// What a stage holds lies in the box, so that nothing depends on the image that its file has; of
/// what a topology holds neither, where its centre follows the box.
TEST_F(MdHeld, TheImageOfAStructureDoesNotCount) {
  std::string gro = "held\n27\n", far = gro, some = gro;
  for (int k = 0; k < 27; ++k)
    for (std::string* to : {&gro, &far, &some}) {
      const double more = to == &far || (to == &some && (k == 1 || k == 5)) ? 6 : 0;
      char line[100];
      std::snprintf(line, sizeof line, "%5dAR      AR%5d%8.3f%8.3f%8.3f\n", k + 1, k + 1,
                    0.2 + 0.66 * (k % 3) + more, 0.2 + 0.66 * (k / 3 % 3) - more,
                    0.2 + 0.66 * (k / 9));
      *to += line;
    }
  const std::vector<std::string> structures = {"a.gro", "b.gro", "c.gro"};
  const std::string* const texts[] = {&gro, &far, &some};
  for (std::size_t k = 0; k < 3; ++k) write(structures[k], *texts[k] + "   2.0   2.0   2.0\n");
  write("held.top",
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 39.948 0 A 0.34 0.99\n[ moleculetype ]\nH "
        "1\n[ atoms ]\n1 AR 1 AR AR 1\n#ifdef POSRES\n[ position_restraints ]\n1 1 1000 1000 "
        "1000\n#endif\n[ moleculetype ]\nA 1\n[ atoms ]\n1 AR 1 AR AR 1\n[ system ]\nheld\n"
        "[ molecules ]\nH 9\nA 18\n");
  for (const bool of_topology : {false, true}) {
    std::vector<std::vector<double>> volume, pressure;
    for (const std::string& structure : structures) {
      write("case.toml",
            "app = \"molecular.dynamics\"\ntopology = \"held.top\"\nstructure = \"" + structure +
                "\"\nrvdw = \"0.8 nm\"\ncoulombtype = \"none\"\nprecision = \"f64\"\nnsteps = "
                "40\nnstenergy = 10\nnstxout = 0\nref_p = \"2000 bar\"\ntau_p = \"0.2 ps\"\n" +
                (of_topology ? "define = [\"POSRES\"]\nrefcoord_scaling = \"com\"\n"
                             : "posres = \"index 0 to 8\"\n") +
                kPressed);
      const std::string run = structure + (of_topology ? "_of_topology" : "_of_stage");
      const Outcome o = tessera({"run", "case.toml", "--output", run});
      ASSERT_EQ(o.code, 0) << o.err;
      auto rows = table(run + "/1_dynamics/energies.csv");
      volume.push_back(rows.at("volume_nm3"));
      pressure.push_back(rows.at("pressure_bar"));
    }
    ASSERT_EQ(volume[0].size(), 5u);
    EXPECT_NE(volume[0].back(), volume[0].front());
    for (std::size_t of = 1; of < 3; ++of)
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_NEAR(volume[of][k], volume[0][k], 1e-6 * volume[0][k]) << k << of_topology;
        EXPECT_NEAR(pressure[of][k], pressure[0][k], 1e-3 + 1e-5 * std::abs(pressure[0][k]))
            << k << of_topology;
      }
  }
}

}  // namespace
