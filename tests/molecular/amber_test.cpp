// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/amber.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/forces.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>
#include <string>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  System system;
  Frame frame;
};
Loaded load(const fs::path& topology, const fs::path& restart) {
  Loaded l;
  l.system = read_amber_topology(data::read_text_file(topology)).system;
  l.frame = read_amber_restart(data::read_text_file(restart), l.system.n_atoms());
  return l;
}
double kcal_of(const Loaded& l, Term kind) {
  const EnergyPtr u = bonded_energy(l.system, kind);
  if (!u) return 0;
  std::vector<double> x;
  for (const Vec3& p : l.frame.x_nm) x.insert(x.end(), p.begin(), p.end());
  std::vector<double> h;
  for (const Vec3& e : l.frame.box.edge) h.insert(h.end(), e.begin(), e.end());
  std::vector<Tensor> p = {tensor(x, {static_cast<Index>(l.system.n_atoms()), 3}),
                           tensor(h, {3, 3}), table_of(l.system, kind)};
  if (u->shapes().size() == 4) p.push_back(tensor(l.system.atoms.charge_e));
  return evaluate(u, p).item<double>() / 4.184;
}

/// Energies per term [kcal/mol] computed independently from the same files (see data/md/README.md).
struct Reference {
  const char *topology, *restart;
  std::size_t n_atoms;
  double bond, angle, dihedral, lj14, coulomb14;
};
class AmberEnergies : public ::testing::TestWithParam<Reference> {};
INSTANTIATE_TEST_SUITE_P(
    Systems, AmberEnergies,
    ::testing::Values(Reference{"amber/ala2_vac.prmtop", "amber/ala2_vac.rst7", 22, 0.0205983150048,
                                0.361950366109, 1.925510375, 5.01569168647, 48.9354638123},
                      Reference{"amber/ala2_tip3p.prmtop", "amber/ala2_tip3p.rst7", 2269,
                                0.0567377129892, 0.361949801486, 1.92551026065, 5.01569157604,
                                48.9354644423},
                      Reference{"amber/water_ala3.parm7", "amber/water_ala3.rst7", 2298,
                                0.0374151958434, 0.90040461498, 14.9090271484, 9.07222779371,
                                194.477231523},
                      Reference{"dhfr/JAC.prmtop.gz", "dhfr/JAC.rst7.gz", 23558, 458.731926897,
                                1240.841483364, 1009.520186404, 551.7170803492, 6697.690998041}),
    [](const auto& r) {
      const std::string s = fs::path(r.param.topology).filename().string();
      return s.substr(0, s.find('.'));
    });

TEST_P(AmberEnergies, TermByTerm) {
  const Reference& r = GetParam();
  const fs::path md = tessera::testing::test_data() / "md";
  if (!fs::exists(md / r.topology)) GTEST_SKIP() << "no " << (md / r.topology).string();
  const Loaded l = load(md / r.topology, md / r.restart);
  ASSERT_EQ(l.system.n_atoms(), r.n_atoms);
  const auto near = [](double got, double expected, const char* what) {
    EXPECT_NEAR(got, expected, 1e-10 * std::abs(expected)) << what;
  };
  near(kcal_of(l, Term::bonds), r.bond, "bonds");
  near(kcal_of(l, Term::angles), r.angle, "angles");
  near(kcal_of(l, Term::dihedrals) + kcal_of(l, Term::impropers), r.dihedral, "dihedrals");
  near(kcal_of(l, Term::pairs_lj), r.lj14, "1-4 Lennard-Jones");
  near(kcal_of(l, Term::pairs_coulomb), r.coulomb14, "1-4 Coulomb");
}

TEST(Amber, SystemOfJac) {
  const fs::path md = tessera::testing::test_data() / "md";
  if (!fs::exists(md / "dhfr")) GTEST_SKIP() << "no " << (md / "dhfr").string();
  const Loaded l = load(md / "dhfr/JAC.prmtop.gz", md / "dhfr/JAC.rst7.gz");
  EXPECT_NEAR(net_charge_e(l.system), -11, 1e-4);
  EXPECT_NEAR(l.frame.box.edge[0][0], 6.16447232, 1e-8);
  EXPECT_EQ(l.frame.v_nm_ps.size(), 23558U);
  const std::vector<std::int32_t> molecule = molecules(l.system);
  EXPECT_EQ(molecule.back() + 1, (23558 - 2489) / 3 + 1) << "one protein of 2,489 atoms in water";
  // Hydrogens of 3.024 amu have left 11.968 amu to the oxygens of waters: oxygens all the same.
  EXPECT_EQ(constrained(l.system, Rigid::h_bonds).rigid_waters.size(), 7023U);
  double kinetic = 0;
  for (std::size_t i = 0; i < l.system.n_atoms(); ++i)
    for (const double v : l.frame.v_nm_ps[i]) kinetic += 0.5 * l.system.atoms.mass_amu[i] * v * v;
  // Bonds with hydrogens and waters were rigid when it was run: 3 n - 3 - 22,406 constraints or so;
  // 300 K within a few per cent.
  EXPECT_NEAR(2 * kinetic / (gas_constant * 48000), 300, 30);
}

