// SPDX-License-Identifier: Apache-2.0
//
// Sections and their meaning: ambermd.org/FileFormats.php, "PARM file specification". In a dihedral
// (i, j, k, l) a negative k means that (i, l) is no 1-4 pair (rings, further Fourier terms), a
// negative l that it is an improper.
#include "tessera/molecular/amber.h"

#include "base/units.h"
#include "bonded/amber_terms.h"
#include "io/amber_maps.h"
#include "system/reach.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <type_traits>

namespace tessera::molecular {
namespace {

constexpr double charge_unit = 18.2223;
constexpr double velocity_unit = 20.455 * angstrom;  // Angstrom per 1/20.455 ps

/// The numbers of POINTERS, in the order of the file.
enum Pointer : std::size_t {
  NATOM,
  NTYPES,
  NBONH,
  MBONA,
  NTHETH,
  MTHETA,
  NPHIH,
  MPHIA,
  NHPARM,
  NPARM,
  NNB,
  NRES,
  NBONA,
  NTHETA,
  NPHIA,
  NUMBND,
  NUMANG,
  NPTRA,
  NATYP,
  NPHB,
  IFPERT,
  NBPER,
  NGPER,
  NDPER,
  MBPER,
  MGPER,
  MDPER,
  IFBOX,
  NMXRS,
  IFCAP,
  least_pointers
};

class AmberReader {
 public:
  explicit AmberReader(const data::TextFile& text)
      : text_(text), findings_(text), file_(text, findings_) {}

  AmberTopology read() {
    refuse_other_kinds();
    read_pointers();
    read_atoms();
    read_residues();
    read_lennard_jones();
    findings_.throw_if_errors();  // 1-4 pairs look up the types of their atoms
    read_bonded();
    read_amber_maps(file_, findings_, text_.text.size(), s_);
    read_exclusions();
    findings_.throw_if_errors();
    add_virtual_sites();
    findings_.throw_if_errors();
    read_box();
    findings_.throw_if_errors();
    try {
      validate(s_);
    } catch (const Error& e) {
      findings_.error(702, file_.offset("POINTERS", 0), e.what());
      findings_.throw_if_errors();
    }
    out_.system = std::move(s_);
    out_.remarks = findings_.take_remarks();
    return std::move(out_);
  }

 private:
  std::size_t count(Pointer p) const { return static_cast<std::size_t>(pointers_[p]); }
  /// With the terms of a CHARMM force field.
  bool is_chamber() const { return file_.has("CTITLE"); }

  void refuse_other_kinds() {
    const auto refuse = [&](const char* flag, const char* what) {
      if (file_.has(flag))
        findings_.error(703, file_.offset(flag, 0), std::string(what) + " is not read");
    };
    refuse("LENNARD_JONES_CCOEF", "the 12-6-4 potential");
    refuse("AMOEBA_FORCEFIELD", "the force field AMOEBA");
    findings_.throw_if_errors();
    if (file_.has("IPOL") && file_.integers("IPOL", 1)[0] != 0)
      findings_.error(703, file_.offset("IPOL", 0), "a polarizable force field is not read");
    findings_.throw_if_errors();
  }

  void read_pointers() {
    pointers_ = file_.integers_up_to("POINTERS", 32);
    findings_.throw_if_errors();
    if (pointers_.size() < least_pointers) {
      findings_.error(701, file_.offset("POINTERS", 0),
                      fmt::format("POINTERS has {} numbers, expected at least {}", pointers_.size(),
                                  static_cast<int>(least_pointers)));
      findings_.throw_if_errors();
    }
    // Every entry of a section takes a character at the least: what the file cannot hold is not
    // allocated.
    const auto most = static_cast<std::int64_t>(text_.text.size());
    for (std::size_t k = 0; k < pointers_.size(); ++k)
      if (pointers_[k] < 0 || pointers_[k] > most)
        findings_.error(
            702, file_.offset("POINTERS", k),
            fmt::format("a number of POINTERS must lie in 0 to {} (the size of the file), got {}",
                        most, pointers_[k]));
    findings_.throw_if_errors();
    if (pointers_[NATOM] == 0)
      findings_.error(702, file_.offset("POINTERS", NATOM), "the topology has no atoms");
    if (pointers_[NTYPES] == 0 || pointers_[NTYPES] * pointers_[NTYPES] > most)
      findings_.error(
          702, file_.offset("POINTERS", NTYPES),
          fmt::format("a topology of this size cannot have {} atom types", pointers_[NTYPES]));
    if (pointers_[IFPERT] > 0)
      findings_.error(703, file_.offset("POINTERS", IFPERT), "a perturbed topology is not read");
    if (pointers_[NPARM] > 0)
      findings_.error(703, file_.offset("POINTERS", NPARM),
                      "a topology with copies of atoms (LES, of addles) is not read");
    if (pointers_[IFCAP] > 0)
      findings_.error(703, file_.offset("POINTERS", IFCAP), "a cap of solvent is not read");
    findings_.throw_if_errors();
  }

