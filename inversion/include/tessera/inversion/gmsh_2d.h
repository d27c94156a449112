// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/mesh_2d.h"

#include <functional>
#include <string>

namespace tessera::inversion {

struct GmshOptions {
  /// What fills the surfaces of each physical group.
  std::function<Medium2d(Index group)> medium;
  /// Gmsh's second coordinate is taken upwards (z = -y of Gmsh); otherwise it is z itself. The
  /// first is y.
  bool upwards = false;
};
/// The triangles, or the quadrilaterals, of a mesh that Gmsh wrote as text, format 2.2 or 4.1; of
/// elements of order 2 the corners. Points, lines and vertices that no cell has are left out, and
/// lines for sensors are the caller's (line_between in outline_2d.h). `name` is for messages.
/// Throws data::InputError E0365 with the line for what it cannot read: binary files, both kinds of
/// cells at once, surfaces in no physical group, nodes that are not there, cells without area.
Mesh2d read_msh(const std::string& text, const GmshOptions& options,
                const std::string& name = ".msh");

}  // namespace tessera::inversion
