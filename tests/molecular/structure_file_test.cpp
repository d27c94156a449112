// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/structure_file.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/trajectory.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using tessera::testing::fault;

Structure pdb(const std::string& text, const StructureOptions& o = {}) {
  return read_pdb(data::make_text_file("a.pdb", text), o).structure;
}
Structure cif(const std::string& text, const StructureOptions& o = {}) {
  return read_mmcif(data::make_text_file("a.cif", text), o).structure;
}

/// A line of a PDB file by its columns.
std::string atom(const std::string& serial, const std::string& name4, const std::string& residue,
                 const std::string& number4, double x, double y, double z,
                 const std::string& element, char alternate = ' ', char insertion = ' ',
                 double occupancy = 1, const char* chain = "A") {
  char line[100];
  std::snprintf(line, sizeof line,
                "ATOM  %5s %4s%c%-4s%1s%4s%c   %8.3f%8.3f%8.3f%6.2f%6.2f          %2s\n",
                serial.c_str(), name4.c_str(), alternate, residue.c_str(), chain, number4.c_str(),
                insertion, x, y, z, occupancy, 0.0, element.c_str());
  return line;
}
/// Capped by nothing: alanine, then glycine.
std::string dipeptide() {
  return "TITLE     TWO RESIDUES\nCRYST1   20.000   30.000   40.000  90.00  90.00  90.00 P 1       "
         "    1\n" +
         atom("1", " N  ", "ALA", "1", 0, 0, 0, "N") +
         atom("2", " H1 ", "ALA", "1", -1, 0, 0, "H") +
         atom("3", " CA ", "ALA", "1", 1.4, 0, 0, "C") +
         atom("4", " HA ", "ALA", "1", 1.4, 1, 0, "H") +
         atom("5", " CB ", "ALA", "1", 1.4, -1.5, 0, "C") +
         atom("6", "1HB ", "ALA", "1", 1.4, -2, 0.9, "H") +
         atom("7", " C  ", "ALA", "1", 2.0, 0, 1.4, "C") +
         atom("8", " O  ", "ALA", "1", 1.5, 0.8, 2.2, "O") +
         atom("9", " N  ", "GLY", "2", 3.2, 0, 1.5, "N") +
         atom("10", " CA ", "GLY", "2", 4.4, 0, 1.5, "C") + "TER\nEND\n";
}

TEST(Pdb, AtomsResiduesCellAndStandardBonds) {
  const Structure s = pdb(dipeptide());
  ASSERT_EQ(s.n_atoms(), 10U);
  EXPECT_EQ(s.title, "TWO RESIDUES");
  EXPECT_EQ(s.residues.size(), 2U);
  EXPECT_EQ(s.residues[1], (Residue{"GLY", "2", "A", ""}));
  EXPECT_EQ(s.element, (std::vector<std::uint8_t>{7, 1, 6, 1, 6, 1, 6, 8, 7, 6}));
  EXPECT_NEAR(s.box.edge[1][1], 3.0, 1e-12);
  EXPECT_NEAR(s.x_nm[6][2], 0.14, 1e-12);
  using Bond = std::array<std::int32_t, 2>;
  EXPECT_EQ(s.bonds, (std::vector<Bond>{
                         {0, 1}, {0, 2}, {2, 3}, {2, 4}, {2, 6}, {4, 5}, {6, 7}, {6, 8}, {8, 9}}));
  EXPECT_EQ(s.line[1], 11U);
}

TEST(Pdb, NoPeptideBondAcrossAGapOrTheEndOfAChain) {
  std::string far = dipeptide();
  far.replace(far.find("   3.200   0.000   1.500"), 24, "   9.200   0.000   1.500");
  EXPECT_EQ(pdb(far).bonds.size(), 8U);
  std::string ended = dipeptide();
  ended.insert(ended.find("ATOM      9"), "TER\n");
  EXPECT_EQ(pdb(ended).bonds.size(), 8U);
}

