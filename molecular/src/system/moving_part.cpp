// SPDX-License-Identifier: Apache-2.0
#include "system/moving_part.h"

#include "system/virtual_site_formula.h"
#include "tessera/data/joined_sets.h"

#include <algorithm>

namespace tessera::molecular {
namespace {

std::size_t place(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Of each atom of a system its place among `numbers`; -1: it is not there.
std::vector<std::int32_t> places_of(std::size_t n, const std::vector<std::int32_t>& numbers) {
  std::vector<std::int32_t> at(n, -1);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    at[place(numbers[i])] = static_cast<std::int32_t>(i);
  return at;
}

/// Terms whose first atom is there.
template <class List>
void keep_whole(const List& from, const std::vector<std::int32_t>& at, List& to) {
  to.rows = from.rows;
  for (std::size_t t = 0; t < from.size(); ++t) {
    if (at[place(from.atoms[t][0])] < 0) continue;
    auto atoms = from.atoms[t];
    for (std::int32_t& a : atoms) a = at[place(a)];
    to.atoms.push_back(atoms);
    to.row.push_back(from.row[t]);
  }
}

void copy_tables(const CorrectionMaps& from, CorrectionMaps& to) {
  to.points = from.points;
  to.maps = from.maps;
}
template <int N, int P>
void copy_tables(const Terms<N, P>& from, Terms<N, P>& to) {
  to.rows = from.rows;
}

/// Which of `atoms` counts: 0 whose first atom is own, 1 of which another one is, 2 of none.
template <std::size_t N>
int turn_of(const std::array<std::int32_t, N>& atoms, const std::vector<std::int32_t>& at,
            std::size_t own) {
  const auto is_own = [&](std::int32_t a) {
    return at[place(a)] >= 0 && place(at[place(a)]) < own;
  };
  return is_own(atoms[0]) ? 0 : std::ranges::any_of(atoms, is_own) ? 1 : 2;
}

}  // namespace

std::vector<std::int32_t> joined_atoms(const System& s) {
  data::JoinedSets sets(s.n_atoms());
  for (const auto& [a, b] : s.constraints.atoms) sets.join(a, b);
  for (const auto& [o, h, g] : s.rigid_waters.atoms) {
    sets.join(o, h);
    sets.join(o, g);
  }
  for (const VirtualSite& v : s.virtual_sites)
    for (std::size_t k = 0; k < parents_of(v.kind); ++k) sets.join(v.site, v.parents[k]);
  std::vector<std::int32_t> out(s.n_atoms());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sets.set_of(static_cast<std::int32_t>(i));
  return out;
}

System moving_part(const System& all, const std::vector<std::int32_t>& numbers) {
  const std::vector<std::int32_t> at = places_of(all.n_atoms(), numbers);
  System s;
  for (const std::int32_t i : numbers) s.atoms.mass_amu.push_back(all.atoms.mass_amu[place(i)]);
  keep_whole(all.constraints, at, s.constraints);
  keep_whole(all.rigid_waters, at, s.rigid_waters);
  for (VirtualSite v : all.virtual_sites) {
    if (at[place(v.site)] < 0) continue;
    v.site = at[place(v.site)];
    for (std::size_t k = 0; k < parents_of(v.kind); ++k) v.parents[k] = at[place(v.parents[k])];
    s.virtual_sites.push_back(v);
  }
  return s;
}

ForcePart force_part(const System& all, const std::vector<std::int32_t>& numbers, std::size_t own) {
  const std::vector<std::int32_t> at = places_of(all.n_atoms(), numbers);
  ForcePart part;
  System& s = part.system;
  s.lj = all.lj;
  s.coulomb_constant = all.coulomb_constant;
  for (const std::int32_t i : numbers) {
    s.atoms.mass_amu.push_back(all.atoms.mass_amu[place(i)]);
    s.atoms.charge_e.push_back(all.atoms.charge_e[place(i)]);
    s.atoms.lj_type.push_back(all.atoms.lj_type[place(i)]);
  }
  each_bonded(
      [&](const BondedKind&, const auto& from, auto& to) {
        copy_tables(from, to);
        for (int turn = 0; turn < 2; ++turn) {
          for (std::size_t t = 0; t < from.size(); ++t) {
            if (turn_of(from.atoms[t], at, own) != turn) continue;
            auto atoms = from.atoms[t];
            for (std::int32_t& a : atoms) a = at[place(a)];
            to.atoms.push_back(atoms);
            to.row.push_back(from.row[t]);
          }
          if (turn == 0) part.counted.push_back(to.size());
        }
      },
      all, s);
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& pair : all.exclusions)
      if (turn_of(pair, at, own) == turn)
        s.exclusions.push_back({at[place(pair[0])], at[place(pair[1])]});
    if (turn == 0) part.counted_exclusions = s.exclusions.size();
  }
  return part;
}

Partners partners_of(const System& s) {
  std::vector<std::array<std::int32_t, 2>> pairs;
  const auto join = [&](const auto& atoms) {
    for (std::size_t a = 0; a < atoms.size(); ++a)
      for (std::size_t b = 0; b < atoms.size(); ++b)
        if (atoms[a] != atoms[b]) pairs.push_back({atoms[a], atoms[b]});
  };
  each_bonded(
      [&](const BondedKind&, const auto& list) {
        for (const auto& atoms : list.atoms) join(atoms);
      },
      s);
  for (const auto& pair : s.exclusions) join(pair);
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Partners p;
  p.first.assign(s.n_atoms() + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++p.first[place(a) + 1];
    p.atom.push_back(b);
  }
  std::partial_sum(p.first.begin(), p.first.end(), p.first.begin());
  return p;
}

}  // namespace tessera::molecular
