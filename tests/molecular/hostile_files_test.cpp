// SPDX-License-Identifier: Apache-2.0
//
// Files that ask for much with little: each is refused at its place, before time or memory goes. A
// count of a term or pair is what the text bounds, never its square.
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/memory.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/structure_file.h"
#include "tessera/molecular/trajectory.h"
#include "topology_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using tessera::testing::expect_fault;
using tessera::testing::fault;
using tessera::testing::TempFolder;
using testing::water_types;

// ---- topologies

constexpr const char* loose_water =
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8\n2 H 1 SOL HW1 1 0.4\n3 H 1 SOL HW2 1 "
    "0.4\n";
std::string system_of(const std::string& molecules) {
  return "[ system ]\nx\n[ molecules ]\n" + molecules;
}
std::string atoms(const char* name, int nrexcl, std::size_t n) {
  std::string t = fmt::format("[ moleculetype ]\n{} {}\n[ atoms ]\n", name, nrexcl);
  for (std::size_t k = 1; k <= n; ++k) t += fmt::format("{} O 1 A O{} 1\n", k, k);
  return t;
}
GromacsTopology top(const std::string& text, const TopologyOptions& o = {}) {
  return read_top(data::make_text_file("none/t.top", text), o);
}
data::Diagnostic top_fault(const std::string& text, const TopologyOptions& o = {}) {
  return fault([&] { top(text, o); });
}

TEST(HostileTop, TermsOfOneDihedralAreCounted) {
  // n lines of a type and n dihedrals of it would be n^2 terms.
  std::string types = "[ dihedraltypes ]\n";
  for (int k = 0; k < 101; ++k) types += fmt::format("O O O O 9 0 {} 1\n", k);
  expect_fault(top_fault(water_types + types), 702, 107, 1, "more than 100 terms");
}

TEST(HostileTop, BondsToOneAtomDoNotExcludeAllPairs) {
  constexpr std::size_t n = 4000;
  std::string bonds = "[ bonds ]\n";
  for (std::size_t k = 2; k <= n; ++k) bonds += fmt::format("1 {} 1 0.1 100\n", k);
  expect_fault(top_fault(water_types + atoms("A", 2, n) + bonds + system_of("A 1\n")), 702, 7, 1,
               "exclude more than");
}

TEST(HostileTop, FilesThatAreIncludedOftenAreCountedOften) {
  const TempFolder f;
  std::string comments;
  for (int k = 0; k < 30; ++k) comments += "; " + std::string(1'000'000, 'x') + "\n";
  f.write("long.itp", comments);
  std::string t;
  for (int k = 0; k < 20; ++k) t += "#include \"long.itp\"\n";
  const fs::path path = f.write("t.top", t);
  expect_fault(fault([&] { read_top(path); }), 720, 7, 10, "again and again");
}