TEST(Pdb, AlternateLocationsOfTheGreatestOccupancy) {
  const std::string t = atom("1", " N  ", "SER", "7", 0, 0, 0, "N") +
                        atom("2", " CA ", "SER", "7", 1, 0, 0, "C", 'A', ' ', 0.4) +
                        atom("3", " CA ", "SER", "7", 2, 0, 0, "C", 'B', ' ', 0.6) +
                        atom("4", " CB ", "SER", "7", 3, 0, 0, "C", 'A', ' ', 0.4) +
                        atom("5", " CB ", "SER", "7", 4, 0, 0, "C", 'B', ' ', 0.6);
  const StructureFile f = read_pdb(data::make_text_file("a.pdb", t));
  ASSERT_EQ(f.structure.n_atoms(), 3U);
  EXPECT_NEAR(f.structure.x_nm[1][0], 0.2, 1e-12);
  EXPECT_NEAR(f.structure.x_nm[2][0], 0.4, 1e-12);
  ASSERT_EQ(f.remarks.size(), 1U);
  EXPECT_EQ(f.remarks[0].number, 730);
  EXPECT_EQ(f.remarks[0].place.line, 2U);
}

TEST(Pdb, InsertionCodesBeginResidues) {
  const Structure s = pdb(atom("1", " CA ", "GLY", "52", 0, 0, 0, "C") +
                          atom("2", " CA ", "GLY", "52", 4, 0, 0, "C", ' ', 'A') +
                          atom("3", " CA ", "GLY", "53", 8, 0, 0, "C"));
  ASSERT_EQ(s.residues.size(), 3U);
  EXPECT_EQ(s.residues[1].number, "52A");
}

TEST(Pdb, ModelsAreReadOneAtATime) {
  const std::string t = "MODEL        1\n" + atom("1", " CA ", "GLY", "1", 1, 0, 0, "C") +
                        "ENDMDL\nMODEL        2\n" + atom("1", " CA ", "GLY", "1", 2, 0, 0, "C") +
                        "ENDMDL\nEND\n";
  EXPECT_NEAR(pdb(t).x_nm[0][0], 0.1, 1e-12);
  EXPECT_NEAR(pdb(t, {.model = 2}).x_nm[0][0], 0.2, 1e-12);
  EXPECT_THROW(pdb(t, {.model = 3}), data::InputError);
}

/// Frames of a box that moves: GROMACS writes a CRYST1 before each MODEL, VMD parts frames by END.
TEST(Pdb, EachModelHasItsOwnCell) {
  const auto cell = [](int k) {
    char line[100];
    std::snprintf(line, sizeof line, "CRYST1%9.3f%9.3f%9.3f  90.00  90.00  90.00 P 1           1\n",
                  20.0 + k, 20.0, 20.0);
    return std::string(line);
  };
  const auto glycine = [](int k) { return atom("1", " CA ", "GLY", "1", k, 0, 0, "C"); };
  std::string gromacs, vmd, one = cell(5);
  for (int k = 1; k <= 3; ++k) {
    const std::string model = "MODEL        " + std::to_string(k) + "\n" + glycine(k);
    gromacs += cell(k) + model + "TER\nENDMDL\n";
    vmd += cell(k) + glycine(k) + "END\n";
    one += model + "ENDMDL\n";
  }
  for (int k = 1; k <= 3; ++k) {
    EXPECT_NEAR(pdb(gromacs, {.model = k}).box.edge[0][0], 2 + 0.1 * k, 1e-12);
    EXPECT_NEAR(pdb(one, {.model = k}).box.edge[0][0], 2.5, 1e-12);
  }
  const tessera::testing::TempFolder folder;
  for (const std::string* text : {&gromacs, &vmd, &one}) {
    const auto reader = open_trajectory(folder.write("a.pdb", *text));
    Snapshot s;
    int frames = 0;
    while (reader->read(s)) {
      ++frames;
      EXPECT_NEAR(s.frame.x_nm.at(0)[0], 0.1 * frames, 1e-12);
      EXPECT_NEAR(s.frame.box.edge[0][0], text == &one ? 2.5 : 2 + 0.1 * frames, 1e-12);
    }
    EXPECT_EQ(frames, 3) << *text;
  }
  const StructureFile first = read_pdb(data::make_text_file("a.pdb", vmd));
  EXPECT_NEAR(first.structure.box.edge[0][0], 2.1, 1e-12);
  ASSERT_EQ(first.remarks.size(), 1U) << "atoms behind END are not left out without a word";
  EXPECT_EQ(first.remarks[0].place.line, 5U);
}

