// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/info.h"
#include "tessera/molecular/box.h"

namespace tessera::molecular {

/// A child `name` with the lengths and angles of a periodic box; nothing of no box.
inline void add_box(data::InfoNode& node, const char* name, const Box& box) {
  if (!is_periodic(box)) return;
  constexpr const char* names[] = {"a [nm]",      "b [nm]",     "c [nm]",
                                   "alpha [deg]", "beta [deg]", "gamma [deg]"};
  data::InfoNode& of = node.add(name);
  for (std::size_t k = 0; k < 3; ++k) of.add(names[k], lengths_nm(box)[k]);
  for (std::size_t k = 0; k < 3; ++k) of.add(names[3 + k], angles_deg(box)[k]);
}

}  // namespace tessera::molecular
