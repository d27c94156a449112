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

/// Lengths and angles that a topology has.
struct Distances {
  std::map<AtomPair, double> bonds;                      ///< of all bonds with a length
  std::map<AtomPair, double> fixed;                      ///< by constraints, in place of bonds
  std::map<std::array<std::int32_t, 3>, double> angles;  ///< at the middle atom

  explicit Distances(const System& s) {
    for (std::size_t k = 0; k < s.bonds.size(); ++k)
      bonds.try_emplace(sorted(s.bonds.atoms[k][0], s.bonds.atoms[k][1]),
                        s.bonds.rows[static_cast<std::size_t>(s.bonds.row[k])][0]);
    for (std::size_t k = 0; k < s.constraints.size(); ++k)
      if (const AtomPair e = sorted(s.constraints.atoms[k][0], s.constraints.atoms[k][1]);
          !bonds.contains(e))
        fixed.try_emplace(e, s.constraints.rows[static_cast<std::size_t>(s.constraints.row[k])][0]);
    for (std::size_t k = 0; k < s.angles.size(); ++k) {
      const auto& [a, b, c] = s.angles.atoms[k];
      angles[{std::min(a, c), b, std::max(a, c)}] =
          s.angles.rows[static_cast<std::size_t>(s.angles.row[k])][0];
    }
  }
  double of_bond(AtomPair e) const {
    const auto at = bonds.find(e);
    return at == bonds.end() ? 0.0 : at->second;
  }
  double of_any(AtomPair e) const {
    const auto at = fixed.find(e);
    return at == fixed.end() ? of_bond(e) : at->second;
  }
  /// Between a and c, from u to b, v behind it and the angle there; 0 where something is not known.
  double third_side(std::int32_t a, std::int32_t b, std::int32_t c, double u, double v) const {
    const auto at = angles.find({std::min(a, c), b, std::max(a, c)});
    return u > 0 && v > 0 && at != angles.end()
               ? std::sqrt(u * u + v * v - 2 * u * v * std::cos(at->second))
               : 0.0;
  }
};

bool is_hydrogen(const System& s, std::int32_t a) {
  return s.atoms.element[static_cast<std::size_t>(a)] == 1;
}

/// Three-point waters become rigid bodies, in place of what constraints hold of them. All atoms of
/// rigid waters.
std::set<std::int32_t> make_waters_rigid(System& s, const Distances& d) {
  std::vector<std::vector<std::int32_t>> near(
      s.n_atoms());  // without virtual sites, which some files bind to the oxygen
  std::vector<bool> is_site(s.n_atoms(), false);
  for (const VirtualSite& v : s.virtual_sites) is_site[static_cast<std::size_t>(v.site)] = true;
  for (const auto& [a, b] : s.connectivity) {
    if (is_site[static_cast<std::size_t>(a)] || is_site[static_cast<std::size_t>(b)]) continue;
    near[static_cast<std::size_t>(a)].push_back(b);
    near[static_cast<std::size_t>(b)].push_back(a);
  }
  std::set<std::int32_t> in_water;
  std::set<AtomPair> of_water;  // what a body has in place of constraints
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
      return is_hydrogen(s, h) &&
             std::ranges::all_of(near[static_cast<std::size_t>(h)],
                                 [&](std::int32_t a) { return a == o || a == other; });
    };
    if (!only_in_water(h1, h2) || !only_in_water(h2, h1)) continue;
    const std::array sides = {sorted(o, h1), sorted(o, h2), sorted(h1, h2)};
    const double oh = d.of_any(sides[0]), other = d.of_any(sides[1]);
    double hh = d.of_any(sides[2]);
    if (hh == 0) hh = d.third_side(h1, o, h2, oh, other);
    if (!(oh > 0 && hh > 0) || oh != other) {
      if (std::ranges::all_of(sides, [&](AtomPair e) { return d.fixed.contains(e); }))
        continue;  // rigid as it is, by three constraints
      throw Error(
          fmt::format("[constrained] the water of atom {} has no two equal O-H bonds and H-H "
                      "distance or angle: it cannot be rigid",
                      o + 1));
    }
    const auto [at, fresh] =
        rows.try_emplace({oh, hh}, static_cast<std::int32_t>(s.rigid_waters.rows.size()));
    if (fresh) s.rigid_waters.rows.push_back({oh, hh});
    s.rigid_waters.atoms.push_back({o, h1, h2});
    s.rigid_waters.row.push_back(at->second);
    of_water.insert(sides.begin(), sides.end());
    for (const std::int32_t a : {o, h1, h2}) in_water.insert(a);
  }
  keep_if(s.constraints, [&](const auto& t) {
    const AtomPair e = sorted(t[0], t[1]);
    return !(of_water.contains(e) && d.fixed.contains(e));
  });
  return in_water;
}

}  // namespace

System constrained(System s, Rigid which, bool rigid_water) {
  const Distances distances(s);
  std::set<AtomPair> rigid;  // pairs that keep their distance
  std::set<std::int32_t> in_water;
  if (rigid_water) {
    in_water = make_waters_rigid(s, distances);
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
    for (const auto& [ends, d] : distances.bonds)
      if (chemical.contains(ends) &&
          (which != Rigid::h_bonds || is_hydrogen(s, ends[0]) || is_hydrogen(s, ends[1])))
        constrain(ends, d);
  // Of four hydrogens around one atom five distances make the sixth, which would leave the
  // constraints without a solution.
  constexpr int enough = 5;
  std::map<std::int32_t, int> around;
  if (which == Rigid::h_angles)
    for (const auto& [atoms, theta] : distances.angles) {
      const auto& [a, b, c] = atoms;
      const bool two = is_hydrogen(s, a) && is_hydrogen(s, c),
                 hydroxyl = (is_hydrogen(s, a) || is_hydrogen(s, c)) &&
                            s.atoms.element[static_cast<std::size_t>(b)] == 8;
      const double d = distances.third_side(a, b, c, distances.of_bond(sorted(a, b)),
                                            distances.of_bond(sorted(b, c)));
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
