// SPDX-License-Identifier: Apache-2.0
//
// Bonds by the names of atoms. Heavy atoms: the wwPDB chemical component dictionary, as a list of
// pairs for each residue. Hydrogens: H and the rest of the name of the atom that bears them, with a
// digit behind where there are several (HB2 on CB, HG21 on CG2, HE1 of TRP on NE1; in old files
// 1HB, 2HG2).
#include "structure/structure_parts.h"
#include "system/near_points.h"
#include "tessera/molecular/elements.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>

namespace tessera::molecular {
namespace {

struct Component {
  const char *names, *bonds;
};
/// Side chains; the backbone is common to all.
const Component amino_acids[] = {
    {"GLY", ""},
    {"ALA DALA", "CA-CB"},
    {"ARG ARN ARGN", "CA-CB CB-CG CG-CD CD-NE NE-CZ CZ-NH1 CZ-NH2"},
    {"ASN ASN1", "CA-CB CB-CG CG-OD1 CG-ND2"},
    {"ASP ASH ASPP ASP1 ASPH", "CA-CB CB-CG CG-OD1 CG-OD2"},
    {"CYS CYX CYM CYS1 CYS2 CYSH", "CA-CB CB-SG"},
    {"GLN", "CA-CB CB-CG CG-CD CD-OE1 CD-NE2"},
    {"GLU GLH GLUP GLUH", "CA-CB CB-CG CG-CD CD-OE1 CD-OE2"},
    {"HIS HID HIE HIP HSD HSE HSP HISD HISE HISH HISP HISA HISB HIS1 HIS2",
     "CA-CB CB-CG CG-ND1 CG-CD2 ND1-CE1 CD2-NE2 CE1-NE2"},
    {"ILE", "CA-CB CB-CG1 CB-CG2 CG1-CD1 CG1-CD"},
    {"LEU", "CA-CB CB-CG CG-CD1 CG-CD2"},
    {"LYS LYN LSN LYSN LYSH", "CA-CB CB-CG CG-CD CD-CE CE-NZ"},
    {"MET", "CA-CB CB-CG CG-SD SD-CE"},
    {"MSE", "CA-CB CB-CG CG-SE SE-CE"},
    {"PHE", "CA-CB CB-CG CG-CD1 CG-CD2 CD1-CE1 CD2-CE2 CE1-CZ CE2-CZ"},
    {"PRO HYP", "CA-CB CB-CG CG-CD CD-N CG-OD1"},
    {"SER", "CA-CB CB-OG"},
    {"THR", "CA-CB CB-OG1 CB-CG2"},
    {"TRP",
     "CA-CB CB-CG CG-CD1 CG-CD2 CD1-NE1 NE1-CE2 CD2-CE2 CD2-CE3 CE2-CZ2 CE3-CZ3 CZ2-CH2 CZ3-CH2"},
    {"TYR", "CA-CB CB-CG CG-CD1 CG-CD2 CD1-CE1 CD2-CE2 CE1-CZ CE2-CZ CZ-OH"},
    {"VAL", "CA-CB CB-CG1 CB-CG2"},
    {"ACE", "CH3-C"},
    {"NME NMA NAC", "N-CH3 N-C"},
    {"NH2 NHE", ""},
};
const char* backbone = "N-CA CA-C C-O C-OXT C-OT1 C-OT2 C-O1 C-O2 C-OT C-OC1 C-OC2 C-OCT1 C-OCT2";
/// One list for all nucleotides: bonds between atoms that a base lacks do not come up. The sugar of
/// a base without N9 is bound to N1.
const char* nucleotide =
    "P-OP1 P-OP2 P-OP3 P-O1P P-O2P P-O3P P-O5' O5'-C5' C5'-C4' C4'-O4' C4'-C3' C3'-O3' C3'-C2' "
    "C2'-O2' C2'-C1' C1'-O4' "
    "N1-C2 C2-N3 N3-C4 C4-C5 C5-C6 C6-N1 C4-N9 N9-C8 C8-N7 N7-C5 C1'-N9 C6-N6 C6-O6 C2-N2 C2-O2 "
    "C4-N4 C4-O4 C5-C7 C5-C5M";

using Pairs = std::vector<std::array<std::string, 2>>;
Pairs pairs_of(const std::string& list) {
  Pairs out;
  std::istringstream in(list);
  for (std::string pair; in >> pair;)
    out.push_back({pair.substr(0, pair.find('-')), pair.substr(pair.find('-') + 1)});
  return out;
}

const std::map<std::string, Pairs>& amino_acid_bonds() {
  static const std::map<std::string, Pairs> table = [] {
    std::map<std::string, Pairs> out;
    for (const Component& c : amino_acids) {
      std::istringstream names(c.names);
      for (std::string name; names >> name;)
        out[name] = pairs_of(std::string(backbone) + " " + c.bonds);
    }
    return out;
  }();
  return table;
}
/// The dictionary's name of a residue: AMBER marks ends of chains by N and C before a name of at
/// least three letters.
const Pairs* amino_acid(const std::string& name) {
  const auto& table = amino_acid_bonds();
  if (const auto at = table.find(name); at != table.end()) return &at->second;
  if (name.size() >= 4 && (name[0] == 'N' || name[0] == 'C'))
    if (const auto at = table.find(name.substr(1)); at != table.end()) return &at->second;
  return nullptr;
}

/// Names of today for those of old files.
std::string today(std::string name) {
  std::ranges::replace(name, '*', '\'');
  if (name == "H5T") return "HO5'";
  if (name == "H3T") return "HO3'";
  if (name == "HO'2") return "HO2'";
  const std::size_t letter = name.find_first_not_of("0123456789");
  if (letter != 0 && letter != std::string::npos)
    name = name.substr(letter) + name.substr(0, letter);
  return name;
}

class Bonds {
 public:
  Bonds(const Structure& s, std::vector<std::array<std::int32_t, 2>>& out) : s_(s), out_(out) {}