TEST(HostileTop, NoWordOfALongLineIsLost) {
  std::string line = "1";
  for (int k = 0; k < 100'000; ++k) line += " 2";
  expect_fault(top_fault(water_types + std::string(loose_water) + "[ exclusions ]\n" + line + "\n" +
                         system_of("SOL 1\n")),
               701, 13, 200'001, "more than 100000 words");
}

TEST(HostileTop, MoleculesAreFoundByNameAtOnce) {
  std::string kinds, counts;
  for (int k = 0; k < 20'000; ++k)
    kinds += fmt::format("[ moleculetype ]\nm{} 0\n", k), counts += fmt::format("M{} 1\n", k);
  EXPECT_EQ(top(water_types + kinds + loose_water + system_of("sol 2\n" + counts)).system.n_atoms(),
            6U);
  expect_fault(
      top_fault(water_types + atoms("ab", 0, 1) + atoms("aB", 0, 1) + system_of("aB 1\nAB 1\n")),
      723, 18, 1, "more than one molecule 'AB'");
}

TEST(HostileTop, CountsThatNoMemoryHoldsAreRefused) {
  if (tessera::data::memory_limit() > 75'000'000'000) GTEST_SKIP() << "this machine holds them";
  expect_fault(top_fault(water_types + std::string(loose_water) + system_of("SOL 200000000\n")),
               702, 15, 5, "200000000 molecules of 3 atoms take");
}

TEST(HostileTop, ParametersBeyondDoublePrecision) {
  const std::string tail = std::string(loose_water) + system_of("SOL 1\n");
  expect_fault(
      top_fault("[ defaults ]\n1 2 yes\n[ atomtypes ]\nO 8 16 0 A 1e60 0.65\nH 1 1 0 A 0 0\n" +
                tail),
      702, 4, 12, "beyond the range");
  expect_fault(
      top_fault("[ defaults ]\n1 1 yes\n[ atomtypes ]\nO 8 16 0 A 1e200 1\nH 1 1 0 A 1 1\n" + tail),
      702, 15, 6, "of 'O' and 'O' are beyond the range");  // sqrt(c6 c6)
  expect_fault(top_fault(water_types + std::string(loose_water) + "[ pairs ]\n1 2 1 1e60 1\n" +
                         system_of("SOL 1\n")),
               702, 13, 5, "beyond the range");
  expect_fault(top_fault(water_types + std::string(loose_water) +
                         "[ pairs_nb ]\n1 2 1 1e200 1e200 0.1 0.1\n" + system_of("SOL 1\n")),
               702, 13, 5, "beyond the range");
  expect_fault(
      top_fault(water_types + std::string(loose_water) +
                    "[ distance_restraints ]\n1 2 1 0 1 0 1 2 1e300\n" + system_of("SOL 1\n"),
                {.distance_restraint_k = 1e10}),
      702, 17, 6, "not finite");
}

TEST(HostileTop, PairsOfOneLabelAreNoRestraintsOfTheirOwn) {
  // GROMACS restrains (sum r^-6)^-1/6 of them.
  const std::string two = water_types + std::string(loose_water) +
                          "[ distance_restraints ]\n1 2 1 0 1 0 1 2 1\n1 3 1 0 1 0 1 2 1\n" +
                          system_of("SOL 1\n");
  expect_fault(top_fault(two, {.distance_restraint_k = 1000}), 703, 14, 7, "label 0");
}

TEST(HostileTop, NumbersAndSectionsAreStrict) {
  expect_fault(top_fault("[ defaults ]\n+-1 2\n"), 303, 2, 1, "whole number");
  const GromacsTopology t =
      top(water_types + std::string(loose_water) + "[ system ]\nx\n[ molecules ] SOL 2\nSOL 1\n");
  EXPECT_EQ(t.system.n_atoms(), 3U);
  ASSERT_EQ(t.remarks.size(), 1U);
  EXPECT_EQ(t.remarks[0].severity, data::Severity::warning);
  EXPECT_NE(t.remarks[0].message.find("not read: 'SOL2'"), std::string::npos)
      << t.remarks[0].message;
  // Residues are numbered on behind a number that is the greatest of all.
  const std::string large =
      "[ moleculetype ]\nB 0\n[ atoms ]\n1 O 9223372036854775807 A O1 1\n2 O 3 A O2 1\n";
  EXPECT_EQ(top(water_types + large + loose_water + system_of("B 1\nSOL 2\n"))
                .system.residues.back()
                .number,
            "1000000002");
}

TEST(HostileTop, RigidWatersThatShareAtomsAreFoundInAnyOrder) {
  const std::string head = water_types + atoms("A", 0, 12) + "[ settles ]\n";
  EXPECT_EQ(
      top(head + "10 1 0.1 0.16\n1 1 0.1 0.16\n4 1 0.1 0.16\n7 1 0.1 0.16\n" + system_of("A 1\n"))
          .system.rigid_waters.size(),
      4U);
  expect_fault(top_fault(head + "10 1 0.1 0.16\n1 1 0.1 0.16\n8 1 0.1 0.16\n" + system_of("A 1\n")),
               702, 24, 1, "share atoms");
  expect_fault(top_fault(head + "10 1 0.1 0.16\n1 1 0.1 0.16\n3 1 0.1 0.16\n" + system_of("A 1\n")),
               702, 24, 1, "share atoms");
}

// ---- structures

std::string pdb_atom(int serial, const std::string& name, const char* residue, double x,
                     const char* element) {
  return fmt::format(
      "HETATM{:5d} {:<4} {:<4}A   1    {:8.3f}   0.000   0.000  1.00  0.00          {:>2}\n",
      serial, name, residue, x, element);
}

TEST(HostileStructure, WatersOfManyOxygensAreNotBoundToAllHydrogens) {
  std::string t;
  for (int k = 0; k < 3000; ++k)
    t += pdb_atom(2 * k, fmt::format("O{:03x}", k), "HOH", k % 900, "O") +
         pdb_atom(2 * k + 1, fmt::format("H{:03x}", k), "HOH", k % 900, "H");
  EXPECT_TRUE(read_pdb(data::make_text_file("w.pdb", t)).structure.bonds.empty());
}

TEST(HostileStructure, PlacesBeyondAMillimetre) {
  const std::string head =
      "data_x\nloop_\n_atom_site.id\n_atom_site.type_symbol\n_atom_site.label_atom_id\n_atom_site."
      "label_comp_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";
  const auto cif = [&](const std::string& row) {
    return fault([&] { read_mmcif(data::make_text_file("a.cif", head + row)); });
  };
  expect_fault(cif("1 S SG CYS 1e300 0 0\n"), 702, 10, 12, "lies more than a millimetre");
  expect_fault(cif("1 S SG CYS 1.0(x) 0 0\n"), 303, 10, 12, "expected a number");
  EXPECT_EQ(cif("1 S SG CYS 1.0(12) 0 0\n# a comment without an end of its line").number, 0);
  expect_fault(
      fault([&] {
        read_gro(data::make_text_file(
            "a.gro", "t\n1\n    1A        A    12000000.00      0.00      0.00\n 1 1 1\n"));
      }),
      702, 3, 21, "lies more than a millimetre");
  expect_fault(fault([&] {
                 read_gro(data::make_text_file(
                     "a.gro", "t\n1\n    1A        A    1   0.100   0.100   0.100\n 1 1e200 1\n"));
               }),
               702, 4, 4, "an edge of the box");
  expect_fault(
      fault([&] {
        read_amber_restart(
            data::make_text_file(
                "a.rst7",
                "t\n2\n   1.0000000   2.0000000   3.0000000  1.0000e+30   5.0000000   6.0000000\n"),
            2);
      }),
      702, 3, 1, "atom 2 lies more than a millimetre");
  expect_fault(
      fault([&] {
        read_amber_restart(
            data::make_text_file(
                "a.rst7",
                "t\n3\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n  "
                " 7.0000000   8.0000000   9.0000000\n  1.0000e+30   5.0000000   6.0000000\n"),
            3);
      }),
      702, 5, 1, "at most a millimetre");
}

TEST(HostileStructure, ModelsOfAPdbFileAreFramesInOnePass) {
  const TempFolder f;
  std::string t = "CRYST1   20.000   30.000   40.000  90.00  90.00  90.00 P 1           1\n";
  for (int k = 0; k < 3000; ++k)
    t += fmt::format("MODEL     {:4}\n", k + 1) + pdb_atom(1, "C", "LIG", 0.25 * k, "C") +
         "ENDMDL\n";
  const auto reader = open_trajectory(f.write("a.pdb", t + "END\n"));
  Snapshot s;
  int frames = 0;
  for (; reader->read(s); ++frames) EXPECT_NEAR(s.frame.x_nm.at(0)[0], 0.025 * frames, 1e-12);
  EXPECT_EQ(frames, 3000);
  EXPECT_NEAR(s.frame.box.edge[1][1], 3, 1e-12);
  // A model of other atoms is told at its place.
  const auto other = open_trajectory(f.write(
      "b.pdb", "MODEL        1\n" + pdb_atom(1, "C", "LIG", 0, "C") + "ENDMDL\nMODEL        2\n" +
                   pdb_atom(1, "C", "LIG", 0, "C") + pdb_atom(2, "O", "LIG", 1, "O") + "ENDMDL\n"));
  EXPECT_TRUE(other->read(s));
  expect_fault(fault([&] { other->read(s); }), 704, 4, 1, "model 2 has 2 atoms, the first 1");
}

// ---- force fields

ForceField xml(const std::string& text) {
  const std::vector<data::TextFile> files = {data::make_text_file("a.xml", text)};
  return read_openmm_xml(files);
}
std::string carbons(std::size_t n, const std::string& bonds) {
  std::string t =
      "<ForceField><AtomTypes><Type name=\"a\" class=\"A\" element=\"C\" "
      "mass=\"12\"/></AtomTypes><Residues><Residue name=\"LIG\">";
  for (std::size_t k = 0; k < n; ++k) t += fmt::format("<Atom name=\"T{}\" type=\"a\"/>", k);
  return t + bonds +
         "</Residue></Residues><NonbondedForce coulomb14scale=\"1\" lj14scale=\"1\"><Atom "
         "class=\"A\" charge=\"0\" sigma=\"0.1\" epsilon=\"0.1\"/></NonbondedForce></ForceField>";
}
Structure carbon_atoms(std::size_t n) {
  Structure s;
  s.source = "a.pdb";
  s.residues = {{"LIG", "1", "A", ""}};
  s.chain = {0};
  s.line = {7};
  for (std::size_t k = 0; k < n; ++k)
    s.name.push_back(fmt::format("S{}", k)), s.x_nm.push_back({0.1 * static_cast<double>(k), 0, 0});
  s.element.assign(n, 6);
  s.residue.assign(n, 0);
  return s;
}

TEST(HostileXml, TermsOfOneTorsionAreCounted) {
  std::string t =
      "<ForceField><PeriodicTorsionForce>\n<Proper class1=\"A\" class2=\"A\" class3=\"A\" "
      "class4=\"A\"";
  for (int k = 1; k <= 5000; ++k)
    t += fmt::format(" periodicity{}=\"1\" phase{}=\"0\" k{}=\"1\"", k, k, k);
  expect_fault(fault([&] { xml(t + "/></PeriodicTorsionForce></ForceField>"); }), 702, 2, 2,
               "more than 100 terms");
}

TEST(HostileXml, APlaceIsLookedForInItsTagAlone) {
  // A blank before '=' hides the attribute's place: the element is shown, and the rest of the file
  // is not searched.
  std::string t =
      "<ForceField><HarmonicBondForce>\n<Bond class1=\"A\" class2=\"A\" length =\"x\" "
      "k=\"1\"/>\n<Bond class1=\"A\" class2=\"A\" length=\"1\" "
      "k=\"1\"/></HarmonicBondForce></ForceField>";
  expect_fault(fault([&] { xml(t); }), 303, 2, 2, "expected a number");
}

TEST(HostileXml, AVirtualSiteHasNoMass) {
  const std::string site =
      "\n<VirtualSite type=\"average2\" index=\"2\" atom1=\"0\" atom2=\"1\" weight1=\"0.5\" "
      "weight2=\"0.5\"/>";
  expect_fault(fault([&] { xml(carbons(3, site)); }), 702, 2, 2, "'T2' is an atom with a mass");
  std::string t = carbons(3, site);
  t.erase(t.find("<Type "), t.find("</AtomTypes>") - t.find("<Type "));  // no type at all
  EXPECT_NE(fault([&] { xml(t); }).message.find("no file defines the type 'a'"), std::string::npos);
}

TEST(HostileXml, LennardJonesBeyondDoublePrecision) {
  std::string t = carbons(1, "");
  t.replace(t.find("sigma=\"0.1\""), 11, "sigma=\"1e40\"");
  EXPECT_NE(fault([&] { xml(t); }).message.find("beyond the range"), std::string::npos);
}

TEST(HostileXml, ResiduesThatCannotBeToldApartHaveTheirPlace) {
  // Six atoms in a ring, or in two rings of three, among forty that are alike.
  const ForceField ff =
      xml(carbons(46,
                  "<Bond from=\"40\" to=\"41\"/><Bond from=\"41\" to=\"42\"/><Bond from=\"42\" "
                  "to=\"40\"/><Bond from=\"43\" to=\"44\"/><Bond from=\"44\" to=\"45\"/><Bond "
                  "from=\"45\" to=\"43\"/>"));
  Structure s = carbon_atoms(46);
  s.bonds = {{40, 41}, {40, 45}, {41, 42}, {42, 43}, {43, 44}, {44, 45}};
  expect_fault(fault([&] { apply(ff, s); }), 731, 7, 0, "too much alike");
}

TEST(HostileXml, ImpropersOfAnAtomWithManyBondsAreNotMade) {
  std::string bonds;
  Structure s = carbon_atoms(67);
  for (std::int32_t k = 1; k < 67; ++k)
    bonds += fmt::format("<Bond from=\"0\" to=\"{}\"/>", k), s.bonds.push_back({0, k});
  expect_fault(fault([&] { apply(xml(carbons(67, bonds)), s); }), 702, 7, 0,
               "has 66 bonds; at most 64");
}

// ---- trajectories

System two_sites() {
  System s;
  s.atoms = {.name = {"A", "B"},
             .type = {"A", "B"},
             .element = {6, 6},
             .mass_amu = {12, 12},
             .charge_e = {0, 0},
             .lj_type = {0, 0},
             .residue = {0, 0}};
  s.residues = {{"R", "1", "", ""}};
  return s;
}

TEST(HostileTrajectory, TimesAndH5mdPlacesThatAreNoNumbers) {
  const TempFolder f;
  const System system = two_sites();
  for (const char* name : {"a.xtc", "a.trr", "a.h5md"}) {
    Snapshot s;
    s.frame.x_nm = {{0, 0, 0}, {1, 0, 0}};
    s.frame.time_ps = std::nan("");
    create_trajectory(f / name, system)->write(s);
    const data::Diagnostic time = fault([&] { open_trajectory(f / name)->read(s); });
    EXPECT_EQ(time.number, 741) << name << ": " << to_string(time);
    EXPECT_NE(time.message.find("frame 0"), std::string::npos) << to_string(time);
  }
  Snapshot s;
  s.frame.x_nm = {{0, 0, 0}, {1, INFINITY, 0}};
  create_trajectory(f / "b.h5md", system)->write(s);
  const data::Diagnostic d = fault([&] { open_trajectory(f / "b.h5md")->read(s); });
  EXPECT_EQ(d.number, 741) << to_string(d);
  EXPECT_NE(d.message.find("position/value has vectors that are no numbers, the first of atom 1"),
            std::string::npos)
      << to_string(d);
}

TEST(HostileTrajectory, EdgesThatAreNoBox) {
  const TempFolder f;
  const System system = two_sites();
  const Box boxes[] = {{{{{2, 0, 0}, {0, 2, 0}, {0, 0, -2}}}},
                       {{{{2, 0, 0}, {0, 0, 0}, {0, 0, 0}}}},
                       {{{{0, 2, 0}, {2, 0, 0}, {0, 0, 2}}}},
                       {{{{2, 0.1, 0}, {0, 2, 0}, {0, 0, 2}}}},
                       {{{{2, 0, 0}, {0, 1e9, 0}, {0, 0, 2}}}}};
  for (const char* name : {"a.xtc", "a.trr", "a.h5md"}) {
    Snapshot s;
    s.frame.x_nm = {{0, 0, 0}, {1, 0, 0}};
    for (const Box& box : boxes) {
      if (box.edge[0][0] == 0 && std::string_view(name) == "a.h5md")
        continue;  // is written as none
      s.frame.box = box;
      create_trajectory(f / name, system)->write(s);
      const data::Diagnostic d = fault([&] { open_trajectory(f / name)->read(s); });
      EXPECT_EQ(d.number, 741) << name << ": " << to_string(d);
      EXPECT_NE(d.message.find("frame 0 has edges of the box that are none"), std::string::npos)
          << to_string(d);
    }
    s.frame.box = {{{{2, 1e-7, 0}, {0, 2, 0}, {0, 0, 2}}}};  // rounding
    create_trajectory(f / name, system)->write(s);
    EXPECT_TRUE(open_trajectory(f / name)->read(s)) << name;
  }
}

}  // namespace
}  // namespace tessera::molecular
