// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/openmm_xml.h"

#include "tessera/molecular/forces.h"
#include "tessera/molecular/structure_file.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

double sum_of(const Forces& f, std::initializer_list<Term> terms) {
  double sum = 0;
  for (const Term t : terms) sum += f.energy[static_cast<std::size_t>(t)];
  return sum;
}
std::vector<Vec3> read_vectors(const fs::path& path) {
  const data::TextFile text = data::read_text_file(path);
  std::istringstream in(text.text);
  std::vector<Vec3> out;
  for (Vec3 v; in >> v[0] >> v[1] >> v[2];) out.push_back(v);
  return out;
}

/// The protein 6MRR in water against OpenMM's Reference platform (data/md/README.md).
class Protein : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const fs::path folder = tessera::testing::test_data() / "md/p6mrr";
    if (!fs::exists(folder)) return;
    const std::vector<data::TextFile> files = {data::read_text_file(folder / "ff99SBildn.xml"),
                                               data::read_text_file(folder / "tip3p_standard.xml")};
    structure_ = std::make_unique<StructureFile>(read_structure(folder / "6mrr_equil.pdb.gz"));
    system_ = std::make_unique<ParametrizedSystem>(
        apply(read_openmm_xml(files), structure_->structure, {.rigid_water = false}));
  }
  static void TearDownTestSuite() {
    structure_.reset();
    system_.reset();
  }
  void SetUp() override {
    if (!system_) GTEST_SKIP() << "no data of 6MRR";
  }
  static std::unique_ptr<StructureFile> structure_;
  static std::unique_ptr<ParametrizedSystem> system_;
};
std::unique_ptr<StructureFile> Protein::structure_;
std::unique_ptr<ParametrizedSystem> Protein::system_;

TEST_F(Protein, EnergiesAndForcesWithReactionField) {
  EXPECT_TRUE(structure_->remarks.empty());
  EXPECT_TRUE(system_->remarks.empty());
  const System& s = system_->system;
  ASSERT_EQ(s.n_atoms(), 15954U);
  EXPECT_NEAR(net_charge_e(s), 0, 1e-9);
  Nonbonded o;
  o.coulomb = Nonbonded::Coulomb::reaction_field;
  o.coulomb_modifier = o.lj_modifier = Nonbonded::Modifier::none;
  o.epsilon_rf = 78.3;
  o.reaction_field_of_excluded = false;
  o.tail = Nonbonded::Tail::c6_c12;
  o.tail_pairs = Nonbonded::TailPairs::unordered;
  Forces f;
  ForceEvaluator(s, o, {.precision = Precision::f64})(structure_->structure.x_nm,
                                                      structure_->structure.box, f);
  // Each contribution is rounded to 2^-32 kJ/mol.
  EXPECT_NEAR(sum_of(f, {Term::bonds}), 164735.9680319716, 1e-5);
  EXPECT_NEAR(sum_of(f, {Term::angles}), 2839.822589076193, 1e-5);
  EXPECT_NEAR(sum_of(f, {Term::dihedrals}), 2892.478996097175, 1e-5);
  EXPECT_NEAR(sum_of(f, {Term::impropers}), 128.24252705183535, 1e-5);
  EXPECT_NEAR(sum_of(f, {Term::lj, Term::lj_tail, Term::pairs_lj}), -5151.620119781372, 1e-5);
  EXPECT_NEAR(sum_of(f, {Term::coulomb_short, Term::pairs_coulomb}), -123681.04625199942, 1e-5);

  const std::vector<Vec3> expected =
      read_vectors(tessera::testing::test_data() / "md/p6mrr/forces_all_cut.txt.gz");
  ASSERT_EQ(expected.size(), s.n_atoms());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      worst = std::max(worst, std::abs(f.f[i][c] - expected[i][c]));
  EXPECT_LT(worst, 1e-7);
}