  /// The atoms [first, last) of one residue.
  void within(std::size_t first, std::size_t last) {
    const std::string& kind = s_.residues[static_cast<std::size_t>(s_.residue[first])].name;
    if (is_water(kind)) return water(first, last);
    const Pairs* acid = amino_acid(kind);
    static const Pairs base = pairs_of(nucleotide);
    const Pairs* pairs = acid ? acid : is_nucleotide(kind) ? &base : nullptr;
    if (!pairs) return;
    std::map<std::string, std::int32_t> heavy;
    for (std::size_t i = first; i < last; ++i)
      if (s_.element[i] > 1) heavy[today(s_.name[i])] = static_cast<std::int32_t>(i);
    for (const auto& [a, b] : *pairs) {
      const auto i = heavy.find(a), j = heavy.find(b);
      if (i != heavy.end() && j != heavy.end()) out_.push_back({i->second, j->second});
    }
    if (pairs == &base && !heavy.count("N9") && heavy.count("N1") && heavy.count("C1'"))
      out_.push_back({heavy.at("C1'"), heavy.at("N1")});
    for (std::size_t i = first; i < last; ++i)
      if (s_.element[i] == 1)
        if (const std::int32_t to = bearer(today(s_.name[i]), heavy); to >= 0)
          out_.push_back({static_cast<std::int32_t>(i), to});
  }

