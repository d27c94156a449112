// SPDX-License-Identifier: Apache-2.0
// The fields of a guide's modes as results: for pictures, tables and ParaView.
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "tessera/electromagnetics/grid_modes.h"

#include <cstddef>
#include <string>

namespace tessera::apps::fdtd {

/// E across the guide of one mode of 1 W, of which the grid has one of `images` parts, in the
/// middles of the plane's cells: over the line in two dimensions, else over the plane at that
/// frequency.
MonitorResult mode_field(const electromagnetics::YeeGrid& grid,
                         const electromagnetics::ModePlane& plane,
                         const electromagnetics::GridModes& modes, std::size_t mode,
                         double frequency_hz, double images, std::string name);

}  // namespace tessera::apps::fdtd
