// SPDX-License-Identifier: Apache-2.0
//
// Nucleic acids: the bonds that names tell, in a double helix that is built here.
#include "duplex.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::molecular {
namespace {

class Duplex : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Duplex, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "RNA" : "DNA"; });

TEST_P(Duplex, BondsByNamesJoinAtomsThatAreNear) {
  const bool rna = GetParam();
  Structure s = testing::duplex(rna ? "CGAU" : "CGAT", rna);
  add_standard_bonds(s);
  // A ring more than a tree each: bonds = atoms - 1 + rings of a nucleotide (sugar, one or two of
  // the base), 3 links in each strand.
  std::size_t expected = 2 * 3;
  for (std::size_t r = 0; r < s.residues.size(); ++r) {
    const auto size =
        static_cast<std::size_t>(std::ranges::count(s.residue, static_cast<std::int32_t>(r)));
    const char base = s.residues[r].name.back();
    expected += size - 1 + (base == 'A' || base == 'G' ? 3 : 2);
  }
  EXPECT_EQ(s.bonds.size(), expected);
  for (const auto& [i, j] : s.bonds) {
    const Vec3 &a = s.x_nm[static_cast<std::size_t>(i)], &b = s.x_nm[static_cast<std::size_t>(j)];
    const double d = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    EXPECT_GT(d, 0.115) << s.name[static_cast<std::size_t>(i)] << " - "
                        << s.name[static_cast<std::size_t>(j)];
    EXPECT_LT(d, 0.18) << s.name[static_cast<std::size_t>(i)] << " - "
                       << s.name[static_cast<std::size_t>(j)];
  }
  // Written as a file and read again, the same.
  const Structure again = read_pdb(data::make_text_file("duplex.pdb", pdb_text(s))).structure;
  EXPECT_EQ(again.name, s.name);
  EXPECT_EQ(again.bonds, s.bonds);
}

/// CHARMM and old files call the methyl of thymine C5M, with H51 to H53; C5 itself bears none.
TEST(Nucleotides, HydrogensOfTheMethylOfThymine) {
  Structure s;
  s.residues = {{"DT", "1", "A", ""}};
  s.chain = {0};
  s.name = {"C5", "C5M", "C6", "H51", "H52", "H53", "H6"};
  s.element = {6, 6, 6, 1, 1, 1, 1};
  s.residue.assign(7, 0);
  s.x_nm.resize(7);
  const Structure bare = s;
  for (const char* name : {"DT", "THY"}) {
    s = bare;
    s.residues[0].name = name;
    add_standard_bonds(s);
    EXPECT_EQ(s.bonds, (std::vector<std::array<std::int32_t, 2>>{
                           {0, 1}, {0, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 6}}))
        << name;
  }
}

}  // namespace
}  // namespace tessera::molecular
