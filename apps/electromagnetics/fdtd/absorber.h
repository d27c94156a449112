// SPDX-License-Identifier: Apache-2.0
// Layers of conductivity in front of faces, and bodies that an absorbing layer of the other kind
// does not stand.
#pragma once
#include "electromagnetics/fdtd/case.h"
#include "tessera/electromagnetics/yee_scheme.h"

namespace tessera::apps::fdtd {

using FillRow = std::function<void(int component, int j, int k, electromagnetics::MaterialRow&)>;
/// `fill`, and the conductivity of the case's absorbers on top.
FillRow with_absorbers(const Case& c, FillRow fill);

/// A film of negative permittivity, not much thicker than its skin depth, that runs through a pml:
/// by its number among the structures of the scene, and the axis of the layer. On thicker metal
/// waves run forwards, but in a narrow band.
struct BackwardBody {
  std::size_t structure;
  int axis;
  double thickness_m, skin_depth_m;
  double frequency_hz;  ///< one of the band at which it is negative
};
std::vector<BackwardBody> backward_bodies(const Case& c);

}  // namespace tessera::apps::fdtd
