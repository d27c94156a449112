// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/input.h"
#include "inversion/mt2d/section_model.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/forward_2d.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

/// In how many parts columns and rows are cut, in the earth and in the air.
struct Parts {
  int columns = 1, rows = 1;
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// Quadrilaterals for a section that is given: rows meet the tops of layers and the depths of
/// corners of bodies, columns the latter's places, and beside these cells are a part of the skin
/// depth at the highest frequency that gets there; each cell has the region at its middle as its
/// parameter. They follow the ground, or sea and floor. Throws data::InputError E0687 beyond
/// mesh.most_nodes.
inversion::SectionMesh forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                    const Ground& ground, const SectionModel& model,
                                    const std::vector<double>& frequency_hz,
                                    const Parts& parts = {});

/// Responses on a mesh that a search has looked at.
struct Look {
  Parts parts;
  inversion::Responses2d responses;
};

struct FineMesh {
  inversion::SectionMesh mesh;
  std::string doubt;  ///< why the goal is not reached: limits of cells, mesh.most_nodes, memory
};

/// That mesh with columns or rows halved, again and again, until no apparent resistivity changes by
/// more than half of mesh.goal where all columns, or all rows, are; remarks say by how much.
/// `looks` are those of a search that was stopped: what they have is not computed again. `go_on` is
/// told the cells of each mesh whose responses were; false stops, and nothing is returned.
std::optional<FineMesh> fine_forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                          const Ground& ground, const SectionModel& model,
                                          const std::vector<double>& frequency_hz,
                                          std::vector<Look>& looks,
                                          const std::function<bool(Index cells)>& go_on);

/// ln rho of the regions up to the last one that has a cell, [regions], or [regions, 3] along x, y
/// and z where they differ; those of air are no parameter.
Tensor parameters_of(const inversion::SectionMesh& mesh, const SectionModel& model);

}  // namespace tessera::apps::mt2d
