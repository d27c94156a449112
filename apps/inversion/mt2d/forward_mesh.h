// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt2d/input.h"
#include "inversion/mt2d/section_model.h"

#include <vector>

namespace tessera::apps::mt2d {

/// Quadrilaterals for a section that is given: rows meet the tops of layers and the depths of
/// corners of bodies, columns the latter's places; each cell has the region at its middle as its
/// parameter. They follow the ground, or sea and floor. Throws data::InputError E0687 beyond
/// mesh.most_nodes.
inversion::SectionMesh forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                    const Ground& ground, const SectionModel& model,
                                    const std::vector<double>& frequency_hz);

}  // namespace tessera::apps::mt2d
