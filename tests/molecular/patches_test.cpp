// SPDX-License-Identifier: Apache-2.0
//
// Patches of force fields: a chain X-X-X of residues N(H)-C with ends N(H2) and C(O), and two
// residues bound by their sulphurs.
#include "tessera/autodiff/error.h"
#include "tessera/molecular/openmm_xml.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::molecular {
namespace {

const std::string amide_field = R"(<ForceField><AtomTypes>
 <Type name="n" class="N" element="N" mass="14"/><Type name="n3" class="N3" element="N" mass="14"/><Type name="h" class="H" element="H" mass="1"/><Type name="c" class="C" element="C" mass="12"/>
 <Type name="o" class="O" element="O" mass="16"/><Type name="s" class="S" element="S" mass="32"/><Type name="ss" class="SS" element="S" mass="32"/></AtomTypes>
<Residues>
 <Residue name="X"><Atom name="N" type="n" charge="-0.3"/><Atom name="H" type="h" charge="0.3"/><Atom name="C" type="c" charge="0"/><Bond atomName1="N" atomName2="H"/><Bond atomName1="N" atomName2="C"/>
  <ExternalBond atomName="N"/><ExternalBond atomName="C"/><AllowPatch name="FRONT"/><AllowPatch name="END"/></Residue>
 <Residue name="CYS"><Atom name="C" type="c" charge="0"/><Atom name="S" type="s" charge="-0.2"/><Atom name="HS" type="h" charge="0.2"/><Bond atomName1="C" atomName2="S"/><Bond atomName1="S" atomName2="HS"/></Residue>
</Residues>
<Patches>
 <Patch name="FRONT"><ChangeAtom name="N" type="n3" charge="-0.5"/><RemoveAtom name="H"/><AddAtom name="H1" type="h" charge="0.25"/><AddAtom name="H2" type="h" charge="0.25"/><AddBond atomName1="N" atomName2="H1"/><AddBond atomName1="N" atomName2="H2"/>
  <RemoveBond atomName1="N" atomName2="H"/><RemoveExternalBond atomName="N"/></Patch>
 <Patch name="END"><ChangeAtom name="C" type="c" charge="0.6"/><AddAtom name="O" type="o" charge="-0.6"/><AddBond atomName1="C" atomName2="O"/><RemoveExternalBond atomName="C"/></Patch>
 <Patch name="BRIDGE" residues="2"><RemoveAtom name="1:HS"/><RemoveAtom name="2:HS"/><ChangeAtom name="1:S" type="ss" charge="0"/><ChangeAtom name="2:S" type="ss" charge="0"/><AddBond atomName1="1:S" atomName2="2:S"/>
  <ApplyToResidue name="1:CYS"/><ApplyToResidue name="2:CYS"/></Patch>
</Patches>
<NonbondedForce coulomb14scale="1" lj14scale="1"><UseAttributeFromResidue name="charge"/><Atom class="N" sigma="0.3" epsilon="0"/><Atom class="N3" sigma="0.3" epsilon="0"/><Atom class="H" sigma="0.3" epsilon="0"/>
 <Atom class="C" sigma="0.3" epsilon="0"/><Atom class="O" sigma="0.3" epsilon="0"/><Atom class="S" sigma="0.3" epsilon="0"/><Atom class="SS" sigma="0.3" epsilon="0"/></NonbondedForce></ForceField>)";

ForceField read_field(const std::string& text = amide_field) {
  const std::vector<data::TextFile> files = {data::make_text_file("patches.xml", text)};
  return read_openmm_xml(files);
}
struct Maker {
  Structure s;
  std::int32_t residue(const std::string& name) {
    s.residues.push_back({name, std::to_string(s.residues.size() + 1), "A", ""});
    s.chain.push_back(0);
    return static_cast<std::int32_t>(s.residues.size()) - 1;
  }
  std::int32_t atom(const std::string& name, std::uint8_t element) {
    s.name.push_back(name);
    s.element.push_back(element);
    s.residue.push_back(static_cast<std::int32_t>(s.residues.size()) - 1);
    s.x_nm.push_back({0.1 * static_cast<double>(s.n_atoms()), 0, 0});
    return static_cast<std::int32_t>(s.n_atoms()) - 1;
  }
  void bond(std::int32_t i, std::int32_t j) {
    s.bonds.push_back({std::min(i, j), std::max(i, j)});
    std::ranges::sort(s.bonds);
  }
};

