// SPDX-License-Identifier: Apache-2.0
// Sections that are given by outlines or meshes of other programs: .poly, .resistivity, .msh.
#pragma once
#include "inversion/mt2d/section_model.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/goal_mesh_2d.h"
#include "tessera/inversion/section_mesh.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

bool is_outline(const std::filesystem::path& file);
/// An outline that brings the resistivities of its regions: a model of MARE2DEM.
bool has_resistivities(const std::filesystem::path& file);

struct OutlinedSection {
  std::vector<Axes> ohm_m;      ///< of each region; of air as the file has it
  inversion::SectionMesh mesh;  ///< triangles or quadrilaterals with regions as parameters
  std::vector<std::string> remarks;
};
/// Stations at these y stand on the ground of the file, or on the floor of its water (water.h),
/// whose cells are no parameters. Throws data::InputError E0690 for a file that is no section, a
/// region without a resistivity, a ground that does not go from side to side or goes back or
/// straight down, air that is shut in.
OutlinedSection outlined_section(const data::Config& config, const Mt2dOptions& o,
                                 const std::vector<double>& y);

/// Triangles, those that quadrilaterals are cut into too, halved until all responses change by less
/// than mesh.goal; of 100 % they are taken as skin depths ask for them. Returns what a warning says
/// where that is not reached; data::InputError E0687 where skin depths at the highest frequency ask
/// for too many cells. `search` is one that was stopped, or empty; `go_on` is told the cells after
/// each of its steps: false stops, and nothing is returned.
[[nodiscard]] std::optional<std::string> refine(const data::Config& config,
                                                inversion::SectionMesh& mesh, const Mt2dOptions& o,
                                                const Tensor& ln_rho,
                                                const std::vector<double>& frequency_hz,
                                                std::optional<inversion::GoalMeshSearch>& search,
                                                const std::function<bool(Index cells)>& go_on);

}  // namespace tessera::apps::mt2d
