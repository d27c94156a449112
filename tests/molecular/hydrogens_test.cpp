// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/structure_file.h"
#include "test_data.h"

#include <gtest/gtest.h>

namespace tessera::molecular {
namespace {

/// The structure without the atoms that `leave` says.
Structure stripped(const Structure& s, auto&& leave) {
  Structure out = s;
  out.name.clear(), out.element.clear(), out.residue.clear(), out.x_nm.clear(), out.bonds.clear();
  std::vector<std::int32_t> now(s.n_atoms(), -1);
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    if (leave(i)) continue;
    now[i] = static_cast<std::int32_t>(out.n_atoms());
    out.name.push_back(s.name[i]), out.element.push_back(s.element[i]),
        out.residue.push_back(s.residue[i]), out.x_nm.push_back(s.x_nm[i]);
  }
  for (const auto& [i, j] : s.bonds)
    if (now[static_cast<std::size_t>(i)] >= 0 && now[static_cast<std::size_t>(j)] >= 0)
      out.bonds.push_back({now[static_cast<std::size_t>(i)], now[static_cast<std::size_t>(j)]});
  return out;
}

TEST(Hydrogens, ARealProteinGetsThoseBackThatWereTaken) {
  const auto folder = tessera::testing::test_data() / "md/p6mrr";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const std::vector<data::TextFile> files = {data::read_text_file(folder / "ff99SBildn.xml"),
                                             data::read_text_file(folder / "tip3p_standard.xml")};
  const ForceField ff = read_openmm_xml(files);
  const Structure whole = read_structure(folder / "6mrr_equil.pdb.gz").structure;
  const Structure bare = stripped(whole, [&](std::size_t i) { return whole.element[i] == 1; }),
                  built = with_hydrogens(ff, bare);
  ASSERT_EQ(built.n_atoms(), whole.n_atoms());

  const auto positions = [](const Structure& s) {
    std::map<std::pair<std::int32_t, std::string>, std::size_t> out;
    for (std::size_t i = 0; i < s.n_atoms(); ++i) out[{s.residue[i], s.name[i]}] = i;
    return out;
  };
  const auto there = positions(whole), here = positions(built);
  EXPECT_EQ(here.size(), there.size());
  const System a = apply(ff, whole).system, b = apply(ff, built).system;
  std::size_t n = 0;
  double worst = 0;
  for (const auto& [key, i] : there) {
    const auto at = here.find(key);
    ASSERT_NE(at, here.end()) << key.first << " " << key.second;
    EXPECT_EQ(a.atoms.type[i], b.atoms.type[at->second]);
    // Where no bond turns, the position is that of the file but for its thermal motion.
    if (key.second != "HA" && key.second != "HE1" && key.second != "HZ2") continue;
    const Residue& r = whole.residues[static_cast<std::size_t>(key.first)];
    if (key.second != "HA" && r.name != "TRP" && r.name != "PHE" && r.name != "TYR") continue;
    const Vec3 &p = whole.x_nm[i], &q = built.x_nm[at->second];
    worst = std::max(worst, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
    ++n;
  }
  EXPECT_GT(n, 60U);
  EXPECT_LT(worst, 0.05);
}

TEST(Hydrogens, WhatIsThereStaysAndOnlyTheRestIsAdded) {
  const auto folder = tessera::testing::test_data() / "md/p6mrr";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const std::vector<data::TextFile> files = {data::read_text_file(folder / "ff99SBildn.xml")};
  const ForceField ff = read_openmm_xml(files);
  const Structure all = read_structure(folder / "6mrr_equil.pdb.gz").structure,
                  protein = stripped(all, [&](std::size_t i) {
                    return is_water(all.residues[static_cast<std::size_t>(all.residue[i])].name);
                  });
  const Structure some = stripped(
                      protein,
                      [&](std::size_t i) { return protein.element[i] == 1 && i % 3 == 0; }),
                  built = with_hydrogens(ff, some);
  EXPECT_EQ(built.n_atoms(), protein.n_atoms());
  EXPECT_EQ(with_hydrogens(ff, protein).x_nm, protein.x_nm);
  // No two atoms overlap: bonded ones are at least 0.09 nm apart.
  for (std::size_t i = 0; i < built.n_atoms(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3 &p = built.x_nm[i], &q = built.x_nm[j];
      ASSERT_GT(std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]), 0.085)
          << built.name[i] << " " << built.name[j] << " of residue " << built.residue[i];
    }
}

}  // namespace
}  // namespace tessera::molecular
