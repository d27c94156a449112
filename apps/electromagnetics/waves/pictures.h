// SPDX-License-Identifier: Apache-2.0
// Pictures of the media of a case as the grid sees them.
#pragma once
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/figures.h"

#include <filesystem>
#include <vector>

namespace tessera::apps::waves {

/// scene.png and .svg: the media with sources, monitors and layers, and what else is to be marked;
/// nothing in 1-D. With `grid_lines` mesh.png and .svg, with the lines between cells over them.
std::vector<std::filesystem::path> draw_scene(
    const std::filesystem::path& folder, const Case& c, bool grid_lines = false,
    const std::vector<electromagnetics::SceneFigure::Mark>& more = {});
/// scene.vtr: the media on the cells. Of a grid of more than two million, pieces of it in turn,
/// scene_0000.vtr and on, with scene.pvd, which has them together.
void write_scene(const std::filesystem::path& folder, const Case& c);

}  // namespace tessera::apps::waves
