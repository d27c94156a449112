// SPDX-License-Identifier: Apache-2.0
#include "io/top_molecule.h"

#include "base/units.h"
#include "tessera/molecular/virtual_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace tessera::molecular {
namespace {

using data::shown;

std::size_t z(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::size_t TopMolecule::entries() const {
  std::size_t n = size() + connectivity.size() + exclusions.size() + constraints.row.size() +
                  rigid_waters.row.size() + restrained.size() + virtual_sites.size();
  each_bonded([&](const BondedKind&, const auto& list) { n += list.row.size(); }, *this);
  return n;
}

void TopMoleculeReader::read(std::string_view section, const TopLine& line, TopMolecule& m) {
  if (section == "atoms") return atoms(line, m);
  if (section == "bonds" || section == "constraints" || section == "angles" ||
      section == "dihedrals")
    return bonded(section, line, m);
  if (section == "cmap") return cmap(line, m);
  if (section == "pairs" || section == "pairs_nb") return pairs(section, line, m);
  if (section == "settles") return settles(line, m);
  if (section == "exclusions") return exclusions(line, m);
  if (section == "position_restraints") return position_restraints(line, m);
  if (section == "distance_restraints") return distance_restraints(line, m);
  if (section == "virtual_sitesn") return virtual_site_of_many(line, m);
  if (section.starts_with("virtual_sites")) return virtual_site(section, line, m);
  findings_.error(703, line[0], fmt::format("[ {} ] is not read", section),
                  "leave the section out");
  findings_.throw_if_errors();
}

void TopMoleculeReader::not_read(std::string_view section, const TopWord& at,
                                 std::int64_t function) {
  findings_.error(703, at,
                  fmt::format("function {} ({}) of [ {} ] is not read", function,
                              name_of_function(section, function), section));
}

void TopMoleculeReader::too_large(const TopWord& at) {
  findings_.error(702, at, "the parameters of this term are beyond the range of double precision");
}

void TopMoleculeReader::atoms(const TopLine& line, TopMolecule& m) {
  if (line.size() < 6)
    return findings_.error(
        701, line[0],
        "expected: number type residue-number residue atom charge-group [charge [mass]]");
  const auto number = findings_.integer(line[0], 1, std::numeric_limits<std::int32_t>::max(),
                                        "the number of an atom");
  if (!number) return;
  if (z(static_cast<std::int32_t>(*number)) != m.size() + 1)
    findings_.error(702, line[0],
                    fmt::format("atoms are numbered from 1 without gaps: expected {}, got {}",
                                m.size() + 1, *number));
  int type = types_.atom_type(line[1].text);
  if (type < 0) {
    findings_.error(723, line[1], "there is no atom type " + shown(line[1].text),
                    "include the force field's files before the molecule");
    if (types_.atom_types.empty()) return;
    type = 0;  // for the lines that follow
  }
  const TopAtomType& t = types_.atom_types[static_cast<std::size_t>(type)];
  if (t.particle != 'A' && t.particle != 'V')
    return findings_.error(703, line[1],
                           fmt::format("atom type {} is a particle of kind {}, which is not read",
                                       shown(t.name), t.particle),
                           "A (atoms) and V (virtual sites) are");
  if (t.w < 0 || (types_.defaults.combination == 1 && t.v < 0))
    return findings_.error(
        702, line[1],
        fmt::format("atom type {} has the Lennard-Jones parameters {} and {}: negative",
                    shown(t.name), t.v, t.w));
  (void)findings_.integer(line[5], std::numeric_limits<std::int32_t>::min(),
                          std::numeric_limits<std::int32_t>::max(), "the charge group");
  m.type.push_back(type);
  m.atom_name.emplace_back(line[4].text);
  m.charge.push_back(line.size() > 6 ? findings_.number(line[6]).value_or(0) : t.charge);
  m.mass.push_back(line.size() > 7 ? findings_.number(line[7]).value_or(0) : t.mass);
  if (m.mass.back() < 0)
    findings_.error(702, line.size() > 7 ? line[7] : line[1],
                    fmt::format("the mass {} is negative", m.mass.back()));
  if (t.particle == 'V' && m.mass.back() != 0)
    findings_.error(702, line.size() > 7 ? line[7] : line[1],
                    fmt::format("a virtual site has no mass, got {}", m.mass.back()));
  if (line.size() > 8) {
    const bool same = line[8].text == line[1].text &&
                      (line.size() < 10 || findings_.number(line[9]) == m.charge.back()) &&
                      (line.size() < 11 || findings_.number(line[10]) == m.mass.back());
    if (!same) findings_.b_state(line[8]);
  }
  const Residue r{std::string(line[3].text), std::string(line[2].text), "", ""};
  if (m.residues.empty() || m.residues.back() != r) m.residues.push_back(r);
  m.residue.push_back(static_cast<std::int32_t>(m.residues.size() - 1));
  m.atom_at.push_back(line[0]);
}

bool TopMoleculeReader::atoms_of(std::string_view section, const TopLine& line, std::size_t n,
                                 const TopMolecule& m, std::int32_t* out) {
  if (line.size() < n) {
    findings_.error(701, line.back(),
                    fmt::format("expected {} atoms in [ {} ], got {}", n, section, line.size()));
    return false;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const auto i =
        findings_.integer(line[k], 1, std::numeric_limits<std::int32_t>::max(), "an atom");
    if (!i) return false;
    out[k] = static_cast<std::int32_t>(*i - 1);
    if (z(out[k]) >= m.size()) {
      findings_.error(702, line[k],
                      fmt::format("[ {} ] names atom {}; molecule {} has {} atoms", section, *i,
                                  shown(m.name), m.size()));
      return false;
    }
    for (std::size_t j = 0; j < k; ++j)
      if (out[j] == out[k]) {
        findings_.error(702, line[k], fmt::format("[ {} ] names atom {} twice", section, *i));
        return false;
      }
  }
  return true;
}

void TopMoleculeReader::bonded(std::string_view section, const TopLine& line, TopMolecule& m) {
  const std::size_t n = section == "angles" ? 3 : section == "dihedrals" ? 4 : 2;
  std::array<std::int32_t, 4> a{-1, -1, -1, -1};
  if (!atoms_of(section, line, n, m, a.data())) return;
  if (line.size() == n)
    return findings_.error(701, line.back(),
                           fmt::format("expected the function after the atoms of [ {} ]", section));
  const auto function = findings_.integer(line[n], 1, 100, "the function");
  if (!function) return;
  if (section == "bonds" && *function == 5)
    return m.connectivity.push_back({std::min(a[0], a[1]), std::max(a[0], a[1])});
  const std::optional<TopKind> kind = kind_of(section, *function);
  if (!kind) return not_read(section, line[n], *function);
  const GromacsFunction& info = info_of(*kind);
  if (info.is_bond) m.connectivity.push_back({std::min(a[0], a[1]), std::max(a[0], a[1])});

  if (line.size() > n + 1) {
    std::array<double, 6> p{};
    if (findings_.parameters(line, n + 1, counts_of(*kind), p.data()))
      bonded_terms(*kind, -1, {a, p.data()}, line[n], m);
    return;
  }
  std::array<std::int32_t, 4> t{-1, -1, -1, -1};
  for (std::size_t k = 0; k < n; ++k)
    t[k] = types_.atom_types[static_cast<std::size_t>(m.type[z(a[k])])].bonded;
  const std::vector<int> found = types_.find(*kind, t);
  if (found.empty()) {
    std::string names;
    for (std::size_t k = 0; k < n; ++k) names.append(k ? "-" : "").append(types_.bonded_name(t[k]));
    return findings_.error(
        723, line[0],
        fmt::format("the force field has no parameters of [ {} ] function {} for the types {}",
                    section, *function, names),
        "add them to the force field, or to this line");
  }
  for (const int e : found)
    bonded_terms(*kind, e, {a, types_.entry(*kind, e).p.data()}, line[n], m);
}

namespace {

/// The first entries of an array.
template <std::size_t N, class T, std::size_t M>
std::array<T, N> leading(const std::array<T, M>& a) {
  std::array<T, N> out;
  std::copy_n(a.begin(), N, out.begin());
  return out;
}
template <int N, int P>
void add_term(TopTerms<N>& terms, TopRows<P>& rows, std::int64_t source, const GromacsTerm& t) {
  if constexpr (N <= 4 && P <= 6)
    terms.add(leading<static_cast<std::size_t>(N)>(t.atoms),
              rows.row(source, leading<static_cast<std::size_t>(P)>(t.row)));
}
void add_term(TopTerms<8>&, NoRows&, std::int64_t, const GromacsTerm&) {}  // not of one line

}  // namespace

void TopMoleculeReader::bonded_terms(TopKind kind, int entry, const GromacsLine& line,
                                     const TopWord& at, TopMolecule& m) {
  std::vector<GromacsTerm> terms;
  if (std::string wrong = info_of(kind).read(line, terms); !wrong.empty())
    return findings_.error(702, at, std::move(wrong));
  // Rows are told apart by the kind of their entry too: dihedrals of functions 1 and 5, say, share
  // no list.
  const std::int64_t source = entry < 0
                                  ? -1
                                  : entry * static_cast<std::int64_t>(gromacs_functions().size()) +
                                        static_cast<std::int64_t>(kind);
  for (const GromacsTerm& t : terms)
    if (!t.kind)
      add_term(m.constraints, tables_.constraints, source, t);
    else
      each_bonded(
          [&](const BondedKind& of, auto& list, auto& rows) {
            if (of.gives(*t.kind)) add_term(list, rows, source, t);
          },
          m, tables_);
}

void TopMoleculeReader::cmap(const TopLine& line, TopMolecule& m) {
  std::array<std::int32_t, 5> a{}, t{};
  if (!atoms_of("cmap", line, 5, m, a.data())) return;
  if (line.size() == 5)
    return findings_.error(701, line.back(), "expected the function after the atoms of [ cmap ]");
  const auto function = findings_.integer(line[5], 1, 100, "the function");
  if (!function) return;
  if (*function != 1) return not_read("cmap", line[5], *function);
  if (line.size() > 6)
    return findings_.error(701, line[6],
                           "a map stands in [ cmaptypes ], not on a line of [ cmap ]");
  for (std::size_t k = 0; k < 5; ++k)
    t[k] = types_.atom_types[static_cast<std::size_t>(m.type[z(a[k])])].bonded;
  const int map = types_.cmap(t);
  if (map < 0) {
    std::string names;
    for (std::size_t k = 0; k < 5; ++k) names.append(k ? "-" : "").append(types_.bonded_name(t[k]));
    return findings_.error(
        723, line[0],
        fmt::format("the force field has no [ cmaptypes ] for the types {} in this order", names));
  }
  m.cmap.add({a[0], a[1], a[2], a[3], a[1], a[2], a[3], a[4]}, map);
}

void TopMoleculeReader::pairs(std::string_view section, const TopLine& line, TopMolecule& m) {
  std::array<std::int32_t, 2> a{};
  if (!atoms_of(section, line, 2, m, a.data())) return;
  if (line.size() == 2)
    return findings_.error(701, line.back(),
                           fmt::format("expected the function after the atoms of [ {} ]", section));
  const auto function = findings_.integer(line[2], 1, 100, "the function");
  if (!function) return;
  const bool apart = section == "pairs_nb";
  if (*function > (apart ? 1 : 2)) return not_read(section, line[2], *function);
  const int i = m.type[z(a[0])], j = m.type[z(a[1])];
  double p[5] = {};
  if (apart || *function == 2) {  // charges of their own: [fudge] q_i q_j V W
    const int n = apart ? 4 : 5;
    if (line.size() == 3)
      return findings_.error(
          701, line.back(),
          fmt::format("expected {}charges and Lennard-Jones parameters of [ {} ] function {}",
                      apart ? "" : "the factor, ", section, *function));
    if (!findings_.parameters(line, 3, {n, 0}, p)) return;
    const double qq = apart ? p[0] * p[1] : p[0] * p[1] * p[2];
    const auto [c6, c12] = types_.c6_c12(p[n - 2], p[n - 1]);
    if (!std::isfinite(c6) || !std::isfinite(c12) || !std::isfinite(qq)) return too_large(line[2]);
    m.pairs.add(a, tables_.pairs.row(-1, {c6, c12, 0, qq}));
    return;
  }
  std::int64_t source = -1;
  if (line.size() > 3) {
    if (!findings_.parameters(line, 3, {2, 2}, p)) return;
  } else {
    const auto vw = types_.pair(i, j);
    if (!vw)
      return findings_.error(
          723, line[0],
          fmt::format("there is no pair type of {} and {}, and gen-pairs is off",
                      shown(types_.atom_types[static_cast<std::size_t>(i)].name),
                      shown(types_.atom_types[static_cast<std::size_t>(j)].name)),
          "add it to [ pairtypes ], or write V and W on this line");
    p[0] = (*vw)[0];
    p[1] = (*vw)[1];
    source = std::min(i, j) * static_cast<std::int64_t>(types_.atom_types.size()) + std::max(i, j);
  }
  const auto [c6, c12] = types_.c6_c12(p[0], p[1]);
  if (!std::isfinite(c6) || !std::isfinite(c12)) return too_large(line[2]);
  m.pairs.add(a, tables_.pairs.row(source, {c6, c12, types_.defaults.fudge_qq, 0}));
}

void TopMoleculeReader::settles(const TopLine& line, TopMolecule& m) {
  std::array<std::int32_t, 3> a{};
  if (!atoms_of("settles", line, 1, m, a.data())) return;
  if (line.size() < 4)
    return findings_.error(701, line.back(), "expected: oxygen function d(O-H) d(H-H)");
  const auto function = findings_.integer(line[1], 1, 100, "the function");
  if (!function) return;
  if (*function != 1) return not_read("settles", line[1], *function);
  double d[2] = {};
  if (!findings_.parameters(line, 2, {2, 0}, d)) return;
  const auto [oh, hh] = d;
  if (z(a[0]) + 2 >= m.size())
    return findings_.error(
        702, line[0],
        fmt::format("the hydrogens of a rigid water follow its oxygen; molecule {} has {} atoms",
                    shown(m.name), m.size()));
  if (!(oh > 0 && hh > 0 && hh < 2 * oh))
    return findings_.error(702, line[2],
                           fmt::format("{} and {} nm are no sides of a triangle", oh, hh));
  a[1] = a[0] + 1;
  a[2] = a[0] + 2;
  const auto next = m.oxygens.lower_bound(a[0] - 2);
  if (next != m.oxygens.end() && *next <= a[0] + 2)
    return findings_.error(702, line[0], "two rigid waters share atoms");
  m.oxygens.insert(a[0]);
  m.rigid_waters.add(a, tables_.rigid_waters.row(-1, {oh, hh}));
  m.connectivity.push_back({a[0], a[1]});
  m.connectivity.push_back({a[0], a[2]});
}

void TopMoleculeReader::exclusions(const TopLine& line, TopMolecule& m) {
  std::int32_t i = 0;
  if (!atoms_of("exclusions", line, 1, m, &i)) return;
  for (std::size_t k = 1; k < line.size(); ++k) {
    std::int32_t j = 0;
    const TopLine one = {line[k]};
    if (!atoms_of("exclusions", one, 1, m, &j)) return;
    if (i != j) m.exclusions.push_back({std::min(i, j), std::max(i, j)});
  }
}

void TopMoleculeReader::position_restraints(const TopLine& line, TopMolecule& m) {
  std::int32_t i = 0;
  if (!atoms_of("position_restraints", line, 1, m, &i)) return;
  if (line.size() < 2)
    return findings_.error(701, line.back(), "expected: atom function k_x k_y k_z");
  const auto function = findings_.integer(line[1], 1, 100, "the function");
  if (!function) return;
  if (*function != 1)
    return findings_.error(
        703, line[1], fmt::format("function {} of [ position_restraints ] is not read", *function),
        "1 is harmonic");
  double k[3] = {};
  if (line.size() == 2)
    return findings_.error(701, line.back(), "expected k_x k_y k_z [kJ/mol/nm^2]");
  if (!findings_.parameters(line, 2, {3, 3}, k)) return;
  m.restrained.push_back({i, {k[0], k[1], k[2]}, line[0]});
}

void TopMoleculeReader::distance_restraints(const TopLine& line, TopMolecule& m) {
  std::array<std::int32_t, 2> a{};
  if (!atoms_of("distance_restraints", line, 2, m, a.data())) return;
  if (line.size() < 9)
    return findings_.error(701, line.back(),
                           "expected: i j type label type' lower upper1 upper2 factor");
  const auto label =
      findings_.integer(line[3], 0, std::numeric_limits<std::int32_t>::max(), "the label");
  double p[6] = {};  // label type' lower upper1 upper2 factor
  if (!label || !findings_.parameters(line, 3, {6, 6}, p)) return;
  const double* v = p + 2;
  if (distance_restraint_k_ == 0) {
    if (!told_distance_)
      findings_.note(
          703, line[0],
          "distance restraints are left out: as with disre = no, no force constant is set",
          "bonds of function 6 hold pairs by springs of their own; a force constant for "
          "these is given in C++ alone (TopologyOptions::distance_restraint_k)");
    told_distance_ = true;
    return;
  }
  if (!m.labels.insert(*label).second)
    return findings_.error(
        703, line[3],
        fmt::format("several pairs of the label {} are one restraint on a mean of their distances "
                    "(r^-6), which is not read",
                    *label),
        "a label of its own for each pair restrains each");
  if (!(v[0] >= 0 && v[0] <= v[1] && v[1] <= v[2]))
    return findings_.error(702, line[5],
                           fmt::format("expected 0 <= lower <= upper1 <= upper2, got {}, {} and {}",
                                       v[0], v[1], v[2]));
  if (v[2] < 10 * v[1] + 10 && !told_linear_) {
    told_linear_ = true;
    findings_.warn(
        703, line[7],
        "beyond upper2 a distance restraint stays harmonic here, where GROMACS makes it linear");
  }
  m.distance_restraints.add(
      a, tables_.distance_restraints.row(-1, {v[0], v[1], v[3] * distance_restraint_k_}));
}

void TopMoleculeReader::finish(TopMolecule& m, std::size_t most) {
  std::ranges::sort(m.connectivity);
  m.connectivity.erase(std::unique(m.connectivity.begin(), m.connectivity.end()),
                       m.connectivity.end());
  std::vector<std::vector<std::int32_t>> near(m.size());
  for (const auto& [i, j] : m.connectivity) {
    near[z(i)].push_back(j);
    near[z(j)].push_back(i);
  }
  std::vector<std::int32_t> seen(m.size(), -1), reached;
  // Bonds of one atom to all others would exclude all pairs: a file of n lines may not ask for n^2.
  const std::size_t bound = std::min(most, 1'000'000 + m.exclusions.size() + 1000 * m.size());
  std::size_t steps = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    const auto self = static_cast<std::int32_t>(i);
    reached.assign(1, self);
    seen[i] = self;
    std::size_t begin = 0;
    for (int bond = 0; bond < m.bonds_excluded && begin < reached.size(); ++bond) {
      const std::size_t end = reached.size();
      for (std::size_t k = begin; k < end; ++k)
        for (const std::int32_t j : near[z(reached[k])]) {
          ++steps;
          if (seen[z(j)] == self) continue;
          seen[z(j)] = self;
          reached.push_back(j);
        }
      begin = end;
    }
    for (const std::int32_t j : reached)
      if (j > self) m.exclusions.push_back({self, j});
    if (m.exclusions.size() > bound || steps / 64 > bound) {
      findings_.error(
          702, m.at,
          fmt::format("the bonds of molecule {} exclude more than {} pairs within {} bonds",
                      shown(m.name), bound, m.bonds_excluded),
          "is nrexcl right?");
      findings_.throw_if_errors();
    }
  }
  std::ranges::sort(m.exclusions);
  m.exclusions.erase(std::unique(m.exclusions.begin(), m.exclusions.end()), m.exclusions.end());

  if (!order_virtual_sites(m.virtual_sites, m.size()))
    findings_.error(702, m.at,
                    "virtual sites of molecule " + shown(m.name) + " are made from each other");
  std::vector<char> placed(m.size(), 0);
  for (const VirtualSite& v : m.virtual_sites) placed[z(v.site)] = 1;
  for (std::size_t i = 0; i < m.size(); ++i) {
    const TopAtomType& t = types_.atom_types[static_cast<std::size_t>(m.type[i])];
    if (t.particle == 'V' && !placed[i])
      findings_.error(
          701, m.atom_at[i],
          fmt::format("virtual site {} of molecule {} has no position", i + 1, shown(m.name)),
          "a line of [ virtual_sites ] says where it lies");
    // As in GROMACS, a site may be of a type of atoms.
    if (t.particle == 'A' && placed[i] && m.mass[i] != 0)
      findings_.error(702, m.atom_at[i],
                      fmt::format("atom {} of molecule {} is a virtual site, but has the mass {}",
                                  i + 1, shown(m.name), m.mass[i]),
                      "a virtual site has the mass 0, or a type of particle V");
  }
}

}  // namespace tessera::molecular
