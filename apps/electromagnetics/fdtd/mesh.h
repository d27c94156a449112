// SPDX-License-Identifier: Apache-2.0
// The grid of a case, told, written and drawn.
#pragma once
#include "electromagnetics/waves/case.h"
#include "support/app.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

using waves::Case;

/// What grid.auto has made of the lines, and what the smallest cell costs; nothing where lines are
/// the case's own.
std::vector<std::string> auto_grid_lines(const Case& c);

/// lines.toml, scene.vtr and the picture in `folder`, and a table of the axes.
MeshReport write_mesh(const std::filesystem::path& folder, const Case& c);

}  // namespace tessera::apps::fdtd
