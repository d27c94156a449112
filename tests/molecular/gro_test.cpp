// SPDX-License-Identifier: Apache-2.0
#include "input_error.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/gromacs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tessera::molecular {
namespace {

using tessera::testing::expect_fault;
using tessera::testing::fault;

/// The first finding of a structure.
data::Diagnostic fault_of_gro(const std::string& text) {
  return fault([&] { read_gro(data::make_text_file("a.gro", text)); });
}

constexpr const char* two_atoms =
    "Two atoms, t= 1.50000 step= 30\n    2\n"
    "    1SOL     OW    1   0.100   0.200   0.300  0.0100 -0.0200  0.0300\n"
    "    2SOL    HW1    2  -0.100   1.200   2.300  0.0000  0.0000  1.0000\n"
    "   2.00000   2.50000   3.00000\n";

TEST(Gro, FramesVelocitiesAndBoxes) {
  const std::string slanted =
      "next t= 2.5\n2\n    1SOL     OW    1   0.110   0.200   0.300\n    2SOL    HW1    2   0.100  "
      " 0.200   0.300\n 2 2.1 2.2 0 0 0.5 0 -0.4 0.3\n";
  const GroFile g = read_gro(data::make_text_file("a.gro", two_atoms + slanted));
  ASSERT_EQ(g.frames.size(), 2U);
  EXPECT_EQ(g.title, "Two atoms");
  EXPECT_EQ(g.frames[0].time_ps, 1.5);
  EXPECT_EQ(g.frames[0].step, 30);
  EXPECT_EQ(g.frames[1].time_ps, 2.5);
  EXPECT_EQ(g.frames[0].x_nm[1], (Vec3{-0.1, 1.2, 2.3}));
  EXPECT_EQ(g.frames[0].v_nm_ps[0], (Vec3{0.01, -0.02, 0.03}));
  EXPECT_TRUE(g.frames[1].v_nm_ps.empty());
  EXPECT_EQ(g.frames[0].box, rectangular_box({2, 2.5, 3}));
  EXPECT_EQ(g.frames[1].box, (Box{{{{2, 0, 0}, {0.5, 2.1, 0}, {-0.4, 0.3, 2.2}}}}));
  EXPECT_EQ(g.atom_name, (std::vector<std::string>{"OW", "HW1"}));
  EXPECT_EQ(g.residues, (std::vector<Residue>{{"SOL", "1", "", ""}, {"SOL", "2", "", ""}}));
  EXPECT_FALSE(is_periodic(
      read_gro(data::make_text_file("a.gro", std::string(two_atoms).substr(
                                                 0, std::string(two_atoms).rfind("   2.0")) +
                                                 "0 0 0\n"))
          .frames[0]
          .box));
}

/// Edges at the limit of the reduced form stay as they are, rounded either way; longer ones are
/// replaced, and told.
TEST(Gro, EdgesAtTheLimitStay) {
  const std::string text = two_atoms, head = text.substr(0, text.rfind("   2.0"));
  for (const auto& [tilt, stays] :
       {std::pair{"1.50000", true}, {"-1.50000", true}, {"1.50001", true}, {"1.60000", false}}) {
    const GroFile g = read_gro(
        data::make_text_file("a.gro", head + "3.00000 2.59808 3.00000 0 0 " + tilt + " 0 0 0\n"));
    EXPECT_EQ(g.frames.back().box.edge[1][0] == std::stod(tilt), stays) << tilt;
    EXPECT_EQ(g.remarks.empty(), stays) << tilt;
  }
}

TEST(Gro, WhatIsWrittenIsReadBack) {
  GroFile g = read_gro(data::make_text_file("a.gro", two_atoms));
  g.frames[0].x_nm[0] = {1.0 / 3, -200.0 / 7, 1e-9};
  g.frames.push_back(g.frames[0]);
  g.frames[1].v_nm_ps.clear();
  g.frames[1].box = box_of_angles({2, 3, 4}, {70, 80, 100});
  for (const int decimals : {3, 6, 12}) {
    const GroFile back = read_gro(data::make_text_file("b.gro", write_gro(g, decimals)));
    const double half = 0.5000001 * std::pow(10, -decimals);
    EXPECT_EQ(back.atom_name, g.atom_name);
    EXPECT_EQ(back.residues, g.residues);
    EXPECT_EQ(back.title, g.title);
    ASSERT_EQ(back.frames.size(), 2U);
    for (std::size_t f = 0; f < 2; ++f) {
      EXPECT_EQ(back.frames[f].step, 30);
      EXPECT_EQ(back.frames[f].v_nm_ps.size(), g.frames[f].v_nm_ps.size());
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
          EXPECT_NEAR(back.frames[f].x_nm[i][k], g.frames[f].x_nm[i][k], half);
          EXPECT_NEAR(back.frames[f].box.edge[i][k], g.frames[f].box.edge[i][k], 5e-6);
        }
    }
  }
  g.residues[0].name = "S\u00fcL";
  EXPECT_EQ(read_gro(data::make_text_file("c.gro", write_gro(g, 3))).residues[0].name, "S??L")
      << "columns are bytes";
  g.frames[0].x_nm[0][0] = 12345;
  EXPECT_THROW(write_gro(g), Error) << "does not fit into its column";
  g.frames[0].x_nm[0][0] = std::nan("");
  EXPECT_THROW(write_gro(g), Error);
}

TEST(Gro, FaultsHavePlaces) {
  const std::string t = two_atoms;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string s = t;
    s.replace(s.find(from), from.size(), to);
    return fault_of_gro(s);
  };
  expect_fault(with("    2\n", "   -5\n"), 309, 2, 4, "the number of atoms");
  expect_fault(with("    2\n", "99999999999\n"), 309, 2, 1, "the number of atoms");
  expect_fault(with("    2\n", "    0\n"), 309, 2, 5, "the number of atoms");
  expect_fault(with("    2\n", "    1\n"), 701, 4, 1, "the box");
  expect_fault(with("    2\n", "    3\n"), 701, 5, 1, "expected atom 3 of 3");
  expect_fault(with("0.200", "0,200"), 701, 3, 1, "decimal points");
  expect_fault(with("1.200", "1,200"), 303, 4, 32, "expected a number");
  expect_fault(with("1.200", "  nan"), 303, 4, 34, "expected a number");
  expect_fault(with("    1SOL", "   1SOL "), 701, 3, 1, "residue number");
  expect_fault(with("   2.00000", "  -2.00000"), 702, 5, 3, "positive edges");
  expect_fault(with("   2.00000", "   0.00000"), 702, 5, 4, "positive edges");
  expect_fault(with("3.00000\n", "3.00000 1 0 0 0 0 0\n"), 702, 5, 32,
               "the first vector of the box along x");
  expect_fault(with("3.00000\n", "\n"), 701, 5, 1, "3 or 9 numbers");
  expect_fault(with("  0.0000  0.0000  1.0000", ""), 701, 4, 1, "no velocity");
  expect_fault(fault_of_gro(t.substr(0, t.find("    2SOL"))), 309, 2, 5, "the number of atoms");
  expect_fault(fault_of_gro("title\n"), 701, 1, 6, "the file ends");
  expect_fault(fault_of_gro(t + "more\n 1\n    1SOL     OW    1   0.100   0.200   0.300\n 2 2 2\n"),
               704, 7, 2, "this frame has 1 atoms, the first one 2");
  expect_fault(fault_of_gro(t.substr(0, t.size() - 60)), 701, 4, 1, "no velocity");
}

}  // namespace
}  // namespace tessera::molecular
