// SPDX-License-Identifier: Apache-2.0
#include "derivatives/sites.h"

#include "energy/generic.h"
#include "system/virtual_site_formula.h"

#include <algorithm>
#include <map>

namespace tessera::molecular {

std::vector<SiteGroup> site_groups(const System& s) {
  std::vector<int> depth(s.n_atoms(), 0);  // sites from atoms
  std::map<std::pair<int, VirtualSite::Kind>, std::vector<std::size_t>> sorted;
  for (std::size_t k = 0; k < s.virtual_sites.size(); ++k) {
    const VirtualSite& v = s.virtual_sites[k];
    int most = 0;
    for (std::size_t a = 0; a < parents_of(v.kind); ++a)
      most = std::max(most, depth[static_cast<std::size_t>(v.parents[a])]);
    depth[static_cast<std::size_t>(v.site)] = most + 1;
    sorted[{most, v.kind}].push_back(k);
  }
  std::vector<SiteGroup> out;
  for (const auto& [key, members] : sorted) {
    std::vector<std::int32_t> site, row;
    std::vector<std::vector<std::int32_t>> parents(parents_of(key.second));
    for (const std::size_t k : members) {
      site.push_back(s.virtual_sites[k].site);
      row.push_back(static_cast<std::int32_t>(k));
      for (std::size_t a = 0; a < parents.size(); ++a)
        parents[a].push_back(s.virtual_sites[k].parents[a]);
    }
    SiteGroup g{key.second, generic::indices(site), generic::indices(row), {}};
    for (const auto& p : parents) g.parents.push_back(generic::indices(p));
    out.push_back(std::move(g));
  }
  return out;
}

Tensor with_sites(const std::vector<SiteGroup>& groups, Tensor x, const Tensor& h,
                  const Tensor& weights) {
  for (const SiteGroup& g : groups) {
    const Tensor table = take(weights, g.row);
    std::array<Tensor, 12> w;
    for (std::size_t k = 0; k < 12; ++k) w[k] = generic::part(table, static_cast<int>(k));
    std::array<Vec<Tensor>, 4> r;
    for (std::size_t k = 0; k < 4; ++k)
      if (k > 0 && k < g.parents.size()) {
        const Tensor d = generic::displacement(x, h, g.parents[k], g.parents[0]);
        r[k] = {generic::part(d, 0), generic::part(d, 1), generic::part(d, 2)};
      } else {
        r[k] = {Tensor(0.0), Tensor(0.0), Tensor(0.0)};
      }
    const Vec<Tensor> d = site_offset(g.kind, w, r);
    x = scatter_set(x, g.site, take(x, g.parents[0]) + stack({d[0], d[1], d[2]}, 1));
  }
  return x;
}

}  // namespace tessera::molecular