TEST(Patches, ChangeTheEndsOfAChain) {
  Maker m;
  std::int32_t before = -1;
  for (int k = 0; k < 3; ++k) {
    m.residue("X");
    const std::int32_t n = m.atom("N", 7);
    for (int h = 0; h < (k == 0 ? 2 : 1); ++h) m.bond(n, m.atom("HA" + std::to_string(h), 1));
    const std::int32_t c = m.atom("C", 6);
    m.bond(n, c);
    if (before >= 0) m.bond(before, n);
    if (k == 2) m.bond(c, m.atom("OX", 8));
    before = c;
  }
  const System s = apply(read_field(), m.s).system;
  EXPECT_EQ(s.atoms.type,
            (std::vector<std::string>{"n3", "h", "h", "c", "n", "h", "c", "n", "h", "c", "o"}));
  EXPECT_EQ(s.atoms.charge_e,
            (std::vector<double>{-0.5, 0.25, 0.25, 0, -0.3, 0.3, 0, -0.3, 0.3, 0.6, -0.6}));
}

TEST(Patches, GoTogetherOnOneResidue) {
  Maker m;
  m.residue("X");
  const std::int32_t n = m.atom("N", 7), c = m.atom("C", 6);
  for (int h = 0; h < 2; ++h) m.bond(n, m.atom("H" + std::to_string(h), 1));
  m.bond(n, c);
  m.bond(c, m.atom("O", 8));
  EXPECT_EQ(apply(read_field(), m.s).system.atoms.type,
            (std::vector<std::string>{"n3", "c", "h", "h", "o"}));
}

Maker bridge(bool both) {
  Maker m;
  std::int32_t before = -1;
  for (int k = 0; k < 2; ++k) {
    m.residue("CYS");
    const std::int32_t c = m.atom("C", 6),
                       s = m.atom(k == 0 || both ? "S" : "Q", k == 0 || both ? 16 : 8);
    m.bond(c, s);
    if (before >= 0) m.bond(before, s);
    before = s;
  }
  return m;
}
TEST(Patches, BindResidues) {
  const System s = apply(read_field(), bridge(true).s).system;
  EXPECT_EQ(s.atoms.type, (std::vector<std::string>{"c", "ss", "c", "ss"}));
  // Bound to something else, a residue does not have the form of one that is bound to its like.
  std::string other = amide_field;
  other.insert(
      other.find("</Residues>"),
      "<Residue name=\"OTH\"><Atom name=\"C\" type=\"c\" charge=\"0\"/><Atom name=\"O\" type=\"o\" "
      "charge=\"0\"/><Bond from=\"0\" to=\"1\"/><ExternalBond from=\"1\"/></Residue>");
  try {
    apply(read_field(other), bridge(false).s);
    FAIL();
  } catch (const data::InputError& e) {
    EXPECT_EQ(e.findings().at(0).number, 731);
    EXPECT_NE(e.findings().at(0).message.find("CYS-BRIDGE"), std::string::npos) << e.what();
  }
}

TEST(Patches, TooManyAreNotTried) {
  std::string t = amide_field, allowed, patches;
  for (int k = 0; k < 200; ++k) {
    allowed += "<AllowPatch name=\"P" + std::to_string(k) + "\"/>";
    patches += "<Patch name=\"P" + std::to_string(k) + "\"/>";
  }
  t.insert(t.find("<AllowPatch"), allowed);
  t.insert(t.find("</Patches>"), patches);
  const ForceField ff = read_field(t);
  EXPECT_THROW(apply(ff, bridge(false).s), Error);
}

TEST(Patches, FaultsHavePlaces) {
  const auto check = [](const std::string& from, const std::string& to, int number,
                        const char* part) {
    std::string t = amide_field;
    const std::size_t at = t.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    t.replace(at, from.size(), to);
    try {
      read_field(t);
      ADD_FAILURE() << part;
    } catch (const data::InputError& e) {
      EXPECT_EQ(e.findings().at(0).number, number) << e.what();
      EXPECT_GT(e.findings().at(0).place.line, 1U);
      EXPECT_NE(e.findings().at(0).message.find(part), std::string::npos) << e.what();
    }
  };
  check("AllowPatch name=\"END\"", "AllowPatch name=\"ENT\"", 702,
        "no file defines the patch 'ENT'");
  check("AllowPatch name=\"END\"", "AllowPatch name=\"END:2\"", 702, "has no residue 2");
  check("AllowPatch name=\"END\"", "AllowPatch name=\"END:x\"", 702, "NAME:residue");
  check("<Patch name=\"END\"", "<Patch name=\"FRONT\"", 701, "defined twice");
  check("name=\"2:HS\"", "name=\"3:HS\"", 702, "names no residue of a patch of 2");
  check("<RemoveAtom name=\"H\"/>", "<RemoveAtom name=\"N\"/>", 701, "twice");
  check("<RemoveAtom name=\"H\"/>", "<TurnAtom name=\"H\"/>", 703, "'TurnAtom'");
  check("<AddAtom name=\"O\" type=\"o\"", "<AddAtom name=\"O\" type=\"q\"", 702,
        "no file defines the type");
}

}  // namespace
}  // namespace tessera::molecular
