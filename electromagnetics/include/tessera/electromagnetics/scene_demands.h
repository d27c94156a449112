// SPDX-License-Identifier: Apache-2.0
//
// What the bodies of a scene ask of the lines of a grid: cells that are short enough for the waves
// in each body, lines on its faces, and cells enough across what is thin: a gap between conductors,
// a strip of metal, a layer.
//
// Gaps, strips and layers are found along straight lines through the middles and the quarters of
// all faces that lie along the grid, and of the boxes around bodies with other faces: from metal to
// metal is a gap, whatever fills it; metal that is three times as wide as it is thick, between what
// is none, a strip; another medium on both sides a layer.
#pragma once
#include "tessera/electromagnetics/demanded_lines.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

struct SceneDemandOptions {
  double cells_per_wavelength = 20;
  /// The wavelength counts that is shortest in these, Hz, in each medium.
  std::vector<double> frequencies_hz = {};
  int gap_cells = 4;    ///< across gaps between conductors, and strips
  int layer_cells = 2;  ///< across layers of other media
  /// Conductors that stand at the low and the high face of each axis.
  std::array<std::array<bool, 2>, 3> walls{};
  /// Mirrors: half of what they cut is seen, and gets half of the cells.
  std::array<std::array<bool, 2>, 3> mirrors{};
};

/// Of lines on faces of metal and of other bodies (LineDemand::weight).
inline constexpr int metal_line = 2, body_line = 1;

struct SceneDemands {
  std::array<AxisDemands, 3> axes;  ///< with low, high and the cell of the background
  /// Widths of gaps, from metal to metal, which a floor for the smallest cell may contradict.
  struct Gap {
    int axis;
    double width;
    std::string reason;
  };
  std::vector<Gap> gaps;
  /// In scenes of very many faces gaps and edges are looked for at one face of so many.
  std::size_t one_of = 1;
};

/// Whether the fields of a medium are not to be resolved inside of it: a perfect conductor, or
/// |eps| above 1e4 at all frequencies.
bool is_metal(const Medium& medium, std::span<const double> frequencies_hz);

/// The longest cell in a medium: a wavelength in vacuum over |n| and the cells in it, the shortest
/// of all frequencies.
double cell_in(const Medium& medium, const SceneDemandOptions& options);

/// Of a scene in `domain`; of an axis that is not resolved the two are equal, or a section of it.
/// Throws Error where there is no frequency.
SceneDemands scene_demands(const Scene& scene, const std::vector<Medium>& media,
                           const Bounds& domain, const SceneDemandOptions& options);

}  // namespace tessera::electromagnetics