/// Where there is no cell, crystallographers' files have 1 x 1 x 1, and those of VMD 0 x 0 x 0.
TEST(Pdb, CellsThatAreNone) {
  for (const char* edge : {"1.000", "0.000"}) {
    const std::string edges = std::string("    ") + edge;
    const StructureFile f = read_pdb(data::make_text_file(
        "a.pdb", "CRYST1" + edges + edges + edges + "  90.00  90.00  90.00 P 1           1\n" +
                     atom("1", " CA ", "GLY", "1", 0, 0, 0, "C")));
    EXPECT_FALSE(is_periodic(f.structure.box)) << edge;
    ASSERT_EQ(f.remarks.size(), 1U) << edge;
    EXPECT_EQ(f.remarks[0].number, 730) << edge;
  }
}

TEST(Pdb, SerialNumbersBeyondFiveDigits) {
  const auto bonds = [](const std::string& a, const std::string& b) {
    return pdb("ATOM  99999  C1  LIG A   1       0.000   0.000   0.000  1.00  0.00           C\n" +
               atom(a, " C2 ", "LIG", "1", 1.5, 0, 0, "C") +
               atom(b, " C3 ", "LIG", "1", 3, 0, 0, "C") + "CONECT" + a + b + "\n")
        .bonds;
  };
  const std::vector<std::array<std::int32_t, 2>> expected = {{1, 2}};
  EXPECT_EQ(bonds("A0000", "A0001"), expected);  // hybrid-36
  EXPECT_EQ(bonds("186a0", "186a1"), expected);  // hexadecimal
  // Six digits begin in column 6 or end in column 12; no atom of such a file is left out.
  for (const std::string start : {"ATOM  99999 ", "ATOM 100000 ", "ATOM  100000", "HETATM100000"}) {
    const std::string text =
        start + " C1  LIG A   1       1.000   2.000   3.000  1.00  0.00           C\n";
    EXPECT_EQ(pdb(text).n_atoms(), 1U) << start;
    EXPECT_THROW(pdb(text + "CONECT10000\n"), data::InputError) << start;
  }
  EXPECT_EQ(pdb(atom("*****", " C2 ", "LIG", "A000", 1.5, 0, 0, "C")).residues[0].number, "10000");
}

TEST(Pdb, DisulfidesAndWater) {
  const Structure s = pdb(
      atom("1", " SG ", "CYS", "1", 0, 0, 0, "S") + atom("2", " SG ", "CYS", "9", 2.05, 0, 0, "S") +
      atom("3", " SG ", "CYS", "20", 4.1, 0, 0, "S") + "TER\n" +
      atom("4", " O  ", "HOH", "1", 9, 0, 0, "O") + atom("5", " H1 ", "HOH", "1", 10, 0, 0, "H") +
      atom("6", " H2 ", "HOH", "1", 9, 1, 0, "H") + atom("7", " O  ", "HOH", "1", 9, 5, 0, "O"));
  EXPECT_EQ(s.bonds, (std::vector<std::array<std::int32_t, 2>>{{0, 1}, {3, 4}, {3, 5}}))
      << "one sulphur makes one bridge";
  EXPECT_EQ(s.residues.size(), 5U) << "a second water of the same number";
}