// ---- small files of our own

/// One TIP4P water, as tleap would write it (coefficients of the pair O-O alone).
std::string water4() {
  std::string t =
      "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/26\n%FLAG TITLE\n%FORMAT(20a4)\nTIP4P "
      "water\n";
  const auto section = [&](const char* flag, const char* format, const std::string& body) {
    t += std::string("%FLAG ") + flag + "\n%FORMAT(" + format + ")\n" + body + "\n";
  };
  section(
      "POINTERS", "10I8",
      "       4       2       3       1       0       0       0       0       0       0\n"
      "       7       1       1       0       0       3       0       0       2       0\n"
      "       0       0       0       0       0       0       0       0       4       0\n       1");
  section("ATOM_NAME", "20a4", "O   H1  H2  EPW ");
  section("CHARGE", "5E16.8", "  0.00000000E+00  9.47559600E+00  9.47559600E+00 -1.89511920E+01");
  section("MASS", "5E16.8", "  1.60000000E+01  1.00800000E+00  1.00800000E+00  0.00000000E+00");
  section("ATOM_TYPE_INDEX", "10I8", "       1       2       2       2");
  section("NUMBER_EXCLUDED_ATOMS", "10I8", "       3       2       1       1");
  section("NONBONDED_PARM_INDEX", "10I8", "       1       2       2       3");
  section("RESIDUE_LABEL", "20a4", "WAT");
  section("RESIDUE_POINTER", "10I8", "       1");
  section("BOND_FORCE_CONSTANT", "5E16.8", "  5.53000000E+02  5.53000000E+02  5.53000000E+02");
  section("BOND_EQUIL_VALUE", "5E16.8", "  9.57200000E-01  1.51360000E+00  1.50000000E-01");
  section("LENNARD_JONES_ACOEF", "5E16.8", "  6.00000000E+05  0.00000000E+00  0.00000000E+00");
  section("LENNARD_JONES_BCOEF", "5E16.8", "  6.10000000E+02  0.00000000E+00  0.00000000E+00");
  section("BONDS_INC_HYDROGEN", "10I8",
          "       0       3       1       0       6       1       3       6       2");
  section("BONDS_WITHOUT_HYDROGEN", "10I8", "       0       9       3");
  section("EXCLUDED_ATOMS_LIST", "10I8",
          "       2       3       4       3       4       4       0");
  return t;
}
System parse_prmtop(const std::string& text) {
  return read_amber_topology(data::make_text_file("water.prmtop", text)).system;
}
/// First finding of a text with `from` replaced by `to`.
data::Diagnostic finding(const std::string& from, const std::string& to) {
  std::string t = water4();
  const std::size_t at = t.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  t.replace(at, from.size(), to);
  try {
    parse_prmtop(t);
  } catch (const data::InputError& e) {
    return e.findings().at(0);
  }
  return {};
}

TEST(AmberText, FourPointWaterGetsItsSite) {
  const System s = parse_prmtop(water4());
  ASSERT_EQ(s.virtual_sites.size(), 1U);
  EXPECT_EQ(s.virtual_sites[0].kind, VirtualSite::Kind::linear3);
  EXPECT_EQ(s.virtual_sites[0].site, 3);
  // TIP4P: 0.015 nm along the bisector, a = 0.128012065 for its exact angle; H-H is rounded in the
  // file.
  EXPECT_NEAR(s.virtual_sites[0].weights[0], 0.128012065, 5e-5);
  EXPECT_EQ(s.bonds.size(), 3U) << "the bond to the site is none";
  EXPECT_EQ(s.connectivity.size(), 3U);
  EXPECT_EQ(s.exclusions.size(), 6U);
  EXPECT_NEAR(s.atoms.charge_e[1], 0.52, 1e-12);
  EXPECT_NEAR(s.lj.c12[0], 6e5 * 4.184e-12, 1e-18);
  EXPECT_NEAR(s.bonds.rows[0][1], 2 * 553 * 418.4, 1e-9);
  EXPECT_EQ(s.atoms.element, (std::vector<std::uint8_t>{8, 1, 1, 0}));
}

