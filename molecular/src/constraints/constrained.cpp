// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/molecular/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tessera::molecular {
namespace {

using AtomPair = std::array<std::int32_t, 2>;
AtomPair sorted(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

template <int N, int P>
void keep_if(Terms<N, P>& t, auto&& keep) {
  std::size_t out = 0;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (keep(t.atoms[k])) {
      t.atoms[out] = t.atoms[k];
      t.row[out++] = t.row[k];
    }
  t.atoms.resize(out);
  t.row.resize(out);
}

/// Forces of constraints move by mass.
void need_mass(const System& s, AtomPair pair) {
  for (const std::int32_t a : pair)
    if (!(s.atoms.mass_amu[static_cast<std::size_t>(a)] > 0))
      throw Error(fmt::format(
          "[constrained] the distance of atoms {} and {} cannot be rigid: atom {} {}", pair[0] + 1,
          pair[1] + 1, a + 1,
          std::ranges::any_of(s.virtual_sites, [&](const VirtualSite& v) { return v.site == a; })
              ? "is a virtual site"
              : "has no mass"));
}

}  // namespace

System constrained(System s, Rigid which, bool rigid_water) {
  std::map<AtomPair, double> length;  // of all bonds with a length
  for (std::size_t k = 0; k < s.bonds.size(); ++k)
    length.try_emplace(sorted(s.bonds.atoms[k][0], s.bonds.atoms[k][1]),
                       s.bonds.rows[static_cast<std::size_t>(s.bonds.row[k])][0]);
  std::map<std::array<std::int32_t, 3>, double> angle;  // at the middle atom
  for (std::size_t k = 0; k < s.angles.size(); ++k) {
    const auto& [a, b, c] = s.angles.atoms[k];
    angle[{std::min(a, c), b, std::max(a, c)}] =
        s.angles.rows[static_cast<std::size_t>(s.angles.row[k])][0];
  }
  const auto is_h = [&](std::int32_t a) {
    return s.atoms.element[static_cast<std::size_t>(a)] == 1;
  };
  const auto distance = [&](AtomPair e) {
    const auto at = length.find(e);
    return at == length.end() ? 0.0 : at->second;
  };
  /// Between a and c, from the bonds to b and the angle there; 0 where something is not known.
  const auto third_side = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
    const double u = distance(sorted(a, b)), v = distance(sorted(b, c));
    const auto at = angle.find({std::min(a, c), b, std::max(a, c)});
    return u > 0 && v > 0 && at != angle.end()
               ? std::sqrt(u * u + v * v - 2 * u * v * std::cos(at->second))
               : 0.0;
  };

