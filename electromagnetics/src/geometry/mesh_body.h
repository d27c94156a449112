// SPDX-License-Identifier: Apache-2.0
//
// What a solid of triangles is asked for.
#pragma once
#include "geometry/solid_angles.h"
#include "geometry/triangle_tree.h"

#include <memory>
#include <vector>

namespace tessera::electromagnetics::detail {

struct MeshBody {
  TriangleTree surface;        ///< bounds the solid
  std::vector<Point> normals;  ///< outward, of surface.triangles()
  /// What windings are counted of, where that is more than the surface; closed.
  TriangleTree shells;
  SolidAngles caps;     ///< close the shells and are no part of what was given
  bool closed = false;  ///< the surface is closed, and there is one shell about each point inside

  bool contains(const Point& q) const;
};

/// A body of these triangles, each of some area, in that order.
std::shared_ptr<const MeshBody> mesh_body(const std::vector<Triangle>& surface,
                                          const std::vector<Triangle>& shells,
                                          const std::vector<Triangle>& caps, bool closed);

}  // namespace tessera::electromagnetics::detail
