// SPDX-License-Identifier: Apache-2.0
#include "system/joining_bonds.h"

#include "tessera/data/joined_sets.h"

#include <algorithm>

namespace tessera::molecular {

std::vector<std::array<std::int32_t, 2>> joining_bonds(const System& s) {
  data::JoinedSets sets(s.n_atoms());
  auto out = s.connectivity;
  for (const auto& [a, b] : out) sets.join(a, b);
  const auto add = [&](std::int32_t a, std::int32_t b) {
    if (sets.join(a, b)) out.push_back({std::min(a, b), std::max(a, b)});
  };
  for (const VirtualSite& v : s.virtual_sites)
    for (const std::int32_t parent : v.parents)
      if (parent >= 0) add(v.site, parent);
  for (const auto& [o, h1, h2] : s.rigid_waters.atoms) add(o, h1), add(o, h2);
  for (const auto& [a, b] : s.constraints.atoms) add(a, b);
  for (const auto& [a, b] : s.bonds.atoms) add(a, b);
  for (const auto& [a, b] : springs(s)) add(a, b);
  std::ranges::sort(out);
  return out;
}

}  // namespace tessera::molecular
