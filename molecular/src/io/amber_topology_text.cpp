// SPDX-License-Identifier: Apache-2.0
//
// A topology as LEaP writes it: sections of ambermd.org/FileFormats.php in kcal/mol and Angstrom.
// Charges carry the system's k_e, so that energies are the same: q 18.2223 sqrt(k_e/k_e of AMBER).
//
// A 1-4 pair belongs to the first dihedral between its atoms, whose type then has its scale
// factors; one without a dihedral gets one of height zero along its bonds. Rigid waters become
// bonds O-H, O-H, H-H (constraints make them rigid again), the fourth site of a water the bond O-EP
// from which readers find it.
#include "base/units.h"
#include "bonded/amber_terms.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/amber.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace tessera::molecular {
namespace {

constexpr double amber_charge_unit = 18.2223;
constexpr double rigid_water_k = 553;  ///< kcal/mol/A^2, as LEaP has it of waters

[[noreturn]] void cannot(const std::string& what) { throw Error("[prmtop] " + what); }
std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

/// How the file has a kind of bonded terms; null where its POINTERS do not count such.
const AmberTerms* sections_of(Term kind) {
  for (const AmberTerms& t : amber_terms())
    if ((t.kind == kind || t.impropers == kind) && std::string_view(t.rows.section) == "POINTERS")
      return &t;
  return nullptr;
}

/// A dihedral of the file: atoms as they are written, its type, whether it stands for a 1-4 pair.
struct FileDihedral {
  std::array<std::int32_t, 4> atoms;
  std::int32_t type;
  bool pair, improper;
};

class TopologyText {
 public:
  TopologyText(const System& s, const Box& box) : s_(s), box_(box), bonds_(s.bonds) {}

  std::string text() {
    refuse_what_has_no_place();
    springs();
    waters();
    dihedrals();
    title_and_pointers();
    atoms();
    residues();
    types();
    bonded();
    exclusions();
    rest();
    return std::move(out_);
  }

 private:
  void refuse_what_has_no_place() const {
    each_bonded(
        [&](const BondedKind& kind, const auto& list) {
          if (list.size() > 0 && kind.first != Term::pairs_lj && !sections_of(kind.first) &&
              !(kind.first == Term::distance_restraints && has_springs_alone()))
            cannot(fmt::format("{} terms ({}) have no place in this kind of topology", list.size(),
                               kind.words));
        },
        s_);
    if (const std::size_t n = s_.constraints.size(); n > 0)
      cannot(
          fmt::format("{} rigid bonds outside of water have no place in this kind of topology", n));
    for (std::size_t i = 1; i < s_.n_atoms(); ++i)
      if (s_.atoms.residue[i] < s_.atoms.residue[i - 1] ||
          s_.atoms.residue[i] > s_.atoms.residue[i - 1] + 1)
        cannot("the atoms of a residue do not follow each other");
  }

  /// Restraints of one length are springs, which stand with bonds.
  bool has_springs_alone() const {
    return std::ranges::all_of(s_.distance_restraints.row, [&](std::int32_t row) {
      const auto& [lower, upper, k] = s_.distance_restraints.rows[index(row)];
      return lower == upper;
    });
  }
  void springs() {
    for (std::size_t t = 0; t < s_.distance_restraints.size(); ++t) {
      const auto& [a, b] = s_.distance_restraints.atoms[t];
      const auto& [lower, upper, k] =
          s_.distance_restraints.rows[index(s_.distance_restraints.row[t])];
      bond(a, b, lower, k);
    }
  }

