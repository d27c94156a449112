// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/averaging.h"

#include <Eigen/Dense>

namespace tessera::electromagnetics {

/// A symmetric tensor, (xx, yy, zz, xy, xz, yz), as a full matrix.
inline Eigen::Matrix3d matrix(const SymmetricTensor& t) {
  Eigen::Matrix3d m;
  m << t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2];
  return m;
}

}  // namespace tessera::electromagnetics
