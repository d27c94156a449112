// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/input.h"
#include "tessera/inversion/section_mesh.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

/// In how many parts the columns below each station and the rows of the solver's mesh are cut that
/// a run begins with.
struct Fineness {
  std::vector<int> columns;  ///< [stations]; empty: 1
  int rows = 1;
  friend bool operator==(const Fineness&, const Fineness&) = default;
};

/// The meshes of a case. Throws data::InputError E0687 where they would have too many nodes or do
/// not come about.
inversion::SectionMesh mesh_of(const data::Config& config, const Mt2dOptions& o,
                               const Ground& ground, const inversion::SectionScales& scales,
                               const Fineness& fineness = {});

/// Throws data::InputError E0689 unless there is water above all of the ground where
/// ground.sea_resistivity is given.
void require_sea(const data::Config& config, const Mt2dOptions& o, const Ground& ground);

/// E0687, exit 3: `why` such as too many nodes.
data::InputError no_mesh(const data::Config& config, double lowest_hz, double highest_hz,
                         double ohm_m, const std::string& why);

/// Resistivities of the cells of a mesh: of parameters from `ln_rho`, [parameters], of the others
/// as given; NaN in the air.
std::vector<double> resistivity_of_cells(const inversion::Mesh2d& mesh,
                                         const std::vector<double>& ln_rho);

/// The survey with stations tilted as their sensors were when its responses were computed: what
/// tables and MARE2DEM's files (Beta) tell of them.
inversion::Survey tilted_as(const inversion::Sensors2d& sensors, inversion::Survey survey);

/// What a solver's mesh takes at one frequency, both modes: bytes of the factor, of the rest.
std::uint64_t solver_bytes(const inversion::Mesh2d& mesh, int order);

}  // namespace tessera::apps::mt2d
