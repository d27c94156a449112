// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/selection.h"

#include "tessera/data/diagnostic.h"
#include "tessera/molecular/build.h"

#include <gtest/gtest.h>

namespace tessera::molecular {
namespace {

/// Two residues of a protein in two chains, water and an ion, in a small box.
BuiltSystem mixture() {
  BuiltSystem b = water_box({.model = "tip3p", .molecules = 60, .seed = 2});
  System peptide;
  peptide.residues = {
      {"ALA", "5", "A", ""}, {"GLY", "6", "A", ""}, {"SER", "6A", "B", "S1"}, {"CL", "7", "C", ""}};
  peptide.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
  const auto add = [&](const char* name, std::uint8_t element, double mass, double charge,
                       std::int32_t residue) {
    peptide.atoms.name.push_back(name);
    peptide.atoms.type.push_back("T");
    peptide.atoms.element.push_back(element);
    peptide.atoms.mass_amu.push_back(mass);
    peptide.atoms.charge_e.push_back(charge);
    peptide.atoms.lj_type.push_back(0);
    peptide.atoms.residue.push_back(residue);
    b.frame.x_nm.insert(b.frame.x_nm.begin() + static_cast<std::ptrdiff_t>(peptide.n_atoms() - 1),
                        {0.1 * static_cast<double>(peptide.n_atoms()), 0.05, 0.02});
  };
  add("N", 7, 14.007, -0.3, 0), add("CA", 6, 12.011, 0.1, 0), add("CB", 6, 12.011, -0.1, 0),
      add("HB1", 1, 1.008, 0.1, 0), add("C", 6, 12.011, 0.5, 0), add("O", 8, 15.999, -0.5, 0);
  add("N", 7, 14.007, -0.3, 1), add("CA", 6, 12.011, 0.3, 1);
  add("OG", 8, 15.999, 0.2, 2);
  add("CL", 17, 35.45, -1, 3);
  peptide.connectivity = {{0, 1}, {1, 2}, {1, 4}, {2, 3}, {4, 5}, {4, 6}, {6, 7}};
  b.system = joined(peptide, b.system);
  return b;
}

/// The same set by a loop over all atoms.
std::vector<std::int32_t> loop(const BuiltSystem& b, auto&& is) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < b.system.n_atoms(); ++i)
    if (is(i)) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

TEST(Selection, WordsAgainstLoops) {
  const BuiltSystem b = mixture();
  const System& s = b.system;
  const auto residue = [&](std::size_t i) {
    return s.residues[static_cast<std::size_t>(s.atoms.residue[i])];
  };
  const auto name = [&](std::size_t i) { return s.atoms.name[i]; };
  const auto protein = [&](std::size_t i) { return i < 9; };
  const auto check = [&](const char* text, auto&& is) {
    EXPECT_EQ(select(text, s, b.frame), loop(b, is)) << text;
  };
  check("all", [&](std::size_t) { return true; });
  check("none", [&](std::size_t) { return false; });
  check("protein", protein);
  check("water", [&](std::size_t i) { return residue(i).name == "HOH"; });
  check("ion", [&](std::size_t i) { return i == 9; });
  check("backbone", [&](std::size_t i) {
    return protein(i) && (name(i) == "N" || name(i) == "CA" || name(i) == "C" || name(i) == "O");
  });
  check("sidechain", [&](std::size_t i) { return i == 2 || i == 8; });
  check("name CA N", [&](std::size_t i) { return name(i) == "CA" || name(i) == "N"; });
  check("name \"C*\" H?", [&](std::size_t i) {
    return name(i)[0] == 'C' || (name(i)[0] == 'H' && name(i).size() == 2);
  });
  check("protein and not name CA", [&](std::size_t i) { return protein(i) && name(i) != "CA"; });
  check("name CA or name CB and resname GLY", [&](std::size_t i) {
    return name(i) == "CA" || (name(i) == "CB" && residue(i).name == "GLY");
  });
  check("(name CA or name CB) and resname GLY",
        [&](std::size_t i) { return name(i) == "CA" && residue(i).name == "GLY"; });
  check("resid 5 to 6 and protein", protein);
  check("name \"!=\" CA", [&](std::size_t i) { return name(i) == "CA"; });
  check("resid -6A", [](std::size_t) { return false; });
  check("resid \"6A\" 9999Z", [&](std::size_t i) { return residue(i).number == "6A"; });
  check("resid 6A", [&](std::size_t i) { return residue(i).number == "6A"; });
  check("resid 7 9 to 11", [&](std::size_t i) {
    const int n = std::stoi(residue(i).number);
    return n == 7 || (n >= 9 && n <= 11);
  });
  check("index 0 3 to 5", [&](std::size_t i) { return i == 0 || (i >= 3 && i <= 5); });
  check("serial 1", [&](std::size_t i) { return i == 0; });
  check("element o CL",
        [&](std::size_t i) { return s.atoms.element[i] == 8 || s.atoms.element[i] == 17; });
  check("chain A B", [&](std::size_t i) { return i < 9; });
  check("segment S1", [&](std::size_t i) { return i == 8; });
  check("mass > 13 and charge <= -0.5",
        [&](std::size_t i) { return s.atoms.mass_amu[i] > 13 && s.atoms.charge_e[i] <= -0.5; });
  check("x>=0.3 and y<0.5",
        [&](std::size_t i) { return b.frame.x_nm[i][0] >= 0.3 && b.frame.x_nm[i][1] < 0.5; });
  check("same residue as index 3", [&](std::size_t i) { return i < 6; });
  check("same molecule as index 3", [&](std::size_t i) { return i < 8; });
  check("same chain as name OG", [&](std::size_t i) { return i == 8; });
  check("hydrogen and not water", [&](std::size_t i) { return i == 3; });
}

/// Runs keep paths that go on beyond the faces: x is that of the path, a distance that of the
/// nearest image.
TEST(Selection, PositionsAreThoseOfTheFrame) {
  BuiltSystem b = mixture();
  const std::vector<std::int32_t> near = select("within 0.3 of index 0", b.system, b.frame);
  b.frame.x_nm[0][0] += 5 * b.frame.box.edge[0][0];
  const std::string beyond = "x > " + std::to_string(3 * b.frame.box.edge[0][0]);
  EXPECT_EQ(select(beyond, b.system, b.frame), std::vector<std::int32_t>{0});
  EXPECT_EQ(select("within 0.3 of index 0", b.system, b.frame), near);
}

/// AMBER's force fields as GROMACS has them call both oxygens of an end OC1 and OC2, others OT.
TEST(Selection, OxygensOfEndsAreBackboneWhateverTheirName) {
  BuiltSystem b = mixture();
  for (const char* name :
       {"O", "OXT", "OT", "OT1", "OT2", "O1", "O2", "OC1", "OC2", "OCT1", "OCT2"}) {
    b.system.atoms.name[5] = name;
    EXPECT_EQ(select("backbone and resid 5", b.system, b.frame),
              (std::vector<std::int32_t>{0, 1, 4, 5}))
        << name;
    EXPECT_EQ(select("sidechain and resid 5", b.system, b.frame), std::vector<std::int32_t>{2})
        << name;
  }
}

TEST(Selection, DistancesAgainstAllPairs) {
  const BuiltSystem b = mixture();
  for (const double radius : {0.2, 0.45, 0.9}) {
    const auto near = [&](std::size_t i) {
      for (std::size_t j = 0; j < 9; ++j) {
        const Vec3 &p = b.frame.x_nm[i], &q = b.frame.x_nm[j],
                   d = shortest(b.frame.box, {p[0] - q[0], p[1] - q[1], p[2] - q[2]});
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= radius * radius) return true;
      }
      return false;
    };
    const std::string r = std::to_string(radius);
    EXPECT_EQ(select("within " + r + " of protein", b.system, b.frame), loop(b, near));
    EXPECT_EQ(select("water and within " + r + " of protein", b.system, b.frame),
              loop(b, [&](std::size_t i) { return i >= 10 && near(i); }));
    Frame open = b.frame;
    open.box = {};
    EXPECT_LE(select("within " + r + " of protein", b.system, open).size(), loop(b, near).size());
    EXPECT_EQ(select("same residue as (water and within " + r + " of (protein))", b.system, b.frame)
                      .size() %
                  3,
              0U);
  }
}