  void read_atoms() {
    const std::size_t n = count(NATOM);
    Atoms& a = s_.atoms;
    a.name = file_.words("ATOM_NAME", n);
    a.type = file_.has("AMBER_ATOM_TYPE") ? file_.words("AMBER_ATOM_TYPE", n)
                                          : std::vector<std::string>(n);
    a.mass_amu = file_.reals("MASS", n);
    a.charge_e = file_.reals("CHARGE", n);
    for (double& q : a.charge_e) q /= charge_unit;
    const std::vector<std::int64_t> number = file_.has("ATOMIC_NUMBER")
                                                 ? file_.integers("ATOMIC_NUMBER", n)
                                                 : std::vector<std::int64_t>(n, -1);
    const std::vector<std::int64_t> type = file_.integers("ATOM_TYPE_INDEX", n);
    for (std::size_t i = 0; i < n; ++i) {
      if (a.mass_amu[i] < 0)
        findings_.error(702, file_.offset("MASS", i),
                        fmt::format("atom {} has a negative mass", i + 1));
      if (type[i] < 1 || type[i] > pointers_[NTYPES])
        findings_.error(
            702, file_.offset("ATOM_TYPE_INDEX", i),
            fmt::format("atom {} has type {} of {}", i + 1, type[i], pointers_[NTYPES]));
      a.lj_type.push_back(static_cast<std::int32_t>(type[i] - 1));
      const bool given = number[i] > 0 && number[i]<119, heavy_hydrogen = a.mass_amu[i]> 1.5 &&
                         a.mass_amu[i] < 5 && a.name[i].starts_with('H');
      a.element.push_back(given            ? static_cast<std::uint8_t>(number[i])
                          : heavy_hydrogen ? 1
                                           : element_of_mass(a.mass_amu[i]));
    }
    s_.coulomb_constant = coulomb_amber;
    s_.title = file_.first_line(is_chamber() ? "CTITLE" : "TITLE");
  }

  /// Atoms that gave mass to their hydrogens are known by what they would weigh with it.
  void name_what_lost_mass() {
    std::vector<double> mass = s_.atoms.mass_amu;
    const auto is_h = [&](std::int32_t i) {
      return s_.atoms.element[static_cast<std::size_t>(i)] == 1;
    };
    for (const auto& [a, b] : s_.connectivity)
      for (const auto& [heavy, h] : {std::pair{a, b}, {b, a}})
        if (is_h(h) && !is_h(heavy))
          mass[static_cast<std::size_t>(heavy)] +=
              s_.atoms.mass_amu[static_cast<std::size_t>(h)] - mass_of(1);
    for (std::size_t i = 0; i < mass.size(); ++i)
      if (s_.atoms.element[i] != 1) s_.atoms.element[i] = element_of_mass(mass[i]);
  }