  bool is_hydrogen(std::int32_t i) const { return s_.atoms.element[index(i)] == 1; }
  void bond(std::int32_t a, std::int32_t b, double r0_nm, double k) {
    bonds_.atoms.push_back({a, b});
    const std::array<double, 2> row = {r0_nm, k};
    const auto known = std::ranges::find(bonds_.rows, row);
    bonds_.row.push_back(static_cast<std::int32_t>(known - bonds_.rows.begin()));
    if (known == bonds_.rows.end()) bonds_.rows.push_back(row);
  }
  void waters() {
    const double k = 2 * rigid_water_k * kcal / (angstrom * angstrom);
    std::map<std::int32_t, std::array<double, 2>> rigid;  // by oxygen: O-H and H-H
    for (std::size_t w = 0; w < s_.rigid_waters.size(); ++w) {
      const auto& [o, h1, h2] = s_.rigid_waters.atoms[w];
      const auto [oh, hh] = s_.rigid_waters.rows[index(s_.rigid_waters.row[w])];
      rigid[o] = {oh, hh};
      bond(o, h1, oh, k);
      bond(o, h2, oh, k);
      bond(h1, h2, hh, k);
    }
    for (const VirtualSite& v : s_.virtual_sites) {
      const auto [o, h1, h2, none] = v.parents;
      const auto at = rigid.find(o);
      if (v.kind != VirtualSite::Kind::linear3 || v.weights[0] != v.weights[1] || v.site != o + 3 ||
          h1 != o + 1 || h2 != o + 2 || at == rigid.end())
        cannot(fmt::format("virtual site {} is not the fourth site of a rigid water O, H, H, EP",
                           v.site + 1));
      const auto [oh, hh] = at->second;
      bond(o, v.site, 2 * v.weights[0] * std::sqrt(oh * oh - 0.25 * hh * hh), k);
    }
  }

  /// Scale factors {scee, scnb} of a 1-4 pair.
  std::array<double, 2> factors(std::size_t pair) const {
    const auto& [a, b] = s_.pairs.atoms[pair];
    const auto& [c6, c12, f, qq] = s_.pairs.rows[index(s_.pairs.row[pair])];
    const std::size_t k =
        index(s_.atoms.lj_type[index(a)]) * static_cast<std::size_t>(s_.lj.types) +
        index(s_.atoms.lj_type[index(b)]);
    const double full6 = s_.lj.c6[k], full12 = s_.lj.c12[k];
    if (qq != 0 || !(f > 0))
      cannot(fmt::format("the 1-4 pair of atoms {} and {} has charges of its own", a + 1, b + 1));
    const double by6 = c6 != 0 ? full6 / c6 : 0, by12 = c12 != 0 ? full12 / c12 : 0,
                 scnb = by12 != 0  ? by12
                        : by6 != 0 ? by6
                                   : 1;
    const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-7 * std::abs(y); };
    if (!(scnb > 0) || !near(c6 * scnb, full6) || !near(c12 * scnb, full12))
      cannot(
          fmt::format("the 1-4 pair of atoms {} and {} does not follow from the types of its atoms "
                      "by one factor",
                      a + 1, b + 1));
    const auto round = [](double x) {
      return std::stod(fmt::format("{:.10g}", x));
    };  // 1/(1/1.2) is 1.2
    return {round(1 / f), round(scnb)};
  }

