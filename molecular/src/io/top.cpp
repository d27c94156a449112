// SPDX-License-Identifier: Apache-2.0
//
// A topology's sections in their order: defaults, types, molecules, the system. Sections and
// columns: GROMACS reference manual, "Topology file".
#include "io/top_molecule.h"
#include "system/memory.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/gromacs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tessera::molecular {
namespace {

using data::shown;

enum class Stage : std::uint8_t { begin, types, molecule, system, molecules, obsolete };
struct Section {
  std::string_view name;
  Stage stage;
};
constexpr Section sections[] = {
    {"defaults", Stage::begin},
    {"atomtypes", Stage::types},
    {"bondtypes", Stage::types},
    {"constrainttypes", Stage::types},
    {"pairtypes", Stage::types},
    {"angletypes", Stage::types},
    {"dihedraltypes", Stage::types},
    {"nonbond_params", Stage::types},
    {"cmaptypes", Stage::types},
    {"implicit_genborn_params", Stage::obsolete},
    {"implicit_surface_params", Stage::obsolete},
    {"moleculetype", Stage::molecule},
    {"atoms", Stage::molecule},
    {"bonds", Stage::molecule},
    {"pairs", Stage::molecule},
    {"pairs_nb", Stage::molecule},
    {"angles", Stage::molecule},
    {"dihedrals", Stage::molecule},
    {"constraints", Stage::molecule},
    {"settles", Stage::molecule},
    {"exclusions", Stage::molecule},
    {"virtual_sites1", Stage::molecule},
    {"virtual_sites2", Stage::molecule},
    {"virtual_sites3", Stage::molecule},
    {"virtual_sites4", Stage::molecule},
    {"virtual_sitesn", Stage::molecule},
    {"position_restraints", Stage::molecule},
    {"distance_restraints", Stage::molecule},
    {"cmap", Stage::molecule},
    {"angle_restraints", Stage::molecule},
    {"angle_restraints_z", Stage::molecule},
    {"dihedral_restraints", Stage::molecule},
    {"orientation_restraints", Stage::molecule},
    {"polarization", Stage::molecule},
    {"water_polarization", Stage::molecule},
    {"thole_polarization", Stage::molecule},
    {"system", Stage::system},
    {"molecules", Stage::molecules},
    {"intermolecular_interactions", Stage::molecules},
};

/// Case, '-' and '_' do not tell sections apart.
std::string plain_name(std::string_view s) {
  std::string out;
  for (const char c : s)
    if (c != '-' && c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// A carbon and its hydrogens as one atom weigh about as much as nitrogen or oxygen.
bool is_united_carbon(std::string_view type, double mass_amu) {
  return type.starts_with("CH") && mass_amu > 12.5 && mass_amu < 16.5;
}

/// The least that one copy of a molecule takes: of a term two of its atoms' numbers.
double bytes_of(const TopMolecule& m) {
  constexpr double term = 8;
  return least_bytes(static_cast<double>(m.size()), static_cast<double>(m.residues.size())) +
         static_cast<double>(m.entries() - m.size()) * term;
}

class TopReader {
 public:
  TopReader(data::TextFile text, const TopologyOptions& options)
      : options_(options),
        preprocessor_(std::move(text), options.include_folders, options.defines, findings_),
        types_(findings_),
        molecule_(types_, tables_, findings_, options.distance_restraint_k) {}

  GromacsTopology read() {
    TopLine line;
    while (preprocessor_.next(line)) {
      if (line.front().text.front() == '[')
        open_section(line);
      else if (section_.empty() && line.front().text.front() == '*')
        continue;  // the head of AMBER's files
      else if (section_.empty())
        findings_.error(722, line.front(),
                        "expected a section such as [ defaults ], got " + shown(line.front().text));
      else
        read_line(line);
      if (section_.empty()) findings_.throw_if_errors();
    }
    close_molecule();
    for (const auto& [missing, name] : {std::pair{types_.defaults.combination == 0, "defaults"},
                                        {!has_system_, "system"},
                                        {!has_molecules_, "molecules"}})
      if (missing)
        findings_.error(701, preprocessor_.end(), fmt::format("section [ {} ] is missing", name),
                        types_.defaults.combination == 0 ? "include a force field first" : "");
    for (const std::string& name : preprocessor_.unused_defines())
      findings_.note(721, preprocessor_.end(),
                     "the topology never asks for the macro " + shown(name), "is it misspelt?");
    findings_.throw_if_errors();
    return assemble();
  }

 private:
  void open_section(const TopLine& line) {
    std::string name;
    for (const TopWord& w : line) name += w.text;
    const std::size_t close = name.find(']');
    if (close == std::string::npos || close < 2) {
      findings_.error(722, line.front(),
                      "expected a section such as [ atoms ], got " + shown(name));
      return;
    }
    if (close + 1 < name.size())
      findings_.warn(
          722, line.front(),
          "what follows the name of a section is not read: " + shown(name.substr(close + 1)),
          "begin a new line");
    name = name.substr(1, close - 1);
    const auto* known = std::ranges::find_if(
        sections, [&](const Section& s) { return plain_name(s.name) == plain_name(name); });
    if (known == std::end(sections)) {
      std::string hint;
      if (plain_name(name).starts_with("dummies"))
        hint = "it is called [ virtual_sites" + name.substr(7) + " ] by now";
      findings_.error(722, line.front(), "unknown section [ " + name.substr(0, 40) + " ]", hint);
      findings_.throw_if_errors();
    }
    section_ = known->name;
    open_at_ = line.front();
    if (known->stage == Stage::obsolete) return;
    const auto disorder = [&](const char* why) {
      findings_.error(722, line.front(), fmt::format("section [ {} ] may not stand here", section_),
                      why);
      findings_.throw_if_errors();
    };
    if (known->stage != Stage::begin && types_.defaults.combination == 0)
      disorder("[ defaults ] comes first: include the force field at the top");
    if (known->stage < stage_ && !(known->stage == Stage::molecule && stage_ == Stage::molecule))
      disorder(known->stage == Stage::types   ? "types come before the first [ moleculetype ]"
               : known->stage == Stage::begin ? "it is given twice, or too late"
                                              : "molecules come before [ system ]");
    if (known->stage == Stage::molecule && section_ != "moleculetype" && molecules_.empty())
      disorder("[ moleculetype ] opens a molecule");
    if (known->stage == Stage::molecules && section_ == "intermolecular_interactions") {
      findings_.error(703, line.front(), "[ intermolecular_interactions ] is not read",
                      "put the molecules into one [ moleculetype ]");
      findings_.throw_if_errors();
    }
    if (section_ == "moleculetype" || known->stage > Stage::molecule) close_molecule();
    stage_ = known->stage;
  }

  void close_molecule() {
    if (stage_ != Stage::molecule || molecules_.empty() || closed_) return;
    molecule_.finish(molecules_.back(), options_.most_entries);
    closed_ = true;
  }

  void read_line(const TopLine& line) {
    if (section_ == "defaults") return types_.read_defaults(line);
    if (section_ == "atomtypes") return types_.read_atom_type(line);
    if (section_ == "pairtypes") return types_.read_pair_type(line);
    if (section_ == "nonbond_params") return types_.read_nonbonded(line);
    if (section_ == "bondtypes") return types_.read_bonded("bonds", line);
    if (section_ == "constrainttypes") return types_.read_bonded("constraints", line);
    if (section_ == "angletypes") return types_.read_bonded("angles", line);
    if (section_ == "dihedraltypes") return types_.read_dihedral(line);
    if (section_ == "cmaptypes") return types_.read_cmap(line);
    if (section_.starts_with("implicit")) return;  // no longer of use
    if (section_ == "moleculetype") return begin_molecule(line);
    if (section_ == "system") {
      has_system_ = true;
      if (title_.empty())
        for (const TopWord& w : line) title_.append(title_.empty() ? "" : " ").append(w.text);
      return;
    }
    if (section_ == "molecules") return read_count(line);
    molecule_.read(section_, line, molecules_.back());
    if (molecules_.back().entries() > options_.most_entries) {
      findings_.error(702, line.front(),
                      fmt::format("molecule {} has more than {} atoms and terms",
                                  shown(molecules_.back().name), options_.most_entries));
      findings_.throw_if_errors();
    }
  }

  void begin_molecule(const TopLine& line) {
    if (line.size() < 2)
      return findings_.error(701, line[0], "expected the name of the molecule and nrexcl");
    const auto nrexcl = findings_.integer(line[1], 0, 20, "nrexcl");
    if (find_molecule(line[0].text, true) >= 0)
      findings_.error(723, line[0], "molecule " + shown(line[0].text) + " is given twice");
    if (!closed_) return findings_.error(701, line[0], "a second line of [ moleculetype ]");
    TopMolecule m;
    m.name = line[0].text;
    m.at = line[0];
    m.bonds_excluded = static_cast<int>(nrexcl.value_or(0));
    const int number = static_cast<int>(molecules_.size());
    molecule_of_.emplace(m.name, number);
    const auto [alike, fresh] = molecule_like_.emplace(data::upper(m.name), number);
    if (!fresh) alike->second = -2;
    molecules_.push_back(std::move(m));
    closed_ = false;
  }

  /// -1: none, -2: several that differ in case.
  int find_molecule(std::string_view name, bool exact) const {
    if (const auto at = molecule_of_.find(std::string(name)); at != molecule_of_.end())
      return at->second;
    const auto at = exact ? molecule_like_.end() : molecule_like_.find(data::upper(name));
    return at == molecule_like_.end() ? -1 : at->second;
  }

  void read_count(const TopLine& line) {
    has_molecules_ = true;
    if (line.size() < 2)
      return findings_.error(701, line[0],
                             "expected the name of a molecule and how many there are");
    const int k = find_molecule(line[0].text, false);
    if (k < 0) {
      std::string names;
      for (std::size_t m = 0; m < molecules_.size() && names.size() < 200; ++m)
        names += (names.empty() ? "" : ", ") + shown(molecules_[m].name);
      return findings_.error(723, line[0],
                             fmt::format("there is {} molecule {}",
                                         k == -1 ? "no" : "more than one", shown(line[0].text)),
                             "molecules: " + names.substr(0, 200));
    }
    const auto count = findings_.integer(line[1], 0, std::numeric_limits<std::int32_t>::max(),
                                         "the number of molecules");
    if (!count) return;
    const TopMolecule& m = molecules_[static_cast<std::size_t>(k)];
    const auto n = static_cast<std::size_t>(*count);
    if (n > 0 &&
        (m.entries() > (options_.most_entries - entries_) / n ||
         m.size() >
             (static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - atoms_) / n)) {
      findings_.error(
          702, line[1],
          fmt::format("{} molecules of {} atoms are more than this program holds", n, m.size()),
          "is the number right?");
      findings_.throw_if_errors();
    }
    bytes_ += static_cast<double>(n) * bytes_of(m);
    if (bytes_ > memory_bytes()) {
      findings_.error(
          702, line[1],
          fmt::format("{} molecules of {} atoms take {:.1f} GiB, this machine gives {:.1f} GiB", n,
                      m.size(), bytes_ / gib, memory_bytes() / gib),
          "is the number right?");
      findings_.throw_if_errors();
    }
    entries_ += n * m.entries();
    atoms_ += n * m.size();
    counts_.push_back({k, n});
  }

  void lennard_jones();
  void add(const TopMolecule& m, std::size_t copies);
  void name_residues();
  GromacsTopology assemble();

  const TopologyOptions& options_;
  TopFindings findings_;
  TopPreprocessor preprocessor_;
  TopTypes types_;
  TopTables tables_;
  TopMoleculeReader molecule_;
  std::vector<TopMolecule> molecules_;
  std::unordered_map<std::string, int> molecule_of_,
      molecule_like_;                                ///< by name; by name in capitals (-2: several)
  std::vector<std::pair<int, std::size_t>> counts_;  ///< molecule, how many
  std::string_view section_;
  TopWord open_at_;
  Stage stage_ = Stage::begin;
  bool closed_ = true, has_system_ = false, has_molecules_ = false;
  std::string title_;
  std::size_t entries_ = 0, atoms_ = 0;
  double bytes_ = 0;  ///< of all molecules
  System s_;
  std::vector<std::int32_t> lj_of_;  ///< of atom types; -1: not used
};

/// Tables of the types in use, in the order of the force field.
void TopReader::lennard_jones() {
  const std::size_t all = types_.atom_types.size();
  lj_of_.assign(all, -1);
  for (const auto& [k, n] : counts_)
    if (n > 0)
      for (const int t : molecules_[static_cast<std::size_t>(k)].type)
        lj_of_[static_cast<std::size_t>(t)] = 0;
  std::vector<int> used;
  for (std::size_t t = 0; t < all; ++t)
    if (lj_of_[t] == 0) {
      lj_of_[t] = static_cast<std::int32_t>(used.size());
      used.push_back(static_cast<int>(t));
    }
  const std::size_t n = used.size();
  constexpr std::size_t table_bytes = 2 * sizeof(double);
  if (n > 46000 || n * n > options_.most_entries ||
      static_cast<double>(n * n * table_bytes) > memory_bytes()) {
    findings_.error(702, preprocessor_.end(),
                    fmt::format("{} atom types in use are more than this program holds", n),
                    "types of the same parameters may be one");
    findings_.throw_if_errors();
  }
  std::vector<double> sigma(n), epsilon(n);
  bool by_rule = true;
  for (std::size_t k = 0; k < n; ++k) {
    const TopAtomType& t = types_.atom_types[static_cast<std::size_t>(used[k])];
    if (types_.defaults.combination != 1) {
      by_rule = by_rule && t.v >= 0;
      sigma[k] = t.v;
      epsilon[k] = t.w;
    } else if (t.v > 0 && t.w > 0) {  // c6 = 4 epsilon sigma^6, c12 = 4 epsilon sigma^12
      sigma[k] = std::pow(t.w / t.v, 1.0 / 6);
      epsilon[k] = 0.25 * t.v * t.v / t.w;
    } else {
      by_rule = by_rule && t.v == 0 && t.w == 0;
    }
  }
  LennardJones& lj = s_.lj;
  lj.types = static_cast<int>(n);
  lj.c6.resize(n * n);
  lj.c12.resize(n * n);
  if (by_rule) {
    lj.mixing = types_.defaults.combination == 2 ? LennardJones::Mixing::lorentz_berthelot
                                                 : LennardJones::Mixing::geometric;
    lj.sigma_nm = std::move(sigma);
    lj.epsilon = std::move(epsilon);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      const auto given = types_.nonbonded_exception(used[i], used[j]);
      const auto [v, w] = given ? *given : types_.combined(used[i], used[j]);
      const auto [c6, c12] = types_.c6_c12(v, w);
      if (!std::isfinite(c6) || !std::isfinite(c12))
        findings_.error(
            702, preprocessor_.end(),
            fmt::format("the Lennard-Jones parameters of {} and {} are beyond the range of double "
                        "precision",
                        shown(types_.atom_types[static_cast<std::size_t>(used[i])].name),
                        shown(types_.atom_types[static_cast<std::size_t>(used[j])].name)));
      lj.c6[i * n + j] = lj.c6[j * n + i] = c6;
      lj.c12[i * n + j] = lj.c12[j * n + i] = c12;
      if (given && by_rule)
        lj.exceptions.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
    }
}

template <class List, int N>
void append(List& to, const TopTerms<N>& from, std::int32_t first) {
  for (std::size_t k = 0; k < from.atoms.size(); ++k) {
    std::array<std::int32_t, N> a = from.atoms[k];
    for (std::int32_t& i : a) i += first;
    to.atoms.push_back(a);
    to.row.push_back(from.row[k]);
  }
}

void TopReader::add(const TopMolecule& m, std::size_t copies) {
  std::vector<bool> is_site(m.size(), false);
  for (const VirtualSite& v : m.virtual_sites) is_site[static_cast<std::size_t>(v.site)] = true;
  std::vector<std::uint8_t> element;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (!is_site[i] && m.mass[i] == 0)
      findings_.error(702, m.atom_at[i],
                      fmt::format("atom {} of molecule {} has no mass", i + 1, shown(m.name)),
                      "give one on this line or in [ atomtypes ]; virtual sites alone have none");
    const TopAtomType& t = types_.atom_types[static_cast<std::size_t>(m.type[i])];
    const bool heavy_hydrogen = m.mass[i] > 1.5 && m.mass[i] < 5 && m.atom_name[i].starts_with('H');
    element.push_back(is_site[i]                            ? 0
                      : t.element > 0 && t.element < 119    ? static_cast<std::uint8_t>(t.element)
                      : heavy_hydrogen                      ? 1
                      : is_united_carbon(t.name, m.mass[i]) ? 6
                                                            : element_of_mass(m.mass[i]));
  }
  for (std::size_t copy = 0; copy < copies; ++copy) {
    const auto first = static_cast<std::int32_t>(s_.n_atoms()),
               first_residue = static_cast<std::int32_t>(s_.residues.size());
    Atoms& a = s_.atoms;
    a.name.insert(a.name.end(), m.atom_name.begin(), m.atom_name.end());
    a.element.insert(a.element.end(), element.begin(), element.end());
    a.mass_amu.insert(a.mass_amu.end(), m.mass.begin(), m.mass.end());
    a.charge_e.insert(a.charge_e.end(), m.charge.begin(), m.charge.end());
    for (std::size_t i = 0; i < m.size(); ++i) {
      a.type.push_back(types_.atom_types[static_cast<std::size_t>(m.type[i])].name);
      a.lj_type.push_back(lj_of_[static_cast<std::size_t>(m.type[i])]);
      a.residue.push_back(m.residue[i] + first_residue);
    }
    s_.residues.insert(s_.residues.end(), m.residues.begin(), m.residues.end());
    each_bonded([&](const BondedKind&, auto& to, const auto& from) { append(to, from, first); }, s_,
                m);
    append(s_.constraints, m.constraints, first);
    append(s_.rigid_waters, m.rigid_waters, first);
    for (const auto& [i, j] : m.connectivity) s_.connectivity.push_back({i + first, j + first});
    for (const auto& [i, j] : m.exclusions) s_.exclusions.push_back({i + first, j + first});
    for (VirtualSite v : m.virtual_sites) {
      v.site += first;
      for (std::int32_t& p : v.parents) p = p < 0 ? p : p + first;
      s_.virtual_sites.push_back(v);
    }
    for (const TopMolecule::Restraint& r : m.restrained) {
      const auto i = static_cast<std::size_t>(first + r.atom);
      if (!options_.reference && options_.needs_reference) {
        findings_.error(
            724, r.at,
            fmt::format("molecule {} has position restraints, but there are no reference positions",
                        shown(m.name)),
            "give the structure that they hold to");
        return;
      }
      const Vec3 x = options_.reference ? options_.reference->x_nm[i] : Vec3{};
      s_.position_restraints.atoms.push_back({static_cast<std::int32_t>(i)});
      s_.position_restraints.row.push_back(
          static_cast<std::int32_t>(s_.position_restraints.rows.size()));
      s_.position_restraints.rows.push_back({r.k[0], r.k[1], r.k[2], x[0], x[1], x[2]});
    }
  }
}

/// Residues of molecules that have one alone are numbered on, behind the last number of the others.
void TopReader::name_residues() {
  std::int64_t last = 0;
  constexpr long long most = 1'000'000'000;  // what is beyond is no number of a residue
  const auto number_of = [&](const std::string& s) {
    return std::min(most, std::strtoll(s.c_str(), nullptr, 10));
  };
  for (const auto& [k, n] : counts_)
    if (const TopMolecule& m = molecules_[static_cast<std::size_t>(k)];
        n > 0 && m.residues.size() > 1)
      for (const Residue& r : m.residues) last = std::max<std::int64_t>(last, number_of(r.number));
  std::size_t at = 0;
  for (const auto& [k, n] : counts_) {
    const std::size_t size = molecules_[static_cast<std::size_t>(k)].residues.size();
    if (size == 1)
      for (std::size_t copy = 0; copy < n; ++copy)
        s_.residues[at + copy].number = std::to_string(++last);
    at += n * size;
  }
}

/// Rows that no term names are left out: molecules that are not in the system have left them.
template <int N, int P>
void take(Terms<N, P>& t, const TopRows<P>& table) {
  if (table.rows.empty()) return;
  std::vector<std::int32_t> now(table.rows.size(), -1);
  for (const std::int32_t r : t.row) now[static_cast<std::size_t>(r)] = 0;
  for (std::size_t r = 0; r < now.size(); ++r)
    if (now[r] == 0) {
      now[r] = static_cast<std::int32_t>(t.rows.size());
      t.rows.push_back(table.rows[r]);
    }
  for (std::int32_t& r : t.row) r = now[static_cast<std::size_t>(r)];
}

void take(CorrectionMaps&, const NoRows&) {}
/// Maps in use, in the order of the force field.
void take(CorrectionMaps& c, const TopTypes& types) {
  if (c.row.empty()) return;
  c.points = types.cmap_points();
  const auto square = static_cast<std::size_t>(c.points) * static_cast<std::size_t>(c.points);
  std::vector<std::int32_t> now(types.maps().size() / square, -1);
  for (const std::int32_t r : c.row) now[static_cast<std::size_t>(r)] = 0;
  std::int32_t next = 0;
  for (std::size_t m = 0; m < now.size(); ++m)
    if (now[m] == 0) {
      now[m] = next++;
      c.maps.insert(c.maps.end(), types.maps().begin() + static_cast<std::ptrdiff_t>(m * square),
                    types.maps().begin() + static_cast<std::ptrdiff_t>((m + 1) * square));
    }
  for (std::int32_t& r : c.row) r = now[static_cast<std::size_t>(r)];
}

GromacsTopology TopReader::assemble() {
  if (atoms_ == 0) findings_.error(702, preprocessor_.end(), "the system has no atoms");
  if (options_.reference && options_.reference->x_nm.size() != atoms_)
    findings_.error(704, preprocessor_.end(),
                    fmt::format("the topology has {} atoms, the reference positions {}", atoms_,
                                options_.reference->x_nm.size()));
  findings_.throw_if_errors();
  lennard_jones();
  for (const auto& [k, n] : counts_) {
    if (n > 0) add(molecules_[static_cast<std::size_t>(k)], n);
    findings_.throw_if_errors();
  }
  std::vector<bool> there(molecules_.size(), false);
  for (const auto& [k, n] : counts_)
    if (n > 0) there[static_cast<std::size_t>(k)] = true;
  for (std::size_t k = 0; k < molecules_.size(); ++k)
    if (!there[k] && molecules_[k].at.source->parent == nullptr)
      findings_.note(723, molecules_[k].at,
                     "molecule " + shown(molecules_[k].name) + " is not in the system");
  name_residues();
  each_bonded([](const BondedKind&, auto& list, const auto& rows) { take(list, rows); }, s_,
              tables_);
  take(s_.cmap, types_);
  take(s_.constraints, tables_.constraints);
  take(s_.rigid_waters, tables_.rigid_waters);
  s_.coulomb_constant = options_.coulomb_constant;
  s_.title = title_;
  if (options_.constraints != Rigid::none)
    s_ = constrained(std::move(s_), options_.constraints, false);
  try {
    validate(s_);
  } catch (const Error& e) {
    findings_.error(702, preprocessor_.end(), e.what());
    findings_.throw_if_errors();
  }
  return {std::move(s_), preprocessor_.files(), findings_.take_remarks()};
}

}  // namespace

GromacsTopology read_top(data::TextFile text, const TopologyOptions& options) {
  return TopReader(std::move(text), options).read();
}
GromacsTopology read_top(const std::filesystem::path& path, const TopologyOptions& options) {
  return read_top(data::read_text_file(path), options);
}

}  // namespace tessera::molecular
