// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/system.h"

#include "system/joining_bonds.h"
#include "system/virtual_site_formula.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/joined_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

[[noreturn]] void system_fault(const std::string& what) { throw Error("[system] " + what); }

template <int N, int P>
void check(const char* name, const Terms<N, P>& t, std::size_t n) {
  if (t.row.size() != t.atoms.size())
    system_fault(fmt::format("{}: {} terms name {} rows", name, t.atoms.size(), t.row.size()));
  for (std::size_t k = 0; k < t.size(); ++k) {
    if (t.row[k] < 0 || static_cast<std::size_t>(t.row[k]) >= t.rows.size())
      system_fault(fmt::format("{}: term {} names row {} of {}", name, k, t.row[k], t.rows.size()));
    for (int i = 0; i < N; ++i) {
      const auto a = t.atoms[k][static_cast<std::size_t>(i)];
      if (a < 0 || static_cast<std::size_t>(a) >= n)
        system_fault(fmt::format("{}: term {} names atom {} of {}", name, k, a, n));
      for (int j = 0; j < i; ++j)
        if (t.atoms[k][static_cast<std::size_t>(j)] == a)
          system_fault(fmt::format("{}: term {} names atom {} twice", name, k, a));
    }
  }
  for (const auto& row : t.rows)
    for (const double v : row)
      if (!std::isfinite(v)) system_fault(fmt::format("{}: a parameter is not finite", name));
}

void check(const char* name, const CorrectionMaps& c, std::size_t n) {
  if (c.points < 4)
    system_fault(
        fmt::format("{}: maps of {} points a side; at least 4 make a spline", name, c.points));
  const auto square = static_cast<std::size_t>(c.points) * static_cast<std::size_t>(c.points);
  if (c.maps.size() % square != 0)
    system_fault(fmt::format("{}: {} values are no maps of {} points a side", name, c.maps.size(),
                             c.points));
  if (c.row.size() != c.atoms.size())
    system_fault(fmt::format("{}: {} terms name {} maps", name, c.atoms.size(), c.row.size()));
  for (std::size_t k = 0; k < c.size(); ++k) {
    if (c.row[k] < 0 || static_cast<std::size_t>(c.row[k]) >= c.n_maps())
      system_fault(fmt::format("{}: term {} names map {} of {}", name, k, c.row[k], c.n_maps()));
    for (std::size_t i = 0; i < 8; ++i) {
      const auto a = c.atoms[k][i];
      if (a < 0 || static_cast<std::size_t>(a) >= n)
        system_fault(fmt::format("{}: term {} names atom {} of {}", name, k, a, n));
      for (std::size_t j = i / 4 * 4; j < i; ++j)
        if (c.atoms[k][j] == a)
          system_fault(fmt::format("{}: term {} names atom {} twice in one dihedral", name, k, a));
    }
  }
  for (const double v : c.maps)
    if (!std::isfinite(v)) system_fault(fmt::format("{}: a value of a map is not finite", name));
}

void check_pairs(const char* name, const std::vector<std::array<std::int32_t, 2>>& pairs,
                 std::size_t n) {
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = pairs[k];
    if (i < 0 || i >= j || static_cast<std::size_t>(j) >= n)
      system_fault(
          fmt::format("{}: pair {} is ({}, {}) of {} atoms; expected i < j", name, k, i, j, n));
    if (k > 0 && !(pairs[k - 1] < pairs[k]))
      system_fault(fmt::format("{}: pairs must be sorted and unique, see ({}, {})", name, i, j));
  }
}