/// Atoms of a frame may lie on either side of a face of the box; bonds go through it.
TEST(Pdb, DisulfidesAcrossAFace) {
  const Structure s =
      pdb("CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n" +
          atom("1", " SG ", "CYS", "1", 0.5, 5, 5, "S") +
          atom("2", " SG ", "CYS", "9", 18.45, 5, 5, "S"));
  EXPECT_EQ(s.bonds, (std::vector<std::array<std::int32_t, 2>>{{0, 1}}));
}

/// Files of the PDB name what metals are coordinated by; templates of residues know no such bonds.
TEST(Pdb, MetalsAreNotBoundToStandardResidues) {
  const StructureFile f = read_pdb(data::make_text_file(
      "a.pdb", atom("1", " SG ", "CYS", "1", 0, 0, 0, "S") +
                   atom("2", "ZN  ", "ZN", "2", 2.3, 0, 0, "ZN") +
                   atom("3", " O  ", "HOH", "3", 2.3, 2.1, 0, "O") +
                   atom("4", "FE  ", "HEM", "4", 9, 0, 0, "FE") +
                   atom("5", " NA ", "HEM", "4", 9, 2, 0, "N") +
                   atom("6", " C1 ", "LIG", "5", 1.8, 0, 0, "C") +
                   "CONECT    1    2    6\nCONECT    2    1    3\nCONECT    4    5\n"));
  EXPECT_EQ(f.structure.bonds, (std::vector<std::array<std::int32_t, 2>>{{0, 5}, {3, 4}}));
  ASSERT_EQ(f.remarks.size(), 1U);
  EXPECT_EQ(f.remarks[0].place.line, 7U);
}

/// What GROMACS calls forms of residues (its residuetypes.dat) belongs to the protein, as the rest.
TEST(ResidueNames, ThoseOfGromacs) {
  for (const char* name :
       {"ARGN", "ASN1", "ASP1", "ASPH", "CYS1",  "CYS2",  "CYSH",  "GLUH",  "HISA", "HISB", "HIS1",
        "HISP", "LYSH", "LYSN", "NAC",  "NHISD", "CCYS2", "NLYSN", "CASPH", "NALA", "HIS"})
    EXPECT_TRUE(is_amino_acid(name)) << name;
  EXPECT_TRUE(is_water("T5P"));
  for (const char* name : {"NA", "CL", "CYN", "CLA", "SOL", "DA5"})
    EXPECT_FALSE(is_amino_acid(name)) << name;
}

TEST(Pdb, ElementsOfNamesWhereTheColumnsAreBlank) {
  const Structure s = pdb(
      atom("1", " CA ", "GLY", "1", 0, 0, 0, "") + atom("2", "CA  ", "CA", "2", 5, 0, 0, "") +
      atom("3", "HG21", "VAL", "3", 9, 0, 0, "") + atom("4", "CL  ", "CL", "4", 15, 0, 0, "") +
      atom("5", " OW ", "SOL", "5", 20, 0, 0, "") + atom("6", " MW ", "SOL", "5", 21, 0, 0, ""));
  EXPECT_EQ(s.element, (std::vector<std::uint8_t>{6, 20, 1, 17, 8, 0}));
  // Ions of CHARMM; of another residue the same name is that of a carbon.
  const Structure ions =
      pdb(atom("1", " SOD", "SOD", "1", 0, 0, 0, "") + atom("2", "CLA ", "CLA", "2", 5, 0, 0, "") +
          atom("3", "POT ", "POT", "3", 9, 0, 0, "") + atom("4", " CLA", "LIG", "4", 15, 0, 0, ""));
  EXPECT_EQ(ions.element, (std::vector<std::uint8_t>{11, 17, 19, 6}));
  // No element is called A.
  const Structure others =
      pdb(atom("1", "AU1 ", "CLU", "1", 0, 0, 0, "") + atom("2", "SE  ", "MSE", "2", 5, 0, 0, "") +
          atom("3", " SD ", "MET", "3", 9, 0, 0, ""));
  EXPECT_EQ(others.element, (std::vector<std::uint8_t>{79, 34, 16}));
}

