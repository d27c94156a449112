// SPDX-License-Identifier: Apache-2.0
//
// How many numbers a line of a GROMACS topology has: as many as grompp takes, n of state A or those
// and the ones of state B, on lines of types and of molecules alike.
#include "input_error.h"
#include "tessera/molecular/gromacs.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

namespace tessera::molecular {
namespace {

using tessera::testing::expect_fault;
using tessera::testing::fault;

constexpr const char *const one_type =
                                "[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nA 12 0 A 0.3 0.5\n",
                            *const four_atoms =
                                "[ moleculetype ]\nM 3\n[ atoms ]\n1 A 1 M A 1\n2 A 1 M A 1\n3 A 1 "
                                "M A 1\n4 A 1 M A 1\n",
                            *const one_molecule = "[ system ]\nx\n[ molecules ]\nM 1\n";

GromacsTopology with_lines(const std::string& types, const std::string& terms) {
  return read_top(
      data::make_text_file("none/t.top", one_type + types + four_atoms + terms + one_molecule));
}

TEST(TopNumbers, LinesOfTypesHaveThoseOfAStateOrOfTwo) {
  for (const auto& [line, number, column, says] :
       {std::tuple{"[ dihedraltypes ]\nA A A A 5 1.0 2.0 3.0 4.0 50.0\n", 703, 27U,
                   "a fifth coefficient"},
        {"[ dihedraltypes ]\nA A A A 3 1 2 3 4 5 6 700\n", 701, 23U,
         "expected 6 parameters, or 12 with those of a B state, got 7"},
        {"[ dihedraltypes ]\nA A A A 9 0 1 2 0 1\n", 701, 17U, "expected 3 parameters, or 6"},
        {"[ bondtypes ]\nA A 1 0.15 1000 5000\n", 701, 17U, "expected 2 parameters, or 4"},
        {"[ bondtypes ]\nA A 1 0.15 1000 0.17 5000 3\n", 701, 27U, "got 5"},
        {"[ bondtypes ]\nA A 1 0.15 1000 abc\n", 701, 17U, "got 3"},
        {"[ bondtypes ]\nA A 1 0.15 1000 0.15 abc\n", 303, 22U, "expected a number"},
        {"[ constrainttypes ]\nA A 1 0.1 0.1 0.1\n", 701, 15U, "expected 1 parameters, or 2"},
        {"[ pairtypes ]\nA A 1 0.2 0.3 7.0\n", 701, 15U, "expected 2 parameters, or 4"},
        {"[ nonbond_params ]\nA A 1 0.2 0.3 0.2 0.3\n", 701, 15U, "expected 2 parameters, got 4"},
        {"[ atomtypes ]\nB 12 0 A 0.3 0.5 0.3 0.5\n", 701, 18U, "expected 2 parameters, got 4"}})
    expect_fault(fault([&, text = line] { with_lines(text, ""); }), number, 6, column, says);
}

TEST(TopNumbers, LinesOfMoleculesLikewise) {
  for (const auto& [line, number, column, says] :
       {std::tuple{"[ dihedrals ]\n1 2 3 4 5 1 2 3 4 50\n", 703, 19U, "a fifth coefficient"},
        {"[ dihedrals ]\n1 2 3 4 9 0 1 2 0 1\n", 701, 17U, "expected 3 parameters, or 6"},
        {"[ pairs ]\n1 2 2 1 0.1 0.1 0.3 0.5 0.5\n", 701, 25U, "expected 5 parameters, got 6"},
        {"[ settles ]\n1 1 0.1 0.16 0.1\n", 701, 14U, "expected 2 parameters, got 3"},
        {"[ virtual_sites2 ]\n1 2 3 1 0.5 0.5\n", 701, 13U, "expected 1 parameters, got 2"},
        {"[ distance_restraints ]\n1 2 1 0 1 0.2 0.3 0.5 1 7\n", 701, 25U,
         "expected 6 parameters, or 12"}})
    expect_fault(fault([&, text = line] { with_lines("", text); }), number, 13, column, says);
}

TEST(TopNumbers, AFourierDihedralMayEndInZero) {
  const auto powers = [](const std::string& more) {
    return with_lines("[ dihedraltypes ]\nA A A A 5 1 2 3 4" + more + "\n",
                      "[ dihedrals ]\n1 2 3 4 5\n")
        .system.ryckaert_bellemans.rows;
  };
  ASSERT_EQ(powers("").size(), 1U);
  EXPECT_EQ(powers(" 0"), powers(""));
  EXPECT_EQ(powers(" 1 2 3 4"), powers("")) << "a B state that is that of A";
}

TEST(TopNumbers, BStatesOfTypesAreToldAndLeftOut) {
  const std::string bond = "[ bonds ]\n1 2 1\n",
                    perturbed = "[ bonds ]\n1 2 1\n2 3 1 0.1 9 0.2 9\n";
  for (const auto& [types, terms, column] :
       {std::tuple{"[ bondtypes ]\nA A 1 0.15 1000 0.17 5000\n", bond, 17U},
        {"[ bondtypes ]\nA A 1 0.15 1000 0.15 5000\n", perturbed, 22U},
        {"[ pairtypes ]\nA A 1 0.2 0.3 0.2 0.4\n[ bondtypes ]\nA A 1 0.15 1000\n", bond, 19U}}) {
    const GromacsTopology t = with_lines(types, terms);
    ASSERT_EQ(t.remarks.size(), 1U) << "once for types and molecules together: " << types;
    EXPECT_EQ(t.remarks[0].severity, data::Severity::warning);
    EXPECT_EQ(t.remarks[0].place.line, 6U);
    EXPECT_EQ(t.remarks[0].place.column, column) << to_string(t.remarks[0]);
    EXPECT_NE(t.remarks[0].message.find("of a B state differ"), std::string::npos);
    EXPECT_EQ(t.system.bonds.rows[0], (std::array<double, 2>{0.15, 1000}));
  }
  EXPECT_TRUE(with_lines("[ bondtypes ]\nA A 1 0.15 1000 0.15 1000\n", bond).remarks.empty());
}

}  // namespace
}  // namespace tessera::molecular
