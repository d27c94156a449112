// SPDX-License-Identifier: Apache-2.0
#include "io/top_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

namespace tessera::molecular {
namespace {

using data::shown;

constexpr std::size_t most_terms = 100;  // of one dihedral: multiplicities are 100 at the most

std::string read_constraint(const GromacsLine& l, std::vector<GromacsTerm>& terms) {
  if (!(l.p[0] > 0))
    return fmt::format("a constraint has the length {} nm; it must be positive", l.p[0]);
  terms.push_back({std::nullopt, l.atoms, {l.p[0]}});
  return {};
}
const RegisterGromacs constraint({.section = "constraints",
                                  .function = 1,
                                  .atoms = 2,
                                  .parameters = 1,
                                  .read = read_constraint,
                                  .is_bond = true});
const RegisterGromacs constraint_apart({.section = "constraints",
                                        .function = 2,
                                        .atoms = 2,
                                        .parameters = 1,
                                        .read = read_constraint});

struct OtherFunction {
  const char* section;
  int function;
  const char* name;
};
constexpr OtherFunction other_functions[] = {
    {"bonds", 2, "GROMOS-96 quartic bond"},
    {"bonds", 3, "Morse"},
    {"bonds", 4, "cubic bond"},
    {"bonds", 7, "FENE"},
    {"bonds", 8, "tabulated bond"},
    {"bonds", 9, "tabulated bond"},
    {"bonds", 10, "restraint potential"},
    {"angles", 2, "GROMOS-96 cosine angle"},
    {"angles", 3, "cross bond-bond"},
    {"angles", 4, "cross bond-angle"},
    {"angles", 6, "quartic angle"},
    {"angles", 8, "tabulated angle"},
    {"angles", 9, "linear angle"},
    {"angles", 10, "restricted bending"},
    {"dihedrals", 8, "tabulated dihedral"},
    {"dihedrals", 10, "restricted dihedral"},
    {"dihedrals", 11, "combined bending-torsion"},
    {"pairs", 3, "unknown"},
    {"virtual_sites4", 1, "4fd"},
};

/// The same types read from either end.
std::array<std::int32_t, 4> normal(std::array<std::int32_t, 4> t, int n) {
  std::array<std::int32_t, 4> r = t;
  std::reverse(r.begin(), r.begin() + n);
  return std::min(t, r);
}

bool is_digit(std::string_view s) {
  return s.size() == 1 && std::isdigit(static_cast<unsigned char>(s[0]));
}
bool is_letter(std::string_view s) {
  return s.size() == 1 && std::isalpha(static_cast<unsigned char>(s[0]));
}

}  // namespace

std::optional<TopKind> kind_of(std::string_view section, std::int64_t function) {
  const std::vector<GromacsFunction>& all = gromacs_functions();
  for (TopKind k = 0; k < all.size(); ++k)
    if (section == all[k].section && (function == all[k].function || function == all[k].also))
      return k;
  return std::nullopt;
}

const char* name_of_function(std::string_view section, std::int64_t function) {
  for (const OtherFunction& o : other_functions)
    if (section == o.section && function == o.function) return o.name;
  return "unknown";
}

void TopTypes::expect_finite(double v, double w, const TopWord& at) {
  const auto [c6, c12] = c6_c12(v, w);
  if (!std::isfinite(c6) || !std::isfinite(c12))
    findings_.error(
        702, at,
        fmt::format(
            "the Lennard-Jones parameters {} and {} are beyond the range of double precision", v,
            w));
}

void TopTypes::read_defaults(const TopLine& line) {
  if (defaults.combination != 0)
    return findings_.error(701, line[0], "[ defaults ] is given twice",
                           "take one of the force fields out");
  if (line.size() < 2)
    return findings_.error(701, line[0],
                           "expected the non-bonded function and the combination rule");
  const auto function = findings_.integer(line[0], 1, 2, "the non-bonded function"),
             rule = findings_.integer(line[1], 1, 3, "the combination rule");
  if (!function || !rule) return;
  if (*function == 2)
    return findings_.error(703, line[0], "Buckingham potentials are not read",
                           "take a force field with Lennard-Jones (function 1)");
  defaults.combination = static_cast<int>(*rule);
  if (line.size() > 2) {
    const std::string yes = data::upper(line[2].text);
    if (yes != "YES" && yes != "NO" && yes != "Y" && yes != "N")
      findings_.error(702, line[2], "gen-pairs is yes or no, got " + shown(line[2].text));
    defaults.generate_pairs = yes.starts_with('Y');
  }
  if (line.size() > 3) defaults.fudge_lj = findings_.number(line[3]).value_or(1);
  if (line.size() > 4) defaults.fudge_qq = findings_.number(line[4]).value_or(1);
  if (line.size() > 5 && findings_.number(line[5]).value_or(12) != 12)
    findings_.error(703, line[5], "a repulsion other than r^-12 is not read");
}

void TopTypes::read_atom_type(const TopLine& line) {
  // name [bonded name] [atomic number] mass charge particle V W: where the particle's letter stands
  // tells which are there.
  std::size_t at = 0;
  for (const std::size_t k : {5U, 3U, 4U})
    if (at == 0 && line.size() > k && is_letter(line[k].text)) at = k;
  if (at == 0 || line.size() < at + 3) {
    findings_.error(701, line[0],
                    "expected: type [bonded type] [atomic number] mass charge particle V W",
                    "the particle is A, V or S");
    return;
  }
  TopAtomType t;
  t.name = line[0].text;
  const bool bonded =
      at == 5 || (at == 4 && std::isalpha(static_cast<unsigned char>(line[1].text.front())));
  t.bonded = bonded_number(bonded ? line[1].text : line[0].text);
  if (at == 5 || (at == 4 && !bonded))
    t.element =
        static_cast<int>(findings_.integer(line[at - 3], -1, 200, "an atomic number").value_or(-1));
  t.mass = findings_.number(line[at - 2]).value_or(0);
  t.charge = findings_.number(line[at - 1]).value_or(0);
  t.particle = static_cast<char>(std::toupper(static_cast<unsigned char>(line[at].text[0])));
  if (t.particle == 'D') t.particle = 'V';
  if (std::string_view("AVSBN").find(t.particle) == std::string_view::npos)
    findings_.error(702, line[at],
                    "the particle is A (atom), V or D (virtual site), got " + shown(line[at].text));
  double vw[2];
  if (!findings_.parameters(line, at + 1, {2, 0}, vw)) return;
  t.v = vw[0];
  t.w = vw[1];
  expect_finite(vw[0], vw[1], line[at + 1]);
  const auto [known, fresh] =
      atom_type_of_.try_emplace(t.name, static_cast<int>(atom_types.size()));
  if (fresh) {
    atom_types.push_back(t);
  } else if (TopAtomType& old = atom_types[static_cast<std::size_t>(known->second)]; old != t) {
    findings_.warn(723, line[0],
                   "atom type " + shown(t.name) +
                       " was given before with other values; the later ones are taken");
    old = t;
  }
}

int TopTypes::atom_type(std::string_view name) const {
  const auto at = atom_type_of_.find(std::string(name));
  return at == atom_type_of_.end() ? -1 : at->second;
}

int TopTypes::bonded_number(std::string_view name) {
  const auto [at, fresh] =
      bonded_of_.try_emplace(std::string(name), static_cast<int>(bonded_names_.size()));
  if (fresh) bonded_names_.emplace_back(name);
  return at->second;
}

void TopTypes::read_type_pair(const TopLine& line, const char* what, int n_b,
                              std::map<std::array<int, 2>, std::array<double, 2>>& into) {
  if (line.size() < 3)
    return findings_.error(
        701, line[0],
        fmt::format("expected two atom types, the function and parameters of a {}", what));
  std::array<int, 2> t{};
  for (std::size_t k = 0; k < 2; ++k)
    if ((t[k] = atom_type(line[k].text)) < 0)
      return findings_.error(723, line[k], "there is no atom type " + shown(line[k].text));
  const auto function = findings_.integer(line[2], 1, 2, "the function");
  if (!function) return;
  if (*function != 1)
    return findings_.error(703, line[2],
                           fmt::format("function {} of a {} is not read", *function, what),
                           "1 is Lennard-Jones");
  std::array<double, 2> vw;
  if (!findings_.parameters(line, 3, {2, n_b}, vw.data())) return;
  expect_finite(vw[0], vw[1], line[3]);
  const auto [at, fresh] = into.try_emplace({std::min(t[0], t[1]), std::max(t[0], t[1])}, vw);
  if (fresh || at->second == vw) return;
  findings_.warn(
      723, line[0],
      fmt::format(
          "the {} of {} and {} was given before with other values; the later ones are taken", what,
          shown(line[0].text), shown(line[1].text)));
  at->second = vw;
}
void TopTypes::read_pair_type(const TopLine& line) { read_type_pair(line, "pair type", 2, pairs_); }
void TopTypes::read_nonbonded(const TopLine& line) {
  read_type_pair(line, "non-bonded pair", 0, nonbonded_);
}

void TopTypes::read_bonded(std::string_view section, const TopLine& line) {
  const std::size_t n = section == "angles" ? 3 : 2;
  if (line.size() <= n)
    return findings_.error(701, line[0],
                           fmt::format("expected {} types, the function and its parameters", n));
  const auto function = findings_.integer(line[n], 1, 20, "the function");
  const std::optional<TopKind> kind = function ? kind_of(section, *function) : std::nullopt;
  if (!kind) return;  // a force field may hold more than its molecules use
  std::array<double, 6> p{};
  if (!findings_.parameters(line, n + 1, counts_of(*kind), p.data())) return;
  Key types{-1, -1, -1, -1};
  for (std::size_t k = 0; k < n; ++k) types[k] = bonded_number(line[k].text);
  add(*kind, types, p, false, line[0]);
}

void TopTypes::read_dihedral(const TopLine& line) {
  // Four types, or the two in the middle (function 2: the two at the ends), then the function.
  const bool two = line.size() > 2 && is_digit(line[2].text),
             four = !two && line.size() > 4 && line[4].text.size() <= 2 &&
                    is_digit(line[4].text.substr(0, 1));
  if (!two && !four)
    return findings_.error(
        701, line[0], "expected four types (or two) of a dihedral, then the function as one digit");
  const std::size_t at = two ? 2 : 4;
  const auto function = findings_.integer(line[at], 1, 20, "the function");
  const std::optional<TopKind> kind = function ? kind_of("dihedrals", *function) : std::nullopt;
  if (!kind) return;
  const auto type = [&](std::size_t k) {
    return line[k].text == "X" ? -1 : bonded_number(line[k].text);
  };
  const Key types = four             ? Key{type(0), type(1), type(2), type(3)}
                    : *function == 2 ? Key{type(0), -1, -1, type(1)}
                                     : Key{-1, type(0), type(1), -1};
  std::array<double, 6> p{};
  if (findings_.parameters(line, at + 1, counts_of(*kind), p.data()))
    add(*kind, types, p, *function == 9, line[0]);
}

void TopTypes::read_cmap(const TopLine& line) {
  // Five bonded types, the function, points along phi and psi, then the values: psi runs fastest,
  // both from -180 degrees.
  if (line.size() < 8)
    return findings_.error(
        701, line.back(),
        "expected five types, the function, the points along either dihedral, then the map");
  const auto function = findings_.integer(line[5], 1, 20, "the function");
  const auto n = findings_.integer(line[6], 4, 1000, "the points along the first dihedral"),
             m = findings_.integer(line[7], 4, 1000, "the points along the second dihedral");
  if (!function || !n || !m) return;
  if (*function != 1)
    return findings_.error(703, line[5],
                           fmt::format("function {} of a correction map is not read", *function),
                           "1 is the map on two dihedrals");
  if (*n != *m)
    return findings_.error(703, line[7],
                           fmt::format("a map of {} by {} points is not read", *n, *m),
                           "as many along either dihedral, as GROMACS wants it");
  if (cmap_points_ != 0 && cmap_points_ != *n)
    return findings_.error(
        703, line[6],
        fmt::format("maps of {} and of {} points are not read together", cmap_points_, *n),
        "GROMACS wants all maps of one size");
  const auto values = static_cast<std::size_t>(*n * *n);
  if (line.size() != 8 + values)
    return findings_.error(
        701, line.back(),
        fmt::format("expected {} values of the map, got {}", values, line.size() - 8),
        "does a line end without its backslash?");
  cmap_points_ = static_cast<int>(*n);
  std::array<std::int32_t, 5> types{};
  for (std::size_t k = 0; k < 5; ++k) types[k] = bonded_number(line[k].text);
  if (!cmaps_.try_emplace(types, static_cast<int>(maps_.size() / values)).second)
    return findings_.warn(
        723, line[0],
        "these types were given a map before; the first one is taken, as GROMACS does");
  for (std::size_t k = 0; k < values; ++k)
    maps_.push_back(findings_.number(line[8 + k]).value_or(0));
}

int TopTypes::cmap(const std::array<std::int32_t, 5>& types) const {
  const auto at = cmaps_.find(types);
  return at == cmaps_.end() ? -1 : at->second;
}

void TopTypes::add(TopKind kind, const Key& types, const std::array<double, 6>& p, bool repeats,
                   const TopWord& at) {
  List& list = lists_[kind];
  std::vector<int>& same = list.by_types[normal(types, info_of(kind).atoms)];
  const bool follows = repeats && !list.entries.empty() && list.entries.back().types == types;
  if (same.size() >= most_terms)
    return findings_.error(702, at, fmt::format("more than {} terms of one dihedral", most_terms));
  bool known = false;
  for (const int k : same) {
    TopEntry& e = list.entries[static_cast<std::size_t>(k)];
    known = known || e.p == p;
    if (e.p == p || follows) continue;
    if (repeats)
      return findings_.error(
          702, at, "a second block of lines for the same types of a dihedral of function 9",
          "lines of one dihedral stand together, as GROMACS wants it");
    findings_.warn(723, at,
                   "these types were given before with other parameters; the later ones are taken");
    e.p = p;
    known = true;
  }
  if (known || (!repeats && !same.empty())) return;
  same.push_back(static_cast<int>(list.entries.size()));
  list.entries.push_back({types, p});
}

std::vector<int> TopTypes::find(TopKind kind, const Key& types) {
  List& list = lists_[kind];
  const int n = info_of(kind).atoms;
  const Key key = normal(types, n);
  if (n < 4) {
    const auto at = list.by_types.find(key);
    return at == list.by_types.end() ? std::vector<int>{} : std::vector<int>{at->second.front()};
  }
  const auto [answer, fresh] = list.found.try_emplace(key);
  if (!fresh) return answer->second;
  // The first entry with the most types that are not wildcards; further lines of it follow. Each
  // set of wildcards is looked up.
  int best = -1;
  std::size_t first = 0;
  for (unsigned wild = 0; wild < 16; ++wild) {
    Key with = key;
    for (std::size_t k = 0; k < 4; ++k)
      if (wild >> k & 1U) with[k] = -1;
    const auto at = list.by_types.find(normal(with, 4));
    const int named = 4 - std::popcount(wild);
    if (at == list.by_types.end() || at->second.empty() || named < best) continue;
    const auto k = static_cast<std::size_t>(at->second.front());
    if (named > best || k < first) first = k;
    best = named;
  }
  if (best >= 0)
    for (std::size_t k = first;
         k < list.entries.size() && list.entries[k].types == list.entries[first].types; ++k)
      answer->second.push_back(static_cast<int>(k));
  return answer->second;
}

std::optional<std::array<double, 2>> TopTypes::pair(int i, int j) const {
  const auto at = pairs_.find({std::min(i, j), std::max(i, j)});
  if (at != pairs_.end()) return at->second;
  if (!defaults.generate_pairs) return std::nullopt;
  std::array<double, 2> vw = nonbonded_exception(i, j).value_or(combined(i, j));
  vw[1] *= defaults.fudge_lj;
  if (defaults.combination == 1) vw[0] *= defaults.fudge_lj;
  return vw;
}

std::optional<std::array<double, 2>> TopTypes::nonbonded_exception(int i, int j) const {
  const auto at = nonbonded_.find({std::min(i, j), std::max(i, j)});
  return at == nonbonded_.end() ? std::nullopt : std::optional(at->second);
}

std::array<double, 2> TopTypes::c6_c12(double v, double w) const {
  if (defaults.combination == 1) return {v, w};
  const double s6 = std::pow(std::abs(v), 6);
  return {v >= 0 ? 4 * w * s6 : 0, 4 * w * s6 * s6};
}

std::array<double, 2> TopTypes::combined(int i, int j) const {
  const TopAtomType &a = atom_types[static_cast<std::size_t>(i)],
                    &b = atom_types[static_cast<std::size_t>(j)];
  if (defaults.combination == 1) return {std::sqrt(a.v * b.v), std::sqrt(a.w * b.w)};
  const double sign = a.v < 0 || b.v < 0 ? -1 : 1, u = std::abs(a.v), v = std::abs(b.v);
  return {sign * (defaults.combination == 2 ? 0.5 * (u + v) : std::sqrt(u * v)),
          std::sqrt(a.w * b.w)};
}

}  // namespace tessera::molecular