TEST(Pdb, FaultsHavePlaces) {
  const auto check = [](const std::string& text, int number, std::size_t line, std::size_t column,
                        const char* part) {
    const data::Diagnostic d = fault([&] { pdb(text); });
    EXPECT_EQ(d.number, number) << part << ": " << to_string(d);
    EXPECT_EQ(d.place.line, line) << to_string(d);
    EXPECT_EQ(d.place.column, column) << to_string(d);
    EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
  };
  const std::string a = atom("1", " CA ", "GLY", "1", 1, 2, 3, "C");
  const auto with = [&](std::size_t column, const std::string& field) {
    return std::string(a).replace(column - 1, field.size(), field);
  };
  check("REMARK nothing\n", 701, 1, 1, "ATOM or HETATM");
  check(a + with(31, "   1.0x0"), 303, 2, 34, "expected a number");
  check(with(31, "     nan"), 303, 1, 36, "expected a number");
  check(with(31, "   1,000"), 303, 1, 34, "expected a number");
  check(with(39, "        "), 303, 1, 39, "expected a coordinate");
  check(with(31, "10000.123   2.000   3.000"), 303, 1, 39, "expected a number");
  check(with(31, "-1000.123-1000.456-1000.789"), 303, 1, 39, "expected a number");
  check(with(31, "10000.12310000.12310000.123"), 303, 1, 39, "moved out of their columns");
  check(with(23, " 1x "), 303, 1, 24, "number of a residue");
  check(with(7, "  1x "), 303, 1, 9, "serial number");
  check(with(77, "Qq"), 702, 1, 77, "no element called");
  check(a + a, 702, 2, 1, "given twice, first in line 1");
  check("MODEL        1\n" + a, 701, 1, 1, "without the ENDMDL");
  check("MODEL        1\n" + a + "MODEL        2\n" + a + "ENDMDL\n", 701, 3, 1, "within a MODEL");
  check(a + "CONECT    1    9\n", 702, 2, 16, "which no atom has");
  check(a + atom("1", " CB ", "GLY", "2", 5, 2, 3, "C") + "CONECT    1    1\n", 702, 3, 11,
        "several atoms have");
  check("CRYST1   20.000    0.000   40.000  90.00  90.00  90.00\n" + a, 702, 1, 1, "positive");
  check("CRYST1   20.000   30.000   40.000  90.00  90.00 190.00\n" + a, 702, 1, 1, "");
  check("CRYST1   20.000   30.000\n" + a, 303, 1, 25, "an edge of the cell");
}

std::string small_cif() {
  return "data_small\n_cell.length_a 20\n_cell.length_b 30.0(2)\n_cell.length_c "
         "40\n_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
         "_struct.title\n;A "
         "title\n;\nloop_\n_atom_site.id\n_atom_site.type_symbol\n_atom_site.label_atom_id\n_atom_"
         "site.label_comp_id\n_atom_site.label_asym_id\n"
         "_atom_site.auth_seq_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n1 O "
         "'O' HOH W 1 1.0 2.0 3.0\n2 H \"H1'\" HOH W 1 2.0 2.0 3.0\n3 C C1 LIG L 5 8 2 3\n4 C C2 "
         "LIG L 5 9.5 2 3\n"
         "loop_\n_struct_conn.id\n_struct_conn.conn_type_id\n_struct_conn.ptnr1_label_asym_id\n_"
         "struct_conn.ptnr1_auth_seq_id\n_struct_conn.ptnr1_label_comp_id\n_struct_conn.ptnr1_"
         "label_atom_id\n"
         "_struct_conn.ptnr2_label_asym_id\n_struct_conn.ptnr2_auth_seq_id\n_struct_conn.ptnr2_"
         "label_comp_id\n_struct_conn.ptnr2_label_atom_id\nc1 covale L 5 LIG C1 L 5 LIG C2\nh1 "
         "hydrog L 5 LIG C1 W 1 HOH O\n";
}