TEST_F(Protein, EnergyByParticleMeshes) {
  const System& s = system_->system;
  // OpenMM's choice for a tolerance of 5e-4 at 1 nm.
  Nonbonded o;
  o.coulomb_modifier = o.lj_modifier = Nonbonded::Modifier::none;
  o.tail = Nonbonded::Tail::c6_c12;
  o.tail_pairs = Nonbonded::TailPairs::unordered;
  o.ewald_beta = std::sqrt(-std::log(2 * 5e-4));
  const Vec3 l = lengths_nm(structure_->structure.box);
  for (std::size_t a = 0; a < 3; ++a)
    o.fourier_grid[a] =
        static_cast<int>(std::ceil(2 * o.ewald_beta * l[a] / (3 * std::pow(5e-4, 0.2))));
  Forces f;
  ForceEvaluator(s, o, {.precision = Precision::f64})(structure_->structure.x_nm,
                                                      structure_->structure.box, f);
  EXPECT_NEAR(f.potential(), 31000.375677540298, 0.2);
}

// ---- small force fields of our own

/// Two kinds of ethane-like chains A-B-B-A with every force, and a water with a site.
const char* kSmall = R"(<ForceField>
 <Info><Source>none</Source></Info>
 <AtomTypes>
  <Type name="a" class="A" element="H" mass="1"/>
  <Type name="b" class="B" element="C" mass="12"/>
  <Type name="b2" class="B" element="C" mass="12"/>
  <Type name="ow" class="OW" element="O" mass="16"/>
  <Type name="hw" class="HW" element="H" mass="1"/>
  <Type name="m" class="M" mass="0"/>
 </AtomTypes>
 <Residues>
  <Residue name="CHN">
   <Atom name="A1" type="a" charge="0.1"/><Atom name="B1" type="b" charge="-0.1"/><Atom name="B2" type="b" charge="-0.1"/><Atom name="A2" type="a" charge="0.1"/>
   <Bond from="0" to="1"/><Bond atomName1="B1" atomName2="B2"/><Bond from="2" to="3"/>
  </Residue>
  <Residue name="HOH">
   <Atom name="O" type="ow" charge="0"/><Atom name="H1" type="hw" charge="0.52"/><Atom name="H2" type="hw" charge="0.52"/><Atom name="M" type="m" charge="-1.04"/>
   <Bond from="0" to="1"/><Bond from="0" to="2"/>
   <VirtualSite type="average3" siteName="M" atomName1="O" atomName2="H1" atomName3="H2" weight1="0.8" weight2="0.1" weight3="0.1"/>
  </Residue>
 </Residues>
 <HarmonicBondForce>
  <Bond class1="A" class2="B" length="0.1" k="1000"/><Bond class1="B" class2="B" length="0.15" k="2000"/><Bond type1="hw" type2="ow" length="0.1" k="3000"/>
 </HarmonicBondForce>
 <HarmonicAngleForce>
  <Angle class1="A" class2="B" class3="B" angle="1.9" k="100"/><Angle class1="HW" class2="OW" class3="HW" angle="1.8" k="200"/>
 </HarmonicAngleForce>
 <PeriodicTorsionForce>
  <Proper class1="" class2="B" class3="B" class4="" periodicity1="3" phase1="0.5" k1="7"/>
  <Proper class1="A" class2="B" class3="B" class4="A" periodicity1="1" phase1="0" k1="2" periodicity2="2" phase2="3.14159265358979" k2="0"/>
 </PeriodicTorsionForce>
 <RBTorsionForce>
  <Proper class1="A" class2="B" class3="B" class4="A" c0="1" c1="2" c2="3" c3="4" c4="5" c5="6"/>
 </RBTorsionForce>
 <NonbondedForce coulomb14scale="0.5" lj14scale="0.25">
  <UseAttributeFromResidue name="charge"/>
  <Atom class="A" sigma="0.2" epsilon="0.1"/><Atom class="B" sigma="0.3" epsilon="0.4"/><Atom class="OW" sigma="0.3" epsilon="0.6"/>
  <Atom class="HW" sigma="1" epsilon="0"/><Atom class="M" sigma="1" epsilon="0"/>
 </NonbondedForce>
