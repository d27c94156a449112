// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/info.h"

#include "input_error.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::molecular {
namespace {

using data::InfoNode;
using tessera::testing::expect_input_error;
using tessera::testing::TempFolder;

const InfoNode& child(const InfoNode& node, const std::string& name) {
  static const InfoNode none;
  const auto at = std::ranges::find(node.children, name, &InfoNode::name);
  if (at == node.children.end()) ADD_FAILURE() << "no " << name << " in\n" << data::to_text(node);
  return at == node.children.end() ? none : *at;
}
std::int64_t count(const InfoNode& node, const std::string& name) {
  const auto* n = std::get_if<std::int64_t>(&child(node, name).value);
  return n ? *n : -1;
}
std::string format(const InfoNode& node) {
  return std::get<std::string>(child(node, "format").value);
}

const char* const water_gro =
    "water\n3\n"
    "    1SOL     OW    1   0.100   0.100   0.100\n"
    "    1SOL    HW1    2   0.200   0.100   0.100\n"
    "    1SOL    HW2    3   0.067   0.194   0.100\n"
    "   2.0 2.0 2.0\n";
const char* const water_top =
    "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nOW 8 15.9994 0 A 0.3166 0.65\nHW 1 1.008 0 A "
    "0 0\n"
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 OW 1 SOL OW 1 -0.8476\n2 HW 1 SOL HW1 1 0.4238\n3 HW 1 "
    "SOL HW2 1 0.4238\n"
    "[ settles ]\n1 1 0.1 0.16333\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n[ position_restraints ]\n1 "
    "1 1000 1000 1000\n"
    "[ system ]\nwater\n[ molecules ]\nSOL 4\n";

}  // namespace

TEST(MolecularInfo, GromacsFiles) {
  TempFolder dir;
  const InfoNode gro = data::info(dir.write("a.gro", water_gro));
  EXPECT_EQ(format(gro), "GRO");
  EXPECT_EQ(count(gro, "atoms"), 3);
  EXPECT_EQ(count(child(gro, "residues"), "SOL"), 1);
  EXPECT_EQ(std::get<double>(child(child(gro, "box"), "a [nm]").value), 2.0);

  const InfoNode top =
      data::info(dir.write("a.top", water_top));  // restraints need no places to be counted
  EXPECT_EQ(format(top), "GROMACS topology");
  EXPECT_EQ(count(top, "atoms"), 12);
  EXPECT_EQ(count(top, "molecules"), 4);
  EXPECT_EQ(count(child(top, "terms"), "rigid waters"), 4);
  EXPECT_EQ(count(child(top, "terms"), "position restraints"), 4);
  EXPECT_EQ(std::get<double>(child(top, "net charge [e]").value), 0.0);

  const InfoNode itp =
      data::info(dir.write("a.itp",
                           "#include \"x.itp\"\n[ moleculetype ]\nA 3\n[ atoms ]\n; none\n1 C 1 A "
                           "C 1\n2 C 1 A C 1\n[ moleculetype ]\nB 3\n"));
  EXPECT_EQ(format(itp), "GROMACS include");
  EXPECT_EQ(count(child(itp, "sections"), "atoms"), 2);
  EXPECT_EQ(count(itp, "molecule types"), 2);
  EXPECT_EQ(child(itp, "molecule types").children.at(1).name, "B");
  expect_input_error([&] { data::info(dir.write("b.itp", "1 C 1\n")); },
                     data::ExitCode::input_invalid, 722);
}

TEST(MolecularInfo, AmberFiles) {
  TempFolder dir;
  const std::string rst7 =
      "two\n2 1.5\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n";
  const InfoNode restart = data::info(dir.write("a.rst7", rst7));
  EXPECT_EQ(format(restart), "AMBER restart");
  EXPECT_EQ(count(restart, "atoms"), 2);
  EXPECT_EQ(std::get<double>(child(restart, "time [ps]").value), 1.5);
  expect_input_error([&] { data::info(dir.write("b.rst7", "two\n")); },
                     data::ExitCode::input_invalid, 701);
  expect_input_error([&] { data::info(dir.write("c.rst7", "two\nmany\n")); },
                     data::ExitCode::input_invalid, 309);
  expect_input_error([&] { data::info(dir.write("d.rst7", "two\n3\n   1.0000000\n")); },
                     data::ExitCode::input_invalid, 701);
  // Of a topology the beginning tells, whatever its name.
  expect_input_error(
      [&] {
        data::info(dir.write(
            "a.dat", "%VERSION  VERSION_STAMP = V0001.000\n%FLAG TITLE\n%FORMAT(20a4)\nx\n"));
      },
      data::ExitCode::input_invalid, 701);
}

TEST(MolecularInfo, StructuresAndForceFields) {
  TempFolder dir;
  const InfoNode pdb = data::info(dir.write(
      "a.txt",
      "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n"
      "HETATM    1  O   HOH A   1       1.000   1.000   1.000  1.00  0.00           O\n"
      "HETATM    2  H1  HOH A   1       1.957   1.000   1.000  1.00  0.00           H\n"
      "HETATM    3  H2  HOH A   1       0.760   1.927   1.000  1.00  0.00           H\nEND\n"));
  EXPECT_EQ(format(pdb), "PDB");
  EXPECT_EQ(count(pdb, "atoms"), 3);
  EXPECT_EQ(count(pdb, "hydrogens"), 2);
  EXPECT_EQ(count(pdb, "bonds"), 2);
  const InfoNode xml = data::info(
      dir.write("a.xml",
                "<ForceField><AtomTypes><Type name=\"t\" class=\"T\" element=\"Ar\" "
                "mass=\"39.948\"/></AtomTypes>"
                "<Residues><Residue name=\"AR\"><Atom name=\"AR\" type=\"t\"/></Residue></Residues>"
                "<NonbondedForce coulomb14scale=\"1\" lj14scale=\"1\"><Atom type=\"t\" "
                "charge=\"0\" sigma=\"0.34\" epsilon=\"1\"/></NonbondedForce></ForceField>"));
  EXPECT_EQ(format(xml), "OpenMM force field");
  EXPECT_EQ(count(xml, "atom types"), 1);
  EXPECT_EQ(count(child(xml, "residues"), "AR"), 1);
}

}  // namespace tessera::molecular