  void read_residues() {
    const std::size_t n = count(NRES);
    const std::vector<std::string> label = file_.words("RESIDUE_LABEL", n);
    const std::vector<std::int64_t> first = file_.integers("RESIDUE_POINTER", n);
    s_.atoms.residue.assign(count(NATOM), 0);
    for (std::size_t r = 0; r < n; ++r) {
      s_.residues.push_back({label[r], std::to_string(r + 1), "", ""});
      const bool follows = r == 0 ? first[r] == 1 : first[r] > first[r - 1];
      if (!follows || first[r] > pointers_[NATOM]) {
        findings_.error(
            702, file_.offset("RESIDUE_POINTER", r),
            fmt::format("residue {} begins at atom {}; expected rising numbers from 1 to {}", r + 1,
                        first[r], pointers_[NATOM]));
        return;
      }
    }
    std::size_t r = 0;
    for (std::size_t i = 0; i < count(NATOM) && n > 0; ++i) {
      if (r + 1 < n && static_cast<std::size_t>(first[r + 1]) == i + 1) ++r;
      s_.atoms.residue[i] = static_cast<std::int32_t>(r);
    }
    if (n == 0)
      findings_.error(702, file_.offset("POINTERS", NRES), "the topology has no residues");
  }

  /// A number in our units, of entry k of a section.
  double finite(double v, const char* flag, std::size_t k) {
    if (!std::isfinite(v))
      findings_.error(
          702, file_.offset(flag, k),
          fmt::format("entry {} of {} is beyond the range of double precision in kJ/mol and nm",
                      k + 1, flag));
    return v;
  }

  void read_lennard_jones() {
    s_.lj = lennard_jones_of("LENNARD_JONES_ACOEF", "LENNARD_JONES_BCOEF");
  }
  LennardJones lennard_jones_of(const char* acoef, const char* bcoef) {
    LennardJones lj;
    const std::size_t t = count(NTYPES), pairs = t * (t + 1) / 2;
    const std::vector<std::int64_t> index = file_.integers("NONBONDED_PARM_INDEX", t * t);
    const std::vector<double> a = file_.reals(acoef, pairs), b = file_.reals(bcoef, pairs);
    const std::size_t n_hbond = count(NPHB);
    const std::vector<double> hbond_a = file_.reals("HBOND_ACOEF", n_hbond),
                              hbond_b = file_.reals("HBOND_BCOEF", n_hbond);
    lj.types = static_cast<int>(t);
    lj.c6.assign(t * t, 0);
    lj.c12.assign(t * t, 0);
    for (std::size_t k = 0; k < t * t; ++k) {
      const std::int64_t p = index[k];
      const auto bad = [&](const std::string& what) {
        findings_.error(702, file_.offset("NONBONDED_PARM_INDEX", k), what);
      };
      if (index[k] != index[k % t * t + k / t])
        bad("NONBONDED_PARM_INDEX is not symmetric");
      else if (p > 0 && static_cast<std::size_t>(p) <= pairs) {
        const auto of = static_cast<std::size_t>(p) - 1;
        lj.c12[k] = finite(a[of] * kcal * std::pow(angstrom, 12), acoef, of);
        lj.c6[k] = finite(b[of] * kcal * std::pow(angstrom, 6), bcoef, of);
      } else if (p < 0 && static_cast<std::size_t>(-p) <= n_hbond) {
        if (hbond_a[static_cast<std::size_t>(-p) - 1] != 0 ||
            hbond_b[static_cast<std::size_t>(-p) - 1] != 0)
          findings_.error(703, file_.offset("NONBONDED_PARM_INDEX", k),
                          "a 10-12 hydrogen bond potential is not read");
      } else if (p != 0 || n_hbond > 0) {
        bad(fmt::format("index {} is not among {} pairs of types", p, pairs));
      }
    }
    return lj;
  }

  /// Terms of N atoms with the row of a table behind them.
  template <int N>
  void read_terms(const char* flag, std::size_t n, std::size_t n_rows, bool from_one, auto&& add) {
    const std::vector<std::int64_t> v = file_.integers(flag, n * (N + 1));
    for (std::size_t t = 0; t < n; ++t) {
      std::array<std::int64_t, N> raw;
      std::array<std::int32_t, N> atoms;
      bool good = true;
      for (std::size_t k = 0; k < N; ++k) {
        raw[k] = v[t * (N + 1) + k];
        const std::int64_t a = from_one ? raw[k] - 1 : std::abs(raw[k]) / 3;
        good = good && a >= 0 && a < pointers_[NATOM] &&
               (from_one || (raw[k] % 3 == 0 && (raw[k] >= 0 || k >= 2)));
        atoms[k] = static_cast<std::int32_t>(a);
      }
      for (std::size_t k = 0; k < N; ++k)
        for (std::size_t m = 0; m < k; ++m) good = good && atoms[k] != atoms[m];
      const std::int64_t row = v[t * (N + 1) + N];
      good = good && row >= 1 && static_cast<std::size_t>(row) <= n_rows;
      if (good)
        add(raw, atoms, static_cast<std::int32_t>(row - 1));
      else if (!findings_.has_errors() || n < 1000)
        findings_.error(702, file_.offset(flag, t * (N + 1)),
                        fmt::format("entry {} of {} names atoms or parameters that are not there",
                                    t + 1, flag));
    }
  }