  void dihedrals() {
    using Ends = std::array<std::int32_t, 2>;
    const auto ends = [](std::int32_t a, std::int32_t b) {
      return Ends{std::min(a, b), std::max(a, b)};
    };
    std::map<Ends, std::array<double, 2>> waiting;
    for (std::size_t p = 0; p < s_.pairs.size(); ++p)
      if (!waiting.try_emplace(ends(s_.pairs.atoms[p][0], s_.pairs.atoms[p][1]), factors(p)).second)
        cannot(fmt::format("atoms {} and {} are a 1-4 pair twice", s_.pairs.atoms[p][0] + 1,
                           s_.pairs.atoms[p][1] + 1));
    std::map<std::tuple<double, double, double, double, double>, std::int32_t> known;
    const auto type = [&](const std::array<double, 3>& row, const std::array<double, 2>& scale) {
      const auto [at, fresh] = known.try_emplace({row[0], row[1], row[2], scale[0], scale[1]},
                                                 static_cast<std::int32_t>(dihedral_rows_.size()));
      if (fresh) dihedral_rows_.push_back({row[0], row[1], row[2], scale[0], scale[1]});
      return at->second;
    };
    constexpr std::array<double, 2> usual = {1.2, 2};
    const auto add = [&](std::array<std::int32_t, 4> a, const std::array<double, 3>& row,
                         bool improper) {
      if (a[2] == 0 || a[3] == 0) std::ranges::reverse(a);  // the first atom has no sign to tell by
      const auto at = improper ? waiting.end() : waiting.find(ends(a[0], a[3]));
      const bool pair = at != waiting.end();
      dihedrals_.push_back({a, type(row, pair ? at->second : usual), pair, improper});
      if (pair) waiting.erase(at);
    };
    for (std::size_t t = 0; t < s_.dihedrals.size(); ++t)
      add(s_.dihedrals.atoms[t], s_.dihedrals.rows[index(s_.dihedrals.row[t])], false);
    for (std::size_t t = 0; t < s_.impropers.size(); ++t)
      add(s_.impropers.atoms[t], s_.impropers.rows[index(s_.impropers.row[t])], true);
    if (waiting.empty()) return;
    std::vector<std::vector<std::int32_t>> near(s_.n_atoms());
    for (const auto& [a, b] : s_.connectivity) {
      near[index(a)].push_back(b);
      near[index(b)].push_back(a);
    }
    const auto left = waiting;
    for (const auto& [pair, scale] : left) {
      std::array<std::int32_t, 4> path = {pair[0], -1, -1, pair[1]};
      for (const std::int32_t j : near[index(pair[0])])
        for (const std::int32_t k : near[index(pair[1])])
          if (j != k && j != pair[1] && k != pair[0] &&
              std::ranges::find(near[index(j)], k) != near[index(j)].end())
            path = {pair[0], j, k, pair[1]};
      if (path[1] < 0)
        cannot(fmt::format("atoms {} and {} are a 1-4 pair without three bonds between them",
                           pair[0] + 1, pair[1] + 1));
      add(path, {0, 0, 1}, false);
    }
  }

  // ---- sections ----
  void flag(const char* name, const char* format) {
    out_ += fmt::format("%FLAG {:<74}\n%FORMAT({:<72}\n", name, std::string(format) + ")");
  }
  template <class T, class F>
  void section(const char* name, const char* format, std::size_t a_line,
               const std::vector<T>& values, F&& word) {
    flag(name, format);
    for (std::size_t k = 0; k < values.size(); ++k) {
      out_ += word(values[k]);
      if ((k + 1) % a_line == 0 && k + 1 < values.size()) out_ += '\n';
    }
    out_ += '\n';
  }
  void reals(const char* name, const std::vector<double>& v) {
    section(name, "5E16.8", 5, v, [](double x) { return fmt::format("{:16.8E}", x); });
  }
  void integers(const char* name, const std::vector<std::int64_t>& v) {
    section(name, "10I8", 10, v, [](std::int64_t x) { return fmt::format("{:8}", x); });
  }
  void words(const char* name, const std::vector<std::string>& v) {
    section(name, "20a4", 20, v,
            [](const std::string& x) { return fmt::format("{:<4}", x.substr(0, 4)); });
  }
  /// Terms with hydrogens and without, each with its type, atoms times three.
  template <int N>
  std::array<std::vector<std::int64_t>, 2> split(
      const std::vector<std::array<std::int32_t, N>>& atoms,
      const std::vector<std::int32_t>& row) const {
    std::array<std::vector<std::int64_t>, 2> out;
    for (std::size_t t = 0; t < atoms.size(); ++t) {
      auto& list =
          out[std::ranges::any_of(atoms[t], [&](std::int32_t i) { return is_hydrogen(i); }) ? 0
                                                                                            : 1];
      for (const std::int32_t a : atoms[t]) list.push_back(3 * std::int64_t{a});
      list.push_back(row[t] + 1);
    }
    return out;
  }

