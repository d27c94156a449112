// SPDX-License-Identifier: Apache-2.0
// Pictures of a case and of its results.
#pragma once
#include "electromagnetics/fdtd/monitor.h"

#include <filesystem>
#include <vector>

namespace tessera::apps::fdtd {

/// scene.png and .svg: the media with sources, monitors and layers; nothing in 1-D. With
/// `grid_lines` mesh.png and .svg, with the lines between cells over them.
std::vector<std::filesystem::path> draw_scene(const std::filesystem::path& folder, const Case& c,
                                              bool grid_lines = false);
/// scene.vtr: the media on the cells. Of a grid of more than two million, pieces of it in turn,
/// scene_0000.vtr and on, with scene.pvd, which has them together.
void write_scene(const std::filesystem::path& folder, const Case& c);
/// The results, with the bodies of the case over maps of planes.
std::vector<std::filesystem::path> draw_results(const std::filesystem::path& folder,
                                                const Results& results, const CaseOptions& o);

}  // namespace tessera::apps::fdtd