  std::set<AtomPair> rigid;  // pairs that keep their distance
  std::set<std::int32_t> in_water;
  if (rigid_water) {
    std::vector<std::vector<std::int32_t>> near(
        s.n_atoms());  // without virtual sites, which some files bind to the oxygen
    std::vector<bool> is_site(s.n_atoms(), false);
    for (const VirtualSite& v : s.virtual_sites) is_site[static_cast<std::size_t>(v.site)] = true;
    for (const auto& [a, b] : s.connectivity) {
      if (is_site[static_cast<std::size_t>(a)] || is_site[static_cast<std::size_t>(b)]) continue;
      near[static_cast<std::size_t>(a)].push_back(b);
      near[static_cast<std::size_t>(b)].push_back(a);
    }
    std::map<std::array<double, 2>, std::int32_t> rows;
    for (std::size_t k = 0; k < s.rigid_waters.size(); ++k)
      for (const std::int32_t a : s.rigid_waters.atoms[k]) in_water.insert(a);
    for (std::size_t k = 0; k < s.rigid_waters.rows.size(); ++k)
      rows[s.rigid_waters.rows[k]] = static_cast<std::int32_t>(k);
    for (std::size_t i = 0; i < s.n_atoms(); ++i) {
      const auto o = static_cast<std::int32_t>(i);
      if (s.atoms.element[i] != 8 || near[i].size() != 2 || in_water.count(o)) continue;
      const std::int32_t h1 = near[i][0], h2 = near[i][1];
      // Some files bind the hydrogens to each other, to keep their distance.
      const auto only_in_water = [&](std::int32_t h, std::int32_t other) {
        return is_h(h) && std::ranges::all_of(near[static_cast<std::size_t>(h)],
                                              [&](std::int32_t a) { return a == o || a == other; });
      };
      if (!only_in_water(h1, h2) || !only_in_water(h2, h1)) continue;
      const double oh = distance(sorted(o, h1));
      double hh = distance(sorted(h1, h2));
      if (hh == 0) hh = third_side(h1, o, h2);
      if (!(oh > 0 && hh > 0) || oh != distance(sorted(o, h2)))
        throw Error(
            fmt::format("[constrained] the water of atom {} has no two equal O-H bonds and H-H "
                        "distance or angle: it cannot be rigid",
                        o + 1));
      const auto [at, fresh] =
          rows.try_emplace({oh, hh}, static_cast<std::int32_t>(s.rigid_waters.rows.size()));
      if (fresh) s.rigid_waters.rows.push_back({oh, hh});
      s.rigid_waters.atoms.push_back({o, h1, h2});
      s.rigid_waters.row.push_back(at->second);
      for (const std::int32_t a : {o, h1, h2}) in_water.insert(a);
    }
    for (const auto& [o, h1, h2] : s.rigid_waters.atoms)
      for (const AtomPair e : {sorted(o, h1), sorted(o, h2), sorted(h1, h2)}) rigid.insert(e);
  }

  std::map<double, std::int32_t> rows;
  for (std::size_t k = 0; k < s.constraints.rows.size(); ++k)
    rows[s.constraints.rows[k][0]] = static_cast<std::int32_t>(k);
  for (const auto& [a, b] : s.constraints.atoms) rigid.insert(sorted(a, b));
  const auto constrain = [&](AtomPair e, double d) {
    if (in_water.count(e[0]) || in_water.count(e[1]) || !rigid.insert(e).second) return;
    need_mass(s, e);
    const auto [at, fresh] =
        rows.try_emplace(d, static_cast<std::int32_t>(s.constraints.rows.size()));
    if (fresh) s.constraints.rows.push_back({d});
    s.constraints.atoms.push_back(e);
    s.constraints.row.push_back(at->second);
  };
  // Harmonic terms between atoms without a chemical bond are restraints, and stay (function 6 of
  // GROMACS's [ bonds ]).
  std::set<AtomPair> chemical;
  for (const auto& [a, b] : s.connectivity) chemical.insert(sorted(a, b));
  if (which != Rigid::none)
    for (const auto& [ends, d] : length)
      if (chemical.contains(ends) && (which != Rigid::h_bonds || is_h(ends[0]) || is_h(ends[1])))
        constrain(ends, d);
  // Of four hydrogens around one atom five distances make the sixth, which would leave the
  // constraints without a solution.
  constexpr int enough = 5;
  std::map<std::int32_t, int> around;
  if (which == Rigid::h_angles)
    for (const auto& [atoms, theta] : angle) {
      const auto& [a, b, c] = atoms;
      const bool two = is_h(a) && is_h(c),
                 hydroxyl =
                     (is_h(a) || is_h(c)) && s.atoms.element[static_cast<std::size_t>(b)] == 8;
      const double d = third_side(a, b, c);
      if ((two || hydroxyl) && d > 0 && around[b]++ < enough) constrain(sorted(a, c), d);
    }
  keep_if(s.bonds, [&](const auto& t) { return !rigid.count(sorted(t[0], t[1])); });
  keep_if(s.urey_bradley, [&](const auto& t) { return !rigid.count(sorted(t[0], t[1])); });
  keep_if(s.angles, [&](const auto& t) {
    return !(rigid.count(sorted(t[0], t[1])) && rigid.count(sorted(t[1], t[2])) &&
             rigid.count(sorted(t[0], t[2])));
  });
  return s;
}

}  // namespace tessera::molecular
