// SPDX-License-Identifier: Apache-2.0
//
// What a solid of triangles fills of a box.
#pragma once
#include "geometry/local.h"
#include "geometry/mesh_body.h"

namespace tessera::electromagnetics::detail {

/// A plane where the surface is nearly one in the box: it cuts off what the triangles do, across
/// their mean normal, with their images where the box is `mirrored`. Otherwise all of them, as they
/// are.
Local local_mesh(const MeshBody& mesh, const Box& box);

}  // namespace tessera::electromagnetics::detail