 private:
  /// All hydrogens on the oxygen; of several oxygens it is not known which bears which.
  void water(std::size_t first, std::size_t last) {
    const auto is_oxygen = [](std::uint8_t z) { return z == 8; };
    const auto begin = s_.element.begin() + static_cast<std::ptrdiff_t>(first),
               end = s_.element.begin() + static_cast<std::ptrdiff_t>(last);
    if (std::count_if(begin, end, is_oxygen) != 1) return;
    const auto o =
        static_cast<std::int32_t>(std::find_if(begin, end, is_oxygen) - s_.element.begin());
    for (std::size_t h = first; h < last; ++h)
      if (s_.element[h] == 1) out_.push_back({o, static_cast<std::int32_t>(h)});
  }
  /// The heavy atom that bears a hydrogen; -1: none.
  static std::int32_t bearer(const std::string& hydrogen,
                             const std::map<std::string, std::int32_t>& heavy) {
    const auto find = [&](const std::string& name) {
      const auto at = heavy.find(name);
      return at == heavy.end() ? -1 : at->second;
    };
    std::string rest = hydrogen.substr(1);
    if (const std::int32_t i = find(rest); i >= 0) return i;  // HN, HO2'
    for (int dropped = 0; dropped < 3; ++dropped) {
      // Thymine: H51 is on C5M, for C5 bears none.
      if (const std::int32_t i = dropped > 0 ? find("C" + rest + "M") : -1; i >= 0) return i;
      // Of a base C6 bears H6 and N6 bears H61: atoms of the ring come first where no digit was
      // dropped.
      for (const char* letter : dropped == 0           ? std::array{"C", "N", "O", "S"}
                                : rest.ends_with('\'') ? std::array{"C", "O", "N", "S"}
                                                       : std::array{"N", "C", "O", "S"})
        if (!rest.empty())
          if (const std::int32_t i = find(letter + rest); i >= 0) return i;
      if (rest.empty()) break;
      rest.pop_back();
    }
    // What is left bears no letter of a place: the amine of a chain's end (H1, HT1), or the methyl
    // of a cap.
    if (find("CA") < 0 && hydrogen != "H" && hydrogen != "HN") {
      if (const std::int32_t i = find("CH3"); i >= 0) return i;
      if (const std::int32_t i = find("C"); i >= 0) return i;
    }
    return find("N");
  }
  const Structure& s_;
  std::vector<std::array<std::int32_t, 2>>& out_;
};

double distance_nm(const Structure& s, std::int32_t i, std::int32_t j) {
  const Vec3 &a = s.x_nm[static_cast<std::size_t>(i)], &b = s.x_nm[static_cast<std::size_t>(j)];
  const Vec3 d = shortest(s.box, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
  return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

}  // namespace

bool is_water(const std::string& name) {
  static const char* names[] = {"HOH",  "WAT", "SOL",  "H2O", "DOD", "TIP3", "TIP4",
                                "TIP5", "TIP", "TP3",  "TP4", "T3P", "T4P",  "T5P",
                                "T3H",  "SPC", "SPCE", "HHO", "OHH"};
  return std::ranges::any_of(names, [&](const char* w) { return name == w; });
}
bool is_amino_acid(const std::string& name) { return amino_acid(name) != nullptr; }
bool is_nucleotide(const std::string& given) {
  for (const char* charmm : {"ADE", "GUA", "CYT", "THY", "URA"})
    if (given == charmm) return true;
  std::string name = given;
  if (name.size() > 1 && (name.back() == '5' || name.back() == '3' || name.back() == 'N'))
    name.pop_back();
  if (name.size() == 2 && (name[0] == 'D' || name[0] == 'R')) name = name.substr(1);
  return name.size() == 1 && std::string_view("ACGTU").find(name[0]) != std::string_view::npos;
}

void add_standard_bonds(Structure& s) {
  Bonds bonds(s, s.bonds);
  const std::size_t n = s.n_atoms();
  std::int32_t end_c = -1, end_o = -1, end_chain = -1;  // C and O3' of the residue before
  std::vector<std::int32_t> sulphurs;
  for (std::size_t first = 0, last = 0; first < n; first = last) {
    while (last < n && s.residue[last] == s.residue[first]) ++last;
    bonds.within(first, last);
    const auto r = static_cast<std::size_t>(s.residue[first]);
    const bool acid = is_amino_acid(s.residues[r].name), base = is_nucleotide(s.residues[r].name);
    std::int32_t c = -1, o = -1, to_c = -1, to_o = -1, sulphur = -1;
    bool thiol = false;
    for (std::size_t i = first; i < last && (acid || base); ++i) {
      const std::string name = today(s.name[i]);
      const auto at = static_cast<std::int32_t>(i);
      if (acid && name == "C") c = at;
      if (acid && name == "N") to_c = at;
      if (base && name == "O3'") o = at;
      if (base && name == "P") to_o = at;
      if (acid && name == "SG") sulphur = at;
      thiol = thiol || (acid && s.element[i] == 1 && name.starts_with("HG"));
    }
    if (end_chain == s.chain[r]) {
      if (end_c >= 0 && to_c >= 0 && distance_nm(s, end_c, to_c) < 0.25)
        s.bonds.push_back({end_c, to_c});
      if (end_o >= 0 && to_o >= 0 && distance_nm(s, end_o, to_o) < 0.25)
        s.bonds.push_back({end_o, to_o});
    }
    end_c = c, end_o = o, end_chain = s.chain[r];
    if (sulphur >= 0 && !thiol) sulphurs.push_back(sulphur);
  }

  // Disulfides: every sulphur takes the first one near that is free.
  NearPoints near(s.box, 0.3);
  std::vector<bool> bound(n, false);
  for (const std::int32_t i : sulphurs) {
    const Vec3& x = s.x_nm[static_cast<std::size_t>(i)];
    near.each(x, [&](std::int32_t j, double) {
      if (bound[static_cast<std::size_t>(j)]) return true;
      bound[static_cast<std::size_t>(i)] = bound[static_cast<std::size_t>(j)] = true;
      s.bonds.push_back({j, i});
      return false;
    });
    near.add(i, x);
  }
  tidy_bonds(s.bonds);
}

}  // namespace tessera::molecular