  std::size_t counted(const AmberCount& c) {
    const auto index = static_cast<std::size_t>(c.index);
    if (std::string_view(c.section) == "POINTERS")
      return static_cast<std::size_t>(pointers_[index]);
    const std::int64_t v = file_.integers(c.section, c.of)[index];
    if (v < 0 || static_cast<std::size_t>(v) > text_.text.size())
      findings_.error(702, file_.offset(c.section, index),
                      fmt::format("{} counts {} entries in a file of {} characters", c.section, v,
                                  text_.text.size()));
    findings_.throw_if_errors();
    return static_cast<std::size_t>(v);
  }

  void read_bonded() {
    for (const bool of_charmm : {false, true})
      for (const AmberTerms& t : amber_terms())
        if (t.of_charmm == of_charmm && (!of_charmm || is_chamber()))
          each_bonded(
              [&](const BondedKind& kind, auto& list) {
                if constexpr (requires { list.rows; })
                  if (kind.first == t.kind) read_kind(t, list);
              },
              s_);
    std::ranges::sort(s_.connectivity);
    s_.connectivity.erase(std::unique(s_.connectivity.begin(), s_.connectivity.end()),
                          s_.connectivity.end());
    if (!file_.has("ATOMIC_NUMBER")) name_what_lost_mass();
  }

  template <int N, int P>
  void read_kind(const AmberTerms& t, Terms<N, P>& list) {
    const std::size_t n_rows = counted(t.rows);
    list.rows.resize(n_rows);
    for (const AmberColumn& c : t.columns) {
      const std::vector<double> v = file_.reals(c.section, n_rows);
      for (std::size_t k = 0; k < n_rows; ++k) {
        if (std::string what = c.fault ? c.fault(v[k]) : std::string(); !what.empty())
          findings_.error(702, file_.offset(c.section, k), std::move(what));
        list.rows[k][c.column] = finite(c.read(v[k]), c.section, k);
      }
    }
    Terms<N, P>* impropers = nullptr;
    if (t.impropers) {
      each_bonded(
          [&](const BondedKind& kind, auto& other) {
            if constexpr (std::is_same_v<decltype(other), Terms<N, P>&>)
              if (kind.first == *t.impropers) impropers = &other;
          },
          s_);
      impropers->rows = list.rows;
      read_pair_scales(n_rows);
    }
    for (const AmberList& l : t.lists)
      read_terms<N>(l.section, counted(l.terms), n_rows, t.from_one,
                    [&](const auto& raw, const auto& a, std::int32_t row) {
                      Terms<N, P>& to = impropers && raw.back() < 0 ? *impropers : list;
                      to.atoms.push_back(a);
                      to.row.push_back(row);
                      if constexpr (N == 2)
                        if (t.is_bond) bond(a[0], a[1]);
                      if constexpr (N == 4)
                        if (t.impropers && raw[2] >= 0 && raw[3] >= 0)
                          near_pair(a[0], a[3], static_cast<std::size_t>(row));
                    });
  }

  /// The third side of a rigid water is no chemical bond.
  void bond(std::int32_t a, std::int32_t b) {
    const auto is_h = [&](std::int32_t i) {
      return s_.atoms.element[static_cast<std::size_t>(i)] == 1;
    };
    if (!is_h(a) || !is_h(b)) s_.connectivity.push_back({std::min(a, b), std::max(a, b)});
  }