</ForceField>)";

ForceField small(const std::string& text = kSmall) {
  const std::vector<data::TextFile> files = {data::make_text_file("small.xml", text)};
  return read_openmm_xml(files);
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
/// A chain whose atoms stand in another order and have other names, and a water without its site.
Structure chain_and_water() {
  Structure s;
  s.source = "small.pdb";
  s.residues = {{"XXX", "1", "A", ""}, {"WAT", "2", "W", ""}};
  s.chain = {0, 1};
  s.name = {"C1", "C2", "HA", "HB", "H1", "O", "H2"};
  s.element = {6, 6, 1, 1, 1, 8, 1};
  s.residue = {0, 0, 0, 0, 1, 1, 1};
  s.x_nm = {{0, 0, 0},   {0.15, 0, 0}, {0, 0.1, 0}, {0.15, 0, 0.1},
            {1, 0.1, 0}, {1, 0, 0},    {1.1, 0, 0}};
  s.bonds = {{0, 1}, {0, 2}, {1, 3}, {4, 5}, {5, 6}};
  return s;
}

TEST(OpenmmXml, TermsOfASmallForceField) {
  const ForceField ff = small();
  const Structure with_sites = with_virtual_sites(ff, chain_and_water());
  ASSERT_EQ(with_sites.n_atoms(), 8U);
  EXPECT_EQ(with_sites.name[7], "M");
  EXPECT_NEAR(with_sites.x_nm[7][0], 1.01, 1e-12);
  EXPECT_NEAR(with_sites.x_nm[7][1], 0.01, 1e-12);
  const ParametrizedSystem p = apply(ff, with_sites, {.rigid_water = false});
  const System& s = p.system;
  EXPECT_TRUE(p.remarks.empty());
  EXPECT_EQ(s.atoms.type, (std::vector<std::string>{"b", "b", "a", "a", "hw", "ow", "hw", "m"}));
  EXPECT_EQ(s.atoms.charge_e, (std::vector<double>{-0.1, -0.1, 0.1, 0.1, 0.52, 0, 0.52, -1.04}));
  EXPECT_EQ(s.bonds.size(), 5U);
  EXPECT_EQ(s.angles.size(), 3U);
  ASSERT_EQ(s.dihedrals.size(), 1U) << "the specific rule, without its term of no height";
  EXPECT_EQ(s.dihedrals.rows[0], (std::array<double, 3>{0, 2, 1}));
  EXPECT_EQ(s.dihedrals.atoms[0], (std::array<std::int32_t, 4>{2, 0, 1, 3}));
  ASSERT_EQ(s.ryckaert_bellemans.size(), 1U);
  ASSERT_EQ(s.virtual_sites.size(), 1U);
  EXPECT_EQ(s.virtual_sites[0].parents, (std::array<std::int32_t, 4>{5, 4, 6, -1}))
      << "by name, since H1 and H2 are alike";
  // 1-4: half the charges, a quarter of Lennard-Jones between like atoms of sigma 0.2.
  ASSERT_EQ(s.pairs.size(), 1U);
  EXPECT_EQ(s.pairs.atoms[0], (std::array<std::int32_t, 2>{2, 3}));
  EXPECT_NEAR(s.pairs.rows[0][0], 0.25 * 4 * 0.1 * std::pow(0.2, 6), 1e-18);
  EXPECT_EQ(s.pairs.rows[0][2], 0.5);
  EXPECT_EQ(s.exclusions.size(), 12U)
      << "all six pairs of the chain, all six of the water with its site";
  EXPECT_EQ(s.lj.types, 4);
}

TEST(OpenmmXml, RigidWaterAndBondsWithHydrogen) {
  const ForceField ff = small();
  const System s =
      apply(ff, with_virtual_sites(ff, chain_and_water()), {.constraints = Rigid::h_bonds}).system;
  ASSERT_EQ(s.rigid_waters.size(), 1U);
  EXPECT_NEAR(s.rigid_waters.rows[0][1], 2 * 0.1 * std::sin(0.9), 1e-12);
  EXPECT_EQ(s.constraints.size(), 2U);
  EXPECT_EQ(s.bonds.size(), 1U);
}

TEST(OpenmmXml, NbfixTakesThePlaceOfMixing) {
  std::string t = replaced(kSmall, "sigma=\"0.2\" epsilon=\"0.1\"", "sigma=\"1\" epsilon=\"0\"");
  t = replaced(t, "sigma=\"0.3\" epsilon=\"0.4\"", "sigma=\"1\" epsilon=\"0\"");
  t = replaced(t, "sigma=\"0.3\" epsilon=\"0.6\"", "sigma=\"1\" epsilon=\"0\"");
  t = replaced(
      t, "</ForceField>",
      R"(<LennardJonesForce lj14scale="1"><Atom class="A" sigma="0.2" epsilon="0.1" sigma14="0.4" epsilon14="0.2"/><Atom class="B" sigma="0.3" epsilon="0.4"/>
    <Atom class="OW" sigma="0.3" epsilon="0.6"/><Atom class="HW" sigma="1" epsilon="0"/><Atom class="M" sigma="1" epsilon="0"/>
    <NBFixPair class1="OW" class2="A" sigma="0.5" epsilon="0.7"/></LennardJonesForce></ForceField>)");
  const ForceField ff = small(t);
  const System s = apply(ff, with_virtual_sites(ff, chain_and_water())).system;
  const auto entry = [&](std::size_t i, std::size_t j) {
    return static_cast<std::size_t>(s.atoms.lj_type[i]) * static_cast<std::size_t>(s.lj.types) +
           static_cast<std::size_t>(s.atoms.lj_type[j]);
  };
  EXPECT_NEAR(s.lj.c6[entry(2, 5)], 4 * 0.7 * std::pow(0.5, 6), 1e-15);
  EXPECT_NEAR(s.lj.c12[entry(5, 2)], 4 * 0.7 * std::pow(0.5, 12), 1e-18);
  EXPECT_NEAR(s.lj.c6[entry(0, 5)], 4 * std::sqrt(0.4 * 0.6) * std::pow(0.3, 6), 1e-15);
  EXPECT_EQ(s.lj.exceptions.size(), 1U);
  EXPECT_NEAR(s.pairs.rows[0][0], 4 * 0.2 * std::pow(0.4, 6), 1e-15);
}

TEST(OpenmmXml, ResiduesThatDoNotMatchSayWhatTheNearestTemplateHas) {
  const ForceField ff = small();
  const auto fault = [&](const Structure& s) {
    try {
      apply(ff, s);
    } catch (const data::InputError& e) {
      return e.findings().at(0);
    }
    return data::Diagnostic{};
  };
  data::Diagnostic d = fault(chain_and_water());
  EXPECT_EQ(d.number, 731);
  EXPECT_NE(d.hint.find("virtual sites"), std::string::npos) << d.hint;
  Structure s = with_virtual_sites(ff, chain_and_water());
  s.bonds.erase(s.bonds.begin());
  d = fault(s);
  EXPECT_EQ(d.number, 731);
  EXPECT_NE(d.message.find("CHN, has the same atoms, but 3 bonds within"), std::string::npos)
      << d.message;
  s = with_virtual_sites(ff, chain_and_water());
  s.element[3] = 9;
  EXPECT_NE(fault(s).message.find("CHN, has 1 H more than the residue and 1 F fewer"),
            std::string::npos)
      << fault(s).message;
}

TEST(OpenmmXml, TemplatesThatMatchAlikeAreToldApartByName) {
  std::string t = replaced(
      kSmall, "<Residue name=\"HOH\">",
      R"(<Residue name="CH2"><Atom name="A1" type="a" charge="0.1"/><Atom name="B1" type="b2" charge="-0.1"/><Atom name="B2" type="b2" charge="-0.1"/><Atom name="A2" type="a" charge="0.1"/>
   <Bond from="0" to="1"/><Bond from="1" to="2"/><Bond from="2" to="3"/></Residue><Residue name="HOH">)");
  const ForceField ff = small(t);
  Structure s = with_virtual_sites(ff, chain_and_water());
  try {
    apply(ff, s);
    FAIL();
  } catch (const data::InputError& e) {
    EXPECT_EQ(e.findings().at(0).number, 732);
  }
  s.residues[0].name = "CH2";
  EXPECT_EQ(apply(ff, s).system.atoms.type[0], "b2");
}

TEST(OpenmmXml, MissingRulesAreRemarked) {
  const ForceField ff =
      small(replaced(kSmall, "<Bond class1=\"B\" class2=\"B\" length=\"0.15\" k=\"2000\"/>", ""));
  const ParametrizedSystem p = apply(ff, with_virtual_sites(ff, chain_and_water()));
  ASSERT_EQ(p.remarks.size(), 1U);
  EXPECT_EQ(p.remarks[0].number, 733);
  EXPECT_NE(p.remarks[0].message.find("no bond between b and b"), std::string::npos);
}

TEST(OpenmmXml, FaultsHavePlaces) {
  const auto check = [](const std::string& from, const std::string& to, int number,
                        std::size_t line, std::size_t column, const char* part) {
    try {
      small(replaced(kSmall, from, to));
      ADD_FAILURE() << part;
    } catch (const data::InputError& e) {
      const data::Diagnostic& d = e.findings().at(0);
      EXPECT_EQ(d.number, number) << to_string(d);
      EXPECT_EQ(d.place.line, line) << to_string(d);
      if (column) {
        EXPECT_EQ(d.place.column, column) << to_string(d);
      }
      EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
    }
  };
  check("mass=\"12\"", "mass=\"1x2\"", 303, 5, 46, "expected a number");
  check("name=\"b2\"", "name=\"b\"", 701, 6, 0, "defined twice");
  check("type=\"hw\"", "type=\"hx\"", 702, 17, 0, "no file defines the type");
  check("from=\"0\" to=\"1\"", "from=\"0\" to=\"9\"", 702, 14, 0, "is not among 4");
  check("weight1=\"0.8\"", "weight1=\"0.7\"", 702, 19, 0, "must add up to 1");
  check("average3", "circle", 703, 19, 23, "is not read");
  check("type=\"average3\" siteName=\"M\" atomName1=\"O\"",
        "type=\"localCoords\" siteName=\"M\" atomName1=\"O\" wo1=\"1\" wo2=\"0\" wo3=\"0\" "
        "wx1=\"-1\" wx2=\"1\" "
        "wx3=\"1\" wy1=\"-1\" wy2=\"1\" wy3=\"0\" p1=\"0.1\" p2=\"0\" p3=\"0\"",
        702, 19, 0, "wx and wy to 0, got 1, 1 and 0");
  check("k=\"1000\"", "", 701, 23, 0, "needs the attribute k");
  check("periodicity1=\"3\"", "periodicity1=\"2.5\"", 702, 29, 0, "whole number");
  check("<RBTorsionForce>", "<GBSAOBCForce/><RBTorsionForce>", 703, 32, 0, "GBSAOBCForce");
  check("<Info>", "<Script>import os</Script><Info>", 703, 2, 0, "Script");
  check("<Info>", "<Include file=\"other.xml\"/><Info>", 703, 2, 0, "other.xml");
  check("epsilon=\"0.1\"", "epsilon=\"-0.1\"", 702, 37, 0, "negative");
  check("<ForceField>", "<!DOCTYPE x [<!ENTITY a \"b\">]><ForceField>", 313, 1, 0, "");
  check("</AtomTypes>", "", 312, 40, 0, "");
}

}  // namespace
}  // namespace tessera::molecular
