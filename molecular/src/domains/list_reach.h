// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::molecular {

/// How far lists of pairs reach in a box.
struct ListReach {
  double radius_nm = 0;  ///< of pairs that are listed
  double buffer_nm = 0;  ///< beyond the cut-off
  bool by_atoms = true;  ///< else every pair of near clusters is listed
};

}  // namespace tessera::molecular