TEST(Mmcif, LoopsPairsAndQuotations) {
  const Structure s = cif(small_cif());
  ASSERT_EQ(s.n_atoms(), 4U);
  EXPECT_EQ(s.title, "A title");
  EXPECT_EQ(s.name[1], "H1'");
  EXPECT_NEAR(s.box.edge[1][1], 3.0, 1e-12);
  EXPECT_EQ(s.bonds, (std::vector<std::array<std::int32_t, 2>>{{0, 1}, {2, 3}}));
  EXPECT_NE(s.chain[0], s.chain[1]);
}

TEST(Mmcif, FaultsHavePlaces) {
  const auto check = [](const std::string& from, const std::string& to, int number,
                        std::size_t line, const char* part) {
    std::string t = small_cif();
    const std::size_t at = t.find(from);
    ASSERT_NE(at, std::string::npos);
    t.replace(at, from.size(), to);
    const data::Diagnostic d = fault([&] { cif(t); });
    EXPECT_EQ(d.number, number) << part << ": " << to_string(d);
    EXPECT_EQ(d.place.line, line) << to_string(d);
    EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
  };
  check("9.5 2 3\n", "9.5 2\n", 701, 24,
        "the last row of the loop _atom_site has 8 values for 9 tags");
  check("8 2 3", "8 2e 3", 303, 23, "expected a number");
  check(" C C1", " Qq C1", 702, 23, "no element called");
  check("_atom_site.Cartn_z\n", "", 701, 11, "needs the tags");
  check("covale L 5 LIG C1", "covale L 5 LIG C9", 702, 36, "which is not there");
  check("\n;\n", "\n", 701, 9, "is not ended");
  check("'O' HOH", "'O HOH", 701, 21, "not closed");
  check("data_small", "small", 701, 1, "expected data_NAME");
  check("_cell.length_a 20", "_cell.length_a", 701, 2, "has no value");
  check("4 C C2", "4 C C1", 702, 24, "given twice");
  check("_cell.length_a 20", "_cell.length_a 0", 702, 2, "positive");
}

/// Two kinds of residue at one place: bonds are those of the kind that is taken.
TEST(Mmcif, BondsOfALocationThatWasLeftOut) {
  const auto conn = [](const std::string& kind) {
    return "c" + kind + " covale L 5 " + kind + " C1 L 6 LIC C1\n";
  };
  const Structure s = cif(
      "data_x\nloop_\n_atom_site.type_symbol\n_atom_site.label_atom_id\n_atom_site.label_alt_id\n"
      "_atom_site.label_comp_id\n_atom_site.auth_asym_id\n_atom_site.auth_seq_id\n"
      "_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n_atom_site.occupancy\n"
      "C C1 A LIA L 5 0 0 0 0.4\nC C1 B LIB L 5 0 0 1 0.6\nC C1 . LIC L 6 1.5 0 0 1\n"
      "C C1 . LIC M 1 5 0 0 1\n"
      "loop_\n_struct_conn.id\n_struct_conn.conn_type_id\n_struct_conn.ptnr1_auth_asym_id\n"
      "_struct_conn.ptnr1_auth_seq_id\n_struct_conn.ptnr1_label_comp_id\n"
      "_struct_conn.ptnr1_label_atom_id\n_struct_conn.ptnr2_auth_asym_id\n"
      "_struct_conn.ptnr2_auth_seq_id\n_struct_conn.ptnr2_label_comp_id\n"
      "_struct_conn.ptnr2_label_atom_id\n" +
      conn("LIA") + conn("LIB"));
  ASSERT_EQ(s.residues.size(), 3U);
  EXPECT_EQ(s.residues[0].name, "LIB");
  EXPECT_EQ(s.bonds, (std::vector<std::array<std::int32_t, 2>>{{0, 1}}));
  EXPECT_EQ(s.chain, (std::vector<std::int32_t>{0, 0, 1})) << "by the authors' names alone";
}