TEST(AmberText, FaultsHavePlaces) {
  const auto check = [](const std::string& from, const std::string& to, int number,
                        const char* line, const char* part) {
    const data::Diagnostic d = finding(from, to);
    EXPECT_EQ(d.number, number) << to_string(d);
    EXPECT_NE(d.source_line.find(line), std::string::npos) << to_string(d);
    EXPECT_GT(d.place.line, 0U);
    EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
  };
  check("%FLAG MASS", "%FLAG MASSES", 701, "4       0", "section MASS is missing");
  check("%FORMAT(5E16.8)\n  1.60000000E+01", "  1.60000000E+01", 701, "%FLAG MASS",
        "has no %FORMAT");
  check("%FORMAT(20a4)\nO ", "O ", 701, "%FLAG ATOM_NAME", "has no %FORMAT");
  check("%FLAG CHARGE", "%FLAG MASS", 701, "%FLAG MASS", "given twice");
  check("  1.60000000E+01", "  1.60000000X+01", 303, "1.60000000X", "expected a number");
  check("       4       2       3", "       5       2       3", 701, "0.00000000E+00",
        "POINTERS says 5");
  check("       4       2       3", "99999999       2       3", 702, "99999999",
        "the size of the file");
  check("       4       2       3", "      -4       2       3", 702, "-4 ", "must lie in 0");
  check("       0       3       1", "       0      30       1", 702, "30 ",
        "names atoms or parameters");
  check("       2       3       4       3", "       9       3       4       3", 702, "9       3",
        "excludes atom 9 of 4");
  check("       1       2       2       2\n%FLAG NUM",
        "       1       2       3       2\n%FLAG NUM", 702, "3       2", "has type 3 of 2");
  check("       1       2       2       3", "       1       2       3       3", 702, "3       3",
        "not symmetric");
  check("(20a4)\nO ", "(20q4)\nO ", 701, "20q4", "expected a format");
  check("%FLAG TITLE", "%FLAG CTITLE", 701, "4       0", "LENNARD_JONES_14_ACOEF is missing");
  check("  6.00000000E+05", " 6.00000000E+307", 702, "6.00000000E+307",
        "LENNARD_JONES_ACOEF is beyond the range");
  check("  5.53000000E+02", " 5.53000000E+307", 702, "5.53000000E+307",
        "BOND_FORCE_CONSTANT is beyond the range");
  check("(10I8)\n       3       2       1       1",
        "(10I20)\n-9223372036854775808                   2                   1                   1",
        702, "-92233", "more than a topology counts to");
  check("%FLAG ATOM_NAME", "%FLAG IPOL\n%FORMAT(1I8)\n       1\n%FLAG ATOM_NAME", 703, "       1",
        "polarizable");
  check("%FLAG ATOM_NAME", "%FLAG AMOEBA_FORCEFIELD\n%FORMAT(i5)\n    1\n%FLAG ATOM_NAME", 703,
        "    1", "AMOEBA");
  check("       0       4       0\n       1", "       0       4       1\n       1", 703,
        "4       1", "cap of solvent");
  check("       0       0\n       7", "       0       1\n       7", 703, "0       1", "LES");
  check("  0.00000000E+00\n%FLAG ATOM_TYPE", " -1.00000000E+00\n%FLAG ATOM_TYPE", 702, "-1.0",
        "negative mass");
}