/// Neighbours by bonds, as one list with offsets.
struct Graph {
  std::vector<std::size_t> first;
  std::vector<std::int32_t> next;
};
Graph graph_of(std::size_t n, const std::vector<std::array<std::int32_t, 2>>& bonds) {
  Graph g{std::vector<std::size_t>(n + 1, 0), std::vector<std::int32_t>(2 * bonds.size())};
  for (const auto& b : bonds)
    for (const auto a : b) ++g.first[static_cast<std::size_t>(a) + 1];
  std::partial_sum(g.first.begin(), g.first.end(), g.first.begin());
  std::vector<std::size_t> at(g.first.begin(), g.first.end() - 1);
  for (const auto& [i, j] : bonds) {
    g.next[at[static_cast<std::size_t>(i)]++] = j;
    g.next[at[static_cast<std::size_t>(j)]++] = i;
  }
  return g;
}

}  // namespace

LennardJones mixed(LennardJones::Mixing mixing, std::vector<double> sigma,
                   std::vector<double> epsilon) {
  if (sigma.size() != epsilon.size())
    system_fault(
        fmt::format("Lennard-Jones: {} sigmas and {} epsilons", sigma.size(), epsilon.size()));
  if (mixing == LennardJones::Mixing::tables)
    system_fault("Lennard-Jones: tables do not follow from types; name a mixing rule");
  LennardJones lj;
  const std::size_t n = sigma.size();
  lj.types = static_cast<int>(n);
  lj.mixing = mixing;
  lj.c6.resize(n * n);
  lj.c12.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double s = mixing == LennardJones::Mixing::geometric ? std::sqrt(sigma[i] * sigma[j])
                                                                 : 0.5 * (sigma[i] + sigma[j]);
      const double e = std::sqrt(epsilon[i] * epsilon[j]), s6 = std::pow(s, 6);
      lj.c6[i * n + j] = 4 * e * s6;
      lj.c12[i * n + j] = 4 * e * s6 * s6;
    }
  lj.sigma_nm = std::move(sigma);
  lj.epsilon = std::move(epsilon);
  return lj;
}

void validate(const System& s) {
  const std::size_t n = s.n_atoms();
  const auto length = [&](const char* what, std::size_t got) {
    if (got != n) system_fault(fmt::format("{} {} for {} atoms", got, what, n));
  };
  length("names", s.atoms.name.size());
  length("type names", s.atoms.type.size());
  length("elements", s.atoms.element.size());
  length("charges", s.atoms.charge_e.size());
  length("Lennard-Jones types", s.atoms.lj_type.size());
  length("residue indices", s.atoms.residue.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (s.atoms.lj_type[i] < 0 || s.atoms.lj_type[i] >= s.lj.types)
      system_fault(fmt::format("atom {} has Lennard-Jones type {} of {}", i, s.atoms.lj_type[i],
                               s.lj.types));
    if (s.atoms.residue[i] < 0 || static_cast<std::size_t>(s.atoms.residue[i]) >= s.residues.size())
      system_fault(
          fmt::format("atom {} is in residue {} of {}", i, s.atoms.residue[i], s.residues.size()));
    if (!(s.atoms.mass_amu[i] >= 0) || !std::isfinite(s.atoms.mass_amu[i]))
      system_fault(fmt::format("atom {} has mass {} amu", i, s.atoms.mass_amu[i]));
    if (!std::isfinite(s.atoms.charge_e[i]))
      system_fault(fmt::format("atom {} has charge {} e", i, s.atoms.charge_e[i]));
  }
  const auto t = static_cast<std::size_t>(s.lj.types);
  if (s.lj.c6.size() != t * t || s.lj.c12.size() != t * t)
    system_fault(fmt::format("Lennard-Jones tables of {} types have {} and {} entries", t,
                             s.lj.c6.size(), s.lj.c12.size()));
  for (const auto* table : {&s.lj.c6, &s.lj.c12})
    for (const double v : *table)
      if (!std::isfinite(v)) system_fault("a Lennard-Jones parameter is not finite");
  each_bonded([&](const BondedKind& kind, const auto& list) { check(kind.words, list, n); }, s);
  check("constraints", s.constraints, n);
  check("rigid waters", s.rigid_waters, n);
  check_pairs("connectivity", s.connectivity, n);
  check_pairs("exclusions", s.exclusions, n);
  const auto inside = [&](std::int32_t a) { return a >= 0 && static_cast<std::size_t>(a) < n; };
  std::vector<bool> waits(n, false);  // for its position
  for (const VirtualSite& v : s.virtual_sites) {
    if (!inside(v.site)) system_fault(fmt::format("virtual site {} of {} atoms", v.site, n));
    if (waits[static_cast<std::size_t>(v.site)])
      system_fault(fmt::format("virtual site {} has two positions", v.site));
    waits[static_cast<std::size_t>(v.site)] = true;
  }
  for (const VirtualSite& v : s.virtual_sites) {
    if (s.atoms.mass_amu[static_cast<std::size_t>(v.site)] != 0)
      system_fault(fmt::format("virtual site {} has a mass", v.site));
    for (std::size_t k = 0; k < parents_of(v.kind); ++k)
      if (!inside(v.parents[k]) || v.parents[k] == v.site)
        system_fault(
            fmt::format("virtual site {} has parent {} of {} atoms", v.site, v.parents[k], n));
      else if (waits[static_cast<std::size_t>(v.parents[k])])
        system_fault(fmt::format(
            "virtual site {} is made from site {}, which has to stand before it in the list",
            v.site, v.parents[k]));
    waits[static_cast<std::size_t>(v.site)] = false;
  }
}