TEST(Mmcif, MemoryDoesNotGrowWithALoopThatNobodyWants) {
  std::string t = "data_x\nloop_\n_other.a\n_other.b\n";
  for (int k = 0; k < 100000; ++k) t += "1 2\n";
  t += small_cif().substr(11);
  EXPECT_EQ(cif(t).n_atoms(), 4U);
}

TEST(StructureText, WrittenAndReadAgain) {
  Structure s = pdb(dipeptide());
  s.residues[0].number = "12B";
  s.x_nm[3] = {-1.2344, 0.5, 0.25};
  const Structure p = pdb(pdb_text(s)), c = cif(mmcif_text(s));
  for (const Structure* r : {&p, &c}) {
    EXPECT_EQ(r->name, s.name);
    EXPECT_EQ(r->element, s.element);
    EXPECT_EQ(r->residue, s.residue);
    EXPECT_EQ(r->bonds, s.bonds);
    EXPECT_EQ(r->title, s.title);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(r->residues[k].number, s.residues[k].number);
    for (std::size_t i = 0; i < s.n_atoms(); ++i)
      for (std::size_t a = 0; a < 3; ++a)
        EXPECT_NEAR(r->x_nm[i][a], s.x_nm[i][a], r == &p ? 0.5001e-4 : 0.5001e-7);
  }
}

TEST(Structure, AsASystemItHasItsAtomsAndBondsAndNoCharges) {
  const Structure s = pdb(dipeptide());
  const System system = system_of(s);
  EXPECT_EQ(system.title, "TWO RESIDUES");
  EXPECT_EQ(system.residues, s.residues);
  EXPECT_EQ(system.connectivity, s.bonds);
  EXPECT_EQ(system.atoms.name, s.name);
  EXPECT_EQ(system.atoms.residue, s.residue);
  EXPECT_NEAR(system.atoms.mass_amu[2], 12.011, 1e-3);
  EXPECT_TRUE(std::isnan(system.atoms.charge_e[0]));
  const Structure back = structure_of(system, {.x_nm = s.x_nm, .box = s.box});
  EXPECT_EQ(back.bonds, s.bonds);
  EXPECT_EQ(back.element, s.element);
}

/// By their symbols, or where these are blank by names; hydrogens beside them stay what they are.
TEST(Structure, DeuteriumAndTritiumWeighWhatTheyDo) {
  const auto masses = [](const Structure& s) { return system_of(s).atoms.mass_amu; };
  const std::string hod =
      atom("1", " O  ", "DOD", "1", 0, 0, 0, "O") + atom("2", " H2 ", "DOD", "1", 0, 1, 0, "H");
  for (const char* symbol : {"D", ""}) {
    const Structure s = pdb(hod + atom("3", " D1 ", "DOD", "1", 1, 0, 0, symbol));
    EXPECT_EQ(s.element, (std::vector<std::uint8_t>{8, 1, 1}));
    EXPECT_EQ(masses(s), (std::vector<double>{15.999, 1.0080, 2.0141})) << symbol;
  }
  std::string text = small_cif();
  text.replace(text.find(" H \"H1'"), 2, " D"), text.replace(text.find(" C C1"), 2, " T");
  EXPECT_EQ(masses(cif(text)), (std::vector<double>{15.999, 2.0141, 3.0160, 12.011}));
}