/// What is read and written is read again: every term has its energy to the nine digits of the
/// file, whatever k_e the charges stand for.
TEST(AmberTopologyText, EnergiesAreThoseOfTheSystem) {
  const auto folder = tessera::testing::test_data() / "md/amber";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder.string();
  for (const char* name : {"ala2_vac", "ala2_tip3p", "water_ala3"}) {
    const bool parm = std::string(name) == "water_ala3";
    AmberTopology first = read_amber_topology(
        data::read_text_file(folder / (std::string(name) + (parm ? ".parm7" : ".prmtop"))));
    first.system.coulomb_constant = coulomb_codata_2018;
    const Frame frame =
        read_amber_restart(folder / (std::string(name) + ".rst7"), first.system.n_atoms());
    const AmberTopology again = read_amber_topology(
        data::make_text_file("again.prmtop", amber_topology(first.system, frame.box)));
    EXPECT_EQ(again.box.has_value(), is_periodic(frame.box)) << name;
    EXPECT_EQ(again.system.exclusions, first.system.exclusions) << name;
    EXPECT_EQ(again.system.connectivity, first.system.connectivity) << name;
    EXPECT_EQ(again.system.pairs.size(), first.system.pairs.size()) << name;
    EXPECT_EQ(again.system.residues.size(), first.system.residues.size()) << name;
    EXPECT_EQ(again.system.atoms.name, first.system.atoms.name) << name;
    EXPECT_EQ(again.system.atoms.element, first.system.atoms.element) << name;
    Nonbonded o{.coulomb = Nonbonded::Coulomb::cutoff,
                .coulomb_modifier = Nonbonded::Modifier::none,
                .lj_modifier = Nonbonded::Modifier::none,
                .cutoff_coulomb_nm = 0.8,
                .cutoff_lj_nm = 0.8};
    Forces a, b;
    ForceEvaluator(first.system, o, {.precision = Precision::f64})(frame.x_nm, frame.box, a);
    ForceEvaluator(again.system, o, {.precision = Precision::f64})(frame.x_nm, frame.box, b);
    for (std::size_t k = 0; k < n_terms; ++k)
      EXPECT_NEAR(b.energy[k], a.energy[k], 1e-7 * std::abs(a.energy[k]) + 1e-6)
          << name << " " << name_of(static_cast<Term>(k));
  }
}

/// AMBER and OpenMM know extra points by the type EP, and AMBER by their number in POINTERS.
TEST(AmberTopologyText, ExtraPointsAreKnownAsSuch) {
  const data::TextFile file =
      data::make_text_file("two.prmtop", amber_topology(water_system(water_model("opc"), 2), {}));
  const System s = read_amber_topology(file).system;
  EXPECT_EQ(s.virtual_sites.size(), 2U);
  EXPECT_EQ(s.atoms.type[3], "EP");
  EXPECT_EQ(s.atoms.type[7], "EP");
  std::size_t line = 1;
  while (line < file.n_lines() && !file.line(line).starts_with("%FLAG POINTERS")) ++line;
  EXPECT_EQ(data::trim(file.line(line + 5)), "2") << "NUMEXTRA, the thirty-first";
}

/// IFBOX: right angles, a truncated octahedron, or any.
TEST(AmberTopologyText, TheKindOfTheBox) {
  const auto kind = [](const Box& box) {
    const std::string text = amber_topology(water_system(water_model("tip3p"), 1), box);
    const data::TextFile file = data::make_text_file("one.prmtop", text);
    std::size_t line = 1;
    while (line < file.n_lines() && !file.line(line).starts_with("%FLAG POINTERS")) ++line;
    return std::string(data::trim(file.line(line + 4).substr(56, 8)));
  };
  EXPECT_EQ(kind({}), "0");
  EXPECT_EQ(kind(rectangular_box({3, 4, 5})), "1");
  EXPECT_EQ(kind(box_of_angles({3, 3, 3}, {109.471, 109.471, 109.471})), "2");
  EXPECT_EQ(kind(box_of_angles({3, 3, 3}, {80, 85, 75})), "3");
}

