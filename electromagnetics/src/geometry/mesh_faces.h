// SPDX-License-Identifier: Apache-2.0
//
// Flat faces of a body of triangles that lie along the grid.
#pragma once
#include "tessera/electromagnetics/geometry.h"

#include <vector>

namespace tessera::electromagnetics::detail {

struct MeshBody;
struct Placement;

/// Triangles that hang together in one plane across an axis.
struct MeshFace {
  int axis;
  double at;
  Bounds extent;  ///< flat along the axis
};

/// In space. Triangles of a curved surface that happen to lie along the grid are none: a face ends
/// for half of its rim or more in edges sharper than 30 degrees, or is a twentieth and more of the
/// body's section.
std::vector<MeshFace> flat_faces(const MeshBody& body, const Placement& at);

}  // namespace tessera::electromagnetics::detail