  /// What 1-4 pairs are divided by, for each type of dihedrals; those of CHARMM have a table of
  /// Lennard-Jones of their own.
  void read_pair_scales(std::size_t n_dihedral) {
    const auto scale = [&](const char* flag, double usual) {
      return file_.has(flag) ? file_.reals(flag, n_dihedral)
                             : std::vector<double>(n_dihedral, usual);
    };
    scee_ = scale("SCEE_SCALE_FACTOR", is_chamber() ? 1.0 : 1.2);
    scnb_ = scale("SCNB_SCALE_FACTOR", is_chamber() ? 1.0 : 2.0);
    near_ =
        is_chamber() ? lennard_jones_of("LENNARD_JONES_14_ACOEF", "LENNARD_JONES_14_BCOEF") : s_.lj;
  }
  /// The ends of a dihedral of type `row`.
  void near_pair(std::int32_t a, std::int32_t b, std::size_t row) {
    const double ee = scee_[row], nb = scnb_[row];
    if (!(ee > 0 && nb > 0)) {
      findings_.error(702, file_.offset(ee > 0 ? "SCNB_SCALE_FACTOR" : "SCEE_SCALE_FACTOR", row),
                      fmt::format("1-4 pairs are divided by the scale factors {} and {} of "
                                  "dihedral type {}; both must be positive",
                                  ee, nb, row + 1));
      return;
    }
    const auto i = s_.atoms.lj_type[static_cast<std::size_t>(a)],
               j = s_.atoms.lj_type[static_cast<std::size_t>(b)];
    const auto [at, fresh] = pair_rows_.try_emplace(
        {std::min(i, j), std::max(i, j), ee, nb}, static_cast<std::int32_t>(s_.pairs.rows.size()));
    if (fresh) {
      const auto k = static_cast<std::size_t>(i) * count(NTYPES) + static_cast<std::size_t>(j);
      s_.pairs.rows.push_back({finite(near_.c6[k] / nb, "SCNB_SCALE_FACTOR", row),
                               finite(near_.c12[k] / nb, "SCNB_SCALE_FACTOR", row),
                               finite(1 / ee, "SCEE_SCALE_FACTOR", row), 0});
    }
    s_.pairs.atoms.push_back({a, b});
    s_.pairs.row.push_back(at->second);
  }

  void read_exclusions() {
    const std::size_t n = count(NATOM);
    const std::vector<std::int64_t> many = file_.integers("NUMBER_EXCLUDED_ATOMS", n),
                                    list = file_.integers("EXCLUDED_ATOMS_LIST", count(NNB));
    std::size_t at = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (many[i] < 0 || at + static_cast<std::size_t>(many[i]) > list.size()) {
        findings_.error(
            702, file_.offset("NUMBER_EXCLUDED_ATOMS", i),
            fmt::format("atom {} excludes {} atoms, but only {} are left in EXCLUDED_ATOMS_LIST",
                        i + 1, many[i], list.size() - at));
        return;
      }
      for (std::int64_t k = 0; k < many[i]; ++k, ++at) {
        if (list[at] == 0) continue;  // a placeholder: none
        if (list[at] < 0 || list[at] > pointers_[NATOM] ||
            list[at] == static_cast<std::int64_t>(i) + 1) {
          findings_.error(702, file_.offset("EXCLUDED_ATOMS_LIST", at),
                          fmt::format("atom {} excludes atom {} of {}", i + 1, list[at], n));
          return;
        }
        const auto j = static_cast<std::int32_t>(list[at] - 1), self = static_cast<std::int32_t>(i);
        s_.exclusions.push_back({std::min(self, j), std::max(self, j)});
      }
    }
    std::ranges::sort(s_.exclusions);
    s_.exclusions.erase(std::unique(s_.exclusions.begin(), s_.exclusions.end()),
                        s_.exclusions.end());
  }

