// SPDX-License-Identifier: Apache-2.0
// The cases of apps/examples/molecular: all are sound, and those that build their system from a few
// heavy atoms run, shortened.
#include "md_case.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/gromacs.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera::testing;
namespace fs = std::filesystem;
namespace mol = tessera::molecular;

namespace {

const fs::path kGallery = fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular";

class MdGallery : public Md {
 protected:
  /// A case with 20 steps of each stage, into RUN.
  Outcome shortened(const char* name, int stages, int promises) {
    std::vector<std::string> command{"run",       (kGallery / name).string(),
                                     "--output",  "RUN",
                                     "--threads", "1",
                                     "--set",     "nstenergy=10",
                                     "--set",     "nstxout=10"};
    const auto set = [&](const std::string& what) {
      command.insert(command.end(), {"--set", what});
    };
    for (int k = 0; k < stages; ++k)
      set("stage[" + std::to_string(k) + (k == 0 ? "].nsteps=20" : "].duration=40 fs"));
    for (int k = 0; k < promises; ++k)
      set("expect[" + std::to_string(k) + "].tolerance=1e6");  // of so short a run
    return tessera(command);
  }
  std::map<std::string, int> residues(const fs::path& gro) const {
    std::map<std::string, int> count;
    for (const mol::Residue& r :
         mol::read_gro(tessera::data::read_text_file(here() / gro)).residues)
      ++count[r.name];
    return count;
  }
};

TEST_F(MdGallery, EveryCaseIsSoundAndOnItsPage) {
  const std::string page = [] {
    std::ostringstream all;
    all << std::ifstream(kGallery / "README.md").rdbuf();
    return all.str();
  }();
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kGallery)) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_TRUE(holds(page, "`" + entry.path().filename().string() + "`")) << entry.path();
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (!holds(text.str(), "molecular.dynamics")) continue;
    const Outcome o = tessera({"check", entry.path().string()});
    EXPECT_EQ(o.code, 0) << entry.path() << o.err;
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST_F(MdGallery, AlanineFromTenHeavyAtoms) {
  const Outcome o = shortened("alanine.toml", 4, 2);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::map<std::string, int> count = residues("RUN/4_npt/final.gro");
  EXPECT_EQ(count.at("ACE") + count.at("ALA") + count.at("NME"), 3);
  EXPECT_GT(count.at("HOH"), 440);
  const auto shown = frames("RUN/4_npt/trajectory.xtc");
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0].frame.x_nm.size(), 22u);
  for (const char* name :
       {"4_npt/final.rst7", "4_npt/final.pdb", "4_npt/trajectory.pdb", "plots/npt.png"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  EXPECT_TRUE(table("RUN/3_nvt/energies.csv").contains("not_protein_temperature_k"));
  EXPECT_LT(table("RUN/1_minimize/energies.csv").at("potential").back(), -15000);
}

TEST_F(MdGallery, AspartateIsNeutralisedInSaltWater) {
  const Outcome o = shortened("aspartate.toml", 3, 1);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::map<std::string, int> count = residues("RUN/3_npt/final.gro");
  EXPECT_EQ(count.at("NA"), 6);  // one for the charge, and 0.5 mol/L of 15.6 nm^3
  EXPECT_EQ(count.at("CL"), 5);
  EXPECT_TRUE(
      holds(tessera({"check", (kGallery / "aspartate.toml").string()}).out, "net charge 0 e"));
  EXPECT_EQ(frames("RUN/3_npt/trajectory.xtc").at(0).frame.x_nm.size(), 24u + 11u);
}

TEST_F(MdGallery, HydrogensAreThoseOfTheTemplates) {
  write("case.toml",
        "app = \"molecular.dynamics\"\nforcefield = [\"" + (kGallery / "peptides.xml").string() +
            "\"]\nstructure = \"" + (kGallery / "alanine.pdb").string() +
            "\"\ncoulombtype = \"cut-off\"\nrcoulomb = \"inf\"\nrvdw = \"inf\"\nnsteps = 0\n");
  const Outcome without = tessera({"check", "case.toml"});
  EXPECT_EQ(without.code, 4) << without.out;
  EXPECT_TRUE(holds(without.err, "E0731")) << without.err;
  const Outcome with = tessera({"check", "case.toml", "--set", "add_hydrogens=true"});
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_TRUE(holds(with.out, "22 atoms in 3 residues, net charge ")) << with.out;
  write("argon.toml", "add_hydrogens = true\n" + std::string(kArgon));
  const Outcome argon = tessera({"check", "argon.toml"});
  EXPECT_EQ(argon.code, 5);
  EXPECT_TRUE(holds(argon.err, "E0750")) << argon.err;
}

}  // namespace
