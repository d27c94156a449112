// SPDX-License-Identifier: Apache-2.0
// Rigid rotors without forces, half of whose energy is in their turning: what is left for a bath
// and for constraints to get wrong.
#pragma once
#include "molecular_cases.h"
#include "tessera/molecular/forces.h"

namespace tessera::molecular::testing {

/// n pairs of atoms of mass 1, 0.1 nm apart and 1 nm from each other.
inline Case rigid_rotors(std::int32_t n) {
  Case c;
  c.system = lennard_jones_atoms(2 * static_cast<std::size_t>(n));
  for (std::int32_t k = 0; k < n; ++k) {
    c.system.constraints.atoms.push_back({2 * k, 2 * k + 1});
    c.system.constraints.row.push_back(0);
    c.frame.x_nm.push_back({1.0 * k, 0, 0});
    c.frame.x_nm.push_back({1.0 * k + 0.06, 0.08, 0});
  }
  c.system.constraints.rows = {{0.1}};
  return c;
}
inline void no_forces(const std::vector<Vec3>& x, const Box&, Forces& out) {
  out = Forces{};
  out.f.assign(x.size(), Vec3{});
}

}  // namespace tessera::molecular::testing