  /// Four-point water O, H, H, EP: the site lies on the bisector at the length of the bond O-EP;
  /// its bond goes.
  void add_virtual_sites() {
    const auto is_site = [&](std::size_t i) { return s_.atoms.mass_amu[i] == 0; };
    std::map<std::int32_t, std::pair<std::int32_t, double>> parent;  // site: its atom and distance
    HarmonicBonds kept;
    kept.rows = s_.bonds.rows;
    std::map<std::array<std::int32_t, 2>, double> length;
    for (std::size_t b = 0; b < s_.bonds.size(); ++b) {
      auto [i, j] = s_.bonds.atoms[b];
      const double d = s_.bonds.rows[static_cast<std::size_t>(s_.bonds.row[b])][0];
      if (is_site(static_cast<std::size_t>(i))) std::swap(i, j);
      length[{std::min(i, j), std::max(i, j)}] = d;
      if (is_site(static_cast<std::size_t>(j))) {
        parent[j] = {i, d};
        continue;
      }
      kept.atoms.push_back(s_.bonds.atoms[b]);
      kept.row.push_back(s_.bonds.row[b]);
    }
    for (std::size_t i = 0; i < count(NATOM); ++i) {
      if (!is_site(i)) continue;
      const auto site = static_cast<std::int32_t>(i),
                 o = parent.count(site) ? parent[site].first : -1;
      const auto bond = [&](std::int32_t a, std::int32_t b) {
        const auto at = length.find({std::min(a, b), std::max(a, b)});
        return at == length.end() ? 0.0 : at->second;
      };
      const double oh = o >= 0 && site == o + 3 ? bond(o, o + 1) : 0,
                   hh = oh > 0 ? bond(o + 1, o + 2) : 0;
      if (!(oh > 0 && hh > 0 && bond(o, o + 2) == oh && hh < 2 * oh)) {
        findings_.error(703, file_.offset("MASS", i),
                        fmt::format("atom {} ({}) has no mass and is not the fourth site of a "
                                    "water O, H, H, EP: such extra points are not read",
                                    i + 1, s_.atoms.name[i]));
        return;
      }
      const double a = parent[site].second / (2 * std::sqrt(oh * oh - 0.25 * hh * hh));
      VirtualSite v{VirtualSite::Kind::linear3, site, {o, o + 1, o + 2, -1}, {}};
      v.weights[0] = v.weights[1] = a;
      s_.virtual_sites.push_back(v);
      s_.atoms.element[i] = 0;
    }
    s_.bonds = std::move(kept);
  }

  void read_box() {
    if (pointers_[IFBOX] == 0 || !file_.has("BOX_DIMENSIONS")) return;
    const std::vector<double> v = file_.reals("BOX_DIMENSIONS", 4);  // beta, a, b, c
    if (findings_.has_errors()) return;
    const bool octahedron = pointers_[IFBOX] == 2;
    const double beta = octahedron ? std::acos(-1.0 / 3) * 180 / 3.14159265358979323846 : v[0];
    const Vec3 angles = octahedron ? Vec3{beta, beta, beta} : Vec3{90, beta, 90};
    try {
      out_.cell_angles_deg = angles;
      out_.box = box_of_angles({v[1] * angstrom, v[2] * angstrom, v[3] * angstrom}, angles);
    } catch (const Error& e) {
      findings_.error(702, file_.offset("BOX_DIMENSIONS", 0), e.what());
    }
  }

  const data::TextFile& text_;
  data::Findings findings_;
  AmberSections file_;
  std::vector<std::int64_t> pointers_;
  std::vector<double> scee_, scnb_;  ///< of 1-4 pairs, by the type of their dihedral
  LennardJones near_;                ///< theirs
  std::map<std::tuple<std::int32_t, std::int32_t, double, double>, std::int32_t> pair_rows_;
  System s_;
  AmberTopology out_;
};

}  // namespace

AmberTopology read_amber_topology(const data::TextFile& text) { return AmberReader(text).read(); }

