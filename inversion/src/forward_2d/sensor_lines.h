// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/elements_2d.h"
#include "tessera/inversion/forward_2d.h"

#include <set>
#include <vector>

namespace tessera::inversion {

/// The lines that sensors stand on, one after the other, and what turns values at their nodes into
/// values at the sensors. Along a line t = (cos a, sin a) with y rising, n = (sin a, -cos a) is up.
struct SensorLines {
  std::vector<Index> node;   ///< of the space, line by line, ends and middles in order
  Tensor at, across, along;  ///< [sensors, nodes], c128: value; flux from what is left over
                             ///< below; derivative along the line
  std::vector<double> cos_turn, sin_turn;      ///< of tilt - a, at each sensor
  std::vector<double> slope;                   ///< a
  std::vector<Index> above, below;             ///< cells at each sensor; -1 beyond the mesh
  std::vector<std::pair<Index, Index>> under;  ///< (place in `node`, cell below the line)
};
SensorLines sensor_lines(const Mesh2d& mesh, const Space2d& space, const Sensors2d& sensors);

}  // namespace tessera::inversion
