// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/gromacs.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/transform.h"
#include "test_data.h"
#include "topology_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using tessera::testing::expect_fault;
using tessera::testing::fault;
using tessera::testing::TempFolder;
using testing::water_types;

constexpr const char* spce =
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n2 H 1 SOL HW1 1 0.4238\n3 H 1 SOL "
    "HW2 1 0.4238\n"
    "#ifndef FLEXIBLE\n[ settles ]\n1 1 0.1 0.16330\n#else\n[ bonds ]\n1 2 1 0.1 345000\n1 3 1 0.1 "
    "345000\n[ angles ]\n2 1 3 1 109.47 383\n#endif\n";
constexpr const char* two = "[ system ]\nTwo waters\n[ molecules ]\nSOL 2\n";

System parse_top(const std::string& text, const TopologyOptions& options = {}) {
  return read_top(data::make_text_file("none/t.top", text), options).system;
}

/// The first finding of a topology.
data::Diagnostic fault_of_top(const std::string& text, const TopologyOptions& options = {}) {
  return fault([&] { parse_top(text, options); });
}

TEST(Top, RigidAndFlexibleWater) {
  const std::string text = std::string(water_types) + spce + two;
  const System rigid = parse_top(text), flexible = parse_top(text, {.defines = {"FLEXIBLE"}});
  ASSERT_EQ(rigid.n_atoms(), 6U);
  EXPECT_EQ(rigid.title, "Two waters");
  EXPECT_EQ(rigid.rigid_waters.atoms,
            (std::vector<std::array<std::int32_t, 3>>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(rigid.rigid_waters.rows, (std::vector<std::array<double, 2>>{{0.1, 0.1633}}));
  EXPECT_TRUE(rigid.bonds.atoms.empty());
  EXPECT_EQ(flexible.bonds.size(), 4U);
  EXPECT_EQ(flexible.bonds.rows.size(), 1U) << "equal parameters are one row";
  EXPECT_NEAR(flexible.angles.rows[0][0], 109.47 * std::numbers::pi / 180, 1e-15);
  for (const System& s : {rigid, flexible}) {
    EXPECT_EQ(s.exclusions, (std::vector<std::array<std::int32_t, 2>>{
                                {0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}}));
    EXPECT_EQ(s.connectivity,
              (std::vector<std::array<std::int32_t, 2>>{{0, 1}, {0, 2}, {3, 4}, {3, 5}}));
    EXPECT_EQ(s.atoms.element, (std::vector<std::uint8_t>{8, 1, 1, 8, 1, 1}));
    EXPECT_EQ(s.residues.back().number, "2") << "molecules of one residue are numbered on";
    EXPECT_EQ(s.lj.mixing, LennardJones::Mixing::lorentz_berthelot);
    EXPECT_NEAR(s.lj.c6[0], 4 * 0.65 * std::pow(0.3166, 6), 1e-18);
    EXPECT_EQ(s.coulomb_constant, coulomb_codata_2018);
  }
}

TEST(Top, ConstraintsReplaceBonds) {
  const std::string text =
      std::string(water_types) +
      "[ moleculetype ]\nM 3\n[ atoms ]\n1 O 1 M O1 1\n2 H 1 M H1 1\n3 O 1 M O2 1\n[ bonds ]\n1 2 "
      "1 0.1 1000\n1 3 1 0.14 1000\n[ angles ]\n2 1 3 1 90 100\n" +
      "[ system ]\nx\n[ molecules ]\nM 1\n";
  EXPECT_EQ(parse_top(text).constraints.size(), 0U);
  EXPECT_EQ(parse_top(text, {.constraints = Rigid::h_bonds}).constraints.size(), 1U);
  EXPECT_EQ(parse_top(text, {.constraints = Rigid::all_bonds}).constraints.size(), 2U);
  const System h_angles = parse_top(text, {.constraints = Rigid::h_angles});
  ASSERT_EQ(h_angles.constraints.size(), 3U) << "all bonds, and the angle H-O-X";
  EXPECT_TRUE(h_angles.angles.atoms.empty());
}

/// Constraints of function 1 are chemical bonds, of lengths of their own.
TEST(Top, WaterOfThreeConstraintsIsARigidBody) {
  const System s = parse_top(std::string(water_types) +
                             "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8\n2 H 1 SOL "
                             "HW1 1 0.4\n3 H 1 SOL HW2 1 0.4\n[ constraints ]\n1 2 1 0.1\n1 3 1 "
                             "0.1\n2 3 1 0.1633\n" +
                             two);
  const System rigid = constrained(s, Rigid::h_bonds);
  EXPECT_EQ(rigid.rigid_waters.atoms,
            (std::vector<std::array<std::int32_t, 3>>{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(rigid.rigid_waters.rows, (std::vector<std::array<double, 2>>{{0.1, 0.1633}}));
  EXPECT_EQ(rigid.constraints.size(), 0U);
  EXPECT_EQ(constrained(s, Rigid::h_bonds, false), s) << "rigid as the file has it";
}

/// What is left out says how it can be had.
TEST(Top, DistanceRestraintsWithoutAForceConstantAreTold) {
  const std::vector<data::Diagnostic> remarks =
      read_top(data::make_text_file(
                   "none/t.top",
                   std::string(water_types) +
                       "[ moleculetype ]\nPAIR 2\n[ atoms ]\n1 O 1 A O1 1 0\n2 O 1 A O2 1 0\n"
                       "[ distance_restraints ]\n1 2 1 0 1 0.2 0.3 0.5 1\n[ system ]\nPair\n"
                       "[ molecules ]\nPAIR 1\n"))
          .remarks;
  const auto told = std::ranges::find_if(remarks, [](const data::Diagnostic& d) {
    return d.message.starts_with("distance restraints are left out");
  });
  ASSERT_TRUE(told != remarks.end());
  EXPECT_NE(told->hint.find("in C++ alone"), std::string::npos) << told->hint;
  EXPECT_EQ(told->hint.find("mdp"), std::string::npos) << "import refuses disre";
}

/// Function 6 of [ bonds ] is a harmonic restraint without a chemical bond: two diatomic molecules
/// in one, joined by it, have two rigid bonds.
TEST(Top, HarmonicRestraintsNeverBecomeRigid) {
  const System s = parse_top(
      std::string(water_types) +
      "[ moleculetype ]\nPAIR 2\n[ atoms ]\n1 O 1 A O1 1 0\n2 H 1 A H1 1 0\n3 O 1 A O2 1 0\n4 H 1 "
      "A H2 1 0\n[ bonds ]\n1 2 1 0.1 345000\n3 4 1 0.1 345000\n1 3 6 0.4 1000\n2 4 6 0.35 500\n"
      "[ system ]\nPair\n[ molecules ]\nPAIR 1\n");
  ASSERT_EQ(s.bonds.size(), 2U);
  ASSERT_EQ(s.distance_restraints.size(), 2U);
  for (const Rigid which : {Rigid::h_bonds, Rigid::all_bonds, Rigid::h_angles}) {
    const System rigid = constrained(s, which);
    EXPECT_EQ(rigid.constraints.size(), 2U) << static_cast<int>(which);
    EXPECT_EQ(rigid.bonds.size(), 0U) << static_cast<int>(which);
    EXPECT_EQ(rigid.distance_restraints, s.distance_restraints);
    EXPECT_EQ(molecules(rigid), std::vector<std::int32_t>(4, 0)) << "springs hold them together";
  }
}

/// What springs hold is one molecule, which a face of the box does not cut.
TEST(Top, SpringsKeepAtomsInOneMolecule) {
  const System s = parse_top(
      std::string(water_types) +
      "[ moleculetype ]\nPAIR 2\n[ atoms ]\n1 O 1 A O1 1 0\n2 O 1 A O2 1 0\n3 O 1 A O3 1 0\n"
      "[ bonds ]\n1 2 6 0.4 1000\n[ distance_restraints ]\n2 3 1 0 1 0.2 0.3 0.5 1\n"
      "[ system ]\nPair\n[ molecules ]\nPAIR 2\n");
  EXPECT_EQ(molecules(s), (std::vector<std::int32_t>{0, 0, 1, 2, 2, 3}))
      << "a restraint with a flat part holds nothing together";
  const Box box = rectangular_box({2, 2, 2});
  std::vector<Vec3> x = {{0.1, 1, 1}, {1.8, 1, 1}, {1, 1, 1}, {0.5, 1, 1}, {0.6, 1, 1}, {1, 1, 1}};
  MoleculeMap(s).make_whole(x, box);
  EXPECT_NEAR(x[1][0], -0.2, 1e-12);
}

/// A spring beside a bond, before or behind it, neither gives the rigid bond its length nor
/// vanishes with it.
TEST(Top, SpringsBesideRigidBonds) {
  const System s = parse_top(
      "[ defaults ]\n1 1 no\n[ atomtypes ]\nA 12.0 0 A 1e-3 1e-6\n[ moleculetype ]\nM 1\n[ atoms "
      "]\n1 A 1 R A1 1\n2 A 1 R A2 1\n3 A 1 R A3 1\n[ bonds ]\n1 2 6 0.20 1000\n1 2 1 0.15 "
      "100000\n2 3 1 0.15 100000\n2 3 6 0.20 1000\n[ system ]\nx\n[ molecules ]\nM 1\n");
  const System rigid = constrained(s, Rigid::all_bonds);
  ASSERT_EQ(rigid.constraints.size(), 2U);
  for (const std::int32_t row : rigid.constraints.row)
    EXPECT_EQ(rigid.constraints.rows[static_cast<std::size_t>(row)][0], 0.15);
  EXPECT_EQ(rigid.bonds.size(), 0U);
  ASSERT_EQ(rigid.distance_restraints.size(), 2U);
  EXPECT_EQ(rigid.distance_restraints.rows[0], (std::array<double, 3>{0.2, 0.2, 1000}));
}

TEST(Top, PreprocessorFollowsIncludesAndMacros) {
  const TempFolder f;
  f.write("main.top",
          "#include \"ff/all.itp\"\n#define LENGTH 0.1\n#define STIFF LENGTH 345000\n # define "
          "TWICE STIFF\n#ifdef NOT\n#include \"absent.itp\"\n#error never\n#else\n#include "
          "\"water.itp\"\n#endif\n#undef LENGTH\n"
          "[ system ]\nwater ; and a comment\n[ molecules ]\nsol \\\n 1 ; joined\n");
  f.write("ff/all.itp", "; head\n#include \"types.itp\"\n");
  f.write("ff/types.itp", water_types);
  f.write("elsewhere/water.itp",
          "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8\n2 H 1 SOL HW 1 CHARGE\n[ bonds "
          "]\n1 2 1 TWICE\n");
  const auto read = [&](std::vector<std::string> defines) {
    return read_top(f / "main.top",
                    {.include_folders = {f / "elsewhere"}, .defines = std::move(defines)});
  };
  const GromacsTopology t = read({"CHARGE=0.8", "UNUSED"});
  EXPECT_EQ(t.system.bonds.rows, (std::vector<std::array<double, 2>>{{0.1, 345000}}));
  EXPECT_EQ(t.system.atoms.charge_e[1], 0.8);
  EXPECT_EQ(t.files.size(), 4U);
  ASSERT_EQ(t.remarks.size(), 1U);
  EXPECT_NE(t.remarks[0].message.find("UNUSED"), std::string::npos);
  try {
    read({});
    FAIL() << "CHARGE is no number";
  } catch (const data::InputError& e) {
    EXPECT_EQ(e.findings()[0].place.line, 5U);
    EXPECT_NE(e.findings()[0].place.file.find("water.itp"), std::string::npos);
    EXPECT_NE(e.findings()[0].hint.find("main.top:9"), std::string::npos)
        << "the chain of includes";
  }
}

TEST(Top, IncludesStayInTheirFolders) {
  const TempFolder f;
  f.write("secret.itp", "[ defaults ]\n");
  f.write("t/loop.itp", "#include \"loop2.itp\"\n");
  f.write("t/loop2.itp", "\n#include \"loop.itp\"\n");
  const auto fault = [&](const std::string& line, const std::vector<fs::path>& folders = {}) {
    f.write("t/t.top", line + "\n");
    try {
      read_top(f / "t/t.top", {.include_folders = folders});
    } catch (const data::InputError& e) {
      return e.findings().at(0);
    }
    return data::Diagnostic{};
  };
  expect_fault(fault("#include \"../secret.itp\""), 720, 1, 10, "leads out");
  expect_fault(fault("#include \"" + (f / "t/loop.itp").string() + "\""), 720, 1, 10,
               "absolute path");
  expect_fault(fault("#include \"absent.itp\""), 720, 1, 10, "there is no file 'absent.itp'");
  expect_fault(fault("#include <sub>"), 720, 1, 10, "there is no file");
  expect_fault(fault("#include \"../t\""), 102, 1, 10, "folder");
  const data::Diagnostic loop = fault("#include \"loop.itp\"");
  expect_fault(loop, 720, 2, 10, "includes itself");
  EXPECT_NE(loop.place.file.find("loop2.itp"), std::string::npos);
  EXPECT_NE(loop.hint.find("loop.itp:1, from"), std::string::npos) << loop.hint;
  fs::create_symlink(f / "secret.itp", f / "t/link.itp");
  expect_fault(fault("#include \"link.itp\""), 720, 1, 10, "leads out");
  EXPECT_EQ(fault("#include \"../secret.itp\"", {f.path()}).number, 701)
      << "an include folder is trusted";
}

TEST(Top, PreprocessorFaults) {
  expect_fault(fault_of_top("#ifdef A\n[ defaults ]\n"), 721, 1, 1, "no #endif");
  expect_fault(fault_of_top("\n  #else\n"), 721, 2, 3, "without #ifdef");
  expect_fault(fault_of_top("#ifdef A\n#else\n#else\n#endif\n"), 721, 3, 1, "second #else");
  expect_fault(fault_of_top("#endif\n"), 721, 1, 1, "without #ifdef");
  expect_fault(fault_of_top("#if A\n#endif\n"), 721, 1, 1, "unknown directive '#if'");
  expect_fault(fault_of_top("#error no such force field\n"), 721, 1, 1, "no such force field");
  expect_fault(fault_of_top("#include none\n"), 721, 1, 10, "expected #include");
  expect_fault(fault_of_top("#define A B\n#define B A\n[ defaults ]\n1 A\n"), 721, 4, 3,
               "leads back to itself");
  for (const char* section : {"atomtypes", "pairtypes", "nonbond_params", "bondtypes",
                              "constrainttypes", "angletypes", "dihedraltypes", "cmaptypes"})
    expect_fault(fault_of_top(water_types + std::string("#define A A A\n[ ") + section + " ]\nA\n"),
                 721, 8, 1, "leads back to itself");
  std::string bomb;
  for (int k = 0; k < 12; ++k) bomb += fmt::format("#define a{} a{} a{}\n", k, k + 1, k + 1);
  expect_fault(fault_of_top(bomb + "[ defaults ]\na0\n"), 721, 14, 1, "more than 1000 words");
}

TEST(Top, FaultsHavePlaces) {
  const std::string head = water_types, tail = two;
  const auto with_molecule = [&](const std::string& rest) {
    return fault_of_top(
        head + "[ moleculetype ]\nM 3\n[ atoms ]\n1 O 1 M O 1\n2 H 1 M H 1\n3 H 1 M H 1\n" + rest);
  };  // atoms on lines 9 to 11
  expect_fault(fault_of_top("text\n"), 722, 1, 1, "expected a section");
  expect_fault(fault_of_top("[ atoms ]\n"), 722, 1, 1, "may not stand here");
  expect_fault(fault_of_top("[ defaults ]\n2 2\n"), 703, 2, 1, "Buckingham");
  expect_fault(fault_of_top("[ defaults ]\n1 4\n"), 702, 2, 3, "combination rule");
  expect_fault(fault_of_top("[ defaults ]\n1 2 maybe\n"), 702, 2, 5, "gen-pairs");
  expect_fault(fault_of_top(head + "[ atomtypes ]\nX 1 2\n"), 701, 7, 1, "expected: type");
  expect_fault(fault_of_top(head + "[ atomtypes ]\nX 12,0 0 A 1 1\n"), 303, 7, 3,
               "expected a number");
  expect_fault(fault_of_top(head + "[ bondtypes ]\nO H 1 0.1\n"), 701, 7, 7,
               "expected 2 parameters");
  expect_fault(fault_of_top(head + "[ nonbond_params ]\nO Q 1 0.1 1\n"), 723, 7, 3,
               "no atom type 'Q'");
  expect_fault(
      fault_of_top(head + "[ dihedraltypes ]\nA B C D 9 0 1 1\nA B C E 9 0 1 1\nA B C D 9 0 2 2\n"),
      702, 9, 1, "second block");
  expect_fault(fault_of_top(head + "[ bonds ]\n1 2 1\n"), 722, 6, 1, "may not stand here");
  expect_fault(fault_of_top(head + "[ nonsense ]\n"), 722, 6, 1, "unknown section");
  expect_fault(fault_of_top(head + spce + "[ bondtypes ]\n"), 722, 22, 1, "may not stand here");
  expect_fault(fault_of_top(head + spce + spce + tail), 723, 23, 1, "given twice");
  expect_fault(fault_of_top(head + spce), 701, 21, 7, "section [ system ] is missing");
  expect_fault(fault_of_top(head + spce + "[ system ]\nx\n[ molecules ]\nWAT 3\n"), 723, 25, 1,
               "no molecule 'WAT'");
  expect_fault(fault_of_top(head + spce + "[ system ]\nx\n[ molecules ]\nSOL -3\n"), 702, 25, 5,
               "the number of molecules");
  expect_fault(fault_of_top(head + spce + "[ system ]\nx\n[ molecules ]\nSOL 99999999999\n"), 702,
               25, 5, "the number of molecules");
  expect_fault(fault_of_top(head + spce + "[ system ]\nx\n[ molecules ]\nSOL 2000000000\n"), 702,
               25, 5, "more than this program holds");
  expect_fault(fault_of_top(head + spce + "[ system ]\nx\n[ molecules ]\nSOL 0\n"), 702, 25, 6,
               "no atoms");
  expect_fault(with_molecule("4 Q 1 M Q 1\n"), 723, 12, 3, "no atom type 'Q'");
  expect_fault(with_molecule("5 O 1 M O 1\n"), 702, 12, 1, "expected 4, got 5");
  expect_fault(with_molecule("[ bonds ]\n1 4 1\n"), 702, 13, 3,
               "names atom 4; molecule 'M' has 3 atoms");
  expect_fault(with_molecule("[ bonds ]\n1 1 1\n"), 702, 13, 3, "twice");
  expect_fault(with_molecule("[ bonds ]\n1 2 1\n"), 723, 13, 1,
               "no parameters of [ bonds ] function 1 for the types O-H");
  expect_fault(with_molecule("[ bonds ]\n1 2 3 0.1 400 20\n"), 703, 13, 5, "function 3 (Morse)");
  expect_fault(with_molecule("[ bonds ]\n1 2 1 0.1 4 5\n"), 701, 13, 13,
               "expected 2 parameters, or 4 with those of a B state, got 3");
  expect_fault(with_molecule("[ angles ]\n1 2 3 2 100 5\n"), 703, 13, 7, "GROMOS-96 cosine angle");
  expect_fault(with_molecule("4 H 1 M H 1\n[ dihedrals ]\n1 2 3 4 9 0 1 1.5\n"), 702, 14, 9,
               "multiplicity");
  expect_fault(with_molecule("[ polarization ]\n1 2 1\n"), 703, 13, 1,
               "[ polarization ] is not read");
  expect_fault(with_molecule("[ settles ]\n2 1 0.1 0.16\n"), 702, 13, 1, "follow its oxygen");
  expect_fault(with_molecule("[ settles ]\n1 1 0.1 0.26\n"), 702, 13, 5, "no sides of a triangle");
  expect_fault(with_molecule("[ constraints ]\n1 2 1 0\n"), 702, 13, 5, "must be positive");
  expect_fault(
      with_molecule("[ position_restraints ]\n1 1 1 1 1\n[ system ]\nx\n[ molecules ]\nM 1\n"), 724,
      13, 1, "no reference positions");
  expect_fault(with_molecule("[ virtual_sites3 ]\n1 2 3 4 1\n"), 702, 13, 7, "names atom 4");
  expect_fault(with_molecule("[ virtual_sites2 ]\n1 2 3 1\n"), 703, 13, 7,
               "without its 1 parameters");
  expect_fault(
      with_molecule("[ virtual_sites2 ]\n1 2 3 1 0.5\n[ system ]\nx\n[ molecules ]\nM 1\n"), 702, 9,
      1, "but has the mass 15.9994");
  expect_fault(
      fault_of_top(head + "[ moleculetype ]\nM 0\n[ atoms ]\n1 O 1 M O 1 0 0\n[ system ]\nx\n[ "
                          "molecules ]\nM 1\n"),
      702, 9, 1, "has no mass");
}

/// Beads of Martini are atoms here and virtual sites there: what has a place and no mass is a site.
TEST(Top, TypesOfAtomsMayBeVirtualSites) {
  const System s =
      parse_top(std::string(water_types) +
                "[ moleculetype ]\nM 1\n[ atoms ]\n1 O 1 M A 1 0\n2 O 1 M B 1 0\n3 O 1 M S 1 0 "
                "0\n[ bonds ]\n1 2 "
                "1 0.3 1000\n[ virtual_sites2 ]\n3 1 2 1 0.5\n[ system ]\nx\n[ molecules ]\nM 2\n");
  EXPECT_EQ(s.virtual_sites.size(), 2U);
  EXPECT_EQ(s.atoms.element, (std::vector<std::uint8_t>{8, 8, 0, 8, 8, 0}));
  EXPECT_EQ(s.atoms.mass_amu[5], 0);
  EXPECT_NEAR(s.lj.c6[0], 4 * 0.65 * std::pow(0.3166, 6), 1e-18) << "and feels as its type";
}

TEST(Top, MatchingTakesTheMostSpecificDihedral) {
  const std::string text =
      std::string(
          "[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nA 12 0 A 0.3 0.1\nB 12 0 A 0.3 0.1\n") +
      "[ dihedraltypes ]\nX A A X 9 0 1 1\nX A A X 9 0 2 2\nA A A X 9 0 3 3\nB A A B 9 0 4 4\n[ "
      "moleculetype ]\nM 3\n[ atoms ]\n1 A 1 M A 1\n2 A 1 M A 1\n3 A 1 M A 1\n4 B 1 M A 1\n5 B 1 M "
      "A 1\n" +
      "[ dihedrals ]\n1 2 3 4 9\n4 3 2 1 9\n4 2 3 5 9\n[ system ]\nx\n[ molecules ]\nM 1\n";
  const System s = parse_top(text);
  // A A A B matches line 3 from either end; B A A B the last; the first two lines would be taken
  // together, for nothing better.
  ASSERT_EQ(s.dihedrals.size(), 3U);
  EXPECT_EQ(s.dihedrals.rows[static_cast<std::size_t>(s.dihedrals.row[0])][2], 3);
  EXPECT_EQ(s.dihedrals.rows[static_cast<std::size_t>(s.dihedrals.row[1])][2], 3);
  EXPECT_EQ(s.dihedrals.rows[static_cast<std::size_t>(s.dihedrals.row[2])][2], 4);
}

TEST(Top, TypesByAllLayoutsAndRules) {
  const auto read = [&](const char* rule, const char* types, const char* more = "") {
    return parse_top(std::string("[ defaults ]\n1 ") + rule + " no 1 1\n[ atomtypes ]\n" + types +
                     more +
                     "[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 M A 1\n2 B 1 M B 1\n[ system ]\nx\n[ "
                     "molecules ]\nM 1\n");
  };
  for (const char* types : {"A 12.011 0.1 A 0.3 0.5\nB 15.999 -0.1 A 0.2 0.1\n",
                            "A 6 12.011 0.1 A 0.3 0.5\nB 8 15.999 -0.1 A 0.2 0.1\n",
                            "A aa 12.011 0.1 A 0.3 0.5\nB bb 15.999 -0.1 A 0.2 0.1\n",
                            "A aa 6 12.011 0.1 A 0.3 0.5\nB bb 8 15.999 -0.1 A 0.2 0.1\n"}) {
    const System s = read("2", types);
    EXPECT_EQ(s.atoms.element, (std::vector<std::uint8_t>{6, 8})) << types;
    EXPECT_EQ(s.atoms.charge_e, (std::vector<double>{0.1, -0.1})) << "of the types";
    EXPECT_NEAR(s.lj.c6[1], 4 * std::sqrt(0.05) * std::pow(0.25, 6), 1e-18);
  }
  EXPECT_EQ(
      parse_top(
          "[ defaults ]\n1 2\n[ atomtypes ]\nCH2 14.027 0 A 0.3 0.5\nCH4 16.04 0 A 0.3 0.5\n"
          "NT 14.007 0 A 0.3 0.5\n[ moleculetype ]\nM 0\n[ atoms ]\n1 CH2 1 M A 1\n2 CH4 1 M B 1\n"
          "3 NT 1 M C 1\n[ system ]\nx\n[ molecules ]\nM 1\n")
          .atoms.element,
      (std::vector<std::uint8_t>{6, 6, 7}))
      << "united atoms are carbon";
  const System geometric =
      read("3", "A 12 0 A 0.3 0.5\nB 16 0 A 0.2 0.1\n", "[ nonbond_params ]\nB A 1 0.4 0.7\n");
  EXPECT_EQ(geometric.lj.mixing, LennardJones::Mixing::geometric);
  EXPECT_EQ(geometric.lj.exceptions, (std::vector<std::array<std::int32_t, 2>>{{0, 1}}));
  EXPECT_NEAR(geometric.lj.c12[1], 4 * 0.7 * std::pow(0.4, 12), 1e-18);
  const System by_c6 = read("1", "A 12 0 A 2e-3 3e-6\nB 16 0 A 1e-3 1e-6\n");
  EXPECT_EQ(by_c6.lj.mixing, LennardJones::Mixing::geometric);
  EXPECT_NEAR(by_c6.lj.c6[1], std::sqrt(2e-6), 1e-18);
  const LennardJones rule = mixed(by_c6.lj.mixing, by_c6.lj.sigma_nm, by_c6.lj.epsilon);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(rule.c12[k], by_c6.lj.c12[k], 1e-12 * by_c6.lj.c12[k]);
  const System repulsive = read("2", "A 12 0 A -0.3 0.5\nB 16 0 A 0.2 0.1\n");
  EXPECT_EQ(repulsive.lj.mixing, LennardJones::Mixing::tables) << "a negative sigma: no attraction";
  EXPECT_EQ(repulsive.lj.c6[1], 0);
  EXPECT_NEAR(repulsive.lj.c12[1], 4 * std::sqrt(0.05) * std::pow(0.25, 12), 1e-18);
}

TEST(Top, BStatesAreToldOnce) {
  const std::string text =
      std::string(water_types) +
      "[ moleculetype ]\nM 3\n[ atoms ]\n1 O 1 M O 1 0 16 O 0 16\n2 H 1 M H 1 0 1 H 0.5 1\n3 H 1 M "
      "H 1 0.1 1 O\n[ bonds ]\n1 2 1 0.1 100 0.2 100\n[ system ]\nx\n[ molecules ]\nM 1\n";
  const GromacsTopology t = read_top(data::make_text_file("none/t.top", text));
  ASSERT_EQ(t.remarks.size(), 1U);
  EXPECT_EQ(t.remarks[0].place.line, 10U);
  EXPECT_EQ(t.system.bonds.rows[0][0], 0.1);
}

/// A topology that says what a System holds, term by term, as a force field without types.
std::string as_topology(const System& s) {
  const auto at = [](auto i) { return static_cast<std::size_t>(i); };
  std::string t = "[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\n";
  for (int k = 0; k < s.lj.types; ++k)
    t += fmt::format("T{} 1 1.0 0.0 A {:.17g} {:.17g}\n", k, s.lj.c6[at(k * s.lj.types + k)],
                     s.lj.c12[at(k * s.lj.types + k)]);
  t += "[ nonbond_params ]\n";
  for (int i = 0; i < s.lj.types; ++i)
    for (int j = 0; j < i; ++j)
      t += fmt::format("T{} T{} 1 {:.17g} {:.17g}\n", i, j, s.lj.c6[at(i * s.lj.types + j)],
                       s.lj.c12[at(i * s.lj.types + j)]);
  t += "[ moleculetype ]\nall 0\n[ atoms ]\n";
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    t += fmt::format("{} T{} {} {} {} 1 {:.17g} {:.17g}\n", i + 1, s.atoms.lj_type[i],
                     s.residues[at(s.atoms.residue[i])].number,
                     s.residues[at(s.atoms.residue[i])].name, s.atoms.name[i], s.atoms.charge_e[i],
                     s.atoms.mass_amu[i]);
  const auto section = [&](const char* name, const auto& terms, int function, auto&& values) {
    t += fmt::format("[ {} ]\n", name);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      for (const auto a : terms.atoms[k]) t += fmt::format("{} ", a + 1);
      t += fmt::format("{} ", function);
      for (const double v : values(terms.rows[at(terms.row[k])])) t += fmt::format("{:.17g} ", v);
      t += '\n';
    }
  };
  constexpr double degree = std::numbers::pi / 180;
  section("bonds", s.bonds, 1, [](const auto& p) { return std::vector{p[0], p[1]}; });
  section("angles", s.angles, 1, [](const auto& p) { return std::vector{p[0] / degree, p[1]}; });
  section("dihedrals", s.dihedrals, 9, [](const auto& p) {
    return std::vector{p[0] / degree, p[1], p[2]};
  });
  section("dihedrals", s.impropers, 4, [](const auto& p) {
    return std::vector{p[0] / degree, p[1], p[2]};
  });
  t += "[ pairs ]\n";
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const auto [i, j] = s.pairs.atoms[k];
    const auto& p = s.pairs.rows[at(s.pairs.row[k])];
    t += fmt::format("{} {} 2 {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", i + 1, j + 1, p[2],
                     s.atoms.charge_e[at(i)], s.atoms.charge_e[at(j)], p[0], p[1]);
  }
  t += "[ exclusions ]\n";
  for (const auto& [i, j] : s.exclusions) t += fmt::format("{} {}\n", i + 1, j + 1);
  return t + "[ system ]\n" + s.title + "\n[ molecules ]\nall 1\n";
}

TEST(Top, SameSystemAsOfAmbersFile) {
  const fs::path file = tessera::testing::test_data() / "md/amber/ala2_vac.prmtop";
  if (!fs::exists(file)) GTEST_SKIP() << "no " << file.string();
  const System a = read_amber_topology(data::read_text_file(file)).system;
  const System g = parse_top(as_topology(a), {.coulomb_constant = a.coulomb_constant});
  EXPECT_EQ(g.atoms.name, a.atoms.name);
  EXPECT_EQ(g.atoms.mass_amu, a.atoms.mass_amu);
  EXPECT_EQ(g.atoms.charge_e, a.atoms.charge_e);
  EXPECT_EQ(g.atoms.residue, a.atoms.residue);
  EXPECT_EQ(g.residues, a.residues);
  EXPECT_EQ(g.exclusions, a.exclusions);
  EXPECT_EQ(g.connectivity, a.connectivity);
  EXPECT_EQ(g.coulomb_constant, a.coulomb_constant);
  const auto same = [](const char* what, const auto& x, const auto& y) {
    ASSERT_EQ(x.atoms, y.atoms) << what;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto &p = x.rows[static_cast<std::size_t>(x.row[k])],
                 &q = y.rows[static_cast<std::size_t>(y.row[k])];
      for (std::size_t c = 0; c < p.size(); ++c)
        EXPECT_NEAR(p[c], q[c], 4e-16 * std::abs(q[c])) << what << ' ' << k;  // degrees and back
    }
  };
  same("bonds", g.bonds, a.bonds);
  same("angles", g.angles, a.angles);
  same("dihedrals", g.dihedrals, a.dihedrals);
  same("impropers", g.impropers, a.impropers);
  ASSERT_EQ(g.pairs.atoms, a.pairs.atoms);
  for (std::size_t i = 0; i < a.n_atoms(); ++i)
    for (std::size_t j = 0; j < a.n_atoms(); ++j) {
      const auto k = [&](const System& s) {
        return static_cast<std::size_t>(s.atoms.lj_type[i] * s.lj.types + s.atoms.lj_type[j]);
      };
      EXPECT_EQ(g.lj.c6[k(g)], a.lj.c6[k(a)]);
      EXPECT_EQ(g.lj.c12[k(g)], a.lj.c12[k(a)]);
    }
}

}  // namespace
}  // namespace tessera::molecular
