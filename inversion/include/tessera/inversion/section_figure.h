// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/plot.h"
#include "tessera/inversion/mesh_2d.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

/// A section of resistivities (ohm m) as it is drawn. NaN leaves a cell clear, as in the air.
struct MeshSection {
  std::string title, subtitle;
  const Mesh2d* mesh = nullptr;
  std::vector<double> ohm_m;  ///< [cells]
  std::vector<double> veil;   ///< [cells], 0 to 1: how far a cell fades to white; or empty
  std::vector<std::string> station;
  std::vector<double> y, z;  ///< of the stations, m
  /// The part that is drawn, m; where not given, from the first station to the last with a tenth of
  /// that beside them, and to half that length below the highest station.
  std::optional<double> left, right, top, bottom;
  std::optional<double> least_ohm_m, greatest_ohm_m;  ///< ends of the colour axis
  std::string quantity = "Resistivity";
};
/// Cells of the mesh with the stations on them. Throws Error where sizes do not match.
data::Figure section_figure(const MeshSection& s);

}  // namespace tessera::inversion