TEST(AmberTopologyText, WhatHasNoPlaceInItIsRefused) {
  const auto says = [](const System& s, const std::string& part) {
    try {
      amber_topology(s, {});
      ADD_FAILURE() << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  System s;
  s.residues = {{"X", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
  for (int i = 0; i < 4; ++i) {
    s.atoms.name.push_back("X");
    s.atoms.type.push_back("X");
    s.atoms.element.push_back(6);
    s.atoms.mass_amu.push_back(12);
    s.atoms.charge_e.push_back(0);
    s.atoms.lj_type.push_back(0);
    s.atoms.residue.push_back(0);
  }
  EXPECT_NO_THROW(amber_topology(s, {}));
  System other = s;
  other.constraints = {{{0, 1}}, {0}, {{0.1}}};
  says(other, "1 rigid bonds outside of water");
  other = s;
  other.pairs = {{{0, 3}}, {0}, {{0.5 * s.lj.c6[0], 0.4 * s.lj.c12[0], 0.8, 0}}};
  says(other, "by one factor");
  other.pairs.rows = {{0.5 * s.lj.c6[0], 0.5 * s.lj.c12[0], 0.8, 0}};
  says(other, "without three bonds between them");
  other.connectivity = {{0, 1}, {1, 2}, {2, 3}};
  other.bonds = {{{0, 1}, {1, 2}, {2, 3}}, {0, 0, 0}, {{0.15, 1e5}}};
  const System read =
      read_amber_topology(data::make_text_file("t.prmtop", amber_topology(other, {}))).system;
  ASSERT_EQ(read.pairs.size(), 1U);
  EXPECT_NEAR(read.pairs.rows[0][0], 0.5 * s.lj.c6[0], 1e-8 * s.lj.c6[0]);
  EXPECT_NEAR(read.pairs.rows[0][2], 0.8, 1e-9);
  other = s;
  other.atoms.residue = {0, 1, 0, 1};
  other.residues.push_back({"Y", "2", "", ""});
  says(other, "do not follow each other");
}

/// One block behind the positions of one or two atoms: what the topology says of a box decides,
/// where the number of its numbers does not.
TEST(AmberRestart, OfOneOrTwoAtomsKnowsItsBox) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}})
    for (const bool velocities : {false, true})
      for (const bool box : {false, true}) {
        Frame f;
        for (std::size_t i = 0; i < n; ++i) {
          f.x_nm.push_back({0.1, 0.2, 0.3 + 0.1 * static_cast<double>(i)});
          if (velocities) f.v_nm_ps.push_back({0.5, -0.25, 0.125});
        }
        if (box) f.box = rectangular_box({3, 4, 5});
        const Frame came = read_amber_restart(data::make_text_file("a.rst7", amber_restart(f)), n,
                                              box ? std::optional(Vec3{90, 90, 90}) : std::nullopt);
        EXPECT_EQ(came.v_nm_ps.size(), velocities ? n : 0) << n << velocities << box;
        EXPECT_EQ(is_periodic(came.box), box) << n << velocities << box;
        if (box) {
          EXPECT_NEAR(lengths_nm(came.box)[2], 5, 1e-7);
        }
        if (velocities) {
          EXPECT_NEAR(came.v_nm_ps[0][0], 0.5, 1e-6);
        }
      }
  // Six numbers are more than the velocities of one atom, whatever the topology says.
  Frame one;
  one.x_nm = {{0.1, 0.2, 0.3}};
  one.box = rectangular_box({3, 4, 5});
  EXPECT_TRUE(
      is_periodic(read_amber_restart(data::make_text_file("a.rst7", amber_restart(one))).box));
}

/// Old restarts have the lengths of the cell alone: its angles are the topology's, such as those of
/// a truncated octahedron (IFBOX 2), whose volume is 4/9 sqrt(3) L^3.
TEST(AmberRestart, OfLengthsAloneHasTheAnglesOfTheTopology) {
  const data::TextFile text = data::make_text_file(
      "a.rst7",
      "t\n  3\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n"
      "   7.0000000   8.0000000   9.0000000\n  30.0000000  30.0000000  30.0000000\n");
  EXPECT_NEAR(volume_nm3(read_amber_restart(text, 3).box), 27, 1e-12);
  const double angle = std::acos(-1.0 / 3) * 180 / std::numbers::pi;
  EXPECT_NEAR(volume_nm3(read_amber_restart(text, 3, Vec3{angle, angle, angle}).box),
              27 * 4.0 / 9 * std::sqrt(3.0), 1e-9);
}

/// Lengths of a cell from 1000 Angstrom on fill their columns and touch.
TEST(AmberRestart, OfALargeCellKeepsItsAngles) {
  Frame f;
  f.x_nm.assign(3, Vec3{1, 2, 3});
  f.box = box_of_angles({101, 102, 103}, {80, 85, 75});
  const Frame came = read_amber_restart(data::make_text_file("a.rst7", amber_restart(f)), 3);
  EXPECT_NEAR(volume_nm3(came.box), volume_nm3(f.box), 1e-6 * volume_nm3(f.box));
}

TEST(AmberText, RestartsOfOtherSystemsAreRefused) {
  const auto number = [](const std::string& text) {
    try {
      read_amber_restart(data::make_text_file("a.rst7", text), 2);
    } catch (const data::InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  };
  const std::string x =
      "   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n";
  EXPECT_EQ(number("t\n  2\n" + x), 0);
  EXPECT_EQ(
      number("t\n  2  1.0\n" + x + x + x.substr(0, 36) + "  90.0000000  90.0000000  90.0000000\n"),
      0);
  EXPECT_EQ(number("t\n  3\n" + x), 704);
  EXPECT_EQ(number("t\n  2\n" + x.substr(0, 60) + "\n"), 701);
  EXPECT_EQ(number("t\n  2\n"), 701);
  EXPECT_EQ(number("t\n"), 701);
  EXPECT_EQ(number("t\n -2\n" + x), 309);
  EXPECT_EQ(number("t\n  2\n" + x + x + x + x), 701);
}

}  // namespace
}  // namespace tessera::molecular