Frame read_amber_restart(const data::TextFile& text, std::optional<std::size_t> expected,
                         std::optional<Vec3> cell_angles_deg) {
  data::Findings findings(text);
  const auto stop = [&](int number, std::size_t line, const std::string& what) {
    findings.error(number, text.line_starts[std::min(line, text.n_lines()) - 1], what);
    findings.throw_if_errors();
  };
  std::size_t last = text.n_lines();
  while (last > 0 && data::trim(text.line(last)).empty()) --last;
  const std::vector<data::Token> head =
      last < 2 ? std::vector<data::Token>{}
               : data::split_tokens(text.text, text.line_starts[1],
                                    text.line_starts[1] + text.line(2).size());
  if (head.empty())
    stop(701, 1, "expected a title, then the number of atoms: this is no AMBER restart");
  const auto n = data::parse_count(head[0], std::numeric_limits<std::int32_t>::max(),
                                   "the number of atoms", findings);
  findings.throw_if_errors();
  if (expected && *n != *expected)
    stop(704, 2, fmt::format("the restart has {} atoms, the topology {}", *n, *expected));
  const std::size_t n_atoms = *n;
  Frame f;
  if (head.size() > 1)
    if (const auto t = data::parse_number(head[1], data::Exponent::fortran, findings))
      f.time_ps = *t;

  const std::size_t block = (n_atoms + 1) / 2;  // six numbers a line
  std::size_t line = 3;
  const auto numbers = [&](std::size_t count, const char* what) {
    std::vector<double> out;
    for (; out.size() < count; ++line) {
      if (line > last) {
        findings.error(
            701, text.text.size() - 1,
            fmt::format("the file ends within the {}: {} of {} numbers", what, out.size(), count));
        break;
      }
      const std::string_view body = text.line(line);
      for (std::size_t k = 0; k < 6 && out.size() < count; ++k) {
        const std::string_view word =
            data::trim(12 * k < body.size() ? body.substr(12 * k, 12) : std::string_view{});
        if (word.empty()) {
          const std::size_t due = std::min<std::size_t>(6, count - out.size() + k);
          findings.error(701, text.line_starts[line - 1] + std::min(12 * k, body.size()),
                         fmt::format("this line of the {} has {} of {} numbers", what, k, due));
          findings.throw_if_errors();
        }
        const auto v =
            data::parse_number({word, text.line_starts[line - 1] +
                                          static_cast<std::size_t>(word.data() - body.data())},
                               data::Exponent::fortran, findings);
        out.push_back(v.value_or(0));
      }
    }
    findings.throw_if_errors();
    return out;
  };
  const auto vectors = [&](const char* what, double unit) {
    const std::vector<double> v = numbers(3 * n_atoms, what);
    std::vector<Vec3> out(n_atoms);
    for (std::size_t i = 0; i < v.size(); ++i) out[i / 3][i % 3] = v[i] * unit;
    return out;
  };
  const auto expect = [&](bool holds, std::size_t first, std::size_t i, const char* what) {
    if (!holds) stop(702, first + i / 2, fmt::format("atom {} {}", i + 1, what));
  };
  f.x_nm = vectors("positions", angstrom);
  for (std::size_t i = 0; i < n_atoms; ++i) expect(within_reach(f.x_nm[i]), 3, i, out_of_reach);
  const std::size_t behind = line;
  const auto fields_of = [&](std::size_t at) {  // of twelve columns: numbers may touch
    return (text.line(at).find_last_not_of(" \t") + 12) / 12;
  };
  const bool box_alone =
      block == 1 && last == line && (cell_angles_deg || fields_of(line) > 3 * n_atoms);
  if (last + 1 - line >= block && !box_alone) f.v_nm_ps = vectors("velocities", velocity_unit);
  for (std::size_t i = 0; i < f.v_nm_ps.size(); ++i)
    expect(std::ranges::all_of(f.v_nm_ps[i], [](double v) { return std::isfinite(v); }), behind, i,
           "has a velocity beyond the range of double precision");
  if (line <= last) {
    const std::size_t at = line, many = fields_of(line);
    const std::vector<double> v = numbers(many > 3 ? 6 : 3, "box");
    try {
      f.box = box_of_angles(
          {v[0] * angstrom, v[1] * angstrom, v[2] * angstrom},
          many > 3 ? Vec3{v[3], v[4], v[5]} : cell_angles_deg.value_or(Vec3{90, 90, 90}));
    } catch (const Error& e) {
      stop(702, at, e.what());
    }
  }
  if (line <= last)
    stop(701, line,
         fmt::format(
             "text after the end: a restart of {} atoms has {} lines with velocities and box",
             n_atoms, 2 * block + 3));
  return f;
}

}  // namespace tessera::molecular
