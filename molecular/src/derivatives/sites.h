// SPDX-License-Identifier: Apache-2.0
//
// Virtual sites in engine operations: the formulas of virtual_site_formula.h on tensors, all sites
// of a kind at once.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/molecular/system.h"

#include <vector>

namespace tessera::molecular {

/// Sites of one kind that depend on none of each other.
struct SiteGroup {
  VirtualSite::Kind kind;
  Tensor site, row;  ///< atoms, rows of the table of weights
  std::vector<Tensor> parents;
};
/// In an order in which parents come first.
std::vector<SiteGroup> site_groups(const System& system);
/// x [n, 3] with the sites where weights [sites, 12] and parents put them.
Tensor with_sites(const std::vector<SiteGroup>& groups, Tensor x, const Tensor& h,
                  const Tensor& weights);

}  // namespace tessera::molecular
