// SPDX-License-Identifier: Apache-2.0
//
// Our readers and writers of PDB and mmCIF against gemmi's, which share no code with them.
#include "tessera/molecular/elements.h"
#include "tessera/molecular/structure_file.h"
#include "test_data.h"

#include <gemmi/cif.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/pdb.hpp>
#include <gtest/gtest.h>

namespace tessera::molecular {
namespace {

/// The same atoms in the same residues at the same places.
void compare(const Structure& ours, const gemmi::Structure& theirs, double tolerance_nm) {
  ASSERT_FALSE(theirs.models.empty());
  std::size_t i = 0, residues = 0;
  for (const gemmi::Chain& chain : theirs.models[0].chains)
    for (const gemmi::Residue& r : chain.residues) {
      ++residues;
      for (const gemmi::Atom& a : r.atoms) {
        ASSERT_LT(i, ours.n_atoms());
        const Residue& mine = ours.residues[static_cast<std::size_t>(ours.residue[i])];
        ASSERT_EQ(ours.name[i], a.name);
        ASSERT_EQ(mine.name, r.name);
        ASSERT_EQ(mine.number, r.seqid.str());
        ASSERT_EQ(symbol_of(ours.element[i]), a.element.name());
        ASSERT_NEAR(ours.x_nm[i][0], a.pos.x / 10, tolerance_nm);
        ASSERT_NEAR(ours.x_nm[i][1], a.pos.y / 10, tolerance_nm);
        ASSERT_NEAR(ours.x_nm[i][2], a.pos.z / 10, tolerance_nm);
        ++i;
      }
    }
  EXPECT_EQ(i, ours.n_atoms());
  EXPECT_EQ(residues, ours.residues.size());
  const Vec3 l = lengths_nm(ours.box);
  EXPECT_NEAR(l[0], theirs.cell.a / 10, tolerance_nm);
  EXPECT_NEAR(l[2], theirs.cell.c / 10, tolerance_nm);
}

TEST(StructureGemmi, ReadersAgreeOnARealProteinAndGemmiReadsWhatWeWrite) {
  const auto path = tessera::testing::test_data() / "md/p6mrr/6mrr_equil.pdb.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Structure s = read_structure(path).structure;
  const std::string original = data::read_text_file(path).text, pdb = pdb_text(s),
                    cif = mmcif_text(s);
  const auto read_pdb_of = [](const std::string& text) {
    return gemmi::read_pdb_from_memory(text.data(), text.size(), "text");
  };
  compare(s, read_pdb_of(original), 1e-12);
  compare(s, read_pdb_of(pdb), 1e-12);
  compare(s, gemmi::make_structure(gemmi::cif::read_memory(cif.data(), cif.size(), "text")), 1e-7);
}

}  // namespace
}  // namespace tessera::molecular
