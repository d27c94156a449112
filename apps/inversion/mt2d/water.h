// SPDX-License-Identifier: Apache-2.0
// What of an outline is water: regions that lie between the air and the floor on which stations
// stand. Resistivities alone do not tell it, sediments have those of a sea, too.
#pragma once
#include "inversion/mt2d/section_model.h"
#include "tessera/inversion/mesh_2d.h"

#include <utility>
#include <vector>

namespace tessera::apps::mt2d {

/// Where (y, z) receivers of another program stand.
using Receivers = std::vector<std::pair<double, double>>;

/// What a model says of its receivers. Each stands on the boundary of regions that is next to it
/// above or below; where what lies on that boundary conducts like a sea, all up to the air is
/// water.
struct Afloat {
  std::vector<Index> water;         ///< regions, from 0, rising
  std::vector<Index> buried_by;     ///< regions that lie above receivers and are taken as earth
  double off_m = 0;                 ///< how far the receivers are at most from what they are put on
  std::pair<double, double> worst;  ///< the one that is
};
/// Media of the mesh are regions or air.
Afloat afloat(const inversion::Mesh2d& mesh, const std::vector<Axes>& ohm_m,
              const Receivers& receivers);

/// True of the cells of water in the mesh of an outline whose parameters are its regions: those of
/// section.water, or of ground.sea_resistivity, that are joined to the air through one another.
/// Throws data::InputError E0690 for a region that is none, is air, is anisotropic, or is not
/// joined to the air.
std::vector<bool> water_of(const data::Config& config, const Mt2dOptions& o,
                           const std::vector<Axes>& ohm_m, const inversion::Mesh2d& mesh);

}  // namespace tessera::apps::mt2d
