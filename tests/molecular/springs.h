// SPDX-License-Identifier: Apache-2.0
// Springs, of which all is known: systems and forces for tests of steps in time.
#pragma once
#include "molecular_cases.h"
#include "tessera/molecular/forces.h"

namespace tessera::molecular::testing {

/// n atoms tied to positions by springs of k, or free (k = 0).
inline Case springs(std::size_t n, double k, double mass) {
  Case c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  c.system.residues = {{"OSC", "1", "", ""}};
  if (k > 0) c.system.position_restraints.rows = {{k, k, k, 0, 0, 0}};
  for (std::size_t i = 0; i < n; ++i) {
    add_atom(c.system, "X", 6, mass, 0, 0);
    c.frame.x_nm.push_back({0, 0, 0});
    if (k == 0) continue;
    c.system.position_restraints.atoms.push_back({static_cast<std::int32_t>(i)});
    c.system.position_restraints.row.push_back(0);
  }
  return c;
}
inline ForceFunction springs_of(double k) {
  return [k](const std::vector<Vec3>& x, const Box&, Forces& out) {
    out = Forces{};
    for (const Vec3& p : x) {
      out.f.push_back({-k * p[0], -k * p[1], -k * p[2]});
      out.energy[0] += 0.5 * k * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    }
  };
}

}  // namespace tessera::molecular::testing
