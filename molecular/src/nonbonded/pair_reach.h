// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "domains/list_reach.h"
#include "tessera/molecular/box.h"
#include "tessera/molecular/force_options.h"
#include "tessera/molecular/nonbonded.h"

#include <algorithm>

namespace tessera::molecular {

/// The larger cut-off.
inline double pair_radius(const Nonbonded& o) {
  return o.coulomb != Nonbonded::Coulomb::none ? std::max(o.cutoff_lj_nm, o.cutoff_coulomb_nm)
                                               : o.cutoff_lj_nm;
}

inline ListReach list_reach(const Nonbonded& o, const ForceOptions& run, const Box& box) {
  const double radius = pair_radius(o);
  double buffer = run.buffer_nm > 0 ? run.buffer_nm : 0.25 * radius;
  // Beyond half of a slanted box's width the nearest image by fractions need not be the nearest:
  // clusters alone decide, unless a thinner buffer does.
  const Vec3 width = widths_nm(box);
  const double room = 0.5 * std::min({width[0], width[1], width[2]}) - radius;
  const bool slanted = box.edge[1][0] != 0 || box.edge[2][0] != 0 || box.edge[2][1] != 0;
  if (slanted && room >= 0.1 * radius) buffer = std::min(buffer, room * (1 - 1e-9));
  return {radius + buffer, buffer, !slanted || buffer <= room};
}

}  // namespace tessera::molecular