/// Virtual sites have no bond in a structure file, its own writer's included: they belong to the
/// first heavy atom of their residue.
TEST(Structure, VirtualSitesAreOfTheMoleculeOfTheirResidue) {
  const BuiltSystem water = water_box({.model = "tip4p2005", .molecules = 8});
  const Structure s = structure_of(water.system, water.frame);
  for (const Structure& read : {pdb(pdb_text(s)), cif(mmcif_text(s))}) {
    const std::vector<std::int32_t> molecule = molecules(system_of(read));
    ASSERT_EQ(molecule.size(), 32u);
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_EQ(molecule[i], static_cast<std::int32_t>(i / 4)) << i;
  }
  Structure alone;  // nothing to belong to
  alone.name = {"X"};
  alone.element = {0};
  alone.residue = {0};
  alone.residues = {{"DUM", "1", "", ""}};
  alone.x_nm = {{0, 0, 0}};
  EXPECT_TRUE(system_of(alone).connectivity.empty());
}

TEST(StructureText, NumbersAndNamesThatAreNone) {
  Structure s = pdb(dipeptide());
  s.title = "two\nlines";
  s.name[0] = "data_";
  s.residues[0].number = "-A";  // no number before its insertion code
  s.residues[1].number = "-12";
  const Structure c = cif(mmcif_text(s));
  EXPECT_EQ(c.name, s.name);
  EXPECT_EQ(c.title, "two lines");
  EXPECT_EQ(c.residues[1].number, "-12");
  s.name[0] = "N";
  const Structure p = pdb(pdb_text(s));
  EXPECT_EQ(p.n_atoms(), s.n_atoms());
  EXPECT_EQ(p.title, "two lines");
  EXPECT_EQ(p.residues[0].number, "1A");
  EXPECT_EQ(p.residues[1].number, "-12");
  s.residues[1].number = "-1000";
  EXPECT_THROW(pdb_text(s), Error);
  s.residues[1].number = "123456789";
  EXPECT_THROW(pdb_text(s), Error);
}

TEST(StructureText, BondsOfLigandsAreKept) {
  const Structure s = cif(small_cif());
  EXPECT_EQ(pdb(pdb_text(s)).bonds, s.bonds);
  EXPECT_EQ(cif(mmcif_text(s)).bonds, s.bonds);
}

/// Residue, chain and number of a TER stand in the columns of those of an ATOM.
TEST(StructureText, TheEndOfAChainHasItsColumns) {
  const std::string text = pdb_text(pdb(atom("1", " OH2", "TIP3", "7", 0, 0, 0, "O")));
  EXPECT_EQ(text.substr(text.find("TER") + 17, 9), "TIP3A   7") << text;
}

TEST(StructureText, WhatHasNoRoomInPdbIsRefused) {
  Structure s = pdb(dipeptide());
  s.x_nm[0][0] = 1000;
  EXPECT_THROW(pdb_text(s), Error);
  s.x_nm[0][0] = 0;
  s.name[0] = "LONGER";
  EXPECT_THROW(pdb_text(s), Error);
}

TEST(StructureFile, EverySecondAtomOfARealProteinBoundOnce) {
  const auto path = tessera::testing::test_data() / "md/p6mrr/6mrr_equil.pdb.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Structure s = read_structure(path).structure;
  ASSERT_EQ(s.n_atoms(), 15954U);
  // Every hydrogen has one bond and every bond a plausible length (waters there are distorted).
  std::vector<int> bonds(s.n_atoms());
  for (const auto& [i, j] : s.bonds) {
    ++bonds[static_cast<std::size_t>(i)];
    ++bonds[static_cast<std::size_t>(j)];
    const Vec3 &a = s.x_nm[static_cast<std::size_t>(i)], &b = s.x_nm[static_cast<std::size_t>(j)];
    const Vec3 d = shortest(s.box, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
    EXPECT_LT(std::hypot(d[0], d[1], d[2]), 0.2);
  }
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    if (s.element[i] == 1) {
      EXPECT_EQ(bonds[i], 1) << s.name[i];
    }
}

}  // namespace
}  // namespace tessera::molecular