  void title_and_pointers() {
    out_ = "%VERSION  VERSION_STAMP = V0001.000  DATE = 00/00/00  00:00:00                  \n";
    flag("TITLE", "20a4");
    out_ += s_.title.substr(0, std::min<std::size_t>(80, s_.title.find('\n'))) + "\n";
    bond_lists_ = split<2>(bonds_.atoms, bonds_.row);
    angle_lists_ = split<3>(s_.angles.atoms, s_.angles.row);
    for (const FileDihedral& d : dihedrals_) {
      auto& list = dihedral_lists_
          [std::ranges::any_of(d.atoms, [&](std::int32_t i) { return is_hydrogen(i); }) ? 0 : 1];
      for (std::size_t k = 0; k < 4; ++k)
        list.push_back(3 * std::int64_t{d.atoms[k]} *
                       ((k == 2 && !d.pair) || (k == 3 && d.improper) ? -1 : 1));
      list.push_back(d.type + 1);
    }
    excluded_of_.resize(s_.n_atoms());
    for (const auto& [i, j] : s_.exclusions)
      excluded_of_[index(std::min(i, j))].push_back(std::max(i, j) + 1);
    std::int64_t listed = 0, largest = 0;
    for (const auto& list : excluded_of_)
      listed += static_cast<std::int64_t>(std::max<std::size_t>(1, list.size()));
    std::vector<std::int64_t> in_residue(s_.residues.size(), 0);
    for (const std::int32_t r : s_.atoms.residue)
      largest = std::max(largest, ++in_residue[index(r)]);
    const auto many = [](const std::vector<std::int64_t>& list, std::int64_t width) {
      return static_cast<std::int64_t>(list.size()) / width;
    };
    const std::int64_t bonds = many(bond_lists_[1], 3), angles = many(angle_lists_[1], 4),
                       turns = many(dihedral_lists_[1], 5);
    integers("POINTERS", {static_cast<std::int64_t>(s_.n_atoms()),
                          s_.lj.types,
                          many(bond_lists_[0], 3),
                          bonds,
                          many(angle_lists_[0], 4),
                          angles,
                          many(dihedral_lists_[0], 5),
                          turns,
                          0,
                          0,
                          listed,
                          static_cast<std::int64_t>(s_.residues.size()),
                          bonds,
                          angles,
                          turns,
                          static_cast<std::int64_t>(bonds_.rows.size()),
                          static_cast<std::int64_t>(s_.angles.rows.size()),
                          static_cast<std::int64_t>(dihedral_rows_.size()),
                          s_.lj.types,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          kind_of_box(),
                          largest,
                          0,
                          static_cast<std::int64_t>(s_.virtual_sites.size())});
  }
  std::int64_t kind_of_box() const {
    if (!is_periodic(box_)) return 0;
    const Vec3 angles = angles_deg(box_);
    const auto all = [&](double angle) {
      return std::ranges::all_of(angles, [&](double a) { return std::abs(a - angle) < 1e-3; });
    };
    return all(90) ? 1 : all(109.4712206) ? 2 : 3;
  }

  void atoms() {
    words("ATOM_NAME", s_.atoms.name);
    std::vector<double> charge = s_.atoms.charge_e;
    for (double& q : charge)
      q *= amber_charge_unit * std::sqrt(s_.coulomb_constant / coulomb_amber);
    reals("CHARGE", charge);
    integers("ATOMIC_NUMBER", {s_.atoms.element.begin(), s_.atoms.element.end()});
    reals("MASS", s_.atoms.mass_amu);
    std::vector<std::int64_t> type;
    for (const std::int32_t t : s_.atoms.lj_type) type.push_back(t + 1);
    integers("ATOM_TYPE_INDEX", type);
    std::vector<std::int64_t> excluded;
    for (const auto& list : excluded_of_)
      excluded.push_back(static_cast<std::int64_t>(std::max<std::size_t>(1, list.size())));
    integers("NUMBER_EXCLUDED_ATOMS", excluded);
  }

  void residues() {
    std::vector<std::string> label;
    std::vector<std::int64_t> first;
    for (const Residue& r : s_.residues) label.push_back(r.name);
    for (std::size_t i = 0; i < s_.n_atoms(); ++i)
      if (i == 0 || s_.atoms.residue[i] != s_.atoms.residue[i - 1])
        first.push_back(static_cast<std::int64_t>(i) + 1);
    if (first.size() != label.size()) cannot("a residue has no atoms");
    words("RESIDUE_LABEL", label);
    integers("RESIDUE_POINTER", first);
  }

