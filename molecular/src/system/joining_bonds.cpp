// SPDX-License-Identifier: Apache-2.0
#include "system/joining_bonds.h"

#include <algorithm>
#include <numeric>

namespace tessera::molecular {

std::vector<std::array<std::int32_t, 2>> joining_bonds(const System& s) {
  std::vector<std::int32_t> root(s.n_atoms());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int32_t a) {
    while (root[static_cast<std::size_t>(a)] != a)
      a = root[static_cast<std::size_t>(a)] =
          root[static_cast<std::size_t>(root[static_cast<std::size_t>(a)])];
    return a;
  };
  const auto joins = [&](std::int32_t a, std::int32_t b) {
    a = find(a), b = find(b);
    root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    return a != b;
  };
  auto out = s.connectivity;
  for (const auto& [a, b] : out) joins(a, b);
  const auto add = [&](std::int32_t a, std::int32_t b) {
    if (joins(a, b)) out.push_back({std::min(a, b), std::max(a, b)});
  };
  for (const VirtualSite& v : s.virtual_sites)
    for (const std::int32_t parent : v.parents)
      if (parent >= 0) add(v.site, parent);
  for (const auto& [o, h1, h2] : s.rigid_waters.atoms) add(o, h1), add(o, h2);
  for (const auto& [a, b] : s.constraints.atoms) add(a, b);
  for (const auto& [a, b] : s.bonds.atoms) add(a, b);
  std::ranges::sort(out);
  return out;
}

}  // namespace tessera::molecular