TEST(Selection, FaultsHaveColumnsAndSuggestions) {
  const BuiltSystem b = mixture();
  const auto check = [&](const std::string& text, std::size_t column, const char* part,
                         const char* hint = "") {
    try {
      select(text, b.system, b.frame);
      ADD_FAILURE() << text;
    } catch (const data::InputError& e) {
      const data::Diagnostic& d = e.findings().at(0);
      EXPECT_EQ(d.number, 760);
      EXPECT_EQ(d.place.column, column) << to_string(d);
      EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
      EXPECT_NE(d.hint.find(hint), std::string::npos) << to_string(d);
    }
  };
  check("protien and name CA", 1, "expected a term, got 'protien'", "protein");
  check("protein and nme CA", 13, "got 'nme'", "name");
  check("protein nme CA", 9, "expected 'and', 'or'");
  check("(protein", 8, "expected ')'");
  check("name and water", 6, "expected one or more words after 'name'");
  check("resid five", 7, "expected whole numbers");
  // How other programs write it: taken for words they would mean other atoms, or none.
  for (const char* range : {"5-6", "5:6", "5,6", "-5-6", "6*", "5to6", "6AB", "A6", "-A"})
    check("resid " + std::string(range) + " or name CA", 7, "expected whole numbers", "5 to 10");
  check("name != CA", 6, "expected words after 'name', got '!='", "not name A");
  check("resname !ALA", 9, "expected words after 'resname', got '!'", "not resname A");
  check("chain = A", 7, "expected words after 'chain', got '='", "chain A B");
  check("resid 9 to 5", 12, "of 9 or above");
  const std::string n = std::to_string(b.system.n_atoms()),
                    last = std::to_string(b.system.n_atoms() - 1);
  EXPECT_EQ(select("serial " + n, b.system), select("index " + last, b.system));
  check("serial 1 to 99999", 8, "no atom of serial 99999", "another system");
  check("name CA or index 3 " + n, 20, ("the last is " + last).c_str());
  for (const char* range : {"serial 0", "serial 0 to 5", "serial -1 to 0"})
    check(range, 8, "the first is 1", "index from 0");
  check("index -3 to 2", 7, "no atom of index -3: the first is 0", "serial counts atoms from 1");
  check("mass 5", 6, "expected a comparison");
  check("mass > heavy", 8, "expected a number");
  check("within of protein", 8, "expected a distance");
  check("within -1 of protein", 8, "must be positive");
  check("within 0.5 protein", 12, "expected 'of'");
  check("same atom as water", 6, "expected residue, chain or molecule");
  check("name 'CA", 6, "not closed");
  BuiltSystem no_chains = b;
  for (auto& r : no_chains.system.residues) r.chain.clear();
  try {
    select("protein or same chain as index 0", no_chains.system, no_chains.frame);
    ADD_FAILURE() << "all atoms are one chain";
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().at(0);
    EXPECT_EQ(d.number, 760);
    EXPECT_EQ(d.place.column, 17u) << to_string(d);
    EXPECT_EQ(d.hint, "same molecule as");
  }
  check("", 1, "expected a term, got the end");
  check("not", 3, "expected a term, got the end");
  check(std::string(1000, '('), 201, "more than 200");
  EXPECT_THROW(select("x > 1", b.system), Error);
}

}  // namespace
}  // namespace tessera::molecular