  void types() {
    const auto n = static_cast<std::size_t>(s_.lj.types);
    std::vector<std::int64_t> number(n * n);
    std::vector<double> a, b;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        if (s_.lj.c6[n * i + j] < 0 || s_.lj.c12[n * i + j] < 0)
          cannot("a pair of types has a negative Lennard-Jones coefficient");
        a.push_back(s_.lj.c12[n * i + j] / (kcal * std::pow(angstrom, 12)));
        b.push_back(s_.lj.c6[n * i + j] / (kcal * std::pow(angstrom, 6)));
        number[n * i + j] = number[n * j + i] = static_cast<std::int64_t>(a.size());
      }
    integers("NONBONDED_PARM_INDEX", number);
    reals("SOLTY", std::vector<double>(n, 0.0));
    reals("LENNARD_JONES_ACOEF", a);
    reals("LENNARD_JONES_BCOEF", b);
  }

  void bonded() {
    const auto column = [](const auto& rows, std::size_t k) {
      std::vector<double> out;
      for (const auto& r : rows) out.push_back(r[k]);
      return out;
    };
    const auto parameters = [&](Term kind, const auto& rows) {
      for (const AmberColumn& c : sections_of(kind)->columns) {
        std::vector<double> values;
        for (const auto& r : rows) values.push_back(c.written(r[c.column]));
        reals(c.section, values);
      }
    };
    parameters(Term::bonds, bonds_.rows);
    parameters(Term::angles, s_.angles.rows);
    parameters(Term::dihedrals, dihedral_rows_);
    reals("SCEE_SCALE_FACTOR", column(dihedral_rows_, 3));
    reals("SCNB_SCALE_FACTOR", column(dihedral_rows_, 4));
    for (const auto& [kind, lists] : {std::pair{Term::bonds, &bond_lists_},
                                      {Term::angles, &angle_lists_},
                                      {Term::dihedrals, &dihedral_lists_}})
      for (std::size_t k = 0; k < 2; ++k)
        integers(sections_of(kind)->lists[k].section, (*lists)[k]);
  }

  void exclusions() {
    std::vector<std::int64_t> list;
    for (const auto& of : excluded_of_) {
      if (of.empty()) list.push_back(0);
      list.insert(list.end(), of.begin(), of.end());
    }
    integers("EXCLUDED_ATOMS_LIST", list);
  }

  void rest() {
    for (const char* name : {"HBOND_ACOEF", "HBOND_BCOEF", "HBCUT"}) reals(name, {});
    std::vector<std::string> type = s_.atoms.type;
    for (const VirtualSite& v : s_.virtual_sites)
      type[index(v.site)] = "EP";  // by which AMBER and OpenMM know them
    words("AMBER_ATOM_TYPE", type);
    words("TREE_CHAIN_CLASSIFICATION", std::vector<std::string>(s_.n_atoms(), "BLA"));
    integers("JOIN_ARRAY", std::vector<std::int64_t>(s_.n_atoms(), 0));
    integers("IROTAT", std::vector<std::int64_t>(s_.n_atoms(), 0));
    if (kind_of_box() == 0) return;
    const std::vector<std::int32_t> molecule = molecules(s_);
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < molecule.size(); ++i) {
      if (i == 0 || molecule[i] != molecule[i - 1]) sizes.push_back(0);
      ++sizes.back();
    }
    integers("SOLVENT_POINTERS", {static_cast<std::int64_t>(s_.residues.size()),
                                  static_cast<std::int64_t>(sizes.size()),
                                  static_cast<std::int64_t>(sizes.size()) + 1});
    integers("ATOMS_PER_MOLECULE", sizes);
    const Vec3 l = lengths_nm(box_);
    reals("BOX_DIMENSIONS",
          {angles_deg(box_)[1], l[0] / angstrom, l[1] / angstrom, l[2] / angstrom});
  }

  const System& s_;
  Box box_;
  HarmonicBonds bonds_;
  std::vector<FileDihedral> dihedrals_;
  std::vector<std::array<double, 5>> dihedral_rows_;  ///< phase, height, periodicity, scee, scnb
  std::array<std::vector<std::int64_t>, 2> bond_lists_, angle_lists_, dihedral_lists_;
  std::vector<std::vector<std::int64_t>> excluded_of_;
  std::string out_;
};

}  // namespace

std::string amber_topology(const System& system, const Box& box) {
  return TopologyText(system, box).text();
}

}  // namespace tessera::molecular
