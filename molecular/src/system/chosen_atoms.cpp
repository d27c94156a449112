// SPDX-License-Identifier: Apache-2.0
#include "system/chosen_atoms.h"

namespace tessera::molecular {

std::vector<std::int32_t> add_atoms(System& to, const System& from,
                                    const std::vector<std::int32_t>& atoms) {
  std::vector<std::int32_t> now(from.n_atoms(), -1), residue(from.residues.size(), -1);
  for (const std::int32_t a : atoms) {
    const auto i = static_cast<std::size_t>(a);
    const auto of = static_cast<std::size_t>(from.atoms.residue[i]);
    if (residue[of] < 0) {
      residue[of] = static_cast<std::int32_t>(to.residues.size());
      to.residues.push_back(from.residues[of]);
    }
    now[i] = static_cast<std::int32_t>(to.n_atoms());
    to.atoms.name.push_back(from.atoms.name[i]);
    to.atoms.type.push_back(from.atoms.type[i]);
    to.atoms.element.push_back(from.atoms.element[i]);
    to.atoms.mass_amu.push_back(from.atoms.mass_amu[i]);
    to.atoms.charge_e.push_back(from.atoms.charge_e[i]);
    to.atoms.lj_type.push_back(from.atoms.lj_type[i]);
    to.atoms.residue.push_back(residue[of]);
  }
  return now;
}

}  // namespace tessera::molecular