std::vector<std::array<std::int32_t, 2>> springs(const System& s) {
  std::vector<std::array<std::int32_t, 2>> out;
  const auto& r = s.distance_restraints;
  for (std::size_t k = 0; k < r.size(); ++k) {
    const auto& row = r.rows[static_cast<std::size_t>(r.row[k])];  // lower, upper, stiffness
    if (row[0] == row[1]) out.push_back(r.atoms[k]);
  }
  return out;
}

std::vector<std::int32_t> molecules(const System& s) {
  const std::size_t n = s.n_atoms();
  data::JoinedSets sets(n);
  for (const auto& [a, b] : joining_bonds(s)) sets.join(a, b);
  std::vector<std::int32_t> number(n, -1), out(n);
  std::int32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<std::size_t>(sets.set_of(static_cast<std::int32_t>(i)));
    if (number[r] < 0) number[r] = count++;
    out[i] = number[r];
  }
  return out;
}

std::vector<std::array<std::int32_t, 2>> within_bonds(const System& s, int bonds) {
  const std::size_t n = s.n_atoms();
  const Graph g = graph_of(n, s.connectivity);
  std::vector<std::array<std::int32_t, 2>> out;
  std::vector<std::int32_t> reached, seen(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    reached.assign(1, static_cast<std::int32_t>(i));
    seen[i] = static_cast<std::int32_t>(i);
    std::size_t begin = 0;
    for (int step = 0; step < bonds; ++step) {
      const std::size_t end = reached.size();
      for (std::size_t k = begin; k < end; ++k) {
        const auto a = static_cast<std::size_t>(reached[k]);
        for (std::size_t m = g.first[a]; m < g.first[a + 1]; ++m) {
          const auto next = static_cast<std::size_t>(g.next[m]);
          if (seen[next] == static_cast<std::int32_t>(i)) continue;
          seen[next] = static_cast<std::int32_t>(i);
          reached.push_back(g.next[m]);
        }
      }
      begin = end;
    }
    for (const std::int32_t j : reached)
      if (static_cast<std::size_t>(j) > i) out.push_back({static_cast<std::int32_t>(i), j});
  }
  std::ranges::sort(out);
  return out;
}

double net_charge_e(const System& s) {
  return std::accumulate(s.atoms.charge_e.begin(), s.atoms.charge_e.end(), 0.0);
}

std::string name_of_atom(const System& s, std::int32_t atom) {
  const auto i = static_cast<std::size_t>(atom);
  const Residue& r = s.residues[static_cast<std::size_t>(s.atoms.residue[i])];
  return fmt::format("{} ({} of {} {})", i + 1, s.atoms.name[i], r.name, r.number);
}

}  // namespace tessera::molecular
