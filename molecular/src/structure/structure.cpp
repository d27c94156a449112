// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/structure.h"

#include "structure/structure_parts.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

void tidy_bonds(std::vector<std::array<std::int32_t, 2>>& bonds) {
  for (auto& [i, j] : bonds)
    if (i > j) std::swap(i, j);
  std::ranges::sort(bonds);
  bonds.erase(std::unique(bonds.begin(), bonds.end()), bonds.end());
}

bool is_polymer(const Residue& residue) {
  return is_amino_acid(residue.name) || is_nucleotide(residue.name);
}

Structure structure_of(const System& system, const Frame& frame) {
  if (frame.x_nm.size() != system.n_atoms())
    throw Error(fmt::format("[structure_of] {} positions for {} atoms", frame.x_nm.size(),
                            system.n_atoms()));
  Structure s;
  s.title = system.title;
  s.name = system.atoms.name;
  s.element = system.atoms.element;
  s.residue = system.atoms.residue;
  s.x_nm = frame.x_nm;
  s.residues = system.residues;
  s.bonds = system.connectivity;
  s.box = frame.box;
  // A chain is what bonds hold together, and neighbouring molecules of one residue each.
  const std::vector<std::int32_t> molecule = molecules(system);
  s.chain.assign(s.residues.size(), 0);
  std::vector<std::size_t> first(s.residues.size(), s.n_atoms());
  for (std::size_t i = s.n_atoms(); i-- > 0;) first[static_cast<std::size_t>(s.residue[i])] = i;
  for (std::size_t r = 1; r < s.residues.size(); ++r) {
    const bool filled = first[r] < s.n_atoms() && first[r - 1] < s.n_atoms(),
               bound = filled && molecule[first[r]] == molecule[first[r - 1]],
               single = !is_polymer(s.residues[r]) && !is_polymer(s.residues[r - 1]);
    s.chain[r] = s.chain[r - 1] +
                 (bound || (single && s.residues[r].chain == s.residues[r - 1].chain) ? 0 : 1);
  }
  return s;
}

System system_of(const Structure& s) {
  System out;
  out.title = s.title;
  out.residues = s.residues;
  out.connectivity = s.bonds;
  Atoms& a = out.atoms;
  a.name = a.type = s.name;
  a.element = s.element;
  a.residue = s.residue;
  for (std::uint8_t e : s.element) a.mass_amu.push_back(mass_of(e));
  for (std::size_t i = 0; i < s.isotope_amu.size(); ++i)
    if (s.isotope_amu[i] > 0) a.mass_amu.at(i) = s.isotope_amu[i];
  a.charge_e.assign(s.n_atoms(), NAN);
  a.lj_type.assign(s.n_atoms(), 0);
  // A virtual site has neither element nor bond: it is one with the first heavy atom of its
  // residue, as water models have their sites.
  std::vector<bool> bound(s.n_atoms(), false);
  for (const auto& pair : s.bonds)
    for (const std::int32_t i : pair) bound[static_cast<std::size_t>(i)] = true;
  constexpr std::int32_t none = -1;
  std::vector<std::int32_t> heavy(s.residues.size(), none);
  for (std::size_t i = s.n_atoms(); i-- > 0;)
    if (s.element[i] > 1)
      heavy[static_cast<std::size_t>(s.residue[i])] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < s.n_atoms(); ++i)
    if (const std::int32_t to = heavy[static_cast<std::size_t>(s.residue[i])];
        s.element[i] == 0 && !bound[i] && to != none)
      out.connectivity.push_back({to, static_cast<std::int32_t>(i)});
  tidy_bonds(out.connectivity);
  return out;
}

}  // namespace tessera::molecular
